//! A rig, and how it is changed into another one for the same figure.

use glam::Vec3;

use crate::figure::{Bone, Tube};

/// A rig: its joints, the tubes of skin with who pulls on them, and the scale of its topmost node.
pub struct Rig {
    pub title: &'static str,
    pub bones: Vec<Bone>,
    pub tubes: Vec<Tube>,
    pub scale: f32,
}

impl Rig {
    /// Adds a joint.
    pub fn bone(&mut self, name: &str, parent: Option<&str>, place: Vec3) {
        self.bones.push((name.into(), parent.map(String::from), place));
    }

    /// Hangs a joint on another one.
    pub fn hang(&mut self, name: &str, parent: Option<&str>) {
        let bone = self.bones.iter_mut().find(|(own, _, _)| own == name).unwrap_or_else(|| panic!("no {name}"));
        bone.1 = parent.map(String::from);
    }

    /// A joint between one and its parent, beside the parent's place.
    pub fn above(&mut self, name: &str, new: &str, parent: &str) {
        let place = self.place(name);
        self.bone(new, Some(parent), place);
        self.hang(name, Some(new));
    }

    pub fn place(&self, name: &str) -> Vec3 {
        self.bones.iter().find(|(own, _, _)| own == name).unwrap_or_else(|| panic!("no {name}")).2
    }

    /// Shares a joint's pull between it and others: where it pulled alone from one place to another along a tube, they
    /// pull alone at the shares of that stretch given, the last of them where it pulled on the next tube.
    pub fn share(&mut self, joint: &str, among: &[(&str, f32)]) {
        for tube in &mut self.tubes {
            let own: Vec<f32> = tube.pulls.iter().filter(|(name, _)| name == joint).map(|(_, at)| *at).collect();
            let Some(at) = tube.pulls.iter().position(|(name, _)| name == joint) else { continue };
            let [from, to] = [own[0], own[own.len() - 1]];
            let among = if own.len() > 1 { among } else { &among[among.len() - 1..] };
            tube.pulls.retain(|(name, _)| name != joint);
            let shared = among.iter().map(|(name, share)| (name.to_string(), from + (to - from) * share));
            tube.pulls.splice(at..at, shared);
        }
    }

    /// Parents before children.
    pub fn sorted(mut self) -> Self {
        let mut sorted: Vec<Bone> = Vec::new();
        while !self.bones.is_empty() {
            let ready =
                |bone: &Bone| bone.1.as_ref().is_none_or(|parent| sorted.iter().any(|(name, _, _)| name == parent));
            let at = self.bones.iter().position(ready).expect("a forest");
            sorted.push(self.bones.remove(at));
        }
        self.bones = sorted;
        self
    }
}
