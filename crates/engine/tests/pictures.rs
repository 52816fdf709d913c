//! Pictures: what they show, and that none of their parts overlap.

use proptest::prelude::*;
use serde_json::{Value, json};
use workflow_engine::definition::{ReadLimits, appearances, compile};
use workflow_engine::picture::{Area, Caption, Drawing, Picture};

fn picture(definition: &Value) -> Picture {
    let limits = ReadLimits::default();
    let program = compile(definition, &(), &limits, true).expect("a valid definition");
    let looks = appearances(definition, &(), &limits, &program);
    let caption = Caption { title: program.definition_id.clone(), subtitle: "version 1".into() };
    Picture::new(&program, &looks, caption, None)
}

fn mermaid(root: Value) -> String {
    picture(&json!({ "definitionId": "p", "root": root })).mermaid()
}

/// Lines of Mermaid text without the indentation.
fn has(text: &str, lines: &[&str]) {
    for line in lines {
        assert!(text.lines().any(|found| found.trim() == *line), "no line {line} in\n{text}");
    }
}

fn inside(inner: Area, outer: Area) -> bool {
    inner.x >= outer.x
        && inner.y >= outer.y
        && inner.x + inner.width <= outer.x + outer.width
        && inner.y + inner.height <= outer.y + outer.height
}

fn shrunk(area: Area, by: f64) -> Area {
    Area { x: area.x + by, y: area.y + by, width: area.width - 2.0 * by, height: area.height - 2.0 * by }
}

fn part(a: (f64, f64), b: (f64, f64)) -> Area {
    let (x, y) = (a.0.min(b.0), a.1.min(b.1));
    Area { x, y, width: (a.0 - b.0).abs().max(0.01), height: (a.1 - b.1).abs().max(0.01) }
}

/// Checks that boxes do not overlap and are inside their frames, that arrows join their boxes and go around the others,
/// and that labels overlap nothing.
fn is_tidy(drawing: &Drawing) {
    let whole = Area { x: -0.1, y: -0.1, width: drawing.width + 0.2, height: drawing.height + 0.2 };
    for (ix, area) in drawing.boxes.iter().enumerate() {
        assert!(area.width > 0.0 && area.height > 0.0);
        assert!(
            inside(*area, drawing.holders[ix].map_or(whole, |holder| drawing.boxes[holder])),
            "{ix} stands outside"
        );
        for (other, beside) in drawing.boxes.iter().enumerate().skip(ix + 1) {
            let is_sibling = drawing.holders[ix] == drawing.holders[other];
            assert!(!is_sibling || !area.overlaps(*beside), "{ix} lies on {other}");
        }
    }
    for ((points, (source, target)), label) in drawing.lines.iter().zip(&drawing.ends).zip(&drawing.labels) {
        let (first, last) = (points[0], points[points.len() - 1]);
        let near = |(x, y): (f64, f64), area: Area| {
            inside(part((x, y), (x, y)), shrunk(area, -1.0)) && !part((x, y), (x, y)).overlaps(shrunk(area, 1.0))
        };
        assert!(near(first, drawing.boxes[*source]) && near(last, drawing.boxes[*target]), "{points:?}");
        let siblings = drawing.boxes.iter().zip(&drawing.holders).enumerate();
        for (ix, (area, _)) in siblings.filter(|(_, (_, holder))| **holder == drawing.holders[*source]) {
            for pair in points.windows(2) {
                assert!(pair[0].0 == pair[1].0 || pair[0].1 == pair[1].1, "a slanted line {points:?}");
                assert!(!part(pair[0], pair[1]).overlaps(shrunk(*area, 1.0)), "{source}-{target} runs through {ix}");
            }
            assert!(!label.is_some_and(|label| label.overlaps(*area)), "a label of {source} lies on {ix}");
        }
    }
    let labels: Vec<Area> = drawing.labels.iter().flatten().copied().collect();
    for (ix, label) in labels.iter().enumerate() {
        assert!(!labels[ix + 1..].iter().any(|other| label.overlaps(*other)), "two labels in one place");
    }
}

