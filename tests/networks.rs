//! Corrective networks: what they give against numpy's float64, in any batch, and what damaged ones do.
//!
//! Files in `tests/networks` are written by the scripts there, with `tools/export_network.py`, of which `check_export.py` there checks what
//! it folds and refuses.

mod common;

use std::path::Path;
use std::sync::atomic::Ordering;

use common::{LARGEST, Noting};
use glam::{Quat, Vec3};
use proptest::prelude::*;
use safetensors::SafeTensors;
use sinew::LaneWidth;
use sinew::neural::*;

#[global_allocator]
static NOTING: Noting = Noting;

const PRECISIONS: [Precision; 3] = [Precision::F32, Precision::F16, Precision::I8];

fn bytes_of(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/networks").join(name);
    std::fs::read(path).expect("is committed")
}

fn fixture(precision: Precision) -> CorrectiveNetwork {
    let name = format!("{}.safetensors", precision.name().to_lowercase());
    CorrectiveNetwork::from_slice(&name, &bytes_of(&name)).expect("is sound")
}

fn numbers<const N: usize, T>(data: &[u8], of: fn([u8; N]) -> T) -> Vec<T> {
    data.chunks_exact(N).map(|bytes| of(bytes.try_into().expect("so many bytes"))).collect()
}

/// Poses of a reference of a network: rotations, activations and deltas.
fn reference(network: &CorrectiveNetwork, name: &str) -> Vec<(Vec<Quat>, Vec<f32>, Vec<f64>)> {
    let bytes = bytes_of(name);
    let tensors = SafeTensors::deserialize(&bytes).expect("is sound");
    let data = |name| tensors.tensor(name).expect("is there").data();
    let rotations: Vec<_> = numbers(data("rotations"), f32::from_le_bytes);
    let rotations: Vec<Quat> = rotations.chunks_exact(4).map(Quat::from_slice).collect();
    let activations: Vec<_> = numbers(data("activations"), f32::from_le_bytes);
    let deltas: Vec<_> = numbers(data("deltas"), f64::from_le_bytes);
    let poses = rotations.chunks(network.joints().len()).zip(activations.chunks(network.muscles().len()));
    let deltas = deltas.chunks(3 * network.vertex_count());
    poses.zip(deltas).map(|((turns, pulls), moved)| (turns.into(), pulls.into(), moved.into())).collect()
}

/// The same numbers every time, from -1 to 1.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
    }
}

fn pose(network: &CorrectiveNetwork, character: &mut Correctives, numbers: &mut Numbers, size: f32) {
    let mut turn = || Quat::from_xyzw(numbers.next(), numbers.next(), numbers.next(), numbers.next()).normalize();
    let rotations: Vec<Quat> = (0..network.joints().len()).map(|_| turn()).collect();
    let activations: Vec<f32> = (0..network.muscles().len()).map(|_| size * numbers.next()).collect();
    character.set_inputs(network, &rotations, &activations);
}

fn infer(network: &CorrectiveNetwork, characters: &mut [Correctives], threads: usize) {
    Inference::new(threads).infer(network, &mut characters.iter_mut().collect::<Vec<_>>());
}

fn bits(character: &Correctives) -> Vec<[u32; 3]> {
    character.deltas().iter().map(|delta| delta.to_array().map(f32::to_bits)).collect()
}

/// The largest error of a network against its reference, and the largest displacement (m), of all poses.
fn error_and_size(network: &CorrectiveNetwork, poses: &[(Vec<Quat>, Vec<f32>, Vec<f64>)]) -> (f64, f64) {
    let mut characters: Vec<_> = poses
        .iter()
        .map(|(rotations, activations, _)| {
            let mut character = Correctives::new(network);
            character.set_inputs(network, rotations, activations);
            character
        })
        .collect();
    infer(network, &mut characters, 1);
    let (mut error, mut size) = (0.0_f64, 0.0_f64);
    for (character, (_, _, expected)) in characters.iter().zip(poses) {
        let found = character.deltas().iter().flat_map(Vec3::to_array);
        for (found, &expected) in found.zip(expected) {
            error = error.max((f64::from(found) - expected).abs());
            size = size.max(expected.abs());
        }
    }
    println!("{}: {:.1e} of {size:.3} m", network.precision().name(), error / size);
    (error, size)
}

