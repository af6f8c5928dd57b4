//! Stage `find_meetings`: where pairs of segments touch in the substep to come, how stiff that is, and what each side's chain is told of
//! it; see [`meetings`](super::meetings). Its twin is `shaders/find_meetings.wgsl`.

use super::holds::across;
use super::lanes::{Entry, LANES, Lane, Lanes, apart, each};
use super::math::{LEAST_DIVISOR, V3};
use super::meetings::{Going, LetIn, OWN_ROWS, PairBlock, ROLLING, ShownNodes, mix};
use super::pills::{Nearest, Pill, alignment, nearest, points_around};
use crate::layout::meet;
use crate::step::StepParams;

/// γ: stiffness of chains against each other over m/h² (1), with one over m the sum of both sides' w²/m. Where a chain, or a tree of them,
/// is heavier than the other, and heavier where they touch, it is about M/h² at the least, with M the heavier mass there, up to
/// [`MOST_RATIO`] times γ·m/h²: that alone would take seconds to bear it.
pub const MEETING: f32 = 10.0;

/// Within which slope of the gap at a node contacts go over from one segment to the next.
pub const HANDS_OVER: f32 = 0.05;

/// How fast chains that are found in each other are pushed out (m/s), over the fourth root of how many times γ·m/h² they are stiff: as fast,
/// what is heavy would be thrown by that, and come down on it again.
pub const APART: f32 = 1.0;

/// The same of what bones put into each other by a quarter of the smaller radius. Nor is ρ more than 1 of that, where nothing is fast or
/// heavier: both take it no farther out than its bones let it go, and what cannot get out would tremble by it.
pub const CARRIED_APART: f32 = 0.1;

/// Depths over the radius beyond which pairs get stiffer, and below which they get softer again.
pub const DEEP: [f32; 2] = [0.04, 0.02];

/// How fast pairs get stiffer (1/s), and softer again what is apart: a pile's depths take seconds to be told apart from those of an impact.
pub const STIFFENS: f32 = 2.4;

/// How fast what touches gets softer again (1/s). What sways gets stiffer where it presses deep, and softer where it hardly does, which
/// gives it energy each time; at equal rates octopuses that stand sway for ever by that. As softening is slower, pairs are soon as stiff
/// as it takes, and change by little.
pub const SOFTENS: f32 = 0.72;

/// Depths over the radius at which pairs would come to lie in a substep, of each of which a fast pair is once as stiff again.
pub const STOPS: f32 = 0.25;

/// Over the radius, how far from touching pairs are that are not looked at, beside what they go: more than rounding makes of it.
const ROUNDS: f32 = 1.0e-3;

/// How stiff friction that slips is at the least, over what holds. A pass brings friction nearer to what it should be by the share
/// A/(A + 2k_t), with A as stiff as the chain is there by its inertia, some m/h²: of what holds by k_t = γ·m/h² that is a twentieth. For
/// what holds that is no matter, as passes find how little it goes. What slips would be held back, with what is rigid of its momentum
/// alone restored, and soft chains would make energy of that.
pub const GIVES_WAY: f32 = 0.1;

/// As which share of the other node a point of a segment moves at the least one of whose nodes bones hold. Beside that it hardly
/// does, and m/h² there would be as stiff as one over how far it is from that node: 10¹⁷ N/m, where two such nodes met.
pub const MOVES: f32 = 0.1;

/// The most that ρ, a pair's stiffness over γ·m/h², is.
pub const MOST_RATIO: f32 = 300.0;

/// As stiff as in a substep of this length (s) what lies a little deep is in the end in shorter ones, so that it is no stiffer in
/// what comes after slow motion.
pub const STEADY: f32 = 1.0 / 250.0;

/// No pair is stiffer at first than in a substep of this length (s), in which what comes at 10 m/s comes 3 mm deep.
pub const SHORTEST: f32 = 1.0e-3;

/// A node as it shows itself.
#[derive(Clone, Copy)]
struct Seen<V> {
    place: V3<V>,
    radius: V,
    scale: V,
}

impl<V: Lane> Seen<V> {
    /// Of what [`ShownNodes::stance`] has.
    #[inline(always)]
    fn of([_, _, _, x, y, z, radius, scale]: [V; LANES]) -> Self {
        Self { place: V3([x, y, z]), radius, scale }
    }

