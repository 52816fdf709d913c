//! HTTP requests that wait for the response of an instance, and responses that clients may ask for again.

use serde_json::{Map, Value};
use uuid::Uuid;
use workflow_engine::host::WaitingRequest;
use workflow_engine::http::Response;

use crate::pg::object_lock;
use crate::pg::spi::{Arg, Statement, Timestamp, Type};
use crate::store::tables::HTTP_REQUESTS;

/// A request that begins to wait.
#[derive(Clone, Copy, Debug)]
pub struct NewRequest<'a> {
    /// The id that its server gave it.
    pub id: Uuid,
    /// The instance that has served it.
    pub instance: Uuid,
    /// Id of the server's role in `workflow.owners`.
    pub owner: i32,
    /// Name of the server.
    pub server: &'a str,
    /// The `Idempotency-Key`, and the hash of the request.
    pub key: Option<(&'a str, &'a [u8])>,
    /// When its client gives up.
    pub until: Timestamp,
}

static INSERT: Statement = Statement::new(
    "INSERT INTO workflow.http_requests (id, instance_id, owner, server, key, content, created_at, until, responded) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, false)",
    &[Type::Uuid, Type::Uuid, Type::Integer, Type::Text, Type::Text, Type::Bytea, Type::Timestamp, Type::Timestamp],
);

/// Stores a request that waits.
pub fn insert(new: &NewRequest<'_>, now: Timestamp) {
    let (key, content) = new.key.unzip();
    INSERT.run(&[
        Arg::Uuid(&new.id),
        Arg::Uuid(&new.instance),
        Arg::Integer(new.owner),
        Arg::Text(new.server),
        Arg::text(key),
        content.map_or(Arg::Null, Arg::Bytea),
        Arg::Timestamp(now),
        Arg::Timestamp(new.until),
    ]);
}

static CAN_RESPOND: Statement = Statement::new(
    "SELECT 1 FROM workflow.instances i WHERE i.id = $1 AND i.sub_status = 'Suspended' AND EXISTS ( \
         SELECT FROM workflow.bookmarks b WHERE b.instance_id = i.id AND b.activity_type <> 'Elsa.HttpEndpoint')",
    &[Type::Uuid],
);

/// Whether an instance may respond without another request: it waits for something else.
pub fn can_respond(instance: Uuid) -> bool {
    CAN_RESPOND.run(&[Arg::Uuid(&instance)]) > 0
}

/// Whether a request `r` waits at `$2`. One with a key gets its response later than that, as its client may ask again.
macro_rules! waits {
    () => {
        "r.status IS NULL AND (r.key IS NOT NULL OR r.until > $2)"
    };
}

static STATE: Statement = Statement::new(
    concat!(
        "SELECT ",
        waits!(),
        " FROM workflow.http_requests r WHERE r.instance_id = $1 AND NOT r.responded ORDER BY 1 DESC LIMIT 1"
    ),
    &[Type::Uuid, Type::Timestamp],
);

/// What became of the requests of an instance that got no response of the workflow.
pub fn state(instance: Uuid, now: Timestamp) -> WaitingRequest {
    match STATE.first(&[Arg::Uuid(&instance), Arg::Timestamp(now)], |row| row.get()) {
        None => WaitingRequest::None,
        Some(true) => WaitingRequest::Open,
        Some(false) => WaitingRequest::Over,
    }
}

static OPEN: Statement = Statement::new(
    concat!("SELECT r.owner FROM workflow.http_requests r WHERE r.instance_id = $1 AND ", waits!(), " LIMIT 1"),
    &[Type::Uuid, Type::Timestamp],
);

/// Id in `workflow.owners` of the server whose request waits for an instance.
pub fn waiting_for(instance: Uuid, now: Timestamp) -> Option<i32> {
    OPEN.first(&[Arg::Uuid(&instance), Arg::Timestamp(now)], |row| row.get())
}

static ANSWER: Statement = Statement::new(
    concat!(
        "UPDATE workflow.http_requests r SET answered_at = $2, status = $3, headers = $4, body = $5, responded = $6 \
         WHERE r.instance_id = $1 AND ",
        waits!(),
        " RETURNING r.owner, r.server"
    ),
    &[Type::Uuid, Type::Timestamp, Type::Integer, Type::Jsonb, Type::Bytea, Type::Boolean],
);

