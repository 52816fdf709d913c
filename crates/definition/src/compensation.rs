//! Restrictions on compensation in new content, checked after all activities were read.

use super::json::{Activities, Path};
use super::outline::Outline;
use super::problem::{Problem, ProblemKind, Problems};
use workflow_core::activity::{CompensationRole, Descriptor};
use workflow_core::program::{IncidentStrategy, Node, Options};
use workflow_expression::ExpressionKind;
use workflow_value::spelling::nearest;

/// The input in which an activity that runs handlers names a Compensable.
const TARGET: &str = "target";

/// Reports activities in places where they cannot run, and targets that do not exist.
pub(super) fn check(nodes: &[Node], options: &Options, outline: &Outline<'_>, problems: &mut Problems) {
    if !problems.is_new() {
        return;
    }
    if options.compensate_on.fault && options.incidents == IncidentStrategy::ContinueWithIncidents {
        let message = "\"compensateOn\" cannot have \"fault\" where the other branches go on after a fault";
        problems.invalid(&Path::Root.key("options").key("compensateOn"), message);
    }
    let is_compensable = |node: &Node| node.activity.descriptor().compensation == CompensationRole::Compensable;
    // Whether each node is part of a handler. A parent precedes its children.
    let mut handled: Vec<bool> = Vec::with_capacity(nodes.len());
    for (ix, node) in nodes.iter().enumerate() {
        let is_in_handler = node.parent.is_some_and(|parent| {
            let above = &nodes[parent.0 as usize];
            let is_body = above.ports.first().copied().flatten().is_some_and(|body| body.0 as usize == ix);
            let has_handlers = above.activity.descriptor().compensation.has_handlers();
            handled[parent.0 as usize] || has_handlers && !is_body
        });
        handled.push(is_in_handler);
        if is_in_handler && is_compensable(node) {
            let message = "a Compensable cannot stand inside a handler".to_owned();
            problems.push(Problem { path: outline.pointer(ix), message, kind: ProblemKind::Invalid, near: None });
        }
        if let Some(target) = target(node) {
            let mut ids = nodes.iter().filter(|node| is_compensable(node)).flat_map(names);
            if !ids.any(|id| id == target) {
                let near =
                    nearest(target, nodes.iter().filter(|node| is_compensable(node)).map(|node| node.id.as_str()));
                let pointer = outline.pointer(ix);
                let place = Path::Root;
                let place = Path::Below(&place, &pointer);
                problems.unknown(&place.key(TARGET), format!("there is no Compensable \"{target}\""), near);
            }
        }
    }
}

/// Id and name of an activity, by either of which it can be named.
fn names(node: &Node) -> impl Iterator<Item = &str> {
    std::iter::once(node.id.as_str()).chain(node.name.as_deref())
}

/// The Compensable that an activity names, if that is a constant.
fn target(node: &Node) -> Option<&str> {
    let Descriptor { compensation: CompensationRole::Unwinds, inputs, .. } = node.activity.descriptor() else {
        return None;
    };
    let target = inputs.iter().position(|input| input.name == TARGET)?;
    match &node.inputs.get(target)?.as_ref()?.kind {
        ExpressionKind::Literal(value) => value.as_str().filter(|target| !target.is_empty()),
        _ => None,
    }
}
