//! The rights of the role: what it needs for its purpose, and what it should not have.

use serde::Deserialize;
use workflow_client::tokio_postgres::types::Type;
use workflow_client::{Client, Error, Transaction};
use workflow_gateway::may_act_as;

use super::{Findings, Purpose};
use crate::terminal::{row, rows};

/// Functions that a role with usage has.
const OF_PERSON: &[&str] = &["wf_start", "wf_resume", "wf_complete_task"];
const OF_WORKER: &[&str] = &[
    "wf_claim_tasks",
    "wf_extend_task",
    "wf_complete_task",
    "wf_complete_tasks",
    "wf_fail_task",
    "wf_release_task",
    "wf_wait_tasks",
];
const OF_GATEWAY: &[&str] = &["wf_set_role"];

/// Those of the functions that the role may not execute in all of their forms.
const MISSING: &str = "SELECT f.name FROM pg_catalog.unnest($1) AS f (name) WHERE NOT EXISTS ( \
    SELECT FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_extension e ON e.extname = 'workflow' AND e.extnamespace = p.pronamespace \
    WHERE p.proname = f.name AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE'))";

#[derive(Deserialize)]
struct Missing {
    name: String,
}

/// The role of an option: may the gateway act as it, and what may it not execute? No row if it does not exist.
const OPTION_ROLE: &str = concat!(
    "SELECT ",
    may_act_as!("SESSION_USER", "r.oid"),
    " AS is_ours, r.rolname = SESSION_USER AS is_gateway, r.rolsuper AS is_superuser, \
    ARRAY(SELECT f.name FROM pg_catalog.unnest($2) AS f (name) WHERE NOT EXISTS ( \
        SELECT FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_extension e ON e.extname = 'workflow' AND e.extnamespace = p.pronamespace \
        WHERE p.proname = f.name AND pg_catalog.has_function_privilege(r.oid, p.oid, 'EXECUTE'))) AS missing \
    FROM pg_catalog.pg_roles r WHERE r.rolname = $1"
);

#[derive(Deserialize)]
struct OptionRole {
    is_ours: bool,
    is_gateway: bool,
    is_superuser: bool,
    missing: Vec<String>,
}

#[derive(Deserialize)]
struct Role {
    role: String,
    /// A superuser that the role is or can become.
    superuser: Option<String>,
    inherits: bool,
    memberships: i64,
    may_set_actor: bool,
    accepts: i64,
    /// Whether every role may create functions beside those of the extension.
    is_schema_open: bool,
}

const ROLE: &str = "SELECT r.rolname AS role, r.rolinherit AS inherits, \
    (SELECT s.rolname FROM pg_catalog.pg_roles s WHERE s.rolsuper AND pg_catalog.pg_has_role(SESSION_USER, s.oid, 'MEMBER') LIMIT 1) AS superuser, \
    (SELECT pg_catalog.count(*) FROM pg_catalog.pg_auth_members m WHERE m.member = r.oid) AS memberships, \
    pg_catalog.has_parameter_privilege('workflow.actor', 'SET') AS may_set_actor, \
    (SELECT pg_catalog.count(*) FROM workflow.accepted_owner_list a WHERE a.worker = r.rolname) AS accepts, \
    EXISTS (SELECT FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace \
            CROSS JOIN LATERAL pg_catalog.aclexplode(n.nspacl) a \
            WHERE e.extname = 'workflow' AND a.grantee = 0 AND a.privilege_type = 'CREATE') AS is_schema_open \
    FROM pg_catalog.pg_roles r WHERE r.rolname = CURRENT_USER";

pub async fn examine(client: &Client, schema: &str, purpose: Purpose, findings: &mut Findings) -> Result<(), Error> {
    let role = client.transaction(async |tx: Transaction| row::<Role>(&tx, ROLE, &[]).await).await?;
    let needed = match purpose {
        Purpose::Person => OF_PERSON,
        Purpose::Serve => OF_GATEWAY,
        Purpose::Work => OF_WORKER,
    };
    let missing =
        client.transaction(async |tx: Transaction| rows::<Missing>(&tx, MISSING, &[(&needed, Type::TEXT_ARRAY)]).await);
    let missing: Vec<String> = missing.await?.into_iter().map(|missing| missing.name).collect();
    if missing.is_empty() {
        findings.ok("rights", format!("{} may execute {}", role.role, needed.join(", ")));
    } else {
        let advice = format!("SELECT {schema}.wf_grant_usage('{}')", role.role.replace('\'', "''"));
        findings.error("rights", format!("{} may not execute {}", role.role, missing.join(", ")), advice);
    }
    if role.is_schema_open {
        let message = format!("every role may create functions in {schema}, the schema of the extension");
        findings.error("schema", message, format!("REVOKE CREATE ON SCHEMA {schema} FROM PUBLIC"));
    }
    match purpose {
        Purpose::Person => {}
        Purpose::Serve => examine_gateway(&role, findings),
        Purpose::Work => examine_worker(&role, findings),
    }
    Ok(())
}