#[test]
fn exported_networks_give_what_numpy_does() {
    let poses = reference(&fixture(Precision::F32), "reference.safetensors");
    assert_eq!(poses.len(), 8);
    for (precision, bar) in PRECISIONS.into_iter().zip([1.0e-5, 2.0e-3, 1.0e-2]) {
        let network = fixture(precision);
        assert_eq!((network.precision(), network.errors().len()), (precision, 1));
        assert!(network.density() < 0.7, "bases are local: {}", network.density());
        let (error, size) = error_and_size(&network, &poses);
        assert!(error <= bar * size, "{precision:?}: {error} of {size}");
        assert!(size < network.reach() && network.reach() < 10.0 * size, "{size} {}", network.reach());
    }
}

/// Trained and exported with PyTorch 2.15, batch norm before and after ReLU, a layer without bias and one without its own scale;
/// against PyTorch itself in float64.
#[test]
fn networks_of_pytorch_give_what_pytorch_does() {
    let name = "torch.safetensors";
    let network = CorrectiveNetwork::from_slice(name, &bytes_of(name)).expect("is sound");
    let poses = reference(&network, "torch_reference.safetensors");
    assert_eq!(poses.len(), 6);
    let (error, size) = error_and_size(&network, &poses);
    assert!(size > 1.0e-3 && error <= 1.0e-5 * size, "{error} of {size}");
}

#[test]
fn bits_are_the_same_in_any_batch_on_any_threads_and_registers() {
    for precision in PRECISIONS {
        let network = fixture(precision);
        let mut numbers = Numbers(3);
        // More than are unpacked for once, and neither whole groups nor whole tiles.
        let mut batch: Vec<_> = (0..39).map(|_| Correctives::new(&network)).collect();
        batch.iter_mut().for_each(|character| pose(&network, character, &mut numbers, 1.0));
        batch[1].detail = Detail { weight: 0.3, passive: 2.5, active: 0.0 };
        batch[6].detail.weight = 0.0;
        let mut alone = batch.clone();
        infer(&network, &mut batch, 1);
        alone.chunks_mut(1).for_each(|character| infer(&network, character, 1));
        assert_eq!(batch.iter().map(bits).collect::<Vec<_>>(), alone.iter().map(bits).collect::<Vec<_>>());
        assert!(bits(&batch[0]) != bits(&batch[2]), "poses differ");
        let (mut threaded, mut baseline) = (batch.clone(), batch.clone());
        for other in [&mut threaded, &mut baseline] {
            other.iter_mut().for_each(|character| character.detail.weight *= 0.5);
            infer(&network, other, 1);
            other.iter_mut().for_each(|character| character.detail.weight *= 2.0);
        }
        infer(&network, &mut threaded, 3);
        let mut inference = Inference::new(2);
        inference.lane_width = LaneWidth::EightBaseline;
        inference.infer(&network, &mut baseline.iter_mut().collect::<Vec<_>>());
        for other in [threaded, baseline] {
            assert_eq!(batch.iter().map(bits).collect::<Vec<_>>(), other.iter().map(bits).collect::<Vec<_>>());
        }
    }
}