#[test]
fn what_has_an_order_is_drawn_in_that_order() {
    let text = mermaid(json!([
        { "id": "Ask", "type": "RunTask", "taskName": "Ask" },
        { "id": "Yes", "type": "If", "condition": { "js": "x" }, "then": [{ "id": "A", "type": "End" }] },
        { "id": "Each", "type": "ForEach", "items": [1], "body": [{ "id": "B", "type": "WriteLine", "text": "b" }] },
        { "id": "Both", "type": "Fork", "branches": [
            { "id": "C", "type": "Event", "eventName": "c" }, { "id": "D", "type": "Event", "eventName": "d" }] },
        { "id": "Last", "type": "WriteLine", "text": "last" }
    ]));
    has(
        &text,
        &[
            "n0[\"Ask<br/>RunTask #183; Ask\"]".replace("#183;", "·").as_str(),
            "n0 --> n1",
            "n1 -->|\"True\"| n2",
            "n1 -->|\"False\"| n3",
            "n4 --> n3",
            "n3 -->|\"Done\"| n5",
            "n5 --> n6",
            "n5 --> n7",
            "n6 --> n9",
            "n7 --> n9",
            "n9 --> n8",
            "n10((\" \"))",
            "n10 --> n0",
        ],
    );
}

#[test]
fn what_ends_a_sequence_a_loop_or_all_goes_on_where_it_does() {
    let text = mermaid(json!([
        { "type": "While", "condition": true, "body": [
            { "type": "If", "condition": true, "then": { "type": "Break" }, "else": { "type": "Finish" } },
            [{ "type": "WriteLine", "text": "w" }, { "type": "End" }, { "type": "WriteLine", "text": "never" }] ]},
        { "type": "WriteLine", "text": "behind" }]));
    has(&text, &["n0 -->|\"Done\"| n7", "n2 --> n7", "n4 --> n5", "n5 --> n0", "n6 --> n0"]);
    assert!(!text.contains("n3 -->") && !text.contains("--> n6"), "{text}");
}

#[test]
fn flowcharts_keep_their_outcomes_and_nested_ones_are_frames() {
    let text = mermaid(json!({ "type": "Flowchart", "activities": [
        { "id": "Paid", "type": "Event", "eventName": "Paid", "canStartWorkflow": true },
        { "id": "Inner", "type": "Flowchart", "activities": [
            { "id": "Good", "type": "FlowDecision", "condition": true }, { "id": "Redo", "type": "WriteLine", "text": "r" }],
          "connections": [["Good", "False", "Redo"], ["Redo", "Good"]] }],
        "connections": [["Paid", "Inner"]] }));
    has(
        &text,
        &[
            "n0([\"⚡ Paid<br/>Event · Paid\"])",
            "subgraph n1[\"Inner<br/>Flowchart\"]",
            "end",
            "n0 --> n1",
            "n2 -->|\"False\"| n3",
            "n3 --> n2",
        ],
    );
    assert!(!text.contains("(( "), "a trigger says itself that it begins:\n{text}");
}

#[test]
fn cases_without_an_activity_go_past() {
    let text = mermaid(json!([
        { "id": "S", "type": "Switch", "cases": [
            { "label": "one", "condition": true, "activity": { "id": "One", "type": "WriteLine", "text": "1" } }] },
        { "id": "Next", "type": "WriteLine", "text": "n" }]));
    has(&text, &["n0 -->|\"one\"| n1", "n1 --> n2", "n0 -->|\"Default\"| n2"]);
}

#[test]
fn what_runs_for_children_stands_beside_the_flow() {
    let text = mermaid(json!([
        { "id": "All", "type": "BulkDispatchWorkflows", "workflowDefinitionId": "one",
            "childFaulted": { "id": "Note", "type": "WriteLine", "text": "n" } },
        { "id": "Next", "type": "WriteLine", "text": "n" }]));
    has(&text, &["n0 -->|\"each fault\"| n1", "n0 --> n2"]);
    assert!(!text.contains("n1 -->"), "{text}");
}

