//! Scenes for both backends, and how their states are compared.

mod carried;
mod jerked;
mod scenes;
mod solids;

use std::sync::Arc;

use glam::{Affine3A, Mat3, Quat, Vec3};
#[allow(unused_imports, reason = "each test binary uses a part")]
pub use jerked::jerked;
#[allow(unused_imports, reason = "each test binary uses a part")]
pub use scenes::*;
use sinew::flesh::{Flesh, RodSpec};
use sinew::layout::{LANES, chain, contact, node, reaction, rest};
use sinew::step::{Stage, StepConfig};
use sinew::{FleshHandle, HalfSpace, Physics, Pose, Skin, Solid};

/// A frame (s).
pub const DT: f64 = 1.0 / 60.0;

/// A scene: what to insert, how to step, how bones move.
pub struct Scene {
    pub name: &'static str,
    pub config: StepConfig,
    pub planes: Vec<HalfSpace>,
    /// Solids, given which step is to come.
    pub solids: fn(usize) -> Vec<Solid>,
    /// Whether its flesh touches pills of its own bones.
    pub touches_bones: bool,
    pub flesh: Vec<(Arc<Flesh>, Arc<Skin>, Pose)>,
    pub bones: fn(usize) -> Vec<Pose>,
    pub activation: f32,
    /// How fast all chains turn about the world's origin at first (rad/s).
    pub spin: Vec3,
    /// What the game does to each instance before each step.
    pub play: fn(&mut Physics, FleshHandle, usize),
    /// Steps on the CPU before the comparison.
    pub before: usize,
    /// How long (s) the frame after them is, which is compared.
    pub frame: f64,
}

impl Scene {
    fn new(name: &'static str, rods: &[RodSpec], bones: fn(usize) -> Vec<Pose>) -> Self {
        let flesh = Arc::new(Flesh::build(rods, &bones(0)).unwrap());
        let flesh = vec![(flesh, Arc::new(Skin::default()), Pose::IDENTITY)];
        Self {
            name,
            config: StepConfig::default(),
            planes: Vec::new(),
            solids: |_| Vec::new(),
            touches_bones: false,
            flesh,
            bones,
            activation: 0.0,
            spin: Vec3::ZERO,
            play: |_, _, _| (),
            before: 12,
            frame: DT,
        }
    }

    pub fn fill(&self, physics: &mut Physics) -> Vec<FleshHandle> {
        physics.config = self.config;
        physics.planes = self.planes.clone();
        let insert = |(flesh, skin, root): &(Arc<Flesh>, Arc<Skin>, Pose)| {
            let bones = &(self.bones)(0)[..flesh.bones().len()];
            let handle = physics.insert_with_skin(flesh.clone(), skin.clone(), bones, *root).unwrap();
            // Turned, moved and sheared, and one of two mirrored.
            let matrix = |index: usize| {
                let mirrored = if index % 2 == 1 { -1.0 } else { 1.0 };
                let turn = Quat::from_rotation_z(0.3 + 0.2 * index as f32);
                let shear = Affine3A::from_mat3(Mat3::from_cols(Vec3::X, Vec3::new(0.2, 1.1, 0.0), Vec3::Z * mirrored));
                let moved = Vec3::new(0.1, 0.05 * index as f32, 0.2);
                sinew::palette_matrix(&(Affine3A::from_rotation_translation(turn, moved) * shear))
            };
            physics.set_palette(handle, (0..skin.palette_len).map(matrix)).unwrap();
            for (chain, info) in flesh.chains().iter().enumerate() {
                physics.set_activation(handle, chain, self.activation).unwrap();
                for node in (0..info.node_count()).filter(|_| self.spin != Vec3::ZERO) {
                    let mut turning = physics.node(handle, chain, node).unwrap();
                    turning.velocity = self.spin.cross(turning.place.as_vec3());
                    turning.spin = self.spin;
                    physics.state_mut(handle).unwrap().set_node(flesh, chain, node, &turning);
                }
            }
            handle
        };
        self.flesh.iter().map(insert).collect()
    }

