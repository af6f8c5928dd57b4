//! `NAME.muscles.json`, the file of muscles beside a character's file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;
use thiserror::Error;

use super::bone_object::bones_of;
use super::object::{EndObject, SidecarMuscles, SidecarObject};
use super::schema::{self, Object};
use super::unique_keys::UniqueKeys;
use super::{BoneObject, BoneSpec, JointNames, MuscleError, MuscleSpec, SCHEMA_VERSION, json_fix, shorten};
use crate::character::Skeleton;
use crate::flesh::Bundle;

/// Most bytes of a sidecar.
const MAX_BYTES: u64 = 64 << 20;

/// Where an import looks for muscles besides the file itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum SidecarSource {
    /// In [`sidecar_path`], if it is there. A character that is not read from a path has none.
    #[default]
    Beside,
    /// Nowhere.
    Nowhere,
    /// Here.
    Given(Sidecar),
}

/// Muscles of a sidecar, by name, and bones, each as the keys that it says. Joints are looked up when a character is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sidecar {
    /// What messages call it.
    pub(in crate::character) label: String,
    /// Its size (bytes).
    pub(in crate::character) bytes: u64,
    pub(in crate::character) muscles: BTreeMap<String, Object>,
    pub(in crate::character) bones: Vec<Object>,
    pub(in crate::character) warnings: Vec<String>,
}

/// Why a sidecar could not be read or written.
#[derive(Debug, Error)]
pub enum SidecarError {
    /// The file cannot be read or written.
    #[error("{file}: {source}; check that the path exists and may be read and written")]
    Io {
        /// The sidecar.
        file: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// What is in it, or was to be, is not sound.
    #[error("{file}: {source}")]
    Muscle {
        /// The sidecar.
        file: String,
        /// What is wrong.
        source: Box<MuscleError>,
    },
}

/// The sidecar's path beside a character's file: `hero.muscles.json` beside `hero.glb`.
pub fn sidecar_path(character: impl AsRef<Path>) -> PathBuf {
    character.as_ref().with_extension("muscles.json")
}

/// Writes muscles with all their keys, so that reading them back gives the same, numbers to one unit in the last place.
/// Sidecars are in the units of the character's file: muscles of an asset that was read with another
/// [`ImportOptions::meters_per_unit`](crate::character::ImportOptions) than 1 go back by [`MuscleSpec::scaled`] first.
///
/// # Errors
/// [`SidecarError`] where a muscle is not sound, a joint has no name of its own, or the file cannot be written.
pub fn write_sidecar(path: impl AsRef<Path>, muscles: &[MuscleSpec], skeleton: &Skeleton) -> Result<(), SidecarError> {
    let path = path.as_ref();
    let fail = |source| SidecarError::Muscle { file: path.display().to_string(), source: Box::new(source) };
    super::check_sizes(muscles, skeleton, 1.0).map_err(fail)?;
    let mut sidecar = Sidecar::default();
    let joints = JointNames::new(skeleton);
    for muscle in muscles {
        sidecar.insert(muscle, &joints).map_err(fail)?;
    }
    sidecar.write(path)
}

impl Sidecar {
    /// Reads a sidecar; `None` where there is no such file.
    ///
    /// # Errors
    /// [`SidecarError`].
    pub fn read(path: impl AsRef<Path>) -> Result<Option<Self>, SidecarError> {
        let file = path.as_ref().display().to_string();
        let io = |source| SidecarError::Io { file: file.clone(), source };
        let opened = match File::open(path.as_ref()) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(io)?,
        };
        let mut bytes = Vec::new();
        opened.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(io)?;
        if bytes.len() as u64 > MAX_BYTES {
            let problem = format!("has more than {MAX_BYTES} bytes");
            let source = MuscleError::Json { place: "sidecar".into(), problem, fix: "bake fewer fibres" };
            return Err(SidecarError::Muscle { file, source: Box::new(source) });
        }
        match Self::from_slice(&file, &bytes) {
            Ok(sidecar) => Ok(Some(sidecar)),
            Err(source) => Err(SidecarError::Muscle { file, source: Box::new(source) }),
        }
    }

