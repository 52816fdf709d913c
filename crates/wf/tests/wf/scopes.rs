//! Scopes of API keys: a key does what it is for, at every route, and nothing else.

use std::collections::BTreeMap;

use serde_json::json;

use crate::pages_inbox::Browser;
use crate::support::{Answer, World};

const SCOPES: [&str; 4] = ["read", "answer", "operate", "define"];

/// Sends a request to a route with a key. The objects that it names do not exist.
fn send(world: &World, route: &str, key: &str) -> Answer {
    let (method, path) = route.split_once(' ').unwrap();
    let path = path.replace(['{', '}', '*'], "");
    let key = format!("ApiKey {key}");
    world.send(method, &path, &[("Authorization", &key), ("Content-Type", "application/json")], "{}")
}

fn is_out_of_scope(answer: &Answer) -> bool {
    answer.status == 403 && answer.text.contains("the API key does not have the scope")
}

/// Each route accepts either all keys, or those of one scope. Every scope has routes.
#[test]
fn every_route_is_for_keys_of_one_scope_or_for_all() {
    let world = World::new();
    let keys = SCOPES.map(|scope| world.key_with("ben", &["--scope", scope]));
    let all = world.key_with("ben", &["--scope", "read,answer,operate,define"]);
    let plain = world.key("ben");
    let mut routes_of: BTreeMap<&str, usize> = BTreeMap::new();
    for route in world.routes() {
        let admitted: Vec<&str> = SCOPES
            .iter()
            .zip(&keys)
            .filter(|(_, key)| !is_out_of_scope(&send(&world, &route, key)))
            .map(|of| *of.0)
            .collect();
        match admitted[..] {
            [scope] => *routes_of.entry(scope).or_default() += 1,
            _ => assert_eq!(admitted, SCOPES, "{route}"),
        }
        for key in [&all, &plain] {
            assert!(!is_out_of_scope(&send(&world, &route, key)), "{route}");
        }
    }
    assert_eq!(routes_of.len(), SCOPES.len(), "{routes_of:?}");
}

/// A key of ada's that only reads changes nothing, whatever ada may do, and it learns nothing from the refusal.
#[test]
fn a_key_does_only_what_it_is_for() {
    let world = World::new();
    world.sql(
        r#"SET ROLE ada;
        SELECT wf_define('{"definitionId": "ask", "root": {"id": "ask", "type": "RunTask", "taskName": "Approve"}}');
        SELECT wf_start('ask')"#,
    );
    let task = world.value("SELECT task_id::text FROM workflow.open_tasks").unwrap();
    let complete = format!("/tasks/{task}/complete");
    let reader = world.client_with(world.key_with("ada", &["--scope", "read"]));
    assert_eq!(reader.get("/workflow-definitions").ok()["totalCount"], 1);
    let refused = reader.post(&complete, &json!({ "result": 1 }));
    assert_eq!(
        refused.errors(403),
        [
            "the API key does not have the scope \"answer\"",
            "The administrator of the gateway makes another key with `wf key add --scope`."
        ]
    );
    // The same whether there is such a task or not.
    let unknown = reader.post(&format!("/tasks/{}/complete", uuid::Uuid::now_v7()), &json!({ "result": 1 }));
    assert_eq!(unknown.text, refused.text);
    assert_eq!(world.value("SELECT status FROM workflow.tasks").as_deref(), Some("Open"));

    let answering = world.client_with(world.key_with("ada", &["--scope", "answer"]));
    assert_eq!(answering.get("/workflow-definitions").status, 403);
    assert_eq!(answering.post(&complete, &json!({ "result": 1 })).status, 200);
}

/// The session of a log-in with a key has the scopes of the key, those that the file has now.
#[test]
fn a_session_has_the_scopes_of_its_key() {
    let world = World::new();
    let key = world.key_with("ada", &["--scope", "read"]);
    let session = Browser::with_key(&world, &key);
    assert_eq!(session.post("/instances/x/cancel", &[("do", "perform")]).status, 403);
    let file = world.folder().join("keys.toml");
    let changed = std::fs::read_to_string(&file).unwrap().replace("\"read\"", "\"operate\", \"read\"");
    std::fs::write(&file, changed).unwrap();
    assert_eq!(session.post("/instances/x/cancel", &[("do", "perform")]).status, 404);
}

/// An operator's answer in place of a task's people is more than an answer.
#[test]
fn overriding_a_task_needs_the_scope_of_operators() {
    let world = World::new();
    world.sql(
        r#"SET ROLE ada;
        SELECT wf_define('{"definitionId": "ask", "root": {"id": "ask", "type": "RunTask", "taskName": "Approve", "candidates": ["role:ben"]}}');
        SELECT wf_start('ask')"#,
    );
    let task = world.value("SELECT task_id::text FROM workflow.open_tasks").unwrap();
    let override_by = |scopes: &str| {
        let key = world.key_with("ada", &["--scope", scopes]);
        let form = [("do", "complete"), ("as", "json"), ("result", "1"), ("in-their-place", "ben is ill")];
        Browser::with_key(&world, &key).post(&format!("/inbox/{task}"), &form)
    };
    let refused = override_by("read,answer");
    assert!(refused.status == 403 && refused.text.contains("the scope &#34;operate&#34;"), "{refused:?}");
    assert_eq!(world.value("SELECT status FROM workflow.tasks").as_deref(), Some("Open"));
    assert_eq!(override_by("read,answer,operate").status, 303);
    assert_eq!(world.value("SELECT status FROM workflow.tasks").as_deref(), Some("Completed"));
}
