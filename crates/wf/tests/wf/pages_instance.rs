//! Incidents and the page of an instance, with its actions, in a browser.

use crate::pages_inbox::{Browser, location, sql, unescaped};
use crate::support::World;

const EVIL: &str = "<img src=x onerror=alert(1)>\"'&";

/// An instance of `ada` that waits for an event, in version 1 of a definition that has variables and two more versions.
fn waiting(world: &World) -> String {
    let definition = |id: &str| {
        format!(
            r#"SELECT wf_define('{{"definitionId": "order", "variables": [{{"name": "Amount", "typeName": "Int32", "value": 7}}], "outputs": [{{"name": "Answer"}}],
                "root": [{{"id": "{id}", "type": "Event", "eventName": "Paid", "result": {{"output": "Answer"}}}}]}}')"#
        )
    };
    world.sql(&format!("SET ROLE ada; {}; SELECT wf_start('order', correlation_id => 'o-1');", definition("paid")));
    world.sql(&format!("SET ROLE ada; {}; {}", definition("settled"), definition("paid")));
    world.value("SELECT instance_id::text FROM workflow.instance_list").expect("a row")
}

/// An instance of `ada` that is faulted because a table is missing.
fn faulted(world: &World) -> String {
    world.sql(
        r#"SET ROLE ada; SELECT wf_define('{"definitionId": "post", "root": {"id": "post", "type": "Sql", "statement": "INSERT INTO ledger VALUES (1)"}}');
        SELECT wf_start('post', on_fault => 'store')"#,
    );
    world.value("SELECT instance_id::text FROM workflow.open_incidents").expect("a row")
}

fn state(world: &World, id: &str) -> String {
    world.value(&format!("SELECT sub_status FROM workflow.instance_list WHERE instance_id = '{id}'")).expect("a row")
}

