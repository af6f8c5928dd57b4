//! Rigs as tools build them, for one figure.

use glam::Vec3;

use crate::figure::{Bone, Places, Tube, places};
use crate::rig::Rig;

/// Joints that a figure's tubes follow, from the trunk outwards; `{}` stands for the side.
struct Pulls<'a> {
    /// The side's marks, left and right.
    sides: [&'a str; 2],
    /// With where each pulls alone along the tube from hips to neck.
    trunk: &'a [(&'a str, f32)],
    head: &'a [(&'a str, f32)],
    /// From the collar over the shoulder, elbow and wrist to the fingertips.
    arm: &'a [(&'a str, f32)],
    /// From the hip over the knee to the ankle.
    leg: &'a [(&'a str, f32)],
    /// From the ankle to the toe's tip.
    foot: &'a [(&'a str, f32)],
}

/// Where along the tube of an arm its joints are.
const SHOULDER: f32 = 0.14 / 0.76;
const ELBOW: f32 = 0.4 / 0.76;
const WRIST: f32 = 0.64 / 0.76;

fn tubes(pulls: &Pulls) -> Vec<Tube> {
    let named = |list: &[(&str, f32)], side: &str| -> Vec<(String, f32)> {
        list.iter().map(|(name, at)| (name.replace("{}", side), *at)).collect()
    };
    let middle = places(1.0);
    let mut tubes = vec![
        Tube {
            ends: [middle.hips - Vec3::Y * 0.1, middle.neck],
            radius: 0.14,
            pulls: named(pulls.trunk, pulls.sides[0]),
        },
        Tube { ends: [middle.neck, middle.crown], radius: 0.08, pulls: named(pulls.head, pulls.sides[0]) },
    ];
    for (mark, side) in pulls.sides.iter().zip([1.0, -1.0]) {
        let Places { collar, fingers, hip, ankle, toe, .. } = places(side);
        tubes.push(Tube { ends: [collar, fingers], radius: 0.045, pulls: named(pulls.arm, mark) });
        tubes.push(Tube { ends: [hip + Vec3::Y * 0.04, ankle], radius: 0.075, pulls: named(pulls.leg, mark) });
        tubes.push(Tube { ends: [ankle, toe], radius: 0.04, pulls: named(pulls.foot, mark) });
    }
    tubes
}

/// A joint's name, its parent's, and its place.
type Line<'a> = (&'a str, &'a str, fn(&Places) -> Vec3);

/// Lists joints from lines `name parent place`; lines with `{}` stand for both sides, their places are the left one's.
fn bones(lines: &[Line], sides: [&str; 2]) -> Vec<Bone> {
    let mut bones = Vec::new();
    for &(name, parent, place) in lines {
        let both = name.contains("{}");
        for (mark, side) in sides.iter().zip([1.0, -1.0]).take(if both { 2 } else { 1 }) {
            let parent = (!parent.is_empty()).then(|| parent.replace("{}", mark));
            bones.push((name.replace("{}", mark), parent, place(&places(side))));
        }
    }
    bones
}

/// A plain rig: what every other one is held against.
pub fn plain() -> Rig {
    let sides = ["L", "R"];
    let bones = bones(
        &[
            ("hips", "", |p| p.hips),
            ("spine", "hips", |p| p.spine),
            ("chest", "spine", |p| p.chest),
            ("neck", "chest", |p| p.neck),
            ("head", "neck", |p| p.head),
            ("collar.{}", "chest", |p| p.collar),
            ("upper_arm.{}", "collar.{}", |p| p.shoulder),
            ("forearm.{}", "upper_arm.{}", |p| p.elbow),
            ("hand.{}", "forearm.{}", |p| p.wrist),
            ("thigh.{}", "hips", |p| p.hip),
            ("shin.{}", "thigh.{}", |p| p.knee),
            ("foot.{}", "shin.{}", |p| p.ankle),
            ("toe.{}", "foot.{}", |p| p.ball),
        ],
        sides,
    );
    let tubes = tubes(&Pulls {
        sides,
        trunk: &[("hips", 0.15), ("spine", 0.4), ("spine", 0.5), ("chest", 0.75)],
        head: &[("chest", -0.1), ("neck", 0.1), ("head", 0.4)],
        arm: &[
            ("chest", 0.0),
            ("collar.{}", 0.08),
            ("collar.{}", SHOULDER - 0.06),
            ("upper_arm.{}", SHOULDER + 0.04),
            ("upper_arm.{}", ELBOW - 0.05),
            ("forearm.{}", ELBOW + 0.05),
            ("forearm.{}", WRIST - 0.03),
            ("hand.{}", WRIST + 0.03),
        ],
        leg: &[
            ("hips", -0.05),
            ("thigh.{}", 0.08),
            ("thigh.{}", 0.45),
            ("shin.{}", 0.55),
            ("shin.{}", 0.95),
            ("foot.{}", 1.05),
        ],
        foot: &[("shin.{}", -0.1), ("foot.{}", 0.1), ("foot.{}", 0.55), ("toe.{}", 0.75)],
    });
    Rig { title: "plain", bones, tubes, scale: 1.0 }
}

