//! Requests to the provider.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use openidconnect::{HttpRequest, HttpResponse};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::tls;

/// Time limit of a request, and maximum size of a response in bytes.
const MAX_TIME: Duration = Duration::from_secs(10);
const MAX_BYTES: u64 = 1 << 20;
/// Requests in a slot that are sent concurrently: each needs a thread, and a provider that does not answer holds it for
/// the whole time.
const MAX_CONCURRENT: usize = 16;
/// How long a request waits for a slot.
const SLOT_WAIT: Duration = Duration::from_secs(5);

/// An HTTP client that trusts these authorities, or else those of the system. It follows no redirects. Its clones
/// share the slots.
#[derive(Clone)]
pub struct Transport {
    agent: ureq::Agent,
    slots: Arc<Semaphore>,
}

impl Transport {
    pub fn new(ca: Option<&Path>) -> Result<Self, String> {
        let tls = match ca {
            Some(path) => tls::trusting(&read_certificates(path)?),
            None => tls::trusting_system(),
        };
        let agent = ureq::Agent::config_builder()
            .tls_config(tls)
            .timeout_global(Some(MAX_TIME))
            .http_status_as_error(false)
            .max_redirects(0)
            .build();
        Ok(Self { agent: agent.into(), slots: Arc::new(Semaphore::new(MAX_CONCURRENT)) })
    }

    /// Sends a request in a slot, whatever the status of its response.
    ///
    /// # Errors
    /// [`io::ErrorKind::ResourceBusy`] if no slot became free in time: the request has not been sent.
    pub async fn send(self, request: HttpRequest) -> io::Result<HttpResponse> {
        let slot = tokio::time::timeout(SLOT_WAIT, Arc::clone(&self.slots).acquire_owned()).await;
        let too_many = "too many requests to the identity provider at once";
        let slot = slot.map_err(|_| io::Error::new(io::ErrorKind::ResourceBusy, too_many))?;
        let slot = slot.map_err(io::Error::other)?;
        self.run(request, Some(slot)).await
    }

    /// The same without a slot: for requests that the caller sends one after the other, and that must not wait for
    /// those which anybody can cause.
    pub async fn send_without_slot(self, request: HttpRequest) -> io::Result<HttpResponse> {
        self.run(request, None).await
    }

    async fn run(self, request: HttpRequest, slot: Option<OwnedSemaphorePermit>) -> io::Result<HttpResponse> {
        let sent = tokio::task::spawn_blocking(move || {
            // The slot is held until the request has ended, also if nobody waits for its response any more.
            let _slot = slot;
            let mut response = self.agent.run(request).map_err(io::Error::other)?;
            let body = response.body_mut().with_config().limit(MAX_BYTES).read_to_vec().map_err(io::Error::other)?;
            Ok(response.map(|_| body))
        });
        sent.await.map_err(io::Error::other)?
    }
}

fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let unreadable = |error: &dyn std::fmt::Display| format!("cannot read {}: {error}", path.display());
    let found = CertificateDer::pem_file_iter(path).map_err(|error| unreadable(&error))?;
    let found: Vec<_> = found.collect::<Result<_, _>>().map_err(|error| unreadable(&error))?;
    if found.is_empty() { Err(format!("{} has no certificate (PEM)", path.display())) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> HttpRequest {
        axum::http::Request::get("http://127.0.0.1:0/").body(Vec::new()).unwrap()
    }

    #[tokio::test]
    async fn requests_to_the_provider_are_sent_in_turn() {
        let transport = Transport::new(None).unwrap();
        let all = u32::try_from(MAX_CONCURRENT).unwrap();
        let held = Arc::clone(&transport.slots).acquire_many_owned(all).await.unwrap();
        let waiting = transport.clone().send(request());
        assert!(tokio::time::timeout(Duration::from_millis(100), waiting).await.is_err());
        // The metadata does not wait for those who redeem codes. Nothing listens there.
        let unanswered = transport.clone().send_without_slot(request()).await.unwrap_err();
        assert_ne!(unanswered.kind(), io::ErrorKind::ResourceBusy);
        drop(held);
        transport.clone().send(request()).await.unwrap_err();
        assert_eq!(transport.slots.available_permits(), MAX_CONCURRENT);
    }
}
