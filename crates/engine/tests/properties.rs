//! Properties that hold for any definition and any order of events.
//!
//! `PROPTEST_CASES` sets the number of cases.

mod support;

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Map, Value, json};
use support::{World, line, program, set};
use workflow_engine::alteration::{Alteration, Target};
use workflow_engine::execution::sequence_of;
use workflow_engine::fault::{Error, Fault, TASK_FAILED};
use workflow_engine::instance::codec::{decode_state, encode_state};
use workflow_engine::instance::{ActivityStatus, SubStatus};
use workflow_engine::journal::{self, EventKind};
use workflow_engine::stimulus::{LEASE, RUN_TASK};
use workflow_engine::{Bookmark, NodeIx};

/// Activities without children that neither wait nor fault.
fn step() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => "[a-z]{1,3}".prop_map(|text| line(&text)),
        2 => Just(set("N", "N + 1")),
        1 => Just(json!({"type": "WriteLine", "text": {"var": "N"}})),
        1 => Just(json!({"type": "SetVariable", "variable": "N", "value": 7})),
        1 => Just(json!({"type": "SetOutput", "outputName": "O", "outputValue": {"var": "N"}})),
    ]
}

/// Activities that wait.
fn wait() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({"type": "Event", "eventName": "E"})),
        Just(json!({"type": "RunTask", "taskName": "t"})),
        Just(json!({"type": "RunTask", "taskName": "t", "startTimeout": "1 hour"})),
    ]
}

/// Activities that change where control goes.
fn jump() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({"type": "Break"})),
        Just(json!({"type": "End"})),
        Just(json!({"type": "Complete"})),
        Just(json!({"type": "Finish"})),
        Just(json!({"type": "Fault", "message": "no"})),
        Just(json!({"type": "Sql", "statement": "S"})),
        Just(json!({"type": "Compensate"})),
        Just(json!({"type": "Confirm"})),
    ]
}

/// The body of a handler.
fn handler() -> impl Strategy<Value = Value> {
    prop_oneof![
        2 => Just(Value::Null),
        2 => step(),
        1 => wait(),
        1 => Just(json!({"type": "Sql", "statement": "S"})),
        1 => Just(json!([{"type": "Event", "eventName": "E"}, {"type": "Sql", "statement": "S"}])),
        1 => Just(json!([{"type": "Compensate"}, {"type": "WriteLine", "text": "x"}])),
        1 => Just(json!({"type": "Finish"})),
    ]
}

/// A `Compensable` or a `CancellationScope`.
fn undone(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    (inner, handler(), handler(), handler(), any::<bool>()).prop_map(|(body, undo, keep, drop, is_scope)| {
        if is_scope {
            return json!({"type": "CancellationScope", "body": body, "cancellation": drop});
        }
        json!({"type": "Compensable", "body": body, "compensation": undo, "confirmation": keep, "cancellation": drop})
    })
}

fn list(item: impl Strategy<Value = Value>) -> impl Strategy<Value = Vec<Value>> {
    prop::collection::vec(item, 0..4)
}

/// Control flow in which activities run one after another.
fn sequential(leaf: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    let tree = leaf.prop_recursive(4, 24, 4, |inner| {
        let body = inner.clone();
        prop_oneof![
            list(inner.clone()).prop_map(|list| json!({"type": "Sequence", "activities": list})),
            (inner.clone(), inner.clone(), any::<bool>())
                .prop_map(|(a, b, condition)| { json!({"type": "If", "condition": condition, "then": a, "else": b}) }),
            (1..4i64, body.clone()).prop_map(|(n, body)| json!({"type": "For", "start": 1, "end": n, "body": body})),
            (prop::collection::vec(0..9i64, 0..4), body.clone())
                .prop_map(|(items, body)| json!({"type": "ForEach", "items": items, "body": body})),
            (any::<bool>(), body).prop_map(|(matching, body)| {
                json!({"type": "Switch", "cases": [{"label": "x", "condition": matching, "activity": body}]})
            }),
            list(inner).prop_map(chain),
        ]
    });
    tree.boxed()
}

