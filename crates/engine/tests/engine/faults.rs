//! Faults, incidents, rollback, retry.

use serde_json::{Value, json};
use workflow_engine::fault::Error;
use workflow_engine::instance::{ActivityStatus, SubStatus};
use workflow_engine::journal::EventKind;

use crate::support::{World, broken, event, line, set};

#[test]
fn a_fault_stops_its_sequence_and_becomes_one_incident() {
    let world = World::started(json!([line("Start"), broken("f"), line("no")]));
    assert_eq!(world.status(), SubStatus::Faulted);
    assert_eq!(world.lines(), ["Start"]);
    let incident = &world.last.incidents[0];
    assert_eq!((incident.activity_id.as_str(), incident.activity_type.as_str()), ("f", "Elsa.Fault"));
    assert_eq!((incident.fault.sqlstate.as_str(), incident.fault.message.as_str()), ("P0001", "broken"));
    assert_eq!(world.instance.incident_count, 1);
    assert_eq!(world.journaled(EventKind::Faulted), ["f"]);
    assert_eq!(world.trail.last().expect("an event").kind, EventKind::WorkflowFaulted);
}

fn two_branches(strategy: &str) -> Value {
    let one = json!({"type": "Sequence", "activities": [line("Step 1a"), broken("f"), line("no")]});
    let two = json!({"type": "Sequence", "activities": [line("Step 2a"), line("Step 2b"), line("Step 2c")]});
    json!({"options": {"incidentStrategy": strategy}, "root": [line("Start"), {"id": "p", "type": "Parallel", "activities": [one, two]}]})
}

#[test]
fn under_the_fault_strategy_what_is_queued_still_runs_and_the_instance_is_faulted() {
    let world = World::started(two_branches("Fault"));
    assert_eq!(world.lines(), ["Start", "Step 1a", "Step 2a", "Step 2b", "Step 2c"]);
    assert_eq!(world.status(), SubStatus::Faulted);
}

#[test]
fn with_incidents_other_branches_go_on_and_the_instance_is_suspended() {
    let world = World::started(two_branches("ContinueWithIncidents"));
    assert_eq!(world.lines(), ["Start", "Step 1a", "Step 2a", "Step 2b", "Step 2c"]);
    assert_eq!(world.status(), SubStatus::Suspended);
    assert_eq!(world.instance.incident_count, 1);
}

#[test]
fn a_faulting_item_leaves_the_loop_open_with_one_fault_below_it() {
    let body = json!([{"type": "WriteLine", "text": {"var": "CurrentValue"}},
        {"type": "If", "condition": {"sql": "CurrentIndex = 1"}, "then": broken("f")}]);
    let world = World::started(json!({"id": "loop", "type": "ForEach", "items": ["a", "b", "c"], "body": body}));
    assert_eq!(world.lines(), ["a", "b"]);
    let root = &world.instance.state.contexts[&0];
    assert_eq!((root.status, root.faults), (ActivityStatus::Running, 1));
}

#[test]
fn parallel_stays_open_with_one_fault_while_the_others_still_run() {
    let world = World::started(
        json!([{"id": "p", "type": "Parallel", "activities": [broken("f"), line("other")]}, line("no")]),
    );
    assert_eq!(world.lines(), ["other"]);
    assert_eq!(world.status(), SubStatus::Faulted);
    let p = world.program.find("p").expect("the parallel");
    let open: Vec<_> = world.instance.state.contexts.values().filter(|context| context.node == p).collect();
    assert_eq!((open.len(), open[0].status, open[0].faults), (1, ActivityStatus::Running, 1));
}

#[test]
fn beside_a_fault_a_branch_that_waits_is_faulted_with_it_or_goes_on_with_incidents() {
    let definition = |strategy: &str| {
        json!({"options": {"incidentStrategy": strategy}, "root": [line("Start"), {"type": "Fork", "joinMode": "WaitAll", "branches": [
            [line("Step 1a"), event("Go"), line("Step 1b")], [line("Step 2a"), broken("f"), line("Step 2b")]]}, line("End")]})
    };
    let world = World::started(definition("Fault"));
    assert_eq!(world.lines(), ["Start", "Step 1a", "Step 2a"]);
    assert_eq!((world.status(), world.instance.incident_count), (SubStatus::Faulted, 1));

    let mut world = World::started(definition("ContinueWithIncidents"));
    assert_eq!(world.status(), SubStatus::Suspended);
    world.resume("Go", Value::Null);
    assert_eq!(world.lines(), ["Start", "Step 1a", "Step 2a", "Step 1b"]);
    assert_eq!((world.status(), world.instance.incident_count), (SubStatus::Suspended, 1));
}

