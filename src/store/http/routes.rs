//! HTTP routes of triggers and bookmarks, and the bookmarks that wait at a route.
//!
//! `workflow_engine::http::route` describes the indexed texts. It also explains why these statements read no more rows
//! than there are shapes of templates, plus templates with the request's own first segment and literals.

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::http::route::{firsts_of, prefix_of};
use workflow_engine::stimulus;

use crate::pg::spi::{Arg, Row, Statement, Type};
use crate::store::definitions;
use crate::store::instances::bookmarks::{hash_key, keys};

/// A bookmark that waits for a request.
#[derive(Debug)]
pub struct Listener {
    /// Id of the bookmark.
    pub id: Uuid,
    /// The instance that waits at it.
    pub instance_id: Uuid,
    /// The settings of the endpoint, with the path as it was written and the indexed `Route`.
    pub payload: Value,
}

// Both tables have the same partial index on the text of the route, for endpoints only. `0` is the character after the
// `/` that ends a first segment, and `}` the one after the `|` that ends a shape, so they are upper bounds for the
// routes of a segment, of a shape or of a prefix. The condition on the type matches only this index's predicate:
// otherwise a plan made while the tables were empty would use the index on types.
macro_rules! shapes {
    ($table:literal) => {
        concat!(
            "WITH RECURSIVE shapes (first, shape) AS ( \
                 SELECT p.first, f.shape FROM unnest($1) p (first) CROSS JOIN LATERAL ( \
                     SELECT split_part(x.payload ->> 'Route', '|', 1) AS shape FROM ",
            $table,
            " x WHERE x.activity_type IS NOT DISTINCT FROM 'Elsa.HttpEndpoint' \
                         AND (x.payload ->> 'Route') COLLATE \"C\" >= p.first || '/' \
                         AND (x.payload ->> 'Route') COLLATE \"C\" < p.first || '0' \
                     ORDER BY (x.payload ->> 'Route') COLLATE \"C\" LIMIT 1) f \
                 UNION ALL \
                 SELECT s.first, n.shape FROM shapes s CROSS JOIN LATERAL ( \
                     SELECT split_part(x.payload ->> 'Route', '|', 1) AS shape FROM ",
            $table,
            " x WHERE x.activity_type IS NOT DISTINCT FROM 'Elsa.HttpEndpoint' \
                         AND (x.payload ->> 'Route') COLLATE \"C\" > s.shape || '}' \
                         AND (x.payload ->> 'Route') COLLATE \"C\" < s.first || '0' \
                     ORDER BY (x.payload ->> 'Route') COLLATE \"C\" LIMIT 1) n) \
             SELECT shape FROM shapes"
        )
    };
}

macro_rules! routes {
    ($table:literal) => {
        concat!(
            "WITH RECURSIVE routes (prefix, route) AS ( \
                 SELECT p.prefix, f.route FROM unnest($1) p (prefix) CROSS JOIN LATERAL ( \
                     SELECT x.payload ->> 'Route' AS route FROM ",
            $table,
            " x WHERE x.activity_type IS NOT DISTINCT FROM 'Elsa.HttpEndpoint' \
                         AND (x.payload ->> 'Route') COLLATE \"C\" >= p.prefix \
                         AND (x.payload ->> 'Route') COLLATE \"C\" < left(p.prefix, -1) || '}' \
                     ORDER BY (x.payload ->> 'Route') COLLATE \"C\" LIMIT 1) f \
                 UNION ALL \
                 SELECT r.prefix, n.route FROM routes r CROSS JOIN LATERAL ( \
                     SELECT x.payload ->> 'Route' AS route FROM ",
            $table,
            " x WHERE x.activity_type IS NOT DISTINCT FROM 'Elsa.HttpEndpoint' \
                         AND (x.payload ->> 'Route') COLLATE \"C\" > r.route \
                         AND (x.payload ->> 'Route') COLLATE \"C\" < left(r.prefix, -1) || '}' \
                     ORDER BY (x.payload ->> 'Route') COLLATE \"C\" LIMIT 1) n) \
             SELECT route FROM routes"
        )
    };
}

static TRIGGER_SHAPES: Statement = Statement::new(shapes!("workflow.triggers"), &[Type::TextArray]);
static BOOKMARK_SHAPES: Statement = Statement::new(shapes!("workflow.bookmarks"), &[Type::TextArray]);
static TRIGGER_ROUTES: Statement = Statement::new(routes!("workflow.triggers"), &[Type::TextArray]);
static BOOKMARK_ROUTES: Statement = Statement::new(routes!("workflow.bookmarks"), &[Type::TextArray]);

