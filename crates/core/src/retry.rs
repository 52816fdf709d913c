//! Retry policies: which faults of an activity are retried, the number of attempts, and when the next one starts.
//!
//! ```
//! use chrono::{TimeDelta, Utc};
//! use workflow_engine::Fault;
//! use workflow_engine::retry::{Backoff, Cause, RetryPolicy};
//!
//! let policy = RetryPolicy {
//!     max_attempts: 3,
//!     delay: TimeDelta::seconds(10),
//!     backoff: Backoff::Exponential { factor: 2.0 },
//!     on: vec![Cause::read("22")],
//!     ..RetryPolicy::default()
//! };
//! let now = Utc::now();
//! assert!(policy.covers(&Fault::new("22012", "division by zero")));
//! assert!(!policy.covers(&Fault::new("42P01", "relation \"orders\" does not exist")));
//! assert_eq!(policy.next_attempt_at(2, now, now, 0), Some(now + TimeDelta::seconds(20)));
//! assert_eq!(policy.next_attempt_at(3, now, now, 0), None);
//! ```

use chrono::{DateTime, TimeDelta, Utc};

use workflow_value::fault::Fault;

/// When an activity is retried.
#[derive(Clone, Debug, PartialEq)]
pub struct RetryPolicy {
    /// Number of attempts, the first one included.
    pub max_attempts: u32,
    /// From the fault of the first attempt to the second attempt.
    pub delay: TimeDelta,
    /// How the delay grows from one attempt to the next.
    pub backoff: Backoff,
    /// The longest delay between two attempts; `None`: no bound.
    pub max_delay: Option<TimeDelta>,
    /// The maximum time from the first attempt to the start of the last.
    pub within: Option<TimeDelta>,
    /// The maximum random reduction of each delay, as a fraction from 0 to 1.
    pub jitter: f64,
    /// A fault must have one of these causes; an empty list covers all faults.
    pub on: Vec<Cause>,
    /// A fault must have none of these causes.
    pub except: Vec<Cause>,
}

/// How a delay grows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Backoff {
    /// All delays are equal.
    Constant,
    /// The first delay times the number of attempts so far.
    Linear,
    /// The previous delay times a factor.
    Exponential {
        /// The factor, 1 or more.
        factor: f64,
    },
}

/// A property of faults, as a policy names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A SQLSTATE: five digits or capital letters.
    SqlState(String),
    /// A class of SQLSTATEs: the first two of these.
    Class(String),
    /// A fault's [code](Fault::code), any other text.
    Code(String),
}

/// Maximum delay; a policy can wait for a century, but no instant overflows.
pub const LONGEST: TimeDelta = TimeDelta::days(36_525);

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: 1,
            delay: TimeDelta::seconds(1),
            backoff: Backoff::Constant,
            max_delay: None,
            within: None,
            jitter: 0.0,
            on: Vec::new(),
            except: Vec::new(),
        }
    }
}

impl RetryPolicy {
    /// Whether a fault is retried, as long as attempts remain.
    pub fn covers(&self, fault: &Fault) -> bool {
        let is_one_of = |causes: &[Cause]| causes.iter().any(|cause| cause.is_of(fault));
        (self.on.is_empty() || is_one_of(&self.on)) && !is_one_of(&self.except)
    }

    /// When the next attempt starts after `failed` attempts, of which the first started at `since` and the last failed
    /// `now`. `random` is any number. `None`: the attempts are used up.
    pub fn next_attempt_at(
        &self,
        failed: u32,
        since: DateTime<Utc>,
        now: DateTime<Utc>,
        random: u64,
    ) -> Option<DateTime<Utc>> {
        if failed >= self.max_attempts {
            return None;
        }
        let at = now.checked_add_signed(self.delay_after(failed, random))?;
        let last = self.within.and_then(|within| since.checked_add_signed(within));
        last.is_none_or(|last| at <= last).then_some(at)
    }

    /// The same policy with a constant delay, in whole microseconds.
    #[must_use]
    pub fn without_backoff(&self) -> Self {
        Self { backoff: Backoff::Constant, max_delay: None, jitter: 0.0, ..self.clone() }
    }

    fn delay_after(&self, failed: u32, random: u64) -> TimeDelta {
        let first = micros(self.delay) as f64;
        let earlier = failed.saturating_sub(1);
        let delay = match self.backoff {
            Backoff::Constant => first,
            Backoff::Linear => first * f64::from(failed),
            // A power that is out of range is infinite, and is limited below. Zero times infinity is not a number.
            Backoff::Exponential { .. } if first == 0.0 => first,
            Backoff::Exponential { factor } => first * factor.powf(f64::from(earlier)),
        };
        let delay = delay.min(micros(self.max_delay.unwrap_or(LONGEST).min(LONGEST)) as f64);
        let fraction = (random >> 11) as f64 / (1u64 << 53) as f64;
        TimeDelta::microseconds((delay * (1.0 - self.jitter * fraction)) as i64)
    }
}

