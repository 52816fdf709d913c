//! Assigning a task to a person, and removing the assignee.
//!
//! The locks are those of an answer: the row of the instance, then the row of the task's bookmark, in which the
//! assignee is stored. So an answer sees the assignee at its commit. A claim, which locks the second row only if it is
//! free, either comes first, or reads the new assignee.

use serde_json::{Map, Value};
use uuid::Uuid;
use workflow_engine::Host;
use workflow_engine::child::NewChild;
use workflow_engine::execution::{self, ForPeople, Published};
use workflow_engine::journal::{Act, ActKind, Event, EventKind};
use workflow_engine::notification::{self, Notice, OpenTask, Reason, Sent};

use crate::access::exclusion::Exclusion;
use crate::access::people::{self, Assigner};
use crate::access::person::Person;
use crate::access::{Operation, instance};
use crate::compiled::{self, Compiled};
use crate::error;
use crate::pg::{PgError, role, rows};
use crate::run::CallContext;
use crate::run::burst::host::SpiHost;
use crate::run::call::running::{self, RunningGuard};
use crate::run::events::{deliver, queued};
use crate::run::history::acts;
use crate::run::instances::not_found::{self, Missing};
use crate::run::instances::resume;
use crate::store::history::journal;
use crate::store::instances;
use crate::store::instances::bookmarks::{self, Waiting};
use crate::store::rights::members;
use crate::store::tasks;
use crate::store::tasks::assignments::{self, Assignment, Entry};
use crate::wake;

/// Assigns an open task, or removes its assignee. `false`: nothing has changed.
pub fn assign(context: &mut CallContext, task: Uuid, to: Option<&str>) -> Result<bool, PgError> {
    let to = to.map(|to| ForPeople::entry(to, "assignee").map_err(|fault| error::fault(&fault))).transpose()?;
    context.has_waited = true;
    let Some(mut waiting) = bookmarks::lock(task) else { return Err(not_found::missing_error(Missing::Task(task))?) };
    if !waiting.kind.is_task() {
        return Err(PgError::new("42704", format!("task {task} does not exist")));
    }
    running::refuse(waiting.row.instance.id)?;
    let compiled = compiled::of_instance(&waiting.row)?;
    let assigner = require_assign(&waiting, &compiled, to.as_deref())?;
    let act = acts::of_call(context, ActKind::Assign, &compiled)?;
    // A claim does not lock the instance.
    bookmarks::lock_lease(&mut waiting);
    let hint = "It can be assigned when the lease ends, or when the worker gives it back.";
    resume::refuse_leased(context, &waiting, hint)?;
    let to = to.as_deref().map(assignments::stored).transpose()?;
    if let Some(to) = &to {
        refuse_excluded(&waiting, &compiled, &act, &Entry::read(to), assigner)?;
        if assigner == Assigner::Colleague {
            refuse_unreachable(&waiting, &compiled, &Entry::read(to))?;
        }
    }
    let before = waiting.lease.assignment.take().unwrap_or_default();
    if before.assignee == to {
        return Ok(false);
    }
    if assigner == Assigner::Candidate
        && let (Some(taken), Some(_)) = (before.assignee(), &to)
    {
        return Err(PgError::new("55000", format!("task {task} is assigned to {}", taken.title()))
            .hint("Its owner, or a role with the privilege \"alter\", can assign it to another person."));
    }
    assignments::assign(&task, to.as_deref());
    tasks::reassign_commented(task, to.as_deref());
    let after = Assignment { assignee: to, ..Assignment::default() };
    let sent = notify_assignee(context, &waiting, &compiled, &act, after.assignee());
    let (events, children, stimuli) = sent.map(into_parts).unwrap_or_default();
    record_event(context, &mut waiting, &act, before.assignee(), after.assignee(), events);
    // What SQL of the directory has sent to this instance.
    if running::may_have_deferred() {
        queued::take_deferred(context, waiting.row.instance.id);
    }
    deliver::collect_published(context, &waiting.row, &compiled, children, stimuli);
    Ok(true)
}

/// Notifies the new assignee, if the author of the workflow wants that. The caller stores what follows.
fn notify_assignee(
    context: &CallContext,
    waiting: &Waiting,
    compiled: &Compiled,
    act: &Act,
    to: Option<Entry<'_>>,
) -> Option<Sent> {
    let (program, bookmark) = (&compiled.program, &waiting.bookmark);
    if !program.notifies {
        return None;
    }
    let node = program.nodes.iter().find(|node| node.node_id == bookmark.node_id && node.notify.is_some())?;
    let task = OpenTask { assignee: Some(to?.title()), ..tasks::open(bookmark.id)? };
    let row = &waiting.row;
    let mut host = SpiHost::new(context, row.instance.id, &row.owner, compiled).with_people(row, Some(act), None);
    let notice = Notice { task: bookmark.id, reason: Reason::Assigned, event: None };
    // The row of the instance is in memory, and written later: SQL of the directory must not change it meanwhile.
    let _running = RunningGuard::burst(row.instance.id);
    let mut sent = notification::send(program, &row.instance, node, &notice, &task, &mut host);
    let level = node.events.unwrap_or(program.options.journal.level);
    sent.events.retain(|(kind, _)| level.writes(*kind));
    sent.warnings.iter().for_each(|warning| host.warn(warning));
    Some(sent)
}

