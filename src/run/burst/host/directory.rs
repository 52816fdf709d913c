//! Look-ups in the directory of people.
//!
//! The function runs with the rights of its owner, without an actor, as a security-restricted operation and under the
//! server's settings: neither the person whose call opens a task nor the author of the workflow lends it rights or
//! decides what it returns, and it can leave nothing behind in the session. What it returns reaches the author, so the
//! owner of the definition must be allowed to execute it. An error means that the person is unknown: nothing faults
//! because of a directory. Only what ends any call ends this one as well: serialization failures and deadlocks, a lack
//! of resources, and a cancellation, except by the directory's own deadline.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use pgrx::pg_sys::Oid;
use serde_json::Value;
use workflow_engine::execution::ForPeople;
use workflow_engine::notification::{Addressee, Addressees, DirectoryEntry};

use crate::pg::deadline::{self, Deadline};
use crate::pg::error::{log_for_server, throw};
use crate::pg::role::RestrictedRights;
use crate::pg::server_settings::SettingsLevel;
use crate::pg::subtransaction::subtransaction;
use crate::pg::{PgError, actor, interrupt, role, session, user_sql};
use crate::store::rights::directory::{self, COLUMNS};

/// The most characters of a value; a longer one is no name and no address.
const MAX_VALUE: usize = 500;

/// The most milliseconds of one look-up: locks of the instance are held meanwhile.
const LONGEST_LOOK_UP: u64 = 5_000;

/// Why a person is unknown.
type Failure = String;

/// The directory during one burst.
#[derive(Default)]
pub struct Directory {
    /// The function and its owner, once it was looked for, or why it cannot be asked; `Err(None)`: there is none.
    function: Option<Result<(String, Oid), Option<Failure>>>,
    /// What was found, or why nothing was.
    known: BTreeMap<String, Result<DirectoryEntry, Failure>>,
    has_logged: bool,
}

impl Directory {
    /// These people, each with the absent person whose substitute it is, and with its entry. `author` owns the
    /// definition.
    pub fn addressees(&mut self, people: Vec<(String, Option<String>)>, author: Option<Oid>) -> Addressees {
        let mut failure = None;
        let mut addressees = Vec::with_capacity(people.len());
        for (person, in_place_of) in people {
            let entry = self.entry(&person, author).unwrap_or_else(|why| {
                failure.get_or_insert(why);
                DirectoryEntry::default()
            });
            addressees.push(Addressee { person, in_place_of, entry });
        }
        let has_directory = !matches!(self.function, None | Some(Err(None)));
        Addressees { people: addressees, failure, has_directory }
    }

    /// The manager of a person, if a task can be given to the manager.
    ///
    /// # Errors
    /// Why the directory cannot tell.
    pub fn manager_of(&mut self, person: &str, author: Option<Oid>) -> Result<Option<String>, Failure> {
        let Some(manager) = self.entry(person, author)?.manager else { return Ok(None) };
        let Ok(manager) = ForPeople::entry(&manager, "manager") else { return Ok(None) };
        let exists = manager.strip_prefix(ForPeople::ROLE).is_none_or(|name| role::by_name(name).is_some());
        Ok((exists && manager != person).then_some(manager))
    }

    fn entry(&mut self, person: &str, author: Option<Oid>) -> Result<DirectoryEntry, Failure> {
        let unknown = match self.known.entry(person.to_owned()) {
            Entry::Occupied(known) => return known.get().clone(),
            Entry::Vacant(unknown) => unknown,
        };
        let function = self.function.get_or_insert_with(|| function_for(author));
        let found = match function {
            Ok((name, owner)) => match look_up(name, *owner, person, &mut self.has_logged) {
                LookUp::Done(found) => found,
                LookUp::TooLong => {
                    // Each further person would hold up the call for as long.
                    let why = format!("the directory took longer than {} s", LONGEST_LOOK_UP / 1_000);
                    *function = Err(Some(why.clone()));
                    Err(why)
                }
            },
            Err(Some(why)) => Err(why.clone()),
            Err(None) => Ok(DirectoryEntry::default()),
        };
        unknown.insert(found).clone()
    }
}

/// The outcome of a look-up.
enum LookUp {
    Done(Result<DirectoryEntry, Failure>),
    TooLong,
}

/// The function and its owner; otherwise why it cannot be asked, or nothing if there is no directory.
fn function_for(author: Option<Oid>) -> Result<(String, Oid), Option<String>> {
    let author = author.ok_or(None)?;
    let found = directory::find(author).ok_or(None)?;
    let name = &found.function;
    let why = match found.present_owner {
        None => format!("directory {name}(text) does not exist"),
        Some(owner) if found.owner.role() != Some(owner) => {
            format!("directory {name}(text) belongs to another role now")
        }
        Some(_) if !found.may_execute => "the owner of the definition may not execute the directory".to_owned(),
        Some(owner) => return Ok((found.function, owner)),
    };
    Err(Some(why))
}

/// Looks a person up. The first error is written to the server's log only, because its message may tell the author more
/// than the function returns.
fn look_up(function: &str, owner: Oid, person: &str, has_logged: &mut bool) -> LookUp {
    session::record_user_sql();
    let call =
        || RestrictedRights::during(owner, c"pg_catalog, pg_temp", || user_sql::first_row(function, &COLUMNS, person));
    let level = SettingsLevel::open();
    level.take_servers();
    let outcome = subtransaction(|| {
        let deadline = Deadline::arm(LONGEST_LOOK_UP);
        let row = actor::without(call);
        drop(deadline);
        // The deadline may have passed after the last check for interrupts.
        interrupt::check();
        row
    });
    let is_over = deadline::has_passed();
    level.undo();
    let caught = match outcome {
        Ok(row) => return LookUp::Done(Ok(entry_of(row.as_ref()))),
        Err(caught) => caught,
    };
    let is_over = is_over && caught.sqlstate == "57014";
    if !is_over && ends_call(&caught) {
        throw(caught);
    }
    if !std::mem::replace(has_logged, true) {
        let message = format!("workflow directory {function}(text) failed for a person");
        log_for_server(PgError::new("01000", message).detail(caught.message));
    }
    match is_over {
        true => LookUp::TooLong,
        false => LookUp::Done(Err(format!("the directory failed with SQLSTATE {}", caught.sqlstate))),
    }
}

/// Whether an error ends the call, as it would without a directory.
fn ends_call(caught: &PgError) -> bool {
    ["40", "53", "57"].iter().any(|class| caught.sqlstate.starts_with(class))
}

/// What a row says. A value that is no name and no address is left out.
fn entry_of(row: Option<&Value>) -> DirectoryEntry {
    let text = |member: &str| {
        let value = row?.get(member)?.as_str()?.trim();
        let is_usable = !value.is_empty() && value.chars().count() <= MAX_VALUE && !value.chars().any(char::is_control);
        is_usable.then(|| value.to_owned())
    };
    DirectoryEntry {
        name: text("name"),
        mail: text("mail"),
        zone: text("zone"),
        language: text("language"),
        manager: text("manager"),
    }
}
