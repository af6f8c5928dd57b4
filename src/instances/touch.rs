//! What segments that press against each other remember from frame to frame.

use super::FleshHandle;
use crate::layout::meet;

/// Names a segment within its instance: its group, its lane there, the node with which it begins.
pub(crate) type SegmentName = [u16; 3];

/// How many numbers a point remembers, see [`meet::MEMORY`].
pub(crate) const REMEMBERED: usize = meet::MEMORY.end - meet::MEMORY.start;

/// A segment of an instance that touches one of another chain, which comes after it in the order of instances and names.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Touch {
    /// The instance's own segment.
    pub own: SegmentName,
    /// The other one's instance.
    pub other: FleshHandle,
    /// The other one.
    pub theirs: SegmentName,
    /// What both points of the pair remember.
    pub points: [[f32; REMEMBERED]; 2],
}

impl Touch {
    /// Whether such points of a pair remember other than nothing. Its twin is `remembers` in `shaders/find_pairs.wgsl`.
    pub fn remembers(points: &[[f32; REMEMBERED]; 2]) -> bool {
        points.iter().any(|[force, .., over_mass]| force.max(*over_mass) > 0.0)
    }

    /// Which pair it is, among those of its instance.
    pub fn pair(&self) -> (SegmentName, FleshHandle, SegmentName) {
        (self.own, self.other, self.theirs)
    }
}
