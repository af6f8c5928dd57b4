//! One sample: bones go from rest to the pose, muscles to their activations, and flesh comes to rest.

use glam::{Affine3A, DVec3, Vec3};

use super::error::BakeFault;
use super::plan::{Plan, PlannedSample};
use super::unskin::unskin;
use crate::skin::palette_matrix;
use crate::step::StepConfig;
use crate::{Active, FleshHandle, Physics, Pose};

/// What a sample came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Which pose it has.
    pub pose: u32,
    /// 9 numbers a joint, as [`crate::neural`] says.
    pub inputs: Vec<f32>,
    /// One a muscle.
    pub activations: Vec<f32>,
    /// δ in mesh space (m), one a vertex; all 0 where it is not used.
    pub deltas: Vec<Vec3>,
    /// Whether the flesh neither broke nor was far from rest.
    pub used: bool,
    /// Whether it came to rest.
    pub settled: bool,
    /// The fastest node's speed over the skin's size in the last [`still_time`](super::SettleOptions::still_time) (1/s).
    pub residual: f32,
    /// After how long that was (s).
    pub time: f32,
    /// How many chains were laid anew on the way.
    pub resets: u32,
    /// How many vertices were pulled back through a matrix next to singular.
    pub singular: u32,
}

/// Bakes a sample: on the calling thread alone, the same bits on any.
///
/// # Errors
/// [`BakeFault::Step`] where the flesh cannot be stepped at all.
///
/// # Panics
/// Where `number` is not below [`super::BakeOptions::samples`].
pub fn bake_sample(plan: &Plan, number: u32) -> Result<Sample, BakeFault> {
    let planned = plan.sample(number);
    let mut stage = Stage::new(plan)?;
    let settle = &plan.head.options.settle;
    let frames = |time: f64| (time / settle.dt).ceil().max(1.0) as u32;
    let (moving, still) = (frames(settle.move_time), frames(settle.still_time) as usize);
    for frame in 1..=moving {
        let way = f64::from(frame) / f64::from(moving);
        // Starts and ends without a jerk: zero speed and acceleration (the quintic of minimum jerk).
        stage.put(&planned, way.powi(3) * (10.0 - 15.0 * way + 6.0 * way * way))?;
        stage.step()?;
    }
    // How fast the last frames were, as a ring.
    let mut speeds: Vec<f64> = Vec::with_capacity(still);
    let fastest = |speeds: &[f64]| speeds.iter().copied().fold(0.0, f64::max);
    let rests = |speeds: &[f64]| speeds.len() == still && fastest(speeds) <= settle.still_speed;
    let most = frames(settle.most_time);
    let mut frame = 0;
    while frame < most && !rests(&speeds) {
        stage.step()?;
        let speed = stage.speed()? / plan.head.size;
        match speeds.get_mut(frame as usize % still) {
            Some(oldest) => *oldest = speed,
            None => speeds.push(speed),
        }
        frame += 1;
    }
    let (residual, settled) = (fastest(&speeds), rests(&speeds));
    let resets = stage.physics.health(stage.handle)?.resets;
    let mut used = residual <= settle.still_speed * settle.far && resets == 0;
    let (mut deltas, mut singular) = (vec![Vec3::ZERO; plan.head.vertices as usize], 0);
    if used {
        stage.physics.deform_skin(stage.handle)?;
        let positions = &stage.physics.vertices(stage.handle)?.positions;
        let pulled = unskin(&plan.character.body().skin, &stage.rest_palette, &stage.palette, positions);
        used = pulled.deltas.iter().all(|delta| delta.is_finite());
        if used {
            (deltas, singular) = (pulled.deltas, pulled.singular.len() as u32);
        }
    }
    Ok(Sample {
        pose: planned.pose,
        inputs: planned.inputs().collect(),
        activations: planned.activations,
        deltas,
        used,
        settled,
        // What is not finite is as fast as a file can say.
        residual: if residual.is_finite() { residual.min(1.0e30) as f32 } else { 1.0e30 },
        time: (f64::from(moving + frame) * settle.dt) as f32,
        resets,
        singular,
    })
}

/// A scene of one character.
struct Stage<'a> {
    plan: &'a Plan,
    physics: Physics,
    handle: FleshHandle,
    rest_palette: Vec<Affine3A>,
    palette: Vec<Affine3A>,
}

impl<'a> Stage<'a> {
    fn new(plan: &'a Plan) -> Result<Self, BakeFault> {
        let settle = &plan.head.options.settle;
        let config = StepConfig {
            substeps: settle.substeps,
            gravity: DVec3::new(0.0, -settle.gravity, 0.0),
            threads: 1,
            ..StepConfig::default()
        };
        let (asset, body) = (plan.character.asset(), plan.character.body());
        let mut physics = Physics::with_config(config);
        let (bones, rest_palette) = body.posed(asset, &asset.skeleton.rest_pose(), &Pose::IDENTITY, &[]);
        let handle = physics.insert_sound(body.flesh.clone(), body.skin.clone(), &bones, Pose::IDENTITY)?;
        // Skin is deformed once, at the end.
        physics.set_active(handle, Active { flesh: true, skin: false })?;
        let palette = rest_palette.clone();
        Ok(Self { plan, physics, handle, rest_palette, palette })
    }

    /// Puts bones and activations so far on the way from rest.
    fn put(&mut self, planned: &PlannedSample, way: f64) -> Result<(), BakeFault> {
        let (asset, body) = (self.plan.character.asset(), self.plan.character.body());
        let pose = self.plan.pose_of(planned, way);
        let (bones, palette) = body.posed(asset, &pose, &Pose::IDENTITY, &[]);
        self.physics.set_bones(self.handle, &bones, Pose::IDENTITY)?;
        self.physics.set_palette(self.handle, palette.iter().map(palette_matrix))?;
        self.palette = palette;
        for (&chain, &activation) in self.plan.chains.iter().zip(&planned.activations) {
            self.physics.set_activation(self.handle, chain, activation * way as f32)?;
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), BakeFault> {
        Ok(self.physics.step_flesh(self.plan.head.options.settle.dt)?)
    }

    /// Of the fastest node (m/s); infinite where it is no number.
    fn speed(&self) -> Result<f64, BakeFault> {
        let (flesh, state) = (&self.plan.character.body().flesh, self.physics.state(self.handle)?);
        let chains = flesh.chains().iter().enumerate();
        let nodes =
            chains.flat_map(|(chain, info)| (0..info.node_count()).map(move |node| state.node(flesh, chain, node)));
        Ok(nodes.map(|node| f64::from(node.velocity.length())).fold(0.0, |most, speed| {
            if speed <= most {
                most
            } else if speed.is_nan() {
                f64::INFINITY
            } else {
                speed
            }
        }))
    }
}
