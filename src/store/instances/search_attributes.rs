//! Values of search attributes, by which instances are found: `workflow.search_attributes`.
//!
//! Only a transaction that has locked or created an instance writes its values. A search reads one definition after the
//! other, because the id of the definition is the first column of the indexes: a role's search reads no entries of
//! definitions that it may not read.

use chrono::{DateTime, Utc};
use uuid::Uuid;
use workflow_engine::Program;
use workflow_engine::alteration::SearchCondition;
use workflow_engine::instance::Instance;
use workflow_engine::program::SearchValue;

use crate::pg::spi::{Arg, Statement, Timestamp, Type};

// The kind says which of the last two lists has the value.
static SAVE: Statement = Statement::new(
    "INSERT INTO workflow.search_attributes AS s (instance_id, name, definition_id, text, number, instant) \
     SELECT $1, v.name, $2, CASE v.kind WHEN 0 THEN v.value END, CASE v.kind WHEN 1 THEN v.value::double precision END, \
            CASE v.kind WHEN 2 THEN v.instant END \
     FROM ROWS FROM (unnest($3), unnest($4), unnest($5), unnest($6)) AS v (name, kind, value, instant) \
     ON CONFLICT (instance_id, name) DO UPDATE \
     SET text = excluded.text, number = excluded.number, instant = excluded.instant \
     WHERE (s.text, s.number, s.instant) IS DISTINCT FROM (excluded.text, excluded.number, excluded.instant)",
    &[Type::Uuid, Type::Text, Type::TextArray, Type::IntegerArray, Type::TextArray, Type::TimestampArray],
);
static DELETE_OTHERS: Statement = Statement::new(
    "DELETE FROM workflow.search_attributes s WHERE s.instance_id = $1 AND s.name <> ALL ($2)",
    &[Type::Uuid, Type::TextArray],
);

/// Stores the values of an instance, and deletes those that it no longer has. Does nothing if the program has no search
/// attributes.
pub fn save(instance: &Instance, program: &Program) {
    if program.options.search_attributes.is_empty() {
        return;
    }
    let (mut names, mut kinds, mut values, mut instants) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (name, value) in program.search_values(instance) {
        let (kind, text, instant) = match value {
            SearchValue::Text(text) => (0, text, Timestamp(0)),
            SearchValue::Number(number) => (1, number.to_string(), Timestamp(0)),
            SearchValue::Instant(at) => (2, String::new(), Timestamp::from(at)),
        };
        if instant.is_valid() {
            names.push(name.to_owned());
            kinds.push(kind);
            values.push(text);
            instants.push(instant);
        }
    }
    let id = Arg::Uuid(&instance.id);
    DELETE_OTHERS.run(&[id, Arg::Texts(&names)]);
    if !names.is_empty() {
        let definition = Arg::Text(&program.definition_id);
        let lists = (Arg::Texts(&names), Arg::Integers(&kinds), Arg::Texts(&values), Arg::Timestamps(&instants));
        SAVE.run(&[id, definition, lists.0, lists.1, lists.2, lists.3]);
    }
}

static DELETE: Statement =
    Statement::new("DELETE FROM workflow.search_attributes s WHERE s.instance_id = ANY ($1)", &[Type::UuidArray]);

/// Deletes the values of instances.
pub fn delete(ids: &[Uuid]) {
    DELETE.run(&[Arg::Uuids(ids)]);
}

static PAGE: Statement = Statement::new(
    "SELECT i.id FROM workflow.instances i WHERE i.definition_id = $1 AND i.id > $2 ORDER BY i.id LIMIT $3",
    &[Type::Text, Type::Uuid, Type::BigInt],
);

/// The first instances of a definition after an id. No index contains the definition, so the order is that of the
/// primary key: consecutive pages read the table once.
pub fn page(definition_id: &str, after: Uuid, at_most: usize) -> Vec<Uuid> {
    let at_most = i64::try_from(at_most).unwrap_or(i64::MAX);
    PAGE.rows(&[Arg::Text(definition_id), Arg::Uuid(&after), Arg::BigInt(at_most)], |row| row.get())
}

