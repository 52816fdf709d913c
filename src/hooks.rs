//! What the extension does where PostgreSQL calls it: wakes workers at the end of transactions, and prepares them for
//! statements that they must know of.

use crate::pg::hooks::{self, Hooks, Meaning};
use crate::pg::{catalog, process, role};
use crate::{wake, worker};

static HOOKS: Hooks = Hooks { transaction_ended: wake::transaction_ended, before };

/// Installs them in this process.
pub fn install() {
    hooks::install(&HOOKS);
}

fn before(meaning: Meaning) -> Option<fn()> {
    match meaning {
        Meaning::Nothing => None,
        Meaning::Creates => Some(wake::note_created),
        Meaning::Updates => Some(wake::note_all),
        // PostgreSQL refuses roles that may not do it, and no worker has left for them.
        Meaning::Drops if !role::owns_extension() => None,
        Meaning::Drops => {
            worker::evict_workers(process::database(), true);
            None
        }
        Meaning::Needs(databases) | Meaning::Copies(databases) => {
            let mine = databases.into_iter().filter(|database| role::owns_database(*database));
            mine.for_each(|database| worker::evict_workers(database, false));
            Some(wake::note_rescan)
        }
        Meaning::EndsPrepared => Some(prepared_ended),
        Meaning::Loads => Some(wake::note_loaded),
        Meaning::Sets(database) => {
            // Told only if the statement goes well: otherwise its transaction is not committed.
            wake::note_settings(database);
            None
        }
    }
}

/// What a prepared transaction wrote is not known any more when it ends.
fn prepared_ended() {
    if catalog::extension().is_some() {
        wake::note_all();
    }
}
