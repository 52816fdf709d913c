//! A body for each item, in parallel.

use cpu_time::ThreadTime;
use serde_json::{Value, json};
use workflow_engine::instance::SubStatus;

use crate::flowchart::finished;
use crate::support::{World, line};

fn each(items: Value, body: Value) -> Value {
    json!({"id": "each", "type": "ParallelForEach", "items": items, "body": body})
}

/// Writes the item and its number.
fn shown() -> Value {
    json!({"type": "WriteLine", "text": {"js": "`${getCurrentIndex()}:${getCurrentValue()}`"}})
}

/// Waits, then writes the item.
fn waiting() -> Value {
    json!([{"id": "wait", "type": "Event", "eventName": "E"}, {"type": "WriteLine", "text": {"var": "CurrentValue"}}])
}

#[test]
fn every_item_has_a_body_with_its_value_and_index() {
    assert_eq!(finished(each(json!(["a", "b", "c"]), shown())), "0:a 1:b 2:c");
    assert_eq!(finished(each(json!({"js": "[1, null]"}), shown())), "0:1 1:null");
}

#[test]
fn bodies_take_turns() {
    let body = json!([{"type": "WriteLine", "text": {"var": "CurrentValue"}}, {"type": "WriteLine", "text": {"var": "CurrentIndex"}}]);
    assert_eq!(finished(each(json!(["a", "b"]), body)), "a b 0 1");
}

#[test]
fn no_items_complete_at_once_and_what_is_no_list_is_a_single_item() {
    for items in [json!([]), json!(null), json!({"js": "null"})] {
        assert_eq!(finished(each(items, shown())), "");
    }
    assert_eq!(finished(json!({"type": "ParallelForEach", "body": shown()})), "");
    assert_eq!(finished(json!({"type": "ParallelForEach", "items": ["a"]})), "");
    assert_eq!(finished(each(json!("abc"), shown())), "0:abc");
    assert_eq!(finished(each(json!({"js": "({x: 1}).x"}), shown())), "0:1");
}

#[test]
fn bodies_wait_apart_and_keep_their_items() {
    let mut world = World::started(json!([each(json!(["a", "b", "c"]), waiting()), line("end")]));
    assert_eq!(world.waiting(), ["wait", "wait", "wait"]);
    world.resume_at(1, None);
    assert_eq!(world.lines(), ["b"]);
    world.resume_at(1, None);
    world.resume_at(0, None);
    assert_eq!(world.lines(), ["b", "c", "a", "end"]);
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn a_body_that_faults_does_not_stop_the_others_and_its_retry_completes_the_loop() {
    let body = json!({"id": "run", "type": "Sql", "statement": {"js": "getCurrentValue() === 'b' ? 'RAISE' : 'fine'"}});
    let mut world = World::started(json!([each(json!(["a", "b", "c"]), json!([body, shown()])), line("end")]));
    assert_eq!(world.lines(), ["0:a", "2:c"]);
    assert_eq!(world.status(), SubStatus::Faulted);
    let each = world.program.find("each").expect("the loop");
    let open: Vec<_> = world.instance.state.contexts.values().filter(|context| context.node == each).collect();
    assert_eq!((open.len(), open[0].faults), (1, 1));
    world.retry(None).expect("a retry");
    assert_eq!(world.status(), SubStatus::Faulted, "the statement still fails");
}

#[test]
fn the_number_of_open_bodies_can_be_limited() {
    let mut limited = each(json!(["a", "b", "c", "d", "e"]), waiting());
    limited["degreeOfParallelism"] = json!(2);
    let mut world = World::started(json!([limited, line("end")]));
    assert_eq!(world.waiting(), ["wait", "wait"]);
    while !world.bookmarks.is_empty() {
        assert!(world.bookmarks.len() <= 2);
        world.resume_at(world.bookmarks.len() - 1, None);
    }
    assert_eq!(world.lines(), ["b", "c", "d", "e", "a", "end"]);
    assert_eq!(world.status(), SubStatus::Finished);
    for degree in [json!({"js": "0"}), json!({"js": "-1"})] {
        let mut wrong = each(json!([1]), shown());
        wrong["degreeOfParallelism"] = degree;
        let world = World::started(wrong);
        assert_eq!(world.last.incidents[0].fault.message, "degreeOfParallelism must be at least 1");
    }
}

#[test]
fn break_leaves_the_loop_around_it() {
    // As in Elsa, this is no loop that Break leaves: the body with the break ends, the others continue, and then the
    // enclosing sequence or loop ends.
    let body =
        json!([{"type": "If", "condition": {"js": "getCurrentValue() === 'b'"}, "then": {"type": "Break"}}, shown()]);
    assert_eq!(finished(json!([each(json!(["a", "b", "c"]), body.clone()), line("end")])), "0:a 2:c");
    let around =
        json!({"type": "For", "start": 1, "end": 3, "body": [each(json!(["a", "b", "c"]), body), line("round")]});
    assert_eq!(finished(json!([around, line("end")])), "0:a 2:c end");
}

#[test]
fn ten_thousand_items_in_one_burst_take_linear_time() {
    let time = |n: i64| {
        let mut world = World::new(each(json!((0..n).collect::<Vec<i64>>()), line("x")));
        let begin = ThreadTime::now();
        world.start();
        assert_eq!(world.lines().len(), n as usize);
        begin.elapsed()
    };
    let (small, large) = (time(1_000).min(time(1_000)), time(10_000));
    assert!(large < small * 40, "ten times the items took {large:?} instead of {small:?}");
}
