//! The plan of each kind of burst: what happens to the resumed bookmark, and which entries the burst uses.

use serde_json::json;
use workflow_engine::alteration::{Alteration, Author};
use workflow_engine::bookmark::{self, Bookmark};
use workflow_engine::definition::{ReadLimits, compile};
use workflow_engine::execution::{self, Delta, Limits};
use workflow_engine::instance::{Instance, SubStatus};
use workflow_engine::journal::{Act, ActKind, Identity};
use workflow_engine::program::SearchValue;
use workflow_engine::{Error, Program};
use workflow_plan::Entry::*;
use workflow_plan::{Before, BookmarkKind, Entry, Outcome, Plan, Resumed, ResumedRow, Trim, activation_key};

include!("../../engine/tests/support/alone.rs");

/// An instance with what the extension would have stored of it.
struct Run {
    program: Program,
    instance: Instance,
    host: Alone,
    bookmarks: Vec<Bookmark>,
    key: Option<String>,
    act: Option<Act>,
    /// What the row and the call add to an outcome.
    facts: fn(&mut Outcome<'_>),
}

impl Run {
    fn new(definition: Value) -> Self {
        let program = compile(&definition, &(), &ReadLimits::default(), false).expect("acceptable");
        let key = Some("c1".to_owned());
        let instance = Instance::new(Uuid::nil(), &program, 1, key, None, Map::new()).expect("no input is needed");
        let key = activation_key(&program, 0, instance.correlation_id.as_deref());
        let host = Alone { ids: 100, ..Alone::default() };
        Self { program, instance, host, bookmarks: Vec::new(), key, act: None, facts: |_| {} }
    }

