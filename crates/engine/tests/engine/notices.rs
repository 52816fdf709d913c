//! Notices of tasks, reminders, and what happens at a deadline besides.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use workflow_engine::definition::{ReadLimits, compile};
use workflow_engine::instance::SubStatus;
use workflow_engine::journal::EventKind;
use workflow_engine::migration::Timers;
use workflow_engine::notification::DirectoryEntry;
use workflow_engine::stimulus::{DEADLINE, REMINDER};

use crate::support::{World, line};

fn with(mut activity: Value, more: Value) -> Value {
    activity.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    activity
}

fn task(more: Value) -> Value {
    with(json!({"id": "ask", "type": "RunTask", "taskName": "Ask", "candidates": ["ada", "ben"]}), more)
}

fn approve(more: Value) -> Value {
    with(json!({"id": "ask", "type": "Approve", "by": ["ada", "ben"], "subject": "Leave"}), more)
}

/// A world that has not begun, whose directory knows Ada and her manager.
fn world(definition: Value) -> World {
    let mut world = World::new(definition);
    let mail = |name: &str| Some(format!("{name}@example.com"));
    let ada = DirectoryEntry { mail: mail("ada"), manager: Some("cleo".to_owned()), ..DirectoryEntry::default() };
    world.host.directory.insert("ada".to_owned(), ada);
    world.host.directory.insert("cleo".to_owned(), DirectoryEntry { mail: mail("cleo"), ..DirectoryEntry::default() });
    world
}

fn started(definition: Value) -> World {
    let mut world = world(definition);
    world.start();
    world
}

fn pass(world: &mut World, name: &str) {
    let at = world.bookmarks.iter().position(|made| made.name == name).expect("a timer");
    world.resume_at(at, None);
}

/// Reason and people of each event of the last burst.
fn told(world: &World) -> Vec<(String, Vec<String>)> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let of = |input: &Value| {
        let people = input["people"].as_array().expect("a list");
        (text(&input["reason"]), people.iter().map(|person| text(&person["person"])).collect())
    };
    world.last.stimuli.iter().map(|sent| of(sent.input.as_ref().expect("a payload"))).collect()
}

fn once(reason: &str, people: &[&str]) -> Vec<(String, Vec<String>)> {
    vec![(reason.to_owned(), people.iter().map(|name| (*name).to_owned()).collect())]
}

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000, 0).expect("the instant of the world")
}

#[test]
fn an_event_and_a_workflow_are_told_of_a_task() {
    let notify = json!({"notify": {"event": "Task", "workflow": "mail"}, "payload": {"subject": "a raise"}, "deadline": "1 day"});
    let mut world = world(task(notify));
    world.host.answerer = Some("dan".to_owned());
    world.start();
    let sent = &world.last.stimuli[0];
    assert_eq!((sent.name.as_str(), sent.payload.as_ref()), ("Elsa.Event", Some(&json!({"EventName": "Task"}))));
    let unknown = json!({"person": "ben", "name": null, "mail": null, "zone": null, "language": null, "manager": null, "inPlaceOf": null});
    let known = with(unknown.clone(), json!({"person": "ada", "mail": "ada@example.com", "manager": "cleo"}));
    let id = world.bookmarks[0].id.to_string();
    let expected = json!({"reason": "opened", "task": id, "name": "Ask", "subject": "a raise", "definition": "test",
        "instance": world.instance.id.to_string(), "correlationId": null, "by": "dan", "due": "2027-01-16T08:00:00Z",
        "people": [known, unknown], "notTold": ["ben"]});
    assert_eq!(sent.input.as_ref(), Some(&expected));
    let child = &world.children[0];
    let input = with(expected, json!({"ParentInstanceId": world.instance.id.to_string()}));
    assert_eq!((Value::Object(child.input.clone()), child.bookmark_id), (input, None));
    assert!(sent.by_author && child.is_notice, "they have the rights of the definition's owner");
    let notes: Vec<_> = world.trail.iter().filter(|event| event.kind == EventKind::Note).collect();
    assert_eq!(notes[0].data.as_ref().map(|data| &data.0["notTold"]), Some(&json!(["ben"])));
}

