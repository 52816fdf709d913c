//! How a run is shown: its progress in the picture, its explanation in lines, and the pictures of the documentation.

use std::collections::BTreeMap;
use std::path::Path;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use workflow_engine::calendar::{Utc0, Zone};
use workflow_engine::definition::{ReadLimits, appearances, compile};
use workflow_engine::explain::{Caused, Explanation, GivenAnswer, Lease, OpenBookmark, OpenIncident};
use workflow_engine::fault::{Fault, TASK_FAILED};
use workflow_engine::instance::Instance;
use workflow_engine::journal::ActKind;
use workflow_engine::picture::{Caption, Picture, Progress, Standing};

use crate::support::{Named, World, broken, event, line, numbered_otherwise};
use workflow_engine::{NodeIx, Program};

fn progress(world: &World) -> Progress<'_> {
    let mut progress = Progress::new(&world.program);
    world.trail.iter().for_each(|event| progress.event(event));
    progress.open(&world.instance.state);
    progress
}

/// The standings of the activities, in document order.
fn standings(world: &World) -> Vec<Standing> {
    let progress = progress(world);
    (0..world.program.nodes.len()).map(|ix| progress.standing(NodeIx(ix as u32))).collect()
}

fn at() -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000, 0).expect("a valid instant")
}

fn story(world: &World, zone: &dyn Zone, waits: &[OpenBookmark], open_incidents: &[OpenIncident]) -> Vec<String> {
    let mut story = Explanation::new(&world.program, &[], &world.instance, zone);
    story.burst(at(), None, &world.trail);
    story.end(waits, open_incidents)
}

#[test]
fn each_activity_stands_as_its_journal_and_its_open_executions_say() {
    use Standing::{Cancelled, Faulted, Open, Ran, Unreached, Waits};
    let race = json!({ "id": "race", "type": "Fork", "joinMode": "WaitAny", "branches": [event("a"), event("b")] });
    let each = json!({ "id": "each", "type": "ForEach", "items": [1, 2, 3], "body": line("round") });
    let mut world = World::started(json!([each, race, broken("bad"), line("last")]));
    assert_eq!(standings(&world), [Open, Ran(1), Ran(3), Open, Waits, Waits, Unreached, Unreached]);
    world.resume("b", Value::Null);
    assert_eq!(standings(&world), [Open, Ran(1), Ran(3), Ran(1), Cancelled, Ran(1), Faulted, Unreached]);
    world.cancel();
    assert_eq!(standings(&world), [Cancelled, Ran(1), Ran(3), Ran(1), Cancelled, Ran(1), Cancelled, Unreached]);
}

#[test]
fn an_id_that_occurs_twice_is_told_apart_by_what_is_open_around_it() {
    let part = |id: &str| json!({ "id": id, "type": "Flowchart", "activities": [event("same")] });
    let mut world = World::started(json!([part("one"), part("two")]));
    world.resume("same", Value::Null);
    assert_eq!(
        standings(&world),
        [Standing::Open, Standing::Ran(1), Standing::Ran(1), Standing::Open, Standing::Waits]
    );
}

#[test]
fn a_picture_of_a_run_says_so_without_colours() {
    let mut world = World::started(json!([event("a"), broken("bad"), line("last")]));
    world.resume("a", Value::Null);
    let picture = Picture::new(&world.program, &[], Caption::default(), Some(&progress(&world)));
    let svg = picture.svg();
    for words in
        ["a (Event · a) – ran<", "bad (Fault · broken) – faulted<", "WriteLine1 (WriteLine · last) – not reached<"]
    {
        assert!(svg.contains(words), "{svg}");
    }
    for legend in [">faulted</text>", ">not reached</text>", ">ran (× times)</text>"] {
        assert!(svg.contains(legend), "{svg}");
    }
    assert!(!svg.contains(">waits</text>") && !svg.contains(">cancelled</text>"));
}

