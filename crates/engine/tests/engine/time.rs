//! Delay, StartAt, Timer and Cron: waiting, and as triggers.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use workflow_engine::calendar::{Interval, Misfire, Overlap, Schedule, When};
use workflow_engine::definition::{ReadLimits, compile};
use workflow_engine::host::Host;
use workflow_engine::instance::SubStatus;
use workflow_engine::journal::EventKind;
use workflow_engine::trigger::{self, Trigger};
use workflow_engine::{Fault, stimulus};

use crate::support::{FakeHost, World, line, program};

/// 2027-01-15 08:00 UTC, a Friday.
fn now() -> DateTime<Utc> {
    FakeHost::default().now()
}

fn at(text: &str) -> DateTime<Utc> {
    DateTime::parse_from_rfc3339(text).expect(text).to_utc()
}

/// Runs an activity that waits; returns when it is due and its payload, after checking the journal and the resume.
fn waits(activity: Value) -> (DateTime<Utc>, Value) {
    let mut world = World::started(json!([activity, line("after")]));
    assert_eq!(world.status(), SubStatus::Suspended, "{:?}", world.instance);
    let bookmark = world.bookmarks[0].clone();
    let payload = bookmark.payload.clone().expect("a payload");
    assert_eq!(bookmark.name, bookmark.activity_type);
    assert_eq!(bookmark.hash(), stimulus::hash(&bookmark.name, Some(&payload), None));
    let noted = world.trail.iter().find(|event| event.kind == EventKind::Note).expect("a note");
    let noted = &noted.data.as_ref().expect("the instant").0;
    for key in ["ResumeAt", "ExecuteAt"] {
        if let Some(text) = noted[key].as_str() {
            assert_eq!(Some(at(text)), bookmark.due_at);
        }
    }
    world.resume_at(0, None);
    assert_eq!((world.status(), world.lines()), (SubStatus::Finished, vec!["after"]));
    (bookmark.due_at.expect("a due time"), payload)
}

/// Runs an activity that must not wait.
fn passes(activity: Value) {
    let world = World::started(json!([activity, line("after")]));
    assert_eq!((world.status(), world.lines()), (SubStatus::Finished, vec!["after"]), "{:?}", world.trail);
}

/// Runs an activity that must fault.
fn faults(activity: Value) -> Fault {
    let world = World::started(json!([activity, line("after")]));
    assert_eq!(world.status(), SubStatus::Faulted);
    world.last.incidents[0].fault.clone()
}

fn indexed(activity: Value) -> Result<Trigger, Fault> {
    let program = program(json!({"type": "Sequence", "activities": [activity]}));
    let index = trigger::index(&program, &mut FakeHost::default(), &Default::default());
    index.map(|mut found| found.remove(0)).map_err(|(_, fault)| fault)
}

#[test]
fn a_delay_waits_for_its_span() {
    for (span, seconds) in [("00:00:05", 5), ("1.00:00:00", 86_400), ("PT1H30M", 5400), ("2 weeks", 1_209_600)] {
        let (due, payload) = waits(json!({"type": "Delay", "timeSpan": span}));
        assert_eq!(due, now() + TimeDelta::seconds(seconds), "{span}");
        assert_eq!(payload, json!({"ResumeAt": due.format("%Y-%m-%dT%H:%M:%S+00:00").to_string()}));
    }
    // Elsa's default.
    assert_eq!(waits(json!({"type": "Delay"})).0, now() + TimeDelta::minutes(1));
    let (due, _) = waits(json!({"type": "Delay", "timeSpan": "3 months", "timeZone": "Europe/Berlin"}));
    assert_eq!(due, at("2027-04-15T09:00:00+02:00"));
    let (due, _) = waits(json!({"type": "Elsa.Delay", "timeSpan": {"typeName": "TimeSpan",
        "expression": {"type": "JavaScript", "value": "'00:00:' + (40 + 2)"}}}));
    assert_eq!(due, now() + TimeDelta::seconds(42));
    for span in ["00:00:00", "-00:00:05", "1 day ago"] {
        passes(json!({"type": "Delay", "timeSpan": span}));
    }
}

