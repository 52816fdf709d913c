//! Verifies a password by logging in to the database on a connection that is used for nothing else.
//!
//! A password counts as verified only if the server asked for SCRAM and accepted the proof. If the server uses `trust`,
//! methods that prove nothing here (`peer`, `cert`), or methods that expose the password (MD5, clear text), every
//! password is rejected.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use bytes::BytesMut;
use fallible_iterator::FallibleIterator as _;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::{ErrorResponseBody, Message};
use postgres_protocol::message::frontend;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::Instant;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect as _};

use crate::database::Database;
use crate::failure::Failure;
use crate::{may_act_as, parameters};

/// Every log-in takes at least this long, so that its duration does not reveal why it failed.
const MIN_TIME: Duration = Duration::from_millis(400);
const MAX_TIME: Duration = Duration::from_secs(10);
const MAX_MESSAGE: usize = 65_536;
/// Maximum length of a role name in bytes. PostgreSQL truncates longer names.
pub const MAX_NAME: usize = 63;

/// The result of verifying a password.
#[derive(Debug, PartialEq, Eq)]
pub enum PasswordVerdict {
    /// Accepted; with the salt of the stored SCRAM verifier.
    Right(String),
    /// Wrong, or the role may not log in here: clients are not told which.
    Wrong,
    /// The server did not ask for SCRAM, or rejects all connections from this host.
    NotAsked,
}

/// Verifies a role's password. Takes at least `MIN_TIME`, whatever the verdict.
pub async fn verify(database: &Database, role: &str, password: &str) -> Result<PasswordVerdict, Failure> {
    let begun = Instant::now();
    let verdict = tokio::time::timeout(MAX_TIME, check(database, role, password)).await;
    tokio::time::sleep_until(begun + MIN_TIME).await;
    verdict.unwrap_or_else(|_| Err(Failure::unavailable("the database does not answer")))
}

async fn check(database: &Database, role: &str, password: &str) -> Result<PasswordVerdict, Failure> {
    if !is_name(role) {
        return Ok(PasswordVerdict::Wrong);
    }
    let verdict = try_hosts(database, role, Some(password)).await.map_err(|error| {
        tracing::warn!(cause = %error, "cannot try a password");
        Failure::unavailable("the database cannot be reached")
    })?;
    // Checked in any case, so that a role that may not log in takes equally long.
    let may = may_log_in(database, role).await?;
    Ok(if may { verdict } else { verdict.or_wrong() })
}

/// Whether the text can be a role name at all.
fn is_name(role: &str) -> bool {
    !role.is_empty() && role.len() <= MAX_NAME && !role.contains('\0')
}

impl PasswordVerdict {
    fn or_wrong(self) -> Self {
        if matches!(self, Self::Right(_)) { Self::Wrong } else { self }
    }
}

/// The salt that the server sends for a role before it knows a password. The server has one for every name, existing or
/// not; `None` if it does not ask for SCRAM.
pub async fn salt(database: &Database, role: &str) -> Result<Option<String>, Failure> {
    if !is_name(role) {
        return Ok(None);
    }
    let asked = tokio::time::timeout(MAX_TIME, try_hosts(database, role, None)).await;
    match asked {
        Ok(Ok(PasswordVerdict::Right(salt))) => Ok(Some(salt)),
        Ok(Ok(_)) => Ok(None),
        Ok(Err(error)) => {
            tracing::warn!(cause = %error, "cannot check a session");
            Err(Failure::unavailable("the database cannot be reached"))
        }
        Err(_) => Err(Failure::unavailable("the database does not answer")),
    }
}

/// Whether the gateway may act as the role, and the role is neither a superuser nor the gateway's own.
async fn may_log_in(database: &Database, role: &str) -> Result<bool, Failure> {
    const SQL: &str = concat!(
        "SELECT rolcanlogin AND NOT rolsuper AND rolname OPERATOR(pg_catalog.<>) session_user AND ",
        may_act_as!("session_user", "oid"),
        " AS may_log_in FROM pg_catalog.pg_roles WHERE rolname OPERATOR(pg_catalog.=) $1"
    );
    let rows = database.catalogue(SQL, parameters![role]).await?;
    Ok(rows.first().is_some_and(|row| row.get("may_log_in")))
}

