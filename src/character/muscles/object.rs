//! The JSON of a muscle, key by key. These structs are the schema: reading, writing, the known keys and
//! `assets/muscles.schema.json` all follow from them. Ranges are in [`MUSCLE_LIMITS`](super::MUSCLE_LIMITS).

use std::collections::BTreeMap;
use std::fmt;

use super::BoneObject;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

/// A muscle. Lengths are in metres, whatever the file's unit. A key that is left out, or `null`, has its default.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "muscle"))]
pub(in crate::character) struct MuscleObject {
    /// The muscle's name, one of a kind in the character. Default: the node's name, or the key in a sidecar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The joint that holds the first cross-section, alone or with a place. Default: the path's first point.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<EndObject>,
    /// The joint that holds the last cross-section, alone or with a place. Default: the path's last point.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub insertion: Option<EndObject>,
    /// The points that the muscle passes: origin, via points, insertion; over 4 joints at most, each counted as
    /// often as the path comes to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(length(min = 2, max = 64)))]
    pub path: Option<Vec<PointObject>>,
    /// The node whose mesh is the muscle's surface. Default: the node that the muscle stands on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mesh: Option<String>,
    /// The mesh's vertices at the origin, as indices into the node's vertices in the file, its primitives one after
    /// another. Default: by ends_attribute.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(length(min = 1)))]
    pub sources: Option<Vec<u32>>,
    /// The mesh's vertices at the insertion, as for sources.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(length(min = 1)))]
    pub sinks: Option<Vec<u32>>,
    /// The vertex attribute that marks the mesh's ends: negative sources, positive sinks. Default: `_SINEW_ENDS`;
    /// where the mesh has none, the ends nearest the two joints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends_attribute: Option<String>,
    /// Baked fibres, as `sinew viperize` writes them; they take the place of path and mesh.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bundle: Option<BundleObject>,
    /// Fibres that a path or a mesh is made into. Default: 8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<u32>"))]
    pub fibre_count: Option<Count>,
    /// Cross-sections that a path or a mesh is made into; a path has one at each of its points, and so never fewer than
    /// points. Default: 8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<u32>"))]
    pub section_count: Option<Count>,
    /// Radius of a path's belly (m). A path needs one of radius, peak_force, volume or radii at its points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
    /// Peak isometric force (N): a path's belly has the cross-section peak_force / peak_stress; of a mesh or a bundle it
    /// sets the peak stress instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_force: Option<f64>,
    /// Volume of a path (m³), tendons included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume: Option<f64>,
    /// Radius of a path's ends over its belly's. Default: 0.4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taper: Option<f64>,
    /// A preset's name (muscle, fat, tendon), or a preset with values replaced. Default: muscle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub material: Option<Material>,
    /// Active stress at full activation (Pa). Default: the material's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_stress: Option<f64>,
    /// Fractions of the rest length at origin and insertion that are tendon and do not contract, together at most 0.9.
    /// Default: [0, 0].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tendon: Option<[f64; 2]>,
    /// Length at which active tension is greatest, over the rest length. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimal_stretch: Option<f64>,
    /// Passive tension over peak tension, of e^(stretch - 1) - 1 beyond the rest length, beside the material's own
    /// elasticity. Default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passive: Option<f64>,
    /// Shortening velocity at which active tension vanishes (optimal lengths/s). Default: tension does not depend on
    /// velocity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_velocity: Option<f64>,
    /// Time constant of rising activation (s). Default: 0.015.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activation_time: Option<f64>,
    /// Time constant of falling activation (s). Default: 0.05.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deactivation_time: Option<f64>,
    /// Whether cross-sections keep their size. Default: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<bool>"))]
    pub rigid: Option<Flag>,
    /// Whether fascia keeps it in its bed: each cross-section is tied softly to the path along which bones carry the muscle,
    /// along which it slides, and what they let in rests shorter and thicker. Default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<bool>"))]
    pub fascia: Option<Flag>,
    /// Fraction of the rest length that full activation takes away. Default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortening: Option<f64>,
}

/// A joint's name, or a joint with a place.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "end"))]
pub(in crate::character) enum EndObject {
    /// The joint's name.
    Joint(String),
    /// The joint's name with a place.
    Placed(PlacedEnd),
}

/// A joint with a place.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "placed_end"))]
pub(in crate::character) struct PlacedEnd {
    /// The joint's name.
    pub joint: String,
    /// Place (m) along the joint's axes at rest, from the joint. Default: found from the muscle's shape.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<[f64; 3]>,
}

/// A point of a path, carried by a joint.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "point"))]
pub(in crate::character) struct PointObject {
    /// The joint's name; among namesakes with parents before it: `Spine/Arm`.
    pub joint: String,
    /// Place (m) along the joint's axes at rest, from the joint.
    pub place: [f64; 3],
    /// The muscle's radius there (m). Default: from radius, peak_force or volume with taper; without those,
    /// interpolated between points that say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
}

/// Fibres in model space at rest.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "bundle"))]
pub(in crate::character) struct BundleObject {
    /// One list per fibre of where it passes each section, from origin to insertion; all of the same length.
    #[cfg_attr(test, schemars(length(min = 1, max = 64)))]
    pub fibres: Vec<Vec<DiscObject>>,
}

