//! Measures the bare engine: nanoseconds per activity of a flowchart that loops.
//!
//! `cargo run --release --example loop` prints one line per number of iterations. Two activities run
//! per iteration; the host answers the condition without a database.

use std::error::Error;
use std::time::Instant;

use serde_json::{Map, json};
use uuid::Uuid;
use workflow_engine::definition::{ReadLimits, compile};
use workflow_engine::execution::{Limits, start};
use workflow_engine::instance::{Instance, SubStatus};

#[path = "../tests/support/alone.rs"]
mod alone;
use alone::Alone;

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
    let mut host = Alone { rounds: iterations, ..Alone::default() };
    let mut instance = Instance::new(Uuid::nil(), program, 1, None, None, Map::new())?;
    let begin = Instant::now();
    let delta = start(program, &mut instance, None, None, &mut host, &Limits::default())?;
    let elapsed = begin.elapsed().as_nanos() as f64;
    assert_eq!(instance.sub_status, SubStatus::Finished, "{:?}", delta.incidents);
    Ok(elapsed)
}
