//! Stage `let_sleep`: which instances have been still for so long that they sleep; on the CPU at the frame's end, when it is known
//! who touches whom. Its twin is `shaders/let_sleep.wgsl`, which finds who sleeps by another algorithm: at the frame's start, each by what
//! those beside it knew a frame ago.

use super::lanes::LANES;
use crate::flesh::{Flesh, FleshState};
use crate::instances::{Instance, Instances, Rest};
use crate::layout::{chain, node, rest};

impl Rest {
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
    fn follow_rest(&mut self, within: f32, frame: f32) {
        let motion = &self.state.nodes.motion;
        let stood = motion.from == motion.to && motion.root[0] == motion.root[1];
        if self.steps().flesh && stood && self.is_left_alone() && self.state.nodes.is_well(&self.flesh) {
            self.state.rest.follow(&self.flesh, &self.state.nodes, within, frame);
        } else {
            self.state.rest.begin();
        }
    }

    fn fall_asleep(&mut self, island: u64) {
        self.state.rest.bounds = self.bounds();
        self.state.nodes.stop();
        self.state.rest.island = Some(island);
    }
}

impl Instances {
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
        let islands = self.islands(awake.iter().copied());
        let mut stirs = vec![false; self.slots.len()];
        for &index in &awake {
            stirs[islands[index]] |= self.rest(index).still < after;
        }
        for &index in &awake {
            let root = islands[index];
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
