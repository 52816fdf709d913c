//! Session cookies: sealed with a key, valid for some hours, and with the current permissions of their role.

use axum::http::HeaderMap;
use axum_extra::extract::PrivateCookieJar;
use axum_extra::extract::cookie::{Cookie, Key};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use crate::support::{Answer, PROGRAM, World, send, wait_until};

const FORM: &[(&str, &str)] =
    &[("Sec-Fetch-Site", "same-origin"), ("Content-Type", "application/x-www-form-urlencoded")];
const NAME: &str = "workflow";

/// A new line for a key file.
fn line() -> String {
    let made = std::process::Command::new(PROGRAM).arg("cookie-key").output().unwrap();
    String::from_utf8(made.stdout).unwrap().trim().to_owned()
}

fn key(line: &str) -> Key {
    Key::try_from(&STANDARD.decode(line).unwrap()[..]).unwrap()
}

/// A cookie as a gateway with this key would seal it, as `NAME=VALUE`.
fn sealed(line: &str, name: &str, content: &str) -> String {
    let jar = PrivateCookieJar::new(key(line)).add(Cookie::new(name.to_owned(), content.to_owned()));
    let answer = axum::response::IntoResponse::into_response((jar, ()));
    answer.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned()
}

/// The content of a cookie sealed by a gateway.
fn opened(line: &str, cookie: &str) -> Value {
    let mut headers = HeaderMap::new();
    headers.insert("cookie", cookie.parse().unwrap());
    let jar = PrivateCookieJar::from_headers(&headers, key(line));
    serde_json::from_str(jar.get(NAME).expect("sealed with this key").value()).unwrap()
}

/// The content of ada's session cookie, changed.
fn content(of_ada: &Value, login: &str, role: &str, hours: i64) -> String {
    let mut content = of_ada.clone();
    content["login"] = json!(login);
    content["role"] = json!(role);
    content["ends"] = json!(Utc::now() + TimeDelta::hours(hours));
    content.to_string()
}

/// Sends a request with a cookie.
fn ask(url: &str, cookie: &str) -> Answer {
    send("GET", &format!("{url}/elsa/api/workflow-definitions"), &[("Cookie", cookie)], "")
}

/// The cookie of a log-in.
fn log_in(url: &str, form: &str) -> String {
    let answer = send("POST", &format!("{url}/login"), FORM, form);
    assert_eq!(answer.status, 303, "{answer:?}");
    answer.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned()
}

/// Starts a gateway with a file of these keys.
fn with_keys(world: &World, lines: &[&str]) -> crate::support::Another {
    let file = world.folder().join(uuid::Uuid::now_v7().to_string());
    std::fs::write(&file, lines.join("\n")).unwrap();
    world.another_with(&["--cookie-keys", file.to_str().unwrap(), "--session-hours", "1"])
}

#[test]
fn a_cookie_is_taken_by_gateways_that_have_its_key() {
    let world = World::new();
    let (old, new) = (line(), line());
    let (before, meanwhile, after) =
        (with_keys(&world, &[&old]), with_keys(&world, &[&new, &old]), with_keys(&world, &[&new]));
    let of_old = log_in(&before.url, "role=ada&password=lovelace");
    let status = |gateway: &crate::support::Another, cookie: &str| ask(&gateway.url, cookie).status;
    assert_eq!([&before, &meanwhile, &after].map(|gateway| status(gateway, &of_old)), [200, 200, 401]);
    // While keys are exchanged, gateways with only the new key accept cookies that are sealed now.
    let of_new = log_in(&meanwhile.url, "role=ada&password=lovelace");
    assert_eq!([&before, &meanwhile, &after].map(|gateway| status(gateway, &of_new)), [401, 200, 200]);
    // A gateway without a file has its own key.
    assert_eq!(ask(&world.url, &of_old).status, 401);
    let own = log_in(&world.url, "role=ada&password=lovelace");
    assert_eq!((ask(&world.url, &own).status, status(&meanwhile, &own)), (200, 401));
}

