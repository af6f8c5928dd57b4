//! Rods on bones: which bones hold and carry a rod's nodes, and how fascia ties them to the path along which these carry them.

use glam::DVec3;

use super::bundle::arc_lengths;
use super::rest_rows::contractile;
use super::spec::{Attachment, RodSpec};
use crate::Pose;
use crate::cpu::fascia::SLIDE;
use crate::cpu::group::GroupRest;
use crate::cpu::lanes::Entry;
use crate::layout::rest;

/// The bones along a rod, each as often as the rod comes to it, and for each attachment in order which of them; one beyond
/// them where `carriers` does not come to it.
pub(super) fn bones_along(rod: &RodSpec) -> (Vec<usize>, Vec<(Attachment, usize)>) {
    let mut held = rod.attachments.clone();
    held.sort_by_key(|attachment| attachment.node);
    let mut slots = Vec::with_capacity(held.len());
    if !rod.carriers.bones.is_empty() {
        let bones = rod.carriers.bones.clone();
        let mut slot = 0;
        for attachment in held {
            let after = bones.iter().skip(slot).position(|&bone| bone == attachment.bone);
            slot = after.map_or(bones.len(), |after| slot + after);
            slots.push((attachment, slot));
        }
        return (bones, slots);
    }
    let mut bones: Vec<usize> = Vec::new();
    for attachment in held {
        if bones.last() != Some(&attachment.bone) {
            bones.push(attachment.bone);
        }
        slots.push((attachment, bones.len() - 1));
    }
    (bones, slots)
}

/// Writes what bones hold and carry, and of a free chain what the root carries; returns the chain's bones.
pub(super) fn attach(
    group: &mut GroupRest<f32>,
    lane: usize,
    rod: &RodSpec,
    poses: &[Pose],
    bones: &[Pose],
) -> Vec<usize> {
    let (along_rod, held) = bones_along(rod);
    if along_rod.is_empty() {
        group.has_free_chain = true;
        for (j, pose) in poses.iter().enumerate() {
            write_local(&mut group.rows[j * rest::ENTRIES..][..rest::ENTRIES], rest::HOLD_PLACE, lane, pose);
        }
        return along_rod;
    }
    group.bone_count = group.bone_count.max(along_rod.len());
    let holds_place = |at: Option<&(Attachment, usize)>, node: usize| {
        at.is_some_and(|(attachment, _)| attachment.node == node && attachment.holds.place)
    };
    let both_ends = holds_place(held.first(), 0) && holds_place(held.last(), poses.len() - 1);
    // At a socket, and on the way to one, the bone before turns what the bone carries.
    let sockets: Vec<usize> = held.iter().filter(|(hold, _)| hold.holds.socket).map(|&(_, slot)| slot).collect();
    let turns = |slot: usize, socket: bool| if socket { slot.saturating_sub(1) } else { slot };
    let local = |slot: usize, turn_slot: usize, j: usize| {
        let bone = |slot: usize| &bones[along_rod[slot.min(along_rod.len() - 1)]];
        Pose { translation: bone(slot).translation, rotation: bone(turn_slot).rotation }.inverse() * poses[j]
    };
    let places: Vec<DVec3> = poses.iter().map(|pose| pose.translation).collect();
    let arc = arc_lengths(&places);
    let mut blends = carriers(rod, &held, &arc);
    for (attachment, slot) in &held {
        // What holds it carries it alone.
        blends[attachment.node] = *slot as f64;
    }
    for (j, &blend) in blends.iter().enumerate() {
        let row = &mut group.rows[j * rest::ENTRIES..][..rest::ENTRIES];
        let slot = blend.floor() as usize;
        row[rest::BONE_BLEND][lane] = blend as f32;
        row[rest::HOLD_SLOT][lane] = slot as f32;
        row[rest::TURN_SLOT][lane] = slot as f32;
        let next_turn_slot = turns(slot + 1, sockets.contains(&(slot + 1)));
        row[rest::NEXT_TURN_SLOT][lane] = next_turn_slot as f32;
        write_local(row, rest::HOLD_PLACE, lane, &local(slot, slot, j));
        write_local(row, rest::NEXT_PLACE, lane, &local(slot + 1, next_turn_slot, j));
        row[rest::CARRIED][lane] = if both_ends { 1.0 } else { 0.0 };
        group.carried[j] |= both_ends || rod.fascia > 0.0;
        if rod.fascia > 0.0
            && rod.slides_in_bed
            && next_turn_slot == slot + 1
            && let (Some(&next), Some(span)) = (along_rod.get(slot + 1), alone(&blends, j))
        {
            group.has_chords = true;
            let chord = Chord { places: &places, arc: &arc, span, bones: [&bones[along_rod[slot]], &bones[next]] };
            chord.write(row, lane, j);
        }
    }
    for (attachment, slot) in &held {
        group.held[attachment.node] = true;
        group.carried[attachment.node] = true;
        let slides = attachment.holds.guide && !attachment.holds.place;
        // Without a frame of its own a guide turns with the path through it.
        let turns_with_path =
            if slides { !attachment.holds.frame } else { attachment.holds.pivot && attachment.holds.frame };
        group.slides[attachment.node] |= slides;
        group.turns[attachment.node] |= turns_with_path;
        let row: &mut [Entry<f32>] = &mut group.rows[attachment.node * rest::ENTRIES..][..rest::ENTRIES];
        let turn_slot = turns(*slot, attachment.holds.socket);
        write_local(row, rest::HOLD_PLACE, lane, &local(*slot, turn_slot, attachment.node));
        row[rest::TURN_SLOT][lane] = turn_slot as f32;
        let free = |held: bool| if held { 0.0 } else { 1.0 };
        row[rest::FREE_PLACE][lane] = free(attachment.holds.place);
        row[rest::FREE_FRAME][lane] = free(attachment.holds.frame);
        row[rest::FREE_SCALE][lane] = free(attachment.holds.scale);
        row[rest::SLIDES][lane] = if slides { 1.0 } else { 0.0 };
        row[rest::TURNS][lane] = if turns_with_path { 1.0 } else { 0.0 };
    }
    along_rod
}

