//! What a program can compensate, and the values that handlers need.
//!
//! A handler runs later than the body, so a record keeps the values that the handler reads. They are determined from
//! the texts of its expressions; a superfluous name does no harm.

use std::collections::{BTreeSet, HashMap};

use crate::activity::CompensationRole;
use crate::instance::compensation::RecordAction;
use crate::node_ix::NodeIx;
use crate::program::{Binding, Node, Program, Retry};
use workflow_expression::{Expression, ExpressionKind, ObjectTemplate, javascript};

/// The port of a body. The ports after it are those of handlers.
const BODY: usize = 0;

/// What a program can compensate.
#[derive(Debug, Default)]
pub struct Compensation {
    /// Whether it may leave records, or may have to run handlers.
    pub is_used: bool,
    /// Whether a handler runs when a record is confirmed.
    pub has_confirmation: bool,
    /// The values that the handlers of each activity read.
    reads: HashMap<NodeIx, Reads>,
}

/// The values that handlers read and set.
#[derive(Debug, Default)]
struct Reads {
    /// Sources of scripts and templates, names of variables.
    texts: Vec<String>,
    /// Variables that they set.
    sets: BTreeSet<String>,
    /// Whether a variable of any name may be read.
    all: bool,
    /// Whether outputs of activities may be read.
    outputs: bool,
}

impl Program {
    /// What the program can compensate.
    pub fn compensation(&self) -> &Compensation {
        self.compensation.get_or_init(|| Compensation::of(self))
    }
}

impl Compensation {
    fn of(program: &Program) -> Self {
        let mut found = Self { is_used: program.options.compensate_on.fault, ..Self::default() };
        // The activity whose handler contains each node. A parent precedes its children.
        let mut handled: Vec<Option<NodeIx>> = Vec::with_capacity(program.nodes.len());
        for (ix, node) in (0u32..).zip(&program.nodes) {
            let role = node.activity.descriptor().compensation;
            found.is_used |= role == CompensationRole::Compensable || node.handler(RecordAction::Cancel).is_some();
            found.has_confirmation |= node.handler(RecordAction::Confirm).is_some();
            let handler = node.parent.and_then(|parent| {
                let above = program.node(parent);
                let handlers = above.ports.get(BODY + 1..).unwrap_or_default();
                let is_handler = above.activity.descriptor().compensation.has_handlers();
                (is_handler && handlers.contains(&Some(NodeIx(ix)))).then_some(parent)
            });
            let around = || node.parent.and_then(|parent| handled.get(parent.0 as usize).copied().flatten());
            let of = handler.or_else(around);
            handled.push(of);
            if let Some(of) = of {
                found.reads.entry(of).or_default().add(node);
            }
        }
        found
    }

    /// Whether handlers of an activity read the current value of a variable. They see the value at the time they run of
    /// a workflow variable that they also set.
    pub fn keeps(&self, node: NodeIx, name: &str, is_of_workflow: bool) -> bool {
        self.reads.get(&node).is_some_and(|reads| reads.keeps(name, is_of_workflow))
    }

    /// Whether handlers of an activity read outputs of other activities.
    pub fn reads_outputs(&self, node: NodeIx) -> bool {
        self.reads.get(&node).is_some_and(|reads| reads.outputs)
    }
}

impl Compensation {
    /// Whether handlers of an activity may name another one.
    pub fn names(&self, node: NodeIx, other: &Node) -> bool {
        let named =
            |text: &String| text.contains(&other.id) || other.name.as_deref().is_some_and(|name| text.contains(name));
        self.reads.get(&node).is_some_and(|reads| reads.texts.iter().any(named))
    }
}

impl Node {
    /// The handler of an activity for an action.
    pub fn handler(&self, action: RecordAction) -> Option<NodeIx> {
        let descriptor = self.activity.descriptor();
        let port = match action {
            RecordAction::Compensate => "compensation",
            RecordAction::Confirm => "confirmation",
            RecordAction::Cancel => "cancellation",
        };
        let at = descriptor.port(port).filter(|_| descriptor.compensation.has_handlers())?;
        self.ports.get(at).copied().flatten()
    }
}

impl Reads {
    fn keeps(&self, name: &str, is_of_workflow: bool) -> bool {
        let pascal = javascript::pascal(name);
        if is_of_workflow && (self.sets.contains(name) || self.sets.contains(&pascal)) {
            return false;
        }
        self.all || self.texts.iter().any(|text| text.contains(name) || text.contains(&pascal))
    }

    fn add(&mut self, node: &Node) {
        for expression in node.inputs.iter().flatten() {
            self.expression(expression);
        }
        for (_, expression) in &node.custom_inputs {
            self.expression(expression);
        }
        if let Some(Retry::Computed(computed)) = &node.retry {
            self.expression(&computed.expression);
        }
        for part in node.parts.iter().flatten() {
            part.condition.iter().for_each(|condition| self.expression(condition));
            self.sets.extend(part.variable.clone());
        }
        let bound = node.outputs.iter().flatten().chain(node.custom_outputs.iter().map(|(_, binding)| binding));
        self.sets.extend(bound.filter_map(|binding| match binding {
            Binding::Variable(name) => Some(name.clone()),
            Binding::Output(_) => None,
        }));
        self.sets.extend(node.variable.clone());
    }

    fn expression(&mut self, expression: &Expression) {
        match &expression.kind {
            ExpressionKind::Literal(_) => {}
            ExpressionKind::Object(template) => self.template(template),
            ExpressionKind::Text(parts) => parts.iter().for_each(|part| self.expression(part)),
            ExpressionKind::Variable(name) | ExpressionKind::Input(name) => self.texts.push(name.clone()),
            ExpressionKind::JavaScript(source) => self.script(source),
            ExpressionKind::Liquid(template) => self.source(template.source()),
            // Its parameters are not part of its statement.
            ExpressionKind::SqlTemplate(_) => (self.all, self.outputs) = (true, true),
            ExpressionKind::Sql(source) => self.source(source),
        }
    }

    // The nesting of constants was limited when the definition was read.
    fn template(&mut self, template: &ObjectTemplate) {
        match template {
            ObjectTemplate::Constant(_) => {}
            ObjectTemplate::Array(items) => items.iter().for_each(|item| self.template(item)),
            ObjectTemplate::Object(members) => members.iter().for_each(|(_, member)| self.template(member)),
            ObjectTemplate::Expression(expression) => self.expression(expression),
        }
    }

    fn script(&mut self, source: &str) {
        let mentioned = javascript::mentioned(source);
        self.sets.extend(mentioned.sets);
        // The name of a variable may be computed.
        self.all |= ["getVariable", "variables", "\\u"].iter().any(|word| source.contains(word));
        self.source(source);
    }

    fn source(&mut self, source: &str) {
        self.outputs |= ["Output", "From", "Result"].iter().any(|word| source.contains(word));
        self.all |= source.contains("Variables[");
        self.texts.push(source.to_owned());
    }
}
