//! State machines: states, and transitions that wait for their triggers.

use serde_json::{Value, json};
use workflow_engine::instance::SubStatus;
use workflow_engine::journal::EventKind;

use crate::support::{World, broken, event, line};

fn machine(states: Value, transitions: Value) -> Value {
    json!({"id": "machine", "type": "StateMachine", "states": states, "transitions": transitions})
}

/// A transition that an event triggers.
fn on(event_name: &str, from: &str, to: &str) -> Value {
    json!({"from": from, "to": to, "trigger": event(event_name)})
}

/// States that the machine entered, according to the journal.
fn entered(world: &World) -> Vec<&str> {
    let notes = world.trail.iter().filter(|event| event.kind == EventKind::Note && event.activity_id == "machine");
    notes.filter_map(|event| event.data.as_ref()?.0["state"].as_str()).collect()
}

#[test]
fn an_order_is_paid_and_shipped() {
    let transitions =
        json!([on("paid", "Open", "Paid"), on("withdrawn", "Open", "Cancelled"), on("shipped", "Paid", "Done")]);
    let states = json!(["Open", "Paid", "Cancelled", "Done"]);
    let mut world = World::started(json!([machine(states, transitions), line("end")]));
    assert_eq!(world.waiting(), ["paid", "withdrawn"]);
    world.resume("paid", Value::Null);
    assert_eq!(world.waiting(), ["shipped"]);
    assert_eq!(world.journaled(EventKind::Canceled), ["withdrawn"]);
    world.resume("shipped", Value::Null);
    assert_eq!((world.lines(), world.status()), (vec!["end"], SubStatus::Finished));
    assert_eq!(entered(&world), ["Open", "Paid", "Done"]);
}

