//! `maxConcurrency`: which instances begin at once, and which wait for their turn.
//!
//! An instance that is not admitted is Pending at a bookmark `Workflow.Limit`, which is not due. Whatever may make room
//! (an instance that ends, one that began and is rolled back) and whatever waits anew is said to the scheduler when the
//! transaction ends. So the last of these transactions is followed by a look, in a transaction of its own, which sees
//! all of them: [`call_next`] makes the oldest instance due of each lane that has room. Without workers `wf_run_due`
//! does it.

use serde_json::{Value, json};
use uuid::Uuid;
use workflow_engine::execution::activity_instance_id;
use workflow_engine::instance::{Instance, SubStatus};
use workflow_engine::{Bookmark, stimulus};

use crate::compiled::{self, Compiled};
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, interrupt, rows};
use crate::run::CallContext;
use crate::store::instances::InstanceRow;
use crate::store::instances::admissions::{self, Place};
use crate::store::instances::bookmarks;
use crate::store::tasks::leases::Lease;
use crate::wake;

/// The longest value of a key that is stored as it is: it is a part of the key of an index.
const LONGEST: usize = 100;

/// The place in which an instance needs an admission, and how many may have one there. `None`: it needs none.
fn place_of(instance: &Instance, compiled: &Compiled) -> Option<(Place, i32)> {
    let limit = compiled.program.options.max_concurrency.as_ref()?;
    let value = match &limit.key {
        None => String::new(),
        Some(key) => match instance.input.get(key).filter(|value| !value.is_null())? {
            Value::String(text) if text.len() <= LONGEST => format!(":{text}"),
            value => match value.to_string() {
                text if text.len() <= LONGEST && !value.is_string() => format!(":{text}"),
                _ => format!("#{}", hex(&stimulus::hash(stimulus::LIMIT, Some(value), None))),
            },
        },
    };
    let place = Place { definition_id: compiled.row.definition_id.clone(), value, owner: compiled.row.owner.id };
    Some((place, i32::try_from(limit.max).unwrap_or(i32::MAX)))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether an instance may begin now. From then on it is counted until it ends. A child of an instance that is counted
/// is not: its parent may wait for it. A new instance does not overtake those that wait.
pub fn enter(row: &InstanceRow, compiled: &Compiled, is_new: bool) -> bool {
    let Some((place, max)) = place_of(&row.instance, compiled) else { return true };
    let was_handed_over = row.continued_from.is_some() && admissions::covers(&row.instance.id);
    if was_handed_over || row.parent.as_ref().is_some_and(|parent| admissions::covers(&parent.instance)) {
        return true;
    }
    let is_admitted = !(is_new && admissions::is_waited_for(&place)) && admissions::take(&place, max, &row.instance.id);
    // Others that wait saw the admission taken; if this is rolled back it was not.
    wake::report_pending_starts(false);
    is_admitted
}

/// Counts an instance that has begun on another node, whether or not there is room for it here.
pub fn adopt(row: &InstanceRow, compiled: &Compiled) {
    let is_counted = !row.instance.has_ended() && row.instance.sub_status != SubStatus::Pending;
    let Some((place, max)) = place_of(&row.instance, compiled).filter(|_| is_counted) else { return };
    let id = &row.instance.id;
    // It may be back, and its admission still be bound to it.
    if !row.parent.as_ref().is_some_and(|parent| admissions::covers(&parent.instance))
        && !admissions::retake(&place, id)
        && !admissions::take(&place, max, id)
    {
        admissions::exceed(&place, max, id);
    }
    wake::report_pending_starts(false);
}

/// Stores the bookmark of an instance that waits for its turn. It begins at this activity, with this stimulus, then.
pub fn wait(context: &mut CallContext, row: &InstanceRow, compiled: &Compiled, start: Start<'_>) {
    let Some((place, _)) = place_of(&row.instance, compiled) else { return };
    let Start { activity_id, node_id, stimulus, login } = start;
    let instance = &row.instance;
    let bookmark = Bookmark {
        id: context.new_id(),
        activity_id: activity_id.to_owned(),
        node_id: node_id.to_owned(),
        activity_type: stimulus::LIMIT.into(),
        activity_instance_id: activity_instance_id(instance.id, 0),
        name: stimulus::LIMIT.into(),
        hash: Some(stimulus::hash(stimulus::LIMIT, None, Some(&instance.id.to_string()))),
        payload: None,
        metadata: Some(bookmarks::with_login(json!({ "trigger": activity_id, "stimulus": stimulus }), login)),
        callback: None,
        auto_burn: true,
        auto_complete: true,
        due_at: None,
    };
    let lease = Lease { lane: Some(place.lane()), ..Lease::default() };
    rows::write(|writer| bookmarks::insert(writer, &bookmark, &lease, row, None, context.timestamp()));
    // There may be room since this transaction looked.
    wake::report_pending_starts(true);
}

/// Where an instance begins, and with what.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// Id of the trigger's activity; empty is the root.
    pub activity_id: &'a str,
    /// Path of its node.
    pub node_id: &'a str,
    /// The stimulus that started it.
    pub stimulus: Option<&'a Value>,
    /// The login role of its starter, as of an act.
    pub login: Option<u32>,
}

/// Gives the admission of an instance that has ended to the one that goes on in its place, if that needs the same.
pub fn hand_over((from, compiled): (&InstanceRow, &Compiled), (to, target): (&InstanceRow, &Compiled)) {
    let Some((held, _)) = place_of(&from.instance, compiled) else { return };
    if place_of(&to.instance, target).is_some_and(|(wanted, _)| wanted == held) {
        admissions::give(&from.instance.id, &to.instance.id);
    }
}

/// Makes the oldest instance of each lane due that has room. Returns how many. The next one of a lane is called when
/// this one has begun.
pub fn call_next(now: Timestamp) -> Result<u64, PgError> {
    let mut called = 0;
    for lane in admissions::lanes() {
        interrupt::check();
        let Some(next) = admissions::next(&lane).filter(|next| !next.is_called) else { continue };
        let limit = match compiled::of_version(next.version) {
            Ok(compiled) => compiled.program.options.max_concurrency.as_ref().map(|limit| limit.max),
            Err(error) if error.aborts_transaction() => return Err(error),
            // It cannot begin, and its fire says why.
            Err(_) => Some(u32::MAX),
        };
        let digits = lane.find(':').map_or(0, |colon| colon + 1);
        let value = lane.get(digits + next.definition_id.len()..).unwrap_or_default().to_owned();
        // No lock is taken, so it does not matter here whose the definition is.
        let place = Place { definition_id: next.definition_id, value, owner: 0 };
        let max = limit.map_or(i32::MAX, |max| i32::try_from(max).unwrap_or(i32::MAX));
        if admissions::has_room(&place, max) {
            admissions::call(&next.bookmark, now);
            called += 1;
        }
    }
    Ok(called)
}

/// The error for a call that names an instance whose turn it is not (55000).
pub fn not_yet(instance: Uuid) -> PgError {
    PgError::new("55000", format!("workflow instance {instance} waits for its turn"))
        .detail("As many instances of its definition run as maxConcurrency allows.")
        .hint("It begins when one of them has ended.")
}
