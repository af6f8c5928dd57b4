//! States: saved, restored, hashed; of all flesh, and of one instance.

use super::Physics;
use super::saved::{Saved, SavedFlesh, SnapshotError};
use super::sleep::boxes_meet;
use super::stepping::Stepped;
use crate::StepError;
use crate::instances::{FleshHandle, Instance};
use crate::layout::{LANES, chain};
use crate::skin::SkinnedVertices;

/// The whole state of a [`Physics`], see [`Physics::save`]. With feature `serde` it can be written and read; formats that
/// keep every bit of f32 and f64 keep the state to the bit (of `serde_json` that needs its feature `float_roundtrip`).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct Snapshot(Saved<SceneState>);

#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct SceneState {
    instances: Vec<(FleshHandle, SavedFlesh)>,
    last_substep: f64,
    last_solve_step: f64,
    step: u64,
    /// What those that sleep or were still were so in, if any was ([`Surroundings::digest`](super::sleep::Surroundings::digest)).
    slept_in: Option<u64>,
}

/// The state of one instance, see [`Physics::save_flesh`]. It can be written and read as a [`Snapshot`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct FleshSnapshot(Saved<OneState>);

#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct OneState {
    flesh: SavedFlesh,
    last_substep: f64,
}

/// FNV-1a over bits, a word at a time.
pub(super) struct Digest(pub u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    fn take(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01b3);
    }

    pub fn take_all(&mut self, values: impl IntoIterator<Item = f64>) {
        values.into_iter().for_each(|value| self.take(value.to_bits()));
    }
}

/// What became of the instances when a [`Snapshot`] was restored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// Those that are as they were saved.
    pub restored: Vec<FleshHandle>,
    /// Saved ones that were removed since.
    pub gone: Vec<FleshHandle>,
    /// Saved ones in whose place there is other flesh, which goes on as it is: in another [`Physics`] than the one that
    /// was saved, handles may name others.
    pub other_flesh: Vec<FleshHandle>,
    /// Those that were not there when the snapshot was saved. They go on as they are.
    pub newer: Vec<FleshHandle>,
}

impl Restored {
    /// Whether exactly the saved instances are there again.
    pub fn is_whole(&self) -> bool {
        self.gone.is_empty() && self.other_flesh.is_empty() && self.newer.is_empty()
    }
}

impl Physics {
    /// The whole state as [`Physics::state`] shows it, so [`Physics::finish`] first on a GPU; [`Physics::restore`]
    /// then continues bit for bit. What the next step was to be given ([`Physics::add_force`]) is none of it, nor what of an
    /// instance is active. Networks are assets, as flesh and skin are: of them it has detail, masks and how joints are turned, which
    /// instances take that have a network of as many joints and muscles when it is restored.
    pub fn save(&self) -> Snapshot {
        let instances = self.instances.handles().map(|(handle, instance)| (handle, SavedFlesh::of(instance))).collect();
        let [last_substep, last_solve_step] = self.newest().substeps;
        let any_rests = self.instances.iter().any(|instance| instance.state.rest.goes_on());
        let (step, slept_in) = (self.shown_step(), any_rests.then(|| self.surroundings.digest()));
        Snapshot(Saved::new(SceneState { instances, last_substep, last_solve_step, step, slept_in }))
    }