#[test]
fn ten_thousand_poses_far_outside_of_training_stay_within_its_range() {
    let network = fixture(Precision::I8);
    let at_rest = Correctives::new(&network);
    let mut numbers = Numbers(5);
    let inference = Inference::new(1);
    let (mut low, mut high) = (vec![f32::INFINITY; 11], vec![f32::NEG_INFINITY; 11]);
    let mut farthest = 0.0_f32;
    for round in 0..100 {
        let mut characters = vec![at_rest.clone(); 100];
        let size = [1.0, 1.0e3, 1.0e30, f32::INFINITY][round % 4];
        characters.iter_mut().for_each(|character| pose(&network, character, &mut numbers, size));
        inference.infer(&network, &mut characters.iter_mut().collect::<Vec<_>>());
        for character in &characters {
            for (k, &coefficient) in character.coefficients().iter().enumerate() {
                (low[k], high[k]) = (low[k].min(coefficient), high[k].max(coefficient));
            }
            for delta in character.deltas() {
                assert!(delta.is_finite());
                farthest = farthest.max(delta.length());
            }
        }
    }
    println!("farthest {farthest:.4} m, reach {:.4} m", network.reach());
    assert!(f64::from(farthest) <= network.reach());
    let bytes = bytes_of("i8.safetensors");
    let tensors = SafeTensors::deserialize(&bytes).expect("is sound");
    let range = |end: &str| {
        let of = |part: &str| tensors.tensor(&format!("{part}.coefficients.{end}")).expect("is there").data();
        [of("passive"), of("active")].map(numbers_of).concat()
    };
    assert_eq!((low, high), (range("low"), range("high")), "they reach the ends of their ranges, and no farther");
}

fn numbers_of(data: &[u8]) -> Vec<f32> {
    numbers(data, f32::from_le_bytes)
}

#[test]
fn details_fade_and_masks_hide() {
    let network = fixture(Precision::F16);
    let mut full = Correctives::new(&network);
    pose(&network, &mut full, &mut Numbers(9), 1.0);
    let with = |detail: Detail| {
        let mut character = full.clone();
        character.detail = detail;
        infer(&network, std::slice::from_mut(&mut character), 1);
        character
    };
    let all = with(Detail::default());
    let bare = with(Detail { passive: 0.0, active: 0.0, ..Detail::default() });
    assert!(bare.coefficients().iter().all(|&coefficient| coefficient == 0.0));
    let cut = with(Detail { passive: 2.25, active: f32::NAN, ..Detail::default() });
    let expected: Vec<f32> =
        [1.0, 1.0, 0.25, 0.0, 0.0].iter().zip(all.coefficients()).map(|(share, found)| share * found).collect();
    assert_eq!(cut.coefficients()[..5], expected[..]);
    assert!(cut.coefficients()[5..].iter().all(|&coefficient| coefficient == 0.0));
    // What fades out evenly does not jump: a tenth of a component less moves a tenth of what the component does.
    let faded = |passive: f32| with(Detail { passive, active: passive + 1.0, ..Detail::default() });
    let jump = |from: f32, to: f32| {
        let (from, to) = (faded(from), faded(to));
        from.deltas().iter().zip(to.deltas()).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
    };
    for component in 0..5 {
        let component = component as f32;
        let whole = jump(component, component + 1.0);
        assert!(whole > 1.0e-3, "component {component} moves {whole} m");
        for tenth in 0..10 {
            let [from, to] = [tenth, tenth + 1].map(|tenth| component + 0.1 * tenth as f32);
            let jump = jump(from, to);
            assert!(jump < 0.101 * whole, "{jump} of {whole} from {from} to {to}");
        }
    }
    assert_eq!(bits(&faded(-1.0)), bits(&bare));
    let half = with(Detail { weight: 0.5, ..Detail::default() });
    assert!(half.deltas().iter().zip(all.deltas()).all(|(half, all)| *half == 0.5 * all));
    for weight in [0.0, -1.0, f32::NAN] {
        let mut none = all.clone();
        none.detail.weight = weight;
        infer(&network, std::slice::from_mut(&mut none), 1);
        assert!(none.deltas().iter().all(|delta| *delta == Vec3::ZERO));
    }

    let masked = |full: &Correctives, rotations: &[Quat], activations: &[f32]| {
        let mut character = full.clone();
        character.set_inputs(&network, rotations, activations);
        infer(&network, std::slice::from_mut(&mut character), 1);
        bits(&character)
    };
    let (turned, pulled) = (vec![Quat::from_rotation_z(0.4); 4], vec![0.7; 3]);
    let (mut still, mut slack) = (turned.clone(), pulled.clone());
    (still[2], slack[1]) = (Quat::IDENTITY, 0.0);
    let expected = masked(&full, &still, &slack);
    assert!(expected != masked(&full, &turned, &pulled));
    let mut masking = full.clone();
    (masking.joint_mask[2], masking.muscle_mask[1]) = (false, false);
    assert_eq!(masked(&masking, &turned, &pulled), expected);
    (still[2], slack[1]) = (Quat::NAN, f32::NAN);
    assert_eq!(masked(&full, &still, &slack), expected, "what is no number is at rest");
}

