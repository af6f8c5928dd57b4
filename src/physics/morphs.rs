//! Morph targets of instances' skin, and how much of each there is.

use super::Physics;
use crate::StepError;
use crate::instances::FleshHandle;
use crate::skin::{MOST_MORPH_WEIGHT, MorphTarget};

impl Physics {
    /// Sets how much of each morph target an instance's skin has from the next step on: 0 for none, 1 for all of it.
    ///
    /// As in glTF, a vertex goes to its place plus the sum of weights times displacements before it is skinned, normals and tangents
    /// alike, which skinning makes unit ones again.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`], [`StepError::MorphCount`] or [`StepError::BadMorphWeight`]; nothing changed then.
    pub fn set_morphs(&mut self, handle: FleshHandle, weights: &[f32]) -> Result<(), StepError> {
        let instance = self.get_mut(handle)?;
        let (given, expected) = (weights.len(), instance.blocks.skin.morphs.len());
        if given != expected {
            return Err(StepError::MorphCount { given, expected });
        }
        check_morph_weights(weights)?;
        if instance.state.morphs != weights {
            instance.state.morphs.copy_from_slice(weights);
            instance.redeform = true;
        }
        Ok(())
    }

    /// As [`Physics::set_morphs`], of all targets of a name: those of a face in parts.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`], [`StepError::BadMorphWeight`]; [`StepError::UnknownMorph`] lists the names that there are.
    pub fn set_morph_named(&mut self, handle: FleshHandle, morph: &str, weight: f32) -> Result<(), StepError> {
        let instance = self.get(handle)?;
        let mut weights = instance.state.morphs.clone();
        for index in morphs_named(&instance.blocks.skin.morphs, morph)? {
            weights[index] = weight;
        }
        self.set_morphs(handle, &weights)
    }

    /// How much of each morph target an instance's skin has.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn morphs(&self, handle: FleshHandle) -> Result<&[f32], StepError> {
        Ok(&self.get(handle)?.state.morphs)
    }

    /// As [`Physics::set_morphs`], of the first targets, or where one cannot be so of none, which its health then says.
    #[cfg(feature = "hecs")]
    pub(crate) fn morph(&mut self, handle: FleshHandle, weights: &[f32]) {
        let Ok(instance) = self.get_mut(handle) else { return };
        let own = &mut instance.state.morphs;
        let sound = |(index, weight): (usize, &f32)| index < own.len() && check_morph_weights(&[*weight]).is_ok();
        if let Some(bad) = weights.iter().enumerate().position(|of| !sound(of)) {
            return instance.state.health.note_pose(crate::Fault::Morph(bad));
        }
        let own = &mut own[..weights.len()];
        if own != weights {
            own.copy_from_slice(weights);
            instance.redeform = true;
        }
    }
}

pub(crate) fn check_morph_weights(weights: &[f32]) -> Result<(), StepError> {
    match weights.iter().position(|weight| weight.is_nan() || weight.abs() > MOST_MORPH_WEIGHT) {
        Some(morph) => Err(StepError::BadMorphWeight { morph, weight: weights[morph] }),
        None => Ok(()),
    }
}

/// All targets of a name.
pub(crate) fn morphs_named(morphs: &[MorphTarget], name: &str) -> Result<Vec<usize>, StepError> {
    let named: Vec<usize> = (0..morphs.len()).filter(|&index| morphs[index].name == name).collect();
    if named.is_empty() {
        let mut known: Vec<String> = morphs.iter().map(|morph| morph.name.clone()).collect();
        known.sort_unstable();
        known.dedup();
        return Err(StepError::UnknownMorph { morph: name.into(), known });
    }
    Ok(named)
}
