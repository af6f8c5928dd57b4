//! Pictures of what was stepped: frames are kept while stepping and drawn at the end.

use std::sync::Arc;

use glam::Vec3;
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use sinew::character::{Animation, Body};
use sinew::picture::{Camera, Ground, Image, MeshView, OverlayPill, OverlayRod, Scene, write_gif};
use sinew::{Character, FleshHandle, HalfSpace, Physics, Pose, Solid};

use crate::frames::Film;
use crate::sheets::Sheet;
use crate::{Error, PictureArgs};

const WIDTH: u32 = 480;
const HEIGHT: u32 = 400;
/// Frames of a moving picture are at least this far apart (s).
const GIF_DELAY: f64 = 1.0 / 30.0;
/// From the character to where it is seen from.
pub const VIEW: Vec3 = Vec3::new(0.55, 0.3, 1.0);
const ROD_COLOUR: [f32; 4] = [0.75, 0.09, 0.06, 0.55];
const PILL_COLOUR: [f32; 4] = [0.15, 0.55, 1.0, 0.16];

/// What a frame shows of the rods: places and radii of each one's nodes, or of each of its fibres (m).
type Rods = Vec<(Vec<Vec3>, Vec<f32>)>;

fn rods(physics: &Physics) -> Result<Rods, Error> {
    let mut rods = Rods::new();
    let mut all = Vec::new();
    for handle in physics.instances() {
        let chains = physics.flesh(handle)?.chains();
        all.extend(chains.iter().enumerate().map(|(rod, chain)| (handle, rod, chain)));
    }
    for (handle, rod, chain) in all {
        let nodes = (0..chain.node_count()).map(|node| physics.node(handle, rod, node));
        let nodes = nodes.collect::<Result<Vec<_>, _>>()?;
        if chain.fibres.is_empty() {
            rods.push(nodes.iter().map(|node| (node.place.as_vec3(), node.radius)).unzip());
        }
        for fibre in &chain.fibres {
            let disc = |(node, disc): (&sinew::flesh::NodeState, &sinew::flesh::Fibre)| {
                let offset = node.frame * (disc.offset.as_vec3() * node.scale);
                (node.place.as_vec3() + offset, disc.radius as f32 * node.scale)
            };
            rods.push(nodes.iter().zip(fibre).map(disc).unzip());
        }
    }
    Ok(rods)
}

fn overlays(rods: &Rods) -> Vec<OverlayRod<'_>> {
    rods.iter().map(|(points, radii)| OverlayRod { points, radii, colour: ROD_COLOUR }).collect()
}

/// How many steps there are to a picture, and how long a picture is shown (ms).
pub struct Pace {
    every: usize,
    delay_ms: u32,
}

impl Pace {
    pub fn new(dt: f64) -> Self {
        let every = (GIF_DELAY / dt).round().max(1.0);
        Self { every: every as usize, delay_ms: (every * dt * 1000.0).round().clamp(20.0, 1000.0) as u32 }
    }
}

/// Draws frames and writes what is asked for.
pub fn save<F: Sync>(
    pictures: &PictureArgs,
    pace: &Pace,
    frames: &[F],
    draw: impl Fn(&F) -> Result<Image, sinew::picture::PictureError> + Sync,
) -> Result<(), Error> {
    if let (Some(path), Some(last)) = (&pictures.png, frames.last()) {
        draw(last)?.write_png(path)?;
    }
    if let Some(path) = &pictures.gif {
        // The last is among them.
        let mut shown: Vec<&F> = frames.iter().rev().step_by(pace.every).collect();
        shown.reverse();
        let bar = ProgressBar::new(shown.len() as u64)
            .with_style(ProgressStyle::with_template("drawing {bar:30} {pos}/{len}")?);
        let images = shown
            .par_iter()
            .map(|frame| {
                let image = draw(frame);
                bar.inc(1);
                image
            })
            .collect::<Result<Vec<_>, _>>()?;
        bar.finish_and_clear();
        write_gif(path, &images, pace.delay_ms)?;
    }
    Ok(())
}

/// A camera that sees all of a character's animation.
pub fn camera(character: &Character, animation: Option<&Animation>, aspect: f32) -> Camera {
    const GLIMPSES: u32 = 12;
    let (asset, body) = (character.asset(), character.body());
    let mut pose = asset.skeleton.rest_pose();
    let mut seen = Vec::new();
    for glimpse in 0..GLIMPSES {
        if let Some(animation) = animation {
            animation.sample(animation.duration * glimpse as f32 / GLIMPSES as f32, &mut pose);
        }
        seen.extend(body.rigid_vertices(asset, &pose));
    }
    Camera::framing_points(&seen, VIEW, aspect)
}

/// The colours of a character's triangles.
pub fn colours(character: &Character) -> Vec<[f32; 4]> {
    character.asset().mesh.triangle_colors.iter().map(shown_colour).collect()
}

/// Frames of a character.
pub struct CharacterFilm {
    camera: Camera,
    pace: Pace,
    character: Character,
    frames: Vec<CharacterFrame>,
}

struct CharacterFrame {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    rods: Rods,
    pills: Vec<OverlayPill>,
}