#[test]
fn incidents_are_listed_and_retried() {
    let world = World::new();
    let (ada, ben) = (Browser::ada(&world), Browser::ben(&world));
    assert!(ada.page("/incidents").contains("There are no open incidents"));
    let id = faulted(&world);
    let page = unescaped(&ada.page("/incidents"));
    for part in [
        &format!("href=\"/instances/{id}\""),
        "relation \"ledger\" does not exist",
        "42P01",
        &format!("/instances/{id}/retry?activity=post"),
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    assert!(!ben.page("/incidents").contains(&id));
    for page in ["0", "-1", "x", "99999999999999999999", "200"] {
        ada.page(&format!("/incidents?page={page}"));
    }
    let retry = format!("/instances/{id}/retry");
    let page = ada.page(&format!("{retry}?activity=post"));
    assert!(page.contains("value=\"post\""));
    assert_eq!(
        sql(&page, "SQL of “Retry”"),
        format!("SELECT sub_status FROM wf_retry('{id}'::uuid, ARRAY['post'], on_fault => 'store');")
    );
    let again = ada.post(&retry, &[("do", "perform"), ("activity", "post")]);
    assert_eq!(location(&again), format!("/instances/{id}?done=faulted"));
    let unknown = ada.post(&retry, &[("do", "perform"), ("activity", "nonsense")]);
    assert!(
        unknown.status == 404 && unknown.text.contains("value=\"nonsense\"") && unknown.text.contains("role=\"alert\""),
        "{unknown:?}"
    );
    let refused = ben.post(&retry, &[("do", "perform")]);
    assert!(refused.status == 403 && refused.text.contains("permission denied"), "{refused:?}");
    world.sql("CREATE TABLE ledger (amount integer); GRANT INSERT ON ledger TO ada");
    let done = ada.post(&retry, &[("do", "perform")]);
    assert_eq!(location(&done), format!("/instances/{id}?done=retry"));
    assert!(ada.page(location(&done)).contains("The faulted activities ran again."));
    assert_eq!(ada.post(&retry, &[("do", "perform")]).status, 409);
}

#[test]
fn newest_incidents_come_first_in_bounded_pages() {
    let world = World::new();
    faulted(&world);
    world.sql("SET ROLE ada; SELECT wf_start('post', on_fault => 'store') FROM generate_series(1, 50)");
    let newest = world
        .value(
            "SELECT instance_id::text FROM workflow.open_incidents ORDER BY created_at DESC, incident_id DESC LIMIT 1",
        )
        .unwrap();
    let ada = Browser::ada(&world);
    let (first, second) = (ada.page("/incidents"), ada.page("/incidents?page=2"));
    let shown = |page: &str| page.matches("<li id=").count();
    assert_eq!((shown(&first), shown(&second)), (50, 1));
    assert!(first.contains(&newest) && first.contains("rel=\"next\"") && !second.contains("rel=\"next\""));
}

#[test]
fn an_instance_shows_its_picture_story_and_values() {
    let world = World::new();
    let id = waiting(&world);
    let (ada, ben) = (Browser::ada(&world), Browser::ben(&world));
    let address = format!("/instances/{id}");
    let page = ada.page(&address);
    let bookmark = world.value("SELECT bookmark_id::text FROM workflow.waiting").unwrap();
    for part in [
        "Suspended",
        "order, version 1",
        "o-1",
        &format!("<img src=\"{address}/picture.svg\""),
        "order, version 1, correlation id o-1: Suspended",
        "<th scope=\"row\">paid <span",
        "<span class=\"pill busy\">waiting</span>",
        &format!(" data-instance=\"{id}\">"),
        "<th scope=\"row\">Amount</th><td><pre>7</pre>",
        &format!("{address}/resume?bookmark={bookmark}"),
        &format!("{address}/migrate"),
        &format!("/workflows{address}/view"),
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    let picture = ada.get(&format!("{address}/picture.svg"));
    assert!(picture.status == 200 && picture.text.starts_with("<svg"), "{picture:?}");
    let header = |name: &str| picture.headers[name].to_str().unwrap();
    assert_eq!(header("content-type"), "image/svg+xml");
    assert_eq!(header("content-security-policy"), "sandbox; default-src 'none'; style-src 'unsafe-inline'");
    for path in [
        address.clone(),
        format!("{address}/cancel"),
        "/instances/nonsense".to_owned(),
        "/instances/nonsense/cancel".to_owned(),
    ] {
        assert_eq!(ben.get(&path).status, 404, "{path}");
    }
    assert_eq!(ben.get(&format!("{address}/picture.svg")).status, 403);
    assert_eq!(ada.get(&format!("{address}/explode")).status, 404);
    let nobody = world.send("GET", &format!("{address}/picture.svg"), &[], "");
    assert!(location(&nobody).starts_with("/login"));
}

/// The journal keeps 251 executions of activities: a loop, and its rounds.
#[test]
fn a_long_timeline_is_on_pages() {
    let world = World::new();
    world.sql(
        r#"SET ROLE ada; SELECT wf_define('{"definitionId": "rounds", "root": {"id": "rounds", "type": "For", "start": 1, "end": 250,
            "body": {"id": "say", "type": "WriteLine", "text": "hello"}}}');
        SELECT wf_start('rounds')"#,
    );
    let id = world.value("SELECT instance_id::text FROM workflow.instance_list").unwrap();
    let (ada, ben) = (Browser::ada(&world), Browser::ben(&world));
    let rows = |page: &str| page.matches("<svg class=\"bar").count();
    let page = ada.page(&format!("/instances/{id}"));
    assert!(rows(&page) == 50 && page.contains("The latest 50 of 251 executions"), "{page}");
    let timeline = format!("/instances/{id}/timeline");
    assert!(page.contains(&timeline), "{page}");
    let earlier = format!("{timeline}?upto=51");
    let latest = ada.page(&timeline);
    assert!(rows(&latest) == 200 && latest.contains(&earlier) && !latest.contains(">rounds <"), "{latest}");
    let first = ada.page(&earlier);
    assert!(rows(&first) == 51 && first.contains(">rounds <") && !first.contains("rel=\"prev\""), "{first}");
    assert_eq!(rows(&ada.page(&format!("{timeline}?upto=x"))), 200);
    assert_eq!(rows(&ada.page(&format!("{timeline}?upto=-1"))), 0);
    assert_eq!(ben.get(&timeline).status, 404);
}

