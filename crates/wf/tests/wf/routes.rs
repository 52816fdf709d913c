//! Every route from the list: without a caller, from another site, with permission, and without it. A route without a
//! case fails the run. Cases of pages are in `routes_pages.rs`.

use std::collections::BTreeSet;

use crate::routes_pages::{FRAMES, PAGES};
use crate::support::{Api, World};

/// A word in everything that ada has, and that no other role may read.
pub const SECRET: &str = "quokka";

/// Routes that need no caller: log-in and log-out, resources of pages, and probes of the process.
const OPEN: &[&str] = &[
    "GET /healthz",
    "GET /readyz",
    "GET /login",
    "GET /login/oidc",
    "GET /login/oidc/callback",
    "POST /login",
    "POST /logout",
    "POST /csp-reports",
    "POST /preferences",
    "GET /",
];

/// Files that are the same for all users: those of pages, and those of Studio.
const FILES: &[&str] = &["GET /static/", "GET /_framework/", "GET /_content/", "GET /appsettings", "GET /Elsa.Studio."];

/// Routes that neither show nor change anything of a user's.
const CONSTANT: &[&str] = &[
    "GET /elsa/api/descriptors/commit-strategies/activities",
    "GET /elsa/api/descriptors/commit-strategies/workflows",
    "GET /elsa/api/descriptors/expression-descriptors",
    "GET /elsa/api/descriptors/incident-strategies",
    "GET /elsa/api/descriptors/log-persistence-strategies",
    "GET /elsa/api/descriptors/output-converters",
    "GET /elsa/api/descriptors/storage-drivers",
    "GET /elsa/api/descriptors/variables",
    "GET /elsa/api/descriptors/workflow-activation-strategies",
    "GET /elsa/api/features/installed",
    "GET /elsa/api/package/version",
    "GET /elsa/api/resilience/strategies",
    "POST /elsa/api/descriptors/activities/{type}/options/{property}",
    "POST /elsa/api/tests/activities",
    "POST /elsa/api/bulk-actions/import/workflow-instances",
    "POST /elsa/api/workflow-definitions/import-files",
    // Plans are not stored after the answer.
    "GET /elsa/api/alterations/{id}",
    // It redirects to the instance's page.
    "GET /diagnostics/structured-logs",
    // Tested in pages_people.rs.
    "POST /substitutes",
    // Tested in pages_console.rs.
    "GET /dead-letters",
    "GET /dead-letters/replay",
    "POST /dead-letters",
    "POST /dead-letters/replay",
    "GET /schedules/{id}",
    "POST /schedules/{id}",
    // Tested in hub.rs.
    "GET /elsa/hubs/workflow-instance",
    "POST /elsa/hubs/workflow-instance/negotiate",
];

