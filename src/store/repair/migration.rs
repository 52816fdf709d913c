//! Statements of a migration, which change the stored data of an instance to another version of its definition.
//!
//! The caller holds the lock of the instance. No other call writes the columns that name an activity in rows of tasks,
//! bookmarks and incidents. Claims, heartbeats and records of failed fires change other columns of bookmarks without
//! that lock; a statement here waits for them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use uuid::Uuid;
use workflow_engine::NodeIx;
use workflow_engine::execution::{activity_instance_id, sequence_of};
use workflow_engine::program::Program;

use crate::pg::rows::{Columns, Writer};
use crate::pg::spi::{Arg, Change, Statement, Timestamp, Type, changed};
use crate::store::definitions::DefinitionRow;
use crate::store::instances::{self, InstanceRow};
use crate::store::tables::INSTANCES;

static PAGE: Statement = Statement::new(
    "SELECT i.id FROM workflow.instances i \
     WHERE i.definition_id = $1 AND i.id > $2 AND ($3 IS NULL OR i.version = $3) \
       AND ($4 IS NULL OR i.version <> $4) AND i.finished_at IS NULL \
     ORDER BY i.id LIMIT $5",
    &[Type::Text, Type::Uuid, Type::Integer, Type::Integer, Type::Integer],
);

/// The first unended instances after an id, of a definition, of one of its versions, or of all its versions except one.
/// No index contains the definition, so the order is that of the primary key: consecutive pages read the table once.
pub fn page(definition_id: &str, after: Uuid, versions: (Option<i32>, Option<i32>), max: i32) -> Vec<Uuid> {
    let [only, except] = [versions.0, versions.1].map(|version| version.map_or(Arg::Null, Arg::Integer));
    let given = [Arg::Text(definition_id), Arg::Uuid(&after), only, except, Arg::Integer(max)];
    PAGE.rows(&given, |row| row.get())
}

static OTHERS: Statement = Statement::new(
    "SELECT FROM workflow.definitions d WHERE d.definition_id = $1 AND d.id <> $2 AND d.deleted_at IS NULL LIMIT 1",
    &[Type::Text, Type::Uuid],
);

/// Whether the definition has other versions.
pub fn has_others(row: &DefinitionRow) -> bool {
    OTHERS.first(&[Arg::Text(&row.definition_id), Arg::Uuid(&row.id)], |_| ()).is_some()
}

static MIGRATIONS: Statement = Statement::new(
    "SELECT i.id FROM workflow.instances i \
     WHERE i.correlation_id = $1 AND i.definition_id = 'Workflow.MigrateInstances' AND i.status = 'Running'",
    &[Type::Text],
);

/// The unended instances that migrate those of a definition to a published version.
pub fn of_definition(definition_id: &str) -> Vec<Uuid> {
    MIGRATIONS.rows(&[Arg::Text(definition_id)], |row| row.get())
}

changed! {
    struct Migrated<'a> of INSTANCES {
        id: &'a Uuid,
        definition_version_id: &'a Uuid,
        version: i32,
        updated_at: Timestamp,
        state: &'a [u8],
        variables: Change<&'a Map<String, Value>>,
        activation_key: Change<Option<&'a str>>,
    }
}
static MIGRATED: Columns = Columns::of(&INSTANCES, Migrated::COLUMNS);

/// Writes the columns of a locked instance that a migration changes. A key that another instance holds is a unique
/// violation (23505).
pub fn save(writer: &mut Writer, row: &InstanceRow, variables: bool, key_before: Option<&str>, now: Timestamp) {
    let instance = &row.instance;
    let key = row.activation_key.as_deref();
    let state = instances::packed(instance);
    let changes = Migrated {
        id: &instance.id,
        definition_version_id: &row.definition_version_id,
        version: instance.version,
        updated_at: now,
        state: &state,
        variables: Change::when(variables, &instance.variables),
        activation_key: Change::when(key != key_before, key),
    };
    writer.update(&MIGRATED, &changes.changes());
}

static START: Statement = Statement::new(
    "SELECT b.activity_id FROM workflow.bookmarks b \
     WHERE b.instance_id = $1 AND b.name IN ('Workflow.Start', 'Workflow.Limit') AND b.activity_id <> ''",
    &[Type::Uuid],
);

