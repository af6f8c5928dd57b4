//! Solids near a group's chains: which segments may touch which in a frame, and along which planes in a substep; its twins are
//! `shaders/bindings/solids.wgsl` and `solid_slots.wgsl`.
//!
//! Data flow: [`SolidScene`] has all solids of the frame in a list of boxes. Before a frame's first solve each group finds
//! the solids, and of meshes the triangles, that its segments may come to touch in the frame ([`SolidSlot`]), and lays its contact
//! rows anew for them, with what they remember. Before each substep's first solve, [`SolidScene::touch`] finds for every slot
//! where the segment is nearest to the solid, and writes the plane that is tangent there ([`tangent`]): `solve_contacts` goes on
//! from there as with a half-space's. What an instance's own bones are to its chains ([`bone_pills`](super::bone_pills)) goes the
//! same way, in the same slots.
//!
//! A segment touches with the sphere of its first node, and with its deepest one where that is between its nodes and deeper than
//! both: across an edge, on a ball. That comes in by how much deeper it is, so that nothing jumps where it moves onto a node.

use glam::{DVec3, Vec3};

use super::bone_pills::{MetPill, OwnBones, RestGap};
use super::gather_segments::Given;
use super::group::GroupRest;
use super::lanes::{Entry, LANES};
use super::solid_slots::{SolidSlot, Touches};
use crate::flesh::{BoneMotion, Flesh, GroupState};
use crate::layout::{chain, node, plane, rest, tangent};
use crate::shape::Boxes;
use crate::step::StepParams;
use crate::{Collisions, Pose, Shape, Solid};

/// How much deeper than its ends, over the radius, a segment is between them from which on it touches there with all its stiffness.
pub(crate) const DEEPER: f64 = 0.05;

/// How much farther than its chain's speed takes it a segment may come, over its radius: what has been hit swings and shakes.
pub(crate) const SLACK: f32 = 0.5;

/// How far a segment is foreseen to come in a frame at most (m): 600 m/s at 60 frames a second.
pub(crate) const MOST_REACH: f64 = 10.0;

/// How many primitives of solids a segment may touch in a frame: the nearest.
const MOST_NEAR: usize = 128;

/// Which share of the way to the deepest point of a segment that a bone presses the contact goes in a substep. A taut muscle over a
/// bone is held by it at some points; where these ran to the deepest at once, the force of each would swing round between nodes.
pub(crate) const FOLLOWS: f64 = 0.25;

/// By which share of a coordinate boxes are larger than they are: some roundings.
pub(crate) const ROUNDED: f64 = 1.0e-6;

/// A segment's first node, its lane, and what it may touch.
pub(super) type Found = (u32, usize, [u32; 2]);

/// What a group's chains are given in a step beside their bones.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    /// What pushes them, see [`crate::layout::force`].
    pub forces: &'a [Entry<f32>],
    /// What they touch of their own bones, if anything.
    pub bones: Option<OwnBones<'a>>,
    /// What they touch at all.
    pub collisions: &'a Collisions,
}

impl<'a> Around<'a> {
    /// Of each group of an instance, given how its bones go, the force rows of those of its groups that are pushed, and what it
    /// touches.
    pub fn of_groups(
        flesh: &'a Flesh,
        motion: &'a BoneMotion,
        forces: &'a [Vec<Entry<f32>>],
        collisions: &'a Collisions,
    ) -> impl Iterator<Item = Self> {
        let forces = forces.iter().map(Vec::as_slice).chain(std::iter::repeat(&[][..]));
        let bones = OwnBones::of_groups(flesh, motion).map(|bones| bones.filter(|_| collisions.bone_pills));
        forces.zip(bones).map(move |(forces, bones)| Self { forces, bones, collisions })
    }
}

/// All solids of a frame.
#[derive(Default)]
pub(crate) struct SolidScene {
    solids: Vec<Solid>,
    /// All that each comes to cover in the frame, from the first one's place.
    boxes: Boxes,
    /// The frame (s).
    time: f64,
}

