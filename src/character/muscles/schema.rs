//! From JSON objects to muscles and back.

use glam::DVec3;
use serde_json::{Map, Value};

use super::joint_names::{OwnJoint, nearest};
use super::object::{
    BundleObject, Count, DiscObject, EndObject, Flag, Material, MaterialObject, MuscleObject, PlacedEnd, PointObject,
    keys,
};
use super::{
    ENDS_ATTRIBUTE, JointNames, MaterialPreset, MeshEnds, MuscleEnd, MuscleError, MuscleLimits, MuscleMaterial,
    MuscleMesh, MuscleShape, MuscleSpec, PathPoint, SCHEMA_VERSION, Thickness, shorten,
};
use crate::flesh::{Bundle, Disc};

/// A muscle's object as a file has it.
pub(in crate::character) type Object = Map<String, Value>;

/// Keys that say the same thing in different ways: of several sources the last that says any of a set wins, and one
/// source may say one.
const ALTERNATIVES: [&[&str]; 2] = [&["path", "bundle"], &["radius", "peak_force", "volume"]];

/// Most unknown keys of one muscle that are named.
const MAX_UNKNOWN: usize = 16;

/// Fails on a version that is not read; none is the newest.
pub(in crate::character) fn check_version(version: Option<&Value>, place: &str) -> Result<(), MuscleError> {
    match version {
        None => Ok(()),
        Some(version) if version.as_u64() == Some(SCHEMA_VERSION) => Ok(()),
        Some(version) => {
            let version = shorten(&version.to_string()).into();
            Err(MuscleError::Version { place: place.into(), version })
        }
    }
}

/// Fails where one source says a thing in two ways.
pub(in crate::character) fn check_alternatives(object: &Object, muscle: &str) -> Result<(), MuscleError> {
    for set in ALTERNATIVES {
        let mut given = set.iter().filter(|key| object.get(**key).is_some_and(|value| !value.is_null()));
        if let (Some(key), Some(other)) = (given.next(), given.next()) {
            let (key, other) = ((*key).into(), (*other).into());
            let fix = "keep one of them";
            return Err(MuscleError::Conflict { muscle: shorten(muscle).into(), key, other, fix });
        }
    }
    Ok(())
}

/// Replaces keys of `object` by those of a later source.
pub(in crate::character) fn replace_keys(object: &mut Object, later: &Object) {
    for set in ALTERNATIVES {
        if set.iter().any(|key| later.get(*key).is_some_and(|value| !value.is_null())) {
            set.iter().for_each(|key| drop(object.remove(*key)));
        }
    }
    object.extend(later.iter().map(|(key, value)| (key.clone(), value.clone())));
}

/// Reads a muscle's object; what `warn` gets names the muscle and the key.
pub(in crate::character) fn read(
    object: &Object,
    muscle: &str,
    warn: &mut dyn FnMut(String),
) -> Result<MuscleObject, MuscleError> {
    warn_of_unknown(object, muscle, warn);
    serde_path_to_error::deserialize(object).map_err(|error| {
        let key = error.path().to_string();
        let problem: String = error.inner().to_string().chars().take(160).collect();
        let expected = expected(&key);
        MuscleError::Type { muscle: shorten(muscle).into(), key: shorten(&key).into(), problem, expected }
    })
}

/// What a key's value should be.
fn expected(key: &str) -> String {
    let last = key.rsplit('.').next().unwrap_or(key);
    let name = last.split('[').next().unwrap_or(last);
    match name {
        "fibre_count" | "section_count" => {
            let words = MuscleLimits::of(name).map(MuscleLimits::words).unwrap_or_default();
            words.replace("a number", "a whole number")
        }
        "tendon" => "two fractions of the rest length: [at the origin, at the insertion]".into(),
        "place" => "three numbers: [x, y, z] (m)".into(),
        "name" | "joint" | "mesh" | "preset" | "ends_attribute" => "a name in quotes".into(),
        "origin" | "insertion" => "a joint's name, or {\"joint\": name, \"place\": [x, y, z]}".into(),
        "path" => "a list of {\"joint\": name, \"place\": [x, y, z], \"radius\": m}".into(),
        "sources" | "sinks" => "a list of vertex indices".into(),
        "bundle" | "fibres" => {
            "{\"fibres\": [[{\"place\": [x, y, z], \"radius\": m}, …], …]}; viperize it again".into()
        }
        "material" => "muscle, fat or tendon in quotes, or an object with preset, youngs_modulus and the like".into(),
        "rigid" | "fascia" => "true or false".into(),
        _ => MuscleLimits::of(name).map_or_else(|| "a muscle's object".into(), MuscleLimits::words),
    }
}

