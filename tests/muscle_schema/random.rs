//! Any JSON at all is a sound muscle or a typed error.

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use serde_json::{Value, json};
use sinew::character::{
    Character, CharacterAsset, CharacterError, FleshOptions, ImportError, MUSCLE_LIMITS, MuscleLimits, MuscleShape,
    Sidecar, check_muscles,
};
use sinew::flesh::FleshState;
use sinew::step::StepConfig;
use sinew::{Physics, Pose};

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

/// Muscles that may be spawned in all: some seconds' worth.
const MOST_SPAWNED: usize = 1000;
/// Of these, muscles that are viperized, which takes the longest.
const MOST_VIPERIZED: usize = 40;

/// Muscles that were flesh for some steps.
static STEPPED: AtomicUsize = AtomicUsize::new(0);

/// Those of them whose state went bad and was put back to rest.
static RESET: AtomicUsize = AtomicUsize::new(0);

/// Counts one more, up to a limit; whether it is within.
fn counted(count: &AtomicUsize, most: usize) -> bool {
    count.fetch_add(1, Ordering::Relaxed) < most
}

/// Spawns what was imported, unless that has been done often enough, and excites it: flesh that stays finite, or an error
/// that names a muscle of the asset's.
fn is_flesh_or_typed(asset: Option<CharacterAsset>) -> Result<(), TestCaseError> {
    static SPAWNED: AtomicUsize = AtomicUsize::new(0);
    static VIPERIZED: AtomicUsize = AtomicUsize::new(0);
    let Some(asset) = asset.filter(|asset| !asset.muscles.is_empty()) else { return Ok(()) };
    let mesh = asset.muscles.iter().any(|muscle| muscle.shape == MuscleShape::Mesh);
    if !(if mesh { counted(&VIPERIZED, MOST_VIPERIZED) } else { counted(&SPAWNED, MOST_SPAWNED) }) {
        return Ok(());
    }
    let names: Vec<String> = asset.muscles.iter().map(|muscle| muscle.name.chars().take(80).collect()).collect();
    let character = match Character::from_asset(asset, &FleshOptions::default()) {
        Ok(character) => character,
        Err(CharacterError::Muscle { source, .. }) => {
            prop_assert!(source.muscle().is_some_and(|muscle| names.iter().any(|name| name == muscle)), "{}", source);
            prop_assert!(source.key().is_some_and(|key| !key.is_empty()), "{}", source);
            return Ok(());
        }
        Err(CharacterError::Course { source, .. }) => {
            let text = source.to_string();
            prop_assert!(names.iter().any(|name| text.contains(&format!("`{name}`"))), "{}", text);
            return Ok(());
        }
        Err(other) => return Err(TestCaseError::fail(format!("names no muscle: {other}"))),
    };
    let (asset, body) = (character.asset(), character.body());
    let (bones, _) = body.posed(asset, &asset.skeleton.rest_pose(), &Pose::IDENTITY, &[]);
    let mut physics = Physics::with_config(StepConfig { threads: 1, ..StepConfig::default() });
    let handle = physics.insert_with_skin(body.flesh.clone(), body.skin.clone(), &bones, Pose::IDENTITY);
    let handle = handle.map_err(|error| TestCaseError::fail(error.to_string()))?;
    for chain in 0..body.flesh.chains().len() {
        physics.set_activation(handle, chain, 1.0).map_err(|error| TestCaseError::fail(error.to_string()))?;
    }
    for _ in 0..5 {
        physics.step_flesh(1.0 / 60.0).map_err(|error| TestCaseError::fail(error.to_string()))?;
    }
    prop_assert!(physics.state(handle).is_ok_and(FleshState::is_finite));
    let resets = physics.health(handle).map_or(1, |health| health.resets);
    let skin = physics.vertices(handle).map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert!(skin.positions.iter().all(|place| place.is_finite()));
    STEPPED.fetch_add(1, Ordering::Relaxed);
    RESET.fetch_add(usize::from(resets > 0), Ordering::Relaxed);
    Ok(())
}

