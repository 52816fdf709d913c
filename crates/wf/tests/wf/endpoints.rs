//! Endpoints of workflows on a listener of their own, and requests that wait.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use crate::support::{Another, Answer, World, connect, free_port, send, shared_server, wait_until};

/// The role as which requests run.
const ROLE: &str = "
    SELECT pg_advisory_lock(8);
    DO $$ BEGIN
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'web') THEN
            CREATE ROLE web;
            GRANT web TO workflow_gateway;
        END IF;
    END $$;
    SELECT pg_advisory_unlock(8);";

const DEFINITIONS: &str = r#"
    GRANT EXECUTE ON FUNCTION wf_begin_http_request, wf_take_http_responses TO web;
    GRANT EXECUTE ON PROCEDURE wf_wait_http_responses TO web;
    SELECT wf_define('{"definitionId": "ask", "root": [
        {"id": "in", "type": "HttpEndpoint", "path": "ask/{n}", "supportedMethods": ["GET", "POST"], "canStartWorkflow": true},
        {"type": "RunTask", "taskName": "Ask"},
        {"type": "WriteHttpResponse", "content": {"js": "`${getOutputFrom(''in'', ''RouteData'').n}: done`"}}]}');
    SELECT wf_define('{"definitionId": "brief", "root": [
        {"type": "HttpEndpoint", "path": "brief", "canStartWorkflow": true, "requestTimeout": "00:00:05"},
        {"type": "RunTask", "taskName": "Ask"}, {"type": "WriteHttpResponse", "content": "late"}]}');
    SELECT wf_define('{"definitionId": "echo", "root": [
        {"id": "in", "type": "HttpEndpoint", "path": "echo/{*rest}", "supportedMethods": ["POST", "PURGE"], "canStartWorkflow": true},
        {"type": "WriteHttpResponse", "content": {"object": {
            "headers": {"js": "getOutputFrom(''in'', ''Headers'')"}, "content": {"js": "getOutputFrom(''in'', ''ParsedContent'')"},
            "route": {"js": "getOutputFrom(''in'', ''RouteData'')"}, "query": {"js": "getOutputFrom(''in'', ''QueryStringData'')"},
            "files": {"js": "getOutputFrom(''in'', ''Files'')"}}}}]}');
    SELECT wf_define('{"definitionId": "hold", "root": [
        {"type": "HttpEndpoint", "path": "hold", "canStartWorkflow": true},
        {"type": "Event", "eventName": "Go"}, {"type": "WriteHttpResponse", "content": "gone"}]}');
    SELECT wf_define('{"definitionId": "go", "root": [
        {"type": "HttpEndpoint", "path": "go", "supportedMethods": ["POST"], "canStartWorkflow": true},
        {"type": "PublishEvent", "eventName": "Go"}, {"type": "WriteHttpResponse", "statusCode": 202}]}');
    SELECT wf_define('{"definitionId": "hostile", "root": [
        {"type": "HttpEndpoint", "path": "hostile", "canStartWorkflow": true},
        {"type": "WriteHttpResponse", "contentType": "text/html", "content": "<script>fetch(''/elsa/api/workflow-instances'')</script>", "responseHeaders": {
            "Set-Cookie": ["workflow=mine; Path=/", "=workflow=mine", "%77orkflow=mine", "cart=1"], "Clear-Site-Data": "*",
            "Content-Security-Policy": "default-src *", "Connection": "close, x-a", "Transfer-Encoding": "chunked", "Content-Length": "3"}}]}');
    SELECT wf_define('{"definitionId": "broken", "root": [
        {"id": "in", "type": "HttpEndpoint", "path": "broken/{status}", "canStartWorkflow": true},
        {"type": "WriteHttpResponse", "statusCode": {"js": "Number(getOutputFrom(''in'', ''RouteData'').status)"},
         "responseHeaders": {"js": "({[getOutputFrom(''in'', ''QueryStringData'').name ?? ''X-A'']: getOutputFrom(''in'', ''QueryStringData'').value ?? ''a''})"}}]}');
    SELECT wf_define('{"definitionId": "large", "root": [
        {"id": "in", "type": "HttpEndpoint", "path": "large/{megabytes:int}", "canStartWorkflow": true},
        {"type": "RunTask", "taskName": "Ask"},
        {"type": "WriteHttpResponse", "content": {"js": "''x''.repeat(1048576 * getOutputFrom(''in'', ''RouteData'').megabytes)"}}]}');"#;

