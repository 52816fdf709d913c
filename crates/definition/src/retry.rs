//! Retry policies and timeouts: `retry` and `timeout` of an activity, and `retry` of the options.

use std::sync::Arc;

use chrono::TimeDelta;
use serde_json::{Map, Value};

use super::json::{Path, entry, kind_of};
use super::members;
use super::problem::Problems;
use workflow_core::retry::{Backoff, Cause, LONGEST, RetryPolicy};
use workflow_value::calendar::Interval;
use workflow_value::fault::{is_never_a_fault, shorten};

/// Name of the member of an activity, or of `options`, that holds a retry policy.
pub(super) const RETRY: &str = "retry";
/// Name of the member with the time limit of an attempt.
pub(super) const TIMEOUT: &str = "timeout";
/// Name of the member with the time limit until the first claim of a task.
pub(super) const START_TIMEOUT: &str = "startTimeout";

pub(super) const KNOWN: [&str; 9] =
    ["maxAttempts", "delay", "backoff", "factor", "maxDelay", "within", "jitter", "on", "except"];

/// Maximum number of attempts.
pub(super) const MAX_ATTEMPTS: u64 = 1_000_000;
/// Maximum factor of an exponential backoff.
const LARGEST_FACTOR: f64 = 1_000.0;

/// Reads a policy. In content stored earlier, an object that is no policy is ignored, because the member had no meaning
/// when it was accepted.
pub(super) fn read(value: &Value, place: &Path<'_>, problems: &mut Problems) -> Option<Arc<RetryPolicy>> {
    let mut old = Problems::default();
    let is_new = problems.is_new();
    let problems = if is_new { problems } else { &mut old };
    // New content with a problem does not become a program.
    policy(value, place, problems).filter(|_| is_new || problems.count() == 0).map(Arc::new)
}

/// Reads the time limit of an attempt. In content stored earlier, invalid values are ignored.
pub(super) fn read_timeout(value: &Value, place: &Path<'_>, problems: &mut Problems) -> Option<TimeDelta> {
    bound(value, TIMEOUT, place, problems)
}

/// Reads the time limit until the first claim of a task in the same way.
pub(super) fn read_start_timeout(value: &Value, place: &Path<'_>, problems: &mut Problems) -> Option<TimeDelta> {
    bound(value, START_TIMEOUT, place, problems)
}

fn bound(value: &Value, key: &str, place: &Path<'_>, problems: &mut Problems) -> Option<TimeDelta> {
    let mut old = Problems::default();
    let problems = if problems.is_new() { problems } else { &mut old };
    span(value, key, place, false, problems)
}

fn policy(value: &Value, place: &Path<'_>, problems: &mut Problems) -> Option<RetryPolicy> {
    let Value::Object(given) = value else {
        problems.invalid(place, format!("\"{RETRY}\" must be an object, not {}", kind_of(value)));
        return None;
    };
    members::check(given, KNOWN.into_iter(), std::iter::empty(), "a retry policy", place, problems);
    let mut reader = PolicyReader { given, place, problems };
    let usual = RetryPolicy::default();
    Some(RetryPolicy {
        max_attempts: reader.max_attempts(),
        delay: reader.span("delay", true).unwrap_or(usual.delay),
        backoff: reader.backoff(),
        max_delay: reader.span("maxDelay", false),
        within: reader.span("within", false),
        jitter: reader.jitter(),
        on: reader.causes("on", true),
        except: reader.causes("except", false),
    })
}

struct PolicyReader<'a> {
    given: &'a Map<String, Value>,
    place: &'a Path<'a>,
    problems: &'a mut Problems,
}

impl<'a> PolicyReader<'a> {
    fn get(&self, name: &str) -> Option<(&'a str, &'a Value)> {
        entry(self.given, name).filter(|(_, value)| !value.is_null())
    }

    fn wrong(&mut self, key: &str, message: String) {
        self.problems.invalid(&self.place.key(key), message);
    }

    fn max_attempts(&mut self) -> u32 {
        let Some((key, value)) = self.get("maxAttempts") else {
            let message = format!("a retry policy needs \"{}\", the number of attempts", KNOWN[0]);
            self.problems.invalid(self.place, message);
            return 1;
        };
        let attempts = value.as_u64().filter(|attempts| (1..=MAX_ATTEMPTS).contains(attempts));
        if attempts.is_none() {
            self.wrong(
                key,
                format!("\"{key}\" must be a whole number from 1 to {MAX_ATTEMPTS}, not {}", written(value)),
            );
        }
        attempts.and_then(|attempts| u32::try_from(attempts).ok()).unwrap_or(1)
    }

    fn span(&mut self, name: &str, may_be_zero: bool) -> Option<TimeDelta> {
        let (key, value) = self.get(name)?;
        span(value, key, &self.place.key(key), may_be_zero, self.problems)
    }

