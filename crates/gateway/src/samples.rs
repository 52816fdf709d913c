//! Numbers of the last hour, for the charts of the overview: a sample a minute of what the gateway reads from
//! `wf_metrics` anyway. They are in memory, so each gateway has its own, which begin when it starts.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How old a sample may be, and how far samples are apart.
const HOUR: Duration = Duration::from_secs(3600);
const MINUTE: Duration = Duration::from_secs(60);

/// Numbers of the database at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// Instances since the start of the server.
    pub started: f64,
    pub finished: f64,
    pub faulted: f64,
    /// How late the oldest due timer is, in seconds.
    pub late: f64,
}

impl Sample {
    /// Adds a row of `wf_metrics`. Counters have a row for each definition.
    pub fn add(&mut self, name: &str, value: f64) {
        match name {
            "workflow_definition_started_total" => self.started += value,
            "workflow_definition_finished_total" => self.finished += value,
            "workflow_definition_faulted_total" => self.faulted += value,
            "workflow_oldest_due_age_seconds" => self.late = self.late.max(value),
            _ => {}
        }
    }
}

/// The samples of the last hour, the oldest one first.
#[derive(Default)]
pub struct Samples(Mutex<VecDeque<(Instant, Sample)>>);

impl Samples {
    /// Stores a sample, unless the last one is less than a minute old.
    pub fn record(&self, at: Instant, sample: Sample) {
        let mut samples = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if samples.back().is_some_and(|(last, _)| at.saturating_duration_since(*last) < MINUTE) {
            return;
        }
        samples.push_back((at, sample));
        // The last one before the hour says what its first minute began with.
        while samples.get(1).is_some_and(|(second, _)| at.saturating_duration_since(*second) >= HOUR) {
            samples.pop_front();
        }
    }

    /// The samples before an instant and the one of that instant, each with its age in seconds.
    pub fn until(&self, at: Instant, sample: Sample) -> Vec<(f64, Sample)> {
        let samples = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let age = |then: Instant| at.saturating_duration_since(then).as_secs_f64();
        let earlier = samples.iter().filter(|(then, _)| *then < at);
        earlier.map(|(then, earlier)| (age(*then), *earlier)).chain([(0.0, sample)]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(started: f64) -> Sample {
        Sample { started, ..Sample::default() }
    }

    #[test]
    fn there_is_a_sample_a_minute_for_an_hour() {
        let (samples, start) = (Samples::default(), Instant::now());
        let after = |seconds: u64| start + Duration::from_secs(seconds);
        samples.record(start, sample(0.0));
        assert_eq!(samples.until(start, sample(0.0)), [(0.0, sample(0.0))]);
        samples.record(after(59), sample(1.0));
        assert_eq!(samples.until(after(90), sample(2.0)), [(90.0, sample(0.0)), (0.0, sample(2.0))]);
        for minute in 1..100 {
            samples.record(after(minute * 60), sample(minute as f64));
        }
        let kept = samples.until(after(99 * 60 + 1), sample(100.0));
        assert_eq!((kept.len(), kept[0]), (62, (3601.0, sample(39.0))));
    }

    #[test]
    fn rows_of_definitions_are_added_up() {
        let mut all = Sample::default();
        for (name, value) in [
            ("workflow_definition_started_total", 2.0),
            ("workflow_definition_started_total", 3.0),
            ("workflow_definition_finished_total", 4.0),
            ("workflow_definition_faulted_total", 1.0),
            ("workflow_oldest_due_age_seconds", 7.5),
            ("workflow_open_incidents", 9.0),
        ] {
            all.add(name, value);
        }
        assert_eq!(all, Sample { started: 5.0, finished: 4.0, faulted: 1.0, late: 7.5 });
    }
}
