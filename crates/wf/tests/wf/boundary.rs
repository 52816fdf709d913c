//! A workflow's SQL keeps the role of its request, and leaves nothing behind for the next request on the same
//! connection.

use serde_json::{Value, json};

use crate::support::{Api, World};

/// Attempts to leave the role `ada`, each a statement of a workflow. They may fail or do nothing.
const ESCAPES: &[&str] = &[
    "RESET ROLE",
    "SET ROLE NONE",
    "SET ROLE ben",
    "SET LOCAL ROLE ben",
    "SET SESSION AUTHORIZATION ben",
    "RESET SESSION AUTHORIZATION",
    "SELECT set_config('role', 'ben', false)",
    "SELECT set_config('role', 'none', true)",
    "SELECT set_config('session_authorization', 'ben', false)",
    "DO $$ BEGIN RESET ROLE; END $$",
    "DO $$ BEGIN EXECUTE 'SET ROLE ben'; EXCEPTION WHEN OTHERS THEN SET ROLE ben; END $$",
    "SELECT ada.leave()",
    "SELECT ada.leave_by_clause()",
    "INSERT INTO ada.deferred VALUES (1)",
    "DISCARD ALL",
    "RESET ALL",
    "DEALLOCATE ALL",
    "PREPARE s0 AS SELECT 'ada was here'",
    "DECLARE kept CURSOR WITH HOLD FOR SELECT ada.leave()",
    "LISTEN ada_listens",
    "SELECT pg_advisory_lock(42)",
    "CREATE TEMP TABLE pg_class_of_ada AS SELECT 'ada' AS x",
    "CREATE FUNCTION pg_temp.current_database() RETURNS text LANGUAGE sql AS $$ SELECT 'ada' $$",
    "SET search_path = ada, pg_catalog",
    "SET standard_conforming_strings = off",
    "SET client_encoding = 'LATIN1'",
    "SET statement_timeout = 1",
    "SET default_transaction_read_only = on",
    "SET bytea_output = escape",
    "SET DateStyle = German",
    "SET session_replication_role = replica",
    "ALTER ROLE ben SUPERUSER",
    "ALTER ROLE workflow_gateway SET role = ben",
    "GRANT ben TO ada",
];

/// What ada has prepared. The functions record in `ada.seen` as whom they ran after the attempts.
const PREPARED: &str = "
    CREATE SCHEMA ada AUTHORIZATION ada;
    CREATE TABLE ada.seen (who text);
    GRANT INSERT ON ada.seen TO PUBLIC;
    GRANT USAGE ON SCHEMA ada TO PUBLIC;
    CREATE TABLE ada.deferred (id integer);
    ALTER TABLE ada.deferred OWNER TO ada;
    SET ROLE ada;
    CREATE FUNCTION ada.leave() RETURNS text LANGUAGE plpgsql AS $$
        BEGIN
            BEGIN RESET ROLE; EXCEPTION WHEN OTHERS THEN NULL; END;
            BEGIN SET ROLE ben; EXCEPTION WHEN OTHERS THEN NULL; END;
            BEGIN PERFORM set_config('session_authorization', 'ben', false); EXCEPTION WHEN OTHERS THEN NULL; END;
            INSERT INTO ada.seen VALUES (current_user);
            RETURN current_user;
        END $$;
    CREATE FUNCTION ada.leave_by_clause() RETURNS text LANGUAGE sql SET role = 'ben' AS $$ SELECT current_user $$;
    CREATE FUNCTION ada.at_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM ada.leave(); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON ada.deferred DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION ada.at_commit();
    RESET ROLE;";

/// What a request finds in its session.
const PROBE: &str = "SELECT jsonb_build_object(
    'user', current_user, 'session', session_user, 'settings', (SELECT jsonb_object_agg(name, setting) FROM pg_settings WHERE source = 'session' AND name <> 'role'),
    'path', current_setting('search_path'), 'strings', current_setting('standard_conforming_strings'), 'encoding', current_setting('client_encoding'),
    'timeout', current_setting('statement_timeout'), 'cursors', (SELECT count(*) FROM pg_cursors WHERE is_holdable),
    'statements', (SELECT count(*) FROM pg_prepared_statements WHERE from_sql), 'listens', (SELECT count(*) FROM pg_listening_channels()),
    'locks', (SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory' AND objid = 42),
    'temporary', (SELECT count(*) FROM pg_class WHERE relnamespace = pg_my_temp_schema() AND relkind = 'r'),
    'functions', (SELECT count(*) FROM pg_proc WHERE pronamespace = pg_my_temp_schema()))";

