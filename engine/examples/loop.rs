//! Measures the bare engine: nanoseconds per activity of a flowchart that loops.
//!
//! `cargo run --release --example loop` prints one line per number of iterations. Two activities run
//! per iteration; the host answers the condition without a database.

use std::error::Error;
use std::rc::Rc;
use std::time::Instant;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};
use uuid::Uuid;
use workflow_engine::calendar::{Utc0, Zone};
use workflow_engine::definition::{ReadLimits, compile};
use workflow_engine::execution::{Limits, start};
use workflow_engine::expression::{Rows, Scope, Take};
use workflow_engine::fault::Fault;
use workflow_engine::host::{Function, Host};
use workflow_engine::instance::{Instance, SubStatus};

/// Answers the loop's condition with true as often as it should run.
struct Counting {
    left: u32,
}

impl Host for Counting {
    fn now(&self) -> DateTime<Utc> {
        DateTime::default()
    }

    fn zone(&self, _name: Option<&str>) -> Result<Rc<dyn Zone>, Fault> {
        Ok(Rc::new(Utc0))
    }

    fn new_id(&mut self) -> Uuid {
        Uuid::nil()
    }

    fn has_bookmark(&mut self, _id: Uuid) -> bool {
        false
    }

    fn check_interrupts(&mut self) {}

    fn begin_step(&mut self) {}

    fn end_step(&mut self, _keep: bool) {}

    fn sql(&mut self, _statement: &str, _parameters: &[Value]) -> Result<Rows, Fault> {
        Ok(Rows::default())
    }

    fn sql_inferred(&mut self, _statement: &str, _parameters: &[Value], _take: Take) -> Result<Rows, Fault> {
        Ok(Rows::default())
    }

    fn sql_value(&mut self, _expression: &str, _scope: &dyn Scope) -> Result<Value, Fault> {
        self.left -= 1;
        Ok(Value::Bool(self.left > 0))
    }

    fn call(&mut self, _function: Function<'_>, _context: &Value) -> Result<Value, Fault> {
        Ok(Value::Null)
    }

    fn payloads(&mut self, _type_name: &str, _context: &Value) -> Result<Vec<Value>, Fault> {
        Ok(Vec::new())
    }

    fn correlate(&mut self, _correlation_id: Option<&str>) -> Result<(), Fault> {
        Ok(())
    }

    fn child_version(&mut self, _definition_id: &str, _input: &Map<String, Value>) -> Result<Uuid, Fault> {
        Ok(Uuid::nil())
    }

    fn write_line(&mut self, _text: &str) {}
}

fn main() -> Result<(), Box<dyn Error>> {
    let definition = json!({
        "definitionId": "loop",
        "variables": { "A": "one", "B": "two" },
        "root": {
            "type": "Flowchart",
            "activities": [
                { "id": "start", "type": "Start" },
                { "id": "set", "type": "SetVariable", "variable": "A", "value": { "var": "B" } },
                { "id": "more", "type": "FlowDecision", "condition": { "sql": "left > 0" } },
            ],
            "connections": [["start", "set"], ["set", "more"], ["more", "True", "set"]],
        },
    });
    let program =
        compile(&definition, &(), &ReadLimits::default(), false).map_err(|problems| format!("{problems:?}"))?;
    for iterations in [1_000, 10_000, 100_000] {
        let mut best = f64::MAX;
        // On a machine with other work, the best of many short runs is the least disturbed.
        for _ in 0..(500_000 / iterations).max(5) {
            best = best.min(run(&program, iterations)?);
        }
        let per_activity = best / f64::from(2 * iterations);
        println!("{iterations:>7} iterations: {per_activity:>6.0} ns per activity");
    }
    Ok(())
}

/// Runs one burst and returns its time in nanoseconds.
fn run(program: &workflow_engine::Program, iterations: u32) -> Result<f64, Box<dyn Error>> {
    let mut host = Counting { left: iterations };
    let mut instance =
        Instance::new(Uuid::nil(), program, 1, None, None, Map::new()).map_err(|fault| fault.to_string())?;
    let begin = Instant::now();
    let delta = start(program, &mut instance, None, None, &mut host, &Limits::default())
        .map_err(|error| format!("{error:?}"))?;
    let elapsed = begin.elapsed().as_nanos() as f64;
    assert_eq!(instance.sub_status, SubStatus::Finished, "{:?}", delta.incidents);
    Ok(elapsed)
}
