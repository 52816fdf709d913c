//! Measures a condition in JavaScript: nanoseconds per evaluation of a script that is compiled already.
//!
//! `cargo run --release --example condition [SCRIPT] [TIMES]`. To count instructions, which do not depend on other work
//! of the machine, run it by `valgrind --tool=callgrind` with two values of TIMES and take the difference.

use std::error::Error;
use std::time::Instant;

use serde_json::json;
use workflow_expression::javascript::evaluate;

#[path = "../tests/support/scope.rs"]
mod scope;
use scope::Session;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let script = arguments.next().unwrap_or_else(|| "getAmount() > 100".to_owned());
    let times: u32 = arguments.next().map_or(Ok(100_000), |text| text.parse())?;
    let order = json!({"Id": 1, "Customer": {"Name": "Ada", "Country": "DE"}});
    let mut session = Session::with([("Amount", json!(101)), ("Order", order)]);
    evaluate(&script, &mut session)?;
    let mut best = f64::MAX;
    // On a machine with other work, the best of many short runs is the least disturbed.
    for _ in 0..20 {
        let begun = Instant::now();
        for _ in 0..times / 20 {
            evaluate(&script, &mut session)?;
        }
        best = best.min(begun.elapsed().as_nanos() as f64 / f64::from((times / 20).max(1)));
    }
    println!("{best:.0} ns per evaluation");
    Ok(())
}