/// An order that is paid and shipped, or withdrawn; a request for more time does not change its state.
fn order() -> Value {
    let event = |name: &str| json!({ "type": "Event", "eventName": name });
    json!({ "type": "StateMachine", "initialState": "Open",
        "states": [{ "name": "Shipped" }, { "name": "Open", "entry": { "id": "Tell", "type": "WriteLine", "text": "open" } }, "Paid", "Withdrawn"],
        "transitions": [
            { "from": "Open", "to": "Paid", "trigger": event("Paid"), "condition": { "js": "getAmount() > 10" }, "action": { "id": "Book", "type": "WriteLine", "text": "b" } },
            { "from": "Open", "to": "Withdrawn", "name": "changed their mind", "trigger": event("Withdrawn") },
            { "from": "Open", "to": "Open", "trigger": [{ "id": "Ask", "type": "RunTask", "taskName": "More time?" }, { "type": "Delay", "timeSpan": "1.00:00:00" }] },
            { "from": "Open", "to": "Paid", "trigger": { "id": "Cash", "type": "Event", "eventName": "Cash", "canStartWorkflow": true } },
            { "from": "Paid", "to": "Shipped", "trigger": event("Sent") },
            { "from": "Paid", "to": "Withdrawn" }] })
}

#[test]
fn state_machines_are_states_and_transitions_with_what_triggers_them() {
    let text = mermaid(order());
    has(
        &text,
        &[
            "n0([\"Shipped\"])",
            "n1(\"Open<br/>entry: Tell\")",
            "n2(\"Paid\")",
            "n3([\"Withdrawn\"])",
            "n1 -->|\"Event · Paid #91;getAmount() #62; 10#93; / Book\"| n2",
            "n1 -->|\"changed their mind\"| n3",
            "n1 -->|\"Ask\"| n1",
            "n1 -->|\"⚡ Cash\"| n2",
            "n2 -->|\"Event · Sent\"| n0",
            "n2 --> n3",
            "n4 --> n1",
        ],
    );
    assert_eq!(text.lines().count(), 13, "nothing else is drawn:\n{text}");
    let svg = picture(&json!({ "definitionId": "p", "root": order() })).svg();
    assert!(svg.contains("Open (state) – entry: Tell<") && svg.contains(">changed their mind<"), "{svg}");
    // Inside another activity the machine is a frame.
    has(
        &mermaid(json!([{ "type": "WriteLine", "text": "before" }, order()])),
        &["subgraph n1[\"StateMachine1<br/>StateMachine\"]", "n0 --> n1"],
    );
}

#[test]
fn titles_of_the_studio_come_before_names_and_ids() {
    let titled = json!({ "id": "a1", "type": "WriteLine", "text": "x", "name": "Greet", "metadata": { "displayText": "Say hello" } });
    assert!(mermaid(titled).contains("Say hello<br/>"));
    assert!(mermaid(json!({ "id": "a1", "type": "WriteLine", "text": "x", "name": "Greet" })).contains("Greet<br/>"));
    assert!(mermaid(json!({ "id": "a1", "type": "WriteLine", "text": "x", "name": "WriteLine7" })).contains("a1<br/>"));
}

#[test]
fn labels_are_text_whatever_is_in_them() {
    let evil = "</title><script>alert(1)</script>\"]; click n0 \"javascript:1\" %%{init: {}}%% ]]> \u{0}\u{202e}";
    let definition = json!({ "definitionId": evil, "root": { "type": "Flowchart", "activities": [
        { "id": evil, "type": "FlowSwitch", "cases": [{ "label": evil, "condition": true }] },
        { "id": "b", "type": "WriteLine", "text": evil }], "connections": [[evil, evil, "b"]] } });
    let picture = picture(&definition);
    let svg = picture.svg();
    assert!(!svg.contains("<script") && !svg.contains("]]>") && !svg.contains('\u{0}') && !svg.contains('\u{202e}'));
    let mermaid = picture.mermaid();
    assert!(!mermaid.contains("<script") && !mermaid.contains("%%{") && !mermaid.contains("click n0 \""), "{mermaid}");
    assert_eq!(mermaid.lines().count(), 6, "{mermaid}");
}

