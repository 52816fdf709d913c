//! Approvals: who is asked when, and what their votes decide.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use workflow_engine::activity::Excluded;
use workflow_engine::approval::Approval;
use workflow_engine::definition::{ReadLimits, compile};
use workflow_engine::instance::SubStatus;
use workflow_engine::stimulus::DEADLINE;

use crate::support::{World, line};

fn approve(more: Value) -> Value {
    let mut activity = json!({"id": "ask", "type": "Approve", "by": ["role:boss", "role:hr"], "subject": "Leave",
        "result": {"output": "Outcome"}, "votes": {"output": "Votes"}, "decidedBy": {"output": "DecidedBy"}});
    activity.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    json!({"outputs": [{"name": "Outcome"}, {"name": "Votes"}, {"name": "DecidedBy"}], "root": activity})
}

/// For whom the open tasks are, oldest first.
fn asked(world: &World) -> Vec<String> {
    let approval = world.instance.state.contexts.values().find_map(|context| Approval::of(&context.memory));
    let tasks: Vec<_> = world.bookmarks.iter().filter(|made| made.name != DEADLINE).map(|made| made.id).collect();
    let approval = approval.expect("an open approval");
    let name = |task| approval.voters.iter().find(|voter| voter.task == Some(task)).expect("a voter").name.clone();
    let names: Vec<String> = tasks.iter().map(|task| name(*task)).collect();
    assert_eq!(approval.open_tasks().len(), names.len());
    names
}

/// Answers the oldest open task of a voter.
fn vote(world: &mut World, voter: &str, answer: Value) {
    let at = asked(world).iter().position(|name| name == voter).unwrap_or_else(|| panic!("{voter} is asked"));
    let id = world.bookmarks.iter().filter(|made| made.name != DEADLINE).nth(at).expect("a bookmark").id;
    let at = world.bookmarks.iter().position(|made| made.id == id).expect("stored");
    world.host.answerer = Some(format!("{voter}'s"));
    world.resume_at(at, Some(&answer));
    world.host.answers.insert(id, answer);
}

fn pass_deadline(world: &mut World) {
    let at = world.bookmarks.iter().position(|made| made.name == DEADLINE).expect("a deadline");
    world.resume_at(at, None);
}

fn outcome(world: &World) -> (SubStatus, Value) {
    (world.status(), world.instance.output.get("Outcome").cloned().unwrap_or_default())
}

fn ended(outcome: &str) -> (SubStatus, Value) {
    (SubStatus::Finished, json!(outcome))
}

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000, 0).expect("the instant of the world")
}

#[test]
fn each_voter_has_a_task_that_says_what_it_is_about() {
    let details = json!({"details": {"days": 3}, "deadline": "2 days", "form": {"properties": {"why": {"type": "string"}}},
        "resultSchema": {"type": "object"}, "priority": 2, "abstain": true});
    let world = World::started(approve(details));
    assert_eq!(asked(&world), ["role:boss", "role:hr"]);
    let task = &world.last.tasks[1];
    let for_people = task.for_people.as_ref().expect("it is for people");
    assert_eq!((task.name.as_str(), task.priority), ("ask", 2));
    assert_eq!(task.payload, Some(json!({"subject": "Leave", "details": {"days": 3}})));
    assert_eq!((for_people.candidates.as_slice(), for_people.assignee.as_ref()), (&["role:hr".to_owned()][..], None));
    assert_eq!(for_people.deadline, Some(now() + TimeDelta::days(2)));
    assert_eq!(for_people.result_schema, Some(json!({"type": "object"})));
    let executions: Vec<_> =
        world.last.tasks.iter().map(|task| task.for_people.as_ref().and_then(|of| of.approval)).collect();
    assert!(executions[0].is_some() && executions[0] == executions[1], "{executions:?}");
    let form = for_people.form.as_ref().expect("a form");
    let members: Vec<&String> = form["properties"].as_object().expect("properties").keys().collect();
    assert_eq!(members.len(), 3, "{members:?}");
    let due: Vec<_> = world.bookmarks.iter().filter_map(|made| made.due_at).collect();
    assert_eq!(due, [now() + TimeDelta::days(2)]);
}

