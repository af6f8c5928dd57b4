//! What may touch what, and how the friction and the restitution of two sides are one.

/// Which groups something is in, and which it touches: as rapier's `InteractionGroups`, 32 of them, a bit each.
///
/// Two things touch where each is in a group that the other touches. By default all are in all groups and touch all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CollisionGroups {
    /// The groups that it is in.
    pub memberships: u32,
    /// The groups that it touches.
    pub filter: u32,
}

impl CollisionGroups {
    /// In all groups, and touches all.
    pub const ALL: Self = Self { memberships: u32::MAX, filter: u32::MAX };

    /// In no group, and touches none.
    pub const NONE: Self = Self { memberships: 0, filter: 0 };

    /// In these groups, and touches those.
    pub const fn new(memberships: u32, filter: u32) -> Self {
        Self { memberships, filter }
    }

    /// Whether both touch each other.
    pub const fn meets(self, other: Self) -> bool {
        self.memberships & other.filter != 0 && other.memberships & self.filter != 0
    }
}

impl Default for CollisionGroups {
    fn default() -> Self {
        Self::ALL
    }
}

/// How the coefficients of friction, or of restitution, of two sides are one, as rapier's `CoefficientCombineRule`. Where the sides
/// name different rules, the one that comes later here is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum CombineRule {
    /// The mean of both.
    #[default]
    Average,
    /// The smaller one: what is slippery stays so.
    Min,
    /// One times the other.
    Multiply,
    /// The larger one: what is rough stays so.
    Max,
    /// Their sum, at most 1.
    ClampedSum,
    /// The square root of one times the other.
    GeometricMean,
}

/// How a side rubs or bounces.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Coefficient {
    /// Coulomb's coefficient of friction, 0 to 1000 (1), or Newton's of restitution, 0 to 1 (1).
    pub value: f32,
    /// How it is combined with the other side's.
    pub rule: CombineRule,
}

/// The most that a coefficient of friction is.
pub(crate) const MOST_FRICTION: f32 = 1.0e3;

/// How flesh rubs on flesh where it does not say so.
pub(crate) const RUBS: Coefficient = Coefficient::new(0.5, CombineRule::Average);

impl Coefficient {
    /// A coefficient, combined by a rule.
    pub const fn new(value: f32, rule: CombineRule) -> Self {
        Self { value, rule }
    }

    /// The coefficient of both sides together.
    pub fn with(self, other: Self) -> f32 {
        let (a, b) = (self.value, other.value);
        let both = match self.rule.max(other.rule) {
            CombineRule::Average => 0.5 * (a + b),
            CombineRule::Min => a.min(b),
            CombineRule::Multiply => a * b,
            CombineRule::Max => a.max(b),
            CombineRule::ClampedSum => (a + b).clamp(0.0, 1.0),
            CombineRule::GeometricMean => (a * b).sqrt(),
        };
        both.min(MOST_FRICTION)
    }
}

/// What an instance's flesh touches, see [`Physics::set_collisions`](crate::Physics::set_collisions). The default is all but
/// segments of one chain; where [`StepConfig::passes`](crate::step::StepConfig::passes) is 0, as it is by default, flesh touches no
/// flesh, whatever is said here.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Collisions {
    /// As what it is touched by other instances' flesh, half-spaces and solids: all where all are in all groups, the default.
    pub groups: CollisionGroups,
    /// Whether it touches other instances' flesh, that with these groups; on by default. Both must want it.
    pub others: bool,
    /// Whether its chains touch each other, but for segments that overlap at rest, and as far as bones do not put them into each other;
    /// on by default.
    pub own_chains: bool,
    /// Whether segments of one chain touch each other, as a rope that falls on itself does; off by default. Neighbours leave each
    /// other alone, and so do segments that overlap at rest, or between which the chain at rest is shorter than π of its radii there:
    /// where flesh bends so tightly it is its own bending that resists.
    pub within_chains: bool,
    /// Whether it touches half-spaces with these groups; on by default.
    pub half_spaces: bool,
    /// Whether it touches solids with these groups; on by default.
    pub solids: bool,
    /// Whether it touches the pills of its own bones ([`Flesh::with_bone_pills`](crate::flesh::Flesh::with_bone_pills)); on by
    /// default.
    pub bone_pills: bool,
    /// How it rubs on flesh, its own too, on half-spaces and solids. `None`, the default: on half-spaces and solids as they say alone,
    /// by their coefficient, and on flesh as if it had a coefficient of 0.5, averaged. Its own bones' pills say so by themselves.
    pub friction: Option<Coefficient>,
    /// How it bounces off half-spaces and solids, beside what its own elasticity has it do. `None`, the default: as they say alone, by
    /// their coefficient. It bounces off neither its own bones' pills nor other flesh.
    pub restitution: Option<Coefficient>,
}

