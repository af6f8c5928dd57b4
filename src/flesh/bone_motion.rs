//! How the root and the bones go from frame to frame, and where they jump.
//!
//! A pose at the frame's end is explained by motion where it lies, to within a length
//! ([`StepConfig::jump`](crate::step::StepConfig::jump)), between where it was and where it had gone on to as in the last
//! frame: its place, and by its turn that of flesh as far from it as a length. Else it jumped: it is as if it had been
//! elsewhere already at the frame's start, turned as it is at the end, and went on from there as in the last frame. The root
//! jumps in the world and takes its bones along; a bone jumps if both in the world and against the root its place is not
//! explained.
//!
//! Of time that a long frame leaves out ([`StepConfig::split`](crate::step::StepConfig::split)) there is no motion either:
//! the frame's start is then where the bones were when it began to be simulated.

use std::f64::consts::{PI, TAU};

use glam::{DQuat, DVec3};

use super::Flesh;
use crate::Pose;
use crate::step::{FrameReport, LONGEST_FRAME};

/// How the root and the bones went in the last frame.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct BoneMotion {
    /// From where each bone's motion began.
    pub from: Vec<Pose>,
    /// Where each bone is at the frame's end.
    pub to: Vec<Pose>,
    /// The same of the root: from where, and where it is.
    pub root: [Pose; 2],
    /// How long it took (s); 0 before the first frame.
    pub time: f64,
    /// Whether flesh stayed behind where each bone was in an earlier frame before it moved on, or went along without its motion.
    pub left: Vec<bool>,
    /// Whether each bone jerked in this frame: by [`JERK`] beyond what motion explains.
    #[cfg_attr(feature = "serde", serde(skip))]
    jerked: Vec<bool>,
}

/// How much a bone jerks by, over the length of what hangs on it.
const JERK: f64 = 0.1;

/// What tells flesh of a frame at whose start it comes to where its bones are, and as fast as they.
const JOINS: f32 = 0.75;

/// What tells the flesh of a frame in which its bones jerk, and are not elsewhere at once; see [`BoneMotion::teleport`].
const JERKED: f32 = 0.25;

impl BoneMotion {
    /// Bones and a root that stand still.
    pub fn still(bones: &[Pose], root: &Pose) -> Self {
        Self {
            from: bones.to_vec(),
            to: bones.to_vec(),
            root: [*root; 2],
            time: 0.0,
            left: vec![false; bones.len()],
            jerked: Vec::new(),
        }
    }

    /// Sets [`Self::from`] for a frame at whose end bones and root are at the given poses, and tells of what jumped: a bone,
    /// or `None` for the root. [`Self::to`] stays: where the bones were.
    pub fn begin(
        &mut self,
        flesh: &Flesh,
        (bones, root): (&[Pose], &Pose),
        frame: &FrameReport,
        jump: f64,
        mut told: impl FnMut(Option<usize>),
    ) {
        let [root_from, root_to] = self.root;
        let ratio = if self.time > 0.0 { frame.asked / self.time } else { 0.0 };
        let jump = jump * (frame.asked / LONGEST_FRAME).max(1.0);
        let root_jumped = unexplained(&root_from, &root_to, root, ratio, flesh.size) > jump * flesh.size;
        let root_start = if root_jumped { elsewhere_at(&root_from, &root_to, root, ratio) } else { root_to };
        let along = root_start * root_to.inverse();
        if root_jumped {
            told(None);
        }

        let left_out = 1.0 - frame.simulated / frame.asked;
        self.jerked.clear();
        for (bone, (now, reach)) in bones.iter().zip(&flesh.reaches).enumerate() {
            let (from, to) = (self.from[bone], self.to[bone]);
            let farthest = jump * reach;
            let mut start = to;
            let in_world = unexplained(&from, &to, now, ratio, *reach);
            self.jerked.push(in_world > JERK * reach);
            if in_world > farthest {
                let (from, to) = (root_from.inverse() * from, root_to.inverse() * to);
                let now = root.inverse() * *now;
                if unexplained(&from, &to, &now, ratio, *reach) > farthest {
                    start = root_start * elsewhere_at(&from, &to, &now, ratio);
                    told(Some(bone));
                } else if root_jumped {
                    start = along * self.to[bone];
                }
            }
            if left_out > 0.0 {
                start = between(&start, now, left_out);
            }
            self.from[bone] = start;
        }
        self.root = [if left_out > 0.0 { between(&root_start, root, left_out) } else { root_start }, *root];
        self.time = frame.simulated;
    }

