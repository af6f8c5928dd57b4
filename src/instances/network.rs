//! A network that moves an instance's skin.

#[cfg(feature = "neural")]
pub(crate) use built::{InstanceNetwork, batches};

#[cfg(feature = "neural")]
mod built {
    use std::sync::Arc;

    use glam::{Quat, Vec3};

    use crate::instances::Instances;
    use crate::neural::{Binding, CorrectiveNetwork, Correctives};

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
