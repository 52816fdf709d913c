//! The extension's hooks: they wake background workers at the end of transactions, and prepare them for statements that
//! affect them.

use crate::pg::hooks::{self, Hooks, Meaning, TransactionEnd};
use crate::pg::{catalog, process, role};
use crate::{compiled, wake, worker};

static HOOKS: Hooks = Hooks { transaction_ended, subtransaction_ended: wake::subtransaction_ended, before };

/// Installs the hooks in this process.
pub fn install() {
    hooks::install(&HOOKS);
}

fn transaction_ended(end: TransactionEnd) {
    compiled::transaction_ended();
    wake::transaction_ended(end);
}

fn before(meaning: Meaning) -> Option<fn()> {
    match meaning {
        Meaning::Nothing => None,
        Meaning::Creates => Some(wake::report_created),
        Meaning::Updates => Some(wake::report_all),
        // PostgreSQL rejects a role that may not drop the extension, so no worker has to exit.
        Meaning::Drops if !role::owns_extension() => None,
        Meaning::Drops => {
            worker::evict_workers(process::database(), true);
            None
        }
        Meaning::Needs(databases) | Meaning::Copies(databases) => {
            let mine = databases.into_iter().filter(|database| role::owns_database(*database));
            mine.for_each(|database| worker::evict_workers(database, false));
            Some(wake::report_rescan)
        }
        Meaning::Prepares(gid) => {
            wake::report_gid(gid);
            None
        }
        Meaning::EndsPrepared { gid, commits } => {
            wake::report_ending(&gid);
            Some(if commits { prepared_committed } else { prepared_rolled_back })
        }
        Meaning::Loads => Some(wake::report_loaded),
        Meaning::Sets(database) => {
            // Recorded only for a statement that succeeds: otherwise its transaction does not commit.
            wake::report_settings(database);
            None
        }
    }
}

fn prepared_committed() {
    prepared_ended(true);
}

fn prepared_rolled_back() {
    prepared_ended(false);
}

/// When a prepared transaction ends, no process knows what it wrote, so the workers check everything.
fn prepared_ended(committed: bool) {
    wake::prepared_ended(committed);
    if catalog::extension().is_some() {
        wake::report_all();
    }
}
