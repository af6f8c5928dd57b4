//! Who began to touch whom in a step, who goes on, and who parted.

use glam::DVec3;

use super::Physics;
use super::contacts::{Touched, sources};
use super::stepping::Plan;
use crate::instances::{FleshHandle, Instances};

/// What of a contact between an instance and something else happened in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContactPhase {
    /// They pressed in the step, and not in the one before.
    Began,
    /// They pressed in both.
    GoesOn,
    /// They pressed in the step before, and not in this one; or one of them is gone, paused, or not to be touched any more.
    Ended,
}

/// What an instance touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContactWith {
    /// Another instance; it is gone where its contact ended with it.
    Flesh(FleshHandle),
    /// A half-space without an id, by its place in [`Physics::all_planes`].
    Plane(usize),
    /// A solid without an id, by its place in [`Physics::all_solids`].
    Solid(usize),
    /// The half-spaces and solids of [`Physics::planes`] and [`Physics::solids`] that have this id.
    Body(u64),
    /// Those of the world around that have it ([`Physics::set_world_solids`]): rapier's colliders, see `rigid::collider_of`.
    World(u64),
}

/// An instance and something else that touch, in the newest step: all of their chains and segments together, one event a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactEvent {
    /// The instance; of two, the one whose handle is lower.
    pub flesh: FleshHandle,
    /// What it touches.
    pub other: ContactWith,
    /// What happened.
    pub phase: ContactPhase,
    /// With what impulse they pressed, all normal forces summed up over the step's substeps, whatever way they point (N·s); 0
    /// where they parted.
    pub impulse: f64,
    /// What all that, with friction, gave the instance (N·s); the other one as much the other way.
    pub push: DVec3,
    /// The characters that they are of, if any.
    #[cfg(feature = "hecs")]
    pub(crate) entities: [Option<hecs::Entity>; 2],
}

/// Who touches whom, from step to step.
#[derive(Default)]
pub(super) struct EventLog {
    /// What presses in the newest step, row by row, in its order; then each pair once.
    found: Vec<(u32, ContactEvent)>,
    /// Who touched in the newest step, in order, as its event says.
    touching: Vec<ContactEvent>,
    /// Room for who touched in the one before.
    before: Vec<ContactEvent>,
    /// Of the newest step, in order.
    events: Vec<ContactEvent>,
}

type Key = (FleshHandle, ContactWith);

impl ContactEvent {
    fn key(&self) -> Key {
        (self.flesh, self.other)
    }
}

impl Physics {
    /// Who began to touch whom in the last step, who goes on, and who parted, with what impulse; in the order of instances, and of what
    /// they touch. Nothing where [`Physics::gather_events`] is off: in the first step in which it is, all contacts that were on end.
    ///
    /// A contact is between two instances, or an instance and a half-space, a solid, or all solids of an id: one event a step, however
    /// many segments of theirs touch. Of flesh that sleeps they go on as they were when it fell asleep. They touch in a step if they press in any substep of it, so that no hit is missed; what
    /// [`Physics::contacts`] and [`Physics::flesh_contacts`] list is the last substep's, segment by segment. What an instance
    /// touches of itself, its own chains and its bones' pills, is only there.
    ///
    /// Each contact that begins ends once, whatever happens to who is in it: removed, paused or switched off, it ends in the next step;
    /// teleported, in that too unless it presses again in it. [`Physics::restore`] puts flesh back, not the log: the next step's
    /// events lead from what was said last to what is then.
    ///
    /// What moves within the list of solids or half-spaces has an id ([`Solid::id`](crate::Solid::id)), else it is taken for what was in its place.
    pub fn contact_events(&self) -> impl ExactSizeIterator<Item = &ContactEvent> {
        self.event_log.events.iter()
    }

    /// Writes the events of a step that was taken.
    pub(super) fn note_contacts(&mut self, plan: &Plan) {
        let Self { event_log: log, instances, .. } = self;
        if !self.gather_events && log.touching.is_empty() {
            log.events.clear();
            return;
        }
        log.found.clear();
        if self.gather_events {
            log.find(instances, plan, [self.planes.len(), self.solids.len()]);
        }
        log.compare();
    }
}