    /// Whether it has anything that tangent planes are found of.
    pub fn touches_solids(&self) -> bool {
        self.touches_bones || !(self.solids)(0).is_empty()
    }

    pub fn pose(&self, physics: &mut Physics, handles: &[FleshHandle], step: usize) {
        physics.solids = (self.solids)(step);
        for (handle, (flesh, _, root)) in handles.iter().zip(&self.flesh) {
            physics.set_bones(*handle, &(self.bones)(step)[..flesh.bones().len()], *root).unwrap();
            (self.play)(physics, *handle, step);
        }
    }
}

/// A kind of row that a group has: its name, its entries, and what of an entry 1e-5 is relative to.
struct Kind {
    name: &'static str,
    entries: usize,
    scale: fn(usize, Scales) -> f32,
}

const KINDS: [Kind; 4] = [
    Kind { name: "node", entries: node::ENTRIES, scale: node_scale },
    Kind { name: "chain", entries: chain::ENTRIES, scale: chain_scale },
    Kind { name: "contact", entries: contact::ENTRIES, scale: contact_scale },
    Kind { name: "reaction", entries: reaction::ENTRIES, scale: reaction_scale },
];
/// Where of [`KINDS`] each is.
const NODE: usize = 0;
const CONTACT: usize = 2;
const REACTION: usize = 3;

/// Rows of each of [`KINDS`], and all else.
pub const OF_KINDS: usize = KINDS.len() + 1;

/// A group's rows of each of [`KINDS`].
type GroupRows = [Vec<[f32; 8]>; KINDS.len()];

/// Rows of an instance, and its skin.
#[derive(Clone)]
struct Rows {
    groups: Vec<GroupRows>,
    vertices: Vec<f32>,
    normals: Vec<f32>,
    tangents: Vec<f32>,
    /// Twelve entries of place and twelve of normal a section.
    sections: Vec<f32>,
    /// How often chains were laid anew, as the instance reports it.
    resets: u32,
}

fn rows(physics: &Physics, handle: FleshHandle) -> Rows {
    let state = physics.state(handle).unwrap();
    // Those of solids a GPU does not send back.
    let contacts = state.contacts_of_half_spaces();
    let groups = state.rows().zip(contacts.zip(state.reactions()));
    let groups = groups.map(|((nodes, chains), (contacts, reactions))| {
        [nodes.to_vec(), chains.to_vec(), contacts, reactions.to_vec()]
    });
    let vertices = physics.vertices(handle).unwrap();
    Rows {
        groups: groups.collect(),
        vertices: vertices.positions.iter().flat_map(|v| v.to_array()).collect(),
        normals: vertices.normals.iter().flat_map(|v| v.to_array()).collect(),
        tangents: vertices.tangents.iter().flat_map(|v| v.to_array()).collect(),
        sections: bytemuck::cast_slice(physics.section_matrices(handle).unwrap()).to_vec(),
        resets: physics.health_report(handle).unwrap().resets,
    }
}

/// Scale of an entry: what 1e-5 is relative to.
#[derive(Clone, Copy)]
struct Scales {
    size: f32,
    h: f32,
    contact: f32,
    energy: f32,
    /// Ten times the largest force of a contact (N), or what it is rounded by over 10⁻⁵.
    dual: f32,
    /// Ten times the largest force (N) and the largest couple (N·m) on a bone: they may differ by 10⁻⁴.
    reactions: [f32; 2],
}

fn node_scale(entry: usize, scales: Scales) -> f32 {
    use node::*;
    let in_range = |at: usize, count: usize| (at..at + count).contains(&entry);
    let places = [PLACE, PREV_PLACE, MOVED, PREDICTED_MOVE, OLDER_MOVE, TARGET_PLACE, BED];
    if places.iter().any(|at| in_range(*at, 3)) {
        scales.size
    } else if in_range(VELOCITY, 3) || in_range(OLDER_VELOCITY, 3) {
        scales.size / scales.h
    } else if in_range(SPIN, 3) || in_range(OLDER_SPIN, 3) || [SCALE_RATE, OLDER_SCALE_RATE].contains(&entry) {
        1.0 / scales.h
    } else {
        1.0
    }
}

