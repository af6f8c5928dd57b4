//! `sinew inspect`.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;
use sinew::Character;
use sinew::character::{
    AuthoredMuscle, ENDS_ATTRIBUTE, FleshOptions, ImportOptions, MeshEnds, MuscleShape, MuscleSpec,
};
use sinew::neural::{CorrectiveNetwork, MeshHash};

use crate::network::{NetworkLine, network_text};
use crate::{Error, print};

#[derive(clap::Args)]
pub struct InspectArgs {
    /// A .glb, .gltf or .vrm file, or a .safetensors file with a corrective network.
    file: PathBuf,
    /// A corrective network: says what it is, and whether it fits FILE.
    #[arg(long, value_name = "NET.safetensors")]
    network: Option<PathBuf>,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
    /// What one unit of the file is (m).
    #[arg(long, default_value_t = 1.0)]
    meters_per_unit: f32,
}

#[derive(Serialize)]
struct Inspection {
    file: String,
    height: f32,
    joints: usize,
    joint_names: Vec<String>,
    palette: usize,
    vertices: usize,
    triangles: usize,
    /// Which mesh it is, for networks
    topology: String,
    rest_shape: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<NetworkLine>,
    morph_targets: Vec<String>,
    animations: Vec<AnimationLine>,
    muscles: Vec<MuscleLine>,
    rods: Vec<RodLine>,
    pills: usize,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct AnimationLine {
    name: String,
    seconds: f32,
    tracks: usize,
}

#[derive(Serialize)]
struct MuscleLine {
    name: String,
    origin: String,
    insertion: String,
    shape: String,
    material: &'static str,
    /// m
    length: f64,
    /// m, of the disc with the area of the largest section
    radius: f64,
    /// m³
    volume: f64,
    /// N
    peak_force: f64,
    /// Origin and insertion
    ends: [EndLine; 2],
}

#[derive(Serialize)]
struct EndLine {
    joint: String,
    /// m, along the joint's axes at rest
    place: [f64; 3],
    /// m, in model space at rest
    model_place: [f64; 3],
    /// m, to the lines from the joint to those beyond
    from_bone: f64,
}

#[derive(Serialize)]
struct RodLine {
    name: String,
    length: f64,
    radius: f64,
    bones: Vec<String>,
    fibres: usize,
    nodes: usize,
    /// m³
    volume: f64,
    /// kg
    mass: f64,
    /// N·m², about the weaker axis at the middle
    bending_stiffness: f64,
    /// Of the skin's volume around it
    fill: f64,
    vertices: usize,
}

pub fn inspect(args: &InspectArgs) -> Result<(), Error> {
    if args.file.extension().is_some_and(|extension| extension == "safetensors") {
        if args.network.is_some() {
            return Err("FILE is a network itself: give the character's file before --network".into());
        }
        let network = NetworkLine::of(&args.file, &CorrectiveNetwork::load(&args.file)?, None);
        return print(&if args.json {
            serde_json::to_string_pretty(&network)? + "\n"
        } else {
            network_text(&network)?
        });
    }
    let network = args.network.as_ref().map(CorrectiveNetwork::load).transpose()?;
    let import = ImportOptions { meters_per_unit: args.meters_per_unit, ..Default::default() };
    let character = Character::load_with(&args.file, &import, &FleshOptions::default())?;
    let mut inspection = describe(&args.file.display().to_string(), &character);
    inspection.network =
        args.network.as_ref().zip(network).map(|(path, network)| NetworkLine::of(path, &network, Some(&character)));
    if args.json { print(&(serde_json::to_string_pretty(&inspection)? + "\n")) } else { print(&text(&inspection)?) }
}

fn describe(file: &str, character: &Character) -> Inspection {
    let (asset, body) = (character.asset(), character.body());
    let name = |joint: u32| asset.skeleton.joints[joint as usize].name.clone();
    let rods = body
        .muscles
        .iter()
        .zip(body.flesh.chains())
        .enumerate()
        .map(|(index, (muscle, chain))| {
            let material = body.material(character.flesh_options(), index);
            RodLine {
                name: chain.name.clone(),
                bones: muscle.joints.iter().map(|&joint| name(joint)).collect(),
                length: muscle.path.windows(2).map(|pair| pair[0].distance(pair[1])).sum(),
                radius: muscle.radius_at(0.5),
                fibres: chain.fibres.len().max(1),
                nodes: chain.node_count(),
                volume: chain.rest_volume,
                mass: material.density * chain.rest_volume,
                bending_stiffness: material.moduli().bending_modulus
                    * chain.sections[chain.node_count() / 2].weaker_moment(),
                fill: chain.rest_volume / muscle.skin_volume,
                vertices: body.skin.vertices_on(index),
            }
        })
        .collect();
    let authored = character.authored_muscles();
    let [topology, rest_shape] = MeshHash::of(&asset.mesh.positions, &asset.mesh.triangles).digits();
    let muscles = asset.muscles.iter().zip(&authored).map(|(spec, laid)| muscle_line(spec, laid, &name)).collect();
    Inspection {
        file: file.into(),
        height: body.height(),
        joints: asset.skeleton.joints.len(),
        joint_names: asset.skeleton.joints.iter().map(|joint| joint.name.clone()).collect(),
        palette: asset.palette.len(),
        vertices: asset.mesh.positions.len(),
        triangles: asset.mesh.triangles.len(),
        topology,
        rest_shape,
        network: None,
        morph_targets: asset.mesh.morphs.iter().map(|morph| morph.name.clone()).collect(),
        animations: asset
            .animations
            .iter()
            .map(|animation| AnimationLine {
                name: animation.name.clone(),
                seconds: animation.duration,
                tracks: animation.tracks.len(),
            })
            .collect(),
        muscles,
        rods,
        pills: body.pills.len(),
        warnings: character.warnings().iter().map(|warning| warning.0.clone()).collect(),
    }
}

fn muscle_line(spec: &MuscleSpec, laid: &AuthoredMuscle, name: &dyn Fn(u32) -> String) -> MuscleLine {
    MuscleLine {
        name: spec.name.clone(),
        origin: name(spec.origin.joint),
        insertion: name(spec.insertion.joint),
        shape: match &spec.shape {
            MuscleShape::Path(points) => format!("path of {} points", points.len()),
            MuscleShape::Mesh => spec.mesh.as_ref().map_or_else(String::new, |mesh| {
                let ends = match &mesh.ends {
                    MeshEnds::Nearest => format!("its ends nearest the joints (no attribute {ENDS_ATTRIBUTE})"),
                    MeshEnds::Attribute(attribute) => format!("its ends by {attribute}"),
                    MeshEnds::Vertices { .. } => "its ends by vertices".to_string(),
                };
                format!("mesh of {} vertices, {ends},", mesh.vertices.len())
            }),
            MuscleShape::Bundle(bundle) => {
                format!("bundle of {} fibres, {} sections", bundle.fibres.len(), bundle.section_count())
            }
        },
        material: spec.material.preset.name(),
        length: laid.length,
        radius: laid.radius,
        volume: laid.volume,
        peak_force: laid.peak_force,
        ends: laid.ends.map(|end| EndLine {
            joint: name(end.joint),
            place: end.place.to_array(),
            model_place: end.model_place.to_array(),
            from_bone: end.from_bone,
        }),
    }
}

/// Three lengths to the millimetre, none of them -0.
fn triple(lengths: &[f64; 3]) -> String {
    let [x, y, z] = lengths.map(|length| (length * 1.0e3).round() * 1.0e-3 + 0.0);
    format!("{x:.3}, {y:.3}, {z:.3}")
}

fn text(inspection: &Inspection) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    let Inspection {
        file,
        height,
        joints,
        joint_names: _,
        palette,
        vertices,
        triangles,
        topology,
        rest_shape,
        network,
        morph_targets,
        animations,
        muscles,
        rods,
        pills,
        warnings,
    } = inspection;
    writeln!(
        text,
        "{file}: {height:.2} m high, {joints} joints, {vertices} vertices, {triangles} triangles, palette of {palette}"
    )?;
    writeln!(text, "mesh: topology {topology}, rest shape {rest_shape}")?;
    if let Some(network) = network {
        text += &network_text(network)?;
    }
    if !morph_targets.is_empty() {
        writeln!(text, "morph targets: {}", morph_targets.join(", "))?;
    }
    writeln!(text, "animations: {}", animations.len())?;
    for AnimationLine { name, seconds, tracks } in animations {
        writeln!(text, "  {name}: {seconds:.2} s, {tracks} tracks")?;
    }
    writeln!(text, "muscles: {}", muscles.len())?;
    for muscle in muscles {
        let MuscleLine { name, origin, insertion, shape, material, length, radius, volume, peak_force, ends } = muscle;
        writeln!(
            text,
            "  {name}: {shape} from {origin} to {insertion}, {material}: {length:.3} m long, radius {radius:.3} m, \
             {:.1} ml, peak force {peak_force:.0} N",
            volume * 1.0e6
        )?;
        for (end, EndLine { joint, place, model_place, from_bone }) in ["origin", "insertion"].into_iter().zip(ends) {
            writeln!(
                text,
                "    {end}: {} m on {joint}; {} m in model space; {from_bone:.3} m from the bone",
                triple(place),
                triple(model_place)
            )?;
        }
    }
    writeln!(text, "flesh: {} rods, {pills} pills", rods.len())?;
    for rod in rods {
        writeln!(
            text,
            "  {} on {}: {} fibres x {} sections, {:.3} m long, radius {:.3} m, {:.1} ml, {:.3} kg, EI {:.3} N m2, \
             fills {:.0} % of its skin, pulls on {} vertices",
            rod.name,
            rod.bones.join(", "),
            rod.fibres,
            rod.nodes,
            rod.length,
            rod.radius,
            rod.volume * 1.0e6,
            rod.mass,
            rod.bending_stiffness,
            rod.fill * 100.0,
            rod.vertices
        )?;
    }
    for warning in warnings {
        writeln!(text, "warning: {warning}")?;
    }
    Ok(text)
}
