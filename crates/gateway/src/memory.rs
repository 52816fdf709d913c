//! What requests hold in memory: their bodies, what these decode to, and their answers. It is bounded for all requests
//! together and for those of one user, in the bytes that are there, not in those that a client announces.
//!
//! A hold lives as long as what uses the memory: the request, its transaction, which continues when the client has
//! gone, and the answer until the client has taken it.

use std::sync::{Arc, Mutex, PoisonError};

use axum::http::StatusCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::failure::Failure;
use crate::shares::Shares;

/// What a value of JSON takes beside its text.
const VALUE_BYTES: usize = 100;

tokio::task_local! {
    static CURRENT: Arc<Hold>;
}

/// Memory that users share, each up to a part of it.
pub struct Memory {
    all: Arc<Semaphore>,
    of_one: usize,
    users: Shares,
}

impl Memory {
    /// In kilobytes.
    pub fn new(all: usize, of_one: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(all)), of_one, users: Shares::new(of_one) }
    }

    /// What a request of a user holds: nothing yet.
    pub fn hold(&self, user: &str) -> Arc<Hold> {
        let (all, own) = (Arc::clone(&self.all), self.users.of(user));
        Arc::new(Hold { all, own, most: self.of_one, held: Mutex::default() })
    }
}

/// What one request holds.
pub struct Hold {
    all: Arc<Semaphore>,
    own: Arc<Semaphore>,
    /// Kilobytes that there are for the user.
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
    /// Holds more, or refuses to.
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

    /// Gives all back.
    pub fn release(&self) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = Held::default();
    }

    /// Runs a request, so that what it calls finds its hold.
    pub async fn during<F: Future>(self: Arc<Self>, request: F) -> F::Output {
        CURRENT.scope(self, request).await
    }
}

/// Keeps one permit of each semaphore.
fn merge(kept: &mut Vec<OwnedSemaphorePermit>, more: [OwnedSemaphorePermit; 2]) {
    if kept.is_empty() {
        kept.extend(more);
    } else {
        kept.iter_mut().zip(more).for_each(|(kept, more)| kept.merge(more));
    }
}

/// The hold of the request that runs; none outside of one.
pub fn current() -> Option<Arc<Hold>> {
    CURRENT.try_with(Arc::clone).ok()
}

/// About how much more than its text a JSON document takes when it is decoded: many small values take much more.
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
