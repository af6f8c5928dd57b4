//! From JSON to flesh.

use serde_json::{Value, json};
use sinew::character::{Character, CharacterError, FleshOptions};

use super::builder::Builder;
use super::with_muscle;

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
