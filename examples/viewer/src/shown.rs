//! What one step leaves to draw beside the skin, and what lies between two steps.

use glam::DVec3;
use sinew::Pose;

/// A rod's nodes: place in the world (m) and radius (m).
pub type Rod = Vec<(DVec3, f32)>;

/// A scene as it stands after a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shown {
    /// Where the character's root is.
    pub root: Pose,
    /// The character's rods.
    pub rods: Vec<Rod>,
    /// Each pill's ends in the world (m) and radii (m).
    pub pills: Vec<([DVec3; 2], [f32; 2])>,
    /// Flesh without a skin.
    pub bare: Vec<BareFlesh>,
    /// Where flesh is pressed.
    pub contacts: Vec<Pressed>,
}

/// Flesh that is seen as its rods.
#[derive(Clone, Debug, PartialEq)]
pub struct BareFlesh {
    /// Which one, as long as it is there.
    pub number: usize,
    /// Whether it sleeps.
    pub asleep: bool,
    /// Its rods.
    pub rods: Vec<Rod>,
}

/// A point at which flesh is pressed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pressed {
    /// Where, in the world (m).
    pub point: DVec3,
    /// Unit normal of what presses.
    pub normal: DVec3,
    /// With what force along the normal (N).
    pub force: f32,
}

impl Shown {
    /// Writes what lies between two steps: `alpha` 0 is `last`, 1 is `self`. Where the two do not belong together,
    /// `self` is taken.
    pub fn between(&self, last: &Self, alpha: f64, out: &mut Self) {
        out.clone_from(self);
        for bare in &mut out.bare {
            if let Some(last) = last.bare.iter().find(|last| last.number == bare.number) {
                blend_rods(&mut bare.rods, &last.rods, alpha);
            }
        }
        if self.rods.len() != last.rods.len() {
            return;
        }
        let place = |last: DVec3, now: DVec3| last.lerp(now, alpha);
        let rotation = last.root.rotation.slerp(self.root.rotation, alpha);
        out.root = Pose::new(place(last.root.translation, self.root.translation), rotation);
        blend_rods(&mut out.rods, &last.rods, alpha);
        for ((ends, _), (last, _)) in out.pills.iter_mut().zip(&last.pills) {
            *ends = [place(last[0], ends[0]), place(last[1], ends[1])];
        }
    }
}

fn blend_rods(rods: &mut [Rod], last: &[Rod], alpha: f64) {
    for (node, last) in rods.iter_mut().flatten().zip(last.iter().flatten()) {
        *node = (last.0.lerp(node.0, alpha), last.1 + (node.1 - last.1) * alpha as f32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bare(number: usize, x: f64) -> BareFlesh {
        BareFlesh { number, asleep: false, rods: vec![vec![(DVec3::X * x, 0.1)]] }
    }

    #[test]
    fn bare_flesh_goes_on_from_its_own_place_when_the_oldest_is_gone() {
        let last = Shown { bare: vec![bare(0, 50.0), bare(1, 1.0)], ..Shown::default() };
        let now = Shown { bare: vec![bare(1, 2.0), bare(2, 70.0)], ..Shown::default() };
        let mut drawn = Shown::default();
        now.between(&last, 0.25, &mut drawn);
        let places: Vec<f64> = drawn.bare.iter().map(|bare| bare.rods[0][0].0.x).collect();
        assert_eq!(places, [1.25, 70.0]);
    }
}