#[test]
fn a_timeline_says_who_resumed_an_activity() {
    let world = World::new();
    let id = waiting(&world);
    world.sql("SELECT wf_grant('order', 'ben', '{read,resume}')");
    let (ada, ben) = (Browser::ada(&world), Browser::ben(&world));
    let bookmark = world.value("SELECT bookmark_id::text FROM workflow.waiting").unwrap();
    let resumed = ben.post(&format!("/instances/{id}/resume"), &[("do", "perform"), ("bookmark", &bookmark)]);
    assert_eq!(location(&resumed), format!("/instances/{id}?done=resume"));
    for page in [ada.page(&format!("/instances/{id}")), ada.page(&format!("/instances/{id}/timeline"))] {
        assert!(
            page.contains("resumed by ben") && page.contains("<span class=\"pill good\">completed</span>"),
            "{page}"
        );
        assert!(!page.contains(">waiting<"), "{page}");
    }
}

#[test]
fn children_are_on_pages() {
    let world = World::new();
    world.sql(
        r#"SET ROLE ada; SELECT wf_define('{"definitionId": "ask", "root": [{"type": "RunTask", "taskName": "Ask"}]}');
        SELECT wf_define(jsonb_build_object('definitionId', 'many', 'root', jsonb_build_object('type', 'BulkDispatchWorkflows',
            'workflowDefinitionId', 'ask', 'items', (SELECT jsonb_agg(n) FROM generate_series(1, 120) n), 'waitForCompletion', true)));
        SELECT wf_start('many')"#,
    );
    let id = world.value("SELECT instance_id::text FROM workflow.instance_list WHERE definition_id = 'many'").unwrap();
    let child = "SELECT max(instance_id::text) FROM workflow.instance_list WHERE definition_id = 'ask'";
    let last = world.value(child).unwrap();
    let (ada, ben) = (Browser::ada(&world), Browser::ben(&world));
    let rows = |page: &str| page.matches("<td data-name=\"Correlation id\">").count();
    let page = ada.page(&format!("/instances/{id}"));
    let children = format!("/instances/{id}/children");
    assert!(rows(&page) == 20 && page.contains(&format!("<a href=\"{children}\">All children</a>")), "{page}");
    let first = ada.page(&children);
    assert!(rows(&first) == 100 && !first.contains(&last), "{first}");
    let (_, next) = first.split_once("rel=\"next\" href=\"").expect("a next page");
    let second = ada.page(next.split('"').next().unwrap());
    let of_last = format!("<a href=\"/instances/{last}\">ask</a>");
    assert!(rows(&second) == 20 && second.contains(&of_last) && !second.contains("rel=\"next\""), "{second}");
    let page = ada.page(&format!("/instances/{last}"));
    assert!(page.contains(&format!("<a href=\"/instances/{id}\">")) && !page.contains("id=\"children\""), "{page}");
    assert!(ada.page(&format!("/instances/{last}/children")).contains("This instance has no children"));
    assert_eq!(ben.get(&children).status, 404);
}