/// The plain rig with other names, other parents, more joints, and other pulls on its tubes.
struct Change<'a> {
    title: &'static str,
    sides: [&'a str; 2],
    /// Plain names to those of the rig, sides as `{}`.
    names: &'a [(&'a str, &'a str)],
    scale: f32,
}

fn renamed(change: &Change) -> Rig {
    let plain = plain();
    let name = |old: &str| -> String {
        let (stem, side) = match old.rsplit_once('.') {
            Some((stem, "L")) => (format!("{stem}.{{}}"), change.sides[0]),
            Some((stem, _)) => (format!("{stem}.{{}}"), change.sides[1]),
            None => (old.to_string(), ""),
        };
        let found = change.names.iter().find(|(plain, _)| *plain == stem).unwrap_or_else(|| panic!("no {stem}"));
        found.1.replace("{}", side)
    };
    let bones =
        plain.bones.iter().map(|(own, parent, place)| (name(own), parent.as_deref().map(&name), *place)).collect();
    let tubes = plain
        .tubes
        .into_iter()
        .map(|tube| Tube { pulls: tube.pulls.iter().map(|(joint, at)| (name(joint), *at)).collect(), ..tube });
    Rig { title: change.title, bones, tubes: tubes.collect(), scale: change.scale }
}

/// Mixamo: a prefix, end joints, an armature in centimetres.
pub fn mixamo() -> Rig {
    let mut rig = renamed(&Change {
        title: "Mixamo",
        sides: ["Left", "Right"],
        names: &[
            ("hips", "mixamorig:Hips"),
            ("spine", "mixamorig:Spine"),
            ("chest", "mixamorig:Spine1"),
            ("neck", "mixamorig:Neck"),
            ("head", "mixamorig:Head"),
            ("collar.{}", "mixamorig:{}Shoulder"),
            ("upper_arm.{}", "mixamorig:{}Arm"),
            ("forearm.{}", "mixamorig:{}ForeArm"),
            ("hand.{}", "mixamorig:{}Hand"),
            ("thigh.{}", "mixamorig:{}UpLeg"),
            ("shin.{}", "mixamorig:{}Leg"),
            ("foot.{}", "mixamorig:{}Foot"),
            ("toe.{}", "mixamorig:{}ToeBase"),
        ],
        scale: 0.01,
    });
    rig.bone("Armature", None, Vec3::ZERO);
    rig.hang("mixamorig:Hips", Some("Armature"));
    rig.bone("mixamorig:HeadTop_End", Some("mixamorig:Head"), places(1.0).crown);
    for (mark, side) in [("Left", 1.0), ("Right", -1.0)] {
        rig.bone(&format!("mixamorig:{mark}Toe_End"), Some(&format!("mixamorig:{mark}ToeBase")), places(side).toe);
        rig.bone(
            &format!("mixamorig:{mark}HandMiddle4_End"),
            Some(&format!("mixamorig:{mark}Hand")),
            places(side).fingers,
        );
    }
    rig.sorted()
}

