//! `sinew viperize`: bakes the fibres of a muscle's mesh into a sidecar that `run` and `inspect` read.

use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use sinew::character::viperize::{Ends, TriangleMesh, ViperizeOptions, Viperized, read_obj, read_stl, viperize};
use sinew::character::{
    CharacterAsset, ImportOptions, JointNames, MuscleEnd, MuscleSpec, Sidecar, muscle_surface, sidecar_path,
};

use crate::{Error, print};

#[derive(clap::Args)]
pub struct ViperizeArgs {
    /// A character (.glb, .gltf) with the muscle's mesh in it, or the mesh alone (.stl, .obj) in the character's model
    /// space.
    file: PathBuf,
    /// The muscle.
    #[arg(long, value_name = "NAME")]
    muscle: String,
    /// The sidecar to write or to change; beside the character unless said.
    #[arg(long, value_name = "SIDECAR")]
    out: Option<PathBuf>,
    /// The character, where FILE is a mesh alone.
    #[arg(long, value_name = "FILE")]
    character: Option<PathBuf>,
    /// The joint that holds the first section, where FILE is a mesh alone.
    #[arg(long, value_name = "JOINT")]
    origin: Option<String>,
    /// The joint that holds the last section, where FILE is a mesh alone.
    #[arg(long, value_name = "JOINT")]
    insertion: Option<String>,
    /// Fibres.
    #[arg(long)]
    fibres: Option<u32>,
    /// Cross-sections.
    #[arg(long)]
    sections: Option<u32>,
    /// Metres per unit of FILE; the sidecar is in the units of the character's file.
    #[arg(long, value_name = "M", default_value_t = 1.0)]
    meters_per_unit: f64,
}

pub fn viperize_muscle(args: &ViperizeArgs) -> Result<(), Error> {
    let alone = read_mesh(args)?;
    let character = match (&alone, &args.character) {
        (None, _) => &args.file,
        (Some(_), Some(character)) => character,
        (Some(_), None) => return Err("a mesh alone needs --character FILE, whose joints hold the muscle".into()),
    };
    // A mesh alone has the unit; it is then in those of the character's file.
    let meters_per_unit = if alone.is_some() { 1.0 } else { args.meters_per_unit as f32 };
    let asset = CharacterAsset::load(character, &ImportOptions { meters_per_unit, ..ImportOptions::default() })?;
    let joints = JointNames::new(&asset.skeleton);
    let (spec, (mesh, ends)) = match alone {
        Some(mesh) => {
            let end = |name: &Option<String>, key: &str| -> Result<MuscleEnd, Error> {
                let name = name.as_ref().ok_or_else(|| format!("a mesh alone needs --{key} JOINT"))?;
                Ok(MuscleEnd { joint: joints.find(name, &args.muscle, key)?, place: None })
            };
            let (origin, insertion) = (end(&args.origin, "origin")?, end(&args.insertion, "insertion")?);
            let spec = MuscleSpec { name: args.muscle.clone(), origin, insertion, ..MuscleSpec::default() };
            let places = asset.joint_places();
            let ends = Ends::Nearest([spec.origin, spec.insertion].map(|end| places[end.joint as usize]));
            (spec, (mesh, ends))
        }
        None => {
            let names = || asset.muscles.iter().map(|muscle| muscle.name.as_str()).collect::<Vec<_>>().join(", ");
            let found = asset.muscles.iter().find(|muscle| muscle.name == args.muscle);
            let spec = found.ok_or_else(|| format!("there is no muscle `{}`; there are: {}", args.muscle, names()))?;
            let surface = muscle_surface(spec, &asset)
                .ok_or_else(|| format!("muscle `{}` has no mesh; only meshes are viperized", args.muscle))?;
            (spec.clone(), surface)
        }
    };
    let options = ViperizeOptions {
        fibres: args.fibres.unwrap_or(spec.fibre_count) as usize,
        sections: args.sections.unwrap_or(spec.section_count) as usize,
        ..ViperizeOptions::default()
    };
    let made = with_progress(&mesh, &ends, &options)?;

    let out = args.out.clone().unwrap_or_else(|| sidecar_path(character));
    let mut sidecar = Sidecar::read(&out)?.unwrap_or_default();
    let mut bundle = made.bundle;
    for disc in bundle.fibres.iter_mut().flatten() {
        disc.place /= f64::from(meters_per_unit);
        disc.radius /= f64::from(meters_per_unit);
    }
    sidecar.insert_bundle(&spec, &bundle, &joints)?;
    sidecar.write(&out)?;
    print(&format!(
        "{}: {} fibres through {} sections, {:.1} cm³ over {:.1} cm; written to {}\n",
        spec.name,
        options.fibres,
        options.sections,
        1.0e6 * made.mesh_volume,
        100.0 * made.length,
        out.display()
    ))
}

/// The mesh, where the file is one alone.
fn read_mesh(args: &ViperizeArgs) -> Result<Option<TriangleMesh>, Error> {
    let fail = |error: &dyn std::fmt::Display| format!("{}: {error}", args.file.display());
    let read = |path: &Path| std::fs::read(path).map_err(|error| fail(&error));
    let extension = args.file.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let mesh = match extension.as_deref() {
        Some("stl") => read_stl(&read(&args.file)?, args.meters_per_unit),
        Some("obj") => read_obj(&read(&args.file)?, args.meters_per_unit),
        _ => return Ok(None),
    };
    Ok(Some(mesh.map_err(|error| fail(&error))?))
}

/// Shows a bar once the work takes over a second.
fn with_progress(mesh: &TriangleMesh, ends: &Ends, options: &ViperizeOptions) -> Result<Viperized, Error> {
    const STEPS: u64 = 100;
    let bar = ProgressBar::hidden();
    bar.set_length(STEPS);
    bar.set_style(ProgressStyle::with_template("viperizing {bar:40} {percent} %")?);
    let start = std::time::Instant::now();
    let made = viperize(mesh, ends, options, &mut |part| {
        if start.elapsed() > Duration::from_secs(1) && bar.is_hidden() {
            bar.set_draw_target(indicatif::ProgressDrawTarget::stderr());
        }
        bar.set_position((part * STEPS as f32) as u64);
    });
    bar.finish_and_clear();
    Ok(made.map_err(|error| format!("the muscle's mesh: {error}"))?)
}
