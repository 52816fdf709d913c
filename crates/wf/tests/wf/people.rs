//! People whom a proxy has logged in: its header counts from its own address only.

use serde_json::json;

use crate::support::{Answer, World};

const BY_PROXY: &[&str] = &[
    "--proxy-person-header",
    "X-User",
    "--proxy-groups-header",
    "X-Groups",
    "--person-role",
    "groups=finance=clerks",
    "--person-role",
    "person=zoe@example.com=ben",
];
const LIST: &str = "/elsa/api/workflow-definitions";
const OURS: (&str, &str) = ("Sec-Fetch-Site", "same-origin");

fn world_behind(proxy: &str) -> World {
    World::with(&[BY_PROXY, &["--proxy-address", proxy]].concat())
}

fn list(world: &World, headers: &[(&str, &str)]) -> Answer {
    world.send("GET", LIST, headers, "")
}

#[test]
fn the_header_names_the_person_and_the_list_the_role() {
    let world = world_behind("192.0.2.7,127.0.0.0/8");
    world.sql(
        r#"SET ROLE ada;
        SELECT wf_define('{"definitionId": "approve", "root": {"id": "ask", "type": "RunTask", "taskName": "Approve"}}');
        SELECT wf_grant('approve', 'clerks', '{start,read}')"#,
    );
    let ada = [("X-User", "ada@example.com"), ("X-Groups", "staff, finance"), OURS];
    assert_eq!(list(&world, &ada).ok()["totalCount"], 1);
    let run = json!({ "versionOptions": "Published" }).to_string();
    let run_as = |headers: &[(&str, &str)]| {
        let headers = [headers, &[("Content-Type", "application/json")]].concat();
        world.send("POST", &format!("{LIST}/approve/execute"), &headers, &run)
    };
    assert_eq!(run_as(&ada).status, 200);
    let start = "SELECT concat_ws(' / ', role, login, actor) FROM workflow.audit WHERE kind = 'start'";
    assert_eq!(world.value(start).as_deref(), Some("clerks / workflow_people / ada@example.com"));
    // The first rule that matches. Ben sees nothing of ada's.
    assert_eq!(list(&world, &[("X-User", "zoe@example.com"), ("X-Groups", "staff")]).ok()["totalCount"], 0);

    let page = world.send("GET", "/inbox", &ada, "");
    assert!(page.status == 200 && page.text.contains("ada@example.com"), "{page:?}");
    let long = "x".repeat(201);
    // A role's name in a header is no role, and neither is a person without one.
    for headers in [
        &[("X-User", "ada"), ("X-Groups", "clerks,ada,postgres")][..],
        &[("X-User", "clerks")],
        &[("X-User", "role:ada"), ada[1]],
        &[("X-User", "group:board"), ada[1]],
        &[("X-User", long.as_str()), ada[1]],
    ] {
        assert_eq!(list(&world, headers).status, 403, "{headers:?}");
    }
    assert_eq!(list(&world, &[ada[0], ("X-User", "eve"), ada[1]]).errors(400), ["the header x-user occurs twice"]);
    assert_eq!(list(&world, &[ada[0], ada[1], ("X-Groups", "board")]).status, 400);
    // Without a person, the request is that of its key, if it has one.
    assert_eq!(list(&world, &[("X-User", " "), ada[1]]).status, 401);
    assert_eq!(list(&world, &[]).status, 401);
    let key = format!("ApiKey {}", world.key("ada"));
    assert_eq!(list(&world, &[("Authorization", &key)]).status, 200);

    // Browsers send the proxy's credentials with requests of other sites, too.
    for site in [&[][..], &[("Sec-Fetch-Site", "cross-site")], &[("Origin", "https://evil.example")]] {
        assert_eq!(run_as(&[&ada[..2], site].concat()).status, 403, "{site:?}");
    }
    let form = [&ada[..], &[("Content-Type", "application/x-www-form-urlencoded")]].concat();
    assert_eq!(world.send("POST", "/role", &form, "role=ada").status, 400);
}

/// A distinguished name contains the separator that most proxies use.
#[test]
fn groups_are_separated_as_the_configuration_says() {
    let world = World::with(&[
        "--proxy-person-header",
        "X-User",
        "--proxy-groups-header",
        "X-Groups",
        "--proxy-groups-separator",
        "|",
        "--proxy-address",
        "127.0.0.1",
        "--person-role",
        "groups=CN=finance,OU=acme=clerks",
    ]);
    let listed = |groups: &str| list(&world, &[("X-User", "ada@example.com"), ("X-Groups", groups)]);
    assert_eq!(listed("staff | CN=finance,OU=acme").status, 200);
    for groups in ["CN=finance", "CN=finance|OU=acme", "staff,CN=finance,OU=acme", ""] {
        assert_eq!(listed(groups).status, 403, "{groups}");
    }
    let quoted = listed("staff|\"CN=finance,OU=acme\"").errors(400);
    assert_eq!(quoted[0], "the header x-groups contains quotes");
}