#[test]
fn an_instance_is_paused_changed_and_resumed() {
    let world = World::new();
    let id = waiting(&world);
    let ada = Browser::ada(&world);
    let address = |action: &str| format!("/instances/{id}/{action}");
    let perform =
        |action: &str, pairs: &[(&str, &str)]| ada.post(&address(action), &[&[("do", "perform")], pairs].concat());

    let paused = perform("pause", &[("reason", "it's late"), ("children", "yes")]);
    assert_eq!(location(&paused), format!("/instances/{id}?done=pause"));
    assert!(unescaped(&ada.page(location(&paused))).contains("by ada: it's late"));
    assert!(location(&perform("pause", &[])).ends_with("?done=nothing"));
    let bookmark = world.value("SELECT bookmark_id::text FROM workflow.waiting").unwrap();
    let refused = perform("resume", &[("bookmark", &bookmark), ("input", "[1]")]);
    assert!(refused.status == 409 && refused.text.contains("[1]</textarea>"), "{refused:?}");
    assert!(location(&perform("unpause", &[])).ends_with("?done=unpause"));
    assert_eq!(perform("unpause", &[]).status, 409);

    for (name, value, status) in [
        ("Amount", "\"x\"", 400),
        ("Amount", "{", 400),
        ("Amount", "", 400),
        ("", "1", 400),
        ("Nothing", "1", 404),
        ("Amount", "\u{0}", 400),
    ] {
        let refused = perform("set-variable", &[("name", name), ("value", value), ("reason", "kept")]);
        assert!(refused.status == status && refused.text.contains("value=\"kept\""), "{name} {value:?}: {refused:?}");
    }
    assert!(location(&perform("set-variable", &[("name", "Amount"), ("value", "8")])).ends_with("?done=set-variable"));
    assert_eq!(world.value("SELECT variables ->> 'Amount' FROM workflow.instance_list").as_deref(), Some("8"));

    for (bookmark, status) in [("nonsense", 400), ("", 400), ("00000000-0000-7000-8000-000000000000", 404)] {
        assert_eq!(perform("resume", &[("bookmark", bookmark)]).status, status, "{bookmark}");
    }
    world.sql("SET ROLE ada; SELECT wf_start('order')");
    let foreign =
        world.value(&format!("SELECT bookmark_id::text FROM workflow.waiting WHERE instance <> '{id}'")).unwrap();
    let refused = perform("resume", &[("bookmark", &foreign)]);
    assert!(refused.status == 404 && refused.text.contains("there is no bookmark of this instance"), "{refused:?}");
    let resumed = perform("resume", &[("bookmark", &bookmark), ("input", "{\"paid\": 1.10}")]);
    assert!(location(&resumed).ends_with("?done=resume"));
    assert_eq!(
        world
            .value(&format!("SELECT output ->> 'Answer' FROM workflow.instance_list WHERE instance_id = '{id}'"))
            .as_deref(),
        Some("{\"paid\": 1.10}")
    );
    assert_eq!(perform("resume", &[("bookmark", &bookmark)]).status, 409, "twice");
    assert!(location(&perform("cancel", &[("reason", "too late")])).ends_with("?done=nothing"));
    let page = ada.page(&format!("/instances/{id}"));
    assert!(page.contains("It has ended.") && !page.contains("data-instance"), "{page}");
}

#[test]
fn a_migration_has_its_dry_run_first() {
    let world = World::new();
    let id = waiting(&world);
    let ada = Browser::ada(&world);
    let address = format!("/instances/{id}/migrate");
    let button = "value=\"perform\"";
    let page = ada.page(&address);
    assert!(!page.contains(button) && page.contains("Dry run") && page.contains("3, 2"), "{page}");
    let dry = ada.post(&address, &[("do", "preview"), ("version", "2")]);
    assert!(
        dry.status == 200 && dry.text.contains("version 2 does not have it") && !dry.text.contains(button),
        "{dry:?}"
    );
    let refused = ada.post(&address, &[("do", "perform"), ("version", "2")]);
    assert!(refused.status == 400 && refused.text.contains("version 2 does not have it"), "{refused:?}");
    let mapped = [("version", "2"), ("mapping", "{\"paid\": \"settled\"}"), ("timers", "anew")];
    let dry = ada.post(&address, &[&[("do", "preview")], &mapped[..]].concat());
    assert!(
        dry.text.contains(button) && dry.text.contains("{&#34;paid&#34;: &#34;settled&#34;}</textarea>"),
        "{dry:?}"
    );
    assert_eq!(world.value("SELECT version::text FROM workflow.instance_list").as_deref(), Some("1"), "a dry run");
    for (version, mapping, status) in
        [("7", "", 404), ("x", "", 400), ("99999999999", "", 400), ("2", "[", 400), ("2", "7", 400), ("", "", 400)]
    {
        for step in ["preview", "perform"] {
            let wrong = ada.post(&address, &[("do", step), ("version", version), ("mapping", mapping)]);
            assert_eq!(wrong.status, status, "{version} {mapping}: {wrong:?}");
        }
    }
    let done = ada.post(&address, &[&[("do", "perform")], &mapped[..]].concat());
    assert_eq!(location(&done), format!("/instances/{id}?done=migrate"));
    assert_eq!(world.value("SELECT version::text FROM workflow.instance_list").as_deref(), Some("2"));
}

