//! From JSON to flesh.

use glam::Vec3;
use serde_json::{Value, json};
use sinew::character::{Character, CharacterError, FleshOptions, ImportError, MuscleError};

use super::builder::Builder;
use super::{path, with_muscle};

/// A character with flesh, from its file.
fn spawned(builder: &Builder) -> Result<Character, CharacterError> {
    Character::from_asset(builder.import()?, &FleshOptions::default())
}

/// Points on `Upper` so high up (m).
fn upwards(heights: &[f64]) -> Value {
    heights.iter().map(|height| json!({ "joint": "Upper", "place": [0, height, 0] })).collect()
}

#[test]
fn a_path_has_as_many_sections_as_it_says_and_one_at_each_point() {
    let mut checked = 0;
    for heights in [
        &[0.0, 0.3][..],
        &[0.0, 0.1, 0.3],
        &[0.0, 0.001, 0.3],
        &[0.0, 0.1, 0.2, 0.3],
        &[0.0, 0.15, 0.16, 0.17, 0.3],
        &[0.0, 0.001, 0.002, 0.003, 0.3],
    ] {
        for sections in 2..=64_usize {
            let muscle = json!({ "path": upwards(heights), "radius": 0.01, "section_count": sections });
            let character = spawned(&with_muscle(muscle)).unwrap_or_else(|error| panic!("{error}"));
            let flesh = &character.body().flesh;
            let chain = &flesh.chains()[flesh.chain_named("biceps").unwrap()];
            assert_eq!(chain.node_count(), sections.max(heights.len()), "{heights:?}, {sections} sections");
            let places: Vec<f64> = chain.rest.iter().map(|pose| pose.translation.y - 1.3).collect();
            let length = 0.3 / (sections.max(heights.len()) - 1) as f64;
            for span in heights.windows(2) {
                // A section at each point, and between them as many segments as the span's length asks for, but for one.
                let [from, to] = [span[0], span[1]].map(|height| {
                    places.iter().position(|place| (place - height).abs() < 1e-6).expect("a section at each point")
                });
                let share = (span[1] - span[0]) / length;
                let eaten = heights.len() as f64 - 2.0;
                assert!(((to - from) as f64) < share + 1.0 && (to - from) as f64 > share - 1.0 - eaten);
                checked += 1;
            }
        }
    }
    println!("{checked} spans of paths of 2 to 64 sections");
}

/// The muscle's error, wherever on the way to flesh it was found.
fn muscle_error(result: Result<impl Sized, CharacterError>) -> MuscleError {
    match result {
        Err(CharacterError::Import(ImportError::Muscle { source, .. }) | CharacterError::Muscle { source, .. }) => {
            *source
        }
        Err(other) => panic!("not a muscle's error: {other}"),
        Ok(_) => panic!("no error"),
    }
}

