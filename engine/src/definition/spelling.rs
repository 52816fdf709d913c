//! Members that mean nothing: refused in new content in the short form, and left alone in Elsa's and in what is stored.

use serde_json::{Map, Value};

use super::json::Path;
use super::problem::Problems;

/// Words longer than this are not compared.
const MAX_WORD: usize = 40;

/// Names that a message lists.
const MAX_NAMES: usize = 16;

/// Reports members of a new object that are neither its `own` nor `common`. A comment may be anywhere, as `$…` or `_…`.
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

/// Whether a key is a name, in camelCase or in PascalCase.
fn spelled_as(key: &str, name: &str) -> bool {
    let (key, name) = (key.as_bytes(), name.as_bytes());
    key.len() == name.len() && key.get(1..) == name.get(1..) && key.eq_ignore_ascii_case(name)
}

/// The name that a word was probably meant to be.
pub(crate) fn nearest<'k>(word: &str, names: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    if word.len() > MAX_WORD {
        return None;
    }
    let word = word.to_lowercase();
    // Of two letters, half would have to change.
    let allowed = match word.chars().count() {
        0..=2 => return None,
        3..=4 => 1,
        _ => 2,
    };
    names
        .filter(|name| name.len().abs_diff(word.len()) <= allowed)
        .map(|name| (distance(&word, &name.to_lowercase()), name))
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, name)| name)
}

/// Number of letters to change, add, drop or swap with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, right) in b.iter().enumerate() {
            let replaced = last[j] + usize::from(left != right);
            let mut best = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *left == b[j - 1] && a[i - 1] == *right {
                best = best.min(before_last[j - 1] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn counts_slips() {
        assert_eq!(distance("text", "text"), 0);
        assert_eq!(distance("txet", "text"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "ab"), 2);
    }

    #[test]
    fn suggests_only_what_is_near() {
        let names = ["eventName", "text", "condition"];
        assert_eq!(nearest("EventNmae", names.into_iter()), Some("eventName"));
        assert_eq!(nearest("txt", names.into_iter()), Some("text"));
        assert_eq!(nearest("assignee", names.into_iter()), None);
        assert_eq!(nearest("", names.into_iter()), None);
    }
}