#[test]
fn sql_of_an_action_does_the_same() {
    let world = World::new();
    let id = waiting(&world);
    let ada = Browser::ada(&world);
    let bookmark = world.value("SELECT bookmark_id::text FROM workflow.waiting").unwrap();
    let shown = |action: &str, title: &str, pairs: &[(&str, &str)]| {
        let answer = ada.post(&format!("/instances/{id}/{action}"), &[&[("do", "preview")], pairs].concat());
        assert_eq!(answer.status, 200, "{answer:?}");
        sql(&answer.text, title)
    };
    let run = |sql: String| world.sql(&format!("SET ROLE ada; {sql}"));
    let pause = shown("pause", "SQL of “Pause”", &[("reason", "it's \\ odd")]);
    assert_eq!(world.value("SELECT paused_at::text FROM workflow.instance_list"), None, "shown, not done");
    run(pause);
    assert_eq!(world.value("SELECT pause_reason FROM workflow.instance_list").as_deref(), Some("it's \\ odd"));
    run(shown("unpause", "SQL of “Unpause”", &[]));
    run(shown("set-variable", "SQL of “Set”", &[("name", "Amount"), ("value", "9")]));
    assert_eq!(world.value("SELECT variables ->> 'Amount' FROM workflow.instance_list").as_deref(), Some("9"));
    run(shown("migrate", "SQL of “Migrate”", &[("version", "3")]));
    assert_eq!(world.value("SELECT version::text FROM workflow.instance_list").as_deref(), Some("3"));
    run(shown("resume", "SQL of “Resume”", &[("bookmark", &bookmark), ("input", "\"it's \\\\\"")]));
    assert_eq!(world.value("SELECT output ->> 'Answer' FROM workflow.instance_list").as_deref(), Some("it's \\"));
    world.sql("SET ROLE ada; SELECT wf_start('order', instance_id => '01900000-0000-7000-8000-000000000001')");
    let other = ada.page("/instances/01900000-0000-7000-8000-000000000001/cancel");
    run(sql(&other, "SQL of “Cancel the instance”"));
    assert_eq!(state(&world, "01900000-0000-7000-8000-000000000001"), "Cancelled");
}

#[test]
fn what_a_role_may_not_do_is_refused_with_the_words_of_the_database() {
    let world = World::new();
    let id = waiting(&world);
    world.sql("SELECT wf_grant('order', 'ben', '{read}')");
    let ben = Browser::ben(&world);
    ben.page(&format!("/instances/{id}"));
    let bookmark = world.value("SELECT bookmark_id::text FROM workflow.waiting").unwrap();
    for (action, pairs) in [
        ("cancel", &[][..]),
        ("pause", &[]),
        ("resume", &[("bookmark", bookmark.as_str())]),
        ("set-variable", &[("name", "Amount"), ("value", "1")]),
        ("migrate", &[("version", "3")]),
    ] {
        let refused = ben.post(&format!("/instances/{id}/{action}"), &[&[("do", "perform")], pairs].concat());
        let words = if action == "migrate" {
            "must be owner of the definition of workflow instance"
        } else {
            "permission denied"
        };
        assert!(refused.status == 403 && refused.text.contains(words), "{action}: {refused:?}");
    }
    assert_eq!(state(&world, &id), "Suspended");
    // The acting role counts, not the user who has logged in.
    let mut clerk = Browser::ada(&world);
    clerk.act_as("clerks");
    assert_eq!(clerk.get(&format!("/instances/{id}")).status, 404);
    assert_eq!(clerk.post(&format!("/instances/{id}/cancel"), &[("do", "perform")]).status, 403);
    let foreign =
        world.send("POST", &format!("/instances/{id}/cancel"), &[("Sec-Fetch-Site", "cross-site")], "do=perform");
    assert_eq!(foreign.status, 403);
}

