//! Rate limits for log-ins: per minute for an address and for a role, and concurrently.

use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::time::Duration;

use axum::http::StatusCode;
use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use tokio::sync::{Semaphore, SemaphorePermit};

use super::password::MAX_NAME;
use crate::failure::Failure;

/// Log-ins per minute for one address or one role.
const PER_MINUTE: NonZeroU32 = NonZeroU32::new(20).expect("not zero");
/// Maximum number of rate limiter keys before idle ones are evicted.
const MAX_KEYS: usize = 10_000;
/// Passwords verified concurrently: each needs a database connection of its own.
const MAX_CONCURRENT: usize = 16;
/// How long a log-in waits for one of these slots.
const SLOT_WAIT: Duration = Duration::from_secs(5);

pub struct Logins {
    by_address: DefaultKeyedRateLimiter<IpAddr>,
    by_role: DefaultKeyedRateLimiter<String>,
    /// Log-ins that come back from the identity provider. Apart from those that begin, so that one log-in counts once.
    returned: DefaultKeyedRateLimiter<IpAddr>,
    slots: Semaphore,
}

impl Logins {
    pub fn new() -> Self {
        Self::by(Quota::per_minute(PER_MINUTE))
    }

    fn by(quota: Quota) -> Self {
        Self {
            by_address: RateLimiter::keyed(quota),
            by_role: RateLimiter::keyed(quota),
            returned: RateLimiter::keyed(quota),
            slots: Semaphore::new(MAX_CONCURRENT),
        }
    }

    /// Counts a log-in, or rejects it above the limit. Logging in with an API key counts for no role.
    pub fn admit(&self, address: IpAddr, role: &str) -> Result<(), Failure> {
        check(&self.by_address, &network(address))?;
        // A longer text cannot be a role, and is not worth remembering.
        if role.is_empty() || role.len() > MAX_NAME {
            return Ok(());
        }
        check(&self.by_role, &role.to_owned())
    }

    /// Counts a log-in that comes back from the identity provider, or rejects it above the limit: a browser that has
    /// begun a log-in can come back any number of times, and the provider is asked each time.
    pub fn admit_return(&self, address: IpAddr) -> Result<(), Failure> {
        check(&self.returned, &network(address))
    }

    /// Waits for a slot to verify a password. The slot is held until the returned permit is dropped.
    pub async fn slot(&self) -> Result<SemaphorePermit<'_>, Failure> {
        match tokio::time::timeout(SLOT_WAIT, self.slots.acquire()).await {
            Ok(slot) => slot.map_err(Failure::internal),
            Err(_) => Err(Failure::unavailable("too many log-ins at once")),
        }
    }
}

/// Groups addresses by network: a host can choose its IPv6 addresses within 64 bits. A listener on `[::]` sees IPv4
/// addresses as `::ffff:a.b.c.d`.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        address @ IpAddr::V4(_) => address,
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)).into(),
    }
}

fn check<K: Clone + Eq + Hash>(limiter: &DefaultKeyedRateLimiter<K>, key: &K) -> Result<(), Failure> {
    if limiter.len() > MAX_KEYS {
        limiter.retain_recent();
    }
    limiter.check_key(key).map_err(|until| {
        let wait = until.wait_time_from(DefaultClock::default().now());
        Failure::new(StatusCode::TOO_MANY_REQUESTS, "too many log-ins: try again in a minute").retry_after(wait)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With the same limit by the hour: the clock goes on while a test runs.
    fn hourly() -> Logins {
        Logins::by(Quota::per_hour(PER_MINUTE))
    }

    #[test]
    fn an_address_and_a_role_log_in_twenty_times() {
        let (logins, one, two) = (hourly(), IpAddr::from([127, 0, 0, 1]), IpAddr::from([127, 0, 0, 2]));
        for _ in 0..20 {
            logins.admit(one, "ada").unwrap();
        }
        let refused = logins.admit(one, "ben").unwrap_err();
        assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
        assert!(refused.retry_after.is_some_and(|wait| wait <= Duration::from_secs(180)), "{refused:?}");
        assert_eq!(logins.admit(two, "ada").unwrap_err().status, StatusCode::TOO_MANY_REQUESTS);
        logins.admit(two, "ben").unwrap();
    }

    #[test]
    fn addresses_of_one_ipv6_network_are_one() {
        let (logins, of) = (hourly(), |text: &str| text.parse::<IpAddr>().unwrap());
        for host in 0..20 {
            logins.admit(of(&format!("2001:db8::{host}")), "").unwrap();
        }
        assert_eq!(logins.admit(of("2001:db8::ffff:1"), "").unwrap_err().status, StatusCode::TOO_MANY_REQUESTS);
        logins.admit(of("2001:db8:0:1::1"), "").unwrap();
    }

    #[test]
    fn ipv4_addresses_are_many_also_where_they_are_written_as_ipv6() {
        let (logins, of) = (hourly(), |text: &str| text.parse::<IpAddr>().unwrap());
        for _ in 0..20 {
            logins.admit(of("::ffff:10.0.0.1"), "").unwrap();
        }
        assert_eq!(logins.admit(of("::ffff:10.0.0.1"), "").unwrap_err().status, StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(logins.admit(of("10.0.0.1"), "").unwrap_err().status, StatusCode::TOO_MANY_REQUESTS);
        logins.admit(of("::ffff:10.0.0.2"), "").unwrap();
    }

    #[test]
    fn log_ins_that_come_back_are_counted_apart_from_those_that_begin() {
        let (logins, one, two) = (hourly(), IpAddr::from([127, 0, 0, 1]), IpAddr::from([127, 0, 0, 2]));
        for _ in 0..20 {
            logins.admit(one, "").unwrap();
            logins.admit_return(one).unwrap();
        }
        assert_eq!(logins.admit_return(one).unwrap_err().status, StatusCode::TOO_MANY_REQUESTS);
        logins.admit_return(two).unwrap();
    }

    #[tokio::test]
    async fn passwords_are_tried_in_turn() {
        let logins = Logins::new();
        let mut slots = Vec::new();
        for _ in 0..MAX_CONCURRENT {
            slots.push(logins.slot().await.unwrap());
        }
        assert!(tokio::time::timeout(Duration::from_millis(100), logins.slot()).await.is_err());
        slots.pop();
        drop(logins.slot().await.unwrap());
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
