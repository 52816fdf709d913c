//! Accounting for the memory of requests: their bodies, the decoded bodies, and their answers. It is limited in total
//! and per user, counted in actual bytes, not in those that a client announces.
//!
//! A hold lasts as long as anything uses the memory: the request, its transaction, which continues if the client
//! disconnects, and the answer until the client has received it.

use std::sync::{Arc, Mutex, PoisonError};

use axum::http::StatusCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::failure::Failure;
use crate::shares::Shares;

/// Overhead of a decoded JSON value in bytes, in addition to its text.
const VALUE_BYTES: usize = 100;

tokio::task_local! {
    static CURRENT: Arc<Hold>;
}

/// A memory budget shared by users, with a limit for each.
pub struct Memory {
    all: Arc<Semaphore>,
    of_one: usize,
    users: Shares,
}

impl Memory {
    /// Limits in kilobytes.
    pub fn new(all: usize, of_one: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(all)), of_one, users: Shares::new(of_one) }
    }

    /// An empty hold for a request of a user.
    pub fn hold(&self, user: &str) -> Arc<Hold> {
        let (all, own) = (Arc::clone(&self.all), self.users.of(user));
        Arc::new(Hold { all, own, most: self.of_one, held: Mutex::default() })
    }
}

/// The memory accounted to one request.
pub struct Hold {
    all: Arc<Semaphore>,
    own: Arc<Semaphore>,
    /// The user's limit in kilobytes.
    most: usize,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    bytes: usize,
    kilobytes: usize,
    permits: Vec<OwnedSemaphorePermit>,
}

impl Hold {
    /// Accounts more memory, or fails.
    pub fn grow(&self, bytes: usize) -> Result<(), Failure> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.bytes = held.bytes.saturating_add(bytes);
        let needed = held.bytes.div_ceil(1024);
        if needed > self.most {
            return Err(Failure::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "the request or its answer takes more memory than a user may hold",
            ));
        }
        let more = needed - held.kilobytes;
        if more == 0 {
            return Ok(());
        }
        let permits = u32::try_from(more).unwrap_or(u32::MAX);
        let take = |from: &Arc<Semaphore>, whose: &str| {
            let full = |_| Failure::unavailable(format!("{whose} requests hold too much memory at once"));
            Arc::clone(from).try_acquire_many_owned(permits).map_err(full)
        };
        let (own, all) = (take(&self.own, "your")?, take(&self.all, "all")?);
        held.kilobytes += more;
        merge(&mut held.permits, [own, all]);
        Ok(())
    }

    /// Releases everything.
    pub fn release(&self) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = Held::default();
    }

    /// Runs a request with this hold as the current one.
    pub async fn during<F: Future>(self: Arc<Self>, request: F) -> F::Output {
        CURRENT.scope(self, request).await
    }
}

/// Merges permits into one per semaphore.
fn merge(kept: &mut Vec<OwnedSemaphorePermit>, more: [OwnedSemaphorePermit; 2]) {
    if kept.is_empty() {
        kept.extend(more);
    } else {
        kept.iter_mut().zip(more).for_each(|(kept, more)| kept.merge(more));
    }
}

/// The hold of the running request; `None` outside a request.
pub fn current() -> Option<Arc<Hold>> {
    CURRENT.try_with(Arc::clone).ok()
}

/// Estimates the additional memory of a decoded JSON document beyond its text; many small values need most.
pub fn decoded(text: &[u8]) -> usize {
    let (mut values, mut is_escaped, mut in_text) = (0_usize, false, false);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            b',' | b'[' | b'{' | b':' if !in_text => values += 1,
            _ => {}
        }
    }
    values.saturating_mul(VALUE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_user_holds_a_part_and_gives_it_back() {
        let memory = Memory::new(100, 60);
        let (first, second, other) = (memory.hold("ada"), memory.hold("ada"), memory.hold("ben"));
        first.grow(40 * 1024).unwrap();
        assert!(second.grow(30 * 1024).is_err(), "ada has 20 left");
        other.grow(50 * 1024).unwrap();
        assert!(other.grow(20 * 1024).is_err(), "there are 10 left");
        drop(first);
        memory.hold("ada").grow(50 * 1024).unwrap();
    }

    #[test]
    fn bytes_are_counted_together() {
        let memory = Memory::new(2, 2);
        let hold = memory.hold("ada");
        for _ in 0..2048 {
            hold.grow(1).unwrap();
        }
        assert!(hold.grow(1).is_err());
    }

    #[test]
    fn values_are_counted_and_not_what_texts_contain() {
        assert_eq!(decoded(br#"[0,0,{"a":"x,[{:\",,"}]"#), 5 * VALUE_BYTES);
        assert_eq!(decoded(b"x"), 0);
    }
}