#[test]
fn an_activity_fault_tells_what_its_author_has_given() {
    let fault = |activity: Value| {
        let world = World::started(json!([activity, line("no")]));
        assert_eq!((world.status(), world.lines()), (SubStatus::Faulted, vec![]));
        let fault = &world.last.incidents[0].fault;
        assert_eq!(fault.sqlstate, "P0001");
        (fault.message.clone(), fault.detail.clone().unwrap_or_default())
    };
    let told = |message: &str, detail: &str| (message.to_owned(), detail.to_owned());
    // Defaults say nothing, whether the author has written them or not.
    assert_eq!(fault(json!({"type": "Fault"})), told("the workflow raised a fault", ""));
    let usual = json!({"type": "Fault", "code": "0", "category": "General", "faultType": "System", "message": "no"});
    assert_eq!(fault(usual), told("no", ""));
    assert_eq!(fault(json!({"type": "Fault", "message": "no", "category": "HTTP"})), told("no", "Category HTTP."));
    let own = json!({"type": "Fault", "code": "E17", "category": "Business", "faultType": "Credit", "message": "no"});
    assert_eq!(fault(own), told("no", "Code E17, category Business, type Credit."));
}

#[test]
fn what_an_activity_did_before_it_faulted_is_undone() {
    // The rows are stored in their variable first; the count does not fit the output.
    let world = World::started(json!({
        "variables": [{"name": "Rows", "value": "before"}], "outputs": [{"name": "N", "type": "Guid"}],
        "root": [{"id": "s", "type": "Sql", "statement": "INSERT", "result": {"var": "Rows"}, "rowCount": {"output": "N"}}],
    }));
    assert_eq!(world.status(), SubStatus::Faulted);
    assert!(world.last.incidents[0].fault.message.contains("\"N\""));
    assert_eq!(*world.variable("Rows"), json!("before"));
    assert!(world.host.effects.is_empty());
    assert!(!world.last.changed.variables);
    assert!(world.instance.state.outputs.is_empty());
    assert!(world.instance.state.contexts.values().all(|context| context.last_result.is_none()));
}

#[test]
fn bookmarks_tasks_and_lines_of_a_faulted_call_are_undone() {
    let mut world = World::new(json!([{"id": "a", "type": "Approval"}]));
    world.host.functions.insert("Approval".into(), |_| {
        Ok(json!({"variables": {}, "outputs": {"x": 1}, "bookmarks": [{"name": "one"}, {"bad": 1}]}))
    });
    world.start();
    assert_eq!(world.status(), SubStatus::Faulted);
    assert!(world.last.created.is_empty());
    assert!(world.journaled(EventKind::BookmarkCreated).is_empty());
    assert!(world.instance.state.outputs.is_empty());
}

#[test]
fn a_statement_that_fails_takes_its_step_back_and_not_the_one_before() {
    let world = World::started(json!([
        {"type": "Sql", "statement": "INSERT"}, {"type": "Sql", "statement": "RAISE"}]));
    assert_eq!(world.host.effects, ["INSERT []"]);
    assert_eq!(world.last.incidents[0].fault.sqlstate, "22012");
}

#[test]
fn a_parent_that_faults_when_its_child_completes_is_the_one_to_blame() {
    let mut world = World::started(json!({"variables": {"N": 0}, "root":
        {"id": "w", "type": "While", "condition": {"sql": "N < 9"}, "body": [set("N", "N + 1"), event("Go")]}}));
    world.host.broken = true;
    world.resume("Go", Value::Null);
    assert_eq!(world.status(), SubStatus::Faulted);
    assert_eq!(world.last.incidents[0].activity_id, "w");
    assert!(!world.last.keep_resumed, "the event itself had done its part");
    world.host.broken = false;
    world.retry(None).expect("a retry");
    assert_eq!(world.status(), SubStatus::Suspended);
    assert_eq!(*world.variable("N"), json!(2));
}

#[test]
fn retry_runs_the_faulted_activity_again_and_goes_on() {
    let mut world = World::new(json!([{"id": "s", "type": "Sql", "statement": "INSERT"}, line("End")]));
    world.host.broken = true;
    world.start();
    assert_eq!(world.status(), SubStatus::Faulted);
    world.retry(None).expect("a retry");
    assert_eq!(world.status(), SubStatus::Faulted, "still broken");
    assert_eq!(world.instance.incident_count, 2);
    world.host.broken = false;
    world.retry(Some(&["s"])).expect("a retry");
    assert_eq!(world.status(), SubStatus::Finished);
    assert_eq!(world.lines(), ["End"]);
    assert_eq!(world.host.effects, ["INSERT []"]);
}

