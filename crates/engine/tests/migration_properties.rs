//! Migration at any point: to an equivalent definition, and to one with an additional step.
//!
//! The other definition has other ids, branches in another order, and inserted steps that do nothing. The mapping
//! follows from the ids. A migrated instance must then end like one that was not migrated. `PROPTEST_CASES` sets the
//! number of cases.

mod support;

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Map, Value, json};
use support::{World, event, line, set};
use workflow_engine::execution::sequence_of;
use workflow_engine::instance::SubStatus;
use workflow_engine::migration::{Severity, Timers};

/// An activity without children.
fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => Just(event("E")),
        1 => Just(json!({"type": "RunTask", "taskName": "t"})),
        2 => Just(line("x")),
        2 => Just(set("N", "N + 1")),
    ]
}

/// Any definition without faults and jumps, whose activities wait somewhere.
fn tree() -> impl Strategy<Value = Value> {
    tree_with(|inner| {
        inner.prop_map(|body| json!({"type": "Compensable", "body": body, "confirmation": line("kept")})).boxed()
    })
}

/// Any such definition with handlers that may wait.
fn tree_with_handlers() -> impl Strategy<Value = Value> {
    tree_with(|inner| {
        let compensable = (inner.clone(), prop::option::of(leaf()), prop::option::of(leaf()));
        prop_oneof![
            compensable.prop_map(|(body, confirmation, cancellation)| {
                let undo = line("undone");
                let handlers =
                    [("confirmation", confirmation), ("cancellation", cancellation), ("compensation", Some(undo))];
                let mut compensable = json!({"type": "Compensable", "body": body});
                for (way, handler) in handlers {
                    compensable[way] = handler.unwrap_or_default();
                }
                compensable
            }),
            (inner, prop::option::of(leaf())).prop_map(|(body, handler)| {
                json!({"type": "CancellationScope", "body": body, "cancellation": handler})
            }),
        ]
        .boxed()
    })
}

/// Any such definition; `scopes` builds the parts that can be compensated.
fn tree_with(scopes: fn(BoxedStrategy<Value>) -> BoxedStrategy<Value>) -> impl Strategy<Value = Value> {
    let tree = leaf().prop_recursive(4, 24, 4, move |inner| {
        let list = || prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            3 => list().prop_map(|list| json!({"type": "Sequence", "activities": list})),
            2 => list().prop_map(|list| json!({"type": "Parallel", "activities": list})),
            2 => (list(), any::<bool>()).prop_map(|(list, any)| {
                json!({"type": "Fork", "joinMode": if any { "WaitAny" } else { "WaitAll" }, "branches": list})
            }),
            1 => (inner.clone(), any::<bool>()).prop_map(|(then, condition)| {
                json!({"type": "If", "condition": condition, "then": then, "else": line("else")})
            }),
            1 => inner.clone().prop_map(|body| json!({"type": "ForEach", "items": [1, 2], "body": body})),
            1 => inner.clone().prop_map(|body| json!({"type": "ParallelForEach", "items": [1, 2], "body": body})),
            1 => inner.clone().prop_map(|body| json!({"type": "Try", "body": body, "finally": line("finally")})),
            1 => scopes(inner.clone()),
            2 => (list(), any::<bool>()).prop_map(|(list, tokens)| chain(list, tokens)),
            2 => (list(), any::<bool>()).prop_map(|(list, tokens)| fork(list, tokens)),
        ]
    });
    tree.prop_map(|root| {
        let mut root = json!({"type": "Sequence", "activities": [root]});
        name(&mut root, &mut 0);
        root
    })
}

fn mode(tokens: bool) -> &'static str {
    if tokens { "Token" } else { "Counter" }
}

/// A flowchart in which each activity leads to the next. Connections name activities by position until [`name`].
fn chain(activities: Vec<Value>, tokens: bool) -> Value {
    let connections: Vec<Value> = (1..activities.len()).map(|at| json!([at - 1, at])).collect();
    json!({"type": "Flowchart", "mode": mode(tokens), "activities": activities, "connections": connections})
}

/// A flowchart whose branches start together and join again.
fn fork(branches: Vec<Value>, tokens: bool) -> Value {
    let count = branches.len();
    let ports: Vec<String> = (0..count).map(|at| format!("p{at}")).collect();
    let out = (0..count).map(|at| json!([0, format!("p{at}"), at + 1]));
    let connections: Vec<Value> = out.chain((0..count).map(|at| json!([at + 1, count + 1]))).collect();
    let mut activities = vec![json!({"type": "FlowFork", "branches": ports})];
    activities.extend(branches);
    activities.push(json!({"type": "WriteLine", "text": "joined", "mergeMode": "Merge"}));
    json!({"type": "Flowchart", "mode": mode(tokens), "activities": activities, "connections": connections})
}

