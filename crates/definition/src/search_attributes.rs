//! `options.searchAttributes`: the values by which instances are found.

use serde_json::{Map, Value};

use super::json::{Path, entry, kind_of};
use super::members;
use super::mentions::Use;
use super::problem::Problems;
use workflow_core::program::{SearchAttribute, SearchKind, SearchSource, Variable};
use workflow_value::fault::shorten;
use workflow_value::spelling::nearest;

/// The member of `options`.
pub(super) const SEARCH_ATTRIBUTES: &str = "searchAttributes";

/// Maximum number of attributes of a definition.
pub(super) const MAX: usize = 8;

/// Maximum length of a name, in bytes, as of PostgreSQL's names: it is a part of the keys of indexes.
pub(super) const MAX_NAME: usize = 63;

/// The members of an attribute.
const MEMBERS: [&str; 3] = ["var", "input", "type"];

/// Reads the option. `variables` are those of the workflow. In content stored earlier, invalid attributes are ignored.
pub(super) fn read(
    document: &Map<String, Value>,
    variables: &[Variable],
    problems: &mut Problems,
) -> Vec<SearchAttribute> {
    let Some((options_key, Value::Object(options))) = entry(document, "options") else { return Vec::new() };
    let Some((key, value)) = entry(options, SEARCH_ATTRIBUTES).filter(|(_, value)| !value.is_null()) else {
        return Vec::new();
    };
    let mut old = Problems::default();
    let problems = if problems.is_new() { problems } else { &mut old };
    let options_place = Path::Root.key(options_key);
    let place = options_place.key(key);
    let Value::Object(given) = value else {
        problems.invalid(&place, format!("\"{key}\" must be an object, not {}", kind_of(value)));
        return Vec::new();
    };
    if given.len() > MAX {
        problems.invalid(&place, format!("\"{key}\" has {} attributes, and {MAX} are allowed", given.len()));
        return Vec::new();
    }
    given.iter().filter_map(|(name, value)| attribute(name, value, variables, &place.key(name), problems)).collect()
}

fn attribute(
    name: &str,
    value: &Value,
    variables: &[Variable],
    place: &Path<'_>,
    problems: &mut Problems,
) -> Option<SearchAttribute> {
    if name.is_empty() || name.len() > MAX_NAME || name.contains(['\0', '=']) {
        problems.invalid(place, format!("the name of a search attribute has 1 to {MAX_NAME} bytes, and no \"=\""));
        return None;
    }
    let Value::Object(given) = value else {
        let found = kind_of(value);
        problems.invalid(
            place,
            format!("a search attribute must be an object such as {{\"input\": \"{name}\"}}, not {found}"),
        );
        return None;
    };
    members::check(given, MEMBERS.into_iter(), std::iter::empty(), "a search attribute", place, problems);
    let kind = match entry(given, "type").filter(|(_, value)| !value.is_null()) {
        None => None,
        Some((key, value)) => Some(kind(key, value, place, problems)?),
    };
    let source = source(given, variables, place, problems)?;
    Some(SearchAttribute { name: name.to_owned(), source, kind })
}

fn kind(key: &str, value: &Value, place: &Path<'_>, problems: &mut Problems) -> Option<SearchKind> {
    let known = SearchKind::NAMES.iter().find(|(name, _)| value == name).map(|(_, kind)| *kind);
    if known.is_none() {
        problems.invalid(&place.key(key), format!("\"{key}\" must be \"text\", \"number\" or \"instant\""));
    }
    known
}

/// The variable or the input with the value.
fn source(
    given: &Map<String, Value>,
    variables: &[Variable],
    place: &Path<'_>,
    problems: &mut Problems,
) -> Option<SearchSource> {
    let (is_variable, key, value) = match (entry(given, "var"), entry(given, "input")) {
        (Some((key, value)), None) => (true, key, value),
        (None, Some((key, value))) => (false, key, value),
        _ => {
            problems.invalid(place, "a search attribute needs either \"var\" or \"input\"");
            return None;
        }
    };
    let place = place.key(key);
    let Some(name) = value.as_str().filter(|name| !name.is_empty()) else {
        let what = if is_variable { "a variable" } else { "an input" };
        problems.invalid(&place, format!("\"{key}\" must be the name of {what}"));
        return None;
    };
    if !is_variable {
        problems.mentions.want(Use::Input, name.to_owned(), &place);
        return Some(SearchSource::Input(name.to_owned()));
    }
    if !variables.iter().any(|variable| variable.name == name) {
        let near = nearest(name, variables.iter().map(|variable| variable.name.as_str()));
        let message = format!("variable \"{}\" is not declared by the workflow", shorten(name, 60));
        problems.unknown(&place, message, near);
        return None;
    }
    Some(SearchSource::Variable(name.to_owned()))
}
