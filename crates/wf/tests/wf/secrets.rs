//! The log contains no password, key, cookie or content, whatever its level.

use serde_json::json;

use crate::support::{World, output};

const FORM: &[(&str, &str)] =
    &[("Sec-Fetch-Site", "same-origin"), ("Content-Type", "application/x-www-form-urlencoded")];
/// Part of everything that a client sends and that must not be logged.
const MARK: &str = "wombat";

/// A workflow that prints and raises what it is given, in all ways that a database has.
fn define(world: &World) {
    let sql = |id: &str, statement: &str| json!({"type": "Workflow.Sql", "id": id, "statement": statement, "parameters": [{"input": "Text"}]});
    for (name, statement) in [
        ("notice", "SELECT say($1)"),
        ("raise", "SELECT complain($1)"),
        ("cast", "SELECT $1::text::integer"),
        ("check", "INSERT INTO short VALUES ($1)"),
        ("key", "INSERT INTO single VALUES ($1), ($1)"),
    ] {
        let document = json!({"definitionId": name, "inputs": [{"name": "Text", "type": "String"}],
            "root": [sql("run", statement), {"type": "RunTask", "id": "ask", "taskName": "ask", "payload": {"input": "Text"}}]});
        world.sql(&format!("SET ROLE ada; SELECT wf_define($x${document}$x$)"));
    }
}

const PREPARED: &str = "
    CREATE FUNCTION say(words text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE '%', words; RAISE WARNING '%', words; RETURN words; END $$;
    CREATE FUNCTION complain(words text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '%', words USING DETAIL = words; END $$;
    CREATE TABLE short (words text CHECK (length(words) < 3));
    CREATE TABLE single (words text PRIMARY KEY);
    GRANT INSERT ON short, single TO ada;";

/// Sends requests with a secret in each part, successful and failing ones.
fn use_secrets(world: &World) -> Vec<String> {
    let (key, payload) = (world.key("ada"), format!("{MARK}-payload"));
    let password = format!("{MARK}-password");
    let in_log_in = |form: &str| world.send("POST", "/login", FORM, form);
    let cookie = in_log_in("role=ada&password=lovelace").headers["set-cookie"].to_str().unwrap().to_owned();
    let cookie = cookie.split(';').next().unwrap();
    for form in [
        format!("role=ada&password={password}"),
        format!("role=postgres&password={password}"),
        format!("role=nobody&password={password}"),
        format!("role=ada&password={password}%ff%00"),
        format!("key={password}"),
        format!("key={key}"),
        format!("next=/&role=ada&role=ada&password={password}"),
    ] {
        in_log_in(&form);
    }
    in_log_in(&format!("{{\"password\": \"{password}\"}}"));

    let ada = world.client("ada");
    for name in ["notice", "raise", "cast", "check", "key"] {
        for path in ["execute", "dispatch"] {
            ada.post(
                &format!("/workflow-definitions/{name}/{path}"),
                &json!({"input": {"Text": payload}, "correlationId": payload}),
            );
        }
    }
    let task = world.value("SELECT task_id::text FROM workflow.open_tasks LIMIT 1").unwrap();
    let browser = [FORM, &[("Cookie", cookie)]].concat();
    for (path, form) in [
        (format!("/inbox/{task}"), format!("do=preview&as=json&result=\"{payload}\"")),
        (format!("/inbox/{task}"), format!("do=complete&as=json&result={payload}")),
        (format!("/inbox/{task}"), format!("do=fail&reason={payload}")),
        ("/role".to_owned(), format!("role=nobody&next={payload}")),
    ] {
        world.send("POST", &path, &browser, &form);
    }
    ada.post("/workflow-definitions", &json!({"model": {"definitionId": "draft", "description": payload, "root": {"type": payload}}, "publish": true}));
    ada.post("/workflow-instances", &json!({"searchTerm": payload}));
    ada.get(&format!("/workflow-definitions?searchTerm={payload}"));
    ada.post(&format!("/events/{MARK}/trigger"), &json!({"input": payload}));
    ada.send("POST", "/workflow-instances", &format!("{{\"searchTerm\": {payload}"));
    ada.send("POST", &format!("/tasks/{task}/complete"), &format!("{{\"result\": \"{payload}\"}}"));

    let report = json!({"csp-report": {"document-uri": format!("{}/inbox?{payload}", world.url), "blocked-uri": format!("https://evil.example/?{payload}")}});
    let headers = [FORM[0], ("Content-Type", "application/csp-report")];
    assert_eq!(world.send("POST", "/csp-reports", &headers, &report.to_string()).status, 204);

    // As hub clients send their key: a known and an unknown one.
    for key in [&key, &password] {
        let query = format!("/elsa/hubs/workflow-instance/negotiate?access_token={key}");
        world.send("POST", &query, &[], "");
        world.send("GET", &query.replace("/negotiate", ""), &[("Upgrade", "websocket")], "");
    }
    for value in [format!("ApiKey {password}"), format!("Basic {password}"), password.clone()] {
        world.send("GET", "/elsa/api/features/installed", &[("Authorization", &value)], "");
    }
    world.send("GET", "/inbox", &[("Cookie", &format!("{cookie}{MARK}"))], "");
    vec![key, cookie.split_once('=').unwrap().1.to_owned(), "lovelace".to_owned(), format!("{MARK}-")]
}

fn check(format: &str) {
    let world = World::with(&["--log", "trace", "--log-format", format]);
    world.sql(PREPARED);
    define(&world);
    let secrets = use_secrets(&world);
    let log = world.into_log();
    for said in ["/elsa/api/workflow-definitions/notice/execute", "what its policy forbids", "refused a role"] {
        assert!(log.contains(said), "{said} in {log}");
    }
    for secret in secrets {
        let line = log.lines().find(|line| line.contains(&secret));
        assert_eq!(line, None, "{secret}");
    }
}

#[test]
fn a_log_as_text_has_no_secret() {
    check("text");
}

#[test]
fn a_log_as_json_has_no_secret() {
    check("json");
}

/// A refusal before there is a log.
#[test]
fn a_refusal_to_start_has_no_secret() {
    for database in [
        "host=x port=x password=wombat-",
        "host=x sslmode=x password=wombat-",
        "postgres://ada:wombat-@x:y/z",
        "password='wombat-",
    ] {
        let ended = output(std::process::Command::new(crate::support::PROGRAM).args(["serve", "--database", database]));
        assert!(!ended.status.success());
        let said = String::from_utf8(ended.stderr).unwrap();
        assert!(said.contains("--database makes no sense") && !said.contains("wombat"), "{said}");
    }
}
