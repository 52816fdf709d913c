//! A scope for tests: an instance in a few maps.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::Scope;
use super::ScriptLimits;
use workflow_value::fault::Fault;

/// What a test can set and inspect.
#[derive(Debug, Default)]
pub(crate) struct TestScope {
    pub(crate) variables: BTreeMap<String, Value>,
    pub(crate) inputs: BTreeMap<String, Value>,
    pub(crate) outputs: Vec<(String, String, Value)>,
    pub(crate) last_result: Option<Value>,
    pub(crate) correlation_id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) limits: ScriptLimits,
    pub(crate) ids: u128,
    pub(crate) writes: Vec<String>,
    /// Called for a variable before `variables` is read.
    pub(crate) ask: Option<fn(&str) -> Option<Value>>,
}

impl TestScope {
    pub(crate) fn with(variables: Value) -> Self {
        let variables = variables.as_object().cloned().unwrap_or_default().into_iter().collect();
        Self { variables, ..Self::default() }
    }
}

impl Scope for TestScope {
    fn variable(&self, name: &str) -> Option<Value> {
        assert_ne!(name, "Panics", "asked for the variable that panics");
        self.ask.and_then(|ask| ask(name)).or_else(|| self.variables.get(name).cloned())
    }
    fn variable_names(&self) -> Vec<String> {
        self.variables.keys().cloned().collect()
    }
    fn set_variable(&mut self, name: &str, value: Value) -> Result<bool, Fault> {
        if name == "ReadOnly" {
            return Err(Fault::new("22003", "value out of range").detail("It is kept."));
        }
        self.writes.push(name.to_owned());
        Ok(self.variables.get_mut(name).map(|slot| *slot = value).is_some())
    }
    fn input(&self, name: &str) -> Option<Value> {
        self.inputs.get(name).cloned()
    }
    fn inputs(&self) -> Value {
        Value::Object(self.inputs.clone().into_iter().collect::<Map<_, _>>())
    }
    fn input_names(&self) -> Vec<String> {
        self.inputs.keys().cloned().collect()
    }
    fn output_from(&self, activity: &str, output: Option<&str>) -> Option<Value> {
        let found = |(of, name, _): &&(String, String, Value)| of == activity && output.is_none_or(|o| o == name);
        self.outputs.iter().find(found).map(|(_, _, value)| value.clone())
    }
    fn output_names(&self) -> Vec<(String, String)> {
        self.outputs.iter().map(|(activity, output, _)| (activity.clone(), output.clone())).collect()
    }
    fn outputs(&self) -> Value {
        json!({})
    }
    fn last_result(&self) -> Option<Value> {
        self.last_result.clone()
    }
    fn instance(&self) -> Value {
        json!({})
    }
    fn instance_id(&self) -> Uuid {
        Uuid::from_u128(7)
    }
    fn definition_id(&self) -> String {
        "orders".to_owned()
    }
    fn definition_version(&self) -> i32 {
        3
    }
    fn definition_version_id(&self) -> Option<String> {
        Some("orders-v3".to_owned())
    }
    fn correlation_id(&self) -> Option<String> {
        self.correlation_id.clone()
    }
    fn set_correlation_id(&mut self, value: Option<String>) -> Result<(), Fault> {
        self.correlation_id = value;
        Ok(())
    }
    fn instance_name(&self) -> Option<String> {
        self.name.clone()
    }
    fn set_instance_name(&mut self, value: Option<String>) {
        self.name = value;
    }
    fn new_id(&mut self) -> Uuid {
        self.ids += 1;
        Uuid::from_u128(self.ids)
    }
    fn now(&self) -> DateTime<Utc> {
        DateTime::from_timestamp_millis(1_795_224_225_678).unwrap()
    }
    fn sql_value(&mut self, expression: &str) -> Result<Value, Fault> {
        match expression {
            "1 / 0" => Err(Fault::new("22012", "division by zero")),
            // Like SQL, it may call the engine again.
            script => super::javascript::evaluate(script, &mut Self::default()),
        }
    }
    fn script_limits(&self) -> ScriptLimits {
        self.limits
    }
    fn check_interrupts(&mut self) {
        panic!("canceled");
    }
}
