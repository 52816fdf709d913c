//! Open incidents by cause: those of one activity with the same SQLSTATE, code and message, whatever numbers and UUIDs
//! are in the message.

use chrono::{DateTime, Utc};
use tokio_postgres::Row;

use crate::caller::Caller;
use crate::database::Database;
use crate::failure::Failure;
use crate::pages::console::address;
use crate::pages::inbox::list::definition_name;
use crate::pages::statement::Statement;
use crate::pages::typed::Typed;

/// The cause of an incident `i` within its activity and SQLSTATE: a digest. Messages may have any length, so only their
/// beginning counts.
macro_rules! cause {
    () => {
        "pg_catalog.left(pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.concat_ws('|', i.code, \
            pg_catalog.regexp_replace(pg_catalog.left(i.message, 1000), \
                '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9]+', '#', 'g')), 'UTF8')), 'hex'), 16)"
    };
}

/// Whether an incident `i` is among those of a [`Filter`], whose values are $1 to $4.
macro_rules! of_cause {
    () => {
        concat!(
            "($1 OPERATOR(pg_catalog.=) '' OR i.definition_id OPERATOR(pg_catalog.=) $1) \
             AND ($2 OPERATOR(pg_catalog.=) '' OR i.activity_id OPERATOR(pg_catalog.=) $2) \
             AND ($3 OPERATOR(pg_catalog.=) '' OR i.sqlstate OPERATOR(pg_catalog.=) $3) \
             AND ($4 OPERATOR(pg_catalog.=) '' OR ",
            cause!(),
            " OPERATOR(pg_catalog.=) $4)"
        )
    };
}
pub(super) use {cause, of_cause};

/// The causes of the newest [`NEWEST`] incidents, the most frequent ones first. Of older ones no message is read. $1:
/// limit.
const CAUSES: &str = concat!(
    "SELECT c.definition_id, ",
    definition_name!("c"),
    " AS definition, c.activity_id, c.sqlstate, c.cause, pg_catalog.count(*) AS incidents, \
     pg_catalog.count(DISTINCT c.instance_id) AS instances, pg_catalog.max(c.created_at) AS latest, \
     pg_catalog.max(c.message) AS message, (pg_catalog.sum(pg_catalog.count(*)) OVER ())::bigint AS total \
     FROM (SELECT i.definition_id, i.activity_id, i.sqlstate, i.instance_id, i.created_at, \
             pg_catalog.left(i.message, 300) AS message, ",
    cause!(),
    " AS cause FROM (SELECT n.definition_id, n.activity_id, n.sqlstate, n.code, n.message, n.instance_id, n.created_at \
             FROM workflow.open_incidents n ORDER BY n.created_at DESC LIMIT 10000) i) c \
     GROUP BY c.definition_id, c.activity_id, c.sqlstate, c.cause ORDER BY incidents DESC, latest DESC LIMIT $1::bigint"
);

/// How many incidents [`CAUSES`] reads at most.
pub const NEWEST: i64 = 10_000;

/// Incidents of one cause, or of a part of it: an empty member is for any.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    pub definition: String,
    pub activity: String,
    pub sqlstate: String,
    cause: String,
}

impl Filter {
    /// The filter in a query string or a form.
    pub fn of(typed: &Typed) -> Self {
        let text = |name: &str| typed.one(name).to_owned();
        Self {
            definition: text("definition"),
            activity: text("activity"),
            sqlstate: text("sqlstate"),
            cause: text("cause"),
        }
    }

    pub fn pairs(&self) -> [(&'static str, &str); 4] {
        [
            ("definition", self.definition.as_str()),
            ("activity", self.activity.as_str()),
            ("sqlstate", self.sqlstate.as_str()),
            ("cause", self.cause.as_str()),
        ]
    }

    pub fn is_empty(&self) -> bool {
        self.pairs().iter().all(|(_, value)| value.is_empty())
    }

    /// An address with this filter and further pairs.
    pub fn address(&self, path: &str, further: &[(&str, &str)]) -> String {
        address(path, &[&self.pairs()[..], further].concat())
    }

    /// The values of `of_cause`.
    pub fn values(&self) -> Vec<Option<String>> {
        self.pairs().iter().map(|(_, value)| Some((*value).to_owned())).collect()
    }
}

/// Open incidents of one cause.
pub struct Cause {
    /// The name of the definition.
    pub definition: String,
    pub filter: Filter,
    pub incidents: i64,
    pub instances: i64,
    pub latest: Option<DateTime<Utc>>,
    /// One of the messages.
    pub message: String,
    /// How many incidents were read for all causes.
    total: i64,
}

impl From<&Row> for Cause {
    fn from(row: &Row) -> Self {
        let text = |column: &str| row.get::<_, Option<String>>(column).unwrap_or_default();
        Self {
            definition: text("definition"),
            filter: Filter {
                definition: text("definition_id"),
                activity: text("activity_id"),
                sqlstate: text("sqlstate"),
                cause: text("cause"),
            },
            incidents: row.get("incidents"),
            instances: row.get("instances"),
            latest: row.get("latest"),
            message: text("message"),
            total: row.get("total"),
        }
    }
}

impl Cause {
    /// The list of the incidents.
    pub fn list(&self) -> String {
        self.filter.address(super::PATH, &[])
    }

    /// The page that retries them. A role that only requested the instances may not.
    pub fn retry(&self) -> Option<String> {
        (!self.filter.activity.is_empty()).then(|| self.filter.address(super::retry::PATH, &[]))
    }
}

/// The most frequent causes.
pub struct Causes(Vec<Cause>);

impl Causes {
    pub fn none() -> Self {
        Self(Vec::new())
    }

    pub async fn read(database: &Database, caller: &Caller, most: usize) -> Result<Self, Failure> {
        let rows = Self::statement(most).read(database, caller).await?;
        Ok(Self(rows.iter().map(Cause::from).collect()))
    }

    pub fn statement(most: usize) -> Statement {
        Statement::new(CAUSES, vec![Some(most.to_string())])
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn list(&self) -> &[Cause] {
        &self.0
    }

    /// Whether there are incidents that were not read.
    pub fn is_capped(&self) -> bool {
        self.0.first().is_some_and(|cause| cause.total >= NEWEST)
    }
}