    fn backoff(&mut self) -> Backoff {
        let word = self.get("backoff");
        let backoff = match word.map(|(_, value)| value.as_str()) {
            None | Some(Some("constant")) => Some(Backoff::Constant),
            Some(Some("linear")) => Some(Backoff::Linear),
            Some(Some("exponential")) => Some(Backoff::Exponential { factor: 2.0 }),
            Some(_) => None,
        };
        if let (Some((key, value)), None) = (word, backoff) {
            let words = "\"constant\", \"linear\" or \"exponential\"";
            self.wrong(key, format!("\"{key}\" must be {words}, not {}", written(value)));
        }
        let Some((key, value)) = self.get("factor") else { return backoff.unwrap_or(Backoff::Constant) };
        let factor = value.as_f64().filter(|factor| (1.0..=LARGEST_FACTOR).contains(factor));
        match (factor, backoff) {
            (None, _) => {
                self.wrong(
                    key,
                    format!("\"{key}\" must be a number from 1 to {LARGEST_FACTOR}, not {}", written(value)),
                );
            }
            (Some(factor), Some(Backoff::Exponential { .. })) => return Backoff::Exponential { factor },
            (Some(_), Some(_)) => self.wrong(key, format!("\"{key}\" needs \"backoff\": \"exponential\"")),
            (Some(_), None) => {}
        }
        Backoff::Constant
    }

    /// A fraction, or a boolean: `true` means half of the delay.
    fn jitter(&mut self) -> f64 {
        let Some((key, value)) = self.get("jitter") else { return 0.0 };
        let jitter = match value {
            Value::Bool(any) => Some(if *any { 0.5 } else { 0.0 }),
            other => other.as_f64().filter(|fraction| (0.0..=1.0).contains(fraction)),
        };
        if jitter.is_none() {
            self.wrong(key, format!("\"{key}\" must be a boolean or a number from 0 to 1, not {}", written(value)));
        }
        jitter.unwrap_or_default()
    }

    fn causes(&mut self, name: &str, must_occur: bool) -> Vec<Cause> {
        let Some((key, value)) = self.get(name) else { return Vec::new() };
        causes(value, key, must_occur, self.place, self.problems)
    }
}

/// Reads a list of causes. With the check for possible causes, errors that are never faults are rejected.
pub(super) fn causes(
    value: &Value,
    key: &str,
    must_occur: bool,
    above: &Path<'_>,
    problems: &mut Problems,
) -> Vec<Cause> {
    let place = above.key(key);
    let what = "a list of SQLSTATEs, classes of SQLSTATEs, and codes";
    let Some(list) = value.as_array() else {
        problems.invalid(&place, format!("\"{key}\" must be {what}, not {}", kind_of(value)));
        return Vec::new();
    };
    if list.is_empty() {
        problems.invalid(&place, format!("\"{key}\" must not be empty"));
    }
    let mut causes = Vec::with_capacity(list.len());
    for cause in list {
        let Some(text) = cause.as_str().filter(|text| !text.is_empty()) else {
            let found = if cause.is_string() { "an empty string" } else { kind_of(cause) };
            problems.invalid(&place, format!("\"{key}\" must be {what}, each a string; one is {found}"));
            continue;
        };
        let cause = Cause::read(text);
        if must_occur && !matches!(cause, Cause::Code(_)) && is_never_a_fault(text) {
            let reason = "errors with this SQLSTATE end the call and are never a fault";
            problems.invalid(&place, format!("\"{key}\" must not name \"{text}\": {reason}"));
        }
        causes.push(cause);
    }
    causes
}

/// Reads a time span in units up to days or weeks: months have no fixed length.
fn span(value: &Value, key: &str, place: &Path<'_>, may_be_zero: bool, problems: &mut Problems) -> Option<TimeDelta> {
    let Some(text) = value.as_str() else {
        let message = format!("\"{key}\" must be an interval such as \"30 seconds\", not {}", kind_of(value));
        problems.invalid(place, message);
        return None;
    };
    match Interval::parse(text).map(|given| given.elapsed()) {
        Ok(Some(micros)) if TimeDelta::microseconds(micros) > LONGEST => {
            problems.invalid(place, format!("\"{key}\" must not be longer than 100 years"));
        }
        Ok(Some(micros)) if micros > 0 || micros == 0 && may_be_zero => return Some(TimeDelta::microseconds(micros)),
        Ok(Some(_)) if may_be_zero => problems.invalid(place, format!("\"{key}\" must not be negative")),
        Ok(Some(_)) => problems.invalid(place, format!("\"{key}\" must be positive")),
        Ok(None) => problems.invalid(place, format!("\"{key}\" must be shorter, and must not have months")),
        Err(fault) => problems.invalid(place, fault.message),
    }
    None
}

/// A value as a message shows it: cut, and a list or object by its kind.
fn written(value: &Value) -> String {
    match value {
        Value::Array(_) | Value::Object(_) => kind_of(value).to_owned(),
        other => shorten(&other.to_string(), 40),
    }
}
