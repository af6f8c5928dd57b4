//! Which flesh when: the near have rods, as many as there is time for, the far their networks.

use super::Physics;
use crate::StepError;
use crate::instances::{FleshHandle, SkinMotion};

/// Which characters' skin their rods move, and which their networks, by how far they are from who looks; see
/// [`Physics::keep_to_budget`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FleshBudget {
    /// The near are no farther than this (m).
    pub distance: f64,
    /// The near are no more than this, the nearest. A game with a time budget has as many as fit into it: one more while steps take
    /// less, one fewer while they take more.
    pub count: usize,
    /// Who is near stays so until the distance, or who would take the place, says otherwise by this share: who stands on the border
    /// does not go back and forth.
    pub margin: f64,
    /// How long skin takes to pass from one to the other (s); until then who goes is stepped beside who comes. Rods that were never
    /// stepped settle while they come.
    pub seconds: f64,
    /// What moves the skin of the near.
    pub near: SkinMotion,
    /// What moves the skin of the far: skinning alone where there is no network.
    pub far: SkinMotion,
}

impl Default for FleshBudget {
    /// Ten within 20 m.
    fn default() -> Self {
        Self { distance: 20.0, count: 10, margin: 0.1, seconds: 1.0, near: SkinMotion::Rods, far: SkinMotion::Network }
    }
}

impl FleshBudget {
    /// Who is near, given of each the distance (m) and whether it is so now. What is no distance is far; of the equally far the first
    /// are near.
    pub fn near(&self, distances: &[(f64, bool)]) -> Vec<bool> {
        let held = 1.0 + self.margin.max(0.0);
        let seen = |&(distance, near): &(f64, bool)| if near { distance / held } else { distance };
        let mut nearest: Vec<usize> =
            (0..distances.len()).filter(|&index| (0.0..=self.distance).contains(&seen(&distances[index]))).collect();
        nearest.sort_by(|&a, &b| seen(&distances[a]).total_cmp(&seen(&distances[b])));
        let mut near = vec![false; distances.len()];
        nearest.into_iter().take(self.count).for_each(|index| near[index] = true);
        near
    }
}

impl Physics {
    /// Gives the near what moves the skin of the near, and the far what moves that of the far ([`Physics::set_skin_motion`]), given all
    /// instances that share a budget with their distances (m) from who looks. Called before each step, or now and then;
    /// `world::keep_to_budget` does so for the characters of an hecs world.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`] or [`StepError::BadBlend`]; nothing changed then.
    pub fn keep_to_budget(&mut self, budget: &FleshBudget, distances: &[(FleshHandle, f64)]) -> Result<(), StepError> {
        let motion = |(handle, distance): &(FleshHandle, f64)| {
            let (now, _) = self.skin_motion(*handle)?;
            Ok((now, (*distance, now != budget.far)))
        };
        let found = distances.iter().map(motion).collect::<Result<Vec<_>, StepError>>()?;
        let (now, seen): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        for ((&(handle, _), now), near) in distances.iter().zip(now).zip(budget.near(&seen)) {
            let motion = if near { budget.near } else { budget.far };
            if motion != now {
                self.set_skin_motion(handle, motion, budget.seconds)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_within_the_distance_are_near_and_stay_so_at_the_border() {
        let budget = FleshBudget { distance: 10.0, count: 2, margin: 0.5, ..FleshBudget::default() };
        let far = |distances: &[f64]| budget.near(&distances.iter().map(|&d| (d, false)).collect::<Vec<_>>());
        assert_eq!(far(&[11.0, 10.0, 3.0]), [false, true, true]);
        assert_eq!(far(&[5.0, 4.0, 3.0]), [false, true, true]);
        assert_eq!(far(&[5.0, 5.0, 5.0]), [true, true, false], "the first of equals");
        assert_eq!(far(&[f64::NAN, f64::INFINITY, 1.0, -1.0]), [false, false, true, false]);
        // Beyond the distance, and behind another, by less than the margin; then by more.
        assert_eq!(budget.near(&[(14.9, true)]), [true]);
        assert_eq!(budget.near(&[(15.1, true)]), [false]);
        assert_eq!(budget.near(&[(4.0, true), (2.0, true), (2.7, false)]), [true, true, false]);
        assert_eq!(budget.near(&[(4.1, true), (2.0, true), (2.7, false)]), [false, true, true]);
        let none = FleshBudget { count: 0, margin: f64::NAN, ..budget };
        assert_eq!(none.near(&[(1.0, true)]), [false]);
    }
}