#[test]
fn the_way_that_a_run_took_stands_out() {
    const PALE: &str = "fill=\"none\" stroke=\"#d3d9e1\"";
    let pale = |world: &World| {
        let picture = Picture::new(&world.program, &[], Caption::default(), Some(&progress(world)));
        picture.svg().matches(PALE).count()
    };
    let decision = json!({ "type": "Flowchart", "activities": [
        { "id": "d", "type": "FlowDecision", "condition": true }, line("yes"), line("no")],
        "connections": [["d", "True", "WriteLine1"], ["d", "False", "WriteLine2"]] });
    assert_eq!(pale(&World::started(decision)), 1);
    // The run passes an If without else: the branch is pale, the arrow past it is not.
    let past = |condition: bool| json!([{ "type": "If", "condition": condition, "then": line("in") }, line("next")]);
    assert_eq!(pale(&World::started(past(false))), 2);
    assert_eq!(pale(&World::started(past(true))), 1);
}

#[test]
fn states_stand_as_the_run_was_in_them() {
    let step = |from: &str, to: &str, name: &str| json!({ "from": from, "to": to, "trigger": event(name) });
    let mut world = World::started(json!({ "type": "StateMachine", "states": ["a", "b", "c", "end"], "transitions": [
        step("a", "b", "go"), step("b", "a", "back"), step("a", "c", "other"), step("a", "b", "also"), step("b", "end", "stop")] }));
    // The states with their standings, and the arrows that the run did not take.
    let seen = |world: &World| {
        let svg = Picture::new(&world.program, &[], Caption::default(), Some(&progress(world))).svg();
        let stands = |name: &str| {
            let rest = svg.split(&format!("{name} (state) – ")).nth(1).expect("a tooltip");
            rest.split('<').next().unwrap_or_default().to_owned()
        };
        let pale = svg.matches("fill=\"none\" stroke=\"#d3d9e1\"").count();
        (["a", "b", "c", "end"].map(stands).join(", "), pale)
    };
    assert_eq!(seen(&world), ("waits, not reached, not reached, not reached".into(), 5));
    world.resume("go", Value::Null);
    assert_eq!(seen(&world), ("ran, waits, not reached, not reached".into(), 4));
    world.resume("back", Value::Null);
    world.resume("go", Value::Null);
    assert_eq!(seen(&world), ("ran 2 times, waits, not reached, not reached".into(), 3));
    world.resume("stop", Value::Null);
    assert_eq!(seen(&world), ("ran 2 times, ran 2 times, not reached, ran".into(), 2));

    let fails = json!({ "type": "StateMachine", "states": ["a", { "name": "b", "entry": broken("x") }, "c"],
        "transitions": [{ "from": "a", "to": "b" }, step("b", "c", "on")] });
    let svg = |world: &World| Picture::new(&world.program, &[], Caption::default(), Some(&progress(world))).svg();
    let mut world = World::started(fails);
    assert!(svg(&world).contains("b (state) – entry: x – faulted<"), "{}", svg(&world));
    world.cancel();
    assert!(svg(&world).contains("b (state) – entry: x – cancelled<"), "{}", svg(&world));
}

