//! A muscle as a node's custom properties or its extension say it.

use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::ImportError;
use super::context::{Context, shorten};
use super::spelling;
use crate::character::muscles::schema::{self, Object};
use crate::character::muscles::{MuscleError, json_fix};

/// Name of the extension.
const EXTENSION: &str = "SINEW_muscle";

/// A muscle's object as a node says it.
pub(super) struct Found {
    pub name: String,
    pub node: usize,
    pub object: Object,
}

/// The muscle that a node says, if it says one.
pub(super) fn on_node(context: &Context, node: usize) -> Result<Option<Found>, ImportError> {
    let fail = |source| ImportError::Muscle { file: context.file.into(), source: Box::new(source) };
    let place = |property: &str| format!("{}, {property}", context.node_name(node));
    let source = &context.document.nodes[node];
    let extras = match &source.extras {
        Some(extras) => {
            let text = extras.get();
            if spelling::mentions(text) {
                // What a parsed value takes, at the most.
                context.budget.spend(text.len(), size_of::<Value>(), || place("extras"))?;
                from_extras(text, &place("extras"), context).map_err(fail)?
            } else {
                None
            }
        }
        None => None,
    };
    let extension = match source.extensions.as_ref().and_then(|extensions| extensions.others.get(EXTENSION)) {
        Some(value) => {
            if extras.is_some() {
                let node = context.node_name(node);
                context.warn(format!("{node} has a muscle in extras and as {EXTENSION}; the extension is read"));
            }
            Some(to_object(value.clone(), &place(EXTENSION)).map_err(fail)?)
        }
        None => None,
    };
    let Some(mut object) = extension.or(extras) else { return Ok(None) };
    schema::check_version(object.remove("version").as_ref(), &place("its muscle")).map_err(fail)?;
    let own = || source.name.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| format!("node {node}"));
    let name = match object.remove("name") {
        None | Some(Value::Null) => own(),
        Some(Value::String(name)) if !name.is_empty() => name,
        Some(other) => {
            let problem = format!("is {}", shorten(&other.to_string()));
            let (muscle, expected) = (shorten(&own()).into(), "a name in quotes".into());
            return Err(fail(MuscleError::Type { muscle, key: "name".into(), problem, expected }));
        }
    };
    Ok(Some(Found { name, node, object }))
}

/// The muscle in a node's extras: `sinew: {muscle: {…}}`, `"sinew.muscle": {…}`, or `"sinew.muscle.KEY": …`, one custom
/// property each. Objects may be texts that hold JSON.
fn from_extras(text: &str, place: &str, context: &Context) -> Result<Option<Object>, MuscleError> {
    let problem = |error: serde_json::Error| json(place, format!("is not sound JSON: {error}"));
    let mut reader = serde_json::Deserializer::from_str(text);
    let mut properties = reader.deserialize_any(Properties).map_err(problem)?;
    let mut object: Option<Object> = None;
    if let Some(sinew) = properties.remove("sinew") {
        let mut sinew = to_object(sinew, &format!("{place}.sinew"))?;
        schema::check_version(sinew.remove("version").as_ref(), &format!("{place}.sinew"))?;
        if let Some(muscle) = sinew.remove("muscle") {
            object = Some(to_object(muscle, &format!("{place}.sinew.muscle"))?);
        }
        for key in sinew.keys().take(16) {
            context.warn(format!("{place}.sinew: the key {} is unknown and left out; known is muscle", shorten(key)));
        }
    }
    if let Some(muscle) = properties.remove("sinew.muscle") {
        if object.is_some() {
            context.warn(format!("{place}: sinew and sinew.muscle both say a muscle; sinew.muscle is read"));
        }
        object = Some(to_object(muscle, &format!("{place}.sinew.muscle"))?);
    }
    for (property, value) in properties {
        let Some(key) = property.strip_prefix("sinew.muscle.") else {
            if let Some(meant) = spelling::meant(&property) {
                let property = shorten(&property);
                context.warn(format!("{place}: the property {property} is not read; rename it {meant}"));
                continue;
            }
            let property = shorten(&property);
            context.warn(format!("{place}: the property {property} is unknown and left out; known is sinew.muscle"));
            continue;
        };
        let value = match value {
            // A text property is the only one that can hold a list of objects.
            Value::String(text) if text.trim_start().starts_with(['[', '{']) => {
                serde_json::from_str(&text).map_err(|error| MuscleError::Json {
                    place: format!("{place}.{}", shorten(&property)),
                    problem: format!("is not JSON: {error}"),
                    fix: json_fix(&text).unwrap_or(FIX),
                })?
            }
            value => value,
        };
        object.get_or_insert_default().insert(key.into(), value);
    }
    Ok(object)
}

const FIX: &str = "write {\"muscle\": {…}} as property sinew, or {…} as property sinew.muscle";

fn json(place: &str, problem: String) -> MuscleError {
    MuscleError::Json { place: place.into(), problem, fix: FIX }
}

fn to_object(value: Value, place: &str) -> Result<Object, MuscleError> {
    let value = match value {
        Value::String(text) => serde_json::from_str(&text).map_err(|error| MuscleError::Json {
            place: place.into(),
            problem: format!("is text that is not JSON: {error}"),
            fix: json_fix(&text).unwrap_or(FIX),
        })?,
        value => value,
    };
    match value {
        Value::Object(object) => Ok(object),
        other => Err(json(place, format!("is {} instead of an object", shorten(&other.to_string())))),
    }
}

/// Keeps the properties of a node that begin with `sinew` or are meant to; extras that are no object have none.
struct Properties;

impl<'de> Visitor<'de> for Properties {
    type Value = Object;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("custom properties")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
        let mut kept = Object::new();
        while let Some(key) = map.next_key::<String>()? {
            if key == "sinew" || key.starts_with("sinew.") || spelling::meant(&key).is_some() {
                kept.insert(key, map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(kept)
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Object, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Object::new())
    }

    fn visit_str<E>(self, _: &str) -> Result<Object, E> {
        Ok(Object::new())
    }
}