/// Which of the rod's bones carry each node: as it says, or between the attachments before and after by arc length.
fn carriers(rod: &RodSpec, held: &[(Attachment, usize)], arc: &[f64]) -> Vec<f64> {
    if !rod.carriers.nodes.is_empty() {
        return rod.carriers.nodes.clone();
    }
    let blend = |j: usize| {
        let after = held.partition_point(|(attachment, _)| attachment.node <= j);
        let (before, next) = (&held[after.saturating_sub(1)], &held[after.min(held.len() - 1)]);
        let (from, to) = (arc[before.0.node], arc[next.0.node]);
        let along = if to > from { ((arc[j] - from) / (to - from)).clamp(0.0, 1.0) } else { 0.0 };
        before.1 as f64 + (next.1 as f64 - before.1 as f64) * along
    };
    (0..arc.len()).map(blend).collect()
}

/// The nodes nearest to one that two bones carry, of which the first bone carries the one before alone, and the next bone the
/// one after; none if one bone carries it alone, or there are no such nodes.
fn alone(blends: &[f64], j: usize) -> Option<[usize; 2]> {
    let (first, next) = (blends[j].floor(), blends[j].ceil());
    if first == next {
        return None;
    }
    let between = |blend: &f64| *blend > first && *blend < next;
    let before = blends[..j].iter().rposition(|blend| !between(blend))?;
    let after = j + blends[j..].iter().position(|blend| !between(blend))?;
    (blends[before] == first && blends[after] == next).then_some([before, after])
}

/// The straight way between two nodes of a rod that each of two bones carries alone, see [`rest::CHORD_SHARE`].
struct Chord<'a> {
    /// All nodes' places at rest (m).
    places: &'a [DVec3],
    /// How far along the rod they are (m).
    arc: &'a [f64],
    span: [usize; 2],
    bones: [&'a Pose; 2],
}

