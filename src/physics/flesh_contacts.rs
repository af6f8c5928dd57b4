//! What flesh touches of other flesh.

use glam::DVec3;

use super::Physics;
use crate::cpu::lanes::OneF64;
use crate::cpu::math::V3;
use crate::cpu::pills::{Pill, points};
use crate::flesh::Flesh;
use crate::instances::{FleshHandle, Instance, SegmentName, Touch};

/// A point at which two segments of flesh press against each other, in the newest substep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FleshContact {
    /// The segments; of one instance or of two.
    pub sides: [ContactSide; 2],
    /// Where, halfway between both surfaces, in the world (m).
    pub point: DVec3,
    /// Unit normal, from the second side to the first.
    pub normal: DVec3,
    /// How deep they are in each other there after the step (m); negative where they have parted.
    pub depth: f64,
    /// The smaller one's radius there (m).
    pub radius: f64,
    /// With what force they press along the normal (N).
    pub force: f32,
    /// With what force friction pulls the first side, and the second one as much the other way (N).
    pub friction: DVec3,
}

/// A segment that presses against another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactSide {
    /// Which instance.
    pub flesh: FleshHandle,
    /// Which of its chains.
    pub chain: usize,
    /// The node with which the segment begins.
    pub segment: usize,
    /// Where on the segment, 0 at its first node, 1 at its second.
    pub along: f64,
}

/// A side's segment, with what it is where it is.
struct Segment<'a> {
    handle: FleshHandle,
    instance: &'a Instance,
    chain: usize,
    index: usize,
}

impl Physics {
    /// Where chains press chains ([`StepConfig::passes`](crate::step::StepConfig::passes)), of all instances, and with what force,
    /// in the last step that both took part in. Segments that lie along each other may do so at two points. What bones carry so deep
    /// into each other that it is let in does not press, and is in no list and no event. Nothing before the first step, and on a GPU.
    pub fn flesh_contacts(&self) -> impl Iterator<Item = FleshContact> {
        let all = self.instances.handles();
        all.flat_map(move |(handle, instance)| {
            instance.state.touches.iter().flat_map(move |touch| self.contacts_of_touch((handle, instance), touch))
        })
    }

    fn contacts_of_touch(
        &self,
        (handle, instance): (FleshHandle, &Instance),
        touch: &Touch,
    ) -> impl Iterator<Item = FleshContact> {
        let other = self.instances.get(touch.other).ok();
        let own = Segment::of((handle, instance), touch.own);
        let theirs = other.and_then(|other| Segment::of((touch.other, other), touch.theirs));
        let found = own.zip(theirs).map(|(own, theirs)| contacts_between([own, theirs], touch));
        found.into_iter().flatten().flatten()
    }
}

impl<'a> Segment<'a> {
    fn of((handle, instance): (FleshHandle, &'a Instance), name: SegmentName) -> Option<Self> {
        let [group, lane, index] = name.map(usize::from);
        let chains = Flesh::chains(&instance.flesh);
        let chain = chains.iter().position(|chain| (chain.group, chain.lane) == (group, lane))?;
        (index + 1 < chains[chain].node_count()).then_some(Self { handle, instance, chain, index })
    }

    /// As a pill, seen from a place.
    fn pill(&self, from: DVec3) -> Pill<f64> {
        let Instance { flesh, state, .. } = self.instance;
        let ends = [self.index, self.index + 1].map(|index| state.nodes.node(flesh, self.chain, index));
        Pill {
            ends: [&ends[0], &ends[1]].map(|node| V3((node.place - from).to_array())),
            radii: [&ends[0], &ends[1]].map(|node| f64::from(node.radius)),
        }
    }
}

/// The points of a pair that press.
fn contacts_between(sides: [Segment<'_>; 2], touch: &Touch) -> [Option<FleshContact>; 2] {
    let Instance { flesh, state, .. } = sides[0].instance;
    let from = state.nodes.node(flesh, sides[0].chain, sides[0].index).place;
    let pills = [sides[0].pill(from), sides[1].pill(from)];
    let there = points(OneF64(0), &pills[0], &pills[1]);
    [0, 1].map(|point| {
        let (nearest, memory) = (there[point].nearest, &touch.points[point]);
        // Its friction comes after its force, see `layout::meet`.
        let [force, x, y, z, ..] = *memory;
        let normal = DVec3::from_array(nearest.direction.0);
        let radii = [0, 1].map(|side| pills[side].radius(nearest.along[side]));
        let axis = from + DVec3::from_array(pills[0].centre(nearest.along[0]).0);
        let side = |side: usize| {
            let Segment { handle, chain, index, .. } = sides[side];
            ContactSide { flesh: handle, chain, segment: index, along: nearest.along[side] }
        };
        (force > 0.0).then(|| FleshContact {
            sides: [side(0), side(1)],
            point: axis - normal * (radii[0] + 0.5 * nearest.gap),
            normal,
            depth: -nearest.gap,
            radius: radii[0].min(radii[1]),
            force,
            friction: glam::Vec3::new(x, y, z).as_dvec3(),
        })
    })
}
