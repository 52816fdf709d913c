//! JSON input and output. JSON is passed on as text, so numbers keep their digits at any depth.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::failure::Failure;

/// Maximum nesting of arrays and objects in a request. The database accepts 500 in a definition.
const MAX_DEPTH: usize = 1000;

/// A JSON response that exists as text.
pub struct JsonText(pub String);

impl IntoResponse for JsonText {
    fn into_response(self) -> Response {
        ([(CONTENT_TYPE, "application/json")], self.0).into_response()
    }
}

/// The request body, deserialized. A missing body is `null`.
pub struct Body<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        let bytes = Bytes::from_request(request, state)
            .await
            .map_err(|error| Failure::bad_request(format!("the body of the request did not arrive: {error}")))?;
        parse(&bytes).map(Self)
    }
}

/// Deserializes a request body. An empty body is `null`.
pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Failure> {
    let bytes = if bytes.trim_ascii().is_empty() { b"null" } else { bytes };
    read(bytes).map_err(|error| Failure::bad_request(format!("the body is not the JSON that is expected: {error}")))
}

/// Parses JSON of limited depth; the error describes the problem.
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    if depth(bytes) > MAX_DEPTH {
        return Err(format!("JSON may be nested {MAX_DEPTH} deep"));
    }
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    // `depth` has already limited it.
    reader.disable_recursion_limit();
    let value = T::deserialize(&mut reader).map_err(|error| error.to_string())?;
    reader.end().map_err(|error| error.to_string())?;
    Ok(value)
}

/// A value as JSON text.
pub fn raw<T: Serialize + ?Sized>(value: &T) -> Result<Box<RawValue>, Failure> {
    to_raw_value(value).map_err(Failure::internal)
}

/// Maximum nesting of arrays and objects in the text.
fn depth(bytes: &[u8]) -> usize {
    let (mut depth, mut most, mut in_text, mut is_escaped) = (0_usize, 0, false, false);
    for byte in bytes {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            b'[' | b'{' if !in_text => {
                depth += 1;
                most = most.max(depth);
            }
            b']' | b'}' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    most
}

/// A member of an object; `null` if it is missing or the value is no object.
pub fn member<'a>(value: &'a Value, name: &str) -> &'a Value {
    value.get(name).unwrap_or(&Value::Null)
}

/// The text of a member; empty if it is missing or no text.
pub fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    member(value, name).as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits() {
        let text = r#"{"a":1.10,"b":1e+400,"c":123456789012345678901234567890}"#;
        assert_eq!(parse::<Value>(text.as_bytes()).unwrap().to_string(), text);
    }

    #[test]
    fn depth_is_bounded_and_brackets_in_texts_do_not_count() {
        let nested = |times| format!("{}{}", "[".repeat(times), "]".repeat(times));
        assert!(parse::<Value>(nested(MAX_DEPTH).as_bytes()).is_ok());
        assert!(parse::<Value>(nested(MAX_DEPTH + 1).as_bytes()).is_err());
        assert!(parse::<Value>(format!("{:?}", nested(2 * MAX_DEPTH)).as_bytes()).is_ok());
        assert!(parse::<Value>("[".repeat(10_000_000).as_bytes()).is_err());
    }
}
