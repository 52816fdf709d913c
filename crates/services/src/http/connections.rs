//! Connections to services. Each is made to an address that was checked.
//!
//! The resolver checks what it returns, and nothing else resolves names, so a name server that changes its mind gains
//! nothing. Addresses in URLs bypass the resolver, so they are checked before. A resolver is not told the port, so there is
//! a client for each port.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, Url};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use url::Host;

use super::options::HttpOptions;
use crate::addresses::AddressRules;

/// Clients that are kept, each with its idle connections.
const MOST_CLIENTS: usize = 64;
/// Addresses of a host that are tried.
const MOST_ADDRESSES: usize = 16;
/// Servers close idle connections after 5 seconds or more. A request on a connection that is just being closed fails.
const IDLE_TIME: Duration = Duration::from_secs(4);

/// Finds the addresses of a host.
pub trait Lookup: Send + Sync + 'static {
    /// All addresses of a host, permitted or not.
    fn addresses(&self, host: String) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;
}

/// The resolver of the system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemLookup;

impl Lookup for SystemLookup {
    fn addresses(&self, host: String) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// All addresses of the host are refused.
#[derive(Debug)]
pub struct AddressRefused;

impl fmt::Display for AddressRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the worker may not connect to the addresses of this host")
    }
}

impl std::error::Error for AddressRefused {}

impl AddressRefused {
    /// Whether an error has this cause.
    pub fn caused(error: &(dyn std::error::Error + 'static)) -> bool {
        let mut cause = Some(error);
        while let Some(error) = cause {
            if error.is::<Self>() {
                return true;
            }
            cause = error.source();
        }
        false
    }
}

/// The clients.
pub struct Connections {
    rules: Arc<AddressRules>,
    lookup: Arc<dyn Lookup>,
    tls: ClientConfig,
    connect_time: Duration,
    clients: Mutex<HashMap<u16, Client>>,
}

impl Connections {
    /// Without a connection yet.
    ///
    /// # Errors
    /// Describes what is wrong with the certificates.
    pub fn new(options: &HttpOptions, rules: AddressRules, lookup: Arc<dyn Lookup>) -> Result<Self, String> {
        let tls = tls(options)?;
        let connect_time = options.connect_time();
        Ok(Self { rules: Arc::new(rules), lookup, tls, connect_time, clients: Mutex::default() })
    }

    /// The client that can send a request to this URL.
    ///
    /// # Errors
    /// If the URL has an address that is not permitted.
    pub fn client(&self, url: &Url) -> Result<Client, AddressRefused> {
        let port = url.port_or_known_default().ok_or(AddressRefused)?;
        let is_permitted = match url.host() {
            Some(Host::Ipv4(address)) => self.rules.permit(address.into(), port),
            Some(Host::Ipv6(address)) => self.rules.permit(address.into(), port),
            Some(Host::Domain(_)) => true,
            None => false,
        };
        if !is_permitted {
            return Err(AddressRefused);
        }
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&port) {
            return Ok(client.clone());
        }
        if clients.len() >= MOST_CLIENTS {
            // Requests that run keep theirs.
            clients.retain(|port, _| [80, 443].contains(port));
        }
        let client = self.build(port).map_err(|error| {
            tracing::error!(%error, "there is no client for HTTP");
            AddressRefused
        })?;
        clients.insert(port, client.clone());
        Ok(client)
    }

    fn build(&self, port: u16) -> reqwest::Result<Client> {
        let resolver = CheckedResolver { rules: Arc::clone(&self.rules), lookup: Arc::clone(&self.lookup), port };
        Client::builder()
            .tls_backend_preconfigured(self.tls.clone())
            .dns_resolver(Arc::new(resolver))
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            // Each request that reaches a service is an attempt that the database has counted.
            .retry(reqwest::retry::never())
            .referer(false)
            .connect_timeout(self.connect_time)
            .pool_idle_timeout(IDLE_TIME)
            .user_agent(concat!("workflow/", env!("CARGO_PKG_VERSION")))
            .build()
    }
}

/// A resolver that returns addresses to which connections at a port are permitted.
struct CheckedResolver {
    rules: Arc<AddressRules>,
    lookup: Arc<dyn Lookup>,
    port: u16,
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (rules, port) = (Arc::clone(&self.rules), self.port);
        let host = name.as_str().trim_end_matches('.').to_ascii_lowercase();
        let found =
            if host == "localhost" || host.ends_with(".localhost") { None } else { Some(self.lookup.addresses(host)) };
        Box::pin(async move {
            let found = match found {
                Some(found) => found.await?,
                // Whatever a name server says: secrets may be sent there without TLS.
                None => vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()],
            };
            if found.is_empty() {
                return Err(io::Error::new(io::ErrorKind::NotFound, "the host has no address").into());
            }
            let permitted = found.iter().filter(|address| rules.permit(**address, port));
            let addresses: Vec<SocketAddr> =
                permitted.take(MOST_ADDRESSES).map(|address| SocketAddr::new(*address, port)).collect();
            if addresses.is_empty() {
                tracing::warn!(host = name.as_str(), port, ?found, "the addresses of a host are not permitted");
                return Err(AddressRefused.into());
            }
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

/// TLS with the certificates of the system, and those of a file.
fn tls(options: &HttpOptions) -> Result<ClientConfig, String> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        tracing::warn!("the system has no certificates of authorities (ca-certificates), so that https fails");
    }
    if let Some(file) = &options.services_ca {
        let wrong = |error: &dyn fmt::Display| format!("cannot read the certificates in {}: {error}", file.display());
        let certificates = CertificateDer::pem_file_iter(file).map_err(|error| wrong(&error))?;
        let certificates: Vec<_> = certificates.collect::<Result<_, _>>().map_err(|error| wrong(&error))?;
        if certificates.is_empty() {
            return Err(wrong(&"there is none"));
        }
        for certificate in certificates {
            roots.add(certificate).map_err(|error| wrong(&error))?;
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| format!("TLS cannot be used: {error}"))?;
    let mut tls = builder.with_root_certificates(roots).with_no_client_auth();
    tls.alpn_protocols = vec!["h2".into(), "http/1.1".into()];
    Ok(tls)
}
