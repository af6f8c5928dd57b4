//! What there is to read of flesh after a step: nodes, muscles, reactions, health, quality.

use std::sync::Arc;

use glam::DVec3;

use super::{Physics, check_node};
use crate::flesh::{Flesh, MuscleState, NodeState, Reaction};
use crate::instances::{FleshHandle, Health, Instance};
use crate::layout::HealthReport;
use crate::quality::Wide;
use crate::skin::SectionMatrix;
use crate::{Pose, Quality, StepError};

impl Physics {
    /// What an instance is made of.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn flesh(&self, handle: FleshHandle) -> Result<&Arc<Flesh>, StepError> {
        Ok(&self.get(handle)?.flesh)
    }

    /// What a node of a chain is doing.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`], [`StepError::NoSuchChain`] or [`StepError::NoSuchNode`].
    pub fn node(&self, handle: FleshHandle, chain: usize, node: usize) -> Result<NodeState, StepError> {
        let instance = self.get(handle)?;
        check_node(&instance.flesh, chain, node)?;
        Ok(instance.state.nodes.node(&instance.flesh, chain, node))
    }

    /// Where an instance's bones are after the last step; on a GPU, after the one that [`Physics::state`] shows.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn bones(&self, handle: FleshHandle) -> Result<&[Pose], StepError> {
        Ok(&self.get(handle)?.state.nodes.motion.to)
    }

    /// How far a node of a chain is from where its bones alone carry it (m, in the world); 0 at rest. Of a muscle that slides
    /// in its bed, also how far it has slid. On a GPU as [`Physics::state`] shows it.
    ///
    /// # Errors
    /// As for [`Physics::node`].
    pub fn swing(&self, handle: FleshHandle, chain: usize, node: usize) -> Result<DVec3, StepError> {
        let Instance { flesh, state, .. } = self.get(handle)?;
        check_node(flesh, chain, node)?;
        let carried = state.nodes.carried(flesh, chain, node, &state.root);
        Ok(state.nodes.node(flesh, chain, node).place - carried.translation)
    }

    /// What a chain does as a muscle: length, volume, tension, and its forces on the bones; on a GPU as [`Physics::state`] shows
    /// it.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`] or [`StepError::NoSuchChain`].
    pub fn muscle(&self, handle: FleshHandle, chain: usize) -> Result<MuscleState, StepError> {
        let Instance { flesh, state, step, .. } = self.get(handle)?;
        check_node(flesh, chain, 0)?;
        Ok(state.nodes.muscle(flesh, chain, self.stepped_at(*step).substeps))
    }

    /// What a node of a chain did in the newest substep to the bone that holds or guides it; on a GPU as it last arrived, see
    /// [`Physics::state`].
    ///
    /// # Errors
    /// As for [`Physics::node`].
    pub fn reaction(&self, handle: FleshHandle, chain: usize, node: usize) -> Result<Reaction, StepError> {
        let Instance { flesh, state, .. } = self.get(handle)?;
        check_node(flesh, chain, node)?;
        Ok(state.nodes.reaction(flesh, chain, node))
    }

    /// What an instance's cross-sections did to its skin in the last step, one for each of
    /// [`Skin::sections`](crate::Skin::sections): on a GPU as they arrived last where they are asked for
    /// ([`ReadBack::sections`](crate::ReadBack::sections)).
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn section_matrices(&self, handle: FleshHandle) -> Result<&[SectionMatrix], StepError> {
        Ok(&self.get(handle)?.section_matrices)
    }

    /// How an instance is doing: since it was inserted, or as the snapshot says that it was restored from.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn health(&self, handle: FleshHandle) -> Result<&Health, StepError> {
        Ok(&self.get(handle)?.state.health)
    }

    /// What an instance said of itself after the newest step that is known: for tests.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    #[doc(hidden)]
    pub fn health_report(&self, handle: FleshHandle) -> Result<HealthReport, StepError> {
        Ok(self.get(handle)?.report)
    }

    /// How well all rods keep volume and length, how deep contacts are, how all flesh moves, and how far the last solve was from
    /// balance; on a GPU as [`Physics::state`] shows them, without the forces of chains on each other, which so count as what is left
    /// of balance. It is reckoned anew in f64 where it is asked for, some microseconds a segment; a step does nothing for it.
    pub fn quality(&self) -> Quality {
        let mut quality = Quality::default();
        let mut wide = None;
        for instance in self.instances.iter() {
            let (state, substeps) = (&instance.state.nodes, self.stepped_at(instance.step).substeps);
            quality.add(&instance.flesh, state, substeps);
            let of_this = Wide::of(&instance.flesh, wide.take());
            quality.add_motion(&of_this, state, self.config.gravity, substeps[0]);
            wide = Some(of_this);
        }
        self.penetrations(|depth| quality.add_contact(depth));
        quality
    }
}
