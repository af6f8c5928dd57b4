//! The skin of instances: what it follows, and how it stands.

use super::Physics;
use crate::StepError;
use crate::cpu::deform_skin::{Vertices, deform_skin};
#[cfg(feature = "neural")]
use crate::cpu::infer_correctives::infer_correctives;
use crate::cpu::morph_skin::morph_skin;
use crate::cpu::pose_sections::pose_sections;
#[cfg(feature = "neural")]
use crate::cpu::threads::Threads;
use crate::instances::{FleshHandle, Instance, MOST_BLEND, SkinMotion, deltas_of};
use crate::skin::{PaletteMatrix, SkinnedVertices};

impl Physics {
    /// Sets the skin's palette for the next step: from mesh to model space.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`] or [`StepError::PaletteLength`].
    pub fn set_palette(
        &mut self,
        handle: FleshHandle,
        palette: impl ExactSizeIterator<Item = PaletteMatrix>,
    ) -> Result<(), StepError> {
        let instance = self.get_mut(handle)?;
        let (given, expected) = (palette.len(), instance.blocks.skin.palette_len);
        if given != expected {
            return Err(StepError::PaletteLength { given, expected });
        }
        instance.state.palette.clear();
        instance.state.palette.extend(palette);
        Ok(())
    }

    /// Says what beside its joints moves an instance's skin: rods, its network (`Physics::set_network`), both or neither. It passes
    /// to that evenly, as fast as all of one goes in `seconds` (at once in 0), so that nothing pops: what one did becomes less
    /// while what the other does becomes more; turned round halfway, it is back in half of that. [`Physics::keep_to_budget`] says
    /// so by distance. Rods that move no skin are not stepped, nor stand in anyone's way; when they come back they do from where
    /// their bones are then, in the shape that they had against them. Both at first; snapshots have it.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`], or [`StepError::BadBlend`].
    pub fn set_skin_motion(&mut self, handle: FleshHandle, motion: SkinMotion, seconds: f64) -> Result<(), StepError> {
        if !(0.0..=MOST_BLEND).contains(&seconds) {
            return Err(StepError::BadBlend(seconds));
        }
        if self.get(handle)?.mix.motion != motion {
            self.wake(handle)?;
        }
        self.get_mut(handle)?.mix.pass_to(motion, seconds);
        Ok(())
    }

    /// What beside its joints moves an instance's skin, and how much of rods and network there was in the last step.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn skin_motion(&self, handle: FleshHandle) -> Result<(SkinMotion, [f32; 2]), StepError> {
        let mix = self.get(handle)?.mix;
        Ok((mix.motion, [mix.rods, mix.network]))
    }

    /// An instance's skin after the last step. Empty before its first one, unless [`Physics::deform_skin`] was called;
    /// until the next one what it was before a [`Physics::teleport`] or [`Physics::reset`].
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn vertices(&self, handle: FleshHandle) -> Result<&SkinnedVertices, StepError> {
        Ok(&self.get(handle)?.vertices)
    }

    /// Deforms an instance's skin, on the host, as bones, palette and [`Physics::state`] stand now, so that
    /// [`Physics::vertices`] has something to show before the first step. Steps do this by themselves.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn deform_skin(&mut self, handle: FleshHandle) -> Result<(), StepError> {
        let width = self.lane_width;
        let Instance {
            flesh, blocks, state, skin_inputs, section_matrices, morphed, network, mix, vertices, step, ..
        } = self.get_mut(handle)?;
        skin_inputs.gather(flesh, &state.nodes, &state.bones, &state.root);
        skin_inputs.take_palette(&blocks.skin, &state.palette);
        pose_sections(&blocks.skin, skin_inputs, &state.nodes, mix.rods, section_matrices);
        morph_skin(&blocks.skin, &state.morphs, morphed);
        #[cfg(feature = "neural")]
        if let Some(of) = network {
            of.correctives.share = mix.network;
            of.gather_inputs(&state.activations);
            infer_correctives(width, &Threads::new(1), &of.network, &mut [&mut of.correctives]);
        }
        let deltas = deltas_of(morphed, network.as_deref());
        for mut some in Vertices::new(blocks, skin_inputs, section_matrices, deltas, vertices) {
            deform_skin(width, &mut some);
        }
        vertices.step = *step;
        Ok(())
    }
}
