//! Which joint a name in a file stands for.

use std::collections::HashMap;

use super::{MuscleError, shorten};
use crate::character::Skeleton;

/// Most candidates that an error lists, and most ancestors that it names.
const MAX_LISTED: usize = 8;

/// Chooses among joints of one name.
pub(in crate::character) type OwnJoint<'a> = &'a dyn Fn(&[u32]) -> Option<u32>;

/// Joints by name. Where several have the same, ancestors tell them apart: `Spine/Arm`; a leading `/` starts at a
/// root.
pub struct JointNames<'a> {
    skeleton: &'a Skeleton,
    by_name: HashMap<&'a str, Vec<u32>>,
}

impl<'a> JointNames<'a> {
    /// Looks through a skeleton once.
    pub fn new(skeleton: &'a Skeleton) -> Self {
        let mut by_name: HashMap<&str, Vec<u32>> = HashMap::new();
        for (index, joint) in skeleton.joints.iter().enumerate() {
            by_name.entry(&joint.name).or_default().push(index as u32);
        }
        Self { skeleton, by_name }
    }

    /// The skeleton.
    pub fn skeleton(&self) -> &'a Skeleton {
        self.skeleton
    }

    /// The joint that `reference`, found under `key` of `muscle`, stands for.
    ///
    /// # Errors
    /// [`MuscleError::UnknownJoint`], [`MuscleError::AmbiguousJoint`].
    pub fn find(&self, reference: &str, muscle: &str, key: &str) -> Result<u32, MuscleError> {
        self.find_own(reference, muscle, key, &|_| None)
    }

    /// As [`Self::find`]; of several joints that `reference` may stand for, the one that `own` chooses, if it does.
    ///
    /// # Errors
    /// As [`Self::find`].
    pub(in crate::character) fn find_own(
        &self,
        reference: &str,
        muscle: &str,
        key: &str,
        own: OwnJoint,
    ) -> Result<u32, MuscleError> {
        let found = self.matches(reference);
        let (muscle, key, joint) = (shorten(muscle).into(), key.into(), shorten(reference).into());
        match found[..] {
            [] => Err(MuscleError::UnknownJoint { muscle, key, joint, hint: self.hint(reference) }),
            [joint] => Ok(joint),
            _ => own(&found).ok_or_else(|| {
                let candidates = found.iter().take(MAX_LISTED).map(|&joint| self.path(joint)).collect();
                MuscleError::AmbiguousJoint { muscle, key, joint, candidates }
            }),
        }
    }

    /// The shortest reference that stands for a joint alone; `None` where there is no such joint or namesakes share
    /// all ancestors' names.
    pub fn reference(&self, joint: u32) -> Option<String> {
        let mut reference = self.skeleton.joints.get(joint as usize)?.name.clone();
        let mut top = joint;
        loop {
            if self.matches(&reference)[..] == [joint] {
                return Some(reference);
            }
            match self.skeleton.joints[top as usize].parent {
                Some(parent) => {
                    reference = format!("{}/{reference}", self.skeleton.joints[parent as usize].name);
                    top = parent;
                }
                None if reference.starts_with('/') => return None,
                None => reference.insert(0, '/'),
            }
        }
    }

    fn matches(&self, reference: &str) -> Vec<u32> {
        // A name may hold a slash: each may or may not part two names.
        let starts = std::iter::once(0).chain(reference.match_indices('/').map(|(at, _)| at + 1));
        let mut found: Vec<u32> = starts
            .take(256)
            .filter_map(|start| Some((start, self.by_name.get(&reference[start..])?)))
            .flat_map(|(start, joints)| joints.iter().filter(move |&&joint| self.descends(joint, &reference[..start])))
            .copied()
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether a joint's ancestors are those that `above`, empty or ending in `/`, names.
    fn descends(&self, joint: u32, above: &str) -> bool {
        let (mut joint, mut above) = (joint, above);
        loop {
            let parent = self.skeleton.joints[joint as usize].parent;
            match (above, parent) {
                ("", _) | ("/", None) => return true,
                (_, None) => return false,
                (_, Some(parent)) => {
                    let name = &self.skeleton.joints[parent as usize].name;
                    match above.strip_suffix('/').and_then(|rest| rest.strip_suffix(name.as_str())) {
                        Some(rest) if rest.is_empty() || rest.ends_with('/') => (joint, above) = (parent, rest),
                        _ => return false,
                    }
                }
            }
        }
    }

    /// Names from a root, or from the eighth ancestor, to a joint.
    fn path(&self, joint: u32) -> String {
        let mut names = Vec::new();
        let mut next = Some(joint);
        while let Some(joint) = next.filter(|_| names.len() < MAX_LISTED) {
            let joint = &self.skeleton.joints[joint as usize];
            names.push(shorten(&joint.name));
            next = joint.parent;
        }
        names.reverse();
        format!("{}{}", if next.is_none() { "/" } else { "" }, names.join("/"))
    }

    fn hint(&self, reference: &str) -> String {
        let name = reference.rsplit('/').next().unwrap_or(reference);
        match nearest(name, self.skeleton.joints.iter().map(|joint| joint.name.as_str())) {
            Some(near) => format!("; did you mean {near:?}?"),
            None => "; `sinew inspect --json FILE` lists them as joint_names".into(),
        }
    }
}

/// The known name that a misspelt one is most like, if any is like it at all.
pub(super) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name = shorten(name).to_lowercase();
    known
        .map(|known| (edits(&name, &shorten(known).to_lowercase()), known))
        .min_by_key(|&(edits, _)| edits)
        .filter(|&(edits, _)| edits <= 1 + name.chars().count() / 3)
        .map(|(_, known)| shorten(known))
}

/// Levenshtein's distance.
pub(in crate::character) fn edits(a: &str, b: &str) -> usize {
    let [a, b] = [a, b].map(|text| text.chars().collect::<Vec<char>>());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
