// A minimal host: it generates ids and keeps lines, and has no SQL, no users' functions and no other workflows. A
// condition in SQL is true until it has been evaluated `rounds` times. The examples of the engine, and those in its
// documentation, include this file.
use std::rc::Rc;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};
use uuid::Uuid;
use workflow_engine::Fault;
use workflow_engine::calendar::{Utc0, Zone};
use workflow_engine::expression::{Rows, Scope, Take};
use workflow_engine::host::{Function, Host};

#[derive(Default)]
pub struct Alone {
    pub ids: u128,
    pub lines: Vec<String>,
    pub rounds: u32,
}

#[rustfmt::skip]
impl Host for Alone {
    fn now(&self) -> DateTime<Utc> { DateTime::default() }
    fn zone(&self, _: Option<&str>) -> Result<Rc<dyn Zone>, Fault> { Ok(Rc::new(Utc0)) }
    fn new_id(&mut self) -> Uuid { self.ids += 1; Uuid::from_u128(self.ids) }
    fn has_bookmark(&mut self, _: Uuid) -> bool { false }
    fn check_interrupts(&mut self) {}
    fn begin_step(&mut self) {}
    fn end_step(&mut self, _: bool) {}
    fn sql(&mut self, _: &str, _: &[Value]) -> Result<Rows, Fault> { Ok(Rows::default()) }
    fn sql_inferred(&mut self, _: &str, _: &[Value], _: Take) -> Result<Rows, Fault> { Ok(Rows::default()) }
    fn sql_value(&mut self, _: &str, _: &dyn Scope) -> Result<Value, Fault> {
        self.rounds = self.rounds.saturating_sub(1);
        Ok(Value::Bool(self.rounds > 0))
    }
    fn call(&mut self, _: Function<'_>, _: &Value) -> Result<Value, Fault> { Ok(Value::Null) }
    fn payloads(&mut self, _: &str, _: &Value) -> Result<Vec<Value>, Fault> { Ok(Vec::new()) }
    fn correlate(&mut self, _: Option<&str>) -> Result<(), Fault> { Ok(()) }
    fn child_version(&mut self, _: &str, _: &Map<String, Value>) -> Result<Uuid, Fault> { Ok(Uuid::nil()) }
    fn write_line(&mut self, text: &str) { self.lines.push(text.to_owned()); }
}
