//! Networks of instances: what moves their skin, how much of it, and what it reads.

use std::sync::Arc;

use glam::Quat;

use super::Physics;
use crate::StepError;
use crate::instances::{FleshHandle, InstanceNetwork};
use crate::neural::{Binding, CorrectiveNetwork, Correctives, Detail};
use crate::skin::SkinBlending;

impl Physics {
    /// Gives an instance's skin a network, in the place of the one that it had: with every step that deforms the skin the network
    /// moves its vertices before they are skinned (stage `infer_correctives`). All instances that share a network are one batch,
    /// as [`Inference`](crate::neural::Inference) runs it.
    ///
    /// `binding` says which chains its muscles are ([`CorrectiveNetwork::bind`]); how its joints are turned
    /// [`Physics::set_joint_rotations`] says before each step, at rest until then. Characters of an hecs world take
    /// `world::set_network` instead, and have their poses read. Normals and tangents stay as they are
    /// in mesh space: what turns is what skinning turns. Snapshots do not have it, but what is set of it.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`]; [`StepError::NetworkVertices`], [`StepError::NetworkInputs`] or [`StepError::NoSuchChain`] where
    /// the network is of another mesh, or the binding of another network or other flesh; [`StepError::NetworkBlending`];
    /// `StepError::Gpu` with `GpuError::NetworksTooLarge` where the GPU in use has no room for it, or `GpuError::ArrayTooLarge` for
    /// what it adds.
    pub fn set_network(
        &mut self,
        handle: FleshHandle,
        network: Arc<CorrectiveNetwork>,
        binding: Binding,
    ) -> Result<(), StepError> {
        let instance = self.get(handle)?;
        let (vertices, chains) = (instance.blocks.skin.vertices.len(), instance.flesh.chains().len());
        if instance.blocks.skin.blending != SkinBlending::Linear {
            return Err(StepError::NetworkBlending);
        }
        if vertices != network.vertex_count() {
            return Err(StepError::NetworkVertices { network: network.vertex_count(), skin: vertices });
        }
        check_count("joints", binding.joints.len(), network.joints().len())?;
        check_count("muscles", binding.muscles.len(), network.muscles().len())?;
        if let Some(&chain) = binding.muscles.iter().find(|&&chain| chain as usize >= chains) {
            return Err(StepError::NoSuchChain { chain: chain as usize, count: chains });
        }
        #[cfg(feature = "gpu")]
        self.check_room(&self.backend, Some((handle, &network)))?;
        let instance = self.get_mut(handle)?;
        instance.network = Some(Box::new(InstanceNetwork::new(network, binding)));
        instance.redeform = true;
        Ok(())
    }

    /// Whether a backend has room for the networks of all instances and for what they add, or for those that there are once one has
    /// another.
    #[cfg(feature = "gpu")]
    pub(crate) fn check_room(
        &self,
        backend: &super::ActiveBackend,
        change: Option<(FleshHandle, &Arc<CorrectiveNetwork>)>,
    ) -> Result<(), crate::gpu::GpuError> {
        let super::ActiveBackend::Gpu(gpu) = backend else { return Ok(()) };
        let instances = || {
            self.instances.handles().map(|(handle, instance)| {
                let own = instance.network.as_deref().map(|own| &own.network);
                let network =
                    change.filter(|(changed, _)| *changed == handle).map_or(own, |(_, network)| Some(network));
                (instance, network)
            })
        };
        crate::gpu::check_networks(gpu.device(), instances().filter_map(|(_, network)| network))?;
        crate::gpu::check_deltas(
            gpu.device(),
            instances().map(|(instance, network)| {
                let skin = &instance.blocks.skin;
                (skin, [skin.is_morphed(&instance.state.morphs), network.is_some()])
            }),
        )
    }

    /// Takes an instance's network away, if it has one.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn remove_network(&mut self, handle: FleshHandle) -> Result<(), StepError> {
        let instance = self.get_mut(handle)?;
        instance.redeform |= instance.network.take().is_some();
        Ok(())
    }

    /// An instance's network, and where its inputs come from.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn network(&self, handle: FleshHandle) -> Result<Option<(&Arc<CorrectiveNetwork>, &Binding)>, StepError> {
        let network = self.get(handle)?.network.as_deref();
        Ok(network.map(|InstanceNetwork { network, binding, .. }| (network, binding)))
    }

    /// What an instance keeps of its network: detail, masks, what it reads; on the CPU also what was inferred in the last step.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn correctives(&self, handle: FleshHandle) -> Result<Option<&Correctives>, StepError> {
        Ok(self.get(handle)?.network.as_deref().map(|network| &network.correctives))
    }

    /// Says how the joints of an instance's network are turned at the next step's end: of each the rotation relative to its parent,
    /// seen from the same at rest (R̄⁻¹R), in the network's order, as [`Correctives::set_inputs`] takes them.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`], [`StepError::NoNetwork`] or [`StepError::NetworkInputs`].
    pub fn set_joint_rotations(&mut self, handle: FleshHandle, rotations: &[Quat]) -> Result<(), StepError> {
        self.change(handle, |own| {
            check_count("joints", rotations.len(), own.rotations.len())?;
            let changed = own.rotations != rotations;
            own.rotations.copy_from_slice(rotations);
            Ok(changed)
        })
    }

    /// Sets how much of its network an instance has from the next step on; with a weight of 0 it is not run.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`] or [`StepError::NoNetwork`].
    pub fn set_detail(&mut self, handle: FleshHandle, detail: Detail) -> Result<(), StepError> {
        self.change(handle, |own| {
            let changed = own.correctives.detail != detail;
            own.correctives.detail = detail;
            Ok(changed)
        })
    }

    /// Sets which of its network's joints and muscles an instance has read from the next step on; others count as at rest.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`], [`StepError::NoNetwork`] or [`StepError::NetworkInputs`].
    pub fn set_network_masks(
        &mut self,
        handle: FleshHandle,
        joints: &[bool],
        muscles: &[bool],
    ) -> Result<(), StepError> {
        self.change(handle, |own| {
            let Correctives { joint_mask, muscle_mask, .. } = &mut own.correctives;
            check_count("joints", joints.len(), joint_mask.len())?;
            check_count("muscles", muscles.len(), muscle_mask.len())?;
            joint_mask.copy_from_slice(joints);
            muscle_mask.copy_from_slice(muscles);
            Ok(true)
        })
    }

    /// Changes an instance's network; `change` says whether it did.
    fn change(
        &mut self,
        handle: FleshHandle,
        change: impl FnOnce(&mut InstanceNetwork) -> Result<bool, StepError>,
    ) -> Result<(), StepError> {
        let instance = self.get_mut(handle)?;
        instance.redeform |= change(instance.network.as_deref_mut().ok_or(StepError::NoNetwork)?)?;
        Ok(())
    }
}

fn check_count(what: &'static str, given: usize, expected: usize) -> Result<(), StepError> {
    if given == expected { Ok(()) } else { Err(StepError::NetworkInputs { what, given, expected }) }
}
