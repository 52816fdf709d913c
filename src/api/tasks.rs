//! `wf_claim_tasks`, `wf_complete_task` and the other functions for tasks, and the grants of workers.

use pgrx::pg_sys::Oid;
use serde_json::{Value, json};
use uuid::Uuid;
use workflow_engine::value::indexed::{MAX_INDEXED, check_indexed};

use crate::access::{self, people as rights, substitution, task_consent};
use crate::api::{not_null, on_fault, result, timeout};
use crate::clock;
use crate::error;
use crate::pg::symbols::sql_functions;
use crate::pg::{Call, PgError, Returned, role};
use crate::run::CallContext;
use crate::run::burst::OnFault;
use crate::run::call::frame;
use crate::run::definitions::publish;
use crate::run::history::acts;
use crate::run::tasks::answer::{self, AttemptFailure, TaskAfterFailure};
use crate::run::tasks::answer_list::{self, AnswerResult};
use crate::run::tasks::lease::{self, ClaimRequest, NewLease};
use crate::run::tasks::limits::{self, Setting};
use crate::run::tasks::{acceptance, assign, comment, substitutes, wait};
use crate::store::definitions::{self, DefinitionRow};
use crate::store::rights::owners::{self, Owner};
use crate::store::tasks::assignments::{Assignment, Entry};
use crate::store::tasks::{accepted_owners, task_grants};

sql_functions! {
    wf_claim_tasks(names: Texts, worker: Text, max: Integer, lease: Interval) => claim;
    wf_claim_task(task: Uuid, worker: Text, lease: Interval) => claim_named;
    wf_extend_task(task_id: Uuid, token: Uuid, lease: Interval, progress: Jsonb) => extend;
    wf_release_task(task_id: Uuid, token: Uuid, retry_in: Interval) => release;
    wf_assign_task(task_id: Uuid, assignee: Text) => assign;
    wf_unassign_task(task_id: Uuid) => unassign;
    wf_comment_task(task_id: Uuid, comment: Text, attachments: Jsonb) => comment;
    wf_person(task: Uuid, entry: Text) => person;
    wf_people(task: Uuid, entries: Jsonb) => people;
    wf_set_substitute(person: Text, substitute: Text, until: Timestamptz, since: Timestamptz) => set_substitute;
    wf_remove_substitute(person: Text, substitute: Text) => remove_substitute;
    wf_substituted() => substituted;
    wf_complete_task(task_id: Uuid, result: Jsonb, on_fault: Text, token: Uuid) => complete;
    wf_override_task(task_id: Uuid, reason: Text, result: Jsonb, on_fault: Text) => override_task;
    wf_complete_tasks(answers: Jsonb) => complete_many;
    wf_limit_tasks(name: Text, concurrency: Integer, rate: Integer, per: Interval, key: Text) => limit;
    wf_fail_task(task_id: Uuid, token: Uuid, message: Text, detail: Text, code: Text, retry_in: Interval, retry: Boolean, on_fault: Text) => fail;
}

crate::pg::procedure::sql_procedures! {
    wf_wait_tasks(names: Texts, timeout: Interval, ready: Boolean) => wait;
}

/// Tasks that one call may claim.
const MAX_TASKS: u16 = 1000;
/// The shortest and the longest lease, in microseconds: a millisecond and thirty days.
const LEASES: std::ops::RangeInclusive<i128> = 1_000..=30 * 86_400_000_000;
/// Leases at once, and claims in a period, that a limit may permit.
const MAX_SLOTS: u16 = 10_000;
/// The shortest and the longest period of a limit, in microseconds: a millisecond and 366 days.
const PERIODS: std::ops::RangeInclusive<i128> = 1_000..=366 * 86_400_000_000;

fn claim(call: &Call) -> Result<Returned, PgError> {
    let max = call.required_count("max", MAX_TASKS)?;
    let request = ClaimRequest { names: call.texts("names")?, worker: call.arg("worker"), max, lease: length(call)? };
    let given = lease::claim(&mut CallContext::begin(), &request)?;
    Ok(Returned::Rows(given.into_iter().map(claimed_row).collect()))
}

