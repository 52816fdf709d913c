//! Scopes: what an API key is for. Each route is in one of them, or is for every key.
//!
//! A scope only takes rights away: whatever a request does, it does with the rights of the key's role.

use std::fmt;

use axum::http::{Method, StatusCode};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// What an API key is for. No scope includes another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// See definitions, instances and tasks
    Read,
    /// Answer tasks, publish events, start workflows
    Answer,
    /// Cancel, retry, alter and delete instances
    Operate,
    /// Save, publish and delete definitions
    Define,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Answer => "answer",
            Self::Operate => "operate",
            Self::Define => "define",
        })
    }
}

/// Which keys a route is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// For every key, and mostly also for requests without one: log-in, files of pages, probes.
    Unscoped,
    Scoped(Scope),
}

/// The failure of a request with a key that lacks a scope.
pub fn missing(scope: Scope) -> Failure {
    Failure::new(StatusCode::FORBIDDEN, format!("the API key does not have the scope \"{scope}\""))
        .hint("The administrator of the gateway makes another key with `wf key add --scope`.")
}

/// The scope of a route of the list. A route that is not in the table is closed to keys that have scopes.
pub fn of_route(method: &Method, path: &str) -> Access {
    let method = if method == Method::HEAD { "GET" } else { method.as_str() };
    known(&format!("{method} {path}")).unwrap_or(Access::Scoped(Scope::Define))
}

/// The scope of a route written as `METHOD /path`.
fn known(route: &str) -> Option<Access> {
    if FILES.iter().any(|files| route.starts_with(files)) || UNSCOPED.contains(&route) {
        return Some(Access::Unscoped);
    }
    SCOPED.iter().find(|(_, routes)| routes.contains(&route)).map(|(scope, _)| Access::Scoped(*scope))
}

/// Routes of files that are the same for everybody: those of pages, and those of Studio.
const FILES: &[&str] = &["GET /static/", "GET /_framework/", "GET /_content/", "GET /appsettings", "GET /Elsa.Studio."];

/// Log-in, the choice of a role, preferences, the start page, browsers' reports, and probes of the process.
const UNSCOPED: &[&str] = &[
    "GET /",
    "GET /healthz",
    "GET /readyz",
    "GET /login",
    "POST /login",
    "GET /login/oidc",
    "GET /login/oidc/callback",
    "POST /logout",
    "POST /role",
    "GET /preferences",
    "POST /preferences",
    "POST /csp-reports",
];

const SCOPED: [(Scope, &[&str]); 4] =
    [(Scope::Read, READ), (Scope::Answer, ANSWER), (Scope::Operate, OPERATE), (Scope::Define, DEFINE)];

const READ: &[&str] = &[
    "GET /definitions",
    "GET /instances",
    "GET /workflows/definitions/{id}/edit",
    "GET /workflows/instances/{id}/view",
    "GET /diagnostics/structured-logs",
    "GET /inbox",
    "GET /inbox/{task_id}",
    "GET /start",
    "GET /start/{definition_id}",
    "GET /requests",
    "GET /substitutes",
    "GET /overview",
    "GET /search",
    "GET /incidents",
    "GET /incidents/retry",
    "GET /dead-letters",
    "GET /dead-letters/replay",
    "GET /schedules",
    "GET /schedules/{id}",
    "GET /workers",
    "GET /audit",
    "GET /instances/{id}",
    "GET /instances/{id}/picture.svg",
    "GET /instances/{id}/timeline",
    "GET /instances/{id}/children",
    "GET /instances/{id}/{action}",
    "GET /elsa/api/activity-execution-summaries/list",
    "GET /elsa/api/activity-executions/by-id",
    "GET /elsa/api/activity-executions/list",
    "GET /elsa/api/activity-executions/{id}/call-stack",
    "GET /elsa/api/alterations/{id}",
    "GET /elsa/api/descriptors/activities",
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
    "GET /elsa/api/resilience/retries/{id}",
    "GET /elsa/api/resilience/strategies",
    "GET /elsa/api/workflow-definitions",
    "GET /elsa/api/workflow-definitions/by-definition-id/{definition_id}",
    "GET /elsa/api/workflow-definitions/by-id/{version_id}",
    "GET /elsa/api/workflow-definitions/many-by-id",
    "GET /elsa/api/workflow-definitions/query/count",
    "GET /elsa/api/workflow-definitions/subgraph/segments/{version_id}",
    "GET /elsa/api/workflow-definitions/subgraph/{version_id}",
    "GET /elsa/api/workflow-definitions/validation/is-name-unique",
    "GET /elsa/api/workflow-definitions/{definition_id}/consumers",
    "GET /elsa/api/workflow-definitions/{definition_id}/export",
    "GET /elsa/api/workflow-instances/{id}",
    "GET /elsa/api/workflow-instances/{id}/execution-state",
    "GET /elsa/api/workflow-instances/{id}/export",
    "GET /elsa/api/workflow-instances/{id}/journal",
    "GET /elsa/api/workflow-instances/{id}/journal/{activity}",
    "GET /elsa/api/workflow-instances/{id}/variables",
    "GET /elsa/hubs/workflow-instance",
    "POST /elsa/api/activity-executions/report",
    "POST /elsa/api/bulk-actions/export/workflow-definitions",
    "POST /elsa/api/bulk-actions/export/workflow-instances",
    "POST /elsa/api/descriptors/activities/{type}/options/{property}",
    "POST /elsa/api/scripting/javascript/type-definitions/{id}",
    "POST /elsa/api/tests/activities",
    "POST /elsa/api/workflow-instances",
    "POST /elsa/api/workflow-instances/{id}/journal",
    "POST /elsa/hubs/workflow-instance/negotiate",
];

