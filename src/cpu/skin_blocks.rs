//! Skin as `deform_skin` reads it: vertices in blocks of eight, a lane each, structure of arrays.
//!
//! Vertices are sorted within chunks, so that the eight of a block follow the same few matrices. A matrix that a block shares
//! is read once for all eight, each number of it spread over the lanes, and a lane that does not follow it weighs it with 0. Where
//! that would be more than to go through each vertex's own matrices, the block has these listed instead, vertex by vertex.
//!
//! A chunk's vertices are those of a stretch of the host's order: it is written by one thread, into its own part of the
//! output, and stays in cache.

use std::ops::Range;
use std::sync::Arc;

use super::lanes::{Entry, LANES};
use crate::skin::{Skin, SkinBlending, SkinVertex};

/// How many vertices of the host's order are sorted among each other, and taken by a thread at a time.
pub const CHUNK: usize = 1024;

/// A number for each vertex of a block, where a register loads it whole.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub struct Weights(pub Entry<f32>);

/// A matrix that a single vertex follows.
#[derive(Clone, Copy, Debug)]
pub struct Pull {
    /// Which matrix.
    pub matrix: u32,
    /// How strongly.
    pub weight: f32,
}

/// Where each vertex's [`Pull`]s begin, and where the last one's end.
pub type Starts = [u32; LANES + 1];

/// What matrices the vertices of a block follow.
#[derive(Clone, Debug)]
pub enum Follows {
    /// Those at these places of [`SkinBlocks::shared`], each for all of the block.
    Shared(Range<u32>),
    /// As [`Self::Shared`], of dual quaternions.
    Dual(Range<u32>),
    /// Those at these places of [`SkinBlocks::pulls`], from each vertex's first to the next one's.
    Apart(Starts),
}

/// Eight vertices; the last of a chunk may stand for its last vertex several times.
#[derive(Clone, Debug)]
pub struct Block {
    /// Where in its chunk each vertex is.
    pub vertices: [u16; LANES],
    /// Entries of the palette.
    pub joints: Follows,
    /// Cross-sections, and where in [`SkinBlocks::model`] the block is; `None` where no vertex follows any.
    pub sections: Option<(Follows, u32)>,
}

/// A place (m) and a unit normal for each vertex of a block.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub struct AtRest {
    /// Place (m).
    pub place: [Entry<f32>; 3],
    /// Unit normal.
    pub normal: [Entry<f32>; 3],
}

/// A tangent for each vertex of a block; its fourth number is the bitangent's side.
pub type Tangents = [Entry<f32>; 4];

/// A skin's vertices in blocks, those of a chunk one after the other; immutable and shared by its instances.
#[derive(Clone, Debug, Default)]
pub struct SkinBlocks {
    /// The skin.
    pub skin: Arc<Skin>,
    /// The blocks.
    pub blocks: Vec<Block>,
    /// In mesh space, one for each block.
    pub mesh: Vec<AtRest>,
    /// At rest in model space, one for each block that follows cross-sections.
    pub model: Vec<AtRest>,
    /// Tangents in mesh space, one for each block; empty where no vertex has any.
    pub mesh_tangents: Vec<Tangents>,
    /// The same at rest in model space, one for each block that follows cross-sections.
    pub model_tangents: Vec<Tangents>,
    /// Which matrices blocks share.
    pub shared: Vec<u32>,
    /// How strongly each vertex follows these.
    pub weights: Vec<Weights>,
    /// What vertices follow where blocks share too little.
    pub pulls: Vec<Pull>,
}

impl SkinBlocks {
    /// A skin's.
    ///
    /// # Panics
    /// Where a vertex names weights that are not there.
    pub fn new(skin: Arc<Skin>) -> Self {
        let mut blocks = Self { skin: skin.clone(), ..Self::default() };
        let has_tangents = skin.has_tangents();
        let followed: Vec<_> = skin.vertices.iter().map(|vertex| Followed::new(&skin, vertex)).collect();
        for (chunk, followed) in skin.vertices.chunks(CHUNK).zip(followed.chunks(CHUNK)) {
            let mut order: Vec<u16> = (0..chunk.len() as u16).collect();
            order.sort_by(|&a, &b| followed[usize::from(a)].order().cmp(&followed[usize::from(b)].order()));
            for eight in order.chunks(LANES) {
                let at = |lane: usize| eight[lane.min(eight.len() - 1)];
                blocks.add(std::array::from_fn(at), chunk, followed, has_tangents);
            }
        }
        blocks
    }

    /// The blocks of a chunk.
    pub fn of_chunk(&self, chunk: usize) -> Range<usize> {
        let first = chunk * (CHUNK / LANES);
        first..(first + CHUNK / LANES).min(self.blocks.len())
    }

    /// What matrices a block shares, and how strongly its vertices follow each.
    #[inline(always)]
    pub fn shared(&self, range: &Range<u32>) -> (&[u32], &[Weights]) {
        let range = range.start as usize..range.end as usize;
        (&self.shared[range.clone()], &self.weights[range])
    }

