//! Elsa's resilience strategies: retry policies that do not count the first attempt.
//!
//! An activity names a strategy, or has an expression that returns one for each of its executions.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::TimeDelta;
use serde_json::{Map, Value};

use crate::retry::{Backoff, LONGEST, RetryPolicy};
use workflow_value::calendar::Interval;
use workflow_value::value::{entry, kind_of, parse_json};

/// The member of an activity's properties that names, or contains, a strategy.
pub const STRATEGY: &str = "resilienceStrategy";

/// The members of a strategy that are used.
pub const MEMBERS: [&str; 5] = ["id", "maxRetryAttempts", "delay", "backoffType", "useJitter"];

/// Policies by the names of their strategies.
pub type Strategies = BTreeMap<String, Arc<RetryPolicy>>;

/// Maximum number of attempts after the first one.
const MAX_RETRIES: u64 = 999_999;

/// A strategy, or the name of one, as an expression returned it: a text that contains an object is parsed.
pub fn unwrapped(value: Value) -> Value {
    let object = value.as_str().and_then(|text| parse_json(text).ok()).filter(Value::is_object);
    object.unwrap_or(value)
}

/// What an execution stores of its expression's value: the name of a known strategy, or the used members of one.
/// `None`: it runs without a strategy, as in Elsa if there is none with that name.
///
/// # Errors
/// What is wrong with the strategy.
pub fn stored_strategy(value: Value, known: &Strategies) -> Result<Option<Value>, String> {
    match unwrapped(value) {
        Value::Null => Ok(None),
        Value::String(name) => Ok(known.contains_key(&name).then_some(Value::String(name))),
        given => {
            policy(&given)?;
            let members = MEMBERS.iter().skip(1).filter_map(|name| {
                let (_, value) = entry(given.as_object()?, name)?;
                Some(((*name).to_owned(), value.clone()))
            });
            Ok(Some(Value::Object(members.collect())))
        }
    }
}

/// Parses a strategy. Missing members have Elsa's defaults.
///
/// # Errors
/// What is wrong with it.
pub fn policy(value: &Value) -> Result<RetryPolicy, String> {
    let Value::Object(members) = value else {
        return Err(format!("a resilience strategy must be an object, not {}", kind_of(value)));
    };
    let given = |name| entry(members, name).filter(|(_, value)| !value.is_null());
    let further = match given("maxRetryAttempts") {
        None => Some(3),
        Some((_, value)) => value.as_u64().filter(|further| *further <= MAX_RETRIES),
    };
    let further =
        further.ok_or_else(|| format!("\"maxRetryAttempts\" must be a whole number from 0 to {MAX_RETRIES}"))?;
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
    let delay = elapsed.map(TimeDelta::microseconds).filter(|delay| (TimeDelta::zero()..=LONGEST).contains(delay));
    let wanted = "an interval such as \"00:00:01\", without months, not negative and at most 100 years";
    delay.ok_or_else(|| format!("\"delay\" must be {wanted}"))
}
