//! States and transitions of a state machine: their names, and whether they fit together.

use std::collections::HashMap;

use serde_json::Value;

use super::json::{Path, entry, kind_of};
use super::outline::Outline;
use super::problem::Problems;
use workflow_core::program::{Machine, Part, STATES, TRANSITIONS};
use workflow_value::spelling::nearest;

/// Texts of a transition in the order of its descriptor.
const ENDS: [&str; 2] = ["from", "to"];

/// Reads the connections of a machine's states.
pub(super) fn read(outline: &Outline<'_>, ix: usize, parts: &[Vec<Part>], problems: &mut Problems) -> Machine {
    let place = Path::Activity(outline, ix);
    let raw = &outline.activities[ix];
    let steps = |list: usize| raw.parts.get(list).into_iter().flatten().map(|part| part.step.as_str());
    let list = |list: usize| parts.get(list).map_or(&[][..], Vec::as_slice);
    let (states, transitions) = (list(STATES), list(TRANSITIONS));

    let mut by_name: HashMap<&str, u32> = HashMap::with_capacity(states.len());
    for ((position, state), step) in (0u32..).zip(states).zip(steps(STATES)) {
        let name = state.text(0);
        if !name.is_empty() && by_name.insert(name, position).is_some() {
            problems.invalid(&Path::Below(&place, step), format!("state \"{name}\" is declared twice"));
        }
    }
    let mut ends = Vec::with_capacity(transitions.len());
    for (transition, step) in transitions.iter().zip(steps(TRANSITIONS)) {
        let above = Path::Below(&place, step);
        let mut find = |end: usize| find(transition.text(end), &by_name, &above.key(ENDS[end]), problems);
        ends.push((find(0), find(1)));
    }
    let initial = match raw.members().and_then(|members| entry(members, "initialState")) {
        None | Some((_, Value::Null)) => None,
        Some((key, Value::String(name))) => find(name, &by_name, &place.key(key), problems),
        Some((key, value)) => {
            let message = format!("\"initialState\" must be a string, not {}", kind_of(value));
            problems.invalid(&place.key(key), message);
            None
        }
    };
    let initial = current(outline, ix, &by_name, problems).or(initial);
    let ends = ends.into_iter().map(|(from, to)| (from.unwrap_or(0), to.unwrap_or(0)));
    Machine::build(states.len(), initial.unwrap_or(0), ends.collect())
}

/// The state named by Elsa's `currentState`, in which the machine starts. An unknown one has no effect, as in Elsa.
fn current(outline: &Outline<'_>, ix: usize, by_name: &HashMap<&str, u32>, problems: &mut Problems) -> Option<u32> {
    let (key, name) = entry(outline.activities[ix].members()?, "currentState")?;
    let name = name.as_str().filter(|name| !name.is_empty())?;
    let found = by_name.get(name).copied();
    if found.is_none() {
        let message =
            format!("the state machine has no state \"{name}\", and begins as if \"currentState\" were not there");
        problems.warn(&Path::Activity(outline, ix).key(key), message);
    }
    found
}

/// Finds a state. A missing name is not reported here, because it was reported already or is optional.
fn find(name: &str, by_name: &HashMap<&str, u32>, place: &Path<'_>, problems: &mut Problems) -> Option<u32> {
    let found = by_name.get(name).copied();
    if found.is_none() && !name.is_empty() {
        let near = if by_name.len() <= 100 { nearest(name, by_name.keys().copied()) } else { None };
        let hint = near.map(|near| format!(" (did you mean \"{near}\"?)")).unwrap_or_default();
        problems.invalid(place, format!("the state machine has no state \"{name}\"{hint}"));
    }
    found
}
