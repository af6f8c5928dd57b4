//! Twist joints: those that turn about a limb's axis, so that its skin is wrung along its whole length.

use std::f64::consts::{PI, TAU};

use glam::DVec3;

use super::Rest;
use crate::character::first_flesh::FleshOptions;

/// How far a twist joint may be from its limb's axis, over the limb's length.
const OFF_AXIS: f64 = 0.3;
/// How far along the axis it may be, and its skin, over the limb's length.
const JOINT_ALONG: [f64; 2] = [-0.15, 1.05];
const SKIN_ALONG: [f64; 2] = [-0.2, 1.2];
/// Share of its skin that is there.
const WITHIN: f64 = 0.85;
/// Skin goes around the axis where no gap in it is wider than this (rad).
pub const WIDEST_GAP: f64 = 160.0 * PI / 180.0;
/// Joints in line: the cosine of the angle between what comes before and what comes after.
const IN_LINE: f64 = 0.95;
/// Most joints in a twist joint's branch, and most children of a limb's joint that are looked at.
const MOST_TWISTS: usize = 16;
const MOST_CHILDREN: usize = 256;
/// A limb's joint without skin of its own has several twist joints, on its axis, and few others; it is no control. And it is
/// no longer than this share of the figure.
const LONGEST: f64 = 0.4;
const ON_AXIS: f64 = 0.05;
const FEW_CHILDREN: usize = 8;

/// Twist joints beside the joint that ends their limb, `upper_arm` over `forearm` and `upper_arm_twist`, as (twist joint,
/// the limb's joint): all that hangs on one lies along the limb, with skin all around its axis.
pub fn beside(rest: &Rest, owners: &[u32], options: &FleshOptions) -> Vec<(u32, u32)> {
    let count = owners.len() as u32;
    let mut skin_beyond: Vec<bool> = (0..count).map(|joint| rest.has_skin(joint)).collect();
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); owners.len()];
    // Joints come after their parents.
    for joint in (0..count).rev() {
        if let Some(parent) = rest.parent(joint) {
            skin_beyond[parent as usize] |= skin_beyond[joint as usize];
            children[parent as usize].push(joint);
        }
    }
    let beyond = |joint: u32| -> Option<Vec<u32>> {
        let mut found = vec![joint];
        let mut next = 0;
        while let Some(&joint) = found.get(next) {
            found.extend(&children[joint as usize]);
            if found.len() > MOST_TWISTS {
                return None;
            }
            next += 1;
        }
        found.retain(|&joint| rest.has_skin(joint));
        Some(found)
    };
    let mut limb_of: Vec<Option<u32>> = vec![None; owners.len()];
    for twist in (0..count).filter(|&joint| rest.has_skin(joint) && owners[joint as usize] == joint) {
        let Some(parent) = rest.parent(twist) else { continue };
        if let Some(limb) = limb_of[parent as usize] {
            limb_of[twist as usize] = Some(limb);
            continue;
        }
        // A control between a twist joint and its limb has no skin.
        let above = rest.parent(parent).filter(|_| !rest.has_skin(parent) && children[parent as usize].len() == 1);
        let Some(group) = beyond(twist) else { continue };
        for limb in std::iter::once(parent).chain(above) {
            let most = if rest.has_skin(limb) { MOST_CHILDREN } else { FEW_CHILDREN };
            let of_limb = |&end: &u32| {
                let ends = skin_beyond[end as usize] || (rest.has_skin(limb) && children[end as usize].is_empty());
                let beside = end != twist && end != parent && owners[end as usize] == end;
                ends && beside && along_limb(rest, [limb, end], &group, options)
            };
            if children[limb as usize].len() <= most && children[limb as usize].iter().any(of_limb) {
                limb_of[twist as usize] = Some(limb);
                break;
            }
        }
    }
    let mut shared = vec![0_usize; owners.len()];
    limb_of.iter().flatten().for_each(|&limb| shared[limb as usize] += 1);
    let pairs = limb_of.into_iter().enumerate().filter_map(|(twist, limb)| Some((twist as u32, limb?)));
    pairs.filter(|&(_, limb)| rest.has_skin(limb) || shared[limb as usize] > 1).collect()
}

