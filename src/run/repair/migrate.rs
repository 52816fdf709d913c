//! Migrating running instances to another version of their definition.
//!
//! A migration locks the instance, as every call that changes it does: a resume, a fire or an answer comes before it, in
//! the old version, or after it, in the new one (`isolation/migrate`). docs/internals/locking.md has a table of the
//! orders. The other locks of a migration:
//!
//! - before the instance, the partition of its key; after it, a draft that is the new version;
//! - the activation key in the new version, if it is a different one (23505 if another session takes it);
//! - the rows that name the instance's activities. A claim, a heartbeat or the record of a failed fire may hold a
//!   bookmark without the instance. A migration of one instance waits for it. A migration of many skips the instance if
//!   one of up to 100 tasks is held, and otherwise waits;
//! - those of the bursts that cancel activities and continue the instance.
//!
//! The caller has the rights of the definition's owner. Without those of the instance's owner it may not bring SQL,
//! children or events into an instance that acts with the rights of that role.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::json;
use uuid::Uuid;
use workflow_engine::execution;
use workflow_engine::instance::SubStatus;
use workflow_engine::instance::compensation::Record;
use workflow_engine::journal::{ActKind, Event, EventKind, Identity};
use workflow_engine::migration::{Mapping, Migration, Moved, Problem, Severity, Timers, Waits, is_refused};
use workflow_engine::stimulus::{RETRY, START_TIMEOUT};

use crate::access::{self, Operation, instance, lending};
use crate::compiled::{self, Compiled};
use crate::error;
use crate::pg::{PgError, interrupt, role, rows};
use crate::run::CallContext;
use crate::run::burst::save::RowState;
use crate::run::burst::{self, OnFault, StoredBurst};
use crate::run::call::running;
use crate::run::history::acts;
use crate::run::instances::activation::activation_key;
use crate::run::instances::{resume, version};
use crate::store::definitions::DefinitionRow;
use crate::store::history::journal;
use crate::store::instances::{self, InstanceRow, search_attributes};
use crate::store::nodes::route;
use crate::store::repair::{compensations, migration};
use crate::wake;

pub mod batch;
pub mod publication;

/// The options of a migration.
#[derive(Debug)]
pub struct MigrationOptions {
    /// Number of the new version; the published one if not given.
    pub version: Option<i32>,
    /// Activities that have other ids there.
    pub mapping: Mapping,
    /// What happens to timers.
    pub timers: Timers,
    /// Report the obstacles, and change nothing.
    pub dry_run: bool,
    /// The reason, for the journal.
    pub reason: Option<String>,
    /// Who requested it, if not the caller.
    pub by: Option<Identity>,
}

/// Moves an instance to another version, and returns warnings for the operator.
///
/// # Errors
/// 22023 if there are obstacles, all listed in the detail; 55000 if the instance has ended or no version is published;
/// 42704 if the instance or version does not exist; 42501 if the caller may not move it; 55006 if it runs further up the
/// stack; 23505 if another session takes its activation key at the same time.
pub fn migrate(context: &mut CallContext, id: Uuid, wanted: &MigrationOptions) -> Result<Vec<Problem>, PgError> {
    running::refuse(id)?;
    context.has_waited = true;
    let row = if wanted.dry_run { instances::get(id) } else { instances::lock(id) };
    let row = row.ok_or_else(|| resume::unknown(id))?;
    let old = compiled::of_instance(&row)?;
    // A role that may not see the instance must not learn anything about its definition.
    instance::require(Operation::Migrate, &row, &old)?;
    if wanted.dry_run
        && let Some(elsewhere) = route::refusal(id)?
    {
        return Err(elsewhere);
    }
    let (target, _) = version::find(context, &row.definition_id, wanted.version)?;
    let new = compiled::of_version(target.id)?;
    may_move(&row, &new)?;
    if row.instance.has_ended() {
        return Err(ended(id));
    }
    if row.definition_version_id == target.id {
        return Ok(Vec::new());
    }
    let change = VersionChange::new(old, new, wanted);
    let (prepared, problems) = change.prepare(context, row)?;
    if wanted.dry_run {
        return Ok(problems);
    }
    if is_refused(&problems) {
        return Err(change.refusal(id, &problems));
    }
    change.store_and_continue(context, prepared)?;
    Ok(problems)
}

/// The change from one version of a definition to another, for all instances that it moves.
struct VersionChange {
    old: Rc<Compiled>,
    new: Rc<Compiled>,
    migration: Migration,
    /// Activities with another id in the new version, which only a mapping makes.
    renamed: Vec<(String, String)>,
    reason: Option<String>,
    by: Option<Identity>,
}

