//! The rate of requests of one client to one part of the paths.

use std::hash::{BuildHasher as _, RandomState};
use std::net::IpAddr;
use std::num::NonZeroU32;

use axum::http::StatusCode;
use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use percent_encoding::percent_decode_str;

use crate::failure::Failure;
use crate::identity::logins::network;

/// Pairs of address and segment that are kept before idle ones are forgotten.
const MAX_KEYS: usize = 100_000;

/// The limits of all clients.
pub struct Rates {
    limiter: DefaultKeyedRateLimiter<(IpAddr, u64)>,
    hasher: RandomState,
}

impl Rates {
    /// So many requests a second each.
    pub fn new(per_second: u32) -> Self {
        Self::by(Quota::per_second(NonZeroU32::new(per_second).unwrap_or(NonZeroU32::MIN)))
    }

    fn by(quota: Quota) -> Self {
        Self { limiter: RateLimiter::keyed(quota), hasher: RandomState::new() }
    }

    /// Counts a request, or refuses it.
    pub fn check(&self, address: IpAddr, path: &str) -> Result<(), Failure> {
        if self.limiter.len() > MAX_KEYS {
            self.limiter.retain_recent();
        }
        // Another spelling of a segment is the same one.
        let segment = path.trim_start_matches('/').split('/').next().unwrap_or_default();
        let segment = percent_decode_str(segment).decode_utf8_lossy().to_lowercase();
        self.limiter.check_key(&(network(address), self.hasher.hash_one(segment))).map_err(|until| {
            let wait = until.wait_time_from(DefaultClock::default().now());
            Failure::new(StatusCode::TOO_MANY_REQUESTS, "too many requests").retry_after(wait)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_has_its_rate_for_each_first_segment() {
        // By the hour: the clock goes on while the test runs.
        let rates = Rates::by(Quota::per_hour(const { NonZeroU32::new(2).unwrap() }));
        let (one, other) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2]));
        for path in ["/orders/1", "/%6Frder%53/2"] {
            assert!(rates.check(one, path).is_ok());
        }
        let refused = rates.check(one, "orders/3").expect_err("the third");
        assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
        assert!(refused.retry_after.is_some());
        assert!(rates.check(one, "/carts").is_ok() && rates.check(other, "/orders").is_ok());
    }
}