/// A flowchart in which each activity leads to the next.
fn chain(mut activities: Vec<Value>) -> Value {
    let mut connections = Vec::new();
    for (index, activity) in activities.iter_mut().enumerate() {
        activity["id"] = json!(format!("c{index}"));
        if index > 0 {
            connections.push(json!([format!("c{}", index - 1), format!("c{index}")]));
        }
    }
    json!({"type": "Flowchart", "activities": activities, "connections": connections})
}

/// Everything: branches, joins of every mode, any connections, waiting, jumps and faults.
fn anything() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![6 => step(), 4 => wait(), 2 => jump()];
    let tree = leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            2 => list(inner.clone()).prop_map(|list| json!({"type": "Sequence", "activities": list})),
            2 => list(inner.clone()).prop_map(|list| json!({"type": "Parallel", "activities": list})),
            2 => (list(inner.clone()), any::<bool>()).prop_map(|(list, any)| {
                json!({"type": "Fork", "joinMode": if any { "WaitAny" } else { "WaitAll" }, "branches": list})
            }),
            1 => (1..4i64, inner.clone())
                .prop_map(|(n, body)| json!({"type": "For", "start": 1, "end": n, "body": body})),
            1 => (0..4i64, inner.clone()).prop_map(|(n, body)| {
                json!({"type": "ParallelForEach", "items": [1, 2, 3], "body": body,
                    "degreeOfParallelism": if n > 0 { json!(n) } else { Value::Null }})
            }),
            1 => inner.clone().prop_map(|body| {
                json!({"type": "While", "condition": {"sql": "N < 9"}, "body": [set("N", "N + 1"), body]})
            }),
            2 => machine(inner.clone()),
            2 => attempt(inner.clone()),
            2 => undone(inner.clone()),
            2 => (inner.clone(), retry()).prop_map(|(mut activity, policy)| {
                activity["retry"] = policy;
                activity
            }),
            1 => inner.clone().prop_map(|mut activity| {
                activity["timeout"] = json!("1 hour");
                activity
            }),
            3 => flowchart(inner),
        ]
    });
    tree.boxed()
}

/// A `Try` with a catch or without one, and with `finally` or without it.
fn attempt(inner: impl Strategy<Value = Value> + Clone) -> impl Strategy<Value = Value> {
    let catch = prop_oneof![Just(json!([])), inner.clone().prop_map(|body| json!([{"on": ["P0001"], "body": body}]))];
    let finally = prop_oneof![Just(Value::Null), inner.clone()];
    (inner, catch, finally)
        .prop_map(|(body, catch, finally)| json!({"type": "Try", "body": body, "catch": catch, "finally": finally}))
}

/// Many compensable activities, in lists that wait at the end.
fn taken_back() -> impl Strategy<Value = Value> {
    let word = prop_oneof![Just(json!({"type": "Compensate"})), Just(json!({"type": "Confirm"}))];
    let fault =
        prop_oneof![Just(json!({"type": "Fault", "message": "no"})), Just(json!({"type": "Sql", "statement": "S"}))];
    let leaf = prop_oneof![12 => step(), 6 => wait(), 2 => word, 1 => fault, 1 => jump()];
    let lists = |inner: BoxedStrategy<Value>, range| {
        (prop::collection::vec(inner, range), prop::bool::weighted(0.7)).prop_map(|(list, is_sequence)| {
            json!({"type": if is_sequence { "Sequence" } else { "Parallel" }, "activities": list})
        })
    };
    let tree = leaf.prop_recursive(3, 16, 3, move |inner| {
        prop_oneof![
            3 => lists(inner.clone(), 1..4),
            1 => (1..4i64, inner.clone())
                .prop_map(|(n, body)| json!({"type": "For", "start": 1, "end": n, "body": body})),
            1 => attempt(inner.clone()),
            5 => undone(inner),
        ]
    });
    let tree = tree.boxed();
    let trees = prop_oneof![1 => tree.clone(), 3 => undone(tree)];
    let end = json!({"type": "Event", "eventName": "end"});
    lists(trees.boxed(), 2..6).prop_map(move |list| json!({"type": "Sequence", "activities": [list, end.clone()]}))
}

