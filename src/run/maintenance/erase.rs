//! Erasing a case, identified by a correlation id, or a person, identified by an actor.
//!
//! Each call erases a limited number of instances, and rows that belong to no instance. It is repeated until nothing is
//! left that it may erase.

use std::collections::HashSet;

use pgrx::pg_sys::Oid;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::access::instance::{self, Subject};
use crate::access::{self, Operation, person};
use crate::compiled;
use crate::error;
use crate::pg::error::{notice, warning};
use crate::pg::rows::Wait;
use crate::pg::{PgError, guc, interrupt, role};
use crate::run::call::running;
use crate::run::instances::acquire;
use crate::run::instances::delete::{self, Deletion, Removal};
use crate::run::{BACKEND, CallContext};
use crate::store::history::audit::{self, NewAct};
use crate::store::instances;
use crate::store::maintenance::erasure::{self, Replacement};
use crate::store::maintenance::removal;
use crate::store::maintenance::removal::Tally;
use crate::store::nodes::route;
use crate::store::rights::owners;

/// Instances that are searched for an actor together.
const PAGE: i64 = 100;

/// The ids in `workflow.owners` of the roles whose rights the caller has.
fn owners_of_caller() -> Vec<i32> {
    let who = role::current();
    owners::ids().into_iter().filter(|id| access::is_member(who, &owners::by_id(*id))).collect()
}

/// Erases the instances with a correlation id that the caller may delete, at most about `max`, and then everything else
/// stored for that id.
///
/// Skips instances that other sessions have locked, those with work to compensate unless `force` is given, and those
/// whose deletion fails: none prevents erasing the rest of the case.
///
/// # Errors
/// 55006 if the burst of one of them is running.
pub fn erase_case(context: &mut CallContext, key: &str, force: bool, max: usize) -> Result<Tally, PgError> {
    route::require(Some(key))?;
    let who = role::current();
    let (mut all, mut is_last) = (Deletion::default(), true);
    let (mut left_out, mut busy, mut unfinished) = (Vec::new(), 0, 0);
    for id in erasure::instances(key) {
        interrupt::check();
        // It may have been deleted with its parent.
        let Some(row) = instances::get(id) else { continue };
        let compiled = match compiled::of_version(row.definition_version_id) {
            Ok(compiled) => compiled,
            Err(error) => {
                leave_out(&mut left_out, id, error)?;
                continue;
            }
        };
        let subject = Subject::of(&row, &compiled);
        if !instance::permits(who, Operation::Delete, subject) {
            all.tally.add_kept("instances", u64::from(instance::permits(who, Operation::SeeOutcome, subject)));
            continue;
        }
        if all.instances.len() >= max {
            is_last = false;
            break;
        }
        match delete_if_free(context, id, force) {
            Ok(Some(Removal::Done(deletion))) => {
                all.add(deletion);
                continue;
            }
            Ok(Some(Removal::Gone)) => continue,
            Ok(Some(Removal::HasWork(_))) => unfinished += 1,
            Ok(None) => busy += 1,
            Err(error) => {
                leave_out(&mut left_out, id, error)?;
                continue;
            }
        }
        left_out.push(id);
    }
    all.tally.add_kept("instances", left_out.len() as u64 - busy);
    let owners = owners_of_caller();
    if is_last {
        let mut keys = removal::unused_keys(&all.keys);
        keys.retain(|other| other != key);
        keys.push(key.to_owned());
        all.remove_keyed(&keys);
        all.tally.add_done("triggers", erasure::remove_schedules(key, &owners));
    }
    all.tally.add_done("audit_log", erasure::empty_audit(&owners, key, &all.instances, &left_out));
    record("erase case", &all.tally, None)?;
    notice_left_out(busy, BUSY, "Run wf_erase again.");
    notice_left_out(
        unfinished,
        "What an instance with work to compensate has done would stay, and nothing would tell of it.",
        "Cancel it with wf_cancel, and run wf_erase again when it has ended. With force => true its work stays as it is.",
    );
    Ok(all.tally)
}

/// Skips an instance whose deletion has failed, and reports why.
///
/// # Errors
/// The failure, if the call must not continue.
fn leave_out(left_out: &mut Vec<Uuid>, id: Uuid, error: PgError) -> Result<(), PgError> {
    if error.is_never_an_incident() && error.sqlstate != "XX001" {
        return Err(error);
    }
    let why = error.detail.map_or_else(|| error.message.clone(), |detail| format!("{}. {detail}", error.message));
    let warned = PgError::new("01000", format!("workflow instance {id} was left out")).detail(why);
    warning(error.hint.into_iter().fold(warned, PgError::hint));
    left_out.push(id);
    Ok(())
}