/// Two networks without effect, on two blocks and a bit.
fn zero(components: usize) -> NetworkSpec {
    let part = |inputs: usize| PartSpec {
        input_mean: vec![0.0; inputs],
        input_scale: vec![1.0; inputs],
        layers: [Layer::zeros(inputs, 3), Layer::zeros(3, 4), Layer::zeros(4, components)],
        low: vec![-1.0; components],
        high: vec![1.0; components],
        basis: vec![0.0; components * 3 * 130],
    };
    NetworkSpec {
        joints: vec!["a".into()],
        muscles: vec!["b".into(), "c".into()],
        vertex_count: 130,
        mean: vec![-0.0; 390],
        passive: Some(part(9)),
        active: Some(part(2)),
        ..NetworkSpec::default()
    }
}

#[test]
fn a_network_of_zeros_changes_no_bit() {
    for precision in PRECISIONS {
        let network = CorrectiveNetwork::new(&zero(2), precision, 0.0).unwrap();
        assert_eq!((network.basis_bytes(), network.reach()), (0, 0.0), "nothing is stored");
        let mut spec = zero(2);
        // Stored, but with coefficients of 0.
        spec.passive.as_mut().unwrap().basis.fill(-0.5);
        let idle = CorrectiveNetwork::new(&spec, precision, 0.0).unwrap();
        assert!(idle.basis_bytes() > 0);
        for network in [network, idle] {
            let mut characters = vec![Correctives::new(&network); 5];
            characters.iter_mut().for_each(|character| pose(&network, character, &mut Numbers(1), 1.0));
            infer(&network, &mut characters, 1);
            let place = Vec3::new(0.1, -0.2, 0.3);
            let moved = |delta: &Vec3| (place + *delta).to_array().map(f32::to_bits);
            let all = characters.iter().flat_map(|character| character.deltas());
            assert!(all.clone().all(|delta| moved(delta) == place.to_array().map(f32::to_bits)));
            assert!(all.flat_map(Vec3::to_array).all(|delta| delta.to_bits() == 0));
        }
    }
}

#[test]
fn what_is_saved_is_loaded() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("saved.safetensors");
    for precision in PRECISIONS {
        let network = fixture(precision);
        network.save(&path).unwrap();
        let again = CorrectiveNetwork::load(&path).unwrap();
        assert_eq!(network, again);
        assert_eq!(network.to_bytes(), again.to_bytes());
        assert_eq!(again.part(Which::Passive).unwrap().hidden, [12, 12]);
        assert_eq!(again.part(Which::Active).unwrap().components, 6);
    }
    // What is read while another is saved is whole: it is another file.
    #[cfg(unix)]
    {
        use std::io::Read as _;
        let mut before = std::fs::File::open(&path).unwrap();
        fixture(Precision::F32).save(&path).unwrap();
        let mut bytes = Vec::new();
        before.read_to_end(&mut bytes).unwrap();
        assert!(bytes == fixture(Precision::I8).to_bytes());
    }
    let missing = CorrectiveNetwork::load(path.with_file_name("nowhere")).unwrap_err();
    assert!(missing.to_string().contains("nowhere: ") && matches!(missing.fault, NetworkFault::Io(_)));
}