/// VRM's humanoid: a root, springs that only swing, a bust that is skinned on one side of the chest.
pub fn vrm() -> Rig {
    let mut rig = renamed(&Change {
        title: "VRM",
        sides: ["L", "R"],
        names: &[
            ("hips", "J_Bip_C_Hips"),
            ("spine", "J_Bip_C_Spine"),
            ("chest", "J_Bip_C_Chest"),
            ("neck", "J_Bip_C_Neck"),
            ("head", "J_Bip_C_Head"),
            ("collar.{}", "J_Bip_{}_Shoulder"),
            ("upper_arm.{}", "J_Bip_{}_UpperArm"),
            ("forearm.{}", "J_Bip_{}_LowerArm"),
            ("hand.{}", "J_Bip_{}_Hand"),
            ("thigh.{}", "J_Bip_{}_UpperLeg"),
            ("shin.{}", "J_Bip_{}_LowerLeg"),
            ("foot.{}", "J_Bip_{}_Foot"),
            ("toe.{}", "J_Bip_{}_ToeBase"),
        ],
        scale: 1.0,
    });
    rig.bone("Root", None, Vec3::ZERO);
    rig.hang("J_Bip_C_Hips", Some("Root"));
    rig.bone("secondary", None, Vec3::ZERO);
    for (mark, side) in [("L", 1.0), ("R", -1.0)] {
        let [bust, end] = [1, 2].map(|k| format!("J_Sec_{mark}_Bust{k}"));
        let place = Vec3::new(side * 0.07, 1.28, 0.1);
        rig.bone(&bust, Some("J_Bip_C_Chest"), place);
        rig.bone(&end, Some(&bust), place + Vec3::Z * 0.05);
    }
    rig.sorted()
}

/// Auto-Rig Pro as it exports: trajectory and root above, a twist joint beside each stretch joint, controls left in.
pub fn auto_rig() -> Rig {
    let mut rig = renamed(&Change {
        title: "Auto-Rig",
        sides: ["l", "r"],
        names: &[
            ("hips", "root.x"),
            ("spine", "spine_01.x"),
            ("chest", "spine_02.x"),
            ("neck", "neck.x"),
            ("head", "head.x"),
            ("collar.{}", "shoulder.{}"),
            ("upper_arm.{}", "arm_stretch.{}"),
            ("forearm.{}", "forearm_stretch.{}"),
            ("hand.{}", "hand.{}"),
            ("thigh.{}", "thigh_stretch.{}"),
            ("shin.{}", "leg_stretch.{}"),
            ("foot.{}", "foot.{}"),
            ("toe.{}", "toes_01.{}"),
        ],
        scale: 1.0,
    });
    rig.bone("rig", None, Vec3::ZERO);
    rig.bone("c_pos", Some("rig"), Vec3::ZERO);
    rig.bone("c_traj", Some("c_pos"), Vec3::ZERO);
    rig.hang("root.x", Some("c_traj"));
    for (mark, side) in [("l", 1.0), ("r", -1.0)] {
        let at = places(side);
        let named = |stem: &str| format!("{stem}.{mark}");
        // Those of arm and thigh turn with the trunk, those of forearm and leg with hand and foot.
        for (limb, twist, place, shares) in [
            ("arm_stretch", "arm_twist", at.shoulder, [1.0_f32, 0.0]),
            ("forearm_stretch", "forearm_twist", at.elbow.lerp(at.wrist, 0.5), [0.0, 1.0]),
            ("thigh_stretch", "thigh_twist", at.hip, [1.0, 0.0]),
            ("leg_stretch", "leg_twist", at.knee.lerp(at.ankle, 0.5), [0.0, 1.0]),
        ] {
            rig.bone(&named(twist), Some(&named(limb)), place);
            let mut among = [(named(limb), shares[0]), (named(twist), shares[1])];
            among.sort_by(|a, b| a.1.total_cmp(&b.1));
            let among: Vec<(&str, f32)> = among.iter().map(|(name, at)| (name.as_str(), *at)).collect();
            rig.share(&named(limb), &among);
        }
        for (control, place) in
            [("c_hand_ik", at.wrist), ("c_foot_ik", at.ankle), ("c_arms_pole", at.elbow + Vec3::Z * -0.4)]
        {
            rig.bone(&named(control), Some("c_traj"), place);
        }
    }
    rig.sorted()
}

