//! Session validity: a session ends when the password, API key or rule that started it is changed or removed, or when
//! people log in at another identity provider.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::keys::{ApiKeys, digest};
use super::password;
use crate::caller::{Caller, Proof};
use crate::config::SignOnOptions;
use crate::database::Database;
use crate::failure::Failure;

/// How long a role's salt is cached.
const FRESH: Duration = Duration::from_secs(10);
/// Roles whose salt is cached.
const MAX_SALTS: usize = 10_000;
/// Salts requested concurrently: each needs a database connection of its own.
const MAX_CONCURRENT: usize = 4;

/// A fingerprint of the options on which the names and groups of people at the identity provider depend. With another
/// one, a session might be that of somebody else with the same name.
pub fn provider_fingerprint(options: &SignOnOptions) -> String {
    let SignOnOptions { oidc_issuer, oidc_client_id, oidc_person_claim, oidc_groups_claim, .. } = options;
    digest(&json!([oidc_issuer, oidc_client_id, oidc_person_claim, oidc_groups_claim]).to_string())
}

/// The salts of the stored passwords by role, each with the time it was read.
pub struct Sessions {
    salts: Mutex<HashMap<String, (Instant, Option<String>)>>,
    slots: Semaphore,
}

impl Sessions {
    pub fn new() -> Self {
        Self { salts: Mutex::default(), slots: Semaphore::new(MAX_CONCURRENT) }
    }

    /// Whether the caller's proof at the log-in would still be accepted.
    pub async fn is_valid(
        &self,
        database: &Database,
        keys: &ApiKeys,
        sign_on: &SignOnOptions,
        caller: &Caller,
    ) -> Result<bool, Failure> {
        Ok(match caller.session.as_ref().map(|session| &session.proof) {
            None => true,
            Some(Proof::Key(digest)) => keys.owner(digest).is_some_and(|owner| owner.role == caller.login),
            Some(Proof::Person { rule, provider, .. }) => {
                sign_on.has_rule(rule, &caller.login) && *provider == provider_fingerprint(sign_on)
            }
            Some(Proof::Password(salt)) => self.salt(database, &caller.login).await?.as_ref() == Some(salt),
        })
    }

    /// The salt of a role, at most some seconds old.
    async fn salt(&self, database: &Database, role: &str) -> Result<Option<String>, Failure> {
        if let Some(salt) = self.cached(role) {
            return Ok(salt);
        }
        let _turn = self.slots.acquire().await.map_err(Failure::internal)?;
        // Another request of the role may have fetched it in the meantime.
        if let Some(salt) = self.cached(role) {
            return Ok(salt);
        }
        let asked = Instant::now();
        let salt = password::salt(database, role).await?;
        let mut salts = self.salts.lock().unwrap_or_else(PoisonError::into_inner);
        if salts.len() >= MAX_SALTS {
            salts.retain(|_, (since, _)| since.elapsed() < FRESH);
        }
        salts.insert(role.to_owned(), (asked, salt.clone()));
        Ok(salt)
    }

    fn cached(&self, role: &str) -> Option<Option<String>> {
        let salts = self.salts.lock().unwrap_or_else(PoisonError::into_inner);
        salts.get(role).filter(|(since, _)| since.elapsed() < FRESH).map(|(_, salt)| salt.clone())
    }
}