#[test]
fn nobody_is_told_of_a_task_that_did_not_last() {
    let race = json!({"type": "Fork", "joinMode": "WaitAny", "branches": [task(json!({"notify": {"event": "Task"}})), line("done")]});
    let world = started(race);
    assert_eq!((world.status(), world.last.stimuli.len()), (SubStatus::Finished, 0));
    // The whole step is undone.
    let wrong =
        json!({"notify": {"event": "Task"}, "deadline": "1 day", "onDeadline": "raise", "raiseTo": {"js": "null"}});
    let world = started(task(wrong));
    assert_eq!((world.last.incidents.len(), world.last.stimuli.len()), (1, 0));
}

#[test]
fn what_cannot_be_sent_is_on_record_and_faults_nothing() {
    let world = started(task(json!({"notify": {"event": "Task", "workflow": "missing"}})));
    assert_eq!((world.status(), world.children.len(), world.last.stimuli.len()), (SubStatus::Suspended, 0, 1));
    let is_sent = |event: &&workflow_engine::journal::Event| {
        event.data.as_ref().is_some_and(|data| data.0.get("notSent").is_some())
    };
    assert_eq!(world.trail.iter().filter(is_sent).count(), 1);
    // Workflows that notify people of each other's tasks do not end.
    for (generation, events) in [(9, 1), (10, 0)] {
        let mut world = self::world(task(json!({"notify": {"event": "Task"}})));
        world.host.generation = generation;
        world.start();
        let sent = (world.last.stimuli.len(), world.trail.iter().filter(is_sent).count());
        assert_eq!((world.status(), sent), (SubStatus::Suspended, (events, 1 - events)));
    }
    let mut world = self::world(task(json!({"notify": {"event": "Task"}})));
    world.host.directory_failure = Some("it is gone".to_owned());
    world.start();
    assert_eq!(world.status(), SubStatus::Suspended);
    let why = world.trail.iter().find_map(|event| Some(event.data.as_ref()?.0.get("why")?.clone()));
    assert_eq!(why, Some(json!("it is gone")));
    // A journal of milestones has no notes.
    let world =
        started(json!({"options": {"journal": "milestones", "notify": {"event": "Task", "workflow": "missing"}},
        "root": task(json!({}))}));
    let noted = world.trail.iter().filter(|event| event.kind == EventKind::Note).count();
    assert_eq!((world.last.stimuli.len(), noted), (1, 0));
}

#[test]
fn the_options_say_what_tasks_tell_unless_an_activity_does() {
    let definition = |own: Value| json!({"options": {"notify": {"event": "All"}}, "root": task(own)});
    let event = |own: Value| started(definition(own)).last.stimuli[0].payload.clone();
    assert_eq!(event(json!({})), Some(json!({"EventName": "All"})));
    assert_eq!(event(json!({"notify": {"event": "Own"}})), Some(json!({"EventName": "Own"})));
    assert_eq!(event(json!({"notify": null})), Some(json!({"EventName": "All"})), "designers write null for no value");
    for off in [json!(false), json!("false")] {
        let world = started(definition(json!({"notify": off})));
        assert_eq!((world.last.tasks.len(), world.last.stimuli.len()), (1, 0));
    }
    let mail = json!({"id": "mail", "type": "SendEmail", "to": ["ada@example.com"], "subject": "s"});
    let world = started(json!({"options": {"notify": {"event": "All"}}, "root": mail}));
    assert_eq!((world.last.tasks.len(), world.last.stimuli.len()), (1, 0), "nobody is asked by it");
    let world = started(definition(json!({"candidates": null})));
    assert_eq!((world.last.tasks.len(), world.last.stimuli.len()), (1, 0), "task workers claim it");
}

