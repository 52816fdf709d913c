//! What the database says of the set-up.

use chrono::{DateTime, TimeDelta, Utc};
use serde::Deserialize;
use workflow_client::{Client, Error, Transaction};

use super::rights::OpenListener;
use super::{Findings, Purpose, rights};
use crate::arguments::SharedArguments;
use crate::failure::Failure;
use crate::terminal::{Progress, row, rows};

/// How far the clocks of the two machines may be apart.
const MAX_CLOCK_DIFFERENCE: TimeDelta = TimeDelta::seconds(2);
const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// What one query says of the session, the extension and the settings.
#[derive(Deserialize)]
struct Overview {
    database: String,
    role: String,
    postgresql: String,
    schema: String,
    is_remote: bool,
    tls: Option<String>,
    now: DateTime<Utc>,
    /// `None` if the role may not see the setting.
    preloaded: Option<String>,
    /// Whether a session finds the extension's functions without their schema.
    is_on_path: bool,
    has_worker: bool,
    may_check: bool,
}

const OVERVIEW: &str = "SELECT pg_catalog.current_database() AS database, CURRENT_USER AS role, \
    pg_catalog.current_setting('server_version') AS postgresql, pg_catalog.quote_ident(n.nspname) AS schema, \
    pg_catalog.inet_server_addr() IS NOT NULL AND NOT pg_catalog.inet_server_addr() <<= '127.0.0.0/8' \
      AND pg_catalog.inet_server_addr() <> '::1' AS is_remote, \
    (SELECT s.version FROM pg_catalog.pg_stat_ssl s WHERE s.pid = pg_catalog.pg_backend_pid() AND s.ssl) AS tls, \
    pg_catalog.clock_timestamp() AS now, \
    (SELECT s.setting FROM pg_catalog.pg_settings s WHERE s.name = 'shared_preload_libraries') AS preloaded, \
    COALESCE(pg_catalog.to_regproc('wf_version') = (pg_catalog.quote_ident(n.nspname) || '.wf_version')::pg_catalog.regproc, false) AS is_on_path, \
    EXISTS (SELECT FROM workflow.workers w WHERE w.database = pg_catalog.current_database() AND w.pid IS NOT NULL) AS has_worker, \
    pg_catalog.has_function_privilege((pg_catalog.quote_ident(n.nspname) || '.wf_check()')::pg_catalog.regprocedure, 'EXECUTE') AS may_check \
    FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'workflow'";

#[derive(Deserialize)]
struct Version {
    library: String,
    library_schema: i64,
    database_schema: Option<i64>,
    postgresql: String,
}

#[derive(Deserialize)]
struct Problem {
    problem: String,
    detail: Option<String>,
}

pub async fn examine(
    shared: &SharedArguments,
    purpose: Purpose,
    listeners: &[(OpenListener, &str)],
    is_quick: bool,
    findings: &mut Findings,
) {
    match connect(shared, purpose).await {
        Ok(client) => {
            let mut examined = examine_as(&client, purpose, is_quick, findings).await;
            for (listener, role) in listeners {
                if examined.is_ok() {
                    examined = rights::examine_listener(&client, listener, role, findings).await;
                }
            }
            if let Err(error) = examined {
                findings.error("database", Failure::from(error).to_string(), "without an answer, no more can be said");
            }
        }
        Err(failure) => findings.error("server", failure.to_string(), advice_for(&failure)),
    }
}

async fn connect(shared: &SharedArguments, purpose: Purpose) -> Result<Client, Failure> {
    let options = match purpose {
        Purpose::Serve => shared.connection.client_of_gateway("wf doctor")?,
        Purpose::Person | Purpose::Work => shared.connection.client("wf doctor")?,
    };
    Ok(Client::connect(options.connections(1).repeat_for(std::time::Duration::ZERO)).await?)
}

/// What to do if there is no session.
fn advice_for(failure: &Failure) -> &'static str {
    match failure {
        Failure::Database(error) => match (&**error, error.sqlstate()) {
            (_, Some("28P01" | "28000")) => {
                "correct the role or its password, or add a line to pg_hba.conf for this host"
            }
            (_, Some("3D000")) => "correct dbname in the connection string",
            (_, Some("53300")) => "raise max_connections, or the CONNECTION LIMIT of the role",
            (Error::Unfit(_), _) => "CREATE EXTENSION workflow, or install extension and program of the same version",
            (Error::Options(_), _) => "correct --database or the file that it needs",
            _ => "is the server running, does it listen on this address, do its certificate and its host name fit?",
        },
        _ => "correct the option",
    }
}

