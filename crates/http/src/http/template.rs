//! Route templates as ASP.NET writes them: `orders/{id:int}`, `files/{*path}`, `{page?}`, `{page=1}`.
//!
//! A parameter is a whole segment, or is between literals inside one (`v{major}.{minor}`). The route keeps the
//! template's text; this is the compiled form.

use super::constraint::Constraint;
use workflow_value::fault::{Fault, shorten};

/// Maximum length of a template, which is part of an index key.
const MAX_BYTES: usize = 1_000;

/// A path template, as segments.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    pub(super) segments: Vec<Segment>,
}

/// The part between two slashes of a template.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Segment {
    /// A text, lower-cased.
    Literal(String),
    /// A parameter that is the whole segment.
    Parameter(Parameter),
    /// Literals and parameters in turns.
    Mixed(Vec<TemplatePart>),
}

/// A part of a mixed segment.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TemplatePart {
    /// A text as written.
    Literal(String),
    /// A parameter next to literals. It must not be missing.
    Parameter(Parameter),
}

/// The text between two braces, such as `id:int=1`: a name, constraints and a default.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Parameter {
    /// Name under which the route data has its value, as written.
    pub(super) name: String,
    /// Conditions on its value for the route to match.
    pub(super) constraints: Vec<Constraint>,
    /// Its value if the path has none.
    pub(super) default: Option<String>,
    /// Whether the path may end before it.
    pub(super) optional: bool,
    /// Whether it takes the rest of the path.
    pub(super) catch_all: bool,
}

impl Parameter {
    /// Whether the path may end before it.
    pub(super) fn may_be_missing(&self) -> bool {
        self.optional || self.catch_all || self.default.is_some()
    }
}

impl Template {
    /// Reads a template. Slashes at its ends are ignored.
    ///
    /// # Errors
    /// 22023 for text that is no template, 54000 for one that is too long.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        if text.len() > MAX_BYTES {
            return Err(Fault::new("54000", format!("path is longer than {MAX_BYTES} bytes")));
        }
        read(text).map_err(|reason| Fault::new("22023", format!("path \"{}\" {reason}", shorten(text, 100))))
    }
}

/// A template without slashes at its ends, which are ignored.
pub fn bare(text: &str) -> &str {
    text.trim_matches('/')
}

fn read(text: &str) -> Result<Template, String> {
    if text.contains("//") {
        return Err("cannot contain double slashes (//)".into());
    }
    if let Some(wrong) = text.chars().find(|c| c.is_control() || *c == '|') {
        return Err(format!("cannot contain the character \"{}\"", wrong.escape_default()));
    }
    let mut segments = Vec::new();
    for segment in split(bare(text))? {
        segments.push(read_segment(segment)?);
    }
    check_order(&segments)?;
    Ok(Template { segments })
}

/// Splits at slashes outside of braces.
fn split(text: &str) -> Result<Vec<&str>, String> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let (mut segments, mut from, mut is_inside) = (Vec::new(), 0, false);
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        match character {
            '{' | '}' if !is_inside && characters.peek().is_some_and(|(_, next)| *next == character) => {
                characters.next();
            }
            '{' if is_inside => return Err("has a \"{\" inside a parameter".into()),
            '}' if !is_inside => return Err("has a \"}\" without \"{\"".into()),
            '{' => is_inside = true,
            '}' => is_inside = false,
            '/' if !is_inside => {
                segments.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    if is_inside {
        return Err("has a \"{\" without \"}\"".into());
    }
    segments.push(&text[from..]);
    Ok(segments)
}

fn read_segment(text: &str) -> Result<Segment, String> {
    let mut parts = read_parts(text)?;
    if parts.len() > 1 {
        check_mixed(&parts)?;
        return Ok(Segment::Mixed(parts));
    }
    match parts.pop() {
        Some(TemplatePart::Parameter(parameter)) => Ok(Segment::Parameter(parameter)),
        Some(TemplatePart::Literal(literal)) => Ok(Segment::Literal(literal.to_lowercase())),
        None => Ok(Segment::Literal(String::new())),
    }
}

/// Reads the parts of a segment. Its braces are balanced: the caller has checked.
fn read_parts(text: &str) -> Result<Vec<TemplatePart>, String> {
    let (mut parts, mut literal) = (Vec::new(), String::new());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let after = &rest[character.len_utf8()..];
        let doubled = matches!(character, '{' | '}') && after.starts_with(character);
        match after.find('}').filter(|_| character == '{' && !doubled) {
            Some(end) => {
                if !literal.is_empty() {
                    parts.push(TemplatePart::Literal(std::mem::take(&mut literal)));
                }
                parts.push(TemplatePart::Parameter(read_parameter(&after[..end])?));
                rest = &after[end + 1..];
            }
            None if character == '?' => return Err("has a \"?\" outside a parameter".into()),
            None => {
                literal.push(character);
                rest = &rest[character.len_utf8() * if doubled { 2 } else { 1 }..];
            }
        }
    }
    if !literal.is_empty() {
        parts.push(TemplatePart::Literal(literal));
    }
    Ok(parts)
}

