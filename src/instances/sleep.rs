//! Which instances sleep, and what wakes them; stage `let_sleep` has them fall asleep.
//!
//! An instance is still while no node of it goes farther than a share of its radius from where it was, its bones stand, and nobody
//! pushes it. Those that touch each other are an island, which sleeps once all of it has been still for long enough: it is not
//! stepped and keeps all that it was in, what presses it too, but its velocities. What wakes one of them wakes them all.
//!
//! Where a GPU steps, it knows who sleeps, and the host as much of it as has come back; it is told who was stirred.

use glam::DVec3;

use super::{FleshHandle, Instance, InstanceState, Instances};
use crate::cpu::lanes::Entry;
use crate::flesh::BoneMotion;

/// How far a muscle's activation may be from where it goes to where it counts as there.
const SETTLED: f32 = 1.0e-3;

/// Whether an instance sleeps, and for how long it has been still.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Rest {
    /// For how long (s).
    pub still: f32,
    /// Where its nodes were when that began (m), 3 entries of each node row, and their chains' origins, group by group.
    pub from: Vec<Vec<Entry<f32>>>,
    /// With whom it sleeps.
    pub island: Option<u64>,
    /// What it covers asleep (m).
    pub bounds: [DVec3; 2],
}

impl Rest {
    pub fn is_asleep(&self) -> bool {
        self.island.is_some()
    }

    /// Whether it may be that of flesh of so many nodes in each group.
    pub fn fits(&self, mut nodes: impl Iterator<Item = usize>) -> bool {
        let places = self.from.iter().flatten().flatten();
        let numbered = self.island.is_none_or(|island| island < u64::MAX / 2);
        let sound = numbered && self.still >= 0.0 && places.chain([&self.still]).all(|value| value.is_finite());
        let [low, high] = self.bounds;
        let from = &mut self.from.iter();
        let fits = from.all(|group| nodes.next().map(|count| 3 * count + 3) == Some(group.len()))
            && (self.from.is_empty() || nodes.next().is_none());
        sound && fits && low.is_finite() && high.is_finite()
    }

    /// Whether it sleeps or has been still since some frame: where it was is known.
    pub fn goes_on(&self) -> bool {
        self.is_asleep() || !self.from.is_empty()
    }

    /// Begins anew to be still.
    pub fn begin(&mut self) {
        (self.still, self.island) = (0.0, None);
        self.from.clear();
    }
}

impl InstanceState {
    /// Whether it stays as its bones and activations were at the newest frame's end: bones that stand, activations that are where they
    /// go to.
    pub fn goes_on(&self, motion: &BoneMotion, activations: &[f32]) -> bool {
        let stands = motion.to == self.bones && motion.root[1] == self.root;
        let settled = |(activation, excitation): (&f32, &f32)| (activation - excitation).abs() < SETTLED;
        stands && activations.iter().zip(&self.excitations).all(settled)
    }
}

impl Instance {
    /// Whether it rests under what it was given: it stays as it is, without pushes.
    pub fn is_left_alone(&self) -> bool {
        self.state.goes_on(&self.state.nodes.motion, &self.state.activations) && self.pushes.is_empty()
    }

    /// What it covers (m).
    pub fn bounds(&self) -> [DVec3; 2] {
        let Self { flesh, state, .. } = self;
        if state.rest.is_asleep() {
            return state.rest.bounds;
        }
        let chains = flesh.chains().iter().enumerate();
        let all = chains
            .flat_map(|(chain, info)| (0..info.node_count()).map(move |index| state.nodes.node(flesh, chain, index)));
        all.fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[low, high], node| {
            let radius = DVec3::splat(f64::from(node.radius));
            [low.min(node.place - radius), high.max(node.place + radius)]
        })
    }
}

impl Instances {
    /// Wakes an instance and all that sleep with it. All begin anew to be still: what one lies on may be gone, and in a frame it falls
    /// by less than what is still may go.
    pub fn wake(&mut self, handle: FleshHandle) {
        self.wake_island(handle, Rest::begin);
        if let Ok(instance) = self.get_mut(handle) {
            instance.state.rest.begin();
            instance.stirred = true;
        }
    }