/// A role that starts another role's workflow sees its outcome, and may cancel it.
#[test]
fn the_requester_of_an_instance_sees_its_outcome() {
    let world = World::new();
    world.sql(
        r#"SET ROLE ada; SELECT wf_define('{"definitionId": "request", "name": "Request", "variables": {"Limit": "hidden limit"}, "inputs": [{"name": "Amount"}],
            "outputs": [{"name": "Answer"}], "root": [{"type": "SetOutput", "outputName": "Answer", "outputValue": "noted"},
            {"id": "secretStep", "type": "Sql", "statement": "INSERT INTO ledger VALUES (1)"}]}');
        SELECT wf_grant('request', 'ben', '{start}');
        RESET ROLE; SET ROLE ben; SELECT wf_start('request', '{"Amount": 12}', on_fault => 'store')"#,
    );
    let id = world.value("SELECT instance_id::text FROM workflow.instance_list").unwrap();
    let (ada, ben) = (Browser::ada(&world), Browser::ben(&world));
    let address = format!("/instances/{id}");
    let theirs = unescaped(&ada.page(&address));
    for part in [
        "Request, version 1",
        "hidden limit",
        "secretStep",
        "id=\"story\"",
        "id=\"timeline\"",
        &format!("{address}/retry"),
    ] {
        assert!(theirs.contains(part), "{part} in {theirs}");
    }
    let page = unescaped(&ben.page(&address));
    for part in
        ["has started this workflow of another role", "Faulted", "42P01", "noted", "12", &format!("{address}/cancel")]
    {
        assert!(page.contains(part), "{part} in {page}");
    }
    for part in [
        "hidden limit",
        "secretStep",
        "id=\"story\"",
        "id=\"timeline\"",
        "data-instance",
        "id=\"waiting\"",
        "/retry",
        "/pause",
        "/set-variable",
        "/migrate",
        "/view",
    ] {
        assert!(!page.contains(part), "{part} in {page}");
    }
    let incidents = ben.page("/incidents");
    assert!(incidents.contains("42P01") && !incidents.to_lowercase().contains("retr"), "{incidents}");
    assert_eq!(location(&ben.get(&format!("/workflows{address}/view"))), address);
    assert_eq!(ben.get(&format!("{address}/picture.svg")).status, 403);
    assert_eq!(ben.get(&format!("{address}/timeline")).status, 403);
    let cancelled = ben.post(&format!("{address}/cancel"), &[("do", "perform")]);
    assert_eq!(location(&cancelled), format!("{address}?done=cancel"));
    assert_eq!(state(&world, &id), "Cancelled");
    assert!(ben.page(&address).contains("It has ended."));
}

/// `wf_retry` is refused if a fault has ended the instance, or if it is paused.
#[test]
fn a_retry_is_offered_where_it_does_something() {
    let world = World::new();
    world.sql(
        r#"SET ROLE ada; SELECT wf_define('{"definitionId": "quiet", "options": {"journal": "none"}, "root": {"id": "post", "type": "Sql", "statement": "INSERT INTO ledger VALUES (1)"}}');
        SELECT wf_start('quiet', on_fault => 'store')"#,
    );
    let id = world.value("SELECT instance_id::text FROM workflow.open_incidents").expect("a row");
    let ada = Browser::ada(&world);
    let retry = format!("/instances/{id}/retry");
    let pages = [format!("/instances/{id}"), "/incidents".to_owned()];
    for path in &pages {
        assert!(ada.page(path).contains(&retry), "{path}: it does not need the journal");
    }
    world.sql(&format!("SET ROLE ada; SELECT wf_pause('{id}')"));
    for path in &pages {
        assert!(!ada.page(path).contains(&retry), "{path} of a paused instance");
    }
    assert_eq!(ada.post(&retry, &[("do", "perform")]).status, 409);
}