    /// By how much the gap to what presses in `direction` grows along the way to another, over that way's length.
    #[inline(always)]
    fn slope<L: Lanes<V = V>>(&self, lanes: L, to: &Self, direction: V3<V>) -> V {
        let path = to.place - self.place;
        let grows = to.radius * to.scale - self.radius * self.scale;
        (direction.dot(path) - grows) / path.dot(path).sqrt().max(lanes.splat(1.0e-9))
    }
}

/// Which share of a contact at a segment's end is its own, for such a slope of the gap there.
#[inline(always)]
fn keeps<L: Lanes>(lanes: L, slope: L::V) -> L::V {
    (lanes.splat(0.5) + slope * lanes.splat(0.5 / HANDS_OVER)).clamp(lanes.splat(0.0), lanes.splat(1.0))
}

/// Which share of a contact is a segment's own where it is one of a chain, so that neighbours that touch at the node between them
/// have one contact together: by how the gap changes along the segment before the node, as it is there. `direction` is that in
/// which it is pressed, `apart` how far the centres are from each other, `joined` that of [`PairBlock`].
#[inline(always)]
fn belongs<L: Lanes>(
    lanes: L,
    [before, first, second]: [&Seen<L::V>; 3],
    joined: [L::V; 2],
    along: L::V,
    direction: V3<L::V>,
    apart: L::V,
) -> L::V {
    let (one, half) = (lanes.splat(1.0), lanes.splat(0.5));
    let path = second.place - first.place;
    // The direction turns as the nearest point goes along.
    let turns = path.dot(path).sqrt() / apart.max(lanes.splat(1.0e-9));
    let slope = first.slope(lanes, second, direction);
    let ends = keeps(lanes, slope + (one - along) * turns);
    // Where the chain bends towards the other, the one before has given it up; where it bends around it, both have their own.
    let before = keeps(lanes, before.slope(lanes, first, direction) - along * turns);
    let begins = one - before.min(keeps(lanes, slope - along * turns));
    half.where_less(joined[1], ends, one) * half.where_less(joined[0], begins, one)
}

/// A direction in which a segment is pressed, without what of it goes along the segment towards a node where the chain goes on: the
/// chain has no end there. Of a last segment, the less the farther it is from there: whether a contact is at a node or beside it
/// may be a matter of rounding.
#[inline(always)]
fn square<L: Lanes>(
    lanes: L,
    [first, second]: [&Seen<L::V>; 2],
    joined: [L::V; 2],
    along: L::V,
    direction: V3<L::V>,
) -> V3<L::V> {
    let path = second.place - first.place;
    let grows = second.radius * second.scale - first.radius * first.scale;
    let inv_length2 = lanes.splat(1.0) / path.dot(path).max(lanes.splat(f32::MIN_POSITIVE));
    let off = path * ((direction.dot(path) - grows) * inv_length2);
    let at_joint = joined[0] + (joined[1] - joined[0]) * along;
    (direction - off * at_joint).direction(lanes)
}

/// How stiff a pair that shows itself in so long a substep is at first over γ·m/h².
fn newly_stiff(h: f32) -> f32 {
    (h * (1.0 / SHORTEST)).powi(2).min(1.0)
}

/// To how little of γ·m/h² a pair that lies a little deep comes down in so long a substep.
fn least_stiff(h: f32) -> f32 {
    (h * (1.0 / STEADY)).powi(2).min(1.0)
}

/// How stiff a pair is over γ·m/h², given how stiff it was over γ·m (1/s²), 0 where it is new, and by what it gets stiffer or softer in the
/// substep. How long that is makes it no stiffer: by γ·m/h² of a short step all that lies a little deep would be thrown.
#[inline(always)]
fn ratio_of<L: Lanes>(lanes: L, params: &StepParams, over_mass: L::V, changes: L::V) -> L::V {
    let (zero, least) = (lanes.splat(0.0), lanes.splat(least_stiff(params.h)));
    let before = over_mass * lanes.splat(params.h * params.h);
    let now = zero.where_less(over_mass, before, lanes.splat(newly_stiff(params.h)));
    if params.iteration > 0 {
        return now;
    }
    let comes_back = (now * lanes.splat(1.0 + STIFFENS * params.h)).min(least);
    now.where_less(least, comes_back, (now * changes).clamp(least, lanes.splat(MOST_RATIO)))
}

