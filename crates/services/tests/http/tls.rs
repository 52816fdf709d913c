//! Services behind TLS.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::PrivateKeyDer;
use tokio::net::TcpListener;
use tokio::sync::{Barrier, Semaphore};
use tokio_rustls::TlsAcceptor;
use workflow_services::http::HttpService;
use workflow_services::secrets::Secrets;

use crate::support::*;

/// TLS of a server for `localhost` and `127.0.0.1`.
struct Tls {
    config: rustls::ServerConfig,
    certificate: String,
}

impl Tls {
    fn new() -> Self {
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).expect("a certificate");
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).expect("a key");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config =
            rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().expect("TLS");
        let config = config.with_no_client_auth().with_single_cert(vec![cert.der().clone()], key).expect("TLS");
        Self { config, certificate: cert.pem() }
    }

    fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::new(self.config.clone()))
    }

    /// A file with the certificate.
    fn file(&self, port: u16) -> PathBuf {
        let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("ca-{port}.pem"));
        std::fs::write(&file, &self.certificate).expect("a file");
        file
    }
}

/// A server for HTTP/1.1, and the file with its certificate.
async fn start(handler: Handler) -> (Server, PathBuf) {
    let tls = Tls::new();
    let server = Server::start_at("127.0.0.1:0", handler, Some(tls.acceptor())).await;
    let file = tls.file(server.port);
    (server, file)
}

#[tokio::test]
async fn a_certificate_must_be_trusted_and_for_the_host() {
    let (server, file) = start(Arc::new(|_| respond(200, &[], "secure"))).await;
    let names = Arc::new(Names::default());
    names.add("other.example", &[&["127.0.0.1"]]);
    let allowed = format!("--allow-addresses 127.0.0.1:{}", server.port);
    let trusting = options(&format!("{allowed} --services-ca {}", file.display()));
    let trusting = HttpService::new(&trusting, Secrets::default(), Arc::clone(&names) as Arc<_>).expect("a service");
    for host in ["127.0.0.1", "localhost"] {
        let answer = trusting.send(&get(format!("https://{host}:{}/", server.port))).await.expect("an answer");
        assert_eq!(answer["content"], "secure", "{answer}");
    }
    let answer = trusting.send(&get(format!("https://other.example:{}/", server.port))).await.expect("an answer");
    assert_eq!(answer["error"], "connect", "{answer}");
    let answer = service(&allowed).send(&get(server.url("/").replace("http:", "https:"))).await.expect("an answer");
    assert_eq!(answer["error"], "connect", "{answer}");
    assert_eq!(server.received().len(), 2);
}

#[tokio::test]
async fn a_redirect_does_not_leave_tls() {
    let plain = Server::start(|_| respond(200, &[], "")).await;
    let target = plain.url("/");
    let (server, file) = start(Arc::new(move |_| respond(302, &[("Location", &target)], ""))).await;
    let allowed = format!("--allow-addresses 127.0.0.1:{},127.0.0.1:{}", server.port, plain.port);
    let service = service(&format!("{allowed} --services-ca {}", file.display()));
    let url = server.url("/").replace("http:", "https:");
    assert_eq!(code(service.send(&get(url)).await), "insecure_redirect");
    assert_eq!(plain.connections(), 0);
}

#[tokio::test]
async fn a_file_of_certificates_must_have_one() {
    let wrong = options("--services-ca /dev/null");
    let error = HttpService::new(&wrong, Secrets::default(), Arc::new(Names::default())).err().expect("no certificate");
    assert!(error.contains("/dev/null"), "{error}");
}

/// What a server for HTTP/2 has seen.
struct Seen {
    connections: AtomicUsize,
    requests: Semaphore,
}

/// A server that speaks nothing but HTTP/2, and answers when so many requests wait.
async fn start_http2(requests: usize, seen: Arc<Seen>) -> (u16, PathBuf) {
    let mut tls = Tls::new();
    tls.config.alpn_protocols = vec!["h2".into()];
    let (acceptor, listener) = (tls.acceptor(), TcpListener::bind("127.0.0.1:0").await.expect("a port"));
    let port = listener.local_addr().expect("its address").port();
    let all_wait = Arc::new(Barrier::new(requests));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, seen, all_wait) = (acceptor.clone(), Arc::clone(&seen), Arc::clone(&all_wait));
            tokio::spawn(async move {
                seen.connections.fetch_add(1, Ordering::Relaxed);
                let stream = acceptor.accept(stream).await.expect("TLS");
                let mut connection = h2::server::handshake(stream).await.expect("HTTP/2");
                while let Some(Ok((request, mut respond))) = connection.accept().await {
                    seen.requests.add_permits(1);
                    let all_wait = Arc::clone(&all_wait);
                    tokio::spawn(async move {
                        all_wait.wait().await;
                        let mut stream = respond.send_response(http::Response::new(()), false).expect("a response");
                        stream.send_data(request.uri().path().to_owned().into(), true).expect("a body");
                    });
                }
            });
        }
    });
    (port, tls.file(port))
}

#[tokio::test]
async fn requests_share_a_connection_of_http_2() {
    let seen = Arc::new(Seen { connections: AtomicUsize::new(0), requests: Semaphore::new(0) });
    let (port, file) = start_http2(51, Arc::clone(&seen)).await;
    let service = service(&format!("--allow-addresses 127.0.0.1:{port} --services-ca {}", file.display()));
    let send = async |number: usize| {
        // Once there is a connection, the client knows what the server speaks.
        let _arrived = if number > 0 { Some(seen.requests.acquire().await) } else { None };
        service.send(&get(format!("https://127.0.0.1:{port}/{number}"))).await
    };
    let answers = futures_util::future::join_all((0..=50).map(send)).await;
    for (number, answer) in answers.into_iter().enumerate() {
        assert_eq!(answer.expect("an answer")["content"], format!("/{number}"));
    }
    assert_eq!(seen.connections.load(Ordering::Relaxed), 1);
}
