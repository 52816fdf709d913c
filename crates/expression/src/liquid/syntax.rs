//! Errors of the crate as one line.

use workflow_value::fault::shorten;

/// Describes the mistake in a template and its position.
pub(super) fn describe(error: &str, source: &str) -> String {
    let what = first_line(error);
    match position(error).or_else(|| filter_position(error, source)) {
        Some((line, column)) => format!("invalid Liquid: {what} at line {line}, column {column}"),
        None => format!("invalid Liquid: {what}"),
    }
}

/// The message of an error, without the lines of the source that it shows.
pub(super) fn first_line(error: &str) -> String {
    let text = error.strip_prefix("liquid: ").unwrap_or(error).trim();
    let drawn = text.lines().find_map(|line| line.trim().strip_prefix("= "));
    let what = drawn.unwrap_or_else(|| text.lines().next().unwrap_or("syntax error"));
    let asked = ["requested filter=", "requested="].iter().find_map(|key| after(error, key));
    let what = what.trim().trim_end_matches('.');
    let what = shorten(&uncapitalized(what).replace(". ", ", "), 200);
    match (asked, after(error, "cause=")) {
        (Some(name), _) => format!("{what} \"{}\"", shorten(name, 60)),
        (None, Some(cause)) => format!("{what}: {}", shorten(&uncapitalized(cause.trim().trim_end_matches('.')), 100)),
        (None, None) => what,
    }
}

fn uncapitalized(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().into_iter().flat_map(char::to_lowercase).chain(characters).collect()
}

fn after<'e>(error: &'e str, key: &str) -> Option<&'e str> {
    error.lines().find_map(|line| line.trim().strip_prefix(key))
}

/// Reads `--> line:column`.
fn position(error: &str) -> Option<(usize, usize)> {
    let position = error.lines().find_map(|line| line.split_once("--> "))?.1;
    let (line, column) = position.trim().split_once(':')?;
    Some((line.parse().ok()?, column.parse().ok()?))
}

/// The position of an unknown filter, which the crate's error does not contain.
fn filter_position(error: &str, source: &str) -> Option<(usize, usize)> {
    let name = after(error, "requested filter=")?;
    let at = source.match_indices(name).map(|(at, _)| at).find(|at| source[..*at].trim_end().ends_with('|'))?;
    let before = &source[..at];
    let line = before.matches('\n').count() + 1;
    Some((line, before.rsplit('\n').next().unwrap_or("").chars().count() + 1))
}
