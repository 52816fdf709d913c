//! Custom activities.

use serde_json::{Value, json};
use workflow_engine::fault::Fault;
use workflow_engine::instance::SubStatus;

use crate::support::{UserFunction, World, line};

fn world(handler: UserFunction) -> World {
    let mut world = World::with_input(
        json!({"variables": {"V": 1}, "root": [
            {"id": "a", "type": "Approval", "level": {"input": "level"}, "result": {"var": "V"}}, line("End")]}),
        json!({"level": 2}),
    );
    world.host.functions.insert("Approval".into(), handler);
    world
}

#[test]
fn the_handler_sees_its_context() {
    let mut world = world(|context| {
        assert_eq!(context["inputs"]["level"], json!(2));
        assert_eq!(context["variables"], json!({"V": 1}));
        assert_eq!(context["activity"]["id"], "a");
        assert_eq!(context["activity"]["type"], "Approval");
        assert_eq!(context["instance"]["definitionId"], "test");
        assert_eq!(context["isTrigger"], json!(false));
        let keys: Vec<_> = context.as_object().expect("an object").keys().cloned().collect();
        assert_eq!(keys, ["activity", "inputs", "instance", "isTrigger", "variables"]);
        Ok(Value::Null)
    });
    world.start();
    assert_eq!(world.status(), SubStatus::Finished, "{:?}", world.last.incidents);
}

#[test]
fn outputs_variables_and_outcomes_are_applied() {
    let mut world = world(|_| Ok(json!({"outputs": {"Other": 3}, "variables": {"V": 5}, "outcomes": "Approved"})));
    world.start();
    assert_eq!(*world.variable("V"), json!(5));
    assert_eq!(world.lines(), ["End"]);
}

#[test]
fn a_bookmark_waits_and_its_callback_decides() {
    let mut world = world(|_| {
        Ok(
            json!({"bookmarks": [{"name": "ask", "payload": {"who": "boss"}, "metadata": {"x": "y"}, "callback": "decide", "dueAt": "2027-01-01T00:00:00+00:00"}]}),
        )
    });
    world.host.functions.insert("decide".into(), |context| {
        assert_eq!(context["input"], json!("yes"));
        assert_eq!(context["bookmark"]["payload"], json!({"who": "boss"}));
        Ok(json!({"outputs": {"result": "decided"}}))
    });
    world.start();
    assert_eq!(world.status(), SubStatus::Suspended);
    let bookmark = &world.bookmarks[0];
    assert_eq!((bookmark.name.as_str(), bookmark.callback.as_deref()), ("ask", Some("decide")));
    assert!(bookmark.due_at.is_some());
    world.resume("a", json!("yes"));
    assert_eq!(world.status(), SubStatus::Finished, "{:?}", world.last.incidents);
    assert_eq!(*world.variable("V"), json!("decided"));
}

#[test]
fn without_a_callback_a_resume_completes_and_its_input_is_the_result() {
    let mut world = world(|_| Ok(json!({"bookmarks": [{}]})));
    world.start();
    assert_eq!(world.bookmarks[0].name, "Approval");
    world.resume("a", json!({"x": 1}));
    assert_eq!(*world.variable("V"), json!({"x": 1}));
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn bookmarks_without_payload_differ_by_execution() {
    let mut world = world(|_| Ok(json!({"bookmarks": [{}, {"includeActivityInstanceId": false}]})));
    world.start();
    assert_ne!(world.bookmarks[0].hash(), world.bookmarks[1].hash());
}

#[test]
fn a_bookmark_that_does_not_burn_is_resumed_again_and_goes_with_its_activity() {
    let mut world = world(|_| Ok(json!({"bookmarks": [{"autoBurn": false, "callback": "count"}]})));
    world.host.functions.insert("count".into(), |context| {
        let count = context["variables"]["V"].as_i64().unwrap_or_default() + 1;
        Ok(json!({"variables": {"V": count}, "complete": count > 2}))
    });
    world.start();
    world.resume("a", Value::Null);
    assert_eq!(world.waiting(), ["a"]);
    world.resume("a", Value::Null);
    assert_eq!(world.status(), SubStatus::Finished);
    assert_eq!(world.last.cleared.len(), 1);
}

#[test]
fn unknown_keys_and_wrong_types_are_faults() {
    let results: [UserFunction; 8] = [
        |_| Ok(json!({"output": {}})),
        |_| Ok(json!([])),
        |_| Ok(json!({"outputs": 1})),
        |_| Ok(json!({"bookmarks": [{"nmae": "x"}]})),
        |_| Ok(json!({"bookmarks": [{"id": "x"}]})),
        |_| Ok(json!({"bookmarks": [1]})),
        |_| Ok(json!({"bookmarks": [{"dueAt": "tomorrow"}]})),
        |_| Ok(json!({"complete": "yes"})),
    ];
    for handler in results {
        let mut world = world(handler);
        world.start();
        assert_eq!(world.status(), SubStatus::Faulted);
        assert_eq!(world.last.incidents[0].fault.sqlstate, "22023");
        assert!(world.bookmarks.is_empty());
    }
}

#[test]
fn an_id_that_a_bookmark_has_already_is_a_fault() {
    const ID: &str = "00000000-0000-0000-0000-000000000001";
    let twice: UserFunction = |_| Ok(json!({"bookmarks": [{"id": ID, "name": "a"}, {"id": ID, "name": "b"}]}));
    let once: UserFunction = |_| Ok(json!({"bookmarks": [{"id": ID}]}));
    let elsewhere: uuid::Uuid = ID.parse().expect("an id");
    for (handler, foreign) in [(twice, None), (once, Some(elsewhere))] {
        let mut world = world(handler);
        world.host.foreign_bookmarks.extend(foreign);
        world.start();
        assert_eq!(world.status(), SubStatus::Faulted);
        assert_eq!(world.last.incidents[0].fault.sqlstate, "23505");
        assert!(world.bookmarks.is_empty());
    }
    let mut world = world(once);
    world.start();
    assert_eq!(world.status(), SubStatus::Suspended);
}

#[test]
fn a_handler_that_raises_faults_its_activity() {
    let mut world = world(|_| Err(Fault::new("P0001", "no")));
    world.start();
    assert_eq!(world.status(), SubStatus::Faulted);
    assert!(world.host.effects.is_empty(), "its step was undone");
}

#[test]
fn a_custom_trigger_knows_that_it_started_the_run() {
    let mut world = World::new(json!([{"id": "r", "type": "RowInserted", "canStartWorkflow": true}]));
    world.host.functions.insert("RowInserted".into(), |context| {
        assert_eq!(context["isTrigger"], json!(true));
        assert_eq!(context["input"], json!({"row": 1}));
        Ok(Value::Null)
    });
    world.try_start(Some("r"), Some(&json!({"row": 1}))).expect("a trigger");
    assert_eq!(world.status(), SubStatus::Finished, "{:?}", world.last.incidents);
}
