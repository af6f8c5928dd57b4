//! What an instance of flesh touches.

use glam::DVec3;

use super::Physics;
use crate::StepError;
use crate::cpu::contacts::contact_rows;
use crate::cpu::solid_slots::{SolidSlot, Touches};
use crate::flesh::GroupState;
use crate::instances::{FleshHandle, Instance};
use crate::layout::{LANES, contact, node};
use crate::{HalfSpace, Solid};

/// What presses against flesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Touched {
    /// A half-space, by its place in [`Physics::all_planes`] in that step.
    Plane(usize),
    /// A solid, by its place in [`Physics::all_solids`] in that step; of rapier's, `TouchedColliders::colliders` says which.
    Solid(usize),
    /// A pill of the instance's own bones, by its place in [`Flesh::bone_pills`](crate::flesh::Flesh::bone_pills).
    BonePill(usize),
}

/// A point at which flesh is pressed, in the newest substep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Which chain.
    pub chain: usize,
    /// The node with which the segment begins.
    pub segment: usize,
    /// Where on the segment, 0 at its first node, 1 at its second.
    pub along: f32,
    /// What it touches.
    pub touched: Touched,
    /// Where, on the flesh's surface in the world (m).
    pub point: DVec3,
    /// Unit normal, out of what it touches.
    pub normal: DVec3,
    /// With what force that presses along the normal (N).
    pub force: f32,
    /// With what force friction pulls the flesh (N).
    pub friction: DVec3,
}

impl Physics {
    /// Where half-spaces, solids and its own bones press an instance's flesh, chain by chain and in the order of its segments, and
    /// with what force, in the last step that it took part in; on a GPU half-spaces alone, as [`Physics::state`] shows them.
    /// Nothing before the first step. What chains press against chains with is in [`Physics::flesh_contacts`].
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn contacts(&self, handle: FleshHandle) -> Result<impl Iterator<Item = Contact>, StepError> {
        Ok(contacts_of(self.get(handle)?).map(|pressed| pressed.contact))
    }

    /// Tells how deep all contacts are over the smaller radius there, but those with an instance's own bones.
    pub(super) fn penetrations(&self, mut told: impl FnMut(f64)) {
        let (planes, solids) = (self.all_planes(), self.all_solids().collect::<Vec<_>>());
        for pressed in self.instances.iter().flat_map(contacts_of) {
            if let Some(distance) = pressed.distance(&planes, &solids) {
                told(1.0 - distance / pressed.radius);
            }
        }
        self.flesh_contacts().for_each(|contact| told(contact.depth / contact.radius));
    }
}

/// A contact, and what it is reckoned from.
struct Pressed {
    contact: Contact,
    /// Where the flesh's axis is there (m).
    place: DVec3,
    /// How thick the flesh is there (m).
    radius: f64,
    /// Which primitive of a solid it is.
    primitive: u32,
}

impl Pressed {
    /// How far the axis is from what is touched, where that is no bone and there still (m).
    fn distance(&self, planes: &[HalfSpace], solids: &[&Solid]) -> Option<f64> {
        match self.contact.touched {
            Touched::Plane(plane) => Some(planes.get(plane)?.distance(self.place)),
            Touched::Solid(solid) => {
                let solid = solids.get(solid)?;
                let place = solid.pose.inverse().transform_point(self.place);
                // Another list of solids may have other triangles.
                let there = self.primitive < solid.shape.primitives();
                there.then(|| solid.shape.surface(self.primitive, place).distance - f64::from(solid.border_radius))
            }
            Touched::BonePill(_) => None,
        }
    }
}

fn contacts_of(instance: &Instance) -> impl Iterator<Item = Pressed> {
    (0..instance.flesh.chains().len()).flat_map(move |chain| contacts_of_chain(instance, chain))
}

fn contacts_of_chain(Instance { flesh, state, .. }: &Instance, chain: usize) -> impl Iterator<Item = Pressed> {
    let info = &flesh.chains()[chain];
    let (group, lane) = (&state.nodes.groups[info.group], info.lane);
    let sources = sources(group);
    let rows = contact_rows(&group.contacts).zip(sources).filter(move |((segment, row), touches)| {
        *segment < info.node_count() && row[contact::DUAL][lane] > 0.0 && touches[lane].is_some()
    });
    rows.map(move |((segment, row), touches)| {
        let vector = |at: usize| DVec3::from_array([0, 1, 2].map(|k| f64::from(row[at + k][lane])));
        let along = row[contact::ALONG][lane];
        let ends =
            [segment, (segment + 1).min(info.node_count() - 1)].map(|index| state.nodes.node(flesh, chain, index));
        let normal = vector(contact::DIRECTION);
        let radius = f64::from(ends[0].radius + (ends[1].radius - ends[0].radius) * along);
        let place = ends[0].place.lerp(ends[1].place, f64::from(along));
        let (touched, primitive) = touches[lane].expect("was looked at");
        let contact = Contact {
            chain,
            segment,
            along,
            touched,
            point: place - normal * radius,
            normal,
            force: row[contact::DUAL][lane],
            friction: vector(contact::TANGENT),
        };
        Pressed { contact, place, radius, primitive }
    })
}

/// What each contact row of a group touches in each lane, and which primitive of it: a node's half-spaces, then its solids.
pub(super) fn sources(group: &GroupState) -> impl Iterator<Item = [Option<(Touched, u32)>; LANES as usize]> {
    let slots = &group.slots;
    let nodes = group.nodes.len() / node::ENTRIES;
    let rows = group.contacts.len() / contact::ENTRIES - group.of_solids();
    // As many half-spaces as there are rows of them, wherever the state comes from.
    let planes = rows / nodes.max(1);
    (0..nodes as u32).flat_map(move |node| {
        let first = slots.partition_point(|slot| slot.segment < node);
        let own = slots[first..].iter().take_while(move |slot| slot.segment == node);
        let of_solids = own.flat_map(|slot| {
            let touches = slot.touches.map(|touches| {
                SolidSlot::touched(touches).map(|touched| match touched {
                    Touches::Solid(solid, primitive) => (Touched::Solid(solid), primitive),
                    Touches::BonePill(pill) => (Touched::BonePill(pill), 0),
                })
            });
            [touches; SolidSlot::ROWS]
        });
        (0..planes).map(|plane| [Some((Touched::Plane(plane), 0)); LANES as usize]).chain(of_solids)
    })
}
