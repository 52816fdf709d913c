//! Instances for a list, read in bounded portions.
//!
//! Each statement here limits the rows that it reads, not only those that match the filter. Otherwise a filter with few
//! matches would read all instances.

use uuid::Uuid;
use workflow_engine::alteration::{InstanceFilter, Moment};

use super::{FilterTexts, satisfy_all};
use crate::pg::spi::{Arg, Row, Statement, Timestamp, Type};

/// An instance that satisfies a filter.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Id of the instance, by which lists are ordered.
    pub id: Uuid,
    /// The definition version that it runs, which determines the caller's right to read it.
    pub version: Uuid,
    /// Id in `workflow.owners` of the role to which it belongs.
    pub owner: i32,
    /// Whether another instance started it as a child workflow.
    pub is_child: bool,
    /// When it was created, when it last changed, and when it ended.
    times: [Option<Timestamp>; 3],
    /// Its name, if names were requested and it has one.
    pub name: Option<String>,
}

impl Listed {
    /// A time of the instance.
    pub fn time(&self, moment: Moment) -> Option<Timestamp> {
        let [created, updated, finished] = self.times;
        match moment {
            Moment::CreatedAt => created,
            Moment::UpdatedAt => updated,
            Moment::FinishedAt => finished,
        }
    }
}

/// The rows read by a statement.
#[derive(Debug)]
pub struct Portion {
    /// The instances that satisfy the filter.
    pub matching: Vec<Listed>,
    /// How many rows it read.
    pub rows_read: usize,
    /// Id of the last row read, after which the next portion continues; `None`: there was none.
    pub last: Option<Uuid>,
}

// $1 and $14 are the bounds of the ids, inclusive.
macro_rules! portion {
    ($rows:literal) => {
        Statement::new(
            concat!(
                "SELECT i.id, i.definition_version_id, i.owner, i.parent_instance_id IS NOT NULL, \
                        i.created_at, i.updated_at, i.finished_at, CASE WHEN $20 THEN i.name END, ",
                "CASE WHEN $19 THEN COALESCE(",
                conditions!(),
                ", false) ELSE true END \
                 FROM (SELECT i.id, i.definition_version_id, i.owner, i.parent_instance_id, i.created_at, i.updated_at, \
                              i.finished_at, i.name, i.correlation_id, i.definition_id, i.status, i.sub_status, i.incident_count \
                       FROM workflow.instances i WHERE ",
                $rows,
                " LIMIT $13) i"
            ),
            &[
                Type::Uuid,
                Type::UuidArray,
                Type::TextArray,
                Type::UuidArray,
                Type::TextArray,
                Type::TextArray,
                Type::TextArray,
                Type::TextArray,
                Type::Boolean,
                Type::Boolean,
                Type::TextArray,
                Type::Text,
                Type::BigInt,
                Type::Uuid,
                Type::Uuid,
                Type::Integer,
                Type::UuidArray,
                Type::TextArray,
                Type::Boolean,
                Type::Boolean,
            ],
        )
    };
}

static NEWEST: Statement = portion!("i.id >= $1 AND i.id <= $14 ORDER BY i.id DESC");
static OLDEST: Statement = portion!("i.id >= $1 AND i.id <= $14 ORDER BY i.id");
static NEWEST_OF: Statement = portion!(
    "i.definition_version_id = $15 AND i.owner = $16 AND i.id >= $1 AND i.id <= $14 \
     ORDER BY i.definition_version_id DESC, i.owner DESC, i.id DESC"
);
static OLDEST_OF: Statement = portion!(
    "i.definition_version_id = $15 AND i.owner = $16 AND i.id >= $1 AND i.id <= $14 \
     ORDER BY i.definition_version_id, i.owner, i.id"
);
static NAMED: Statement = portion!("i.id = ANY ($17)");
static CORRELATED: Statement = portion!("i.correlation_id = ANY ($18)");

/// The rows that a statement reads.
#[derive(Clone, Copy, Debug)]
pub enum Scan<'a> {
    /// Ids in this range, from its end (`newest`) or from its beginning. With a version and an owner: only their
    /// instances.
    Range {
        /// The lowest id, inclusive.
        low: Uuid,
        /// The highest id, inclusive.
        high: Uuid,
        /// Whether it starts at the highest id and goes down.
        newest: bool,
        /// Definition version and owner of the instances; `None`: all instances.
        of: Option<(Uuid, i32)>,
    },
    /// These instances.
    Ids(&'a [Uuid]),
    /// Those with one of these correlation ids.
    Correlated(&'a [String]),
}

/// The parameters that determine which rows a statement reads; the others are NULL.
struct Place<'a> {
    low: Arg<'a>,
    high: Arg<'a>,
    version: Arg<'a>,
    owner: Arg<'a>,
    ids: Arg<'a>,
    correlation_ids: Arg<'a>,
}

