//! How many log-ins are tried: some in a minute for an address, and for a role.

use std::hash::Hash;
use std::net::IpAddr;
use std::num::NonZeroU32;

use axum::http::StatusCode;
use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use super::password::MAX_NAME;
use crate::failure::Failure;

/// Log-ins of one address or one role in a minute.
const A_MINUTE: NonZeroU32 = NonZeroU32::new(20).expect("not zero");
/// Addresses or roles that are remembered before those are forgotten that may log in as if they never had.
const MANY: usize = 10_000;

pub struct Logins {
    by_address: DefaultKeyedRateLimiter<IpAddr>,
    by_role: DefaultKeyedRateLimiter<String>,
}

impl Logins {
    pub fn new() -> Self {
        let quota = Quota::per_minute(A_MINUTE);
        Self { by_address: RateLimiter::keyed(quota), by_role: RateLimiter::keyed(quota) }
    }

    /// Counts a log-in, or refuses it where there were too many. An API key is of no role.
    pub fn admit(&self, address: IpAddr, role: &str) -> Result<(), Failure> {
        check(&self.by_address, &address)?;
        // What is longer is no role, and nothing to remember.
        if role.is_empty() || role.len() > MAX_NAME {
            return Ok(());
        }
        check(&self.by_role, &role.to_owned())
    }
}

fn check<K: Clone + Eq + Hash>(limiter: &DefaultKeyedRateLimiter<K>, key: &K) -> Result<(), Failure> {
    if limiter.len() > MANY {
        limiter.retain_recent();
    }
    limiter.check_key(key).map_err(|until| {
        let wait = until.wait_time_from(DefaultClock::default().now());
        Failure::new(StatusCode::TOO_MANY_REQUESTS, "too many log-ins: try again in a minute").retry_after(wait)
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_address_and_a_role_log_in_twenty_times() {
        let (logins, one, two) = (Logins::new(), IpAddr::from([127, 0, 0, 1]), IpAddr::from([127, 0, 0, 2]));
        for _ in 0..20 {
            logins.admit(one, "ada").unwrap();
        }
        let refused = logins.admit(one, "ben").unwrap_err();
        assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
        assert!(refused.retry_after.is_some_and(|wait| wait <= Duration::from_secs(3)), "{refused:?}");
        assert_eq!(logins.admit(two, "ada").unwrap_err().status, StatusCode::TOO_MANY_REQUESTS);
        logins.admit(two, "ben").unwrap();
    }

    #[test]
    fn what_is_no_role_is_not_remembered() {
        let logins = Logins::new();
        for number in 0..20 {
            logins.admit(IpAddr::from([127, 0, 0, number]), &"x".repeat(1_000_000)).unwrap();
        }
        assert_eq!(logins.by_role.len(), 0);
    }
}