#[test]
fn all_must_approve_and_one_no_ends_it() {
    let mut world = World::started(approve(json!({})));
    vote(&mut world, "role:hr", json!({"approved": true, "why": "fine"}));
    assert_eq!(outcome(&world), (SubStatus::Suspended, Value::Null));
    vote(&mut world, "role:boss", json!(true));
    assert_eq!(outcome(&world), ended("Approved"));
    let at = "2027-01-15T08:00:00Z";
    let votes = json!([
        {"as": "role:boss", "by": "role:boss's", "at": at, "vote": "Approved", "answer": true},
        {"as": "role:hr", "by": "role:hr's", "at": at, "vote": "Approved", "answer": {"approved": true, "why": "fine"}}]);
    assert_eq!((&world.instance.output["Votes"], &world.instance.output["DecidedBy"]), (&votes, &json!("votes")));
    assert!(world.last.ended_tasks.is_empty());

    let mut world = World::started(approve(json!({})));
    let other = world.bookmarks[1].id;
    vote(&mut world, "role:boss", json!(false));
    assert_eq!(outcome(&world), ended("Rejected"));
    let ended_tasks: Vec<_> = world.last.ended_tasks.iter().map(|ended| (&ended.tasks[..], &*ended.outcome)).collect();
    assert_eq!(ended_tasks, [(&[other][..], "Rejected")]);
}

#[test]
fn a_flowchart_follows_the_outcome() {
    let activities = json!([{"id": "ask", "type": "Approve", "by": "ada", "subject": "Leave"},
        {"id": "yes", "type": "WriteLine", "text": "yes"}, {"id": "no", "type": "WriteLine", "text": "no"}]);
    let chart = json!({"type": "Flowchart", "activities": activities,
        "connections": [["ask", "Approved", "yes"], ["ask", "Rejected", "no"], ["ask", "Expired", "no"]]});
    let mut world = World::started(chart);
    vote(&mut world, "ada", json!(false));
    assert_eq!((world.status(), world.lines()), (SubStatus::Finished, vec!["no"]));
}

#[test]
fn the_rule_says_how_many_must_approve() {
    let five = json!(["a", "b", "c", "d", "e"]);
    let decided = |rule: Value, votes: &[(&str, bool)]| {
        let mut world = World::started(approve(json!({"by": five, "rule": rule})));
        for (voter, answer) in votes {
            assert_eq!(world.status(), SubStatus::Suspended, "{rule} {voter}");
            vote(&mut world, voter, json!(answer));
        }
        outcome(&world)
    };
    assert_eq!(decided(json!("any"), &[("b", false), ("c", true)]), ended("Approved"));
    assert_eq!(decided(json!(2), &[("e", true), ("a", true)]), ended("Approved"));
    assert_eq!(decided(json!("2"), &[("a", false), ("b", false), ("c", false), ("d", false)]), ended("Rejected"));
    assert_eq!(decided(json!("majority"), &[("a", true), ("b", false), ("c", true), ("d", true)]), ended("Approved"));
    assert_eq!(decided(json!("majority"), &[("a", false), ("b", false), ("c", false)]), ended("Rejected"));
}

#[test]
fn abstaining_leaves_the_decision_to_the_others() {
    let mut world = World::started(approve(json!({"by": ["a", "b", "c"], "rule": "majority", "abstain": true})));
    vote(&mut world, "a", json!({"abstain": true}));
    vote(&mut world, "b", json!(true));
    assert_eq!(world.status(), SubStatus::Suspended, "one of two is a tie");
    vote(&mut world, "c", json!(false));
    assert_eq!(outcome(&world), ended("Rejected"));
    let mut world = World::started(approve(json!({"abstain": true})));
    vote(&mut world, "role:hr", json!({"abstain": true}));
    vote(&mut world, "role:boss", json!({"abstain": true}));
    assert_eq!(outcome(&world), ended("Rejected"), "somebody must approve");
}

#[test]
fn the_definition_says_whether_an_answer_may_abstain() {
    let program = |more: Value| {
        let mut document = approve(more);
        document["definitionId"] = json!("d");
        compile(&document, &(), &ReadLimits::default(), false).expect("acceptable")
    };
    let validate = |more: Value, answer: Value| {
        let program = program(more);
        let node = program.node(program.find("ask").expect("an activity"));
        node.activity.validate_answer(&node.inputs, Some(&answer)).map_err(|fault| fault.message)
    };
    assert_eq!(validate(json!({}), json!({"approved": false})), Ok(None));
    assert_eq!(validate(json!({"abstain": true}), json!({"abstain": true})), Ok(None));
    let refused = validate(json!({}), json!({"abstain": true})).expect_err("refused");
    assert_eq!(refused, "this approval does not allow abstaining");
    assert_eq!(validate(json!({}), json!("ok")).expect_err("refused"), "this is not an answer to an approval");
    let excluding = program(json!({"not": ["starter"]}));
    let node = excluding.node(excluding.find("ask").expect("an activity"));
    assert!(excluding.excludes_people);
    assert_eq!(node.activity.excluded(&node.inputs), Ok(vec![Excluded::Starter, Excluded::OtherVoters]));
}