async fn examine_as(client: &Client, purpose: Purpose, is_quick: bool, findings: &mut Findings) -> Result<(), Error> {
    let before = Utc::now();
    let of = client.transaction(async |tx: Transaction| row::<Overview>(&tx, OVERVIEW, &[]).await).await?;
    let middle = before + (Utc::now() - before) / 2;
    findings.ok("server", format!("PostgreSQL {}, database {}, role {}", of.postgresql, of.database, of.role));
    examine_tls(&of, findings);
    examine_clock(of.now - middle, findings);
    let versions = format!("SELECT * FROM {}.wf_version()", of.schema);
    let version = client.transaction(async |tx: Transaction| row::<Version>(&tx, &versions, &[]).await).await?;
    examine_version(&version, findings);
    examine_workers(&of, findings);
    if purpose == Purpose::Person && !of.is_on_path {
        findings.warning(
            "search path",
            format!("it does not lead to the functions of the extension, which are in the schema {}", of.schema),
            format!("ALTER ROLE {} SET search_path = \"$user\", {}", of.role, of.schema),
        );
    }
    rights::examine(client, &of.schema, purpose, findings).await?;
    if of.may_check && !is_quick {
        let _progress = Progress::start("wf_check() reads every row");
        let check = format!("SELECT * FROM {}.wf_check()", of.schema);
        let problems = client.transaction(async |tx: Transaction| rows::<Problem>(&tx, &check, &[]).await).await?;
        if problems.is_empty() {
            findings.ok("wf_check()", "stored rows and rights on tables are as they should be");
        }
        for Problem { problem, detail } in problems {
            let detail = detail.map_or_else(String::new, |detail| format!(": {detail}"));
            findings.error("wf_check()", problem + &detail, "docs/errors.md and docs/security.md describe it");
        }
    }
    Ok(())
}

fn examine_tls(of: &Overview, findings: &mut Findings) {
    match &of.tls {
        Some(version) => findings.ok("TLS", version.clone()),
        None if of.is_remote => findings.warning(
            "TLS",
            "the connection goes over the network without TLS: passwords and data can be read on the way",
            "turn on ssl in the server, and add sslmode=require to the connection string",
        ),
        None => findings.ok("TLS", "not needed: the server is on this machine"),
    }
}

fn examine_clock(difference: TimeDelta, findings: &mut Findings) {
    let milliseconds = difference.num_milliseconds();
    if difference.abs() > MAX_CLOCK_DIFFERENCE {
        let message = format!("that of the database is {milliseconds} ms ahead of that of this machine");
        findings.warning("clock", message, "synchronize both, for example by NTP: sessions and leases depend on them");
    } else {
        findings.ok("clock", format!("the difference is {milliseconds} ms"));
    }
}

fn examine_version(version: &Version, findings: &mut Findings) {
    let Version { library, library_schema, database_schema, postgresql } = version;
    let message = format!("library {library} (for PostgreSQL {postgresql}), program {PROGRAM}");
    if *database_schema != Some(*library_schema) {
        findings.error(
            "versions",
            format!("{message}; the database has another schema"),
            "ALTER EXTENSION workflow UPDATE",
        );
    } else if library != PROGRAM {
        findings.warning("versions", message, "install extension and program of the same version");
    } else {
        findings.ok("versions", message);
    }
}

fn examine_workers(of: &Overview, findings: &mut Findings) {
    if of.has_worker {
        return findings.ok("background workers", "they serve this database");
    }
    let is_preloaded =
        of.preloaded.as_ref().map(|libraries| libraries.split(',').any(|name| name.trim() == "workflow"));
    let advice = match is_preloaded {
        Some(true) => "see workflow.launch_workers and workflow.databases, and the log of the server",
        _ => "add workflow to shared_preload_libraries and restart the server, or call wf_worker_start()",
    };
    findings.error("background workers", "none serves this database, so timers and schedules do not fire", advice);
}