    /// Whether a frame at whose end bones and root are at the given poses is as one in which they stood and nothing was left: then it
    /// changes nothing here.
    #[cfg(feature = "gpu")]
    pub fn stands(&self, bones: &[Pose], root: &Pose, frame: &FrameReport) -> bool {
        let in_time = self.time == frame.simulated && frame.asked == frame.simulated;
        let is_still = self.root == [*root; 2] && self.to == bones && self.from == bones;
        in_time && is_still && !self.left.contains(&true)
    }

    /// Sets [`Self::from`] for a frame in which the flesh is to be where its bones are at the end.
    pub fn go_along(&mut self, bones: &[Pose], root: &Pose, frame: &FrameReport) {
        for ((left, was), bone) in self.left.iter_mut().zip(&self.to).zip(bones) {
            *left |= was != bone;
        }
        self.from.copy_from_slice(bones);
        self.root = [self.root[1], *root];
        self.time = frame.simulated;
        self.jerked.clear();
    }

    /// Follows bones in a frame in which the flesh stays where it is: as if it went along, which nobody is told.
    pub fn leave(&mut self, bones: &[Pose], root: &Pose, frame: &FrameReport) {
        self.go_along(bones, root, frame);
        self.end(bones, true);
    }

    /// How the frame's start is to some bones: 0 where they ended the last one there, 1 where they are elsewhere together, 2
    /// where they are elsewhere against each other by more than a length (m); a quarter where they are nowhere else but
    /// jerk. Three quarters where flesh that stayed behind comes there.
    pub fn teleport(&self, bones: &[usize], length: f64) -> f32 {
        let joins = bones.iter().any(|&bone| self.left[bone]);
        if bones.iter().all(|&bone| self.from[bone] == self.to[bone]) {
            return if joins {
                JOINS
            } else if bones.iter().any(|&bone| self.jerked.get(bone) == Some(&true)) {
                JERKED
            } else {
                0.0
            };
        }
        let against = |poses: &[Pose], bone: usize| poses[bones[0]].inverse() * poses[bone];
        let apart = |&bone: &usize| {
            let (from, to) = (against(&self.from, bone), against(&self.to, bone));
            unexplained(&to, &to, &from, 0.0, length) > length
        };
        match bones.iter().any(apart) {
            true => 2.0,
            false if joins => JOINS,
            false => 1.0,
        }
    }

    /// Ends the frame. Flesh that went along comes with the bones' motion when it is stepped again.
    pub fn end(&mut self, bones: &[Pose], goes_along: bool) {
        if goes_along {
            self.from.copy_from_slice(&self.to);
        } else {
            self.left.fill(false);
        }
        self.to.copy_from_slice(bones);
        self.jerked.clear();
    }
}

/// How far (m) a pose is from where motion explains it that went from one pose to another, or what it carries `reach` (m)
/// away is; `ratio` is this frame's time over the last one's.
fn unexplained(from: &Pose, to: &Pose, now: &Pose, ratio: f64, reach: f64) -> f64 {
    let beyond = |going_on: DVec3, way: DVec3| (way - explained_part(going_on, way)).length();
    let moved = beyond((to.translation - from.translation) * ratio, now.translation - to.translation);
    let turn = |from: &Pose, to: &Pose| (to.rotation * from.rotation.conjugate()).to_scaled_axis();
    let shorter = |turn: DVec3| if turn.length() > PI { turn * (1.0 - TAU / turn.length()) } else { turn };
    let going_on = shorter(turn(from, to)) * ratio;
    let gone_on = Pose::new(to.translation, DQuat::from_scaled_axis(going_on) * to.rotation);
    // What spins by more than half a turn a frame seems to turn the other way, but not against where it goes on to.
    let turned = beyond(going_on, shorter(turn(to, now))).min(shorter(turn(&gone_on, now)).length());
    let swept = 2.0 * (0.5 * turned.min(PI)).sin() * reach;
    if swept > moved { swept } else { moved }
}

