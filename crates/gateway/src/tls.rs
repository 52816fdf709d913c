//! TLS of the requests that the gateway itself sends.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// Trusts these authorities, and no others.
pub fn trusting(authorities: &[CertificateDer<'_>]) -> TlsConfig {
    let trusted: Vec<_> = authorities.iter().map(|der| Certificate::from_der(der).to_owned()).collect();
    TlsConfig::builder()
        .root_certs(RootCerts::Specific(Arc::new(trusted)))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build()
}

/// Trusts the authorities of the system.
pub fn trusting_system() -> TlsConfig {
    trusting(&rustls_native_certs::load_native_certs().certs)
}
