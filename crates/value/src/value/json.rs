//! JSON values inside the compact state.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::Bounds;
use super::parse::parse_stored;

/// A JSON value inside the compact state, written as text because the format is not self-describing. A UUID, of which
/// activities create many, is written as [`ID`] and its bytes: less than half of its text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Json(pub Value);

/// The first byte of a packed UUID; no JSON text begins with it.
const ID: u8 = 1;

impl Serialize for Json {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match id_of(&self.0) {
            Some(id) => {
                let mut packed = [ID; 17];
                packed[1..].copy_from_slice(id.as_bytes());
                serializer.serialize_bytes(&packed)
            }
            None => serializer.serialize_bytes(self.0.to_string().as_bytes()),
        }
    }
}

/// The UUID in a value, if writing the UUID again gives the same text.
fn id_of(value: &Value) -> Option<Uuid> {
    let text = value.as_str().filter(|text| text.len() == uuid::fmt::Hyphenated::LENGTH)?;
    let id = Uuid::try_parse(text).ok()?;
    (id.hyphenated().encode_lower(&mut Uuid::encode_buffer()) == text).then_some(id)
}

/// Maximum nesting of a stored value. Values nested deeper than 2,000 levels are refused; the rest is for the levels
/// that the engine adds around them.
const MAX_STORED_DEPTH: usize = 2_100;

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let bytes = <&'de [u8]>::deserialize(deserializer)?;
        if let Some((&ID, id)) = bytes.split_first() {
            return Ok(Json(Value::String(Uuid::from_slice(id).map_err(D::Error::custom)?.to_string())));
        }
        let text = std::str::from_utf8(bytes).map_err(D::Error::custom)?;
        Bounds::check_interrupts().map_err(D::Error::custom)?;
        if nesting(text) > MAX_STORED_DEPTH {
            return Err(D::Error::custom("value is nested too deeply"));
        }
        parse_stored(text, MAX_STORED_DEPTH).map(Json).map_err(D::Error::custom)
    }
}

/// Deepest nesting of brackets outside strings.
fn nesting(text: &str) -> usize {
    let (mut depth, mut deepest) = (0usize, 0usize);
    let (mut in_string, mut escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}