/// Stores the response to the request that waits for an instance. `by_workflow`: the workflow wrote it. Returns the
/// server's role, by its id in `workflow.owners`, and the server's name.
pub fn answer(instance: Uuid, response: &Response, by_workflow: bool, now: Timestamp) -> Vec<(i32, String)> {
    let args = [
        Arg::Uuid(&instance),
        Arg::Timestamp(now),
        Arg::Integer(response.status.into()),
        Arg::Object(&response.headers),
        Arg::Bytea(&response.body),
        Arg::Boolean(by_workflow),
    ];
    ANSWER.rows(&args, |row| (row.get(), row.get()))
}

/// A response as it is stored.
#[derive(Debug)]
pub struct StoredResponse {
    /// HTTP status code.
    pub status: i32,
    /// Headers: a text for each name, or a list of texts.
    pub headers: Map<String, Value>,
    /// The bytes of the body.
    pub body: Vec<u8>,
}

static HAS_RESPONSE: Statement = Statement::new(
    "SELECT 1 FROM workflow.http_requests r \
     WHERE r.owner = $1 AND r.server = $2 AND r.answered_at IS NOT NULL AND r.taken_at IS NULL LIMIT 1",
    &[Type::Integer, Type::Text],
);

/// Whether a server has a response to take.
pub fn has_response(owner: i32, server: &str) -> bool {
    HAS_RESPONSE.run(&[Arg::Integer(owner), Arg::Text(server)]) > 0
}

static READ_RESPONSES: Statement = Statement::new(
    "SELECT r.id, r.status, r.headers, r.body FROM workflow.http_requests r \
     WHERE r.owner = $1 AND r.server = $2 AND r.answered_at IS NOT NULL AND r.taken_at IS NULL \
     ORDER BY r.answered_at LIMIT $3 FOR UPDATE SKIP LOCKED",
    &[Type::Integer, Type::Text, Type::BigInt],
);
static FORGET: Statement = Statement::new(
    "DELETE FROM workflow.http_requests r WHERE r.id = ANY ($1) AND r.key IS NULL AND r.responded",
    &[Type::UuidArray],
);
// The workflow may respond later: then its response comes too late.
static KEEP: Statement = Statement::new(
    "UPDATE workflow.http_requests r SET taken_at = $2, \
         headers = CASE WHEN r.key IS NULL THEN NULL ELSE r.headers END, \
         body = CASE WHEN r.key IS NULL THEN NULL ELSE r.body END \
     WHERE r.id = ANY ($1)",
    &[Type::UuidArray, Type::Timestamp],
);

/// Takes at most `max` responses of a server, oldest first. None is taken twice.
pub fn take(owner: i32, server: &str, max: usize, now: Timestamp) -> Vec<(Uuid, StoredResponse)> {
    let max = i64::try_from(max).unwrap_or(i64::MAX);
    let args = [Arg::Integer(owner), Arg::Text(server), Arg::BigInt(max)];
    let taken: Vec<(Uuid, StoredResponse)> = READ_RESPONSES
        .rows(&args, |row| (row.get(), StoredResponse { status: row.get(), headers: row.get(), body: row.get() }));
    let ids: Vec<Uuid> = taken.iter().map(|(id, _)| *id).collect();
    if !ids.is_empty() && FORGET.run(&[Arg::Uuids(&ids)]) < ids.len() as u64 {
        KEEP.run(&[Arg::Uuids(&ids), Arg::Timestamp(now)]);
    }
    taken
}

/// A request that a role has made with an `Idempotency-Key`.
#[derive(Clone, Copy, Debug)]
pub struct KeyedRequest<'a> {
    /// Id of the role in `workflow.owners`. Each role has its own keys.
    pub owner: i32,
    /// The key.
    pub key: &'a str,
}

