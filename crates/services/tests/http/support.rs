//! Servers, tasks, and a service with options.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::Parser;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::time::Instant;
use uuid::Uuid;
use workflow_services::http::connections::Lookup;
use workflow_services::http::{HttpOptions, HttpService};
use workflow_services::secrets::Secrets;
use workflow_services::task::{Failure, ServiceTask};

#[derive(Parser)]
struct Options {
    #[command(flatten)]
    http: HttpOptions,
}

/// Options as on a command line.
pub fn options(arguments: &str) -> HttpOptions {
    Options::parse_from(std::iter::once("test").chain(arguments.split_whitespace())).http
}

/// A service without secrets.
pub fn service(arguments: &str) -> HttpService {
    HttpService::new(&options(arguments), Secrets::default(), Arc::new(Names::default())).expect("a service")
}

/// A service that may connect to a server.
pub fn service_for(server: &Server, arguments: &str) -> HttpService {
    service(&format!("--allow-addresses 127.0.0.1:{} {arguments}", server.port))
}

/// A name server: each host has a list of answers, and the last one stays.
#[derive(Default)]
pub struct Names(Mutex<HashMap<String, Vec<Vec<IpAddr>>>>, Mutex<Vec<String>>);

impl Names {
    pub fn add(&self, host: &str, answers: &[&[&str]]) {
        let parse = |answer: &&[&str]| answer.iter().map(|text| text.parse().expect("an address")).collect();
        self.0.lock().expect("the names").insert(host.into(), answers.iter().map(parse).collect());
    }

    /// The hosts that were looked up.
    pub fn asked(&self) -> Vec<String> {
        self.1.lock().expect("the names").clone()
    }

    fn answer(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        self.1.lock().expect("the names").push(host.to_owned());
        let mut names = self.0.lock().expect("the names");
        let answers = names.get_mut(host).ok_or_else(|| io::Error::other("no such host"))?;
        Ok(if answers.len() > 1 { answers.remove(0) } else { answers[0].clone() })
    }
}

impl Lookup for Names {
    fn addresses(&self, host: String) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>> {
        let answer = self.answer(&host);
        Box::pin(async move { answer })
    }
}

/// A task with inputs, of an owner `shop`, that may take ten minutes.
pub fn task(inputs: Value) -> ServiceTask {
    named_task("Elsa.SendHttpRequest", inputs)
}

pub fn named_task(name: &str, inputs: Value) -> ServiceTask {
    ServiceTask {
        task_id: Uuid::from_u128(7),
        instance_id: Uuid::from_u128(9),
        name: name.into(),
        owner: "shop".into(),
        attempt: 1,
        max_attempts: None,
        traceparent: None,
        inputs: inputs.as_object().expect("an object").clone(),
        deadline: Instant::now() + Duration::from_secs(600),
    }
}

pub fn get(url: impl Into<String>) -> ServiceTask {
    task(json!({"Url": url.into()}))
}

/// The code of a failure.
pub fn code(answer: Result<Value, Failure>) -> String {
    match answer {
        Ok(answer) => format!("no failure: {answer}"),
        Err(failure) => failure.code.into_owned(),
    }
}

/// A request as a server receives it.
#[derive(Debug, Clone, Default)]
pub struct Received {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Received {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// What a server does after a request.
#[derive(Debug, Clone)]
pub enum Step {
    Send(Vec<u8>),
    Stall,
}

/// An answer without a body of its own framing, after which the connection is closed.
pub fn respond(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Vec<Step> {
    let body = body.as_ref();
    let mut head = format!("HTTP/1.1 {status} Some\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    vec![Step::Send([head.as_bytes(), b"\r\n", body].concat())]
}

pub type Handler = Arc<dyn Fn(&Received) -> Vec<Step> + Send + Sync>;

/// A server that counts connections and stores requests.
#[derive(Clone)]
pub struct Server {
    pub port: u16,
    received: Arc<Mutex<Vec<Received>>>,
    connections: Arc<Mutex<usize>>,
}

impl Server {
    pub async fn start(handler: impl Fn(&Received) -> Vec<Step> + Send + Sync + 'static) -> Self {
        Self::start_at("127.0.0.1:0", Arc::new(handler), None).await
    }

    /// With TLS if there is an acceptor.
    pub async fn start_at(address: &str, handler: Handler, tls: Option<tokio_rustls::TlsAcceptor>) -> Self {
        let listener = TcpListener::bind(address).await.expect("a listener");
        let port = listener.local_addr().expect("an address").port();
        let server = Self { port, received: Arc::default(), connections: Arc::default() };
        let running = server.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                *running.connections.lock().expect("the count") += 1;
                let (running, handler, tls) = (running.clone(), Arc::clone(&handler), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => running.serve(stream, handler).await,
                        Some(tls) => match tls.accept(stream).await {
                            Ok(stream) => running.serve(stream, handler).await,
                            Err(_) => Ok(()),
                        },
                    }
                });
            }
        });
        server
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub fn received(&self) -> Vec<Received> {
        self.received.lock().expect("the requests").clone()
    }

    pub fn connections(&self) -> usize {
        *self.connections.lock().expect("the count")
    }

    /// The client may close the connection at any time.
    async fn serve(&self, mut stream: impl AsyncRead + AsyncWrite + Unpin, handler: Handler) -> io::Result<()> {
        let Some(request) = receive(&mut stream).await? else { return Ok(()) };
        self.received.lock().expect("the requests").push(request.clone());
        for step in handler(&request) {
            match step {
                Step::Send(bytes) => stream.write_all(&bytes).await?,
                Step::Stall => std::future::pending().await,
            }
        }
        stream.shutdown().await
    }
}

async fn receive(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<Received>> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.lines();
    let mut first = lines.next().unwrap_or_default().split(' ').map(str::to_owned);
    let mut request = Received {
        method: first.next().unwrap_or_default(),
        path: first.next().unwrap_or_default(),
        ..Received::default()
    };
    request.headers = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let length: usize = request.header("content-length").map_or(0, |text| text.parse().expect("a length"));
    while bytes.len() < end + length {
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    }
    request.body = String::from_utf8_lossy(&bytes[end..]).into_owned();
    Ok(Some(request))
}
