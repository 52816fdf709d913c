//! The roles as which a user may act: from PostgreSQL 16 on, a membership can lack SET.

use serde_json::json;

use crate::pages_inbox::Browser;
use crate::support::World;

/// Whether the page offers the role, and whether the gateway switches to it.
fn acts_as(world: &World, role: &str) -> (bool, bool) {
    let ben = Browser::ben(world);
    let is_offered = ben.page("/inbox").contains(role);
    let answer = ben.post("/role", &[("role", role), ("next", "/inbox")]);
    assert!([303, 401].contains(&answer.status), "{answer:?}");
    (is_offered, answer.status == 303)
}

#[test]
fn who_may_not_set_a_role_does_not_act_as_it() {
    let world = World::new();
    let version: u32 =
        world.value("SELECT current_setting('server_version_num')").expect("a version").parse().expect("a number");
    let role = format!("auditors_{}", world.database);
    world.sql(&format!("CREATE ROLE {role}; SELECT wf_grant_usage('{role}'); GRANT {role} TO workflow_gateway"));
    assert_eq!(acts_as(&world, &role), (false, false), "no member");
    world.sql(&format!("GRANT {role} TO ben"));
    assert_eq!(acts_as(&world, &role), (true, true));

    // A browser may act as the role. Its next request is refused when the membership lacks SET.
    let mut ben = Browser::ben(&world);
    ben.act_as(&role);
    assert_eq!(ben.get("/inbox").status, 200);
    if version >= 160_000 {
        world.sql(&format!("GRANT {role} TO ben WITH SET FALSE, INHERIT TRUE"));
        assert_eq!(acts_as(&world, &role), (false, false), "WITH SET FALSE");
        assert_ne!(ben.get("/inbox").status, 200);
        // Inherited permissions apply under his own role.
        world.sql(&format!(
            r#"SET ROLE {role}; SELECT wf_define('{{"definitionId": "audit", "root": []}}'); RESET ROLE"#
        ));
        let own = world.client("ben");
        assert_eq!(own.get("/workflow-definitions").ok()["items"][0]["definitionId"], json!("audit"));
        world.sql(&format!("GRANT {role} TO ben WITH SET TRUE, INHERIT FALSE"));
        assert_eq!(acts_as(&world, &role), (true, true), "WITH SET TRUE, INHERIT FALSE");
        world.sql("SELECT wf_delete_definition('audit')");
    } else {
        world.sql(&format!("REVOKE {role} FROM ben"));
        assert_ne!(ben.get("/inbox").status, 200);
    }
    world.sql(&format!("SELECT wf_revoke_usage('{role}'); REVOKE {role} FROM ben, workflow_gateway CASCADE"));
}
