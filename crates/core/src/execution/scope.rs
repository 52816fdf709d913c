//! The scope of expressions: the instance as one execution sees it.
//!
//! [`Execution`] itself is the scope and may change the instance. While the host evaluates SQL, it gets a
//! [`ReadScope`], which cannot, because the host is borrowed.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::execution::Execution;
use crate::execution::variables::{ScopeStart, find_variable, read_variable};
use crate::execution::visible_outputs::{visible_output, visible_outputs};
use crate::instance::outputs::Outputs;
use crate::instance::{Context, Instance, Memory};
use crate::node_ix::NodeIx;
use crate::program::{Composite, Program};
use workflow_expression::ScriptLimits;
use workflow_expression::{Rows, Scope, Take};
use workflow_value::fault::Fault;
use workflow_value::value::{Bounds, Json, copy_or_null};

/// The read-only part of a scope.
#[derive(Clone, Copy)]
pub(crate) struct ReadScope<'a> {
    program: &'a Program,
    instance: &'a Instance,
    resume_input: Option<&'a Value>,
    view: ScopeStart,
    now: DateTime<Utc>,
    script: ScriptLimits,
}

impl Execution<'_> {
    fn reading(&self) -> ReadScope<'_> {
        ReadScope {
            program: self.burst.program,
            instance: self.burst.instance,
            resume_input: self.burst.scratch.resume_input.as_ref(),
            view: self.scope_start(),
            now: self.burst.scratch.now,
            script: self.burst.limits.script,
        }
    }

    /// An input, without copying it.
    pub(crate) fn input_in_place(&self, name: &str) -> Option<&Value> {
        self.reading().given_input(name)
    }
}

impl<'a> ReadScope<'a> {
    /// An input of the enclosing inlined workflows, else of the instance.
    fn given_input(&self, name: &str) -> Option<&'a Value> {
        let inside = self.contexts_around().find_map(|context| self.passed(context, name));
        if inside.is_some() {
            return inside;
        }
        let resumed = self.resume_input.and_then(|input| input.get(name));
        resumed
            .or_else(|| self.instance.input.get(name))
            .or_else(|| self.program.inputs.iter().find(|input| input.name == name)?.default.as_ref())
    }

    /// An input of the inlined workflow that an execution represents, or that contains the handler it runs.
    fn passed(&self, context: &'a Context, name: &str) -> Option<&'a Value> {
        let node = self.program.node(context.node);
        let named = |(known, _): &&(String, Json)| known == name;
        let found = if let Memory::Unwinding(_) = context.memory {
            context.variables.iter().find(named).filter(|_| node.inlined.is_some())
        } else {
            let composite = node.composite.as_deref().filter(|composite| composite.definition.is_some())?;
            let (variables, inputs) = context.variables.split_at_checked(composite.first_input)?;
            inputs.iter().take(composite.inputs.len()).find(named).or_else(|| variables.iter().find(named))
        };
        found.map(|(_, value)| &value.0)
    }

    /// The ancestors of this execution in a program with inlined workflows, nearest first.
    fn contexts_around(&self) -> impl Iterator<Item = &'a Context> + use<'a> {
        let contexts = &self.instance.state.contexts;
        // Without inlined workflows there is nothing to search.
        let first = contexts.get(&self.view.sequence).filter(|_| !self.program.inlined.is_empty());
        let above = move |context: &'a Context| contexts.get(&context.parent?);
        std::iter::successors(first.and_then(above), move |context| above(context))
    }

    /// The inlined workflows among the ancestors of this execution, nearest first.
    fn workflows_around(&self) -> impl Iterator<Item = (&'a Context, &'a Composite)> + use<'a> {
        let program = self.program;
        self.contexts_around().filter_map(move |context| {
            let composite = program.node(context.node).composite.as_deref()?;
            composite.definition.is_some().then_some((context, composite))
        })
    }

    /// The activity whose expressions are evaluated; output names are resolved from it.
    fn node(&self) -> NodeIx {
        self.instance.state.contexts.get(&self.view.sequence).map_or(NodeIx(0), |context| context.node)
    }

    fn outputs_of(&self, activity: &str) -> Option<&'a Outputs> {
        let wanted = self.program.find_from(self.node(), activity)?;
        visible_output(self.program, &self.instance.state, self.view.sequence, wanted)
    }
}