fn define(world: &World, role: &str, id: &str, statement: &str) {
    let document = json!({"definitionId": id, "outputs": [{"name": "Seen", "type": "Object"}], "root": [
        {"type": "Workflow.Sql", "id": "run", "statement": statement, "result": {"var": "Seen"}},
        {"type": "SetOutput", "outputName": "Seen", "outputValue": {"js": "variables.Seen"}}], "variables": {"Seen": null}});
    world.sql(&format!("SET ROLE {role}; SELECT wf_define($define${document}$define$)"));
}

/// Runs a definition through the gateway, and returns its output.
fn run(world: &World, api: &Api, id: &str) -> Value {
    let answer = api.post(&format!("/workflow-definitions/{id}/execute"), &json!({}));
    let Some(instance) = answer.headers.get("x-elsa-workflow-instance-id") else { return Value::Null };
    let instance = instance.to_str().unwrap();
    let output = world.value(&format!("SELECT output::text FROM workflow.instances WHERE id = '{instance}'"));
    output.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap())
}

#[test]
fn no_sql_of_a_workflow_leaves_its_role_or_anything_behind() {
    // One connection, so that each request uses that of the one before.
    let world = World::with(&["--database-connections", "1"]);
    world.sql(PREPARED);
    define(&world, "ben", "probe", PROBE);
    let (ada, ben) = (world.client("ada"), world.client("ben"));
    let before = run(&world, &ben, "probe");
    assert_eq!(before["Seen"][0]["jsonb_build_object"]["user"], "ben", "{before}");
    for (number, escape) in ESCAPES.iter().enumerate() {
        let id = format!("escape-{number}");
        define(&world, "ada", &id, escape);
        run(&world, &ada, &id);
        assert_eq!(run(&world, &ben, "probe"), before, "after {escape}");
    }
    let seen = world.value("SELECT string_agg(DISTINCT who, ' ') FROM ada.seen");
    assert_eq!(seen.as_deref(), Some("ada"), "at least one ran, and none as another role");
    assert_eq!(world.value("SELECT rolsuper::text FROM pg_roles WHERE rolname = 'ben'").as_deref(), Some("false"));
}

#[test]
fn a_role_may_have_any_name() {
    let world = World::new();
    for name in [r"o'ne", r"a\' b", r#""two" 'x'), NULL; RESET ROLE; --"#, r"\", "ünï"] {
        // Roles are shared by all databases.
        let name = format!("{name} {}", &world.database[40..]);
        let quoted = name.replace('"', "\"\"");
        let literal = name.replace('\'', "''");
        let key = world.key(&name);
        let headers = [("Authorization", &*format!("ApiKey {key}")), ("Content-Type", "application/json")];
        let save = |document: &Value| {
            world.send("POST", "/elsa/api/workflow-definitions", &headers, &document.to_string()).status
        };
        let document = json!({"model": {"definitionId": name, "name": name, "root": {"type": "Elsa.Flowchart", "id": "f"}}, "publish": false});
        assert_eq!(save(&document), 401, "{name} is no role");
        world.sql(&format!(
            "CREATE ROLE \"{quoted}\"; GRANT \"{quoted}\" TO workflow_gateway; SELECT wf_grant_usage('{literal}')"
        ));
        assert_eq!(save(&document), 200, "{name}");
        let owner = world.value("SELECT owner FROM workflow.definition_list ORDER BY created_at DESC LIMIT 1");
        assert_eq!(owner.as_ref(), Some(&name));
        world.sql(&format!("DROP OWNED BY \"{quoted}\"; DROP ROLE \"{quoted}\""));
        assert_eq!(save(&document), 401, "{name} is no role any more");
    }
}

/// Functions and operators with the names that the gateway's statements use, in a schema on the search path. They
/// record in `public.seen` as whom they ran.
fn traps(schema: &str) -> String {
    let function = |name: &str, parameters: &str, result: &str, value: &str| {
        format!(
            "CREATE FUNCTION {schema}.{name}({parameters}) RETURNS {result} LANGUAGE plpgsql AS $$ BEGIN \
             INSERT INTO public.seen VALUES ('{schema}.{name} ran as ' || current_user); RETURN {value}; END $$;"
        )
    };
    let operator = |symbol: &str, function: &str, operand: &str| {
        format!(
            "CREATE OPERATOR {schema}.{symbol} (FUNCTION = {schema}.{function}, LEFTARG = {operand}, RIGHTARG = {operand});"
        )
    };
    [
        format!("CREATE SCHEMA {schema}; GRANT USAGE ON SCHEMA {schema} TO PUBLIC;"),
        function("differs", "name, name", "boolean", "true"),
        operator("!~", "differs", "name"),
        function("equals", "text, text", "boolean", "true"),
        operator("=", "equals", "text"),
        function("overlaps", "text[], text[]", "boolean", "true"),
        operator("&&", "overlaps", "text[]"),
        function("concat_ws", "text, text, text, text, text", "text", "'trapped'"),
        function("jsonb_path_query", "jsonb, jsonpath", "jsonb", "'{}'"),
        function("count", "text", "bigint", "0"),
        function("lower", "text", "text", "'trapped'"),
        function("wf_set_role", "name", "text", "NULL"),
        function("wf_set_role", "text", "text", "NULL"),
    ]
    .concat()
}