/// What is stored under a key.
#[derive(Debug)]
pub struct Known {
    /// The id of the request that was made last with it.
    pub id: Uuid,
    /// SHA-256 of the request.
    pub content: Vec<u8>,
    /// When it was made first.
    pub created_at: Timestamp,
    /// The response; `None`: the request waits for it.
    pub response: Option<StoredResponse>,
}

static FIND: Statement = Statement::new(
    "SELECT r.id, r.content, r.created_at, r.status, r.headers, r.body FROM workflow.http_requests r \
     WHERE r.owner = $1 AND r.key = $2",
    &[Type::Integer, Type::Text],
);
static RELEASE: Statement =
    Statement::new("UPDATE workflow.http_requests r SET key = NULL WHERE r.id = $1", &[Type::Uuid]);
static TAKE_OVER: Statement = Statement::new(
    "UPDATE workflow.http_requests r SET id = $2, server = $3, until = $4 WHERE r.id = $1 AND r.status IS NULL",
    &[Type::Uuid, Type::Uuid, Type::Text, Type::Timestamp],
);
static SERVED: Statement = Statement::new(
    "INSERT INTO workflow.http_requests (id, instance_id, owner, server, key, content, created_at, until, \
         answered_at, taken_at, responded, status, headers, body) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $7, $7, true, $8, $9, $10)",
    &[
        Type::Uuid,
        Type::Uuid,
        Type::Integer,
        Type::Text,
        Type::Text,
        Type::Bytea,
        Type::Timestamp,
        Type::Integer,
        Type::Jsonb,
        Type::Bytea,
    ],
);

impl KeyedRequest<'_> {
    /// Waits until no other transaction makes a request with the key, and keeps others waiting until this one ends.
    pub fn lock(&self) {
        object_lock::lock(HTTP_REQUESTS.name, object_lock::hash(self.key), self.owner);
    }

    /// What is stored under the key.
    pub fn find(&self) -> Option<Known> {
        FIND.first(&[Arg::Integer(self.owner), Arg::Text(self.key)], |row| {
            let (id, content, created_at) = (row.get(), row.get(), row.get());
            let (status, headers, body) = (row.maybe(), row.maybe(), row.maybe());
            let response = status.map(|status| StoredResponse {
                status,
                headers: headers.unwrap_or_default(),
                body: body.unwrap_or_default(),
            });
            Known { id, content, created_at, response }
        })
    }
}

impl Known {
    /// Frees the key for another request.
    pub fn release(&self) {
        RELEASE.run(&[Arg::Uuid(&self.id)]);
    }

    /// Gives the request that waits to another server, under another id. `false`: it got its response meanwhile.
    pub fn take_over(&self, id: Uuid, server: &str, until: Timestamp) -> bool {
        TAKE_OVER.run(&[Arg::Uuid(&self.id), Arg::Uuid(&id), Arg::Text(server), Arg::Timestamp(until)]) > 0
    }
}

/// Stores a request that got its response at once, so that a client may repeat it.
pub fn insert_served(new: &NewRequest<'_>, response: &Response, now: Timestamp) {
    let (key, content) = new.key.unzip();
    SERVED.run(&[
        Arg::Uuid(&new.id),
        Arg::Uuid(&new.instance),
        Arg::Integer(new.owner),
        Arg::Text(new.server),
        Arg::text(key),
        content.map_or(Arg::Null, Arg::Bytea),
        Arg::Timestamp(now),
        Arg::Integer(response.status.into()),
        Arg::Object(&response.headers),
        Arg::Bytea(&response.body),
    ]);
}

static REMOVE: Statement = Statement::new(
    "DELETE FROM workflow.http_requests r USING ( \
         SELECT o.id FROM workflow.http_requests o WHERE o.responded AND o.answered_at <= $1 \
         ORDER BY o.answered_at LIMIT $2 FOR UPDATE SKIP LOCKED) o \
     WHERE r.id = o.id",
    &[Type::Timestamp, Type::BigInt],
);

/// Deletes the responses that workflows wrote at or before `until`, and returns their number. Requests that got another
/// response go with their instances.
pub fn remove(until: Timestamp, limit: i64) -> u64 {
    REMOVE.run(&[Arg::Timestamp(until), Arg::BigInt(limit)])
}
