//! The outcomes with which an activity of a document can complete, for the check of connections.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::json::{Path, entry};
use super::outline::{ActivityKind, Outline, RawActivity};
use super::problem::Problems;
use super::property::property;
use super::retry::{START_TIMEOUT, TIMEOUT};
use workflow_core::activity::{Descriptor, FurtherOutcomes};
use workflow_core::execution::EXPIRED;
use workflow_value::spelling::nearest;
use workflow_value::value::to_text;

/// Default outcome of an activity, and of a connection.
pub(super) const DONE: &str = "Done";

/// Outcome of an activity that timed out.
const TIMED_OUT: &str = "Timeout";

/// Names of outcomes that a message lists.
const MAX_LISTED: usize = 10;

/// The outcomes of the activities of a flowchart, determined when the first connection leaves them.
#[derive(Default)]
pub(super) struct Outcomes<'d> {
    /// By the number of the activity. `None`: any outcome is possible.
    known: HashMap<usize, Option<Vec<Cow<'d, str>>>>,
    /// The activities and the names of their outcomes.
    names: HashSet<(usize, Cow<'d, str>)>,
}

impl<'d> Outcomes<'d> {
    /// Reports a connection from an outcome that the activity never has: its target would never run.
    ///
    /// It is a problem in new content in the short form. Elsa's documents and content stored earlier get a warning, and
    /// so do workflows used as activities, because their declared outcomes are not enforced at run time.
    pub fn check(
        &mut self,
        port: &'d str,
        outline: &Outline<'d>,
        source: usize,
        place: &Path<'_>,
        problems: &mut Problems,
    ) {
        let raw = &outline.activities[source];
        if !self.known.contains_key(&source) {
            let known = possible_outcomes(raw);
            self.names.extend(known.iter().flatten().map(|outcome| (source, outcome.clone())));
            self.known.insert(source, known);
        }
        if self.names.contains(&(source, Cow::Borrowed(port))) || problems.is_full() {
            return;
        }
        if let Some(right) = named(raw).into_iter().find(|outcome| outcome.eq_ignore_ascii_case(port)) {
            if right != port {
                problems.invalid(place, format!("unknown outcome \"{port}\" (did you mean \"{right}\"?)"));
            }
            return;
        }
        let Some(Some(known)) = self.known.get(&source) else { return };
        let mut list: Vec<String> = known.iter().take(MAX_LISTED).map(|outcome| format!("\"{outcome}\"")).collect();
        if known.len() > MAX_LISTED {
            list.push(format!("and {} more", known.len() - MAX_LISTED));
        }
        let message = format!("activity \"{}\" has no outcome \"{port}\", only {}", raw.id, list.join(", "));
        if problems.is_new() && raw.is_short(outline) && !matches!(raw.kind, ActivityKind::Workflow(_)) {
            let near = if known.len() <= 100 { nearest(port, known.iter().map(AsRef::as_ref)) } else { None };
            problems.unknown(place, message, near);
        } else {
            problems.warn(place, format!("{message}: the connection is never followed"));
        }
    }
}

/// The outcomes named by an activity's type, whether or not there are others.
fn named<'r>(raw: &'r RawActivity<'_>) -> Vec<&'r str> {
    match &raw.kind {
        ActivityKind::Known(activity) => activity.descriptor().outcomes.to_vec(),
        ActivityKind::Workflow(program) => program.outcomes.iter().map(String::as_str).collect(),
        ActivityKind::Custom(_) | ActivityKind::Unknown => Vec::new(),
    }
}

/// All outcomes of an activity. `None`: others are possible.
fn possible_outcomes<'d>(raw: &RawActivity<'d>) -> Option<Vec<Cow<'d, str>>> {
    let mut known: Vec<Cow<'d, str>> = match &raw.kind {
        ActivityKind::Known(activity) => of_type(raw, activity.descriptor())?,
        ActivityKind::Workflow(program) if !program.outcomes.is_empty() => {
            program.outcomes.iter().map(|outcome| Cow::Owned(outcome.clone())).chain([Cow::Borrowed(DONE)]).collect()
        }
        ActivityKind::Workflow(_) | ActivityKind::Custom(_) | ActivityKind::Unknown => return None,
    };
    let has = |name| raw.members().is_some_and(|members| property(members, name).is_some());
    if has(TIMEOUT) || has(START_TIMEOUT) {
        known.push(Cow::Borrowed(TIMED_OUT));
    }
    if raw.members().is_some_and(|members| entry(members, "onDeadline").is_some()) {
        known.push(Cow::Borrowed(EXPIRED));
    }
    Some(known)
}

fn of_type<'d>(raw: &RawActivity<'d>, descriptor: &'static Descriptor) -> Option<Vec<Cow<'d, str>>> {
    let mut known: Vec<Cow<'d, str>> = descriptor.fixed_outcomes().iter().copied().map(Cow::Borrowed).collect();
    match descriptor.further_outcomes {
        FurtherOutcomes::None => {}
        FurtherOutcomes::Any => return None,
        FurtherOutcomes::Labels => {
            let label = descriptor.parts.first()?.texts.first()?.0;
            let labels = raw.parts.first()?.iter().filter_map(|part| part.member(label));
            known.extend(labels.filter_map(|(_, label)| label.as_str()).map(Cow::Borrowed));
        }
        FurtherOutcomes::Listed(input) => {
            let given = raw.members().and_then(|members| entry(members, input)).map(|(_, value)| value);
            match given {
                Some(Value::Array(list)) if list.iter().all(|name| name.is_string() || name.is_number()) => {
                    known.extend(list.iter().map(|name| Cow::Owned(to_text(name))));
                }
                // It is computed, or written as Elsa does.
                Some(value) if !value.is_null() => return None,
                _ => {
                    let default = descriptor.inputs.iter().find(|known| known.name == input)?.default;
                    let default: Vec<Value> =
                        default.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
                    known.extend(default.iter().map(|name| Cow::Owned(to_text(name))));
                }
            }
        }
    }
    Some(known)
}