/// Gives each `Compensable` an id, and lets each `Compensate` and `Confirm` name one, or none.
fn aim(root: &mut Value, targets: &[Option<Index>]) {
    let (mut ids, mut targets) = (Vec::new(), targets.iter().cycle());
    each_activity(root, &mut |activity| {
        if activity["type"] == "Compensable" {
            let new = json!(format!("k{}", ids.len()));
            let id = activity.entry("id").or_insert(new);
            ids.push(id.clone());
        }
    });
    each_activity(root, &mut |activity| {
        let is_aimed = activity["type"] == "Compensate" || activity["type"] == "Confirm";
        if let Some(Some(target)) = targets.next().filter(|_| is_aimed && !ids.is_empty()) {
            activity.insert("target".into(), ids[target.index(ids.len())].clone());
        }
    });
}

fn each_activity(value: &mut Value, call: &mut impl FnMut(&mut Map<String, Value>)) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(|one| each_activity(one, call)),
        Value::Object(members) => {
            if members.contains_key("type") {
                call(members);
            }
            members.values_mut().for_each(|one| each_activity(one, call));
        }
        _ => {}
    }
}

fn retry() -> impl Strategy<Value = Value> {
    (1..4u32, any::<bool>()).prop_map(|(attempts, waits)| {
        json!({"maxAttempts": attempts, "delay": if waits { "1 s" } else { "0 s" }, "within": "1 day"})
    })
}

fn flowchart(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let node = prop_oneof![
        3 => inner,
        1 => any::<bool>().prop_map(|c| json!({"type": "FlowDecision", "condition": c})),
        1 => Just(json!({"type": "FlowDecision", "condition": {"sql": "N < 5"}})),
        2 => prop::sample::select(vec!["WaitAny", "WaitAll", "WaitAllActive"])
            .prop_map(|mode| json!({"type": "FlowJoin", "mode": mode})),
    ];
    let merge = prop::sample::select(vec!["None", "Stream", "Merge", "Converge", "Cascade", "Race"]);
    let nodes = prop::collection::vec((node, merge), 1..7);
    let mode = prop::sample::select(vec!["counter", "token"]);
    let port = prop::sample::select(vec!["Done", "Done", "True", "False"]);
    let edges = prop::collection::vec((any::<Index>(), port, any::<Index>()), 0..10);
    (nodes, edges, mode).prop_map(|(nodes, edges, mode)| {
        let named = |(index, (mut node, merge)): (usize, (Value, &str))| {
            node["id"] = json!(format!("n{index}"));
            node["mergeMode"] = json!(merge);
            node
        };
        let nodes: Vec<Value> = nodes.into_iter().enumerate().map(named).collect();
        let name = |index: &Index| format!("n{}", index.index(nodes.len()));
        let connections: Vec<Value> =
            edges.iter().map(|(from, port, to)| json!([name(from), port, name(to)])).collect();
        json!({"type": "Flowchart", "mode": mode, "activities": nodes, "connections": connections})
    })
}

/// A state machine of up to three states.
fn machine(inner: impl Strategy<Value = Value> + Clone) -> impl Strategy<Value = Value> {
    let states = prop::collection::vec(prop::option::of(inner.clone()), 1..4);
    let one = (any::<Index>(), any::<Index>(), prop::option::weighted(0.8, inner.clone()), prop::option::of(inner));
    let transition = (one, prop::sample::select(vec![json!(true), json!({"sql": "N < 5"}), Value::Null]));
    (states, prop::collection::vec(transition, 0..5)).prop_map(|(states, transitions)| {
        let name = |index: &Index| format!("s{}", index.index(states.len()));
        let transitions: Vec<Value> = transitions.iter().map(|((from, to, trigger, action), condition)| {
            json!({"from": name(from), "to": name(to), "trigger": trigger, "action": action, "condition": condition})
        }).collect();
        let states: Vec<Value> = states
            .iter()
            .enumerate()
            .map(|(index, run)| json!({"name": format!("s{index}"), "entry": run, "exit": run}))
            .collect();
        // The reader generates the ids, as the same activity is in two places.
        json!({"type": "StateMachine", "states": states, "transitions": transitions})
    })
}

