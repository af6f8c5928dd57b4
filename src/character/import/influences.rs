//! Which palette entries pull on each vertex, and how hard.

use glam::Affine3A;
use std::rc::Rc;

use gltf::json::mesh::{Primitive, Semantic};
use gltf::json::validation::Checked;

use super::ImportError;
use super::accessor::{JOINTS, View, WEIGHTS};
use super::context::Context;
use crate::character::MAX_INFLUENCES;

/// Furthest a vertex's weights may be from summing to 1 before it is worth a warning.
const SUM_TOLERANCE: f32 = 1e-2;

/// What moves a primitive.
pub(super) enum Binding {
    /// A node: the palette entry.
    Rigid { entry: u16 },
    /// A skin: the palette entries of its joints.
    Skin { entries: Rc<[u16]> },
}

#[derive(Default)]
pub(super) struct Influences {
    pub joints: Vec<[u16; MAX_INFLUENCES]>,
    pub weights: Vec<[f32; MAX_INFLUENCES]>,
}

impl Influences {
    pub const BYTES_PER_VERTEX: usize = size_of::<[u16; MAX_INFLUENCES]>() + size_of::<[f32; MAX_INFLUENCES]>();

    /// The weighted sum of a vertex's matrices.
    pub fn blend(&self, vertex: usize, palette: &[Affine3A]) -> Affine3A {
        let mut sum = Affine3A::ZERO;
        for (&joint, &weight) in self.joints[vertex].iter().zip(&self.weights[vertex]) {
            if weight > 0.0 {
                let matrix = palette[joint as usize];
                sum.matrix3 += matrix.matrix3 * weight;
                sum.translation += matrix.translation * weight;
            }
        }
        sum
    }
}

pub(super) struct Attributes<'a> {
    pub context: &'a Context<'a>,
    pub primitive: &'a Primitive,
    pub vertex_count: usize,
    pub name: &'a dyn Fn() -> String,
}

/// Vertices whose weights needed mending.
#[derive(Default)]
struct Defects {
    missing_joint: usize,
    bad_weight: usize,
    sum_off: usize,
    weightless: usize,
    too_many: usize,
}

impl Attributes<'_> {
    pub fn read(&self, binding: &Binding, used: &[u32]) -> Result<Influences, ImportError> {
        let mut influences = Influences::default();
        match binding {
            Binding::Rigid { entry } => {
                let mut joints = [0; MAX_INFLUENCES];
                let mut weights = [0.0; MAX_INFLUENCES];
                joints[0] = *entry;
                weights[0] = 1.0;
                influences.joints = vec![joints; used.len()];
                influences.weights = vec![weights; used.len()];
            }
            Binding::Skin { entries } => {
                let sets = self.sets()?;
                let per_set = 4 * (size_of::<u16>() + size_of::<f32>());
                self.context.budget.spend(sets.len().saturating_mul(used.len()), per_set, self.name)?;
                let mut defects = Defects::default();
                let mut pulls = Vec::new();
                for &vertex in used {
                    gather(&sets, vertex as usize, entries, &mut pulls, &mut defects);
                    let (joints, weights) = settle(&mut pulls, entries, &mut defects);
                    influences.joints.push(joints);
                    influences.weights.push(weights);
                }
                self.report(&defects, used.len());
            }
        }
        Ok(influences)
    }

    /// The views of JOINTS_n and WEIGHTS_n, n = 0, 1, … without gaps.
    fn sets(&self) -> Result<Vec<(View<'_>, View<'_>)>, ImportError> {
        let mut sets = Vec::new();
        for set in 0.. {
            let find = |semantic| self.primitive.attributes.get(&Checked::Valid(semantic)).copied();
            let (joints, weights) = (find(Semantic::Joints(set)), find(Semantic::Weights(set)));
            let (Some(joints), Some(weights)) = (joints, weights) else {
                if joints.is_some() || weights.is_some() {
                    self.context
                        .warn(format!("{}: JOINTS_{set} and WEIGHTS_{set} need each other; left out", (self.name)()));
                }
                break;
            };
            let name = |semantic: &str| format!("{}, {semantic}_{set}", (self.name)());
            let joints_view = self.context.view(joints, &JOINTS, &|| name("JOINTS"))?;
            let weights_view = self.context.view(weights, &WEIGHTS, &|| name("WEIGHTS"))?;
            for (view, accessor, semantic) in [(&joints_view, joints, "JOINTS"), (&weights_view, weights, "WEIGHTS")] {
                if view.count < self.vertex_count {
                    return Err(ImportError::Accessor {
                        file: self.context.file.into(),
                        object: name(semantic),
                        accessor: accessor.value(),
                        problem: format!("has {} elements for {} vertices", view.count, self.vertex_count),
                    });
                }
            }
            sets.push((joints_view, weights_view));
        }
        Ok(sets)
    }

    fn report(&self, defects: &Defects, vertices: usize) {
        let warn = |count: usize, problem: &str| {
            if count > 0 {
                self.context.warn(format!("{}: {count} of {vertices} vertices {problem}", (self.name)()));
            }
        };
        warn(
            defects.missing_joint,
            "have weight on joints that the skin lacks; that weight goes to their other joints",
        );
        warn(defects.bad_weight, "have negative or non-finite weights; taken as 0");
        warn(defects.sum_off, "have weights that do not sum to 1; normalised");
        warn(defects.weightless, "have no weight; they follow their first joint");
        warn(defects.too_many, "have more than 8 joints; the strongest 8 are kept");
    }
}

