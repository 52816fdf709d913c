//! Instances that were created and begin later: in a session of their owner, or when it is their turn.

use serde_json::{Map, Value};
use workflow_engine::execution;
use workflow_engine::stimulus;

use crate::compiled::Compiled;
use crate::pg::{PgError, json};
use crate::run::Session;
use crate::run::burst::save::{Consumed, RowState};
use crate::run::burst::{self, OnFault, StoredBurst};
use crate::run::call::notices::tell_how_to_fire;
use crate::run::history::acts;
use crate::run::instances::admission::{self, Start};
use crate::run::instances::create::{StartPoint, create_pending, new_row};
use crate::store::instances::Starter;
use crate::store::instances::bookmarks::{self, Waiting};
use crate::store::rights::owners::Owner;
use crate::store::tasks::Answer;
use crate::wake;

/// Creates an instance of an owner that is due now. A session of the owner runs it.
pub fn create_due(
    session: &mut Session,
    compiled: &Compiled,
    owner: Owner,
    correlation_id: String,
    input: Map<String, Value>,
) -> Result<(), PgError> {
    let id = session.new_id();
    let by = session.identity()?;
    let starter = Starter::of(&by, &owner);
    let mut row = new_row(id, compiled, owner, Some(correlation_id), None, input, None, starter)?;
    let now = session.now;
    create_pending(session, &mut row, compiled, &StartPoint::ROOT, None, by.login, now);
    tell_how_to_fire();
    Ok(())
}

/// Starts an instance that was created for a session of its owner.
pub fn start_pending(
    session: &mut Session,
    waiting: &mut Waiting,
    compiled: &Compiled,
    on_fault: OnFault,
) -> Result<(), PgError> {
    // A schedule that has no activity of its own starts the workflow as wf_start does.
    let trigger = Some(waiting.bookmark.activity_id.clone()).filter(|id| !id.is_empty());
    let is_called = waiting.bookmark.name == stimulus::LIMIT;
    let kept = match is_called {
        true => waiting.resumed.metadata.as_ref().map(|metadata| &metadata["stimulus"]),
        false => waiting.resumed.payload.as_ref(),
    };
    let stimulus = kept.filter(|stimulus| !stimulus.is_null()).map(json::copy);
    if !admission::enter(&waiting.row, compiled, false) {
        if is_called && !waiting.by_time {
            return Err(admission::not_yet(waiting.row.instance.id));
        }
        let (activity_id, node_id) = (waiting.bookmark.activity_id.as_str(), waiting.bookmark.node_id.as_str());
        let login = bookmarks::login_of(&waiting.bookmark);
        let start = Start { activity_id, node_id, stimulus: stimulus.as_ref(), login };
        admission::wait(session, &waiting.row, compiled, start);
        return Ok(());
    }
    if is_called {
        // There may be room for the next one.
        wake::note_calls(true);
    }
    let row = &mut waiting.row;
    let taking = Consumed {
        bookmark: &waiting.bookmark,
        lease: &waiting.lease,
        is_locked: waiting.is_locked,
        answer: Answer::Completed(None, None),
        by_time: false,
        is_taken: waiting.bookmark.auto_burn,
    };
    let act = acts::of_pending_start(row, bookmarks::login_of(&waiting.bookmark));
    let burst = StoredBurst { row, compiled, state: RowState::Stored, on_fault, resumed: Some(taking), act };
    burst::run(session, burst, |program, instance, host, limits| {
        execution::start(program, instance, trigger.as_deref(), stimulus.as_ref(), host, limits)
    })?;
    Ok(())
}
