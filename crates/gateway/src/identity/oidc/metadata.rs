//! The provider's metadata with its keys, which all requests share.
//!
//! It is read when a request needs it, and kept. A provider that does not answer is asked at most once a minute, and
//! what is known of it stays in use for a day. Without any usable metadata all log-ins fail, so the provider is asked
//! again after five seconds.

use std::io;
use std::num::NonZeroU32;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use openidconnect::{DiscoveryError, HttpRequest, IssuerUrl, ProviderMetadataWithLogout};
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::transport::Transport;
use super::{unreachable_provider, whole};
use crate::failure::Failure;

/// How long the metadata is used before it is read again. A key that the provider has withdrawn counts no longer.
const FRESH: Duration = Duration::from_secs(3600);
/// How long it is used if it cannot be read again.
const MAX_AGE: Duration = Duration::from_secs(24 * 3600);
/// How long after a failure it is not read, while the old one is used.
const RETRY_INTERVAL: Duration = Duration::from_secs(60);
/// The same without usable metadata, as after a start: the failure may be that of a single request.
const FIRST_RETRY_INTERVAL: Duration = Duration::from_secs(5);
/// How long a request waits that can do without: one with old metadata or a token with an unknown key, or a log-out.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long any other request waits. Reading may take twice as long: metadata and keys are two requests.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// A token signed with an unknown key causes the keys to be read again, at most three times in a row, and then this
/// often. Anybody can send such tokens.
const REFRESH_INTERVAL: Duration = Duration::from_secs(10);
const BURST: NonZeroU32 = NonZeroU32::new(3).expect("not zero");

/// What the provider says about itself.
pub struct Known {
    pub metadata: ProviderMetadataWithLogout,
    since: Instant,
}

/// The last metadata that was read, and the failure since, if there is one.
#[derive(Default)]
struct State {
    known: Option<Arc<Known>>,
    failed: Option<Instant>,
}

/// What a request that needs the metadata does.
enum Step {
    Use(Arc<Known>),
    /// Reads it again, and uses the old one if that fails.
    Renew(Arc<Known>),
    Read,
    /// Fails, because reading it has failed a moment ago. It can be tried again after this time.
    Fail(Duration),
}

impl State {
    fn step(&self, now: Instant) -> Step {
        match (self.usable(now), self.pause(now)) {
            (Some(known), None) if now.duration_since(known.since) >= FRESH => Step::Renew(Arc::clone(known)),
            (Some(known), _) => Step::Use(Arc::clone(known)),
            (None, None) => Step::Read,
            (None, Some(pause)) => Step::Fail(pause),
        }
    }

    /// The metadata, unless it is too old.
    fn usable(&self, now: Instant) -> Option<&Arc<Known>> {
        self.known.as_ref().filter(|known| now.duration_since(known.since) < MAX_AGE)
    }

    /// How long nothing is read after a failure.
    fn pause(&self, now: Instant) -> Option<Duration> {
        let interval = if self.usable(now).is_some() { RETRY_INTERVAL } else { FIRST_RETRY_INTERVAL };
        let passed = now.duration_since(self.failed?);
        interval.checked_sub(passed).filter(|pause| !pause.is_zero())
    }

    /// Records that reading newer metadata than `old` takes too long, unless it has succeeded meanwhile.
    fn record_delay(&mut self, old: &Arc<Known>, now: Instant) {
        if self.known.as_ref().is_some_and(|known| Arc::ptr_eq(known, old)) {
            self.failed = Some(now);
        }
    }
}

pub struct MetadataCache {
    issuer: IssuerUrl,
    transport: Transport,
    state: std::sync::Mutex<State>,
    /// Held while the metadata is read, so that requests do not read it at the same time. So reading needs no slot, and
    /// does not wait for the codes of people who log in.
    reading: Arc<Mutex<()>>,
    refreshes: DefaultDirectRateLimiter,
}

impl MetadataCache {
    /// An empty cache. Does not connect to the provider.
    pub fn new(issuer: IssuerUrl, transport: Transport) -> Arc<Self> {
        let quota = Quota::with_period(REFRESH_INTERVAL).unwrap_or(Quota::per_minute(BURST)).allow_burst(BURST);
        Arc::new(Self {
            issuer,
            transport,
            state: std::sync::Mutex::default(),
            reading: Arc::default(),
            refreshes: RateLimiter::direct(quota),
        })
    }

    /// The metadata. If it is old and cannot be read again in time, the old one.
    ///
    /// # Errors
    /// 503 if there is none and it cannot be read, or not in time. Reading continues for later requests.
    pub async fn get(self: &Arc<Self>) -> Result<Arc<Known>, Failure> {
        match self.step() {
            Step::Use(known) => Ok(known),
            Step::Renew(old) => match tokio::time::timeout(PATIENCE, self.read()).await {
                Ok(newer) => Ok(newer.unwrap_or(old)),
                Err(_) => {
                    // The reading continues. Until it has ended, no other request waits.
                    self.state().record_delay(&old, Instant::now());
                    Ok(old)
                }
            },
            Step::Read => {
                let read = tokio::time::timeout(MAX_WAIT, self.read()).await;
                read.unwrap_or_else(|_| Err(unreachable_provider()))
            }
            Step::Fail(pause) => Err(failed(pause)),
        }
    }

    /// The metadata, if it is there in time. If not, it is read for later requests.
    pub async fn get_in_time(self: &Arc<Self>) -> Option<Arc<Known>> {
        match self.step() {
            Step::Read => tokio::time::timeout(PATIENCE, self.read()).await.ok()?.ok(),
            _ => self.get().await.ok(),
        }
    }

