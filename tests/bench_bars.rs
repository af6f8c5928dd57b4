//! What benches check with `--check`.

#[allow(dead_code, reason = "a test does not end")]
#[path = "../benches/bars/mod.rs"]
mod bars;

#[test]
fn bars_are_missed_beyond_and_by_what_is_no_number() {
    let mut bars = bars::Bars::default();
    for figure in [0.5, 1.0] {
        bars.at_most("time", figure, 1.0);
        bars.at_least("ratio", 2.0 - figure, 1.0);
    }
    assert!(bars.missed().is_empty(), "{:?}", bars.missed());
    bars.at_most("time", 1.01, 1.0);
    bars.at_most("solve", f64::NAN, 1.0);
    bars.at_least("ratio", 9.9, 10.0);
    bars.at_least("updates", f64::NAN, 10.0);
    println!("{:?}", bars.missed());
    let expected =
        ["time: 1.010 is above 1", "solve: NaN is above 1", "ratio: 9.900 is below 10", "updates: NaN is below 10"];
    assert_eq!(bars.missed(), expected);
}
