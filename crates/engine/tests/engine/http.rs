//! Endpoints and responses. The shell processes a request before the burst.

use std::rc::Rc;

use serde_json::{Map, Value, json};
use uuid::Uuid;
use workflow_engine::definition::{ActivityTypes, CustomType, ReadLimits, compile, export};
use workflow_engine::execution;
use workflow_engine::http::{Endpoint, Request, Response};
use workflow_engine::instance::SubStatus;
use workflow_engine::{Limits, stimulus, trigger};

use crate::support::{FakeHost, World, event, line, program};

fn request(method: &str, path: &str, content_type: &str, body: &[u8]) -> Rc<Request> {
    let headers = Map::from_iter([("Content-Type".to_owned(), json!(content_type))]);
    let request = Request::new(method, path, headers, Map::new(), body.to_vec()).expect("a request");
    let route_data = Map::from_iter([("id".to_owned(), json!("7"))]);
    Rc::new(Request { route_data, ..request })
}

/// Starts at the trigger `in` with a request.
fn called(definition: Value, request: Rc<Request>) -> World {
    let mut world = World::new(definition);
    world.host.request = Some(request);
    world.try_start(Some("in"), None).expect("the burst ends");
    world
}

/// Starts at the trigger `in` with a request that the endpoint refuses.
fn turned_away(definition: Value, request: Rc<Request>) -> Response {
    let mut world = World::new(definition);
    world.host.request = Some(request);
    let (program, instance) = (&world.program, &mut world.instance);
    let delta = execution::start(program, instance, Some("in"), None, &mut world.host, &world.limits);
    assert_eq!(world.lines(), Vec::<&str>::new(), "nothing runs after it");
    delta.expect("the burst ends").refusal.expect("a refusal")
}

fn endpoint(more: Value) -> Value {
    let mut endpoint = json!({"id": "in", "type": "HttpEndpoint", "path": "orders/{id}", "supportedMethods": ["POST"],
        "canStartWorkflow": true});
    if let (Value::Object(members), Value::Object(more)) = (&mut endpoint, more) {
        members.extend(more);
    }
    endpoint
}

fn body(response: &Response) -> Value {
    serde_json::from_slice(&response.body).expect("JSON")
}

#[test]
fn a_trigger_has_one_row_for_each_method_under_elsas_hash() {
    let endpoint =
        endpoint(json!({"path": "/Orders/{Id}/", "supportedMethods": ["GET", "post", "get"], "authorize": true,
        "policy": "clerk", "requestTimeout": "00:00:05", "requestSizeLimit": 100}));
    let program = program(endpoint);
    let triggers = trigger::index(&program, &mut FakeHost::default(), &Limits::default()).expect("triggers");
    let payloads: Vec<&Value> = triggers.iter().filter_map(|trigger| trigger.payload.as_ref()).collect();
    assert_eq!(
        *payloads[0],
        json!({"Path": "/orders/{id}", "Method": "get", "Route": "orders/LP|orders|Orders/{Id}|get", "Authorize": true,
            "Policy": "clerk", "RequestTimeout": "00:00:05", "RequestSizeLimit": 100})
    );
    assert_eq!(payloads[1]["Method"], "post");
    assert_eq!(payloads.len(), 2);
    let plain = json!({"Path": "/orders/{id}", "Method": "get"});
    assert_eq!(triggers[0].hash, stimulus::hash("Elsa.HttpEndpoint", Some(&plain), None));
    assert_eq!(Endpoint::of(payloads[0]).timeout, Some(5_000));
}

#[test]
fn the_request_comes_out_of_the_endpoint_and_a_response_goes_back() {
    let world = called(
        json!({"variables": {"Body": null, "Route": null, "Query": null, "Headers": null, "Request": null}, "root": [
            endpoint(json!({"parsedContent": {"var": "Body"}, "routeData": {"var": "Route"}, "headers": {"var": "Headers"},
                "queryStringData": {"var": "Query"}, "result": {"var": "Request"}})),
            {"type": "WriteHttpResponse", "statusCode": "Created", "content": {"var": "Body"},
                "responseHeaders": {"X-Order": "7"}}]}),
        request("POST", "/orders/7?page=2", "application/json", b"{\"total\": 1.10}"),
    );
    assert_eq!(world.status(), SubStatus::Finished);
    assert_eq!(*world.variable("Route"), json!({"id": "7"}));
    assert_eq!(*world.variable("Query"), json!({"page": "2"}));
    assert_eq!(*world.variable("Headers"), json!({"Content-Type": "application/json"}));
    assert_eq!(
        *world.variable("Request"),
        json!({"method": "POST", "path": "/orders/7", "contentType": "application/json", "contentLength": 15})
    );
    let response = world.last.response.expect("a response");
    assert_eq!(response.status, 201);
    assert_eq!(Value::Object(response.headers), json!({"Content-Type": "application/json", "X-Order": "7"}));
    assert_eq!(response.body, b"{\"total\":1.10}");
}