impl SolidScene {
    /// Of so many solids in a frame of so long (s).
    pub fn new(solids: impl IntoIterator<Item = Solid>, time: f64) -> Self {
        let mut scene = Self { solids: solids.into_iter().collect(), boxes: Boxes::default(), time };
        let bounds = scene.solids.iter().map(|solid| scene.near_first(bounds_of(solid, time)));
        scene.boxes = Boxes::new(bounds.collect::<Vec<_>>().into_iter());
        scene
    }

    /// A box of the world from the first solid's place (m), no smaller for its rounding.
    fn near_first(&self, bounds: [DVec3; 2]) -> [Vec3; 2] {
        let origin = self.solids.first().map_or(DVec3::ZERO, |solid| solid.pose.translation);
        let [low, high] = bounds.map(|corner| corner - origin);
        [(low - low.abs() * ROUNDED).as_vec3(), (high + high.abs() * ROUNDED).as_vec3()]
    }

    pub fn solids(&self) -> &[Solid] {
        &self.solids
    }

    /// How long the frame is (s).
    #[cfg(feature = "gpu")]
    pub fn time(&self) -> f64 {
        self.time
    }

    pub fn is_empty(&self) -> bool {
        self.solids.is_empty()
    }

    /// Finds what a group's chains touch in a substep, and in a frame's first what they may touch in it.
    pub fn touch(&self, params: &StepParams, rest: &GroupRest<f32>, state: &mut GroupState, around: Around<'_>) {
        if params.first_substep != 0 {
            let slots = self.near(params, rest, state, around);
            state.lay_contacts(slots);
        }
        state.tangents.clear();
        state.tangents.resize(state.slots.len() * SolidSlot::ROWS * tangent::ENTRIES, [0.0; LANES]);
        let pressed = if around.bones.is_some() { state.pressed_between() } else { Vec::new() };
        let mut moves = around.bones.map_or(Vec::new(), |bones| bones.moves());
        let GroupState { nodes, chains, slots, tangents, .. } = state;
        let mut depths = vec![[[f64::NAN; SolidSlot::ROWS]; LANES]; slots.len()];
        let rows = tangents.chunks_exact_mut(SolidSlot::ROWS * tangent::ENTRIES);
        for (index, ((slot, rows), depths)) in slots.iter().zip(rows).zip(&mut depths).enumerate() {
            let (own, between) = rows.split_at_mut(tangent::ENTRIES);
            for row in [&mut *own, &mut *between] {
                row[tangent::SEGMENT] = [slot.segment as f32; LANES];
            }
            for (lane, touches) in slot.touches.into_iter().enumerate() {
                let Some(touches) = SolidSlot::touched(touches) else { continue };
                let segment = slot.segment as usize;
                let ends = Ends::of(rest, nodes, chains, segment, lane);
                let touching = match touches {
                    Touches::Solid(solid, primitive) => {
                        let solid = self.solids.get(solid);
                        solid.map(|solid| Touching::solid((solid, around.collisions), primitive, self.time, params))
                    }
                    Touches::BonePill(pill) => around.bones.and_then(|bones| {
                        let (rows, moves) = ((rest, &**nodes, &**chains), (params, moves.as_mut_slice()));
                        let met = bones.meets((pill, lane), rows, moves, &ends, segment)?;
                        Some(Touching::bone_pill(met, pressed[index][lane]))
                    }),
                };
                let Some(touching) = touching else { continue };
                depths[lane] = touching.write(&ends, own, between, lane);
            }
        }
        state.leave_far_sides(&depths);
        state.hand_over();
    }

