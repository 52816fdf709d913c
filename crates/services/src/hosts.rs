//! What this process knows about the hosts that it calls: a rate, and a circuit breaker, for each.
//!
//! Both hold tasks back before anything is sent, so that no attempt is wasted. They belong to one process;
//! `wf_limit_tasks` limits all of them together.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use tokio::time::Instant;

/// Hosts that are remembered. Beyond it, those without calls are forgotten.
const MOST_HOSTS: usize = 10_000;
/// How long a call waits for its turn by the rate, before its task is given back.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The limits of each host.
#[derive(Debug, Clone, Copy)]
pub struct HostLimits {
    /// Calls per second. `None`: no limit.
    pub rate: Option<NonZeroU32>,
    /// Failures in a row after which calls pause. 0: never.
    pub failures: u32,
    /// How long they pause.
    pub pause: Duration,
}

/// The hosts, each by its name and port.
#[derive(Debug)]
pub struct Hosts {
    limits: HostLimits,
    hosts: Mutex<HashMap<(String, u16), Arc<Host>>>,
}

/// The clock by which the runtime sleeps, so that tests can advance it.
#[derive(Debug, Clone)]
struct RuntimeClock {
    begun: Instant,
}

impl Clock for RuntimeClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.begun.elapsed()
    }
}

type Rate = RateLimiter<NotKeyed, InMemoryState, RuntimeClock, NoOpMiddleware<Duration>>;

#[derive(Debug)]
struct Host {
    /// With its port, for the log.
    name: String,
    rate: Option<Rate>,
    breaker: Mutex<Breaker>,
}

#[derive(Debug, Default)]
struct Breaker {
    failures_in_a_row: u32,
    /// Calls pause until then. Afterwards one call tries whether the host is back.
    open_until: Option<Instant>,
    is_trying: bool,
}

/// The permission to call a host once. If it is dropped without [`succeeded`](Self::succeeded) or [`failed`](Self::failed),
/// the breaker stays as it is.
#[derive(Debug)]
pub struct Permission {
    host: Arc<Host>,
    limits: HostLimits,
    is_trial: bool,
}

/// The host must not be called before this time has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Later(pub Duration);

impl Hosts {
    /// Without any host yet.
    pub fn new(limits: HostLimits) -> Self {
        Self { limits, hosts: Mutex::default() }
    }

    /// Waits for the turn of a call.
    ///
    /// # Errors
    /// The time to wait if the breaker is open, or if the turn comes only in several seconds.
    pub async fn permit(&self, name: &str, port: u16) -> Result<Permission, Later> {
        let host = self.host(name, port);
        if let Some(wait) = host.pause() {
            return Err(Later(wait));
        }
        if let Some(rate) = &host.rate
            && tokio::time::timeout(LONGEST_WAIT, turn(rate)).await.is_err()
        {
            return Err(Later(LONGEST_WAIT));
        }
        let is_trial = host.enter(self.limits.pause)?;
        Ok(Permission { host, limits: self.limits, is_trial })
    }

    fn host(&self, name: &str, port: u16) -> Arc<Host> {
        let mut hosts = lock(&self.hosts);
        if hosts.len() >= MOST_HOSTS {
            hosts.retain(|_, host| Arc::strong_count(host) > 1 || host.pause().is_some());
        }
        let clock = RuntimeClock { begun: Instant::now() };
        let rate = || self.limits.rate.map(|rate| RateLimiter::direct_with_clock(Quota::per_second(rate), clock));
        let host = hosts.entry((name.to_owned(), port)).or_insert_with(|| {
            Arc::new(Host { name: format!("{name}:{port}"), rate: rate(), breaker: Mutex::default() })
        });
        Arc::clone(host)
    }
}

/// Waits until a call may begin.
async fn turn(rate: &Rate) {
    while let Err(until) = rate.check() {
        tokio::time::sleep(until.wait_time_from(rate.clock().now())).await;
    }
}

impl Host {
    fn pause(&self) -> Option<Duration> {
        let until = lock(&self.breaker).open_until?;
        until.checked_duration_since(Instant::now()).filter(|wait| !wait.is_zero())
    }