fn warn_of_unknown(object: &Object, muscle: &str, warn: &mut dyn FnMut(String)) {
    let mut unknown = 0;
    let mut check = |object: &Object, prefix: &str, known: &[&'static str]| {
        for key in object.keys().filter(|key| !known.contains(&key.as_str())) {
            // Versions are checked where they are found.
            if prefix.is_empty() && key == "version" {
                continue;
            }
            unknown += 1;
            if unknown <= MAX_UNKNOWN {
                let hint = match nearest(key, known.iter().copied()) {
                    Some(near) => format!("did you mean {near}?"),
                    None => format!("known are {}", known.join(", ")),
                };
                let (muscle, key) = (shorten(muscle), shorten(key));
                warn(format!("muscle {muscle:?}: the key {prefix}{key} is unknown and left out; {hint}"));
            }
        }
    };
    check(object, "", keys::<MuscleObject>());
    let nested: [(&str, &[&str]); 4] = [
        ("origin", keys::<PlacedEnd>()),
        ("insertion", keys::<PlacedEnd>()),
        ("material", keys::<MaterialObject>()),
        ("bundle", keys::<BundleObject>()),
    ];
    for (key, known) in nested {
        if let Some(Value::Object(inner)) = object.get(key) {
            check(inner, &format!("{key}."), known);
        }
    }
    for (at, point) in object.get("path").and_then(Value::as_array).into_iter().flatten().enumerate() {
        if let Value::Object(point) = point {
            check(point, &format!("path[{at}]."), keys::<PointObject>());
        }
    }
    let fibres = object.get("bundle").and_then(|bundle| bundle.get("fibres")).and_then(Value::as_array);
    for (k, fibre) in fibres.into_iter().flatten().enumerate() {
        for (j, disc) in fibre.as_array().into_iter().flatten().enumerate() {
            if let Value::Object(disc) = disc {
                check(disc, &format!("bundle.fibres[{k}][{j}]."), keys::<DiscObject>());
            }
        }
    }
    if unknown > MAX_UNKNOWN {
        let (muscle, more) = (shorten(muscle), unknown - MAX_UNKNOWN);
        warn(format!("muscle {muscle:?}: {more} more unknown keys are left out"));
    }
}

/// Makes a muscle of what was read, its joints looked up, of namesakes those that `own` chooses;
/// [`check_muscles`](super::check_muscles) is the caller's.
pub(in crate::character) fn to_spec(
    object: MuscleObject,
    name: String,
    (joints, own): (&JointNames, OwnJoint),
    mesh: Option<MuscleMesh>,
) -> Result<MuscleSpec, MuscleError> {
    let default = MuscleSpec::default();
    let reader = Reader { muscle: &name, joints, own };
    let path = object.path.map(|points| reader.path(points)).transpose()?;
    let end = |key: &'static str, object: Option<EndObject>| -> Result<Option<MuscleEnd>, MuscleError> {
        object.map(|object| reader.end(key, object)).transpose()
    };
    let (origin, insertion) = (end("origin", object.origin)?, end("insertion", object.insertion)?);
    // Two placed ends are a path, where there is no other shape.
    let ends = origin.zip(insertion).and_then(|(a, b)| Some([(a.joint, a.place?), (b.joint, b.place?)]));
    let straight = ends.map(|ends| ends.map(|(joint, place)| PathPoint { joint, place, radius: None }).to_vec());
    let shape = match (object.bundle, path) {
        (Some(bundle), _) => MuscleShape::Bundle(to_bundle(bundle)),
        (None, Some(path)) if !path.is_empty() => MuscleShape::Path(path),
        (None, Some(_)) => return Err(reader.missing("path", "give it two points or more, or leave it out")),
        (None, None) if mesh.is_some() => MuscleShape::Mesh,
        (None, None) => MuscleShape::Path(straight.ok_or_else(|| {
            reader.missing("path", "give a path, put the muscle on a node with a mesh, or give both ends a place")
        })?),
    };
    let of_path = |point: Option<&PathPoint>| {
        let point = point?;
        Some(MuscleEnd { joint: point.joint, place: Some(point.place) })
    };
    let [first, last] = match &shape {
        MuscleShape::Path(points) => [of_path(points.first()), of_path(points.last())],
        _ => [None; 2],
    };
    let one = |key, end: Option<MuscleEnd>, of_path| {
        let missing = || reader.missing(key, "say which joint holds that end");
        // Without a place of its own an end takes the path's.
        let placed = end.map(|end| MuscleEnd { place: end.place.or(of_path_place(end, of_path)), ..end });
        placed.or(of_path).ok_or_else(missing)
    };
    let (origin, insertion) = (one("origin", origin, first)?, one("insertion", insertion, last)?);
    let thickness = (object.radius.map(Thickness::Radius))
        .or(object.peak_force.map(Thickness::PeakForce))
        .or(object.volume.map(Thickness::Volume));
    if let (MuscleShape::Mesh | MuscleShape::Bundle(_), Some(Thickness::PeakForce(_)), Some(_)) =
        (&shape, thickness, object.peak_stress)
    {
        let fix = "the shape has its own cross-section: keep one of them";
        let (key, other) = ("peak_force".into(), "peak_stress".into());
        return Err(MuscleError::Conflict { muscle: reader.name(), key, other, fix });
    }
    let count = |count: Option<Count>| count.map(|Count(count)| count);
    let (mut fibre_count, mut section_count) = (count(object.fibre_count), count(object.section_count));
    if let MuscleShape::Bundle(bundle) = &shape {
        let count = |count: usize| u32::try_from(count).ok().filter(|count| *count > 0);
        (fibre_count, section_count) = (count(bundle.fibres.len()), count(bundle.section_count()));
    }
    let material = object.material.map(|material| reader.material(material)).transpose()?;
    Ok(MuscleSpec {
        origin,
        insertion,
        shape,
        mesh,
        thickness,
        taper: object.taper.unwrap_or(default.taper),
        fibre_count: fibre_count.unwrap_or(default.fibre_count),
        section_count: section_count.unwrap_or(default.section_count),
        material: material.unwrap_or(default.material),
        peak_stress: object.peak_stress,
        tendon: object.tendon.unwrap_or(default.tendon),
        optimal_stretch: object.optimal_stretch.unwrap_or(default.optimal_stretch),
        passive: object.passive.unwrap_or(default.passive),
        max_velocity: object.max_velocity,
        activation_time: object.activation_time.unwrap_or(default.activation_time),
        deactivation_time: object.deactivation_time.unwrap_or(default.deactivation_time),
        rigid: object.rigid.map_or(default.rigid, |Flag(rigid)| rigid),
        fascia: object.fascia.map_or(default.fascia, |Flag(fascia)| fascia),
        shortening: object.shortening.unwrap_or(default.shortening),
        name,
    })
}