    /// What a group's segments may touch in a frame, in the order of the segments.
    fn near(
        &self,
        params: &StepParams,
        rest: &GroupRest<f32>,
        state: &GroupState,
        Around { forces, bones, collisions }: Around<'_>,
    ) -> Vec<SolidSlot> {
        let mut found: Vec<Found> = Vec::new();
        if let Some(bones) = bones {
            bones.near(params, rest, state, forces, &mut found);
        }
        let (mut solids, mut own) = (Vec::new(), Vec::new());
        let [x, y, z] = params.gravity;
        let gravity = (x * x + y * y + z * z).sqrt();
        for lane in (0..LANES).filter(|_| collisions.solids && !self.is_empty()) {
            let given = Given::of(state, rest, forces, lane);
            let own_nodes = 0..rest.node_count;
            let own_nodes = own_nodes.take_while(|index| rest.row(*index)[rest::RADIUS][lane] > 0.0);
            // What is stopped at one end whips at the other: each segment may come to be as fast as any.
            let coming = own_nodes.clone().map(|index| given.comes(state, index, gravity, params.frame));
            let coming = coming.fold(0.0, f32::max);
            for index in own_nodes {
                let ends = Ends::of(rest, &state.nodes, &state.chains, index, lane);
                let reach = f64::from(coming + SLACK * ends.radii[0].max(ends.radii[1]));
                // What a solid pushes may be pushed into another as fast as that goes.
                self.boxes.touching(self.near_first(ends.bounds(bounded(reach))), &mut |solid| solids.push(solid));
                let pushed = solids.drain(..).map(|solid| sweep_of(&self.solids[solid as usize], self.time));
                let reach = bounded(reach + pushed.fold(0.0, f64::max));
                self.boxes.touching(self.near_first(ends.bounds(reach)), &mut |solid| {
                    let placed = &self.solids[solid as usize];
                    if !placed.is_met_by(collisions) {
                        return;
                    }
                    let far = reach + f64::from(placed.border_radius) + sweep_of(placed, self.time);
                    let middle = local(&placed.pose, ends.places[0].lerp(ends.places[1], 0.5));
                    placed.shape.primitives_in(ends.bounds_in(&placed.pose, far), &mut |primitive| {
                        let gap = placed.shape.surface(primitive, middle).distance - ends.extent();
                        if gap <= far {
                            own.push((gap.abs(), [solid, primitive]));
                        }
                    });
                });
                if own.len() > MOST_NEAR {
                    own.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                    own.truncate(MOST_NEAR);
                }
                found.extend(own.drain(..).map(|(_, touches)| (index as u32, lane, touches)));
            }
        }
        found.sort_unstable();
        let mut slots: Vec<SolidSlot> = Vec::new();
        let mut first = 0;
        let mut next = [0; LANES];
        for (segment, lane, touches) in found {
            if slots.get(first).is_some_and(|slot| slot.segment != segment) {
                first = slots.len();
                next = [first; LANES];
            }
            if next[lane] == slots.len() {
                slots.push(SolidSlot { segment, touches: [SolidSlot::NOTHING; LANES] });
            }
            slots[next[lane]].touches[lane] = touches;
            next[lane] += 1;
        }
        slots
    }
}

/// A segment at a substep's start; of a chain's last node, twice that.
pub(super) struct Ends {
    origin: DVec3,
    pub places: [DVec3; 2],
    pub radii: [f32; 2],
    /// Whether it goes on after its first node.
    goes_on: bool,
}

impl Ends {
    pub fn of(rest: &GroupRest<f32>, nodes: &[Entry<f32>], chains: &[Entry<f32>], index: usize, lane: usize) -> Self {
        let vector =
            |rows: &[Entry<f32>], at: usize| DVec3::from_array([0, 1, 2].map(|k| f64::from(rows[at + k][lane])));
        let origin = vector(chains, chain::ORIGIN);
        let goes_on = rest.row(index)[rest::INV_LENGTH][lane] > 0.0;
        let both = [index, if goes_on { index + 1 } else { index }];
        let row = |index: usize| &nodes[index * node::ENTRIES..][..node::ENTRIES];
        let places = both.map(|index| origin + vector(row(index), node::PREV_PLACE));
        let radii = both.map(|index| rest.row(index)[rest::RADIUS][lane] * row(index)[node::PREV_SCALE][lane]);
        Self { origin, places, radii, goes_on }
    }

    fn bounds(&self, reach: f64) -> [DVec3; 2] {
        let reach = reach + f64::from(self.radii[0].max(self.radii[1]));
        let [a, b] = self.places;
        [a.min(b) - reach, a.max(b) + reach]
    }