/// A file with a header and so many bytes behind it.
fn file(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

fn fault(bytes: &[u8]) -> String {
    CorrectiveNetwork::from_slice("hero.safetensors", bytes).expect_err("is damaged").to_string()
}

#[test]
fn what_is_wrong_is_named_with_what_to_do() {
    let sound = bytes_of("i8.safetensors");
    let length = u64::from_le_bytes(sound[..8].try_into().unwrap()) as usize;
    let (header, data) = (std::str::from_utf8(&sound[8..8 + length]).unwrap().trim_end(), &sound[8 + length..]);
    // Of the same length, so that offsets stay.
    let replaced = |from: &str, to: &str| {
        assert!(header.contains(from), "{from}");
        file(&header.replace(from, to), data)
    };
    let written = |tensor: &str, index: usize, bytes: &[u8]| {
        let tensors = SafeTensors::deserialize(&sound).unwrap();
        let begin = tensors.tensor(tensor).unwrap().data().as_ptr() as usize - sound.as_ptr() as usize;
        let mut damaged = sound.clone();
        damaged[begin + index * bytes.len()..][..bytes.len()].copy_from_slice(bytes);
        damaged
    };
    let huge = r#"{"mean":{"dtype":"F32","shape":[900000000,3],"data_offsets":[0,10800000000]}}"#;
    let cases: [(Vec<u8>, &[&str]); 27] = [
        (Vec::new(), &["no whole safetensors file", "copy or export it again"]),
        (sound[..sound.len() - 1].to_vec(), &["no whole safetensors file"]),
        (file("{}", &[]), &["not a corrective network", "tools/export_network.py"]),
        (file(huge, &[0; 64]), &["no whole safetensors file"]),
        (vec![0xff; 64], &["no whole safetensors file"]),
        (replaced(r#"\"version\": 1"#, r#"\"version\": 2"#), &["version 2", "reads 1", "update sinew"]),
        (replaced(r#"\"version\""#, r#"\"Version\""#), &["missing field `version`", "export"]),
        (
            replaced(r#"\"topology\": \"0123"#, r#"\"topology\": \"012x"#),
            &["topology is \"012x", "sinew inspect --json"],
        ),
        (replaced("joint 2", "joint 1"), &["joints has \"joint 1\" twice", "once"]),
        (replaced(r#"\"joint 0\", "#, ""), &["passive.layers.0.weight has the shape [12, 36]", "[12, 27]"]),
        (replaced(r#"\"vertices\": 150"#, r#"\"vertices\": 151"#), &["tensor mean has the shape [150, 3]", "[151, 3]"]),
        (replaced(r#"\"vertices\": 150"#, r#"\"vertices\": 15000000000"#), &["15000000000 vertices", "at most"]),
        (replaced("passive.basis.first", "passive.basis.frist"), &["passive.basis.first is missing", "export"]),
        (replaced(r#""mean": {"dtype": "F32""#, r#""mean": {"dtype": "I32""#), &["mean is I32", "F32"]),
        (
            replaced(r#""active.basis.values": {"dtype": "I8""#, r#""active.basis.values": {"dtype": "U8""#),
            &["active.basis.values is U8", "F16 or I8"],
        ),
        (written("mean", 7, &f32::NAN.to_le_bytes()), &["mean[7] is NaN", "finite", "train or copy it again"]),
        (
            written("active.layers.1.weight", 3, &f32::INFINITY.to_le_bytes()),
            &["active.layers.1.weight[3] is inf", "diverged"],
        ),
        (written("passive.layers.2.bias", 1, &f32::NAN.to_le_bytes()), &["passive.layers.2.bias[1] is NaN"]),
        (written("passive.input.scale", 2, &0.0_f32.to_le_bytes()), &["passive.input.scale[2] is 0", "above 0"]),
        (written("active.basis.scale", 4, &f32::NAN.to_le_bytes()), &["active.basis.scale[4] is NaN"]),
        (
            written("passive.coefficients.high", 0, &(-1e9_f32).to_le_bytes()),
            &["coefficients.high[0]", "at least its low"],
        ),
        (written("passive.basis.first", 0, &1_u32.to_le_bytes()), &["passive.basis.first[0] is 1", "must be 0"]),
        (written("passive.basis.first", 5, &99_u32.to_le_bytes()), &["passive.basis.first[5] is 99", "number of rows"]),
        (written("passive.basis.first", 2, &9999_u32.to_le_bytes()), &["passive.basis.first[3]", "the one before"]),
        (written("active.basis.blocks", 0, &3_u32.to_le_bytes()), &["active.basis.blocks[0] is 3", "from 0 to 2"]),
        (written("active.basis.scale", 0, &1e30_f32.to_le_bytes()), &["by 1", "metres"]),
        (written("mean", 0, &(-2e4_f32).to_le_bytes()), &["block 0", "the most is 1e4 m"]),
    ];
    for (bytes, parts) in cases {
        let text = fault(&bytes);
        assert!(text.starts_with("hero.safetensors: "), "{text}");
        assert!(parts.iter().all(|part| text.contains(part)), "{text} lacks one of {parts:?}");
    }
    // Halves of 16 bits have infinities of their own.
    let sound = bytes_of("f16.safetensors");
    let tensors = SafeTensors::deserialize(&sound).unwrap();
    let begin = tensors.tensor("active.basis.values").unwrap().data().as_ptr() as usize - sound.as_ptr() as usize;
    let mut damaged = sound.clone();
    damaged[begin..begin + 2].copy_from_slice(&[0x00, 0x7c]);
    assert!(fault(&damaged).contains("active.basis.values, row 0[0] is inf"), "{}", fault(&damaged));
    // A row of zeros reaches nowhere, but not times infinity.
    for name in ["f16.safetensors", "i8.safetensors"] {
        let mut damaged = bytes_of(name);
        let place = |tensor: &str| {
            let sound = bytes_of(name);
            let data = SafeTensors::deserialize(&sound).unwrap().tensor(tensor).unwrap().data().as_ptr_range();
            let [begin, end] = [data.start, data.end].map(|at| at as usize - sound.as_ptr() as usize);
            begin..end
        };
        let rows = place("active.basis.scale").len() / 4;
        let values = place("active.basis.values");
        damaged[values.start..][..values.len() / rows].fill(0);
        damaged[place("active.basis.scale")][..4].copy_from_slice(&(-3.0e38_f32).to_le_bytes());
        damaged[place("active.coefficients.high")][..4].copy_from_slice(&1.0e3_f32.to_le_bytes());
        let text = fault(&damaged);
        assert!(text.contains("active.basis.scale[0] is -3") && text.contains("at most 1e30"), "{text}");
    }
    // As a spec.
    let mut spec = zero(2);
    spec.active.as_mut().unwrap().basis.pop();
    let text = CorrectiveNetwork::new(&spec, Precision::F32, 0.0).unwrap_err().to_string();
    assert!(text.contains("active.basis has the shape [779]") && text.contains("[2, 130, 3]"), "{text}");
}

/// Loads what may be damaged; where it is sound after all, it must not give what is not finite.
fn survives(bytes: &[u8]) -> Result<(), TestCaseError> {
    match CorrectiveNetwork::from_slice("damaged", bytes) {
        Ok(network) => {
            let mut character = Correctives::new(&network);
            pose(&network, &mut character, &mut Numbers(1), 1.0);
            infer(&network, std::slice::from_mut(&mut character), 1);
            prop_assert!(character.deltas().iter().all(|delta| delta.is_finite()));
            prop_assert!(network.reach() <= 1.0e4);
        }
        Err(error) => prop_assert!(error.to_string().starts_with("damaged: ")),
    }
    // Twenty times the file: what is asked for is in proportion to what is there, not to what is claimed.
    let largest = LARGEST.load(Ordering::Relaxed);
    prop_assert!(largest < 1 << 20, "{largest} bytes at once");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_are_refused_or_harmless(
        precision in 0_usize..3,
        cut in proptest::option::of(0.0_f64..1.0),
        flips in proptest::collection::vec((0.0_f64..1.0, 0_u32..8), 0..6),
        in_header in any::<bool>(),
    ) {
        let name = ["f32.safetensors", "f16.safetensors", "i8.safetensors"][precision];
        let mut bytes = bytes_of(name);
        let header = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        for (place, bit) in flips {
            let end = if in_header { header } else { bytes.len() };
            bytes[(place * end as f64) as usize] ^= 1 << bit;
        }
        if let Some(cut) = cut {
            bytes.truncate((cut * bytes.len() as f64) as usize);
        }
        survives(&bytes)?;
    }

    #[test]
    fn files_that_claim_what_they_like_are_refused_or_harmless(
        digits in proptest::collection::vec((0.0_f64..1.0, 0_u8..10), 1..8),
    ) {
        let mut bytes = bytes_of("i8.safetensors");
        let header = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let numbers: Vec<usize> = (8..header).filter(|&at| bytes[at].is_ascii_digit()).collect();
        for (place, digit) in digits {
            bytes[numbers[(place * numbers.len() as f64) as usize]] = b'0' + digit;
        }
        survives(&bytes)?;
    }
}

#[cfg(feature = "gltf")]
#[test]
fn a_network_is_bound_by_names_or_says_all_that_differs() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/arm.glb");
    let arm = sinew::Character::load(path).expect("the project's own asset loads");
    let mesh = &arm.asset().mesh;
    let (joints, chains) = (&arm.asset().skeleton.joints, arm.body().flesh.chains());
    let mut spec = zero(1);
    spec.vertex_count = mesh.positions.len();
    spec.mesh = MeshHash::of(&mesh.positions, &mesh.triangles);
    spec.mean = vec![0.0; 3 * spec.vertex_count];
    for part in [&mut spec.passive, &mut spec.active] {
        part.as_mut().unwrap().basis = vec![0.0; 3 * spec.vertex_count];
    }
    spec.joints = vec![joints[2].name.clone()];
    spec.muscles = vec![chains[1].name.clone(), chains[0].name.clone()];
    let network = |spec: &NetworkSpec| CorrectiveNetwork::new(spec, Precision::F16, 0.0).unwrap();
    assert_eq!(network(&spec).bind(&arm), Ok(Binding { joints: vec![2], muscles: vec![1, 0] }));

    let blended = sinew::character::FleshOptions {
        blending: sinew::SkinBlending::DualQuaternion,
        ..sinew::character::FleshOptions::default()
    };
    let mismatch = network(&spec).bind(&arm.with_flesh(&blended).unwrap()).unwrap_err();
    assert_eq!(mismatch.differences, [Difference::Blending]);
    assert!(mismatch.to_string().contains("set FleshOptions::blending to Linear"), "{mismatch}");

    let mut other = spec.clone();
    other.mesh.topology ^= 1;
    other.mesh.rest_shape ^= 1;
    other.joints[0].push('x');
    other.muscles[1] = "wing".into();
    let mismatch = network(&other).bind(&arm).unwrap_err();
    assert_eq!(mismatch.differences.len(), 4, "{mismatch}");
    let near = format!("did you mean {:?}", joints[2].name);
    for part in ["`arm`", "its topology is", "its rest shape is", &near, "no muscle \"wing\"", "train it again"] {
        assert!(mismatch.to_string().contains(part), "{mismatch} lacks {part}");
    }
    let mismatch = network(&zero(1)).bind(&arm).unwrap_err();
    assert!(matches!(mismatch.differences[0], Difference::Vertices { expected: 130, .. }), "{mismatch}");
}
