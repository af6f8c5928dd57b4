//! For hosts whose frames vary: fixed steps, and what lies between two of them.

use crate::SkinnedVertices;

/// Turns varying frame times into a whole number of fixed steps.
///
/// [`crate::Physics`] itself has no clock: a host adds its frame time here and steps as often as it says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixedStep {
    /// The step (s).
    pub dt: f64,
    /// The most steps for one frame; time beyond them is dropped, so that a slow machine does not fall ever further
    /// behind.
    pub max_steps: u32,
    remainder: f64,
}

impl FixedStep {
    /// Steps of `dt` (s), at most four a frame.
    pub fn new(dt: f64) -> Self {
        Self { dt, max_steps: 4, remainder: 0.0 }
    }

    /// Adds a frame's time (s); returns how many steps to take: none while `dt` is not above 0.
    pub fn advance(&mut self, frame_time: f64) -> u32 {
        if !(self.dt.is_finite() && self.dt > 0.0) {
            return 0;
        }
        self.remainder += if frame_time.is_finite() { frame_time.max(0.0) } else { 0.0 };
        let steps = (self.remainder / self.dt).floor();
        let taken = steps.min(f64::from(self.max_steps));
        self.remainder -= steps * self.dt;
        taken as u32
    }

    /// How far the frame is past the last step, 0 to 1, in steps.
    pub fn alpha(&self) -> f64 {
        (self.remainder / self.dt).clamp(0.0, 1.0)
    }
}

impl SkinnedVertices {
    /// Between two steps' vertices, for drawing at a frame in between: `alpha` 0 is `last`, 1 is `self`.
    /// Where the two differ in length, `self` is taken.
    pub fn interpolated(&self, last: &Self, alpha: f32, out: &mut Self) {
        out.clone_from(self);
        if last.positions.len() != self.positions.len() {
            return;
        }
        for (value, last) in out.positions.iter_mut().zip(&last.positions) {
            *value = last.lerp(*value, alpha);
        }
        for (value, last) in out.normals.iter_mut().zip(&last.normals) {
            *value = last.lerp(*value, alpha).normalize_or(*value);
        }
        for (value, last) in out.tangents.iter_mut().zip(&last.tangents) {
            let own = value.truncate();
            *value = last.truncate().lerp(own, alpha).normalize_or(own).extend(value.w);
        }
    }
}
