//! What the fuzz targets share: a world for bursts, the limits under which they run, JSON that stays JSON.

use std::time::Duration;

use serde_json::{Value, json};
use workflow_engine::definition::{ReadLimits, compile};
use workflow_engine::execution::Limits;
use workflow_engine::{Instance, Program};

pub mod definitions;
pub mod json;
pub mod schemas;
pub mod time;

#[path = "../../engine/tests/support/mod.rs"]
pub mod support;

use support::{Library, World};

/// The limits of the extension, except that what never ends is ended soon: a run should try many inputs.
pub fn limits() -> Limits {
    let limits = Limits::default();
    let script = workflow_engine::expression::ScriptLimits { time: Duration::from_millis(50), ..limits.script };
    Limits { max_steps: 300, script, ..limits }
}

/// Compiles a document as a definition that comes in. `None`: it is refused, with at least one reason.
pub fn program(document: &Value, is_new: bool) -> Option<Program> {
    let limits = ReadLimits { is_new, ..ReadLimits::default() };
    match compile(document, &Library::default(), &limits, false) {
        Ok(program) => Some(program),
        Err(problems) => {
            assert!(!problems.is_empty(), "it is refused without a reason");
            None
        }
    }
}

/// An instance of a program, not started. `None`: it wants inputs.
pub fn world(program: Program) -> Option<World> {
    Instance::new(uuid::Uuid::nil(), &program, 1, None, None, serde_json::Map::new()).ok()?;
    let mut world = World::of(program, json!({}));
    world.limits = limits();
    Some(world)
}

/// Runs one activity that sees the variables `Text`, `Number`, `List` and `Order`. `None`: it is refused.
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
