//! A character that can be spawned.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use glam::Vec3;

use super::authored::Surroundings;
use super::body::{height, rest_at};
use super::muscles::{MuscleCourse, SIZES, check_bones, free_surface, lay, shorten};
use super::{Body, CharacterAsset, CourseError, FleshOptions, MuscleError, Warning, check_muscles};
use crate::Pose;
use crate::flesh::BuildError;

/// A character: what its file holds, and a body at scale 1. Cheap to clone; clones share bodies at other scales too.
#[derive(Clone, Debug)]
pub struct Character {
    asset: Arc<CharacterAsset>,
    options: FleshOptions,
    /// The authored muscles at scale 1.
    courses: Arc<Vec<MuscleCourse>>,
    body: Arc<Body>,
    /// Bodies at other scales that something still holds.
    scaled: Arc<Mutex<Vec<Weak<Body>>>>,
}

/// Why a character could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum CharacterError {
    /// The file could not be read.
    #[cfg(feature = "gltf")]
    #[error(transparent)]
    Import(#[from] super::ImportError),
    /// A muscle does not make sense on its skeleton, or at the scale of a spawn.
    #[error("`{name}`: {source}")]
    Muscle {
        /// The character's name.
        name: String,
        /// What is wrong.
        source: Box<MuscleError>,
    },
    /// A muscle could not be laid.
    #[error("`{name}`: {source}")]
    Course {
        /// The character's name.
        name: String,
        /// What is wrong.
        source: Box<CourseError>,
    },
    /// Its flesh could not be built.
    #[error(
        "the flesh of `{name}` could not be built; check FleshOptions and, where {height} m is not its height, \
         ImportOptions::meters_per_unit or the scale: {source}"
    )]
    Flesh {
        /// The character's name.
        name: String,
        /// Its height (m) at rest.
        height: f32,
        /// What is wrong.
        source: BuildError,
    },
}

/// Where and how large a character is spawned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Pose of the root.
    pub pose: Pose,
    /// Scale along the model's axes, baked into rest lengths; negative mirrors. Flesh that is larger for it is stiffer and
    /// stronger by the square of its size, and so moves as it did; smaller flesh has the material's own stiffness.
    pub scale: Vec3,
}

impl From<Pose> for Placement {
    fn from(pose: Pose) -> Self {
        Self { pose, scale: Vec3::ONE }
    }
}

impl Character {
    /// Loads a character from a glTF file and fits its flesh, all by default.
    ///
    /// # Errors
    /// [`CharacterError::Import`] where the file cannot be read, [`CharacterError::Muscle`] or [`CharacterError::Course`]
    /// where a muscle cannot be laid, [`CharacterError::Flesh`] where no flesh can be built from it.
    #[cfg(feature = "gltf")]
    pub fn load(path: impl AsRef<std::path::Path>) -> Result<Self, CharacterError> {
        Self::load_with(path, &super::ImportOptions::default(), &FleshOptions::default())
    }

    /// As [`Character::load`], with options.
    ///
    /// # Errors
    /// As for [`Character::load`].
    #[cfg(feature = "gltf")]
    pub fn load_with(
        path: impl AsRef<std::path::Path>,
        import: &super::ImportOptions,
        flesh: &FleshOptions,
    ) -> Result<Self, CharacterError> {
        Self::from_asset(CharacterAsset::load(path, import)?, flesh)
    }

    /// Lays the asset's muscles and fits flesh where it has none. Warns where a muscle's own mesh cannot follow it, where
    /// one is far from its bones or thicker than its limb; one that is farther from its joints than the character is large
    /// is left out with a warning.
    ///
    /// # Errors
    /// [`CharacterError::Muscle`], [`CharacterError::Course`] or [`CharacterError::Flesh`].
    pub fn from_asset(mut asset: CharacterAsset, options: &FleshOptions) -> Result<Self, CharacterError> {
        check_muscles(&asset.muscles, &asset.skeleton)
            .and_then(|()| check_bones(&asset.bones, &asset.skeleton, SIZES))
            .map_err(|source| CharacterError::Muscle { name: asset.name.clone(), source: Box::new(source) })?;
        let courses = if asset.muscles.is_empty() { Vec::new() } else { lay_muscles(&mut asset, options)? };
        Self::fit(Arc::new(asset), Arc::new(courses), options)
    }

    /// The same character with its flesh fitted anew; what its file holds is shared, not copied. Those spawned
    /// already keep their flesh.
    ///
    /// # Errors
    /// [`CharacterError::Flesh`].
    pub fn with_flesh(&self, options: &FleshOptions) -> Result<Self, CharacterError> {
        Self::fit(self.asset.clone(), self.courses.clone(), options)
    }