impl EventLog {
    /// Collects what presses; of half-spaces and solids, so many are the host's, and the rest the world's around.
    fn find(&mut self, instances: &Instances, plan: &Plan, of_host: [usize; 2]) {
        let named = |id: Option<u64>, at: usize, of_host: usize, place: ContactWith| match id {
            None => place,
            Some(id) if at < of_host => ContactWith::Body(id),
            Some(id) => ContactWith::World(id),
        };
        // What sleeps is not stepped, and presses as it did.
        let slept = |handle: FleshHandle| instances.get(handle).is_ok_and(|instance| instance.tally.slept);
        for event in &self.touching {
            let with_sleeper = match event.other {
                ContactWith::Flesh(other) => slept(other),
                _ => true,
            };
            if slept(event.flesh) && with_sleeper {
                self.found.push((self.found.len() as u32, *event));
            }
        }
        for (flesh, instance) in instances.handles() {
            let mut add = |other: ContactWith, [impulse, x, y, z]: [f32; 4]| {
                if impulse <= 0.0 {
                    return;
                }
                let event = ContactEvent {
                    flesh,
                    other,
                    phase: ContactPhase::Began,
                    impulse: f64::from(impulse),
                    push: glam::Vec3::new(x, y, z).as_dvec3(),
                    #[cfg(feature = "hecs")]
                    entities: [instance.entity, entity_of(instances, other)],
                };
                self.found.push((self.found.len() as u32, event));
            };
            instance.tally.flesh.iter().for_each(|&(other, pressed)| add(ContactWith::Flesh(other), pressed));
            for (group, pressed) in instance.state.nodes.groups.iter().zip(&instance.tally.rows) {
                if pressed.is_empty() {
                    continue;
                }
                for (touches, pressed) in sources(group).zip(pressed) {
                    for (lane, touched) in touches.into_iter().enumerate() {
                        let of_lane = pressed.map(|sums| sums[lane]);
                        match touched {
                            Some((Touched::Plane(at), _)) => {
                                let id = plan.planes.get(at).and_then(|plane| plane.id);
                                add(named(id, at, of_host[0], ContactWith::Plane(at)), of_lane);
                            }
                            Some((Touched::Solid(at), _)) => {
                                let id = plan.solids.get(at).and_then(|solid| solid.id);
                                add(named(id, at, of_host[1], ContactWith::Solid(at)), of_lane);
                            }
                            Some((Touched::BonePill(_), _)) | None => {}
                        }
                    }
                }
            }
        }
    }

    /// Makes events of what was found, given who touched in the step before.
    fn compare(&mut self) {
        let Self { found, touching, before, events, .. } = self;
        // By their rows too, so that sums are always of the same order.
        found.sort_unstable_by_key(|(row, event)| (event.key(), *row));
        std::mem::swap(touching, before);
        touching.clear();
        events.clear();
        for (_, event) in found.iter() {
            match touching.last_mut().filter(|last| last.key() == event.key()) {
                Some(last) => {
                    last.impulse += event.impulse;
                    last.push += event.push;
                }
                None => touching.push(*event),
            }
        }
        let mut was = before.iter().peekable();
        let ended = |event: &ContactEvent| ContactEvent {
            phase: ContactPhase::Ended,
            impulse: 0.0,
            push: DVec3::ZERO,
            ..*event
        };
        for event in touching.iter() {
            while let Some(gone) = was.next_if(|was| was.key() < event.key()) {
                events.push(ended(gone));
            }
            let goes_on = was.next_if(|was| was.key() == event.key()).is_some();
            let phase = if goes_on { ContactPhase::GoesOn } else { ContactPhase::Began };
            events.push(ContactEvent { phase, ..*event });
        }
        events.extend(was.map(ended));
    }
}

#[cfg(feature = "hecs")]
fn entity_of(instances: &Instances, other: ContactWith) -> Option<hecs::Entity> {
    let ContactWith::Flesh(handle) = other else { return None };
    instances.get(handle).ok()?.entity
}
