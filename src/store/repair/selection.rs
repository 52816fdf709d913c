//! Instances selected by the filter of a plan, in the order of their ids.

use uuid::Uuid;
use workflow_engine::activities::migrate_instances::MIGRATE_INSTANCES;
use workflow_engine::activities::scheduled_command::SCHEDULED_COMMAND;
use workflow_engine::alteration::{InstanceFilter, Moment, Relation, TimeFilter};

use crate::pg::spi::{Arg, Row, Statement, Timestamp, Type};
use crate::store::rights::owners::{self, Owner};

/// An instance that satisfies all conditions of a filter except those on times.
#[derive(Debug)]
pub struct SelectedInstance {
    /// Id of the instance, after which the next page begins.
    pub id: Uuid,
    /// The definition version that it runs.
    pub version: Uuid,
    /// Its owner, which determines the caller's right to alter it.
    pub owner: Owner,
    times: [Option<Timestamp>; 3],
}

fn read(row: &mut Row<'_>) -> SelectedInstance {
    let (id, version, owner) = (row.get(), row.get(), owners::by_id(row.get()));
    SelectedInstance { id, version, owner, times: [row.maybe(), row.maybe(), row.maybe()] }
}

// The conditions of a filter except those on times. Each may be NULL.
macro_rules! conditions {
    () => {
        "($2 IS NULL OR i.id = ANY ($2)) AND ($3 IS NULL OR i.correlation_id = ANY ($3)) \
         AND ($4 IS NULL OR i.definition_version_id = ANY ($4)) AND ($5 IS NULL OR i.definition_id = ANY ($5)) \
         AND ($6 IS NULL OR i.name = ANY ($6)) AND ($7 IS NULL OR i.status = ANY ($7)) \
         AND ($8 IS NULL OR i.sub_status = ANY ($8)) AND ($9 IS NULL OR (i.incident_count > 0) = $9) \
         AND ($10 IS NULL OR (i.definition_id = ANY ($11)) = $10) \
         AND ($12 IS NULL OR strpos(lower(i.name), $12) > 0 OR strpos(lower(i.correlation_id), $12) > 0 \
              OR strpos(lower(i.definition_id), $12) > 0 OR i.id::text = $12)"
    };
}

// The first condition has an index.
macro_rules! page {
    ($first:literal) => {
        Statement::new(
            concat!(
                "SELECT i.id, i.definition_version_id, i.owner, i.created_at, i.updated_at, i.finished_at \
                 FROM workflow.instances i WHERE ",
                $first,
                " AND ",
                conditions!(),
                " ORDER BY i.id LIMIT $13"
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
            ],
        )
    };
}

pub mod listed;

static BY_ID: Statement = page!("($1 IS NULL OR i.id > $1) AND i.id = ANY ($2)");
static BY_CORRELATION: Statement = page!("($1 IS NULL OR i.id > $1) AND i.correlation_id = ANY ($3)");
static BY_VERSION: Statement = page!("($1 IS NULL OR i.id > $1) AND i.definition_version_id = ANY ($4)");
static BY_DEFINITION: Statement = page!(
    "($1 IS NULL OR i.id > $1) AND i.definition_version_id = ANY (ARRAY( \
         SELECT d.id FROM workflow.definitions d WHERE d.definition_id = ANY ($5)))"
);
static ALL: Statement = page!("i.id > coalesce($1, '00000000-0000-0000-0000-000000000000')");

/// At most `at_most` instances after an id that satisfy all conditions of a filter except those on times.
pub fn page(filter: &InstanceFilter, after: Option<Uuid>, at_most: usize) -> Vec<SelectedInstance> {
    let statement = match filter {
        InstanceFilter { instance_ids: Some(_), .. } => &BY_ID,
        InstanceFilter { correlation_ids: Some(_), .. } => &BY_CORRELATION,
        InstanceFilter { version_ids: Some(_), .. } => &BY_VERSION,
        InstanceFilter { definition_ids: Some(_), .. } => &BY_DEFINITION,
        _ => &ALL,
    };
    let words = FilterTexts::of(filter);
    statement.rows(&words.arguments(filter, Arg::uuid(after.as_ref()), Arg::BigInt(at_most as i64)), read)
}

/// Texts that parameters of the conditions refer to.
struct FilterTexts {
    term: Option<String>,
    built_in: [String; 2],
}

impl FilterTexts {
    fn of(filter: &InstanceFilter) -> Self {
        let term = filter.search_term.as_ref().map(|term| term.to_lowercase());
        Self { term, built_in: [SCHEDULED_COMMAND, MIGRATE_INSTANCES].map(str::to_owned) }
    }

    /// The first 13 parameters of a statement: the start of the ids, the conditions, and the maximum number of rows.
    fn arguments<'a>(&'a self, filter: &'a InstanceFilter, begin: Arg<'a>, at_most: Arg<'a>) -> [Arg<'a>; 13] {
        let flag = |flag: Option<bool>| flag.map_or(Arg::Null, Arg::Boolean);
        [
            begin,
            uuid_list(&filter.instance_ids),
            text_list(&filter.correlation_ids),
            uuid_list(&filter.version_ids),
            text_list(&filter.definition_ids),
            text_list(&filter.names),
            text_list(&filter.statuses),
            text_list(&filter.sub_statuses),
            flag(filter.has_incidents),
            flag(filter.is_system),
            Arg::Texts(&self.built_in),
            Arg::text(self.term.as_deref()),
            at_most,
        ]
    }
}

fn uuid_list(ids: &Option<Vec<Uuid>>) -> Arg<'_> {
    ids.as_deref().map_or(Arg::Null, Arg::Uuids)
}

fn text_list(texts: &Option<Vec<String>>) -> Arg<'_> {
    texts.as_deref().map_or(Arg::Null, Arg::Texts)
}

impl SelectedInstance {
    /// Whether the times of the instance satisfy all conditions. A missing time satisfies none.
    pub fn is_of(&self, times: &[TimeFilter]) -> bool {
        satisfy_all(self.times, times)
    }
}

/// Whether the times of an instance (created, updated, finished) satisfy all conditions.
fn satisfy_all(times: [Option<Timestamp>; 3], filters: &[TimeFilter]) -> bool {
    filters.iter().all(|filter| {
        let [created, updated, finished] = times;
        let time = match filter.moment {
            Moment::CreatedAt => created,
            Moment::UpdatedAt => updated,
            Moment::FinishedAt => finished,
        };
        time.is_some_and(|time| satisfies(time, filter.relation, filter.instant.into()))
    })
}

fn satisfies(time: Timestamp, relation: Relation, to: Timestamp) -> bool {
    match relation {
        Relation::Is => time == to,
        Relation::IsNot => time != to,
        Relation::GreaterThan => time > to,
        Relation::GreaterThanOrEqual => time >= to,
        Relation::LessThan => time < to,
        Relation::LessThanOrEqual => time <= to,
    }
}
