//! Solids near a group's chains: which segments may touch which in a frame, and along which planes in a substep.
//!
//! Data flow: [`SolidScene`] has all solids of the frame in a list of boxes. Before a frame's first solve each group finds
//! the solids, and of meshes the triangles, that its segments may come to touch in the frame ([`SolidSlot`]), and lays its contact
//! rows anew for them, with what they remember. Before each substep's first solve, [`SolidScene::touch`] finds for every slot
//! where the segment is nearest to the solid, and writes the plane that is tangent there ([`tangent`]): `solve_contacts` goes on
//! from there as with a half-space's.
//!
//! A segment touches with the sphere of its first node, and with its deepest one where that is between its nodes and deeper than
//! both: across an edge, on a ball. That comes in by how much deeper it is, so that nothing jumps where it moves onto a node.

use glam::{DVec3, Vec3};

use super::find_pairs::Given;
use super::group::GroupRest;
use super::lanes::{Entry, LANES};
use crate::flesh::GroupState;
use crate::layout::{chain, contact, node, plane, rest, tangent};
use crate::shape::Boxes;
use crate::step::StepParams;
use crate::{Pose, Solid};

/// How much deeper than its ends, over the radius, a segment is between them from which on it touches there with all its stiffness.
const DEEPER: f64 = 0.05;

/// By which share of a coordinate boxes are larger than they are: some roundings.
const ROUNDED: f64 = 1.0e-6;

/// By the cosine between normals, how alike primitives face of which one goes on with the other's friction.
const ALIKE: f32 = 0.9;

/// A segment of a group, and in each lane what it may touch.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct SolidSlot {
    /// The node with which the segment begins.
    pub segment: u32,
    /// Which solid, and which of its primitives; [`SolidSlot::NOTHING`] in lanes that have none.
    pub touches: [[u32; 2]; LANES],
}

impl SolidSlot {
    /// Of a lane that has none.
    pub const NOTHING: [u32; 2] = [u32::MAX; 2];

    /// How many contact rows a slot has: its first node's, and that of what is deeper between both.
    pub const ROWS: usize = 2;
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

    pub fn is_empty(&self) -> bool {
        self.solids.is_empty()
    }

