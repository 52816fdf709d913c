//! Measures a condition in JavaScript: nanoseconds per evaluation of a script that is compiled already.
//!
//! `cargo run --release --example condition [SCRIPT] [TIMES]`. Instructions, which do not depend on what else the
//! machine does: `valgrind --tool=callgrind` on the example, with two numbers of times; the difference counts.

use std::error::Error;
use std::time::Instant;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use uuid::Uuid;
use workflow_engine::expression::Scope;
use workflow_engine::expression::javascript::{ScriptLimits, evaluate};
use workflow_engine::fault::Fault;

struct Order;

impl Scope for Order {
    fn variable(&self, name: &str) -> Option<Value> {
        match name {
            "Amount" => Some(json!(101)),
            "Order" => Some(json!({"Id": 1, "Customer": {"Name": "Ada", "Country": "DE"}})),
            _ => None,
        }
    }
    fn variable_names(&self) -> Vec<String> {
        vec!["Amount".to_owned(), "Order".to_owned()]
    }
    fn set_variable(&mut self, _: &str, _: Value) -> Result<bool, Fault> {
        Ok(true)
    }
    fn input(&self, _: &str) -> Option<Value> {
        None
    }
    fn inputs(&self) -> Value {
        json!({})
    }
    fn input_names(&self) -> Vec<String> {
        Vec::new()
    }
    fn output_from(&self, _: &str, _: Option<&str>) -> Option<Value> {
        None
    }
    fn output_names(&self) -> Vec<(String, String)> {
        Vec::new()
    }
    fn outputs(&self) -> Value {
        json!({})
    }
    fn last_result(&self) -> Option<Value> {
        None
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
        ScriptLimits::default()
    }
    fn check_interrupts(&mut self) {}
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let script = arguments.next().unwrap_or_else(|| "getAmount() > 100".to_owned());
    let times: u32 = arguments.next().map_or(Ok(100_000), |text| text.parse())?;
    evaluate(&script, &mut Order).map_err(|fault| fault.to_string())?;
    let mut best = f64::MAX;
    // The best of many short runs is what a machine that does other things too can say.
    for _ in 0..20 {
        let begun = Instant::now();
        for _ in 0..times / 20 {
            evaluate(&script, &mut Order).map_err(|fault| fault.to_string())?;
        }
        best = best.min(begun.elapsed().as_nanos() as f64 / f64::from((times / 20).max(1)));
    }
    println!("{best:.0} ns per evaluation");
    Ok(())
}