    /// Takes a sidecar's text apart; `label` stands for it in messages.
    ///
    /// # Errors
    /// [`MuscleError::Json`], also of a key that is said twice in one object, [`MuscleError::Version`], [`MuscleError::Missing`],
    /// [`MuscleError::Type`], [`MuscleError::Conflict`], [`MuscleError::Duplicate`] and [`MuscleError::Bone`]. What the muscles' keys say
    /// is read with a character.
    pub fn from_slice(label: &str, text: &[u8]) -> Result<Self, MuscleError> {
        const FIX: &str = "write {\"version\": 1, \"muscles\": {NAME: {…}}}";
        let json = |problem: String| MuscleError::Json { place: "sidecar".into(), problem, fix: FIX };
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let UniqueKeys(top) = serde_json::from_slice(text).map_err(|error| {
            if error.is_data() {
                let (problem, fix) = (error.to_string(), "keep the one that is meant");
                return MuscleError::Json { place: "sidecar".into(), problem, fix };
            }
            MuscleError::Json {
                place: "sidecar".into(),
                problem: format!("is not JSON: {error}"),
                fix: std::str::from_utf8(text).ok().and_then(json_fix).unwrap_or(FIX),
            }
        })?;
        let Value::Object(mut top) = top else { return Err(json("is not a JSON object".into())) };
        schema::check_version(Some(top.get("version").unwrap_or(&Value::Null)), "sidecar")?;
        let mut sidecar = Self { label: label.into(), bytes: text.len() as u64, ..Self::default() };
        sidecar.bones = top.remove("bones").map_or(Ok(Vec::new()), bones_of)?;
        match top.remove("muscles") {
            None => return Err(json("has no muscles".into())),
            Some(Value::Object(named)) => {
                for (name, object) in named {
                    sidecar.add(name, object)?;
                }
            }
            Some(Value::Array(list)) => {
                for (at, object) in list.into_iter().enumerate() {
                    let name = match object.get("name") {
                        Some(Value::String(name)) if !name.is_empty() => name.clone(),
                        _ => {
                            let (muscle, key) = (format!("muscles[{at}]"), "name".into());
                            let fix = "in a list each muscle says its name";
                            return Err(MuscleError::Missing { muscle, key, fix });
                        }
                    };
                    sidecar.add(name, object)?;
                }
            }
            Some(_) => return Err(json("its muscles are neither an object nor a list".into())),
        }
        for key in top.keys().filter(|key| !["version", "$schema"].contains(&key.as_str())).take(16) {
            let key = shorten(key);
            sidecar
                .warnings
                .push(format!("{label}: the key {key} is unknown and left out; known are version, muscles, bones"));
        }
        Ok(sidecar)
    }

    fn add(&mut self, name: String, object: Value) -> Result<(), MuscleError> {
        let muscle = shorten(&name).to_string();
        let Value::Object(mut object) = object else {
            let problem = "is not an object".into();
            let expected = "keys such as origin, insertion, path".into();
            return Err(MuscleError::Type { muscle, key: "muscles".into(), problem, expected });
        };
        if name.is_empty() {
            let fix = "give the muscle a name";
            return Err(MuscleError::Missing { muscle, key: "name".into(), fix });
        }
        if object.remove("name").is_some_and(|inner| inner.as_str() != Some(&name)) {
            let fix = "leave name out beside the key";
            return Err(MuscleError::Conflict { muscle, key: "name".into(), other: "muscles".into(), fix });
        }
        schema::check_alternatives(&object, &name)?;
        match self.muscles.insert(name, object) {
            None => Ok(()),
            Some(_) => Err(MuscleError::Duplicate { muscle, places: "two muscles of the sidecar".into() }),
        }
    }