#[test]
fn names_values_and_errors_of_instances_are_text() {
    let world = World::new();
    let definition = serde_json::json!({"definitionId": EVIL, "variables": {"Evil": EVIL}, "root": [
        {"id": "evil", "name": EVIL, "type": "Event", "eventName": EVIL}, {"id": "fault", "type": "Fault", "message": EVIL}]});
    world.sql(&format!("SET ROLE ada; SELECT wf_define($json${definition}$json$); SELECT wf_start($json${EVIL}$json$, correlation_id => $json${EVIL}$json$, name => $json${EVIL}$json$)"));
    let id = world.value("SELECT instance_id::text FROM workflow.instance_list").unwrap();
    let ada = Browser::ada(&world);
    let mut pages = vec![
        ada.page(&format!("/instances/{id}")),
        ada.page(&format!("/instances/{id}/set-variable?name=%3Cimg%20src=x%3E")),
    ];
    pages.push(
        ada.post(&format!("/instances/{id}/set-variable"), &[("do", "perform"), ("name", EVIL), ("value", EVIL)]).text,
    );
    let picture = ada.get(&format!("/instances/{id}/picture.svg")).text;
    let bookmark = world.value("SELECT bookmark_id::text FROM workflow.waiting").unwrap();
    let faulted = ada.post(&format!("/instances/{id}/resume"), &[("do", "perform"), ("bookmark", &bookmark)]);
    assert_eq!(location(&faulted), format!("/instances/{id}?done=faulted"));
    pages.extend([ada.page(&format!("/instances/{id}")), ada.page("/incidents")]);
    for page in &pages {
        assert!(!page.contains("<img src=x") && page.contains("&#60;img"), "{page}");
    }
    assert!(!picture.contains("<img"), "{picture}");
}

/// An action that the role may not perform is not offered, and a request for it is refused with the reason.
#[test]
fn only_what_the_role_may_do_is_offered() {
    let world = World::new();
    let (waiting, faulted) = (waiting(&world), faulted(&world));
    world.sql("SET ROLE ada; SELECT wf_grant('order', 'ben', '{read}'), wf_grant('post', 'ben', '{read}')");
    let (ada, ben) = (Browser::ada(&world), Browser::ben(&world));
    let offered = |browser: &Browser<'_>, page: &str| -> Vec<&str> {
        let page = browser.page(page);
        let all = ["retry", "pause", "set-variable", "migrate", "resume", "cancel"];
        let is_offered =
            |name: &&str| page.contains(&format!("{waiting}/{name}")) || page.contains(&format!("{faulted}/{name}"));
        all.into_iter().filter(is_offered).collect()
    };
    let of = |id: &str| format!("/instances/{id}");
    assert_eq!(offered(&ada, &of(&waiting)), ["pause", "set-variable", "migrate", "resume", "cancel"]);
    assert_eq!(offered(&ada, &of(&faulted)), ["retry", "pause", "set-variable", "cancel"]);
    assert_eq!(offered(&ada, "/incidents"), ["retry"]);
    let nothing: [&str; 0] = [];
    assert_eq!(offered(&ben, &of(&waiting)), nothing);
    assert_eq!(offered(&ben, "/incidents"), nothing);
    let page = ben.page(&of(&faulted));
    assert!(page.contains("ben may see this instance, and not change it.") && page.contains(", of ada"), "{page}");
    assert!(!ben.page("/incidents").contains("cannot be retried"));
    let refused = ben.post(&format!("/instances/{faulted}/retry"), &[("do", "perform")]);
    assert!(refused.status == 403 && refused.text.contains("permission denied"), "{refused:?}");

    world.sql("SET ROLE ada; SELECT wf_grant('order', 'ben', '{resume}'), wf_grant('post', 'ben', '{resume,alter}')");
    assert_eq!(offered(&ben, &of(&waiting)), ["resume", "cancel"]);
    assert_eq!(offered(&ben, "/incidents"), ["retry"]);
    assert_eq!(offered(&ben, &of(&faulted)), ["retry", "pause", "set-variable", "cancel"]);
}