    /// Its box in a solid's frame (m).
    fn bounds_in(&self, pose: &Pose, reach: f64) -> [Vec3; 2] {
        let [a, b] = self.places.map(|place| local(pose, place));
        let reach = reach + f64::from(self.radii[0].max(self.radii[1]));
        let (low, high) = (a.min(b) - reach, a.max(b) + reach);
        [(low - low.abs() * ROUNDED).as_vec3(), (high + high.abs() * ROUNDED).as_vec3()]
    }

    /// How far it is from its middle to its surface at most (m).
    pub fn extent(&self) -> f64 {
        0.5 * self.places[0].distance(self.places[1]) + f64::from(self.radii[0].max(self.radii[1]))
    }
}

/// How something solid goes in a substep.
#[derive(Clone, Copy)]
pub(crate) struct Moved {
    /// Where it is at the substep's start, and at its end.
    pub earlier: Pose,
    pub later: Pose,
    /// How far it goes where it turns about (m), and by how much it turns (rad).
    pub goes: DVec3,
    pub turns: DVec3,
    /// About where it turns, halfway (m).
    pub about: DVec3,
}

impl Moved {
    /// Of a solid in a substep of a frame of so long (s).
    pub fn of(solid: &Solid, time: f64, params: &StepParams) -> Self {
        let (end, substep) = (f64::from(1.0 - params.alpha), f64::from(params.substep_share()));
        let [earlier, later] = [end + substep, end].map(|left| solid.before(left, time));
        let (goes, turns) = solid.motion(substep, time);
        let about = solid.centre - solid.motion(end, time).0 - goes * 0.5;
        Self { earlier, later, goes, turns, about }
    }
}

/// What a segment touches in a substep.
struct Touching<'a> {
    shape: &'a Shape,
    primitive: u32,
    border: f64,
    friction: f32,
    restitution: f32,
    dents: f32,
    moved: Moved,
    /// How deep what touches it may be in it, where that is told by how deep it is at rest.
    rest_gap: Option<RestGap<'a>>,
    /// Where on the segment it pressed last between the nodes, which it leaves by and by; `NaN` where that has no say.
    pressed: f64,
}

