//! Activities whose work an external program does: the tasks that they open, and how they continue from the answers.

use serde_json::{Value, json};
use workflow_engine::definition::{ReadLimits, compile};
use workflow_engine::instance::SubStatus;

use crate::http::Nothing;
use crate::support::{World, line, program};

fn response(status: u16) -> Value {
    json!({"statusCode": status, "headers": {"Content-Type": "application/json", "X-Id": "7"}, "content": {"ok": true}})
}

fn send() -> Value {
    json!({"definitionId": "test", "variables": {"Code": null, "Body": null, "Fields": null}, "root": [
        {"id": "call", "type": "SendHttpRequest", "url": {"js": "'https://a.example/' + 1"}, "method": "POST",
            "content": {"object": {"n": 1}}, "contentType": "application/json", "authorization": {"object": {"secret": "bank"}},
            "expectedStatusCodes": [{"statusCode": 200, "activity": line("fine")}, {"statusCode": 204}],
            "unmatchedStatusCode": line("unmatched"), "failedToConnect": line("no connection"), "timeout": line("too late"),
            "statusCode": {"var": "Code"}, "parsedContent": {"var": "Body"}, "responseHeaders": {"var": "Fields"}},
        line("behind")]})
}

#[test]
fn a_request_goes_out_as_a_task_with_the_inputs_by_elsas_names() {
    let world = World::started(send());
    assert_eq!(world.waiting(), ["call"]);
    let task = &world.last.tasks[0];
    assert_eq!(task.name, "Elsa.SendHttpRequest");
    let payload = json!({"Url": "https://a.example/1", "Method": "POST", "Content": {"n": 1}, "ContentType": "application/json",
        "Authorization": {"secret": "bank"}});
    assert_eq!(task.payload.as_ref(), Some(&payload));
}

#[test]
fn the_answer_decides_on_the_port() {
    for (answer, lines) in [
        (response(200), vec!["fine", "behind"]),
        (response(204), vec!["behind"]),
        (response(503), vec!["unmatched", "behind"]),
        (json!({"error": "connect", "message": "refused"}), vec!["no connection", "behind"]),
        (json!({"error": "timeout"}), vec!["too late", "behind"]),
    ] {
        let mut world = World::started(send());
        world.resume("call", answer.clone());
        assert_eq!((world.lines(), world.status()), (lines, SubStatus::Finished), "{answer}");
        let code = answer.get("statusCode").unwrap_or(&Value::Null);
        assert_eq!(world.variable("Code"), code);
    }
    let mut world = World::started(send());
    world.resume("call", response(200));
    assert_eq!(world.variable("Body"), &json!({"ok": true}));
    assert_eq!(world.variable("Fields"), &response(200)["headers"]);
}

fn flow(type_name: &str) -> Value {
    let targets = ["Done", "200", "Unmatched status code", "Failed to connect", "Timeout"];
    let lines = targets.iter().map(|name| json!({"id": name, "type": "WriteLine", "text": name}));
    let call = json!({"id": "call", "type": type_name, "url": "https://a.example/files/a.csv?x=/y", "result": {"var": "Result"}});
    let activities: Vec<Value> = [call].into_iter().chain(lines).collect();
    let connections: Vec<Value> = targets.iter().map(|name| json!(["call", name, name])).collect();
    json!({"definitionId": "test", "variables": {"Result": null}, "root": {"type": "Flowchart", "connections": connections,
        "activities": activities}})
}

#[test]
fn the_answer_decides_on_the_outcomes() {
    let download = |status: u16| json!({"statusCode": status, "content": "YQ=="});
    for (type_name, answer, outcomes) in [
        ("FlowSendHttpRequest", response(200), vec!["200", "Done"]),
        ("FlowSendHttpRequest", response(404), vec!["Done", "Unmatched status code"]),
        ("FlowSendHttpRequest", json!({"error": "connect"}), vec!["Failed to connect"]),
        ("FlowSendHttpRequest", json!({"error": "timeout"}), vec!["Timeout"]),
        ("DownloadHttpFile", download(200), vec!["200", "Done"]),
        ("DownloadHttpFile", download(500), vec!["Done", "Unmatched status code"]),
    ] {
        let mut world = World::started(flow(type_name));
        world.resume("call", answer.clone());
        let mut lines = world.lines();
        lines.sort_unstable();
        assert_eq!((lines, world.status()), (outcomes, SubStatus::Finished), "{type_name} {answer}");
    }
}