impl Default for Collisions {
    fn default() -> Self {
        Self {
            groups: CollisionGroups::ALL,
            others: true,
            own_chains: true,
            within_chains: false,
            half_spaces: true,
            solids: true,
            bone_pills: true,
            friction: None,
            restitution: None,
        }
    }
}

impl Collisions {
    /// Nothing.
    pub const NOTHING: Self = Self {
        groups: CollisionGroups::NONE,
        others: false,
        own_chains: false,
        within_chains: false,
        half_spaces: false,
        solids: false,
        bone_pills: false,
        friction: None,
        restitution: None,
    };

    /// The groups by which it touches other instances' flesh.
    pub(crate) fn among_others(&self) -> CollisionGroups {
        if self.others { self.groups } else { CollisionGroups::NONE }
    }

    /// How it rubs on what says so of itself.
    pub(crate) fn rubs_on(&self, friction: f32, rule: CombineRule) -> f32 {
        self.friction.map_or(friction, |own| own.with(Coefficient::new(friction, rule)))
    }

    /// How it rubs on flesh.
    pub(crate) fn rubs_with(&self, other: &Self) -> f32 {
        self.friction.unwrap_or(RUBS).with(other.friction.unwrap_or(RUBS))
    }

    /// How it bounces off what says so of itself.
    pub(crate) fn bounces_off(&self, restitution: f32, rule: CombineRule) -> f32 {
        self.restitution.map_or(restitution, |own| own.with(Coefficient::new(restitution, rule))).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_must_want_to_touch() {
        let (player, enemy, shot) =
            (CollisionGroups::new(1, 0b110), CollisionGroups::new(2, 1), CollisionGroups::new(4, 2));
        assert!(player.meets(enemy) && enemy.meets(player));
        assert!(!player.meets(shot) && !shot.meets(player), "the shot does not want the player");
        assert!(!enemy.meets(shot), "the enemy does not want the shot");
        assert!(CollisionGroups::ALL.meets(player) && !CollisionGroups::NONE.meets(CollisionGroups::ALL));
    }

    #[test]
    fn the_later_rule_is_taken() {
        let (ice, rubber) = (Coefficient::new(0.04, CombineRule::Min), Coefficient::new(0.9, CombineRule::Average));
        assert_eq!(ice.with(rubber), 0.04);
        let sticky = Coefficient::new(0.9, CombineRule::Max);
        assert_eq!((ice.with(sticky), sticky.with(ice)), (0.9, 0.9));
        let with = |rule| Coefficient::new(0.25, rule).with(Coefficient::new(1.0, CombineRule::Average));
        let all = [CombineRule::Average, CombineRule::Multiply, CombineRule::ClampedSum, CombineRule::GeometricMean];
        assert_eq!(all.map(with), [0.625, 0.25, 1.0, 0.5]);
        let most = Coefficient::new(1.0e3, CombineRule::Multiply);
        assert_eq!(most.with(most), 1.0e3);
    }
}