#[test]
fn places_of_the_studio_are_kept() {
    let at = |id: &str, x: i32, y: i32| {
        json!({ "id": id, "type": "WriteLine", "text": "t",
            "metadata": { "designer": { "position": { "x": x, "y": y }, "size": { "width": 140, "height": 52 } } } })
    };
    let flowchart = |activities: Vec<Value>| {
        json!({ "definitionId": "p", "root": { "type": "Flowchart", "activities": activities,
            "connections": [["a", "b"], ["a", "c"], ["c", "a"]] } })
    };
    let drawing = picture(&flowchart(vec![at("a", -500, 0), at("b", 0, 0), at("c", -500, 400)])).drawing();
    is_tidy(&drawing);
    let [a, b, c] = [drawing.boxes[0], drawing.boxes[1], drawing.boxes[2]];
    assert!(a.y == b.y && a.x == c.x && b.x - a.x == 500.0 && c.y - a.y == 400.0, "{a:?} {b:?} {c:?}");
    // Boxes that overlap in the Studio are laid out in layers.
    let drawing = picture(&flowchart(vec![at("a", 0, 0), at("b", 10, 0), at("c", 0, 10)])).drawing();
    is_tidy(&drawing);
    assert!(drawing.boxes[1].y > drawing.boxes[0].y + 60.0);
}

#[test]
fn a_loop_goes_back_beside_what_it_repeats() {
    let drawing = picture(&json!({ "definitionId": "p", "root": { "type": "Flowchart", "activities": [
        { "id": "a", "type": "WriteLine", "text": "a" }, { "id": "b", "type": "WriteLine", "text": "b" }],
        "connections": [["a", "b"], ["b", "a"], ["b", "Again", "b"]] } }))
    .drawing();
    is_tidy(&drawing);
    let back = &drawing.lines[1];
    assert_eq!(drawing.ends[1], (1, 0));
    let right = drawing.boxes[..2].iter().map(|area| area.x + area.width).fold(0.0, f64::max);
    assert!(back.iter().any(|(x, _)| *x > right), "{back:?}");
    assert!(back[back.len() - 1].1 <= drawing.boxes[0].y, "it comes in from above: {back:?}");
}

#[test]
fn big_and_deep_definitions_are_drawn() {
    let activities: Vec<Value> = (0..3000).map(|i| json!({ "id": format!("a{i}"), "type": "End" })).collect();
    let connections: Vec<Value> = (1..3000)
        .flat_map(|i| [json!([format!("a{}", i - 1), format!("a{i}")]), json!(["a0", format!("a{i}")])])
        .collect();
    let big = json!({ "definitionId": "p", "root": { "type": "Flowchart", "activities": activities, "connections": connections } });
    let drawing = picture(&big).drawing();
    assert_eq!(drawing.boxes.len(), 3001);
    assert!(drawing.lines.iter().all(|line| line.len() >= 2));

    let mut deep = json!({ "type": "WriteLine", "text": "deep" });
    for level in 0..450 {
        deep = match level % 3 {
            0 => json!({ "type": "Flowchart", "activities": [deep] }),
            1 => json!({ "type": "If", "condition": true, "then": deep }),
            _ => json!([deep, { "type": "End" }]),
        };
    }
    let picture = picture(&json!({ "definitionId": "p", "root": deep }));
    is_tidy(&picture.drawing());
    assert!(picture.mermaid().matches("subgraph").count() >= 150);
}

#[test]
fn an_empty_flow_is_a_picture_too() {
    for root in
        [json!({ "type": "Flowchart" }), json!([]), json!({ "type": "Fork" }), json!({ "type": "StateMachine" })]
    {
        assert!(picture(&json!({ "definitionId": "p", "root": root })).svg().starts_with("<svg "));
    }
}