    /// The metadata with the present keys, if they are there in time and were not read again too often. `seen` is the
    /// one that lacks a key.
    pub async fn refreshed(self: &Arc<Self>, seen: &Arc<Known>) -> Option<Arc<Known>> {
        // Checked twice: it is not worth waiting for a reading that is likely to fail as the last one did.
        if self.is_paused() {
            return None;
        }
        tokio::time::timeout(PATIENCE, self.refresh(seen)).await.ok()?
    }

    async fn refresh(self: &Arc<Self>, seen: &Arc<Known>) -> Option<Arc<Known>> {
        let reading = Arc::clone(&self.reading).lock_owned().await;
        let stored = self.state().known.clone().filter(|known| !Arc::ptr_eq(known, seen));
        if stored.is_some() {
            return stored;
        }
        if self.is_paused() || self.refreshes.check().is_err() {
            return None;
        }
        self.start(reading).await.ok()
    }

    /// Reads metadata and keys. The issuer in the metadata must be the one of the options.
    pub async fn discover(&self) -> Result<Arc<Known>, DiscoveryError<io::Error>> {
        // Keys may be withdrawn while they are read.
        let since = Instant::now();
        let send = |request: HttpRequest| self.transport.clone().send_without_slot(request);
        let metadata = ProviderMetadataWithLogout::discover_async(self.issuer.clone(), &send).await?;
        let known = Arc::new(Known { metadata, since });
        *self.state() = State { known: Some(Arc::clone(&known)), failed: None };
        Ok(known)
    }

    fn step(&self) -> Step {
        self.state().step(Instant::now())
    }

    fn is_paused(&self) -> bool {
        self.state().pause(Instant::now()).is_some()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the metadata, unless another request has just done so, or has failed to.
    async fn read(self: &Arc<Self>) -> Result<Arc<Known>, Failure> {
        let reading = Arc::clone(&self.reading).lock_owned().await;
        match self.step() {
            Step::Use(known) => Ok(known),
            Step::Fail(pause) => Err(failed(pause)),
            Step::Renew(_) | Step::Read => self.start(reading).await,
        }
    }

    /// Reads the metadata in a task of its own: later requests need the result even if this one does not wait for it.
    async fn start(self: &Arc<Self>, reading: OwnedMutexGuard<()>) -> Result<Arc<Known>, Failure> {
        let cache = Arc::clone(self);
        let task = tokio::spawn(async move {
            let _reading = reading;
            cache.discover().await.map_err(|error| {
                tracing::warn!(cause = whole(&error), "cannot read the metadata of the identity provider");
                cache.state().failed = Some(Instant::now());
                unreachable_provider()
            })
        });
        task.await.map_err(Failure::internal)?
    }
}

fn failed(pause: Duration) -> Failure {
    unreachable_provider().retry_after(pause)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const MINUTE: Duration = Duration::from_secs(60);
    const HOUR: Duration = Duration::from_secs(3600);

    fn known(since: Instant) -> Arc<Known> {
        let metadata = json!({
            "issuer": "https://login.example",
            "authorization_endpoint": "https://login.example/auth",
            "jwks_uri": "https://login.example/keys",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["EdDSA"],
        });
        Arc::new(Known { metadata: serde_json::from_str(&metadata.to_string()).unwrap(), since })
    }

    fn state(known: Option<&Arc<Known>>, failed: Option<Instant>) -> State {
        State { known: known.cloned(), failed }
    }

    #[test]
    fn old_metadata_is_read_again_and_used_no_longer_than_a_day() {
        let begun = Instant::now();
        let known = known(begun);
        let step = |age: Duration, failed: Option<Duration>| {
            state(Some(&known), failed.map(|after| begun + after)).step(begun + age)
        };
        assert!(matches!(step(59 * MINUTE, None), Step::Use(_)));
        assert!(matches!(step(HOUR, None), Step::Renew(_)));
        // After a failure the old one is used for a minute, before the next request tries again.
        assert!(matches!(step(61 * MINUTE, Some(61 * MINUTE)), Step::Use(_)));
        assert!(matches!(step(62 * MINUTE, Some(61 * MINUTE)), Step::Renew(_)));
        assert!(matches!(step(23 * HOUR, Some(61 * MINUTE)), Step::Renew(_)));
        // A key that the provider has withdrawn must not count for ever, whatever keeps the gateway from seeing that.
        assert!(matches!(step(24 * HOUR, None), Step::Read));
        let just_failed = Some(24 * HOUR);
        assert!(matches!(step(24 * HOUR + 2 * SECOND, just_failed), Step::Fail(pause) if pause == 3 * SECOND));
        assert!(matches!(step(24 * HOUR + 5 * SECOND, just_failed), Step::Read));
    }

    #[test]
    fn without_metadata_a_failure_is_remembered_for_five_seconds() {
        let now = Instant::now();
        assert!(matches!(state(None, None).step(now), Step::Read));
        assert!(matches!(state(None, Some(now)).step(now), Step::Fail(pause) if pause == 5 * SECOND));
        assert!(matches!(state(None, Some(now)).step(now + 5 * SECOND), Step::Read));
    }

    #[test]
    fn metadata_that_has_arrived_after_all_is_not_late() {
        let now = Instant::now();
        let (old, newer) = (known(now), known(now));
        let mut waiting = state(Some(&newer), None);
        waiting.record_delay(&old, now);
        assert_eq!(waiting.failed, None);
        waiting.record_delay(&newer, now);
        assert_eq!(waiting.failed, Some(now));
    }
}