fn into_parts(sent: Sent) -> (Vec<(EventKind, Value)>, Vec<NewChild>, Vec<Published>) {
    (sent.events, sent.child.into_iter().collect(), sent.stimulus.into_iter().collect())
}

/// Refuses the current role unless it may make this assignment (42501).
fn require_assign(waiting: &Waiting, compiled: &Compiled, to: Option<&str>) -> Result<Assigner, PgError> {
    let assigner =
        people::assigner(&waiting.row, compiled, &waiting.bookmark.node_id, waiting.lease.assignment.as_deref(), to);
    let task = waiting.bookmark.id;
    assigner.ok_or_else(|| {
        PgError::new("42501", format!("permission denied to assign task {task}"))
            .detail("Its owners and roles with the privilege \"alter\" may assign it; a candidate may take it, and pass it on if it is \"reassignable\".")
            .hint("The owner of its definition can grant the privilege with wf_grant.")
    })
}

/// Refuses a person whom the task excludes, both as the one who assigns it and as the assignee (42501).
fn refuse_excluded(
    waiting: &Waiting,
    compiled: &Compiled,
    act: &Act,
    to: &Entry<'_>,
    assigner: Assigner,
) -> Result<(), PgError> {
    let bookmark = &waiting.bookmark;
    let Some(exclusion) = Exclusion::of(&waiting.row, compiled, bookmark.id, &bookmark.node_id)? else { return Ok(()) };
    let who = Person::from(&act.by);
    match assigner {
        Assigner::Operator => exclusion.require(&who)?,
        Assigner::Candidate | Assigner::Colleague => {
            exclusion.require_answer(&who, waiting.lease.assignment.as_deref())?;
        }
    }
    exclusion.require_assignee(to)
}

/// Refuses a colleague who could not answer: an operator can assign the task again, but the one who passed it on cannot.
/// A role must be able to log in, or have members who can (22023). A name that only the application knows is for roles that act for such
/// names; from others it is a role without its prefix (42501).
fn refuse_unreachable(waiting: &Waiting, compiled: &Compiled, to: &Entry<'_>) -> Result<(), PgError> {
    match to {
        Entry::Role(owner) if owner.role().is_some_and(|role| !members::logins_of(role).is_empty()) => Ok(()),
        Entry::Role(_) => Err(PgError::new("22023", format!("nobody can act as {}", to.title()))
            .detail("The role cannot log in, and has no members who can.")),
        Entry::Label(_) if instance::allows(Operation::Resume, &waiting.row, compiled) => Ok(()),
        Entry::Label(name) => {
            let by = role::name(role::current()).unwrap_or_default();
            Err(PgError::new("42501", format!("permission denied to assign task {} to \"{name}\"", waiting.bookmark.id))
                .detail(format!(
                    "A name that is no role is known to an application only, and role \"{by}\" has no privilege \"resume\" to act for such names."
                ))
                .hint("Name a role as role:<name>."))
        }
    }
}

/// Records the change in the journal, and wakes waiting workers so that they check again.
fn record_event(
    context: &CallContext,
    waiting: &mut Waiting,
    act: &Act,
    from: Option<Entry<'_>>,
    to: Option<Entry<'_>>,
    more: Vec<(EventKind, Value)>,
) {
    let mut data = Map::from_iter([("by".to_owned(), Value::from(role::name(role::current())))]);
    for (name, entry) in [("from", from), ("to", to)] {
        data.extend(entry.map(|entry| (name.to_owned(), Value::String(entry.title()))));
    }
    let (instance, bookmark) = (&mut waiting.row.instance, &waiting.bookmark);
    let event = execution::task_event(EventKind::Assigned, instance.id, bookmark, Value::Object(data));
    let id = instance.id;
    let more = more.into_iter().map(|(kind, data)| execution::task_event(kind, id, bookmark, data));
    let events: Vec<Event> = std::iter::once(event).chain(more).collect();
    let seq = journal::take_rows(instance, Some(act), events.len());
    instances::save_state(instance);
    rows::write(|writer| journal::append(writer, &id, seq, Some(act), &events, context.timestamp()));
    if let Some(name) = bookmarks::task_name(bookmark) {
        wake::report_task(name);
    }
}
