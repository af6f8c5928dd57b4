//! Sleep: what around it wakes sleeping flesh at a frame's start; see `src/instances/sleep.rs`. What awake flesh comes to touch,
//! `find_pairs` wakes.

use std::sync::Arc;

use glam::DVec3;

use super::Physics;
use super::snapshot::Digest;
use super::stepping::Plan;
use crate::cpu::solids::bounds_of;
use crate::instances::{FleshHandle, Instance};
use crate::{HalfSpace, Solid, StepError};

/// How far from what changed around it flesh is woken (m), beside how far that goes in the frame.
const NEAR: f64 = 0.02;

/// What flesh slept in.
#[derive(Default)]
pub(crate) struct Surroundings {
    gravity: DVec3,
    /// Whether flesh touches flesh.
    meets: bool,
    planes: Vec<HalfSpace>,
    solids: Vec<Solid>,
}

impl Surroundings {
    /// The same for the same ones: of half-spaces and of where solids are, not of all that these are made of.
    pub fn digest(&self) -> u64 {
        let mut bits = Digest::default();
        bits.take_all(self.gravity.to_array());
        bits.take_all([f64::from(u8::from(self.meets))]);
        for plane in &self.planes {
            bits.take_all(plane.normal.to_array());
            bits.take_all([plane.offset, plane.friction.into()]);
        }
        for solid in &self.solids {
            bits.take_all(bounds_of(solid, 0.0).into_iter().flat_map(|corner| corner.to_array()));
            bits.take_all(solid.pose.translation.to_array());
            bits.take_all(solid.pose.rotation.to_array());
        }
        bits.0
    }

    /// What of them is other in a frame of so long (s).
    fn changes(&self, next: ((DVec3, bool), &[HalfSpace], &[Solid]), frame: f64) -> Changes {
        let (of_all, planes, solids) = next;
        let other_plane = |pair: &[Option<&HalfSpace>; 2]| pair[0] != pair[1] || pair[1].is_some_and(moves_plane);
        let other_solid = |pair: &[Option<&Solid>; 2]| match pair {
            [Some(one), Some(next)] => !is_same(one, next),
            _ => true,
        };
        let around = |solid: &Solid| {
            let [low, high] = bounds_of(solid, frame);
            [low - NEAR, high + NEAR]
        };
        Changes {
            of_all: of_all != (self.gravity, self.meets),
            planes: pairs(&self.planes, planes).filter(other_plane).flatten().flatten().cloned().collect(),
            boxes: pairs(&self.solids, solids).filter(other_solid).flatten().flatten().map(around).collect(),
        }
    }
}

/// What is other around flesh than in the frame before.
#[derive(Default)]
pub(crate) struct Changes {
    /// Whether gravity is, or whether flesh touches flesh.
    of_all: bool,
    /// Half-spaces that are, as they were and as they are.
    planes: Vec<HalfSpace>,
    /// Within which solids are (m).
    pub boxes: Vec<[DVec3; 2]>,
}

impl Changes {
    /// Whether something is other wherever flesh is: half-spaces are for all.
    #[cfg(feature = "gpu")]
    pub fn are_everywhere(&self) -> bool {
        self.of_all || !self.planes.is_empty()
    }

    /// Whether anything is other for an instance, in a frame of so long (s).
    fn reach(&self, instance: &Instance, frame: f64) -> bool {
        if self.of_all || self.planes.is_empty() && self.boxes.is_empty() {
            return self.of_all;
        }
        let bounds @ [low, high] = instance.bounds();
        let near_plane = |plane: &HalfSpace| {
            let (middle, half) = ((low + high) * 0.5, (high - low) * 0.5);
            // Of its middle, and of what is farthest from that.
            let turns = plane.spin.length() * half.length();
            let goes = ((plane.velocity + plane.spin.cross(middle - plane.centre)).length() + turns) * frame;
            plane.distance(middle) <= half.dot(plane.normal.abs()) + goes + NEAR
        };
        self.planes.iter().any(near_plane) || self.boxes.iter().any(|other| boxes_meet(&bounds, other))
    }
}

