//! A mail server that does to a message what the local part of its recipients says:
//!
//! | recipient | what the client gets |
//! | --- | --- |
//! | `full@…` | 452, the mailbox is full |
//! | `gone@…` | 550, there is no such mailbox |
//! | `lost@…` | the end of the connection instead of the answer to the first message with it, which was taken |
//! | `silent@…` | no answer |
//! | `slow@…` | the answer to the message only after [`SmtpServer::release`] |
//! | `virus@…` | 554 instead of the answer to the message |
//!
//! It takes all others.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// A message that the server took.
#[derive(Debug, Clone, Default)]
pub struct Received {
    pub from: String,
    pub to: Vec<String>,
    pub text: String,
    pub is_encrypted: bool,
}

impl Received {
    /// The value of a header in one line.
    pub fn header(&self, name: &str) -> Option<String> {
        let head = self.text.split("\n\n").next()?.replace("\n ", " ");
        head.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(": ")?.to_owned()))
    }
}

/// What the server demands of its clients.
#[derive(Clone, Default)]
pub struct Demands {
    /// TLS from the first byte.
    pub tls: Option<TlsAcceptor>,
    /// It offers STARTTLS.
    pub starttls: Option<TlsAcceptor>,
    /// `AUTH PLAIN` with these bytes, in Base64.
    pub credentials: Option<String>,
}

#[derive(Default)]
struct State {
    received: Vec<Received>,
    connections: usize,
    is_released: watch::Sender<bool>,
}

/// The server. It ends with the runtime of the test.
pub struct SmtpServer {
    pub address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl SmtpServer {
    pub async fn start(demands: Demands) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("its address");
        let state = Arc::new(Mutex::new(State::default()));
        let server = Self { address, state: Arc::clone(&state) };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (demands, state) = (demands.clone(), Arc::clone(&state));
                lock(&state).connections += 1;
                tokio::spawn(async move { drop(connection(stream, &demands, &state).await) });
            }
        });
        server
    }

    pub fn received(&self) -> Vec<Received> {
        lock(&self.state).received.clone()
    }

    /// Answers messages to `slow@…`.
    pub fn release(&self) {
        lock(&self.state).is_released.send_replace(true);
    }

    pub fn connections(&self) -> usize {
        lock(&self.state).connections
    }
}

fn lock(state: &Mutex<State>) -> std::sync::MutexGuard<'_, State> {
    state.lock().expect("no test has failed in it")
}

/// A certificate for `localhost` that its own authority signed, and that authority (PEM).
pub fn certificate() -> (TlsAcceptor, String) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("its key");
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions of TLS")
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .expect("a configuration");
    (TlsAcceptor::from(Arc::new(config)), made.cert.pem())
}

async fn connection(stream: tokio::net::TcpStream, demands: &Demands, state: &Mutex<State>) -> std::io::Result<()> {
    if let Some(tls) = &demands.tls {
        let stream = tls.accept(stream).await?;
        return session(BufReader::new(stream), demands, state, true, true).await.map(drop);
    }
    let Some(stream) = session(BufReader::new(stream), demands, state, false, true).await? else { return Ok(()) };
    let Some(tls) = &demands.starttls else { return Ok(()) };
    let stream = tls.accept(stream.into_inner()).await?;
    session(BufReader::new(stream), demands, state, true, false).await.map(drop)
}

/// Serves a connection until its end, or until it is to be encrypted: then the stream is returned.
async fn session<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: BufReader<S>,
    demands: &Demands,
    state: &Mutex<State>,
    is_encrypted: bool,
    greets: bool,
) -> std::io::Result<Option<BufReader<S>>> {
    if greets {
        say(&mut stream, "220 localhost ready").await?;
    }
    let mut is_known = demands.credentials.is_none();
    let mut message = Received { is_encrypted, ..Received::default() };
    let mut line = String::new();
    loop {
        line.clear();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(None);
        }
        let command = line.trim_end();
        let reply = match command.split([' ', ':']).next().unwrap_or_default().to_ascii_uppercase().as_str() {
            "EHLO" => {
                let starttls = if demands.starttls.is_some() && !is_encrypted { "250-STARTTLS\r\n" } else { "" };
                let auth = if demands.credentials.is_some() { "250-AUTH PLAIN\r\n" } else { "" };
                format!("250-localhost\r\n{starttls}{auth}250 8BITMIME")
            }
            "STARTTLS" => {
                say(&mut stream, "220 begin").await?;
                return Ok(Some(stream));
            }
            "AUTH" if demands.credentials.as_deref() == command.split(' ').nth(2) => {
                is_known = true;
                "235 welcome".into()
            }
            "AUTH" => "535 wrong password".into(),
            "MAIL" if !is_known => "530 log in first".into(),
            "MAIL" => {
                message = Received { from: address(command), is_encrypted, ..Received::default() };
                "250 ok".into()
            }
            "RCPT" => {
                let address = address(command);
                let reply = match address.split('@').next() {
                    Some("full") => "452 the mailbox is full",
                    Some("gone") => "550 there is no such mailbox",
                    Some("silent") => return std::future::pending().await,
                    _ => "250 ok",
                };
                message.to.push(address);
                reply.into()
            }
            "DATA" => {
                say(&mut stream, "354 send it").await?;
                message.text = data(&mut stream).await?;
                let is_first = {
                    let mut state = lock(state);
                    state.received.push(message.clone());
                    state.received.iter().filter(|other| other.to == message.to).count() == 1
                };
                if is_first && message.to.iter().any(|to| to.starts_with("lost@")) {
                    return Ok(None);
                }
                let has = |name: &str| message.to.iter().any(|to| to.starts_with(name));
                if has("slow@") {
                    let mut is_released = lock(state).is_released.subscribe();
                    drop(is_released.wait_for(|is_released| *is_released).await);
                }
                if has("virus@") { "554 it has a virus".into() } else { "250 taken".into() }
            }
            "QUIT" => {
                say(&mut stream, "221 bye").await?;
                return Ok(None);
            }
            "NOOP" | "RSET" => "250 ok".into(),
            _ => "502 unknown".into(),
        };
        say(&mut stream, &reply).await?;
    }
}

async fn say<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut BufReader<S>, reply: &str) -> std::io::Result<()> {
    stream.write_all(format!("{reply}\r\n").as_bytes()).await?;
    stream.flush().await
}

/// The message up to the dot.
async fn data<S: AsyncRead + Unpin>(stream: &mut BufReader<S>) -> std::io::Result<String> {
    let mut text = String::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 || line == ".\r\n" {
            return Ok(text);
        }
        let line = line.strip_prefix('.').unwrap_or(&line);
        text.push_str(line.trim_end_matches(['\r', '\n']));
        text.push('\n');
    }
}

fn address(command: &str) -> String {
    let start = command.find('<').map_or(0, |at| at + 1);
    let end = command.find('>').unwrap_or(command.len());
    command[start..end].to_owned()
}