/// The place of the path's end, if it is on the same joint.
fn of_path_place(end: MuscleEnd, of_path: Option<MuscleEnd>) -> Option<DVec3> {
    of_path.filter(|point| point.joint == end.joint)?.place
}

struct Reader<'a> {
    muscle: &'a str,
    joints: &'a JointNames<'a>,
    own: OwnJoint<'a>,
}

impl Reader<'_> {
    fn joint(&self, name: &str, key: &str) -> Result<u32, MuscleError> {
        self.joints.find_own(name, self.muscle, key, self.own)
    }

    fn name(&self) -> String {
        shorten(self.muscle).into()
    }

    fn missing(&self, key: &str, fix: &'static str) -> MuscleError {
        MuscleError::Missing { muscle: self.name(), key: key.into(), fix }
    }

    fn end(&self, key: &str, object: EndObject) -> Result<MuscleEnd, MuscleError> {
        match object {
            EndObject::Joint(name) => Ok(MuscleEnd { joint: self.joint(&name, key)?, place: None }),
            EndObject::Placed(PlacedEnd { joint, place }) => {
                let joint = self.joint(&joint, &format!("{key}.joint"))?;
                Ok(MuscleEnd { joint, place: place.map(DVec3::from_array) })
            }
        }
    }

    fn path(&self, points: Vec<PointObject>) -> Result<Vec<PathPoint>, MuscleError> {
        let point = |(at, PointObject { joint, place, radius }): (usize, PointObject)| {
            let joint = self.joint(&joint, &format!("path[{at}].joint"))?;
            Ok(PathPoint { joint, place: DVec3::from_array(place), radius })
        };
        points.into_iter().enumerate().map(point).collect()
    }

    fn material(&self, material: Material) -> Result<MuscleMaterial, MuscleError> {
        let (key, object) = match material {
            Material::Preset(preset) => {
                ("material", MaterialObject { preset: Some(preset), ..MaterialObject::default() })
            }
            Material::Object(object) => ("material.preset", object),
        };
        let preset = match object.preset {
            None => MaterialPreset::default(),
            Some(name) => MaterialPreset::from_name(&name).ok_or_else(|| {
                let near = nearest(&name, MaterialPreset::ALL.into_iter().map(MaterialPreset::name));
                let hint = near.map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
                let material = shorten(&name).into();
                MuscleError::UnknownMaterial { muscle: self.name(), key: key.into(), material, hint }
            })?,
        };
        Ok(MuscleMaterial {
            preset,
            youngs_modulus: object.youngs_modulus,
            poissons_ratio: object.poissons_ratio,
            density: object.density,
            damping: object.damping,
        })
    }
}

