//! The paper's own solver, from beside the benches.

#[path = "../../../../benches/baselines/figure_14.rs"]
pub mod figure_14;
#[path = "../../../../benches/baselines/viper_2019.rs"]
pub mod viper_2019;