/// A flowchart without loops: lines, and optionally decisions, each connected only to later ones.
fn acyclic(decisions: bool) -> impl Strategy<Value = (Vec<Value>, Vec<Value>)> {
    let kind = prop_oneof![3 => Just(None), 1 => any::<bool>().prop_map(Some)];
    let nodes = prop::collection::vec(kind, 2..9);
    let edges = prop::collection::vec((any::<Index>(), any::<Index>(), any::<bool>()), 1..16);
    (nodes, edges).prop_map(move |(nodes, edges)| {
        let is_decision = |index: usize| decisions && index > 0 && nodes[index].is_some();
        let activities = (0..nodes.len()).map(|index| match nodes[index].filter(|_| is_decision(index)) {
            Some(value) => json!({"id": format!("n{index}"), "type": "FlowDecision", "condition": value}),
            None => json!({"id": format!("n{index}"), "type": "WriteLine", "text": format!("n{index}")}),
        });
        let connections = edges.iter().filter_map(|(from, to, port)| {
            let (from, to) = (from.index(nodes.len()), to.index(nodes.len()));
            let (from, to) = (from.min(to), from.max(to));
            let port = match (is_decision(from), port) {
                (false, _) => "Done",
                (true, true) => "True",
                (true, false) => "False",
            };
            (from < to).then(|| json!([format!("n{from}"), port, format!("n{to}")]))
        });
        // Every mode begins at the first activity.
        let connections = std::iter::once(json!(["start", "n0"])).chain(connections).collect();
        let start = json!({"id": "start", "type": "Start"});
        (std::iter::once(start).chain(activities).collect(), connections)
    })
}

/// The activities of a flowchart that completed, in order; `None` if the limit of steps was exceeded.
fn completed(mode: &str, merge: &str, (activities, connections): &(Vec<Value>, Vec<Value>)) -> Option<Vec<String>> {
    let mut activities = activities.clone();
    activities.iter_mut().for_each(|activity| activity["mergeMode"] = json!(merge));
    let mut world =
        world(json!({"type": "Flowchart", "mode": mode, "activities": activities, "connections": connections}));
    world.try_start(None, None).ok()?;
    assert_eq!(world.status(), SubStatus::Finished, "{:?}", world.last.incidents);
    Some(world.journaled(EventKind::Completed).into_iter().map(str::to_owned).collect())
}

fn world(root: Value) -> World {
    let mut world = World::new(json!({"variables": {"N": 0}, "root": root}));
    world.limits.max_steps = 3_000;
    world
}

/// Puts a wait before the activity with this number, counted in an arbitrary order.
fn cut(activity: &mut Value, at: &mut usize) {
    let members = activity.as_object_mut().expect("an activity");
    for key in ["activities", "branches"] {
        if let Some(Value::Array(children)) = members.get_mut(key) {
            children.iter_mut().for_each(|child| cut(child, at));
        }
    }
    for key in ["then", "else", "body"] {
        if let Some(child) = members.get_mut(key) {
            cut(child, at);
        }
    }
    if let Some(Value::Array(cases)) = members.get_mut("cases") {
        cases.iter_mut().for_each(|case| cut(&mut case["activity"], at));
    }
    if *at == 0 {
        let id = members.remove("id");
        let inner = activity.take();
        *activity = json!({"type": "Sequence", "activities": [{"type": "Event", "eventName": "cut"}, inner]});
        if let Some(id) = id {
            activity["id"] = id;
        }
    }
    *at = at.wrapping_sub(1);
}

fn outcome(world: &mut World) -> (Vec<String>, Value, Value) {
    let variables = Value::Object(world.instance.variables.clone());
    (world.take_lines(), variables, Value::Object(world.instance.output.clone()))
}