/// Flowcharts with arbitrary connections.
fn flowchart() -> impl Strategy<Value = Value> {
    let kinds = prop::sample::select(vec!["WriteLine", "FlowDecision", "FlowFork", "Flowchart", "Sequence", "End"]);
    (prop::collection::vec(kinds, 1..14), prop::collection::vec((0usize..14, 0usize..14, "[a-z]{0,12}"), 0..24))
        .prop_map(|(kinds, edges)| {
            let count = kinds.len();
            let activity = |(ix, kind): (usize, &str)| {
                let inner = json!([{ "type": "WriteLine", "text": "in" }, { "type": "While", "condition": true, "body": [{ "type": "Event", "eventName": "e" }] }]);
                match kind {
                    "Flowchart" | "Sequence" => json!({ "id": format!("a{ix}"), "type": kind, "activities": inner }),
                    _ => json!({ "id": format!("a{ix}"), "type": kind }),
                }
            };
            let connect = |(a, b, port): (usize, usize, String)| {
                let port = if port.is_empty() { "Done".to_owned() } else { port };
                json!([format!("a{}", a % count), port, format!("a{}", b % count)])
            };
            json!({ "definitionId": "p", "root": { "type": "Flowchart",
                "activities": kinds.into_iter().enumerate().map(activity).collect::<Vec<_>>(),
                "connections": edges.into_iter().map(connect).collect::<Vec<_>>() } })
        })
}

/// Sequences, decisions, loops and forks.
fn structured() -> impl Strategy<Value = Value> {
    let leaf = prop::sample::select(vec!["WriteLine", "Event", "End", "Break"])
        .prop_map(|kind| json!({ "type": kind, "text": "t", "eventName": "e" }));
    let some = prop::sample::select(vec![0, 1, 2, 3, 4, 5]);
    leaf.prop_recursive(5, 40, 4, move |inner| {
        (some.clone(), prop::collection::vec(inner, 1..4)).prop_map(|(kind, list)| match kind {
            0 => json!({ "type": "If", "condition": true, "then": list[0], "else": list.get(1) }),
            1 => json!({ "type": "While", "condition": true, "body": list }),
            2 => json!({ "type": "Fork", "branches": list }),
            3 => json!({ "type": "Switch", "cases": list.iter().map(|one| json!({ "label": "case", "condition": true, "activity": one })).collect::<Vec<_>>() }),
            4 => json!({ "type": "Flowchart", "activities": list }),
            _ => Value::from(list),
        })
    })
}

/// State machines with arbitrary transitions.
fn machine() -> impl Strategy<Value = Value> {
    (1usize..7, prop::collection::vec((0usize..7, 0usize..7, "[a-z]{0,12}"), 0..16)).prop_map(|(count, transitions)| {
        let name = |ix: usize| format!("s{}", ix % count);
        let transition = |(from, to, event): (usize, usize, String)| {
            json!({ "from": name(from), "to": name(to), "trigger": { "type": "Event", "eventName": event } })
        };
        json!({ "type": "StateMachine", "states": (0..count).map(name).collect::<Vec<_>>(),
            "transitions": transitions.into_iter().map(transition).collect::<Vec<_>>() })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn nothing_lies_on_top_of_anything(definition in flowchart()) {
        let picture = picture(&definition);
        is_tidy(&picture.drawing());
        prop_assert_eq!(picture.svg(), self::picture(&definition).svg());
    }

    #[test]
    fn nor_in_state_machines(root in machine(), inside in any::<bool>()) {
        let root = if inside { json!([{ "type": "WriteLine", "text": "t" }, root]) } else { root };
        is_tidy(&picture(&json!({ "definitionId": "p", "root": root })).drawing());
    }

    #[test]
    fn nor_in_what_is_built_of_blocks(root in structured()) {
        is_tidy(&picture(&json!({ "definitionId": "p", "root": root })).drawing());
    }
}
