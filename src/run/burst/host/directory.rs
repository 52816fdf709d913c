//! Look-ups in the directory of people.
//!
//! The function runs with the rights of its owner, without an actor, as a security-restricted operation and under the
//! server's settings: neither the person whose call opens a task nor the author of the workflow lends it rights or
//! decides what it returns, and it can leave nothing behind in the session. What it returns reaches the author, so the
//! owner of the definition must be allowed to execute it. An error means that the person is unknown: nothing faults
//! because of a directory.

use std::collections::BTreeMap;

use pgrx::pg_sys::Oid;
use workflow_engine::execution::ForPeople;
use workflow_engine::notification::{Addressee, Addressees, DirectoryEntry};

use crate::pg::error::{log_for_server, throw};
use crate::pg::role::RestrictedRights;
use crate::pg::server_settings::SettingsLevel;
use crate::pg::subtransaction::subtransaction;
use crate::pg::{PgError, actor, role, session, user_sql};
use crate::store::rights::directory::{self, COLUMNS};

/// The most characters of a value; a longer one is no name and no address.
const MAX_VALUE: usize = 500;

/// The directory during one burst.
#[derive(Default)]
pub struct Directory {
    /// The function and its owner, once it was looked for, or why it cannot be asked.
    function: Option<Result<(String, Oid), Option<String>>>,
    known: BTreeMap<String, DirectoryEntry>,
    failure: Option<String>,
}

impl Directory {
    /// These people, each with the absent person whose substitute it is, and with its entry. `author` owns the
    /// definition.
    pub fn addressees(&mut self, people: Vec<(String, Option<String>)>, author: Option<Oid>) -> Addressees {
        let mut addressee = |(person, in_place_of): (String, Option<String>)| {
            let entry = self.entry(&person, author);
            Addressee { person, in_place_of, entry }
        };
        let people = people.into_iter().map(&mut addressee).collect();
        Addressees { people, failure: self.failure.clone() }
    }

    /// The manager of a person, if a task can be given to the manager.
    pub fn manager_of(&mut self, person: &str, author: Option<Oid>) -> Option<String> {
        let manager = ForPeople::entry(&self.entry(person, author).manager?, "manager").ok()?;
        let exists = manager.strip_prefix(ForPeople::ROLE).is_none_or(|name| role::by_name(name).is_some());
        (exists && manager != person).then_some(manager)
    }

    fn entry(&mut self, person: &str, author: Option<Oid>) -> DirectoryEntry {
        if let Some(known) = self.known.get(person) {
            return known.clone();
        }
        let function = self.function.get_or_insert_with(|| function_for(author));
        let entry = match function {
            Ok((function, owner)) => ask(function, *owner, person, self.failure.is_none()),
            Err(why) => why.clone().map_or_else(|| Ok(DirectoryEntry::default()), Err),
        };
        let entry = entry.unwrap_or_else(|why| {
            self.failure.get_or_insert(why);
            DirectoryEntry::default()
        });
        self.known.insert(person.to_owned(), entry.clone());
        entry
    }
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

/// Looks a person up. `is_logged`: an error is written to the server's log only, because its message may tell the author
/// more than the function returns.
fn ask(function: &str, owner: Oid, person: &str, is_logged: bool) -> Result<DirectoryEntry, String> {
    session::record_user_sql();
    let call =
        || RestrictedRights::during(owner, c"pg_catalog, pg_temp", || user_sql::first_row(function, &COLUMNS, person));
    let level = SettingsLevel::open();
    level.take_servers();
    let outcome = subtransaction(|| actor::without(call));
    level.undo();
    let row = outcome.map_err(|caught| {
        if caught.is_never_an_incident() {
            throw(caught);
        }
        let why = format!("the directory failed with SQLSTATE {}", caught.sqlstate);
        if is_logged {
            let message = format!("workflow directory {function}(text) failed for a person");
            log_for_server(PgError::new("01000", message).detail(caught.message));
        }
        why
    })?;
    let text = |member: &str| {
        let value = row.as_ref()?.get(member)?.as_str()?.trim();
        let is_usable = !value.is_empty() && value.chars().count() <= MAX_VALUE && !value.chars().any(char::is_control);
        is_usable.then(|| value.to_owned())
    };
    let entry = DirectoryEntry {
        name: text("name"),
        mail: text("mail"),
        zone: text("zone"),
        language: text("language"),
        manager: text("manager"),
    };
    Ok(entry)
}