/// An instance that is in the new version in memory, and in the old one in the tables.
struct Prepared {
    row: InstanceRow,
    moved: Moved,
    records: Vec<Record>,
    /// Executions that the mapping cancels.
    cancelled: Vec<u32>,
}

impl VersionChange {
    fn new(old: Rc<Compiled>, new: Rc<Compiled>, wanted: &MigrationOptions) -> Self {
        let programs = (old.program.clone(), new.program.clone());
        let check = &mut interrupt::check;
        let migration = Migration::new(programs.0, programs.1, new.row.version, &wanted.mapping, wanted.timers, check);
        let renamed = if wanted.mapping.is_empty() { Vec::new() } else { migration.renamed_ids() };
        Self { old, new, migration, renamed, reason: wanted.reason.clone(), by: wanted.by.clone() }
    }

    /// Moves an instance in memory, and returns the obstacles.
    fn prepare(&self, context: &CallContext, mut row: InstanceRow) -> Result<(Prepared, Vec<Problem>), PgError> {
        let id = row.instance.id;
        let records = match self.migration.needs_records() {
            true => compensations::all(&self.old.program, &id).map_err(|failed| error::burst(failed, id))?,
            false => Vec::new(),
        };
        let mut records = records;
        let cancelled = self.migration.cancelled(&row.instance);
        let waits = Waits {
            retries: match Migration::may_wait_for_retry(&row.instance) {
                true => migration::waiting(&id, RETRY).into_keys().collect(),
                false => BTreeSet::new(),
            },
            claims: match self.migration.may_wait_for_claim(&row.instance) {
                true => migration::waiting(&id, START_TIMEOUT),
                false => BTreeMap::new(),
            },
        };
        let (mut moved, mut problems) =
            self.migration.migrate(&mut row.instance, &mut records, &waits, &mut interrupt::check);
        interrupt::check();
        if row.instance.sub_status == SubStatus::Pending
            && let Some(trigger) = migration::trigger_of_start(&id)
        {
            self.migration.migrate_start(&trigger, &mut moved, &mut problems);
        }
        self.check_key(&row, &mut problems);
        let runs = !cancelled.is_empty() || !moved.after.is_empty();
        let runs_here =
            || [&self.old, &self.new].iter().all(|compiled| lending::act_runs_here(context.serves, &row, compiled));
        if runs && !runs_here() {
            let message = "the instance would have to run now, and its SQL runs in a session of its owner only";
            problems.push(Problem::error("", message));
        }
        problems.sort_by_key(|problem| problem.severity);
        Ok((Prepared { row, moved, records, cancelled }, problems))
    }

    /// The activation key of an instance in the new version. A faulted instance has none until it runs again.
    fn key(&self, row: &InstanceRow) -> Option<String> {
        let is_running = row.instance.sub_status != SubStatus::Faulted;
        activation_key(&self.new, row.instance.correlation_id.as_deref()).filter(|_| is_running)
    }

    /// Rejects an instance if another instance holds the activation key that it would have in the new version.
    fn check_key(&self, row: &InstanceRow, problems: &mut Vec<Problem>) {
        let Some(key) = self.key(row).filter(|key| row.activation_key.as_ref() != Some(key)) else { return };
        if instances::holder(&key).is_some_and(|holder| holder != row.instance.id) {
            let version = self.new.row.version;
            let message =
                format!("the activation strategy of version {version} allows one instance, and another one runs");
            problems.push(Problem::error("", message));
        }
    }

    /// Stores what was prepared, and continues the instance if necessary.
    fn store_and_continue(&self, context: &mut CallContext, prepared: Prepared) -> Result<(), PgError> {
        let prepared = match prepared.cancelled.is_empty() {
            true => prepared,
            false => self.cancel(context, prepared)?,
        };
        let Prepared { mut row, moved, records, .. } = prepared;
        self.save(context, &mut row, &moved, &records)?;
        if moved.after.is_empty() {
            return Ok(());
        }
        let burst = stored(&mut row, &self.new);
        burst::run(context, burst, |program, instance, host, limits| {
            execution::continue_migrated(program, instance, &moved.after, host, limits)
        })?;
        Ok(())
    }

    /// Cancels the executions that the mapping drops, in the old version, and prepares the instance again.
    fn cancel(&self, context: &mut CallContext, prepared: Prepared) -> Result<Prepared, PgError> {
        let Prepared { row, moved, cancelled, .. } = prepared;
        let id = row.instance.id;
        let mut row = instances::get(id).ok_or_else(|| resume::unknown(id))?;
        let burst = stored(&mut row, &self.old);
        burst::run(context, burst, |program, instance, host, limits| {
            execution::cancel_executions(program, instance, &cancelled, host, limits)
        })?;
        let row = instances::get(id).ok_or_else(|| resume::unknown(id))?;
        let (mut again, problems) = self.prepare(context, row)?;
        if is_refused(&problems) {
            return Err(self.refusal(id, &problems));
        }
        again.moved.after.add_cancelled(moved.after);
        Ok(again)
    }