#[test]
fn reached_in_the_middle_it_waits_for_any_of_its_methods() {
    let mut world = World::started(json!([
        {"id": "in", "type": "HttpEndpoint", "path": "a", "supportedMethods": ["GET", "POST"]},
        {"type": "WriteHttpResponse", "content": "done"}]));
    assert_eq!(world.bookmarks.len(), 2);
    assert!(world.bookmarks.iter().all(|bookmark| bookmark.metadata.is_none()));
    world.host.request = Some(request("POST", "/a", "", b""));
    world.resume_at(1, None);
    assert_eq!(world.status(), SubStatus::Finished);
    assert_eq!(world.last.response.as_ref().expect("a response").body, b"done");
}

#[test]
fn without_a_request_it_waits_across_the_boundary() {
    let mut world = World::new(json!([endpoint(json!({})), {"type": "WriteHttpResponse"}]));
    world.try_start(Some("in"), None).expect("the burst ends");
    let crossing = Some(json!({"X-HttpCrossBoundary": "true"}));
    assert_eq!(world.bookmarks[0].metadata, crossing);
    let before = world.bookmarks[0].id;
    world.resume("in", json!({"not": "a request"}));
    assert_eq!(world.status(), SubStatus::Suspended);
    assert_eq!(world.bookmarks.len(), 1);
    assert_eq!(world.bookmarks[0].metadata, crossing);
    assert_ne!(world.bookmarks[0].id, before);
    world.host.request = Some(request("POST", "/orders/7", "", b""));
    world.resume("in", Value::Null);
    assert_eq!(world.status(), SubStatus::Finished);
    assert_eq!(world.last.response.as_ref().map(|response| response.status), Some(200));
}

#[test]
fn a_response_without_a_request_or_a_second_one_faults() {
    let world = World::started(json!({"type": "WriteHttpResponse"}));
    assert_eq!(world.last.incidents[0].fault.message, "there is no HTTP request to respond to");
    let write = json!({"type": "WriteHttpResponse", "content": "x"});
    let world = called(json!([endpoint(json!({})), write, write]), request("POST", "/orders/7", "", b""));
    assert_eq!(world.last.incidents[0].fault.message, "the response to the HTTP request was already written");
    assert!(world.last.response.is_some(), "the first one counts");
}

/// Receives a request at an endpoint, and returns the execution that received it.
fn receive(world: &mut World, endpoint: &str) -> Uuid {
    world.host.request = Some(request("POST", "/orders/7", "", b""));
    world.resume(endpoint, Value::Null);
    world.host.request = None;
    world.last.received_by.expect("an endpoint received it")
}

/// The responses of the last burst: who received their requests, and what they say.
fn responses(world: &World) -> Vec<(Uuid, String)> {
    let text = |response: &Response| String::from_utf8(response.body.clone()).expect("a text");
    world.last.responses.iter().map(|(received_by, response)| (*received_by, text(response))).collect()
}

fn write(content: &str) -> Value {
    json!({"type": "WriteHttpResponse", "content": content})
}

#[test]
fn a_response_goes_to_the_request_received_last_on_its_path() {
    let wait = |id: &str| json!({"id": id, "type": "HttpEndpoint", "path": id, "supportedMethods": ["POST"]});
    let branches = json!([
        [wait("a"), event("ta"), write("to a")],
        [wait("b"), event("tb"), wait("c"), event("tc"), write("to c")],
        [event("other"), write("to nobody")]
    ]);
    let parallel = json!({"type": "Parallel", "activities": branches});
    let mut world = World::started(json!([parallel, write("after the last branch")]));
    world.host.lets_requests_wait = true;
    let a = receive(&mut world, "a");
    let b = receive(&mut world, "b");
    let number = |of: Uuid, world: &World| execution::sequence_of(world.instance.id, of).expect("a number");
    assert_eq!(world.instance.state.open_requests(&world.program), [number(a, &world), number(b, &world)]);
    // Only an endpoint is left on the path of the second.
    world.resume("tb", Value::Null);
    assert_eq!(world.instance.state.open_requests(&world.program), [number(a, &world)]);
    let c = receive(&mut world, "c");
    world.resume("tc", Value::Null);
    assert_eq!(responses(&world), [(c, "to c".to_owned())]);
    world.resume("ta", Value::Null);
    assert_eq!(responses(&world), [(a, "to a".to_owned())]);
    world.resume("other", Value::Null);
    assert_eq!(world.last.incidents[0].fault.message, "there is no HTTP request to respond to");
}

