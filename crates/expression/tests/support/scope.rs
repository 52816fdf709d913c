// A scope for scripts without an instance: variables, and functions by which a test answers.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use uuid::Uuid;
use workflow_expression::Scope;
use workflow_expression::ScriptLimits;
use workflow_value::Fault;

/// The values that a script reads; the last result is the variable `Large`.
pub struct Session {
    pub variables: BTreeMap<String, Value>,
    pub limits: ScriptLimits,
    /// Is asked for a variable before `variables` is.
    pub ask: fn(&str) -> Option<Value>,
    /// Is asked for the output of an activity.
    pub output: fn(&str) -> Option<Value>,
    /// Is called when a script has been interrupted.
    pub check_interrupts: fn(),
}

impl Session {
    pub fn with<const N: usize>(variables: [(&str, Value); N]) -> Self {
        Self {
            variables: variables.map(|(name, value)| (name.to_owned(), value)).into(),
            limits: ScriptLimits::default(),
            ask: |_| None,
            output: |_| None,
            check_interrupts: || (),
        }
    }
}

impl Scope for Session {
    fn variable(&self, name: &str) -> Option<Value> {
        (self.ask)(name).or_else(|| self.variables.get(name).cloned())
    }
    fn variable_names(&self) -> Vec<String> {
        self.variables.keys().cloned().collect()
    }
    fn set_variable(&mut self, name: &str, value: Value) -> Result<bool, Fault> {
        Ok(self.variables.insert(name.to_owned(), value).is_some())
    }
    fn input(&self, name: &str) -> Option<Value> {
        self.variables.get(name).cloned()
    }
    fn inputs(&self) -> Value {
        json!({})
    }
    fn input_names(&self) -> Vec<String> {
        Vec::new()
    }
    fn output_from(&self, activity: &str, _: Option<&str>) -> Option<Value> {
        (self.output)(activity)
    }
    fn output_names(&self) -> Vec<(String, String)> {
        Vec::new()
    }
    fn outputs(&self) -> Value {
        json!({})
    }
    fn last_result(&self) -> Option<Value> {
        self.variables.get("Large").cloned()
    }
    fn instance(&self) -> Value {
        json!({})
    }
    fn instance_id(&self) -> Uuid {
        Uuid::nil()
    }
    fn definition_id(&self) -> String {
        String::new()
    }
    fn definition_version(&self) -> i32 {
        1
    }
    fn correlation_id(&self) -> Option<String> {
        None
    }
    fn set_correlation_id(&mut self, _: Option<String>) -> Result<(), Fault> {
        Ok(())
    }
    fn instance_name(&self) -> Option<String> {
        None
    }
    fn set_instance_name(&mut self, _: Option<String>) {}
    fn new_id(&mut self) -> Uuid {
        Uuid::nil()
    }
    fn now(&self) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH
    }
    fn sql_value(&mut self, _: &str) -> Result<Value, Fault> {
        Ok(Value::Null)
    }
    fn script_limits(&self) -> ScriptLimits {
        self.limits
    }
    fn check_interrupts(&mut self) {
        (self.check_interrupts)();
    }
}
