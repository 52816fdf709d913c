//! Filters that Elsa adds, and standard filters whose version in the crate reads the clock or has no bounds.

use std::fmt::Write;

use chrono::format::{Item, StrftimeItems};
use chrono::{DateTime, NaiveDateTime, Utc};
use liquid_core::error::{Error, Result};
use liquid_core::model::{Value, ValueCow, ValueView};

use super::filters::Own;
use super::meter::Meter;
use super::values::json;
use crate::value::base64::to_base64;
use crate::value::{DateAndTime, date_time};

/// Every filter of this file, with the number of its arguments.
pub(super) static ALL: &[Own] = &[
    Own { name: "base64", least: 0, most: 0, compute: base64 },
    Own { name: "date", least: 1, most: 1, compute: date },
    Own { name: "join", least: 0, most: 1, compute: join },
    Own { name: "json", least: 0, most: 1, compute: to_json },
    Own { name: "keys", least: 0, most: 0, compute: keys },
    Own { name: "replace", least: 1, most: 2, compute: replace },
    Own { name: "split", least: 1, most: 1, compute: split },
];

fn base64(input: &dyn ValueView, _: &[ValueCow<'_>], _: &Meter) -> Result<Value> {
    Ok(Value::scalar(to_base64(input.to_kstr().as_bytes())))
}

fn keys(input: &dyn ValueView, _: &[ValueCow<'_>], _: &Meter) -> Result<Value> {
    let object = input.as_object().ok_or_else(|| Error::with_msg("filter \"keys\" needs an object"))?;
    Ok(Value::array(object.keys().map(|key| Value::scalar(key.into_owned()))))
}

/// `true` as argument indents the text, as in Fluid.
fn to_json(input: &dyn ValueView, arguments: &[ValueCow<'_>], _: &Meter) -> Result<Value> {
    let value = json(input);
    let indented = arguments.first().is_some_and(|flag| flag.as_view().to_kstr() == "true");
    let text = if indented { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
    text.map(Value::scalar).map_err(|_| Error::with_msg("the value is no JSON"))
}

fn join(input: &dyn ValueView, arguments: &[ValueCow<'_>], meter: &Meter) -> Result<Value> {
    let Some(items) = input.as_array() else {
        return Ok(Value::scalar(input.to_kstr().into_owned()));
    };
    let glue = arguments.first().map_or_else(|| " ".into(), |glue| glue.as_view().to_kstr().into_owned());
    let mut text = String::new();
    for (at, item) in items.values().enumerate() {
        if at > 0 {
            text.push_str(glue.as_str());
        }
        text.push_str(&item.to_kstr());
        meter.allows(text.len())?;
    }
    Ok(Value::scalar(text))
}

fn replace(input: &dyn ValueView, arguments: &[ValueCow<'_>], meter: &Meter) -> Result<Value> {
    let text = input.to_kstr();
    let word = |at: usize| arguments.get(at).map(|argument| argument.as_view().to_kstr().into_owned());
    let (old, new) = (word(0).unwrap_or_default(), word(1).unwrap_or_default());
    let found = text.matches(old.as_str()).count();
    meter.allows(text.len().saturating_add(found.saturating_mul(new.len())))?;
    Ok(Value::scalar(text.replace(old.as_str(), new.as_str())))
}

fn split(input: &dyn ValueView, arguments: &[ValueCow<'_>], meter: &Meter) -> Result<Value> {
    let text = input.to_kstr();
    let pattern = arguments.first().map(|argument| argument.as_view().to_kstr().into_owned()).unwrap_or_default();
    // An empty pattern gives one value for each character.
    meter.allows(text.matches(pattern.as_str()).count().saturating_mul(size_of::<Value>()))?;
    if text.is_empty() {
        return Ok(Value::array([]));
    }
    let parts: Vec<Value> = if pattern.is_empty() {
        text.chars().map(|character| Value::scalar(character.to_string())).collect()
    } else {
        text.split(pattern.as_str()).map(|part| Value::scalar(part.to_owned())).collect()
    };
    Ok(Value::Array(parts))
}

/// Formats an instant as `strftime` does. `now` and `today` are the burst's instant; a value that is none is unchanged.
fn date(input: &dyn ValueView, arguments: &[ValueCow<'_>], meter: &Meter) -> Result<Value> {
    let format = arguments.first().map(|format| format.as_view().to_kstr().into_owned()).unwrap_or_default();
    let Some(instant) = instant(input, meter.now()) else {
        return Ok(input.to_value());
    };
    if format.is_empty() {
        return Ok(input.to_value());
    }
    let items: Vec<Item<'_>> = StrftimeItems::new(&format).collect();
    if items.contains(&Item::Error) {
        return Err(Error::with_msg(format!("filter \"date\" does not know the format \"{format}\"")));
    }
    let mut text = String::new();
    match write!(text, "{}", instant.format_with_items(items.into_iter())) {
        Ok(()) => Ok(Value::scalar(text)),
        Err(_) => Err(Error::with_msg(format!("filter \"date\" does not know the format \"{format}\""))),
    }
}

fn instant(input: &dyn ValueView, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let text = input.to_kstr();
    let text = text.trim();
    if text.eq_ignore_ascii_case("now") || text.eq_ignore_ascii_case("today") {
        return Some(now);
    }
    if let Ok(seconds) = text.parse::<i64>() {
        return DateTime::from_timestamp(seconds, 0);
    }
    match date_time(text)? {
        DateAndTime::Instant(instant) => Some(instant),
        DateAndTime::Local(local) => Some(NaiveDateTime::and_utc(&local)),
    }
}
