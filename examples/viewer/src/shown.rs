//! What one step leaves to draw beside the skin, and what lies between two steps.

use glam::DVec3;
use sinew::Pose;

/// A character as it stands after a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shown {
    /// Where its root is.
    pub root: Pose,
    /// Each rod's nodes: place in the world (m) and radius (m).
    pub rods: Vec<Vec<(DVec3, f32)>>,
    /// Each pill's ends in the world (m) and radii (m).
    pub pills: Vec<([DVec3; 2], [f32; 2])>,
}

impl Shown {
    /// Writes what lies between two steps: `alpha` 0 is `last`, 1 is `self`. Where the two do not belong together,
    /// `self` is taken.
    pub fn between(&self, last: &Self, alpha: f64, out: &mut Self) {
        if self.rods.len() != last.rods.len() {
            out.clone_from(self);
            return;
        }
        let blend = alpha as f32;
        let place = |last: DVec3, now: DVec3| last.lerp(now, alpha);
        let rotation = last.root.rotation.slerp(self.root.rotation, alpha);
        out.root = Pose::new(place(last.root.translation, self.root.translation), rotation);
        out.rods.clone_from(&self.rods);
        for (node, last) in out.rods.iter_mut().flatten().zip(last.rods.iter().flatten()) {
            *node = (place(last.0, node.0), last.1 + (node.1 - last.1) * blend);
        }
        out.pills.clone_from(&self.pills);
        for ((ends, _), (last, _)) in out.pills.iter_mut().zip(&last.pills) {
            *ends = [place(last[0], ends[0]), place(last[1], ends[1])];
        }
    }
}
