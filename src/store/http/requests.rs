//! HTTP requests that wait for the response of an instance, and responses that clients may ask for again.

use serde_json::{Map, Value};
use uuid::Uuid;
use workflow_engine::host::WaitingRequest;
use workflow_engine::http::Response;

use crate::pg::spi::{Arg, Statement, Timestamp, Type};
use crate::pg::{PgError, object_lock};
use crate::store::tables::HTTP_REQUESTS;

/// Who may call an endpoint.
#[derive(Clone, Debug, Default)]
pub struct EndpointGuard {
    /// Whether the caller needs a right.
    pub authorize: bool,
    /// The role whose member it must be; `None`: it must have the right to start or resume.
    pub policy: Option<String>,
}

/// A request that begins to wait, or that may be repeated.
#[derive(Clone, Copy, Debug)]
pub struct NewRequest<'a> {
    /// The id that its server gave it.
    pub id: Uuid,
    /// The instance that has served it.
    pub instance: Uuid,
    /// The execution of `HttpEndpoint` that received it.
    pub received_by: Option<Uuid>,
    /// Id of the server's role in `workflow.owners`.
    pub owner: i32,
    /// Name of the server.
    pub server: &'a str,
    /// The `Idempotency-Key`, and the hash of the request.
    pub key: Option<(&'a str, &'a [u8])>,
    /// Who may call its endpoint.
    pub guard: &'a EndpointGuard,
    /// When its client gives up.
    pub until: Timestamp,
}

static INSERT: Statement = Statement::new(
    "INSERT INTO workflow.http_requests (id, instance_id, activity_instance_id, owner, server, key, content, \
         authorize, policy, created_at, until, answered_at, taken_at, responded, status, headers, body) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $12 IS NOT NULL, $13, $14, $15) \
     ON CONFLICT (id) DO NOTHING",
    &[
        Type::Uuid,
        Type::Uuid,
        Type::Uuid,
        Type::Integer,
        Type::Text,
        Type::Text,
        Type::Bytea,
        Type::Boolean,
        Type::Text,
        Type::Timestamp,
        Type::Timestamp,
        Type::Timestamp,
        Type::Integer,
        Type::Jsonb,
        Type::Bytea,
    ],
);

/// Stores a request that waits.
///
/// # Errors
/// 23505 if its id is in use.
pub fn insert(new: &NewRequest<'_>, now: Timestamp) -> Result<(), PgError> {
    store(new, None, now)
}

/// Stores a request that got its response at once, so that a client may repeat it.
///
/// # Errors
/// 23505 if its id is in use.
pub fn insert_served(new: &NewRequest<'_>, response: &Response, now: Timestamp) -> Result<(), PgError> {
    store(new, Some(response), now)
}

fn store(new: &NewRequest<'_>, response: Option<&Response>, now: Timestamp) -> Result<(), PgError> {
    let (key, content) = new.key.unzip();
    let stored = INSERT.run(&[
        Arg::Uuid(&new.id),
        Arg::Uuid(&new.instance),
        new.received_by.as_ref().map_or(Arg::Null, Arg::Uuid),
        Arg::Integer(new.owner),
        Arg::Text(new.server),
        Arg::text(key),
        content.map_or(Arg::Null, Arg::Bytea),
        Arg::Boolean(new.guard.authorize),
        Arg::text(new.guard.policy.as_deref()),
        Arg::Timestamp(now),
        Arg::Timestamp(new.until),
        response.map_or(Arg::Null, |_| Arg::Timestamp(now)),
        response.map_or(Arg::Null, |response| Arg::Integer(response.status.into())),
        response.map_or(Arg::Null, |response| Arg::Object(&response.headers)),
        response.map_or(Arg::Null, |response| Arg::Bytea(&response.body)),
    ]);
    if stored == 0 { Err(in_use(new.id)) } else { Ok(()) }
}

fn in_use(id: Uuid) -> PgError {
    PgError::new("23505", format!("HTTP request {id} exists already"))
        .detail("A server gives each request an id of its own.")
        .hint("Pass a new one, such as gen_random_uuid().")
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
        " FROM workflow.http_requests r WHERE r.instance_id = $1 AND r.activity_instance_id = $3 AND NOT r.responded"
    ),
    &[Type::Uuid, Type::Timestamp, Type::Uuid],
);
static ANY: Statement = Statement::new(
    "SELECT FROM workflow.http_requests r WHERE r.instance_id = $1 AND NOT r.responded LIMIT 1",
    &[Type::Uuid],
);

