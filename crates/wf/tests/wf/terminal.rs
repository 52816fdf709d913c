//! The commands for a terminal, with a real database. `make test T=gateway/terminal` runs these.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use postgres::{Client, NoTls};
use serde_json::Value;
use uuid::Uuid;

const PROGRAM: &str = env!("CARGO_BIN_EXE_wf");
const DEFINITION: &str = r#"{"definitionId": "order", "root": [
    {"id": "Check", "type": "RunTask", "taskName": "Check order", "retry": {"maxAttempts": 2, "delay": "1 hour"}},
    {"id": "Ledger", "type": "Sql", "statement": "INSERT INTO nowhere VALUES (1)"}]}"#;

/// A database with a role of the same name that may use the extension, and a folder for files.
struct World {
    name: String,
    server: String,
    folder: PathBuf,
}

impl World {
    fn new() -> Self {
        let server = std::env::var("WORKFLOW_TEST_SERVER").expect("`make test T=gateway/terminal` sets it");
        let name = format!("terminal_{}", Uuid::now_v7().simple());
        let world = Self { folder: std::env::temp_dir().join(&name), name, server };
        std::fs::create_dir(&world.folder).unwrap();
        let name = &world.name;
        world.admin("postgres", &format!("CREATE DATABASE {name} TEMPLATE workflow_template"));
        world.admin(
            "postgres",
            &format!("SET password_encryption = 'scram-sha-256'; CREATE ROLE {name} LOGIN PASSWORD 'secret'"),
        );
        world.admin(name, &format!("SELECT wf_grant_usage('{name}')"));
        world
    }

    fn admin(&self, database: &str, sql: &str) {
        let mut client = Client::connect(&format!("{} user=postgres dbname={database}", self.server), NoTls).unwrap();
        client.batch_execute(sql).unwrap_or_else(|error| panic!("{error:?} in {sql}"));
    }

    /// Runs SQL as the role, and returns the first value as text.
    fn sql(&self, sql: &str) -> String {
        let mut client = Client::connect(&self.connection(), NoTls).unwrap();
        let rows = client.simple_query(sql).unwrap_or_else(|error| panic!("{error:?} in {sql}"));
        let row = rows.iter().find_map(|message| match message {
            postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        });
        row.unwrap_or_default()
    }

    fn connection(&self) -> String {
        format!("{} dbname={} user={} password=secret", self.server, self.name, self.name)
    }

    fn start(&self, correlation_id: &str) -> String {
        self.sql(&format!(
            "SELECT wf_define($d${DEFINITION}$d$); SELECT wf_start('order', correlation_id => '{correlation_id}')"
        ));
        self.sql(&format!("SELECT instance_id FROM workflow.instance_list WHERE correlation_id = '{correlation_id}'"))
    }

    fn task(&self) -> String {
        self.sql("SELECT task_id FROM workflow.open_tasks ORDER BY created_at DESC LIMIT 1")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command
            .args(arguments)
            .env("WF_DATABASE", self.connection())
            .env("WF_CONFIG", "/dev/null")
            .stdin(Stdio::null());
        command
    }

    fn output(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// The output of a command that succeeds.
    fn says(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.says(arguments)).unwrap()
    }

