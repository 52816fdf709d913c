//! Warnings about HTTP requests that probably do not do what their author means.

use super::json::Path;
use super::outline::Outline;
use super::problem::Problems;
use workflow_core::activity::WaitKind;
use workflow_core::program::Node;
use workflow_expression::{Expression, ExpressionKind};

/// Warns about content that is not sent, and about a fault that every success raises.
pub(super) fn check(nodes: &[Node], outline: &Outline<'_>, problems: &mut Problems) {
    if !problems.is_new() {
        return;
    }
    for (ix, node) in nodes.iter().enumerate() {
        // `WriteHttpResponse` has inputs of the same names.
        if node.activity.descriptor().waits != WaitKind::ForTask {
            continue;
        }
        let place = Path::Activity(outline, ix);
        if has_input(node, "content") && !has_input(node, "contentType") {
            problems.warn(&place.key("content"), "\"content\" is not sent without a \"contentType\"");
        }
        if faults_after_success(node, nodes) {
            let message = "the Fault here is also raised for status 200, which \"expectedStatusCodes\" does not list";
            problems.warn(&place.key("unmatchedStatusCode"), message);
        }
    }
}

/// Whether an input is given, by an expression or by a constant that is not empty.
fn has_input(node: &Node, name: &str) -> bool {
    let position = node.activity.descriptor().inputs.iter().position(|input| input.name == name);
    match position.and_then(|at| node.inputs.get(at)?.as_ref()) {
        Some(Expression { kind: ExpressionKind::Literal(value), .. }) => !value.is_null() && value.as_str() != Some(""),
        given => given.is_some(),
    }
}

/// Whether the activity for status codes that are not expected is a `Fault`, and no expected code means success.
fn faults_after_success(node: &Node, nodes: &[Node]) -> bool {
    let position = node.activity.descriptor().ports.iter().position(|port| *port == "unmatchedStatusCode");
    let activity = position.and_then(|at| *node.ports.get(at)?).and_then(|ix| nodes.get(ix.0 as usize));
    let means_success = |code: &str| code.starts_with('2') || code.starts_with('3');
    activity.is_some_and(Node::is_fault) && !node.part_list(0).iter().any(|part| means_success(part.text(0)))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{ReadLimits, validate};

    /// The paths of the warnings about a request with these members in addition.
    fn warned(type_name: &str, members: Value) -> Vec<String> {
        let mut activity = json!({"type": type_name, "url": "https://a.example"});
        for (name, value) in members.as_object().into_iter().flatten() {
            activity[name] = value.clone();
        }
        let document = json!({"definitionId": "d", "root": activity});
        let validated = validate(&document, &(), &ReadLimits { is_new: true, ..ReadLimits::default() }, false);
        assert!(validated.program.is_ok(), "{:?}", validated.program);
        validated.warnings.into_iter().map(|warning| warning.path).collect()
    }

    #[test]
    fn content_needs_a_content_type() {
        for type_name in ["SendHttpRequest", "FlowSendHttpRequest"] {
            assert_eq!(warned(type_name, json!({"content": {"a": 1}})), ["/root/content"]);
            assert_eq!(warned(type_name, json!({"content": {"js": "1"}, "contentType": ""})), ["/root/content"]);
            for sent in
                [json!({"content": "a", "contentType": {"js": "'text/plain'"}}), json!({"content": null}), json!({})]
            {
                assert_eq!(warned(type_name, sent), [""; 0]);
            }
        }
    }

    #[test]
    fn a_fault_for_other_codes_needs_a_code_for_success() {
        let with = |code: u16, unmatched: &str| {
            let other = json!({"type": "WriteLine", "text": "other"});
            let unmatched = json!({"type": unmatched, "message": "no"});
            json!({"expectedStatusCodes": [{"statusCode": code, "activity": other}], "unmatchedStatusCode": unmatched})
        };
        assert_eq!(warned("SendHttpRequest", with(402, "Fault")), ["/root/unmatchedStatusCode"]);
        for right in [with(200, "Fault"), with(304, "Fault"), with(402, "Log")] {
            assert_eq!(warned("SendHttpRequest", right), [""; 0]);
        }
    }
}