impl<'a> Touching<'a> {
    fn solid((solid, collisions): (&'a Solid, &Collisions), primitive: u32, time: f64, params: &StepParams) -> Self {
        let moved = Moved::of(solid, time, params);
        let Solid { shape, border_radius, friction, friction_rule, restitution, restitution_rule, dents, .. } = solid;
        Self {
            shape,
            primitive,
            border: f64::from(*border_radius),
            friction: collisions.rubs_on(*friction, *friction_rule),
            restitution: collisions.bounces_off(*restitution, *restitution_rule),
            dents: *dents,
            moved,
            rest_gap: None,
            pressed: f64::NAN,
        }
    }

    fn bone_pill(MetPill { shape, friction, moved, rest_gap }: MetPill<'a>, pressed: f32) -> Self {
        let (rest_gap, pressed) = (Some(rest_gap), f64::from(pressed));
        Self { shape, primitive: 0, border: 0.0, friction, restitution: 0.0, dents: 0.0, moved, rest_gap, pressed }
    }

    /// Writes a lane of a slot's rows; how far the axis is from the solid in each that something is there to touch (m).
    fn write(
        &self,
        ends: &Ends,
        own: &mut [Entry<f32>],
        between: &mut [Entry<f32>],
        lane: usize,
    ) -> [f64; SolidSlot::ROWS] {
        let mut distances = [f64::NAN; SolidSlot::ROWS];
        let Self { shape, primitive, border, friction, restitution, dents, moved, rest_gap, pressed } = self;
        let (primitive, Moved { earlier, later, goes, turns, about }) = (*primitive, moved);
        let places = ends.places.map(|place| local(earlier, place));
        let surface = shape.surface(primitive, places[0]);
        let may = rest_gap.as_ref().map_or([true; SolidSlot::ROWS], RestGap::touches);
        let radii = ends.radii.map(f64::from);
        let write = |row: &mut [Entry<f32>], along: f64, share: f32| {
            let place = ends.places[0].lerp(ends.places[1], along);
            let surface = shape.surface(primitive, local(earlier, place));
            // The plane goes with the solid.
            let normal = earlier.rotation * surface.normal;
            let point = place - normal * (surface.distance - border);
            let carried = *later * earlier.inverse();
            let to = (carried.rotation * normal, carried.transform_point(point));
            row[tangent::ALONG][lane] = along as f32;
            row[tangent::SHARE][lane] = share;
            row[tangent::DENTS][lane] = *dents;
            let allowed = rest_gap.as_ref().map(|gap| gap.allowed(along));
            row[tangent::OWN][lane] = if allowed.is_some() { 1.0 } else { 0.0 };
            row[tangent::ALLOWED][lane] = allowed.unwrap_or(0.0);
            let row = &mut row[tangent::PLANE..];
            for (normal_at, offset_at, (normal, point)) in
                [(plane::NORMAL_FROM, plane::OFFSET_FROM, (normal, point)), (plane::NORMAL_TO, plane::OFFSET_TO, to)]
            {
                write_vec3(row, normal_at, lane, normal);
                row[offset_at][lane] = normal.dot(point - ends.origin) as f32;
            }
            row[plane::FRICTION][lane] = *friction;
            row[plane::RESTITUTION][lane] = *restitution;
            write_vec3(row, plane::MOVE, lane, *goes + turns.cross(ends.origin - *about));
            write_vec3(row, plane::TURN, lane, *turns);
        };
        if surface.own && may[0] {
            write(own, 0.0, 1.0);
            distances[0] = surface.distance;
        }
        let goes_on = ends.goes_on && may[1];
        let deepest = goes_on.then(|| shape.deepest(primitive, places, radii)).flatten();
        if let Some(deepest) = deepest {
            let along = if pressed.is_nan() { deepest } else { pressed + (deepest - pressed) * FOLLOWS };
            let at = |along: f64| {
                let surface = shape.surface(primitive, places[0].lerp(places[1], along));
                let radius = radii[0] + (radii[1] - radii[0]) * along;
                (surface, surface.distance - radius, radius)
            };
            let (surface, depth, radius) = at(along);
            let deeper = at(0.0).1.min(at(1.0).1) - depth;
            if surface.own && deeper > 0.0 {
                write(between, along, (deeper / (DEEPER * radius)).min(1.0) as f32);
                distances[1] = surface.distance;
            }
        }
        distances
    }
}

/// A place of the world in a solid's frame (m).
pub(super) fn local(pose: &Pose, place: DVec3) -> DVec3 {
    pose.rotation.conjugate() * (place - pose.translation)
}

/// All that a solid comes to cover in a frame (m).
pub(crate) fn bounds_of(solid: &Solid, time: f64) -> [DVec3; 2] {
    let [low, high] = solid.shape.bounds().map(|corner| corner.as_dvec3());
    let (middle, half) = ((low + high) * 0.5, (high - low) * 0.5);
    let covers = |pose: Pose| {
        let centre = pose.transform_point(middle);
        let turned = (0..3).map(|k| (pose.rotation * (DVec3::AXES[k] * half[k])).abs());
        let reach = turned.sum::<DVec3>() + f64::from(solid.border_radius);
        [centre - reach, centre + reach]
    };
    let ([low, high], sweep) = (covers(solid.pose), sweep_of(solid, time));
    [low - sweep, high + sweep]
}

/// How far a point of a solid goes in a frame at most (m).
pub(crate) fn sweep_of(solid: &Solid, time: f64) -> f64 {
    let (goes, turns) = solid.motion(1.0, time);
    if goes == DVec3::ZERO && turns == DVec3::ZERO {
        return 0.0;
    }
    let [low, high] = solid.shape.bounds().map(|corner| corner.as_dvec3());
    let middle = solid.pose.transform_point((low + high) * 0.5);
    let lever = middle.distance(solid.centre) + 0.5 * low.distance(high) + f64::from(solid.border_radius);
    goes.length() + lever * turns.length()
}

/// A reach that is a number, and within [`MOST_REACH`].
pub(super) fn bounded(reach: f64) -> f64 {
    if reach < MOST_REACH { reach } else { MOST_REACH }
}

fn write_vec3(row: &mut [Entry<f32>], at: usize, lane: usize, value: DVec3) {
    for (k, value) in value.to_array().into_iter().enumerate() {
        row[at + k][lane] = value as f32;
    }
}
