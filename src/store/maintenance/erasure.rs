//! The statements of `wf_erase`: rows of a correlation id, and rows that name an actor.
//!
//! No index leads from an actor to rows: every act would have to update it. Instances are read in the order of ids, a
//! page at a time. In JSON columns a string that equals the actor is replaced; a longer string that contains the name
//! is data of the case. Data that still has an effect stays: variables of running instances, queued stimuli, and
//! schedules that start instances of others.

use uuid::Uuid;
use workflow_engine::fault::Error;
use workflow_engine::journal;

use crate::pg::spi::{Arg, Statement, Type};
use crate::pg::{interrupt, memory};
use crate::store::maintenance::removal::Tally;

static INSTANCES: Statement =
    Statement::new("SELECT i.id FROM workflow.instances i WHERE i.correlation_id = $1 ORDER BY i.id", &[Type::Text]);

/// The instances with a correlation id, oldest first.
pub fn instances(key: &str) -> Vec<Uuid> {
    INSTANCES.rows(&[Arg::Text(key)], |row| row.get())
}

static SCHEDULES: Statement = Statement::new(
    "DELETE FROM workflow.triggers t WHERE t.correlation_id = $1 AND t.schedule_name IS NOT NULL AND t.owner = ANY ($2)",
    &[Type::Text, Type::IntegerArray],
);

/// Removes the named schedules of these owners that start instances with a correlation id. Returns how many.
pub fn remove_schedules(key: &str, owners: &[i32]) -> u64 {
    SCHEDULES.run(&[Arg::Text(key), Arg::Integers(owners)])
}

/// Whether rows of the audit `g` are about definitions of these owners (`$1`), or about other objects of theirs.
macro_rules! audited {
    () => {
        "(g.definition_id IN (SELECT d.definition_id FROM workflow.definitions d WHERE d.owner = ANY ($1) \
                              UNION SELECT n.definition_id FROM workflow.definition_ids n WHERE n.owner = ANY ($1)) \
          OR (g.definition_id IS NULL OR g.definition_id = ANY (ARRAY['Workflow.ScheduledCommand', 'Workflow.MigrateInstances'])) \
             AND g.owner = ANY ($1))"
    };
}

static EMPTY_AUDIT: Statement = Statement::new(
    concat!(
        "UPDATE workflow.audit_log g SET instance_id = NULL, correlation_id = NULL, activity = NULL, task = NULL, \
             bookmark_id = NULL, login = NULL, actor = NULL, detail = NULL \
         WHERE (g.correlation_id = $2 OR g.instance_id = ANY ($3)) \
             AND (g.instance_id IS NULL OR g.instance_id <> ALL ($4)) AND ",
        audited!()
    ),
    &[Type::IntegerArray, Type::Text, Type::UuidArray, Type::UuidArray],
);

/// Empties the audit rows about a correlation id or these instances, except for time, kind, definition and role. Those
/// of the `left_out` instances stay: their tasks may exclude people by them. Returns their number.
pub fn empty_audit(owners: &[i32], key: &str, instances: &[Uuid], left_out: &[Uuid]) -> u64 {
    EMPTY_AUDIT.run(&[Arg::Integers(owners), Arg::Text(key), Arg::Uuids(instances), Arg::Uuids(left_out)])
}

/// An actor and its replacement.
#[derive(Debug)]
pub struct Replacement {
    actor: String,
    pseudonym: String,
    /// The actor as a JSON text.
    actor_json: String,
    /// A pattern that finds this string in JSON as `jsonb` writes it, and its replacement.
    pattern: String,
    substitute: String,
}