impl Scope for ReadScope<'_> {
    fn variable(&self, name: &str) -> Option<Value> {
        let location = find_variable(self.instance, self.view, name)?;
        read_variable(self.instance, location, name).map(copy_or_null)
    }

    fn variable_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut seen = BTreeSet::new();
        let contexts = &self.instance.state.contexts;
        let (mut current, mut hidden) = (contexts.get(&self.view.sequence), self.view.hidden);
        while let Some(context) = current {
            let own = context.variables.iter().skip(hidden).map(|(name, _)| name.as_str());
            names.extend(own.filter(|name| seen.insert(*name)).map(str::to_owned));
            (current, hidden) = (context.parent.and_then(|parent| contexts.get(&parent)), 0);
        }
        let own = self.instance.variables.keys().map(String::as_str);
        names.extend(own.filter(|name| seen.insert(*name)).map(str::to_owned));
        names
    }

    fn set_variable(&mut self, name: &str, _value: Value) -> Result<bool, Fault> {
        Err(Fault::new("25006", format!("cannot set variable \"{name}\" inside a SQL expression")))
    }

    fn input(&self, name: &str) -> Option<Value> {
        self.given_input(name).map(copy_or_null)
    }

    fn inputs(&self) -> Value {
        let mut all = Map::new();
        for input in &self.program.inputs {
            if let Some(default) = &input.default {
                all.insert(input.name.clone(), copy_or_null(default));
            }
        }
        all.extend(self.instance.input.iter().map(|(name, value)| (name.clone(), copy_or_null(value))));
        if let Some(Value::Object(resumed)) = self.resume_input {
            all.extend(resumed.iter().map(|(name, value)| (name.clone(), copy_or_null(value))));
        }
        let around: Vec<_> = self.workflows_around().collect();
        for (context, composite) in around.into_iter().rev() {
            let inputs = context.variables.iter().skip(composite.first_input).take(composite.inputs.len());
            all.extend(inputs.map(|(name, value)| (name.clone(), copy_or_null(&value.0))));
        }
        Value::Object(all)
    }

    fn input_names(&self) -> Vec<String> {
        let inside = self.workflows_around().flat_map(|(_, composite)| &composite.inputs).map(|input| &input.name);
        let declared = inside.chain(self.program.inputs.iter().map(|input| &input.name));
        let resumed = self.resume_input.and_then(Value::as_object);
        let given = self.instance.input.keys().chain(resumed.into_iter().flat_map(Map::keys));
        let mut seen = BTreeSet::new();
        declared.chain(given).filter(|name| seen.insert(name.as_str())).cloned().collect()
    }

    fn output_from(&self, activity: &str, output: Option<&str>) -> Option<Value> {
        let outputs = self.outputs_of(activity)?;
        let find = |name: &str| {
            let exact = outputs.iter().find(|(known, _)| known == name);
            exact.or_else(|| outputs.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)))
        };
        let found = match (output, outputs.as_slice()) {
            (Some(name), _) => find(name),
            (None, [only]) => Some(only),
            (None, _) => find("result"),
        };
        found.map(|(_, value)| copy_or_null(&value.0))
    }

    fn output_names(&self) -> Vec<(String, String)> {
        let mut names = Vec::new();
        for node in self.program.around(self.node()).flat_map(|(program, _)| program.own_nodes()) {
            let described = node.activity.descriptor().outputs.iter().map(|output| output.name);
            let custom = node.custom_outputs.iter().map(|(name, _)| name.as_str());
            let declared = node.composite.iter().filter(|composite| composite.definition.is_some());
            let declared = declared.flat_map(|composite| &composite.outputs).map(|output| output.name.as_str());
            for output in described.chain(custom).chain(declared) {
                names.push((node.id.clone(), output.to_owned()));
                if let Some(name) = &node.name {
                    names.push((name.clone(), output.to_owned()));
                }
            }
        }
        names
    }

    fn outputs(&self) -> Value {
        // Outer programs first: an activity of an inner program replaces an outer one with the same id.
        let around: Vec<_> = self.program.around(self.node()).collect();
        let mut all = Map::new();
        let visible = visible_outputs(self.program, &self.instance.state, self.view.sequence);
        for (program, first) in around.into_iter().rev() {
            let nodes = program.own_nodes();
            let end = first.0.saturating_add(u32::try_from(nodes.len()).unwrap_or(u32::MAX));
            for (at, outputs) in visible.range(first..NodeIx(end)) {
                // The unit of this call will end with a fault, so nothing uses the incomplete value.
                if Bounds::check_interrupts().is_err() {
                    return Value::Object(all);
                }
                let outputs = outputs.iter().map(|(name, value)| (name.clone(), copy_or_null(&value.0)));
                let id = nodes.get((at.0 - first.0) as usize).map(|node| node.id.clone());
                all.insert(id.unwrap_or_default(), Value::Object(outputs.collect()));
            }
        }
        Value::Object(all)
    }

    fn last_result(&self) -> Option<Value> {
        let context = self.instance.state.contexts.get(&self.view.sequence)?;
        context.last_result.as_ref().map(|result| copy_or_null(&result.value.0))
    }

    fn instance(&self) -> Value {
        json!({
            "id": self.instance.id,
            "definitionId": self.program.definition_id,
            "version": self.instance.version,
            "correlationId": self.instance.correlation_id,
            "name": self.instance.name,
        })
    }

    fn instance_id(&self) -> Uuid {
        self.instance.id
    }

    fn definition_id(&self) -> String {
        self.program.definition_id.clone()
    }

    fn definition_version(&self) -> i32 {
        self.instance.version
    }

    fn definition_version_id(&self) -> Option<String> {
        self.program.version_id.clone()
    }

    fn correlation_id(&self) -> Option<String> {
        self.instance.correlation_id.clone()
    }

    fn set_correlation_id(&mut self, _value: Option<String>) -> Result<(), Fault> {
        Err(Fault::new("25006", "cannot set the correlation id inside a SQL expression"))
    }

    fn instance_name(&self) -> Option<String> {
        self.instance.name.clone()
    }

    fn set_instance_name(&mut self, _value: Option<String>) {}

    fn new_id(&mut self) -> Uuid {
        Uuid::nil()
    }

    fn now(&self) -> DateTime<Utc> {
        self.now
    }

    fn sql_value(&mut self, _expression: &str) -> Result<Value, Fault> {
        Err(Fault::new("25006", "SQL expressions do not nest"))
    }

    fn script_limits(&self) -> ScriptLimits {
        self.script.within(Bounds::current().spare)
    }

    fn check_interrupts(&mut self) {}
}

