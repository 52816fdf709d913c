//! Tasks that workers do not complete.

use serde_json::{Value, json};
use workflow_engine::Fault;
use workflow_engine::activity::Excluded;
use workflow_engine::definition::{ReadLimits, compile};
use workflow_engine::execution;
use workflow_engine::fault::TASK_FAILED;
use workflow_engine::instance::SubStatus;
use workflow_engine::journal::EventKind;
use workflow_engine::stimulus::{DEADLINE, LEASE, START_TIMEOUT, TIMEOUT};

use crate::support::{World, event, line};

fn task(more: Value) -> Value {
    let mut activity = json!({"id": "ask", "type": "RunTask", "taskName": "Ask"});
    activity.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    activity
}

fn declined() -> Fault {
    Fault { code: Some("declined".into()), ..Fault::new(TASK_FAILED, "the card was declined") }
}

#[test]
fn a_task_is_opened_with_its_priority() {
    let world = World::started(json!([task(json!({"priority": -3}))]));
    assert_eq!((world.last.tasks[0].priority, world.last.tasks[0].attempts), (-3, 0));
    let world = World::started(json!([task(json!({"priority": 3_000_000_000_i64}))]));
    assert_eq!(world.last.incidents[0].fault.sqlstate, "22003");
}

#[test]
fn a_task_says_for_whom_it_is_and_until_when() {
    let opened = |more: Value| {
        let mut world = World::started(json!([task(more)]));
        world.last.tasks.swap_remove(0).for_people
    };
    assert_eq!(opened(json!({"assignee": null, "candidates": []})), None);
    let given = json!({"assignee": " role:ada ", "candidates": ["role:clerks", "ben"], "deadline": "2 days",
        "form": {"title": "Leave"}, "resultSchema": {"type": "boolean"}});
    let now = chrono::DateTime::from_timestamp(1_800_000_000, 0).expect("the instant of the world");
    let for_people = opened(given).expect("it is for people");
    assert_eq!(for_people.assignee.as_deref(), Some("role:ada"));
    assert_eq!(for_people.candidates, ["role:clerks", "ben"]);
    assert_eq!(for_people.deadline, Some(now + chrono::TimeDelta::days(2)));
    assert_eq!(
        (for_people.form, for_people.result_schema),
        (Some(json!({"title": "Leave"})), Some(json!({"type": "boolean"})))
    );
    let at = opened(json!({"deadline": "2030-01-02T03:04:05+01:00"})).and_then(|given| given.deadline);
    assert_eq!(at.map(|at| at.to_rfc3339()).as_deref(), Some("2030-01-02T02:04:05+00:00"));
}

#[test]
fn a_deadline_ends_the_task_or_asks_others_once() {
    let deadline = |world: &World| world.bookmarks.iter().position(|made| made.name == DEADLINE);
    let started = |more: Value| World::started(json!([task(more), line("after")]));
    assert_eq!(deadline(&started(json!({"deadline": "1 day"}))), None, "it is for display");
    assert_eq!(deadline(&started(json!({"onDeadline": "expire"}))), None, "there is none");

    let activities = json!([task(json!({"deadline": "1 day", "onDeadline": "expire"})), line("late"), line("done")]);
    let connections = json!([["ask", "Expired", "WriteLine1"], ["ask", "Done", "WriteLine2"]]);
    let chart = json!({"type": "Flowchart", "activities": activities, "connections": connections});
    let mut world = World::started(chart.clone());
    let id = world.bookmarks[0].id;
    world.resume_at(deadline(&world).expect("a timer"), None);
    assert_eq!((world.status(), world.lines()), (SubStatus::Finished, vec!["late"]));
    assert_eq!((&world.last.ended_tasks[0].tasks[..], &*world.last.ended_tasks[0].outcome), (&[id][..], "Expired"));
    let mut world = World::started(chart);
    world.resume("ask", json!("yes"));
    assert_eq!((world.lines(), world.bookmarks.len()), (vec!["done"], 0));

    let mut world =
        started(json!({"assignee": "ada", "form": {"title": "Leave"}, "deadline": "1 day", "onDeadline": "escalate",
        "escalateTo": ["role:heads"]}));
    world.resume_at(deadline(&world).expect("a timer"), None);
    let for_people = world.last.tasks[0].for_people.as_ref().expect("it is for people");
    assert_eq!(
        (for_people.assignee.as_deref(), for_people.candidates.as_slice()),
        (None, &["role:heads".to_owned()][..])
    );
    assert_eq!((&for_people.form, for_people.deadline.is_some()), (&Some(json!({"title": "Leave"})), true));
    assert_eq!((world.bookmarks.len(), world.last.ended_tasks[0].outcome.as_str()), (1, "Escalated"));
    world.resume("ask", json!("yes"));
    assert_eq!((world.status(), world.lines()), (SubStatus::Finished, vec!["after"]));

    // Anyone with the right to resume could answer a task for nobody.
    let world = started(json!({"deadline": "1 day", "onDeadline": "escalate", "escalateTo": {"js": "[]"}}));
    assert_eq!(world.last.incidents[0].fault.message, "\"escalateTo\" must name somebody");
    let world = started(json!({"deadline": "1 day", "onDeadline": "escalate"}));
    assert_eq!(world.last.incidents[0].fault.message, "\"onDeadline\": \"escalate\" requires \"escalateTo\"");
}