#[test]
fn a_serial_approval_asks_one_after_the_other() {
    let mut world = World::started(approve(json!({"by": ["a", "b", "c"], "order": "serial", "deadline": "1 day"})));
    assert_eq!(asked(&world), ["a"]);
    vote(&mut world, "a", json!(true));
    assert_eq!(asked(&world), ["b"]);
    let for_people = world.last.tasks[0].for_people.as_ref().expect("it is for people");
    assert_eq!(for_people.deadline, Some(now() + TimeDelta::days(1)));
    vote(&mut world, "b", json!(false));
    assert_eq!((outcome(&world), world.bookmarks.len()), (ended("Rejected"), 0));
}

#[test]
fn a_changeable_vote_counts_as_it_was_last() {
    let mut world = World::started(approve(json!({"by": ["a", "b", "c"], "rule": 2, "changeable": true})));
    vote(&mut world, "a", json!(true));
    assert_eq!(asked(&world), ["b", "c", "a"]);
    let again = world.bookmarks[2].id;
    let approval = world.instance.state.contexts.values().find_map(|context| Approval::of(&context.memory));
    let approval = approval.expect("open");
    assert!(approval.replaced_by(again).is_some() && approval.tasks_of_others(again).len() == 2);
    vote(&mut world, "a", json!(false));
    vote(&mut world, "b", json!(true));
    assert_eq!(world.status(), SubStatus::Suspended);
    vote(&mut world, "c", json!(true));
    assert_eq!(outcome(&world), ended("Approved"));
    let votes: Vec<&Value> =
        world.instance.output["Votes"].as_array().expect("votes").iter().map(|vote| &vote["vote"]).collect();
    assert_eq!(votes, ["Rejected", "Approved", "Approved"]);
}

#[test]
fn each_member_of_a_role_votes_as_it_was_at_the_beginning() {
    let mut world = World::new(approve(json!({"by": [{"each": "role:board"}, "ada"], "not": ["starter"]})));
    world.host.members.insert("board".into(), vec!["cy".into(), "dan".into(), "starter".into()]);
    world.start();
    assert_eq!(asked(&world), ["role:cy", "role:dan", "ada"]);
    let mut world = World::new(approve(json!({"by": {"each": "role:board"}, "not": ["starter"]})));
    world.host.members.insert("board".into(), vec!["starter".into()]);
    world.start();
    assert_eq!(world.last.incidents[0].fault.message, "role \"board\" has no members who could vote");
}

#[test]
fn voters_are_computed_when_the_approval_begins() {
    let by = json!({"js": "getInput('amount') > 100 ? ['cfo', 'ceo'] : 'lead'"});
    let started = |amount: i64| {
        let mut world = World::with_input(approve(json!({"by": by})), json!({"amount": amount}));
        world.start();
        asked(&world)
    };
    assert_eq!((started(7), started(500)), (vec!["lead".to_owned()], vec!["cfo".to_owned(), "ceo".to_owned()]));
}

#[test]
fn what_cannot_be_asked_is_a_fault() {
    for (more, message) in [
        (json!({"by": {"js": "[]"}}), "\"by\" must name at least one voter"),
        (json!({"by": {"js": "[7]"}}), "an entry of \"by\" must be a name or {\"each\": \"role:<name>\"}, not 7"),
        (json!({"rule": {"js": "'most'"}}), "\"rule\" must be all, any, majority or a positive number, not \"most\""),
        (json!({"rule": 3}), "\"rule\" needs 3 votes, and \"by\" has 2"),
        (
            json!({"onDeadline": "escalate", "deadline": "1 day"}),
            "\"onDeadline\": \"escalate\" requires \"escalateTo\"",
        ),
        (json!({"by": ["role:gone"]}), "role \"gone\" does not exist"),
        (json!({"by": {"js": "[...Array(101).keys()].map(String)"}}), "\"by\" has at most 100 voters, not 101"),
        (json!({"by": {"js": "['ada', 'ben', 'ada']"}}), "\"by\" names \"ada\" twice"),
    ] {
        let mut world = World::new(approve(more.clone()));
        world.host.missing_roles.insert("gone".into());
        world.start();
        assert_eq!(world.last.incidents[0].fault.message, message, "{more}");
        assert!(world.bookmarks.is_empty());
    }
}

