//! Flesh does not break: the solve's contract, rods that are jerked, thresholds of instability, stiff pendulums, curves of
//! tension and volume, who writes node rows.

#[path = "../common/mod.rs"]
mod common;
mod contract;
mod critical_loads;
mod curves;
mod jerked_rods;
mod node_rows;
mod pendulum;
#[path = "../plot/mod.rs"]
mod plot;
mod stages;
mod thresholds;