const NOWHERE: Place<'static> = Place {
    low: Arg::Null,
    high: Arg::Null,
    version: Arg::Null,
    owner: Arg::Null,
    ids: Arg::Null,
    correlation_ids: Arg::Null,
};

impl Scan<'_> {
    fn place(&self) -> Place<'_> {
        match self {
            Self::Range { low, high, of, .. } => Place {
                low: Arg::Uuid(low),
                high: Arg::Uuid(high),
                version: Arg::uuid(of.as_ref().map(|(version, _)| version)),
                owner: of.map_or(Arg::Null, |(_, owner)| Arg::Integer(owner)),
                ..NOWHERE
            },
            Self::Ids(ids) => Place { ids: Arg::Uuids(ids), ..NOWHERE },
            Self::Correlated(ids) => Place { correlation_ids: Arg::Texts(ids), ..NOWHERE },
        }
    }

    fn statement(&self) -> &'static Statement {
        match self {
            Self::Range { newest: true, of: None, .. } => &NEWEST,
            Self::Range { newest: false, of: None, .. } => &OLDEST,
            Self::Range { newest: true, of: Some(_), .. } => &NEWEST_OF,
            Self::Range { newest: false, of: Some(_), .. } => &OLDEST_OF,
            Self::Ids(_) => &NAMED,
            Self::Correlated(_) => &CORRELATED,
        }
    }
}

/// Reads at most `at_most` instances. Reads their names only on request, because that takes time.
pub fn read_portion(filter: &InstanceFilter, scan: Scan<'_>, with_names: bool, at_most: usize) -> Portion {
    let words = FilterTexts::of(filter);
    let has_conditions = *filter != InstanceFilter { times: filter.times.clone(), ..InstanceFilter::default() };
    let at_most = i64::try_from(at_most).unwrap_or(i64::MAX);
    let Place { low, high, version, owner, ids, correlation_ids } = scan.place();
    let mut arguments = words.arguments(filter, low, Arg::BigInt(at_most)).to_vec();
    let (has_conditions, with_names) = (Arg::Boolean(has_conditions), Arg::Boolean(with_names));
    // $14 to $20.
    arguments.extend([high, version, owner, ids, correlation_ids, has_conditions, with_names]);
    let mut portion = Portion { matching: Vec::new(), rows_read: 0, last: None };
    let rows = scan.statement().rows(&arguments, |row| {
        let listed = read(row);
        (listed, row.get::<bool>())
    });
    portion.rows_read = rows.len();
    portion.last = rows.last().map(|(listed, _)| listed.id);
    let matching = rows.into_iter().filter(|(listed, is_match)| *is_match && satisfy_all(listed.times, &filter.times));
    portion.matching = matching.map(|(listed, _)| listed).collect();
    portion
}

fn read(row: &mut Row<'_>) -> Listed {
    let (id, version, owner, is_child) = (row.get(), row.get(), row.get(), row.get());
    Listed { id, version, owner, is_child, times: [row.maybe(), row.maybe(), row.maybe()], name: row.maybe() }
}

static NEXT_OWNER: Statement = Statement::new(
    "SELECT i.owner FROM workflow.instances i WHERE i.definition_version_id = $1 AND i.owner > $2 \
     ORDER BY i.definition_version_id, i.owner LIMIT 1",
    &[Type::Uuid, Type::Integer],
);

/// The owners of the instances of a version, with one index probe for each.
pub fn owners_of(version: Uuid) -> Vec<i32> {
    let next = |after: i32| NEXT_OWNER.first(&[Arg::Uuid(&version), Arg::Integer(after)], |row| row.get::<i32>());
    // Owners are numbered from 1.
    std::iter::successors(next(i32::MIN), |owner| next(*owner)).collect()
}

/// A version of a definition, as lists look for instances.
#[derive(Debug)]
pub struct Version {
    /// Id of this version alone.
    pub id: Uuid,
    /// The id that all versions of the definition share.
    pub definition: String,
    /// Id in `workflow.owners` of the role to which it belongs.
    pub owner: i32,
    /// Number of the version among those of its definition.
    pub number: i32,
}

// Includes deleted versions, which may have instances.
static VERSIONS: Statement =
    Statement::new("SELECT d.id, d.definition_id, d.owner, d.version FROM workflow.definitions d", &[]);

/// All versions of all definitions.
pub fn versions() -> Vec<Version> {
    VERSIONS.rows(&[], |row| Version { id: row.get(), definition: row.get(), owner: row.get(), number: row.get() })
}

