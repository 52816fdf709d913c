//! Whether a session still counts: it ends with the password or the API key that it began with.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::keys::ApiKeys;
use super::password;
use crate::caller::{Caller, Proof};
use crate::database::Database;
use crate::failure::Failure;

/// How long the salt of a role is taken for the one that the database has.
const FRESH: Duration = Duration::from_secs(10);
/// Roles that are remembered.
const MANY: usize = 10_000;
/// Salts that are asked for at the same time: each takes a connection to the database of its own.
const AT_ONCE: usize = 4;

/// The salts that the database keeps the passwords of roles with, since when.
pub struct Sessions {
    salts: Mutex<HashMap<String, (Instant, Option<String>)>>,
    turns: Semaphore,
}

impl Sessions {
    pub fn new() -> Self {
        Self { salts: Mutex::default(), turns: Semaphore::new(AT_ONCE) }
    }

    /// Whether what the caller showed at the log-in would still be taken.
    pub async fn counts(&self, database: &Database, keys: &ApiKeys, caller: &Caller) -> Result<bool, Failure> {
        Ok(match caller.session.as_ref().map(|session| &session.proof) {
            None => true,
            Some(Proof::Key(digest)) => keys.role(digest).is_some_and(|role| role == caller.login),
            Some(Proof::Password(salt)) => self.salt(database, &caller.login).await?.as_ref() == Some(salt),
        })
    }

    /// The salt of a role, as of some seconds ago.
    async fn salt(&self, database: &Database, role: &str) -> Result<Option<String>, Failure> {
        if let Some(salt) = self.remembered(role) {
            return Ok(salt);
        }
        let _turn = self.turns.acquire().await.map_err(Failure::internal)?;
        // Another request of the role may have asked meanwhile.
        if let Some(salt) = self.remembered(role) {
            return Ok(salt);
        }
        let asked = Instant::now();
        let salt = password::salt(database, role).await?;
        let mut salts = self.salts.lock().unwrap_or_else(PoisonError::into_inner);
        if salts.len() >= MANY {
            salts.retain(|_, (since, _)| since.elapsed() < FRESH);
        }
        salts.insert(role.to_owned(), (asked, salt.clone()));
        Ok(salt)
    }

    fn remembered(&self, role: &str) -> Option<Option<String>> {
        let salts = self.salts.lock().unwrap_or_else(PoisonError::into_inner);
        salts.get(role).filter(|(since, _)| since.elapsed() < FRESH).map(|(_, salt)| salt.clone())
    }
}
