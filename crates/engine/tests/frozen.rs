//! Waiting instances as stored by an earlier version: this version reads each of them and runs it to its end.
//!
//! A sample is a file of `tests/frozen`: the document, the row and the bookmarks of the instance, the bytes of its
//! journal, how it continues, and its outcome when the sample was written. The folder `tests/frozen/numbering` has the
//! numbering of its version. A sample is never changed. To create the sample of a new case, run `WORKFLOW_FREEZE=1
//! cargo test -p workflow-engine --test frozen`.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};
use uuid::Uuid;
use workflow_engine::Program;
use workflow_engine::activities::catalogue::ACTIVITIES;
use workflow_engine::activity::{Descriptor, WaitKind};
use workflow_engine::bookmark::Bookmark;
use workflow_engine::child;
use workflow_engine::fault::{Error, Fault};
use workflow_engine::http::Request;
use workflow_engine::instance::codec::{decode_state, encode_state};
use workflow_engine::instance::{Instance, SubStatus};
use workflow_engine::journal;
use workflow_engine::program::{Node, Numbering};

use support::{FakeHost, Library, World, broken, described, event, line, numbered_otherwise};

/// A definition that waits, and how its instance continues.
struct Case {
    name: &'static str,
    document: Value,
    /// Definitions that the document uses as activities.
    uses: Vec<Value>,
    /// Activities resumed before the instance is stored, with their input.
    before: Vec<(&'static str, Value)>,
    /// An endpoint that receives a request then.
    requested: Option<&'static str>,
    /// Whether it is cancelled then.
    cancelled: bool,
    /// Rows of its journal that were removed.
    trimmed: u32,
    /// Activities resumed afterwards; after a space, the name of their bookmark.
    after: Vec<(&'static str, Value)>,
}

fn case(name: &'static str, root: Value) -> Case {
    let document = if root.get("root").is_some() { root } else { json!({ "root": root }) };
    Case {
        name,
        document,
        uses: Vec::new(),
        before: Vec::new(),
        requested: None,
        cancelled: false,
        trimmed: 0,
        after: vec![("go", json!({"n": 1}))],
    }
}

impl Case {
    fn before(mut self, activity: &'static str, input: Value) -> Self {
        self.before.push((activity, input));
        self
    }

    fn requested(mut self, endpoint: &'static str) -> Self {
        self.requested = Some(endpoint);
        self
    }

    fn cancelled(mut self) -> Self {
        self.cancelled = true;
        self
    }

    fn trimmed(mut self, rows: u32) -> Self {
        self.trimmed = rows;
        self
    }

    fn after(mut self, resumed: impl IntoIterator<Item = (&'static str, Value)>) -> Self {
        self.after = resumed.into_iter().collect();
        self
    }

    fn uses(mut self, definition: Value) -> Self {
        self.uses.push(definition);
        self
    }

    fn path(&self) -> PathBuf {
        samples().join(format!("{}.json", self.name))
    }

    fn document(&self) -> Value {
        let mut document = self.document.clone();
        document["definitionId"] = json!("test");
        document
    }

    fn program(&self) -> Program {
        Library::of(self.uses.clone()).compile(&self.document()).expect("a definition")
    }

    /// An instance that waits.
    fn world(&self, program: Program) -> World {
        let mut world = World::of(program, json!({"in": [1, 2.50]}));
        prepare(&mut world.host);
        world.start();
        go_on(&mut world, &self.before);
        if let Some(endpoint) = self.requested {
            let request = Request::new("GET", "/orders", Map::new(), Map::new(), Vec::new());
            world.host.request = Some(Rc::new(request.expect("a request")));
            world.resume(endpoint, Value::Null);
            world.host.request = None;
        }
        if self.cancelled {
            world.cancel();
        }
        world.instance.state.first_journal = self.trimmed;
        assert!(!world.bookmarks.is_empty() || world.status() == SubStatus::Faulted, "{} waits", self.name);
        world
    }

    /// The sample of this version.
    fn sample(&self) -> Value {
        let world = self.world(self.program());
        let mut sample = json!({
            "document": self.document(),
            "uses": self.uses,
            "instance": stored(&world.instance),
            "bookmarks": world.bookmarks.iter().map(stored_bookmark).collect::<Vec<_>>(),
            "journal": hex(&journal::encode(&world.trail)),
            "resumed": self.after.iter().map(|(activity, input)| json!([activity, input])).collect::<Vec<_>>(),
            "events": events(&world),
        });
        if !world.host.records.is_empty() {
            sample["records"] =
                world.host.records.iter().map(|(number, (holder, kept))| json!([number, holder, hex(kept)])).collect();
        }
        sample["expected"] = replay(&sample, self.program());
        sample
    }
}

fn samples() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/frozen")
}

fn event_after(text: &str) -> Value {
    json!([event("go"), line(text)])
}

/// A case for each activity that waits, and for each that holds a waiting activity.
fn cases() -> Vec<Case> {
    let mut cases = waiting();
    cases.extend(outside());
    cases.extend(later_formats());
    cases.extend(containers());
    cases.extend(scoped());
    cases.extend(flowcharts());
    cases.extend(compensations());
    cases
}

fn compensations() -> Vec<Case> {
    let step = |id: &str, body: Value, undo: Value| {
        json!({"id": id, "type": "Compensable", "body": body, "compensation": undo,
            "confirmation": line(&format!("keep {id}")), "cancellation": line(&format!("drop {id}"))})
    };
    let undo = || json!({"type": "WriteLine", "text": {"js": "`undo ${getCurrentValue()} ${getOutputFrom('js')}`"}});
    let js = json!({"id": "js", "type": "RunJavaScript", "script": "return getCurrentValue() + '!'"});
    let each = json!({"type": "ForEach", "items": ["x", "y"], "body": step("each", js, undo())});
    let slow =
        json!({"id": "open", "type": "Compensable", "body": event("never"), "cancellation": event_after("dropped")});
    vec![
        case("compensable", json!([each.clone(), step("b", event_after("b"), line("undo b")), line("end")])),
        case("compensate", json!([step("a", line("a"), event_after("undo a")), {"type": "Compensate"}, line("end")])),
        case(
            "cancellation",
            json!([{"type": "Fork", "joinMode": "WaitAny", "branches": [slow, line("quick")]}, line("end")]),
        ),
        case(
            "cancelling_without_result",
            json!({"id": "root", "type": "Sequence", "activities": [each, step("b", event("never"), line("undo b"))]}),
        )
        .cancelled()
        .after([("root", Value::Null)]),
        case("confirming", json!({"type": "Compensable", "body": line("a"), "confirmation": event_after("keep a")})),
        case(
            "cancellation_scope",
            json!([{"type": "CancellationScope", "cancellation": line("give up"),
            "body": [step("a", line("a"), line("undo a")), event("go")]}, line("end")]),
        ),
    ]
}

fn waiting() -> Vec<Case> {
    let wait = |kind: &str, more: Value| {
        let mut activity = json!({"id": "go", "type": kind});
        activity.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        json!([line("before"), activity, line("after")])
    };
    let child = json!({"workflowDefinitionId": "other", "waitForCompletion": true, "result": {"var": "R"}});
    let with_result = |root: Value| json!({"variables": {"R": null}, "root": root});
    let report = child::report(Uuid::from_u128(7), SubStatus::Finished, &Map::from_iter([("x".into(), json!(1.50))]));
    let report = report.expect("room");
    let items = json!({"workflowDefinitionId": "other", "items": [1, 2], "waitForCompletion": true});
    vec![
        case("event", wait("Event", json!({"eventName": "go"}))),
        case("delay", wait("Delay", json!({"timeSpan": "01:00:00"}))),
        case("start_at", wait("StartAt", json!({"dateTime": "2030-01-01T00:00:00Z"}))),
        case("timer", wait("Timer", json!({"interval": "00:10:00"}))),
        case("cron", wait("Cron", json!({"cronExpression": "0 0 * * *"}))),
        case(
            "run_task",
            with_result(wait("RunTask", json!({"taskName": "ask", "payload": {"a": 1.0}, "result": {"var": "R"}}))),
        ),
        case(
            "http_endpoint",
            wait("HttpEndpoint", json!({"path": "orders/{id}", "supportedMethods": ["GET", "POST"]})),
        ),
        case("execute_workflow", with_result(wait("ExecuteWorkflow", child.clone()))).after([("go", report.clone())]),
        case("dispatch_workflow", with_result(wait("DispatchWorkflow", child))).after([("go", report.clone())]),
        case("bulk_dispatch_workflows", wait("BulkDispatchWorkflows", items))
            .before("go", report.clone())
            .after([("go", report)]),
        case(
            "submit_alteration_plan",
            wait(
                "SubmitAlterationPlan",
                json!({"params": {"alterations": [{"type": "Cancel"}], "filter": {"names": ["a"]}}}),
            ),
        ),
        case("migrate_instances", wait("MigrateInstances", json!({"definitionId": "leave", "version": 2}))),
        case("scheduled_command", wait("ScheduledCommand", json!({"statement": "VACUUM", "topLevel": true})))
            .after([("go", json!({"rows": 7}))]),
        case("registered", wait("Approval", json!({"level": 2}))).after([("go", json!("yes"))]),
        case("background", wait("WriteLine", json!({"text": "later", "runAsynchronously": true}))),
        case("faulted", json!([line("before"), {"type": "Parallel", "activities": [broken("broken"), event("go")]}])),
        case("retry", wait("Approval", json!({"retry": {"maxAttempts": 2, "within": "1 day"}})))
            .before("go", json!("again"))
            .after([("go", Value::Null), ("go", json!("yes"))]),
        case("computed-strategy", json!({"variables": {"Most": 2}, "root": [line("before"), {"id": "go", "type": "Approval", "customProperties":
            {"resilienceStrategy": {"mode": "Expression", "expression":
                {"type": "JavaScript", "value": "({maxRetryAttempts: getMost(), delay: '00:01:00'})"}}}}, line("after")]}))
            .after([("go", json!("again")), ("go", Value::Null), ("go", json!("yes"))]),
        case("run-timeout", json!({"options": {"timeout": "1 day"}, "root": event_after("after")})),
        case("start-timeout", wait("RunTask", json!({"taskName": "ask", "startTimeout": "1 hour"}))),
        case("timeout", wait("RunTask", json!({"taskName": "ask", "timeout": "1 hour", "retry": {"maxAttempts": 2}})))
            .after([("go", Value::Null)]),
        case(
            "outputs",
            json!({"variables": {"V": {"a": [1, null]}}, "outputs": [{"name": "Said", "type": "String"}],
            "root": [{"id": "first", "type": "SetOutput", "outputName": "Said", "outputValue": "hello"},
                {"type": "Correlate", "correlationId": "c-1"}, {"type": "SetName", "value": "named"},
                event("go"), {"type": "WriteLine", "text": {"js": "JSON.stringify(getVariable('V'))"}}]}),
        ),
    ]
}

/// Activities whose work an external program does, or people.
fn outside() -> Vec<Case> {
    let answer = |status: u16| json!({"statusCode": status, "headers": {"Content-Type": "text/csv", "X-Id": "7"}, "content": "YQ=="});
    let ports = ["200", "404", "Unmatched status code", "Failed to connect", "Timeout"];
    let chart = |kind: &str| {
        let call = json!({"id": "go", "type": kind, "url": {"var": "Address"}, "expectedStatusCodes": {"var": "Codes"},
            "statusCode": {"var": "Code"}, "result": {"var": "R"}});
        let lines = ports.iter().map(|port| json!({"id": port, "type": "WriteLine", "text": port}));
        json!({"variables": {"Address": "https://a.example/files/a.csv?x=/y", "Codes": [200, 404], "Code": null, "R": null},
            "root": {"type": "Flowchart", "activities": std::iter::once(call).chain(lines).collect::<Vec<_>>(),
                "connections": ports.iter().map(|port| json!(["go", port, port])).collect::<Vec<_>>()}})
    };
    let send = json!({"id": "go", "type": "SendHttpRequest", "url": {"js": "'https://a.example/' + 1"}, "method": "POST",
        "content": {"object": {"n": 1.50}}, "contentType": "application/json", "authorization": {"object": {"secret": "bank"}},
        "requestHeaders": {"object": {"X-Shop": "1"}}, "enableResiliency": true,
        "expectedStatusCodes": [{"statusCode": 200, "activity": line("fine")}, {"statusCode": 404, "activity": event("gone")}],
        "unmatchedStatusCode": line("unmatched"), "failedToConnect": line("no connection"), "timeout": line("too late"),
        "statusCode": {"var": "Code"}, "parsedContent": {"var": "R"}});
    let send = json!({"variables": {"Code": null, "R": null}, "root": [line("before"), send, line("after")]});
    let mail = json!({"id": "go", "type": "SendEmail", "to": ["ada@example.com"], "subject": "Hello", "body": "<p>Hello</p>",
        "attachments": {"object": [{"fileName": "a.csv", "content": "YQ=="}]}, "error": line("no mail")});
    let vote = json!({"id": "go", "type": "Approve", "by": ["a", "b"], "subject": "Leave", "changeable": true, "deadline": "1 day",
        "result": {"output": "R"}, "votes": {"output": "V"}});
    let asked = json!({"id": "go", "type": "RunTask", "taskName": "ask", "candidates": ["ada"], "notify": {"event": "Told"},
        "reminders": ["1 hour", {"before": "2 hours"}], "deadline": "1 day", "onDeadline": "escalate", "escalateTo": ["cleo"],
        "result": {"output": "R"}});
    vec![
        case("approve", json!({"outputs": [{"name": "R"}, {"name": "V"}], "root": [vote, line("after")]}))
            .before("go", json!({"approved": true, "sum": 1.50}))
            .after([("go", json!(true))]),
        case("reminded", json!({"outputs": [{"name": "R"}], "root": [asked, line("after")]})).after([
            ("go Workflow.Reminder", Value::Null),
            ("go Workflow.Deadline", Value::Null),
            ("go", json!("yes")),
        ]),
        case("send_http_request", send).after([("go", answer(404)), ("gone", Value::Null)]),
        case("flow_send_http_request", chart("FlowSendHttpRequest")).after([("go", answer(404))]),
        case("download_http_file", chart("DownloadHttpFile")).after([("go", answer(200))]),
        case("send_email", json!([line("before"), mail, line("after")]))
            .after([("go", json!({"error": "send", "message": "mailbox full"}))]),
    ]
}

/// States with data after the attempts: a run whose successor waits for handlers, and a journal without its first rows.
fn later_formats() -> Vec<Case> {
    let step = json!({"id": "pay", "type": "Compensable", "body": line("paid"), "confirmation": event_after("booked")});
    let on = json!({"id": "on", "type": "ContinueAs", "input": {"object": {"n": 1.50}}, "confirm": true});
    vec![
        case("continuing", json!({"options": {"timeout": "1 day"}, "root": [step, on, line("never")]})),
        case("requested", json!([{"id": "in", "type": "HttpEndpoint", "path": "orders"}, event("go"), line("after")]))
            .requested("in"),
        case("trimmed", json!({"options": {"journal": {"keep": 10}}, "root": event_after("after")})).trimmed(300),
    ]
}

/// States with data after everything else: outputs inside open executions, and connections of a join.
fn scoped() -> Vec<Case> {
    let show = json!({"type": "WriteLine", "text": {"js": "`${getCurrentValue()} ${getOutputFrom('go')} ${getLastResult()}`"}});
    let bodies = json!({"type": "ParallelForEach", "items": ["a", "b"], "body": [event("go"), event("then"), show]});
    let join = json!({"type": "Flowchart", "activities": [{"id": "fork", "type": "FlowFork", "branches": ["A", "B"]}, event("go"), event("b"),
        {"id": "more", "type": "FlowDecision", "condition": {"js": "getLastResult() === 1"}},
        {"id": "join", "type": "FlowJoin", "mode": "WaitAll"}, line("end")],
        "connections": [["fork", "A", "go"], ["fork", "B", "b"], ["go", "more"], ["more", "False", "go"], ["more", "True", "join"],
            ["b", "join"], ["join", "WriteLine1"]]});
    vec![
        case("outputs_beside", bodies)
            .before("go", json!("of a"))
            .before("go", json!("of b"))
            .after([("then", Value::Null), ("then", Value::Null)]),
        case("join_behind_a_way_back", join).before("go", json!(0)).before("b", Value::Null).after([("go", json!(1))]),
    ]
}

fn containers() -> Vec<Case> {
    let inside = |kind: &str, child: &str, more: Value| {
        let mut activity = json!({"type": kind});
        activity[child] = event_after("went on");
        activity.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        json!([activity, line("end")])
    };
    let twice = || [("go", json!(1)), ("go", json!(2))];
    let used = json!({"definitionId": "Used", "options": {"usableAsActivity": true},
        "root": [line("in it"), event("go"), line("still in it")]});
    vec![
        case("if", inside("If", "then", json!({"condition": true}))),
        case(
            "switch",
            json!([{"type": "Switch", "cases": [{"label": "a", "condition": {"literal": true},
            "activity": event_after("a")}]}, line("end")]),
        ),
        case(
            "while",
            json!({"variables": {"N": 0}, "root": inside("While", "body", json!({"condition": {"sql": "N < 1"},
            "body": [event("go"), {"type": "SetVariable", "variable": "N", "value": {"sql": "N + 1"}}]}))}),
        ),
        case("for", inside("For", "body", json!({"start": 1, "end": 3, "step": 1})))
            .before("go", json!(0))
            .after(twice()),
        case("for_each", inside("ForEach", "body", json!({"items": ["a", "b", {"c": 1.10}]})))
            .before("go", json!(0))
            .after(twice()),
        case(
            "parallel_for_each",
            inside("ParallelForEach", "body", json!({"items": ["a", "b", "c"], "degreeOfParallelism": 2})),
        )
        .before("go", json!(0))
        .after(twice()),
        case("parallel", json!([{"type": "Parallel", "activities": [event_after("one"), event("two")]}, line("end")]))
            .after([("two", Value::Null), ("go", Value::Null)]),
        case(
            "fork",
            json!([{"type": "Fork", "joinMode": "WaitAny",
            "branches": [event_after("one"), event("two")]}, line("end")]),
        ),
        case(
            "composite",
            json!([{"type": "Composite", "variables": [{"name": "Inner", "value": 3}],
            "root": event_after("inner")}, line("end")]),
        ),
        case("workflow_as_activity", json!([{"type": "Used"}, line("end")])).uses(used),
        case("try", inside("Try", "body", json!({"finally": line("finally")}))),
        case(
            "try_catch",
            json!([{"type": "Try", "body": broken("broken"), "catch": [{"on": ["P0001"], "body": event_after("caught")}]},
            line("end")]),
        ),
        case("try_finally", json!({"type": "Try", "body": broken("broken"), "finally": event_after("cleaned")})),
        case(
            "state_machine",
            json!({"id": "machine", "type": "StateMachine",
            "states": [{"name": "A", "exit": line("leave A")}, {"name": "B", "entry": line("enter B")}, "C"],
            "transitions": [{"from": "A", "to": "B", "trigger": event("first")},
                {"from": "B", "to": "C", "trigger": event("go"), "action": line("act")},
                {"from": "B", "to": "A", "trigger": event("back")}]}),
        )
        .before("first", Value::Null),
    ]
}

fn flowcharts() -> Vec<Case> {
    let chart = |mode: &str| {
        json!({"id": "chart", "type": "Flowchart", "mode": mode,
            "activities": [line("begin"), event("one"), event("two"), event("three"),
                {"id": "join", "type": "FlowJoin", "mode": "WaitAll"}, {"id": "end", "type": "WriteLine", "text": "end"}],
            "connections": [["WriteLine1", "one"], ["WriteLine1", "two"], ["WriteLine1", "three"], ["one", "join"],
                ["two", "join"], ["three", "join"], ["join", "end"]]})
    };
    let rest = || [("three", Value::Null), ("two", Value::Null)];
    vec![
        case("flowchart", chart("counter")).before("one", Value::Null).after(rest()),
        case("flowchart_tokens", chart("token")).before("one", Value::Null).after(rest()),
        case(
            "flowchart_loop",
            json!({"type": "Flowchart", "activities": [event("go"), {"id": "again", "type": "FlowDecision",
            "condition": {"js": "getLastResult() === 'again'"}}, line("end")],
            "connections": [["go", "again"], ["again", "True", "go"], ["again", "False", "WriteLine1"]]}),
        )
        .before("go", json!("again"))
        .after([("go", json!("again")), ("go", json!("enough"))]),
    ]
}

/// Defines users' functions.
fn prepare(host: &mut FakeHost) {
    host.functions.insert("Approval".into(), |_| {
        Ok(json!({"bookmarks": [{"name": "ask", "payload": {"who": "boss"}, "metadata": {"x": "y"}, "callback": "decide"}]}))
    });
    host.functions.insert("decide".into(), |context| match context["input"] == "again" {
        true => Err(Fault::new("P0001", "again")),
        false => Ok(json!({"outputs": {"result": context["input"]}})),
    });
}

fn go_on(world: &mut World, resumed: &[(&str, Value)]) {
    for (activity, input) in resumed {
        resume(world, activity, input.clone());
    }
}

/// Resumes the first bookmark of an activity, or, after a space, the first one of this name.
fn resume(world: &mut World, what: &str, input: Value) {
    let Some((activity, name)) = what.split_once(' ') else { return world.resume(what, input) };
    let index = world.bookmarks.iter().position(|made| made.activity_id == activity && made.name == name);
    world.resume_at(index.expect("it waits"), None);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &Value) -> Vec<u8> {
    let hex = hex.as_str().expect("a text");
    (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hexadecimal")).collect()
}

fn stored(instance: &Instance) -> Value {
    json!({
        "id": instance.id, "correlationId": instance.correlation_id, "name": instance.name,
        "subStatus": instance.sub_status.name(), "input": instance.input, "output": instance.output,
        "variables": instance.variables, "incidents": instance.incident_count, "state": hex(&encode_state(&instance.state)),
    })
}

fn stored_bookmark(bookmark: &Bookmark) -> Value {
    json!({
        "id": bookmark.id, "activityId": bookmark.activity_id, "nodeId": bookmark.node_id,
        "activityType": bookmark.activity_type, "execution": bookmark.activity_instance_id, "name": bookmark.name,
        "hash": hex(&bookmark.hash()), "payload": bookmark.payload, "metadata": bookmark.metadata,
        "callback": bookmark.callback, "autoBurn": bookmark.auto_burn, "autoComplete": bookmark.auto_complete,
        "dueAt": bookmark.due_at,
    })
}

fn read<T: serde::de::DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).expect("what was stored")
}

fn read_instance(stored: &Value) -> Instance {
    Instance {
        id: read(&stored["id"]),
        version: 1,
        correlation_id: read(&stored["correlationId"]),
        name: read(&stored["name"]),
        sub_status: SubStatus::from_name(stored["subStatus"].as_str().expect("a text")).expect("a status"),
        input: read(&stored["input"]),
        output: read(&stored["output"]),
        variables: read(&stored["variables"]),
        incident_count: read(&stored["incidents"]),
        state: decode_state(&bytes(&stored["state"])).expect("a readable state"),
    }
}

fn read_bookmark(stored: &Value) -> Bookmark {
    Bookmark {
        id: read(&stored["id"]),
        activity_id: read(&stored["activityId"]),
        node_id: read(&stored["nodeId"]),
        activity_type: read(&stored["activityType"]),
        activity_instance_id: read(&stored["execution"]),
        name: read(&stored["name"]),
        hash: Some(bytes(&stored["hash"]).try_into().expect("32 bytes")),
        payload: read(&stored["payload"]),
        metadata: read(&stored["metadata"]),
        callback: read(&stored["callback"]),
        auto_burn: read(&stored["autoBurn"]),
        auto_complete: read(&stored["autoComplete"]),
        due_at: read::<Option<DateTime<Utc>>>(&stored["dueAt"]),
    }
}

fn events(world: &World) -> Value {
    let events = world.trail.iter().map(|event| json!([format!("{:?}", event.kind), event.activity_id]));
    events.collect()
}

fn program_of(sample: &Value) -> Program {
    let uses: Vec<Value> = read(&sample["uses"]);
    Library::of(uses).compile(&sample["document"]).expect("a definition")
}

/// Reads the instance of a sample, resumes it as recorded, and returns the outcome.
fn replay(sample: &Value, program: Program) -> Value {
    let mut world = World::of(program, json!({}));
    prepare(&mut world.host);
    world.is_whole_trail = false;
    world.host.ids = 1 << 64;
    world.instance = read_instance(&sample["instance"]);
    world.bookmarks = sample["bookmarks"].as_array().expect("a list").iter().map(read_bookmark).collect();
    for record in sample["records"].as_array().into_iter().flatten() {
        world.host.records.insert(read(&record[0]), (read(&record[1]), bytes(&record[2])));
    }
    world.check();
    for resumed in sample["resumed"].as_array().expect("a list") {
        resume(&mut world, resumed[0].as_str().expect("an id"), resumed[1].clone());
    }
    let mut outcome = json!({
        "subStatus": world.status().name(), "lines": world.lines(), "output": world.instance.output,
        "variables": world.instance.variables, "events": events(&world), "waiting": world.waiting(),
    });
    // Samples without a continuation are older.
    if let Some(next) = &world.last.continuation {
        outcome["continuation"] = json!([next.id, next.version_id, next.definition_id, next.input.0]);
    }
    if world.instance.state.first_journal > 0 {
        outcome["firstJournal"] = json!(world.instance.state.first_journal);
    }
    outcome
}

/// A sample as JSON, each of its members on a line.
fn text(sample: &Value) -> String {
    let members = sample.as_object().expect("an object").iter();
    let lines: Vec<String> = members.map(|(name, value)| format!("\"{name}\": {value}")).collect();
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

fn every_sample() -> impl Iterator<Item = (String, Value)> {
    let files = fs::read_dir(samples()).expect("the samples");
    let files = files.map(|file| file.expect("a file").path()).filter(|path| path.is_file());
    files.map(|path| {
        let text = fs::read_to_string(&path).expect("a text");
        (path.display().to_string(), serde_json::from_str(&text).expect("JSON"))
    })
}

#[test]
fn what_an_earlier_version_stored_goes_on() {
    let mut count = 0;
    for (path, sample) in every_sample() {
        assert_eq!(replay(&sample, program_of(&sample)), sample["expected"], "{path}");
        let journal = journal::decode(&bytes(&sample["journal"])).expect("a readable journal");
        let known: Vec<Value> =
            journal.iter().map(|event| json!([format!("{:?}", event.kind), event.activity_id])).collect();
        assert_eq!(Value::from(known), sample["events"], "{path}");
        count += 1;
    }
    assert!(count >= cases().len());
}

#[test]
fn every_case_has_its_sample() {
    for case in cases() {
        if !case.path().exists() && std::env::var_os("WORKFLOW_FREEZE").is_some() {
            fs::write(case.path(), text(&case.sample())).expect("a file");
        }
        assert!(case.path().exists(), "{} has no sample: set WORKFLOW_FREEZE=1 to write it", case.name);
        let numbering = numbering_beside(&case.path());
        if !numbering.exists() && std::env::var_os("WORKFLOW_FREEZE").is_some() {
            fs::write(numbering, numbering_text(&case.program())).expect("a file");
        }
    }
}

/// This version stores the same bytes as the version that wrote the sample. An intended change gets a new sample,
/// unless only the journal's format changes.
#[test]
fn the_same_is_stored_today() {
    for case in cases() {
        let text = fs::read_to_string(case.path()).expect("a sample");
        let known: Value = serde_json::from_str(&text).expect("JSON");
        let mut today = case.sample();
        let (then, now) = (bytes(&known["journal"]), bytes(&today["journal"]));
        // A journal in an earlier format has the same events; in the same format, it has the same bytes.
        if then[0] != now[0] {
            assert_eq!(journal::decode(&now), journal::decode(&then), "{}", case.name);
            today["journal"] = known["journal"].clone();
        }
        // The same applies to states and records; `what_an_earlier_version_stored_goes_on` checks that they continue in
        // the same way.
        keep_earlier_format(&mut today["instance"]["state"], &known["instance"]["state"]);
        for at in 0..known["records"].as_array().map_or(0, Vec::len) {
            keep_earlier_format(&mut today["records"][at][2], &known["records"][at][2]);
        }
        assert_eq!(today, known, "{}", case.name);
        let numbering = fs::read_to_string(numbering_beside(&case.path())).expect("a numbering");
        assert_eq!(numbering_text(&case.program()), numbering, "{}", case.name);
    }
}

/// Replaces the current bytes by the recorded ones if those have an earlier format.
fn keep_earlier_format(today: &mut Value, known: &Value) {
    if bytes(today)[0] > bytes(known)[0] {
        *today = known.clone();
    }
}

/// The numbering file that belongs to a sample.
fn numbering_beside(sample: &Path) -> PathBuf {
    samples().join("numbering").join(sample.file_name().expect("a name"))
}

fn numbering_text(program: &Program) -> String {
    serde_json::to_string(&program.numbering()).expect("JSON") + "\n"
}

#[test]
fn a_reader_that_numbers_in_another_order_goes_on_with_what_is_stored() {
    for (path, sample) in every_sample() {
        let text = fs::read_to_string(numbering_beside(Path::new(&path))).expect("a numbering");
        let stored: Numbering = serde_json::from_str(&text).expect("JSON");
        let other = || numbered_otherwise(program_of(&sample));
        // The program's own numbers denote other nodes than those of the stored state.
        let without = catch_unwind(|| replay(&sample, other()));
        assert!(without.map_or(true, |outcome| outcome != sample["expected"]), "{path}");
        let numbered = other().numbered(&stored).expect("the same activities");
        assert_eq!(described(&numbered), described(&program_of(&sample)), "{path}");
        assert_eq!(replay(&sample, numbered), sample["expected"], "{path}");
    }
}

/// Each reference to a node or a connection changes its number, too.
#[test]
fn numbers_change_nothing_of_what_a_program_does() {
    for case in cases() {
        let outcomes = [case.program(), numbered_otherwise(case.program())].map(|program| {
            let mut world = case.world(program);
            go_on(&mut world, &case.after);
            json!([world.status().name(), world.lines(), world.instance.output, world.instance.variables])
        });
        assert_eq!(outcomes[0], outcomes[1], "{}", case.name);
    }
}

#[test]
fn a_numbering_of_another_document_is_refused() {
    let numbered = |root: Value, by: Value| {
        let program = support::program(root);
        let numbering: Numbering = serde_json::from_value(by).expect("a numbering");
        program.numbered(&numbering).map(|program| program.nodes.len())
    };
    let chart = || json!({"id": "chart", "type": "Flowchart", "activities": [event("a"), event("b")], "connections": [["a", "b"]]});
    let by = |activities: Value, connections: Value| json!({"activities": activities, "connections": connections});
    let all = || json!([[null, "chart"], [0, "a"], [0, "b"]]);
    assert_eq!(numbered(chart(), by(all(), json!([[1, "Done", 2]]))), Ok(3));
    assert_eq!(numbered(chart(), by(json!([[null, "chart"], [0, "b"], [0, "a"]]), json!([[2, "Done", 1]]))), Ok(3));
    let refused = [
        (by(json!([[null, "chart"], [0, "a"]]), json!([])), "Activity \"Workflow1:chart:b\" has no number."),
        (
            by(json!([[null, "chart"], [0, "a"], [0, "gone"], [0, "b"]]), json!([])),
            "Activity \"gone\" (number 2) is not in the document.",
        ),
        (
            by(json!([[null, "chart"], [0, "a"], [0, "b"], [2, "b"]]), json!([])),
            "Activity \"b\" (number 3) is not in the document.",
        ),
        (
            by(json!([[null, "chart"], [0, "a"], [0, "a"], [0, "b"]]), json!([])),
            "Activity \"a\" (number 2) is not in the document.",
        ),
        (by(json!([[7, "chart"], [0, "a"], [0, "b"]]), json!([])), "Activity \"Workflow1:chart\" has no number."),
        (by(all(), json!([])), "The connections are not those of the document."),
        (by(all(), json!([[1, "Other", 2]])), "The connections are not those of the document."),
        (by(all(), json!([[1, "Done", 2], [1, "Done", 2]])), "The connections are not those of the document."),
    ];
    for (numbering, reason) in refused {
        assert_eq!(numbered(chart(), numbering), Err(reason.to_owned()));
    }
}

#[test]
fn every_activity_that_waits_has_one() {
    let types: BTreeSet<&str> = every_sample()
        .flat_map(|(_, sample)| {
            let bookmarks: Vec<Bookmark> =
                sample["bookmarks"].as_array().expect("a list").iter().map(read_bookmark).collect();
            types_of(&program_of(&sample), &bookmarks)
        })
        .collect();
    for activity in ACTIVITIES {
        let descriptor = activity.descriptor();
        let waits = descriptor.waits != WaitKind::Never;
        assert!(!waits || types.contains(descriptor.type_name), "{}", descriptor.type_name);
    }
}

#[test]
fn an_example_waits_as_its_type_says() {
    for activity in ACTIVITIES {
        let descriptor = activity.descriptor();
        let waits = waits_in_its_example(descriptor);
        let says = descriptor.waits;
        let fits = match says {
            // The time of its example has passed.
            WaitKind::Always if descriptor.type_name == "Elsa.StartAt" => true,
            WaitKind::Never => !waits,
            WaitKind::Always | WaitKind::ForTask | WaitKind::ForVotes => waits,
            WaitKind::IfTrue(_) | WaitKind::Perhaps => true,
        };
        assert!(fits, "{}: {says:?}", descriptor.type_name);
    }
}

/// The types of the activities that wait. A bookmark of a task has the type `RunTask`, whichever activity opened it.
fn types_of(program: &Program, bookmarks: &[Bookmark]) -> Vec<&'static str> {
    let waits = |node: &&Node| bookmarks.iter().any(|bookmark| bookmark.activity_id == node.id);
    program.nodes.iter().filter(waits).map(|node| node.activity.descriptor().type_name).collect()
}

/// Whether an instance of the activity's example waits in that activity. The variables and outputs that it names are
/// declared, its inputs are missing.
fn waits_in_its_example(descriptor: &Descriptor) -> bool {
    let example: Value = serde_json::from_str(descriptor.example).expect("JSON");
    let [variables, outputs] = ["var", "output"].map(|kind| {
        let mut names = BTreeSet::new();
        collect_names(&example, kind, &mut names);
        names
    });
    let document = json!({"definitionId": "test", "root": example,
        "variables": variables.iter().map(|name| json!({ "name": name })).collect::<Vec<_>>(),
        "outputs": outputs.iter().map(|name| json!({ "name": name })).collect::<Vec<_>>()});
    let Ok(program) = Library::default().compile(&document) else { return false };
    let mut world = World::of(program, json!({}));
    let ended = world.try_start(None, None);
    ended.is_ok() && types_of(&world.program, &world.bookmarks).contains(&descriptor.type_name)
}

/// The names in `{"var": …}` or `{"output": …}`.
fn collect_names(value: &Value, kind: &str, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            names.extend(members.get(kind).and_then(Value::as_str).map(str::to_owned));
            members.values().for_each(|member| collect_names(member, kind, names));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_names(item, kind, names)),
        _ => {}
    }
}

#[test]
fn every_format_of_a_state_has_one() {
    let known = (0..=u8::MAX).filter(|format| match decode_state(&[*format]) {
        Err(Error::CorruptState(reason)) => reason != format!("Its format {format} is not known."),
        other => panic!("{other:?}"),
    });
    let sampled: BTreeSet<u8> = every_sample().map(|(_, sample)| bytes(&sample["instance"]["state"])[0]).collect();
    assert_eq!(sampled, known.collect());
}
