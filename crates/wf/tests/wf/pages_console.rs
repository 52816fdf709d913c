//! The pages for those on duty.

use crate::metrics::create_roles;
use crate::pages_inbox::{Browser, location, sql, unescaped};
use crate::support::{Answer, World, wait_until};

/// An instance of ada's that waits at a task, and two that are faulted.
fn work(world: &World) {
    world.sql(
        r#"SET ROLE ada;
        SELECT wf_define('{"definitionId": "ask", "root": {"id": "ask", "type": "RunTask", "taskName": "Approve"}}');
        SELECT wf_define('{"definitionId": "post", "root": {"id": "post", "type": "Sql", "statement": "INSERT INTO ledger VALUES (1)"}}');
        SELECT wf_start('ask'), wf_start('post', on_fault => 'store'), wf_start('post', on_fault => 'store')"#,
    );
}

/// Whether the page shows a number with a label.
fn shows(page: &str, number: &str, label: &str) -> bool {
    page.contains(&format!(">{number}</strong> <span>{label}</span>"))
}

#[test]
fn the_overview_of_a_monitor_has_the_numbers_of_wf_metrics() {
    let world = World::new();
    create_roles();
    work(&world);
    let watcher = Browser::with_key(&world, &world.key("watcher"));
    let page = watcher.page("/overview");
    assert!(page.contains("The numbers of the whole database"), "{page}");
    for (name, label) in [
        ("workflow_open_incidents", "open incidents"),
        ("workflow_dead_letters", "dead letters"),
        ("workflow_failed_schedules", "schedules whose last run failed"),
        ("workflow_task_open", "open tasks"),
        ("workflow_task_limits_full", "limits of tasks that are full"),
        ("workflow_queued_stimuli", "stored stimuli"),
    ] {
        let sql = format!("SELECT coalesce(sum(value), 0)::bigint::text FROM wf_metrics() WHERE name = '{name}'");
        let number = world.value(&sql).unwrap();
        assert!(shows(&page, &number, label), "{number} {label} in {page}");
    }
    assert!(shows(&page, "2", "open incidents") && shows(&page, "1", "open tasks"), "{page}");
    for part in [">Approve</a></th><td data-name=\"Open\">1</td>", "<th scope=\"row\">post</th>"] {
        assert!(page.contains(part), "{part} in {page}");
    }
    // It reads numbers, and no instance.
    assert!(watcher.page("/incidents").contains("There are no open incidents"));
}

/// The first look at the numbers says nothing of their past.
#[test]
fn the_overview_of_a_monitor_has_charts_of_what_it_has_read() {
    let world = World::new();
    create_roles();
    work(&world);
    let (ada, watcher) = (Browser::ada(&world), Browser::with_key(&world, &world.key("watcher")));
    let page = watcher.page("/overview");
    assert!(page.contains("Charts of the last hour begin when") && !page.contains("class=\"chart"), "{page}");
    world.sql("SET ROLE ada; SELECT wf_start('ask'), wf_start('ask')");
    let page = watcher.page("/overview");
    assert!(shows(&page, "2", "instances started") && shows(&page, "0", "instances faulted"), "{page}");
    assert!(page.matches("<svg class=\"chart").count() == 4 && page.contains("in a minute<"), "{page}");
    let page = ada.page("/overview");
    assert!(!page.contains("class=\"chart") && !page.contains("Charts of the last hour"), "{page}");
}

#[test]
fn the_overview_of_others_has_what_they_may_read() {
    let world = World::new();
    work(&world);
    let (ada, ben) = (Browser::ada(&world), Browser::ben(&world));
    let page = ada.page("/overview");
    assert!(shows(&page, "2", "open incidents") && shows(&page, "1", "open tasks"), "{page}");
    assert!(!page.contains("whole database, as") && !page.contains("SQL of this list"), "{page}");
    let page = ben.page("/overview");
    assert!(shows(&page, "0", "open incidents") && shows(&page, "0", "open tasks"), "{page}");
    assert!(ada.developer().page("/overview").contains("FROM workflow.open_incidents"));
}