#[test]
fn a_program_says_whom_its_tasks_exclude() {
    let read = |not: Value, limits: &ReadLimits| {
        let document = json!({"definitionId": "d", "root": task(json!({"not": not}))});
        compile(&document, &(), limits, false)
    };
    let excluded = |not: Value| {
        let program = read(not, &ReadLimits::default()).expect("acceptable");
        let root = program.node(program.find("ask").expect("an activity"));
        (program.excludes_people, root.activity.excluded(&root.inputs).ok())
    };
    for not in [json!(null), json!([]), json!("")] {
        assert_eq!(excluded(not), (false, Some(vec![])));
    }
    let both = vec![Excluded::Starter, Excluded::Answered("ask".to_owned())];
    for not in [json!(["starter", {"answered": "ask"}]), json!("[\"starter\", {\"answered\": \"ask\"}]")] {
        assert_eq!(excluded(not), (true, Some(both.clone())));
    }
    // A stored value that cannot be read excludes everybody.
    for not in [json!(["boss"]), json!({"js": "[]"}), json!([{"answered": ""}]), json!(true)] {
        assert_eq!(excluded(not.clone()), (true, None));
        let new = ReadLimits { is_new: true, ..ReadLimits::default() };
        assert!(read(not, &new).is_err());
    }
    let world = World::started(json!([task(json!({"not": ["boss"]}))]));
    assert_eq!(world.last.incidents[0].fault.sqlstate, "22023");
}

#[test]
fn the_failure_of_a_worker_is_the_fault_of_the_activity_and_no_policy_of_its_own_repeats_it() {
    let mut world = World::started(json!([task(json!({"retry": {"maxAttempts": 9}})), line("after")]));
    world.fail(0, 3, declined());
    assert_eq!((world.status(), world.bookmarks.len()), (SubStatus::Faulted, 0));
    assert_eq!(world.last.incidents[0].fault, declined());
    assert!(!world.last.keep_resumed);
    world.retry(None).expect("it has faulted");
    assert_eq!(world.last.tasks[0].attempts, 0);
    world.resume("ask", Value::Null);
    assert_eq!((world.status(), world.lines()), (SubStatus::Finished, vec!["after"]));
}

#[test]
fn a_container_around_it_may_begin_again() {
    let body = json!([line("body"), task(json!({}))]);
    let around = json!({"type": "Sequence", "activities": body, "retry": {"maxAttempts": 2, "delay": "0 s", "on": ["declined"]}});
    let mut world = World::started(json!([around]));
    world.fail(0, 1, declined());
    assert_eq!((world.lines(), world.status()), (vec!["body", "body"], SubStatus::Suspended));
    world.fail(0, 1, declined());
    assert_eq!(world.status(), SubStatus::Faulted);
}

#[test]
fn a_catch_learns_the_number_of_attempts() {
    let catch = json!([{"on": ["declined"], "variable": "E", "body": event("Repair")}]);
    let root = json!({"variables": {"E": null}, "root": {"type": "Try", "body": task(json!({})), "catch": catch}});
    let mut world = World::started(root);
    world.fail(0, 4, declined());
    assert_eq!((world.waiting(), world.variable("E")["attempts"].as_u64()), (vec!["Repair"], Some(4)));
}

#[test]
fn attempts_of_the_activity_before_the_task_count() {
    let mut world =
        World::started(json!([task(json!({"timeout": "1 hour", "retry": {"maxAttempts": 3, "delay": "0 s"}}))]));
    world.resume_at(1, None);
    assert_eq!(world.last.tasks[0].attempts, 1);
}

#[test]
fn the_end_of_the_last_lease_fails_the_activity() {
    let mut world = World::started(json!([task(json!({"timeout": "1 hour", "retry": {"maxAttempts": 5}}))]));
    world.lease(0, 5);
    assert_eq!(world.bookmarks[2].name, LEASE);
    world.resume_at(2, None);
    let fault = &world.last.incidents[0].fault;
    assert_eq!((fault.sqlstate.as_str(), fault.code.as_deref()), ("WF001", Some("lease_expired")));
    assert_eq!((world.status(), world.bookmarks.len()), (SubStatus::Faulted, 0));
}

#[test]
fn what_ends_the_wait_ends_the_last_lease() {
    for index in [0, 1] {
        let mut world = World::started(json!([task(json!({"timeout": "1 hour"}))]));
        world.lease(0, 1);
        world.resume_at(index, None);
        assert!(world.bookmarks.is_empty());
    }
    let mut world = World::started(json!([task(json!({}))]));
    world.lease(0, 1);
    world.fail(0, 1, declined());
    assert_eq!((world.journaled(EventKind::Faulted), world.bookmarks.len()), (vec!["ask"], 0));
}