    /// Finds what a group's chains touch in a substep, and in a frame's first what they may touch in it.
    pub fn touch(&self, params: &StepParams, rest: &GroupRest<f32>, state: &mut GroupState, forces: &[Entry<f32>]) {
        if params.first_substep != 0 {
            let slots = self.near(params, rest, state, forces);
            state.lay_contacts(slots);
        }
        state.tangents.clear();
        state.tangents.resize(state.slots.len() * SolidSlot::ROWS * tangent::ENTRIES, [0.0; LANES]);
        let GroupState { nodes, chains, slots, tangents, .. } = state;
        let mut depths = vec![[[f64::NAN; SolidSlot::ROWS]; LANES]; slots.len()];
        let rows = tangents.chunks_exact_mut(SolidSlot::ROWS * tangent::ENTRIES);
        for ((slot, rows), depths) in slots.iter().zip(rows).zip(&mut depths) {
            let (own, between) = rows.split_at_mut(tangent::ENTRIES);
            for row in [&mut *own, &mut *between] {
                row[tangent::SEGMENT] = [slot.segment as f32; LANES];
            }
            for (lane, [solid, primitive]) in slot.touches.into_iter().enumerate() {
                let Some(solid) = self.solids.get(solid as usize) else { continue };
                let ends = Ends::of(rest, nodes, chains, slot.segment as usize, lane);
                let touching = Touching { solid, primitive, time: self.time, params };
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
        forces: &[Entry<f32>],
    ) -> Vec<SolidSlot> {
        let mut found: Vec<(u32, usize, [u32; 2])> = Vec::new();
        let [x, y, z] = params.gravity;
        let gravity = (x * x + y * y + z * z).sqrt();
        for lane in 0..LANES {
            let given = Given::of(state, rest, forces, lane);
            for index in (0..rest.node_count).take_while(|index| rest.row(*index)[rest::RADIUS][lane] > 0.0) {
                let ends = Ends::of(rest, &state.nodes, &state.chains, index, lane);
                let reach = f64::from(ends.reach(params, &given, state, index, gravity));
                self.boxes.touching(self.near_first(ends.bounds(reach)), &mut |solid| {
                    let placed = &self.solids[solid as usize];
                    let ways = [0.0, 0.5, 1.0].map(|left| placed.before(left, self.time));
                    let boxes = ways.map(|pose| ends.bounds_in(&pose, reach + f64::from(placed.border_radius)));
                    let local = boxes.into_iter().reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])]);
                    placed.shape.primitives_in(local.expect("there are three"), &mut |primitive| {
                        found.push((index as u32, lane, [solid, primitive]));
                    });
                });
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

impl GroupState {
    /// Lays the contact rows of half-spaces and solids anew, for these slots; what is remembered of each stays with it.
    fn lay_contacts(&mut self, slots: Vec<SolidSlot>) {
        if slots == self.slots {
            return;
        }
        let (count, planes) = (self.nodes.len() / node::ENTRIES, self.planes.len() / plane::ENTRIES);
        let rows = (count * planes + SolidSlot::ROWS * slots.len()) * contact::ENTRIES;
        let old = std::mem::replace(&mut self.contacts, vec![[0.0; LANES]; rows]);
        let old_at = rows_of(count, planes, &self.slots);
        let new_at = rows_of(count, planes, &slots);
        for index in 0..count {
            let rows = planes * contact::ENTRIES;
            let [from, to] = [&old_at, &new_at].map(|at| at.0[index] * contact::ENTRIES);
            if let Some(old) = old.get(from..from + rows) {
                self.contacts[to..to + rows].copy_from_slice(old);
            }
        }
        for (slot, &to) in slots.iter().zip(&new_at.1) {
            let before = self.slots.partition_point(|old| old.segment < slot.segment);
            let same = self.slots[before..].iter().zip(&old_at.1[before..]);
            for (known, &from) in same.take_while(|(known, _)| known.segment == slot.segment) {
                for lane in (0..LANES).filter(|&lane| known.touches[lane] == slot.touches[lane]) {
                    for entry in 0..SolidSlot::ROWS * contact::ENTRIES {
                        let value = old[from * contact::ENTRIES + entry][lane];
                        self.contacts[to * contact::ENTRIES + entry][lane] = value;
                    }
                }
            }
        }
        self.slots = slots;
    }

    /// Of a solid's primitives that a segment is behind, only the nearest of all is touched: what is in front of a thin wall is behind
    /// its other side. `depths` are how far they are, by slot and lane.
    fn leave_far_sides(&mut self, depths: &[[[f64; SolidSlot::ROWS]; LANES]]) {
        let Self { slots, tangents, .. } = self;
        let mut first = 0;
        for segment in slots.chunk_by(|a, b| a.segment == b.segment) {
            let all = first..first + segment.len();
            first = all.end;
            for (row, lane) in (0..SolidSlot::ROWS).flat_map(|row| (0..LANES).map(move |lane| (row, lane))) {
                for slot in all.clone().filter(|&slot| depths[slot][lane][row] < 0.0) {
                    let (solid, depth) = (slots[slot].touches[lane][0], depths[slot][lane][row]);
                    let nearer = |&other: &usize| {
                        slots[other].touches[lane][0] == solid && depths[other][lane][row].abs() < depth.abs()
                    };
                    if all.clone().any(|other| nearer(&other)) {
                        tangents[(slot * SolidSlot::ROWS + row) * tangent::ENTRIES + tangent::SHARE][lane] = 0.0;
                    }
                }
            }
        }
    }

    /// What a segment leaves of a solid's primitives goes with what is remembered to the one that it comes to: over a mesh's edges
    /// friction goes on.
    fn hand_over(&mut self) {
        let Self { nodes, planes, slots, tangents, contacts, .. } = self;
        let (count, planes) = (nodes.len() / node::ENTRIES, planes.len() / plane::ENTRIES);
        let rows = rows_of(count, planes, slots).1;
        let share = |slot: usize, row: usize, lane: usize| {
            tangents[(slot * SolidSlot::ROWS + row) * tangent::ENTRIES + tangent::SHARE][lane]
        };
        let mut first = 0;
        for segment in slots.chunk_by(|a, b| a.segment == b.segment) {
            let all = first..first + segment.len();
            first = all.end;
            for (row, lane) in (0..SolidSlot::ROWS).flat_map(|row| (0..LANES).map(move |lane| (row, lane))) {
                let at = |slot: usize| (rows[slot] + row) * contact::ENTRIES;
                for left in all.clone().filter(|&slot| share(slot, row, lane) == 0.0) {
                    if contacts[at(left) + contact::DUAL][lane] == 0.0 {
                        continue;
                    }
                    let solid = slots[left].touches[lane][0];
                    let comes_to = |&slot: &usize| {
                        slots[slot].touches[lane][0] == solid && share(slot, row, lane) > 0.0 && {
                            let now = (slot * SolidSlot::ROWS + row) * tangent::ENTRIES + tangent::PLANE;
                            let normals = (0..3).map(|k| {
                                let before = contacts[at(left) + contact::DIRECTION + k][lane];
                                before * tangents[now + plane::NORMAL_FROM + k][lane]
                            });
                            normals.sum::<f32>() > ALIKE
                        }
                    };
                    let Some(to) = all.clone().find(comes_to) else { continue };
                    for entry in
                        [contact::LIMIT, contact::DUAL].into_iter().chain(contact::TANGENT..contact::TANGENT + 3)
                    {
                        contacts[at(to) + entry][lane] += contacts[at(left) + entry][lane];
                        contacts[at(left) + entry][lane] = 0.0;
                    }
                }
            }
        }
    }

    /// How many contact rows of half-spaces and solids there are to be.
    pub(crate) fn contact_count(&self) -> usize {
        self.nodes.len() / node::ENTRIES * (self.planes.len() / plane::ENTRIES) + self.of_solids()
    }

    /// How many contact rows of solids there are.
    pub(crate) fn of_solids(&self) -> usize {
        SolidSlot::ROWS * self.slots.len()
    }
}

/// The first contact row of each node, and of each slot: a node's half-spaces come before its slots.
fn rows_of(nodes: usize, planes: usize, slots: &[SolidSlot]) -> (Vec<usize>, Vec<usize>) {
    let (mut of_nodes, mut of_slots) = (Vec::with_capacity(nodes), Vec::with_capacity(slots.len()));
    let (mut row, mut next) = (0, slots.iter().peekable());
    for index in 0..nodes {
        of_nodes.push(row);
        row += planes;
        while next.next_if(|slot| slot.segment as usize == index).is_some() {
            of_slots.push(row);
            row += SolidSlot::ROWS;
        }
    }
    (of_nodes, of_slots)
}

/// A segment at a substep's start; of a chain's last node, twice that.
struct Ends {
    origin: DVec3,
    places: [DVec3; 2],
    radii: [f32; 2],
    /// Whether it goes on after its first node.
    goes_on: bool,
}

impl Ends {
    fn of(rest: &GroupRest<f32>, nodes: &[Entry<f32>], chains: &[Entry<f32>], index: usize, lane: usize) -> Self {
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

    /// How far it may come in a frame (m).
    fn reach(&self, params: &StepParams, given: &Given<'_>, state: &GroupState, index: usize, gravity: f32) -> f32 {
        let ends = if self.goes_on { [index, index + 1] } else { [index; 2] };
        let speed = ends.map(|index| {
            let velocity = given.velocity(&state.nodes[index * node::ENTRIES..][..node::ENTRIES], index);
            velocity.dot(velocity).sqrt()
        });
        let accelerated = gravity + given.acceleration(ends);
        let slack = 0.05 * self.radii[0].max(self.radii[1]) + given.carried;
        speed[0].max(speed[1]) * params.frame + 0.5 * accelerated * params.frame * params.frame + slack
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
        [a.min(b) - reach, a.max(b) + reach].map(|corner| corner.as_vec3())
    }
}

/// A segment of a solid in a substep.
struct Touching<'a> {
    solid: &'a Solid,
    primitive: u32,
    time: f64,
    params: &'a StepParams,
}

impl Touching<'_> {
    /// Writes a lane of a slot's rows; how far the axis is from the solid in each that something is there to touch (m).
    fn write(
        &self,
        ends: &Ends,
        own: &mut [Entry<f32>],
        between: &mut [Entry<f32>],
        lane: usize,
    ) -> [f64; SolidSlot::ROWS] {
        let mut distances = [f64::NAN; SolidSlot::ROWS];
        let Self { solid, primitive, time, params } = *self;
        let (end, substep) = (f64::from(1.0 - params.alpha), f64::from(params.substep_share()));
        let [earlier, later] = [end + substep, end].map(|left| solid.before(left, time));
        let places = ends.places.map(|place| local(&earlier, place));
        let surface = solid.shape.surface(primitive, places[0]);
        let border = f64::from(solid.border_radius);
        let radii = ends.radii.map(f64::from);
        let write = |row: &mut [Entry<f32>], along: f64, share: f32| {
            let place = ends.places[0].lerp(ends.places[1], along);
            let surface = solid.shape.surface(primitive, local(&earlier, place));
            // The plane goes with the solid.
            let normal = earlier.rotation * surface.normal;
            let point = place - normal * (surface.distance - border);
            let carried = later * earlier.inverse();
            let to = (carried.rotation * normal, carried.transform_point(point));
            row[tangent::ALONG][lane] = along as f32;
            row[tangent::SHARE][lane] = share;
            row[tangent::DENTS][lane] = solid.dents;
            let row = &mut row[tangent::PLANE..];
            for (normal_at, offset_at, (normal, point)) in
                [(plane::NORMAL_FROM, plane::OFFSET_FROM, (normal, point)), (plane::NORMAL_TO, plane::OFFSET_TO, to)]
            {
                write_vec3(row, normal_at, lane, normal);
                row[offset_at][lane] = normal.dot(point - ends.origin) as f32;
            }
            row[plane::FRICTION][lane] = solid.friction;
            let (goes, turns) = solid.motion(substep, time);
            let centre = solid.centre - solid.motion(end, time).0;
            write_vec3(row, plane::MOVE, lane, goes + turns.cross(ends.origin - (centre - goes * 0.5)));
            write_vec3(row, plane::TURN, lane, turns);
        };
        if surface.own {
            write(own, 0.0, 1.0);
            distances[0] = surface.distance;
        }
        let deepest = ends.goes_on.then(|| solid.shape.deepest(primitive, places, radii)).flatten();
        if let Some(along) = deepest {
            let at = |along: f64| {
                let surface = solid.shape.surface(primitive, places[0].lerp(places[1], along));
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
fn local(pose: &Pose, place: DVec3) -> DVec3 {
    pose.rotation.conjugate() * (place - pose.translation)
}

/// All that a solid comes to cover in a frame (m).
fn bounds_of(solid: &Solid, time: f64) -> [DVec3; 2] {
    let [low, high] = solid.shape.bounds().map(|corner| corner.as_dvec3());
    let (middle, half) = ((low + high) * 0.5, (high - low) * 0.5);
    let covers = |pose: Pose| {
        let centre = pose.transform_point(middle);
        let turned = (0..3).map(|k| (pose.rotation * (DVec3::AXES[k] * half[k])).abs());
        let reach = turned.sum::<DVec3>() + f64::from(solid.border_radius);
        [centre - reach, centre + reach]
    };
    let [from, halfway, to] = [1.0, 0.5, 0.0].map(|left| covers(solid.before(left, time)));
    // Between these it bulges by less than a quarter of an arc's sagitta of a whole turn's step.
    let turn = solid.motion(1.0, time).1.length();
    let bulge = (half.length() + solid.pose.transform_point(middle).distance(solid.centre)) * turn * turn / 32.0;
    [from[0].min(halfway[0]).min(to[0]) - bulge, from[1].max(halfway[1]).max(to[1]) + bulge]
}

fn write_vec3(row: &mut [Entry<f32>], at: usize, lane: usize, value: DVec3) {
    for (k, value) in value.to_array().into_iter().enumerate() {
        row[at + k][lane] = value as f32;
    }
}