/// Those who have nothing to operate have no menu entry for it.
#[test]
fn the_console_is_in_the_menu_of_those_who_operate() {
    let world = World::new();
    create_roles();
    work(&world);
    let has_entry = |browser: &Browser| browser.page("/inbox").contains("href=\"/overview\"");
    let watcher = Browser::with_key(&world, &world.key("watcher"));
    assert!(has_entry(&Browser::ada(&world)) && has_entry(&watcher));
    let ben = Browser::ben(&world);
    assert!(!has_entry(&ben) && has_entry(&ben.developer()));
    let page = Browser::ada(&world).page("/workers");
    let menu = page.split("</nav>").next().unwrap();
    assert!(menu.contains("<a href=\"/overview\" aria-current=\"page\">"), "{menu}");
}

#[test]
fn workers_and_limits_are_listed() {
    let world = World::new();
    world.sql("SET ROLE ada; SELECT wf_limit_tasks('Pick', 2, 10, '1 minute', key => 'customer')");
    let page = Browser::ada(&world).page("/workers");
    for part in [">Pick</a>", ">customer</td>", ">2</td>", ">10 in 00:01:00</td>", ">ada</td>"] {
        assert!(page.contains(part), "{part} in {page}");
    }
    let page = Browser::ben(&world).developer().page("/workers");
    assert!(!page.contains("Pick") && page.contains("No limits."), "{page}");
    assert!(page.contains("FROM workflow.workers w") && page.contains("FROM workflow.task_limits l"), "{page}");
}

/// Three orders of ada's, of which two have the same number and one has a name like a formula.
fn orders(world: &World) {
    world.sql(
        r#"SET ROLE ada;
        SELECT wf_define('{"definitionId": "order", "options": {"searchAttributes": {"no": {"input": "no"}, "total": {"input": "total"}}},
            "root": {"id": "sent", "type": "Event", "eventName": "Sent"}}');
        SELECT wf_start('order', '{"no": "4711", "total": 10}', 'first'), wf_start('order', '{"no": "4711", "total": 20}', 'second'),
            wf_start('order', '{"no": "4712", "total": 30}', 'third', '=1+1')"#,
    );
}

#[test]
fn instances_are_found_by_search_attributes() {
    let world = World::new();
    orders(&world);
    let (ada, ben) = (Browser::ada(&world), Browser::ben(&world));
    let found = |browser: &Browser, query: &str| {
        let page = browser.page(&format!("/search?{query}"));
        ["first", "second", "third"].map(|id| page.contains(&format!(">{id}</")))
    };
    assert_eq!(found(&ada, ""), [true, true, true]);
    assert_eq!(found(&ada, "attribute=no%3D4711"), [true, true, false]);
    assert_eq!(found(&ada, "attribute=total%3D15..25"), [false, true, false]);
    assert_eq!(found(&ada, "attribute=total%3D20.."), [false, true, true]);
    assert_eq!(found(&ada, "attribute=no%3D4711&status=Finished"), [false, false, false]);
    assert_eq!(found(&ada, "q=third&definition=order"), [false, false, true]);
    assert_eq!(found(&ben, ""), [false, false, false]);
    assert_eq!(found(&ben, "attribute=no%3D4711"), [false, false, false]);
    let wrong = ada.get("/search?attribute=4711");
    assert!(wrong.status == 400 && wrong.text.contains("is written as name=value"), "{wrong:?}");
    let wrong = ada.get("/search?status=Nothing");
    assert!(wrong.status == 400 && unescaped(&wrong.text).contains("unknown entry \"Nothing\""), "{wrong:?}");
    assert!(ada.developer().page("/search").contains("FROM workflow.instance_page("));
}

#[test]
fn the_list_of_instances_is_a_file_without_formulas() {
    let world = World::new();
    orders(&world);
    let file = Browser::ada(&world).get("/search?attribute=total%3D20..&format=csv");
    let disposition = file.headers["content-disposition"].to_str().expect("text");
    assert_eq!((file.status, disposition), (200, "attachment; filename=\"instances.csv\""));
    let lines: Vec<Vec<&str>> = file.text.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| {
        let at = lines[0].iter().position(|title| *title == name).unwrap();
        lines[1..].iter().map(|line| line[at]).collect::<Vec<_>>()
    };
    assert_eq!(column("correlation_id"), ["third", "second"]);
    assert_eq!(column("name"), ["'=1+1", ""]);
    assert_eq!(column("sub_status"), ["Suspended", "Suspended"]);
    let file = Browser::ben(&world).get("/search?format=csv");
    assert_eq!((file.status, file.text.lines().count()), (200, 1));
}

