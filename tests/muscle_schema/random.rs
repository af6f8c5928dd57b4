//! Any JSON at all is a sound muscle or a typed error.

use proptest::prelude::*;
use serde_json::{Value, json};
use sinew::character::{CharacterAsset, ImportError, MUSCLE_LIMITS, Sidecar, check_muscles};

use super::{but, character, import_beside, with_extras};

/// Any JSON, of a few levels.
fn any_json() -> impl Strategy<Value = Value> {
    let name = prop_oneof![
        Just("Upper".to_string()),
        Just("Hand".to_string()),
        Just("muscle".to_string()),
        Just("[{".to_string()),
        ".{0,6}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-3i64..80).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (-2.0..2.0).prop_map(|value: f64| Value::from(value)),
        name.prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((any_key(), inner), 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn any_key() -> impl Strategy<Value = String> {
    let keys = [
        "name",
        "origin",
        "insertion",
        "path",
        "mesh",
        "sources",
        "sinks",
        "bundle",
        "fibres",
        "joint",
        "material",
        "preset",
        "version",
    ];
    let known: Vec<String> = keys.into_iter().chain(MUSCLE_LIMITS.map(|limits| limits.key)).map(String::from).collect();
    prop_oneof![4 => prop::sample::select(known), 1 => ".{0,5}"]
}

/// Replaces, removes or renames something inside, where `at` leads.
fn mutate(value: &mut Value, at: &[u32], key: &str, new: &Value) {
    let Some((&first, rest)) = at.split_first() else { return *value = new.clone() };
    match value {
        Value::Object(object) if !object.is_empty() => {
            let chosen = object.keys().nth(first as usize % object.len()).cloned().unwrap_or_default();
            match first % 11 {
                0 => drop(object.remove(&chosen)),
                1 => drop(object.insert(key.into(), new.clone())),
                _ => object.get_mut(&chosen).into_iter().for_each(|inner| mutate(inner, rest, key, new)),
            }
        }
        Value::Array(list) if !list.is_empty() => {
            let chosen = first as usize % list.len();
            match first % 11 {
                0 => drop(list.remove(chosen)),
                1 => list.insert(chosen, new.clone()),
                _ => mutate(&mut list[chosen], rest, key, new),
            }
        }
        other => *other = new.clone(),
    }
}

fn is_typed(result: Result<CharacterAsset, ImportError>) -> Result<bool, TestCaseError> {
    match result {
        Ok(asset) => {
            let sound = check_muscles(&asset.muscles, &asset.skeleton);
            prop_assert!(sound.is_ok(), "{:?}", sound);
            Ok(true)
        }
        Err(ImportError::Muscle { source, .. }) => {
            prop_assert!(!source.to_string().is_empty());
            Ok(false)
        }
        Err(other) => Err(TestCaseError::fail(format!("{other}"))),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_json_is_a_muscle_or_a_typed_error(value in any_json(), form in 0..4) {
        let extras = match form {
            0 => json!({ "sinew": { "muscle": value } }),
            1 => json!({ "sinew.muscle": value.to_string() }),
            2 => json!({ "sinew": value }),
            _ => json!({ "sinew.muscle.path": value }),
        };
        is_typed(with_extras(6, extras).import())?;
        let text = json!({ "version": 1, "muscles": { "biceps": value } }).to_string();
        if let Ok(beside) = Sidecar::from_slice("x", text.as_bytes()) {
            is_typed(import_beside(&character(), beside))?;
        }
    }

    #[test]
    fn a_mutated_muscle_is_a_muscle_or_a_typed_error(
        changes in prop::collection::vec((prop::collection::vec(any::<u32>(), 0..6), any_key(), any_json()), 1..3),
        which in 0..3usize,
    ) {
        let disc = |y: f64| json!({ "place": [0, y, 0], "radius": 0.01 });
        let mut all = but("tendon", json!([0.1, 0.2]));
        for limits in MUSCLE_LIMITS.iter().filter(|limits| !["peak_force", "volume", "place", "fibres", "tendon"].contains(&limits.key)) {
            all[limits.key] = json!(limits.high.min(2.0));
        }
        all["taper"] = json!(0.4);
        all["shortening"] = json!(0.1);
        for key in ["youngs_modulus", "poissons_ratio", "density", "damping"] {
            all.as_object_mut().unwrap().remove(key);
        }
        all["material"] = json!({ "preset": "tendon", "youngs_modulus": 1e6, "poissons_ratio": 0.4, "density": 1100, "damping": 3 });
        let mut muscle = [
            all,
            json!({ "mesh": "Plain", "origin": "Upper", "insertion": "Lower", "sources": [0], "sinks": [1, 2] }),
            json!({ "origin": "Upper", "insertion": "Lower", "bundle": { "fibres": [[disc(0.0), disc(0.5)], [disc(0.1), disc(0.6)]] } }),
        ][which].clone();
        prop_assert!(is_typed(with_extras(6, json!({ "sinew.muscle": muscle })).import())?, "{}", muscle);
        for (at, key, new) in &changes {
            mutate(&mut muscle, at, key, new);
        }
        is_typed(with_extras(6, json!({ "sinew.muscle": muscle })).import())?;
    }

    #[test]
    fn any_bytes_are_a_sidecar_or_a_typed_error(bytes in prop::collection::vec(any::<u8>(), 0..64), cut in 0..400usize) {
        let read = Sidecar::from_slice("x", &bytes);
        prop_assert!(read.is_err_and(|error| error.to_string().contains("sidecar")));
        let text = json!({ "version": 1, "muscles": { "biceps": but("taper", json!(1)) } }).to_string();
        let cut = cut.min(text.len() - 1);
        prop_assert!(Sidecar::from_slice("x", &text.as_bytes()[..cut]).is_err());
    }
}