#[test]
fn no_statement_finds_what_a_role_has_put_into_the_search_path() {
    let world = World::with(&["--database-connections", "1"]);
    world.sql("CREATE TABLE public.seen (what text); GRANT INSERT ON public.seen TO PUBLIC");
    define(&world, "ada", "plain", "SELECT 1");
    let ada = world.client("ada");
    run(&world, &ada, "plain");
    let id = world.value("SELECT id::text FROM workflow.instances").unwrap();
    // `"$user"` is the gateway's own role in its queries of the catalogue, and the user's role in the others.
    world.sql(&traps("workflow_gateway"));
    world.sql(&traps("ada"));
    let key = format!("ApiKey {}", world.key("ada"));
    for page in [
        "/inbox".to_owned(),
        "/inbox?whose=mine".to_owned(),
        "/inbox?whose=roles&q=trapped&order=deadline".to_owned(),
        "/inbox?whose=all&every=yes&order=name".to_owned(),
        "/inbox?whose=done&q=trapped".to_owned(),
        "/start?q=trapped".to_owned(),
        "/start/plain".to_owned(),
        "/requests".to_owned(),
        "/overview".to_owned(),
        "/search?q=trapped&attribute=a%3Db".to_owned(),
        "/search?definition=plain&format=csv".to_owned(),
        "/incidents".to_owned(),
        "/incidents/retry?definition=plain".to_owned(),
        "/workers".to_owned(),
        "/dead-letters?reason=Gone&definition=plain".to_owned(),
        "/dead-letters/replay?definition=plain".to_owned(),
        "/schedules?q=trapped&state=failed&order=next".to_owned(),
        "/schedules/00000000-0000-7000-8000-000000000000".to_owned(),
        format!("/instances/{id}"),
        format!("/instances/{id}/cancel"),
        "/workflows/definitions/plain/edit".to_owned(),
        "/elsa/api/workflow-definitions?searchTerm=plain".to_owned(),
        "/elsa/api/workflow-definitions/plain/export".to_owned(),
        format!("/elsa/api/workflow-instances/{id}"),
        format!("/elsa/api/workflow-instances/{id}/journal"),
    ] {
        let answer = world.send("GET", &page, &[("Authorization", &key)], "");
        assert!(answer.status < 500 || answer.status == 503 && page.contains("edit"), "{page}: {answer:?}");
    }
    assert_eq!(run(&world, &ada, "plain")["Seen"][0]["?column?"], 1);
    let model =
        json!({"model": {"definitionId": "new", "root": {"type": "Elsa.Flowchart", "id": "f"}}, "publish": true});
    ada.post("/workflow-definitions", &model).ok();
    assert_eq!(world.value("SELECT string_agg(DISTINCT what, '; ') FROM public.seen"), None);
}

#[test]
fn sql_of_a_workflow_has_the_search_path_of_its_role() {
    let world = World::new();
    world.sql(
        "CREATE SCHEMA ada AUTHORIZATION ada;
         CREATE FUNCTION ada.whose() RETURNS text LANGUAGE sql AS $$ SELECT 'ada''s' $$;
         CREATE FUNCTION public.whose() RETURNS text LANGUAGE sql AS $$ SELECT 'everybody''s' $$;",
    );
    let sql = "SELECT whose(), current_setting('search_path') AS path";
    define(&world, "ada", "path", sql);
    let found = run(&world, &world.client("ada"), "path");
    assert_eq!(found["Seen"][0], json!({"whose": "ada's", "path": "\"$user\", public"}));
}

/// A connection that an extension keeps in the session, and that no command of the gateway could close.
#[test]
fn a_session_that_may_keep_connections_serves_nobody_else() {
    let world = World::with(&["--database-connections", "1"]);
    world.sql("CREATE EXTENSION dblink");
    let host = world.server().to_owned();
    let connect =
        format!("SELECT dblink_connect('kept', '{host} dbname={} user=ada password=lovelace')", world.database);
    define(&world, "ada", "connect", &connect);
    define(&world, "ben", "find", "SELECT dblink_get_connections() AS found");
    let (ada, ben) = (world.client("ada"), world.client("ben"));
    assert_eq!(run(&world, &ada, "connect")["Seen"][0]["dblink_connect"], "OK");
    assert_eq!(run(&world, &ben, "find")["Seen"][0], json!({"found": null}));
}
