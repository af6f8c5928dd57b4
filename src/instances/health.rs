//! What went wrong with an instance, and what was done about it.

use crate::flesh::{Flesh, FleshState};

/// How an instance is doing. Flesh that broke comes back by itself; this says what did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Health {
    /// How often a chain was laid anew along its bones, all chains together: because it was not finite, or for half a
    /// second where flesh cannot be. See [`crate::cpu::check_health`] for the bounds.
    pub resets: u32,
    /// The chains that were laid anew, in the order of the flesh's chains.
    pub laid_anew: Vec<LaidAnew>,
    /// In how many frames the root or a bone jumped and was taken as a teleport, see
    /// [`StepConfig::jump`](crate::step::StepConfig::jump).
    pub teleports: u32,
    /// What jumped, in the order in which it first did.
    pub jumped: Vec<Jumped>,
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
    /// Counts what jumped in one frame.
    pub(crate) fn jumped(&mut self, bone: Option<usize>) {
        match self.jumped.iter_mut().find(|jumped| jumped.bone == bone) {
            Some(jumped) => jumped.times += 1,
            None => self.jumped.push(Jumped { bone, times: 1 }),
        }
    }

    /// Takes over which chains were laid anew. Allocates only where another one was.
    pub(crate) fn follow(&mut self, flesh: &Flesh, state: &FleshState) {
        if state.resets(flesh).sum::<u32>() == self.resets {
            return;
        }
        self.laid_anew.clear();
        for ((chain, info), times) in flesh.chains().iter().enumerate().zip(state.resets(flesh)) {
            if times > 0 {
                self.laid_anew.push(LaidAnew { chain, name: info.name.clone(), times });
            }
        }
        self.resets = self.laid_anew.iter().map(|laid| laid.times).sum();
    }
}