/// Whether joints lie along a limb, with skin all around it.
fn along_limb(rest: &Rest, [limb, end]: [u32; 2], joints: &[u32], options: &FleshOptions) -> bool {
    let line = rest.place(end) - rest.place(limb);
    let length = line.length();
    let longest = if rest.has_skin(limb) { f64::INFINITY } else { LONGEST * rest.size };
    if !(length > options.least_length * rest.size && length > 0.0 && length <= longest) {
        return false;
    }
    let axis = line / length;
    let across = axis.any_orthonormal_vector();
    let from_axis = |place: DVec3| {
        let offset = place - rest.place(limb);
        let along = offset.dot(axis);
        (along / length, offset - axis * along)
    };
    let off_axis = if rest.has_skin(limb) { OFF_AXIS } else { ON_AXIS };
    let on_axis = |&joint: &u32| {
        let (along, off) = from_axis(rest.place(joint));
        (JOINT_ALONG[0]..=JOINT_ALONG[1]).contains(&along) && off.length() <= off_axis * length
    };
    if !joints.iter().all(on_axis) {
        return false;
    }
    let (mut within, mut all) = (0, 0);
    let mut angles = Vec::new();
    for &vertex in joints.iter().flat_map(|&joint| &rest.pulled[joint as usize]) {
        let (along, off) = from_axis(rest.vertex(vertex));
        all += 1;
        if (SKIN_ALONG[0]..=SKIN_ALONG[1]).contains(&along) {
            within += 1;
            angles.push(off.dot(axis.cross(across)).atan2(off.dot(across)));
        }
    }
    f64::from(within) >= WITHIN * f64::from(all) && widest_gap(angles) <= WIDEST_GAP
}

/// The widest gap between directions (rad).
pub fn widest_gap(mut angles: Vec<f64>) -> f64 {
    angles.sort_by(f64::total_cmp);
    let around = angles.first().zip(angles.last()).map_or(TAU, |(first, last)| first + TAU - last);
    angles.windows(2).map(|pair| pair[1] - pair[0]).fold(around, f64::max)
}

/// Twist joints between a limb's joint and the one that ends it, `upper_arm` over `upper_arm_twist` over `forearm`, as
/// (twist joint, the limb's joint). At rest an elbow is in line too, so their names must say that they are one limb's.
pub fn in_line(rest: &Rest, owners: &[u32], parents: &[Option<u32>], order: &[u32]) -> Vec<(u32, u32)> {
    let name = |joint: u32| rest.asset.skeleton.joints[joint as usize].name.as_str();
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); parents.len()];
    for (joint, parent) in parents.iter().enumerate() {
        if let (Some(parent), true) = (parent, owners[joint] == joint as u32) {
            children[owners[*parent as usize] as usize].push(joint as u32);
        }
    }
    let mut limb_of: Vec<Option<u32>> = vec![None; owners.len()];
    for &joint in order.iter().filter(|&&joint| rest.has_skin(joint) && owners[joint as usize] == joint) {
        let limb = limb_of[joint as usize].unwrap_or(joint);
        let along = |from: u32, to: u32| (rest.place(to) - rest.place(from)).normalize_or_zero();
        let goes_on = |&twist: &u32| {
            let mut at = twist;
            // The limb ends at the first joint in line that is not one of its own.
            for _ in 0..MOST_TWISTS {
                let axis = along(limb, at);
                let ahead = |&&next: &&u32| axis == DVec3::ZERO || along(at, next).dot(axis) >= IN_LINE;
                match children[at as usize].iter().find(ahead) {
                    Some(&next) if share_limb(name(limb), name(next)) => at = next,
                    Some(_) => return true,
                    None => return false,
                }
            }
            false
        };
        let own = |twist: &&u32| rest.has_skin(**twist) && share_limb(name(limb), name(**twist));
        for &twist in children[joint as usize].iter().filter(own).filter(|twist| goes_on(twist)) {
            limb_of[twist as usize] = Some(limb);
        }
    }
    limb_of.into_iter().enumerate().filter_map(|(twist, limb)| Some((twist as u32, limb?))).collect()
}

