//! Elsa's resilience strategies: retry policies that have names, and activities that name one.
//!
//! A strategy that is not known here changes nothing, as in Elsa: the activity runs without one, and the author is warned.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::TimeDelta;
use serde_json::{Map, Value};

use super::json::{Path, entry, kind_of};
use super::problem::Problems;
use super::types::ActivityTypes;
use crate::calendar::Interval;
use crate::fault::shorten;
use crate::retry::{Backoff, RetryPolicy};
use crate::spelling::{nearest, spelled_as};

/// The member of the properties of an activity that names, or holds, a strategy.
pub(super) const STRATEGY: &str = "resilienceStrategy";
/// The option that holds strategies by name.
pub(super) const STRATEGIES: &str = "resilienceStrategies";

/// The members of a strategy that have a meaning.
const MEMBERS: [&str; 5] = ["id", "maxRetryAttempts", "delay", "backoffType", "useJitter"];

/// Strategies by name.
pub(super) type Strategies = BTreeMap<String, Arc<RetryPolicy>>;

/// The most attempts after the first one.
const MOST: u64 = 999_999;

/// Reads the strategies of a definition: an object with their names, or Elsa's list of strategies with an `id`.
pub(super) fn read(value: &Value, place: &Path<'_>, problems: &mut Problems) -> Strategies {
    let mut known = Strategies::new();
    for (name, step, value) in named(value) {
        let at = place.key(&step);
        match (name, policy(value)) {
            (None, _) => problems.invalid(&at, "a resilience strategy needs an \"id\""),
            (Some(_), Err(reason)) => problems.invalid(&at, reason),
            (Some(name), Ok(policy)) => {
                if let Value::Object(members) = value {
                    warn_of_misspelt(members, &MEMBERS, &at, problems);
                }
                known.insert(name, Arc::new(policy));
            }
        }
    }
    if !(value.is_object() || value.is_array()) {
        problems.invalid(place, format!("\"{STRATEGIES}\" must be an object or a list, not {}", kind_of(value)));
    }
    known
}

/// Adds the strategies that the host knows for all definitions. Those of the definition itself come first.
pub(super) fn add_common(known: &mut Strategies, types: &dyn ActivityTypes) {
    let Some(common) = types.resilience_strategies() else { return };
    for (name, _, value) in named(&common) {
        if let (Some(name), Ok(policy)) = (name, policy(value)) {
            known.entry(name).or_insert_with(|| Arc::new(policy));
        }
    }
}

/// The strategies in an object or a list, each with its name and its step in the document.
fn named(value: &Value) -> Vec<(Option<String>, String, &Value)> {
    match value {
        Value::Object(members) => {
            members.iter().map(|(name, value)| (Some(name.clone()), name.clone(), value)).collect()
        }
        Value::Array(list) => {
            list.iter().enumerate().map(|(at, value)| (id_of(value), at.to_string(), value)).collect()
        }
        _ => Vec::new(),
    }
}

fn id_of(value: &Value) -> Option<String> {
    text(value.as_object()?, "id").filter(|id| !id.is_empty()).map(str::to_owned)
}

/// The policy of an activity with this strategy.
pub(super) fn of_activity(
    value: &Value,
    known: &Strategies,
    place: &Path<'_>,
    problems: &mut Problems,
) -> Option<Arc<RetryPolicy>> {
    let Value::Object(members) = value else {
        if !value.is_null() {
            let found = kind_of(value);
            problems
                .warn(place, format!("\"{STRATEGY}\" must be an object, not {found}: the activity runs without it"));
        }
        return None;
    };
    warn_of_misspelt(members, &["mode", "strategyId", "expression"], place, problems);
    let named = |name: &str, problems: &mut Problems| {
        let found = known.get(name).cloned();
        if found.is_none() {
            let name = shorten(name, 60);
            problems.warn(place, format!("unknown resilience strategy \"{name}\": the activity runs without it"));
        }
        found
    };
    let member = |name| entry(members, name).map(|(_, value)| value).filter(|value| !value.is_null());
    if !text(members, "mode").is_some_and(|mode| mode.eq_ignore_ascii_case("Expression")) {
        return match member("strategyId")? {
            Value::String(name) if name.is_empty() => None,
            Value::String(name) => named(name, problems),
            other => {
                let found = kind_of(other);
                problems
                    .warn(place, format!("\"strategyId\" must be a string, not {found}: the activity runs without it"));
                None
            }
        };
    }
    match constant(member("expression")?) {
        Some(Value::String(name)) => named(&name, problems),
        Some(strategy) => match policy(&strategy) {
            Ok(policy) => Some(Arc::new(policy)),
            Err(reason) => {
                problems.warn(place, format!("{reason}: the activity runs without a resilience strategy"));
                None
            }
        },
        None => {
            problems.warn(place, "a resilience strategy is not computed here: the activity runs without it");
            None
        }
    }
}

