//! Small charts of the last hour, drawn as SVG without a script: a bar for each minute.

use super::counted;
use crate::samples::Sample;

/// Minutes of a chart.
const MINUTES: usize = 60;
/// The height of a chart, and the distance between its bars, in units of the picture.
const HEIGHT: f64 = 40.0;
const STEP: usize = 4;

/// A value for each of the last minutes, the latest one last; `None` before the first sample.
type Values = [Option<f64>; MINUTES];

pub struct Bar {
    pub x: usize,
    pub y: i64,
    pub height: i64,
}

pub struct Chart {
    pub number: String,
    pub label: &'static str,
    /// The largest value, in words.
    pub most: String,
    /// The class with the colour of its bars.
    pub class: &'static str,
    pub bars: Vec<Bar>,
}

/// The charts, and how many minutes they cover.
#[derive(Default)]
pub struct Charts {
    pub list: Vec<Chart>,
    pub minutes: usize,
}

impl Charts {
    /// Draws samples with their age in seconds, the oldest one first. One alone says nothing of its past.
    pub fn new(samples: &[(f64, Sample)]) -> Self {
        let (Some((oldest, _)), Some((_, latest)), true) = (samples.first(), samples.last(), samples.len() > 1) else {
            return Self::default();
        };
        let list = vec![
            counter(samples, "instances started", "", |sample| sample.started),
            counter(samples, "instances finished", "good", |sample| sample.finished),
            counter(samples, "instances faulted", "bad", |sample| sample.faulted),
            lateness(samples, latest),
        ];
        Self { list, minutes: ((oldest / 60.0).ceil() as usize).clamp(1, MINUTES) }
    }
}

fn counter(samples: &[(f64, Sample)], label: &'static str, class: &'static str, of: fn(&Sample) -> f64) -> Chart {
    let values = increments(samples, of);
    // What is spread over minutes has no whole numbers.
    let most = (largest(&values) - 0.001).ceil();
    Chart {
        number: counted(values.iter().flatten().sum(), false),
        label,
        most: format!("at most {} in a minute", counted(most, false)),
        class,
        bars: bars(&values),
    }
}

fn lateness(samples: &[(f64, Sample)], latest: &Sample) -> Chart {
    let values = highest(samples, |sample| sample.late);
    Chart {
        number: format!("{:.0} s", latest.late),
        label: "lateness of the oldest due timer",
        most: format!("at most {:.0} s", largest(&values)),
        class: "warn",
        bars: bars(&values),
    }
}

/// How much a counter grew in each minute. What it grew between two samples is spread over the time between them.
fn increments(samples: &[(f64, Sample)], of: fn(&Sample) -> f64) -> Values {
    let mut values = [None; MINUTES];
    for pair in samples.windows(2) {
        let ((since, before), (until, after)) = (&pair[0], &pair[1]);
        // A counter restarts at zero after a crash. What it missed is not known.
        let grown = (of(after) - of(before)).max(0.0);
        for (ago, value) in values.iter_mut().rev().enumerate() {
            let (begin, end) = (ago as f64 * 60.0, (ago + 1) as f64 * 60.0);
            let common = since.min(end) - until.max(begin);
            if common > 0.0 {
                *value.get_or_insert(0.0) += grown * common / (since - until);
            }
        }
    }
    values
}

/// The largest value of the samples of each minute.
fn highest(samples: &[(f64, Sample)], of: fn(&Sample) -> f64) -> Values {
    let mut values = [None; MINUTES];
    for (age, sample) in samples {
        let ago = (age / 60.0) as usize;
        if let Some(value) = values.iter_mut().rev().nth(ago) {
            *value = Some(value.map_or(of(sample), |before: f64| before.max(of(sample))));
        }
    }
    values
}

fn largest(values: &Values) -> f64 {
    values.iter().flatten().fold(0.0, |most: f64, value| most.max(*value))
}

/// The bars of the minutes with a value. That of zero is a line.
fn bars(values: &Values) -> Vec<Bar> {
    let most = largest(values);
    let bar = |(at, value): (usize, &Option<f64>)| {
        let part = if most > 0.0 { (*value)? / most } else { (*value)? };
        let height = (part * HEIGHT).round().max(1.0);
        Some(Bar { x: at * STEP, y: (HEIGHT - height) as i64, height: height as i64 })
    };
    values.iter().enumerate().filter_map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(age: f64, started: f64, late: f64) -> (f64, Sample) {
        (age, Sample { started, late, ..Sample::default() })
    }

    #[test]
    fn growth_is_spread_over_its_time() {
        let values =
            increments(&[sample(180.0, 10.0, 0.0), sample(60.0, 16.0, 0.0), sample(0.0, 16.0, 0.0)], |sample| {
                sample.started
            });
        assert_eq!(values[56..], [None, Some(3.0), Some(3.0), Some(0.0)]);
        // Half of it was before the hour.
        let values = increments(&[sample(7200.0, 0.0, 0.0), sample(0.0, 240.0, 0.0)], |sample| sample.started);
        assert_eq!((values[0], values[59], values.iter().flatten().sum::<f64>()), (Some(2.0), Some(2.0), 120.0));
        let restarted = increments(&[sample(60.0, 9.0, 0.0), sample(0.0, 2.0, 0.0)], |sample| sample.started);
        assert_eq!(restarted[59], Some(0.0));
    }

    #[test]
    fn a_gauge_has_its_largest_value() {
        let samples =
            [sample(4000.0, 0.0, 99.0), sample(65.0, 0.0, 5.0), sample(61.0, 0.0, 3.0), sample(0.0, 0.0, 1.0)];
        let values = highest(&samples, |sample| sample.late);
        assert_eq!((values[58], values[59], values[0], largest(&values)), (Some(5.0), Some(1.0), None, 5.0));
    }

    #[test]
    fn charts_begin_with_the_second_sample() {
        assert!(Charts::new(&[]).list.is_empty() && Charts::new(&[sample(0.0, 5.0, 0.0)]).list.is_empty());
        let charts = Charts::new(&[sample(150.0, 5.0, 9.0), sample(30.0, 8.0, 0.0), sample(0.0, 10.0, 2.0)]);
        let shown: Vec<_> = charts.list.iter().map(|chart| (chart.number.as_str(), chart.most.as_str())).collect();
        assert_eq!(
            shown,
            [
                ("5", "at most 3 in a minute"),
                ("0", "at most 0 in a minute"),
                ("0", "at most 0 in a minute"),
                ("2 s", "at most 9 s"),
            ]
        );
        assert_eq!(charts.minutes, 3);
        let bars: Vec<(usize, i64, i64)> = charts.list[0].bars.iter().map(|bar| (bar.x, bar.y, bar.height)).collect();
        assert_eq!(bars, [(228, 29, 11), (232, 18, 22), (236, 0, 40)]);
        assert!(charts.list[1].bars.iter().all(|bar| bar.height == 1));
    }
}