#[test]
fn start_at_waits_for_an_instant_unless_it_is_past() {
    let (due, payload) = waits(json!({"type": "StartAt", "dateTime": "2027-02-01T10:00:00.1234567+01:00"}));
    assert_eq!(due, at("2027-02-01T09:00:00.123456Z"));
    assert_eq!(payload, json!({"ExecuteAt": "2027-02-01T09:00:00.123456+00:00"}));
    for (text, place, expected) in [
        ("2027-02-01 10:00", "Europe/Berlin", "2027-02-01T09:00:00Z"),
        ("2027-07-01", "America/New_York", "2027-07-01T04:00:00Z"),
        ("2027-02-01T10:00:00Z", "Europe/Berlin", "2027-02-01T10:00:00Z"),
        ("2027-02-01T10:00:00", "", "2027-02-01T10:00:00Z"),
        // A time in the gap is read with the offset before it.
        ("2027-03-28 02:30", "Europe/Berlin", "2027-03-28T01:30:00Z"),
    ] {
        let (due, _) = waits(json!({"type": "StartAt", "dateTime": text, "timeZone": place}));
        assert_eq!(due, at(expected), "{text}");
    }
    for text in ["2026-12-31T00:00:00Z", "2027-01-15T08:00:00Z", "1066-10-14", "-200000-01-01T00:00:00Z"] {
        passes(json!({"type": "StartAt", "dateTime": text}));
    }
    let world = World::started(json!({"type": "StartAt", "dateTime": "2026-12-31"}));
    let noted = world.trail.iter().find(|event| event.kind == EventKind::Note).expect("a note");
    assert_eq!(noted.data.as_ref().expect("the instant").0, json!({"ExecuteAt": "2026-12-31T00:00:00Z"}));
}

#[test]
fn a_waiting_timer_or_cron_resumes_once() {
    let (due, payload) = waits(json!({"type": "Timer", "interval": "00:10:00"}));
    assert_eq!((due, payload), (at("2027-01-15T08:10:00Z"), json!({"ResumeAt": "2027-01-15T08:10:00+00:00"})));
    assert_eq!(waits(json!({"type": "Timer"})).0, now() + TimeDelta::minutes(1));
    let (due, payload) = waits(json!({"type": "Cron", "cronExpression": "0 0 * * * *"}));
    assert_eq!(due, at("2027-01-15T09:00:00Z"));
    assert_eq!(payload, json!({"ExecuteAt": "2027-01-15T09:00:00+00:00", "CronExpression": "0 0 * * * *"}));
    let (due, _) = waits(json!({"type": "Cron", "cronExpression": "0 9 * * MON-FRI", "timeZone": "Europe/Berlin"}));
    assert_eq!(due, at("2027-01-18T08:00:00Z"));
}

#[test]
fn what_makes_no_sense_faults() {
    let js = |value: &str| json!({"js": format!("'{value}'")});
    let long = "x".repeat(5000);
    for (activity, sqlstate) in [
        (json!({"type": "Delay", "timeSpan": js("soon")}), "22P02"),
        (json!({"type": "Delay", "timeSpan": js("178000000 years")}), "22008"),
        (json!({"type": "Delay", "timeSpan": js("2000000000 days")}), "22008"),
        (json!({"type": "Delay", "timeZone": "Mars/Olympus"}), "22023"),
        (json!({"type": "Delay", "timeSpan": {"js": "null"}}), "22004"),
        (json!({"type": "StartAt"}), "22004"),
        (json!({"type": "StartAt", "dateTime": js("soon")}), "22P02"),
        (json!({"type": "StartAt", "dateTime": "2028-01-01", "timeZone": "Nowhere"}), "22023"),
        (json!({"type": "StartAt", "dateTime": js("+262142-12-31T23:00:00"), "timeZone": "America/New_York"}), "22008"),
        (json!({"type": "Timer", "interval": js("00:00:00")}), "22023"),
        (json!({"type": "Timer", "interval": js("200000000 days")}), "22008"),
        (json!({"type": "Timer", "interval": js("-1 day")}), "22023"),
        (json!({"type": "Timer", "misfireCap": {"js": "0"}}), "22023"),
        (json!({"type": "Timer", "misfire": js("sometimes")}), "22023"),
        (json!({"type": "Timer", "overlap": js("sometimes")}), "22023"),
        (json!({"type": "Timer", "jitter": js("-00:00:01")}), "22023"),
        (json!({"type": "Cron"}), "22004"),
        (json!({"type": "Cron", "cronExpression": js("61 * * * *")}), "22023"),
        (json!({"type": "Cron", "cronExpression": js("0 0 30 2 *")}), "22023"),
        (json!({"type": "Cron", "cronExpression": js(&long)}), "22023"),
    ] {
        let fault = faults(activity.clone());
        assert_eq!(fault.sqlstate, sqlstate, "{activity}: {fault}");
        assert!(fault.message.len() < 400, "{fault}");
    }
}