#[test]
fn a_story_tells_what_happened_and_how_to_go_on() {
    let mut world = World::with_input(json!([line("hello"), event("go"), broken("bad")]), json!({ "days": 3 }));
    world.start();
    let wait = OpenBookmark {
        bookmark_id: world.bookmarks[0].id,
        node_id: world.bookmarks[0].node_id.clone(),
        name: "Elsa.Event".into(),
        payload: world.bookmarks[0].payload.clone(),
        since: at(),
        due: Some(at() + TimeDelta::days(1)),
        ..OpenBookmark::default()
    };
    assert_eq!(
        story(&world, &Utc0, &[wait], &[]),
        [
            "test, version 1: Suspended",
            "2027-01-15 08:00:00  started with {\"days\":3}",
            "2027-01-15 08:00:00  WriteLine1 (WriteLine · hello) wrote: hello",
            "2027-01-15 08:00:00  go (Event · go) waits",
            "go waits for event \"go\" since 2027-01-15 08:00:00, due 2027-01-16 08:00:00",
            "    SELECT * FROM wf_publish_event('go', '{}', instance_id => '01930000-0000-7000-8000-0123456789ab');",
        ]
    );
    world.resume("go", Value::Null);
    let open_incident = OpenIncident {
        activity_id: "bad".into(),
        sqlstate: "P0001".into(),
        message: "broken\nin two".into(),
        hint: Some("Mend it.".into()),
        ..OpenIncident::default()
    };
    let zone = Named("Europe/Berlin".parse().expect("a zone"));
    assert_eq!(
        story(&world, &zone, &[], &[open_incident])[4..],
        [
            "2027-01-15 09:00:00  go (Event · go) was resumed",
            "2027-01-15 09:00:00  bad (Fault · broken) faulted: broken (P0001)",
            "2027-01-15 09:00:00  stopped by the fault",
            "bad has faulted: broken in two (P0001)",
            "    hint: Mend it.",
            "    wf_retry raises it again; to skip it: SELECT * FROM wf_cancel_activity('01930000-0000-7000-8000-0123456789ab', 'bad');",
        ]
    );
}

#[test]
fn a_story_repeats_the_call_to_a_service_and_not_the_fault_that_reports_its_result() {
    let declined = json!({ "id": "declined", "type": "Fault", "message": "the card was declined" });
    let call = json!({ "id": "it's paid", "type": "SendHttpRequest", "url": "https://bank.example/", "unmatchedStatusCode": declined });
    let mut world = World::started(json!([call]));
    let node_id = world.bookmarks[0].node_id.clone();
    let last_line = |world: &World, attempt| {
        let wait = OpenBookmark {
            node_id: node_id.clone(),
            activity_id: "it's paid".into(),
            task: Some("Elsa.SendHttpRequest".into()),
            lease: Some(Lease { attempt, ..Lease::default() }),
            ..OpenBookmark::default()
        };
        story(world, &Utc0, &[wait], &[]).pop().unwrap_or_default()
    };
    assert_eq!(last_line(&world, 0), "    a worker for services (wf work) continues it");
    let repeat = "SELECT * FROM wf_schedule_activity('01930000-0000-7000-8000-0123456789ab', 'it''s paid');";
    let next = last_line(&world, 1);
    assert!(next.contains("makes the next attempt") && next.ends_with(repeat), "{next}");
    world.resume("it's paid", json!({ "statusCode": 402 }));
    let open_incident = OpenIncident { activity_id: "declined".into(), ..OpenIncident::default() };
    assert_eq!(story(&world, &Utc0, &[], &[open_incident]).pop(), Some(format!("    {repeat}")));
}

#[test]
fn a_story_shows_the_last_failed_attempt_of_a_call() {
    let lines = |port: &str, kind: ActKind, result: Value| {
        let mut call = json!({ "id": "call", "type": "SendHttpRequest", "url": "https://bank.example/" });
        call[port] = line("not paid");
        let mut world = World::started(json!([call]));
        let task = world.bookmarks[0].id;
        match kind {
            ActKind::Fail => world.fail(0, 1, Fault::new(TASK_FAILED, "the service answered with status 503")),
            _ => world.resume("call", result.clone()),
        }
        let answer = GivenAnswer { task, activity_id: "call".into(), result: Some(result), is_used: true };
        let act = Caused { kind, by: "demo".into(), has_actor: false, answer: Some(answer) };
        let mut story = Explanation::new(&world.program, &[], &world.instance, &Utc0);
        story.burst(at(), Some(act), &world.trail);
        let lines =
            story.end(&[], &[]).into_iter().filter_map(|line| line.split_once("  call ").map(|line| line.1.to_owned()));
        lines.filter(|line| !line.ends_with("waits")).collect::<Vec<_>>()
    };
    let (call, busy) = ("(SendHttpRequest · https://bank.example/)", json!({ "statusCode": 503 }));
    let failed = format!(
        "{call}, the last attempt failed: the service answered with status 503 (WF001), reported by demo with {{\"statusCode\":503}}"
    );
    assert_eq!(
        lines("unmatchedStatusCode", ActKind::Complete, busy.clone()),
        [format!("{failed}; the workflow handles this failure")]
    );
    assert_eq!(
        lines("timeout", ActKind::Complete, busy.clone()),
        [format!("{failed}; nothing handles this failure, and the workflow continues")]
    );
    assert_eq!(
        lines("timeout", ActKind::Fail, busy),
        [
            format!("{call}, the last attempt failed, reported by demo"),
            format!("{call} faulted: the service answered with status 503 (WF001)"),
        ]
    );
    assert_eq!(
        lines("unmatchedStatusCode", ActKind::Complete, json!({ "statusCode": 402 })),
        [format!("{call} was answered by demo with {{\"statusCode\":402}}")]
    );
}

