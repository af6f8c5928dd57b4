//! A network for tests.

use std::sync::Arc;

use sinew::neural::{CorrectiveNetwork, Layer, NetworkSpec, PartSpec, Precision};

/// A network of 150 vertices that reads two joints and two muscles; in 8 bits.
pub fn network() -> Arc<sinew::neural::CorrectiveNetwork> {
    static MADE: std::sync::OnceLock<Arc<CorrectiveNetwork>> = std::sync::OnceLock::new();
    let mut state = 1_u32;
    let mut numbers = |count: usize, size: f32| -> Vec<f32> {
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((state >> 9) as f32 / (1 << 22) as f32 - 1.0) * size
        };
        (0..count).map(|_| next()).collect()
    };
    let mut part = |inputs: usize, components: usize| {
        // More units than a workgroup has threads.
        let widths = [inputs, 70, 12, components];
        let mut layer = |k: usize| Layer {
            weight: numbers(widths[k] * widths[k + 1], 1.5 / (widths[k] as f32).sqrt()),
            bias: numbers(widths[k + 1], 0.3),
        };
        let layers = [layer(0), layer(1), layer(2)];
        let mut basis = numbers(components * 450, 0.02);
        // A block that the first component does not move.
        basis[192..384].fill(0.0);
        PartSpec {
            input_mean: numbers(inputs, 0.2),
            input_scale: numbers(inputs, 0.3).iter().map(|x| 1.0 + x).collect(),
            layers,
            low: vec![-0.9; components],
            high: vec![0.8; components],
            basis,
        }
    };
    let (passive, active) = (part(18, 5), part(2, 3));
    let make = || {
        let spec = NetworkSpec {
            joints: vec!["a".into(), "b".into()],
            muscles: vec!["c".into(), "d".into()],
            vertex_count: 150,
            mean: numbers(450, 0.005),
            passive: Some(passive),
            active: Some(active),
            ..NetworkSpec::default()
        };
        Arc::new(CorrectiveNetwork::new(&spec, Precision::I8, 0.0).unwrap())
    };
    MADE.get_or_init(make).clone()
}