    /// Names of its muscles, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.muscles.keys().map(String::as_str)
    }

    /// Puts a muscle with all its keys in, in place of what was said of it.
    ///
    /// # Errors
    /// [`MuscleError::UnknownJoint`] where a joint is not there or has no name of its own.
    pub fn insert(&mut self, muscle: &MuscleSpec, joints: &JointNames) -> Result<(), MuscleError> {
        let object = schema::from_spec(muscle, joints)?;
        self.muscles.insert(muscle.name.clone(), to_map(&object)?);
        Ok(())
    }

    /// Puts a bone after those that there are.
    ///
    /// # Errors
    /// [`MuscleError::Bone`] where its joint is not there or has no name of its own.
    pub fn insert_bone(&mut self, bone: &BoneSpec, joints: &JointNames) -> Result<(), MuscleError> {
        let object = BoneObject::of(bone, joints).ok_or_else(|| {
            let problem =
                format!("joint {} is not there, or nothing tells it from its namesakes; rename it", bone.joint);
            MuscleError::Bone { bone: self.bones.len(), key: "joint".into(), problem }
        })?;
        self.bones.push(to_map(&object)?);
        Ok(())
    }

    /// Bakes a muscle's fibres (model space at rest, in the units of the character's file): sets its bundle, origin and
    /// insertion. Other keys stay, apart from its path.
    ///
    /// # Errors
    /// As [`Self::insert`].
    pub fn insert_bundle(
        &mut self,
        muscle: &MuscleSpec,
        bundle: &Bundle,
        joints: &JointNames,
    ) -> Result<(), MuscleError> {
        let baked = MuscleSpec { shape: super::MuscleShape::Bundle(bundle.clone()), mesh: None, ..muscle.clone() };
        let all = schema::from_spec(&baked, joints)?;
        let ends = [("origin", all.origin), ("insertion", all.insertion)];
        let object = self.muscles.entry(muscle.name.clone()).or_default();
        object.remove("path");
        for (key, end) in ends {
            let joint = match end {
                Some(EndObject::Joint(joint)) => joint,
                Some(EndObject::Placed(end)) => end.joint,
                None => continue,
            };
            object.insert(key.into(), Value::String(joint));
        }
        let bundle = to_map(&schema::from_bundle(bundle))?;
        object.insert("bundle".into(), Value::Object(bundle));
        Ok(())
    }

    /// Its text.
    pub fn to_json(&self) -> String {
        let mut muscles = serde_json::Map::new();
        for (name, object) in &self.muscles {
            muscles.insert(name.clone(), Value::Object(object.clone()));
        }
        let mut top = to_map(&SidecarObject {
            schema: None,
            version: SCHEMA_VERSION,
            muscles: SidecarMuscles::Named(BTreeMap::new()),
            bones: Vec::new(),
        })
        .unwrap_or_default();
        top.insert("muscles".into(), Value::Object(muscles));
        if !self.bones.is_empty() {
            top.insert("bones".into(), self.bones.iter().cloned().map(Value::Object).collect());
        }
        format!("{:#}\n", Value::Object(top))
    }

    /// Writes it.
    ///
    /// # Errors
    /// [`SidecarError::Io`].
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), SidecarError> {
        let file = || path.as_ref().display().to_string();
        std::fs::write(path.as_ref(), self.to_json()).map_err(|source| SidecarError::Io { file: file(), source })
    }
}

/// A struct as a JSON object. Numbers that are not finite become `null`, which [`check_muscles`](super::check_muscles)
/// keeps out.
fn to_map<T: serde::Serialize>(object: &T) -> Result<Object, MuscleError> {
    match serde_json::to_value(object) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Ok(Object::new()),
        Err(error) => {
            let fix = "check the muscle's numbers";
            Err(MuscleError::Json { place: "sidecar".into(), problem: error.to_string(), fix })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::MUSCLE_LIMITS;
    use super::*;

    /// The schema as committed in `assets/`: that of the structs, with the ranges that are checked.
    fn schema_text() -> String {
        let mut schema = schemars::schema_for!(SidecarObject).to_value();
        limit(&mut schema);
        format!("{schema:#}\n")
    }

    /// Writes the range of every number that has one into its place.
    fn limit(schema: &mut Value) {
        let Value::Object(object) = schema else {
            if let Value::Array(list) = schema {
                list.iter_mut().for_each(limit);
            }
            return;
        };
        if let Some(Value::Object(properties)) = object.get_mut("properties") {
            for limits in &MUSCLE_LIMITS {
                if let Some(Value::Object(property)) = properties.get_mut(limits.key) {
                    let number = match property.get_mut("items") {
                        Some(Value::Object(items)) => items,
                        _ => property,
                    };
                    if number
                        .get("type")
                        .is_some_and(|kind| kind.to_string().contains("number") || kind.to_string().contains("integer"))
                    {
                        number.insert("minimum".into(), limits.low.into());
                        number.insert("maximum".into(), limits.high.into());
                    }
                }
            }
        }
        object.values_mut().for_each(limit);
    }

    #[test]
    fn the_schema_file_is_that_of_the_structs() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/muscles.schema.json");
        let text = schema_text();
        if std::env::var_os("SINEW_WRITE_SCHEMA").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        println!("the schema has {} bytes", text.len());
        assert!(
            committed == text,
            "assets/muscles.schema.json differs: SINEW_WRITE_SCHEMA=1 cargo test -p sinew --lib schema_file"
        );
    }
}