#[test]
fn a_lease_that_is_given_back_is_not_counted() {
    let mut world = World::started(json!([task(json!({}))]));
    world.lease(0, 1);
    let lease = world.bookmarks.pop().expect("the lease");
    execution::drop_lease(&mut world.instance, lease.activity_instance_id);
    world.check();
    world.resume("ask", Value::Null);
    assert_eq!(world.status(), SubStatus::Finished);
}

/// The positions of bookmarks of a name.
fn at(world: &World, name: &str) -> Vec<usize> {
    (0..world.bookmarks.len()).filter(|index| world.bookmarks[*index].name == name).collect()
}

#[test]
fn a_task_that_no_worker_claims_in_time_is_the_fault_of_its_activity() {
    for (id, mut activity) in [
        ("ask", task(json!({}))),
        ("call", json!({"id": "call", "type": "SendHttpRequest", "url": "https://a.example"})),
    ] {
        activity["startTimeout"] = json!("10 minutes");
        let mut world = World::started(json!([activity, line("after")]));
        let [start] = at(&world, START_TIMEOUT)[..] else { panic!("one bookmark") };
        assert_eq!(world.bookmarks[start].due_at.expect("a due time").to_rfc3339(), "2027-01-15T08:10:00+00:00");
        world.resume_at(start, None);
        let fault = &world.last.incidents[0].fault;
        assert_eq!((fault.sqlstate.as_str(), fault.code.as_deref()), ("WF002", Some("timeout")));
        assert_eq!(fault.message, format!("no worker claimed the task of activity \"{id}\" within 600 s"));
        assert_eq!((world.status(), world.bookmarks.len()), (SubStatus::Faulted, 0));
    }
}

#[test]
fn another_attempt_or_a_connection_may_follow_it() {
    let ask = task(json!({"startTimeout": "1 minute", "retry": {"maxAttempts": 2, "delay": "0 s"}}));
    let chart = json!({"type": "Flowchart", "activities": [ask, {"id": "late", "type": "WriteLine", "text": "late"}],
        "connections": [["ask", "Timeout", "late"]]});
    let mut world = World::started(chart);
    let start = at(&world, START_TIMEOUT)[0];
    world.resume_at(start, None);
    assert_eq!((world.journaled(EventKind::Retrying), at(&world, START_TIMEOUT).len()), (vec!["ask"], 1));
    let start = at(&world, START_TIMEOUT)[0];
    world.resume_at(start, None);
    assert_eq!((world.status(), world.lines()), (SubStatus::Finished, vec!["late"]));
}

#[test]
fn the_first_claim_or_the_answer_ends_that_time() {
    let mut world = World::started(json!([task(json!({"startTimeout": "1 minute"}))]));
    let start = at(&world, START_TIMEOUT)[0];
    let gone = world.bookmarks.remove(start);
    execution::drop_lease(&mut world.instance, gone.activity_instance_id);
    world.check();
    world.resume("ask", Value::Null);
    assert_eq!(world.status(), SubStatus::Finished);
    let mut world = World::started(json!([task(json!({"startTimeout": "1 minute"}))]));
    world.resume("ask", Value::Null);
    assert_eq!((world.status(), world.bookmarks.len()), (SubStatus::Finished, 0));
}

#[test]
fn attempts_of_workers_count_when_the_time_of_the_activity_is_over() {
    let ask = task(json!({"timeout": "1 hour", "retry": {"maxAttempts": 5, "delay": "0 s"}}));
    let mut world = World::started(json!([ask]));
    let execution = world.bookmarks[0].activity_instance_id;
    execution::count_attempts(&mut world.instance, execution, 3);
    let timeout = at(&world, TIMEOUT)[0];
    world.resume_at(timeout, None);
    assert_eq!(world.last.tasks[0].attempts, 3);
    // A task that no worker has claimed since then has the attempts of the activity itself.
    let execution = world.bookmarks[0].activity_instance_id;
    execution::count_attempts(&mut world.instance, execution, 3);
    let timeout = at(&world, TIMEOUT)[0];
    world.resume_at(timeout, None);
    assert_eq!(world.last.tasks[0].attempts, 4);
}

#[test]
fn the_time_for_all_attempts_counts_from_the_first_one() {
    let ask = |retry: Value| World::started(json!([task(json!({"timeout": "1 hour", "retry": retry}))]));
    let began = |world: &World| execution::first_attempt(&world.instance, world.bookmarks[0].activity_instance_id);
    let world = ask(json!({"maxAttempts": 5, "within": "1 day"}));
    assert_eq!(began(&world).map(|began| began.timestamp()), Some(1_800_000_000));
    assert_eq!(began(&ask(json!({"maxAttempts": 5}))), None);
}
