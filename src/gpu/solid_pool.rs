//! Solids on the GPU: their shapes, what is said of each, and how each goes in the frame. What is as it was is not sent again.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use glam::{DQuat, DVec3, Vec3};

use super::GpuError;
use super::arrays::SOLIDS;
use super::pill_rows::PillTables;
use super::residents::Upload;
use super::rows::{Rows, count};
use crate::cpu::solids::{Moved, SolidScene, sweep_of};
use crate::layout::{form, motion, solid};
use crate::step::StepParams;
use crate::{Shape, Solid};

/// The most solids near to a chain that are kept for its segments; of more, each segment asks all.
pub(crate) const NEAR_CHAIN: u32 = 16;

/// From how much a slope changes on over the length between two points as near as bisections bring them, there is a kink between.
pub(crate) const KINK: f32 = 0.01;

/// How far a direction may be outside a triangle's edge's or corner's region, by its cosine, as digits go on a GPU.
pub(crate) const EDGE_SLACK: f32 = 1.0e-5;

/// The most triangles of a mesh that rows can name.
const MOST_TRIANGLES: u32 = 1 << 24;

/// In which steps the places are told that solids are said to be near to (m): those of chains' origins, or multiples of these.
const ANCHOR_STEP: f64 = 0.125;

/// Words that did not change between two that did are sent along up to so many.
const GAP: usize = 64;

/// A shape in the array.
struct Known {
    _shape: Arc<Shape>,
    words: Range<u64>,
    /// Whether a solid has it in this frame; what none has any more is forgotten.
    seen: bool,
}

/// The solids of a frame.
#[derive(Default)]
pub(super) struct SolidPool {
    words: Rows,
    /// By the address at which a shape is kept, which stays there as long as this does.
    known: HashMap<usize, Known>,
    /// Where what is said of all solids lies: of each, then how each goes.
    table: Range<u64>,
    /// What the GPU was told there.
    told: Vec<u32>,
    count: u32,
    pills: PillTables,
}

impl SolidPool {
    /// Sends what is new of a frame's solids.
    pub fn follow(
        &mut self,
        upload: &mut Upload<'_>,
        scene: &SolidScene,
        substeps: &[&StepParams],
    ) -> Result<(), GpuError> {
        self.count = scene.solids().len() as u32;
        self.known.values_mut().for_each(|known| known.seen = false);
        let solids = scene.solids().len() * solid::ENTRIES;
        let goes = |of: &Solid| of.velocity != DVec3::ZERO || of.spin != DVec3::ZERO;
        let mut told = vec![0; solids];
        // Those at rest come first, so that what moves is sent at once.
        for moving in [false, true] {
            for (index, placed) in scene.solids().iter().enumerate().filter(|(_, placed)| goes(placed) == moving) {
                let shape = self.shape_of(upload, &placed.shape)?;
                let told_for = if moving { substeps } else { &substeps[..substeps.len().min(1)] };
                let at = told.len();
                told[index * solid::ENTRIES..][..solid::ENTRIES].copy_from_slice(&row(placed, scene.time()));
                let own = &mut told[index * solid::ENTRIES..];
                own[solid::SHAPE] = shape as u32;
                own[solid::MOTION] = at as u32;
                own[solid::MOTIONS] = told_for.len() as u32;
                for params in told_for {
                    told.extend(motion_of(&Moved::of(placed, scene.time(), params)));
                }
            }
        }
        let Self { words, known, .. } = self;
        known.retain(|_, known| {
            if !known.seen {
                words.give_back(known.words.clone());
            }
            known.seen
        });
        if told.len() > count(&self.table) {
            self.words.give_back(std::mem::take(&mut self.table));
            self.table = self.words.take(told.len() as u64 * 3 / 2);
            self.told.clear();
        }
        // They are said to begin with the array.
        for index in 0..scene.solids().len() {
            told[index * solid::ENTRIES + solid::MOTION] += self.table.start as u32;
        }
        send(upload, self.table.start, &self.told, &told)?;
        self.told = told;
        Ok(())
    }

    /// Where pills of bones go.
    pub fn for_pills(&mut self) -> (&mut Rows, &mut PillTables) {
        (&mut self.words, &mut self.pills)
    }

    /// Tells kernels of it.
    pub fn tell(&self, params: &mut StepParams) {
        params.solid_count = self.count;
        params.solid_base = self.table.start as u32;
    }

    /// The first word of a shape, which is sent where it is new.
    fn shape_of(&mut self, upload: &mut Upload<'_>, shape: &Arc<Shape>) -> Result<u64, GpuError> {
        let at = Arc::as_ptr(shape) as usize;
        if let Some(known) = self.known.get_mut(&at) {
            known.seen = true;
            return Ok(known.words.start);
        }
        let told = words_of(shape);
        let words = self.words.take(told.len() as u64);
        upload.rows(SOLIDS, words.start, &told)?;
        let start = words.start;
        self.known.insert(at, Known { _shape: shape.clone(), words, seen: true });
        Ok(start)
    }
}

/// Sends words that lie from one on, as far as they are not those that were told before.
pub(super) fn send(upload: &mut Upload<'_>, first: u64, before: &[u32], now: &[u32]) -> Result<(), GpuError> {
    changed(before, now).into_iter().try_for_each(|run| upload.rows(SOLIDS, first + run.start as u64, &now[run]))
}