/// Collects a vertex's (palette entry, weight) pairs of positive weight.
fn gather(sets: &[(View, View)], vertex: usize, entries: &[u16], pulls: &mut Vec<(u16, f32)>, defects: &mut Defects) {
    pulls.clear();
    let (mut missing, mut bad) = (false, false);
    for (joints, weights) in sets {
        for slot in 0..4 {
            let weight = weights.number(vertex, slot);
            if weight == 0.0 {
                continue;
            }
            if !(weight.is_finite() && weight > 0.0) {
                bad = true;
                continue;
            }
            match entries.get(joints.integer(vertex, slot) as usize) {
                Some(&entry) => match pulls.iter_mut().find(|(known, _)| *known == entry) {
                    Some((_, sum)) => *sum += weight,
                    None => pulls.push((entry, weight)),
                },
                None => missing = true,
            }
        }
    }
    if pulls.is_empty() {
        let first = sets.first().and_then(|(joints, _)| entries.get(joints.integer(vertex, 0) as usize));
        pulls.extend(first.or(entries.first()).map(|&entry| (entry, 0.0)));
    }
    defects.missing_joint += usize::from(missing);
    defects.bad_weight += usize::from(bad);
}

/// Keeps the strongest pulls and makes their weights sum to 1.
fn settle(
    pulls: &mut Vec<(u16, f32)>,
    entries: &[u16],
    defects: &mut Defects,
) -> ([u16; MAX_INFLUENCES], [f32; MAX_INFLUENCES]) {
    if pulls.len() > MAX_INFLUENCES {
        defects.too_many += 1;
        pulls.sort_by(|a, b| b.1.total_cmp(&a.1));
        pulls.truncate(MAX_INFLUENCES);
    }
    let mut joints = [0; MAX_INFLUENCES];
    let mut weights = [0.0; MAX_INFLUENCES];
    let sum: f64 = pulls.iter().map(|(_, weight)| f64::from(*weight)).sum();
    if sum <= 0.0 {
        defects.weightless += 1;
        joints[0] = pulls.first().map_or(entries[0], |pull| pull.0);
        weights[0] = 1.0;
        return (joints, weights);
    }
    defects.sum_off += usize::from((sum - 1.0).abs() > f64::from(SUM_TOLERANCE));
    for (slot, &(joint, weight)) in pulls.iter().enumerate() {
        joints[slot] = joint;
        weights[slot] = (f64::from(weight) / sum) as f32;
    }
    (joints, weights)
}