/// Answers all open tasks.
const ANSWER: &str = "SELECT wf_complete_task(task_id) FROM workflow.open_tasks";

/// A gateway that serves endpoints.
struct Web {
    world: World,
    url: String,
}

impl Web {
    fn new(options: &[&str]) -> Self {
        let (url, listen) = address();
        let own = ["--endpoints-listen", &listen, "--endpoints-role", "web", "--endpoints-wait", "600"];
        let world = World::with(&[&own[..], options].concat());
        connect(&shared_server(), "postgres").batch_execute(ROLE).expect("the role");
        world.sql(DEFINITIONS);
        Self { world, url }
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        send(method, &format!("{}{path}", self.url), headers, body)
    }

    /// Sends a request until the gateway has had the time for it.
    fn send_in_time(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut answer = self.send(method, path, headers, body);
        wait_until("there is time for it", || {
            let is_late = answer.status == 503;
            if is_late {
                answer = self.send(method, path, headers, body);
            }
            !is_late
        });
        answer
    }

    /// Sends a GET in its own thread, and returns when it waits.
    fn begin(&self, path: &str) -> std::thread::JoinHandle<Answer> {
        let url = format!("{}{path}", self.url);
        let client = std::thread::spawn(move || send("GET", &url, &[("X-Request-ID", "r-7")], ""));
        self.waits(1);
        client
    }

    fn waits(&self, count: usize) {
        let open =
            "SELECT count(*)::text FROM workflow.http_requests WHERE status IS NULL AND until > clock_timestamp()";
        wait_until("requests wait", || self.world.value(open) == Some(count.to_string()));
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(self.url.trim_start_matches("http://")).unwrap()
    }