    /// Wakes an instance, all that sleep with it, and all that touch it or that it touches, asleep or not: it may be gone, or no longer
    /// bear them.
    pub fn wake_around(&mut self, handle: FleshHandle) {
        self.wake(handle);
        // Of what sleeps on a GPU it is not known here whom it touches.
        self.iter_mut().for_each(|instance| instance.stirred = true);
        let touches = |instance: &Instance, other| instance.state.touches.iter().any(|touch| touch.other == other);
        let Ok(instance) = self.get(handle) else { return };
        let around: Vec<_> = self
            .handles()
            .filter(|(other, beside)| touches(beside, handle) || touches(instance, *other))
            .map(|(other, _)| other)
            .collect();
        around.into_iter().for_each(|other| self.wake(other));
    }

    /// Forgets what an instance's chains and others' remember of touching each other.
    pub fn part(&mut self, handle: FleshHandle) {
        for instance in self.iter_mut() {
            instance.state.touches.retain(|touch| touch.other != handle);
        }
        if let Ok(instance) = self.get_mut(handle) {
            instance.part();
        }
    }

    /// Begins a frame of `dt` (s). Flesh that from here on moves no skin bears nobody.
    pub fn begin_frame(&mut self, dt: f64) {
        let mut gone = Vec::new();
        for (index, slot) in self.slots.iter_mut().enumerate() {
            let Some(instance) = &mut slot.instance else { continue };
            let stepped = instance.steps().flesh;
            instance.begin_frame(dt);
            if stepped && !instance.steps().flesh {
                gone.push(FleshHandle { index: index as u32, generation: slot.generation });
            }
        }
        if !gone.is_empty() {
            gone.into_iter().for_each(|handle| self.wake_around(handle));
            self.begin_beside();
        }
    }

    /// Where one begins anew to be still, all do that touch it, themselves or by others, as if they slept with it: it may go from
    /// under them, and in a frame they fall by less than what is still may go.
    pub fn begin_beside(&mut self) {
        let begins = |instance: &Instance| instance.steps().flesh && !instance.state.rest.goes_on();
        if !self.iter().any(begins) || !self.iter().any(|instance| instance.state.rest.goes_on()) {
            return;
        }
        let there: Vec<_> = self.handles().filter(|(_, instance)| instance.steps().flesh).collect();
        let islands = self.islands(there.iter().map(|(handle, _)| handle.index as usize));
        let mut begun = vec![false; self.slots.len()];
        there.iter().for_each(|(handle, instance)| begun[islands[handle.index as usize]] |= begins(instance));
        let beside = |(handle, instance): &(FleshHandle, &Instance)| {
            begun[islands[handle.index as usize]] && instance.state.rest.goes_on()
        };
        let beside: Vec<_> = there.into_iter().filter(beside).map(|(handle, _)| handle).collect();
        beside.into_iter().for_each(|handle| self.wake(handle));
    }

    /// Of each slot, the one that stands for its island: for all that the instances of these slots touch, themselves or by others
    /// of them.
    pub fn islands(&self, slots: impl Iterator<Item = usize>) -> Vec<usize> {
        // Trees whose roots stand for themselves.
        let mut with: Vec<usize> = (0..self.slots.len()).collect();
        for index in slots {
            let touches = self.slots[index].instance.as_ref().map_or(&[][..], |instance| &instance.state.touches);
            let mut last = None;
            for touch in touches {
                let (other, _) = touch.other.parts();
                if last.replace(other) != Some(other) && self.get(touch.other).is_ok() {
                    let (a, b) = (root_of(&mut with, index), root_of(&mut with, other));
                    with[a.max(b)] = a.min(b);
                }
            }
        }
        (0..with.len()).map(|index| root_of(&mut with, index)).collect()
    }

    /// As [`Self::wake`], of what comes near; those go on being still whom it does not move.
    pub fn wake_near(&mut self, handle: FleshHandle) {
        self.wake_island(handle, |rest| rest.island = None);
    }

    fn wake_island(&mut self, handle: FleshHandle, wake: impl Fn(&mut Rest)) {
        let Some(island) = self.get(handle).ok().and_then(|instance| instance.state.rest.island) else { return };
        for instance in self.iter_mut().filter(|instance| instance.state.rest.island == Some(island)) {
            wake(&mut instance.state.rest);
            instance.tally.slept = false;
        }
    }
}

/// Which slot stands for another one's island.
fn root_of(with: &mut [usize], mut index: usize) -> usize {
    while with[index] != index {
        with[index] = with[with[index]];
        index = with[index];
    }
    index
}