/// What became of the request that an execution received, if the workflow has not responded to it. No response goes to
/// any request, so if no execution is named, the result is [`WaitingRequest::Over`] or [`WaitingRequest::None`].
pub fn state(instance: Uuid, received_by: Option<Uuid>, now: Timestamp) -> WaitingRequest {
    let Some(received_by) = received_by else {
        let is_known = ANY.run(&[Arg::Uuid(&instance)]) > 0;
        return if is_known { WaitingRequest::Over } else { WaitingRequest::None };
    };
    match STATE.first(&[Arg::Uuid(&instance), Arg::Timestamp(now), Arg::Uuid(&received_by)], |row| row.get()) {
        None => WaitingRequest::None,
        Some(true) => WaitingRequest::Open,
        Some(false) => WaitingRequest::Over,
    }
}

/// A request that waits for an instance.
#[derive(Debug)]
pub struct Waiting {
    /// The execution of `HttpEndpoint` that received it.
    pub received_by: Uuid,
    /// Id in `workflow.owners` of its server's role.
    pub owner: i32,
}

static WAITING: Statement = Statement::new(
    concat!(
        "SELECT r.activity_instance_id, r.owner FROM workflow.http_requests r WHERE r.instance_id = $1 AND ",
        waits!(),
        " ORDER BY r.created_at, r.id"
    ),
    &[Type::Uuid, Type::Timestamp],
);

/// The requests that wait for an instance, oldest first.
pub fn waiting_for(instance: Uuid, now: Timestamp) -> Vec<Waiting> {
    WAITING
        .rows(&[Arg::Uuid(&instance), Arg::Timestamp(now)], |row| Waiting { received_by: row.get(), owner: row.get() })
}

static RESPOND: Statement = Statement::new(
    concat!(
        "UPDATE workflow.http_requests r SET answered_at = $2, status = $3, headers = $4, body = $5, responded = $6 \
         WHERE r.instance_id = $1 AND r.activity_instance_id = $7 AND ",
        waits!(),
        " RETURNING r.owner, r.server"
    ),
    &[Type::Uuid, Type::Timestamp, Type::Integer, Type::Jsonb, Type::Bytea, Type::Boolean, Type::Uuid],
);

/// Stores the response to a request that waits for an instance. `by_workflow`: the workflow wrote it. Returns the
/// server's role, by its id in `workflow.owners`, and the server's name.
pub fn store_response(
    instance: Uuid,
    received_by: Uuid,
    response: &Response,
    by_workflow: bool,
    now: Timestamp,
) -> Vec<(i32, String)> {
    let args = [
        Arg::Uuid(&instance),
        Arg::Timestamp(now),
        Arg::Integer(response.status.into()),
        Arg::Object(&response.headers),
        Arg::Bytea(&response.body),
        Arg::Boolean(by_workflow),
        Arg::Uuid(&received_by),
    ];
    RESPOND.rows(&args, |row| (row.get(), row.get()))
}

static FORGET_OVER: Statement = Statement::new(
    "DELETE FROM workflow.http_requests r \
     WHERE r.instance_id = $1 AND r.key IS NULL AND (r.status IS NULL OR r.taken_at IS NOT NULL)",
    &[Type::Uuid],
);

/// Deletes the requests of an instance that has ended, as far as nobody takes or asks for their responses any more.
pub fn forget_over(instance: Uuid) {
    FORGET_OVER.run(&[Arg::Uuid(&instance)]);
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
/// Whether the instance of a request `r` may still write a response.
macro_rules! may_respond {
    () => {
        "(NOT r.responded AND EXISTS (SELECT FROM workflow.instances i WHERE i.id = r.instance_id AND i.finished_at IS NULL))"
    };
}

static FORGET: Statement = Statement::new(
    concat!("DELETE FROM workflow.http_requests r WHERE r.id = ANY ($1) AND r.key IS NULL AND NOT ", may_respond!()),
    &[Type::UuidArray],
);
// If the workflow may respond later, its response comes too late.
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
    /// The instance that has served it.
    pub instance: Uuid,
    /// Who may call its endpoint.
    pub guard: EndpointGuard,
    /// The response; `None`: the request waits for it.
    pub response: Option<StoredResponse>,
}

