//! The page with the audit, and lists as files.

use std::collections::BTreeSet;

use crate::pages_inbox::{Browser, location, unescaped};
use crate::support::World;

/// Two instances of ada's that wait, the first of which she has paused. Returns its id.
fn work(world: &World, ada: &Browser<'_>) -> String {
    world.sql(
        r#"SET ROLE ada;
        SELECT wf_define('{"definitionId": "ask", "root": {"id": "ask", "type": "RunTask", "taskName": "Approve"}}');
        SELECT wf_start('ask', correlation_id => 'a-1'), wf_start('ask', correlation_id => 'a-2')"#,
    );
    let first = "SELECT instance_id::text FROM workflow.instance_list WHERE correlation_id = 'a-1'";
    let instance = world.value(first).unwrap();
    let paused =
        ada.post(&format!("/instances/{instance}/pause"), &[("do", "perform"), ("reason", "=HYPERLINK(\"late\")")]);
    assert_eq!(location(&paused), format!("/instances/{instance}?done=pause"));
    instance
}

#[test]
fn the_audit_is_searched_by_person_action_object_and_time() {
    let world = World::new();
    let (ada, ben) = (Browser::ada(&world), Browser::ben(&world));
    assert!(ada.page("/audit").contains("There are no acts that ada may read."));
    let instance = work(&world, &ada);
    let page = unescaped(&ada.page("/audit"));
    for part in [
        "<th scope=\"row\">ada",
        &format!("<a href=\"/instances/{instance}\">ask</a> <span class=\"quiet small\">a-1</span>"),
        "reason: =HYPERLINK(\"late\")",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    let of_instance = format!("?object={instance}");
    for (query, acts) in [
        ("?action=start", 2),
        ("?action=Pause", 1),
        ("?action=start&object=a-1", 1),
        ("?action=start&definition=ask", 2),
        ("?action=start&definition=as", 0),
        (of_instance.as_str(), 2),
        ("?who=ADA&action=pause", 1),
        ("?who=%27", 0),
        ("?action=start&from=2000-01-01T00:00&to=2999-01-01T00:00", 2),
        ("?action=start&from=2999-01-01T00:00", 0),
        ("?action=start&to=2000-01-01T00:00", 0),
        ("?action=start&from=yesterday&upto=nonsense&skip=-1", 2),
        ("?action=start&upto=2999-01-01T00:00:00Z&skip=18446744073709551615", 0),
    ] {
        let page = ada.page(&format!("/audit{query}"));
        assert_eq!(page.matches("<td data-name=\"Action\">").count(), acts, "{query}: {page}");
        assert_eq!(page.contains("Nothing found."), acts == 0, "{query}: {page}");
    }
    assert!(ben.page("/audit").contains("There are no acts that ben may read."));
    assert!(ada.page(&format!("/instances/{instance}")).contains(&format!("href=\"/audit?object={instance}\"")));
}

/// Acts have no id, and many can have one time.
#[test]
fn each_act_is_on_one_page() {
    let world = World::new();
    let ada = Browser::ada(&world);
    work(&world, &ada);
    world.sql(
        "INSERT INTO workflow.audit_log (at, kind, definition_id, owner, role, detail)
        SELECT d.at, 'grant', d.definition_id, d.owner, d.role, jsonb_build_object('n', n)
        FROM (SELECT * FROM workflow.audit_log WHERE kind = 'define' LIMIT 1) d CROSS JOIN generate_series(1, 120) n",
    );
    let (mut address, mut details, mut sizes) = ("/audit?action=grant".to_owned(), BTreeSet::new(), Vec::new());
    loop {
        let page = unescaped(&ada.page(&address));
        let shown = page.split("<td data-name=\"Details\">").skip(1);
        let found: Vec<String> = shown.map(|rest| rest.split('<').next().unwrap().to_owned()).collect();
        sizes.push(found.len());
        details.extend(found);
        let Some((_, next)) = page.split_once("rel=\"next\" href=\"") else { break };
        address = next.split('"').next().unwrap().to_owned();
    }
    assert_eq!((details.len(), sizes), (120, vec![50, 50, 20]));
    let file = ada.page("/audit?action=grant&format=csv");
    assert_eq!(file.lines().count(), 121, "{file}");
}

/// A large journal is read when the visitor asks for it.
#[test]
fn a_large_journal_is_not_read_by_itself() {
    let world = World::new();
    let ada = Browser::ada(&world);
    work(&world, &ada);
    world.sql("UPDATE pg_class SET reltuples = 1e6 WHERE oid = 'workflow.execution_log'::regclass");
    let page = ada.page("/audit");
    assert!(page.contains("The journal of this database is large.") && !page.contains("a-1"), "{page}");
    assert!(page.contains("href=\"/audit?list=all\""), "{page}");
    for query in ["?list=all", "?object=a-1"] {
        assert!(ada.page(&format!("/audit{query}")).contains("a-1"), "{query}");
    }
}

#[test]
fn lists_are_files_without_formulas() {
    let world = World::new();
    let (ada, ben) = (Browser::ada(&world), Browser::ben(&world));
    let instance = work(&world, &ada);
    world.sql(
        r#"SET ROLE ada;
        SELECT wf_define('{"definitionId": "wrong", "root": {"id": "wrong", "type": "Fault", "message": "=1+1"}}');
        SELECT wf_start('wrong', on_fault => 'store');
        SELECT wf_schedule('purge', '0 3 29 2 *', 'SELECT 1, 2')"#,
    );
    let of_instance = format!("/audit?object={instance}&format=csv");
    for (address, name, lines, part) in [
        ("/incidents?format=csv", "incidents.csv", 2, ",'=1+1,"),
        ("/incidents?definition=ask&format=csv", "incidents.csv", 1, "sqlstate"),
        ("/schedules?format=csv", "schedules.csv", 2, ",\"SELECT 1, 2\","),
        ("/schedules?q=nothing&format=csv", "schedules.csv", 1, "time zone"),
        ("/dead-letters?format=csv", "dead-letters.csv", 1, "dead since"),
        (of_instance.as_str(), "audit.csv", 3, "reason: =HYPERLINK(\"\"late\"\")"),
    ] {
        let answer = ada.get(address);
        let header = |name: &str| answer.headers[name].to_str().unwrap();
        assert_eq!(header("content-type"), "text/csv; charset=utf-8; header=present", "{answer:?}");
        assert_eq!(header("content-disposition"), format!("attachment; filename=\"{name}\""));
        assert_eq!(answer.text.lines().count(), lines, "{answer:?}");
        assert!(answer.text.contains(part), "{part} in {answer:?}");
        assert_eq!(ben.page(address).lines().count(), 1, "{address}");
    }
    assert!(ada.page("/incidents?definition=wrong").contains("href=\"/incidents?definition=wrong&#38;format=csv\""));
}
