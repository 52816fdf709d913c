//! Whose triggers a look fires first.
//!
//! A fire compiles what it starts and copies its input, so a few triggers of one owner may take as long as thousands of
//! others. A look fires triggers for a moment; the next one goes on from there, and in each page owners who have taken
//! less time come first.

use std::collections::HashMap;

use uuid::Uuid;

use crate::pg::spi::Timestamp;
use crate::pg::{PgError, process};
use crate::run::{Session, fire};
use crate::store::schedules;
use crate::worker::SECOND;

/// Due triggers that are read at once.
const PAGE: i64 = 200;
/// How long one look fires triggers.
const MOMENT: i64 = SECOND / 10;

/// What the looks before have done.
#[derive(Debug, Default)]
pub struct Turns {
    /// How long the triggers of an owner took since all that was due was fired last, in microseconds.
    taken: HashMap<i32, i64>,
    /// Where the next look goes on; what was left before that has its turn when the end was reached.
    after: Option<(Timestamp, Uuid)>,
    /// Whether any was fired since the beginning. What others have locked is none.
    has_fired: bool,
}

impl Turns {
    /// Fires triggers that are due. Whether the next look can fire more.
    pub fn fire(&mut self, session: &mut Session) -> Result<bool, PgError> {
        let began = process::now();
        let is_first = self.after.is_none();
        self.has_fired &= !is_first;
        loop {
            let after = self.after.unwrap_or((Timestamp(i64::MIN), Uuid::nil()));
            let mut page = schedules::due(session.timestamp(), after, PAGE);
            let Some(last) = page.last() else { break };
            self.after = Some((last.due_at, last.id));
            page.sort_by_key(|due| self.taken.get(&due.owner.id).copied().unwrap_or(0));
            for due in page {
                let before = process::now();
                if before - began > MOMENT {
                    return Ok(true);
                }
                self.has_fired |= fire::fire(session, due.id)?;
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