impl CharacterFilm {
    pub fn new(character: &Character, animation: Option<&Animation>, dt: f64) -> Self {
        let camera = camera(character, animation, WIDTH as f32 / HEIGHT as f32);
        Self { camera, pace: Pace::new(dt), character: character.clone(), frames: Vec::new() }
    }
}

impl Film for CharacterFilm {
    fn shoot(&mut self, physics: &Physics, handle: FleshHandle) -> Result<(), Error> {
        let vertices = physics.vertices(handle)?;
        self.frames.push(CharacterFrame {
            positions: vertices.positions.clone(),
            normals: vertices.normals.clone(),
            rods: rods(physics)?,
            pills: pills(self.character.body(), physics.bones(handle)?),
        });
        Ok(())
    }

    fn save(self, pictures: &PictureArgs) -> Result<(), Error> {
        let triangles = Arc::clone(&self.character.body().triangles);
        let colours = colours(&self.character);
        save(pictures, &self.pace, &self.frames, |frame| {
            let mut scene = Scene::new(self.camera);
            scene.meshes.push(MeshView {
                positions: &frame.positions,
                normals: &frame.normals,
                triangles: &triangles,
                triangle_colours: &colours,
            });
            scene.rods = overlays(&frame.rods);
            scene.pills.clone_from(&frame.pills);
            scene.render(WIDTH, HEIGHT)
        })
    }
}

/// Pure white says that the colour is in a texture, which is not read: clay instead.
fn shown_colour(colour: &[f32; 4]) -> [f32; 4] {
    let white = colour[..3].iter().all(|&channel| channel > 0.99);
    if white { [0.62, 0.52, 0.44, 1.0] } else { *colour }
}

fn pills(body: &Body, bones: &[Pose]) -> Vec<OverlayPill> {
    body.pills
        .iter()
        .map(|pill| OverlayPill {
            ends: pill.ends.map(|end| bones[pill.bone].transform_point(end.as_dvec3()).as_vec3()),
            radii: pill.radii,
            colour: PILL_COLOUR,
        })
        .collect()
}

/// Frames of a scene of rods, and of what is around them.
pub struct RodFilm {
    ground: Option<Ground>,
    slopes: Vec<HalfSpace>,
    pace: Pace,
    frames: Vec<RodFrame>,
}

struct RodFrame {
    rods: Rods,
    solids: Vec<Solid>,
}

impl RodFilm {
    /// A film of a scene.
    pub fn new(scene: &sinew::scenes::Scene, dt: f64) -> Self {
        let lowest = |low: f32, chain: &sinew::flesh::Chain| {
            let length: f64 = chain.rest.windows(2).map(|p| p[0].translation.distance(p[1].translation)).sum();
            low.min((chain.rest[0].translation.y - length) as f32)
        };
        let is_flat = |plane: &HalfSpace| plane.normal.y > 1.0 - 1.0e-6;
        let (flat, slopes): (Vec<HalfSpace>, Vec<_>) = scene.planes.iter().copied().partition(is_flat);
        let bare = slopes.is_empty() && scene.solids.is_empty() && scene.props.is_empty();
        let height = match flat.first() {
            Some(floor) => Some(floor.offset as f32),
            None => bare.then(|| scene.flesh.chains().iter().fold(0.0, lowest)),
        };
        let ground = height.map(|height| Ground { height, ..Ground::default() });
        Self { ground, slopes, pace: Pace::new(dt), frames: Vec::new() }
    }
}

impl Film for RodFilm {
    fn shoot(&mut self, physics: &Physics, _: FleshHandle) -> Result<(), Error> {
        self.frames.push(RodFrame { rods: rods(physics)?, solids: physics.solids.clone() });
        Ok(())
    }

    fn save(self, pictures: &PictureArgs) -> Result<(), Error> {
        let rods = self.frames.iter().flat_map(|frame| &frame.rods);
        let seen: Vec<Vec3> = rods.flat_map(|(points, _)| points.iter().copied()).collect();
        let slopes: Vec<Sheet> = self.slopes.iter().map(|slope| Sheet::of_plane(slope, &seen)).collect();
        let around = self.frames.last().map_or(&[][..], |frame| &frame.solids);
        let around: Vec<Sheet> = around.iter().map(|solid| Sheet::of_solid(solid, &seen)).collect();
        let framed: Vec<Vec3> = slopes.iter().chain(&around).flat_map(Sheet::corners).chain(&seen).copied().collect();
        let camera = Camera::framing_points(&framed, Vec3::new(0.35, 0.3, 1.0), WIDTH as f32 / HEIGHT as f32);
        save(pictures, &self.pace, &self.frames, |frame| {
            let mut scene = Scene::new(camera);
            scene.ground = self.ground;
            scene.rods = overlays(&frame.rods);
            let solids: Vec<Sheet> = frame.solids.iter().map(|solid| Sheet::of_solid(solid, &seen)).collect();
            scene.meshes = slopes.iter().chain(&solids).map(Sheet::view).collect();
            scene.render(WIDTH, HEIGHT)
        })
    }
}