fn examine_gateway(role: &Role, findings: &mut Findings) {
    if let Some(superuser) = &role.superuser {
        let message = format!("{} is or can become the superuser {superuser}: so could every workflow", role.role);
        findings.error("role", message, "give the gateway a role of its own that is a member of its users' roles only");
    }
    if role.inherits && role.superuser.is_none() {
        let message = format!("{} has the rights of its users even without SET ROLE", role.role);
        findings.warning("role", message, format!("ALTER ROLE \"{}\" NOINHERIT", role.role));
    }
    if role.memberships == 0 {
        let message = format!("{} is a member of no role, so nobody can use the gateway", role.role);
        findings.error("users", message, format!("GRANT their roles TO \"{}\"", role.role));
    } else {
        findings.ok("users", format!("{} is a member of {} roles", role.role, role.memberships));
    }
    if !role.may_set_actor {
        findings.warning(
            "actor",
            format!("{} may not set workflow.actor, so the audit does not name persons", role.role),
            format!("GRANT SET ON PARAMETER workflow.actor TO \"{}\"", role.role),
        );
    }
}

/// A listener of the gateway without a login. All its requests run as the role of an option.
pub struct OpenListener {
    subject: &'static str,
    option: &'static str,
    /// What the role must be able to execute.
    functions: &'static [&'static str],
    /// What happens if the gateway may not act as the role.
    outcome: &'static str,
    /// The page that has the GRANT for it.
    page: &'static str,
}

pub const ENDPOINTS: OpenListener = OpenListener {
    subject: "endpoints",
    option: "--endpoints-role",
    functions: &["wf_begin_http_request", "wf_take_http_responses", "wf_wait_http_responses"],
    outcome: "all requests to endpoints fail",
    page: "docs/endpoints.md",
};
pub const METRICS: OpenListener = OpenListener {
    subject: "metrics",
    option: "--metrics-role",
    functions: &["wf_metrics"],
    outcome: "/metrics is without the numbers of the database",
    page: "docs/monitoring.md",
};

pub const TRACES: OpenListener = OpenListener {
    subject: "traces",
    option: "--traces-role",
    functions: &["wf_take_spans"],
    outcome: "no spans are sent",
    page: "docs/monitoring.md",
};

/// Examines the role of a listener without a login, or of the exporter of traces.
pub async fn examine_listener(
    client: &Client,
    listener: &OpenListener,
    name: &str,
    findings: &mut Findings,
) -> Result<(), Error> {
    let &OpenListener { subject, option, functions, outcome, page } = listener;
    let query = async |tx: Transaction| {
        rows::<OptionRole>(&tx, OPTION_ROLE, &[(&name, Type::TEXT), (&functions, Type::TEXT_ARRAY)]).await
    };
    let found = client.transaction(query).await?.into_iter().next();
    let Some(role) = found else {
        findings.error(subject, format!("there is no role {name}"), format!("create it, or correct {option}"));
        return Ok(());
    };
    if role.is_gateway {
        let message = format!("{name} is the gateway's own role, as which no request runs, so {outcome}");
        findings.error(subject, message, format!("give {option} a role of its own"));
    } else if !role.is_ours {
        let message = format!("the gateway's role may not act as {name}, so {outcome}");
        findings.error(subject, message, format!("GRANT \"{name}\" TO the gateway's role, without SET FALSE"));
    }
    if role.is_superuser {
        let message = format!("{name} is a superuser: every client would act as one");
        findings.error(subject, message, format!("give {option} a role of its own"));
    }
    if !role.missing.is_empty() {
        let message = format!("{name} may not execute {}", role.missing.join(", "));
        findings.error(subject, message, format!("{page} has the GRANT that it needs"));
    }
    if role.is_ours && !role.is_gateway && !role.is_superuser && role.missing.is_empty() {
        findings.ok(subject, format!("requests run as {name}"));
    }
    Ok(())
}

fn examine_worker(role: &Role, findings: &mut Findings) {
    if let Some(superuser) = &role.superuser {
        let message = format!("{} is or can become the superuser {superuser}", role.role);
        findings.warning("role", message, "give the worker a role of its own with usage of the extension");
    }
    let mut message = format!("{} accepts tasks of its own definitions, and of the database's owner", role.role);
    match role.accepts {
        0 => message.push_str("; for others: SELECT wf_accept_tasks('NAME OF AN OWNER')"),
        number => message.push_str(&format!(", and of {number} more")),
    }
    findings.ok("accepted owners", message);
}
