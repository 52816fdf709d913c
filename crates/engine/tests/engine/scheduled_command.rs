//! The activity that runs the command of a schedule.

use serde_json::{Value, json};
use workflow_engine::instance::SubStatus;

use crate::support::World;

fn command(statement: Value, top_level: bool) -> Value {
    json!({"outputs": [{"name": "rows", "type": "Int64"}], "root": {"id": "c", "type": "ScheduledCommand",
        "statement": statement, "topLevel": top_level, "retry": true, "rowCount": {"output": "rows"}}})
}

#[test]
fn a_command_runs_its_statements_one_after_the_other() {
    let world = World::started(command(json!({"literal": ["DELETE FROM a", "DELETE FROM b"]}), false));
    assert_eq!(world.host.effects, ["DELETE FROM a []", "DELETE FROM b []"]);
    assert_eq!(world.instance.output["rows"], json!(1));
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn one_at_top_level_is_left_to_a_worker_and_tells_what_came_of_it() {
    let mut world = World::started(command(json!("VACUUM"), true));
    assert!(world.host.effects.is_empty());
    let bookmark = world.last.created[0].clone();
    assert_eq!(bookmark.name, "Workflow.ScheduledCommand");
    assert_eq!(bookmark.payload, Some(json!({"statement": "VACUUM", "retry": true})));
    assert!(bookmark.due_at.is_some(), "it is due at once");
    world.resume("c", json!({"rows": 7}));
    assert_eq!(world.instance.output["rows"], json!(7));
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn what_went_wrong_outside_is_the_fault_of_the_activity() {
    let mut world = World::started(command(json!("VACUUM"), true));
    world.resume("c", json!({"error": {"sqlstate": "57P02", "message": "interrupted", "detail": null}}));
    let fault = &world.last.incidents[0].fault;
    assert_eq!((fault.sqlstate.as_str(), fault.message.as_str()), ("57P02", "interrupted"));
    assert_eq!(fault.detail, None);
    assert_eq!(world.status(), SubStatus::Faulted);
}

#[test]
fn a_command_needs_a_statement() {
    for empty in [json!(""), json!({"literal": []}), json!({"input": "none"})] {
        let world = World::started(command(empty, false));
        assert_eq!(world.last.incidents[0].fault.sqlstate, "22004");
    }
}