/// Friction is as stiff as a contact at most; a force may be off by 10⁻⁴ of the largest.
fn contact_scale(entry: usize, scales: Scales) -> f32 {
    match entry {
        contact::SCALE_TERM | contact::ARM | contact::GAP => scales.size,
        contact::ANCHOR..contact::DUAL => scales.size,
        contact::STIFFNESS | contact::FRICTION => scales.contact,
        contact::CAME | contact::COMES => scales.size / scales.h,
        contact::LIMIT | contact::DUAL.. => scales.dual,
        _ => 1.0,
    }
}

fn reaction_scale(entry: usize, scales: Scales) -> f32 {
    scales.reactions[usize::from(entry >= reaction::COUPLE)]
}

fn chain_scale(entry: usize, scales: Scales) -> f32 {
    match entry {
        chain::START_POTENTIAL | chain::POTENTIAL => scales.energy,
        // 10⁻⁶ m: less than the lattice's step.
        chain::ORIGIN.. => 0.1,
        _ if entry < chain::HISTORY && entry % 7 < 3 => scales.size,
        _ => 1.0,
    }
}

/// What 1e-5 is relative to where places and frames that each may differ by δ = 1e-5 store energy Ψ = ½kx²: 1e-5 of it is
/// 2δ√(RΨ) + Rδ², with R what the first rest row has for errors of one.
fn energy_scale(cpu: &[Rows], scene: &Scene) -> f32 {
    let mut most = 1.0_f32;
    for (rows, (flesh, ..)) in cpu.iter().zip(&scene.flesh) {
        for ([_, chains, ..], rests) in rows.groups.iter().zip(flesh.groups()) {
            let of_errors = rests.rows[rest::STRAIN_ROUNDING].iter().zip(&rests.rows[rest::TURN_ROUNDING]);
            let of_errors = of_errors.map(|(strain, turn)| strain + turn);
            for entry in [chain::START_POTENTIAL, chain::POTENTIAL] {
                for (stored, of_errors) in chains[entry].iter().zip(of_errors.clone()) {
                    most = most.max(2.0 * (of_errors * stored.abs()).sqrt() + 1.0e-5 * of_errors);
                }
            }
        }
    }
    most
}

/// The largest difference of two states in units of what each entry may differ by (1e-5 of its scale), and where.
fn difference(cpu: &[Rows], gpu: &[Rows], scales: Scales) -> (f32, String) {
    let of_kinds = differences(cpu, gpu, scales);
    of_kinds.into_iter().reduce(|worst, of| if of.0 > worst.0 { of } else { worst }).expect("there are kinds")
}

