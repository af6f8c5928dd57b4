//! What a profiler shows of a step: the stages by their names, and nothing else.
#![cfg(feature = "puffin")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use puffin::{FrameData, GlobalProfiler, Reader, ScopeCollection};
use sinew::Physics;
use sinew::scenes::SceneParameters;
use sinew::step::Stage;

#[test]
fn scopes_are_the_stages_and_take_as_long_as_these() {
    // Both clocks are read one after the other: what runs beside may come between. It does so once, not always.
    let mut off = Vec::new();
    for _ in 0..3 {
        off = stages_off_their_scopes();
        if off.is_empty() {
            return;
        }
        println!("{off:?}");
    }
    panic!("{off:?}");
}

/// Runs a scene, of which scopes are the stages that ran; says of which they took longer or shorter than was measured.
fn stages_off_their_scopes() -> Vec<String> {
    let frames: Arc<Mutex<Vec<Arc<FrameData>>>> = Arc::default();
    let sink = Arc::clone(&frames);
    let sink = GlobalProfiler::lock().add_sink(Box::new(move |frame| sink.lock().unwrap().push(frame)));
    puffin::set_scopes_on(true);

    let parameters = SceneParameters { rods: 4, ..SceneParameters::of("octopuses").unwrap() };
    let scene = parameters.build("octopuses").unwrap();
    let mut physics = Physics::with_config(scene.config);
    physics.measure_stages = true;
    physics.config.threads = 1;
    scene.insert(&mut physics).unwrap();
    let mut times = [0.0; Stage::ALL.len()];
    for _ in 0..60 {
        physics.step_flesh(1.0 / 60.0).unwrap();
        Stage::ALL.iter().zip(&mut times).for_each(|(stage, time)| *time += physics.stage_times().get(*stage));
        GlobalProfiler::lock().new_frame();
    }
    puffin::set_scopes_on(false);
    GlobalProfiler::lock().remove_sink(sink);

    let (mut scopes, mut shown) = (ScopeCollection::default(), BTreeMap::<String, f64>::new());
    for frame in frames.lock().unwrap().iter() {
        frame.scope_delta.iter().for_each(|scope| _ = scopes.insert(Arc::clone(scope)));
        let Ok(unpacked) = frame.unpacked() else { unreachable!("nothing is packed") };
        for stream in unpacked.thread_streams.values() {
            for scope in Reader::from_start(&stream.stream).read_top_scopes().unwrap() {
                let name = scopes.fetch_by_id(&scope.id).unwrap().name().to_string();
                assert_eq!(scope.child_begin_position, scope.child_end_position, "{name} has parts");
                *shown.entry(name).or_default() += 1.0e-6 * scope.record.duration_ns as f64;
            }
        }
    }
    println!("{shown:.2?} ms");
    let named = |stage: &Stage| stage.name().to_string();
    let run: BTreeSet<String> = Stage::ALL.iter().filter(|stage| times[**stage as usize] > 0.0).map(named).collect();
    assert_eq!(shown.keys().cloned().collect::<BTreeSet<_>>(), run);
    let off = |stage: &Stage| {
        let (scope, time) = (shown[stage.name()], times[*stage as usize]);
        let agree = (scope - time).abs() <= 0.1 * time + 0.5;
        (!agree).then(|| format!("{}: {scope} ms of scopes, {time} measured", stage.name()))
    };
    let stages = [Stage::FindPairs, Stage::FindMeetings, Stage::SolveRods, Stage::Press, Stage::Settle];
    stages.iter().filter_map(off).collect()
}
