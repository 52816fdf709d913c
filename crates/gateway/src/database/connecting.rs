//! Connecting: address, TLS, and the check that server and extension are compatible with this gateway.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Once, OnceLock};
use std::time::Duration;

use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Pool, QueueMode, RecyclingMethod, Runtime, Timeouts};
use tokio_postgres::{Client, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::hosts::{CONNECT_TIME, Hosts};
use super::{POOL_WAIT, message_of};
use crate::config::DatabaseOptions;

/// Compatible versions of the extension: same major and minor number.
const EXTENSION: &str = concat!(env!("CARGO_PKG_VERSION_MAJOR"), ".", env!("CARGO_PKG_VERSION_MINOR"), ".");

/// Roles that may create functions in the schema of the extension, besides its owner and superusers.
const CREATORS: &str = "SELECT pg_catalog.string_agg(COALESCE(pg_catalog.quote_ident(r.rolname), 'PUBLIC'), ', ' \
       ORDER BY r.rolname NULLS FIRST) \
     FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace \
     CROSS JOIN LATERAL pg_catalog.aclexplode(n.nspacl) a \
     LEFT JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) a.grantee \
     WHERE e.extname OPERATOR(pg_catalog.=) 'workflow' AND a.privilege_type OPERATOR(pg_catalog.=) 'CREATE' \
       AND a.grantee OPERATOR(pg_catalog.<>) n.nspowner AND r.rolsuper IS NOT TRUE";

/// Why the gateway does not serve a database.
#[derive(Debug)]
pub enum UnusableDatabase {
    /// A temporary condition.
    Unreachable(String),
    /// Only an administrator can change this.
    Refused(String),
}

impl UnusableDatabase {
    /// The server accepted a query and does not answer.
    pub fn no_answer() -> Self {
        Self::Unreachable("it does not answer".into())
    }
}

impl fmt::Display for UnusableDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(cause) => write!(f, "cannot reach the database: {cause}"),
            Self::Refused(reason) => f.write_str(reason),
        }
    }
}

/// Checks on a new connection that database and role are compatible. Returns the extension's schema.
pub async fn check(client: &Client) -> Result<String, UnusableDatabase> {
    tokio::time::timeout(CONNECT_TIME, check_database(client))
        .await
        .unwrap_or_else(|_| Err(UnusableDatabase::no_answer()))
}

async fn check_database(client: &Client) -> Result<String, UnusableDatabase> {
    let unreachable = |error: tokio_postgres::Error| UnusableDatabase::Unreachable(message_of(&error));
    let text = |sql: &'static str| async move {
        let rows = client.query_typed(sql, &[]).await.map_err(unreachable)?;
        match rows.first() {
            Some(row) => row.try_get::<_, Option<String>>(0).map_err(unreachable),
            None => Ok(None),
        }
    };
    // As in each request, so that none of our names resolves to an object in a schema of some role.
    client.batch_execute("SET search_path = ''").await.map_err(unreachable)?;
    if let Some(role) = text(
        "SELECT rolname::pg_catalog.text FROM pg_catalog.pg_roles \
         WHERE rolsuper AND pg_catalog.pg_has_role(session_user, oid, 'MEMBER') LIMIT 1",
    )
    .await?
    {
        return Err(UnusableDatabase::Refused(format!(
            "the gateway's role is or can become the superuser {role}: so could every workflow. \
             Give it a role of its own that is a member of its users' roles only"
        )));
    }
    let installed = text(
        "SELECT extversion FROM pg_catalog.pg_extension \
        WHERE extname OPERATOR(pg_catalog.=) 'workflow'",
    )
    .await?;
    match installed {
        None => {
            return Err(UnusableDatabase::Refused(
                "the database has no extension workflow: CREATE EXTENSION workflow".into(),
            ));
        }
        Some(version) if !version.starts_with(EXTENSION) => {
            return Err(UnusableDatabase::Refused(format!(
                "the database has workflow {version}, and this is wf {}: install those that fit",
                env!("CARGO_PKG_VERSION")
            )));
        }
        Some(_) => {}
    }
    let schema = text(
        "SELECT pg_catalog.quote_ident(n.nspname) FROM pg_catalog.pg_extension e \
         JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace \
           WHERE e.extname OPERATOR(pg_catalog.=) 'workflow'",
    )
    .await?;
    let schema = schema.ok_or_else(|| UnusableDatabase::Refused("the extension workflow has no schema".into()))?;
    // Such a role could create an overload that matches our arguments better and is called instead of our function.
    if let Some(roles) = text(CREATORS).await? {
        let problem = format!("{roles} may create functions in {schema}, the schema of the extension");
        if roles.split(", ").any(|role| role == "PUBLIC") {
            return Err(UnusableDatabase::Refused(format!(
                "{problem}: any role could put its own in the place of the extension's. \
                 REVOKE CREATE ON SCHEMA {schema} FROM PUBLIC"
            )));
        }
        static WARNED: Once = Once::new();
        WARNED.call_once(|| tracing::warn!("{problem}: they can act as any user of the gateway"));
    }
    client.batch_execute("RESET search_path").await.map_err(unreachable)?;
    Ok(schema)
}