impl Scope for Execution<'_> {
    fn variable(&self, name: &str) -> Option<Value> {
        self.reading().variable(name)
    }

    fn variable_names(&self) -> Vec<String> {
        self.reading().variable_names()
    }

    fn set_variable(&mut self, name: &str, value: Value) -> Result<bool, Fault> {
        match self.burst.find_variable(self.scope_start(), name) {
            Some(_) => self.assign(name, value).map(|()| true),
            None => self.burst.create_variable(self.sequence, name, value),
        }
    }

    fn input(&self, name: &str) -> Option<Value> {
        self.reading().input(name)
    }

    fn inputs(&self) -> Value {
        self.reading().inputs()
    }

    fn input_names(&self) -> Vec<String> {
        self.reading().input_names()
    }

    fn output_from(&self, activity: &str, output: Option<&str>) -> Option<Value> {
        self.reading().output_from(activity, output)
    }

    fn output_names(&self) -> Vec<(String, String)> {
        self.reading().output_names()
    }

    fn outputs(&self) -> Value {
        self.reading().outputs()
    }

    fn last_result(&self) -> Option<Value> {
        self.reading().last_result()
    }

    fn instance(&self) -> Value {
        self.reading().instance()
    }

    fn instance_id(&self) -> Uuid {
        self.burst.instance.id
    }

    fn definition_id(&self) -> String {
        self.reading().definition_id()
    }

    fn definition_version(&self) -> i32 {
        self.burst.instance.version
    }

    fn definition_version_id(&self) -> Option<String> {
        self.reading().definition_version_id()
    }

    fn correlation_id(&self) -> Option<String> {
        self.burst.instance.correlation_id.clone()
    }

    fn set_correlation_id(&mut self, value: Option<String>) -> Result<(), Fault> {
        self.correlate(value)
    }

    fn instance_name(&self) -> Option<String> {
        self.burst.instance.name.clone()
    }

    fn set_instance_name(&mut self, value: Option<String>) {
        self.set_name(value);
    }

    fn outcomes(&mut self) -> Option<&mut Vec<String>> {
        self.outcomes.as_mut()
    }

    fn new_id(&mut self) -> Uuid {
        self.burst.host.new_id()
    }

    fn now(&self) -> DateTime<Utc> {
        self.burst.scratch.now
    }

    fn sql_value(&mut self, expression: &str) -> Result<Value, Fault> {
        let reading = ReadScope {
            program: self.burst.program,
            instance: self.burst.instance,
            resume_input: self.burst.scratch.resume_input.as_ref(),
            view: self.scope_start(),
            now: self.burst.scratch.now,
            script: self.burst.limits.script,
        };
        self.burst.host.sql_value(expression, &reading)
    }

    fn sql_inferred(&mut self, statement: &str, parameters: &[Value], take: Take) -> Result<Rows, Fault> {
        self.burst.host.sql_inferred(statement, parameters, take)
    }

    fn workflow_output(&self, name: &str) -> Option<Value> {
        self.burst.instance.output.get(name).map(copy_or_null)
    }

    fn script_limits(&self) -> ScriptLimits {
        self.burst.limits.script.within(Bounds::current().spare)
    }

    fn check_interrupts(&mut self) {
        self.burst.host.check_interrupts();
    }
}
