//! The pools of the gateway, and the check that server, role and extension are fit for it.

use std::fmt;
use std::sync::{Arc, Once, OnceLock};

use deadpool_postgres::{Hook, HookError, Pool};
use tokio_postgres::Client;
use workflow_client::{Connector, Error, extension_schema};

use super::{POOL_WAIT, message_of};

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
    tokio::time::timeout(Connector::TIME_LIMIT, check_database(client))
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
    let schema = extension_schema(client).await.map_err(|error| match error {
        Error::Unfit(reason) => UnusableDatabase::Refused(reason),
        other => UnusableDatabase::Unreachable(other.to_string()),
    })?;
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

/// Checks that the gateway's role may set the actor: people whom the database does not know must be on record.
pub async fn check_actor(client: &Client) -> Result<(), UnusableDatabase> {
    const MAY_SET: &str = "SELECT pg_catalog.has_parameter_privilege(session_user, 'workflow.actor', 'SET')";
    let rows = client.query_typed(MAY_SET, &[]).await;
    let rows = rows.map_err(|error| UnusableDatabase::Unreachable(message_of(&error)))?;
    match rows.first().is_some_and(|row| row.get(0)) {
        true => Ok(()),
        false => Err(UnusableDatabase::Refused(
            "the gateway's role may not set workflow.actor, so people who log in elsewhere would not be on record. \
             A superuser can run GRANT SET ON PARAMETER workflow.actor TO it"
                .into(),
        )),
    }
}

/// A pool of connections of the gateway's role. Each is checked when it is opened.
pub fn pool(connector: &Connector, schema: &Arc<OnceLock<String>>, size: usize) -> Result<Pool, String> {
    let known = Arc::clone(schema);
    let pool = connector.pool(size, POOL_WAIT).post_create(Hook::async_fn(move |client, _| {
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