#[test]
fn a_branch_of_a_flowchart_that_received_no_request_has_none() {
    let write = |id: &str| json!({"id": id, "type": "WriteHttpResponse", "content": id});
    let activities = json!([{"id": "start", "type": "WriteLine", "text": "begins"},
        {"id": "a", "type": "HttpEndpoint", "path": "a", "supportedMethods": ["POST"]}, event("ta"), write("to a"),
        event("tick"), event("tock"), write("to nobody")]);
    let connections = json!([
        ["start", "a"],
        ["a", "ta"],
        ["ta", "to a"],
        ["start", "tick"],
        ["tick", "tock"],
        ["tock", "to nobody"]
    ]);
    let mut world = World::started(json!({"type": "Flowchart", "activities": activities, "connections": connections}));
    world.host.lets_requests_wait = true;
    let a = receive(&mut world, "a");
    world.resume("tick", Value::Null);
    world.resume("ta", Value::Null);
    assert_eq!(responses(&world), [(a, "to a".to_owned())]);
    world.resume("tock", Value::Null);
    assert_eq!(world.last.incidents[0].fault.message, "there is no HTTP request to respond to");
}

#[test]
fn what_follows_a_join_belongs_to_the_request_of_its_last_branch() {
    let wait = |id: &str| json!({"id": id, "type": "HttpEndpoint", "path": id, "supportedMethods": ["POST"]});
    let branches = json!([[wait("a"), event("ta")], [wait("b"), event("tb")], event("beside")]);
    let mut world = World::started(json!([{"type": "Parallel", "activities": branches}, write("done")]));
    world.host.lets_requests_wait = true;
    let a = receive(&mut world, "a");
    receive(&mut world, "b");
    world.resume("tb", Value::Null);
    world.resume("ta", Value::Null);
    // A branch that received none changes nothing.
    world.resume("beside", Value::Null);
    assert_eq!(responses(&world), [(a, "done".to_owned())]);
}

#[test]
fn what_a_request_has_started_belongs_to_it() {
    let branches = json!([[event("first"), write("of the other branch")], endpoint(json!({}))]);
    let mut world = World::new(json!({"type": "Parallel", "activities": branches}));
    world.host.request = Some(request("POST", "/orders/7", "", b""));
    world.try_start(Some("in"), None).expect("the burst ends");
    (world.host.request, world.host.lets_requests_wait) = (None, true);
    let received_by = world.last.received_by.expect("an endpoint received it");
    world.resume("first", Value::Null);
    assert_eq!(responses(&world), [(received_by, "of the other branch".to_owned())]);
}

#[test]
fn what_the_request_may_not_be_is_answered_and_nothing_runs() {
    let form = b"--b\r\nContent-Disposition: form-data; name=f; filename=a.exe\r\n\r\n12345\r\n--b--\r\n";
    let form = form.as_slice();
    let multipart = "multipart/form-data; boundary=b";
    for (more, content_type, given, status, message) in [
        (json!({}), "application/json", b"{".as_slice(), 400, "invalid JSON text: \"{\". It is wrong at position 2."),
        (json!({"requestSizeLimit": 3}), "text/plain", b"1234", 413, "The maximum request size allowed is 3 bytes."),
        (json!({"fileSizeLimit": 4}), multipart, form, 413, "The maximum file size allowed is 4 bytes."),
        (
            json!({"allowedFileExtensions": [".pdf", ".txt"]}),
            multipart,
            form,
            415,
            "Only the following file extensions are allowed: .pdf, .txt",
        ),
        (
            json!({"blockedFileExtensions": [".EXE"]}),
            multipart,
            form,
            415,
            "The following file extensions are not allowed: .EXE",
        ),
        (
            json!({"allowedMimeTypes": ["application/pdf"]}),
            multipart,
            form,
            415,
            "Only the following MIME types are allowed: application/pdf",
        ),
    ] {
        let definition = json!([endpoint(more), line("never")]);
        let response = turned_away(definition, request("POST", "/orders/7", content_type, given));
        assert_eq!((response.status, &body(&response)["message"]), (status, &json!(message)));
    }
}