fn claim_named(call: &Call) -> Result<Returned, PgError> {
    let task: Uuid = call.required("task")?;
    let given = lease::named::claim(&mut CallContext::begin(), task, call.arg("worker"), length(call)?)?;
    Ok(Returned::Rows(vec![claimed_row(given)]))
}

/// The columns of a claimed task.
fn claimed_row(given: NewLease) -> Vec<Returned> {
    let NewLease { task, token, attempt, max_attempts, until } = given;
    let max_attempts = max_attempts.map(|most| i32::try_from(most).unwrap_or(i32::MAX));
    vec![
        Returned::Uuid(task.task),
        Returned::Uuid(token),
        Returned::Text(task.name),
        Returned::of(not_null(task.payload), Returned::Json),
        Returned::of(task.correlation_id, Returned::Text),
        Returned::Uuid(task.instance),
        Returned::Text(task.definition_id),
        Returned::Text(task.activity_id),
        Returned::of(owners::by_id(task.owner).role().and_then(role::name), Returned::Name),
        Returned::Integer(attempt),
        Returned::of(max_attempts, Returned::Integer),
        Returned::Integer(task.priority),
        Returned::of(task.deadline, Returned::Timestamptz),
        Returned::Timestamptz(until),
        Returned::of(task.progress, Returned::Json),
        Returned::of(task.traceparent, |trace| Returned::Text(trace.to_string())),
    ]
}

/// Sleeps until a claim of these names would give work, or the time is over.
fn wait(call: &Call) -> Result<Returned, PgError> {
    let timeout = timeout(call)?;
    let is_ready = wait::wait(call.texts("names")?.as_deref(), timeout)?;
    Ok(Returned::Row(vec![Returned::Boolean(is_ready)]))
}

/// The argument `lease` in microseconds.
fn length(call: &Call) -> Result<i64, PgError> {
    let given = call.interval("lease").map(|lease| lease.as_micros());
    let Some(lease) = given else { return Err(PgError::new("22004", "argument \"lease\" must not be NULL")) };
    match i64::try_from(lease) {
        Ok(micros) if LEASES.contains(&lease) => Ok(micros),
        _ => Err(PgError::new("22023", "argument \"lease\" must be between a millisecond and 30 days")),
    }
}

fn extend(call: &Call) -> Result<Returned, PgError> {
    let (task, token) = (call.required("task_id")?, call.required("token")?);
    let progress = not_null(call.arg("progress"));
    let until = lease::extend(&CallContext::begin(), task, token, length(call)?, progress.as_ref())?;
    Ok(Returned::of(until, Returned::Timestamptz))
}

/// The argument `retry_in` in microseconds.
fn retry_in(call: &Call) -> Result<Option<i64>, PgError> {
    let outside = || PgError::new("22023", "argument \"retry_in\" must be between 0 and 100 years");
    call.interval("retry_in").map(|given| answer::delay(&given).ok_or_else(outside)).transpose()
}

fn release(call: &Call) -> Result<Returned, PgError> {
    let (task, token) = (call.required("task_id")?, call.required("token")?);
    let delay = retry_in(call)?;
    lease::release(&mut CallContext::begin(), task, token, delay).map(Returned::Boolean)
}

fn assign(call: &Call) -> Result<Returned, PgError> {
    let (task, to): (Uuid, String) = (call.required("task_id")?, call.required("assignee")?);
    frame::begin(|context| assign::assign(context, task, Some(&to))).map(Returned::Boolean)
}

fn unassign(call: &Call) -> Result<Returned, PgError> {
    let task = call.required("task_id")?;
    frame::begin(|context| assign::assign(context, task, None)).map(Returned::Boolean)
}

fn comment(call: &Call) -> Result<Returned, PgError> {
    let (text, attachments): (Option<String>, _) = (call.arg("comment"), not_null(call.arg("attachments")));
    comment::add(&mut CallContext::begin(), call.required("task_id")?, text.as_deref(), attachments.as_ref())?;
    Ok(Returned::Null)
}

