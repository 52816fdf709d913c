//! Faults handled by an enclosing activity. These tests define their own activities.

use serde_json::{Value, json};
use workflow_engine::activity::{Activity, Descriptor};
use workflow_engine::execution::{Child, Execution, Faulted};
use workflow_engine::fault::Fault;
use workflow_engine::instance::SubStatus;
use workflow_engine::journal::EventKind;

use crate::support::{World, broken, event, line, program};

/// Replaces an `If`: runs `then`, and `else` when something below `then` has faulted.
#[derive(Debug)]
struct Try;

/// The same, but it faults at every fault below it.
#[derive(Debug)]
struct TryBadly;

static DESCRIPTOR: Descriptor = Descriptor { type_name: "Elsa.If", ports: &["then", "else"], ..Descriptor::BASE };

const BODY: u32 = 0;
const HANDLER: u32 = 1;

fn schedule(cx: &mut Execution<'_>, port: u32) -> Result<(), Fault> {
    match cx.node().ports[port as usize] {
        Some(child) => cx.schedule(child, port, Vec::new()),
        None => cx.complete(),
    }
}

impl Activity for Try {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        schedule(cx, BODY)
    }

    fn child_faulted(&self, cx: &mut Execution<'_>, child: &Child, faulted: &Faulted<'_>) -> Result<bool, Fault> {
        if child.tag == HANDLER {
            return Ok(false);
        }
        cx.write_line(format!("taken: {}", faulted.fault.message));
        schedule(cx, HANDLER)?;
        Ok(true)
    }
}

impl Activity for TryBadly {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        schedule(cx, BODY)
    }

    fn child_faulted(&self, cx: &mut Execution<'_>, _child: &Child, _faulted: &Faulted<'_>) -> Result<bool, Fault> {
        cx.write_line("undone".into());
        Err(Fault::new("P0001", "failed over it"))
    }
}

fn attempt(id: &str, body: Value, handler: Value) -> Value {
    json!({"id": id, "type": "If", "condition": true, "then": body, "else": handler})
}

/// A world in which the activities with these ids have these implementations.
fn world(definition: Value, behaviours: &[(&str, &'static dyn Activity)]) -> World {
    let mut program = program(definition);
    for (id, behaviour) in behaviours {
        let node = program.nodes.iter_mut().find(|node| node.id == *id).expect("an activity");
        node.activity = *behaviour;
    }
    World::of(program, json!({}))
}

fn started(definition: Value, behaviours: &[(&str, &'static dyn Activity)]) -> World {
    let mut world = world(definition, behaviours);
    world.start();
    world
}

#[test]
fn a_fault_that_is_taken_is_no_incident_and_the_flow_goes_on() {
    let body = json!({"type": "Sequence", "activities": [line("a"), broken("f"), line("no")]});
    let world = started(json!([attempt("try", body, line("handled")), line("after")]), &[("try", &Try)]);
    assert_eq!(world.lines(), ["a", "taken: broken", "handled", "after"]);
    assert_eq!(world.status(), SubStatus::Finished);
    assert!(world.last.incidents.is_empty());
    assert_eq!(world.instance.incident_count, 0);
    assert_eq!(world.journaled(EventKind::Faulted), ["f"]);
}

#[test]
fn what_ran_beside_it_below_the_same_child_is_cancelled() {
    let body = json!({"type": "Parallel", "activities": [event("E"), broken("f")]});
    let handler = json!({"id": "handler", "type": "Event", "eventName": "H"});
    let world = started(json!([attempt("try", body, handler)]), &[("try", &Try)]);
    assert_eq!(world.waiting(), ["handler"]);
    assert_eq!(world.status(), SubStatus::Suspended);
}

#[test]
fn what_runs_elsewhere_goes_on() {
    let branches = json!([attempt("try", broken("f"), line("handled")), event("E")]);
    let mut world = started(json!([{"type": "Parallel", "activities": branches}, line("after")]), &[("try", &Try)]);
    assert_eq!(world.lines(), ["taken: broken", "handled"]);
    world.resume_at(0, None);
    assert_eq!(world.lines().last(), Some(&"after"));
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn a_bookmark_whose_resumption_faults_is_used_up_when_the_fault_is_taken() {
    let ask = json!({"id": "ask", "type": "Approval"});
    let mut world = world(json!([attempt("try", ask, line("handled"))]), &[("try", &Try)]);
    world.host.functions.insert("Approval".into(), |_| Ok(json!({"bookmarks": [{"callback": "decide"}]})));
    world.host.functions.insert("decide".into(), |_| Err(Fault::new("P0001", "undecided")));
    world.start();
    assert_eq!(world.waiting(), ["ask"]);
    world.resume_at(0, None);
    assert!(!world.last.keep_resumed, "otherwise it would be kept");
    assert_eq!(world.lines(), ["taken: undecided", "handled"]);
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn the_innermost_that_takes_it_has_it() {
    let inner = attempt("inner", broken("f"), line("inner"));
    let definition = json!([attempt("outer", inner, line("outer"))]);
    let behaviours: [(&str, &'static dyn Activity); 2] = [("inner", &Try), ("outer", &Try)];
    assert_eq!(started(definition, &behaviours).lines(), ["taken: broken", "inner"]);
}

#[test]
fn a_fault_of_the_handler_goes_further_out() {
    let inner = attempt("inner", broken("f"), broken("g"));
    let definition = json!([attempt("outer", inner, line("outer"))]);
    let behaviours: [(&str, &'static dyn Activity); 2] = [("inner", &Try), ("outer", &Try)];
    let world = started(definition, &behaviours);
    assert_eq!(world.lines(), ["taken: broken", "taken: broken", "outer"]);
    assert_eq!(world.journaled(EventKind::Faulted), ["f", "g"]);
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn one_that_fails_over_a_fault_leaves_both_as_incidents() {
    let definition = json!([attempt("bad", broken("f"), line("no"))]);
    let world = started(definition, &[("bad", &TryBadly)]);
    assert!(world.journaled(EventKind::Line).is_empty(), "what it did is undone");
    let incidents: Vec<_> = world.last.incidents.iter().map(|incident| incident.activity_id.as_str()).collect();
    assert_eq!(incidents, ["bad", "f"]);
    assert_eq!((world.status(), world.instance.incident_count), (SubStatus::Faulted, 2));
}

#[test]
fn a_second_fault_that_is_taken_takes_the_first_with_it() {
    let inner = attempt("bad", broken("f"), line("no"));
    let behaviours: [(&str, &'static dyn Activity); 2] = [("bad", &TryBadly), ("outer", &Try)];
    let world = started(json!([attempt("outer", inner, line("outer"))]), &behaviours);
    assert_eq!(world.lines()[1..], ["taken: failed over it", "outer"]);
    assert!(world.last.incidents.is_empty());
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn effects_of_the_faulted_call_are_undone_before_it_is_taken() {
    let body = json!([{"type": "Sql", "statement": "kept"}, {"type": "If", "condition": {"sql": "broken"}, "then": line("no")}]);
    let mut world = world(json!([attempt("try", body, line("handled"))]), &[("try", &Try)]);
    world.host.broken = true;
    world.start();
    assert_eq!(world.lines().last(), Some(&"handled"));
    assert!(world.host.effects.is_empty());
}