    /// All that comes on a connection that sends this.
    fn raw(&self, sent: &str) -> String {
        let mut stream = self.connect();
        stream.write_all(sent.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    /// One more gateway for the same endpoints, and the address at which it serves them.
    fn another(&self, options: &[&str]) -> (Another, String) {
        let (url, listen) = address();
        let own = ["--endpoints-listen", &listen, "--endpoints-role", "web", "--endpoints-wait", "600"];
        (self.world.another_with(&[&own[..], options].concat()), url)
    }
}

fn address() -> (String, String) {
    let listen = format!("127.0.0.1:{}", free_port());
    (format!("http://{listen}"), listen)
}

#[test]
fn client_waits_for_a_later_transaction() {
    let web = Web::new(&[]);
    let client = web.begin("/ask/7");
    web.world.sql(ANSWER);
    let answer = client.join().unwrap();
    assert_eq!((answer.status, answer.text.as_str()), (200, "7: done"));
    assert_eq!(answer.headers["x-request-id"], "r-7");
    let left = "SELECT 'one' FROM workflow.http_requests";
    wait_until("nothing is left of it", || web.world.value(left).is_none());
}

#[test]
fn response_commits_in_another_gateway() {
    let web = Web::new(&[]);
    let (_other, url) = web.another(&[]);
    let client = web.begin("/hold");
    assert_eq!(send("POST", &format!("{url}/go"), &[], "").status, 202);
    let answer = client.join().unwrap();
    assert_eq!((answer.status, answer.text.as_str()), (200, "gone"));
}

#[test]
fn repeated_request_gets_the_response_from_any_gateway() {
    let web = Web::new(&[]);
    let (_other, other) = web.another(&[]);
    let key = [("Idempotency-Key", "k-1")];
    let url = format!("{}/ask/7", web.url);
    let first = std::thread::spawn(move || send("GET", &url, &key, ""));
    web.waits(1);
    web.world.sql(ANSWER);
    assert_eq!(first.join().unwrap().text, "7: done");
    assert_eq!(send("GET", &format!("{other}/ask/7"), &key, "").text, "7: done");
    assert_eq!(send("GET", &format!("{other}/ask/8"), &key, "").status, 422);
    assert_eq!(web.world.value("SELECT count(*)::text FROM workflow.instance_list").as_deref(), Some("1"));
}

#[test]
fn requests_arrive_whole() {
    let web = Web::new(&[]);
    let json = [("Content-Type", "application/json")];
    let got = web.send("POST", "/echo/a%2Fb/c%C3%A9/?x=1&x=2&y=%26", &json, "{\"n\": 7}").ok();
    assert_eq!(got["content"].to_string(), "{\"n\":7}");
    assert_eq!(got["query"], serde_json::json!({"x": ["1", "2"], "y": "&"}));
    assert!(got["route"]["rest"].as_str().is_some_and(|rest| rest.contains("cé")), "{got}");
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    assert_eq!(
        web.send("POST", "/echo", &form, "a=1&b=%C3%A9").ok()["content"],
        serde_json::json!({"a": "1", "b": "é"})
    );
    let parts = [("Content-Type", "multipart/form-data; boundary=b")];
    let body = "--b\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\n7\r\n--b\r\nContent-Disposition: form-data; name=\"f\"; \
                filename=\"a.bin\"\r\nContent-Type: application/octet-stream\r\n\r\nxyz\r\n--b--\r\n";
    let got = web.send("POST", "/echo", &parts, body).ok();
    assert_eq!((&got["content"]["n"], &got["files"][0]["fileName"]), (&"7".into(), &"a.bin".into()), "{got}");
    // Any method, in any letter case of the path.
    assert_eq!(web.send("PURGE", "/ECHO/x", &[], "").status, 200);
}

#[test]
fn workflows_do_not_get_what_identifies_the_visitor() {
    let web = Web::new(&["--endpoints-identity-header", "X-Staff"]);
    let key = format!("ApiKey {}", web.world.key("ada"));
    let sent = [
        ("Cookie", "workflow=secret; cart=1"),
        ("Authorization", key.as_str()),
        ("X-Staff", "ada"),
        ("X-Forwarded-User", "ada"),
        ("X-Forwarded-For", "192.0.2.1"),
        ("X-Request-ID", "not plain"),
        ("X-Own", "kept"),
    ];
    let answer = web.send("POST", "/echo", &sent, "");
    let got = answer.ok();
    let headers = &got["headers"];
    assert_eq!((&headers["cookie"], &headers["x-own"]), (&"cart=1".into(), &"kept".into()));
    assert_eq!(headers["x-forwarded-for"], "127.0.0.1");
    assert_eq!(headers["x-request-id"].as_str(), answer.headers["x-request-id"].to_str().ok());
    for name in ["authorization", "x-staff", "x-forwarded-user"] {
        assert!(headers.get(name).is_none(), "{headers}");
    }
    // A credential that is not the gateway's is for the workflow.
    let own = web.send("POST", "/echo", &[("Authorization", "Bearer other")], "");
    assert_eq!(own.ok()["headers"]["authorization"], "Bearer other");
}

#[test]
fn hostile_endpoint_reads_nothing_as_its_visitor() {
    let web = Web::new(&[]);
    let answer = web.send("GET", "/hostile", &[], "");
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.text.ends_with("</script>"), "{answer:?}");
    let policies: Vec<_> = answer.headers.get_all("content-security-policy").iter().collect();
    assert_eq!(policies, ["default-src *", "sandbox"]);
    assert_eq!(answer.headers["x-content-type-options"], "nosniff");
    assert_eq!(answer.headers.get_all("set-cookie").iter().collect::<Vec<_>>(), ["cart=1"]);
    for name in ["clear-site-data", "transfer-encoding"] {
        assert!(!answer.headers.contains_key(name), "{answer:?}");
    }
    // The listener has none of the gateway's routes, and the gateway none of the endpoints'.
    for path in ["/elsa/api/workflow-instances", "/login", "/healthz"] {
        assert_eq!(web.send("GET", path, &[], "").status, 404, "{path}");
    }
    assert_eq!(web.world.send("GET", "/hostile", &[], "").status, 404);
    // A page of the endpoint may not read the gateway's answers, nor change anything as its visitor.
    let origin = [("Origin", web.url.as_str()), ("Sec-Fetch-Site", "same-site")];
    let read = web.world.send("GET", "/elsa/api/workflow-instances", &origin, "");
    assert!(read.status == 401 && !read.headers.contains_key("access-control-allow-origin"), "{read:?}");
    assert_eq!(web.world.send("POST", "/elsa/api/workflow-definitions", &origin, "{}").status, 403);
    let (_other, url) = web.another(&["--endpoints-own-origin"]);
    let own = send("GET", &format!("{url}/hostile"), &[], "");
    assert_eq!(own.headers["content-security-policy"], "default-src *");
    assert_eq!(own.headers["x-content-type-options"], "nosniff");
}

#[test]
fn broken_responses_reach_no_client() {
    let web = Web::new(&[]);
    for path in [
        "/broken/200?value=a%0D%0ASet-Cookie:%20workflow%3Dx",
        "/broken/200?name=a%20b",
        "/broken/200?name=a%0D%0AX-B",
        "/broken/101",
        "/broken/99",
        "/broken/1000",
        "/broken/-1",
    ] {
        let answer = web.send("GET", path, &[], "");
        assert!(matches!(answer.status, 500 | 502), "{path}: {answer:?}");
        assert!(!answer.headers.contains_key("set-cookie") && !answer.headers.contains_key("x-b"), "{answer:?}");
    }
    // What follows a response without a body is the next response.
    let request = "GET /broken/STATUS HTTP/1.1\r\nHost: x\r\n";
    for status in ["204", "304"] {
        let request = request.replace("STATUS", status);
        let got = web.raw(&format!("{request}\r\n{request}Connection: close\r\n\r\n"));
        let starts = got.lines().filter(|line| line.starts_with("HTTP/1.1 ")).count();
        assert!(starts == 2 && got.ends_with("\r\n\r\n"), "{got}");
    }
}

#[test]
fn every_refusal_has_its_status() {
    let web = Web::new(&["--max-body", "1", "--request-seconds", "5"]);
    let text = [("Content-Type", "text/plain; charset=utf-16")];
    let json = [("Content-Type", "application/json")];
    for (method, path, headers, body, status) in [
        ("GET", "/nothing", &[][..], "", 404),
        ("GET", "/ask", &[], "", 404),
        ("GET", "/", &[], "", 404),
        ("GET", "/ask//1", &[], "", 400),
        ("GET", "/ask/%00", &[], "", 400),
        ("DELETE", "/ask/1", &[], "", 405),
        ("OPTIONS", "/ask/1", &[], "", 405),
        ("POST", "/echo", &json, "{", 400),
        ("POST", "/echo", &text, "a", 415),
    ] {
        let answer = web.send_in_time(method, path, headers, body);
        assert_eq!(answer.status, status, "{method} {path:.99}: {answer:?}");
        assert_eq!(answer.headers["content-security-policy"], "sandbox");
        assert!(answer.headers.contains_key("x-request-id"), "{answer:?}");
    }
    let post = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length:";
    assert!(web.raw(&format!("{post} 2000000\r\n\r\n")).starts_with("HTTP/1.1 413"));
    assert!(web.raw(&format!("{post} 9\r\n\r\nslow")).starts_with("HTTP/1.1 408"));
    let large = format!("GET / HTTP/1.1\r\nHost: x\r\nX-Large: {}", "x".repeat(64 * 1024));
    assert!(web.raw(&large).starts_with("HTTP/1.1 431"));
    assert!(web.raw("OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").starts_with("HTTP/1.1 404"));
    // What the database says of its rights is for the log only.
    web.world.sql("REVOKE EXECUTE ON FUNCTION wf_begin_http_request FROM web");
    let refused = web.send_in_time("GET", "/ask/1", &[], "");
    assert!(refused.status == 500 && !refused.text.contains("wf_begin"), "{refused:?}");
    assert!(web.world.into_log().contains("permission denied for function wf_begin_http_request"));
}

#[test]
fn rates_belong_to_a_path_and_origins_to_a_list() {
    let web = Web::new(&["--endpoints-rate", "1", "--endpoints-cors", "https://shop.example"]);
    let preflight = [("Origin", "https://shop.example"), ("Access-Control-Request-Method", "POST")];
    let allowed = web.send("OPTIONS", "/echo", &preflight, "");
    assert_eq!(
        (allowed.status, &allowed.headers["access-control-allow-origin"]),
        (200, &"https://shop.example".parse().unwrap())
    );
    let foreign = [("Origin", "https://evil.example"), ("Access-Control-Request-Method", "POST")];
    assert!(!web.send("OPTIONS", "/echo", &foreign, "").headers.contains_key("access-control-allow-origin"));
    // More at once on a slow machine, where each takes longer.
    let mut clients = 2;
    wait_until("too many requests", || {
        clients = (2 * clients).min(128);
        let ask = || web.send("GET", "/many/1", &preflight[..1], "");
        let answers: Vec<Answer> = std::thread::scope(|scope| {
            let asked: Vec<_> = (0..clients).map(|_| scope.spawn(ask)).collect();
            asked.into_iter().map(|answer| answer.join().unwrap()).collect()
        });
        let refused = answers.into_iter().find(|answer| answer.status == 429);
        let is_told = |refused: Answer| {
            ["retry-after", "access-control-allow-origin"].iter().all(|name| refused.headers.contains_key(*name))
        };
        refused.is_some_and(is_told)
    });
    assert_eq!(web.send("GET", "/others", &[], "").status, 404);
}

#[test]
fn workflow_goes_on_without_its_client() {
    let web = Web::new(&[]);
    let note = "SELECT string_agg(data::text, ' ') FROM workflow.journal WHERE event = 'Note'";
    // On a slow machine, the time may be over before the workflow waits.
    wait_until("the client is told", || {
        let told = web.send("GET", "/brief", &[], "");
        told.status == 504 && !told.text.contains("workflowInstanceId")
    });
    web.world.sql(ANSWER);
    assert_eq!(web.world.value(note).as_deref(), Some("{\"late_response\": 200}"));
    // A client that hangs up.
    let mut gone = web.connect();
    write!(gone, "GET /ask/1 HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    web.waits(1);
    drop(gone);
    web.world.sql(ANSWER);
    let finished = "SELECT count(*)::text FROM workflow.instance_list WHERE sub_status = 'Finished'";
    assert_eq!(web.world.value(finished).as_deref(), Some("2"));
    let left = "SELECT 'one' FROM workflow.http_requests WHERE status IS NOT NULL";
    wait_until("its response is taken", || web.world.value(left).is_none());
    // A role that may read the instance is told which one it is.
    web.world.sql("SELECT wf_grant('brief', 'web', '{read}')");
    wait_until("the instance is named", || {
        let told = web.send("GET", "/brief", &[], "");
        told.status == 504 && told.text.contains("workflowInstanceId")
    });
}

#[test]
fn responses_take_no_more_memory_than_allowed() {
    let web = Web::new(&["--max-memory", "8"]);
    for (path, statuses) in [("/large/1", [200, 200]), ("/large/5", [413, 503])] {
        let client = web.begin(path);
        web.world.sql(ANSWER);
        let answer = client.join().unwrap();
        assert!(statuses.contains(&answer.status), "{path}: {} {:.200}", answer.status, answer.text);
    }
    assert_eq!(web.send("GET", "/broken/201", &[], "").status, 201);
}

/// Whoever asks again without a key starts the workflow once more.
#[test]
fn stopping_answers_those_that_wait() {
    let web = Web::new(&[]);
    let client = web.begin("/ask/1");
    let url = format!("{}/ask/2", web.url);
    let keyed = std::thread::spawn(move || send("GET", &url, &[("Idempotency-Key", "k-1")], ""));
    web.waits(2);
    web.world.terminate();
    let (answer, keyed) = (client.join().unwrap(), keyed.join().unwrap());
    assert!(answer.status == 503 && answer.text.contains("the workflow continues"), "{answer:?}");
    assert!(!answer.headers.contains_key("retry-after"), "{answer:?}");
    assert!(keyed.status == 503 && keyed.headers.contains_key("retry-after"), "{keyed:?}");
    assert_eq!(web.world.ended(), Some(0));
}