/// Finds instances by a value. All columns of the index are in the order, so that it is read from its end.
macro_rules! equal {
    ($column:literal, $value:literal, $type:ident, $direction:literal) => {
        Statement::new(
            concat!(
                "SELECT s.instance_id FROM workflow.search_attributes s WHERE s.definition_id = $1 AND s.name = $2 AND s.",
                $column,
                " = ",
                $value,
                " ORDER BY s.definition_id ",
                $direction,
                ", s.name ",
                $direction,
                ", s.",
                $column,
                " ",
                $direction,
                ", s.instance_id ",
                $direction,
                " LIMIT $4"
            ),
            &[Type::Text, Type::Text, Type::$type, Type::BigInt],
        )
    };
}

/// Finds instances by a range, of which either end may be NULL.
macro_rules! between {
    ($column:literal, $low:literal, $high:literal, $type:ident) => {
        Statement::new(
            concat!(
                "SELECT s.instance_id FROM workflow.search_attributes s WHERE s.definition_id = $1 AND s.name = $2 AND s.",
                $column,
                " >= COALESCE(",
                $low,
                ", '-infinity') AND s.",
                $column,
                " <= COALESCE(",
                $high,
                ", 'infinity') LIMIT $5"
            ),
            &[Type::Text, Type::Text, Type::$type, Type::$type, Type::BigInt],
        )
    };
}

static NEWEST_TEXT: Statement = equal!("text", "$3", Text, "DESC");
static OLDEST_TEXT: Statement = equal!("text", "$3", Text, "ASC");
static NEWEST_NUMBER: Statement = equal!("number", "$3::double precision", Text, "DESC");
static OLDEST_NUMBER: Statement = equal!("number", "$3::double precision", Text, "ASC");
static NEWEST_INSTANT: Statement = equal!("instant", "$3", Timestamp, "DESC");
static OLDEST_INSTANT: Statement = equal!("instant", "$3", Timestamp, "ASC");
static NUMBERS: Statement = between!("number", "$3::double precision", "$4::double precision", Text);
static INSTANTS: Statement = between!("instant", "$3", "$4", Timestamp);

/// At most `at_most` ids of instances of a definition that satisfy a condition, the newest or the oldest ones. Those in
/// a range have no order.
pub fn find(definition_id: &str, name: &str, condition: &SearchCondition, newest: bool, at_most: usize) -> Vec<Uuid> {
    let (definition, name) = (Arg::Text(definition_id), Arg::Text(name));
    let at_most = Arg::BigInt(i64::try_from(at_most).unwrap_or(i64::MAX));
    let pick = |first: &'static Statement, last: &'static Statement| if newest { first } else { last };
    let number = |number: &Option<f64>| number.map(|number| number.to_string());
    match condition {
        SearchCondition::Is { text, number: same, instant } => {
            let run = |statement: &'static Statement, value: Arg<'_>| {
                statement.rows(&[definition, name, value, at_most], |row| row.get::<Uuid>())
            };
            let mut found = run(pick(&NEWEST_TEXT, &OLDEST_TEXT), Arg::Text(text));
            if let Some(same) = number(same) {
                found.extend(run(pick(&NEWEST_NUMBER, &OLDEST_NUMBER), Arg::Text(&same)));
            }
            if let Some(at) = instant.map(Timestamp::from).filter(|at| at.is_valid()) {
                found.extend(run(pick(&NEWEST_INSTANT, &OLDEST_INSTANT), Arg::Timestamp(at)));
            }
            found
        }
        SearchCondition::Numbers { from, to } => {
            let (from, to) = (number(from), number(to));
            let range = [definition, name, Arg::text(from.as_deref()), Arg::text(to.as_deref()), at_most];
            NUMBERS.rows(&range, |row| row.get())
        }
        SearchCondition::Instants { from, to } => {
            let time = |at: &Option<DateTime<Utc>>| Arg::time(at.map(Timestamp::from));
            INSTANTS.rows(&[definition, name, time(from), time(to), at_most], |row| row.get())
        }
    }
}