fn set_substitute(call: &Call) -> Result<Returned, PgError> {
    let (person, substitute): (String, String) = (call.required("person")?, call.required("substitute")?);
    let (until, since) = (call.required("until")?, call.arg("since"));
    substitutes::set(&CallContext::begin(), &person, &substitute, until, since)?;
    Ok(Returned::Null)
}

fn remove_substitute(call: &Call) -> Result<Returned, PgError> {
    let (person, substitute): (String, String) = (call.required("person")?, call.required("substitute")?);
    substitutes::remove(&person, &substitute).map(Returned::Boolean)
}

/// For the views of open tasks.
fn substituted(_: &Call) -> Result<Returned, PgError> {
    Ok(Returned::Texts(substitution::visible_entries(role::current(), clock::now().into())))
}

/// An assignee or candidate as users write it, for the view.
fn person(call: &Call) -> Result<Returned, PgError> {
    let (task, entry): (Uuid, String) = (call.required("task")?, call.required("entry")?);
    Ok(Returned::of(visible_title(call, task, &Entry::read(&entry)), Returned::Text))
}

fn people(call: &Call) -> Result<Returned, PgError> {
    let (task, given) =
        (call.required("task")?, Assignment { candidates: call.arg("entries"), ..Assignment::default() });
    Ok(Returned::Texts(given.candidates().filter_map(|entry| visible_title(call, task, &entry)).collect()))
}

/// Every role can call these functions: the name of a role is shown to its members, and otherwise only as part of a
/// task that the current role may see.
fn visible_title(call: &Call, task: Uuid, entry: &Entry<'_>) -> Option<String> {
    let who = role::current();
    let may_know = match entry {
        Entry::Label(_) => true,
        Entry::Role(owner) => {
            access::is_member(who, owner) || call.once((who, task, owner.id), || rights::may_know(who, task, entry))
        }
    };
    may_know.then(|| entry.title())
}

fn complete(call: &Call) -> Result<Returned, PgError> {
    let task: Uuid = call.required("task_id")?;
    let (given, token) = (not_null(call.arg("result")), call.arg("token"));
    let on_fault = on_fault(call)?;
    let complete = |context: &mut CallContext| answer::complete(context, task, token, given.as_ref(), on_fault);
    result(Some(frame::begin_for_instance(complete)?), false)
}

fn override_task(call: &Call) -> Result<Returned, PgError> {
    let (task, reason): (Uuid, String) = (call.required("task_id")?, call.required("reason")?);
    if reason.trim().is_empty() {
        return Err(PgError::new("22023", "argument \"reason\" must not be empty"));
    }
    let (given, on_fault) = (not_null(call.arg("result")), on_fault(call)?);
    let complete =
        |context: &mut CallContext| answer::complete_for_people(context, task, reason, given.as_ref(), on_fault);
    result(Some(frame::begin_for_instance(complete)?), false)
}

fn complete_many(call: &Call) -> Result<Returned, PgError> {
    let given: Value = call.required("answers")?;
    let taken = answer_list::process(&mut CallContext::begin(), &given)?;
    let row = |taken: AnswerResult| {
        vec![
            Returned::Uuid(taken.task),
            Returned::Text(taken.outcome.into()),
            Returned::of(taken.sub_status, |name| Returned::Text(name.into())),
            Returned::of(taken.message, Returned::Text),
        ]
    };
    Ok(Returned::Rows(taken.into_iter().map(row).collect()))
}

fn fail(call: &Call) -> Result<Returned, PgError> {
    let (task, token) = (call.required("task_id")?, call.required("token")?);
    let failure = AttemptFailure {
        message: call.required("message")?,
        detail: call.arg("detail"),
        code: call.arg("code"),
        retry_in: retry_in(call)?,
        retry: call.required("retry")?,
    };
    answer::check_code(failure.code.as_deref())?;
    let on_fault: OnFault = on_fault(call)?;
    let fail = |context: &mut CallContext| answer::fail(context, task, token, &failure, on_fault);
    let (failed, _): (TaskAfterFailure, _) = frame::begin(fail)?;
    Ok(Returned::Text(failed.name().into()))
}

