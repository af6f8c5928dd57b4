//! What an author meant who wrote a name nearly right.

use super::node_mesh::same_attribute;
use crate::character::muscles::{ENDS_ATTRIBUTE, edits};

/// Most edits between a name that is meant and the one that is written.
const MOST_EDITS: usize = 2;

/// The property that reads a muscle, where `property` is nearly one: `Sinew.muscle`, `sinew_muscle_radius`, `sinew.mucsle`.
/// `None` for properties that are read, and for others.
pub(super) fn meant(property: &str) -> Option<String> {
    if property.len() > 128 || property == "sinew" || property == "sinew.muscle" {
        return None;
    }
    let letters = letters(property);
    if letters == "sinew" {
        return Some("sinew".into());
    }
    if let Some(key) = letters.strip_prefix("sinewmuscle") {
        // Where the key begins: after as many letters as the name has.
        let at = property.char_indices().filter(|(_, letter)| letter.is_alphanumeric()).nth("sinewmuscle".len());
        return match at {
            None => Some("sinew.muscle".into()),
            Some(_) if property.starts_with("sinew.muscle.") => None,
            // `sinew.muscles` is no key of a muscle.
            Some(_) if key == "s" => Some("sinew.muscle".into()),
            Some((at, _)) => Some(format!("sinew.muscle.{}", property[at..].to_lowercase())),
        };
    }
    let near = edits(&letters, "sinewmuscle") <= MOST_EDITS;
    near.then(|| "sinew.muscle".into())
}

/// Whether a text may hold a property for [`meant`], or one that is read.
pub(super) fn mentions(text: &str) -> bool {
    let any = |word: &[u8]| text.as_bytes().windows(word.len()).any(|here| here.eq_ignore_ascii_case(word));
    any(b"sinew") || any(b"muscle")
}

/// The attribute of a muscle's ends, where `attribute` is nearly it. `None` for the ones that are read, and for others.
pub(super) fn meant_ends(attribute: &str) -> Option<&'static str> {
    let read = attribute.starts_with('_') && same_attribute(attribute, ENDS_ATTRIBUTE);
    let near = attribute.len() <= 128 && edits(&letters(attribute), "sinewends") <= 1;
    (near && !read).then_some(ENDS_ATTRIBUTE)
}

fn letters(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_nearly_right_have_one_that_is() {
        for (written, right) in [
            ("Sinew.muscle", "sinew.muscle"),
            ("sinew_muscle", "sinew.muscle"),
            ("SINEW_MUSCLE", "sinew.muscle"),
            ("sinew.Muscle", "sinew.muscle"),
            ("sinew muscle", "sinew.muscle"),
            ("sinew.muscles", "sinew.muscle"),
            ("sinew.mucsle", "sinew.muscle"),
            ("sinews.muscle", "sinew.muscle"),
            ("Sinew", "sinew"),
            ("sinew_muscle_peak_force", "sinew.muscle.peak_force"),
            ("Sinew.Muscle.Radius", "sinew.muscle.radius"),
        ] {
            assert_eq!(meant(written).as_deref(), Some(right), "{written}");
            assert!(mentions(written), "{written}");
        }
        for other in ["sinew", "sinew.muscle", "sinew.muscle.radius", "sinewy", "muscle", "mass", "sinew.material"] {
            assert_eq!(meant(other), None, "{other}");
        }
        for written in ["SINEW_ENDS", "sinew_ends", "_SINEWENDS", "_SINEW_END", "SinewEnds", "_SINEW.ENDS"] {
            assert_eq!(meant_ends(written), Some("_SINEW_ENDS"), "{written}");
        }
        for other in ["_SINEW_ENDS", "__SINEW_ENDS", "_sinew_ends", "POSITION", "_ENDS"] {
            assert_eq!(meant_ends(other), None, "{other}");
        }
    }
}