#[test]
fn a_rule_that_lost_its_voters_is_an_incident_and_a_retry_asks_anew() {
    let mut world = World::started(approve(json!({"by": ["role:a", "role:b", "role:c"], "rule": 2})));
    world.host.unreachable.insert("role:b".to_owned());
    vote(&mut world, "role:a", json!(true));
    assert_eq!(world.status(), SubStatus::Suspended, "two of three can still approve");
    let mut world = World::started(approve(json!({"by": ["role:a", "role:b"]})));
    world.host.unreachable.insert("role:b".to_owned());
    vote(&mut world, "role:a", json!(true));
    let fault = &world.last.incidents[0].fault;
    assert_eq!((world.status(), fault.message.as_str()), (SubStatus::Faulted, "approval \"ask\" cannot be decided"));
    assert_eq!(fault.detail.as_deref(), Some("Nobody is left who could vote for: role:b."));
    world.retry(None).expect("it has faulted");
    assert_eq!(world.status(), SubStatus::Faulted, "still nobody");
    world.host.unreachable.clear();
    world.retry(None).expect("it has faulted");
    assert_eq!((asked(&world), world.status()), (vec!["role:a".to_owned(), "role:b".to_owned()], SubStatus::Suspended));

    // One after the other: who is gone is passed over, if the rule can do without.
    let serial = json!({"by": ["role:a", "role:b", "role:c"], "rule": "any", "order": "serial"});
    let mut world = World::started(approve(serial));
    world.host.unreachable.insert("role:b".into());
    vote(&mut world, "role:a", json!(false));
    assert_eq!(asked(&world), ["role:c"]);
}

#[test]
fn voters_who_cannot_vote_are_found_when_they_are_asked() {
    let unreachable = |more: Value, gone: &str| {
        let mut world = World::new(approve(more));
        world.host.unreachable.insert(gone.to_owned());
        world.start();
        world
    };
    let world = unreachable(json!({}), "role:hr");
    assert_eq!((world.status(), world.bookmarks.len()), (SubStatus::Faulted, 0));
    assert_eq!(world.last.incidents[0].fault.sqlstate, "55000");
    let world = unreachable(json!({"rule": "any", "order": "serial"}), "role:boss");
    assert_eq!(asked(&world), ["role:hr"]);
    // At the deadline, too, and it is no outcome.
    let more = json!({"deadline": "1 day", "onDeadline": "escalate", "escalateTo": ["role:boss"]});
    let mut world = World::started(approve(more));
    vote(&mut world, "role:boss", json!(true));
    world.host.unreachable.insert("role:boss".to_owned());
    pass_deadline(&mut world);
    assert_eq!((world.status(), outcome(&world).1), (SubStatus::Faulted, Value::Null));
}

#[test]
fn a_member_of_two_roles_has_one_vote() {
    let by = json!([{"each": "role:heads"}, "role:ben", {"each": "role:personnel"}]);
    let mut world = World::new(approve(json!({"by": by})));
    world.host.members.insert("heads".into(), vec!["ada".into(), "ben".into()]);
    world.host.members.insert("personnel".into(), vec!["ada".into(), "ben".into(), "cy".into()]);
    world.start();
    assert_eq!(asked(&world), ["role:ada", "role:ben", "role:cy"]);
}

#[test]
fn a_deadline_decides_what_the_author_wants() {
    for (on, expected) in [(json!(null), "Expired"), (json!("approve"), "Approved"), (json!("reject"), "Rejected")] {
        let mut world = World::started(approve(json!({"deadline": "1 day", "onDeadline": on})));
        vote(&mut world, "role:hr", json!(true));
        pass_deadline(&mut world);
        assert_eq!((outcome(&world), world.bookmarks.len()), (ended(expected), 0));
        let output = &world.instance.output;
        let votes: Vec<&Value> = output["Votes"].as_array().expect("votes").iter().map(|vote| &vote["as"]).collect();
        assert_eq!((&output["DecidedBy"], votes), (&json!("deadline"), vec![&json!("role:hr")]), "a vote of nobody");
        assert_eq!(world.last.ended_tasks[0].outcome, expected);
    }
}