/// As [`difference`], of rows of each of [`KINDS`], and of all else.
fn differences(cpu: &[Rows], gpu: &[Rows], scales: Scales) -> [(f32, String); OF_KINDS] {
    let mut worst = std::array::from_fn(|_| (0.0, "nowhere".to_owned()));
    let mut check_of = |kind: usize, a: f32, b: f32, scale: f32, at: &dyn Fn() -> String| {
        let (off, worst): (_, &mut (f32, String)) = ((a - b).abs() / (1.0e-5 * scale), &mut worst[kind]);
        if off.is_nan() || off > worst.0 {
            let off = if off.is_nan() { f32::INFINITY } else { off };
            *worst = (off, format!("{}: {a} on the CPU, {b} on the GPU", at()));
        }
    };
    assert_eq!(cpu.len(), gpu.len());
    for (instance, (cpu, gpu)) in cpu.iter().zip(gpu).enumerate() {
        let skin = |rows: &Rows| (rows.vertices.len(), rows.normals.len(), rows.tangents.len());
        let counts = |rows: &Rows| (rows.groups.len(), skin(rows), rows.sections.len());
        assert_eq!(counts(cpu), counts(gpu));
        for (group, (a, b)) in cpu.groups.iter().zip(&gpu.groups).enumerate() {
            for (kind, (Kind { name, entries, scale }, (a, b))) in KINDS.iter().zip(a.iter().zip(b)).enumerate() {
                assert_eq!(a.len(), b.len());
                for (row, (a, b)) in a.iter().zip(b).enumerate() {
                    let (index, entry) = (row / entries, row % entries);
                    for lane in 0..LANES as usize {
                        let at =
                            || format!("instance {instance} group {group} {name} {index} entry {entry} lane {lane}");
                        check_of(kind, a[lane], b[lane], scale(entry, scales), &at);
                    }
                }
            }
        }
        let mut check = |a, b, scale, at: &dyn Fn() -> String| check_of(KINDS.len(), a, b, scale, at);
        check(cpu.resets as f32, gpu.resets as f32, 1.0, &|| format!("instance {instance} resets"));
        for (index, (a, b)) in cpu.vertices.iter().zip(&gpu.vertices).enumerate() {
            check(*a, *b, scales.size, &|| format!("instance {instance} vertex {}", index / 3));
        }
        for (index, (a, b)) in cpu.normals.iter().zip(&gpu.normals).enumerate() {
            check(*a, *b, 1.0, &|| format!("instance {instance} normal {}", index / 3));
        }
        for (index, (a, b)) in cpu.tangents.iter().zip(&gpu.tangents).enumerate() {
            check(*a, *b, 1.0, &|| format!("instance {instance} tangent {}", index / 4));
        }
        for (index, (a, b)) in cpu.sections.iter().zip(&gpu.sections).enumerate() {
            check(*a, *b, scales.size, &|| format!("instance {instance} section {} entry {}", index / 24, index % 24));
        }
    }
    worst
}

/// Targets of lanes that hold nothing, beds of lanes without fascia and stretches of lanes whose fibres have no say are
/// nobody's, nor are lanes without a chain: the CPU steps a group's, which other instances may share, the GPU a chain's.
fn without_idle_entries(rows: &mut Rows, flesh: &Flesh, scene: &Scene) {
    let activation = scene.activation;
    for (group, rests) in rows.groups.iter_mut().zip(flesh.groups()) {
        for lane in rests.chain_count..LANES as usize {
            group.iter_mut().flatten().for_each(|entry| entry[lane] = 0.0);
        }
    }
    for ([nodes, chains, ..], rests) in rows.groups.iter_mut().zip(flesh.groups()) {
        // Where any of a group meets another, or is near to a solid, the CPU finds anew what all of it store.
        if scene.config.passes > 0 || scene.touches_solids() {
            chains[chain::POTENTIAL] = [0.0; LANES as usize];
        }
        let rest_rows = rests.rows.chunks(rest::ENTRIES);
        for lane in 0..LANES as usize {
            for (row, rest_row) in nodes.chunks_mut(node::ENTRIES).zip(rest_rows.clone()) {
                if rests.rows[rest::TIED][lane] == 0.0 || rest_row[rest::RADIUS][lane] == 0.0 {
                    row[node::BED..node::BED_PATH + 3].iter_mut().for_each(|entry| entry[lane] = 0.0);
                }
            }
            let acts = [rest::FIBRE_STIFFNESS, rest::PASSIVE, rest::SERIES];
            let stiff = rest_rows.clone().any(|row| acts.iter().any(|&entry| row[entry][lane] > 0.0));
            if !stiff && (activation == 0.0 || rests.rows[rest::RADIUS][lane] == 0.0) {
                nodes.iter_mut().skip(node::PREV_FIBRE_STRETCH).step_by(node::ENTRIES).for_each(|row| row[lane] = 0.0);
                chains[chain::MEAN_STRETCH][lane] = 0.0;
            }
        }
    }
    for (group, targeted) in rows.groups.iter_mut().zip(flesh.targeted_lanes()) {
        for (row, lanes) in group[NODE].iter_mut().enumerate() {
            let (index, entry) = (row / node::ENTRIES, row % node::ENTRIES);
            if (node::TARGET_PLACE..node::TARGET_FRAME + 4).contains(&entry) {
                for lane in 0..LANES as usize {
                    if !targeted[index][lane] {
                        lanes[lane] = 0.0;
                    }
                }
            }
        }
    }
}