/// Instances of ada's with three causes: a missing table, a division by zero, and what a `Fault` says, with a number.
fn faults(world: &World) {
    world.sql(
        r#"SET ROLE ada;
        SELECT wf_define('{"definitionId": "post", "root": {"id": "post", "type": "Sql", "statement": "INSERT INTO ledger VALUES (1)"}}');
        SELECT wf_define('{"definitionId": "divide", "root": {"id": "divide", "type": "Sql", "statement": "SELECT 1 / 0"}}');
        SELECT wf_define('{"definitionId": "pay", "root": {"id": "pay", "type": "Fault", "message": {"js": "`order ${getInput(''n'')} is too dear`"}}}');
        SELECT wf_start('post', on_fault => 'store') FROM generate_series(1, 3);
        SELECT wf_start('divide', on_fault => 'store') FROM generate_series(1, 2);
        SELECT wf_start('pay', jsonb_build_object('n', n), on_fault => 'store') FROM generate_series(1, 2) n"#,
    );
}

/// The address that begins so, of a link on a page.
fn link(page: &str, start: &str) -> String {
    let page = unescaped(page);
    let at = page.find(&format!("href=\"{start}")).unwrap_or_else(|| panic!("{start} in {page}"));
    page[at..].split('"').nth(1).unwrap().to_owned()
}

/// Sends the form of a page for many objects, whose fields are those of its address.
fn send_form(browser: &Browser, address: &str) -> Answer {
    let (path, query) = address.split_once('?').unwrap();
    browser.send("POST", path, query)
}

fn open_incidents(world: &World, definition: &str) -> String {
    let sql = format!("SELECT count(*)::text FROM workflow.open_incidents WHERE definition_id = '{definition}'");
    world.value(&sql).unwrap()
}

#[test]
fn incidents_of_one_cause_are_retried_and_no_others() {
    let world = World::new();
    faults(&world);
    let ada = Browser::ada(&world);
    let list = ada.page("/incidents");
    for (message, number) in
        [("relation &#34;ledger&#34; does not exist", 3), ("is too dear", 2), ("division by zero", 2)]
    {
        let row = list.split("<tr>").find(|row| row.contains(message)).unwrap_or_else(|| panic!("{message} in {list}"));
        assert!(row.contains(&format!("<td data-name=\"Incidents\">{number}</td>")), "{row}");
    }
    let of_post = link(&list, "/incidents?definition=post");
    assert_eq!(ada.page(&of_post).matches("<li id=").count(), 3);
    let retry = link(&ada.page(&of_post), "/incidents/retry?definition=post");
    let page = ada.page(&retry);
    assert!(page.contains("incidents: <strong>3</strong>") && page.contains("Can be retried now: 3<"), "{page}");

    // The table is still missing.
    let again = send_form(&ada, &retry);
    let page = ada.page(location(&again));
    assert!(
        page.contains("3 still faulted") && page.contains("All instances with these incidents were taken."),
        "{page}"
    );
    world.sql("CREATE TABLE ledger (amount integer); GRANT INSERT ON ledger TO ada");
    let done = send_form(&ada, &retry);
    let page = ada.page(location(&done));
    assert!(page.contains(" 3 retried.") && !page.contains("still faulted"), "{page}");
    // A page that is loaded again does nothing.
    ada.page(location(&done));
    assert_eq!(world.value("SELECT count(*)::text FROM ledger").as_deref(), Some("3"));
    let left = ["post", "divide", "pay"].map(|definition| open_incidents(&world, definition));
    assert_eq!(left, ["0", "2", "2"]);
    assert!(ada.page(&of_post).contains("There are no such incidents that ada may read."));
}