    /// What a command that fails says on standard error.
    fn refusal(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {output:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    /// The level of each finding of `wf doctor` by its subject, and the exit code.
    fn examined(&self, arguments: &[&str]) -> (Vec<(String, String)>, Option<i32>) {
        let output = self.output(&[&["doctor", "--json"], arguments].concat());
        let findings: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
        let text = |finding: &Value, key: &str| finding[key].as_str().unwrap().to_owned();
        let findings = findings.as_array().unwrap().iter();
        (findings.map(|of| (text(of, "subject"), text(of, "level"))).collect(), output.status.code())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
        if let Ok(mut client) = Client::connect(&format!("{} user=postgres dbname=postgres", self.server), NoTls) {
            let _ = client.batch_execute(&format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
            let _ = client.batch_execute(&format!("DROP ROLE IF EXISTS {0}, {0}_web", self.name));
        }
    }
}

fn is_in(findings: &[(String, String)], subject: &str, level: &str) -> bool {
    findings.iter().any(|(of, found)| of == subject && found == level)
}

#[test]
fn status_shows_what_the_role_may_see() {
    let world = World::new();
    let empty = world.says(&["status"]);
    assert!(empty.contains("OPEN TASKS  none") && empty.contains("DEAD LETTERS  none"), "{empty}");
    world.start("order-1");
    world.start("order-2");
    world.says(&["tasks", "complete", &world.task()]);
    let text = world.says(&["status"]);
    assert!(text.contains(&format!("in {}", world.name)), "{text}");
    for part in ["1 suspended", "1 faulted", "Check order", "OPEN INCIDENTS", "QUEUE      not visible"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let faulted = world.sql("SELECT instance_id FROM workflow.open_incidents");
    assert!(text.contains(&format!("{faulted}  relation \"nowhere\" does not exist")), "{text}");
    let status = world.json(&["status", "--json"]);
    assert_eq!((&status["tasks"][0]["name"], &status["tasks"][0]["open"]), (&"Check order".into(), &1.into()));
    assert_eq!(status["incidents"][0]["definition_id"], "order");
    assert_eq!(status["incidents"][0]["instance_id"], faulted.as_str());
    assert_eq!(status["queued"], Value::Null);
}

#[test]
fn a_task_is_claimed_failed_released_and_completed() {
    let world = World::new();
    assert_eq!(world.says(&["tasks"]), "no open task\n");
    world.start("order-1");
    let task = world.task();
    let listed = world.json(&[
        "tasks",
        "--json",
        "--name",
        "Check order",
        "--definition",
        "order",
        "--correlation-id",
        "order-1",
    ]);
    assert_eq!(listed[0]["task_id"], task.as_str());
    assert_eq!(world.json(&["tasks", "--json", "--name", "other"]), serde_json::json!([]));
    let claimed = world.json(&["tasks", "claim", &task, "--json", "--worker", "desk"]);
    let token = claimed["token"].as_str().unwrap();
    assert!(world.says(&["tasks"]).contains("held by desk"));
    let held = world.refusal(&["tasks", "complete", &task]);
    for part in ["SQLSTATE: 55000", "DETAIL: ", "desk"] {
        assert!(held.contains(part), "{part}: {held}");
    }
    assert_eq!(world.says(&["tasks", "release", &task, "--token", token]), "released\n");
    assert!(world.says(&["tasks", "release", &task, "--token", token]).contains("no longer holds"));
    assert_eq!(world.says(&["tasks", "fail", &task, "no paper"]), "failed; another attempt follows\n");
    assert!(world.says(&["tasks"]).contains("failed: no paper"));
    assert!(world.refusal(&["tasks", "complete", &task, "yes"]).contains("the result is no JSON"));
    assert!(world.says(&["tasks", "complete", &task, r#"{"by": "Ada"}"#]).contains("its instance: faulted"));
    assert!(world.refusal(&["tasks", "claim", &Uuid::nil().to_string()]).contains("SQLSTATE: 42704"));
}

#[test]
fn an_instance_is_explained_by_its_id_its_task_or_its_correlation_id() {
    let world = World::new();
    let instance = world.start("order-1");
    let text = world.says(&["explain", &instance]);
    assert!(text.contains("correlation id order-1: Suspended") && text.contains("wf_complete_task("), "{text}");
    assert_eq!(world.says(&["explain", &world.task()]), text);
    assert_eq!(world.says(&["explain", "order-1"]), text);
    let explained = world.json(&["explain", "order-1", "--json"]);
    assert_eq!(explained["instance"]["instance_id"], instance.as_str());
    assert_eq!(explained["waiting"][0]["activity"], "Check");
    assert!(explained["executions"].as_array().unwrap().len() >= 2, "{explained}");
    world.start("twice");
    world.sql("SELECT wf_start('order', correlation_id => 'twice')");
    assert!(world.refusal(&["explain", "twice"]).contains("several instances"));
    assert!(world.refusal(&["explain", "nothing"]).contains("no instance"));
    assert!(world.refusal(&["explain", &Uuid::nil().to_string()]).contains("SQLSTATE: 42704"));
}

#[test]
fn definitions_of_files_are_stored_in_one_transaction() {
    let world = World::new();
    let file = |name: &str, text: &str| {
        let path = world.folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (order, other) = (file("a.json", DEFINITION), file("b.yaml", "definitionId: other\nroot: []\n"));
    assert_eq!(world.says(&["define", &order]), "order, version 1\n");
    let folder = world.folder.to_str().unwrap();
    assert_eq!(world.says(&["define", folder]), "order, version 1\nother, version 1\n");
    file("a.json", &DEFINITION.replace("1 hour", "2 hours"));
    let wrong = file("c.json", r#"{"definitionId": "wrong", "root": {"type": "Nothing"}}"#);
    assert!(world.refusal(&["define", &order, &wrong]).contains("SQLSTATE: "), "{wrong}");
    assert_eq!(world.sql("SELECT max(version) FROM workflow.definition_list WHERE definition_id = 'order'"), "1");
    let stored = world.json(&["define", "--json", "--without-publishing", &order, &other]);
    assert_eq!((&stored[0]["version"], &stored[1]["version"]), (&2.into(), &1.into()));
    assert_eq!(
        world.sql("SELECT version FROM workflow.definition_list WHERE definition_id = 'order' AND is_published"),
        "1"
    );
    let damaged = file("d.json", "{");
    assert!(world.refusal(&["define", &damaged]).contains("d.json:1:"));
    let odd = file("e.json", r#"{"definitionId": "odd", "root": {"type": "WriteLine", "text": "{{ Input.name }}"}}"#);
    let output = world.output(&["define", &odd]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "odd, version 1\n", "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.starts_with("wf: odd: warning: ") && said.ends_with(" (/root/text)\n"), "{said}");
}

#[test]
fn a_faulted_instance_is_retried() {
    let world = World::new();
    let instance = world.start("order-1");
    world.says(&["tasks", "complete", &world.task()]);
    assert_eq!(
        world.says(&["retry", "order-1"]),
        format!("retried; the instance: faulted; `wf explain {instance}` says what repairs it\n")
    );
    let table = format!("CREATE TABLE nowhere (i integer); GRANT INSERT ON nowhere TO {}", world.name);
    world.admin(&world.name, &table);
    let retried = world.json(&["retry", &instance, "--activities", "Ledger", "--json"]);
    assert_eq!((&retried["instance_id"], &retried["sub_status"]), (&instance.as_str().into(), &"Finished".into()));
    assert!(world.refusal(&["retry", &instance]).contains("SQLSTATE: 55000"));
}

#[test]
fn a_command_without_a_connection_says_where_it_went() {
    let world = World::new();
    for (connection, said) in [
        (
            "host=/nowhere user=x dbname=x".to_owned(),
            "HINT: The connection is host=/nowhere port=5432 dbname=x user=x.",
        ),
        (world.connection().replace("password=secret", ""), "PGPASSWORD"),
    ] {
        for command in ["status", "tail"] {
            let output = world.command(&[command]).env("WF_DATABASE", &connection).output().unwrap();
            let text = String::from_utf8(output.stderr).unwrap();
            assert!(output.status.code() == Some(1) && text.contains(said), "{connection}: {text}");
        }
    }
}

#[test]
fn tail_prints_each_event_once_and_survives_a_lost_connection() {
    let world = World::new();
    let instance = world.start("order-1");
    let once = world.says(&["tail", "--no-follow", "--since", "5"]);
    assert!(once.contains("order order-1  Workflow started"), "{once}");
    assert_eq!(world.says(&["tail", "--no-follow", "--since", "5", "--definition", "other"]), "");
    let of_instance = world.says(&["tail", "--no-follow", "--instance", &instance, "--json"]);
    assert!(of_instance.lines().all(|line| line.contains(&instance)) && of_instance.contains("Workflow suspended"));

    let mut tail = world.command(&["tail", "--since", "5", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(tail.stdout.take().unwrap()).lines().map(|line| line.unwrap());
    let mut until = |event: &str, correlation_id: &str| -> Vec<String> {
        let mut read = Vec::new();
        loop {
            let line = lines.next().expect("another event");
            let parsed: Value = serde_json::from_str(&line).unwrap();
            read.push(line);
            if parsed["event"] == event && parsed["correlation_id"] == correlation_id {
                return read;
            }
        }
    };
    let mut printed = until("Workflow suspended", "order-1");
    world.admin(
        "postgres",
        &format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{}'", world.name),
    );
    world.start("order-2");
    printed.extend(until("Workflow suspended", "order-2"));
    tail.kill().unwrap();
    tail.wait().unwrap();
    let distinct: std::collections::HashSet<_> = printed.iter().collect();
    assert_eq!(distinct.len(), printed.len(), "{printed:#?}");
}

#[test]
fn doctor_finds_what_is_wrong_with_a_session() {
    let world = World::new();
    let (findings, _) = world.examined(&[]);
    for subject in ["server", "TLS", "clock", "versions", "rights"] {
        assert!(is_in(&findings, subject, "ok"), "{subject}: {findings:?}");
    }
    // Only pg_monitor may call it.
    assert!(!findings.iter().any(|(subject, _)| subject == "wf_check()"), "{findings:?}");
    world.admin(&world.name, &format!("GRANT pg_monitor TO {}", world.name));
    assert!(is_in(&world.examined(&[]).0, "wf_check()", "ok"));
    assert!(!is_in(&world.examined(&["--quick"]).0, "wf_check()", "ok"));
    world.admin(&world.name, &format!("SELECT wf_revoke_usage('{}')", world.name));
    let (findings, code) = world.examined(&[]);
    assert!(is_in(&findings, "rights", "error") && code == Some(1), "{findings:?}");
    let text = String::from_utf8(world.output(&["doctor"]).stdout).unwrap();
    assert!(text.contains("may not execute wf_start") && text.contains("wf_grant_usage('"), "{text}");
    world.admin(&world.name, &format!("ALTER ROLE {} SET search_path = pg_catalog", world.name));
    assert!(is_in(&world.examined(&[]).0, "search path", "warning"));
    world.admin(&world.name, "GRANT CREATE ON SCHEMA public TO PUBLIC");
    assert!(is_in(&world.examined(&[]).0, "schema", "error"));
}

#[test]
fn doctor_says_why_there_is_no_session() {
    let world = World::new();
    for (connection, said) in [
        (world.connection().replace("secret", "wrong"), "28P01"),
        (format!("{} dbname=postgres user=postgres", world.server), "CREATE EXTENSION workflow"),
        ("host=/nowhere user=x dbname=x".to_owned(), "is the server running"),
        ("host=a,b port=1,2,3".to_owned(), "as hosts"),
    ] {
        let output = world.command(&["doctor"]).env("WF_DATABASE", &connection).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.code() == Some(1) && text.contains(said), "{connection}: {text}");
    }
}

#[test]
fn doctor_examines_what_a_service_needs() {
    let world = World::new();
    let file = |name: &str, text: &str, mode: u32| {
        let path = world.folder.join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let keys = file("keys", "", 0o600);
    let open = file("open", "", 0o644);
    let until = |year| {
        let mut parameters = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        parameters.not_after = rcgen::date_time_ymd(year, 1, 1);
        let key = rcgen::KeyPair::generate().unwrap();
        parameters.self_signed(&key).unwrap().pem()
    };
    let (valid, expired) = (file("valid.pem", &until(4000), 0o644), file("expired.pem", &until(2001), 0o644));
    // The options come from the file of the service.
    let configuration = |cookies: &str, certificate: &str| {
        let text = format!(
            "[serve]\ncookie-keys = \"{cookies}\"\ntls-key = \"{keys}\"\ntls-certificate = \"{certificate}\"\n\
             [work]\nconcurrency = 3\n"
        );
        file("wf.toml", &text, 0o600)
    };
    let config = configuration(&keys, &valid);
    let (findings, code) = world.examined(&["serve", "--config", &config]);
    assert!(is_in(&findings, "cookie keys", "ok") && is_in(&findings, "TLS certificate", "ok"), "{findings:?}");
    assert!(is_in(&findings, "users", "error") && is_in(&findings, "actor", "warning"), "{findings:?}");
    assert_eq!(code, Some(1));
    let config = configuration(&open, &expired);
    let (findings, _) = world.examined(&["serve", "--config", &config]);
    assert!(is_in(&findings, "cookie keys", "error") && is_in(&findings, "TLS certificate", "error"), "{findings:?}");
    let web = format!("{}_web", world.name);
    world.admin(
        &world.name,
        &format!("CREATE ROLE {web}; SELECT wf_grant_usage('{web}'); GRANT {web} TO {}", world.name),
    );
    for (role, level) in
        [(web.as_str(), "ok"), (world.name.as_str(), "error"), ("pg_monitor", "error"), ("nobody", "error")]
    {
        let (findings, _) = world.examined(&["serve", "--config", &config, "--endpoints-role", role]);
        assert!(is_in(&findings, "endpoints", level), "{findings:?}");
    }
    for (role, level) in [("pg_monitor", "error"), (world.name.as_str(), "error"), ("nobody", "error")] {
        let (findings, _) = world.examined(&["serve", "--config", &config, "--metrics-role", role]);
        assert!(is_in(&findings, "metrics", level), "{findings:?}");
    }
    world.admin("postgres", &format!("GRANT pg_monitor TO {}", world.name));
    let (findings, _) = world.examined(&["serve", "--config", &config, "--metrics-role", "pg_monitor"]);
    assert!(is_in(&findings, "metrics", "ok"), "{findings:?}");
    let collector = "http://127.0.0.1:4318/v1/traces";
    let traces = ["--traces-endpoint", collector, "--traces-role", "pg_monitor"];
    let (findings, _) = world.examined(&[&["serve", "--config", config.as_str()][..], &traces[..]].concat());
    assert!(is_in(&findings, "traces", "ok"), "{findings:?}");
    let (findings, _) = world.examined(&["work", "--config", &config]);
    assert!(is_in(&findings, "rights", "ok") && is_in(&findings, "accepted owners", "ok"), "{findings:?}");
    assert!(is_in(&findings, "options", "ok"), "{findings:?}");
    let wrong = file("secrets", "bank = 'hidden'", 0o600);
    let config = file("wf.toml", &format!("[work]\nsecrets = \"{wrong}\"\n"), 0o600);
    assert!(is_in(&world.examined(&["work", "--config", &config]).0, "options", "error"));
    let config = file(
        "wf.toml",
        &format!("[work]\nsmtp-host = 'localhost'\nsmtp-tls = 'none'\nsmtp-password-file = \"{open}\"\n"),
        0o600,
    );
    let (findings, _) = world.examined(&["work", "--config", &config]);
    assert!(
        is_in(&findings, "password of the mail server", "error") && is_in(&findings, "options", "error"),
        "{findings:?}"
    );
}

#[test]
fn dev_says_what_it_lacks() {
    let world = World::new();
    let folder = world.folder.join("dev");
    let is_root = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap()) == 0;
    let dev = |options: &[&str]| world.refusal(&[&["dev", "--folder", folder.to_str().unwrap()], options].concat());
    assert!(dev(&["--server-user", "nobody-of-this-name"]).contains("there is no user nobody-of-this-name"));
    let user: &[&str] = if is_root { &["--server-user", "nobody"] } else { &[] };
    let without = |pg_config: &str| dev(&[user, &["--pg-config", pg_config]].concat());
    assert!(without("/nowhere/pg_config").contains("cannot run /nowhere/pg_config"));
    assert!(without("/bin/true").contains("has no extension workflow"));
    // A folder that has other files of these names is left alone.
    std::fs::create_dir(folder.join("data")).unwrap();
    assert!(without("/nowhere/pg_config").contains("a file or folder data that is not of wf dev"));
    assert!(folder.join("data").exists());
    if is_root {
        assert!(dev(&[]).contains("PostgreSQL refuses to run as root"));
    }
}

#[test]
fn the_schema_has_the_types_of_the_database() {
    let world = World::new();
    world.admin(
        &world.name,
        "CREATE FUNCTION shout(context jsonb) RETURNS jsonb LANGUAGE sql AS 'SELECT ''{}''::jsonb';
         SELECT wf_register_activity('Acme.Shout', 'shout(jsonb)', inputs => '[\"text\"]', description => 'Shouts.')",
    );
    world.sql(
        r#"SELECT wf_define('{"definitionId": "add", "name": "Add numbers", "options": {"usableAsActivity": true},
                              "inputs": [{"name": "a", "type": "Int32"}], "root": []}')"#,
    );
    let schema = world.json(&["schema", "--registered"]);
    assert_eq!(schema["$defs"]["Acme.Shout"]["description"], "Shouts.");
    assert!(schema["$defs"]["AddNumbers"].is_object());
    assert_eq!(world.json(&["schema"])["$defs"]["Acme.Shout"], Value::Null);
}

#[test]
fn completions_and_pages_name_every_command() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = world.says(&["completion", shell]);
        for command in ["serve", "work", "define", "status", "tasks", "explain", "retry", "tail", "doctor"] {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
    world.says(&["man", world.folder.to_str().unwrap()]);
    let page = std::fs::read_to_string(world.folder.join("wf-work.1")).unwrap();
    assert!(page.contains("WF_WORK_CONCURRENCY"), "{page}");
    let unknown = world.output(&["completion", "tcsh"]);
    assert_eq!(unknown.status.code(), Some(2), "{unknown:?}");
}
