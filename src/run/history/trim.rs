//! Trimming the journal of an instance while it runs, if its definition says how much of it is kept.
//!
//! It happens in every twentieth row, so that most bursts pay nothing, and each time a bounded number of rows goes, so
//! that none pays for all. The first row stays: it says how the run began. The state knows where the rest begins, so
//! nothing has to be looked for.

use uuid::Uuid;
use workflow_engine::instance::State;
use workflow_engine::program::{Journaling, Keep};

use crate::run::Session;
use crate::store::history::journal;

/// Rows from one trim to the next.
const STEP: u32 = 20;
/// The most rows that one trim removes, unless the burst itself writes more.
const MOST: u32 = 100;

/// Removes what need not be kept when a burst has written its rows, from `seq` on.
pub fn trim(session: &Session, instance: &Uuid, state: &mut State, option: &Journaling, seq: u32) {
    let Some(keep) = &option.keep else { return };
    let next = state.next_journal;
    if next / STEP == seq / STEP {
        return;
    }
    let from = state.first_journal.max(1);
    let most = from.saturating_add(MOST.max((next - seq).saturating_mul(2)));
    // The rows of this burst are not written yet.
    let to = match keep {
        Keep::Rows(rows) => next.saturating_sub(*rows).min(most).min(seq),
        Keep::For(span) => {
            let Some(until) = session.now.checked_sub_signed(*span) else { return };
            let most = most.min(seq);
            journal::first_since(instance, from, most, until.into()).unwrap_or(most)
        }
    };
    if to > from {
        journal::remove(instance, from, to);
        state.first_journal = to;
    }
}
