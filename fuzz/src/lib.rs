//! The common parts of the fuzz targets: a world for bursts, the limits under which they run, JSON that stays JSON.

use std::panic::{set_hook, take_hook};
use std::sync::Once;
use std::time::Duration;

use serde_json::{Value, json};
use workflow_engine::definition::{ReadLimits, compile};
use workflow_engine::execution::Limits;
use workflow_engine::{Instance, Program};

pub mod definitions;
pub mod json;
pub mod schemas;
pub mod time;

#[path = "../../crates/engine/tests/support/mod.rs"]
pub mod support;

use support::{Library, World};

/// The limits of the extension, except that endless work is ended soon: a run should try many inputs.
pub fn limits() -> Limits {
    let limits = Limits::default();
    let script = workflow_engine::expression::ScriptLimits { time: Duration::from_millis(50), ..limits.script };
    Limits { max_steps: 300, script, ..limits }
}

/// Lets panics of the Liquid crates unwind, which libFuzzer's hook turns into an abort. The engine turns them into an
/// error of the template (`{% cycle name: %}` divides by zero). A panic that it does not catch still ends the run.
fn let_liquid_panics_unwind() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let abort = take_hook();
        set_hook(Box::new(move |panic| {
            let is_foreign = |file: &str| ["/liquid-core-", "/liquid-lib-"].iter().any(|part| file.contains(part));
            if !panic.location().is_some_and(|location| is_foreign(location.file())) {
                abort(panic);
            }
        }));
    });
}

/// Compiles a document as an incoming definition. `None` if it is refused, with at least one reason.
pub fn program(document: &Value, is_new: bool) -> Option<Program> {
    let_liquid_panics_unwind();
    let limits = ReadLimits { is_new, ..ReadLimits::default() };
    match compile(document, &Library::default(), &limits, false) {
        Ok(program) => Some(program),
        Err(problems) => {
            assert!(!problems.is_empty(), "it is refused without a reason");
            None
        }
    }
}

/// An instance of a program, not started. `None` if it requires inputs.
pub fn world(program: Program) -> Option<World> {
    Instance::new(uuid::Uuid::nil(), &program, 1, None, None, serde_json::Map::new()).ok()?;
    let mut world = World::of(program, json!({}));
    world.limits = limits();
    Some(world)
}

/// Runs one activity that can read the variables `Text`, `Number`, `List` and `Order`. `None` if it is refused.
pub fn run(activity: Value) -> Option<World> {
    let document = json!({
        "definitionId": "fuzz",
        "variables": {
            "Text": "a text, ä",
            "Number": 7.5,
            "List": { "literal": [3, "b", null, { "Id": 1 }] },
            "Order": { "literal": { "Id": 42, "Lines": [{ "Sku": "a", "Price": 1.10 }] } },
            "Result": null,
        },
        "inputs": [{ "name": "Given", "type": "Object", "default": { "literal": [1] } }],
        "root": [activity],
    });
    let mut world = world(program(&document, false)?).expect("no input is required");
    world.try_start(None, None).expect("the burst ends");
    Some(world)
}