/// A text as `jsonb` writes it.
fn json_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A PostgreSQL regular expression that finds a JSON string, but neither a member name nor the end of a longer string.
fn pattern_of(json: &str) -> String {
    let mut pattern = r"(?<!\\)".to_owned();
    for letter in json.chars() {
        if letter.is_ascii() && !letter.is_ascii_alphanumeric() {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern + "(?!:)"
}

/// An instance that may name an actor.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// Its id.
    pub id: Uuid,
    /// Whether the caller may erase it: its definition belongs to one of the owners.
    pub is_managed: bool,
    /// Whether its data names the actor in places that an erasure does not change.
    pub keeps_data: bool,
}

// A journal row contains the name unchanged and, in JSON, as a JSON string.
static FIND: Statement = Statement::new(
    "SELECT i.id, d.owner = ANY ($5) \
         OR d.definition_id = ANY (ARRAY['Workflow.ScheduledCommand', 'Workflow.MigrateInstances']) AND i.owner = ANY ($5) AS managed, k.keeps \
     FROM workflow.instances i JOIN workflow.definitions d ON d.id = i.definition_version_id \
     CROSS JOIN LATERAL (SELECT position(convert_to($3, 'UTF8') in i.state) > 0 \
         OR i.finished_at IS NULL AND strpos(concat(i.input, i.variables, i.output), $3) > 0 \
            AND concat(i.input, i.variables, i.output) ~ $7 AS keeps) k \
     WHERE i.id > $1 AND (d.owner = ANY ($5) OR i.owner = ANY ($5) OR $6) AND ( \
         i.started_actor = $2 OR k.keeps \
         OR i.finished_at IS NOT NULL AND strpos(concat(i.input, i.variables, i.output), $3) > 0 \
         OR i.finished_at IS NOT NULL AND EXISTS (SELECT FROM workflow.search_attributes s WHERE s.instance_id = i.id AND s.text = $2) \
         OR EXISTS (SELECT FROM workflow.tasks t WHERE t.instance_id = i.id \
                    AND (t.completed_actor = $2 OR t.completed_for = $2 OR t.assignee = $2 OR strpos(concat(t.candidates, t.comments), $3) > 0 \
                         OR i.finished_at IS NOT NULL AND strpos(concat(t.payload, t.result), $3) > 0)) \
         OR EXISTS (SELECT FROM workflow.bookmarks b WHERE b.instance_id = i.id \
                    AND (b.assignee = $2 OR b.worker = $2 OR strpos(concat(b.candidates, b.metadata), $3) > 0)) \
         OR EXISTS (SELECT FROM workflow.execution_log l WHERE l.instance_id = i.id \
                    AND (position(convert_to($2, 'UTF8') in l.events) > 0 \
                         OR position(convert_to($3, 'UTF8') in l.events) > 0))) \
     ORDER BY i.id LIMIT $4",
    &[Type::Uuid, Type::Text, Type::Text, Type::BigInt, Type::IntegerArray, Type::Boolean, Type::Text],
);

/// Updates rows of instances (`$1`): `$2` and `$3` are the actor and the pseudonym, `$4` and `$5` find and replace them
/// in JSON.
macro_rules! replacing {
    ($table:literal, $sql:literal) => {
        ($table, Statement::new($sql, &[Type::UuidArray, Type::Text, Type::Text, Type::Text, Type::Text]))
    };
}

static OF_INSTANCES: [(&str, Statement); 5] = [
    replacing!(
        "instances",
        "UPDATE workflow.instances i SET \
             started_actor = CASE i.started_actor WHEN $2 THEN $3 ELSE i.started_actor END, \
             input = CASE WHEN i.finished_at IS NULL THEN i.input ELSE regexp_replace(i.input::text, $4, $5, 'g')::jsonb END, \
             variables = CASE WHEN i.finished_at IS NULL THEN i.variables ELSE regexp_replace(i.variables::text, $4, $5, 'g')::jsonb END, \
             output = CASE WHEN i.finished_at IS NULL THEN i.output ELSE regexp_replace(i.output::text, $4, $5, 'g')::jsonb END \
         WHERE i.id = ANY ($1) AND (i.started_actor = $2 \
             OR i.finished_at IS NOT NULL AND concat(i.input, i.variables, i.output) ~ $4)"
    ),
    replacing!(
        "tasks",
        "UPDATE workflow.tasks t SET \
             completed_actor = CASE t.completed_actor WHEN $2 THEN $3 ELSE t.completed_actor END, \
             completed_for = CASE t.completed_for WHEN $2 THEN $3 ELSE t.completed_for END, \
             assignee = CASE t.assignee WHEN $2 THEN $3 ELSE t.assignee END, \
             candidates = regexp_replace(t.candidates::text, $4, $5, 'g')::jsonb, comments = regexp_replace(t.comments::text, $4, $5, 'g')::jsonb \
         WHERE t.instance_id = ANY ($1) AND (t.completed_actor = $2 OR t.completed_for = $2 OR t.assignee = $2 OR concat(t.candidates, t.comments) ~ $4)"
    ),
    replacing!(
        "tasks",
        "UPDATE workflow.tasks t SET payload = regexp_replace(t.payload::text, $4, $5, 'g')::jsonb, result = regexp_replace(t.result::text, $4, $5, 'g')::jsonb \
         FROM workflow.instances i \
         WHERE t.instance_id = ANY ($1) AND i.id = t.instance_id AND i.finished_at IS NOT NULL \
             AND concat(t.payload, t.result) ~ $4"
    ),
    // Values of variables and inputs, which stay until the instance has ended.
    replacing!(
        "search_attributes",
        "UPDATE workflow.search_attributes s SET text = $3 FROM workflow.instances i \
         WHERE s.instance_id = ANY ($1) AND i.id = s.instance_id AND i.finished_at IS NOT NULL AND s.text = $2"
    ),
    replacing!(
        "bookmarks",
        "UPDATE workflow.bookmarks b SET \
             assignee = CASE b.assignee WHEN $2 THEN $3 ELSE b.assignee END, \
             worker = CASE b.worker WHEN $2 THEN $3 ELSE b.worker END, \
             candidates = regexp_replace(b.candidates::text, $4, $5, 'g')::jsonb, metadata = regexp_replace(b.metadata::text, $4, $5, 'g')::jsonb \
         WHERE b.instance_id = ANY ($1) \
             AND (b.assignee = $2 OR b.worker = $2 OR concat(b.candidates, b.metadata) ~ $4)"
    ),
];

/// Updates at most `$7` rows of these owners (`$1`); `$6` is the actor in JSON, which excludes most rows quickly. The
/// other parameters are as above.
macro_rules! replacing_some {
    ($table:literal, $alias:literal, $set:literal, $where:expr) => {
        (
            $table,
            Statement::new(
                concat!(
                    "UPDATE workflow.",
                    $table,
                    " u SET ",
                    $set,
                    " WHERE u.ctid = ANY (ARRAY(SELECT ",
                    $alias,
                    ".ctid FROM workflow.",
                    $table,
                    " ",
                    $alias,
                    " WHERE ",
                    $where,
                    " LIMIT $7 FOR UPDATE SKIP LOCKED))"
                ),
                &[Type::IntegerArray, Type::Text, Type::Text, Type::Text, Type::Text, Type::Text, Type::BigInt],
            ),
        )
    };
}

/// Whether a schedule `t` starts objects of these owners (`$1`).
macro_rules! starts_own {
    () => {
        "EXISTS (SELECT FROM workflow.definitions d WHERE d.id = t.definition_version_id \
             AND (d.owner = ANY ($1) OR d.definition_id = 'Workflow.ScheduledCommand' AND t.owner = ANY ($1)))"
    };
}

static OF_OWNERS: [(&str, Statement); 5] = [
    replacing_some!(
        "dead_letters",
        "q",
        "actor = CASE u.actor WHEN $2 THEN $3 ELSE u.actor END, input = regexp_replace(u.input::text, $4, $5, 'g')::jsonb",
        "(q.actor = $2 OR (strpos(q.input::text, $6) > 0 AND q.input::text ~ $4)) AND (q.sender = ANY ($1) OR EXISTS ( \
             SELECT FROM workflow.instances i JOIN workflow.definitions d ON d.id = i.definition_version_id \
             WHERE i.id = q.instance_id AND d.owner = ANY ($1)))"
    ),
    replacing_some!(
        "messages",
        "m",
        "answer = regexp_replace(u.answer::text, $4, $5, 'g')::jsonb",
        "(strpos(m.answer::text, $6) > 0 AND m.answer::text ~ $4) AND m.owner = ANY ($1)"
    ),
    // A pseudonym replaces no one.
    (
        "substitutes",
        Statement::new(
            "DELETE FROM workflow.substitutes WHERE ctid = ANY (ARRAY( \
                 SELECT s.ctid FROM workflow.substitutes s WHERE $2 IN (s.person, s.substitute) AND s.set_by = ANY ($1) LIMIT $7 FOR UPDATE SKIP LOCKED))",
            &[Type::IntegerArray, Type::Text, Type::Text, Type::Text, Type::Text, Type::Text, Type::BigInt],
        ),
    ),
    replacing_some!("triggers", "t", "made_actor = $3", concat!("t.made_actor = $2 AND ", starts_own!())),
    replacing_some!(
        "audit_log",
        "g",
        "actor = CASE u.actor WHEN $2 THEN $3 ELSE u.actor END, detail = regexp_replace(u.detail::text, $4, $5, 'g')::jsonb",
        concat!("(g.actor = $2 OR (strpos(g.detail::text, $6) > 0 AND g.detail::text ~ $4)) AND ", audited!())
    ),
];

/// Counts rows of these owners (`$1`) that name the actor (`$2`) and still have an effect. Definitions of others would
/// treat the pseudonym as another person.
static PENDING: [(&str, Statement); 2] = [
    (
        "bookmark_queue",
        Statement::new(
            "SELECT count(*) FROM workflow.bookmark_queue q WHERE q.sender = ANY ($1) AND q.actor = $2",
            &[Type::IntegerArray, Type::Text],
        ),
    ),
    (
        "triggers",
        Statement::new(
            concat!(
                "SELECT count(*) FROM workflow.triggers t WHERE t.owner = ANY ($1) AND t.made_actor = $2 AND NOT ",
                starts_own!()
            ),
            &[Type::IntegerArray, Type::Text],
        ),
    ),
];

static JOURNAL: Statement = Statement::new(
    "SELECT l.instance_id, l.seq, l.events FROM workflow.execution_log l WHERE l.instance_id = ANY ($1) \
         AND (position(convert_to($2, 'UTF8') in l.events) > 0 OR position(convert_to($3, 'UTF8') in l.events) > 0) \
     ORDER BY l.instance_id, l.seq",
    &[Type::UuidArray, Type::Text, Type::Text],
);
static REWRITE: Statement = Statement::new(
    "UPDATE workflow.execution_log SET events = $3 WHERE instance_id = $1 AND seq = $2",
    &[Type::Uuid, Type::Integer, Type::Bytea],
);

impl Replacement {
    /// Replaces an actor by a pseudonym.
    pub fn new(actor: &str, pseudonym: &str) -> Self {
        let actor_json = json_text(actor);
        let (pattern, substitute) = (pattern_of(&actor_json), json_text(pseudonym).replace('\\', r"\\"));
        Self { actor: actor.to_owned(), pseudonym: pseudonym.to_owned(), actor_json, pattern, substitute }
    }

    /// The replacement for the actor.
    pub fn pseudonym(&self) -> &str {
        &self.pseudonym
    }

    /// The name to use from now on for an actor: the pseudonym, unless it is another actor.
    pub fn name_for(&self, actor: String) -> String {
        if actor == self.actor { self.pseudonym.clone() } else { actor }
    }

    fn arguments(&self) -> [Arg<'_>; 5] {
        [&self.actor, &self.pseudonym, &self.pattern, &self.substitute, &self.actor_json].map(|text| Arg::Text(text))
    }

    /// At most `limit` instances after `after` that may name the actor, in the order of ids: those of definitions of
    /// these owners, and others that they have started; with `all`, every one.
    pub fn find(&self, after: Uuid, owners: &[i32], all: bool, limit: i64) -> Vec<Found> {
        let [actor, _, pattern, _, actor_json] = self.arguments();
        let (after, limit, owners, all) =
            (Arg::Uuid(&after), Arg::BigInt(limit), Arg::Integers(owners), Arg::Boolean(all));
        let args = [after, actor, actor_json, limit, owners, all, pattern];
        FIND.rows(&args, |row| Found { id: row.get(), is_managed: row.get(), keeps_data: row.get() })
    }

    /// Replaces the actor in the rows of a locked instance.
    ///
    /// # Errors
    /// A row of its journal cannot be decoded.
    pub fn in_instance(&self, id: Uuid) -> Result<Tally, Error> {
        let (ids, [actor, pseudonym, pattern, substitute, actor_json]) = ([id], self.arguments());
        let mut tally = Tally::default();
        for (table, statement) in &OF_INSTANCES {
            let args = [Arg::Uuids(&ids), actor, pseudonym, pattern, substitute];
            tally.add_done(table, statement.run(&args));
        }
        let rows = JOURNAL.rows(&[Arg::Uuids(&ids), actor, actor_json], |row| {
            (row.get::<Uuid>(), row.get::<i32>(), row.get::<Vec<u8>>())
        });
        for (instance, seq, events) in rows {
            interrupt::check();
            memory::check();
            if let Some(events) = journal::replace_actor(&events, &self.actor, &self.pseudonym)? {
                REWRITE.run(&[Arg::Uuid(&instance), Arg::Integer(seq), Arg::Bytea(&events)]);
                tally.add_done("execution_log", 1);
            }
        }
        Ok(tally)
    }

    /// Replaces the actor in rows of these owners that belong to no instance, at most `limit` in each table, and counts
    /// those that keep it.
    pub fn in_other_rows(&self, owners: &[i32], limit: i64) -> Tally {
        let [actor, pseudonym, pattern, substitute, actor_json] = self.arguments();
        let mut tally = Tally::default();
        for (table, statement) in &OF_OWNERS {
            let (owners, limit) = (Arg::Integers(owners), Arg::BigInt(limit));
            let args = [owners, actor, pseudonym, pattern, substitute, actor_json, limit];
            tally.add_done(table, statement.run(&args));
        }
        for (table, statement) in &PENDING {
            let rows = statement.rows(&[Arg::Integers(owners), actor], |row| row.get::<i64>());
            tally.add_kept(table, rows.into_iter().sum::<i64>().unsigned_abs());
        }
        tally
    }
}