#[test]
fn entry_comes_before_the_triggers_and_action_and_exit_after_the_one_that_wins() {
    let states = json!([
        {"name": "A", "entry": line("enter A"), "exit": line("leave A")},
        {"name": "B", "entry": line("enter B"), "exit": line("never")}]);
    let trigger = json!([line("armed"), event("go"), line("fired")]);
    let transitions = json!([{"from": "A", "to": "B", "trigger": trigger, "action": line("act")}]);
    let mut world = World::started(machine(states, transitions));
    assert_eq!(world.take_lines(), ["enter A", "armed"]);
    world.resume("go", Value::Null);
    assert_eq!(world.lines(), ["fired", "act", "leave A", "enter B"]);
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn it_begins_in_the_initial_state_or_in_the_first() {
    let states = json!([{"name": "A", "entry": line("a")}, {"name": "B", "entry": line("b")}]);
    let mut given = machine(states.clone(), json!([]));
    given["initialState"] = json!("B");
    assert_eq!(World::started(given).lines(), ["b"]);
    assert_eq!(World::started(machine(states, json!([]))).lines(), ["a"]);
    let empty = World::started(machine(json!([]), json!([])));
    assert_eq!(empty.status(), SubStatus::Finished);
}

#[test]
fn a_condition_that_does_not_hold_arms_its_trigger_again_and_leaves_the_others() {
    let mut first = on("answer", "Asked", "Approved");
    first["condition"] = json!({"js": "getLastResult() === 'yes'"});
    let mut world = World::started(machine(
        json!(["Asked", "Approved", "Expired"]),
        json!([first, on("late", "Asked", "Expired")]),
    ));
    world.resume("answer", json!("no"));
    assert_eq!(world.waiting(), ["late", "answer"]);
    world.resume("answer", json!("yes"));
    assert_eq!(world.status(), SubStatus::Finished);
    assert_eq!(entered(&world), ["Asked", "Approved"]);
}

#[test]
fn a_transition_without_trigger_is_taken_at_once_if_its_condition_holds() {
    let states = json!(["New", "Small", "Large", "Done"]);
    let transitions = |amount: i64| {
        json!([
            {"from": "New", "to": "Large", "condition": {"js": format!("{amount} > 100")}, "action": line("large")},
            {"from": "New", "to": "Small", "condition": {"js": format!("{amount} < 10")}},
            on("checked", "New", "Done"),
            {"from": "Small", "to": "Done"},
            on("approved", "Large", "Done")])
    };
    let world = World::started(machine(states.clone(), transitions(5)));
    assert_eq!(entered(&world), ["New", "Small", "Done"]);
    assert_eq!(world.status(), SubStatus::Finished);
    let world = World::started(machine(states.clone(), transitions(500)));
    assert_eq!((world.lines(), world.waiting()), (vec!["large"], vec!["approved"]));
    let world = World::started(machine(states, transitions(50)));
    assert_eq!(world.waiting(), ["checked"]);
}

#[test]
fn a_circle_without_trigger_is_a_fault_and_one_that_runs_something_is_counted_as_steps() {
    let transitions = json!([{"from": "A", "to": "B"}, {"from": "B", "to": "A"}]);
    let world = World::started(machine(json!(["A", "B"]), transitions.clone()));
    assert_eq!(world.last.incidents[0].fault.sqlstate, "54000");
    let mut world = World::new(machine(json!([{"name": "A", "entry": line("a")}, "B"]), transitions));
    world.limits.max_steps = 100;
    assert!(world.try_start(None, None).is_err());
}

#[test]
fn a_state_may_lead_to_itself_and_survives_any_number_of_rounds() {
    let states = json!([{"name": "On", "entry": line("on"), "exit": line("off")}, "End"]);
    let mut world = World::started(machine(states, json!([on("again", "On", "On"), on("stop", "On", "End")])));
    for _ in 0..3 {
        world.resume("again", Value::Null);
        assert_eq!(world.waiting(), ["again", "stop"]);
    }
    assert_eq!(world.lines(), ["on", "off", "on", "off", "on", "off", "on"]);
    world.resume("stop", Value::Null);
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn a_trigger_that_does_not_wait_beats_those_that_have_not_begun() {
    let transitions = json!([on("slow", "A", "Slow"), {"from": "A", "to": "Fast", "trigger": line("at once")}, on("later", "A", "Slow")]);
    let world = World::started(machine(json!(["A", "Slow", "Fast"]), transitions));
    assert_eq!((world.lines(), world.status()), (vec!["at once"], SubStatus::Finished));
    assert_eq!(entered(&world), ["A", "Fast"]);
    assert_eq!(world.journaled(EventKind::Canceled), ["slow"]);
}

#[test]
fn the_state_is_an_output() {
    let mut bound = machine(json!(["A", "B"]), json!([on("go", "A", "B")]));
    bound["state"] = json!({"var": "Where"});
    let mut world = World::started(json!({"variables": {"Where": null}, "root": bound}));
    assert_eq!(world.variable("Where"), "A");
    world.resume("go", Value::Null);
    assert_eq!(world.variable("Where"), "B");
}

#[test]
fn a_fault_in_an_action_keeps_the_machine_where_it_is_and_a_retry_goes_on() {
    let flaky = json!({"id": "ship", "type": "Sql", "statement": {"sql": "Statement"}});
    let mut go = on("go", "A", "B");
    go["action"] = flaky;
    let root = machine(json!(["A", {"name": "B", "entry": line("b")}]), json!([go]));
    let mut world = World::started(json!({"variables": {"Statement": "RAISE"}, "root": root}));
    world.resume("go", Value::Null);
    assert_eq!(world.status(), SubStatus::Faulted);
    world.instance.variables["Statement"] = json!("fine");
    world.retry(None).expect("a retry");
    assert_eq!((world.lines(), world.status()), (vec!["b"], SubStatus::Finished));
    assert_eq!(entered(&world), ["A", "B"]);
}

#[test]
fn a_condition_that_fails_keeps_the_state_and_a_retry_arms_its_triggers_again() {
    let mut second = on("check", "B", "C");
    second["condition"] = json!({"sql": "Condition"});
    let states = json!([{"name": "A", "entry": line("a")}, {"name": "B", "entry": line("b")}, "C"]);
    let root = machine(states, json!([on("go", "A", "B"), second, on("other", "B", "A")]));
    let mut world = World::started(json!({"variables": {"Condition": true}, "root": root}));
    world.resume("go", Value::Null);
    world.host.broken = true;
    world.resume("check", Value::Null);
    assert_eq!(world.status(), SubStatus::Faulted);
    world.host.broken = false;
    world.retry(None).expect("a retry");
    assert_eq!((world.lines(), world.waiting()), (vec!["a", "b"], vec!["check", "other"]));
    world.resume("check", Value::Null);
    assert_eq!(world.status(), SubStatus::Finished);
    assert_eq!(entered(&world), ["A", "B", "C"]);
}

#[test]
fn a_trigger_that_faults_leaves_the_others_armed() {
    let transitions = json!([{"from": "A", "to": "B", "trigger": broken("bad")}, on("good", "A", "B")]);
    let mut world = World::started(machine(json!(["A", "B"]), transitions));
    assert_eq!((world.status(), world.waiting()), (SubStatus::Faulted, vec!["good"]));
    world.resume("good", Value::Null);
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn the_trigger_that_started_the_run_need_not_wait_again() {
    let mut begin = on("ordered", "None", "Ordered");
    begin["trigger"]["canStartWorkflow"] = json!(true);
    let mut world = World::new(machine(json!(["None", "Ordered"]), json!([begin, on("other", "None", "Ordered")])));
    world.try_start(Some("ordered"), Some(&json!({"n": 1}))).expect("the burst ends");
    assert_eq!(world.status(), SubStatus::Finished);
    assert_eq!(entered(&world), ["None", "Ordered"]);
}

#[test]
fn break_in_a_state_leaves_the_loop_around_the_machine() {
    let states = json!([{"name": "A", "entry": {"type": "Break"}}]);
    let body = machine(states, json!([on("never", "A", "A")]));
    let world = World::started(json!([{"type": "While", "condition": true, "body": body}, line("end")]));
    assert_eq!((world.lines(), world.status()), (vec!["end"], SubStatus::Finished));
}