/// What is remembered of that: how stiff it is over γ·m (1/s²), of what presses nothing and has come down to the least, nothing.
#[inline(always)]
fn over_mass_of<L: Lanes>(lanes: L, params: &StepParams, ratio: L::V, pressing: L::V) -> L::V {
    let (zero, least) = (lanes.splat(0.0), lanes.splat(least_stiff(params.h)));
    let remembered = ratio * lanes.splat(params.inv_h * params.inv_h);
    zero.where_less(pressing, remembered, least.where_less(ratio, remembered, zero))
}

/// How many times as heavy as the other the side of a pair is that is heavier by its body, given how many times as heavy the first one's
/// body is, and where they touch: by the lesser of both. 0 where bones hold either there, and where it is the lighter one there.
#[inline(always)]
fn how_unequal<L: Lanes>(lanes: L, heavier: L::V, [first, second]: [L::V; 2]) -> L::V {
    let (zero, one, least) = (lanes.splat(0.0), lanes.splat(1.0), lanes.splat(f32::MIN_POSITIVE));
    let there = second / first.max(least);
    let unequal = heavier.min(there).max(one / heavier.max(there).max(least));
    zero.where_less(first.min(second), unequal, zero)
}

/// How two segments go at a point at which they may touch.
struct Coming<V> {
    /// In which the first one is pressed.
    direction: V3<V>,
    /// How each side goes there.
    going: [Going<V>; 2],
    /// Their radii at rest (m).
    radii: [V; 2],
    /// By how much each makes the gap grow (m).
    along_normal: [V; 2],
}

impl<V: Lane> Coming<V> {
    /// Where segments are nearest, or beside that, given what their ends show and how these go; `joined` is that of [`PairBlock`].
    #[inline(always)]
    fn of<L: Lanes<V = V>>(
        lanes: L,
        sides: [&[Seen<V>; 2]; 2],
        going: [&[Going<V>; 2]; 2],
        joined: [[V; 2]; 2],
        nearest: &Nearest<V>,
    ) -> Self {
        let along = nearest.along;
        let direction = square(lanes, [&sides[0][0], &sides[0][1]], joined[0], along[0], nearest.direction);
        let direction = -square(lanes, [&sides[1][0], &sides[1][1]], joined[1], along[1], -direction);
        let going = each!(side in 0..2 => Going::between([&going[side][0], &going[side][1]], along[side]));
        let radii = each!(side in 0..2 => mix(sides[side][0].radius, sides[side][1].radius, along[side]));
        let [a, b] = &going;
        let along_normal =
            [direction.dot(a.moved) - radii[0] * a.scaling, -direction.dot(b.moved) - radii[1] * b.scaling];
        Self { direction, going, radii, along_normal }
    }

    /// What is left of a gap (m).
    #[inline(always)]
    fn closed(&self, gap: V) -> V {
        gap + self.along_normal[0] + self.along_normal[1]
    }
}

