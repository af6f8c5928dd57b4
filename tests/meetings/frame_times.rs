//! Heaps in frames of changing length.

use sinew::Physics;
use sinew::scenes::octopuses::Octopus;
use sinew::step::StepConfig;

use crate::common::FRAME;
use crate::pile::PASSES;

/// What lies in a heap goes on lying there in slow motion, at another frame rate, and after a frame that is next to nothing: how stiff pairs
/// are does not change at once with the step's length. As stiff as γ·m/h² it was shaken at a metre a second, and thrown at a hundred.
#[test]
fn heaps_lie_still_at_whatever_frame_time() {
    const BAR: f64 = 0.1;
    let octopus = Octopus::default();
    let flesh = octopus.build().unwrap();
    let mut physics = Physics::with_config(StepConfig { passes: PASSES, ..StepConfig::default() });
    physics.planes = vec![sinew::HalfSpace::ground(0.0, 0.8)];
    for pose in octopus.drop_poses(10) {
        physics.insert(flesh.clone(), &[], pose).unwrap();
    }
    let mut fastest_of = |frames: &[f64]| {
        let fastest = |fastest: f64, frame: &f64| {
            physics.step_flesh(*frame).unwrap();
            fastest.max(physics.quality().speed_max)
        };
        frames.iter().fold(0.0, fastest)
    };
    fastest_of(&[FRAME; 840]);
    let before = fastest_of(&[FRAME; 60]);
    assert!(before < 0.2 * BAR, "{before}");
    let in_turn = |frames: [f64; 2]| frames.repeat(100);
    let once = |frame: f64| [&[frame][..], &[FRAME; 60]].concat();
    for (name, frames) in [
        ("slow motion", vec![FRAME / 20.0; 200]),
        ("out of slow motion", vec![FRAME; 60]),
        ("thirty a second", vec![2.0 * FRAME; 60]),
        ("144 and 30 a second in turn", in_turn([1.0 / 144.0, 1.0 / 30.0])),
        ("one of 1 ms", once(1.0e-3)),
        ("one of 0.1 ms", once(1.0e-4)),
        ("every other of 0.1 ms", in_turn([1.0e-4, FRAME])),
    ] {
        let fastest = fastest_of(&frames);
        println!("{name}: {fastest:.1e} m/s at most (bar {BAR}; {before:.1e} before)");
        assert!(fastest < BAR, "{name}");
        fastest_of(&[FRAME; 60]);
    }
}
