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
    pub blocks: Arc<Vec<Block>>,
    /// In mesh space, one for each block.
    pub mesh: Vec<AtRest>,
    /// At rest in model space, one for each block that follows cross-sections.
    pub model: Vec<AtRest>,
    /// Tangents in mesh space, one for each block; empty where no vertex has any.
    pub mesh_tangents: Vec<Tangents>,
    /// The same at rest in model space, one for each block that follows cross-sections.
    pub model_tangents: Vec<Tangents>,
    /// Which matrices blocks share.
    pub shared: Arc<Vec<u32>>,
    /// How strongly each vertex follows these.
    pub weights: Arc<Vec<Weights>>,
    /// What vertices follow where blocks share too little.
    pub pulls: Arc<Vec<Pull>>,
}

impl SkinBlocks {
    /// A skin's.
    ///
    /// # Panics
    /// Where a vertex names weights that are not there, or more than [`MAX_SECTIONS`](crate::MAX_SECTIONS).
    pub fn new(skin: Arc<Skin>) -> Self {
        let mut blocks = Self { skin: skin.clone(), ..Self::default() };
        let followed: Vec<_> = skin.vertices.iter().map(|vertex| Followed::new(&skin, vertex)).collect();
        let mut models = 0;
        for followed in followed.chunks(CHUNK) {
            let mut order: Vec<_> = followed.iter().map(Followed::order).zip(0_u16..).collect();
            order.sort_unstable();
            for eight in order.chunks(LANES) {
                let at = |lane: usize| eight[lane.min(eight.len() - 1)].1;
                blocks.add(std::array::from_fn(at), followed, &mut models);
            }
        }
        blocks.rest();
        blocks
    }

    /// Those of another skin whose vertices follow the same; `None` where they do not.
    pub fn of_alike(&self, skin: &Arc<Skin>) -> Option<Self> {
        let alike = |(a, b): (&SkinVertex, &SkinVertex)| {
            (a.joints, a.weights, a.first_section, a.section_count)
                == (b.joints, b.weights, b.first_section, b.section_count)
        };
        let (own, vertices) = (&self.skin, &skin.vertices);
        if own.vertices.len() != vertices.len()
            || own.blending != skin.blending
            || own.weights != skin.weights
            || !own.vertices.iter().zip(vertices).all(alike)
        {
            return None;
        }
        let mut blocks = Self {
            skin: skin.clone(),
            blocks: self.blocks.clone(),
            shared: self.shared.clone(),
            weights: self.weights.clone(),
            pulls: self.pulls.clone(),
            ..Self::default()
        };
        blocks.rest();
        Some(blocks)
    }