/// Words for parts of a limb that turn about its axis, and those that say nothing beside them.
const TWIST_WORDS: [&str; 5] = ["twist", "roll", "stretch", "bend", "bendy"];
const FILLERS: [&str; 3] = ["c", "def", "offset"];

/// Whether two names in a line are those of one limb's joints: alike but for a word such as twist, or Rigify's
/// `DEF-upper_arm.L` and `DEF-upper_arm.L.001`.
fn share_limb(a: &str, b: &str) -> bool {
    let numbered = |name: &str| -> Option<String> {
        let (stem, number) = name.rsplit_once('.')?;
        let digits = number.len() == 3 && number.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| stem.to_string())
    };
    let stem = |name: &str| numbered(name).unwrap_or_else(|| name.into());
    if a.starts_with("DEF-") && stem(a) == stem(b) && a != b {
        let side = stem(a).to_lowercase();
        return side.ends_with(".l") || side.ends_with(".r");
    }
    let (a, b) = (words(a), words(b));
    let is_twist = |word: &String| TWIST_WORDS.contains(&word.as_str());
    let is_filler = |word: &String| FILLERS.contains(&word.as_str());
    let rest = |words: &[String]| -> Vec<String> {
        words.iter().filter(|word| !is_twist(word) && !is_filler(word)).cloned().collect()
    };
    let (stem_a, stem_b) = (rest(&a), rest(&b));
    (a.iter().any(is_twist) || b.iter().any(is_twist)) && !stem_a.is_empty() && stem_a == stem_b
}

/// The words of a joint's name in lower case, without a namespace and without numbers: `mixamorig:LeftForeArm` is left,
/// fore, arm.
fn words(name: &str) -> Vec<String> {
    let name = name.rsplit(':').next().unwrap_or(name);
    let mut words: Vec<String> = Vec::new();
    let mut last_lower = false;
    let mut open = false;
    for letter in name.chars().take(128) {
        if !letter.is_alphabetic() {
            open = false;
        } else if open && !(last_lower && letter.is_uppercase()) {
            words.iter_mut().last().into_iter().for_each(|word| word.extend(letter.to_lowercase()));
        } else {
            words.push(letter.to_lowercase().collect());
            open = true;
        }
        last_lower = letter.is_lowercase();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_twist_joints_from_elbows() {
        for (a, b) in [
            ("DEF-upper_arm.L", "DEF-upper_arm.L.001"),
            ("DEF-upper_arm.L.001", "DEF-upper_arm.L.002"),
            ("lShldrBend", "lShldrTwist"),
            ("LeftArm", "LeftArmRoll"),
            ("rig:LeftForeArm", "rig:LeftForeArmTwist01"),
            ("arm_stretch.l", "arm_twist.l"),
            ("arm_stretch.l", "c_arm_twist_offset.l"),
            ("upperarm_l", "upperarm_twist_01_l"),
        ] {
            assert!(share_limb(a, b) && share_limb(b, a), "{a} {b}");
        }
        for (a, b) in [
            ("upper_arm.L", "forearm.L"),
            ("arm.L", "arm.L.001"),
            ("DEF-spine", "DEF-spine.001"),
            ("DEF-f_index.01.L", "DEF-f_index.02.L"),
            ("LeftArm", "LeftForeArm"),
            ("mixamorig:LeftHandIndex1", "mixamorig:LeftHandIndex2"),
            ("arm_twist.l", "forearm_twist.l"),
            ("arm_stretch.l", "forearm_stretch.l"),
            ("Controller", "Control"),
            ("twist", "roll"),
        ] {
            assert!(!share_limb(a, b), "{a} {b}");
        }
    }
}
