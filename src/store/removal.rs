//! Removing instances with their rows in all tables, and what belongs to a correlation id that no instance has.
//!
//! Retention, `wf_delete_instance` and `wf_erase` remove instances here, so that none of them leaves a table out.

use uuid::Uuid;

use crate::pg::spi::{Arg, Statement, Type};
use crate::store::audit;

/// Numbers of rows that nobody sees with the instance, by which a call reports what it has removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Stimuli in the queue.
    pub stimuli: u64,
    /// Dead letters.
    pub dead_letters: u64,
    /// Answers of `wf_call`.
    pub answers: u64,
}

impl Counts {
    /// Adds those of another removal.
    pub fn add(&mut self, other: Self) {
        self.stimuli += other.stimuli;
        self.dead_letters += other.dead_letters;
        self.answers += other.answers;
    }

    /// The number of all of them.
    pub fn total(self) -> u64 {
        self.stimuli + self.dead_letters + self.answers
    }
}

/// Deletes the rows of a table of stimuli that name instances, or a bookmark, task or execution of them.
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

// An admission of an instance that has ended is free. With a key it has a value of the input.
static ADMISSIONS: Statement = Statement::new(
    "DELETE FROM workflow.admissions WHERE id IN ( \
         SELECT a.id FROM workflow.admissions a WHERE a.instance_id = ANY ($1) AND a.place <> '' FOR UPDATE SKIP LOCKED)",
    &[Type::UuidArray],
);

// The row of the instance goes last.
static ROWS: [Statement; 7] = [
    Statement::new("DELETE FROM workflow.bookmarks WHERE instance_id = ANY ($1)", &[Type::UuidArray]),
    Statement::new("DELETE FROM workflow.tasks WHERE instance_id = ANY ($1)", &[Type::UuidArray]),
    Statement::new("DELETE FROM workflow.incidents WHERE instance_id = ANY ($1)", &[Type::UuidArray]),
    Statement::new("DELETE FROM workflow.compensations WHERE instance_id = ANY ($1)", &[Type::UuidArray]),
    Statement::new("DELETE FROM workflow.pauses WHERE instance_id = ANY ($1)", &[Type::UuidArray]),
    Statement::new("DELETE FROM workflow.execution_log WHERE instance_id = ANY ($1)", &[Type::UuidArray]),
    Statement::new("DELETE FROM workflow.instances WHERE id = ANY ($1)", &[Type::UuidArray]),
];

/// Removes instances, which the caller has locked, and their rows in other tables. The audit keeps what was done to them.
pub fn remove(ids: &[Uuid]) -> Counts {
    if ids.is_empty() {
        return Counts::default();
    }
    audit::keep(ids);
    let run = |statement: &'static Statement| statement.run(&[Arg::Uuids(ids)]);
    // These look for bookmarks and tasks.
    let stimuli = STIMULI.iter().map(run).sum();
    let dead_letters = DEAD_LETTERS.iter().map(run).sum();
    run(&ADMISSIONS);
    ROWS.iter().for_each(|statement| _ = run(statement));
    Counts { stimuli, dead_letters, answers: 0 }
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

/// The condition on stimuli `q` that are for a correlation id, whatever instance has it.
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

/// The ids in `workflow.owners` of the roles that have sent stimuli for these correlation ids or have called with them.
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

/// Removes stimuli and answers of these roles that are for correlation ids and name no instance. Returns the numbers of
/// those removed, and of those that other roles have sent.
pub fn remove_keyed(keys: &[String], owners: &[i32]) -> (Counts, Counts) {
    let count = |[stimuli, dead_letters, answers]: &'static [Statement; 3]| {
        let run = |statement: &'static Statement| statement.run(&[Arg::Texts(keys), Arg::Integers(owners)]);
        Counts { stimuli: run(stimuli), dead_letters: run(dead_letters), answers: run(answers) }
    };
    (count(&KEYED), count(&COUNT_KEYED))
}