fn micros(span: TimeDelta) -> i64 {
    span.num_microseconds().unwrap_or(i64::MAX)
}

impl Cause {
    /// Parses a cause as an author writes it.
    pub fn read(text: &str) -> Self {
        let is_state = text.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
        match text.len() {
            5 if is_state => Self::SqlState(text.to_owned()),
            2 if is_state => Self::Class(text.to_owned()),
            _ => Self::Code(text.to_owned()),
        }
    }

    /// The cause as an author writes it.
    pub fn text(&self) -> &str {
        match self {
            Self::SqlState(text) | Self::Class(text) | Self::Code(text) => text,
        }
    }

    /// Whether a fault has this cause.
    pub fn is_of(&self, fault: &Fault) -> bool {
        match self {
            Self::SqlState(state) => fault.sqlstate == *state,
            Self::Class(class) => fault.sqlstate.starts_with(class.as_str()),
            Self::Code(code) => fault.code.as_ref() == Some(code),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays(policy: &RetryPolicy, random: u64) -> Vec<i64> {
        let now = DateTime::UNIX_EPOCH;
        let at = |failed| policy.next_attempt_at(failed, now, now, random);
        (1..).map_while(at).take(200).map(|at| (at - now).num_milliseconds()).collect()
    }

    #[test]
    fn delays_grow_as_the_backoff_says() {
        let policy = RetryPolicy { max_attempts: 5, delay: TimeDelta::milliseconds(100), ..RetryPolicy::default() };
        assert_eq!(delays(&policy, 0), [100, 100, 100, 100]);
        let linear = RetryPolicy { backoff: Backoff::Linear, ..policy.clone() };
        assert_eq!(delays(&linear, 0), [100, 200, 300, 400]);
        let exponential = RetryPolicy { backoff: Backoff::Exponential { factor: 3.0 }, ..policy };
        assert_eq!(delays(&exponential, 0), [100, 300, 900, 2700]);
        let bounded = RetryPolicy { max_delay: Some(TimeDelta::milliseconds(500)), ..exponential };
        assert_eq!(delays(&bounded, 0), [100, 300, 500, 500]);
    }

    #[test]
    fn a_growing_delay_stays_within_a_century() {
        for delay in [TimeDelta::zero(), TimeDelta::seconds(1), LONGEST] {
            let backoff = Backoff::Exponential { factor: 1000.0 };
            let policy = RetryPolicy { max_attempts: u32::MAX, delay, backoff, ..RetryPolicy::default() };
            let found = delays(&policy, 0);
            assert_eq!(found.len(), 200);
            assert_eq!(found[199], if delay.is_zero() { 0 } else { LONGEST.num_milliseconds() });
        }
    }

    #[test]
    fn jitter_shortens_a_delay_by_up_to_its_fraction() {
        let policy =
            RetryPolicy { max_attempts: 2, delay: TimeDelta::seconds(10), jitter: 0.5, ..RetryPolicy::default() };
        assert_eq!(delays(&policy, 0), [10_000]);
        assert_eq!(delays(&policy, u64::MAX / 2), [7_500]);
        assert_eq!(delays(&policy, u64::MAX), [5_000]);
    }

    #[test]
    fn no_attempt_begins_after_the_time_for_all_of_them() {
        let within = Some(TimeDelta::seconds(10));
        let policy = RetryPolicy { max_attempts: 9, delay: TimeDelta::seconds(4), within, ..RetryPolicy::default() };
        let since = DateTime::UNIX_EPOCH;
        let at = |seconds| since + TimeDelta::seconds(seconds);
        assert_eq!(policy.next_attempt_at(1, since, at(6), 0), Some(at(10)));
        assert_eq!(policy.next_attempt_at(1, since, at(7), 0), None);
    }

    #[test]
    fn faults_are_covered_by_sqlstate_class_or_code() {
        let policy = |on: &[&str], except: &[&str]| {
            let read = |texts: &[&str]| texts.iter().copied().map(Cause::read).collect();
            RetryPolicy { on: read(on), except: read(except), ..RetryPolicy::default() }
        };
        let fault = Fault::new("22012", "division by zero");
        assert!(policy(&[], &[]).covers(&fault));
        assert!(policy(&["23", "22012"], &[]).covers(&fault));
        assert!(policy(&["22"], &["22003"]).covers(&fault));
        assert!(!policy(&["22"], &["22012"]).covers(&fault));
        assert!(!policy(&["timeout"], &[]).covers(&fault));
        let late = Fault { code: Some("timeout".into()), ..fault };
        assert!(policy(&["timeout"], &[]).covers(&late));
        assert!(!policy(&["22"], &["timeout"]).covers(&late));
        assert_eq!(Cause::read("p0001"), Cause::Code("p0001".into()));
        assert_eq!(Cause::read("P0001"), Cause::SqlState("P0001".into()));
    }
}
