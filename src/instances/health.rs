//! What went wrong with an instance, and what was done about it.

use crate::flesh::{Flesh, FleshState};

/// How an instance is doing. Flesh that broke comes back by itself; this says what did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Health {
    /// How often a chain was laid anew along its bones, all chains together: because it was not finite, or for half a
    /// second where flesh cannot be: stretched to four times its length, swollen to eight times its radius, thinned, turned over,
    /// or two and a half lengths off its bones, by more than these or weight ask for.
    pub resets: u32,
    /// The chains that were laid anew, in the order of the flesh's chains. On a GPU they are known some frames after
    /// [`Health::resets`].
    pub laid_anew: Vec<LaidAnew>,
    /// In how many frames the root or a bone jumped and was taken as a teleport, see
    /// [`StepConfig::jump`](crate::step::StepConfig::jump).
    pub teleports: u32,
    /// What jumped, in the order in which it first did.
    pub jumped: Vec<Jumped>,
    /// What of the last frame's inputs was refused, so that the character kept what it had of it; `None` once it is good
    /// again. The systems of `world` say it.
    pub fault: Option<Fault>,
    /// In how many frames something was refused.
    pub refused: u32,
    /// How many of the resets a state does not know that the host put in the place of the one that did.
    forgotten: u32,
}

/// Why a character kept what it had of its pose, its excitations or its morph weights in a frame, instead of what the game set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Fault {
    /// The root's.
    #[error("the root's pose is not finite, beyond 10⁹ m, or its rotation is no unit quaternion")]
    Root,
    /// A joint's.
    #[error("the pose of joint {0} is not finite")]
    Joint(usize),
    /// That of all joints together.
    #[error("the pose has transforms of {given} joints, the skeleton {expected}; begin with Skeleton::rest_pose")]
    Joints {
        /// How many there are.
        given: usize,
        /// How many joints the skeleton has.
        expected: usize,
    },
    /// A bone's, as joints and root make it.
    #[error(
        "bone {0} is not finite, or farther away than flesh (10⁹ m) or rapier (f32 about RigidWorld::origin) can hold"
    )]
    Bone(usize),
    /// A joint's, by which only skin goes.
    #[error("the pose of some joint that moves skin is beyond what f32 holds")]
    Skin,
    /// A rigid body that a bone or a joint follows.
    #[error(
        "a rigid body of the character was removed, or is no bone any more; name others in BoneBodies or BoundJoints"
    )]
    Body,
    /// All: the host has removed its flesh, or put other flesh in its place.
    #[error("the character's flesh is no longer in Physics; despawn its entity too")]
    Flesh,
    /// A morph target's.
    #[error("the weight of morph target {0} is not between -1000 and 1000, or there is no such target")]
    Morph(usize),
    /// A chain's.
    #[error("the excitation of chain {0} is not between 0 and 10, or there is no such chain")]
    Excitation(usize),
}

/// A chain that was laid anew.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LaidAnew {
    /// Which of the flesh's chains it is.
    pub chain: usize,
    /// Its name.
    pub name: String,
    /// How often it was.
    pub times: u32,
}

/// The root or a bone that jumped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Jumped {
    /// Which of the flesh's bones it is; `None` for the root.
    pub bone: Option<usize>,
    /// How often it did.
    pub times: u32,
}

impl Health {
    /// Notes whether a frame's excitations were refused, which are the first of its inputs.
    #[cfg(feature = "hecs")]
    pub(crate) fn note_excitation(&mut self, fault: Option<Fault>) {
        self.fault = fault;
        self.refused += u32::from(fault.is_some());
    }

    /// Notes that a frame's pose was refused.
    #[cfg(feature = "hecs")]
    pub(crate) fn note_pose(&mut self, fault: Fault) {
        self.refused += u32::from(self.fault.is_none());
        self.fault = Some(fault);
    }

    /// Counts what jumped in one frame.
    pub(crate) fn jumped(&mut self, bone: Option<usize>) {
        match self.jumped.iter_mut().find(|jumped| jumped.bone == bone) {
            Some(jumped) => jumped.times += 1,
            None => self.jumped.push(Jumped { bone, times: 1 }),
        }
    }

    /// Whether not as many chains are named as an instance's own count of `resets` says.
    pub(crate) fn lacks_names(&self, resets: u32) -> bool {
        self.laid_anew.iter().map(|laid| laid.times).sum::<u32>() != resets
    }

    /// Notes that the host has put a state in the place of the instance's that counts so many `resets`.
    pub(crate) fn forget_names(&mut self, resets: u32) {
        self.forgotten = self.resets.saturating_sub(resets);
    }

    /// Takes over how often chains were laid anew, and which, once a state says so. Allocates only where another one was.
    pub(crate) fn follow(&mut self, flesh: &Flesh, state: &FleshState, resets: u32) {
        self.resets = self.forgotten + resets;
        if !self.lacks_names(resets) || state.resets(flesh).sum::<u32>() != resets {
            return;
        }
        self.laid_anew.clear();
        for ((chain, info), times) in flesh.chains().iter().enumerate().zip(state.resets(flesh)) {
            if times > 0 {
                self.laid_anew.push(LaidAnew { chain, name: info.name.clone(), times });
            }
        }
    }
}