/// An operator who overrides a task through its page needs [`Scope::Operate`] as well.
const ANSWER: &[&str] = &[
    "POST /inbox/{task_id}",
    "POST /start/{definition_id}",
    "POST /substitutes",
    "POST /elsa/api/events/{name}/trigger",
    "POST /elsa/api/tasks/{id}/complete",
    "POST /elsa/api/workflow-definitions/{definition_id}/dispatch",
    "POST /elsa/api/workflow-definitions/{definition_id}/execute",
];

const OPERATE: &[&str] = &[
    "POST /instances/{id}/{action}",
    "POST /incidents/retry",
    "POST /dead-letters",
    "POST /dead-letters/replay",
    "POST /schedules/{id}",
    "DELETE /elsa/api/workflow-instances/{id}",
    "POST /elsa/api/alterations/dry-run",
    "POST /elsa/api/alterations/run",
    "POST /elsa/api/alterations/submit",
    "POST /elsa/api/alterations/workflows/retry",
    "POST /elsa/api/bulk-actions/cancel/workflow-instances",
    "POST /elsa/api/bulk-actions/delete/workflow-instances/by-id",
    "POST /elsa/api/bulk-actions/import/workflow-instances",
    "POST /elsa/api/cancel/workflow-instances/{id}",
];

const DEFINE: &[&str] = &[
    "DELETE /elsa/api/workflow-definition-versions/{version_id}",
    "DELETE /elsa/api/workflow-definitions/{definition_id}",
    "POST /elsa/api/bulk-actions/delete/workflow-definitions/by-definition-id",
    "POST /elsa/api/bulk-actions/delete/workflow-definitions/by-id",
    "POST /elsa/api/bulk-actions/publish/workflow-definitions/by-definition-ids",
    "POST /elsa/api/bulk-actions/retract/workflow-definitions/by-definition-ids",
    "POST /elsa/api/workflow-definitions",
    "POST /elsa/api/workflow-definitions/import",
    "POST /elsa/api/workflow-definitions/import-files",
    "POST /elsa/api/workflow-definitions/{definition_id}/publish",
    "POST /elsa/api/workflow-definitions/{definition_id}/retract",
    "POST /elsa/api/workflow-definitions/{definition_id}/revert/{version}",
    "POST /elsa/api/workflow-definitions/{definition_id}/update-references",
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::routes::routes;

    #[test]
    fn every_route_has_one_scope() {
        let routes = routes();
        let listed: BTreeSet<&str> = routes.listed().iter().map(String::as_str).collect();
        let without: Vec<_> = listed.iter().filter(|route| known(route).is_none()).collect();
        assert!(without.is_empty(), "scopes.rs has no scope for {without:?}");
        let table: Vec<&str> = UNSCOPED.iter().chain(SCOPED.iter().flat_map(|(_, routes)| *routes)).copied().collect();
        let gone: Vec<_> = table.iter().filter(|route| !listed.contains(*route)).collect();
        assert!(gone.is_empty(), "scopes.rs has routes that do not exist: {gone:?}");
        assert_eq!(table.len(), table.iter().collect::<BTreeSet<_>>().len(), "a route has two scopes");
    }

    #[test]
    fn what_reads_is_for_keys_that_read_and_what_changes_is_not() {
        for (scope, routes) in SCOPED {
            assert!(scope == Scope::Read || routes.iter().all(|route| !route.starts_with("GET ")), "{scope}");
        }
        assert_eq!(of_route(&Method::HEAD, "/inbox"), Access::Scoped(Scope::Read));
        assert_eq!(of_route(&Method::POST, "/inbox/{task_id}"), Access::Scoped(Scope::Answer));
        assert_eq!(of_route(&Method::PUT, "/nowhere"), Access::Scoped(Scope::Define));
    }
}