    /// Finds where vertices are at rest.
    fn rest(&mut self) {
        let has_tangents = self.skin.has_tangents();
        for (index, block) in self.blocks.iter().enumerate() {
            let chunk = &self.skin.vertices[index / (CHUNK / LANES) * CHUNK..];
            let of = block.vertices.map(|vertex| &chunk[usize::from(vertex)]);
            self.mesh.push(at_rest(of, |vertex| (vertex.position, vertex.normal)));
            if has_tangents {
                self.mesh_tangents.push(tangents(of, |vertex| vertex.tangent));
            }
            if block.sections.is_none() {
                continue;
            }
            self.model.push(at_rest(of, |vertex| (vertex.rest_position, vertex.rest_normal)));
            if has_tangents {
                self.model_tangents.push(tangents(of, |vertex| {
                    let [x, y, z] = vertex.rest_tangent;
                    [x, y, z, 0.0]
                }));
            }
        }
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

    fn add(&mut self, vertices: [u16; LANES], followed: &[Followed], models: &mut u32) {
        let of = |pulls: fn(&Followed) -> &[Pull]| vertices.map(|vertex| pulls(&followed[usize::from(vertex)]));
        let on_joints = of(|followed| followed.joints.list());
        let joints = match self.skin.blending {
            SkinBlending::Linear => self.follow(on_joints, PALETTE_COSTS),
            SkinBlending::DualQuaternion => Follows::Dual(self.share(on_joints, &union_of(on_joints))),
        };
        let on_sections = of(|followed| followed.sections.list());
        let sections = on_sections.iter().any(|pulls| !pulls.is_empty()).then(|| {
            *models += 1;
            (self.follow(on_sections, SECTION_COSTS), *models - 1)
        });
        Arc::make_mut(&mut self.blocks).push(Block { vertices, joints, sections });
    }

    fn follow(&mut self, lanes: [&[Pull]; LANES], costs: Costs) -> Follows {
        let union = union_of(lanes);
        let count: usize = lanes.iter().map(|pulls| pulls.len()).sum();
        if union.len() * costs.shared <= count * costs.pull + costs.apart {
            return Follows::Shared(self.share(lanes, &union));
        }
        let all = Arc::make_mut(&mut self.pulls);
        let mut starts = [all.len() as u32; LANES + 1];
        for (lane, pulls) in lanes.into_iter().enumerate() {
            all.extend(pulls);
            starts[lane + 1] = all.len() as u32;
        }
        Follows::Apart(starts)
    }

    fn share(&mut self, lanes: [&[Pull]; LANES], union: &[u32]) -> Range<u32> {
        let (shared, weights) = (Arc::make_mut(&mut self.shared), Arc::make_mut(&mut self.weights));
        let first = shared.len();
        shared.extend(union);
        weights.resize(shared.len(), Weights([0.0; LANES]));
        for (lane, pulls) in lanes.into_iter().enumerate() {
            // Both rise.
            let mut at = 0;
            for pull in pulls {
                at += union[at..].iter().take_while(|&&matrix| matrix < pull.matrix).count();
                weights[first + at].0[lane] += pull.weight;
            }
        }
        first as u32..shared.len() as u32
    }
}

fn at_rest(vertices: [&SkinVertex; LANES], of: impl Fn(&SkinVertex) -> ([f32; 3], [f32; 3])) -> AtRest {
    let mut rest = AtRest::default();
    for (lane, vertex) in vertices.into_iter().enumerate() {
        let (place, normal) = of(vertex);
        for k in 0..3 {
            (rest.place[k][lane], rest.normal[k][lane]) = (place[k], normal[k]);
        }
    }
    rest
}

fn tangents(vertices: [&SkinVertex; LANES], of: impl Fn(&SkinVertex) -> [f32; 4]) -> Tangents {
    let mut tangents = [[0.0; LANES]; 4];
    for (lane, vertex) in vertices.into_iter().enumerate() {
        tangents.iter_mut().zip(of(vertex)).for_each(|(entry, part)| entry[lane] = part);
    }
    tangents
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

/// At most eight matrices in ascending order.
#[derive(Clone, Copy)]
struct Pulls {
    of: [Pull; LANES],
    count: usize,
}

impl Pulls {
    fn new(of: impl Iterator<Item = (u32, f32)>) -> Self {
        let mut pulls = Self { of: [Pull { matrix: u32::MAX, weight: 0.0 }; LANES], count: 0 };
        for (matrix, weight) in of {
            pulls.of[pulls.count] = Pull { matrix, weight };
            pulls.count += 1;
        }
        pulls.of[..pulls.count].sort_by_key(|pull| pull.matrix);
        pulls
    }

    fn list(&self) -> &[Pull] {
        &self.of[..self.count]
    }

    fn matrices(&self) -> [u32; LANES] {
        self.of.map(|pull| pull.matrix)
    }
}

/// What a vertex follows.
struct Followed {
    joints: Pulls,
    sections: Pulls,
}

impl Followed {
    fn new(skin: &Skin, vertex: &SkinVertex) -> Self {
        let joints = vertex.joints.into_iter().flat_map(|pair| [pair & 0xffff, pair >> 16]);
        let sections = if vertex.section_count == 0 { &[] } else { skin.sections_of(vertex) };
        Self {
            joints: Pulls::new(joints.zip(vertex.weights).filter(|&(_, weight)| weight != 0.0)),
            sections: Pulls::new(sections.iter().map(|pair| (pair.section, pair.weight))),
        }
    }

    /// Vertices that follow the same are beside each other in this order.
    fn order(&self) -> impl Ord + use<> {
        (self.sections.count == 0, self.joints.matrices(), self.sections.matrices())
    }
}