/// A fibre where it passes a section.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "disc"))]
pub(in crate::character) struct DiscObject {
    /// Place (m) in model space at rest.
    pub place: [f64; 3],
    /// Radius (m).
    pub radius: f64,
}

/// A preset's name, or a preset with values replaced.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "material"))]
pub(in crate::character) enum Material {
    /// The preset's name: muscle, fat or tendon.
    #[cfg_attr(test, schemars(extend("enum" = ["muscle", "fat", "tendon"])))]
    Preset(String),
    /// A preset with values replaced.
    Object(MaterialObject),
}

/// A preset with values replaced.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "material_object"))]
pub(in crate::character) struct MaterialObject {
    /// muscle, fat or tendon. Default: muscle.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(extend("enum" = ["muscle", "fat", "tendon", null])))]
    pub preset: Option<String>,
    /// Young's modulus (Pa). Default: the preset's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub youngs_modulus: Option<f64>,
    /// Poisson's ratio; towards ½ volume is kept. Default: the preset's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poissons_ratio: Option<f64>,
    /// Density (kg/m³). Default: the preset's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    /// Damping (1/s) of motion relative to the bones. Default: the preset's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damping: Option<f64>,
}

/// The file of muscles beside a character's file.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(
    test,
    derive(schemars::JsonSchema),
    schemars(deny_unknown_fields, rename = "NAME.muscles.json", title = "Sinew muscles, NAME.muscles.json")
)]
pub(in crate::character) struct SidecarObject {
    /// Where this schema lies; for editors.
    #[serde(rename = "$schema", skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// Version of the schema: 1.
    #[cfg_attr(test, schemars(range(min = 1, max = 1)))]
    pub version: u64,
    /// Muscles by name, or a list of muscles with names. Where the file has a muscle of the name, each key given here
    /// replaces the file's; `null` gives the default back.
    pub muscles: SidecarMuscles,
    /// Bones that the muscles stay out of. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bones: Vec<BoneObject>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "muscles"))]
pub(in crate::character) enum SidecarMuscles {
    /// Muscles by name.
    Named(BTreeMap<String, MuscleObject>),
    /// Muscles that say their names.
    #[allow(dead_code, reason = "a form that files may have but are not written in")]
    List(Vec<MuscleObject>),
}

/// A whole number; also one written as 8.0, because a tool whose property holds decimals writes those.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(transparent)]
pub(in crate::character) struct Count(pub u32);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CountVisitor;
        impl Visitor<'_> for CountVisitor {
            type Value = Count;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a whole number")
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Count, E> {
                Ok(Count(u32::try_from(number).unwrap_or(u32::MAX)))
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Count, E> {
                if number >= 0.0 && number.fract() == 0.0 {
                    // Saturates, and the range is checked later.
                    return Ok(Count(number as u32));
                }
                Err(E::invalid_value(de::Unexpected::Float(number), &self))
            }
        }
        deserializer.deserialize_any(CountVisitor)
    }
}

/// `true` or `false`; also 0 or 1, because a tool without a Boolean property writes those.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(transparent)]
pub(in crate::character) struct Flag(pub bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FlagVisitor;
        impl Visitor<'_> for FlagVisitor {
            type Value = Flag;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("true or false")
            }

            fn visit_bool<E: de::Error>(self, flag: bool) -> Result<Flag, E> {
                Ok(Flag(flag))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Flag, E> {
                match number {
                    0 | 1 => Ok(Flag(number == 1)),
                    _ => Err(E::invalid_value(de::Unexpected::Unsigned(number), &self)),
                }
            }
        }
        deserializer.deserialize_any(FlagVisitor)
    }
}

/// Reads a text as one thing or an object as another; unlike an untagged enum it says where in the object an error is.
struct TextOr<T, O> {
    expecting: &'static str,
    text: fn(String) -> T,
    object: fn(O) -> T,
}

impl<'de, T, O: Deserialize<'de>> Visitor<'de> for TextOr<T, O> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.expecting)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        Ok((self.text)(text.into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        O::deserialize(MapAccessDeserializer::new(map)).map(self.object)
    }
}

impl<'de> Deserialize<'de> for EndObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expecting = "a joint's name or {joint, place}";
        deserializer.deserialize_any(TextOr { expecting, text: Self::Joint, object: Self::Placed })
    }
}

impl<'de> Deserialize<'de> for Material {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expecting = "a preset's name or an object";
        deserializer.deserialize_any(TextOr { expecting, text: Self::Preset, object: Self::Object })
    }
}

/// The keys of a struct.
pub(super) fn keys<T: Deserialize<'static>>() -> &'static [&'static str] {
    let mut keys: &'static [&'static str] = &[];
    // Deriving hands the names to the deserializer; this one keeps them and refuses to go on.
    let refused = T::deserialize(KeyProbe(&mut keys)).is_err();
    debug_assert!(refused && !keys.is_empty());
    keys
}

struct KeyProbe<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for KeyProbe<'_> {
    type Error = de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(de::Error::custom("only keys are asked for"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        *self.0 = fields;
        self.deserialize_any(visitor)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