#[test]
fn the_trigger_of_its_own_run_does_not_wait() {
    for activity in [
        json!({"type": "StartAt", "dateTime": "2030-01-01"}),
        json!({"type": "Timer", "interval": "00:10:00"}),
        json!({"type": "Cron", "cronExpression": "0 0 * * *"}),
    ] {
        let mut activity = activity;
        activity["id"] = json!("t");
        activity["canStartWorkflow"] = json!(true);
        let mut world = World::new(json!([activity, line("after")]));
        world.try_start(Some("t"), Some(&json!({"ScheduledAt": "2030-01-01T00:00:00Z"}))).expect("a trigger");
        assert_eq!((world.status(), world.lines()), (SubStatus::Finished, vec!["after"]));
    }
}

#[test]
fn triggers_say_when_time_fires_them() {
    let found = indexed(json!({"type": "StartAt", "dateTime": "2030-01-01 10:00", "timeZone": "Europe/Berlin",
        "canStartWorkflow": true}))
    .expect("a trigger");
    assert_eq!(found.payload, Some(json!({"ExecuteAt": "2030-01-01T09:00:00+00:00"})));
    let schedule = found.schedule.expect("a schedule");
    assert_eq!(schedule.when, When::At(at("2030-01-01T09:00:00Z")));
    assert_eq!(schedule.time_zone.as_deref(), Some("Europe/Berlin"));

    let found = indexed(json!({"type": "Timer", "interval": "5 minutes", "misfire": "ALL", "misfireCap": 7,
        "overlap": "queue", "jitter": "10 s", "canStartWorkflow": true}))
    .expect("a trigger");
    assert_eq!(found.payload, Some(json!({"Interval": "00:05:00"})));
    let interval = Interval::parse("00:05:00").expect("an interval");
    let expected = Schedule {
        when: When::Every { interval, start: now() },
        time_zone: None,
        misfire: Misfire::All,
        misfire_cap: 7,
        overlap: Overlap::Queue,
        jitter: Some(Interval::parse("00:00:10").expect("an interval")),
    };
    assert_eq!(found.schedule, Some(expected));

    let found = indexed(json!({"type": "Cron", "cronExpression": "0 0 * * * *", "canStartWorkflow": true}));
    let found = found.expect("a trigger");
    assert_eq!(found.payload, Some(json!({"CronExpression": "0 0 * * * *"})));
    assert_eq!(found.schedule, Some(Schedule::new(When::Cron("0 0 * * * *".into()))));

    let event = indexed(json!({"type": "Event", "eventName": "E", "canStartWorkflow": true})).expect("a trigger");
    assert_eq!(event.schedule, None);
}

#[test]
fn publishing_again_changes_nothing_that_is_compared() {
    let timer = |interval: &str| {
        indexed(json!({"type": "Timer", "interval": interval, "canStartWorkflow": true})).expect("a trigger")
    };
    let (first, second) = (timer("00:05:00"), timer("5 minutes"));
    assert_eq!((&first.payload, first.hash), (&second.payload, second.hash));
    assert_ne!(first.hash, timer("00:06:00").hash);
    // A stimulus with Elsa's two fields still has Elsa's own hash.
    let full = json!({"StartAt": "2027-01-15T08:05:00Z", "Interval": "00:05:00"});
    let full = stimulus::normalise("Elsa.Timer", &full).expect("a payload");
    assert_ne!(stimulus::hash("Elsa.Timer", Some(&full), None), first.hash);
}