/// Finds where the segments of eight pairs touch in the substep to come, how stiff that is, and the plane halfway between where both
/// would go on to.
#[inline(always)]
pub fn find_meetings<L: Lanes<Scalar = f32>>(
    lanes: L,
    params: &StepParams,
    shown: &[Entry<f32>],
    block: &mut PairBlock,
) {
    let (zero, one, half) = (lanes.splat(0.0), lanes.splat(1.0), lanes.splat(0.5));
    let (least, divisor) = (lanes.splat(f32::MIN_POSITIVE), lanes.splat(LEAST_DIVISOR));
    let inv_h = lanes.splat(params.inv_h);
    let (stiffer, apart) = (one + lanes.splat(STIFFENS * params.h), one - lanes.splat(STIFFENS * params.h));
    let softer = one - lanes.splat(SOFTENS * params.h);
    // Later ones of the substep go on from the same anchors.
    let first_solve = params.iteration == 0;
    let PairBlock {
        first,
        there,
        joined,
        heavier,
        obeys,
        stiffness: of_both,
        points: rows,
        turn_anchors,
        of_sides,
        middles,
        memory,
        over_masses,
    } = block;
    let there = lanes.load(there);
    let joined = each!(side in 0..2 => each!(end in 0..2 => lanes.load(&joined[side][end])));
    let (heavier, obeys) = (lanes.load(heavier), lanes.load(obeys));
    let nodes = [0, 1].map(|side| ShownNodes { shown, first: &first[side], after: 0 });
    let stances = each!(side in 0..2 => each!(next in 0..2 => {
        ShownNodes { after: next as i32, ..nodes[side] }.stance(lanes)
    }));
    let origins = each!(side in 0..2 => V3(each!(k in 0..3 => stances[side][0][k])));
    let sides = each!(side in 0..2 => each!(next in 0..2 => Seen::of(stances[side][next])));
    let goings =
        each!(side in 0..2 => each!(next in 0..2 => ShownNodes { after: next as i32, ..nodes[side] }.going(lanes)));
    // Both are reckoned from the first one's origin.
    let shifts = [V3([zero; 3]), origins[1] - origins[0]];
    let pills = each!(side in 0..2 => Pill {
        ends: each!(end in 0..2 => sides[side][end].place + shifts[side]),
        radii: each!(end in 0..2 => sides[side][end].radius * sides[side][end].scale),
    });
    let deepest = nearest(lanes, &pills[0], &pills[1]);
    let aligned = alignment(lanes, &pills[0], &pills[1], &deepest);
    let of_ends = each!(side in 0..2 => each!(end in 0..2 => Going::of(goings[side][end])));
    let remembered = each!(point in 0..2 => lanes.gather(&memory[point], &OWN_ROWS));
    // Far from each other is what does not touch wherever its nodes go on to, and did not press: what that comes to below. Where all
    // are, no more is looked at; a thread of a GPU, which has one pair beside others' that touch, goes on.
    let mut clear = deepest.gap;
    for side in 0..2 {
        let ([a, b], [r, s]) = (&of_ends[side], each!(end in 0..2 => sides[side][end].radius));
        let scaling = a.scaling.max(zero - a.scaling).max(b.scaling.max(zero - b.scaling));
        let moved = a.moved.dot(a.moved).max(b.moved.dot(b.moved)).sqrt();
        clear = clear - (moved + r.max(s) * (scaling + lanes.splat(ROUNDS)));
    }
    // Pills that cross touch where they are nearest, as reckoned below, and come together there or nowhere.
    let coming = Coming::of(lanes, [&sides[0], &sides[1]], [&of_ends[0], &of_ends[1]], joined, &deepest);
    let goes_by = deepest.gap.min(coming.closed(deepest.gap));
    let clear = zero.where_less(aligned.bears, clear, clear.max(goes_by));
    let pressed = zero.where_less(remembered[0][0] + remembered[1][0], one, zero);
    let near = zero.where_less(clear, pressed, one);
    if !lanes.any(near) {
        lanes.store(zero, of_both);
        for point in 0..2 {
            lanes.store(zero, &mut rows[point][meet::STIFFNESS]);
            lanes.store(zero, &mut rows[point][meet::FRICTION]);
            if first_solve {
                V3([zero; 3]).store(lanes, &mut rows[point], meet::ANCHOR);
                V3([zero; 3]).store(lanes, &mut turn_anchors[point], 0);
            }
            let ratio = ratio_of(lanes, params, remembered[point][7], apart);
            let over_mass = over_mass_of(lanes, params, ratio, zero);
            lanes.store(over_mass, &mut over_masses[point]);
            lanes.scatter([zero, zero, zero, zero, zero, zero, zero, over_mass], &mut memory[point]);
        }
        return;
    }
    let before = each!(side in 0..2 => {
        let before = Seen::of(ShownNodes { after: -1, ..nodes[side] }.stance(lanes));
        // Before a chain's first node is another's last.
        Seen { place: sides[side][0].place.or(lanes, before.place, joined[side][0]), ..before }
    });
    let touch = points_around(lanes, [&pills[0], &pills[1]], deepest, &aligned);
    let mut let_in = LetIn::none(lanes);
    if lanes.any(obeys) {
        let pills = each!(side in 0..2 => Pill {
            ends: each!(next in 0..2 => {
                ShownNodes { after: next as i32, ..nodes[side] }.carried(lanes) + shifts[side]
            }),
            radii: each!(end in 0..2 => sides[side][end].radius),
        });
        let_in = apart!(lanes, LetIn::of(lanes, &pills, obeys));
    }
    // By the fourth power: by the first, two octopuses that stand in each other tremble up to three times as fast.
    let freely = (one - let_in.put) * (one - let_in.put);
    let most = mix(one, lanes.splat(MOST_RATIO), freely * freely);
    let recovery = mix(lanes.splat(APART), lanes.splat(CARRIED_APART), let_in.put) * lanes.splat(params.h);
    let mut presses = zero;
    for index in 0..2 {
        let (row, point) = (&mut rows[index], touch[index]);
        let [force, x, y, z, u, v, w, was_over_mass] = remembered[index];
        let (along, normal) = (point.nearest.along, point.nearest.direction);
        let arms = each!(side in 0..2 => pills[side].radius(along[side]));
        let gap = point.nearest.gap + let_in.at(lanes, normal, arms[0] + arms[1]);
        let centres = point.nearest.gap + arms[0] + arms[1];
        let kept = each!(side in 0..2 => {
            let outward = if side == 0 { normal } else { -normal };
            let [first, second] = &sides[side];
            belongs(lanes, [&before[side], first, second], joined[side], along[side], outward, centres)
        });
        let own = there * (point.flat + (one - point.flat) * kept[0] * kept[1]);
        let coming = Coming::of(lanes, [&sides[0], &sides[1]], [&of_ends[0], &of_ends[1]], joined, &point.nearest);
        let Coming { direction, going, radii, along_normal } = coming;
        let inv_masses = each!(side in 0..2 => {
            let [first, second] = each!(end in 0..2 => goings[side][end][0]);
            let least = zero.where_less(first.min(second), zero, first.max(second) * lanes.splat(MOVES));
            mix(first, second, along[side]).max(least)
        });
        let inv_mass = inv_masses[0] + inv_masses[1];
        let mass = zero.where_less(inv_mass, one / inv_mass.max(least), zero);

        let radius = arms[0].min(arms[1]);
        let deep = (radius * lanes.splat(-DEEP[0])).where_less(gap, one, stiffer);
        let shallow = (radius * lanes.splat(-DEEP[1])).where_less(gap, zero.where_less(gap, apart, softer), one);
        let ratio = ratio_of(lanes, params, was_over_mass, deep * shallow);
        let as_before = ratio.min(one);
        let rubbing = lanes.splat(MEETING) * mass * inv_h * inv_h * as_before * point.share * own;

        // What comes in fast is stopped before it is through, and what is heavy borne by what is light.
        let recovers = recovery * one.max(one / (as_before * lanes.splat(MEETING)));
        let comes = zero - coming.closed(gap.max(zero - recovers));
        let fast = comes / (radius * lanes.splat(STOPS)).max(least);
        let unequal = how_unequal(lanes, heavier, inv_masses) * lanes.splat(1.0 / MEETING);
        let firmer = ratio.min(most).max(fast).max(unequal).clamp(one, lanes.splat(MOST_RATIO));
        let stiffness = rubbing * firmer;

        // As deep as it takes to be pushed out that fast by what is less stiff; less fast by what is stiffer.
        let kept = gap.max(zero - recovers / firmer.sqrt().sqrt());
        let [a, b] = &going;
        let closed = coming.closed(kept);

        // What touches in this substep: what comes together, and what pressed.
        let pull = across(V3([x, y, z]), direction);
        let pressing = zero.where_less(force, stiffness, closed.where_less(zero, stiffness, zero));
        let pressing = half.where_less(near, pressing, zero);
        let rubs = lanes.at(row, meet::RUBS);
        let swept = [a.swept(direction, arms[0]), b.swept(-direction, arms[1])];
        let limit = rubs * force;
        let pulled = pull.dot(pull).sqrt();
        let held = limit.min(pulled) / pulled.max(divisor);
        // As stiff as γ·limit over how far it slides, by the force that pressed or that stops what comes in: less than all where it
        // slides farther than limit·h²/m, which the limit stops in a substep. Rolling friction goes along.
        let slides = swept[0] - swept[1] - pull * (held / rubbing.max(divisor));
        let hits = rubbing * lanes.splat(1.0 / MEETING) * (zero - closed).max(zero);
        let stops = rubs * force.max(hits) * lanes.splat(MEETING);
        let gives_way = stops / slides.dot(slides).sqrt().max(divisor);
        let slipping = rubbing.min(gives_way.max(rubbing * lanes.splat(GIVES_WAY)));
        let held_before = if first_solve { zero } else { lanes.at(row, meet::FRICTION) };
        let holding = zero.where_less(held_before, rubbing.min(held_before), slipping);
        let friction = zero.where_less(pressing.min(rubs), holding, zero);
        let reach_on = zero.where_less(friction, held / friction.max(divisor), zero);
        let anchor = if first_solve { pull * reach_on } else { V3::load(lanes, row, meet::ANCHOR) };
        let off = (swept[0] - swept[1] - anchor) * half;

        for side in 0..2 {
            lanes.store(along[side], &mut row[meet::ALONG + side]);
            lanes.store(radii[side], &mut row[meet::SCALE_TERM + side]);
            lanes.store(arms[side], &mut row[meet::ARM + side]);
        }
        direction.store(lanes, row, meet::DIRECTION);
        lanes.store(kept, &mut row[meet::GAP]);
        presses = presses + pressing;
        lanes.store(pressing, &mut row[meet::STIFFNESS]);
        lanes.store(friction, &mut row[meet::FRICTION]);
        anchor.store(lanes, row, meet::ANCHOR);
        let radius2 = radius * radius;
        let rolling = friction * radius2 * lanes.splat(ROLLING);
        let couple = V3([u, v, w]);
        let turned = couple * zero.where_less(rolling, one / rolling.max(least), zero);
        let turned = if first_solve { turned } else { V3::load(lanes, &turn_anchors[index], 0) };
        turned.store(lanes, &mut turn_anchors[index], 0);
        let anchors = [swept[0] - off, swept[1] + off];
        let turns = [(a.turn + b.turn + turned) * half, (a.turn + b.turn - turned) * half];
        for side in 0..2 {
            let (at, V3([x, y, z]), V3([u, v, w])) = (closed * half - along_normal[side], anchors[side], turns[side]);
            lanes.scatter([at, x, y, z, u, v, w, zero], &mut of_sides[index][side]);
        }
        let [V3([x, y, z]), V3([u, v, w])] = each!(side in 0..2 => {
            let inward = if side == 0 { -normal } else { normal };
            inward * (arms[side] + point.nearest.gap * half)
        });
        lanes.scatter([x, y, z, zero, u, v, w, zero], &mut middles[index]);
        let over_mass = over_mass_of(lanes, params, ratio, pressing);
        lanes.store(over_mass, &mut over_masses[index]);
        // What can touch nothing forgets.
        let force = zero.where_less(pressing, force, zero);
        let [x, y, z] = each!(k in 0..3 => zero.where_less(pressing, pull.0[k], zero));
        let [u, v, w] = each!(k in 0..3 => zero.where_less(pressing, couple.0[k], zero));
        lanes.scatter([force, x, y, z, u, v, w, over_mass], &mut memory[index]);
    }
    lanes.store(presses, of_both);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::lanes::OneF32;
    use crate::layout::shown;

    /// What two segments a metre apart show, the second of which has gone so far towards the first.
    fn shown(gone: f32) -> Vec<Entry<f32>> {
        let places = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 1.0, -0.5], [0.5, 1.0, 0.5]];
        let mut shown = vec![[0.0; LANES]; places.len() * shown::ENTRIES];
        for (node, [x, y, z]) in places.into_iter().enumerate() {
            let moved = if node < 2 { 0.0 } else { -gone };
            shown[node * shown::ENTRIES] = [0.0, 0.0, 0.0, x, y, z, 0.05, 1.0];
            shown[node * shown::ENTRIES + LANES] = [1.0, 0.0, moved, 0.0, 0.0, 0.0, 0.0, 0.0];
            // Nobody says where bones would have what none carries.
            shown[node * shown::ENTRIES + shown::CARRIED] = [f32::NAN; LANES];
        }
        shown
    }

    /// Blocks are used again from frame to frame: of what was another pair's nothing is left, also where this one comes near in a
    /// later solve alone.
    #[test]
    fn nothing_is_left_of_another_pair() {
        let second = 2 * shown::ENTRIES as u32;
        let new = PairBlock { first: [[0; LANES], [second; LANES]], there: [1.0; LANES], ..PairBlock::NONE };
        let mut used = PairBlock { turn_anchors: [[[7.0; LANES]; 3]; 2], ..new.clone() };
        used.points = [[[7.0; LANES]; meet::TURN_ANCHOR]; 2];
        (used.of_sides, used.middles) = ([[[[7.0; 8]; LANES]; 2]; 2], [[[7.0; 8]; LANES]; 2]);
        let found = |mut block: PairBlock, begins: f32| {
            // Each frame says for each pair how it rubs.
            block.points.iter_mut().for_each(|row| row[meet::RUBS] = [0.5; LANES]);
            for (iteration, gone) in [(0, begins), (1, 0.95)] {
                let params = StepParams { h: 1.0 / 120.0, inv_h: 120.0, iteration, ..StepParams::default() };
                (0..LANES).for_each(|lane| find_meetings(OneF32(lane), &params, &shown(gone), &mut block));
            }
            block
        };
        // In the first solve they rest, or go away from each other.
        for begins in [0.0, -0.95] {
            let (new, used) = (found(new.clone(), begins), found(used.clone(), begins));
            assert!(new.stiffness[0] > 0.0, "they touch");
            assert_eq!(new, used);
        }
    }

    /// Beside nodes that bones hold what touches hardly gives way, and is as stiff as if a tenth of the next node were there; where bones
    /// hold all of it nothing presses.
    #[test]
    fn what_touches_beside_held_nodes_is_no_stiffer_without_a_bound() {
        let stiffness = |held: [bool; 4], beside: f32| {
            let places =
                [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [beside, 0.09, -beside], [beside, 0.09, 1.0]].into_iter().zip(held);
            let mut shown = vec![[0.0; LANES]; 4 * shown::ENTRIES];
            for (node, ([x, y, z], held)) in places.enumerate() {
                shown[node * shown::ENTRIES] = [0.0, 0.0, 0.0, x, y, z, 0.05, 1.0];
                shown[node * shown::ENTRIES + LANES][0] = if held { 0.0 } else { 1.0 };
            }
            let second = 2 * shown::ENTRIES as u32;
            let mut block = PairBlock { first: [[0; LANES], [second; LANES]], there: [1.0; LANES], ..PairBlock::NONE };
            let params = StepParams { h: 1.0 / 120.0, inv_h: 120.0, ..StepParams::default() };
            find_meetings(OneF32(0), &params, &shown, &mut block);
            block.stiffness[0]
        };
        let free = stiffness([false; 4], 1.0e-6);
        assert!(free > 0.0);
        for beside in [0.03, 1.0e-3, 1.0e-6, 1.0e-12] {
            let held = stiffness([true, false, true, false], beside);
            assert!((0.5 * free..=1.01 * free / MOVES).contains(&held), "{beside}: {held:e}, {free:e} of what is free");
        }
        assert_eq!(stiffness([true; 4], 1.0e-3), 0.0);
    }

    /// What is heavier by its body and where it touches meets a tenth of that, as γ·m/h² is 10 times m/h², up to 300 times; not the light
    /// tip of a heavy body, nor the heavy end of a light one, nor what bones hold.
    #[test]
    fn what_is_heavier_by_its_body_and_where_it_touches_meets_more() {
        let stiffness = |heavier: f32, masses: [f32; 2]| {
            let places = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.0999, -0.5], [0.5, 0.0999, 0.5]];
            let mut shown = vec![[0.0; LANES]; 4 * shown::ENTRIES];
            for (node, [x, y, z]) in places.into_iter().enumerate() {
                let mass = masses[node / 2];
                shown[node * shown::ENTRIES] = [0.0, 0.0, 0.0, x, y, z, 0.05, 1.0];
                shown[node * shown::ENTRIES + LANES][0] = if mass > 0.0 { 1.0 / mass } else { 0.0 };
            }
            let second = 2 * shown::ENTRIES as u32;
            let new = PairBlock { first: [[0; LANES], [second; LANES]], there: [1.0; LANES], ..PairBlock::NONE };
            let mut block = PairBlock { heavier: [heavier; LANES], ..new };
            let params = StepParams { h: 1.0 / 240.0, inv_h: 240.0, ..StepParams::default() };
            find_meetings(OneF32(0), &params, &shown, &mut block);
            let of_masses = match masses {
                [0.0, free] | [free, 0.0] => free,
                [a, b] => a * b / (a + b),
            };
            // Both points lie at one place here and share it.
            block.stiffness[0] / (MEETING * of_masses * 240.0 * 240.0)
        };
        let own = stiffness(1.0, [1.0, 1.0]);
        for (heavier, masses, firmer) in [
            (100.0, [100.0, 1.0], 10.0),
            (0.01, [1.0, 100.0], 10.0),
            (1000.0, [50.0, 1.0], 5.0),
            (1.0e6, [1.0e6, 1.0], 300.0),
            (100.0, [1.0, 1.0], 1.0),
            (1.0, [100.0, 1.0], 1.0),
            (100.0, [1.0, 100.0], 1.0),
            (100.0, [0.0, 1.0], 1.0),
            (100.0, [1.0, 0.0], 1.0),
        ] {
            let found = stiffness(heavier, masses) / own;
            assert!(
                (found / firmer - 1.0).abs() < 1.0e-3,
                "{heavier}, {masses:?}: {found} times as stiff, not {firmer}"
            );
        }
    }

    /// What bones put a quarter of a radius into each other is as stiff as γ·m/h², however stiff it was, and pushed out at 0.1 m/s; other
    /// flesh as deep in other flesh is as stiff as it was, and pushed out at 1 m/s over the fourth root of that.
    #[test]
    fn what_bones_put_into_each_other_gets_no_stiffer() {
        let params = StepParams { h: 1.0 / 240.0, inv_h: 240.0, ..StepParams::default() };
        let found = |obeys: f32, ratio: f32| {
            let mut shown = shown(0.0);
            for (node, row) in shown.chunks_mut(shown::ENTRIES).enumerate() {
                row[0][4] = if node < 2 { 0.0 } else { 0.0875 };
                let [_, _, _, x, y, z, ..] = row[0];
                row[shown::CARRIED] = [x, y, z, 0.0, 0.0, 0.0, 0.0, 0.0];
            }
            let second = 2 * shown::ENTRIES as u32;
            let new = PairBlock { first: [[0; LANES], [second; LANES]], there: [1.0; LANES], ..PairBlock::NONE };
            let mut block = PairBlock { obeys: [obeys; LANES], ..new };
            block.memory.iter_mut().for_each(|point| point[0][7] = ratio * 240.0 * 240.0);
            find_meetings(OneF32(0), &params, &shown, &mut block);
            (block.stiffness[0], block.points[0][meet::GAP][0])
        };
        let own = found(0.0, 1.0).0;
        let (stiffness, gap) = found(0.0, 200.0);
        assert!(
            (stiffness / own / 200.0 - 1.0).abs() < 0.02 && (gap * 240.0 * 202.0_f32.powf(0.25) + 1.0).abs() < 0.01
        );
        let (stiffness, gap) = found(1.0, 200.0);
        assert!((stiffness / own - 1.0).abs() < 0.02 && (gap * 240.0 + 0.1).abs() < 1.0e-3, "{stiffness}, {gap}");
    }

    /// Whether a contact is at a node or a millionth of a segment beside it is no matter to the direction in which it presses.
    #[test]
    fn what_presses_at_a_node_presses_square_to_the_segment() {
        let [first, second] = [V3([0.0; 3]), V3([0.0, 0.0, 0.5])].map(|place| Seen { place, radius: 0.1, scale: 1.0 });
        let lanes = OneF32(0);
        let pressed = V3([0.0, 1.0, 0.3]).direction(lanes);
        let at = |along: f32, joined: [f32; 2]| square(lanes, [&first, &second], joined, along, pressed);
        let off = |a: V3<f32>, b: V3<f32>| (a - b).length();
        assert!(off(at(0.0, [1.0, 0.0]), V3([0.0, 1.0, 0.0])) < 1.0e-6);
        assert!(off(at(0.0, [1.0, 0.0]), at(1.0e-6, [1.0, 0.0])) < 1.0e-5);
        assert!(off(at(1.0, [1.0, 0.0]), pressed) < 1.0e-6, "a free end is pressed as it is");
        assert!(off(at(0.5, [1.0, 1.0]), at(0.0, [1.0, 0.0])) < 1.0e-6, "in the middle of a chain, all of it square");
        assert!(off(at(0.5, [0.0, 1.0]), V3([0.0, 1.0, 0.15]).direction(lanes)) < 1.0e-6);
    }
}
