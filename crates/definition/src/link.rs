//! Inlined workflows: how an activity refers to a workflow, and how the reader inserts the workflow into the program.
//!
//! The extension decides to which version a reference resolves. It stores that decision, because an instance identifies
//! nodes by their index and must always find the same nodes.

use std::sync::Arc;

use serde_json::Value;

use super::common::MAX_NODE_ID_BYTES;
use super::json::{Activities, Path};
use super::outline::{ActivityKind, Outline, RawActivity};
use super::problem::{ProblemKind, Problems};
use super::types::{ActivityTypes, ReadLimits, WorkflowReference};
use workflow_core::NodeIx;
use workflow_core::program::{Composite, Node, Program, Variable};

/// Maximum nesting of workflows that use each other.
const MAX_LEVELS: usize = 50;

/// The activities of a document that may be workflows, with the JSON pointers to them: activities that name a workflow,
/// and activities whose type is neither built in nor registered.
pub fn references(document: &Value, types: &dyn ActivityTypes) -> Vec<(String, WorkflowReference)> {
    let Value::Object(members) = document else { return Vec::new() };
    let limits = ReadLimits { max_nesting: usize::MAX, ..ReadLimits::default() };
    let outline = Outline::read(members, types, &limits, true, &mut Problems::default());
    let found = outline.activities.iter().enumerate();
    found
        .filter_map(|(ix, raw)| Some((outline.pointer(ix), WorkflowReference::clone(raw.reference.as_ref()?))))
        .collect()
}

/// The activity type of a workflow with this name: its letters and digits, each word capitalised.
pub fn type_of(name: &str) -> String {
    let mut type_name = String::with_capacity(name.len());
    for word in name.split(|letter: char| !letter.is_alphanumeric()) {
        let mut letters = word.chars();
        type_name.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        type_name.push_str(letters.as_str());
    }
    type_name
}

/// Makes a node a composite with the variables, inputs and outputs of its workflow.
pub(super) fn declare(program: &Program, node: &mut Node) {
    let inputs = program.inputs.iter().map(|input| Variable {
        id: input.name.clone(),
        name: input.name.clone(),
        type_name: input.type_name,
        initial: input.default.clone().unwrap_or_default(),
    });
    node.variables = program.variables.iter().cloned().chain(inputs).collect();
    node.composite = Some(Box::new(Composite {
        definition: Some(program.definition_id.clone()),
        inputs: program.inputs.clone(),
        first_input: program.variables.len(),
        outputs: program.outputs.clone(),
    }));
}

/// Inlines the workflows into a program, unless it becomes too deep, too large, or circular.
pub(super) fn insert(program: &mut Program, outline: &Outline<'_>, limits: &ReadLimits, problems: &mut Problems) {
    let mut path_bytes: usize = program.nodes.iter().map(|node| node.node_id.len()).sum();
    for (ix, raw) in outline.activities.iter().enumerate() {
        let ActivityKind::Workflow(child) = &raw.kind else { continue };
        let place = Path::Activity(outline, ix);
        if let Some(circle) = circle(&program.definition_id, child) {
            problems.invalid(&place, format!("a workflow cannot contain itself: {circle}"));
            continue;
        }
        if let Some(message) = too_deep(child, raw.depth, limits) {
            problems.add(ProblemKind::TooDeep, &place, message);
            continue;
        }
        let above = program.nodes.get(ix).map_or(0, |node| node.node_id.len() + 1);
        path_bytes += child.nodes.iter().map(|node| node.node_id.len() + above).sum::<usize>();
        let size = program.size.saturating_add(child.size);
        if size > limits.max_size || path_bytes > MAX_NODE_ID_BYTES {
            let message = "with all the workflows that it uses, the definition is too large";
            return problems.add(ProblemKind::TooLarge, &place, message);
        }
        program.inline(NodeIx::at(ix), Arc::clone(child));
    }
}

fn too_deep(child: &Program, depth: usize, limits: &ReadLimits) -> Option<String> {
    // Each level is compiled and kept together with all inner levels, so many levels would mean many copies.
    let levels = child.inlined.iter().map(|inlined| child.around(inlined.node).count() + 1).max().unwrap_or(1);
    if levels > MAX_LEVELS {
        return Some(format!("workflows are used inside each other more than {MAX_LEVELS} levels deep"));
    }
    let below = child.nodes.iter().map(|node| node.depth as usize + 1).max().unwrap_or(0);
    (depth + 1 + below > limits.max_nesting)
        .then(|| format!("with the workflow inside, activities are nested deeper than {} levels", limits.max_nesting))
}

/// The cycle in which a workflow contains a definition, if there is one: the ids from that definition to itself.
fn circle(definition_id: &str, child: &Program) -> Option<String> {
    let mut inner_to_outer = match child.definition_id == definition_id {
        true => vec![definition_id],
        false => {
            let inlined = child.inlined.iter().find(|inlined| inlined.program.definition_id == definition_id)?;
            let around = child.around(inlined.node).map(|(program, _)| program.definition_id.as_str());
            std::iter::once(definition_id).chain(around).collect()
        }
    };
    inner_to_outer.push(definition_id);
    inner_to_outer.reverse();
    Some(inner_to_outer.iter().map(|id| format!("\"{id}\"")).collect::<Vec<_>>().join(" contains "))
}

/// Approximate size of a document in bytes of its text; never 0.
pub(super) fn size_of(document: &Value) -> usize {
    let (mut size, mut work) = (0usize, vec![document]);
    while let Some(value) = work.pop() {
        size += match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => 4,
            Value::String(text) => text.len() + 2,
            Value::Array(list) => {
                work.extend(list);
                list.len() + 2
            }
            Value::Object(object) => {
                work.extend(object.values());
                object.keys().map(|key| key.len() + 4).sum::<usize>() + 2
            }
        };
    }
    size
}

impl RawActivity<'_> {
    /// The workflow that the activity uses.
    pub fn workflow(&self) -> Option<&Arc<Program>> {
        match &self.kind {
            ActivityKind::Workflow(program) => Some(program),
            ActivityKind::Known(_) | ActivityKind::Custom(_) | ActivityKind::Unknown => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{size_of, type_of};

    #[test]
    fn the_type_of_a_name_is_its_letters_and_digits_with_capital_words() {
        for (name, expected) in [
            ("Add numbers", "AddNumbers"),
            ("add-numbers_2 (new)", "AddNumbers2New"),
            ("AddNumbers", "AddNumbers"),
            ("größe  über", "GrößeÜber"),
            (" - ", ""),
        ] {
            assert_eq!(type_of(name), expected);
        }
    }

    #[test]
    fn a_document_is_as_large_as_its_text_or_so() {
        for document in [json!({}), json!({"a": [1, true, null, "text"], "b": {"c": "d"}}), json!("x".repeat(1000))] {
            let text = document.to_string().len();
            assert!(size_of(&document).abs_diff(text) <= text / 2 + 8, "{document}");
        }
    }
}