#[test]
fn a_session_lasts_its_hours_and_no_cookie_can_be_made() {
    let world = World::new();
    let own = line();
    let gateway = with_keys(&world, &[&own]);
    let cookie = log_in(&gateway.url, "role=ada&password=lovelace");
    let inside = opened(&own, &cookie);
    assert_eq!((&inside["login"], &inside["role"]), (&json!("ada"), &json!("ada")));
    let ends: DateTime<Utc> = inside["ends"].as_str().unwrap().parse().unwrap();
    let left = ends - Utc::now();
    assert!(left > TimeDelta::minutes(50) && left <= TimeDelta::hours(1), "{left}");

    // So a cookie sealed here is like the gateway's.
    let content = |login: &str, role: &str, hours: i64| content(&inside, login, role, hours);
    assert_eq!(ask(&gateway.url, &sealed(&own, NAME, &content("ada", "ada", 1))).status, 200);
    let changed = |at: usize| {
        let mut text = cookie.clone().into_bytes();
        text[at] = if text[at] == b'A' { b'B' } else { b'A' };
        String::from_utf8(text).unwrap()
    };
    for refused in [
        sealed(&own, NAME, &content("ada", "ada", -1)),
        sealed(&line(), NAME, &content("ada", "ada", 1)),
        sealed(&own, "__Host-workflow", &content("ada", "ada", 1)),
        sealed(&own, "__Host-workflow", &content("ada", "ada", 1)).replace("__Host-workflow", NAME),
        sealed(&own, NAME, "{\"login\": \"ada\", \"role\": \"ada\"}"),
        // Of another role that had the name, and of another password.
        sealed(&own, NAME, &content("ada", "ada", 1).replace("\"login_oid\":", "\"login_oid\":1")),
        sealed(&own, NAME, &content("ada", "ada", 1).replace("\"role_oid\":", "\"role_oid\":1")),
        sealed(&own, NAME, &content("ada", "ada", 1).replace("\"password\":\"", "\"password\":\"A")),
        sealed(&own, NAME, &content("ada", "ada", 1).replace("\"password\":", "\"key\":")),
        sealed(&own, NAME, "ada"),
        format!("{NAME}={}", content("ada", "ada", 1).replace(['"', ','], "")),
        format!("{NAME}="),
        changed(NAME.len() + 1),
        changed(cookie.len() - 10),
        cookie[..cookie.len() - 8].to_owned(),
        // Sealed, but without permission for the role: a revoked membership, superusers, a role that does not exist.
        sealed(&own, NAME, &content("ben", "clerks", 1)),
        sealed(&own, NAME, &content("ada", "max", 1)),
        sealed(&own, NAME, &content("max", "max", 1)),
        sealed(&own, NAME, &content("postgres", "postgres", 1)),
        sealed(&own, NAME, &content("zoe", "zoe", 1)),
        sealed(&own, NAME, &content("nobody", "nobody", 1)),
        sealed(&own, NAME, &content("", "", 1)),
        sealed(&own, NAME, &content("ada\0", "ada", 1)),
    ] {
        assert_eq!(ask(&gateway.url, &refused).errors(401), ["log in first"], "{refused}");
        // A page redirects to the log-in.
        let page = send("GET", &format!("{}/inbox", gateway.url), &[("Cookie", &refused)], "");
        assert!(page.status == 303 && page.headers["location"].to_str().unwrap().starts_with("/login"), "{page:?}");
    }
}

#[test]
fn a_cookie_is_worth_what_its_role_is() {
    let world = World::new();
    let gone = format!("{}_gone", world.database);
    world.sql(&format!(
        "SET password_encryption = 'scram-sha-256'; CREATE ROLE {gone} LOGIN PASSWORD 'x'; GRANT {gone} TO workflow_gateway; \
         SELECT wf_grant_usage('{gone}')"
    ));
    let cookie = log_in(&world.url, &format!("role={gone}&password=x"));
    let status = || ask(&world.url, &cookie).status;
    assert_eq!(status(), 200);
    world.sql(&format!("REVOKE {gone} FROM workflow_gateway"));
    assert_eq!(status(), 401);
    world.sql(&format!("GRANT {gone} TO workflow_gateway"));
    assert_eq!(status(), 200);
    world.sql(&format!("DROP OWNED BY {gone}; DROP ROLE {gone}"));
    assert_eq!(status(), 401);
}

#[test]
fn a_session_ends_with_the_password_or_the_key_that_it_began_with() {
    let world = World::new();
    let role = format!("{}_changing", world.database);
    world.sql(&format!(
        "SET password_encryption = 'scram-sha-256'; CREATE ROLE {role} LOGIN PASSWORD 'x'; GRANT {role} TO workflow_gateway; \
         SELECT wf_grant_usage('{role}')"
    ));
    let by_password = log_in(&world.url, &format!("role={role}&password=x"));
    let by_key = log_in(&world.url, &format!("key={}", world.key(&role)));
    assert_eq!([&by_password, &by_key].map(|cookie| ask(&world.url, cookie).status), [200, 200]);
    world.sql(&format!("SET password_encryption = 'scram-sha-256'; ALTER ROLE {role} PASSWORD 'y'"));
    wait_until("the session of the old password has ended", || ask(&world.url, &by_password).status == 401);
    assert_eq!(ask(&world.url, &by_key).status, 200);
    world.forget_keys();
    assert_eq!(ask(&world.url, &by_key).status, 401);
    world.sql(&format!("DROP OWNED BY {role}; DROP ROLE {role}"));
}