#[test]
fn from_anybody_else_the_header_is_refused() {
    let world = world_behind("192.0.2.7");
    // security.md#people-whom-the-gateway-logs-in: a header counts from the proxy only
    let key = format!("ApiKey {}", world.key("ada"));
    for headers in [
        &[("X-User", "ada@example.com"), ("X-Groups", "finance")][..],
        &[("X-User", "")],
        &[("X-Groups", "finance"), ("Authorization", &key)],
        &[("X-User", "ada"), ("X-Forwarded-For", "192.0.2.7")],
    ] {
        let refused = list(&world, headers);
        assert_eq!(refused.status, 400, "{headers:?}");
        assert!(refused.text.contains("only the proxy may send the header"), "{refused:?}");
        assert_eq!(world.send("GET", "/inbox", headers, "").status, 400, "{headers:?}");
        assert_eq!(world.send("POST", "/login", &[headers, &[OURS]].concat(), "").status, 400, "{headers:?}");
    }
    assert_eq!(list(&world, &[("Authorization", &key)]).status, 200);
    // A request for another host learns nothing of the headers, nor of what the route expects.
    for (method, path) in [("GET", LIST), ("POST", "/login"), ("DELETE", "/inbox"), ("GET", "/nowhere")] {
        let refused = world.send(method, path, &[("Host", "evil.example"), ("X-User", "ada@example.com")], "");
        assert_eq!(refused.status, 421, "{method} {path}: {refused:?}");
    }
}

/// Many people have one role; a task for one of them, or for a group, is for no other person with this role.
#[test]
fn tasks_for_a_group_are_for_its_members() {
    let world = world_behind("127.0.0.1");
    world.sql(
        r#"SET ROLE ada;
        SELECT wf_define('{"definitionId": "ask", "root": {"id": "ask", "type": "RunTask", "taskName": "Approve", "candidates": ["group:board", "cy@example.com"]}}');
        SELECT wf_grant('ask', 'clerks', '{read,resume}');
        SELECT wf_start('ask') FROM generate_series(1, 2)"#,
    );
    let complete = |person: &str, groups: &str| {
        let task = world.value("SELECT task_id::text FROM workflow.open_tasks LIMIT 1").unwrap();
        let headers = [("X-User", person), ("X-Groups", groups), OURS, ("Content-Type", "application/json")];
        world.send("POST", &format!("/elsa/api/tasks/{task}/complete"), &headers, r#"{"result": 1}"#).status
    };
    let inbox = |person: &str, groups: &str, whose: &str| {
        let headers = [("X-User", person), ("X-Groups", groups), OURS];
        world.send("GET", &format!("/inbox?whose={whose}"), &headers, "").text.contains(">Approve</a>")
    };
    let seen = |person, groups| (inbox(person, groups, "mine"), inbox(person, groups, "roles"));
    assert_eq!(seen("eve@example.com", "finance"), (false, false));
    assert_eq!(seen("eve@example.com", "finance,board"), (false, true));
    assert_eq!(seen("cy@example.com", "finance"), (true, false));
    assert_eq!(complete("eve@example.com", "finance"), 403);
    assert_eq!(complete("eve@example.com", "finance,group:board"), 403);
    assert_eq!(complete("eve@example.com", "finance,board"), 200);
    assert_eq!(complete("cy@example.com", "finance"), 200);
    let actors = "SELECT string_agg(actor, ' ' ORDER BY actor) FROM workflow.answers";
    assert_eq!(world.value(actors).as_deref(), Some("cy@example.com eve@example.com"));
}

/// The database would not record them.
#[test]
fn a_gateway_that_cannot_name_people_does_not_start() {
    let world = World::new();
    let role = format!("{}_nameless", world.database);
    world.sql(&format!("CREATE ROLE {role} LOGIN PASSWORD 'x' NOINHERIT; GRANT clerks TO {role}"));
    let database = format!("{} dbname={} user={role} password=x", world.server(), world.database);
    let ended = crate::support::output(
        std::process::Command::new(crate::support::PROGRAM)
            .args(["serve", "--listen", "127.0.0.1:0", "--database", &database, "--proxy-address", "127.0.0.1"])
            .args(BY_PROXY),
    );
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(ended.status.code() == Some(1) && said.contains("GRANT SET ON PARAMETER workflow.actor"), "{said}");
    world.sql(&format!("DROP ROLE {role}"));
}