impl Chord<'_> {
    /// Writes where the j-th node goes along it.
    fn write(&self, row: &mut [Entry<f32>], lane: usize, j: usize) {
        let Self { places, arc, span, bones } = self;
        let [before, after] = *span;
        let share = (arc[j] - arc[before]) / (arc[after] - arc[before]);
        // What a node of a curved rod is off the straight line, it stays.
        let off = places[j] - places[before].lerp(places[after], share);
        for ((entry, bone), node) in [rest::CHORD_PLACE, rest::CHORD_NEXT].into_iter().zip(bones).zip(span) {
            write_place(row, entry, lane, bone.inverse().transform_point(places[*node] + off));
        }
        // The bones meet at the origin of that which is nearer to the span.
        let [own, of_next] = bones.map(|bone| {
            places[before..=after].iter().map(|place| bone.translation.distance(*place)).fold(f64::INFINITY, f64::min)
        });
        row[rest::CHORD_SHARE][lane] = share as f32;
        row[rest::CHORD_JOINT][lane] = if of_next < own { 1.0 } else { 0.0 };
    }
}

/// How far fascia lets a section sag under [`RodSpec::fascia`], over its radius.
const SAG: f64 = 0.06;

/// How firmly fascia ties a section, over what its tension and the path's bend draw it out of its bed with: tension over
/// radius.
const FIRM: f64 = 3.0;

/// The cosine of the bend at rest below which a fold of the path is the bones' doing.
const STRAIGHT: f64 = 0.5;

/// Ties a lane's chain to its bed: so that weight and tension leave it there.
pub(super) fn tie(group: &mut GroupRest<f32>, lane: usize, rod: &RodSpec) {
    group.has_fascia = true;
    group.rows[rest::TIED][lane] = 1.0;
    let slides = if rod.slides_in_bed { (rod.nodes.len() - 1).div_ceil(SLIDE) } else { 0 };
    group.rows[rest::SLIDES_IN_BED][lane] = slides as f32;
    group.has_beds |= rod.slides_in_bed;
    let count = rod.nodes.len();
    let at = |group: &GroupRest<f32>, j: usize, entry: usize| f64::from(group.row(j)[entry][lane]);
    for j in 0..count {
        let around = j.saturating_sub(1)..(j + 1).min(count - 1);
        let strongest = |entry: usize| {
            let force = |segment: usize| at(group, segment, entry) * at(group, segment, rest::INV_LENGTH);
            around.clone().map(force).fold(0.0, f64::max)
        };
        let radius = at(group, j, rest::RADIUS);
        let held = at(group, j, rest::FREE_PLACE) == 0.0 || at(group, j, rest::SLIDES) != 0.0;
        let by = if held { 0.0 } else { 1.0 / radius };
        let place = |node: usize| rod.nodes[node].place;
        let unfolds = rod.slides_in_bed && !held && j > 0 && j + 1 < count && {
            let [before, after] = [place(j) - place(j - 1), place(j + 1) - place(j)].map(DVec3::normalize_or_zero);
            before.dot(after) > STRAIGHT
        };
        let tied = [
            (rest::FASCIA, at(group, j, rest::MASS) * rod.fascia / SAG * by),
            (rest::FASCIA_TAUT, FIRM * (strongest(rest::AXIAL) + strongest(rest::FIBRE_STIFFNESS)) * by),
            (rest::FASCIA_ACTIVE, FIRM * strongest(rest::ACTIVE).max(strongest(rest::SERIES)) * by),
        ];
        // An end that may turn on its bone turns as built.
        let mut ends = [j, j + 1].into_iter().filter(|&end| end == 0 || end + 1 == count);
        let follows = ends.all(|end| at(group, end, rest::FREE_FRAME) == 0.0 && at(group, end, rest::TURNS) == 0.0);
        let row = &mut group.rows[j * rest::ENTRIES..][..rest::ENTRIES];
        row[rest::UNFOLDS][lane] = if unfolds { 1.0 } else { 0.0 };
        for (entry, value) in tied {
            row[entry][lane] = value as f32;
        }
        if j + 1 < count {
            row[rest::FOLLOWS][lane] = if follows { 1.0 } else { 0.0 };
            row[rest::LETS_IN][lane] = contractile(rod, j) as f32;
        }
    }
}

fn write_place(row: &mut [Entry<f32>], at: usize, lane: usize, place: DVec3) {
    for (k, value) in place.to_array().into_iter().enumerate() {
        row[at + k][lane] = value as f32;
    }
}

fn write_local(row: &mut [Entry<f32>], at: usize, lane: usize, local: &Pose) {
    write_place(row, at, lane, local.translation);
    for (k, value) in local.rotation.to_array().into_iter().enumerate() {
        row[at + 3 + k][lane] = value as f32;
    }
}