#[test]
fn a_trigger_that_cannot_be_scheduled_is_refused_on_publish() {
    for (activity, sqlstate) in [
        (json!({"type": "Cron", "cronExpression": "0 0 * * *", "timeZone": "Mars/Olympus"}), "22023"),
        (json!({"type": "Cron"}), "22004"),
        (json!({"type": "Timer", "interval": {"js": "'00:00:00'"}}), "22023"),
        (json!({"type": "StartAt"}), "22004"),
    ] {
        let mut activity = activity;
        activity["canStartWorkflow"] = json!(true);
        assert_eq!(indexed(activity.clone()).expect_err("a fault").sqlstate, sqlstate, "{activity}");
    }
}

/// Problems of a definition, as `path: message`.
fn problems(activities: Value) -> Vec<String> {
    let document = json!({"definitionId": "d", "root": {"type": "Sequence", "activities": activities}});
    let new = ReadLimits { is_new: true, ..ReadLimits::default() };
    let problems = compile(&document, &(), &new, false).expect_err("problems");
    problems.into_iter().map(|problem| format!("{}: {}", problem.path, problem.message)).collect()
}

#[test]
fn constants_are_checked_when_a_definition_is_stored() {
    let bad = json!({"typeName": "String", "expression": {"type": "Literal", "value": "BadCronExpression"}});
    let found = problems(json!([
        {"type": "Elsa.Cron", "cronExpression": bad},
        {"type": "Cron", "cronExpression": "0 24 * * *"},
        {"type": "Cron", "cronExpression": "0 0 31 2 *"},
        {"type": "Delay", "timeSpan": "soon"},
        {"type": "Delay", "timeSpan": "7 parsecs"},
        {"type": "Timer", "interval": "-00:00:01"},
        {"type": "Timer", "interval": "1 s", "misfire": "never", "overlap": "x", "misfireCap": 0, "jitter": "-1 s"},
        {"type": "StartAt", "dateTime": "soon"},
        {"type": "Cron", "cronExpression": "*/90 * * * *"},
        {"type": "Cron", "cronExpression": "TZ=UTC 0 9 * * *"},
        {"type": "Cron", "cronExpression": "0 9 * * *", "timeZone": "+05:30"},
    ]));
    let expected = [
        "/root/activities/0/cronExpression: invalid cron expression \"BadCronExpression\": \"BadCronExpression\" has 1 field",
        "/root/activities/1/cronExpression: invalid cron expression \"0 24 * * *\": \"24\" in field \"hour\" (position 3)",
        "/root/activities/2/cronExpression: cron expression \"0 0 31 2 *\" never matches",
        "/root/activities/3/timeSpan: invalid value for type TimeSpan: \"soon\"",
        "/root/activities/4/timeSpan: invalid value for type TimeSpan: \"7 parsecs\"",
        "/root/activities/5/interval: interval must be positive: \"-00:00:01\"",
        "/root/activities/6/misfire: unknown misfire policy \"never\"",
        "/root/activities/6/misfireCap: \"misfireCap\" must be between 1 and 10000",
        "/root/activities/6/overlap: unknown overlap policy \"x\"",
        "/root/activities/6/jitter: \"jitter\" must not be negative",
        "/root/activities/7/dateTime: invalid value for type DateTime: \"soon\"",
        "/root/activities/8/cronExpression: invalid cron expression \"*/90 * * * *\": \"90\" in field \"minute\" (position 3) is a step",
        "/root/activities/9/cronExpression: invalid cron expression \"TZ=UTC 0 9 * * *\": it names a time zone",
        "/root/activities/10/timeZone: time zone \"+05:30\" is an offset",
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found}\n{expected}");
    }
}