#[test]
fn the_middle_of_a_long_story_is_left_out() {
    let each = json!({ "type": "For", "start": 1, "end": 1000, "body": { "type": "WriteLine", "text": { "var": "CurrentValue" } } });
    let lines = story(&World::started(each), &Utc0, &[], &[]);
    assert_eq!(lines.len(), 401);
    assert_eq!(lines[200], "… 603 more lines; workflow.journal has them all");
    assert!(lines[400].ends_with("finished") && lines[399].ends_with("wrote: 1000"), "{lines:?}");
}

/// The definition of the example that the README begins with.
fn leave_approval() -> Value {
    let session = std::fs::read_to_string(root().join("examples/studio-approval.sql")).expect("the example");
    let text = session.split("$json$").nth(1).expect("a definition between $json$");
    serde_json::from_str(text).expect("JSON")
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Compares a picture of the documentation with the current drawing. If WORKFLOW_WRITE_PICTURES is set, writes it.
fn is_up_to_date(name: &str, picture: &Picture) {
    let (path, svg) = (root().join("docs/pictures").join(name), picture.svg());
    if std::env::var_os("WORKFLOW_WRITE_PICTURES").is_some() {
        std::fs::write(&path, &svg).expect("the picture is written");
    }
    let stored = std::fs::read_to_string(&path).expect("the picture");
    assert!(
        stored == svg,
        "docs/pictures/{name} is not what is drawn now: run the tests with WORKFLOW_WRITE_PICTURES=1"
    );
}

#[test]
fn how_an_activity_looks_does_not_depend_on_its_number() {
    let (document, limits) = (leave_approval(), ReadLimits::default());
    let looks = |number: fn(Program) -> Program| {
        let program = number(compile(&document, &(), &limits, false).expect("a valid definition"));
        let looks = appearances(&document, &(), &limits, &program);
        let named = program.nodes.iter().zip(looks).map(|(node, look)| (node.id.clone(), format!("{look:?}")));
        named.collect::<BTreeMap<_, _>>()
    };
    let known = looks(|program| program);
    assert!(known["ManagerApproval"].contains("Some"));
    assert_eq!(looks(numbered_otherwise), known);
}

#[test]
fn the_pictures_of_the_documentation_are_up_to_date() {
    let document = leave_approval();
    let limits = ReadLimits::default();
    let program = compile(&document, &(), &limits, false).expect("a valid definition");
    let looks = appearances(&document, &(), &limits, &program);
    let caption =
        |more: &str| Caption { title: "Leave approval".into(), subtitle: format!("leave-approval, version 1{more}") };
    is_up_to_date("leave-approval.svg", &Picture::new(&program, &looks, caption(""), None));

    let mut world = World::new(document);
    world.instance = Instance { correlation_id: Some("1001".into()), ..world.instance };
    world.start();
    world.resume("SupervisorApproval", json!({ "approved": true }));
    assert_eq!(world.waiting(), ["ManagerApproval"]);
    let caption = caption(", correlation id 1001: Suspended");
    is_up_to_date("leave-approval-running.svg", &Picture::new(&program, &looks, caption, Some(&progress(&world))));
}