fn to_bundle(object: BundleObject) -> Bundle {
    let disc = |disc: DiscObject| Disc { place: DVec3::from_array(disc.place), radius: disc.radius };
    Bundle { fibres: object.fibres.into_iter().map(|fibre| fibre.into_iter().map(disc).collect()).collect() }
}

pub(super) fn from_bundle(bundle: &Bundle) -> BundleObject {
    let disc = |disc: &Disc| DiscObject { place: disc.place.to_array(), radius: disc.radius };
    BundleObject { fibres: bundle.fibres.iter().map(|fibre| fibre.iter().map(disc).collect()).collect() }
}

/// The object that says all of a muscle, its name apart.
pub(super) fn from_spec(spec: &MuscleSpec, joints: &JointNames) -> Result<MuscleObject, MuscleError> {
    let joint = |key: &str, joint: u32| {
        joints.reference(joint).ok_or_else(|| {
            let hint = "; nothing tells it from its namesakes: rename it".into();
            let known = joints.skeleton().joints.get(joint as usize);
            let joint = known.map_or_else(|| format!("joint {joint}"), |known| shorten(&known.name).into());
            MuscleError::UnknownJoint { muscle: shorten(&spec.name).into(), key: key.into(), joint, hint }
        })
    };
    let end = |key: &str, end: &MuscleEnd| -> Result<EndObject, MuscleError> {
        let joint = joint(key, end.joint)?;
        Ok(match end.place {
            None => EndObject::Joint(joint),
            Some(place) => EndObject::Placed(PlacedEnd { joint, place: Some(place.to_array()) }),
        })
    };
    let mut object = MuscleObject {
        fibre_count: Some(Count(spec.fibre_count)),
        section_count: Some(Count(spec.section_count)),
        taper: Some(spec.taper),
        peak_stress: spec.peak_stress,
        tendon: Some(spec.tendon),
        optimal_stretch: Some(spec.optimal_stretch),
        passive: Some(spec.passive),
        max_velocity: spec.max_velocity,
        activation_time: Some(spec.activation_time),
        deactivation_time: Some(spec.deactivation_time),
        rigid: Some(Flag(spec.rigid)),
        fascia: Some(Flag(spec.fascia)),
        shortening: Some(spec.shortening),
        material: Some(from_material(&spec.material)),
        ..MuscleObject::default()
    };
    match spec.thickness {
        Some(Thickness::Radius(radius)) => object.radius = Some(radius),
        Some(Thickness::PeakForce(force)) => object.peak_force = Some(force),
        Some(Thickness::Volume(volume)) => object.volume = Some(volume),
        None => {}
    }
    if let MuscleShape::Path(points) = &spec.shape {
        let point = |(at, point): (usize, &PathPoint)| -> Result<PointObject, MuscleError> {
            let joint = joint(&format!("path[{at}].joint"), point.joint)?;
            Ok(PointObject { joint, place: point.place.to_array(), radius: point.radius })
        };
        object.path = Some(points.iter().enumerate().map(point).collect::<Result<_, _>>()?);
    } else {
        object.origin = Some(end("origin", &spec.origin)?);
        object.insertion = Some(end("insertion", &spec.insertion)?);
    }
    if let MuscleShape::Bundle(bundle) = &spec.shape {
        object.bundle = Some(from_bundle(bundle));
    }
    if let Some(mesh) = &spec.mesh {
        object.mesh = Some(joint("mesh", mesh.joint)?);
        match &mesh.ends {
            MeshEnds::Nearest => {}
            MeshEnds::Attribute(name) if name == ENDS_ATTRIBUTE => {}
            MeshEnds::Attribute(name) => object.ends_attribute = Some(name.clone()),
            MeshEnds::Vertices { sources, sinks } => {
                object.sources = Some(sources.clone());
                object.sinks = Some(sinks.clone());
            }
        }
    }
    Ok(object)
}

fn from_material(material: &MuscleMaterial) -> Material {
    let MuscleMaterial { preset, youngs_modulus, poissons_ratio, density, damping } = *material;
    let preset = preset.name().to_string();
    if [youngs_modulus, poissons_ratio, density, damping].iter().all(Option::is_none) {
        return Material::Preset(preset);
    }
    Material::Object(MaterialObject { preset: Some(preset), youngs_modulus, poissons_ratio, density, damping })
}
