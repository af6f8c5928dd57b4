//! `sinew compare`: skin by its joints alone, simulated, and by a network, side by side, and how far the others are from the
//! simulated one.

use std::path::PathBuf;
use std::sync::Arc;

use glam::Vec3;
use hecs::{Entity, World};
use serde::Serialize;
use sinew::character::Animation;
use sinew::components::CharacterInstance;
use sinew::neural::{CorrectiveNetwork, MOVING_SHARE, SkinErrors, SkinFigures};
use sinew::picture::{Camera, Image, MeshView, PictureError, Scene};
use sinew::rigid::RigidWorld;
use sinew::step::StepConfig;
use sinew::{Character, FleshHandle, Physics, Pose, SkinMotion};

use crate::heat::{heat, side_by_side};
use crate::picture::{Pace, camera, colours, save};
use crate::report::write;
use crate::run::{CharacterArgs, animate, excite, physics};
use crate::{Error, FrameArgs, PictureArgs, print};

/// Of each of the pictures side by side (pixels).
const WIDTH: u32 = 320;
const HEIGHT: u32 = 320;

/// By default the darkest colour is what skinning alone lacks (RMS over skin that moves beyond it), so many times.
const DARKEST: f64 = 2.0;

#[derive(clap::Args)]
pub struct CompareArgs {
    #[command(flatten)]
    character: CharacterArgs,
    /// A network of the character, to be compared too.
    #[arg(long, value_name = "NET.safetensors")]
    network: Option<PathBuf>,
    /// For how long flesh comes to rest in the first pose, before frames count (s).
    #[arg(long, default_value_t = 1.0)]
    settle: f64,
    /// What is drawn darkest (mm); by default twice what skinning alone lacks (RMS).
    #[arg(long, value_name = "MM")]
    scale: Option<f64>,
    #[command(flatten)]
    of_frames: FrameArgs,
    #[command(flatten)]
    pictures: PictureArgs,
    /// Writes the figures as JSON.
    #[arg(long, value_name = "R.json")]
    report: Option<PathBuf>,
}

/// The figures; keys are documented in the README.
#[derive(Serialize)]
struct Report {
    version: &'static str,
    input: String,
    network: Option<String>,
    animation: Option<String>,
    backend: String,
    frames: u32,
    dt: f64,
    /// Which share of the largest vertex's RMS displacement a vertex has to move by to count.
    moving_share: f64,
    vertices: usize,
    /// How many of them move beyond skinning.
    moving: usize,
    skinning: Lacks,
    by_network: Option<Lacks>,
    /// Which share of what skinning lacks (RMS) the network removes.
    removed: Option<f64>,
}

/// Distances to the simulated skin, over vertices that move beyond skinning (m).
#[derive(Clone, Copy, Serialize)]
struct Lacks {
    rms: f64,
    max: f64,
}

impl From<[f64; 2]> for Lacks {
    fn from([rms, max]: [f64; 2]) -> Self {
        Self { rms, max }
    }
}

/// How skin stands in a frame.
struct Skin {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
}

