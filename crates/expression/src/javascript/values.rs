//! Conversion of values passed into a script and out of it.
//!
//! Scalars are converted directly, everything else via JSON text: QuickJS reads and writes that fast, with its own
//! checks of stack and memory, and `toJSON` of dates and other objects works as in any JavaScript.

use rquickjs::{Ctx, Error, IntoJs, String as JsString, Type, Value as JsValue};
use serde_json::{Number, Value};

use workflow_value::fault::Fault;
use workflow_value::value::{MAX_DEPTH, depth_ok, json_text, nul_in_string, parse_json};

/// Creates a JavaScript value. Numbers become doubles.
pub(super) fn to_js<'js>(ctx: &Ctx<'js>, value: &Value) -> rquickjs::Result<JsValue<'js>> {
    match value {
        Value::Null => Ok(JsValue::new_null(ctx.clone())),
        Value::Bool(truth) => truth.into_js(ctx),
        Value::Number(number) => number_to_js(ctx, number),
        Value::String(text) => text.as_str().into_js(ctx),
        Value::Array(_) | Value::Object(_) if depth_ok(value, MAX_DEPTH) => {
            ctx.json_parse(json_text(value).map_err(|fault| throw(ctx, fault))?)
        }
        Value::Array(_) | Value::Object(_) => Err(throw(ctx, too_deep())),
    }
}

fn number_to_js<'js>(ctx: &Ctx<'js>, number: &Number) -> rquickjs::Result<JsValue<'js>> {
    match number.as_i64().map(i32::try_from) {
        Some(Ok(small)) => small.into_js(ctx),
        // Text beyond the range of a double is read as infinity, as JSON.parse does.
        Some(Err(_)) | None => number.to_string().parse::<f64>().unwrap_or(f64::NAN).into_js(ctx),
    }
}

/// Throws a fault into the script. If nothing catches it, it is returned unchanged.
pub(super) fn throw(ctx: &Ctx<'_>, fault: Fault) -> Error {
    let error = rquickjs::Exception::throw_message(ctx, &fault.message);
    super::state::set_fault(fault);
    error
}

/// The fault of a script with too deeply nested calls.
pub(super) fn too_deep() -> Fault {
    Fault::new("54001", "JavaScript recursion is too deep")
        .hint("Calls and values in a script may nest only so far; use a loop.")
}

/// Why a value could not be read from a script.
pub(super) enum TakeError {
    /// An exception is pending.
    Thrown(Error),
    /// The value cannot be stored.
    Fault(Fault),
}

impl From<Error> for TakeError {
    fn from(error: Error) -> Self {
        Self::Thrown(error)
    }
}

/// Reads a value from a script: `undefined`, functions, NaN and infinities become null, dates become ISO text.
pub(super) fn from_js<'js>(ctx: &Ctx<'js>, value: JsValue<'js>) -> Result<Value, TakeError> {
    match value.type_of() {
        Type::Bool => Ok(Value::Bool(value.as_bool().unwrap_or(false))),
        Type::Int => Ok(Value::from(value.as_int().unwrap_or(0))),
        Type::Float => Ok(float(value.as_float().unwrap_or(f64::NAN))),
        Type::String => match value.as_string().map(JsString::to_string) {
            Some(Ok(text)) if text.contains('\0') => Err(TakeError::Fault(nul_in_string())),
            Some(Ok(text)) => Ok(Value::String(text)),
            // A single half of a surrogate pair is not valid UTF-8.
            Some(Err(_)) | None => json(ctx, value),
        },
        Type::BigInt => big_integer(ctx, value),
        Type::Undefined | Type::Null | Type::Uninitialized | Type::Symbol | Type::Function | Type::Constructor => {
            Ok(Value::Null)
        }
        _ => json(ctx, value),
    }
}

/// Integers up to 2^53 are integers, other numbers their shortest text.
fn float(float: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if float.fract() == 0.0 && float.abs() <= EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "an integer of at most 2^53")]
        return Value::from(float as i64);
    }
    Number::from_f64(float).map_or(Value::Null, Value::Number)
}

fn big_integer<'js>(ctx: &Ctx<'js>, value: JsValue<'js>) -> Result<Value, TakeError> {
    let to_string: rquickjs::Function<'js> = ctx.globals().get("String")?;
    let digits: String = to_string.call((value,))?;
    Ok(workflow_value::value::number::from_text(&digits).map_or(Value::Null, Value::Number))
}

fn json<'js>(ctx: &Ctx<'js>, value: JsValue<'js>) -> Result<Value, TakeError> {
    let Some(text) = ctx.json_stringify(value)? else {
        return Ok(Value::Null);
    };
    let text = text.to_string()?;
    let text = if text.contains("\\u") { without_lone_surrogates(text) } else { text };
    // The parser has its own limits, so it need not check the clock.
    parse_json(&text).map_err(|fault| match fault.sqlstate.as_str() {
        "54001" => TakeError::Fault(too_deep()),
        // The parser was stopped, and the interpreter will be.
        "57014" if super::state::poll() => TakeError::Thrown(Error::Unknown),
        _ => TakeError::Fault(fault),
    })
}

/// Replaces escapes of lone surrogates by U+FFFD. A well-formed `stringify` escapes no other surrogates.
fn without_lone_surrogates(text: String) -> String {
    let bytes = text.as_bytes();
    let mut clean = String::with_capacity(text.len());
    let (mut at, mut copied) = (0, 0);
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        let lone = bytes.get(at + 1) == Some(&b'u')
            && matches!(bytes.get(at + 2), Some(b'd' | b'D'))
            && matches!(bytes.get(at + 3), Some(b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F'));
        if lone && at + 6 <= bytes.len() {
            clean.push_str(&text[copied..at]);
            clean.push('\u{fffd}');
            at += 6;
            copied = at;
        } else {
            at += 2;
        }
    }
    clean.push_str(&text[copied..]);
    clean
}