/// Unreal's mannequin: twist joints beside the next limb's joint, in the middle of theirs, and a tree of IK goals.
pub fn unreal() -> Rig {
    let mut rig = renamed(&Change {
        title: "Unreal",
        sides: ["l", "r"],
        names: &[
            ("hips", "pelvis"),
            ("spine", "spine_01"),
            ("chest", "spine_02"),
            ("neck", "neck_01"),
            ("head", "head"),
            ("collar.{}", "clavicle_{}"),
            ("upper_arm.{}", "upperarm_{}"),
            ("forearm.{}", "lowerarm_{}"),
            ("hand.{}", "hand_{}"),
            ("thigh.{}", "thigh_{}"),
            ("shin.{}", "calf_{}"),
            ("foot.{}", "foot_{}"),
            ("toe.{}", "ball_{}"),
        ],
        scale: 1.0,
    });
    rig.bone("root", None, Vec3::ZERO);
    rig.hang("pelvis", Some("root"));
    rig.bone("ik_foot_root", Some("root"), Vec3::ZERO);
    rig.bone("ik_hand_root", Some("root"), Vec3::ZERO);
    for (mark, side) in [("l", 1.0), ("r", -1.0)] {
        let at = places(side);
        for (limb, from, to) in [
            ("upperarm", at.shoulder, at.elbow),
            ("lowerarm", at.elbow, at.wrist),
            ("thigh", at.hip, at.knee),
            ("calf", at.knee, at.ankle),
        ] {
            let (limb, twist) = (format!("{limb}_{mark}"), format!("{limb}_twist_01_{mark}"));
            rig.bone(&twist, Some(&limb), from.lerp(to, 0.5));
            rig.share(&limb, &[(&limb, 0.0), (&twist, 1.0)]);
        }
        rig.bone(&format!("ik_foot_{mark}"), Some("ik_foot_root"), at.ankle);
        rig.bone(&format!("ik_hand_{mark}"), Some("ik_hand_root"), at.wrist);
    }
    rig.sorted()
}

/// Character Creator: upper arm and the like move no skin; twist joints along them do.
pub fn twists_alone() -> Rig {
    let mut rig = plain();
    rig.title = "twist joints alone";
    for (mark, side) in [("L", 1.0), ("R", -1.0)] {
        let at = places(side);
        for (limb, from, to) in [
            ("upper_arm", at.shoulder, at.elbow),
            ("forearm", at.elbow, at.wrist),
            ("thigh", at.hip, at.knee),
            ("shin", at.knee, at.ankle),
        ] {
            let limb = format!("{limb}.{mark}");
            let twists = [0.05_f32, 0.55].map(|t| (format!("{limb}_Twist0{}", 1 + t.round() as u32), from.lerp(to, t)));
            twists.iter().for_each(|(name, place)| rig.bone(name, Some(&limb), *place));
            rig.share(&limb, &[(&twists[0].0, 0.0), (&twists[1].0, 1.0)]);
        }
    }
    rig.sorted()
}

/// Rigify's joints that deform: spine, legs and arms each by themselves, limbs in two halves.
fn rigify_deform() -> Rig {
    let mut rig = renamed(&Change {
        title: "Rigify, deform joints",
        sides: ["L", "R"],
        names: &[
            ("hips", "DEF-spine"),
            ("spine", "DEF-spine.001"),
            ("chest", "DEF-spine.002"),
            ("neck", "DEF-spine.003"),
            ("head", "DEF-spine.004"),
            ("collar.{}", "DEF-shoulder.{}"),
            ("upper_arm.{}", "DEF-upper_arm.{}"),
            ("forearm.{}", "DEF-forearm.{}"),
            ("hand.{}", "DEF-hand.{}"),
            ("thigh.{}", "DEF-thigh.{}"),
            ("shin.{}", "DEF-shin.{}"),
            ("foot.{}", "DEF-foot.{}"),
            ("toe.{}", "DEF-toe.{}"),
        ],
        scale: 1.0,
    });
    rig.bone("rig", None, Vec3::ZERO);
    rig.hang("DEF-spine", Some("rig"));
    for (mark, side) in [("L", 1.0), ("R", -1.0)] {
        let at = places(side);
        for top in ["DEF-shoulder", "DEF-upper_arm", "DEF-thigh"] {
            rig.hang(&format!("{top}.{mark}"), Some("rig"));
        }
        for (limb, next, from, to) in [
            ("DEF-upper_arm", "DEF-forearm", at.shoulder, at.elbow),
            ("DEF-forearm", "DEF-hand", at.elbow, at.wrist),
            ("DEF-thigh", "DEF-shin", at.hip, at.knee),
            ("DEF-shin", "DEF-foot", at.knee, at.ankle),
        ] {
            let (limb, next) = (format!("{limb}.{mark}"), format!("{next}.{mark}"));
            let half = format!("{limb}.001");
            rig.bone(&half, Some(&limb), from.lerp(to, 0.5));
            rig.hang(&next, Some(&half));
            rig.share(&limb, &[(&limb, 0.0), (&half, 1.0)]);
        }
    }
    rig
}

pub fn rigify() -> Rig {
    rigify_deform().sorted()
}

