//! Compiles an activity of the outline into a node of the program.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::common::{COMMON, MAX_NODE_ID_BYTES};
use super::custom::{MemberRole, is_custom_member, is_only_property};
use super::expression::{ExpressionReader, short_binding, statement_text};
use super::forms::wrapper;
use super::json::{Path, entry, kind_of};
use super::outline::{ActivityKind, Outline, RawActivity};
use super::problem::{ProblemKind, Problems};
use super::property::{Property, is_input, property};
use super::retry::{self, RETRY, START_TIMEOUT, TIMEOUT};
use super::scope::{Scopes, VisibleNames};
use super::{CustomType, connections, journaling, link, notices, parts, states, workflow};
use workflow_core::NodeIx;
use workflow_core::activities::catalogue;
use workflow_core::activity::{Activity, Descriptor, InputDescriptor, Special};
use workflow_core::program::{Binding, FlowMode, Node, Options, Program, Retry};
use workflow_core::resilience::Strategies;
use workflow_expression::{Expression, ExpressionKind};
use workflow_value::value::indexed::{MAX_INDEXED, check_indexed};
use workflow_value::value::{Bounds, parse_type_name};

mod strategy;
mod strict;

/// Prefix of every path of ids: Elsa's id of the workflow, whatever its name is.
pub(super) const WORKFLOW: &str = "Workflow1";

/// Maximum length in bytes of the path of ids of a trigger, which an index contains together with the id of the
/// definition.
const MAX_TRIGGER_PATH: usize = 1_500;

/// Reads all activities. Flowcharts without a mode get that of the options.
pub(super) fn read_all(
    outline: &Outline<'_>,
    scopes: &Scopes,
    options: &Options,
    problems: &mut Problems,
) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    let mut path_bytes = 0;
    for (ix, raw) in outline.activities.iter().enumerate() {
        if !Bounds::may_push(&nodes) {
            problems.add(ProblemKind::TooLarge, &Path::Root, "the definition needs too much memory");
            return Vec::new();
        }
        let above = raw.parent.and_then(|parent| nodes.get(parent)).map_or(WORKFLOW, |parent| &parent.node_id);
        path_bytes += above.len() + raw.id.len() + 1;
        if path_bytes > MAX_NODE_ID_BYTES {
            let message = "the activity ids of the definition are too long for its depth of nesting";
            problems.add(ProblemKind::TooLarge, &Path::Activity(outline, ix), message);
            return Vec::new();
        }
        if problems.is_new()
            && let Err(fault) = check_indexed("activity id", &raw.id, MAX_INDEXED)
        {
            problems.add(ProblemKind::TooLarge, &Path::Activity(outline, ix), fault.message);
        }
        let node_id = format!("{above}:{}", raw.id);
        let mut node = plain(raw, node_id);
        node.variables = scopes.declared(ix).to_vec();
        node.events = options.activity_events;
        let names = scopes.names(outline, ix);
        let strict = problems.is_new() && raw.is_short(outline);
        let mut reading = Reading {
            outline,
            ix,
            mode: options.flowcharts,
            strategies: &options.strategies,
            outside: scopes.outside(outline, ix),
            reader: ExpressionReader { names, strict, problems, uses_sql: false },
        };
        match &raw.kind {
            ActivityKind::Known(activity) => reading.known(raw, *activity, &mut node),
            ActivityKind::Custom(custom) => reading.custom(raw, custom, &mut node),
            ActivityKind::Workflow(program) => reading.workflow(raw, program, &mut node),
            ActivityKind::Unknown => reading.common(raw, false, &mut node),
        }
        node.uses_sql |= reading.reader.uses_sql;
        let usual = node.activity.usual_retry(&node.inputs).map(|policy| Retry::Strategy(Arc::new(policy)));
        let of_all = options.retry.clone().filter(|_| !raw.kind.holds_activities()).map(Retry::Policy);
        node.retry = Retry::or(node.retry.take(), usual.or(of_all));
        notices::set(&mut node, options);
        if problems.is_new()
            && node.can_start_workflow
            && let Err(fault) = check_indexed("path of activity ids", &node.node_id, MAX_TRIGGER_PATH)
        {
            problems.add(ProblemKind::TooLarge, &Path::Activity(outline, ix), fault.message);
        }
        nodes.push(node);
    }
    connections::introduce_members(&mut nodes);
    nodes
}

