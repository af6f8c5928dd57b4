//! Whether lane operations are part of the kernels that use them. What a closure does that is called twice, or by `array::map`, is
//! compiled without the kernel's instructions: each of its operations is then a call, several times as slow. Of that debug builds
//! say nothing.
#![cfg(not(debug_assertions))]

use glam::DVec3;
use sinew::flesh::{Flesh, RodSpec};
use sinew::{Physics, Pose};

#[test]
fn no_lane_operation_is_a_call() {
    // The kernels are in this program only if it uses them.
    let rod = RodSpec::straight("rod", DVec3::ZERO, DVec3::X, 4, 0.05);
    let mut physics = Physics::default();
    let flesh = std::sync::Arc::new(Flesh::build(&[rod], &[]).unwrap());
    physics.insert(flesh, &[], Pose::IDENTITY).unwrap();
    physics.step_flesh(1.0 / 60.0).unwrap();

    let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let count = |name: &[u8]| program.windows(name.len()).filter(|bytes| *bytes == name).count();
    assert!(count(b"fearless_simd") > 0, "it has no symbols to tell by");
    // As symbols are mangled: a length, then the name.
    let calls = count(b"22__fearless_simd_kernel") + count(b"22___fearless_simd_kernel");
    assert_eq!(calls, 0, "`objdump -d` shows who calls them");
}