/// What was imported, or nothing for an error that says a muscle's fault.
fn typed(result: Result<CharacterAsset, ImportError>) -> Result<Option<CharacterAsset>, TestCaseError> {
    match result {
        Ok(asset) => {
            let sound = check_muscles(&asset.muscles, &asset.skeleton);
            prop_assert!(sound.is_ok(), "{:?}", sound);
            Ok(Some(asset))
        }
        Err(ImportError::Muscle { source, .. }) => {
            prop_assert!(!source.to_string().is_empty());
            Ok(None)
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
        is_flesh_or_typed(typed(with_extras(6, extras).import())?)?;
        let text = json!({ "version": 1, "muscles": { "biceps": value } }).to_string();
        if let Ok(beside) = Sidecar::from_slice("x", text.as_bytes()) {
            is_flesh_or_typed(typed(import_beside(&character(), beside))?)?;
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
        prop_assert!(typed(with_extras(6, json!({ "sinew.muscle": muscle })).import())?.is_some(), "{}", muscle);
        for (at, key, new) in &changes {
            mutate(&mut muscle, at, key, new);
        }
        is_flesh_or_typed(typed(with_extras(6, json!({ "sinew.muscle": muscle })).import())?)?;
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

/// A number of a key's range, its ends included, small ones as likely as large ones.
fn in_range(key: &'static str) -> impl Strategy<Value = f64> {
    let MuscleLimits { low, high, .. } = *MuscleLimits::of(key).unwrap();
    let from = if low > 0.0 { low } else { 1.0e-3 * high };
    prop_oneof![Just(low), Just(high), (from.ln()..high.ln()).prop_map(move |x| x.exp().clamp(low, high))]
}

/// Joints and places (m) of a path's points, one after another by steps of some centimetres, or anywhere.
fn any_path() -> impl Strategy<Value = Value> {
    let joint = prop::sample::select(vec!["Root", "Upper", "Lower", "Lower/Hand", "Other"]);
    let near = prop::array::uniform3(-0.1..0.1);
    let far = prop::array::uniform3(-1.0e4..1.0e4);
    let place = prop_oneof![8 => near, 1 => far];
    let point = (joint, place, prop::option::weighted(0.2, in_range("radius"))).prop_map(|(joint, place, radius)| {
        let mut point = json!({ "joint": joint, "place": place });
        radius.into_iter().for_each(|radius| point["radius"] = json!(radius));
        point
    });
    prop::collection::vec(point, 2..6).prop_map(Value::from)
}

/// Keys of a muscle of which each is there or not, with numbers of its range.
fn any_numbers() -> impl Strategy<Value = Vec<(&'static str, Option<f64>)>> {
    let keys = [
        "taper",
        "fibre_count",
        "section_count",
        "peak_stress",
        "passive",
        "optimal_stretch",
        "max_velocity",
        "activation_time",
        "deactivation_time",
        "shortening",
        "youngs_modulus",
        "poissons_ratio",
        "density",
        "damping",
    ];
    let number = |key| prop::option::weighted(0.3, in_range(key)).prop_map(move |value| (key, value));
    Vec::from(keys.map(number))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    fn spawn_any_numbers(
        path in any_path(),
        thickness in prop::sample::select(vec!["radius", "peak_force", "volume"])
            .prop_flat_map(|key| in_range(key).prop_map(move |value| (key, value))),
        numbers in any_numbers(),
        preset in prop::sample::select(vec!["muscle", "fat", "tendon"]),
        tendon in prop::option::of([0.0..0.45, 0.0..0.45]),
        rigid in any::<bool>(),
    ) {
        let mut muscle = json!({ "path": path, "rigid": rigid, "material": { "preset": preset } });
        muscle[thickness.0] = json!(thickness.1);
        tendon.into_iter().for_each(|tendon| muscle["tendon"] = json!(tendon));
        for (key, value) in numbers.into_iter().filter_map(|(key, value)| Some((key, value?))) {
            let of_material = ["youngs_modulus", "poissons_ratio", "density", "damping"].contains(&key);
            let value = if key.ends_with("count") { value.round() } else { value };
            if of_material { muscle["material"][key] = json!(value) } else { muscle[key] = json!(value) }
        }
        is_flesh_or_typed(typed(with_extras(0, json!({ "sinew.muscle": muscle })).import())?)?;
    }
}

#[test]
fn numbers_of_their_ranges_are_flesh_or_a_typed_error() {
    spawn_any_numbers();
    let [stepped, reset] = [&STEPPED, &RESET].map(|count| count.load(Ordering::Relaxed));
    println!("{stepped} random muscles were flesh for 5 steps (bar 100), {reset} of them reset (bar 1 %)");
    assert!(stepped > 100 && 100 * reset <= stepped);
}
