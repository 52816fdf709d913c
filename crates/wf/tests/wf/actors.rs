//! Who did what: besides the role, the audit has the user, or the note of the API key.

use serde_json::json;

use crate::pages_inbox::Browser;
use crate::support::{Api, World};

/// Starts the definition, and returns the id of the instance.
fn start(client: &Api) -> String {
    let request = json!({ "versionOptions": "Published" });
    let run = client.post("/workflow-definitions/approve/execute", &request).ok();
    run["workflowState"]["id"].as_str().expect("an id").to_owned()
}

/// Role, login role and actor of the only act of this kind.
fn who(world: &World, instance: &str, kind: &str) -> String {
    let act = format!(
        "SELECT concat_ws(' / ', role, login, COALESCE(actor, 'no actor')) FROM workflow.audit \
         WHERE instance_id = '{instance}' AND kind = '{kind}'"
    );
    world.value(&act).expect("an act")
}

#[test]
fn the_user_is_on_record_where_the_gateway_may_say_so() {
    let world = World::new();
    world.sql(
        r#"SET ROLE ada;
        SELECT wf_define('{"definitionId": "approve", "root": {"id": "ask", "type": "RunTask", "taskName": "Approve"}}');
        SELECT wf_grant('approve', 'clerks', '{start,resume,read}')"#,
    );
    let plain = world.client("ada");
    let before = start(&plain);
    assert_eq!(who(&world, &before, "start"), "ada / workflow_gateway / no actor");

    // No other test reads actors, so these roles may keep the grant.
    world.sql("GRANT SET ON PARAMETER workflow.actor TO workflow_gateway");
    let id = start(&plain);
    assert_eq!(who(&world, &id, "start"), "ada / workflow_gateway / ada");
    let key = world.key_with_note("ada", "payroll <nightly>");
    let noted = start(&world.client_with(key.clone()));
    assert_eq!(who(&world, &noted, "start"), "ada / workflow_gateway / payroll <nightly>");

    // A user who acts as a role of which he is a member keeps his name, and so does a session that began with a key.
    let mut ada = Browser::ada(&world);
    ada.act_as("clerks");
    let cancel = |browser: &Browser<'_>, id: &str| {
        let answer = browser.post(&format!("/instances/{id}/cancel"), &[("do", "perform"), ("reason", "twice")]);
        assert_eq!(answer.status, 303, "{answer:?}");
    };
    cancel(&ada, &id);
    assert_eq!(who(&world, &id, "cancel"), "clerks / workflow_gateway / ada");
    cancel(&Browser::with_key(&world, &key), &noted);
    assert_eq!(who(&world, &noted, "cancel"), "ada / workflow_gateway / payroll <nightly>");

    // The instance's page and Studio's journal show it.
    let page = ada.page(&format!("/instances/{noted}"));
    for part in [
        "Started by</dt><dd>payroll &#60;nightly&#62; (ada)",
        "<td>payroll &#60;nightly&#62; (ada)</td><td>cancel</td><td>twice</td>",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    let journal = plain.get(&format!("/workflow-instances/{id}/journal")).ok();
    let sources: Vec<_> =
        journal["items"].as_array().expect("items").iter().map(|item| item["source"].clone()).collect();
    assert!(sources.contains(&json!("ada (ada)")) && sources.contains(&json!("ada (clerks)")), "{sources:?}");
}
