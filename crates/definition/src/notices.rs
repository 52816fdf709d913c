//! Notices of tasks: `notify`, `reminders`, and what happens at the deadline. What would silently do nothing is a problem.

use super::json::{Activities, Path};
use super::outline::Outline;
use super::problem::Problems;
use serde_json::Value;
use workflow_core::activities::reminders::{self, Reminder};
use workflow_core::notification::Notify;
use workflow_core::program::{Node, Options, Program};
use workflow_expression::{Expression, ExpressionKind};
use workflow_value::calendar::Interval;

/// The input that says how people are notified of a task, and the option with its default.
pub(super) const NOTIFY: &str = "notify";

/// The inputs that an act at the deadline requires, by the word in `onDeadline`.
const REQUIRED: [(&str, &str); 3] = [("escalate", "escalateTo"), ("raise", "raiseTo"), ("event", "deadlineEvent")];

/// Sets how an activity notifies people of its tasks: as its input says, or else the options.
pub(super) fn set(node: &mut Node, options: &Options) {
    let position = node.activity.descriptor().inputs.iter().position(|input| input.name == NOTIFY);
    let Some(position) = position else { return };
    let own = node.inputs.get(position).and_then(Option::as_ref);
    node.notify = match Notify::is_off(own) {
        true => None,
        false => Notify::of_input(own).map(Box::new).or_else(|| options.notify.clone()),
    };
}

/// Whether an activity may notify people of its tasks.
pub(super) fn notifies(node: &Node) -> bool {
    node.notify.is_some() || input(node, "deadlineEvent").is_some()
}

/// Reports what new content wants and does not get.
pub(super) fn check(program: &Program, outline: &Outline<'_>, problems: &mut Problems) {
    if !problems.is_new() {
        return;
    }
    let written = outline.activities.len();
    let option = Path::Below(&Path::Root, "/options/notify");
    let by_option = program.options.notify.as_ref().is_some_and(|notify| starts_itself(program, notify));
    if by_option && program.nodes.iter().any(|node| node.inlined.is_none() && inherits(node)) {
        problems.invalid(&option, STARTS_ITSELF);
    }
    for (ix, node) in program.nodes.iter().enumerate() {
        let pointer = outline.pointer(using(program, ix, written));
        let place = Path::Below(&Path::Root, &pointer);
        let is_reported = ix < written && inherits(node);
        if !is_reported && node.notify.as_ref().is_some_and(|notify| starts_itself(program, notify)) {
            let key = place.key(NOTIFY);
            problems.invalid(if ix < written { &key } else { &place }, STARTS_ITSELF);
        }
        if ix >= written {
            // The rest was checked when the inlined workflow was stored.
            continue;
        }
        check_reminders(node, &place, problems);
        check_deadline(node, &place, problems);
    }
}

const STARTS_ITSELF: &str = "a workflow cannot start itself for each of its tasks";

/// Whether an activity notifies people as the options say.
fn inherits(node: &Node) -> bool {
    node.notify.is_some() && Notify::of_input(input(node, NOTIFY)).is_none()
}

/// Reports an act at a deadline that there is not, or that lacks what it requires, and what no act uses.
fn check_deadline(node: &Node, place: &Path<'_>, problems: &mut Problems) {
    let acts = input(node, "onDeadline").map(|input| &input.kind);
    let word = match acts {
        Some(ExpressionKind::Literal(word)) => word.as_str().unwrap_or_default().trim(),
        _ => "",
    };
    let is_computed = matches!(acts, Some(kind) if !matches!(kind, ExpressionKind::Literal(_)));
    // Designers write the default.
    let default = if is_approval(node) { "expire" } else { "nothing" };
    let does_something = is_computed || !word.is_empty() && !word.eq_ignore_ascii_case(default);
    if does_something && !is_given(node, "deadline") {
        problems.invalid(&place.key("onDeadline"), "\"onDeadline\" requires \"deadline\"");
    }
    for (act, name) in REQUIRED {
        let is_act = act.eq_ignore_ascii_case(word);
        if is_act && !is_given(node, name) {
            problems.invalid(&place.key("onDeadline"), format!("\"onDeadline\": \"{act}\" requires \"{name}\""));
        } else if !is_act && !is_computed && is_given(node, name) {
            problems.invalid(&place.key(name), format!("\"{name}\" requires \"onDeadline\": \"{act}\""));
        }
    }
}