/// Calls `each` for every activity, the inner ones first.
fn walk(activity: &mut Value, each: &mut dyn FnMut(&mut Map<String, Value>)) {
    let members = activity.as_object_mut().expect("an activity");
    for key in ["activities", "branches"] {
        if let Some(Value::Array(children)) = members.get_mut(key) {
            children.iter_mut().filter(|child| child.is_object()).for_each(|child| walk(child, each));
        }
    }
    for key in ["then", "else", "body", "finally", "confirmation", "compensation", "cancellation"] {
        if let Some(child) = members.get_mut(key).filter(|child| !child.is_null()) {
            walk(child, each);
        }
    }
    each(members);
}

/// Gives each activity a unique id, and connections the ids of their ends.
fn name(root: &mut Value, count: &mut usize) {
    walk(root, &mut |members| {
        members.insert("id".into(), json!(format!("n{count}")));
        *count += 1;
        let ids: Vec<Value> = match members.get("activities") {
            Some(Value::Array(children)) => children.iter().map(|child| child["id"].clone()).collect(),
            _ => Vec::new(),
        };
        for connection in members.get_mut("connections").and_then(Value::as_array_mut).into_iter().flatten() {
            for end in connection.as_array_mut().expect("a connection") {
                if let Some(at) = end.as_u64() {
                    *end = ids[at as usize].clone();
                }
            }
        }
    });
}

/// How the other definition differs.
#[derive(Clone, Copy, Debug)]
struct Differences {
    renamed: bool,
    reordered: bool,
    inserted: bool,
}

fn differences() -> impl Strategy<Value = Differences> {
    any::<(bool, bool, bool)>().prop_map(|(renamed, reordered, inserted)| Differences { renamed, reordered, inserted })
}

/// An equivalent definition, and the mapping to it.
fn rewritten(root: &Value, how: Differences) -> (Value, Map<String, Value>) {
    let (mut new, mut mapping, mut added) = (root.clone(), Map::new(), 0);
    let renamed = |id: &Value| json!(format!("m{}", id.as_str().expect("an id")));
    walk(&mut new, &mut |members| {
        if how.renamed {
            let id = members["id"].clone();
            mapping.insert(id.as_str().expect("an id").to_owned(), renamed(&id));
            members.insert("id".into(), renamed(&id));
            for connection in members.get_mut("connections").and_then(Value::as_array_mut).into_iter().flatten() {
                let ends = connection.as_array_mut().expect("a connection");
                let last = ends.len() - 1;
                (ends[0], ends[last]) = (renamed(&ends[0]), renamed(&ends[last]));
            }
        }
        let kind = members["type"].as_str().expect("a type").to_owned();
        if how.reordered && ["Parallel", "Fork"].contains(&kind.as_str()) {
            let key = if kind == "Fork" { "branches" } else { "activities" };
            members.get_mut(key).and_then(Value::as_array_mut).expect("branches").reverse();
        }
        // The order in a flowchart is that of its connections, except for the start.
        if how.reordered && kind == "Flowchart" {
            members.get_mut("activities").and_then(Value::as_array_mut).expect("activities")[1..].reverse();
        }
        if how.inserted && kind == "Sequence" {
            let steps = members.get_mut("activities").and_then(Value::as_array_mut).expect("steps");
            for at in (0..=steps.len()).rev() {
                steps.insert(
                    at,
                    json!({"id": format!("added{added}"), "type": "SetVariable", "variable": "Z", "value": 1}),
                );
                added += 1;
            }
        }
    });
    (new, mapping)
}

fn definition(root: &Value) -> Value {
    json!({"definitionId": "w", "variables": {"N": 0, "Z": 0}, "root": root})
}

/// Resumes the execution selected by the index; executions have the same order in both definitions.
fn resume(world: &mut World, at: Index) -> bool {
    if world.bookmarks.is_empty() {
        return false;
    }
    let at = at.index(world.bookmarks.len());
    world.resume_at(at, None);
    true
}

/// How it ended: its lines sorted, because branches may change places, and its variables.
fn end(world: &World) -> (SubStatus, Vec<String>, Value) {
    let mut lines: Vec<String> = world.lines().into_iter().map(str::to_owned).collect();
    lines.sort();
    (world.status(), lines, world.variable("N").clone())
}

