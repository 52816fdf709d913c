//! The modes of flowcharts and the merge modes of their activities: keywords in custom properties, as in Elsa, or in
//! members.

use serde_json::{Map, Value};

use super::json::{Path, entry, kind_of};
use super::problem::Problems;
use workflow_core::program::{FlowMode, MergeMode};

/// Member of Elsa's properties that holds the mode of a flowchart.
pub(super) const EXECUTION_MODE: &str = "Flowchart:ExecutionMode";

/// Members in which activities and definitions store settings for which Elsa has no member.
const PROPERTIES: [&str; 2] = ["customProperties", "applicationProperties"];

/// Reads the default mode of flowcharts in a definition.
pub(super) fn of_definition(document: &Map<String, Value>, problems: &mut Problems) -> FlowMode {
    let options = entry(document, "options").and_then(|(key, value)| Some((key, value.as_object()?)));
    let option = options.and_then(|(key, options)| mode(options, &["flowchartMode"], &Path::Root.key(key), problems));
    option.or_else(|| in_properties(document, &Path::Root, problems)).unwrap_or_default()
}

/// Reads the mode of a flowchart.
pub(super) fn of_flowchart(
    members: &Map<String, Value>,
    otherwise: FlowMode,
    place: &Path<'_>,
    problems: &mut Problems,
) -> FlowMode {
    let own = mode(members, &["mode", "executionMode", EXECUTION_MODE], place, problems);
    own.or_else(|| in_properties(members, place, problems)).unwrap_or(otherwise)
}

fn in_properties(owner: &Map<String, Value>, place: &Path<'_>, problems: &mut Problems) -> Option<FlowMode> {
    properties(owner)
        .find_map(|(key, properties)| mode(properties, &[EXECUTION_MODE, "executionMode"], &place.key(key), problems))
}

fn properties(owner: &Map<String, Value>) -> impl Iterator<Item = (&str, &Map<String, Value>)> {
    PROPERTIES.iter().filter_map(|name| entry(owner, name)).filter_map(|(key, value)| Some((key, value.as_object()?)))
}

fn mode(owner: &Map<String, Value>, names: &[&str], place: &Path<'_>, problems: &mut Problems) -> Option<FlowMode> {
    let words = &["TokenBased", "CounterBased"];
    names.iter().find_map(|name| word(owner, name, FlowMode::from_name, words, place, problems)).flatten()
}

/// Reads the merge mode of an activity.
pub(super) fn merge_mode(members: &Map<String, Value>, place: &Path<'_>, problems: &mut Problems) -> MergeMode {
    let mut read = |owner: &Map<String, Value>, place: &Path<'_>| {
        word(owner, "mergeMode", MergeMode::from_name, &MergeMode::NAMES, place, problems)
    };
    let own = read(members, place);
    own.or_else(|| properties(members).find_map(|(key, properties)| read(properties, &place.key(key))))
        .unwrap_or_default()
}

/// Reads a member with one of several keywords; a blank text counts as missing.
fn word<T>(
    owner: &Map<String, Value>,
    name: &str,
    read: fn(&str) -> Option<T>,
    words: &[&str],
    place: &Path<'_>,
    problems: &mut Problems,
) -> Option<T> {
    let (key, value) = entry(owner, name).filter(|(_, value)| !value.is_null())?;
    let Some(text) = value.as_str() else {
        problems.invalid(&place.key(key), format!("\"{key}\" must be a string, not {}", kind_of(value)));
        return None;
    };
    if text.trim().is_empty() {
        return None;
    }
    let found = read(text.trim());
    if found.is_none() {
        problems.invalid(&place.key(key), format!("unknown {name} \"{text}\": it is one of {}", words.join(", ")));
    }
    found
}
