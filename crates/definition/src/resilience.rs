//! Elsa's resilience strategies: retry policies that have names, and activities that name one.
//!
//! A strategy that is not known here changes nothing, as in Elsa: the activity runs without one, and the author is
//! warned.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::forms::short_form;
use super::json::{Path, entry, kind_of};
use super::problem::{Problem, Problems};
use super::types::ActivityTypes;
use workflow_core::resilience::{MEMBERS, STRATEGY, Strategies, policy, unwrapped};
use workflow_core::retry::RetryPolicy;
use workflow_value::fault::shorten;
use workflow_value::spelling::{nearest, spelled_as};

/// The option that holds strategies by name.
pub(super) const STRATEGIES: &str = "resilienceStrategies";

/// What becomes of an activity whose strategy cannot be read.
pub(super) const WITHOUT: &str = "the activity runs without a resilience strategy";

/// What an activity says of its strategy.
pub(super) enum GivenStrategy<'d> {
    /// The policy is known: it is written out, or its name is declared.
    Policy(Arc<RetryPolicy>),
    /// The expression under this key gives it.
    Expression(&'d str, &'d Value),
}

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
    for (name, policy) in read(&common, &Path::Root, &mut Problems::default()) {
        known.entry(name).or_insert(policy);
    }
}

/// What is wrong with strategies that the host knows for all definitions, with paths into their value. A strategy that
/// cannot be read is not known; the others are.
pub fn problems_of_strategies(common: &Value) -> Vec<Problem> {
    let mut problems = Problems::default();
    read(common, &Path::Root, &mut problems);
    let (invalid, warnings, _) = problems.into_parts();
    invalid.into_iter().chain(warnings).collect()
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

/// What an activity with this property says of its strategy.
pub(super) fn of_activity<'d>(
    value: &'d Value,
    known: &Strategies,
    place: &Path<'_>,
    problems: &mut Problems,
) -> Option<GivenStrategy<'d>> {
    let Value::Object(members) = value else {
        if !value.is_null() {
            let found = kind_of(value);
            problems
                .warn(place, format!("\"{STRATEGY}\" must be an object, not {found}: the activity runs without it"));
        }
        return None;
    };
    warn_of_misspelt(members, &["mode", "strategyId", "expression"], place, problems);
    let given = |name| entry(members, name).filter(|(_, value)| !value.is_null());
    if !text(members, "mode").is_some_and(|mode| mode.eq_ignore_ascii_case("Expression")) {
        let (_, name) = given("strategyId")?;
        return match name {
            Value::String(name) if name.is_empty() => None,
            Value::String(_) => strategy(name, known, place, problems).map(GivenStrategy::Policy),
            other => {
                let found = kind_of(other);
                problems
                    .warn(place, format!("\"strategyId\" must be a string, not {found}: the activity runs without it"));
                None
            }
        };
    }
    let (key, expression) = given("expression")?;
    match constant(expression) {
        Some(value) => strategy(&value, known, place, problems).map(GivenStrategy::Policy),
        None => Some(GivenStrategy::Expression(key, expression)),
    }
}

/// The policy of a strategy, or of the one of that name.
fn strategy(value: &Value, known: &Strategies, place: &Path<'_>, problems: &mut Problems) -> Option<Arc<RetryPolicy>> {
    let found = match value {
        Value::String(name) => known.get(name).map(Arc::clone).ok_or_else(|| {
            format!("unknown resilience strategy \"{}\": the activity runs without it", shorten(name, 60))
        }),
        value => policy(value).map(Arc::new).map_err(|reason| format!("{reason}: {WITHOUT}")),
    };
    found.map_err(|warning| problems.warn(place, warning)).ok()
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
    match text(members, "type") {
        None if short_form(expression).is_some() => None,
        None => Some(expression.clone()),
        Some("Literal" | "Object" | "Json") => {
            entry(members, "value").map(|(_, value)| unwrapped(value.clone())).filter(|value| !value.is_null())
        }
        Some(_) => None,
    }
}

/// A text among the members, in either letter case of its name.
fn text<'d>(members: &'d Map<String, Value>, name: &str) -> Option<&'d str> {
    entry(members, name).and_then(|(_, value)| value.as_str())
}
