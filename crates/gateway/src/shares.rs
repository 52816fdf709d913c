//! Per-user limits.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::Semaphore;

/// Users that are kept before idle ones are evicted.
const MAX_USERS: usize = 1000;

/// A semaphore per user, kept while one of its permits is in use.
pub struct Shares {
    of_one: usize,
    users: Mutex<HashMap<String, Weak<Semaphore>>>,
}

impl Shares {
    pub fn new(of_one: usize) -> Self {
        Self { of_one, users: Mutex::default() }
    }

    pub fn of(&self, user: &str) -> Arc<Semaphore> {
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        if users.len() >= MAX_USERS {
            users.retain(|_, known| known.strong_count() > 0);
        }
        users.get(user).and_then(Weak::upgrade).unwrap_or_else(|| {
            let own = Arc::new(Semaphore::new(self.of_one));
            users.insert(user.to_owned(), Arc::downgrade(&own));
            own
        })
    }
}