/// An external event of an instance.
#[derive(Clone, Debug)]
enum Happening {
    Resume(Index),
    /// A worker fails a task.
    Fail(Index),
    /// A worker claims a task for its last attempt.
    Lease(Index),
    Retry,
    RetryOne(Index),
    Break(bool),
    Alter(Vec<Wish>),
    Cancel,
}

fn happenings() -> impl Strategy<Value = Vec<Happening>> {
    let one = prop_oneof![
        10 => any::<Index>().prop_map(Happening::Resume),
        3 => any::<Index>().prop_map(Happening::Fail),
        3 => any::<Index>().prop_map(Happening::Lease),
        3 => Just(Happening::Retry),
        2 => any::<Index>().prop_map(Happening::RetryOne),
        2 => any::<bool>().prop_map(Happening::Break),
        3 => wishes().prop_map(Happening::Alter),
        1 => Just(Happening::Cancel),
    ];
    prop::collection::vec(one, 0..25)
}

/// One of the open tasks.
fn task(world: &World, index: &Index) -> Option<usize> {
    let tasks: Vec<usize> =
        (0..world.bookmarks.len()).filter(|at| world.bookmarks[*at].name == RUN_TASK.name).collect();
    (!tasks.is_empty()).then(|| tasks[index.index(tasks.len())])
}

/// An alteration, of the activity at this index if it names one.
#[derive(Clone, Debug)]
enum Wish {
    Set(i64),
    Schedule(Index),
    Cancel(Index),
    CancelAll,
}

fn wishes() -> impl Strategy<Value = Vec<Wish>> {
    let one = prop_oneof![
        3 => any::<i64>().prop_map(Wish::Set),
        4 => any::<Index>().prop_map(Wish::Schedule),
        4 => any::<Index>().prop_map(Wish::Cancel),
    ];
    (prop::collection::vec(one, 1..4), prop::bool::weighted(0.05)).prop_map(|(mut wishes, ends)| {
        wishes.extend(ends.then_some(Wish::CancelAll));
        wishes
    })
}

/// A plan of these alterations. Most of them name open activities.
fn plan(world: &World, wishes: &[Wish]) -> Vec<Alteration> {
    let open = world.instance.state.contexts.values().map(|context| context.node);
    let all = (0..world.program.nodes.len() as u32).map(NodeIx);
    let nodes: Vec<NodeIx> = open.clone().chain(open).chain(all).collect();
    let target = |index: &Index| Target {
        activity_id: Some(world.program.node(nodes[index.index(nodes.len())]).node_id.clone()),
        execution: None,
    };
    let alteration = |wish: &Wish| match wish {
        Wish::Set(value) => Alteration::ModifyVariable { name: "N".into(), value: json!(value), scope: None },
        Wish::Schedule(index) => Alteration::ScheduleActivity(target(index)),
        Wish::Cancel(index) => Alteration::CancelActivity(target(index)),
        Wish::CancelAll => Alteration::Cancel,
    };
    wishes.iter().map(alteration).collect()
}