    /// Whether the call tries if the host is back.
    fn enter(&self, pause: Duration) -> Result<bool, Later> {
        if let Some(wait) = self.pause() {
            return Err(Later(wait));
        }
        let mut breaker = lock(&self.breaker);
        match (breaker.open_until, breaker.is_trying) {
            (None, _) => Ok(false),
            (Some(_), false) => {
                breaker.is_trying = true;
                Ok(true)
            }
            (Some(_), true) => Err(Later(pause / 4)),
        }
    }
}

impl Permission {
    /// The host has answered: the breaker closes.
    pub fn succeeded(self) {
        let before = std::mem::take(&mut *lock(&self.host.breaker));
        if before.open_until.is_some() {
            tracing::info!(host = self.host.name, "requests to a host continue");
        }
    }

    /// The host has not answered, or has answered that it is down. After several failures in a row, or if this was the
    /// trial, the breaker opens.
    pub fn failed(self) {
        let mut breaker = lock(&self.host.breaker);
        breaker.failures_in_a_row = breaker.failures_in_a_row.saturating_add(1);
        let limit = self.limits.failures;
        let is_over = limit > 0 && breaker.failures_in_a_row >= limit && breaker.open_until.is_none();
        if is_over {
            let seconds = self.limits.pause.as_secs();
            tracing::warn!(
                host = self.host.name,
                failures = breaker.failures_in_a_row,
                seconds,
                "requests to a host pause"
            );
        }
        if is_over || self.is_trial {
            breaker.open_until = Some(Instant::now() + self.limits.pause);
        }
    }
}

impl Drop for Permission {
    fn drop(&mut self) {
        if self.is_trial {
            lock(&self.host.breaker).is_trying = false;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_secs(30);

    fn hosts(rate: u32) -> Hosts {
        Hosts::new(HostLimits { rate: NonZeroU32::new(rate), failures: 3, pause: PAUSE })
    }

    #[tokio::test(start_paused = true)]
    async fn the_breaker_opens_after_failures_in_a_row() {
        let hosts = hosts(0);
        for _ in 0..2 {
            hosts.permit("a.example", 443).await.expect("closed").failed();
        }
        hosts.permit("a.example", 443).await.expect("closed").succeeded();
        for _ in 0..3 {
            hosts.permit("a.example", 443).await.expect("closed").failed();
        }
        assert_eq!(hosts.permit("a.example", 443).await.expect_err("open"), Later(PAUSE));
        hosts.permit("b.example", 443).await.expect("another host");
        hosts.permit("a.example", 80).await.expect("another port");
    }

    #[tokio::test(start_paused = true)]
    async fn one_call_tries_whether_the_host_is_back() {
        let hosts = hosts(0);
        for _ in 0..3 {
            hosts.permit("a.example", 443).await.expect("closed").failed();
        }
        tokio::time::advance(PAUSE).await;
        let trial = hosts.permit("a.example", 443).await.expect("the trial");
        assert_eq!(hosts.permit("a.example", 443).await.expect_err("a trial runs"), Later(PAUSE / 4));
        trial.failed();
        assert_eq!(hosts.permit("a.example", 443).await.expect_err("open again"), Later(PAUSE));
        tokio::time::advance(PAUSE).await;
        // A call that was dropped decides nothing.
        drop(hosts.permit("a.example", 443).await.expect("the trial"));
        hosts.permit("a.example", 443).await.expect("the trial").succeeded();
        let both = (hosts.permit("a.example", 443).await, hosts.permit("a.example", 443).await);
        assert!(both.0.is_ok() && both.1.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn calls_wait_for_the_rate() {
        let (hosts, begun) = (hosts(1), Instant::now());
        for _ in 0..3 {
            hosts.permit("a.example", 443).await.expect("a turn").succeeded();
        }
        assert_eq!(begun.elapsed().as_secs(), 2);
        hosts.permit("b.example", 443).await.expect("another host");
        assert_eq!(begun.elapsed().as_secs(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn calls_do_not_wait_long_for_the_rate() {
        let (hosts, mut calls) = (Arc::new(hosts(1)), tokio::task::JoinSet::new());
        for _ in 0..20 {
            let hosts = Arc::clone(&hosts);
            calls.spawn(async move { hosts.permit("a.example", 443).await.map(drop) });
        }
        let ended = calls.join_all().await;
        let late = ended.iter().filter(|ended| **ended == Err(Later(LONGEST_WAIT))).count();
        assert!((14..=15).contains(&late), "{late}: one call at once, and one each second");
    }
}
