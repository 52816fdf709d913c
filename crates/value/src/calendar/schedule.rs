//! Schedules: when time fires a trigger, and which missed occurrences fire late.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::occurrences::Occurrences;
use super::{Interval, When, Zone};
use crate::fault::{Fault, shorten};

/// Default maximum of missed occurrences that [`Misfire::All`] catches up on.
pub const MISFIRE_CAP: u32 = 100;

/// The largest value to which that maximum can be set.
pub const MISFIRE_CAP_MAX: u32 = 10_000;

/// When time fires a trigger. Stored with the trigger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Schedule {
    /// The instants at which it fires, before zone, jitter and misfires are applied.
    pub when: When,
    /// Time zone of days, months and cron expressions; `None`: that of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    /// What happens to missed fires.
    #[serde(default)]
    pub misfire: Misfire,
    /// Maximum of missed fires, the last ones, that [`Misfire::All`] catches up on.
    #[serde(default = "default_cap")]
    pub misfire_cap: u32,
    /// What happens while an earlier run has not ended.
    #[serde(default)]
    pub overlap: Overlap,
    /// Each fire is delayed by a random time up to this length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Interval>,
}

fn default_cap() -> u32 {
    MISFIRE_CAP
}

/// What happens to missed fires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Misfire {
    /// All of them together fire once.
    #[default]
    Once,
    /// None of them fires.
    Skip,
    /// Each of them fires, but no more than the last `misfire_cap`.
    All,
}

/// What happens at a fire while an earlier run has not ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Overlap {
    /// Another run starts in parallel.
    #[default]
    Allow,
    /// The fire starts nothing, and is counted as skipped.
    Skip,
    /// Another run starts after it.
    Queue,
}

impl Misfire {
    /// Reads `once`, `skip` or `all`, in any letter case.
    ///
    /// # Errors
    /// 22023 if it is none of them.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        choose("misfire policy", text, [("once", Self::Once), ("skip", Self::Skip), ("all", Self::All)])
    }
}

impl Overlap {
    /// Reads `allow`, `skip` or `queue`, in any letter case.
    ///
    /// # Errors
    /// 22023 if it is none of them.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        choose("overlap policy", text, [("allow", Self::Allow), ("skip", Self::Skip), ("queue", Self::Queue)])
    }
}

fn choose<T>(what: &str, text: &str, choices: [(&str, T); 3]) -> Result<T, Fault> {
    let hint = format!("It is one of {}.", choices.each_ref().map(|(name, _)| *name).join(", "));
    let found = choices.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(text.trim()));
    found.map(|(_, choice)| choice).ok_or_else(|| {
        let message = format!("unknown {what} \"{}\"", shorten(text, 60));
        Fault::new("22023", message).hint(hint)
    })
}

/// The fires of a due schedule, and its next due time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueFires {
    /// The occurrences that fire now, as the instants at which they were due, oldest first.
    pub fire: Vec<DateTime<Utc>>,
    /// Number of occurrences that do not fire because of the misfire policy.
    pub unfired: u64,
    /// When it is due next.
    pub next: Option<DateTime<Utc>>,
}

impl Schedule {
    /// A schedule with all policies at their defaults.
    pub fn new(when: When) -> Self {
        Self {
            when,
            time_zone: None,
            misfire: Misfire::default(),
            misfire_cap: MISFIRE_CAP,
            overlap: Overlap::default(),
            jitter: None,
        }
    }

    /// This schedule with the anchor of the schedule that it replaces, if the interval is unchanged: publishing a
    /// definition again does not shift its timers.
    #[must_use]
    pub fn anchored_as(mut self, before: &Self) -> Self {
        if let (When::Every { interval, start }, When::Every { interval: same, start: anchor }) =
            (&mut self.when, &before.when)
            && interval == same
            && self.time_zone == before.time_zone
        {
            *start = *anchor;
        }
        self
    }

    /// The first occurrence after an instant.
    pub fn first_after(&self, now: DateTime<Utc>, zone: &dyn Zone) -> Option<DateTime<Utc>> {
        Occurrences::of(&self.when, zone).after(now)
    }

    /// The fires at the time `due`, and the next due time. An occurrence is missed if a later one is due as well, or if
    /// it is late by more than `grace`.
    pub fn due_fires(&self, due: DateTime<Utc>, now: DateTime<Utc>, grace: TimeDelta, zone: &dyn Zone) -> DueFires {
        if due > now {
            return DueFires { fire: Vec::new(), unfired: 0, next: Some(due) };
        }
        let occurrences = Occurrences::of(&self.when, zone);
        let next = occurrences.after(now);
        let later = occurrences.count(due, now);
        let latest = if later == 0 { due } else { occurrences.last(due, now, 1).pop().unwrap_or(due) };
        let in_time = now.signed_duration_since(latest) <= grace;
        let fire = match self.misfire {
            Misfire::Once => vec![latest],
            Misfire::Skip if in_time => vec![latest],
            Misfire::Skip => Vec::new(),
            Misfire::All => {
                let cap = self.misfire_cap.clamp(1, MISFIRE_CAP_MAX);
                let first = (later < u64::from(cap)).then_some(due);
                first.into_iter().chain(occurrences.last(due, now, cap)).collect()
            }
        };
        let unfired = later.saturating_add(1).saturating_sub(fire.len() as u64);
        DueFires { fire, unfired, next }
    }

    /// An instant delayed by a random part of the jitter.
    pub fn jittered(&self, at: DateTime<Utc>, random: u64) -> DateTime<Utc> {
        let most = self.jitter.map_or(0, |jitter| u64::try_from(jitter.longest().max(0)).unwrap_or(u64::MAX));
        let micros = random % most.saturating_add(1);
        let later =
            i64::try_from(micros).ok().and_then(|micros| at.checked_add_signed(TimeDelta::microseconds(micros)));
        later.unwrap_or(at)
    }
}
