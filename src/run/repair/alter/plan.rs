//! Altering the instances that a filter selects.
//!
//! The call takes the lock of an instance only if it is free, so it never waits for a session that waits for an
//! instance altered before.

use std::collections::{BTreeSet, HashMap};

use uuid::Uuid;
use workflow_engine::alteration::{Alteration, Author, Changes, InstanceFilter};
use workflow_engine::journal::ActKind;
use workflow_engine::program::Activation;

use super::moves::Moves;
use super::result::{AlterationOutcome, AlterationResult};
use crate::access::instance::{self, Subject};
use crate::access::{self, Operation, lending};
use crate::compiled::{self, Compiled};
use crate::pg::rows::Wait;
use crate::pg::{PgError, interrupt, role};
use crate::run::CallContext;
use crate::run::burst::OnFault;
use crate::run::call::{frame, running};
use crate::run::history::acts;
use crate::run::instances::{acquire, resume};
use crate::run::repair::alter;
use crate::store::instances::{self, InstanceRow};
use crate::store::nodes::route;
use crate::store::repair::selection::{self, SelectedInstance};

/// A plan: which instances are altered, and how.
pub struct AlterationPlan {
    /// The changes to each instance.
    pub changes: Changes,
    /// The selected instances.
    pub filter: InstanceFilter,
    /// Only report what would be altered.
    pub is_dry_run: bool,
    /// The author and the reason.
    pub author: Author,
}

/// Instances that one statement finds.
const PAGE: usize = 1000;

/// The work of a plan on an instance.
enum PlannedWork<'a> {
    Alter(&'a [Alteration]),
    Move(Moves),
}

/// Alters at most `max` instances after an id, in the order of ids, that the filter selects and the caller may read or
/// alter.
///
/// # Errors
/// Errors that end a transaction. Any other error is reported as a problem of its instance.
pub fn run(
    context: &mut CallContext,
    plan: &AlterationPlan,
    max: usize,
    after: Option<Uuid>,
) -> Result<Vec<AlterationResult>, PgError> {
    context.has_waited = true;
    let (mut results, mut after, mut rights) = (Vec::new(), after, Rights::default());
    let mut work = match &plan.changes {
        Changes::Alter(alterations) => PlannedWork::Alter(alterations),
        Changes::Migrate(target) => PlannedWork::Move(Moves::new(target, plan.is_dry_run, plan.author.reason.clone())),
    };
    let mut missing = missing(plan, after);
    while results.len() < max {
        let page = selection::page(&plan.filter, after, PAGE);
        let is_last = page.len() < PAGE;
        for selected in page {
            interrupt::check();
            after = Some(selected.id);
            missing.remove(&selected.id);
            add_missing(&mut results, &mut missing, after, max);
            if results.len() == max {
                return Ok(results);
            }
            results.extend(alter_selected(context, plan, &mut work, &selected, &mut rights)?);
        }
        if is_last {
            add_missing(&mut results, &mut missing, None, max);
            break;
        }
    }
    Ok(results)
}

/// The instances that the plan names by id, if it has no other condition.
fn missing(plan: &AlterationPlan, after: Option<Uuid>) -> BTreeSet<Uuid> {
    let Some(ids) = &plan.filter.instance_ids else { return BTreeSet::new() };
    let only = InstanceFilter { instance_ids: None, ..plan.filter.clone() } == InstanceFilter::default();
    ids.iter().copied().filter(|id| only && after.is_none_or(|after| *id > after)).collect()
}

/// Adds results for named instances that do not exist, up to an id, until there are `max` results.
fn add_missing(results: &mut Vec<AlterationResult>, missing: &mut BTreeSet<Uuid>, until: Option<Uuid>, max: usize) {
    while results.len() < max
        && let Some(id) = missing.first().copied().filter(|id| until.is_none_or(|until| *id < until))
    {
        missing.remove(&id);
        results.push(refused(id, vec![resume::unknown(id).message]));
    }
}

fn refused(instance: Uuid, problems: Vec<String>) -> AlterationResult {
    AlterationResult { instance, outcome: AlterationOutcome::Refused, problems }
}

/// The caller's rights on the instances of a version and an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Right {
    Alter,
    Read,
    None,
}

/// The caller's rights, each determined once.
#[derive(Default)]
struct Rights(HashMap<(Uuid, i32), Right>);

impl Rights {
    fn on(&mut self, selected: &SelectedInstance) -> Result<Right, PgError> {
        let key = (selected.version, selected.owner.id);
        if let Some(known) = self.0.get(&key) {
            return Ok(*known);
        }
        let (who, compiled) = (role::current(), compiled::of_version(selected.version)?);
        let subject = Subject { owner: &selected.owner, is_child: false, compiled: &compiled };
        let right = match instance::permits(who, Operation::Alter, subject) {
            true => Right::Alter,
            false if instance::permits(who, Operation::SeeOutcome, subject) => Right::Read,
            false => Right::None,
        };
        self.0.insert(key, right);
        Ok(right)
    }
}

