//! Removing instances with their rows in all tables, and rows of a correlation id that no instance has.
//!
//! Retention, `wf_delete_instance` and `wf_erase` all remove instances through this module, so that no table is
//! forgotten.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::pg::spi::{Arg, Statement, Type};
use crate::store::history::audit;
use crate::store::tasks::limits;

/// Numbers of rows by table: removed or changed, and remaining.
#[derive(Clone, Debug, Default)]
pub struct Tally(BTreeMap<&'static str, Rows>);

/// Numbers of rows of a table.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rows {
    /// Removed or changed rows.
    pub done: u64,
    /// Remaining rows, which belong to other roles.
    pub kept: u64,
}

impl Tally {
    /// Counts removed or changed rows of a table.
    pub fn add_done(&mut self, table: &'static str, count: u64) {
        self.0.entry(table).or_default().done += count;
    }

    /// Counts remaining rows of a table.
    pub fn add_kept(&mut self, table: &'static str, count: u64) {
        self.0.entry(table).or_default().kept += count;
    }

    /// Adds the counts of another tally.
    pub fn add(&mut self, other: &Self) {
        for (table, rows) in other.tables() {
            self.add_done(table, rows.done);
            self.add_kept(table, rows.kept);
        }
    }

    /// The numbers of a table.
    pub fn rows_of(&self, table: &'static str) -> Rows {
        self.0.get(table).copied().unwrap_or_default()
    }

    /// The tables that have rows, by name.
    pub fn tables(&self) -> impl Iterator<Item = (&'static str, Rows)> {
        self.0.iter().map(|(table, rows)| (*table, *rows)).filter(|(_, rows)| rows.done + rows.kept > 0)
    }
}

/// Deletes the rows of a table of stimuli that name instances, or their bookmarks, tasks or executions.
macro_rules! stimuli_for {
    ($table:literal) => {
        [
            Statement::new(concat!("DELETE FROM workflow.", $table, " q WHERE q.instance_id = ANY ($1)"), &[Type::UuidArray]),
            Statement::new(
                concat!(
                    "DELETE FROM workflow.",
                    $table,
                    " q WHERE q.instance_id IS NULL AND COALESCE(q.bookmark_id, q.activity_instance_id) IS NOT NULL \
                       AND COALESCE(q.bookmark_id, q.activity_instance_id) = ANY (ARRAY( \
                           SELECT b.id FROM workflow.bookmarks b WHERE b.instance_id = ANY ($1) \
                           UNION SELECT b.activity_instance_id FROM workflow.bookmarks b WHERE b.instance_id = ANY ($1) \
                           UNION SELECT t.id FROM workflow.tasks t WHERE t.instance_id = ANY ($1)))"
                ),
                &[Type::UuidArray],
            ),
        ]
    };
}

static STIMULI: [Statement; 2] = stimuli_for!("bookmark_queue");
static DEAD_LETTERS: [Statement; 2] = stimuli_for!("dead_letters");

// An admission of an instance that has ended is free. With a key it contains a value of the input.
static ADMISSIONS: Statement = Statement::new(
    "DELETE FROM workflow.admissions WHERE id IN ( \
         SELECT a.id FROM workflow.admissions a WHERE a.instance_id = ANY ($1) AND a.place <> '' FOR UPDATE SKIP LOCKED)",
    &[Type::UuidArray],
);

/// Deletes the rows of a table that name instances.
macro_rules! rows_of {
    ($table:literal, $column:literal) => {
        (
            $table,
            Statement::new(
                concat!("DELETE FROM workflow.", $table, " WHERE ", $column, " = ANY ($1)"),
                &[Type::UuidArray],
            ),
        )
    };
}

// The row of the instance goes last.
static ROWS: [(&str, Statement); 9] = [
    rows_of!("bookmarks", "instance_id"),
    rows_of!("tasks", "instance_id"),
    rows_of!("incidents", "instance_id"),
    rows_of!("compensations", "instance_id"),
    rows_of!("pauses", "instance_id"),
    rows_of!("http_requests", "instance_id"),
    rows_of!("search_attributes", "instance_id"),
    rows_of!("execution_log", "instance_id"),
    rows_of!("instances", "id"),
];