#[test]
fn what_cannot_be_built_is_said_with_muscle_key_and_fix() {
    let zigzag: Vec<Value> = (0..5)
        .map(|k| {
            let (joint, height) = [("Upper", 0.05), ("Lower", -0.25)][k % 2];
            json!({ "joint": joint, "place": [0.0, height + 0.05 * k as f64, 0.0] })
        })
        .collect();
    let point = |height: f64, radius: f64| json!({ "joint": "Upper", "place": [0, height, 0], "radius": radius });
    let disc = |x: f64, y: f64, radius: f64| json!({ "place": [x, y, 0], "radius": radius });
    let bundle = |fibres: Value| json!({ "origin": "Upper", "insertion": "Lower", "bundle": { "fibres": fibres } });
    let mut strong = bundle(json!(vec![[disc(0.0, 0.0, 9.0), disc(0.0, 1.0, 9.0)]; 5]));
    strong["peak_stress"] = json!(1e9);
    // The muscle, the key, and what its text says besides.
    let cases: Vec<(Value, &str, &str)> = vec![
        (json!({ "path": zigzag, "radius": 0.02 }), "path", "5 joints"),
        (json!({ "path": upwards(&[0.05, 0.3, 0.1]), "radius": 0.02 }), "path[1]", "150°"),
        (json!({ "path": upwards(&[0.0, 5e-5]), "radius": 0.02 }), "path[1]", "from path[0]"),
        (json!({ "path": path(), "radius": 1e-5, "taper": 0.05 }), "radius", "taper"),
        (json!({ "path": path(), "radius": 1e-5, "taper": 0.06, "fibre_count": 64 }), "radius", "fibre_count"),
        (json!({ "path": path(), "peak_force": 1e-3, "peak_stress": 1e9 }), "peak_force", "peak_stress"),
        (json!({ "path": path(), "peak_force": 600, "peak_stress": 1e-300 }), "peak_force", "peak_stress"),
        (json!({ "path": path(), "volume": 1e-12 }), "volume", "taper"),
        (json!({ "path": upwards(&[0.0, 1.2e-4]), "volume": 100 }), "volume", "taper"),
        (
            json!({ "path": path(), "radius": 0.02, "max_velocity": 1000, "optimal_stretch": 2 }),
            "max_velocity",
            "optimal_stretch",
        ),
        (
            json!({ "path": [point(0.0, 1e-5), point(0.1, 1e-5), point(0.2, 10.0)], "tendon": [0.3, 0], "peak_stress": 1e9 }),
            "tendon",
            "radii",
        ),
        (strong, "peak_stress", "thinner"),
        (
            bundle(json!([[disc(0.0, 0.0, 0.01), disc(0.0, 0.3, 0.01), disc(0.0, 0.1, 0.01)]])),
            "bundle.fibres",
            "viperize",
        ),
        (
            bundle(json!([[disc(0.0, 0.0, 0.01), disc(0.0, 0.0, 0.01)], [disc(0.0, 0.0, 1e-5), disc(0.0, 0.5, 1e-5)]])),
            "bundle.fibres",
            "apart",
        ),
        (
            bundle(json!([[disc(0.0, 0.0, 1e-5), disc(0.0, 0.3, 1e-5)], [disc(1.0, 0.0, 1e-5), disc(1.0, 0.3, 1e-5)]])),
            "bundle.fibres",
            "too far apart",
        ),
    ];
    for (muscle, key, part) in cases {
        let error = muscle_error(spawned(&with_muscle(muscle.clone())));
        println!("{error}");
        assert_eq!((error.muscle(), error.key()), (Some("biceps"), Some(key)), "{muscle}: {error}");
        for part in ["biceps", key, part] {
            assert!(error.to_string().contains(part), "{muscle}: {error} lacks {part:?}");
        }
    }
}

#[test]
fn what_a_scale_makes_unbuildable_is_said_with_muscle_key_and_scale() {
    let said = json!([
        { "joint": "Upper", "place": [0, 0, 0], "radius": 1e-4 }, { "joint": "Lower", "place": [0, 0.1, 0], "radius": 0.01 },
    ]);
    let bent = json!([
        { "joint": "Upper", "place": [0, 0, 0] },
        { "joint": "Upper", "place": [0.2, 0.1, 0] },
        { "joint": "Lower", "place": [0, 0, 0] },
    ]);
    let cases = [
        (json!({ "path": upwards(&[0.0, 0.001]), "radius": 1e-3, "section_count": 64 }), Vec3::splat(0.01), "path[0]"),
        (json!({ "path": path(), "radius": 1e-3 }), Vec3::splat(1e-4), "radius"),
        (json!({ "path": said }), Vec3::splat(1e-3), "path[0].radius"),
        (json!({ "path": bent, "radius": 0.01 }), Vec3::new(1.0, 0.1, 1.0), "path[1]"),
    ];
    for (muscle, scale, key) in cases {
        let character = spawned(&with_muscle(muscle.clone())).unwrap_or_else(|error| panic!("{error}"));
        let error = muscle_error(character.body_at(scale));
        println!("{error}");
        assert_eq!((error.muscle(), error.key()), (Some("biceps"), Some(key)), "{muscle}: {error}");
        assert!(error.to_string().contains(&format!("scale {scale}")), "{error}");
        assert!(matches!(character.body_at(Vec3::ZERO), Err(CharacterError::Flesh { .. })));
    }
}