/// Those of two lists that stand at the same place.
fn pairs<'a, T>(a: &'a [T], b: &'a [T]) -> impl Iterator<Item = [Option<&'a T>; 2]> {
    (0..a.len().max(b.len())).map(|index| [a.get(index), b.get(index)])
}

/// Whether two boxes have a point in common.
pub(super) fn boxes_meet(a: &[DVec3; 2], b: &[DVec3; 2]) -> bool {
    a[0].cmple(b[1]).all() && b[0].cmple(a[1]).all()
}

fn moves_plane(plane: &HalfSpace) -> bool {
    plane.velocity != DVec3::ZERO || plane.spin != DVec3::ZERO
}

/// Whether a solid is as it was, and stands.
fn is_same(one: &Solid, next: &Solid) -> bool {
    let stands = next.velocity == DVec3::ZERO && next.spin == DVec3::ZERO;
    let like = |solid: &Solid| {
        let Solid { border_radius, dents, friction, friction_rule, restitution, restitution_rule, groups, .. } = *solid;
        (border_radius, dents, (friction, friction_rule), (restitution, restitution_rule), groups)
    };
    stands && Arc::ptr_eq(&one.shape, &next.shape) && one.pose == next.pose && like(one) == like(next)
}

impl Physics {
    /// Whether an instance sleeps, see [`StepConfig::sleep_after`](crate::step::StepConfig::sleep_after); on a GPU as of the newest
    /// step of which that has come back.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn is_asleep(&self, handle: FleshHandle) -> Result<bool, StepError> {
        let instance = self.get(handle)?;
        Ok(if self.on_cpu() { instance.state.rest.is_asleep() } else { instance.report.asleep != 0 })
    }

    /// Wakes an instance and all that sleep with it. Steps do so by themselves where its bones, its activations or what is around
    /// it change, where it is pushed, and where something comes near that is awake.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn wake(&mut self, handle: FleshHandle) -> Result<(), StepError> {
        self.get(handle)?;
        self.instances.wake(handle);
        Ok(())
    }

    /// Wakes those that are given something else in the frame to come than what they slept in; what of that a GPU is to tell them.
    /// Those awake that it would have woken begin anew to be still.
    pub(crate) fn rouse(&mut self, plan: &Plan) -> Changes {
        let of_all = (self.config.gravity, self.config.passes > 0);
        let next = (of_all, plan.planes.as_slice(), plan.solids.solids());
        let (changes, frame) = (self.surroundings.changes(next, plan.time.asked), plan.time.asked);
        let sleeps = self.on_cpu() && self.sleeps();
        let stirred = |instance: &Instance| {
            let is_other = || !sleeps || !instance.is_left_alone() || changes.reach(instance, frame);
            instance.state.rest.goes_on() && is_other()
        };
        let all = self.instances.handles();
        let woken: Vec<_> = all.filter(|(_, instance)| stirred(instance)).map(|(handle, _)| handle).collect();
        woken.into_iter().for_each(|handle| self.instances.wake(handle));
        if sleeps {
            self.instances.begin_beside();
        }
        changes
    }

    /// Has those fall asleep that have been still for long enough; where a GPU steps it has done so.
    pub(crate) fn let_sleep(&mut self, plan: &Plan) {
        if !self.sleeps() {
            return;
        }
        self.surroundings.gravity = self.config.gravity;
        self.surroundings.meets = self.config.passes > 0;
        self.surroundings.planes.clone_from(&plan.planes);
        self.surroundings.solids.clear();
        self.surroundings.solids.extend_from_slice(plan.solids.solids());
        if self.on_cpu() {
            let [after, within] = [self.config.sleep_after, self.config.sleep_within].map(|value| value as f32);
            self.instances.let_sleep(after, within, plan.time.asked as f32);
        }
    }

    /// What is around as the host has it now.
    pub(super) fn surroundings_now(&self) -> Surroundings {
        Surroundings {
            gravity: self.config.gravity,
            meets: self.config.passes > 0,
            planes: self.all_planes(),
            solids: self.all_solids().cloned().collect(),
        }
    }

    /// Whether anything may sleep.
    fn sleeps(&self) -> bool {
        self.config.sleep_after.is_finite()
    }
}