    /// Goes back to a saved state of the flesh: of all instances that were saved and are there still. Says which they are,
    /// which saved ones are gone, and which were added since and go on as they are. Configuration, planes, solids, the hecs
    /// world and rigid bodies are the host's. Skin is empty until the next step.
    ///
    /// # Errors
    /// [`SnapshotError::Version`], [`SnapshotError::Rows`] or [`SnapshotError::NotSound`] for what was read and cannot
    /// be restored; [`SnapshotError::Step`] where a GPU failed. Nothing changed then.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<Restored, SnapshotError> {
        let scene = snapshot.0.state()?;
        let mut outcome = Restored::default();
        for (handle, saved) in &scene.instances {
            match self.get(*handle).map(|instance| saved.check(instance)) {
                Err(_) => outcome.gone.push(*handle),
                Ok(Err(SnapshotError::OtherFlesh { .. })) => outcome.other_flesh.push(*handle),
                Ok(checked) => {
                    checked?;
                    outcome.restored.push(*handle);
                }
            }
        }
        let was_saved = |handle: &FleshHandle| scene.instances.iter().any(|(saved, _)| saved == handle);
        outcome.newer =
            self.instances.handles().map(|(handle, _)| handle).filter(|handle| !was_saved(handle)).collect();
        if !(outcome.newer.is_empty() && outcome.other_flesh.is_empty()) {
            // What goes on as it is a GPU may have alone.
            self.wait()?;
        }
        let newest = self.newest();
        if scene.last_substep != newest.substeps[0] {
            for handle in outcome.newer.iter().chain(&outcome.other_flesh) {
                self.get_mut(*handle)?.forget_history();
            }
        }
        outcome.restored.iter().for_each(|handle| self.instances.wake_around(*handle));
        for (handle, saved) in &scene.instances {
            if outcome.restored.contains(handle) {
                self.get_mut(*handle)?.take(saved);
            }
        }
        self.wake_restored(scene, &outcome);
        let substeps = [scene.last_substep, scene.last_solve_step];
        self.frames = [Stepped { step: scene.step, substeps, time: newest.time }].into();
        self.at_step(scene.step);
        Ok(outcome)
    }

    /// Wakes what sleeps on what is no longer there, and what others are put back into.
    fn wake_restored(&mut self, scene: &SceneState, outcome: &Restored) {
        let (before, now) = (self.surroundings.digest(), self.surroundings_now());
        let bounds = |handle: &FleshHandle| self.get(*handle).map(Instance::bounds);
        let restored: Vec<_> = outcome.restored.iter().filter_map(|handle| bounds(handle).ok()).collect();
        let is_covered =
            |handle: &FleshHandle| bounds(handle).is_ok_and(|own| restored.iter().any(|other| boxes_meet(&own, other)));
        let others = outcome.newer.iter().chain(&outcome.other_flesh).copied();
        let woken: Vec<_> = others.filter(|handle| before != now.digest() || is_covered(handle)).collect();
        woken.into_iter().for_each(|handle| self.instances.wake(handle));
        for (handle, saved) in &scene.instances {
            let touches_else = |instance: &Instance| instance.collisions != saved.collisions;
            if outcome.restored.contains(handle) && self.get(*handle).is_ok_and(touches_else) {
                self.instances.wake(*handle);
            }
        }
        if scene.slept_in.is_some_and(|slept_in| slept_in != now.digest()) {
            outcome.restored.iter().for_each(|handle| self.instances.wake(*handle));
        }
        self.surroundings = now;
        let is_lost = |handle: &FleshHandle| outcome.gone.contains(handle) || outcome.other_flesh.contains(handle);
        for (handle, saved) in &scene.instances {
            for pair in saved.state.touches.iter().map(|touch| [*handle, touch.other]) {
                if pair.iter().any(is_lost) {
                    pair.into_iter().for_each(|handle| self.instances.wake(handle));
                }
            }
        }
    }

    /// The state of one instance as [`Physics::state`] shows it, so [`Physics::finish`] first on a GPU.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn save_flesh(&self, handle: FleshHandle) -> Result<FleshSnapshot, StepError> {
        let flesh = SavedFlesh::of(self.get(handle)?);
        Ok(FleshSnapshot(Saved::new(OneState { flesh, last_substep: self.newest().substeps[0] })))
    }

    /// Puts an instance back to a saved state of its own, or of another instance of the same flesh, in this [`Physics`] or
    /// another one: where it was, bones, activations and all. The others do not notice. Its skin is empty until the next
    /// step.
    ///
    /// # Errors
    /// [`SnapshotError::Step`] where the handle names no instance; [`SnapshotError::OtherFlesh`] where the flesh is not
    /// the same; [`SnapshotError::Version`], [`SnapshotError::Rows`] or [`SnapshotError::NotSound`] for what was read and
    /// cannot be restored. Nothing changed then.
    pub fn restore_flesh(&mut self, handle: FleshHandle, snapshot: &FleshSnapshot) -> Result<(), SnapshotError> {
        let OneState { flesh, last_substep } = snapshot.0.state()?;
        flesh.check(self.get(handle)?)?;
        let (known, step) = (self.newest().substeps[0], self.step);
        self.instances.wake_around(handle);
        let instance = self.get_mut(handle)?;
        instance.take(flesh);
        // What was saved asleep was so among others.
        instance.state.rest.begin();
        // Whom it touched may be elsewhere, or others.
        self.instances.part(handle);
        let instance = self.get_mut(handle)?;
        if known == 0.0 {
            // Before the first step no other instance has a history.
            self.frames = [Stepped { step, substeps: [*last_substep, 0.0], ..Stepped::default() }].into();
        } else if known != *last_substep {
            instance.forget_history();
        }
        Ok(())
    }

    /// A hash of all node state as [`Physics::state`] shows it: equal states have equal hashes, on any machine.
    pub fn state_hash(&self) -> u64 {
        // Of what a node is and does, not of how that is laid out.
        let mut bits = Digest::default();
        for Instance { flesh, state, .. } in self.instances.iter() {
            for (index, chain) in flesh.chains().iter().enumerate() {
                for node in (0..chain.node_count()).map(|node| state.nodes.node(flesh, index, node)) {
                    bits.take_all(node.place.to_array());
                    let motion = node.velocity.to_array().into_iter().chain(node.spin.to_array());
                    let words = node.frame.to_array().into_iter().chain([node.scale]).chain(motion);
                    words.for_each(|value| bits.take(u64::from(value.to_bits())));
                }
            }
        }
        bits.0
    }
}

impl Instance {
    fn take(&mut self, saved: &SavedFlesh) {
        self.state.clone_from(&saved.state);
        self.mix = saved.mix;
        if let (Some(network), Some(settings)) = (&mut self.network, &saved.network) {
            network.take(settings);
        }
        self.redeform = true;
        self.vertices = SkinnedVertices::default();
        self.pushes.clear();
        (self.fresh, self.changed, self.placed) = (false, true, false);
    }

    /// Lets the next substep be one without a last one: that was of another length than is known of it.
    fn forget_history(&mut self) {
        for group in &mut self.state.nodes.groups {
            group.chains[chain::HISTORY] = [0.0; LANES as usize];
        }
        self.changed = true;
    }
}