#[test]
fn a_file_has_the_name_that_the_service_gives_it_or_that_of_the_address() {
    for (headers, name) in [
        (json!({"content-disposition": "attachment; filename=\"b.csv\"", "Content-Type": ["text/csv"]}), "b.csv"),
        (json!({"Content-Type": "text/csv"}), "a.csv"),
    ] {
        let mut world = World::started(flow("DownloadHttpFile"));
        world.resume("call", json!({"statusCode": 200, "headers": headers, "content": "YQ=="}));
        let file = json!({"fileName": name, "contentType": "text/csv", "content": "YQ=="});
        assert_eq!(world.variable("Result"), &file);
    }
}

#[test]
fn mail_that_could_not_be_sent_takes_the_port_error() {
    let mail = json!({"definitionId": "test", "root": [
        {"id": "mail", "type": "SendEmail", "to": ["ada@example.com"], "subject": "Hello", "error": line("no mail")}, line("behind")]});
    for (answer, lines) in [
        (Value::Null, vec!["behind"]),
        (json!({"id": 7}), vec!["behind"]),
        (json!({"error": "send", "message": "mailbox full"}), vec!["no mail", "behind"]),
        (json!({"error": "refused", "message": "no such mailbox"}), vec!["no mail", "behind"]),
    ] {
        let mut world = World::started(mail.clone());
        world.resume("mail", answer);
        assert_eq!(world.lines(), lines);
    }
}

#[test]
fn what_is_no_answer_is_a_fault() {
    for answer in [
        json!(null),
        json!("ok"),
        json!({"statusCode": "200"}),
        json!({"statusCode": 99}),
        json!({"statusCode": 1000}),
        json!({"statusCode": 200.5}),
        json!({"statusCode": 200, "headers": []}),
        json!({"error": "dns"}),
        json!({"error": 1}),
    ] {
        let mut world = World::started(send());
        world.resume("call", answer.clone());
        assert_eq!(world.status(), SubStatus::Faulted, "{answer}");
        assert_eq!(world.last.incidents[0].fault.sqlstate, "22023", "{answer}");
    }
}

#[test]
fn resiliency_is_a_policy_unless_there_is_one() {
    let attempts = |more: Value| {
        let mut call = json!({"type": "SendHttpRequest", "url": "https://a.example"});
        call.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        let program = program(json!({"definitionId": "test", "root": call}));
        program.nodes[0].retry_policy(None).map(|policy| policy.max_attempts)
    };
    assert_eq!(attempts(json!({})), None);
    assert_eq!(attempts(json!({"enableResiliency": false})), None);
    assert_eq!(attempts(json!({"enableResiliency": true})), Some(9));
    assert_eq!(attempts(json!({"enableResiliency": true, "retry": {"maxAttempts": 2}})), Some(2));
}

#[test]
fn the_port_timeout_and_the_property_are_told_apart() {
    let call = |timeout: Value| {
        let call = json!({"type": "SendHttpRequest", "url": "https://a.example", "timeout": timeout});
        compile(
            &json!({"definitionId": "test", "root": call}),
            &Nothing,
            &ReadLimits { is_new: true, ..ReadLimits::default() },
            false,
        )
    };
    let program = call(line("late")).expect("a program");
    assert_eq!((program.nodes.len(), program.nodes[0].timeout), (2, None));
    let program = call(json!("30 seconds")).expect("a program");
    assert_eq!((program.nodes.len(), program.nodes[0].timeout.map(|timeout| timeout.num_seconds())), (1, Some(30)));
    let problems = call(json!(30)).expect_err("a problem");
    assert_eq!(problems.iter().map(|problem| problem.path.as_str()).collect::<Vec<_>>(), ["/root/timeout"]);
}

#[test]
fn a_status_code_is_a_number() {
    for (code, message) in [
        (json!("200"), "\"statusCode\" of a status code must be a whole number, not a string"),
        (json!(2.5), "\"statusCode\" of a status code must be a whole number, not a number"),
        (json!(null), "a status code needs a \"statusCode\""),
    ] {
        let root = json!({"type": "SendHttpRequest", "url": "https://a.example", "expectedStatusCodes": [{"statusCode": code}]});
        let document = json!({"definitionId": "test", "root": root});
        let problems = compile(&document, &Nothing, &ReadLimits::default(), false).expect_err("a problem");
        assert_eq!(problems[0].message, message);
    }
}