/// A scene on both backends, on the CPU after the steps before the comparison; `None` without an adapter.
pub fn both(scene: &Scene) -> Option<(Physics, Physics, Vec<FleshHandle>)> {
    let mut gpu = super::gpu_physics()?;
    let mut cpu = Physics::with_config(scene.config);
    let handles = scene.fill(&mut cpu);
    assert_eq!(scene.fill(&mut gpu), handles);
    for step in 1..=scene.before {
        scene.pose(&mut cpu, &handles, step);
        cpu.step_flesh(DT).unwrap();
    }
    Some((cpu, gpu, handles))
}

/// What two backends have after a stage, and in which units it may differ.
fn measured(
    scene: &Scene,
    last: Stage,
    cpu: &Physics,
    gpu: &Physics,
    handles: &[FleshHandle],
) -> (Vec<Rows>, Vec<Rows>, Scales) {
    let all = |physics: &Physics| -> Vec<Rows> {
        let of = |(handle, (flesh, ..)): (&FleshHandle, &(Arc<Flesh>, Arc<Skin>, Pose))| {
            let mut rows = rows(physics, *handle);
            if last != Stage::DeformSkin {
                (rows.vertices, rows.normals, rows.tangents) = Default::default();
            }
            if !matches!(last, Stage::PoseSections | Stage::DeformSkin) {
                rows.sections.clear();
                rows.resets *= u32::from(last == Stage::ReportHealth);
            }
            without_idle_entries(&mut rows, flesh, scene);
            rows
        };
        handles.iter().zip(&scene.flesh).map(of).collect()
    };
    let on_cpu = cpu;
    let (cpu, gpu) = (all(cpu), all(gpu));
    let contact = cpu
        .iter()
        .flat_map(|rows| &rows.groups)
        .flat_map(|group| group[CONTACT].iter().skip(contact::STIFFNESS).step_by(contact::ENTRIES))
        .flatten()
        .fold(1.0_f32, |most, value| most.max(*value));
    // What a GPU does not send back.
    let on_solids = || {
        handles.iter().filter_map(|handle| on_cpu.state(*handle).ok()).any(|state| {
            let rows = state.contacts().flat_map(|rows| rows.iter().skip(contact::STIFFNESS).step_by(contact::ENTRIES));
            rows.flatten().any(|stiffness| *stiffness > 0.0)
        })
    };
    assert!(!scene.touches_solids() || on_solids(), "{}: no solid is touched", scene.name);
    let is_found = scene.before > 0 || !matches!(last, Stage::MoveBones | Stage::Predict);
    assert!(scene.planes.is_empty() || !is_found || contact > 1.0, "{}: nothing touches", scene.name);
    // The most that friction holds with is μk·depth, and a depth may differ as places may.
    let h = (scene.frame / f64::from(scene.config.substeps)) as f32;
    let mut reactions = [1.0e-3_f32; 2];
    for (row, values) in cpu.iter().flat_map(|rows| &rows.groups).flat_map(|group| group[REACTION].iter().enumerate()) {
        let most = &mut reactions[usize::from(row % reaction::ENTRIES >= reaction::COUPLE)];
        *most = values.iter().fold(*most, |most, value| most.max(10.0 * value.abs()));
    }
    let of_contacts = |group: &'_ GroupRows| {
        group[CONTACT].chunks(contact::ENTRIES).flat_map(|row| row[contact::DUAL]).collect::<Vec<_>>()
    };
    let duals = cpu.iter().flat_map(|rows| &rows.groups).flat_map(of_contacts);
    let dual = duals.fold(1.0e-3_f32, |most, value| most.max(10.0 * value));
    // With what friction pulls is its stiffness times how far the surface has gone, which is rounded.
    let pulls = cpu.iter().flat_map(|rows| &rows.groups).flat_map(|group| {
        group[CONTACT].chunks(contact::ENTRIES).flat_map(|row| {
            let moved = row[contact::SEGMENT][0] as usize * node::ENTRIES + node::MOVED;
            let moved = &group[NODE][moved..moved + 3];
            let far = |lane: usize| moved.iter().fold(0.0_f32, |most, entry| most.max(entry[lane].abs()));
            (0..LANES as usize).map(move |lane| row[contact::FRICTION][lane] * far(lane))
        })
    });
    let rounded = pulls.filter(|pull| pull.is_finite()).fold(0.0, f32::max) * f32::EPSILON;
    let dual = dual.max(rounded / 1.0e-5);
    let scales = Scales { size: 1.0, h, contact, energy: energy_scale(&cpu, scene), dual, reactions };
    (cpu, gpu, scales)
}