/// The parts in which words differ from those before, near ones together.
fn changed(before: &[u32], now: &[u32]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (index, word) in now.iter().enumerate().filter(|(index, word)| before.get(*index) != Some(word)) {
        debug_assert_eq!(now[index], *word);
        match runs.last_mut() {
            Some(run) if run.end + GAP >= index => run.end = index + 1,
            _ => runs.push(index..index + 1),
        }
    }
    runs
}

/// Numbers as words.
pub(super) fn bits<const N: usize>(numbers: [f32; N]) -> [u32; N] {
    numbers.map(f32::to_bits)
}

/// What is said of a solid but for where that is which is told elsewhere.
fn row(placed: &Solid, time: f64) -> [u32; solid::ENTRIES] {
    let mut row = [0; solid::ENTRIES];
    let [low, high] = placed.shape.bounds();
    row[solid::FORM] = form_of(&placed.shape).unwrap_or_default() as u32;
    row[solid::BORDER] = placed.border_radius.to_bits();
    row[solid::FRICTION] = placed.friction.to_bits();
    row[solid::RUBS_BY] = placed.friction_rule as u32;
    row[solid::RESTITUTION] = placed.restitution.to_bits();
    row[solid::BOUNCES_BY] = placed.restitution_rule as u32;
    row[solid::DENTS] = placed.dents.to_bits();
    row[solid::MEMBERSHIPS] = placed.groups.memberships;
    row[solid::FILTER] = placed.groups.filter;
    row[solid::CENTRE..][..3].copy_from_slice(&bits(((low + high) * 0.5).to_array()));
    row[solid::EXTENT] = (low.distance(high) * 0.5 + placed.border_radius).to_bits();
    row[solid::SWEEP] = (sweep_of(placed, time) as f32).to_bits();
    row
}

/// How a solid goes in a substep.
pub(super) fn motion_of(moved: &Moved) -> [u32; motion::ENTRIES] {
    let Moved { earlier, later, goes, turns, about } = moved;
    let anchor = ((earlier.translation / ANCHOR_STEP).round() * ANCHOR_STEP).as_vec3();
    let turn = later.rotation * earlier.rotation.conjugate();
    let turn = if turn.w < 0.0 { -turn } else { turn };
    let mut words = [0; motion::ENTRIES];
    let mut vector = |at: usize, value: Vec3| words[at..at + 3].copy_from_slice(&bits(value.to_array()));
    vector(motion::ANCHOR, anchor);
    vector(motion::OFFSET, (earlier.translation - anchor.as_dvec3()).as_vec3());
    vector(motion::BY, (later.translation - earlier.translation).as_vec3());
    vector(motion::GOES, goes.as_vec3());
    vector(motion::TURNS, turns.as_vec3());
    vector(motion::ABOUT, (*about - earlier.translation).as_vec3());
    let mut frame = |at: usize, value: DQuat| {
        words[at..at + 4].copy_from_slice(&bits(value.normalize().as_quat().to_array()));
    };
    frame(motion::FRAME, earlier.rotation);
    frame(motion::TURN, turn);
    words
}

/// What a shape is; `None` of one that a GPU does not know.
pub(crate) fn form_of(shape: &Shape) -> Option<usize> {
    match shape {
        Shape::Ball { .. } | Shape::Capsule { .. } => Some(form::SEGMENT),
        Shape::Cuboid { .. } => Some(form::CUBOID),
        Shape::Cylinder { .. } => Some(form::CYLINDER),
        Shape::Cone { .. } => Some(form::CONE),
        Shape::Convex(_) => Some(form::CONVEX),
        Shape::Mesh(_) if shape.primitives() > MOST_TRIANGLES => None,
        Shape::Mesh(_) => Some(form::MESH),
    }
}

fn words_of(shape: &Shape) -> Vec<u32> {
    let segment = |[a, b]: [Vec3; 2], radius: f32| bits([a.x, a.y, a.z, b.x, b.y, b.z, radius]).to_vec();
    match shape {
        Shape::Ball { radius } => segment([Vec3::ZERO; 2], *radius),
        Shape::Capsule { ends, radius } => segment(*ends, *radius),
        Shape::Cuboid { half_extents } => bits(half_extents.to_array()).to_vec(),
        Shape::Cylinder { half_height, radius } | Shape::Cone { half_height, radius } => {
            bits([*half_height, *radius]).to_vec()
        }
        Shape::Convex(convex) => convex.words(),
        Shape::Mesh(mesh) => mesh.words(),
    }
}

#[cfg(test)]
mod tests {
    use super::changed;

    #[test]
    fn what_is_as_it_was_is_not_sent() {
        let before: Vec<u32> = (0..1000).collect();
        let mut now = before.clone();
        assert!(changed(&before, &now).is_empty());
        (now[3], now[40], now[500]) = (0, 0, 0);
        assert_eq!(changed(&before, &now), [3..41, 500..501]);
        now.extend([1, 2]);
        assert_eq!(changed(&before, &now), [3..41, 500..501, 1000..1002]);
        assert_eq!(changed(&[], &now).first(), Some(&(0..1002)));
    }
}
