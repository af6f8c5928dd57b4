//! A scene in which bones carry flesh into flesh.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use sinew::flesh::{Flesh, Holds, RodSpec};
use sinew::{Pose, Skin};

use super::scenes::soft;
use super::{DT, Scene};

/// How many steps flesh has to lie still, before that which is compared.
const BEFORE: usize = 60;

/// One that stands, one that comes down by 6 mm, turns a little, and stands then, and one that goes down by 14 cm in the step that is
/// compared.
fn bones(step: usize) -> Vec<Pose> {
    let t = step.min(6) as f64 * DT;
    let down = DVec3::new(0.01 * t, -0.06 * t, 0.0);
    let jump = if step > BEFORE { DVec3::Y * -0.14 } else { DVec3::ZERO };
    vec![Pose::IDENTITY, Pose::new(down, DQuat::from_rotation_z(0.05 * t)), Pose::from_translation(jump)]
}

/// Rods that one bone holds at both ends, across others, in which another bone puts them: a little, so that both yield; deeper, so that
/// they are let in by half; past their axes; past them once their bone has jumped, and they are behind it; along one of them; between
/// both bones; and, held at one end alone, not let in.
pub fn carried_into_each_other() -> Vec<Scene> {
    let rod = |name: &str, from: DVec3, to: DVec3, segments: usize, radius: f64, [first, last]: [Option<usize>; 2]| {
        let mut rod = RodSpec { material: soft(), ..RodSpec::straight(name, from, to, segments, radius) };
        for (node, bone) in [(0, first), (segments, last)] {
            if let Some(bone) = bone {
                rod = rod.attach(node, bone, Holds::CLAMP);
            }
        }
        rod
    };
    let (x, y, z) = (DVec3::X, DVec3::Y, DVec3::Z);
    let lower = [
        rod("lower", DVec3::ZERO, x * 1.2, 12, 0.05, [Some(0); 2]),
        rod("beside", z * 0.3, z * 0.3 + x * 1.2, 9, 0.04, [Some(0); 2]),
    ];
    let across = |name, at: f64, high: f64, radius, held| {
        let middle = x * at + y * high;
        rod(name, middle - z * 0.21, middle + z * 0.23 + x * 0.02, 7, radius, held)
    };
    let upper = [
        across("a little", 0.13, 0.09, 0.05, [Some(1); 2]),
        across("deeper", 0.35, 0.065, 0.05, [Some(1); 2]),
        across("through", 0.55, 0.01, 0.03, [Some(1); 2]),
        across("past", 0.65, 0.04, 0.03, [Some(2); 2]),
        across("between both", 0.75, 0.05, 0.04, [Some(0), Some(1)]),
        across("hung", 0.98, 0.045, 0.04, [Some(1), None]),
        rod("along", DVec3::new(0.4, 0.045, 0.3), DVec3::new(1.1, 0.05, 0.31), 6, 0.04, [Some(1); 2]),
    ];
    let mut two = Scene::new("carried into each other", &lower, bones);
    let flesh = Arc::new(Flesh::build(&upper, &bones(0)).unwrap());
    two.flesh.push((flesh, Arc::new(Skin::default()), Pose::IDENTITY));
    two.config.passes = 4;
    two.config.jump = f64::INFINITY;
    two.before = BEFORE;
    // They are still on their way out.
    let going = Scene { name: "on their way out", flesh: two.flesh.clone(), planes: Vec::new(), before: 3, ..two };
    vec![going, two]
}
