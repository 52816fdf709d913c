//! Requests to the provider.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use openidconnect::{HttpRequest, HttpResponse};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// Time limit of a request, and maximum size of a response in bytes.
const MAX_TIME: Duration = Duration::from_secs(10);
const MAX_BYTES: u64 = 1 << 20;

/// An HTTP client that trusts these authorities, or else those of the system. It follows no redirects.
#[derive(Clone)]
pub struct Transport(ureq::Agent);

impl Transport {
    pub fn new(ca: Option<&Path>) -> Result<Self, String> {
        let trusted = match ca {
            Some(path) => read_certificates(path)?,
            None => rustls_native_certs::load_native_certs().certs,
        };
        let trusted: Vec<_> = trusted.iter().map(|der| Certificate::from_der(der).to_owned()).collect();
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::Specific(Arc::new(trusted)))
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .build();
        let agent = ureq::Agent::config_builder()
            .tls_config(tls)
            .timeout_global(Some(MAX_TIME))
            .http_status_as_error(false)
            .max_redirects(0)
            .build();
        Ok(Self(agent.into()))
    }

    /// Sends a request, whatever the status of its response.
    pub async fn send(self, request: HttpRequest) -> io::Result<HttpResponse> {
        let sent = tokio::task::spawn_blocking(move || {
            let mut response = self.0.run(request).map_err(io::Error::other)?;
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