#[test]
fn exposed_outcomes_go_on_instead() {
    let form = b"--b\r\nContent-Disposition: form-data; name=f; filename=a.exe\r\n\r\n12345\r\n--b--\r\n";
    for (more, outcome) in [
        (json!({"requestSizeLimit": 3, "exposeRequestTooLargeOutcome": true}), "Request too large"),
        (json!({"fileSizeLimit": 3, "exposeFileTooLargeOutcome": true}), "File too large"),
        (
            json!({"blockedFileExtensions": [".exe"], "exposeInvalidFileExtensionOutcome": true}),
            "Invalid file extension",
        ),
        (
            json!({"allowedMimeTypes": ["image/png"], "exposeInvalidFileMimeTypeOutcome": true}),
            "Invalid file MIME type",
        ),
        (json!({"allowedFileExtensions": [".exe"], "allowedMimeTypes": ["text/plain"]}), "Done"),
    ] {
        let reply = json!({"id": "reply", "type": "WriteHttpResponse", "content": outcome});
        let world = called(
            json!({"type": "Flowchart", "activities": [endpoint(more), reply], "connections": [["in", outcome, "reply"]]}),
            request("POST", "/orders/7", "multipart/form-data; boundary=b", form),
        );
        assert_eq!(world.last.response.expect(outcome).body, outcome.as_bytes());
    }
}

#[test]
fn files_of_a_form_come_out() {
    let form = b"--b\r\nContent-Disposition: form-data; name=f; filename=a.txt\r\n\r\nhello\r\n--b--\r\n";
    let world = called(
        json!({"variables": {"File": null, "Files": null, "Fields": null}, "root": [endpoint(json!({
            "file": {"var": "File"}, "files": {"var": "Files"}, "parsedContent": {"var": "Fields"}}))]}),
        request("POST", "/orders/7", "multipart/form-data; boundary=b", form),
    );
    let file =
        json!({"name": "f", "fileName": "a.txt", "contentType": "text/plain", "length": 5, "content": "aGVsbG8="});
    assert_eq!(*world.variable("File"), file);
    assert_eq!(*world.variable("Files"), json!([file]));
    assert_eq!(*world.variable("Fields"), json!({}));
    assert_eq!(world.last.response, None);
}

pub struct Nothing;

impl ActivityTypes for Nothing {
    fn custom(&self, _type_name: &str) -> Option<CustomType> {
        None
    }
}

#[test]
fn constants_are_judged_when_the_definition_is_stored() {
    for (root, path, message) in [
        (
            json!({"type": "HttpEndpoint", "path": "a//b"}),
            "/root/path",
            "path \"a//b\" cannot contain double slashes (//)",
        ),
        (json!({"type": "HttpEndpoint", "path": "{id"}), "/root/path", "path \"{id\" has a \"{\" without \"}\""),
        (
            json!({"type": "HttpEndpoint", "path": "a", "supportedMethods": ["GET IT"]}),
            "/root/supportedMethods",
            "\"get it\" is not an HTTP method",
        ),
        (
            json!({"type": "HttpEndpoint", "path": "a", "supportedMethods": []}),
            "/root/supportedMethods",
            "\"supportedMethods\" must not be empty",
        ),
        (
            json!({"type": "WriteHttpResponse", "statusCode": 1000}),
            "/root/statusCode",
            "\"1000\" is not an HTTP status",
        ),
        (
            json!({"type": "WriteHttpResponse", "responseHeaders": {"a": "b\nc"}}),
            "/root/responseHeaders",
            "header \"a\" must not contain control characters",
        ),
    ] {
        let document = json!({"definitionId": "test", "root": root});
        let new = ReadLimits { is_new: true, ..ReadLimits::default() };
        let problems = compile(&document, &Nothing, &new, false).expect_err("a problem");
        assert_eq!((problems[0].path.as_str(), problems[0].message.as_str()), (path, message));
    }
}

#[test]
fn what_needs_a_network_is_refused_with_the_way_out() {
    let document = json!({"definitionId": "test", "root": {"type": "WriteFileHttpResponse"}});
    let problems = compile(&document, &Nothing, &ReadLimits::default(), false).expect_err("a problem");
    assert!(problems[0].message.contains("RunTask"), "{}", problems[0].message);
}

#[test]
fn what_elsa_keeps_bare_is_exported_bare() {
    let root = json!({"type": "HttpEndpoint", "path": "a", "exposeFileTooLargeOutcome": true});
    let exported = export(&json!({"definitionId": "test", "root": root}), "test", 1, true, true, &Nothing);
    assert_eq!(exported["root"]["exposeFileTooLargeOutcome"], json!(true));
    assert_eq!(
        exported["root"]["path"],
        json!({"typeName": "String", "expression": {"type": "Literal", "value": "a"}})
    );
}
