//! Which owner's triggers a scan fires first.
//!
//! A fire compiles the definition that it starts and copies its input, so a few triggers of one owner may take as long
//! as thousands of others. A scan therefore fires triggers for a limited time, and the next scan continues there. In
//! each page, the triggers of owners that have used less time come first.

use std::collections::HashMap;

use uuid::Uuid;

use crate::pg::spi::Timestamp;
use crate::pg::{PgError, process};
use crate::run::CallContext;
use crate::run::timers::fire;
use crate::store::timers::schedules;
use crate::worker::SECOND;

/// How many due triggers are read at once.
const PAGE: i64 = 200;
/// How long one scan fires triggers.
const MOMENT: i64 = SECOND / 10;

/// The state between scans.
#[derive(Debug, Default)]
pub struct Turns {
    /// The time spent on the triggers of each owner, in microseconds, since a scan last fired everything due.
    taken: HashMap<i32, i64>,
    /// Where the next scan continues. Triggers left before this position are fired after the end was reached.
    after: Option<(Timestamp, Uuid)>,
    /// Whether any trigger was fired since the beginning. A trigger that another session has locked does not count.
    has_fired: bool,
}

impl Turns {
    /// Fires due triggers. Returns whether the next scan can fire more.
    pub fn fire(&mut self, context: &mut CallContext) -> Result<bool, PgError> {
        let began = process::now();
        let is_first = self.after.is_none();
        self.has_fired &= !is_first;
        loop {
            let after = self.after.unwrap_or((Timestamp(i64::MIN), Uuid::nil()));
            let mut page = schedules::due(context.timestamp(), after, PAGE);
            let Some(last) = page.last() else { break };
            self.after = Some((last.due_at, last.id));
            page.sort_by_key(|due| self.taken.get(&due.owner.id).copied().unwrap_or(0));
            for due in page {
                let before = process::now();
                if before - began > MOMENT {
                    return Ok(true);
                }
                self.has_fired |= fire::fire(context, due.id)?;
                *self.taken.entry(due.owner.id).or_default() += process::now() - before;
            }
        }
        self.after = None;
        if is_first {
            self.taken.clear();
        }
        Ok(!is_first && self.has_fired)
    }
}