/// What of a way the going on of motion explains: the nearest point to it between nothing and all of that.
fn explained_part(going_on: DVec3, way: DVec3) -> DVec3 {
    let square = going_on.length_squared();
    if square > 0.0 { going_on * (way.dot(going_on) / square).clamp(0.0, 1.0) } else { DVec3::ZERO }
}

/// Where what jumped was at the frame's start, as if it had gone on from there as in the last frame, whose motion took
/// it from one pose to another, turned by the jump; `ratio` is this frame's time over that.
fn elsewhere_at(from: &Pose, to: &Pose, now: &Pose, ratio: f64) -> Pose {
    let going_on = (to.translation - from.translation) * ratio;
    let turn = now.rotation * to.rotation.conjugate();
    Pose::new(now.translation - turn * going_on, now.rotation)
}

fn between(from: &Pose, to: &Pose, share: f64) -> Pose {
    Pose::new(from.translation.lerp(to.translation, share), from.rotation.slerp(to.rotation, share).normalize())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flesh::{Holds, RodSpec};

    fn jumps(poses: &[[Pose; 2]]) -> Vec<(Option<usize>, usize)> {
        jumps_beyond(2.0, poses)
    }

    /// The ways in which a rod of 1 m on two bones jumps when its bones go from a pose to the next of a list.
    fn jumps_beyond(jump: f64, poses: &[[Pose; 2]]) -> Vec<(Option<usize>, usize)> {
        let bones = [Pose::IDENTITY, Pose::from_translation(DVec3::X)];
        let rod = RodSpec::straight("rod", DVec3::ZERO, DVec3::X, 4, 0.05).attach(0, 0, Holds::CLAMP).attach(
            4,
            1,
            Holds::CLAMP,
        );
        let flesh = Flesh::build(&[rod], &bones).unwrap();
        let mut motion = BoneMotion::still(&bones, &Pose::IDENTITY);
        let (mut told, frame) = (Vec::new(), FrameReport { substeps: 4, simulated: 0.02, asked: 0.02 });
        for (index, bones) in poses.iter().enumerate() {
            motion.begin(&flesh, (bones, &Pose::IDENTITY), &frame, jump, |bone| told.push((bone, index)));
            motion.end(bones, false);
        }
        told
    }

    fn both(x: f64) -> [Pose; 2] {
        [Pose::from_translation(DVec3::X * x), Pose::from_translation(DVec3::X * (x + 1.0))]
    }

    #[test]
    fn what_goes_on_or_stops_does_not_jump_however_fast_it_is() {
        let steady: Vec<_> =
            (0..20).map(|k| both(1.9 * f64::from(k * k) / 2.0)).chain([both(343.0), both(343.0)]).collect();
        let told = jumps(&steady);
        println!("accelerated by 1.9 lengths a frame², to 34 lengths a frame, and stopped at once: {told:?}");
        assert!(told.is_empty());
    }

    #[test]
    fn a_bone_that_snaps_round_jumps_and_one_that_spins_up_does_not() {
        let turned = |axis: DVec3, degrees: f64| {
            let turn = DQuat::from_axis_angle(axis, degrees.to_radians());
            [Pose::new(DVec3::ZERO, turn), Pose::new(turn * DVec3::X, turn)]
        };
        let spun: Vec<_> = (0..20).map(|k| turned(DVec3::X, 50.0 * f64::from(k * k) / 2.0)).collect();
        let told = jumps_beyond(1.0, &spun);
        println!("spun up about itself by 50° a frame², to a thousand a frame: {told:?}");
        assert!(told.is_empty());
        let told = jumps_beyond(1.0, &[0.0, 90.0, 90.0].map(|degrees| turned(DVec3::Z, degrees)));
        println!("snapped by 90° in frame 1: {told:?}");
        assert_eq!(told, [(Some(0), 1), (Some(1), 1)]);
    }

    #[test]
    fn a_bone_far_away_for_a_frame_jumps_there_and_back() {
        let mut away = both(0.0);
        away[1].translation.y = 1.0e8;
        let told = jumps(&[both(0.0), away, both(0.0), both(0.0)]);
        println!("bone 1 at 10⁸ m in frame 1: {told:?}");
        assert_eq!(told, [(Some(1), 1), (Some(1), 2)]);
    }
}