#[test]
fn reminders_come_once_at_their_times() {
    let reminders = json!(["1 hour", {"before": "2 hours"}, {"before": "2 days"}, {"after": "3 hours"}, "22 hours"]);
    let mut world = started(task(json!({"notify": {"event": "Task"}, "deadline": "1 day", "reminders": reminders})));
    let due: Vec<_> = world.bookmarks.iter().filter(|made| made.name == REMINDER).map(|made| made.due_at).collect();
    let hours = |hours: i64| Some(now() + TimeDelta::hours(hours));
    assert_eq!(due, [hours(1), hours(22), hours(27)], "without one before the opening, and one for each time");
    pass(&mut world, REMINDER);
    assert_eq!(told(&world), once("reminded", &["ada", "ben"]));
    assert_eq!(world.bookmarks.iter().filter(|made| made.name == REMINDER).count(), 2);
    world.resume("ask", json!("yes"));
    assert_eq!((world.status(), world.bookmarks.len()), (SubStatus::Finished, 0));
}

#[test]
fn of_several_overdue_reminders_the_last_one_reminds() {
    let more = json!({"notify": {"event": "Task"}, "reminders": ["3 hours", "1 hour", "2 hours"]});
    for definition in [task(more.clone()), approve(more)] {
        let mut world = started(definition);
        world.host.later = 2 * 3_600;
        pass(&mut world, REMINDER);
        assert_eq!(told(&world), [], "the next one is due as well");
        pass(&mut world, REMINDER);
        assert!(!told(&world).is_empty());
        world.host.later = 9 * 3_600;
        pass(&mut world, REMINDER);
        assert!(!told(&world).is_empty(), "it is the last one");
    }
}

#[test]
fn a_reminder_of_an_approval_is_for_those_who_have_not_voted() {
    let mut world = started(approve(json!({"notify": {"event": "Task"}, "reminders": "1 hour", "changeable": true})));
    assert_eq!(told(&world).len(), 2);
    world.host.answerer = Some("ada".to_owned());
    world.resume("ask", json!(true));
    assert_eq!(told(&world), [], "a task to change a vote is no news");
    assert_eq!(world.host.asked_with_votes, 0);
    pass(&mut world, REMINDER);
    assert_eq!(told(&world), once("reminded", &["ben"]));
    assert_eq!(world.host.asked_with_votes, 1, "who has voted gets no second vote");
}

