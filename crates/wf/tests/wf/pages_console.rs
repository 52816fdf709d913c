//! The pages for those on duty.

use crate::metrics::create_roles;
use crate::pages_inbox::Browser;
use crate::support::World;

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