    fn save(
        &self,
        context: &CallContext,
        row: &mut InstanceRow,
        moved: &Moved,
        records: &[Record],
    ) -> Result<(), PgError> {
        let before = row.activation_key.take();
        row.activation_key = self.key(row);
        row.definition_version_id = self.new.row.id;
        let event = self.event();
        let act = match &self.by {
            Some(by) => Some(CallContext::act_of(ActKind::Migrate, by.clone())),
            None => context.has_caller().then(|| context.act(ActKind::Migrate)).transpose()?,
        };
        if let Some(act) = &act {
            acts::require_actor(&act.by, &self.new)?;
        }
        let seq = journal::take_rows(&mut row.instance, act.as_ref(), 1);
        let now = context.timestamp();
        rows::write(|writer| {
            migration::save(writer, row, moved.variables_changed, before.as_deref(), now);
            journal::append(writer, &row.instance.id, seq, act.as_ref(), &[event], now);
        });
        let (id, program) = (row.instance.id, self.migration.target());
        if !moved.renamed.is_empty() {
            migration::rename(id, program, &moved.renamed, row.instance.incident_count > 0);
        }
        migration::rename_ended_tasks(id, &self.renamed);
        self.save_search_attributes(row);
        for record in records {
            interrupt::check();
            compensations::replace(program, &id, record);
        }
        if runs_as(&self.old.row) != runs_as(&self.new.row) {
            // Due work may now belong to a session of another role.
            wake::report_all();
        }
        Ok(())
    }

    /// The new version may declare others, and converted variables have other values.
    fn save_search_attributes(&self, row: &InstanceRow) {
        let has_any = |compiled: &Compiled| !compiled.program.options.search_attributes.is_empty();
        if has_any(&self.new) {
            search_attributes::save(&row.instance, &self.new.program);
        } else if has_any(&self.old) {
            search_attributes::delete(&[row.instance.id]);
        }
    }

    fn event(&self) -> Event {
        let (from, to) = (self.old.row.version, self.new.row.version);
        let mut data = json!({ "by": role::name(role::current()), "from": from, "to": to });
        if let Some(reason) = &self.reason {
            data["reason"] = json!(reason);
        }
        Event::of_workflow(EventKind::Migrated, Some(data))
    }

    /// The error for an instance that cannot be moved (22023).
    fn refusal(&self, id: Uuid, problems: &[Problem]) -> PgError {
        let errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
        let lines: Vec<String> = errors
            .map(|problem| match problem.path.as_str() {
                "" => problem.message.clone(),
                path => format!("{path}: {}", problem.message),
            })
            .collect();
        let version = self.new.row.version;
        PgError::new("22023", format!("workflow instance {id} cannot go on in version {version} of its definition"))
            .detail(lines.join("\n"))
            .hint("With mapping an activity goes over to one with another id, or what is open there is cancelled (null). With dry_run => true the problems are rows.")
    }
}

fn stored<'a>(row: &'a mut InstanceRow, compiled: &'a Compiled) -> StoredBurst<'a> {
    StoredBurst { row, compiled, state: RowState::Stored, on_fault: OnFault::Store, consumed: None, act: None }
}

/// What determines in whose session an instance of a version may run.
fn runs_as(row: &DefinitionRow) -> (bool, bool) {
    (row.uses_sql, row.definer)
}

fn ended(id: Uuid) -> PgError {
    PgError::new("55000", format!("workflow instance {id} has ended"))
        .detail("Only an instance that can go on is moved to another version.")
}

/// Rejects the current role unless it may move the instance to this version (42501).
fn may_move(row: &InstanceRow, new: &Compiled) -> Result<(), PgError> {
    instance::require(Operation::Migrate, row, new)?;
    let acts_as_owner = lending::has_invoker_sql(new) || new.program.acts_for_owner();
    if !acts_as_owner || access::is_member(role::current(), &row.owner) || lending::is_lent(&row.owner, new) {
        return Ok(());
    }
    let id = row.instance.id;
    Err(PgError::new("42501", format!("must be owner of workflow instance {id}")).detail(format!(
        "SQL, children and events of version {} would have the rights of role \"{}\".",
        new.row.version,
        row.owner.title()
    )))
}