/// Warns of members that look like one that has a meaning. Elsa writes others, which have none here.
fn warn_of_misspelt(members: &Map<String, Value>, known: &[&str], place: &Path<'_>, problems: &mut Problems) {
    for key in members.keys().filter(|key| !known.iter().any(|name| spelled_as(key, name))) {
        let missing = known.iter().copied().filter(|name| entry(members, name).is_none());
        if let Some(near) = nearest(key, missing) {
            problems.warn(&place.key(key), format!("member \"{key}\" has no meaning here (did you mean \"{near}\"?)"));
        }
    }
}

/// The value of an expression that is a constant: a strategy, or the name of one.
fn constant(expression: &Value) -> Option<Value> {
    let Value::Object(members) = expression else { return Some(expression.clone()) };
    let Some(kind) = text(members, "type") else { return Some(expression.clone()) };
    let value = entry(members, "value").map(|(_, value)| value)?;
    match (kind, value) {
        ("Literal" | "Object" | "Json", Value::String(text)) => {
            Some(serde_json::from_str(text).ok().filter(Value::is_object).unwrap_or_else(|| value.clone()))
        }
        ("Literal" | "Object" | "Json", value) => Some(value.clone()),
        _ => None,
    }
}

/// A text among the members, in either letter case of its name.
fn text<'d>(members: &'d Map<String, Value>, name: &str) -> Option<&'d str> {
    entry(members, name).and_then(|(_, value)| value.as_str())
}

/// Reads one strategy. What Elsa leaves out has Elsa's value.
fn policy(value: &Value) -> Result<RetryPolicy, String> {
    let Value::Object(members) = value else {
        return Err(format!("a resilience strategy must be an object, not {}", kind_of(value)));
    };
    let given = |name| entry(members, name).filter(|(_, value)| !value.is_null());
    let further = match given("maxRetryAttempts") {
        None => Some(3),
        Some((_, value)) => value.as_u64().filter(|further| *further <= MOST),
    };
    let further = further.ok_or_else(|| format!("\"maxRetryAttempts\" must be a whole number from 0 to {MOST}"))?;
    let backoff = match given("backoffType").map(|(_, value)| value.as_str().unwrap_or_default().to_ascii_lowercase()) {
        None => Backoff::Exponential { factor: 2.0 },
        Some(word) => match word.as_str() {
            "constant" => Backoff::Constant,
            "linear" => Backoff::Linear,
            "exponential" => Backoff::Exponential { factor: 2.0 },
            _ => return Err("\"backoffType\" must be \"Constant\", \"Linear\" or \"Exponential\"".to_owned()),
        },
    };
    let jitter = match given("useJitter") {
        None | Some((_, Value::Bool(false))) => 0.0,
        Some((_, Value::Bool(true))) => 0.5,
        Some(_) => return Err("\"useJitter\" must be a boolean".to_owned()),
    };
    let max_attempts = u32::try_from(further).unwrap_or(u32::MAX).saturating_add(1);
    Ok(RetryPolicy { max_attempts, delay: delay(members)?, backoff, jitter, ..RetryPolicy::default() })
}

fn delay(members: &Map<String, Value>) -> Result<TimeDelta, String> {
    let Some((_, value)) = entry(members, "delay").filter(|(_, value)| !value.is_null()) else {
        return Ok(TimeDelta::seconds(1));
    };
    let elapsed = value.as_str().and_then(|text| Interval::parse(text).ok()).and_then(|span| span.elapsed());
    let micros = elapsed.filter(|micros| *micros >= 0);
    let wanted = "an interval such as \"00:00:01\", without months and not negative";
    micros.map(TimeDelta::microseconds).ok_or_else(|| format!("\"delay\" must be {wanted}"))
}