#[test]
fn an_escalation_asks_others_once() {
    let more = json!({"by": ["a", "b"], "deadline": "1 day", "onDeadline": "escalate", "escalateTo": ["head"]});
    let mut world = World::started(approve(more.clone()));
    vote(&mut world, "a", json!(true));
    pass_deadline(&mut world);
    assert_eq!((asked(&world), world.status()), (vec!["head".to_owned()], SubStatus::Suspended));
    assert_eq!(world.last.ended_tasks[0].outcome, "Escalated");
    assert_eq!(world.bookmarks.iter().filter(|made| made.due_at.is_some()).count(), 1, "a new deadline");
    vote(&mut world, "head", json!(true));
    assert_eq!(outcome(&world), ended("Approved"));
    let mut world = World::started(approve(more));
    pass_deadline(&mut world);
    pass_deadline(&mut world);
    assert_eq!(outcome(&world), ended("Expired"));
    let instant = json!({"deadline": "2030-01-01 00:00", "onDeadline": "escalate", "escalateTo": "head"});
    let mut world = World::started(approve(instant));
    pass_deadline(&mut world);
    assert!(world.bookmarks.iter().all(|made| made.due_at.is_none()), "an instant comes once");
}

#[test]
fn an_escalation_asks_nobody_if_the_votes_decide() {
    let escalated = |votes: &[(&str, bool)], more: Value| {
        let mut world = World::started(approve(more));
        for (voter, answer) in votes {
            vote(&mut world, voter, json!(answer));
        }
        pass_deadline(&mut world);
        world
    };
    let five = |rule: Value| {
        json!({"by": ["a", "b", "c", "d", "e"], "rule": rule, "deadline": "1 day", "onDeadline": "escalate",
            "escalateTo": "boss"})
    };
    for (votes, rule, expected) in [
        ([("a", true), ("b", true)], json!("majority"), "Approved"),
        ([("a", false), ("b", false)], json!("majority"), "Rejected"),
        ([("a", false), ("b", false)], json!(2), "Rejected"),
    ] {
        let world = escalated(&votes, five(rule));
        assert_eq!((outcome(&world), world.bookmarks.len()), (ended(expected), 0));
        assert_eq!((&world.instance.output["DecidedBy"], world.last.tasks.len()), (&json!("votes"), 0));
        assert_eq!(world.last.ended_tasks[0].outcome, expected);
    }
    let more =
        |names: Value| json!({"by": ["a", "b"], "deadline": "1 day", "onDeadline": "escalate", "escalateTo": names});
    let world = escalated(&[("a", true)], more(json!(["a's", "c"])));
    assert_eq!(asked(&world), ["c"], "one person, one vote");
    let world = escalated(&[("a", true)], more(json!("a's")));
    assert_eq!(world.last.incidents[0].fault.message, "everybody in \"escalateTo\" has voted already");
    let world = escalated(&[("a", true)], five(json!(3)));
    assert_eq!(world.last.incidents[0].fault.message, "\"escalateTo\" has fewer voters than \"rule\" needs");
}

#[test]
fn after_an_escalation_votes_can_still_be_changed() {
    let more = json!({"by": ["a", "b"], "changeable": true, "deadline": "1 day", "onDeadline": "escalate",
        "escalateTo": ["head", "boss"]});
    let mut world = World::started(approve(more));
    vote(&mut world, "a", json!(true));
    pass_deadline(&mut world);
    assert_eq!(asked(&world), ["head", "boss", "a"]);
    vote(&mut world, "head", json!(true));
    vote(&mut world, "a", json!(false));
    assert_eq!(outcome(&world), ended("Rejected"));
}

#[test]
fn it_ends_like_every_activity_that_waits() {
    let timed =
        json!([{"id": "ask", "type": "Approve", "by": ["a", "b"], "subject": "s", "timeout": "1 hour"}, line("after")]);
    let mut world = World::started(timed);
    let timeout = world.bookmarks.iter().position(|made| made.due_at.is_some()).expect("a timeout");
    world.resume_at(timeout, None);
    assert_eq!((world.status(), world.bookmarks.len()), (SubStatus::Faulted, 0));
    let mut world = World::started(approve(json!({"deadline": "1 day"})));
    world.cancel();
    assert_eq!((world.status(), world.bookmarks.len()), (SubStatus::Cancelled, 0));
}
