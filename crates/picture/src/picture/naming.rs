//! The title of an activity, and the line that describes it.

use super::text;
use workflow_core::activity::short_name;
use workflow_core::program::Node;
use workflow_definition::Appearance;
use workflow_expression::{Expression, ExpressionKind};

/// Maximum number of characters of a line.
const MAX_LINE: usize = 120;

/// Its title: the author's title from the Studio, its name, or its id. A name made up by the Studio is less informative
/// than an id written by the author, and more than a random id.
pub(crate) fn title<'n>(node: &'n Node, look: Option<&'n Appearance>) -> &'n str {
    given_title(node, look).unwrap_or_else(|| {
        let name = node.name.as_deref().filter(|name| !name.trim().is_empty());
        let id = Some(node.id.as_str()).filter(|id| !is_random(id));
        id.or(name).unwrap_or_else(|| short_name(&node.type_name))
    })
}

/// The author's title: from the Studio, a name, or an id that is more informative than type and number.
pub(crate) fn given_title<'n>(node: &'n Node, look: Option<&'n Appearance>) -> Option<&'n str> {
    let given = look.and_then(|look| look.title.as_deref());
    let name = node.name.as_deref().filter(|name| !name.trim().is_empty());
    let own = name.filter(|name| !is_made_up(name, &node.type_name));
    let id = Some(node.id.as_str()).filter(|id| !is_random(id) && !is_made_up(id, &node.type_name));
    given.or(own).or(id)
}

/// Whether a program generated the id: it is long, and few neighbouring characters are of the same kind.
fn is_random(id: &str) -> bool {
    let kind = |byte: &u8| (byte.is_ascii_digit(), byte.is_ascii_lowercase(), byte.is_ascii_uppercase());
    let bytes = id.as_bytes();
    let changes = bytes.windows(2).filter(|pair| kind(&pair[0]) != kind(&pair[1])).count();
    bytes.len() >= 15 && bytes.iter().any(u8::is_ascii_digit) && changes * 2 > bytes.len()
}

/// Its type, and its most informative detail.
pub(crate) fn kind(node: &Node) -> String {
    let kind = short_name(&node.type_name);
    let line = match detail(node) {
        Some(detail) => format!("{kind} · {detail}"),
        None => kind.to_owned(),
    };
    text::one_line(&line, MAX_LINE)
}

/// Whether a name is the type and a number, as the Studio fills it in.
fn is_made_up(name: &str, type_name: &str) -> bool {
    let kind = type_name.rsplit('.').next().unwrap_or(type_name);
    name.strip_prefix(kind).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The most informative detail of an activity besides its type: its variable, or the first input that fits into a line.
fn detail(node: &Node) -> Option<String> {
    if let Some(variable) = &node.variable {
        return Some(variable.clone());
    }
    let line = node.inputs.iter().flatten().find_map(input_text)?;
    Some(text::one_line(&line, MAX_LINE)).filter(|line| !line.is_empty())
}

/// An input on one line, if it fits.
pub(crate) fn input_text(input: &Expression) -> Option<String> {
    match &input.kind {
        ExpressionKind::Literal(value) if value.is_string() => value.as_str().map(str::to_owned),
        ExpressionKind::Literal(value) if value.is_number() => Some(value.to_string()),
        ExpressionKind::Literal(_) | ExpressionKind::Object(_) | ExpressionKind::Text(_) => None,
        ExpressionKind::Variable(name) | ExpressionKind::Input(name) => Some(name.clone()),
        ExpressionKind::JavaScript(source) | ExpressionKind::Sql(source) => Some(source.to_string()),
        ExpressionKind::Liquid(template) => Some(template.source().to_owned()),
        ExpressionKind::SqlTemplate(template) => Some(template.statement().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_a_program_made_are_no_titles() {
        for id in ["aA4pfJOzyEqmLOY3U3vCoQ", "81f1eb37d9ce5da4", "bc7f148b-2a5b-4f55-8115-37a0d762e137"] {
            assert!(is_random(id), "{id}");
        }
        for id in
            ["Manager approval", "Step2OfOrder3Approval", "approve-leave-2", "SupervisorApproval", "a1", "WriteLine10"]
        {
            assert!(!is_random(id), "{id}");
        }
    }
}