/// Applies an event. A burst that exceeds its limit of steps is a valid end.
fn happen(world: &mut World, happening: &Happening) -> Result<(), Error> {
    match happening {
        Happening::Resume(index) if !world.bookmarks.is_empty() => {
            let index = index.index(world.bookmarks.len());
            world.try_resume(index, Some(&json!({"n": 1})))
        }
        Happening::Fail(index) => match task(world, index) {
            Some(task) => world.try_fail(task, 2, Fault::new(TASK_FAILED, "broken outside")),
            None => Ok(()),
        },
        Happening::Lease(index) => {
            if let Some(task) = task(world, index) {
                let execution = world.bookmarks[task].activity_instance_id;
                let is_leased = |made: &Bookmark| made.name == LEASE && made.activity_instance_id == execution;
                if !world.bookmarks.iter().any(is_leased) {
                    world.lease(task, 2);
                }
            }
            Ok(())
        }
        Happening::Retry if world.status() != SubStatus::Finished => world.retry(None),
        Happening::RetryOne(index) => {
            let contexts = world.instance.state.contexts.values();
            let faulted = contexts.filter(|context| context.status == ActivityStatus::Faulted);
            let ids: Vec<String> = faulted.map(|context| world.program.node(context.node).id.clone()).collect();
            match ids.as_slice() {
                [] => Ok(()),
                ids => world.retry(Some(&[ids[index.index(ids.len())].as_str()])),
            }
        }
        Happening::Break(broken) => {
            world.host.broken = *broken;
            Ok(())
        }
        Happening::Alter(wishes) => match world.alter(&plan(world, wishes)) {
            Err(Error::NotAltered(_)) => Ok(()),
            altered => altered,
        },
        Happening::Cancel => {
            world.cancel();
            Ok(())
        }
        Happening::Resume(_) | Happening::Retry => Ok(()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// A run that is interrupted anywhere by suspending, saving and loading ends the same.
    #[test]
    fn a_cut_changes_nothing(mut root in sequential(step().boxed()), at in 0usize..40) {
        let mut whole = world(root.clone());
        whole.start();
        prop_assert_eq!(whole.status(), SubStatus::Finished);
        cut(&mut root, &mut at.clone());
        let mut parts = world(root);
        parts.start();
        parts.run_to_end();
        prop_assert_eq!(parts.status(), SubStatus::Finished);
        prop_assert_eq!(outcome(&mut parts), outcome(&mut whole));
    }

    /// The invariants hold for any order of events (the world checks them after each burst).
    #[test]
    fn any_order_of_events_keeps_the_invariants(root in anything(), is_bounded: bool, happenings in happenings()) {
        let options = if is_bounded { json!({"timeout": "1 hour"}) } else { json!({}) };
        let mut world = World::new(json!({"options": options, "variables": {"N": 0}, "root": root}));
        world.limits.max_steps = 3_000;
        if world.try_start(None, None).is_err() {
            return Ok(());
        }
        for happening in &happenings {
            if happen(&mut world, happening).is_err() {
                return Ok(());
            }
            if world.status() == SubStatus::Cancelled || world.instance.has_failed() {
                break;
            }
        }
    }

    /// A plan of alterations is applied completely or not at all.
    #[test]
    fn a_plan_is_applied_wholly_or_not_at_all(root in anything(), happenings in happenings(), wishes in wishes()) {
        let mut world = World::new(json!({"variables": {"N": 0}, "root": root}));
        world.limits.max_steps = 3_000;
        if world.try_start(None, None).is_err() || happenings.iter().any(|one| happen(&mut world, one).is_err()) {
            return Ok(());
        }
        let (before, said) = (format!("{:?} {:?}", world.instance, world.bookmarks), world.trail.len());
        let plan = plan(&world, &wishes);
        let made = world.alter(&plan);
        let altered: Vec<&Value> = world.trail[said..].iter().filter(|event| event.kind == EventKind::Altered)
            .map(|event| &event.data.as_ref().expect("data").0["type"]).collect();
        match made {
            Ok(()) => for alteration in &plan {
                prop_assert!(altered.contains(&&json!(alteration.kind())), "{:?} was made", alteration);
            },
            Err(Error::NotAltered(problems)) => {
                prop_assert!(!problems.is_empty() && altered.is_empty());
                prop_assert_eq!(format!("{:?} {:?}", world.instance, world.bookmarks), before);
            }
            Err(_) => {}
        }
    }

    /// Each completed `Compensable` is compensated, or confirmed, or named when the remaining ones are dropped, only
    /// once and in order, even if bursts are rolled back and servers crash.
    #[test]
    fn what_completed_is_handled_once(
        mut root in prop_oneof![1 => anything(), 3 => taken_back()],
        targets in prop::collection::vec(prop::option::of(any::<Index>()), 1..5),
        happenings in happenings(),
        losses in prop::collection::vec(prop::option::weighted(0.3, any::<bool>()), 1..25),
        on in prop::array::uniform2(prop::bool::weighted(0.7)),
        by_force in prop::bool::weighted(0.2),
    ) {
        let words = ["cancel", "fault"].into_iter().zip(on).filter(|(_, on)| *on).map(|(word, _)| word);
        let on: Vec<&str> = words.collect();
        aim(&mut root, &targets);
        let definition = json!({"options": {"compensateOn": on}, "variables": {"N": 0}, "root": root});
        let mut world = World::new(definition.clone());
        world.limits.max_steps = 3_000;
        let mut losses = losses.into_iter().cycle();
        let mut serve = |world: &mut World, call: &dyn Fn(&mut World) -> Result<(), Error>| {
            if let Some(Some(is_killed)) = losses.next() {
                let _ = world.transact(false, call);
                if is_killed {
                    // Another server compiles the definition again.
                    world.program = program(definition.clone());
                }
            }
            world.transact(true, call)
        };
        if serve(&mut world, &|world| world.try_start(None, None)).is_err() {
            return Ok(());
        }
        for happening in &happenings {
            // An error rolls its burst back.
            let _ = serve(&mut world, &|world| happen(world, happening));
        }
        world.host.broken = false;
        let cancel: fn(&mut World) = if by_force { World::cancel_by_force } else { World::cancel };
        let cancelled = serve(&mut world, &|world| {
            cancel(world);
            Ok(())
        });
        prop_assert_eq!(cancelled, Ok(()));
        // Handlers may wait, and failed ones are retried.
        for _ in 0..1_000 {
            let ended = matches!(world.status(), SubStatus::Finished | SubStatus::Cancelled);
            let is_over = ended || world.status() == SubStatus::Faulted && world.instance.state.contexts.is_empty();
            if is_over {
                break;
            }
            let outcome = serve(&mut world, &|world| match world.status() {
                SubStatus::Faulted => world.retry(None),
                _ => world.try_resume(0, None),
            });
            if outcome.is_err() {
                return Ok(());
            }
        }
        prop_assert!(world.host.records.is_empty());
        world.check_handled();
    }

    /// A run that is cancelled anywhere is compensated in the reverse order of completion, with waits or without.
    #[test]
    fn a_cancel_takes_back_in_reverse(waits in prop::collection::vec((any::<bool>(), any::<bool>()), 1..8), at in 0usize..8) {
        let one = |(number, (waits, slow)): (usize, &(bool, bool))| {
            let event = json!({"type": "Event", "eventName": "E"});
            let body = if *waits { json!([event.clone(), line("x")]) } else { line("x") };
            let undo = if *slow { json!([event, line(&format!("{number}"))]) } else { line(&format!("{number}")) };
            json!({"id": format!("c{number}"), "type": "Compensable", "body": body, "compensation": undo})
        };
        let steps: Vec<Value> = waits.iter().enumerate().map(one).chain([json!({"type": "Event", "eventName": "end"})]).collect();
        let mut world = world(json!(steps));
        world.start();
        for _ in 0..at.min(waits.iter().filter(|(waits, _)| *waits).count()) {
            world.resume_at(0, None);
        }
        let done: Vec<String> = world.journaled(EventKind::Completed).into_iter().filter(|id| id.starts_with('c')).map(str::to_owned).collect();
        world.cancel();
        world.run_to_end();
        prop_assert_eq!(world.status(), SubStatus::Cancelled);
        let undone: Vec<&str> = world.journaled(EventKind::Compensated);
        let reversed: Vec<&str> = done.iter().rev().map(String::as_str).collect();
        prop_assert_eq!(undone, reversed);
    }

    /// Without loops, both modes run the same activities, but token mode may run one more than once.
    #[test]
    fn both_modes_run_the_same_activities(chart in acyclic(true)) {
        let set = |list: Vec<String>| list.into_iter().collect::<BTreeSet<_>>();
        let counter = set(completed("counter", "None", &chart).expect("each runs once"));
        for merge in ["Stream", "Cascade"] {
            if let Some(token) = completed("token", merge, &chart) {
                prop_assert_eq!(&set(token), &counter);
            }
        }
    }

    /// If every connection is followed, an activity that waits for all of them runs once, in both modes.
    #[test]
    fn where_all_is_taken_merging_is_counting(chart in acyclic(false)) {
        let sorted = |list: Option<Vec<String>>| {
            let mut list = list.expect("each runs once");
            list.sort();
            list
        };
        let counter = sorted(completed("counter", "None", &chart));
        for merge in ["Merge", "Converge"] {
            // An activity that the start does not reach sends no token, and `Converge` waits for its token.
            let token = sorted(completed("token", merge, &chart));
            if merge == "Merge" || token.len() == counter.len() {
                prop_assert_eq!(&token, &counter);
            }
            prop_assert!(token.windows(2).all(|pair| pair[0] != pair[1]));
        }
    }

    /// A burst depends only on the stored instance and its input.
    #[test]
    fn bursts_are_deterministic(root in anything(), picks in prop::collection::vec(any::<Index>(), 0..12)) {
        let (mut one, mut two) = (world(root.clone()), world(root));
        prop_assert_eq!(one.try_start(None, None), two.try_start(None, None));
        for pick in picks {
            if one.bookmarks.is_empty() || one.instance.sub_status == SubStatus::Executing {
                break;
            }
            let index = pick.index(one.bookmarks.len());
            let ends = one.try_resume(index, None);
            prop_assert_eq!(&ends, &two.try_resume(index, None));
            if ends.is_err() {
                return Ok(());
            }
            prop_assert_eq!(&one.last, &two.last);
            prop_assert_eq!(&one.instance, &two.instance);
        }
    }

    /// A fault leaves the instance as the activity found it: a retry after the cause is removed ends as if there had
    /// been no fault.
    #[test]
    fn a_retry_ends_as_if_nothing_had_been_wrong(
        root in sequential(prop_oneof![3 => step(), 1 => Just(json!({"type": "Sql", "statement": "S"}))].boxed()),
    ) {
        let mut healthy = world(root.clone());
        healthy.start();
        let mut sick = world(root);
        sick.host.broken = true;
        sick.start();
        sick.host.broken = false;
        if sick.status() == SubStatus::Faulted {
            sick.retry(None).expect("a retry");
        }
        prop_assert_eq!(sick.status(), SubStatus::Finished);
        prop_assert_eq!(&sick.host.effects, &healthy.host.effects);
        prop_assert_eq!(outcome(&mut sick), outcome(&mut healthy));
    }

    /// A retry policy does the same without a caller, when its bookmarks are due.
    #[test]
    fn a_policy_ends_as_if_nothing_had_been_wrong(
        root in sequential(prop_oneof![3 => step(), 1 => Just(json!({"type": "Sql", "statement": "S"}))].boxed()),
    ) {
        let mut healthy = world(root.clone());
        healthy.start();
        let options = json!({"retry": {"maxAttempts": 2}});
        let mut sick = World::new(json!({"options": options, "variables": {"N": 0}, "root": root}));
        sick.limits.max_steps = 3_000;
        sick.host.broken = true;
        sick.start();
        sick.host.broken = false;
        sick.run_to_end();
        prop_assert_eq!(sick.status(), SubStatus::Finished);
        prop_assert_eq!(sick.instance.incident_count, 0);
        prop_assert_eq!(&sick.host.effects, &healthy.host.effects);
        prop_assert_eq!(outcome(&mut sick), outcome(&mut healthy));
    }

    /// Decoding damaged bytes does not panic, and an id of an execution belongs to one instance only.
    #[test]
    fn damaged_bytes_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..200), sequence: u32) {
        let _ = decode_state(&bytes);
        let _ = journal::decode(&bytes);
        // The formats of states and journals.
        for format in [2, 3, 4, 5] {
            let mut marked = vec![format];
            marked.extend(&bytes);
            if let Ok(state) = decode_state(&marked) {
                prop_assert_eq!(decode_state(&encode_state(&state)).expect("readable"), state);
            }
            let _ = journal::decode(&marked);
        }
        let id = uuid::Uuid::from_u128(u128::from(sequence) << 64 | 7);
        let execution = workflow_engine::execution::activity_instance_id(id, sequence);
        prop_assert_eq!(sequence_of(id, execution), Some(sequence));
    }
}