static NEWEST_WAITING: Statement = Statement::new(
    "SELECT b.instance_id FROM workflow.bookmarks b ORDER BY b.instance_id DESC LIMIT $1",
    &[Type::BigInt],
);
static OLDEST_WAITING: Statement =
    Statement::new("SELECT b.instance_id FROM workflow.bookmarks b ORDER BY b.instance_id LIMIT $1", &[Type::BigInt]);
static NEWEST_FAULTED: Statement = Statement::new(
    "SELECT n.instance_id FROM workflow.incidents n WHERE n.resolved_at IS NULL ORDER BY n.created_at DESC LIMIT $1",
    &[Type::BigInt],
);
static OLDEST_FAULTED: Statement = Statement::new(
    "SELECT n.instance_id FROM workflow.incidents n WHERE n.resolved_at IS NULL ORDER BY n.created_at LIMIT $1",
    &[Type::BigInt],
);
static NEWEST_INCIDENTS: Statement =
    Statement::new("SELECT n.instance_id FROM workflow.incidents n ORDER BY n.id DESC LIMIT $1", &[Type::BigInt]);
static OLDEST_INCIDENTS: Statement =
    Statement::new("SELECT n.instance_id FROM workflow.incidents n ORDER BY n.id LIMIT $1", &[Type::BigInt]);
/// Tables with ids of instances that may satisfy a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traces {
    /// Bookmarks: instances that wait.
    Bookmarks,
    /// Open incidents: instances that have faulted.
    OpenIncidents,
    /// All incidents, including resolved ones.
    Incidents,
}

/// At most `at_most` ids of instances with traces, newest or oldest first; an id may occur several times.
pub fn traces(of: Traces, newest: bool, at_most: usize) -> Vec<Uuid> {
    let at_most = Arg::BigInt(i64::try_from(at_most).unwrap_or(i64::MAX));
    let statement = match (of, newest) {
        (Traces::Bookmarks, true) => &NEWEST_WAITING,
        (Traces::Bookmarks, false) => &OLDEST_WAITING,
        (Traces::OpenIncidents, true) => &NEWEST_FAULTED,
        (Traces::OpenIncidents, false) => &OLDEST_FAULTED,
        (Traces::Incidents, true) => &NEWEST_INCIDENTS,
        (Traces::Incidents, false) => &OLDEST_INCIDENTS,
    };
    statement.rows(&[at_most], |row| row.get())
}

/// The data of an instance in a list.
#[derive(Debug)]
pub struct ListRow {
    /// Id of the instance.
    pub id: Uuid,
    /// The id that all versions of its definition share.
    pub definition: String,
    /// Number of the version that it runs.
    pub number: i32,
    /// Id of the version that it runs.
    pub version: Uuid,
    /// The name that the workflow gave it; `None`: none.
    pub name: Option<String>,
    /// Its correlation id; `None`: it has none.
    pub correlation: Option<String>,
    /// `Running` or `Finished`, derived from the sub-status.
    pub status: String,
    /// Its sub-status, as the view shows it.
    pub sub_status: String,
    /// How many incidents it has.
    pub incidents: i32,
    /// Id in `workflow.owners` of the role to which it belongs.
    pub owner: i32,
    /// The instance that started it as a child workflow; `None`: none did.
    pub parent: Option<Uuid>,
    /// When it was created.
    pub created: Timestamp,
    /// When it last changed.
    pub updated: Timestamp,
    /// When it ended; `None`: it has not.
    pub finished: Option<Timestamp>,
    /// Since when it is paused.
    pub paused: Option<Timestamp>,
}

static SHOWN: Statement = Statement::new(
    "SELECT i.id, i.definition_id, i.version, i.definition_version_id, i.name, i.correlation_id, i.status, \
            CASE WHEN i.cancelling_at IS NOT NULL AND i.sub_status = 'Suspended' THEN 'Cancelling' ELSE i.sub_status END, \
            i.incident_count, i.owner, i.parent_instance_id, i.created_at, i.updated_at, i.finished_at, i.paused_at \
     FROM workflow.instances i WHERE i.id = ANY ($1)",
    &[Type::UuidArray],
);

/// The list data of these instances, in any order.
pub fn list_rows(ids: &[Uuid]) -> Vec<ListRow> {
    SHOWN.rows(&[Arg::Uuids(ids)], |row| ListRow {
        id: row.get(),
        definition: row.get(),
        number: row.get(),
        version: row.get(),
        name: row.maybe(),
        correlation: row.maybe(),
        status: row.get(),
        sub_status: row.get(),
        incidents: row.get(),
        owner: row.get(),
        parent: row.maybe(),
        created: row.get(),
        updated: row.get(),
        finished: row.maybe(),
        paused: row.maybe(),
    })
}