/// A route, a query, and a body. D, V, I, T and X stand for a definition of ada's, its version, an instance, its task
/// and an execution of it.
type Case = (&'static str, &'static str, &'static str);

const CASES: &[Case] = &[
    ("GET /elsa/api/activity-execution-summaries/list", "?WorkflowInstanceId=I&ActivityNodeId=Workflow1:ask", ""),
    ("GET /elsa/api/activity-executions/by-id", "?id=X", ""),
    ("GET /elsa/api/activity-executions/list", "?WorkflowInstanceId=I&ActivityNodeId=Workflow1:ask", ""),
    (
        "POST /elsa/api/activity-executions/report",
        "",
        r#"{"workflowInstanceId": "I", "activityNodeIds": ["Workflow1:ask"]}"#,
    ),
    ("GET /elsa/api/activity-executions/{id}/call-stack", "", ""),
    (
        "POST /elsa/api/alterations/submit",
        "",
        r#"{"alterations": [{"type": "Cancel"}], "filter": {"definitionIds": ["D"]}}"#,
    ),
    ("POST /elsa/api/alterations/dry-run", "", r#"{"definitionIds": ["D"]}"#),
    ("POST /elsa/api/alterations/run", "", r#"{"alterations": [{"type": "Cancel"}], "workflowInstanceIds": ["I"]}"#),
    ("POST /elsa/api/alterations/workflows/retry", "", r#"{"workflowInstanceIds": ["I"], "activityIds": null}"#),
    ("POST /elsa/api/bulk-actions/cancel/workflow-instances", "", r#"{"ids": ["I"]}"#),
    ("POST /elsa/api/bulk-actions/delete/workflow-definitions/by-definition-id", "", r#"{"definitionIds": ["D"]}"#),
    ("POST /elsa/api/bulk-actions/delete/workflow-definitions/by-id", "", r#"{"ids": ["V"]}"#),
    ("POST /elsa/api/bulk-actions/delete/workflow-instances/by-id", "", r#"{"ids": ["I"]}"#),
    ("POST /elsa/api/bulk-actions/export/workflow-definitions", "", r#"{"ids": ["V"]}"#),
    ("POST /elsa/api/bulk-actions/export/workflow-instances", "", r#"{"ids": ["I"]}"#),
    ("POST /elsa/api/bulk-actions/publish/workflow-definitions/by-definition-ids", "", r#"{"definitionIds": ["D"]}"#),
    ("POST /elsa/api/bulk-actions/retract/workflow-definitions/by-definition-ids", "", r#"{"definitionIds": ["D"]}"#),
    ("POST /elsa/api/cancel/workflow-instances/{id}", "", ""),
    ("GET /elsa/api/descriptors/activities", "", ""),
    ("POST /elsa/api/events/{name}/trigger", "", r#"{"workflowInstanceId": "I"}"#),
    ("GET /elsa/api/resilience/retries/{id}", "", ""),
    ("POST /elsa/api/scripting/javascript/type-definitions/{id}", "", ""),
    ("POST /elsa/api/tasks/{id}/complete", "", r#"{"result": "yes"}"#),
    ("DELETE /elsa/api/workflow-definition-versions/{version_id}", "", ""),
    ("GET /elsa/api/workflow-definitions", "", ""),
    (
        "POST /elsa/api/workflow-definitions",
        "",
        r#"{"model": {"definitionId": "D", "name": "taken", "root": {"type": "Elsa.WriteLine", "id": "w"}}}"#,
    ),
    ("GET /elsa/api/workflow-definitions/by-definition-id/{definition_id}", "", ""),
    ("GET /elsa/api/workflow-definitions/by-id/{version_id}", "", ""),
    (
        "POST /elsa/api/workflow-definitions/import",
        "",
        r#"{"definitionId": "D", "root": {"type": "Elsa.WriteLine", "id": "w"}}"#,
    ),
    ("GET /elsa/api/workflow-definitions/many-by-id", "?ids=V", ""),
    ("GET /elsa/api/workflow-definitions/query/count", "", ""),
    ("GET /elsa/api/workflow-definitions/subgraph/segments/{version_id}", "?childNodeId=Workflow1:ask", ""),
    ("GET /elsa/api/workflow-definitions/subgraph/{version_id}", "", ""),
    ("GET /elsa/api/workflow-definitions/validation/is-name-unique", "?name=quokka", ""),
    ("DELETE /elsa/api/workflow-definitions/{definition_id}", "", ""),
    ("GET /elsa/api/workflow-definitions/{definition_id}/consumers", "", ""),
    ("POST /elsa/api/workflow-definitions/{definition_id}/dispatch", "", "{}"),
    ("POST /elsa/api/workflow-definitions/{definition_id}/execute", "", "{}"),
    ("GET /elsa/api/workflow-definitions/{definition_id}/export", "", ""),
    ("POST /elsa/api/workflow-definitions/{definition_id}/publish", "", "{}"),
    ("POST /elsa/api/workflow-definitions/{definition_id}/retract", "", "{}"),
    ("POST /elsa/api/workflow-definitions/{definition_id}/revert/{version}", "", ""),
    ("POST /elsa/api/workflow-definitions/{definition_id}/update-references", "", "{}"),
    ("POST /elsa/api/workflow-instances", "", r#"{"page": 0, "pageSize": 10}"#),
    ("DELETE /elsa/api/workflow-instances/{id}", "", ""),
    ("GET /elsa/api/workflow-instances/{id}", "", ""),
    ("GET /elsa/api/workflow-instances/{id}/execution-state", "", ""),
    ("GET /elsa/api/workflow-instances/{id}/export", "", ""),
    ("GET /elsa/api/workflow-instances/{id}/journal", "", ""),
    ("POST /elsa/api/workflow-instances/{id}/journal", "?skip=0&take=10", "{}"),
    ("GET /elsa/api/workflow-instances/{id}/journal/{activity}", "", ""),
    ("GET /elsa/api/workflow-instances/{id}/variables", "", ""),
];

/// Requests on ada's objects that are refused because the object is in use or there is nothing to do; a caller with
/// permission is told so.
const CONFLICTS: &[&str] = &[
    "DELETE /elsa/api/workflow-definitions/{definition_id}",
    "DELETE /elsa/api/workflow-definition-versions/{version_id}",
    "POST /elsa/api/bulk-actions/delete/workflow-definitions/by-definition-id",
    "POST /elsa/api/bulk-actions/delete/workflow-definitions/by-id",
];

/// Ada's objects: a definition with an instance that waits at a task.
pub struct WaitingWorkflow {
    pub definition: String,
    version: String,
    pub instance: String,
    pub task: String,
    execution: String,
}

impl WaitingWorkflow {
    pub fn new(world: &World, ada: &Api, number: usize) -> Self {
        let definition = format!("waiting{number}");
        world.sql(&format!(
            r#"SET ROLE ada;
            SELECT wf_define('{{"definitionId": "{definition}", "name": "{SECRET}", "description": "{SECRET}", "variables": {{"{SECRET}": "{SECRET}", "Amount": 7}},
                "options": {{"usableAsActivity": true}}, "root": {{"id": "ask", "type": "RunTask", "taskName": "{SECRET} {definition}", "payload": "{SECRET}"}}}}');
            SELECT wf_start('{definition}', correlation_id => '{SECRET}');"#
        ));
        let of = |column: &str, table: &str| {
            world
                .value(&format!("SELECT {column}::text FROM workflow.{table} WHERE definition_id = '{definition}'"))
                .unwrap()
        };
        let instance = of("id", "instances");
        let summaries =
            format!("/activity-execution-summaries/list?WorkflowInstanceId={instance}&ActivityNodeId=Workflow1:ask");
        let execution = ada.get(&summaries).ok()["items"][0]["id"].as_str().unwrap().to_owned();
        let task =
            world.value(&format!("SELECT id::text FROM workflow.tasks WHERE instance_id = '{instance}'")).unwrap();
        Self { version: of("id", "definitions"), definition, instance, task, execution }
    }

    /// The request of a case for these objects: method, path below `/elsa/api`, body.
    fn request(&self, (route, query, body): &Case) -> (String, String, String) {
        let (method, path) = route.split_once(" /elsa/api").unwrap();
        let named = |text: &str| {
            let places = [("\"D\"", &self.definition), ("\"V\"", &self.version), ("\"I\"", &self.instance)];
            places.iter().fold(text.to_owned(), |text, (place, id)| text.replace(place, &format!("\"{id}\"")))
        };
        let id = match path {
            _ if path.starts_with("/tasks/") => &self.task,
            _ if path.starts_with("/activity-executions/") || path.starts_with("/resilience/") => &self.execution,
            _ if path.starts_with("/scripting/") => &self.definition,
            _ => &self.instance,
        };
        let path = path
            .replace("{definition_id}", &self.definition)
            .replace("{version_id}", &self.version)
            .replace("{version}", "1")
            .replace("{name}", "happened")
            .replace("{activity}", "ask")
            .replace("{id}", id);
        let query = query
            .replace("=I", &format!("={}", self.instance))
            .replace("=V", &format!("={}", self.version))
            .replace("=X", &format!("={}", self.execution));
        (method.to_owned(), format!("{path}{query}"), named(body))
    }

    /// All rows of these objects.
    pub fn state(&self, world: &World) -> Option<String> {
        let Self { definition, instance, .. } = self;
        world.value(&format!(
            "SELECT string_agg(row, E'\\n' ORDER BY row) FROM (
                 SELECT d::text AS row FROM workflow.definitions d WHERE definition_id = '{definition}'
                 UNION ALL SELECT i::text FROM workflow.instances i WHERE definition_id = '{definition}'
                 UNION ALL SELECT b::text FROM workflow.bookmarks b WHERE instance_id = '{instance}'
                 UNION ALL SELECT i::text FROM workflow.incidents i WHERE instance_id = '{instance}'
                 UNION ALL SELECT t::text FROM workflow.tasks t WHERE instance_id = '{instance}') AS rows"
        ))
    }
}

#[test]
fn every_route_has_a_case() {
    let world = World::new();
    let listed: BTreeSet<String> = world.routes().into_iter().collect();
    let files = listed.iter().filter(|route| FILES.iter().any(|files| route.starts_with(files)));
    let known = OPEN.iter().chain(CONSTANT).chain(FRAMES).copied().chain(CASES.iter().map(|case| case.0));
    let known = known.chain(PAGES.iter().map(|page| page.route)).map(str::to_owned).chain(files.cloned());
    assert_eq!(listed, known.collect::<BTreeSet<String>>());
}

#[test]
fn no_route_answers_without_a_caller_or_to_another_site() {
    let world = World::new();
    for route in world.routes() {
        let (method, path) = route.split_once(' ').unwrap();
        let path = path.replace(['{', '}', '*'], "");
        let is_file = FILES.iter().any(|files| route.starts_with(files));
        if !is_file && !OPEN.contains(&route.as_str()) {
            let answer = world.send(method, &path, &[("Sec-Fetch-Site", "same-origin")], "");
            let to_login = answer.status == 303 && answer.headers["location"].to_str().unwrap().starts_with("/login");
            assert!(answer.status == 401 || to_login, "{route}: {answer:?}");
        }
        if method != "GET" {
            assert_eq!(world.send(method, &path, &[("Sec-Fetch-Site", "cross-site")], "").status, 403, "{route}");
        }
    }
}

/// A role cannot do here what it may not do in psql.
#[test]
fn who_may_not_reads_and_changes_nothing() {
    let world = World::new();
    let (ada, ben) = (world.client("ada"), world.client("ben"));
    for (number, case) in CASES.iter().enumerate() {
        let workflow = WaitingWorkflow::new(&world, &ada, number);
        let (method, path, body) = workflow.request(case);
        let before = workflow.state(&world);
        let refused = ben.send(&method, &path, &body);
        assert!(refused.status < 500 && !refused.text.contains(SECRET), "{}: {refused:?}", case.0);
        assert_eq!(workflow.state(&world), before, "{}: {refused:?}", case.0);
        // A list without the object, or one that reports a refusal for it.
        let is_list = refused.status == 200
            && (!refused.text.contains(&workflow.instance) || refused.text.contains("permission denied"));
        assert!(matches!(refused.status, 403 | 404) || is_list, "{}: {refused:?}", case.0);

        let done = ada.send(&method, &path, &body);
        let expected = if CONFLICTS.contains(&case.0) { 409..410 } else { 200..300 };
        assert!(expected.contains(&done.status), "{}: {done:?}", case.0);
    }
}
