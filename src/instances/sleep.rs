//! Which instances sleep.
//!
//! An instance is still while no node of it goes farther than a share of its radius from where it was, its bones stand, and nobody
//! pushes it. Those that touch each other are an island, which sleeps once all of it has been still for long enough: it is not
//! stepped and keeps all that it was in, what presses it too, but its velocities. What wakes one of them wakes them all.

use glam::DVec3;

use super::{FleshHandle, Instance, Instances};
use crate::cpu::lanes::{Entry, LANES};
use crate::flesh::{Flesh, FleshState};
use crate::layout::{chain, node, rest};

/// How far a muscle's activation may be from where it goes to where it counts as there.
const SETTLED: f32 = 1.0e-3;

/// Whether an instance sleeps, and for how long it has been still.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Rest {
    /// For how long (s).
    still: f32,
    /// Where its nodes were when that began (m), 3 entries of each node row, and their chains' origins, group by group.
    from: Vec<Vec<Entry<f32>>>,
    /// With whom it sleeps.
    island: Option<u64>,
    /// What it covers asleep (m).
    bounds: [DVec3; 2],
}

impl Rest {
    pub fn is_asleep(&self) -> bool {
        self.island.is_some()
    }

    /// What it covers, where it sleeps.
    pub fn bounds(&self) -> Option<[DVec3; 2]> {
        self.is_asleep().then_some(self.bounds)
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

    /// Begins anew to be still.
    pub fn begin(&mut self) {
        (self.still, self.island) = (0.0, None);
        self.from.clear();
    }

    /// Follows a frame of so long (s): still goes on where no node went farther from where it was than so large a share of its radius.
    fn follow(&mut self, flesh: &Flesh, nodes: &FleshState, within: f32, frame: f32) {
        let moved = self.from.len() != nodes.groups.len()
            || flesh.groups.iter().zip(&nodes.groups).zip(&self.from).any(|((rests, group), from)| {
                let (from, origin) = from.split_at(from.len().saturating_sub(3));
                let now = &group.chains[chain::ORIGIN..][..3];
                let rows = group.nodes.chunks_exact(node::ENTRIES).zip(from.chunks_exact(3)).enumerate();
                rows.into_iter().any(|(index, (row, from))| {
                    let radius = &rests.row(index)[rest::RADIUS];
                    (0..LANES).any(|lane| {
                        let shift = |k: usize| now[k][lane] - origin[k][lane];
                        let gone = |k: usize| (row[node::PLACE + k][lane] - from[k][lane]) + shift(k);
                        let most = within * radius[lane];
                        // Padding has no radius.
                        radius[lane] > 0.0 && gone(0) * gone(0) + gone(1) * gone(1) + gone(2) * gone(2) > most * most
                    })
                })
            });
        if !moved {
            self.still += frame;
            return;
        }
        self.still = 0.0;
        self.from.resize_with(nodes.groups.len(), Vec::new);
        for (from, group) in self.from.iter_mut().zip(&nodes.groups) {
            from.clear();
            from.extend(group.nodes.chunks_exact(node::ENTRIES).flat_map(|row| &row[node::PLACE..node::PLACE + 3]));
            from.extend(&group.chains[chain::ORIGIN..][..3]);
        }
    }
}

impl Instance {
    /// Whether it rests under what it was given: bones that stand, activations that are where they go to, no pushes.
    pub fn is_left_alone(&self) -> bool {
        let state = &self.state;
        let motion = &state.nodes.motion;
        let stands = motion.to == state.bones && motion.root[1] == state.root;
        let settled = |(activation, excitation): (&f32, &f32)| (activation - excitation).abs() < SETTLED;
        let calm = state.activations.iter().zip(&state.excitations).all(settled);
        stands && calm && self.pushes.is_empty()
    }

    fn follow_rest(&mut self, within: f32, frame: f32) {
        let motion = &self.state.nodes.motion;
        let stood = motion.from == motion.to && motion.root[0] == motion.root[1];
        if self.steps().flesh && stood && self.is_left_alone() {
            self.state.rest.follow(&self.flesh, &self.state.nodes, within, frame);
        } else {
            self.state.rest.begin();
        }
    }

    fn fall_asleep(&mut self, island: u64) {
        let Self { flesh, state, .. } = self;
        let (flesh, nodes) = (&**flesh, &state.nodes);
        let chains = flesh.chains().iter().enumerate();
        let all =
            chains.flat_map(|(chain, info)| (0..info.node_count()).map(move |index| nodes.node(flesh, chain, index)));
        state.rest.bounds = all.fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[low, high], node| {
            let radius = DVec3::splat(f64::from(node.radius));
            [low.min(node.place - radius), high.max(node.place + radius)]
        });
        state.nodes.stop();
        state.rest.island = Some(island);
    }
}

impl Instances {
    /// Wakes an instance and all that sleep with it. All begin anew to be still: what one lies on may be gone, and in a frame it falls
    /// by less than what is still may go.
    pub fn wake(&mut self, handle: FleshHandle) {
        self.wake_island(handle, Rest::begin);
        if let Ok(instance) = self.get_mut(handle) {
            instance.state.rest.begin();
        }
    }

    /// Wakes an instance, all that sleep with it, and all that touch it or that it touches, asleep or not: it may be gone, or no longer
    /// bear them.
    pub fn wake_around(&mut self, handle: FleshHandle) {
        self.wake(handle);
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
        gone.into_iter().for_each(|handle| self.wake_around(handle));
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

    /// Has those fall asleep that have been still for so long (s), with all that they touch, after a frame of so long.
    pub fn let_sleep(&mut self, after: f32, within: f32, frame: f32) {
        let mut awake = Vec::new();
        let mut next_island = 0;
        for (index, slot) in self.slots.iter_mut().enumerate() {
            let Some(instance) = &mut slot.instance else { continue };
            match instance.state.rest.island {
                Some(island) => next_island = next_island.max(island + 1),
                None => {
                    instance.follow_rest(within, frame);
                    // What is paused stirs nobody.
                    awake.extend(instance.steps().flesh.then_some(index));
                }
            }
        }
        if awake.iter().all(|&index| self.rest(index).still < after) {
            return;
        }
        // Of each slot, one that it is of an island with: islands are trees whose root stands for itself.
        let mut with: Vec<usize> = (0..self.slots.len()).collect();
        for &index in &awake {
            let touches = self.slots[index].instance.as_ref().map_or(&[][..], |instance| &instance.state.touches);
            let mut last = None;
            for touch in touches {
                let other = touch.other.index as usize;
                if last.replace(other) != Some(other) && self.get(touch.other).is_ok() {
                    let (a, b) = (root_of(&mut with, index), root_of(&mut with, other));
                    with[a.max(b)] = a.min(b);
                }
            }
        }
        let mut stirs = vec![false; self.slots.len()];
        for &index in &awake {
            stirs[root_of(&mut with, index)] |= self.rest(index).still < after;
        }
        for &index in &awake {
            let root = root_of(&mut with, index);
            if !stirs[root]
                && let Some(instance) = &mut self.slots[index].instance
            {
                instance.fall_asleep(next_island + root as u64);
            }
        }
    }

    fn rest(&self, index: usize) -> &Rest {
        &self.slots[index].instance.as_ref().expect("is there").state.rest
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