/// Decides about an instance. `None`: it is not visible to the caller.
fn alter_selected(
    context: &mut CallContext,
    plan: &AlterationPlan,
    work: &mut PlannedWork<'_>,
    selected: &SelectedInstance,
    rights: &mut Rights,
) -> Result<Option<AlterationResult>, PgError> {
    if !selected.is_of(&plan.filter.times) {
        return Ok(None);
    }
    let id = selected.id;
    let is_named = plan.filter.instance_ids.is_some();
    let right = rights.on(selected)?;
    if right == Right::None && !is_named {
        return Ok(None);
    }
    let mut problems = Vec::new();
    let altered = match work {
        // A role without rights must not learn anything about the definition.
        PlannedWork::Move(_) if right == Right::None => Err(instance::must_manage(id)),
        PlannedWork::Move(moves) => return moves.move_one(context, selected),
        PlannedWork::Alter(alterations) if plan.is_dry_run => try_out(context, alterations, id, &mut problems),
        PlannedWork::Alter(alterations) => alter(context, plan, alterations, id, &mut problems),
    };
    let altered = match altered {
        Err(error) if error.aborts_transaction() => return Err(error),
        tried => tried,
    };
    // Nothing was locked, and a role without rights must not learn anything about the key.
    let is_untouched = plan.is_dry_run || matches!(altered, Ok(AlterationOutcome::Busy));
    if is_untouched
        && right != Right::None
        && let Some(elsewhere) = route::refusal(id)?
    {
        return Ok(Some(refused(id, vec![elsewhere.message_and_detail()])));
    }
    Ok(Some(match altered {
        Ok(outcome) => AlterationResult { instance: id, outcome, problems },
        Err(error) if problems.is_empty() => refused(id, vec![error.message_and_detail()]),
        Err(_) => refused(id, problems),
    }))
}

/// Checks, without locking it, whether an instance could be altered now.
fn try_out(
    context: &CallContext,
    alterations: &[Alteration],
    id: Uuid,
    problems: &mut Vec<String>,
) -> Result<AlterationOutcome, PgError> {
    running::refuse(id)?;
    let mut row = instances::get(id).ok_or_else(|| resume::unknown(id))?;
    let compiled = compiled::of_instance(&row)?;
    require(alterations, &row, &compiled)?;
    alter::try_out(context, &mut row, &compiled, alterations, problems)?;
    Ok(match alter::must_wait(context, alterations, &row, &compiled) {
        true => AlterationOutcome::Kept,
        false => AlterationOutcome::Altered,
    })
}

/// Alters an instance whose lock is free.
fn alter(
    context: &mut CallContext,
    plan: &AlterationPlan,
    alterations: &[Alteration],
    id: Uuid,
    problems: &mut Vec<String>,
) -> Result<AlterationOutcome, PgError> {
    running::refuse(id)?;
    let Some(mut row) = instances::lock_with(id, Wait::Skip) else {
        return match instances::owner(id) {
            Some(_) => Ok(AlterationOutcome::Busy),
            None => Err(resume::unknown(id)),
        };
    };
    let compiled = compiled::of_instance(&row)?;
    require(alterations, &row, &compiled)?;
    let by = acts::of_call(context, ActKind::Alter, &compiled)?.by;
    if alter::must_wait(context, alterations, &row, &compiled) {
        alter::store(context, &mut row, &compiled, alterations, &plan.author, problems)?;
        return Ok(AlterationOutcome::Kept);
    }
    let runs = alterations.iter().any(Alteration::runs_activities);
    if runs && !acquire::try_lock_few_tasks(&row, &compiled) {
        return Ok(AlterationOutcome::Busy);
    }
    let mut apply = |context: &mut CallContext| {
        frame::run(context, |context| {
            let by = Some(by.clone());
            alter::apply(context, &mut row, &compiled, alterations, &plan.author, by, OnFault::Store, problems)?;
            if alter::cancels(alterations) {
                alter::cancel_below(context, &row);
            }
            Ok(())
        })
    };
    match runs && writes_while_it_runs(&compiled) {
        true => context.isolated(apply)?,
        false => apply(context)?,
    }
    Ok(AlterationOutcome::Altered)
}

/// Whether a burst may write before it is completely computed: users' SQL, compensation records, an activation key that
/// excludes other instances, children.
fn writes_while_it_runs(compiled: &Compiled) -> bool {
    let program = &compiled.program;
    compiled.row.uses_sql
        || program.acts_for_owner()
        || program.compensation().is_used
        || program.options.activation != Activation::Always
}

/// Rejects an instance that the caller may not alter (42501).
fn require(alterations: &[Alteration], row: &InstanceRow, compiled: &Compiled) -> Result<(), PgError> {
    instance::require(Operation::Alter, row, compiled)?;
    access::require_own_command(row, compiled)?;
    match alterations {
        [Alteration::Cancel] => Ok(()),
        _ => lending::require_steering(row, compiled),
    }
}
