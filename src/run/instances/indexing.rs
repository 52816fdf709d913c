//! Storing the values of search attributes for instances that have run before their definition declared them.

use std::rc::Rc;

use uuid::Uuid;

use crate::access;
use crate::compiled::{self, Compiled};
use crate::pg::rows::Wait;
use crate::pg::session::literal;
use crate::pg::{PgError, interrupt};
use crate::run::CallContext;
use crate::run::call::running;
use crate::store::definitions;
use crate::store::instances::{self, search_attributes};

/// One batch of instances.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Indexed {
    /// How many instances it has stored values for.
    pub count: usize,
    /// The last instance, after which the next batch begins; `None`: there are no more.
    pub last: Option<Uuid>,
}

/// Stores the values of the instances of a definition after an id, at most `max`, in the order of their ids. An instance
/// of a version without search attributes gets those of the published version.
///
/// The batch waits for the lock of its first instance only, when it holds none. It ends before any other instance that
/// another session has locked, so that it cannot take part in a deadlock.
///
/// # Errors
/// 42704 if the definition does not exist; 42501 if the caller is no member of its owner; 55000 if no version is
/// published, or the published one has no search attributes.
pub fn index(
    context: &mut CallContext,
    definition_id: &str,
    max: usize,
    after: Option<Uuid>,
) -> Result<Indexed, PgError> {
    let published = published(definition_id)?;
    // Other sessions may wait for the instances that it locks.
    context.has_waited = true;
    let page = search_attributes::page(definition_id, after.unwrap_or(Uuid::nil()), max);
    let mut indexed = Indexed { count: 0, last: after };
    for id in &page {
        interrupt::check();
        running::refuse(*id)?;
        let wait = if indexed.count == 0 { Wait::Block } else { Wait::Skip };
        match instances::lock_with(*id, wait) {
            Some(row) => {
                let own = compiled::of_version(row.definition_version_id)?;
                let has_own = !own.program.options.search_attributes.is_empty();
                let declaring: &Compiled = if has_own { &own } else { &published };
                search_attributes::save(&row.instance, &declaring.program);
                indexed.count += 1;
            }
            // Another session is running or removing it: the next batch begins with it.
            None if wait == Wait::Skip => return Ok(indexed),
            // It has been removed since the page was read.
            None => {}
        }
        indexed.last = Some(*id);
    }
    if page.len() < max {
        indexed.last = None;
    }
    Ok(indexed)
}

/// The published version of a definition, which declares search attributes.
fn published(definition_id: &str) -> Result<Rc<Compiled>, PgError> {
    let missing = || PgError::new("42704", format!("workflow definition \"{definition_id}\" does not exist"));
    access::require_owner(&definitions::latest(definition_id).ok_or_else(missing)?)?;
    let Some(row) = definitions::published(definition_id) else {
        return Err(PgError::new("55000", format!("workflow definition \"{definition_id}\" is not published"))
            .hint(format!("Run wf_publish({}).", literal(definition_id))));
    };
    let compiled = compiled::of_version(row.id)?;
    if compiled.program.options.search_attributes.is_empty() {
        let version = compiled.row.version;
        return Err(PgError::new(
            "55000",
            format!("version {version} of workflow definition \"{definition_id}\" has no search attributes"),
        )
        .hint("Declare them in options.searchAttributes, and publish that version."));
    }
    Ok(compiled)
}
