//! JSON values in the engine: text form, truth, equality, canonical form, conversion.
//!
//! Numbers keep their original text (`1.10` stays `1.10`, `1e400` is a number), so code that needs arithmetic uses
//! [`number`]. Everything here avoids recursion over the value: a document nested as deep as PostgreSQL allows must not
//! crash the backend. The module is independent of activities and scripts.

use serde_json::Value;

use crate::fault::Fault;

pub mod base64;
mod bounds;
mod canonical;
mod convert;
mod copy;
mod equality;
pub mod indexed;
mod json;
mod members;
pub mod number;
mod parse;
mod text;
mod time;
mod type_name;

pub use bounds::check_extent;
pub use bounds::{Bounds, Exceeded, Tally};
pub use canonical::canonical;
pub use convert::convert;
pub use copy::{Text, copy, copy_members, copy_or_null, json_text};
pub use equality::same;
pub use json::Json;
pub use members::entry;
pub use members::kind_of;
pub use parse::parse_json;
pub use text::{depth_ok, to_text};
pub use text::{nul_in_string, too_deep};
pub use time::{DateAndTime, date_time, instant_text, is_date_time, is_time_span};
pub use type_name::{TypeName, is_known_type, meant_type, parse_type_name};

/// Maximum nesting of values read from JSON text or taken from a script: copying or dropping such a value takes less
/// than the 512 kB of stack that PostgreSQL keeps beyond `max_stack_depth`.
pub const MAX_DEPTH: usize = 2_000;

/// Interprets a value as a condition: booleans, numbers (zero is false), the words `true` and `false`; null is false.
///
/// # Errors
/// 22P02 for other texts.
pub fn as_bool(value: &Value) -> Result<bool, Fault> {
    match value {
        Value::Null => Ok(false),
        Value::Bool(truth) => Ok(*truth),
        Value::Number(number) => Ok(!number::is_zero(number)),
        Value::String(text) => text::parse_bool(text).ok_or_else(|| convert::invalid(value, "Boolean")),
        Value::Array(_) | Value::Object(_) => Err(convert::invalid(value, "Boolean")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn conditions_read_what_people_write() {
        for (value, truth) in [
            (json!(null), false),
            (json!(true), true),
            (json!(" True "), true),
            (json!("FALSE"), false),
            (json!(0.0), false),
            (json!(2), true),
        ] {
            assert_eq!(as_bool(&value), Ok(truth), "{value}");
        }
        assert_eq!(as_bool(&json!("yes?")).unwrap_err().sqlstate, "22P02");
        assert_eq!(as_bool(&json!([])).unwrap_err().sqlstate, "22P02");
    }
}