fn named(world: &World) -> BTreeSet<u32> {
    world.bookmarks.iter().filter_map(|one| sequence_of(world.instance.id, one.activity_instance_id)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_instance_ends_as_if_it_had_stayed(
        root in tree(),
        how in differences(),
        before in prop::collection::vec(any::<Index>(), 0..5),
        after in prop::collection::vec(any::<Index>(), 40),
    ) {
        let (new, mapping) = rewritten(&root, how);
        let (old, new) = (definition(&root), definition(&new));
        let (mut stays, mut goes) = (World::started(old.clone()), World::started(old.clone()));
        for at in before {
            resume(&mut stays, at);
            resume(&mut goes, at);
        }
        if goes.status() == SubStatus::Finished {
            return Ok(());
        }
        let waiting = named(&goes);
        let problems = goes.migrate((&old, &new), &Value::Object(mapping), Timers::Keep).expect("it can go on");
        prop_assert!(problems.is_empty(), "{problems:?}");
        prop_assert_eq!(named(&goes), waiting);
        // Parallel branches may start in another order, so everything that waits is resumed.
        for at in after {
            if !how.reordered {
                resume(&mut stays, at);
                resume(&mut goes, at);
            }
        }
        stays.run_to_end();
        goes.run_to_end();
        // In a race the first branch decides, and another order has another first one.
        if !(how.reordered && root.to_string().contains("WaitAny")) {
            prop_assert_eq!(end(&goes), end(&stays));
        }
        prop_assert_eq!(goes.status(), SubStatus::Finished);
    }

    #[test]
    fn a_wrong_entry_is_refused_or_ends_the_same(
        root in tree(),
        (from, to) in any::<(Index, Index)>(),
        gives_up in any::<bool>(),
        before in prop::collection::vec(any::<Index>(), 0..5),
    ) {
        let mut ids = Vec::new();
        walk(&mut root.clone(), &mut |members| ids.push(members["id"].as_str().expect("an id").to_owned()));
        let old = definition(&root);
        let (mut stays, mut goes) = (World::started(old.clone()), World::started(old.clone()));
        for at in before {
            resume(&mut stays, at);
            resume(&mut goes, at);
        }
        if goes.status() == SubStatus::Finished {
            return Ok(());
        }
        let (from, to) = (&ids[from.index(ids.len())], &ids[to.index(ids.len())]);
        let wrong = if gives_up { json!("nowhere") } else { json!(to) };
        let moved = goes.migrate((&old, &old), &json!({from: wrong}), Timers::Keep);
        if let Err(problems) = &moved {
            prop_assert!(problems.iter().any(|problem| problem.severity == Severity::Error));
        }
        let is_refused = moved.is_err();
        stays.run_to_end();
        goes.run_to_end();
        prop_assert_eq!(goes.status(), SubStatus::Finished);
        // If two waiting activities are equivalent, one may be mistaken for the other: then it continues after the
        // wrong one.
        if is_refused || from == to {
            prop_assert_eq!(end(&goes), end(&stays));
        }
    }

    #[test]
    fn a_step_behind_runs(root in tree(), before in prop::collection::vec(any::<Index>(), 0..5)) {
        let mut longer = root.clone();
        longer["activities"].as_array_mut().expect("steps").push(json!({"id": "last", "type": "WriteLine", "text": "one more"}));
        let (old, new) = (definition(&root), definition(&longer));
        let mut world = World::started(old.clone());
        for at in before {
            resume(&mut world, at);
        }
        if world.status() == SubStatus::Finished {
            return Ok(());
        }
        world.migrate((&old, &new), &json!({}), Timers::Anew).expect("it can go on");
        world.run_to_end();
        let lines = world.lines();
        prop_assert_eq!(lines.iter().filter(|line| **line == "one more").count(), 1, "{:?}", lines);
    }

    #[test]
    fn an_instance_ends_without_what_is_given_up(
        root in tree_with_handlers(),
        given_up in prop::collection::vec(any::<(bool, Index)>(), 1..5),
        before in prop::collection::vec(any::<Index>(), 0..5),
    ) {
        let old = definition(&root);
        let mut world = World::started(old.clone());
        for at in before {
            resume(&mut world, at);
        }
        if world.status() == SubStatus::Finished {
            return Ok(());
        }
        let mut ids = Vec::new();
        walk(&mut root.clone(), &mut |members| ids.push(members["id"].as_str().expect("an id").to_owned()));
        // The last one is the root.
        let any: Vec<&str> = ids[..ids.len() - 1].iter().map(String::as_str).collect();
        let waiting = world.waiting();
        let chosen = given_up.iter().map(|(waits, at)| *at.get(if *waits { &waiting } else { &any }));
        let mapping: Map<String, Value> = chosen.map(|id| (id.to_owned(), Value::Null)).collect();
        if world.migrate((&old, &old), &Value::Object(mapping), Timers::Keep).is_ok() && world.status() != SubStatus::Finished {
            world.run_to_end();
            prop_assert_eq!(world.status(), SubStatus::Finished);
        }
        prop_assert!(world.status() != SubStatus::Finished || world.host.records.is_empty());
    }
}