/// The routes of triggers and bookmarks that a path may match. A route in both tables occurs twice.
pub fn of_path(segments: &[String]) -> Vec<String> {
    let firsts = firsts_of(segments);
    let mut found = Vec::new();
    for (shapes, routes) in [(&TRIGGER_SHAPES, &TRIGGER_ROUTES), (&BOOKMARK_SHAPES, &BOOKMARK_ROUTES)] {
        let shapes = shapes.rows(&[Arg::Texts(&firsts)], |row| row.get::<String>());
        let prefixes: Vec<String> = shapes.iter().filter_map(|shape| prefix_of(shape, segments)).collect();
        if !prefixes.is_empty() {
            found.extend(routes.rows(&[Arg::Texts(&prefixes)], |row| row.get::<String>()));
        }
    }
    found
}

// The hash covers name and payload, which suffices, as in Elsa. With a condition on the type, a plan made while the
// table was empty could scan the whole index on routes.
macro_rules! listeners {
    ($rest:literal) => {
        concat!(
            "SELECT b.id, b.instance_id, b.payload FROM ",
            $rest,
            " AND (SELECT d.owner FROM workflow.instances i JOIN workflow.definitions d ON d.id = i.definition_version_id \
                   WHERE i.id = b.instance_id) = $1 LIMIT 2"
        )
    };
}

fn read(row: &mut Row<'_>) -> Listener {
    Listener { id: row.get(), instance_id: row.get(), payload: row.maybe().unwrap_or_default() }
}

static BY_HASH: Statement = Statement::new(
    listeners!(
        "unnest($4) AS o (owner) CROSS JOIN LATERAL ( \
             SELECT * FROM workflow.bookmarks b WHERE b.hash_key = $2 AND b.definition_owner = o.owner OFFSET 0) b \
         WHERE b.hash = $3"
    ),
    &[Type::Integer, Type::Integer, Type::Bytea, Type::IntegerArray],
);
static BY_HASH_AND_CORRELATION: Statement = Statement::new(
    listeners!(
        "unnest($4) AS o (owner) CROSS JOIN LATERAL ( \
             SELECT * FROM workflow.bookmarks b \
             WHERE b.hash_key = $2 AND b.definition_owner = o.owner AND b.correlation_key = $6 AND b.correlation_id = $5 OFFSET 0) b \
         WHERE b.hash = $3"
    ),
    &[Type::Integer, Type::Integer, Type::Bytea, Type::IntegerArray, Type::Text, Type::Integer],
);
static BY_INSTANCE: Statement = Statement::new(
    listeners!(
        "workflow.bookmarks b WHERE b.hash = $2 AND b.instance_id = $3 AND ($4 IS NULL OR b.correlation_id = $4)"
    ),
    &[Type::Integer, Type::Bytea, Type::Uuid, Type::Text],
);

/// The bookmarks with a hash in instances of an owner's definitions, at most two: a request with more than one match is
/// ambiguous.
pub fn listeners(hash: &[u8; 32], correlation_id: Option<&str>, owner: i32) -> Vec<Listener> {
    let stored_under = definitions::stored_under(owner);
    let of = [Arg::Integer(owner), Arg::Integer(keys::of_hash(hash)), Arg::Bytea(hash), Arg::Integers(&stored_under)];
    match correlation_id {
        None => BY_HASH.rows(&of, read),
        Some(id) => {
            let of_id = [Arg::Text(id), Arg::Integer(keys::of_correlation(Some(id)))];
            BY_HASH_AND_CORRELATION.rows(&[&of[..], &of_id].concat(), read)
        }
    }
}

/// The bookmarks with a hash in one instance of an owner's definition, at most two.
pub fn listeners_in(instance: Uuid, hash: &[u8; 32], correlation_id: Option<&str>, owner: i32) -> Vec<Listener> {
    BY_INSTANCE.rows(&[Arg::Integer(owner), Arg::Bytea(hash), Arg::Uuid(&instance), Arg::text(correlation_id)], read)
}

static HOLDER: Statement = Statement::new(
    "SELECT t.definition_id, t.activity_id FROM workflow.triggers t \
     WHERE t.hash_key = $1 AND t.hash = $2 AND t.name = 'Elsa.HttpEndpoint'",
    &[Type::BigInt, Type::Bytea],
);

/// The definition and activity of the trigger with the route of a payload.
pub fn holder(name: &str, payload: Option<&Value>) -> Option<(String, String)> {
    let hash = stimulus::hash(name, payload, None);
    HOLDER.first(&[Arg::BigInt(hash_key(&hash)), Arg::Bytea(&hash)], |row| (row.get(), row.get()))
}