static FIND: Statement = Statement::new(
    "SELECT r.id, r.content, r.created_at, r.instance_id, r.authorize, r.policy, r.status, r.headers, r.body FROM workflow.http_requests r \
     WHERE r.owner = $1 AND r.key = $2",
    &[Type::Integer, Type::Text],
);
static RELEASE: Statement =
    Statement::new("UPDATE workflow.http_requests r SET key = NULL WHERE r.id = $1", &[Type::Uuid]);
static TAKE_OVER: Statement = Statement::new(
    "UPDATE workflow.http_requests r SET id = $2, server = $3, until = $4 WHERE r.id = $1 AND r.status IS NULL",
    &[Type::Uuid, Type::Uuid, Type::Text, Type::Timestamp],
);
static IS_IN_USE: Statement = Statement::new("SELECT FROM workflow.http_requests r WHERE r.id = $1", &[Type::Uuid]);

impl KeyedRequest<'_> {
    /// Waits until no other transaction makes a request with the key, and keeps others waiting until this one ends.
    pub fn lock(&self) {
        object_lock::lock(HTTP_REQUESTS.name, object_lock::hash(self.key), self.owner);
    }

    /// What is stored under the key.
    pub fn find(&self) -> Option<Known> {
        FIND.first(&[Arg::Integer(self.owner), Arg::Text(self.key)], |row| {
            let (id, content, created_at) = (row.get(), row.get(), row.get());
            let (instance, guard) = (row.get(), EndpointGuard { authorize: row.get(), policy: row.maybe() });
            let (status, headers, body) = (row.maybe(), row.maybe(), row.maybe());
            let response = status.map(|status| StoredResponse {
                status,
                headers: headers.unwrap_or_default(),
                body: body.unwrap_or_default(),
            });
            Known { id, content, created_at, instance, guard, response }
        })
    }
}

impl Known {
    /// Frees the key for another request.
    pub fn release(&self) {
        RELEASE.run(&[Arg::Uuid(&self.id)]);
    }

    /// Gives the request that waits to another server, under another id. `false`: it got its response meanwhile.
    ///
    /// # Errors
    /// 23505 if the id is in use.
    pub fn take_over(&self, id: Uuid, server: &str, until: Timestamp) -> Result<bool, PgError> {
        if id != self.id && IS_IN_USE.run(&[Arg::Uuid(&id)]) > 0 {
            return Err(in_use(id));
        }
        let args = [Arg::Uuid(&self.id), Arg::Uuid(&id), Arg::Text(server), Arg::Timestamp(until)];
        Ok(TAKE_OVER.run(&args) > 0)
    }
}

/// Whether a request `r` is forgotten once it is as old as `$1`, before the row of its instance is removed.
macro_rules! is_old {
    () => {
        "r.answered_at <= $1 AND (r.responded OR r.key IS NOT NULL OR r.taken_at IS NULL)"
    };
}

static REMOVE: Statement = Statement::new(
    concat!(
        "DELETE FROM workflow.http_requests o USING (SELECT r.id FROM workflow.http_requests r WHERE ",
        is_old!(),
        " AND NOT ",
        may_respond!(),
        " ORDER BY r.answered_at LIMIT $2 FOR UPDATE SKIP LOCKED) old WHERE o.id = old.id"
    ),
    &[Type::Timestamp, Type::BigInt],
);
static CLEAR: Statement = Statement::new(
    concat!(
        "UPDATE workflow.http_requests o SET key = NULL, content = NULL, headers = NULL, body = NULL, \
             taken_at = coalesce(o.taken_at, o.answered_at) \
         FROM (SELECT r.id FROM workflow.http_requests r WHERE ",
        is_old!(),
        " AND ",
        may_respond!(),
        " ORDER BY r.answered_at LIMIT $2 FOR UPDATE SKIP LOCKED) old WHERE o.id = old.id"
    ),
    &[Type::Timestamp, Type::BigInt],
);

/// Deletes responses that were given at or before `until`, at most `limit`, and returns their number. Of a request to
/// which a running instance may still respond, a row without the response stays, so that its response is too late.
pub fn remove(until: Timestamp, limit: i64) -> u64 {
    let args = [Arg::Timestamp(until), Arg::BigInt(limit)];
    REMOVE.run(&args).max(CLEAR.run(&args))
}