/// Reads the text between two braces.
fn read_parameter(text: &str) -> Result<Parameter, String> {
    let name_and_more = text.trim_start_matches('*');
    let stars = text.len() - name_and_more.len();
    let end = name_and_more.find([':', '=', '?']).unwrap_or(name_and_more.len());
    let (name, mut rest) = name_and_more.split_at(end);
    if stars > 2 || name.is_empty() || name.contains(['*', '/']) {
        return Err(format!("has a parameter without a valid name: \"{{{text}}}\""));
    }
    let mut parameter = Parameter { name: name.into(), catch_all: stars > 0, ..Parameter::default() };
    while let Some(more) = rest.strip_prefix(':') {
        let end = end_of_constraint(more);
        parameter.constraints.push(Constraint::parse(&more[..end])?);
        rest = &more[end..];
    }
    match rest.strip_prefix('=') {
        Some(default) => parameter.default = Some(default.into()),
        None if rest == "?" => parameter.optional = true,
        None if rest.is_empty() => {}
        None => return Err(format!("has a parameter that cannot be read: \"{{{text}}}\"")),
    }
    if parameter.catch_all && parameter.optional {
        return Err(format!("has a catch-all parameter that is optional: \"{name}\""));
    }
    Ok(parameter)
}

/// The end of a constraint: before a character that may follow it, outside of parentheses.
fn end_of_constraint(text: &str) -> usize {
    let mut is_inside = false;
    for (at, character) in text.char_indices() {
        match character {
            '(' => is_inside = true,
            ')' => is_inside = false,
            ':' | '=' | '?' if !is_inside => return at,
            _ => {}
        }
    }
    text.len()
}

fn check_mixed(parts: &[TemplatePart]) -> Result<(), String> {
    let mut follows_parameter = false;
    for part in parts {
        if let TemplatePart::Parameter(parameter) = part {
            if follows_parameter {
                return Err(format!("has nothing between parameter \"{}\" and the one before it", parameter.name));
            }
            if parameter.may_be_missing() {
                return Err(format!(
                    "has parameter \"{}\", which may be missing, beside other text in its segment",
                    parameter.name
                ));
            }
        }
        follows_parameter = matches!(part, TemplatePart::Parameter(_));
    }
    Ok(())
}

fn check_order(segments: &[Segment]) -> Result<(), String> {
    let mut names: Vec<String> = Vec::new();
    for (at, segment) in segments.iter().enumerate() {
        for parameter in parameters(segment) {
            if parameter.catch_all && at + 1 < segments.len() {
                return Err(format!("has the catch-all parameter \"{}\" before its end", parameter.name));
            }
            let name = parameter.name.to_lowercase();
            if names.contains(&name) {
                return Err(format!("has parameter \"{}\" twice", parameter.name));
            }
            names.push(name);
        }
    }
    Ok(())
}

fn parameters(segment: &Segment) -> Vec<&Parameter> {
    match segment {
        Segment::Literal(_) => Vec::new(),
        Segment::Parameter(parameter) => vec![parameter],
        Segment::Mixed(parts) => parts
            .iter()
            .filter_map(|part| match part {
                TemplatePart::Literal(_) => None,
                TemplatePart::Parameter(parameter) => Some(parameter),
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        Template::parse(text).expect_err(text).message
    }

    #[test]
    fn what_is_no_template_is_refused_with_the_reason() {
        for (text, reason) in [
            ("a//b", "cannot contain double slashes (//)"),
            ("a/{b", "has a \"{\" without \"}\""),
            ("a/b}", "has a \"}\" without \"{\""),
            ("a/{b{c}}", "has a \"{\" inside a parameter"),
            ("a/{}", "has a parameter without a valid name: \"{}\""),
            ("a/{***b}", "has a parameter without a valid name: \"{***b}\""),
            ("a?b=1", "has a \"?\" outside a parameter"),
            ("a|b", "cannot contain the character \"|\""),
            ("a/{b}/{B}", "has parameter \"B\" twice"),
            ("{*rest}/a", "has the catch-all parameter \"rest\" before its end"),
            ("{*rest?}", "has a catch-all parameter that is optional: \"rest\""),
            ("{a}{b}", "has nothing between parameter \"b\" and the one before it"),
            ("v{a?}", "has parameter \"a\", which may be missing, beside other text in its segment"),
            ("{a?x}", "has a parameter that cannot be read: \"{a?x}\""),
            ("{a:even}", "has an unknown constraint: \"even\""),
            ("{a:min(x)}", "has a constraint that cannot be read: \"min(x)\""),
        ] {
            assert_eq!(problem(text), format!("path \"{text}\" {reason}"));
        }
        let long = Template::parse(&"a/".repeat(501)).expect_err("too long");
        assert_eq!(long.sqlstate, "54000");
    }

    #[test]
    fn doubled_braces_are_literal() {
        let template = Template::parse("/A{{1}}/").expect("a template");
        assert_eq!(template.segments, [Segment::Literal("a{1}".into())]);
    }
}