#[test]
fn a_dry_run_says_what_cannot_be_retried() {
    let world = World::new();
    faults(&world);
    let (ada, ben) = (Browser::ada(&world), Browser::ben(&world));
    let id = world.value("SELECT max(instance_id::text) FROM workflow.open_incidents WHERE definition_id = 'divide'");
    world.sql(&format!("SET ROLE ada; SELECT wf_pause('{}')", id.unwrap()));
    let retry = "/incidents/retry?definition=divide&activity=divide";
    let page = ada.page(retry);
    assert!(page.contains("Can be retried now: 1<") && page.contains("they are paused: 1<"), "{page}");
    let done = send_form(&ada, retry);
    let page = ada.page(location(&done));
    for part in ["1 still faulted", "1 could not be retried", "is paused", "(55000)"] {
        assert!(page.contains(part), "{part} in {page}");
    }
    // What the page shows for SQL does the same.
    let shown = sql(&ada.page("/incidents/retry?definition=pay"), "SQL of “Retry”");
    let before = world.value("SELECT max(incident_id::text) FROM workflow.open_incidents WHERE definition_id = 'pay'");
    world.sql(&format!("SET ROLE ada; {shown}"));
    assert_eq!(open_incidents(&world, "pay"), "2");
    let after = world.value("SELECT min(incident_id::text) FROM workflow.open_incidents WHERE definition_id = 'pay'");
    assert!(after > before, "{shown}");

    assert!(ben.page(retry).contains("There are no such incidents that ben may retry."));
    assert_eq!(location(&send_form(&ben, retry)), retry);
    world.sql("SELECT wf_grant('pay', 'ben', '{read}')");
    let page = ben.page("/incidents/retry?definition=pay");
    assert!(page.contains("ben may not retry them: 2<"), "{page}");
    let page = ben.page(location(&send_form(&ben, "/incidents/retry?definition=pay")));
    assert!(page.contains("2 could not be retried") && page.contains("(42501)"), "{page}");
    assert_eq!(open_incidents(&world, "pay"), "2");
    let refused = ada.post("/incidents/retry", &[("definition", "")]);
    assert!(refused.status == 400 && refused.text.contains("a definition is required"), "{refused:?}");
    assert_eq!(location(&ada.get("/incidents/retry?activity=pay")), "/incidents?activity=pay");
}

fn schedule(world: &World, condition: &str) -> String {
    world.value(&format!("SELECT schedule_id::text FROM workflow.schedules WHERE {condition}")).unwrap()
}

#[test]
fn schedules_are_listed_paused_and_run() {
    let world = World::new();
    let (ada, ben) = (Browser::ada(&world), Browser::ben(&world));
    assert!(ada.page("/schedules").contains("There are no schedules that ada may read."));
    world.sql(
        "SET ROLE ada;
        SELECT wf_schedule('purge', '0 3 29 2 *', 'DELETE FROM log');
        SELECT wf_schedule('tidy', '@yearly', 'SELECT 1', active => false)",
    );
    let list = ada.page("/schedules");
    let places = [">purge</a>", "DELETE FROM log", "0 3 29 2 *", ">tidy</a> <span class=\"pill warn\">paused<"];
    let places = places.map(|part| list.find(part).unwrap_or_else(|| panic!("{part} in {list}")));
    assert!(places.is_sorted(), "{list}");
    for (query, purge, tidy) in [
        ("?state=paused", false, true),
        ("?q=LOG", true, false),
        ("?q=log&state=paused", false, false),
        ("?state=due", false, false),
        ("?state=nonsense&order=nonsense&page=x", true, true),
        ("?order=next", true, true),
        ("?order=last&page=1", true, true),
        ("?page=200", false, false),
    ] {
        let list = ada.page(&format!("/schedules{query}"));
        assert_eq!((list.contains(">purge</a>"), list.contains(">tidy</a>")), (purge, tidy), "{query}: {list}");
    }
    assert!(ada.page("/schedules?q=nothing").contains("Nothing found."));
    assert!(ben.page("/schedules").contains("There are no schedules that ben may read."));

    let address = format!("/schedules/{}", schedule(&world, "name = 'purge'"));
    let page = unescaped(&ada.page(&address));
    assert!(
        page.contains("No run yet.") && page.contains("29 Feb") && page.contains("wf_schedule_run_now('purge')"),
        "{page}"
    );
    let act = |browser: &Browser, action: &str| browser.post(&address, &[("do", action)]);
    let paused = act(&ada, "pause");
    assert_eq!(location(&paused), format!("{address}?done=pause"));
    let page = ada.page(location(&paused));
    assert!(
        page.contains("The schedule is paused")
            && page.contains("value=\"resume\"")
            && !page.contains("value=\"pause\""),
        "{page}"
    );
    assert_eq!(schedule(&world, "name = 'purge' AND NOT active"), address["/schedules/".len()..]);
    assert!(ada.page(location(&act(&ada, "resume"))).contains("The schedule runs again"));
    for (browser, action, status) in [(&ben, "pause", 404), (&ada, "explode", 400)] {
        assert_eq!(act(browser, action).status, status, "{action}");
    }
    assert_eq!(ben.get(&address).status, 404);
    assert_eq!(ada.get("/schedules/nonsense").status, 404);

    // There is no such table.
    assert!(ada.page(location(&act(&ada, "run"))).contains("An additional run is due now"));
    wait_until("the run has failed", || {
        world.sql("SET ROLE ada; SELECT wf_run_due()");
        world.value("SELECT last_status FROM workflow.schedules WHERE name = 'purge'").as_deref() == Some("failed")
    });
    let failed = unescaped(&ada.page("/schedules?state=failed"));
    assert!(failed.contains("relation \"log\" does not exist") && !failed.contains(">tidy</a>"), "{failed}");
    assert!(shows(&ada.page("/overview"), "1", "schedules whose last run failed"));
    let run = world.value("SELECT instance_id::text FROM workflow.schedule_runs").unwrap();
    assert!(ada.page(&address).contains(&format!("<a href=\"/instances/{run}\">")));
}

