//! The tables of `sql/tables` with the columns that the library uses. `null` marks a column that may be NULL.
//!
//! Of a row that moves to another node an export packs these columns and no others: a column that is not here would be
//! NULL there.

use crate::pg::spi::table;

table!(OWNERS = "owners" { id: Integer, same_as: Integer null, role_oid: Oid null, name: Text null });

table!(DEFINITIONS = "definitions" {
    id: Uuid,
    definition_id: Text,
    version: Integer,
    name: Text null,
    description: Text null,
    is_latest: Boolean,
    is_published: Boolean,
    security: Text,
    uses_sql: Boolean,
    owner: Integer,
    retention: BigInt null,
    created_at: Timestamp,
    deleted_at: Timestamp null,
    document: Jsonb,
    activity_type: Text null,
    links: Jsonb null,
    search_path: Text null,
    unknown_types: Jsonb null,
    numbering: Jsonb null,
    migrates: Boolean null,
    is_draft: Boolean null,
    revision: BigInt null,
    saved_at: Timestamp null,
    saved_by: Integer null,
    saved_session: Text null,
    deletion_xid: BigInt null,
    child_owners: Jsonb null,
});

table!(INSTANCES = "instances" {
    id: Uuid,
    definition_version_id: Uuid,
    definition_id: Text,
    version: Integer,
    parent_instance_id: Uuid null,
    parent_bookmark_id: Uuid null,
    owner: Integer,
    status: Text,
    sub_status: Text,
    incident_count: Integer,
    created_at: Timestamp,
    updated_at: Timestamp,
    finished_at: Timestamp null,
    schedule_id: Uuid null,
    correlation_id: Text null,
    name: Text null,
    activation_key: Text null,
    state: Bytea,
    variables: Jsonb,
    input: Jsonb,
    output: Jsonb null,
    cancelling_at: Timestamp null,
    continued_from: Uuid null,
    paused_at: Timestamp null,
    started_by: Integer null,
    started_actor: Text null,
});

table!(BOOKMARKS = "bookmarks" {
    id: Uuid,
    instance_id: Uuid,
    activity_instance_id: Uuid,
    hash_key: BigInt null,
    created_at: Timestamp,
    due_at: Timestamp null,
    auto_burn: Boolean,
    auto_complete: Boolean,
    hash: Bytea null,
    activity_id: Text,
    node_id: Text,
    activity_type: Text,
    name: Text,
    correlation_id: Text null,
    callback: Text null,
    callback_owner: Integer null,
    payload: Jsonb null,
    metadata: Jsonb null,
    attempts: Integer null,
    priority: Integer null,
    claims: Integer null,
    available_at: Timestamp null,
    lease_until: Timestamp null,
    token: Uuid null,
    worker: Text null,
    progress: Jsonb null,
    last_error: Text null,
    assignee: Text null,
    candidates: Jsonb null,
    result_schema: Jsonb null,
    lane: Text null,
    paused_at: Timestamp null,
    due_when_paused: Timestamp null,
});

table!(TRIGGERS = "triggers" {
    id: Uuid,
    definition_id: Text,
    definition_version_id: Uuid,
    version: Integer,
    activity_id: Text,
    node_id: Text,
    activity_type: Text,
    name: Text,
    hash: Bytea,
    hash_key: BigInt,
    payload: Jsonb null,
    created_at: Timestamp,
    next_fire_at: Timestamp null,
    scheduled_at: Timestamp null,
    schedule: Jsonb null,
    active: Boolean,
    schedule_name: Text null,
    owner: Integer null,
    input: Jsonb null,
    correlation_id: Text null,
    last_fire_at: Timestamp null,
    last_instance_id: Uuid null,
    queued: Integer,
    skipped: BigInt,
    missed: BigInt,
    attempts: Integer,
    last_error: Text null,
    made_actor: Text null,
    made_by: Integer null,
    made_login: Integer null,
});

table!(BOOKMARK_QUEUE = "bookmark_queue" {
    id: Uuid,
    shape: Integer,
    match_key: BigInt,
    sender: Integer,
    attempts: Integer,
    created_at: Timestamp,
    expires_at: Timestamp,
    not_before: Timestamp null,
    deferred_for: Uuid null,
    bookmark_id: Uuid null,
    instance_id: Uuid null,
    activity_instance_id: Uuid null,
    hash: Bytea null,
    name: Text null,
    correlation_id: Text null,
    uncorrelated: Boolean,
    activity_type: Text null,
    activity_id: Text null,
    last_error: Text null,
    stimulus: Jsonb null,
    input: Jsonb null,
    login: Integer null,
    actor: Text null,
});

table!(DEAD_LETTERS = "dead_letters" {
    id: Uuid,
    reason: Text,
    sender: Integer,
    attempts: Integer,
    created_at: Timestamp,
    dead_at: Timestamp,
    replayed_at: Timestamp null,
    bookmark_id: Uuid null,
    instance_id: Uuid null,
    activity_instance_id: Uuid null,
    hash: Bytea null,
    name: Text null,
    correlation_id: Text null,
    uncorrelated: Boolean,
    activity_type: Text null,
    activity_id: Text null,
    last_error: Text null,
    stimulus: Jsonb null,
    input: Jsonb null,
    due_at: Timestamp null,
    login: Integer null,
    actor: Text null,
});

table!(TASKS = "tasks" {
    id: Uuid,
    instance_id: Uuid,
    created_at: Timestamp,
    completed_at: Timestamp null,
    activity_id: Text,
    name: Text,
    status: Text,
    correlation_id: Text null,
    payload: Jsonb null,
    result: Jsonb null,
    token: Uuid null,
    deadline: Timestamp null,
    form: Jsonb null,
    assignee: Text null,
    candidates: Jsonb null,
    completed_by: Integer null,
    completed_actor: Text null,
});

table!(COMPENSATIONS = "compensations" {
    instance_id: Uuid,
    holder: BigInt,
    number: BigInt,
    created_at: Timestamp,
    activity_id: Text,
    node_id: Text,
    kept: Bytea,
});

table!(LIMITS = "limits" {
    id: Integer,
    owner: Integer,
    name: Text,
    key: Text null,
    concurrency: Integer null,
    rate: Integer null,
    per: BigInt,
});

table!(SLOTS = "slots" { id: Uuid, limit_id: Integer, place: Text });

table!(ADMISSIONS = "admissions" { id: Uuid, definition_id: Text, place: Text });

table!(INCIDENTS = "incidents" {
    id: Uuid,
    instance_id: Uuid,
    activity_id: Text,
    node_id: Text,
    activity_type: Text,
    activity_instance_id: Uuid,
    created_at: Timestamp,
    resolved_at: Timestamp null,
    sqlstate: Text,
    message: Text,
    detail: Text null,
    hint: Text null,
    context: Text null,
    code: Text null,
    attempts: Integer null,
});

table!(EXECUTION_LOG = "execution_log" { instance_id: Uuid, seq: Integer, created_at: Timestamp, events: Bytea });

table!(PAUSES = "pauses" {
    instance_id: Uuid,
    paused_at: Timestamp,
    paused_by: Integer,
    reason: Text null,
    paused_with: Uuid null,
    unpaused_at: Timestamp null,
});

table!(MESSAGES = "messages" {
    owner: Integer,
    key: Text,
    message: Text,
    content: Bytea,
    answer: Jsonb,
    called_at: Timestamp,
});

table!(GRANTS = "grants" { definition_id: Text, role: Integer, privilege: Text, grantor: Integer });

table!(PARTITIONS = "partitions" { partition: Integer, count: Integer });