fn limit(call: &Call) -> Result<Returned, PgError> {
    let name: String = call.required("name")?;
    let key: Option<String> = call.arg("key");
    for (argument, text) in [("name", Some(&name)), ("key", key.as_ref())] {
        if text.is_some_and(String::is_empty) {
            return Err(PgError::new("22023", format!("argument \"{argument}\" must not be empty")));
        }
    }
    check_indexed("task name", &name, MAX_INDEXED).map_err(|fault| error::fault(&fault))?;
    let given = call.interval("per").map(|per| per.as_micros());
    let Some(per) = given else { return Err(PgError::new("22004", "argument \"per\" must not be NULL")) };
    let per = i64::try_from(per).ok().filter(|_| PERIODS.contains(&per));
    let per =
        per.ok_or_else(|| PgError::new("22023", "argument \"per\" must be between a millisecond and 366 days"))?;
    let number = |argument: &str| -> Result<_, PgError> { Ok(call.count(argument, MAX_SLOTS)?.map(i32::from)) };
    let (concurrency, rate) = (number("concurrency")?, number("rate")?);
    let detail = json!({ "task": name, "key": key, "concurrency": concurrency, "rate": rate });
    limits::set(&Setting { name, key, concurrency, rate, per })?;
    acts::record("limit tasks", None, &detail)?;
    Ok(Returned::Null)
}

sql_functions! {
    wf_grant_worker(role: Text, names: Texts, definition_id: Text) => grant;
    wf_revoke_worker(role: Text, names: Texts, definition_id: Text) => revoke;
    wf_accept_tasks(owner: Name, worker: Name) => accept;
    wf_refuse_tasks(owner: Name, worker: Name) => refuse;
    wf_accepts_tasks(worker: Oid, owner: Oid) => accepts;
}

/// What both functions are called with.
struct GrantArguments {
    role: Oid,
    names: Option<Vec<String>>,
    definition: Option<DefinitionRow>,
}

impl GrantArguments {
    fn of(call: &Call) -> Result<Self, PgError> {
        let role = role::required(&call.required::<String>("role")?)?;
        let names = call.texts("names")?;
        if names.as_ref().is_some_and(Vec::is_empty) {
            return Err(PgError::new("22023", "argument \"names\" must not be empty")
                .hint("Without names all tasks are meant."));
        }
        if names.iter().flatten().any(String::is_empty) {
            return Err(PgError::new("22023", "argument \"names\" must not contain an empty name"));
        }
        for name in names.iter().flatten() {
            check_indexed("task name", name, MAX_INDEXED).map_err(|fault| error::fault(&fault))?;
        }
        let definition = call.arg::<String>("definition_id").map(|id| publish::find(&id, None)).transpose()?;
        Ok(Self { role, names, definition })
    }

    fn record(&self, kind: &str) -> Result<(), PgError> {
        acts::record(kind, self.definition_id(), &json!({ "role": role::name(self.role), "tasks": self.names }))
    }

    fn definition_id(&self) -> Option<&str> {
        self.definition.as_ref().map(|row| row.definition_id.as_str())
    }
}