/// A pool of connections of the gateway's role. Each is checked when it is opened.
pub fn pool(
    config: &Config,
    tls: &MakeRustlsConnect,
    schema: &Arc<OnceLock<String>>,
    size: usize,
) -> Result<Pool, String> {
    let manager = Manager::from_connect(
        config.clone(),
        Hosts { tls: tls.clone() },
        ManagerConfig { recycling_method: RecyclingMethod::Fast },
    );
    let known = Arc::clone(schema);
    let pool = Pool::builder(manager)
        .max_size(size)
        // The most recently used backend has its catalogue and plan caches in the CPU cache.
        .queue_mode(QueueMode::Lifo)
        .runtime(Runtime::Tokio1)
        .timeouts(Timeouts { wait: Some(POOL_WAIT), create: Some(CONNECT_TIME), recycle: None })
        .post_create(Hook::async_fn(move |client, _| {
            let known = Arc::clone(&known);
            Box::pin(async move {
                let found = check(client).await.map_err(|problem| HookError::message(problem.to_string()))?;
                // A recreated database may have the extension in another schema; the gateway must then be restarted.
                if *known.get_or_init(|| found.clone()) != found {
                    return Err(HookError::message(format!("the extension has moved to schema {found}")));
                }
                Ok(())
            })
        }));
    pool.build().map_err(|error| error.to_string())
}

pub fn connection(options: &DatabaseOptions) -> Result<Config, String> {
    let mut config: Config = options.connection.parse().map_err(unreadable)?;
    if let (Some(path), None) = (&options.password_file, config.get_password()) {
        let password =
            std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        config.password(password.trim_end_matches(['\r', '\n']));
    }
    let (hosts, addresses, ports) = (config.get_hosts().len(), config.get_hostaddrs().len(), config.get_ports().len());
    if (hosts > 0 && addresses > 0 && hosts != addresses) || (ports > 1 && ports != hosts.max(addresses)) {
        return Err("--database makes no sense: it has not as many addresses or ports as hosts".into());
    }
    if config.get_application_name().is_none() {
        config.application_name("wf serve");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(Duration::from_secs(5));
    }
    // A host that fails silently is detected within half a minute.
    config.keepalives_idle(Duration::from_secs(10)).keepalives_interval(Duration::from_secs(5)).keepalives_retries(3);
    config.tcp_user_timeout(Duration::from_secs(30));
    Ok(config)
}

/// The error for an invalid connection string. It does not quote the string, which may contain a password.
fn unreadable(error: tokio_postgres::Error) -> String {
    let cause = message_of(&error);
    // libpq has more modes (verify-ca, verify-full); here the certificate and the host name are always verified.
    let modes = if cause.contains("sslmode") { ": sslmode is disable, prefer or require" } else { "" };
    format!("--database makes no sense: {cause}{modes}")
}

pub fn tls_client(authority: Option<&Path>) -> Result<rustls::ClientConfig, String> {
    use rustls::pki_types::pem::PemObject;
    let mut roots = rustls::RootCertStore::empty();
    match authority {
        Some(path) => {
            let unreadable = |error: rustls::pki_types::pem::Error| format!("cannot read {}: {error}", path.display());
            for certificate in rustls::pki_types::CertificateDer::pem_file_iter(path).map_err(unreadable)? {
                roots.add(certificate.map_err(unreadable)?).map_err(|error| format!("{}: {error}", path.display()))?;
            }
            if roots.is_empty() {
                return Err(format!("{} has no certificate (PEM)", path.display()));
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    Ok(rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth())
}
