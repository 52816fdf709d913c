//! Unknown members: rejected in new content in the short form, and accepted in Elsa's form and in stored content.

use serde_json::{Map, Value};

use super::json::Path;
use super::problem::Problems;
use workflow_value::spelling::{nearest, spelled_as};

/// Maximum number of names that a message lists.
const MAX_NAMES: usize = 20;

/// Reports members of a new object that are neither its `own` nor `common`. Members `$…` and `_…` are comments and
/// accepted anywhere.
pub(super) fn check<'k>(
    members: &Map<String, Value>,
    own: impl Iterator<Item = &'k str> + Clone,
    common: impl Iterator<Item = &'k str> + Clone,
    owner: &str,
    place: &Path<'_>,
    problems: &mut Problems,
) {
    if !problems.is_new() {
        return;
    }
    let known = own.clone().chain(common);
    for key in members.keys() {
        if key.starts_with(['$', '_']) || known.clone().any(|name| spelled_as(key, name)) {
            continue;
        }
        if problems.is_full() {
            problems.unknown(&place.key(key), String::new(), None);
            continue;
        }
        let near = nearest(key, known.clone().filter(|name| !members.contains_key(*name)));
        let mut message = format!("unknown member \"{key}\" of {owner}");
        if near.is_none() {
            let names: Vec<&str> = own.clone().take(MAX_NAMES).collect();
            if !names.is_empty() {
                message.push_str(&format!("; known are {}", names.join(", ")));
            }
        }
        problems.unknown(&place.key(key), message, near);
    }
}
