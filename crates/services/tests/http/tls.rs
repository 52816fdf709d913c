//! Services behind TLS.

use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::PrivateKeyDer;
use tokio_rustls::TlsAcceptor;
use workflow_services::http::HttpService;
use workflow_services::secrets::Secrets;

use crate::support::*;

/// A server for `localhost` and `127.0.0.1`, and the file with its certificate.
async fn start(handler: Handler) -> (Server, PathBuf) {
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).expect("a certificate");
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config =
        rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().expect("TLS");
    let config = config.with_no_client_auth().with_single_cert(vec![cert.der().clone()], key).expect("TLS");
    let server = Server::start_at("127.0.0.1:0", handler, Some(TlsAcceptor::from(Arc::new(config)))).await;
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("ca-{}.pem", server.port));
    std::fs::write(&file, cert.pem()).expect("a file");
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