#[test]
fn acting_as_another_role_does_not_prolong_a_session() {
    let world = World::new();
    let own = line();
    let gateway = with_keys(&world, &[&own]);
    let cookie = log_in(&gateway.url, "role=ada&password=lovelace");
    let headers = [FORM[0], FORM[1], ("Cookie", &cookie)];
    let chosen = send("POST", &format!("{}/role", gateway.url), &headers, "role=clerks");
    let changed = chosen.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let (before, after) = (opened(&own, &cookie), opened(&own, &changed));
    assert_eq!((&after["login"], &after["role"]), (&json!("ada"), &json!("clerks")));
    assert_eq!((&after["ends"], &after["proof"]), (&before["ends"], &before["proof"]));
    assert_eq!(ask(&gateway.url, &changed).status, 200);
}

/// Another role with the same name is not the one that logged in.
#[test]
fn a_cookie_is_of_the_role_that_logged_in() {
    let world = World::new();
    let role = format!("{}_reborn", world.database);
    let create = format!("CREATE ROLE {role}; GRANT {role} TO workflow_gateway; SELECT wf_grant_usage('{role}')");
    world.sql(&create);
    let cookie = log_in(&world.url, &format!("key={}", world.key(&role)));
    assert_eq!(ask(&world.url, &cookie).status, 200);
    world.sql(&format!("DROP OWNED BY {role}; DROP ROLE {role}; {create}"));
    assert_eq!(ask(&world.url, &cookie).status, 401);
    world.sql(&format!("DROP OWNED BY {role}; DROP ROLE {role}"));
}

#[test]
fn a_browser_forgets_its_cookie_when_it_logs_out() {
    let world = World::new();
    let cookie = log_in(&world.url, "role=ada&password=lovelace");
    let out = world.send("POST", "/logout", &[FORM[0], FORM[1], ("Cookie", &cookie)], "");
    assert_eq!((out.status, &out.headers["location"]), (303, &"/login".parse().unwrap()));
    let set = out.headers["set-cookie"].to_str().unwrap();
    assert!(set.starts_with(&format!("{NAME}=")) && set.contains("Max-Age=0") && set.contains("Path=/"), "{set}");
    assert_eq!(ask(&world.url, set.split(';').next().unwrap()).status, 401);
    // Sessions are not stored, so a copy of a cookie is valid until it expires.
    assert_eq!(ask(&world.url, &cookie).status, 200);
}

/// A cookie that a browser sends with a request from another site's page has no effect.
#[test]
fn a_cookie_from_another_site_does_nothing() {
    let world = World::new();
    let cookie = log_in(&world.url, "role=ada&password=lovelace");
    world.sql("SET ROLE ada; SELECT wf_define('{\"definitionId\": \"x\", \"root\": {\"type\": \"RunTask\", \"id\": \"t\", \"taskName\": \"x\"}}'); SELECT wf_start('x')");
    let task = world.value("SELECT task_id::text FROM workflow.open_tasks").unwrap();
    let complete = |headers: &[(&str, &str)]| {
        let headers = [&[("Cookie", cookie.as_str()), ("Content-Type", "application/json")], headers].concat();
        world.send("POST", &format!("/elsa/api/tasks/{task}/complete"), &headers, "{\"result\": 1}").status
    };
    let other_port = format!("{}0", world.url);
    for headers in [
        &[][..],
        &[("Sec-Fetch-Site", "cross-site")],
        &[("Sec-Fetch-Site", "same-site")],
        &[("Sec-Fetch-Site", "none")],
        &[("Sec-Fetch-Site", "")],
        &[("Sec-Fetch-Site", "cross-site"), ("Origin", &world.url)],
        &[("Origin", "null")],
        &[("Origin", "https://evil.example")],
        &[("Origin", &other_port)],
        &[("Origin", &world.url.replace("http:", "https:"))],
        &[("Referer", &world.url)],
    ] {
        assert_eq!(complete(headers), 403, "{headers:?}");
    }
    assert_eq!(world.value("SELECT status FROM workflow.tasks").as_deref(), Some("Open"));
    assert_eq!(complete(&[("Origin", &world.url)]), 200);
    // A key is proof, because no browser sends it on its own.
    let key = format!("ApiKey {}", world.key("ada"));
    assert_eq!(complete(&[("Sec-Fetch-Site", "cross-site"), ("Authorization", &key)]), 409);
}
