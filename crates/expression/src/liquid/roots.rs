//! The top-level names of a template, which are Elsa's. A value is read from the workflow when the template uses it.

use std::cell::OnceCell;
use std::fmt;
use std::rc::Rc;

use liquid_core::model::{DisplayCow, KStringCow, Object, ObjectView, State, Value, ValueView};
use serde_json::Value as Json;

use super::meter::{Meter, Stop};
use super::names::same;
use super::values::{MAX_DEPTH, WorkflowValue};
use crate::Scope;
use workflow_value::value::depth_ok;

/// Reads a value of the workflow by name.
type Read = fn(&dyn Scope, &str) -> Option<Json>;

/// All top-level names.
pub(super) struct Roots<'s> {
    groups: [(&'static str, Group<'s>); 3],
}

impl<'s> Roots<'s> {
    pub(super) fn new(scope: &'s dyn Scope, meter: Rc<Meter>) -> Self {
        let group = |names: fn(&dyn Scope) -> Vec<String>, read: Read| Group {
            scope,
            meter: Rc::clone(&meter),
            names,
            read,
            entries: OnceCell::new(),
        };
        Self {
            groups: [
                ("Variables", group(|scope| scope.variable_names(), |scope, name| scope.variable(name))),
                ("Input", group(|scope| scope.input_names(), |scope, name| scope.input(name))),
                ("", group(|_| FACTS.iter().map(|(name, _)| (*name).to_owned()).collect(), fact)),
            ],
        }
    }

    /// The value of a top-level name; `None` if there is no such name.
    pub(super) fn get(&self, name: &str) -> Option<&dyn ValueView> {
        let [variables, inputs, facts] = &self.groups;
        match [variables, inputs].into_iter().find(|(group, _)| same(group, name)) {
            Some((_, group)) => Some(group),
            None => facts.1.get(name),
        }
    }
}

type Fact = fn(&dyn Scope) -> Json;

/// Facts of the workflow, by Elsa's names.
const FACTS: [(&str, Fact); 7] = [
    ("CorrelationId", |scope| scope.correlation_id().into()),
    ("WorkflowDefinitionId", |scope| scope.definition_id().into()),
    ("WorkflowDefinitionVersionId", |scope| scope.definition_version_id().into()),
    ("WorkflowDefinitionVersion", |scope| scope.definition_version().into()),
    ("WorkflowInstanceId", |scope| scope.instance_id().to_string().into()),
    ("WorkflowInstanceName", |scope| scope.instance_name().into()),
    ("LastResult", |scope| scope.last_result().unwrap_or_default()),
];

fn fact(scope: &dyn Scope, name: &str) -> Option<Json> {
    FACTS.iter().find(|(fact, _)| *fact == name).map(|(_, read)| read(scope))
}

/// Values of one kind, read one by one.
pub(super) struct Group<'s> {
    scope: &'s dyn Scope,
    meter: Rc<Meter>,
    names: fn(&dyn Scope) -> Vec<String>,
    read: Read,
    entries: OnceCell<Vec<(String, OnceCell<WorkflowValue>)>>,
}

impl Group<'_> {
    fn entries(&self) -> &[(String, OnceCell<WorkflowValue>)] {
        self.entries.get_or_init(|| (self.names)(self.scope).into_iter().map(|name| (name, OnceCell::new())).collect())
    }

    fn node<'a>(&self, name: &str, cell: &'a OnceCell<WorkflowValue>) -> &'a WorkflowValue {
        cell.get_or_init(|| {
            self.meter.check_interrupts();
            if self.meter.stopped().is_some() {
                return WorkflowValue::new(&Json::Null);
            }
            let value = (self.read)(self.scope, name).unwrap_or_default();
            // The value is a copy, or null if there was no memory for one. The node is another copy, which needs memory
            // too.
            self.meter.take_in(&value);
            if self.meter.stopped().is_some() {
                return WorkflowValue::new(&Json::Null);
            }
            if !depth_ok(&value, MAX_DEPTH) {
                self.meter.stop(Stop::Depth);
                return WorkflowValue::new(&Json::Null);
            }
            WorkflowValue::new(&value)
        })
    }
}

impl fmt::Debug for Group<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.entries()).finish()
    }
}

impl ValueView for Group<'_> {
    fn as_debug(&self) -> &dyn fmt::Debug {
        self
    }
    fn render(&self) -> DisplayCow<'_> {
        DisplayCow::Owned(Box::new(super::values::json(self).to_string()))
    }
    fn source(&self) -> DisplayCow<'_> {
        self.render()
    }
    fn type_name(&self) -> &'static str {
        "object"
    }
    fn query_state(&self, state: State) -> bool {
        matches!(state, State::Truthy) || self.entries().is_empty()
    }
    fn to_kstr(&self) -> KStringCow<'_> {
        KStringCow::from_string(self.render().to_string())
    }
    fn to_value(&self) -> Value {
        let members = self.iter().map(|(name, value)| (name.into_owned(), value.to_value()));
        Value::Object(members.collect::<Object>())
    }
    fn as_object(&self) -> Option<&dyn ObjectView> {
        Some(self)
    }
}

impl ObjectView for Group<'_> {
    fn as_value(&self) -> &dyn ValueView {
        self
    }
    fn size(&self) -> i64 {
        i64::try_from(self.entries().len()).unwrap_or(i64::MAX)
    }
    fn keys<'k>(&'k self) -> Box<dyn Iterator<Item = KStringCow<'k>> + 'k> {
        Box::new(self.entries().iter().map(|(name, _)| name.as_str().into()))
    }
    fn values<'k>(&'k self) -> Box<dyn Iterator<Item = &'k dyn ValueView> + 'k> {
        Box::new(self.iter().map(|(_, value)| value))
    }
    fn iter<'k>(&'k self) -> Box<dyn Iterator<Item = (KStringCow<'k>, &'k dyn ValueView)> + 'k> {
        let entries = self.entries().iter();
        Box::new(entries.map(|(name, cell)| (name.as_str().into(), self.node(name, cell) as &dyn ValueView)))
    }
    fn contains_key(&self, index: &str) -> bool {
        self.get(index).is_some()
    }
    fn get<'s>(&'s self, index: &str) -> Option<&'s dyn ValueView> {
        let entries = self.entries();
        let exact = entries.iter().find(|(name, _)| name == index);
        let (name, cell) = exact.or_else(|| entries.iter().find(|(name, _)| same(name, index)))?;
        Some(self.node(name, cell))
    }
}