#[test]
fn a_deadline_asks_the_managers() {
    let escalate =
        json!({"notify": {"event": "Task"}, "deadline": "1 day", "onDeadline": "escalate", "escalateTo": "manager"});
    let mut world = started(task(escalate.clone()));
    pass(&mut world, DEADLINE);
    // Ben has no manager, so he is asked again.
    assert_eq!(told(&world), once("escalated", &["cleo", "ben"]));
    let mut world = started(task(with(escalate.clone(), json!({"candidates": ["ben"]}))));
    let before = world.bookmarks[0].id;
    pass(&mut world, DEADLINE);
    assert_eq!((world.bookmarks[0].id, told(&world)), (before, vec![]), "nobody else could be asked");
    assert_eq!(world.status(), SubStatus::Suspended);
    let is_noted = |event: &&workflow_engine::journal::Event| {
        event.data.as_ref().is_some_and(|data| data.0.get("noManager").is_some())
    };
    assert_eq!(world.trail.iter().filter(is_noted).count(), 1);

    let mut world = started(approve(escalate.clone()));
    pass(&mut world, DEADLINE);
    let asked: Vec<_> = told(&world).into_iter().flat_map(|(_, people)| people).collect();
    assert_eq!(asked, ["cleo", "ben"]);
    // Two voters with the same manager are too few for two votes, and one without a role that can act for it decides nothing: the
    // voters are asked again.
    let mut world = self::world(approve(escalate.clone()));
    world.host.unreachable.insert("cleo".to_owned());
    world.start();
    pass(&mut world, DEADLINE);
    let asked: Vec<_> = told(&world).into_iter().flat_map(|(_, people)| people).collect();
    assert_eq!((asked, world.last.incidents.len()), (vec!["ada".to_owned(), "ben".to_owned()], 0));
    let mut world = self::world(approve(with(escalate, json!({"by": ["ada", "eva"], "rule": 2}))));
    let manager = Some("cleo".to_owned());
    world.host.directory.insert("eva".to_owned(), DirectoryEntry { manager, ..DirectoryEntry::default() });
    world.start();
    pass(&mut world, DEADLINE);
    let asked: Vec<_> = told(&world).into_iter().flat_map(|(_, people)| people).collect();
    assert_eq!(asked, ["ada", "eva"]);
    pass(&mut world, DEADLINE);
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn a_directory_that_fails_at_a_deadline_is_asked_again_later() {
    let escalate =
        json!({"notify": {"event": "Task"}, "deadline": "1 day", "onDeadline": "escalate", "escalateTo": "manager"});
    for definition in [task(escalate.clone()), approve(escalate)] {
        let mut world = started(definition);
        world.host.directory_failure = Some("it is gone".to_owned());
        let before = world.bookmarks.len();
        pass(&mut world, DEADLINE);
        assert_eq!((world.status(), world.last.incidents.len(), told(&world)), (SubStatus::Suspended, 0, vec![]));
        let due: Vec<_> = world.bookmarks.iter().filter(|made| made.name == DEADLINE).map(|made| made.due_at).collect();
        assert_eq!((world.bookmarks.len(), due), (before, vec![Some(now() + TimeDelta::hours(1))]));
        let note = world.trail.iter().rev().find(|event| event.kind == EventKind::Note).expect("a note");
        let note = note.data.as_ref().map(|data| (data.0["noManager"].clone(), data.0["why"].clone()));
        assert_eq!(note, Some((json!(["ada", "ben"]), json!("it is gone"))));
        world.host.directory_failure = None;
        pass(&mut world, DEADLINE);
        let asked: Vec<_> = told(&world).into_iter().flat_map(|(_, people)| people).collect();
        assert_eq!(asked, ["cleo", "ben"]);
    }
}

#[test]
fn a_manager_whom_the_task_excludes_is_not_asked() {
    let escalate = json!({"notify": {"event": "Task"}, "deadline": "1 day", "onDeadline": "escalate",
        "escalateTo": "manager", "not": ["starter"]});
    let mut world = world(task(with(escalate.clone(), json!({"candidates": ["ada", "eva"]}))));
    let manager = |name: &str| DirectoryEntry { manager: Some(name.to_owned()), ..DirectoryEntry::default() };
    world.host.directory.insert("eva".to_owned(), manager("dora"));
    world.host.starter = Some("cleo".to_owned());
    world.start();
    pass(&mut world, DEADLINE);
    assert_eq!(told(&world), once("escalated", &["ada", "dora"]), "Ada herself is asked again");
    let mut world = self::world(task(with(escalate, json!({"candidates": ["ada"]}))));
    world.host.starter = Some("cleo".to_owned());
    world.start();
    let before = world.bookmarks[0].id;
    pass(&mut world, DEADLINE);
    assert_eq!((world.bookmarks[0].id, told(&world)), (before, vec![]));
}

#[test]
fn a_migration_says_how_notices_change() {
    let definition = |options: Value, own: Value| json!({"definitionId": "w", "options": options, "root": task(own)});
    let reminded = json!({"reminders": "1 hour"});
    let old = definition(json!({"notify": {"event": "Old"}}), reminded.clone());
    let messages = |new: &Value| -> (World, Vec<String>) {
        let mut world = World::started(old.clone());
        let problems = world.migrate((&old, new), &json!({}), Timers::Keep).expect("it can go on");
        (world, problems.into_iter().map(|problem| problem.message).collect())
    };
    let otherwise = "activity \"ask\" notifies people otherwise in version 2; that applies from the next notice on";
    let (mut world, said) = messages(&definition(json!({"notify": {"event": "New"}}), reminded.clone()));
    assert_eq!(said, [otherwise]);
    pass(&mut world, REMINDER);
    assert_eq!(world.last.stimuli[0].payload, Some(json!({"EventName": "New"})));
    let (mut world, said) = messages(&definition(json!({}), reminded));
    assert_eq!(said, [otherwise]);
    pass(&mut world, REMINDER);
    assert_eq!(told(&world), []);
    let (_, said) = messages(&definition(json!({"notify": {"event": "Old"}}), json!({"reminders": "2 hours"})));
    assert_eq!(said, ["activity \"ask\" has other inputs in version 2; what it waits for stays as it is"]);
}

#[test]
fn a_deadline_raises_the_priority_or_publishes_an_event() {
    let mut world = started(task(json!({"deadline": "1 day", "onDeadline": "raise", "raiseTo": 5})));
    let id = world.bookmarks[0].id;
    pass(&mut world, DEADLINE);
    let raised: Vec<_> = world.last.raised_tasks.iter().map(|raised| (&raised.tasks[..], raised.priority)).collect();
    assert_eq!(raised, [(&[id][..], 5)]);
    world.resume("ask", json!("yes"));
    assert_eq!(world.status(), SubStatus::Finished);

    let refused = |priority: &str| {
        let raise = json!({"deadline": "1 day", "onDeadline": "raise", "raiseTo": {"js": priority}});
        started(task(raise)).last.incidents[0].fault.sqlstate.clone()
    };
    assert_eq!(refused("3000000000"), "22003");
    assert_ne!(refused("'abc'"), "22003", "it is no number");

    let event = json!({"deadline": "1 day", "onDeadline": "event", "deadlineEvent": "Late"});
    let mut world = started(task(event.clone()));
    pass(&mut world, DEADLINE);
    assert_eq!(told(&world), once("due", &["ada", "ben"]));
    assert_eq!(world.last.stimuli[0].payload, Some(json!({"EventName": "Late"})));
    assert!(world.last.stimuli[0].by_author && !world.program.acts_for_owner());
    // The starter may have chosen the name.
    let computed = json!({"deadline": "1 day", "onDeadline": "event", "deadlineEvent": {"js": "'Late'"}});
    let mut world = started(task(computed));
    pass(&mut world, DEADLINE);
    assert_eq!(told(&world), once("due", &["ada", "ben"]));
    let sent = &world.last.stimuli[0];
    let mail = &sent.input.as_ref().expect("a payload")["people"][0]["mail"];
    assert_eq!((sent.by_author, mail, world.program.acts_for_owner()), (false, &Value::Null, true));
    let mut world = started(approve(event));
    world.host.answerer = Some("ada".to_owned());
    world.resume("ask", json!(true));
    pass(&mut world, DEADLINE);
    assert_eq!(told(&world), once("due", &["ben"]));

    let serial =
        json!({"order": "serial", "deadline": "2020-01-01", "onDeadline": "raise", "raiseTo": 5, "priority": 1});
    assert_eq!(started(approve(serial)).last.tasks[0].priority, 5, "the deadline has passed before");
    for (word, input) in [("raise", "raiseTo"), ("event", "deadlineEvent")] {
        for definition in [task(json!({"deadline": "1 day"})), approve(json!({"deadline": "1 day"}))] {
            let world = started(with(definition, json!({"onDeadline": {"js": format!("'{word}'")}})));
            let message = format!("\"onDeadline\": \"{word}\" requires \"{input}\"");
            assert_eq!(world.last.incidents[0].fault.message, message);
        }
    }
}

#[test]
fn what_would_tell_nobody_is_refused() {
    let problem = |root: Value| {
        let document = json!({"definitionId": "d", "root": root});
        let limits = ReadLimits { is_new: true, ..ReadLimits::default() };
        compile(&document, &(), &limits, false)
            .err()
            .map(|problems| (problems[0].path.clone(), problems[0].message.clone()))
    };
    let place = |root: Value| problem(root).expect("refused").0;
    assert_eq!(place(task(json!({"reminders": "1 day"}))), "/root/reminders");
    let told = |more: Value| task(with(json!({"notify": {"event": "E"}, "deadline": "1 day"}), more));
    assert_eq!(problem(told(json!({"reminders": [{"before": "1 hour"}, {"after": "1 hour"}]}))), None);
    assert_eq!(place(told(json!({"deadline": null, "reminders": {"before": "1 day"}}))), "/root/reminders");
    assert_eq!(place(told(json!({"reminders": {"after": "1 day"}, "onDeadline": "expire"}))), "/root/reminders");
    let votes = approve(json!({"notify": {"event": "E"}, "deadline": "1 day", "reminders": {"after": "1 day"}}));
    assert_eq!(place(votes.clone()), "/root/reminders");
    assert_eq!(problem(with(votes, json!({"onDeadline": "raise", "raiseTo": 1}))), None);
    assert_eq!(place(told(json!({"onDeadline": "raise"}))), "/root/onDeadline");
    for priority in [json!("abc"), json!(3_000_000_000_i64)] {
        assert_eq!(place(told(json!({"onDeadline": "raise", "raiseTo": priority}))), "/root/raiseTo");
    }
    let long = "x".repeat(3_000);
    assert_eq!(place(told(json!({"onDeadline": "event", "deadlineEvent": long}))), "/root/deadlineEvent");
    // What would silently do nothing.
    assert_eq!(place(task(json!({"onDeadline": "expire"}))), "/root/onDeadline");
    assert_eq!(place(approve(json!({"onDeadline": {"js": "'expire'"}}))), "/root/onDeadline");
    assert_eq!(problem(task(json!({"onDeadline": "nothing"}))), None);
    assert_eq!(problem(approve(json!({"onDeadline": "expire"}))), None, "designers write the default");
    for (input, value) in [("raiseTo", json!(1)), ("deadlineEvent", json!("E")), ("escalateTo", json!(["cleo"]))] {
        for acts in [json!({}), json!({"onDeadline": "expire"})] {
            assert_eq!(place(told(with(acts, json!({input: value})))), format!("/root/{input}"));
        }
        assert_eq!(problem(told(json!({"onDeadline": {"js": "'expire'"}, input: value}))), None);
        assert_eq!(problem(told(json!({"onDeadline": "expire", input: null}))), None);
    }
    let days = |more: Value| told(with(json!({"deadline": "2 days"}), more));
    assert_eq!(place(days(json!({"reminders": {"before": "3 days"}}))), "/root/reminders");
    assert_eq!(place(days(json!({"reminders": "3 days", "onDeadline": "expire"}))), "/root/reminders");
    assert_eq!(problem(days(json!({"reminders": ["3 days", {"before": "1 day"}]}))), None);
    let to_others = json!({"onDeadline": "escalate", "escalateTo": ["cleo"], "reminders": {"after": "1 day"}});
    assert_eq!(problem(days(to_others.clone())), None);
    assert_eq!(place(told(with(to_others, json!({"deadline": "2030-01-01"})))), "/root/reminders");
    assert_eq!(place(told(json!({"notify": {"workflow": "d"}}))), "/root/notify");
    assert_eq!(place(told(json!({"notify": {"js": "null"}}))), "/root/notify");
    let document = json!({"definitionId": "d", "options": {"notify": {"workflow": "d"}}, "root": [task(json!({})), task(json!({"id": "b"}))]});
    let limits = ReadLimits { is_new: true, ..ReadLimits::default() };
    let problems = compile(&document, &(), &limits, false).expect_err("refused");
    assert_eq!((problems.len(), problems[0].path.as_str()), (1, "/options/notify"));
    let trigger = |event: &str| json!({"id": "heard", "type": "Event", "eventName": event, "canStartWorkflow": true});
    assert_eq!(place(json!([trigger("E"), told(json!({}))])), "/root/1/notify");
    assert_eq!(problem(json!([trigger("Other"), told(json!({}))])), None);
}