    fn add(&mut self, vertices: [u16; LANES], chunk: &[SkinVertex], followed: &[Followed], has_tangents: bool) {
        let at_rest = |of: fn(&SkinVertex) -> ([f32; 3], [f32; 3])| {
            let mut rest = AtRest::default();
            for (lane, &vertex) in vertices.iter().enumerate() {
                let (place, normal) = of(&chunk[usize::from(vertex)]);
                for k in 0..3 {
                    (rest.place[k][lane], rest.normal[k][lane]) = (place[k], normal[k]);
                }
            }
            rest
        };
        let tangents = |of: fn(&SkinVertex) -> [f32; 4]| {
            let mut tangents = [[0.0; LANES]; 4];
            for (lane, &vertex) in vertices.iter().enumerate() {
                let tangent = of(&chunk[usize::from(vertex)]);
                tangents.iter_mut().zip(tangent).for_each(|(entry, part)| entry[lane] = part);
            }
            tangents
        };
        self.mesh.push(at_rest(|vertex| (vertex.position, vertex.normal)));
        if has_tangents {
            self.mesh_tangents.push(tangents(|vertex| vertex.tangent));
        }
        let of = |pulls: fn(&Followed) -> &[Pull]| vertices.map(|vertex| pulls(&followed[usize::from(vertex)]));
        let on_joints = of(|followed| &followed.joints);
        let joints = match self.skin.blending {
            SkinBlending::Linear => self.follow(on_joints, PALETTE_COSTS),
            SkinBlending::DualQuaternion => Follows::Dual(self.share(on_joints, &union_of(on_joints))),
        };
        let on_sections = of(|followed| &followed.sections);
        let sections = on_sections.iter().any(|pulls| !pulls.is_empty()).then(|| {
            let model = self.model.len() as u32;
            self.model.push(at_rest(|vertex| (vertex.rest_position, vertex.rest_normal)));
            if has_tangents {
                self.model_tangents.push(tangents(|vertex| {
                    let [x, y, z] = vertex.rest_tangent;
                    [x, y, z, 0.0]
                }));
            }
            (self.follow(on_sections, SECTION_COSTS), model)
        });
        self.blocks.push(Block { vertices, joints, sections });
    }

    fn follow(&mut self, lanes: [&[Pull]; LANES], costs: Costs) -> Follows {
        let union = union_of(lanes);
        let count: usize = lanes.iter().map(|pulls| pulls.len()).sum();
        if union.len() * costs.shared <= count * costs.pull + costs.apart {
            return Follows::Shared(self.share(lanes, &union));
        }
        let mut starts = [self.pulls.len() as u32; LANES + 1];
        for (lane, pulls) in lanes.into_iter().enumerate() {
            self.pulls.extend(pulls);
            starts[lane + 1] = self.pulls.len() as u32;
        }
        Follows::Apart(starts)
    }

    fn share(&mut self, lanes: [&[Pull]; LANES], union: &[u32]) -> Range<u32> {
        let first = self.shared.len() as u32;
        for &matrix in union {
            let weight =
                |pulls: &[Pull]| pulls.iter().filter(|pull| pull.matrix == matrix).map(|pull| pull.weight).sum();
            self.shared.push(matrix);
            self.weights.push(Weights(lanes.map(weight)));
        }
        first..self.shared.len() as u32
    }
}

/// The matrices that any lane follows, in ascending order.
fn union_of(lanes: [&[Pull]; LANES]) -> Vec<u32> {
    let mut union: Vec<u32> = lanes.iter().flat_map(|pulls| pulls.iter().map(|pull| pull.matrix)).collect();
    union.sort_unstable();
    union.dedup();
    union
}

/// What ways to follow matrices cost, in instructions of eight lanes.
#[derive(Clone, Copy)]
struct Costs {
    /// A matrix for all lanes.
    shared: usize,
    /// A matrix for one lane.
    pull: usize,
    /// That it is for one lane each: the sums are turned over.
    apart: usize,
}

const PALETTE_COSTS: Costs = Costs { shared: 36, pull: 9, apart: 90 };
const SECTION_COSTS: Costs = Costs { shared: 66, pull: 13, apart: 180 };

/// What a vertex follows, each in ascending order.
struct Followed {
    joints: Vec<Pull>,
    sections: Vec<Pull>,
}

impl Followed {
    fn new(skin: &Skin, vertex: &SkinVertex) -> Self {
        let joints = (0..vertex.weights.len())
            .map(|k| Pull { matrix: vertex.joints[k / 2] >> (16 * (k % 2)) & 0xffff, weight: vertex.weights[k] });
        let mut joints: Vec<_> = joints.filter(|pull| pull.weight != 0.0).collect();
        let pair = |pair: &crate::SectionWeight| Pull { matrix: pair.section, weight: pair.weight };
        let mut sections: Vec<_> =
            if vertex.section_count == 0 { Vec::new() } else { skin.sections_of(vertex).iter().map(pair).collect() };
        joints.sort_by_key(|pull| pull.matrix);
        sections.sort_by_key(|pull| pull.matrix);
        Self { joints, sections }
    }

    fn order(&self) -> impl Ord + use<'_> {
        (
            self.sections.is_empty(),
            self.joints.iter().map(|pull| pull.matrix).collect::<Vec<_>>(),
            self.sections.iter().map(|pull| pull.matrix).collect::<Vec<_>>(),
        )
    }
}
