//! Node rows by who writes them: stages keep to their own entries, and frames go on from state and history alone.

use sinew::cpu::lanes::OneF32;
use sinew::layout::node;
use sinew::step::Stage;

use crate::common::Random;
use crate::contract::Thrown;

/// Whether a stage may write an entry.
fn may_write(stage: Stage, entry: usize) -> bool {
    match stage {
        Stage::MoveBones => node::TARGETS.contains(&entry),
        Stage::Predict => {
            let velocities = node::OLDER_VELOCITY..node::HISTORY.end;
            let side = node::TARGET_FRAME..node::TARGET_FRAME + 4;
            [node::STATE, velocities, node::START, side].iter().any(|block| block.contains(&entry))
        }
        Stage::SolveRods => {
            let iterate = node::STATE.start..node::VELOCITY;
            [iterate, node::MOVED..node::MOVED + 3].iter().any(|block| block.contains(&entry))
        }
        Stage::UpdateVelocities => [node::STATE, node::HISTORY].iter().any(|block| block.contains(&entry)),
        // A chain that is laid anew.
        Stage::CheckHealth => true,
        _ => false,
    }
}

#[test]
fn every_stage_writes_its_own_entries() {
    let (mut random, mut written) = (Random(31), vec![Vec::new(); node::ENTRIES]);
    for _ in 0..200 {
        let mut thrown = Thrown::new(&mut random, |flesh| flesh.groups()[0].clone());
        for _ in 0..4 {
            thrown.jerk(&mut random);
            let Thrown { staged, config, dt, .. } = &mut thrown;
            let mut before = staged.nodes.clone();
            staged.frame(OneF32, config, *dt, |stage, _, group| {
                for (at, (old, new)) in before.iter().zip(group.nodes.iter()).enumerate() {
                    let entry = at % node::ENTRIES;
                    if old.map(f32::to_bits) != new.map(f32::to_bits) && !written[entry].contains(&stage) {
                        assert!(may_write(stage, entry), "{} writes entry {entry}", stage.name());
                        written[entry].push(stage);
                    }
                }
                before.copy_from_slice(group.nodes);
            });
        }
    }
    for (entry, stages) in written.iter().enumerate() {
        assert!(!stages.is_empty(), "nothing writes entry {entry}");
    }
}

#[test]
fn frames_go_on_from_state_and_history() {
    let mut random = Random(32);
    for _ in 0..200 {
        let mut thrown = Thrown::new(&mut random, |flesh| flesh.groups()[0].clone());
        for frame in 0..4 {
            thrown.jerk(&mut random);
            let Thrown { staged, config, dt, .. } = &mut thrown;
            let mut spoilt = staged.clone();
            for row in spoilt.nodes.chunks_mut(node::ENTRIES) {
                row[node::HISTORY.end..].iter_mut().flatten().for_each(|x| *x = f32::NAN);
            }
            for side in [&mut *staged, &mut spoilt] {
                side.frame(OneF32, config, *dt, |_, _, _| ());
            }
            for (index, (row, of_spoilt)) in
                staged.nodes.chunks(node::ENTRIES).zip(spoilt.nodes.chunks(node::ENTRIES)).enumerate()
            {
                for entry in 0..node::HISTORY.end {
                    let [bits, of_spoilt] = [row, of_spoilt].map(|row| row[entry].map(f32::to_bits));
                    assert_eq!(bits, of_spoilt, "frame {frame}, node {index}, entry {entry}");
                }
            }
        }
    }
}