/// Tries each host in turn, as the connections of requests do, until one gives a verdict. Without a password, only the
/// salt is requested.
async fn try_hosts(database: &Database, role: &str, password: Option<&str>) -> io::Result<PasswordVerdict> {
    let time = database.connector().time_of_host(MAX_TIME);
    let mut last = io::Error::other("the connection string names no host");
    for host in database.connector().hosts() {
        let tried = tokio::time::timeout(time, try_host(database, &host, role, password)).await;
        match tried.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
            Ok(verdict) => return Ok(verdict),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// With a `hostaddr`, that is where to connect, and `host` is the name to verify.
async fn try_host(
    database: &Database,
    config: &Config,
    role: &str,
    password: Option<&str>,
) -> io::Result<PasswordVerdict> {
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let (host, address) = (config.get_hosts().first(), config.get_hostaddrs().first());
    let name = match (host, address) {
        (Some(Host::Tcp(name)), _) => name.clone(),
        (_, Some(address)) => address.to_string(),
        (_, None) => String::new(),
    };
    let stream = match (address, host) {
        (Some(address), _) => TcpStream::connect((*address, port)).await?,
        (None, Some(Host::Unix(folder))) => {
            return try_unix(database, folder.join(format!(".s.PGSQL.{port}")), role, password).await;
        }
        (None, _) => TcpStream::connect((name.as_str(), port)).await?,
    };
    try_tcp(database, stream, &name, role, password).await
}

async fn try_unix(
    database: &Database,
    path: PathBuf,
    role: &str,
    password: Option<&str>,
) -> io::Result<PasswordVerdict> {
    log_in(UnixStream::connect(path).await?, database, role, password).await
}

/// `host` is the name that the certificate must have.
async fn try_tcp(
    database: &Database,
    mut stream: TcpStream,
    host: &str,
    role: &str,
    password: Option<&str>,
) -> io::Result<PasswordVerdict> {
    let mode = database.connector().config().get_ssl_mode();
    if mode == SslMode::Disable {
        return log_in(stream, database, role, password).await;
    }
    let mut request = BytesMut::new();
    frontend::ssl_request(&mut request);
    stream.write_all(&request).await?;
    match stream.read_u8().await? {
        b'S' => {
            let mut maker = database.connector().tls();
            let connect = <_ as MakeTlsConnect<TcpStream>>::make_tls_connect(&mut maker, host);
            let stream = connect.map_err(io::Error::other)?.connect(stream).await.map_err(io::Error::other)?;
            log_in(stream, database, role, password).await
        }
        _ if mode == SslMode::Require => Err(io::Error::other("the server does not speak TLS")),
        _ => log_in(stream, database, role, password).await,
    }
}

/// The log-in of PostgreSQL's protocol, up to the first ReadyForQuery.
async fn log_in(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    database: &Database,
    role: &str,
    password: Option<&str>,
) -> io::Result<PasswordVerdict> {
    let mut session = ProtocolStream { stream, received: BytesMut::new() };
    let name = database.connector().config().get_dbname().unwrap_or(role);
    session.send(|out| frontend::startup_message([("user", role), ("database", name)], out)).await?;
    let asked = match session.receive().await? {
        Message::AuthenticationSasl(asked) => asked,
        Message::ErrorResponse(error) => return refused(&error, PasswordVerdict::NotAsked),
        _ => return Ok(PasswordVerdict::NotAsked),
    };
    if !asked.mechanisms().any(|mechanism| Ok(mechanism == SCRAM_SHA_256))? {
        return Ok(PasswordVerdict::NotAsked);
    }
    let mut scram = ScramSha256::new(password.unwrap_or_default().as_bytes(), ChannelBinding::unsupported());
    session.send(|out| frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), out)).await?;
    let salt = match session.receive().await? {
        Message::AuthenticationSaslContinue(message) => {
            let salt = salt_of(message.data());
            if password.is_none() {
                return Ok(PasswordVerdict::Right(salt));
            }
            scram.update(message.data())?;
            salt
        }
        other => return unexpected(&other),
    };
    session.send(|out| frontend::sasl_response(scram.message(), out)).await?;
    match session.receive().await? {
        Message::AuthenticationSaslFinal(message) => scram.finish(message.data())?,
        other => return unexpected(&other),
    }
    loop {
        match session.receive().await? {
            Message::ReadyForQuery(_) => break,
            // The role lacks LOGIN or CONNECT.
            Message::ErrorResponse(error) => return refused(&error, PasswordVerdict::Wrong),
            _ => {}
        }
    }
    session
        .send(|out| {
            frontend::terminate(out);
            Ok(())
        })
        .await?;
    Ok(PasswordVerdict::Right(salt))
}

/// The salt in the server's first SCRAM message: `r=NONCE,s=SALT,i=ITERATIONS`.
fn salt_of(message: &[u8]) -> String {
    let text = String::from_utf8_lossy(message);
    text.split(',').find_map(|part| part.strip_prefix("s=")).unwrap_or_default().to_owned()
}

/// Interprets a message that is not the next step of SCRAM.
fn unexpected(message: &Message) -> io::Result<PasswordVerdict> {
    match message {
        Message::ErrorResponse(error) => refused(error, PasswordVerdict::Wrong),
        _ => Err(io::Error::other("the server does not keep to SCRAM")),
    }
}

/// The verdict for an error that ends the log-in. A server that is starting, stopping or out of connections gives none.
fn refused(error: &ErrorResponseBody, verdict: PasswordVerdict) -> io::Result<PasswordVerdict> {
    let code = error.fields().filter(|field| Ok(field.type_() == b'C')).next()?;
    let code = code.map_or_else(Default::default, |field| String::from_utf8_lossy(field.value_bytes()).into_owned());
    match code.get(..2) {
        Some("08" | "53" | "57" | "58" | "XX") => {
            Err(io::Error::other(format!("the server refuses connections: {code}")))
        }
        _ => Ok(verdict),
    }
}

struct ProtocolStream<S> {
    stream: S,
    received: BytesMut,
}

impl<S: AsyncRead + AsyncWrite + Unpin> ProtocolStream<S> {
    async fn send(&mut self, write: impl FnOnce(&mut BytesMut) -> io::Result<()>) -> io::Result<()> {
        let mut message = BytesMut::new();
        write(&mut message)?;
        self.stream.write_all(&message).await
    }

    async fn receive(&mut self) -> io::Result<Message> {
        loop {
            if let Some(message) = Message::parse(&mut self.received)? {
                return Ok(message);
            }
            if self.received.len() > MAX_MESSAGE {
                return Err(io::Error::other("the server sends too much"));
            }
            if self.stream.read_buf(&mut self.received).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}