/// The activity of the document to which a node belongs: of an inlined workflow, the one that uses it. The document has
/// the first `written` nodes.
fn using(program: &Program, mut ix: usize, written: usize) -> usize {
    while ix >= written {
        let inlined = program.nodes.get(ix).and_then(|node| program.inlined.get(node.inlined? as usize));
        let Some(inlined) = inlined else { return 0 };
        ix = inlined.node.0 as usize;
    }
    ix
}

/// Whether notices start further instances of the same workflow, by its id or by one of its triggers. Each of those would
/// open a task and start the next one.
fn starts_itself(program: &Program, notify: &Notify) -> bool {
    let is_trigger = |event: &str| {
        let mut triggers = program.nodes.iter().filter(|node| node.can_start_workflow);
        triggers.any(|node| constant(node, "eventName").and_then(Value::as_str) == Some(event))
    };
    notify.workflow.as_ref() == Some(&program.definition_id) || notify.event.as_deref().is_some_and(is_trigger)
}

fn check_reminders(node: &Node, place: &Path<'_>, problems: &mut Problems) {
    let list = constant(node, "reminders").and_then(|value| reminders::read(value).ok()).unwrap_or_default();
    if list.is_empty() {
        return;
    }
    let place = place.key("reminders");
    if node.notify.is_none() {
        return problems.invalid(&place, "\"reminders\" requires \"notify\", which says what they send");
    }
    let is_relative = |reminder: &Reminder| !matches!(reminder, Reminder::Opened(_));
    if list.iter().any(is_relative) && !is_given(node, "deadline") {
        return problems.invalid(&place, "reminders before and after the deadline require \"deadline\"");
    }
    let deadline = constant(node, "deadline").and_then(reminders::span_of).and_then(|span| span.elapsed());
    let ends = ends_at_deadline(node);
    // Of a day with another number of hours nothing is known: what is as long as the deadline may come.
    let is_longer = |span: &Interval| deadline.zip(span.elapsed()).is_some_and(|(deadline, span)| span > deadline);
    if list.iter().any(|reminder| matches!(reminder, Reminder::Before(span) if is_longer(span))) {
        return problems.invalid(&place, "no reminder can come before the opening: \"deadline\" is a shorter time");
    }
    let is_late = |reminder: &Reminder| match reminder {
        Reminder::Opened(span) => is_longer(span),
        Reminder::Before(_) => false,
        Reminder::After(_) => true,
    };
    if ends && list.iter().any(is_late) {
        problems.invalid(&place, "no reminder can come after the deadline, because \"onDeadline\" ends the task");
    }
}

/// Whether nothing of the activity is open after its last deadline. A task that goes to others at an instant has no
/// deadline any more.
fn ends_at_deadline(node: &Node) -> bool {
    let is_approval = is_approval(node);
    match input(node, "onDeadline").map(|input| &input.kind) {
        None => is_approval,
        Some(ExpressionKind::Literal(Value::Null)) => is_approval,
        Some(ExpressionKind::Literal(value)) => {
            let word = value.as_str().unwrap_or_default().to_ascii_lowercase();
            let ends_for_good = || constant(node, "deadline").is_some_and(reminders::is_instant);
            match word.trim() {
                "expire" => true,
                "approve" | "reject" => is_approval,
                "escalate" => is_approval || ends_for_good(),
                _ => false,
            }
        }
        Some(_) => false,
    }
}

fn is_approval(node: &Node) -> bool {
    input(node, "by").is_some()
}

/// Whether an input has a value, or an expression. Designers write blank texts.
fn is_given(node: &Node, name: &str) -> bool {
    let is_blank = |value: &Value| value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty());
    input(node, name).is_some_and(|input| !matches!(&input.kind, ExpressionKind::Literal(value) if is_blank(value)))
}

fn input<'n>(node: &'n Node, name: &str) -> Option<&'n Expression> {
    let position = node.activity.descriptor().inputs.iter().position(|input| input.name == name)?;
    node.inputs.get(position)?.as_ref()
}

fn constant<'n>(node: &'n Node, name: &str) -> Option<&'n Value> {
    match &input(node, name)?.kind {
        ExpressionKind::Literal(value) => Some(value),
        _ => None,
    }
}