/// A node with the properties known from the outline.
fn plain(raw: &RawActivity<'_>, node_id: String) -> Node {
    let (activity, terminal, uses_sql): (&'static dyn Activity, bool, bool) = match &raw.kind {
        ActivityKind::Known(activity) => {
            let descriptor = activity.descriptor();
            (*activity, descriptor.terminal, descriptor.uses_sql)
        }
        ActivityKind::Custom(_) => (catalogue::CUSTOM, false, true),
        ActivityKind::Workflow(_) => (catalogue::WORKFLOW, false, false),
        // The type may be registered later, and then runs its owner's SQL.
        ActivityKind::Unknown => (catalogue::NOT_FOUND, false, true),
    };
    Node {
        id: raw.id.clone(),
        shares_id: false,
        node_id,
        name: None,
        type_name: raw.type_name.into(),
        parent: raw.parent.map(NodeIx::at),
        depth: u32::try_from(raw.depth).unwrap_or(u32::MAX),
        activity,
        is_known: !matches!(raw.kind, ActivityKind::Unknown),
        can_start_workflow: false,
        runs_in_background: false,
        retry: None,
        timeout: None,
        start_timeout: None,
        notify: None,
        events: None,
        terminal,
        variables: Vec::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        custom_inputs: Vec::new(),
        custom_outputs: Vec::new(),
        ports: raw.ports.iter().map(|port| port.map(NodeIx::at)).collect(),
        children: raw.children.iter().copied().map(NodeIx::at).collect(),
        parts: Vec::new(),
        machine: None,
        flow: None,
        variable: None,
        composite: None,
        inlined: None,
        uses_sql,
    }
}

/// The activity being read.
struct Reading<'a> {
    outline: &'a Outline<'a>,
    ix: usize,
    mode: FlowMode,
    strategies: &'a Arc<Strategies>,
    /// The names that the activity sees from outside its own scope, without the variables that it declares.
    outside: VisibleNames<'a>,
    reader: ExpressionReader<'a>,
}

