//! A network that moves an instance's skin.

use glam::Quat;

/// What is set of an instance's network, as snapshots keep it: the network itself is an asset, as its skin is.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct NetworkSettings {
    /// Weight and counts of components, as bits: all of them is infinite, which is no number in JSON.
    detail: [u32; 3],
    joint_mask: Vec<bool>,
    muscle_mask: Vec<bool>,
    /// Of each of its joints.
    rotations: Vec<Quat>,
}

#[cfg(feature = "neural")]
pub(crate) use built::{InstanceNetwork, batches};

#[cfg(feature = "neural")]
mod built {
    use std::sync::Arc;

    use glam::{Quat, Vec3};

    use super::NetworkSettings;
    use crate::instances::Instances;
    use crate::neural::{Binding, CorrectiveNetwork, Correctives, Detail};

    pub(crate) struct InstanceNetwork {
        pub network: Arc<CorrectiveNetwork>,
        pub binding: Binding,
        pub correctives: Correctives,
        /// Of each of its joints, relative to the parent, seen from the same at rest.
        pub rotations: Vec<Quat>,
        /// Of each of its muscles.
        activations: Vec<f32>,
    }

    impl InstanceNetwork {
        pub fn new(network: Arc<CorrectiveNetwork>, binding: Binding) -> Self {
            let correctives = Correctives::new(&network);
            let rotations = vec![Quat::IDENTITY; network.joints().len()];
            Self { network, binding, correctives, rotations, activations: Vec::new() }
        }

        /// Part of stage `gather_inputs`: what the network reads, given the activations of all chains.
        pub fn gather_inputs(&mut self, activations: &[f32]) {
            let Self { network, binding, correctives, rotations, activations: own } = self;
            own.clear();
            own.extend(binding.muscles.iter().map(|&chain| activations[chain as usize]));
            correctives.set_inputs(network, rotations, own);
        }

        /// What is set of it.
        pub fn settings(&self) -> NetworkSettings {
            let Correctives { detail, joint_mask, muscle_mask, .. } = &self.correctives;
            NetworkSettings {
                detail: [detail.weight, detail.passive, detail.active].map(f32::to_bits),
                joint_mask: joint_mask.clone(),
                muscle_mask: muscle_mask.clone(),
                rotations: self.rotations.clone(),
            }
        }

        /// Takes what was set of a network of as many joints and muscles; of another one nothing.
        pub fn take(&mut self, settings: &NetworkSettings) {
            let NetworkSettings { detail, joint_mask, muscle_mask, rotations } = settings;
            let counts = [self.network.joints().len(), self.network.muscles().len(), self.network.joints().len()];
            if counts == [joint_mask.len(), muscle_mask.len(), rotations.len()] {
                let [weight, passive, active] = detail.map(f32::from_bits);
                self.correctives.detail = Detail { weight, passive, active };
                self.correctives.joint_mask.clone_from(joint_mask);
                self.correctives.muscle_mask.clone_from(muscle_mask);
                self.rotations.clone_from(rotations);
            }
        }

        /// Whether it is run at all.
        pub fn works(&self) -> bool {
            self.correctives.weight() > 0.0
        }

        /// What it adds to each vertex (m), where the CPU steps; empty where it adds nothing.
        pub fn deltas(&self) -> &[Vec3] {
            if self.correctives.moves { self.correctives.deltas() } else { &[] }
        }
    }

    /// Instances that deform their skin, by the network that they share, in the order of the first of each.
    pub(crate) fn batches(instances: &mut Instances) -> Vec<(Arc<CorrectiveNetwork>, Vec<&mut Correctives>)> {
        let mut batches: Vec<(Arc<CorrectiveNetwork>, Vec<&mut Correctives>)> = Vec::new();
        for instance in instances.iter_mut().filter(|instance| instance.deforms) {
            let Some(InstanceNetwork { network, correctives, .. }) = instance.network.as_deref_mut() else { continue };
            match batches.iter_mut().find(|(of, _)| Arc::ptr_eq(of, network)) {
                Some((_, batch)) => batch.push(correctives),
                None => batches.push((network.clone(), vec![correctives])),
            }
        }
        batches
    }
}

/// Never there without feature `neural`.
#[cfg(not(feature = "neural"))]
pub(crate) enum InstanceNetwork {}

#[cfg(not(feature = "neural"))]
impl InstanceNetwork {
    pub fn settings(&self) -> NetworkSettings {
        match *self {}
    }

    pub fn take(&mut self, _: &NetworkSettings) {
        match *self {}
    }

    pub fn gather_inputs(&mut self, _: &[f32]) {
        match *self {}
    }

    pub fn works(&self) -> bool {
        match *self {}
    }

    pub fn deltas(&self) -> &[glam::Vec3] {
        match *self {}
    }
}