#[test]
fn retry_of_what_is_not_faulted_is_refused() {
    let mut world = World::started(json!({"type": "Parallel", "activities": [broken("f"), event("e")]}));
    for id in ["e", "missing"] {
        assert_eq!(world.retry(Some(&["f", id])).expect_err("not faulted"), Error::NotFaulted(id.into()));
    }
}

#[test]
fn retry_of_an_instance_without_a_faulted_activity_is_refused() {
    let mut world = World::new(json!([{"id": "s", "type": "Sql", "statement": "INSERT"}, event("e")]));
    world.host.broken = true;
    world.start();
    world.host.broken = false;
    world.retry(None).expect("a retry");
    assert_eq!((world.status(), world.instance.incident_count), (SubStatus::Suspended, 1));
    assert_eq!(world.retry(None).expect_err("nothing is faulted"), Error::NothingFaulted);
    assert_eq!(world.journaled(EventKind::WorkflowRetried).len(), 1);
}

#[test]
fn retry_takes_only_the_named_activities() {
    let mut world = World::new(json!({"type": "Parallel", "activities": [
        {"id": "a", "type": "Sql", "statement": "A"}, {"id": "b", "type": "Sql", "statement": "B"}]}));
    world.host.broken = true;
    world.start();
    world.host.broken = false;
    world.retry(Some(&["b"])).expect("a retry");
    assert_eq!(world.status(), SubStatus::Faulted);
    assert_eq!(world.host.effects, ["B []"]);
    world.retry(None).expect("a retry");
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn another_branch_of_a_faulted_instance_can_be_resumed() {
    let mut world = World::started(json!({"type": "Parallel", "activities": [
        broken("f"), {"type": "Sequence", "activities": [event("e"), line("went on")]}]}));
    assert_eq!(world.status(), SubStatus::Faulted);
    world.resume("e", Value::Null);
    assert_eq!(world.lines(), ["went on"]);
    assert_eq!(world.status(), SubStatus::Faulted);
}

#[test]
fn a_callback_that_faults_keeps_its_bookmark_for_another_resume() {
    let mut world = World::new(json!([{"id": "a", "type": "Approval"}, line("End")]));
    world.host.functions.insert("Approval".into(), |_| Ok(json!({"bookmarks": [{"callback": "decide"}]})));
    world.host.functions.insert("decide".into(), |context| match context["input"].as_bool() {
        Some(true) => Ok(Value::Null),
        _ => Ok(json!({"unknown": 1})),
    });
    world.start();
    world.resume("a", json!(false));
    assert_eq!(world.status(), SubStatus::Faulted);
    assert!(world.last.keep_resumed && world.last.burned.is_empty());
    assert_eq!(world.waiting(), ["a"]);
    world.resume("a", json!(true));
    assert_eq!(world.status(), SubStatus::Finished);
    assert_eq!(world.lines(), ["End"]);
}

#[test]
fn retry_of_an_activity_that_faulted_in_its_callback_begins_it_anew() {
    let mut world = World::new(json!([{"id": "a", "type": "Approval"}]));
    world.host.functions.insert("Approval".into(), |_| Ok(json!({"bookmarks": [{"callback": "decide"}]})));
    world.host.functions.insert("decide".into(), |_| Ok(json!({"unknown": 1})));
    world.start();
    let first = world.bookmarks[0].id;
    world.resume("a", Value::Null);
    world.retry(None).expect("a retry");
    assert_eq!(world.status(), SubStatus::Suspended);
    assert_eq!(world.bookmarks.len(), 1);
    assert_ne!(world.bookmarks[0].id, first);
}

#[test]
fn an_unknown_activity_type_faults_when_it_is_reached() {
    let world = World::started(json!([line("before"), {"id": "x", "type": "Acme.Nothing"}]));
    assert_eq!(world.lines(), ["before"]);
    let fault = &world.last.incidents[0].fault;
    assert_eq!(fault.sqlstate, "42704");
    assert!(fault.message.contains("Acme.Nothing"), "{}", fault.message);
}

#[test]
fn a_condition_that_cannot_be_evaluated_names_its_input() {
    let world = World::started(json!([{"id": "i", "type": "If", "condition": {"sql": "raise"}}]));
    assert_eq!(world.last.incidents[0].activity_id, "i");
    assert_eq!(world.last.incidents[0].fault.context.as_deref(), Some("input \"condition\""));
}

#[test]
fn cancelling_a_faulted_instance_ends_it() {
    let mut world = World::started(json!([broken("f")]));
    world.cancel();
    assert_eq!(world.status(), SubStatus::Cancelled);
}