/// Deletes an instance with its children, unless another session has locked one of them (`None`). Changes nothing
/// unless it deletes it.
fn delete_if_free(context: &mut CallContext, id: Uuid, force: bool) -> Result<Option<Removal>, PgError> {
    running::refuse(id)?;
    context.isolated_if(
        |context| if lock_tree_if_free(id) { delete::delete_tree(context, id, force).map(Some) } else { Ok(None) },
        |removal| matches!(removal, Some(Removal::Done(_))),
    )
}

/// A pseudonym that was generated when a role erased an actor.
pub(in crate::run) struct Pseudonym {
    role: Oid,
    actor: String,
    name: String,
}

/// The pseudonym for an actor in this session: a random name, the same in each call.
fn made_pseudonym(role: Oid, actor: &str) -> String {
    let made = &mut *BACKEND.pseudonym.borrow_mut();
    match made {
        Some(made) if made.role == role && made.actor == actor => made.name.clone(),
        _ => {
            let name = format!("{}{}", guc::PSEUDONYM, Uuid::new_v4().simple());
            *made = Some(Pseudonym { role, actor: actor.to_owned(), name: name.clone() });
            name
        }
    }
}

/// Replaces an actor by a pseudonym in the rows that the caller may erase, in at most `max` instances, and then in rows
/// that belong to none.
///
/// # Errors
/// XX001 if a row of a journal cannot be decoded.
pub fn erase_actor(
    context: &mut CallContext,
    actor: &str,
    pseudonym: Option<&str>,
    max: usize,
) -> Result<Tally, PgError> {
    // It takes only free locks.
    context.has_waited = true;
    let who = role::current();
    let pseudonym = pseudonym.map_or_else(|| made_pseudonym(who, actor), str::to_owned);
    let replacement = Replacement::new(actor, &pseudonym);
    let (owners, reads_all) = (owners_of_caller(), role::reads_all_data(who));
    let (mut tally, mut changed, mut busy) = (Tally::default(), 0, 0);
    // Each call starts from the beginning, so it finds rows that an earlier one has skipped or rolled back.
    let mut after = Uuid::nil();
    let is_last = loop {
        let page = replacement.find(after, &owners, reads_all, PAGE);
        let Some(last) = page.last() else { break true };
        after = last.id;
        for found in page {
            interrupt::check();
            if !found.is_managed {
                tally.add_kept("instances", 1);
                continue;
            }
            if !lock_if_free(found.id) {
                busy += 1;
                continue;
            }
            let replaced = replacement.in_instance(found.id).map_err(|failed| error::burst(failed, found.id))?;
            tally.add_kept("instances", u64::from(found.keeps_data));
            changed += usize::from(replaced.tables().next().is_some());
            tally.add(&replaced);
        }
        if changed >= max {
            break false;
        }
    };
    if is_last {
        tally.add(&replacement.in_other_rows(&owners, i64::try_from(max).unwrap_or(i64::MAX)));
    }
    record("erase actor", &tally, Some(&replacement))?;
    notice_left_out(busy, BUSY, "Run wf_erase again.");
    Ok(tally)
}

/// Locks an instance and its open tasks, unless another session has locked one of them. A task worker that holds a task
/// may be waiting for the instance.
fn lock_if_free(id: Uuid) -> bool {
    !running::contains(id) && instances::lock_with(id, Wait::Skip).is_some() && acquire::try_lock_tasks(id)
}

/// Locks an instance, its descendants and their open tasks, unless another session has locked one of them.
fn lock_tree_if_free(id: Uuid) -> bool {
    let (mut rest, mut seen) = (vec![id], HashSet::new());
    while let Some(next) = rest.pop() {
        if !seen.insert(next) {
            continue;
        }
        if !lock_if_free(next) {
            return false;
        }
        rest.extend(instances::children(next));
    }
    true
}

/// Records an erasure in the audit, without the erased data.
fn record(kind: &str, tally: &Tally, replacement: Option<&Replacement>) -> Result<(), PgError> {
    let rows: Map<String, Value> = tally
        .tables()
        .filter(|(_, rows)| rows.done > 0)
        .map(|(table, rows)| (table.to_owned(), json!(rows.done)))
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    let mut by = person::current()?;
    let mut detail = json!({ "rows": rows });
    if let Some(replacement) = replacement {
        detail["pseudonym"] = json!(replacement.pseudonym());
        // Users who erase themselves are not named either.
        by.actor = by.actor.map(|actor| replacement.name_for(actor));
    }
    audit::add(&by, &NewAct { kind, owner: Some(owners::current_id()), detail: Some(&detail), ..NewAct::default() });
    Ok(())
}

/// The reason for skipping an instance that only a lock prevents from being erased.
const BUSY: &str =
    "An instance is left out while another session holds it or one of its tasks, and where another node has it.";

fn notice_left_out(count: u64, why: &str, hint: &str) {
    if count > 0 {
        let what = if count == 1 { "instance was" } else { "instances were" };
        notice(PgError::new("00000", format!("{count} workflow {what} left out")).detail(why).hint(hint));
    }
}
