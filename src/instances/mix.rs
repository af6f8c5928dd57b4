//! What beside its joints moves an instance's skin, and how it passes from one to the other.

/// What beside its joints moves an instance's skin. It costs what it does: where rods do not move it they are not stepped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum SkinMotion {
    /// The rods beneath it: its own muscles, near the camera.
    Rods,
    /// Its network, if it has one: far from it.
    Network,
    /// Both: what the network was trained to add to the rods.
    #[default]
    Both,
    /// Neither.
    None,
}

impl SkinMotion {
    /// How much of rods and network there is.
    fn shares(self) -> [f32; 2] {
        match self {
            Self::Rods => [1.0, 0.0],
            Self::Network => [0.0, 1.0],
            Self::Both => [1.0, 1.0],
            Self::None => [0.0, 0.0],
        }
    }
}

/// The longest time (s) that skin passes in from one motion to another.
pub(crate) const MOST_BLEND: f64 = 1.0e3;

/// How much of each there is in a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Mix {
    pub motion: SkinMotion,
    /// How long (s) all of one takes to come or go.
    seconds: f64,
    /// Of what the rods do to skin, 0 to 1.
    pub rods: f32,
    /// Of what the network does.
    pub network: f32,
}

impl Default for Mix {
    fn default() -> Self {
        Self { motion: SkinMotion::Both, seconds: 0.0, rods: 1.0, network: 1.0 }
    }
}

impl Mix {
    /// Passes to another motion, from what there is now.
    pub fn pass_to(&mut self, motion: SkinMotion, seconds: f64) {
        (self.motion, self.seconds) = (motion, seconds);
    }

    /// Whether it is one that there can be.
    pub fn is_sound(&self) -> bool {
        (0.0..=MOST_BLEND).contains(&self.seconds)
            && [self.rods, self.network].iter().all(|share| (0.0..=1.0).contains(share))
    }

    /// What there is at the end of a frame of `dt` (s); whether that is something else.
    pub fn advance(&mut self, dt: f64) -> bool {
        let before = *self;
        let most = if dt < self.seconds { (dt / self.seconds) as f32 } else { 1.0 };
        for (share, target) in [&mut self.rods, &mut self.network].into_iter().zip(self.motion.shares()) {
            *share += (target - *share).clamp(-most, most);
            // What is left by roundings.
            if (target - *share).abs() < 1.0e-6 {
                *share = target;
            }
        }
        *self != before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_come_and_go_evenly_in_the_time_given() {
        let mut mix = Mix::default();
        assert!(!mix.advance(0.1));
        mix.pass_to(SkinMotion::Network, 0.5);
        for step in 1..=10 {
            assert!(mix.advance(0.05));
            assert!((mix.rods - (1.0 - 0.1 * step as f32)).abs() < 1.0e-5 && mix.network == 1.0, "{mix:?}");
        }
        assert_eq!((mix.rods, mix.advance(0.05)), (0.0, false));
        // Turned round on the way, it goes on from there.
        mix.pass_to(SkinMotion::Rods, 0.2);
        mix.advance(0.1);
        assert!((mix.rods - 0.5).abs() < 1.0e-6 && (mix.network - 0.5).abs() < 1.0e-6);
        mix.pass_to(SkinMotion::None, 0.0);
        assert!(mix.advance(0.01));
        assert_eq!((mix.rods, mix.network), (0.0, 0.0));
    }
}