/// The trigger at which a pending instance will start. `None`: at its root.
pub fn trigger_of_start(instance: &Uuid) -> Option<String> {
    START.first(&[Arg::Uuid(instance)], |row| row.get())
}

static WAITING: Statement = Statement::new(
    "SELECT b.activity_instance_id, b.id FROM workflow.bookmarks b WHERE b.instance_id = $1 AND b.name = $2",
    &[Type::Uuid, Type::Text],
);

/// The executions of an instance that wait at bookmarks of a name, with their bookmarks.
pub fn waiting(instance: &Uuid, name: &str) -> BTreeMap<u32, Uuid> {
    let waiting: Vec<(Uuid, Uuid)> =
        WAITING.rows(&[Arg::Uuid(instance), Arg::Text(name)], |row| (row.get(), row.get()));
    waiting.into_iter().filter_map(|(execution, id)| Some((sequence_of(*instance, execution)?, id))).collect()
}

static RENAME_BOOKMARKS: Statement = Statement::new(
    "UPDATE workflow.bookmarks b SET activity_id = v.activity_id, node_id = v.node_id, \
         kind_key = (b.kind_key & ~4095) | (hashtext(v.activity_id) & 4095) \
     FROM ROWS FROM (unnest($2), unnest($3), unnest($4)) AS v (id, activity_id, node_id) \
     WHERE b.instance_id = $1 AND b.activity_instance_id = v.id",
    &[Type::Uuid, Type::UuidArray, Type::TextArray, Type::TextArray],
);
static RENAME_TASKS: Statement = Statement::new(
    "UPDATE workflow.tasks t SET activity_id = b.activity_id FROM workflow.bookmarks b \
     WHERE b.instance_id = $1 AND t.id = b.id AND t.activity_id <> b.activity_id",
    &[Type::Uuid],
);
static RENAME_ENDED_TASKS: Statement = Statement::new(
    "UPDATE workflow.tasks t SET activity_id = v.renamed FROM ROWS FROM (unnest($2), unnest($3)) AS v (activity_id, renamed) \
     WHERE t.instance_id = $1 AND t.activity_id = v.activity_id AND t.completed_at IS NOT NULL",
    &[Type::Uuid, Type::TextArray, Type::TextArray],
);
static RENAME_INCIDENTS: Statement = Statement::new(
    "UPDATE workflow.incidents i SET activity_id = v.activity_id, node_id = v.node_id \
     FROM ROWS FROM (unnest($2), unnest($3), unnest($4)) AS v (id, activity_id, node_id) \
     WHERE i.instance_id = $1 AND i.activity_instance_id = v.id AND i.resolved_at IS NULL",
    &[Type::Uuid, Type::UuidArray, Type::TextArray, Type::TextArray],
);

/// Renames the activities in the ended tasks of an instance: who answered them may be excluded from tasks of the new
/// version.
pub fn rename_ended_tasks(instance: Uuid, renamed: &[(String, String)]) {
    if renamed.is_empty() {
        return;
    }
    let (from, to): (Vec<String>, Vec<String>) = renamed.iter().cloned().unzip();
    RENAME_ENDED_TASKS.run(&[Arg::Uuid(&instance), Arg::Texts(&from), Arg::Texts(&to)]);
}

/// Renames the activities in the bookmarks, the open tasks and, with `incidents`, the open incidents of executions to
/// those of another version.
pub fn rename(instance: Uuid, program: &Program, renamed: &[(u32, NodeIx)], incidents: bool) {
    let executions: Vec<Uuid> = renamed.iter().map(|(number, _)| activity_instance_id(instance, *number)).collect();
    let nodes = || renamed.iter().map(|(_, ix)| program.node(*ix));
    let ids: Vec<String> = nodes().map(|node| node.id.clone()).collect();
    let paths: Vec<String> = nodes().map(|node| node.node_id.clone()).collect();
    let args = [Arg::Uuid(&instance), Arg::Uuids(&executions), Arg::Texts(&ids), Arg::Texts(&paths)];
    RENAME_BOOKMARKS.run(&args);
    RENAME_TASKS.run(&[Arg::Uuid(&instance)]);
    if incidents {
        RENAME_INCIDENTS.run(&args);
    }
}