    fn fit(
        asset: Arc<CharacterAsset>,
        courses: Arc<Vec<MuscleCourse>>,
        options: &FleshOptions,
    ) -> Result<Self, CharacterError> {
        let body =
            Body::fit(&asset, &courses, options).map_err(|error| at_fault(&asset, &courses, Vec3::ONE, error))?;
        Ok(Self { asset, options: *options, courses, body: Arc::new(body), scaled: Arc::default() })
    }

    /// How its flesh was fitted.
    pub fn flesh_options(&self) -> &FleshOptions {
        &self.options
    }

    /// What its file holds.
    pub fn asset(&self) -> &CharacterAsset {
        &self.asset
    }

    /// Its body at scale 1.
    pub fn body(&self) -> &Arc<Body> {
        &self.body
    }

    /// The authored muscles at scale 1.
    pub(super) fn courses(&self) -> &[MuscleCourse] {
        &self.courses
    }

    /// What was read, but not as written.
    pub fn warnings(&self) -> &[Warning] {
        &self.asset.warnings
    }

    /// Its body at a scale along the model's axes. It follows from the one at scale 1, without a fit, and is shared as
    /// long as an instance at that scale is left, of this character or its clones.
    ///
    /// # Errors
    /// [`CharacterError::Flesh`] where the scale is zero or out of range, [`CharacterError::Muscle`] where a muscle
    /// becomes too thin, too short or too large at it.
    pub fn body_at(&self, scale: Vec3) -> Result<Arc<Body>, CharacterError> {
        if scale == Vec3::ONE {
            return Ok(self.body.clone());
        }
        let mut scaled = self.scaled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(body) = scaled.iter().filter_map(Weak::upgrade).find(|body| body.scale == scale) {
            return Ok(body);
        }
        let body = self
            .body
            .scaled(&self.asset, &self.courses, scale, &self.options)
            .map_err(|error| at_fault(&self.asset, &self.courses, scale, error))?;
        let body = Arc::new(body);
        scaled.retain(|body| body.strong_count() > 0);
        scaled.push(Arc::downgrade(&body));
        Ok(body)
    }
}

/// Lays muscles, of which those that cannot be the character's are taken out.
fn lay_muscles(asset: &mut CharacterAsset, options: &FleshOptions) -> Result<Vec<MuscleCourse>, CharacterError> {
    let (joints, rest) = rest_at(asset, Vec3::ONE);
    let mut warnings = Vec::new();
    let mut courses = Vec::with_capacity(asset.muscles.len());
    let surroundings = Surroundings::new(asset, &joints, &rest, options);
    for spec in &asset.muscles {
        let muscle = shorten(&spec.name);
        let mut refuse = |why: String| warnings.push(Warning(format!("muscle {muscle:?} is left out: {why}")));
        if let Some(why) = surroundings.refuse_mesh(spec) {
            refuse(why);
            continue;
        }
        let course = lay(spec, &joints, asset, &rest.positions)
            .map_err(|source| CharacterError::Course { name: asset.name.clone(), source: Box::new(source) })?;
        if let Some(why) = surroundings.refuse(&course) {
            refuse(why);
            continue;
        }
        let odd = surroundings.oddities(&course).into_iter();
        warnings.extend(odd.map(|odd| Warning(format!("muscle {muscle:?}: {odd}"))));
        courses.push(course);
    }
    for course in &mut courses {
        course.surface = free_surface(&course.spec, &course.carriers, &joints, asset).unwrap_or_else(|fault| {
            let muscle = shorten(&course.spec.name);
            let what = "its mesh moves as plain skin, by its joint weights, and not with the muscle";
            warnings.push(Warning(format!("muscle {muscle:?}: {what}: {fault}")));
            None
        });
    }
    asset.muscles = courses.iter().map(|course| course.spec.clone()).collect();
    asset.warnings.extend(warnings);
    Ok(courses)
}

/// Why a body could not be built: an author's muscle, with its key, or else the flesh that was fitted.
fn at_fault(asset: &CharacterAsset, courses: &[MuscleCourse], scale: Vec3, source: BuildError) -> CharacterError {
    let name = asset.name.clone();
    let sized = !matches!(source, BuildError::Scale { .. });
    match courses.iter().filter(|_| sized).find_map(|course| course.check(scale).err()) {
        Some(source) => CharacterError::Muscle { name, source: Box::new(source) },
        None => CharacterError::Flesh { name, height: height(&rest_at(asset, scale).1.positions), source },
    }
}