/// Removes instances that the caller has locked, and their rows in other tables. The audit keeps their acts.
pub fn remove(ids: &[Uuid]) -> Tally {
    let mut tally = Tally::default();
    if ids.is_empty() {
        return tally;
    }
    audit::keep(ids);
    let run = |statement: &'static Statement| statement.run(&[Arg::Uuids(ids)]);
    // These look for bookmarks and tasks.
    tally.add_done("bookmark_queue", STIMULI.iter().map(run).sum());
    tally.add_done("dead_letters", DEAD_LETTERS.iter().map(run).sum());
    tally.add_done("slots", limits::forget_keys(ids));
    tally.add_done("admissions", run(&ADMISSIONS));
    for (table, statement) in &ROWS {
        tally.add_done(table, run(statement));
    }
    tally
}

static UNUSED: Statement = Statement::new(
    "SELECT DISTINCT k.key FROM unnest($1) AS k (key) \
     WHERE NOT EXISTS (SELECT FROM workflow.instances i WHERE i.correlation_id = k.key)",
    &[Type::TextArray],
);

/// Those of these correlation ids that no instance has.
pub fn unused_keys(keys: &[String]) -> Vec<String> {
    UNUSED.rows(&[Arg::Texts(keys)], |row| row.get())
}

/// The condition on stimuli `q` for a correlation id, whatever instance has it.
macro_rules! keyed {
    () => {
        "q.correlation_id = ANY ($1) AND q.instance_id IS NULL"
    };
}

static OWNERS: Statement = Statement::new(
    concat!(
        "SELECT q.sender FROM workflow.bookmark_queue q WHERE ",
        keyed!(),
        " UNION SELECT q.sender FROM workflow.dead_letters q WHERE ",
        keyed!(),
        " UNION SELECT m.owner FROM workflow.messages m WHERE m.key = ANY ($1)"
    ),
    &[Type::TextArray],
);

/// The ids in `workflow.owners` of the roles that have sent stimuli for these correlation ids or called wf_call with
/// them.
pub fn owners_of_keys(keys: &[String]) -> Vec<i32> {
    OWNERS.rows(&[Arg::Texts(keys)], |row| row.get())
}

// A stimulus that another session has locked is being delivered.
static KEYED: [Statement; 3] = [
    Statement::new(
        concat!(
            "DELETE FROM workflow.bookmark_queue WHERE id IN (SELECT q.id FROM workflow.bookmark_queue q WHERE ",
            keyed!(),
            " AND q.sender = ANY ($2) FOR UPDATE SKIP LOCKED)"
        ),
        &[Type::TextArray, Type::IntegerArray],
    ),
    Statement::new(
        concat!("DELETE FROM workflow.dead_letters q WHERE ", keyed!(), " AND q.sender = ANY ($2)"),
        &[Type::TextArray, Type::IntegerArray],
    ),
    Statement::new(
        "DELETE FROM workflow.messages m WHERE m.key = ANY ($1) AND m.owner = ANY ($2)",
        &[Type::TextArray, Type::IntegerArray],
    ),
];
static COUNT_KEYED: [Statement; 3] = [
    Statement::new(
        concat!("SELECT 1 FROM workflow.bookmark_queue q WHERE ", keyed!(), " AND q.sender <> ALL ($2)"),
        &[Type::TextArray, Type::IntegerArray],
    ),
    Statement::new(
        concat!("SELECT 1 FROM workflow.dead_letters q WHERE ", keyed!(), " AND q.sender <> ALL ($2)"),
        &[Type::TextArray, Type::IntegerArray],
    ),
    Statement::new(
        "SELECT 1 FROM workflow.messages m WHERE m.key = ANY ($1) AND m.owner <> ALL ($2)",
        &[Type::TextArray, Type::IntegerArray],
    ),
];

/// Removes stimuli and messages of these roles for correlation ids that name no instance. Counts those that other roles
/// have sent.
pub fn remove_keyed(keys: &[String], owners: &[i32]) -> Tally {
    let mut tally = Tally::default();
    let run = |statement: &'static Statement| statement.run(&[Arg::Texts(keys), Arg::Integers(owners)]);
    for (table, (delete, others)) in
        ["bookmark_queue", "dead_letters", "messages"].into_iter().zip(KEYED.iter().zip(&COUNT_KEYED))
    {
        tally.add_done(table, run(delete));
        tally.add_kept(table, run(others));
    }
    tally
}
