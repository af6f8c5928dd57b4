//! Pills of bones, which the flesh that hangs on them stays out of.
//!
//! They are asset data, in the frames of the flesh's bones, and every instance has them where its own bones are. What of the
//! flesh is in one at rest is let in there by as much, and no more: attachments on a bone stay, and nothing moves at rest.

use glam::Vec3;

use super::Flesh;
use super::build::LEAST_REACH;
use crate::Shape;
use crate::cpu::lanes::LANES;

/// All that is within a radius of a segment on a bone: what the flesh of the same instance stays out of.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BonePill {
    /// Index into [`Flesh::bones`].
    pub bone: usize,
    /// The segment's ends (m) in the bone's frame.
    pub ends: [Vec3; 2],
    /// Radius (m).
    pub radius: f32,
    /// Coulomb's coefficient of friction (1).
    pub friction: f32,
}

/// Why flesh cannot have a bone pill.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BonePillError {
    /// A bone that is not there.
    #[error("bone pill {pill}: `bone` is {bone}, but the flesh hangs on {count} bones; name one of Flesh::bones")]
    NoSuchBone {
        /// Which pill.
        pill: usize,
        /// The bone that it names.
        bone: usize,
        /// How many there are.
        count: usize,
    },
    /// A number that no pill has.
    #[error("bone pill {pill}: `{field}` is {value}; it must be {expected}")]
    OutOfRange {
        /// Which pill.
        pill: usize,
        /// The field.
        field: &'static str,
        /// The number given.
        value: f32,
        /// What it may be.
        expected: &'static str,
    },
}

/// Pills of bones as the stages ask for them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct BonePills {
    pub pills: Vec<BonePill>,
    /// The form of each, in its bone's frame.
    pub shapes: Vec<Shape>,
    /// For each group, which chain is in which lane.
    pub lanes: Vec<[Option<usize>; LANES]>,
}

impl BonePill {
    fn check(&self, pill: usize, bones: usize) -> Result<(), BonePillError> {
        if self.bone >= bones {
            return Err(BonePillError::NoSuchBone { pill, bone: self.bone, count: bones });
        }
        let range = |field, value: f32, low: f32, high: f32, expected| {
            let within = (low..=high).contains(&value);
            if within { Ok(()) } else { Err(BonePillError::OutOfRange { pill, field, value, expected }) }
        };
        for value in self.ends.iter().flat_map(Vec3::to_array) {
            range("ends", value, -1.0e6, 1.0e6, "finite, within 10⁶ m of the bone")?;
        }
        range("radius", self.radius, 1.0e-9, 1.0e6, "between 10⁻⁹ and 10⁶ m")?;
        range("friction", self.friction, 0.0, 1.0e3, "between 0 and 1000")
    }
}

impl Flesh {
    /// The flesh with pills on its bones in place of those that it had; none for flesh that touches no bones.
    ///
    /// # Errors
    /// [`BonePillError`] names the pill and the field.
    pub fn with_bone_pills(mut self, pills: &[BonePill]) -> Result<Self, BonePillError> {
        for (index, pill) in pills.iter().enumerate() {
            pill.check(index, self.bones.len())?;
        }
        self.bone_pills = BonePills::default();
        if pills.is_empty() {
            return Ok(self);
        }
        let shape = |pill: &BonePill| Shape::Capsule { ends: pill.ends, radius: pill.radius };
        let mut lanes = vec![[None; LANES]; self.groups.len()];
        for (index, chain) in self.chains.iter().enumerate() {
            lanes[chain.group][chain.lane] = Some(index);
        }
        for pill in pills.iter().filter(|_| self.size.is_finite()) {
            // A bone on which nothing hangs goes along where the root jumps, as the others do.
            let reach = &mut self.reaches[pill.bone];
            *reach = if reach.is_finite() { *reach } else { LEAST_REACH * self.size };
        }
        self.bone_pills = BonePills { pills: pills.to_vec(), shapes: pills.iter().map(shape).collect(), lanes };
        Ok(self)
    }

    /// The pills of its bones.
    pub fn bone_pills(&self) -> &[BonePill] {
        &self.bone_pills.pills
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::Pose;
    use crate::flesh::RodSpec;

    #[test]
    fn a_bad_pill_is_named() {
        let rod = RodSpec::straight("rod", DVec3::ZERO, DVec3::X, 4, 0.05);
        let with = |change: &dyn Fn(&mut BonePill)| {
            let flesh = Flesh::build(std::slice::from_ref(&rod), &[Pose::IDENTITY]).expect("in range");
            let good = BonePill { radius: 0.1, ..BonePill::default() };
            let mut bad = good;
            change(&mut bad);
            flesh.with_bone_pills(&[good, bad]).map(|flesh| flesh.bone_pills().len())
        };
        assert_eq!(with(&|_| ()), Ok(2));
        let error = with(&|pill| pill.bone = 1).expect_err("there is no such bone");
        assert_eq!(error, BonePillError::NoSuchBone { pill: 1, bone: 1, count: 1 });
        type Change = fn(&mut BonePill);
        let bad: [(&str, Change); 4] = [
            ("ends", |pill| pill.ends[1].y = f32::NAN),
            ("radius", |pill| pill.radius = 0.0),
            ("radius", |pill| pill.radius = f32::INFINITY),
            ("friction", |pill| pill.friction = -0.1),
        ];
        for (name, change) in bad {
            let error = with(&change).expect_err(name);
            println!("{error}");
            assert!(matches!(error, BonePillError::OutOfRange { pill: 1, field, .. } if field == name));
        }
    }
}