/// The largest difference of two backends, or of two runs of one, after a stage in units of what entries may differ by.
pub fn apart(scene: &Scene, last: Stage, cpu: &Physics, gpu: &Physics, handles: &[FleshHandle]) -> f32 {
    let (cpu, gpu, scales) = measured(scene, last, cpu, gpu, handles);
    difference(&cpu, &gpu, scales).0
}

/// As [`apart`], of rows of each kind and of all else.
pub fn apart_by_kind(
    scene: &Scene,
    last: Stage,
    cpu: &Physics,
    gpu: &Physics,
    handles: &[FleshHandle],
) -> [f32; OF_KINDS] {
    let (cpu, gpu, scales) = measured(scene, last, cpu, gpu, handles);
    differences(&cpu, &gpu, scales).map(|(off, _)| off)
}

/// The largest difference of two backends after a stage in units of what entries may differ by, and where. That the comparison
/// sees each entry of a row off by three times that is checked each time.
pub fn compare(scene: &Scene, last: Stage, cpu: &Physics, gpu: &Physics, handles: &[FleshHandle]) -> (f32, String) {
    let (cpu, mut gpu, scales) = measured(scene, last, cpu, gpu, handles);
    let found = difference(&cpu, &gpu, scales);

    for (kind, Kind { name, entries, scale }) in KINDS.iter().enumerate() {
        for entry in 0..gpu[0].groups[0][kind].len().min(*entries) {
            let (was, by) = (gpu[0].groups[0][kind][entry][0], 3.0e-5 * scale(entry, scales));
            gpu[0].groups[0][kind][entry][0] = cpu[0].groups[0][kind][entry][0] + by;
            let seen = difference(&cpu, &gpu, scales).0 > 1.0;
            assert!(seen, "{}: a perturbed {name} entry {entry} is not seen", scene.name);
            gpu[0].groups[0][kind][entry][0] = was;
        }
    }
    for entry in 0..gpu[0].sections.len().min(24) {
        let was = gpu[0].sections[entry];
        gpu[0].sections[entry] = cpu[0].sections[entry] + 3.0e-5 * scales.size;
        assert!(
            difference(&cpu, &gpu, scales).0 > 1.0,
            "{}: a perturbed section entry {entry} is not seen",
            scene.name
        );
        gpu[0].sections[entry] = was;
    }
    if let (Some(vertex), Some(rest)) = (gpu[0].vertices.first_mut(), cpu[0].vertices.first()) {
        *vertex = rest + 3.0e-5 * scales.size;
        assert!(difference(&cpu, &gpu, scales).0 > 1.0, "{}: a perturbed vertex is not seen", scene.name);
    }
    found
}
