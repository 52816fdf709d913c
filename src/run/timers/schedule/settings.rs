//! The settings of a named schedule in a call: when and how it fires.

use serde_json::Value;
use workflow_engine::calendar::{Interval, MISFIRE_CAP_MAX, Misfire, Overlap, Schedule, When};

use crate::pg::{PgError, zone};
use crate::run::CallContext;
use crate::run::timers::timing::{self, NextFire};
use crate::store::timers::schedules::Timed;

/// Settings. A missing one stays unchanged, or has its default in a new schedule.
#[derive(Debug, Default)]
pub struct Settings {
    /// Text of the schedule.
    pub text: Option<String>,
    /// Name of the time zone.
    pub time_zone: Option<String>,
    /// `once`, `skip` or `all`.
    pub misfire: Option<String>,
    /// How many missed fires `all` catches up on.
    pub misfire_cap: Option<i32>,
    /// `allow`, `skip` or `queue`.
    pub overlap: Option<String>,
    /// Random delay.
    pub jitter: Option<Interval>,
    /// Whether it fires.
    pub active: Option<bool>,
    /// Whether a missing zone means that of the session, as in a new schedule.
    pub is_whole: bool,
}

/// Settings as a schedule stores them.
#[derive(Debug)]
pub struct Applied {
    /// When and how it fires.
    pub schedule: Schedule,
    /// The text that was given.
    pub text: Option<String>,
    /// Whether it fires.
    pub active: bool,
    /// When it fires next.
    pub next: NextFire,
}

impl Applied {
    /// The stored form of the schedule.
    pub fn encode(&self) -> Value {
        timing::encode(&self.schedule, self.text.as_deref())
    }
}

impl Settings {
    /// Applies the settings to the existing schedule, if there is one. If its instants stay the same, the schedule
    /// keeps its due time, and a timer the instant from which it counts: a deployment may write its schedules
    /// repeatedly.
    pub fn apply(&self, context: &CallContext, known: Option<&Timed>) -> Result<Applied, PgError> {
        let before = known.map(|known| timing::decode(&known.schedule)).transpose()?;
        let text_before = known.and_then(|known| timing::text_of(&known.schedule));
        let time_zone = self.time_zone(before.as_ref())?;
        let same_zone = before.as_ref().is_some_and(|before| before.time_zone.as_deref() == Some(time_zone.as_str()));
        let same_text = self.text.is_none() || self.text.as_deref().map(str::trim) == text_before;
        let when = match (&before, &self.text) {
            (Some(before), _) if same_text => before.when.clone(),
            (_, Some(text)) => timing::parse(text, context.now)?,
            (_, None) => return Err(PgError::new("22004", "argument \"schedule\" must not be NULL")),
        };
        let text = self.text.as_deref().map(str::trim).or(text_before).map(str::to_owned);
        let schedule = self.policies(when, time_zone, before.as_ref())?;
        let active = self.active.unwrap_or(known.is_none_or(|known| known.active));
        let next = match known {
            _ if !active => NextFire::default(),
            Some(known) if known.active && same_text && same_zone => {
                NextFire { scheduled_at: known.scheduled_at, next_fire_at: known.next_fire_at }
            }
            _ => first(context, &schedule, known)?,
        };
        Ok(Applied { schedule, text, active, next })
    }

    fn time_zone(&self, before: Option<&Schedule>) -> Result<String, PgError> {
        if let Some(name) = &self.time_zone {
            timing::refuse_offset(name)?;
            timing::zone(Some(name)).map_err(|fault| crate::error::fault(&fault))?;
            return Ok(name.clone());
        }
        let kept = before.filter(|_| !self.is_whole).and_then(|before| before.time_zone.clone());
        Ok(kept.unwrap_or_else(zone::session_name))
    }

    fn policies(&self, when: When, time_zone: String, before: Option<&Schedule>) -> Result<Schedule, PgError> {
        let cap = match self.misfire_cap {
            Some(cap) => cap_of(cap)?,
            None => before.map_or(workflow_engine::calendar::MISFIRE_CAP, |before| before.misfire_cap),
        };
        let jitter = match &self.jitter {
            Some(jitter) => jitter_of(jitter)?,
            None => before.and_then(|before| before.jitter),
        };
        Ok(Schedule {
            when,
            time_zone: Some(time_zone),
            misfire: word(self.misfire.as_deref(), "misfire", &MISFIRES, before.map(|before| before.misfire))?,
            misfire_cap: cap,
            overlap: word(self.overlap.as_deref(), "overlap", &OVERLAPS, before.map(|before| before.overlap))?,
            jitter,
        })
    }
}

const MISFIRES: [(&str, Misfire); 3] = [("once", Misfire::Once), ("skip", Misfire::Skip), ("all", Misfire::All)];
const OVERLAPS: [(&str, Overlap); 3] = [("allow", Overlap::Allow), ("skip", Overlap::Skip), ("queue", Overlap::Queue)];

/// One of several keywords; the first is the default.
fn word<T: Copy>(text: Option<&str>, name: &str, words: &[(&str, T); 3], before: Option<T>) -> Result<T, PgError> {
    let Some(text) = text else {
        return Ok(before.unwrap_or(words[0].1));
    };
    let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let [(a, _), (b, _), (c, _)] = words;
        PgError::new("22023", format!("{name} must be \"{a}\", \"{b}\" or \"{c}\", not \"{text}\""))
    })
}

fn cap_of(cap: i32) -> Result<u32, PgError> {
    u32::try_from(cap)
        .ok()
        .filter(|cap| (1..=MISFIRE_CAP_MAX).contains(cap))
        .ok_or_else(|| PgError::new("22023", format!("misfire_cap must be between 1 and {MISFIRE_CAP_MAX}, not {cap}")))
}

/// An interval of zero is no delay.
fn jitter_of(jitter: &Interval) -> Result<Option<Interval>, PgError> {
    match timing::micros(jitter) {
        ..0 => Err(PgError::new("22023", "argument \"jitter\" must not be negative")),
        0 => Ok(None),
        1.. => Ok(Some(*jitter)),
    }
}

/// The first instant from now on. If a fire was queued while the schedule was inactive, the trigger is due at once.
fn first(context: &CallContext, schedule: &Schedule, known: Option<&Timed>) -> Result<NextFire, PgError> {
    let next = timing::first(schedule, context.now)?;
    if known.is_some_and(|known| known.queued > 0) {
        return Ok(NextFire { next_fire_at: Some(context.timestamp()), ..next });
    }
    Ok(next)
}
