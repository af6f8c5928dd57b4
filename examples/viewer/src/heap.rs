//! Flesh without a character: one of the crate's scenes, dropped in a heap on the floor.

use std::error::Error;

use glam::DVec3;
use sinew::scenes::{Scene, SceneParameters};
use sinew::{FleshHandle, Physics};

/// The most that are dropped at once.
pub const MOST: usize = 200;

/// What there is to see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum SceneName {
    /// The character of the file.
    #[default]
    Character,
    /// Octopuses, dropped in a heap.
    Octopuses,
    /// Logs, sticks, ropes and octopuses, dropped in a heap over an arm that flexes.
    Pile,
}

impl SceneName {
    /// All that there are.
    pub const ALL: [Self; 3] = [Self::Character, Self::Octopuses, Self::Pile];

    /// What the panel, and for heaps the crate, calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Character => "character",
            Self::Octopuses => "octopuses",
            Self::Pile => "pile",
        }
    }
}

/// A heap in a simulation.
pub struct Heap {
    /// Which one.
    pub name: SceneName,
    /// All its flesh.
    pub flesh: Vec<FleshHandle>,
    scene: Scene,
}

impl Heap {
    /// Drops so many into a simulation without flesh, which is then stepped as the scene is.
    pub fn open(name: SceneName, count: usize, physics: &mut Physics) -> Result<Self, Box<dyn Error>> {
        let mut parameters = SceneParameters::of(name.name())?;
        parameters.set("count", &count.to_string())?;
        let scene = parameters.build(name.name())?;
        physics.config = scene.config;
        scene.insert(physics)?;
        Ok(Self { name, flesh: physics.instances().collect(), scene })
    }

    /// Moves what bones there are to where they are at a time (s).
    pub fn drive(&self, physics: &mut Physics, time: f64) -> Result<(), Box<dyn Error>> {
        match self.flesh.first() {
            Some(&first) if !self.scene.start.is_empty() => Ok(self.scene.drive(physics, first, time)?),
            _ => Ok(()),
        }
    }

    /// The box around all of it, down to the floor (m).
    pub fn bounds(&self, physics: &Physics) -> Result<[DVec3; 2], Box<dyn Error>> {
        let mut bounds = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        for &handle in &self.flesh {
            for (index, chain) in physics.flesh(handle)?.chains().iter().enumerate() {
                for node in 0..chain.node_count() {
                    let node = physics.node(handle, index, node)?;
                    let radius = f64::from(node.radius);
                    bounds = [bounds[0].min(node.place - radius), bounds[1].max(node.place + radius)];
                }
            }
        }
        bounds[0].y = bounds[0].y.min(0.0);
        Ok(bounds)
    }
}