fn grant(call: &Call) -> Result<Returned, PgError> {
    // Its deletion removes the grants that it sees.
    if let Some(id) = call.arg::<String>("definition_id") {
        definitions::lock(&id);
    }
    let request = GrantArguments::of(call)?;
    request.definition.as_ref().map(access::require_owner).transpose()?;
    owners::add_missing(&[request.role]);
    let (holder, grantor) = (owners::id_of(request.role), owners::current_id());
    task_grants::lock(request.role);
    let names = request.names.as_ref();
    let names: Vec<Option<&str>> =
        names.map_or_else(|| vec![None], |names| names.iter().map(|name| Some(name.as_str())).collect());
    let is_new = |name: &&Option<&str>| task_grants::add(holder, grantor, request.definition_id(), **name);
    let count = names.iter().filter(is_new).count();
    task_grants::give_calls(request.role);
    let owner = request.definition.as_ref().map(|row| &row.owner);
    owner.into_iter().for_each(|owner| acceptance::by_grant(request.role, owner));
    acceptance::notice_missing(request.role, owner);
    request.record("grant worker")?;
    Ok(Returned::Integer(i32::try_from(count).unwrap_or(i32::MAX)))
}

/// Takes grants back: those of the current role, and those of definitions that it may manage.
fn revoke(call: &Call) -> Result<Returned, PgError> {
    let request = GrantArguments::of(call)?;
    owners::add_missing(&[request.role]);
    let (holder, who) = (owners::id_of(request.role), role::current());
    let manages = |id: &str| match publish::find(id, None) {
        Ok(row) => access::is_member(who, &row.owner),
        Err(_) => false,
    };
    task_grants::lock(request.role);
    let mut found = task_grants::held(holder, request.definition_id(), request.names.as_deref());
    found.retain(|grant| access::is_member(who, &grant.grantor) || grant.definition_id.as_deref().is_some_and(manages));
    if let (true, Some(definition)) = (found.is_empty(), &request.definition) {
        access::require_owner(definition)?;
    }
    let ids: Vec<Uuid> = found.iter().map(|grant| grant.id).collect();
    let count = task_grants::remove(&ids);
    if count > 0 {
        task_grants::take_calls(request.role, holder);
        request.record("revoke worker")?;
    }
    Ok(Returned::Integer(i32::try_from(count).unwrap_or(i32::MAX)))
}

fn accept(call: &Call) -> Result<Returned, PgError> {
    let (worker, owner) = acceptance_arguments(call)?;
    let is_new = acceptance::accept(worker, owner);
    acts::record_of(owners::id_of(worker), "accept tasks", None, &json!({ "role": owners::by_id(owner).title() }))?;
    Ok(Returned::Boolean(is_new))
}

fn refuse(call: &Call) -> Result<Returned, PgError> {
    let (worker, owner) = acceptance_arguments(call)?;
    let worker = owners::id_of(worker);
    let was_there = accepted_owners::remove(worker, owner);
    if was_there {
        acts::record_of(worker, "refuse tasks", None, &json!({ "role": owners::by_id(owner).title() }))?;
    }
    Ok(Returned::Boolean(was_there))
}

/// The worker, and the id of the owner.
fn acceptance_arguments(call: &Call) -> Result<(Oid, i32), PgError> {
    let owner = role::required(&call.required_name("owner")?)?;
    let worker = match call.name("worker") {
        Some(name) => role::required(&name)?,
        None => role::current(),
    };
    if !role::has_rights_of(role::current(), worker) {
        let name = role::name(worker).unwrap_or_default();
        return Err(PgError::new("42501", format!("permission denied to accept or refuse tasks for role \"{name}\""))
            .detail(format!("Only roles with the rights of role \"{name}\" may do that.")));
    }
    owners::add_missing(&[worker, owner]);
    Ok((worker, owners::id_of(owner)))
}

/// Whether a role accepts the tasks of another one, for the views. Only roles that may see a grant between the two are
/// told.
fn accepts(call: &Call) -> Result<Returned, PgError> {
    let (Some(worker), Some(owner)) = (call.arg::<Oid>("worker"), call.arg::<Oid>("owner")) else {
        return Ok(Returned::Null);
    };
    let who = role::current();
    let may_see = role::has_rights_of(who, worker)
        || role::has_rights_of(who, owner)
        || role::reads_all_data(who)
        || role::monitors(who);
    Ok(match may_see {
        true => {
            Returned::Boolean(task_consent::accepts(worker, &Owner { id: 0, oid: Some(owner), name: String::new() }))
        }
        false => Returned::Null,
    })
}
