//! Connections to the mail server, which are kept for the next message.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lettre::address::Envelope;
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{AsyncSmtpConnection, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use tokio::time::Instant;

use super::options::SmtpTls;

/// Connections that were idle for longer are closed: servers close them after five minutes, and firewalls sooner.
const MAX_IDLE: Duration = Duration::from_secs(60);
/// The time for the reply to NOOP. A connection that a firewall has dropped never gets one.
const TEST_TIME: Duration = Duration::from_secs(5);

/// The mail server, and how to reach it.
pub struct MailServer {
    pub host: String,
    pub port: u16,
    pub tls: SmtpTls,
    /// Unused without TLS.
    pub tls_parameters: Option<TlsParameters>,
    pub credentials: Option<Credentials>,
}

impl MailServer {
    async fn connect(&self) -> Result<AsyncSmtpConnection, Error> {
        let name = ClientId::default();
        // None: the deadline of the task ends everything.
        let (time, wrapper) = (None, self.tls_parameters.clone().filter(|_| self.tls == SmtpTls::Tls));
        let mut connection = if self.host.eq_ignore_ascii_case("localhost") {
            // Always this machine, whatever a name server says, because `none` is permitted for it.
            let addresses: [SocketAddr; 2] =
                [(Ipv4Addr::LOCALHOST, self.port).into(), (Ipv6Addr::LOCALHOST, self.port).into()];
            AsyncSmtpConnection::connect_tokio1(&addresses[..], time, &name, wrapper, None).await?
        } else {
            AsyncSmtpConnection::connect_tokio1((self.host.as_str(), self.port), time, &name, wrapper, None).await?
        };
        if let (SmtpTls::Starttls, Some(parameters)) = (self.tls, &self.tls_parameters) {
            connection.starttls(parameters.clone(), &name).await?;
        }
        if let Some(credentials) = &self.credentials {
            connection.auth(DEFAULT_MECHANISMS, credentials).await?;
        }
        Ok(connection)
    }
}

struct Idle {
    connection: AsyncSmtpConnection,
    since: Instant,
}

/// Connections for messages. A connection is kept only after a message that the server has taken: after anything else,
/// and if the future of a message is dropped, a reply could still be on its way, and be taken for that to the next command.
pub struct Connections {
    server: MailServer,
    idle: Mutex<Vec<Idle>>,
}

impl Connections {
    pub fn new(server: MailServer) -> Self {
        Self { server, idle: Mutex::default() }
    }

    /// Sends a message.
    pub async fn send(&self, envelope: &Envelope, message: &[u8]) -> Result<(), Error> {
        let mut connection = match self.usable().await {
            Some(connection) => connection,
            None => self.server.connect().await?,
        };
        connection.send(envelope, message).await?;
        self.idle().push(Idle { connection, since: Instant::now() });
        Ok(())
    }

    /// An idle connection that still works.
    async fn usable(&self) -> Option<AsyncSmtpConnection> {
        loop {
            let Idle { mut connection, .. } = self.idle().pop()?;
            if tokio::time::timeout(TEST_TIME, connection.test_connected()).await == Ok(true) {
                return Some(connection);
            }
        }
    }

    /// The idle connections, without those that are too old.
    fn idle(&self) -> MutexGuard<'_, Vec<Idle>> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|one| one.since.elapsed() < MAX_IDLE);
        idle
    }
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connections").field("host", &self.server.host).finish_non_exhaustive()
    }
}