/// All of Rigify's joints: those that deform hang on mechanisms that hang on controls, and no skin follows either.
pub fn rigify_all() -> Rig {
    let mut rig = rigify_deform();
    rig.title = "Rigify, all joints";
    let (hips, chest) = (places(1.0).hips, places(1.0).chest);
    rig.bone("root", Some("rig"), Vec3::ZERO);
    rig.hang("DEF-spine", Some("root"));
    rig.bone("MCH-torso.parent", Some("rig"), hips);
    rig.bone("torso", Some("MCH-torso.parent"), hips);
    for (name, parent, place) in [
        ("chest", "torso", chest),
        ("MCH-spine", "torso", hips),
        ("tweak_spine", "MCH-spine", hips),
        ("ORG-spine", "tweak_spine", hips),
        ("MCH-spine.002", "torso", chest),
        ("tweak_spine.002", "MCH-spine.002", chest),
        ("ORG-spine.002", "tweak_spine.002", chest),
    ] {
        rig.bone(name, Some(parent), place);
    }
    for (mark, side) in [("L", 1.0), ("R", -1.0)] {
        let at = places(side);
        let named = |stem: &str| format!("{stem}.{mark}");
        rig.above(&named("DEF-shoulder"), &named("ORG-shoulder"), "ORG-spine.002");
        rig.bone(&named("ORG-upper_arm"), Some(&named("ORG-shoulder")), at.shoulder);
        rig.bone(&named("ORG-forearm"), Some(&named("ORG-upper_arm")), at.elbow);
        rig.bone(&named("MCH-upper_arm_tweak"), Some(&named("ORG-shoulder")), at.shoulder);
        rig.hang(&named("DEF-upper_arm"), Some(&named("ORG-shoulder")));
        rig.bone(&named("ORG-thigh"), Some("ORG-spine"), at.hip);
        rig.bone(&named("ORG-shin"), Some(&named("ORG-thigh")), at.knee);
        rig.hang(&named("DEF-thigh"), Some("ORG-spine"));
        rig.bone(&named("thigh_ik"), Some("root"), at.hip);
        rig.bone(&named("foot_ik"), Some("root"), at.ankle);
        rig.bone(&named("VIS_thigh_ik_pole"), Some("root"), at.knee + Vec3::Z * 0.5);
    }
    rig.sorted()
}

/// Rigify's deforming joints exported side by side, without any hierarchy.
pub fn flattened() -> Rig {
    let mut rig = rigify_deform();
    rig.title = "without hierarchy";
    let names: Vec<String> = rig.bones.iter().map(|(name, _, _)| name.clone()).filter(|name| name != "rig").collect();
    names.iter().for_each(|name| rig.hang(name, Some("rig")));
    rig.sorted()
}

/// The plain rig with a control above its hips and legs, helpers and goals that no skin follows.
pub fn controls() -> Rig {
    let mut rig = plain();
    rig.title = "controls, helpers and goals";
    rig.bone("root", None, Vec3::ZERO);
    rig.above("hips", "pelvis_control", "root");
    rig.hang("pelvis_control", Some("root"));
    for (mark, side) in [("L", 1.0), ("R", -1.0)] {
        let at = places(side);
        rig.hang(&format!("thigh.{mark}"), Some("pelvis_control"));
        rig.bone(&format!("elbow_helper.{mark}"), Some(&format!("upper_arm.{mark}")), at.elbow - Vec3::Z * 0.05);
        rig.bone(&format!("knee_goal.{mark}"), Some("root"), at.knee + Vec3::Z * 0.5);
        rig.bone(&format!("hand_goal.{mark}"), Some("root"), at.wrist);
        rig.bone(&format!("weapon.{mark}"), Some(&format!("hand.{mark}")), at.fingers + Vec3::Y * 0.3);
    }
    rig.sorted()
}

/// The plain rig with hips that no skin follows: the spine's joint pulls instead.
pub fn bare_hips() -> Rig {
    let mut rig = plain();
    rig.title = "hips without skin";
    for (name, _) in rig.tubes.iter_mut().flat_map(|tube| &mut tube.pulls).filter(|(name, _)| name == "hips") {
        *name = "spine".into();
    }
    rig
}

pub fn all() -> Vec<Rig> {
    vec![
        mixamo(),
        vrm(),
        auto_rig(),
        unreal(),
        twists_alone(),
        rigify(),
        rigify_all(),
        flattened(),
        controls(),
        bare_hips(),
    ]
}