/// Functions find a schedule by its name, and take the role's own first.
#[test]
fn a_button_changes_no_other_schedule_of_the_same_name() {
    let world = World::new();
    for owner in ["ada", "clerks"] {
        world.sql(&format!("SET ROLE {owner}; SELECT wf_schedule('purge', '0 3 29 2 *', 'SELECT 1')"));
    }
    let ada = Browser::ada(&world);
    let address_of = |owner: &str| {
        let condition = format!("name = 'purge' AND owner = '{owner}'");
        format!("/schedules/{}", schedule(&world, &condition))
    };
    let (own, other) = (address_of("ada"), address_of("clerks"));
    let page = ada.page(&other);
    assert!(page.contains("act as clerks to change this one") && !page.contains("value=\"pause\""), "{page}");
    let refused = ada.post(&other, &[("do", "pause")]);
    assert!(refused.status == 400 && refused.text.contains("is not unique"), "{refused:?}");
    let active = "SELECT count(*)::text FROM workflow.schedules WHERE active";
    assert_eq!(world.value(active).as_deref(), Some("2"));
    ada.page(location(&ada.post(&own, &[("do", "pause")])));
    schedule(&world, "owner = 'ada' AND NOT active");
    world.sql("SET ROLE ada; SELECT wf_unschedule('purge')");
    ada.page(location(&ada.post(&other, &[("do", "pause")])));
    schedule(&world, "owner = 'clerks' AND NOT active");
}

/// It has no name by which a function could change it.
#[test]
fn a_trigger_of_a_definition_changes_with_the_definition() {
    let world = World::new();
    world.sql(
        r#"SET ROLE ada; SELECT wf_define('{"definitionId": "tick", "root": [
            {"type": "Cron", "cronExpression": "0 18 29 2 *", "canStartWorkflow": true}, {"type": "WriteLine", "text": "tick"}]}')"#,
    );
    let ada = Browser::ada(&world);
    assert!(ada.page("/schedules").contains("starts tick"));
    let address = format!("/schedules/{}", schedule(&world, "definition_id = 'tick'"));
    let page = ada.page(&address);
    assert!(page.contains("changes with the definition") && !page.contains("value=\"pause\""), "{page}");
    assert_eq!(ada.post(&address, &[("do", "pause")]).status, 400);
}

/// Three events of ada's that expired before something received them; now an instance waits for the first.
fn lost_events(world: &World) {
    world.sql("SET ROLE ada; SELECT wf_publish_event('Paid', correlation_id => 'o-' || n, keep_for => '1 day') FROM generate_series(1, 3) n");
    world.sql("UPDATE workflow.bookmark_queue SET expires_at = created_at");
    wait_until("the events have expired", || {
        world.sql("SET ROLE ada; SELECT wf_run_due()");
        world.value("SELECT count(*)::text FROM workflow.dead_letters").as_deref() == Some("3")
    });
    world.sql(
        r#"SET ROLE ada;
        SELECT wf_define('{"definitionId": "order", "root": {"id": "paid", "type": "Event", "eventName": "Paid"}}');
        SELECT wf_start('order', correlation_id => 'o-1')"#,
    );
}