    fn with(mut self, facts: fn(&mut Outcome<'_>)) -> Self {
        self.facts = facts;
        self
    }

    /// An instance that has been started and waits.
    fn started(definition: Value) -> Self {
        let mut run = Self::new(definition);
        run.start();
        run
    }

    fn start(&mut self) -> Plan {
        self.burst(None, |run| {
            execution::start(&run.program, &mut run.instance, None, None, &mut run.host, &Limits::default())
        })
    }

    /// Resumes the bookmark of an activity that has this name, if it has several.
    fn resume(&mut self, activity: &str, name: &str) -> Plan {
        let found = self.bookmarks.iter().find(|it| it.activity_id == activity && it.name.contains(name));
        let bookmark = found.cloned().expect("a bookmark");
        let resumed = bookmark::Resumed::from(bookmark.clone());
        self.burst(Some(bookmark), |run| {
            execution::resume(&run.program, &mut run.instance, &resumed, None, &mut run.host, &Limits::default())
        })
    }

    fn retry(&mut self) -> Plan {
        self.burst(None, |run| {
            execution::retry(&run.program, &mut run.instance, None, &mut run.host, &Limits::default())
        })
    }

    fn cancel(&mut self) -> Plan {
        self.burst(None, |run| execution::cancel(&run.program, &mut run.instance, None, false, &mut run.host))
    }

    fn burst(&mut self, resumed: Option<Bookmark>, body: impl FnOnce(&mut Self) -> Result<Delta, Error>) -> Plan {
        let before = Before::of(&self.instance, self.key.as_deref());
        let state = &self.instance.state;
        let (has_requests, open_requests) = (state.has_requests(), state.open_requests(&self.program));
        let searched_by = self.program.search_values(&self.instance).into_iter();
        let searched_by: Vec<(String, SearchValue)> = searched_by.map(|(name, value)| (name.into(), value)).collect();
        let delta = body(self).expect("the burst ends");
        let mut outcome = Outcome::new(&self.program, &before, &self.instance, &delta, self.host.now());
        outcome.resumed = resumed.as_ref().map(|bookmark| Resumed {
            bookmark,
            kind: BookmarkKind::of(bookmark),
            is_locked: false,
            by_time: false,
            is_taken: false,
        });
        outcome.act = self.act.as_ref();
        (outcome.has_requests, outcome.open_requests) = (has_requests, &open_requests);
        let searched_by: Vec<(&str, SearchValue)> =
            searched_by.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        outcome.searched_by = &searched_by;
        (self.facts)(&mut outcome);
        let plan = Plan::new(&outcome);
        self.store(&plan, delta, resumed.as_ref());
        plan
    }

    /// Does with the bookmarks what the plan says. As many are left as the instance counts.
    fn store(&mut self, plan: &Plan, delta: Delta, resumed: Option<&Bookmark>) {
        self.instance.state.next_journal = plan.journal.end;
        self.key.clone_from(&plan.activation_key);
        let takes = matches!(plan.resumed, ResumedRow::Deleted | ResumedRow::DeletedFirst);
        let taken = resumed.filter(|_| takes).map(|bookmark| bookmark.id);
        let ends = plan.uses(EndedBookmarks);
        self.bookmarks.retain(|stored| {
            let is_ended = plan.clears_all
                || plan.burned.contains(&stored.id)
                || delta.cleared.contains(&stored.activity_instance_id);
            Some(stored.id) != taken && !(ends && is_ended)
        });
        self.bookmarks.extend(delta.created);
        assert_eq!(self.bookmarks.len(), self.instance.state.bookmarks() as usize, "{plan:?}");
    }
}

/// The entries that a plan uses. Each plan has `Deferred`.
fn entries(plan: &Plan) -> Vec<Entry> {
    plan.entries().iter().filter(|entry| *entry != Deferred).collect()
}

fn event(id: &str) -> Value {
    json!({"id": id, "type": "Event", "eventName": id})
}

#[test]
fn start_that_ends_uses_nothing() {
    let mut run = Run::new(json!({"definitionId": "d", "root": {"type": "WriteLine", "text": "done"}}));
    let plan = run.start();
    assert_eq!((entries(&plan), plan.resumed, plan.journal), (vec![], ResumedRow::Stays, 0..1));
    assert_eq!(run.instance.sub_status, SubStatus::Finished);
}

#[test]
fn events() {
    let mut run = Run::new(json!({"definitionId": "d", "root": [event("paid"), event("sent")]}));
    assert_eq!(entries(&run.start()), [Queue]);
    let plan = run.resume("paid", "");
    assert_eq!((entries(&plan), plan.resumed, plan.journal), (vec![Queue], ResumedRow::Deleted, 1..2));
    let plan = run.resume("sent", "");
    assert_eq!((entries(&plan), plan.resumed, plan.journal), (vec![], ResumedRow::Deleted, 2..3));
}

#[test]
fn task() {
    let mut run =
        Run::new(json!({"definitionId": "d", "root": {"id": "ask", "type": "RunTask", "taskName": "approve"}}));
    assert_eq!(entries(&run.start()), [Lanes, Identity, Notify, Queue]);
    let plan = run.resume("ask", "");
    assert_eq!((entries(&plan), plan.resumed), (vec![TaskEnd], ResumedRow::Deleted));
}

#[test]
fn timer() {
    let delay =
        json!({"definitionId": "d", "root": [{"id": "delay", "type": "Delay", "timeSpan": "1 h"}, event("go")]});
    let mut run = Run::new(delay).with(|outcome| {
        if let Some(resumed) = &mut outcome.resumed {
            resumed.by_time = true;
        }
    });
    assert_eq!(entries(&run.start()), [TimerNotice, Queue]);
    let plan = run.resume("delay", "");
    assert_eq!((entries(&plan), plan.resumed), (vec![Queue], ResumedRow::Deleted));
}

#[test]
fn bookmark_that_was_deleted_before_its_burst() {
    let taken = |outcome: &mut Outcome<'_>| {
        if let Some(resumed) = &mut outcome.resumed {
            resumed.is_taken = true;
        }
    };
    let mut run = Run::started(json!({"definitionId": "d", "root": [event("go"), event("end")]})).with(taken);
    let bookmark = run.bookmarks.remove(0);
    let resumed = bookmark::Resumed::from(bookmark.clone());
    let plan = run.burst(Some(bookmark), |run| {
        execution::resume(&run.program, &mut run.instance, &resumed, None, &mut run.host, &Limits::default())
    });
    assert_eq!((entries(&plan), plan.resumed), (vec![Queue], ResumedRow::Stays));
}

#[test]
fn bookmark_that_its_activity_keeps() {
    // (taken before, locked, what happens to the row)
    let cases = [
        (false, false, ResumedRow::Stays),
        (true, true, ResumedRow::Restored),
        (true, false, ResumedRow::RestoredUnclaimed),
    ];
    let run = Run::started(json!({"definitionId": "d", "root": event("go")}));
    let before = Before::of(&run.instance, None);
    let delta = Delta { keep_resumed: true, ..Delta::default() };
    for (is_taken, is_locked, row) in cases {
        let mut outcome = Outcome::new(&run.program, &before, &run.instance, &delta, run.host.now());
        let bookmark = &run.bookmarks[0];
        outcome.resumed = Some(Resumed { bookmark, kind: BookmarkKind::Task, is_locked, by_time: true, is_taken });
        let plan = Plan::new(&outcome);
        // Its task is still open, and it does not fire again.
        assert_eq!((entries(&plan), plan.resumed), (vec![FiredTimer], row));
    }
}

#[test]
fn race() {
    let fork = json!({"type": "Fork", "joinMode": "WaitAny", "branches": [event("go"),
        {"id": "ask", "type": "RunTask", "taskName": "ask"}, {"id": "late", "type": "Delay", "timeSpan": "1 h"}]});
    let mut run = Run::started(json!({"definitionId": "d", "root": [fork, event("end")]}));
    let plan = run.resume("go", "");
    assert_eq!((entries(&plan), plan.resumed), (vec![EndedBookmarks, Queue], ResumedRow::DeletedFirst));
    assert_eq!(run.bookmarks.len(), 1);
}

#[test]
fn correlation() {
    let branches = json!([event("stay"), [event("go"), {"type": "Correlate", "correlationId": "c2"}]]);
    let mut run = Run::started(json!({"definitionId": "d", "root": {"type": "Parallel", "activities": branches}}));
    let plan = run.resume("go", "");
    assert_eq!((entries(&plan), plan.resumed), (vec![Correlation, Queue], ResumedRow::DeletedFirst));
    assert!(plan.meets_all);

    // Nothing is left that has the old one.
    let mut run =
        Run::started(json!({"definitionId": "d", "root": [event("go"), {"type": "Correlate", "correlationId": "c2"}]}));
    let plan = run.resume("go", "");
    assert_eq!((entries(&plan), plan.resumed), (vec![Queue], ResumedRow::Deleted));
}

#[test]
fn fault_and_retry() {
    let fails = json!({"definitionId": "d", "root": [event("go"), {"id": "fail", "type": "Fault", "message": "no"}]});
    let mut run = Run::started(fails);
    let plan = run.resume("go", "");
    assert_eq!((entries(&plan), plan.resumed), (vec![Incidents, Warning], ResumedRow::Deleted));
    assert_eq!(plan.resolved, workflow_plan::Resolved::Nothing);

    // It faults again: the incident before is resolved, and the new one is not among those that stay.
    let plan = run.retry();
    assert_eq!(entries(&plan), [Incidents, Warning]);
    assert_eq!(plan.resolved, workflow_plan::Resolved::AllBut(Vec::new()));

    let mut run = run.with(|outcome| outcome.raises_faults = true);
    assert_eq!(entries(&run.retry()), [Raise, Incidents, Warning]);

    let plan = run.cancel();
    assert_eq!(entries(&plan), [Incidents, RetryWakeup, Queue]);
}

#[test]
fn cancel() {
    let mut run =
        Run::started(json!({"definitionId": "d", "root": {"id": "ask", "type": "RunTask", "taskName": "ask"}}));
    let plan = run.cancel();
    assert_eq!((entries(&plan), plan.clears_all), (vec![EndedBookmarks], true));
}

#[test]
fn children_and_events() {
    let child = |kind: &str, waits: bool| json!({"id": "child", "type": kind, "workflowDefinitionId": "c", "waitForCompletion": waits});
    assert_eq!(
        entries(&Run::new(json!({"definitionId": "d", "root": child("DispatchWorkflow", false)})).start()),
        [Sent]
    );
    let mut run = Run::new(json!({"definitionId": "d", "root": child("ExecuteWorkflow", true)}));
    assert_eq!(entries(&run.start()), [Queue, Sent]);
    assert_eq!(entries(&run.resume("child", "")), []);
    let mut run = Run::new(json!({"definitionId": "d", "root": {"type": "PublishEvent", "eventName": "e"}}));
    assert_eq!(entries(&run.start()), [Sent]);
}

#[test]
fn abandoned_child() {
    let child = json!({"id": "child", "type": "ExecuteWorkflow", "workflowDefinitionId": "c", "waitForCompletion": true, "timeout": "1 min"});
    let root = json!({"type": "Try", "body": child, "catch": [{"body": event("wait")}]});
    let mut run = Run::started(json!({"definitionId": "d", "root": root}));
    let plan = run.resume("child", "Timeout");
    assert_eq!((entries(&plan), plan.resumed), (vec![Abandoned, EndedBookmarks, Queue], ResumedRow::DeletedFirst));
}

#[test]
fn end_of_a_child_and_its_successor() {
    let waited_for = |outcome: &mut Outcome<'_>| outcome.has_waiting_parent = true;
    let mut run = Run::new(json!({"definitionId": "d", "root": event("go")})).with(waited_for);
    assert_eq!(entries(&run.start()), [Queue]);
    assert_eq!(entries(&run.resume("go", "")), [Report]);

    // The parent receives the report of the successor only.
    let mut run =
        Run::started(json!({"definitionId": "d", "root": [event("go"), {"type": "ContinueAs"}]})).with(waited_for);
    assert_eq!(entries(&run.resume("go", "")), [Successor]);
}

#[test]
fn activation() {
    let single = json!({"definitionId": "d", "options": {"activationStrategy": "Singleton"}, "root": event("go")});
    let mut run = Run::new(single);
    let plan = run.start();
    // The row was inserted with its key.
    assert_eq!((entries(&plan), plan.activation_key.as_deref()), (vec![Queue], Some("singleton:d")));
    let plan = run.resume("go", "");
    assert_eq!((entries(&plan), plan.activation_key), (vec![ActivationKey], None));
}

#[test]
fn limits_pauses_and_schedules() {
    let turn = json!({"definitionId": "d", "options": {"maxConcurrency": {"max": 1}}, "root": event("go")});
    let mut run = Run::started(turn).with(|outcome| outcome.is_scheduled = true);
    assert_eq!(entries(&run.resume("go", "")), [Admission, Schedule]);

    let mut run = Run::new(json!({"definitionId": "d", "root": event("go")})).with(|outcome| outcome.is_paused = true);
    assert_eq!(entries(&run.start()), [Pause]);
    let mut run = Run::new(json!({"definitionId": "d", "root": event("go")})).with(|outcome| outcome.is_served = true);
    assert_eq!(entries(&run.start()), [Response, Queue]);
}

#[test]
fn values_by_which_an_instance_is_found() {
    let set = |name: &str| json!({"type": "SetVariable", "variable": name, "value": "changed"});
    let mut run = Run::new(json!({"definitionId": "d", "variables": {"State": "new", "Other": "new"},
        "options": {"searchAttributes": {"state": {"var": "State"}}},
        "root": [event("one"), set("Other"), event("two"), set("State"), event("three")]}));
    assert_eq!(entries(&run.start()), [SearchAttributes, Queue]);
    assert_eq!(entries(&run.resume("one", "")), [Queue]);
    assert_eq!(entries(&run.resume("two", "")), [SearchAttributes, Queue]);
    assert_eq!(entries(&run.resume("three", "")), []);
}

#[test]
fn request_that_waits() {
    let definition = json!({"definitionId": "d", "root": [event("go"), event("then"),
        {"id": "next", "type": "HttpEndpoint", "path": "next"}]});
    let mut run = Run::started(definition);
    // As if a request had started it.
    run.instance.state.contexts.values_mut().for_each(|context| context.request = Some(0));
    assert_eq!(entries(&run.resume("go", "")), [Queue]);
    assert_eq!(entries(&run.resume("then", "")), [WaitingRequest, Queue]);
    assert_eq!(entries(&run.cancel()), [EndedBookmarks, WaitingRequest]);
}

#[test]
fn last_lease() {
    let mail = json!({"definitionId": "d", "root": {"id": "send", "type": "RunTask", "taskName": "send"}});
    let mut run = Run::started(mail).with(|outcome| {
        if let Some(resumed) = &mut outcome.resumed {
            resumed.kind = BookmarkKind::Lease;
        }
    });
    assert!(entries(&run.resume("send", "")).contains(&LeaseEnd));
}

#[test]
fn deadline_that_raises_the_priority() {
    let ask = json!({"id": "ask", "type": "RunTask", "taskName": "ask", "deadline": "2030-01-01", "onDeadline": "raise", "raiseTo": 5});
    let mut run = Run::started(json!({"definitionId": "d", "root": ask}));
    assert!(entries(&run.resume("ask", "Deadline")).contains(&RaisedTasks));
}

#[test]
fn act_names_its_bookmark_once() {
    let act = |kind| Some(Act::new(kind, Identity { role: 10, login: None, actor: None }));
    let mut run = Run::started(json!({"definitionId": "d", "root": [event("go"), event("end")]}));
    run.act = act(ActKind::Resume);
    // The event of the resume names it.
    assert_eq!(run.resume("go", "").subject, None);

    let quiet =
        json!({"definitionId": "d", "options": {"journal": {"level": "none"}}, "root": [event("go"), event("end")]});
    let mut run = Run::started(quiet);
    run.act = act(ActKind::Resume);
    let bookmark = run.bookmarks[0].id;
    let plan = run.resume("go", "");
    assert_eq!((entries(&plan), plan.subject), (vec![Subject, Queue], Some(bookmark)));
    // A row for the act alone.
    assert_eq!(plan.journal, 0..1);
}

#[test]
fn trim() {
    let keep = |keep: Value| {
        let loops = json!({"type": "While", "condition": true, "body": event("go")});
        let mut run = Run::started(json!({"definitionId": "d", "options": {"journal": {"keep": keep}}, "root": loops}));
        let mut plans = (0..20).map(|_| run.resume("go", "")).filter(|plan| plan.trim.is_some());
        let trim = plans.next().and_then(|plan| plan.trim);
        assert!(plans.next().is_none(), "once in twenty rows");
        trim.expect("a trim")
    };
    assert_eq!(keep(json!(5)), Trim { from: 1, to: 15, until: None });
    let day = DateTime::<Utc>::default() - chrono::TimeDelta::days(1);
    assert_eq!(keep(json!("1 day")), Trim { from: 1, to: 19, until: Some(day) });
}

#[test]
fn alteration_alone_warns_nobody() {
    let root = json!([event("go"), {"id": "fail", "type": "Fault", "message": "no"}]);
    let mut run = Run::started(json!({"definitionId": "d", "variables": {"x": 1}, "root": root}));
    assert!(run.resume("go", "").uses(Warning));
    let set = [Alteration::ModifyVariable { name: "x".to_owned(), value: json!(2), scope: None }];
    let plan = run.burst(None, |run| {
        let (program, instance) = (&run.program, &mut run.instance);
        execution::alter(program, instance, &set, &Author::default(), &mut run.host, &Limits::default())
    });
    assert_eq!(entries(&plan), [Incidents]);
}

#[test]
fn removed_entry_leaves_the_others() {
    let task = json!({"definitionId": "d", "root": {"id": "ask", "type": "RunTask", "taskName": "ask"}});
    let used = entries(&Run::new(task.clone()).start());
    for removed in Entry::ALL {
        let plan = Run::new(task.clone()).start().without(removed);
        let left: Vec<Entry> = used.iter().copied().filter(|entry| *entry != removed).collect();
        assert_eq!(entries(&plan), left);
    }
}