impl<'a> Reading<'a> {
    fn place(&self) -> Path<'a> {
        Path::Activity(self.outline, self.ix)
    }

    fn known(&mut self, raw: &RawActivity<'_>, activity: &'static dyn Activity, node: &mut Node) {
        let descriptor = activity.descriptor();
        node.inputs = vec![None; descriptor.inputs.len()];
        node.outputs = vec![None; descriptor.outputs.len()];
        self.common(raw, descriptor.trigger, node);
        if let Some(members) = raw.members() {
            for (slot, input) in node.inputs.iter_mut().zip(descriptor.inputs) {
                *slot = self.input(members, input, descriptor);
            }
            if descriptor.special == Special::Result {
                node.variable = self.assigned(members, Special::RESULT_VARIABLE, descriptor, true);
                node.composite = Some(Box::default());
                self.reader.names = self.outside;
            }
            for (slot, output) in node.outputs.iter_mut().zip(descriptor.outputs) {
                *slot = self.output(members, output.name);
            }
            if descriptor.special == Special::Variable {
                node.variable = self.assigned(members, Special::VARIABLE, descriptor, raw.is_elsa());
            }
            if self.reader.strict {
                self.check_spelling(members, descriptor);
            }
        }
        let place = self.place();
        for (list, found) in descriptor.parts.iter().zip(&raw.parts) {
            node.parts.push(parts::read(list, found, !raw.is_elsa(), &place, &mut self.reader));
        }
        if descriptor.special == Special::Connections {
            node.flow = Some(Box::new(connections::read(self.outline, self.ix, self.mode, self.reader.problems)));
        }
        if descriptor.special == Special::States {
            node.machine = Some(Box::new(states::read(self.outline, self.ix, &node.parts, self.reader.problems)));
        }
    }

    /// Reads the members that all activities have.
    fn common(&mut self, raw: &RawActivity<'_>, trigger: bool, node: &mut Node) {
        let Some(members) = raw.members() else {
            return;
        };
        let place = self.place();
        match entry(members, "name") {
            None | Some((_, Value::Null)) => {}
            Some((_, Value::String(name))) => node.name = (!name.is_empty()).then(|| name.clone()),
            Some((key, value)) => self.wrong(&place.key(key), key, "a string", value),
        }
        for name in ["customProperties", "metadata"] {
            if let Some((key, value)) = entry(members, name).filter(|(_, value)| !value.is_null() && !value.is_object())
            {
                self.wrong(&place.key(key), key, "an object", value);
            }
        }
        // Triggers ignore the flag, as in Elsa: a stimulus must not be missed until a background worker executes the
        // activity.
        node.runs_in_background = self.flag(members, "runAsynchronously") && !trigger;
        node.retry = self.property(raw, members, RETRY, retry::read).map(Retry::Policy);
        if node.retry.is_none() {
            node.retry = self.strategy(members, node);
        }
        node.timeout = self.property(raw, members, TIMEOUT, retry::read_timeout);
        node.events = journaling::of_activity(members, &place, self.reader.problems).or(node.events);
        if raw.descriptor().is_some_and(|own| own.may_limit_start()) {
            node.start_timeout = self.property(raw, members, START_TIMEOUT, retry::read_start_timeout);
        }
        let starts = self.flag(members, "canStartWorkflow");
        node.can_start_workflow = starts && trigger;
        if starts && !trigger && !raw.is_elsa() && !matches!(raw.kind, ActivityKind::Unknown) {
            let message = format!("activity type \"{}\" cannot start a workflow", raw.type_name);
            self.reader.problems.invalid(&place.key("canStartWorkflow"), message);
        }
    }

    fn wrong(&mut self, place: &Path<'_>, key: &str, wanted: &str, value: &Value) {
        self.reader.problems.invalid(place, format!("\"{key}\" must be {wanted}, not {}", kind_of(value)));
    }

    /// A flag among the properties.
    fn flag(&mut self, members: &Map<String, Value>, name: &str) -> bool {
        let place = self.place();
        match property(members, name) {
            None => false,
            Some(Property { value: Value::Bool(flag), .. }) => *flag,
            Some(Property { home, key, value }) => {
                match home {
                    Some(home) => self.wrong(&place.key(home).key(key), key, "a boolean", value),
                    None => self.wrong(&place.key(key), key, "a boolean", value),
                }
                false
            }
        }
    }

    /// Reads a property that is no input, unless the activity has an input of that name.
    fn property<T>(
        &mut self,
        raw: &RawActivity<'_>,
        members: &Map<String, Value>,
        name: &str,
        read: fn(&Value, &Path<'_>, &mut Problems) -> Option<T>,
    ) -> Option<T> {
        let place = self.place();
        let Property { home, key, value } = property(members, name)?;
        match home {
            Some(home) => read(value, &place.key(home).key(key), self.reader.problems),
            // A port with that name.
            None if (value.is_object() || value.is_array())
                && raw.descriptor().is_some_and(|own| own.ports.contains(&name)) =>
            {
                None
            }
            None if raw.kind.has_input(name) => {
                self.reader.problems.warn(&place.key(key), is_input(name, raw.type_name));
                None
            }
            None => read(value, &place.key(key), self.reader.problems),
        }
    }

    fn input(
        &mut self,
        members: &Map<String, Value>,
        input: &InputDescriptor,
        descriptor: &Descriptor,
    ) -> Option<Expression> {
        let place = self.place();
        let before = self.reader.problems.count();
        let type_name = parse_type_name(input.type_name);
        let read = entry(members, input.name).and_then(|(key, value)| {
            let place = place.key(key);
            if let Some(language) = input.code {
                return self.reader.code_input(value, language, &place);
            }
            if let Some(statement) = input.statement.then(|| statement_text(value)).flatten() {
                return self.reader.source(statement, type_name, &place);
            }
            // Each parameter of a statement may be an expression.
            if descriptor.uses_sql && input.name == "parameters" {
                self.reader.template_input(value, type_name, &place)
            } else if input.script {
                self.reader.script(value, &place)
            } else if input.statement {
                self.reader.source(value, type_name, &place)
            } else if descriptor.uses_sql && input.name == "statement" {
                self.reader.numbered_statement(value, type_name, &place)
            } else {
                self.reader.input(value, type_name, &place)
            }
        });
        if let Some(check) = input.check
            && self.reader.problems.is_new()
            && let Some((key, _)) = entry(members, input.name)
            && let Some(Expression { kind: ExpressionKind::Literal(value), .. }) = &read
            && let Err(fault) = check(value)
        {
            self.reader.problems.invalid(&place.key(key), fault.message);
        }
        if input.constant
            && self.reader.problems.is_new()
            && let Some((key, _)) = entry(members, input.name)
            && read.as_ref().is_some_and(|read| !matches!(read.kind, ExpressionKind::Literal(_)))
        {
            let message = format!("input \"{}\" must be a constant", input.name);
            self.reader.problems.invalid(&place.key(key), message);
        }
        if descriptor.opens_tasks()
            && matches!(input.name, "assignee" | "candidates" | "by" | "escalateTo")
            && let Some((key, _)) = entry(members, input.name)
            && let Some(Expression { kind: ExpressionKind::Literal(value), .. }) = &read
        {
            let people = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            let people = if input.name == "escalateTo" && value == "manager" { &[] } else { people };
            for person in people.iter().filter_map(person) {
                self.reader.problems.note_person(person, &place.key(key));
            }
        }
        if self.reader.problems.count() == before {
            self.check_needed(members, input, descriptor, read.as_ref());
        }
        if let Some(Expression { kind: ExpressionKind::Literal(Value::String(text)), .. }) = &read
            && (input.statement || descriptor.uses_sql && input.name == "statement")
            && let Some((key, _)) = entry(members, input.name)
        {
            self.reader.statement(text, &place.key(key));
        }
        read
    }

    fn output(&mut self, members: &Map<String, Value>, name: &str) -> Option<Binding> {
        let place = self.place();
        let (key, value) = entry(members, name)?;
        self.reader.binding(value, &place.key(key))
    }

    /// The variable that an activity names in a special member: for `SetVariable` the assigned variable, for
    /// `Composite` its result. (Elsa accepts a `SetVariable` without a variable and faults later.)
    fn assigned(
        &mut self,
        members: &Map<String, Value>,
        name: &str,
        descriptor: &Descriptor,
        optional: bool,
    ) -> Option<String> {
        let place = self.place();
        let Some((key, value)) = entry(members, name).filter(|(_, value)| !value.is_null()) else {
            if !optional {
                let message = format!("missing \"{name}\" of activity type \"{}\"", descriptor.type_name);
                self.reader.problems.invalid(&place.key(name), message);
            }
            return None;
        };
        let place = place.key(key);
        match (value, short_binding(value)) {
            (Value::String(name), _) => match self.reader.names.by_reference(None, Some(name)) {
                Some(name) => Some(name.into()),
                None => self.reader.reference(value, &place),
            },
            (_, Some(("var", name))) => self.reader.variable(name, &place),
            _ => self.reader.reference(value, &place),
        }
    }

    fn workflow(&mut self, raw: &RawActivity<'_>, program: &Program, node: &mut Node) {
        self.common(raw, false, node);
        link::declare(program, node);
        let Some(members) = raw.members() else {
            return;
        };
        for passed in workflow::passed(members, program) {
            let above = self.place();
            let place = above.key(passed.key);
            if let Some(output) = passed.output
                && let Some(binding) = self.reader.binding(passed.value, &place)
            {
                node.custom_outputs.push((output.name.clone(), binding));
            }
            if let Some(input) = passed.input
                && let Some(expression) = self.reader.input(passed.value, input.type_name, &place)
            {
                node.custom_inputs.push((input.name.clone(), expression));
            }
            let unknown = passed.input.is_none() && passed.output.is_none() && !raw.is_elsa();
            if unknown && !COMMON.contains(&passed.key) {
                self.reader.problems.invalid(&place, workflow::undeclared(passed.key, program));
            }
        }
    }

    fn custom(&mut self, raw: &RawActivity<'_>, custom: &CustomType, node: &mut Node) {
        self.common(raw, custom.trigger, node);
        let Some(members) = raw.members() else {
            return;
        };
        let type_name = parse_type_name("Object");
        // Content stored earlier may have an input with that name that is not this property.
        let is_read = |key: &str| match key.eq_ignore_ascii_case(RETRY) {
            true => node.retry.is_some(),
            false => node.timeout.is_some(),
        };
        let is_input = |key: &str| is_custom_member(key) && !(is_only_property(key, custom) && is_read(key));
        for (key, value) in members.iter().filter(|(key, _)| is_input(key)) {
            let above = self.place();
            let place = above.key(key);
            let role = MemberRole::of(key, value, custom);
            let before = self.reader.problems.count();
            if role.is_output()
                && let Some(binding) = self.reader.binding(value, &place)
            {
                node.custom_outputs.push((key.clone(), binding));
            }
            if role.is_input() && self.reader.problems.count() == before {
                let type_name = wrapper(value).and_then(|wrapper| wrapper.type_name).map_or(type_name, parse_type_name);
                if let Some(expression) = self.reader.input(value, type_name, &place) {
                    node.custom_inputs.push((key.clone(), expression));
                }
            }
        }
    }
}

/// The text in an entry of a list of people, which may stand for a vote of each member of a role.
fn person(entry: &Value) -> Option<&str> {
    entry.as_str().or_else(|| entry.get("each")?.as_str())
}