#[test]
fn dead_letters_are_listed_and_replayed() {
    let world = World::new();
    let (ada, ben) = (Browser::ada(&world), Browser::ben(&world));
    assert!(ada.page("/dead-letters").contains("There are no dead letters that ada may read."));
    lost_events(&world);
    let list = ada.page("/dead-letters");
    for part in ["Paid <span", "· o-1<", ">Expired</span>", "stimulus of ada", "Replay all that match"] {
        assert!(list.contains(part), "{part} in {list}");
    }
    for (query, is_found) in
        [("?reason=Expired", true), ("?reason=Gone", false), ("?definition=order", false), ("?at=x&after=y", true)]
    {
        let list = ada.page(&format!("/dead-letters{query}"));
        assert_eq!(list.contains("· o-1<"), is_found, "{query}: {list}");
        assert_eq!(list.contains("Nothing found."), !is_found, "{query}: {list}");
    }
    assert!(ben.page("/dead-letters").contains("There are no dead letters that ben may read."));
    // The address of a later page is that of the whole file as well.
    let file = ada.page(
        "/dead-letters?reason=Expired&format=csv&at=2000-01-01T00:00:00Z&after=00000000-0000-7000-8000-000000000000",
    );
    assert!(file.lines().count() == 4 && file.contains(",stimulus,Paid,Expired,"), "{file}");
    assert!(shows(&ada.page("/overview"), "3", "dead letters"));

    let id = world.value("SELECT id::text FROM workflow.dead_letters WHERE correlation_id = 'o-1'").unwrap();
    let replay = |browser: &Browser, id: &str| browser.post("/dead-letters", &[("id", id), ("reason", "Expired")]);
    let refused = replay(&ben, &id);
    assert!(matches!(refused.status, 403 | 404), "{refused:?}");
    assert_eq!(replay(&ada, "nonsense").status, 404);
    let done = replay(&ada, &id);
    assert_eq!(location(&done), "/dead-letters?reason=Expired&done=delivered");
    assert!(ada.page(location(&done)).contains("It is delivered."));
    let status = world.value("SELECT sub_status FROM workflow.instance_list WHERE correlation_id = 'o-1'");
    assert_eq!(status.as_deref(), Some("Finished"));
    let twice = replay(&ada, &id);
    assert!(twice.status == 409 && twice.text.contains("role=\"alert\""), "{twice:?}");
    assert!(!ada.page("/dead-letters").contains("· o-1<") && ada.page("/dead-letters?all=yes").contains("· o-1<"));

    // The others, which nothing receives yet.
    let all = "/dead-letters/replay?reason=Expired";
    let page = ada.page(all);
    assert!(
        page.contains("Dead letters to replay: <strong>2</strong>") && page.contains(">Replay 2</button>"),
        "{page}"
    );
    assert!(sql(&page, "SQL of “Replay”").contains("wf_replay(c.dead_letter_id)"), "{page}");
    let nothing = ben.page(all);
    assert!(nothing.contains("There are no such dead letters that ben may read."), "{nothing}");
    assert_eq!(location(&send_form(&ben, all)), all);
    let done = send_form(&ada, all);
    for _ in 0..2 {
        let page = ada.page(location(&done));
        assert!(page.contains("2 stored or due") && page.contains("All of them were taken."), "{page}");
    }
    assert_eq!(world.value("SELECT count(*)::text FROM workflow.bookmark_queue").as_deref(), Some("2"));
}

#[test]
fn each_dead_letter_is_on_one_page() {
    let world = World::new();
    lost_events(&world);
    // All at the same time.
    world.sql(
        "INSERT INTO workflow.dead_letters (id, reason, sender, attempts, created_at, dead_at, name)
        SELECT gen_random_uuid(), 'Failed', d.sender, 3, d.created_at, d.dead_at, 'Elsa.Event'
        FROM (SELECT * FROM workflow.dead_letters LIMIT 1) d CROSS JOIN generate_series(1, 100)",
    );
    let ada = Browser::ada(&world);
    let (mut address, mut ids, mut sizes) = ("/dead-letters".to_owned(), Vec::new(), Vec::new());
    loop {
        let page = ada.page(&address);
        let found: Vec<String> =
            page.split("name=\"id\" value=\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect();
        sizes.push(found.len());
        ids.extend(found);
        if !page.contains("rel=\"next\"") {
            break;
        }
        address = link(&page[page.find("rel=\"next\"").unwrap()..], "/dead-letters");
    }
    ids.sort();
    ids.dedup();
    assert_eq!((ids.len(), sizes), (103, vec![50, 50, 3]));
}
