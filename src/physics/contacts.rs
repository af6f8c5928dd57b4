//! What an instance of flesh touches.

use glam::DVec3;

use super::Physics;
use crate::StepError;
use crate::cpu::contacts::contact_rows;
use crate::cpu::solid_slots::{SolidSlot, Touches};
use crate::flesh::GroupState;
use crate::instances::{FleshHandle, Instance};
use crate::layout::{LANES, contact, node};

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
    /// Where half-spaces, solids and its own bones press an instance's flesh, chain by chain and in the order of its segments, and with what
    /// force, in the last step that it took part in; on a GPU as [`Physics::state`] shows it. Nothing before the first step. Chains
    /// that touch chains are not in it.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn contacts(&self, handle: FleshHandle) -> Result<impl Iterator<Item = Contact>, StepError> {
        let instance = self.get(handle)?;
        let chains = 0..instance.flesh.chains().len();
        Ok(chains.flat_map(move |chain| contacts_of(instance, chain)))
    }
}

fn contacts_of(Instance { flesh, state, .. }: &Instance, chain: usize) -> impl Iterator<Item = Contact> {
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
        let radius = ends[0].radius + (ends[1].radius - ends[0].radius) * along;
        Contact {
            chain,
            segment,
            along,
            touched: touches[lane].expect("was looked at"),
            point: ends[0].place.lerp(ends[1].place, f64::from(along)) - normal * f64::from(radius),
            normal,
            force: row[contact::DUAL][lane],
            friction: vector(contact::TANGENT),
        }
    })
}

/// What each contact row of a group touches in each lane: a node's half-spaces, then its solids.
fn sources(group: &GroupState) -> impl Iterator<Item = [Option<Touched>; LANES as usize]> {
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
                    Touches::Solid(solid, _) => Touched::Solid(solid),
                    Touches::BonePill(pill) => Touched::BonePill(pill),
                })
            });
            [touches; SolidSlot::ROWS]
        });
        (0..planes).map(|plane| [Some(Touched::Plane(plane)); LANES as usize]).chain(of_solids)
    })
}
