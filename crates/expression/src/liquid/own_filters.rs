//! Filters of Elsa, and standard filters that the crate lacks, or whose version in the crate reads the clock, has no
//! limits, or counts bytes instead of characters.

use std::fmt::Write;

use chrono::format::{Item, StrftimeItems};
use chrono::{DateTime, NaiveDateTime, Utc};
use liquid_core::error::{Error, Result};
use liquid_core::model::{Value, ValueCow, ValueView};

use super::filters::Own;
use super::meter::Meter;
use super::values::json;
use workflow_value::value::base64::to_base64;
use workflow_value::value::{DateAndTime, date_time};

/// Every filter of this file, with its number of arguments.
pub(super) static ALL: &[Own] = &[
    Own { name: "base64", min: 0, max: 0, compute: base64 },
    Own { name: "date", min: 1, max: 1, compute: date },
    Own { name: "join", min: 0, max: 1, compute: join },
    Own { name: "json", min: 0, max: 1, compute: to_json },
    Own { name: "keys", min: 0, max: 0, compute: keys },
    Own { name: "remove_last", min: 1, max: 1, compute: replace_last },
    Own { name: "replace", min: 1, max: 2, compute: replace },
    Own { name: "replace_last", min: 2, max: 2, compute: replace_last },
    Own { name: "size", min: 0, max: 0, compute: size },
    Own { name: "slice", min: 1, max: 2, compute: slice },
    Own { name: "split", min: 1, max: 1, compute: split },
    Own { name: "truncate", min: 0, max: 2, compute: truncate },
];

fn base64(input: &dyn ValueView, _: &[ValueCow<'_>], _: &Meter) -> Result<Value> {
    Ok(Value::scalar(to_base64(input.to_kstr().as_bytes())))
}

fn keys(input: &dyn ValueView, _: &[ValueCow<'_>], _: &Meter) -> Result<Value> {
    let object = input.as_object().ok_or_else(|| Error::with_msg("filter \"keys\" needs an object"))?;
    Ok(Value::array(object.keys().map(|key| Value::scalar(key.into_owned()))))
}

/// The argument `true` indents the text, as in Fluid.
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

/// `remove_last` has no second argument, and replaces with nothing.
fn replace_last(input: &dyn ValueView, arguments: &[ValueCow<'_>], meter: &Meter) -> Result<Value> {
    let text = input.to_kstr();
    let word = |at: usize| arguments.get(at).map(|argument| argument.as_view().to_kstr().into_owned());
    let (old, new) = (word(0).unwrap_or_default(), word(1).unwrap_or_default());
    let Some((before, after)) = text.rsplit_once(old.as_str()) else {
        return Ok(Value::scalar(text.into_owned()));
    };
    meter.allows(text.len().saturating_add(new.len()))?;
    Ok(Value::scalar(format!("{before}{new}{after}")))
}

fn size(input: &dyn ValueView, _: &[ValueCow<'_>], _: &Meter) -> Result<Value> {
    let size = match (input.as_array(), input.as_object()) {
        (Some(items), _) => items.size(),
        (None, Some(members)) => members.size(),
        (None, None) => characters(&input.to_kstr()),
    };
    Ok(Value::scalar(size))
}

/// Number of characters in a text.
pub(super) fn characters(text: &str) -> i64 {
    i64::try_from(text.chars().count()).unwrap_or(i64::MAX)
}

/// `slice: first` and `slice: first, count`; a negative `first` counts from the end.
fn slice(input: &dyn ValueView, arguments: &[ValueCow<'_>], _: &Meter) -> Result<Value> {
    let (first, count) = (whole(arguments, 0)?.unwrap_or(0), whole(arguments, 1)?.unwrap_or(1));
    if count < 1 {
        return Err(Error::with_msg("filter \"slice\" needs a positive length"));
    }
    let part = |size: i64| {
        let first = if first < 0 { first.saturating_add(size) } else { first };
        let first = if first < 0 { size } else { first };
        (usize::try_from(first).unwrap_or(usize::MAX), usize::try_from(count).unwrap_or(usize::MAX))
    };
    if let Some(items) = input.as_array() {
        let (first, count) = part(items.size());
        return Ok(Value::array(items.values().skip(first).take(count).map(ValueView::to_value)));
    }
    let text = input.to_kstr();
    let (first, count) = part(characters(&text));
    Ok(Value::scalar(text.chars().skip(first).take(count).collect::<String>()))
}

/// Cuts a text to a number of characters, 50 by default. They include the end: `...`, or the second argument.
fn truncate(input: &dyn ValueView, arguments: &[ValueCow<'_>], _: &Meter) -> Result<Value> {
    let length = whole(arguments, 0)?.unwrap_or(50);
    let end = arguments.get(1).map_or_else(|| "...".into(), |end| end.as_view().to_kstr().into_owned());
    let text = input.to_kstr();
    if characters(&text) <= length {
        return Ok(input.to_value());
    }
    let kept = usize::try_from(length.saturating_sub(characters(&end))).unwrap_or(0);
    Ok(Value::scalar(text.chars().take(kept).chain(end.chars()).collect::<String>()))
}

fn whole(arguments: &[ValueCow<'_>], at: usize) -> Result<Option<i64>> {
    let Some(argument) = arguments.get(at) else { return Ok(None) };
    let number = argument.as_scalar().and_then(|scalar| scalar.to_integer());
    number.map(Some).ok_or_else(|| Error::with_msg("Invalid argument").context("cause", "Whole number expected"))
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

/// Formats an instant as `strftime` does. `now` and `today` are the burst's instant. A value that is no instant is
/// returned unchanged.
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