pub fn compare(args: &CompareArgs) -> Result<(), Error> {
    let character = args.character.load()?;
    let animation = args.character.animation(&character)?;
    let network = args.network.as_deref().map(CorrectiveNetwork::load).transpose()?;
    if !(0.0..=60.0).contains(&args.settle) {
        return Err(format!("--settle is {}; it must be 0 to 60 s", args.settle).into());
    }
    if let Some(scale) = args.scale.filter(|scale| !(*scale > 0.0 && scale.is_finite())) {
        return Err(format!("--scale is {scale}; it must be above 0 mm").into());
    }
    for warning in character.warnings() {
        eprintln!("warning: {}", warning.0);
    }
    let frames = &args.of_frames;
    let mut stage = Stage::new(&character, network.map(Arc::new), frames)?;
    stage.begin(animation, args.settle, frames.dt)?;

    let mut errors = SkinErrors::new(character.asset().mesh.positions.len());
    let pictured = args.pictures.gif.is_some() || args.pictures.png.is_some();
    let mut shot = Vec::new();
    for frame in 1..=frames.frames {
        stage.step(animation, f64::from(frame) * frames.dt, frames.dt)?;
        let [joints, simulated, network] = stage.places()?;
        let lacks = joints.iter().zip(network).zip(simulated);
        errors.add(lacks.map(|((joints, network), place)| [joints.distance(*place), network.distance(*place)]));
        if pictured {
            shot.push(stage.shoot()?);
        }
    }
    let figures = errors.over_moving();
    if pictured {
        let most = args.scale.map_or(DARKEST * figures.skinning[0], |scale| scale * 1.0e-3);
        let camera = camera(&character, animation, WIDTH as f32 / HEIGHT as f32);
        let film = Film { character: &character, colours: colours(&character), camera, figures, most: most as f32 };
        save(&args.pictures, &Pace::new(frames.dt), &shot, |skins| film.draw(skins))?;
    }
    let backend = stage.physics.backend_report().backend.to_string();
    let with_network = args.network.is_some();
    if let Some(path) = &args.report {
        let report = Report {
            version: env!("CARGO_PKG_VERSION"),
            input: args.character.file.display().to_string(),
            network: args.network.as_ref().map(|path| path.display().to_string()),
            animation: animation.map(|animation| animation.name.clone()),
            backend,
            frames: frames.frames,
            dt: frames.dt,
            moving_share: MOVING_SHARE,
            vertices: character.asset().mesh.positions.len(),
            moving: figures.vertices,
            skinning: figures.skinning.into(),
            by_network: with_network.then(|| figures.network.into()),
            removed: with_network.then(|| figures.removed()),
        };
        write(path, &report)?;
    }
    print(&told(args, &character, &figures))
}

fn told(args: &CompareArgs, character: &Character, figures: &SkinFigures) -> String {
    let line = |name: &str, [rms, max]: [f64; 2]| format!("{name:<16} {:>9.3} {:>9.3}", rms * 1.0e3, max * 1.0e3);
    let mut text = format!(
        "{}: {} frames; {} of {} vertices move beyond skinning, by over {:.0} % of what the farthest does (RMS)\n\
         {:<16} {:>9} {:>9}  from the simulated skin (mm)\n{}\n",
        args.character.file.display(),
        args.of_frames.frames,
        figures.vertices,
        character.asset().mesh.positions.len(),
        100.0 * MOVING_SHARE,
        "",
        "rms",
        "max",
        line("skinning alone", figures.skinning)
    );
    if args.network.is_some() {
        text += &format!("{}  removes {:.1} %\n", line("network", figures.network), 100.0 * figures.removed());
    }
    text
}

/// The same character in one place: skinned by its joints alone, by its rods and, if there is a network, by that.
struct Stage<'a> {
    character: &'a Character,
    world: World,
    rigid: RigidWorld,
    physics: Physics,
    entities: Vec<Entity>,
    handles: Vec<FleshHandle>,
}

impl<'a> Stage<'a> {
    fn new(
        character: &'a Character,
        network: Option<Arc<CorrectiveNetwork>>,
        frames: &FrameArgs,
    ) -> Result<Self, Error> {
        let mut stage = Self {
            character,
            world: World::new(),
            rigid: RigidWorld::default(),
            physics: physics(frames, StepConfig::default())?,
            entities: Vec::new(),
            handles: Vec::new(),
        };
        let Self { world, rigid, physics, entities, handles, .. } = &mut stage;
        rigid.spawn_ground(0.0, 0.8)?;
        let by_network = network.as_ref().map(|_| SkinMotion::Network);
        for motion in [SkinMotion::None, SkinMotion::Rods].into_iter().chain(by_network) {
            let entity = if motion == SkinMotion::Rods {
                character.spawn(world, rigid, physics, Pose::IDENTITY)?
            } else {
                character.spawn_without_bodies(world, physics, Pose::IDENTITY)?
            };
            excite(world, entity, &frames.activations)?;
            let handle = world.get::<&CharacterInstance>(entity)?.flesh;
            physics.set_skin_motion(handle, motion, 0.0)?;
            if let (SkinMotion::Network, Some(network)) = (motion, &network) {
                sinew::world::set_network(world, physics, entity, network.clone())?;
            }
            entities.push(entity);
            handles.push(handle);
        }
        Ok(stage)
    }

