//! Who began to touch whom in a step, who goes on, and who parted.

use glam::DVec3;

use super::Physics;
use super::contacts::{Touched, sources};
use super::stepping::Plan;
use crate::instances::{FleshHandle, Instances};
use crate::{HalfSpace, Solid};

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

/// An instance and something else that touch: all of their chains and segments together, one event a step.
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

/// A frame's half-spaces and solids as events name them: so many of them are the host's, and the rest the world's around.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a> {
    planes: &'a [HalfSpace],
    solids: &'a [Solid],
    of_host: [usize; 2],
}

impl<'a> Named<'a> {
    pub(super) fn new(plan: &'a Plan, of_host: [usize; 2]) -> Self {
        Self { planes: &plan.planes, solids: plan.solids.solids(), of_host }
    }

    /// What half-spaces are called, by their places.
    #[cfg(feature = "gpu")]
    pub fn planes(&self) -> impl Iterator<Item = ContactWith> {
        (0..self.planes.len()).map(|at| self.plane(at))
    }

    /// What solids are called, by their places.
    #[cfg(feature = "gpu")]
    pub fn solids(&self) -> impl Iterator<Item = ContactWith> {
        (0..self.solids.len()).map(|at| self.solid(at))
    }

    fn plane(&self, at: usize) -> ContactWith {
        named(self.planes.get(at).and_then(|plane| plane.id), at < self.of_host[0], ContactWith::Plane(at))
    }

    fn solid(&self, at: usize) -> ContactWith {
        named(self.solids.get(at).and_then(|solid| solid.id), at < self.of_host[1], ContactWith::Solid(at))
    }
}

fn named(id: Option<u64>, is_of_host: bool, place: ContactWith) -> ContactWith {
    match id {
        None => place,
        Some(id) if is_of_host => ContactWith::Body(id),
        Some(id) => ContactWith::World(id),
    }
}

/// Who touches whom, from step to step.
#[derive(Default)]
pub(super) struct EventLog {
    /// Of which step the events are.
    step: u64,
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
    /// many segments of theirs touch. They touch in a step if they press in any substep of it, so that no hit is missed; what
    /// [`Physics::contacts`] and [`Physics::flesh_contacts`] list is the last substep's, segment by segment. What an instance
    /// touches of itself, its own chains and its bones' pills, is only there.
    ///
    /// Of flesh that sleeps they go on as was said of it last, until it wakes: that is of before [`Physics::restore`] where it was
    /// restored asleep, and nothing where it slept already when [`Physics::gather_events`] was switched on.
    ///
    /// Each contact that begins ends once, whatever happens to who is in it: removed, paused or switched off, it ends in the next step;
    /// teleported, in that too unless it presses again in it. [`Physics::restore`] puts flesh back, not the log: the next step's
    /// events lead from what was said last to what is then, as far as flesh is awake.
    ///
    /// On a GPU they come back as its other results do, some steps late, and no step waits for it: they are of the step that
    /// [`Physics::contact_events_step`] says, or none where nothing came back with the last one. Where several steps' come back at once, or
    /// with [`Physics::finish`], they are told as one step: who pressed in any of these touched, with all their impulses. Of steps of
    /// which nothing comes back, because the host ran too far ahead (`Physics::encode`), put back a state meanwhile
    /// ([`Physics::restore`]) or switched to another backend, or which had no room for all that pressed (`Physics::tally_report`),
    /// nothing is told: what began and ended in them alone is missed, and what goes on goes on.
    ///
    /// What moves within the list of solids or half-spaces has an id ([`Solid::id`](crate::Solid::id)), else it is taken for what
    /// was in its place.
    pub fn contact_events(&self) -> impl ExactSizeIterator<Item = &ContactEvent> {
        self.event_log.events.iter()
    }

    /// Of which step [`Physics::contact_events`] are: the newest, on a GPU the newest of which they had come back with the last call.
    pub fn contact_events_step(&self) -> u64 {
        self.event_log.step
    }

    /// Writes the events of a step that was taken, or on a GPU of those that have come back since.
    pub(super) fn note_contacts(&mut self, plan: &Plan) {
        let tallied = self.backend.take_tallied(self.step);
        let of_host = [self.planes.len(), self.solids.len()];
        let Self { event_log: log, instances, .. } = self;
        let step = if self.gather_events { tallied } else { Some(self.step) };
        let Some(step) = step.filter(|_| self.gather_events || !log.touching.is_empty()) else {
            log.events.clear();
            return;
        };
        log.step = step;
        log.found.clear();
        if self.gather_events {
            log.find(instances, Some(Named::new(plan, of_host)));
        }
        log.compare();
    }

    /// Writes the events of steps that have come back without a step having been taken, if any have.
    pub(super) fn note_finished(&mut self) {
        if self.on_cpu() || !self.gather_events {
            return;
        }
        let Some(step) = self.backend.take_tallied(self.step) else { return };
        let Self { event_log: log, instances, .. } = self;
        log.step = step;
        log.found.clear();
        log.find(instances, None);
        log.compare();
    }
}

impl EventLog {
    /// Collects what presses; where there are rows that say so, what they touch is named.
    fn find(&mut self, instances: &Instances, named: Option<Named<'_>>) {
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
            instance.tally.with.iter().for_each(|&(other, pressed)| add(other, pressed));
            let Some(named) = named else { continue };
            for (group, pressed) in instance.state.nodes.groups.iter().zip(&instance.tally.rows) {
                if pressed.is_empty() {
                    continue;
                }
                for (touches, pressed) in sources(group).zip(pressed) {
                    for (lane, touched) in touches.into_iter().enumerate() {
                        let of_lane = pressed.map(|sums| sums[lane]);
                        match touched {
                            Some((Touched::Plane(at), _)) => add(named.plane(at), of_lane),
                            Some((Touched::Solid(at), _)) => add(named.solid(at), of_lane),
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