    /// Has all rest in the animation's first pose for a time (s).
    fn begin(&mut self, animation: Option<&Animation>, seconds: f64, dt: f64) -> Result<(), Error> {
        self.pose(animation, 0.0)?;
        for &entity in &self.entities {
            sinew::world::teleport(&mut self.world, &mut self.physics, &mut self.rigid, entity, Pose::IDENTITY)?;
        }
        for _ in 0..(seconds / dt).ceil() as u32 {
            self.physics.step(&mut self.world, &mut self.rigid, dt)?;
        }
        Ok(())
    }

    fn pose(&self, animation: Option<&Animation>, time: f64) -> Result<(), Error> {
        let Some(animation) = animation else { return Ok(()) };
        self.entities.iter().try_for_each(|&entity| animate(&self.world, entity, self.character, animation, time))
    }

    fn step(&mut self, animation: Option<&Animation>, time: f64, dt: f64) -> Result<(), Error> {
        self.pose(animation, time)?;
        self.physics.step(&mut self.world, &mut self.rigid, dt)?;
        Ok(self.physics.finish()?)
    }

    /// Where vertices are by joints alone, simulated, and by the network; without one as by joints.
    fn places(&self) -> Result<[&[Vec3]; 3], Error> {
        let of = |index: usize| Ok::<_, Error>(&self.physics.vertices(self.handles[index])?.positions[..]);
        Ok([of(0)?, of(1)?, of(if self.handles.len() > 2 { 2 } else { 0 })?])
    }

    fn shoot(&self) -> Result<Vec<Skin>, Error> {
        let skin = |&handle: &FleshHandle| {
            let vertices = self.physics.vertices(handle)?;
            Ok(Skin { positions: vertices.positions.clone(), normals: vertices.normals.clone() })
        };
        self.handles.iter().map(skin).collect()
    }
}

/// How frames are drawn.
struct Film<'a> {
    character: &'a Character,
    colours: Vec<[f32; 4]>,
    camera: Camera,
    figures: SkinFigures,
    /// What is drawn darkest (m).
    most: f32,
}

impl Film<'_> {
    fn draw(&self, skins: &[Skin]) -> Result<Image, PictureError> {
        let triangles = &self.character.body().triangles;
        let simulated = &skins[1];
        let panel = |(index, skin): (usize, &Skin)| {
            let lacks = skin.positions.iter().zip(&simulated.positions).map(|(a, b)| a.distance(*b));
            let heated = (index != 1).then(|| heat(triangles, &lacks.collect::<Vec<f32>>(), self.most));
            let mut scene = Scene::new(self.camera);
            scene.meshes.push(MeshView {
                positions: &skin.positions,
                normals: &skin.normals,
                triangles,
                triangle_colours: heated.as_ref().unwrap_or(&self.colours),
            });
            Ok((self.title(index), scene.render(WIDTH, HEIGHT)?))
        };
        let panels = skins.iter().enumerate().map(panel).collect::<Result<Vec<_>, PictureError>>()?;
        Ok(side_by_side(&panels, self.most))
    }

    fn title(&self, index: usize) -> String {
        let SkinFigures { skinning, network, .. } = &self.figures;
        match index {
            0 => format!("skinning alone: {:.2} mm RMS off", skinning[0] * 1.0e3),
            1 => "simulated".into(),
            _ => format!("network: {:.2} mm, {:.0} % less", network[0] * 1.0e3, 100.0 * self.figures.removed()),
        }
    }
}
