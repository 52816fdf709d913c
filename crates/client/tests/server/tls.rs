//! TLS in front of a server: what the client verifies, and what it does without TLS.

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio_rustls::TlsAcceptor;
use workflow_client::{Client, ConnectOptions, Error, Start};

use crate::proxy::socket_of;
use crate::{World, define_task};

/// A proxy that listens on a loopback address, and may end TLS with a certificate for `db.test`.
struct Front {
    port: u16,
    /// The file of the authority that has signed the certificate.
    authority: PathBuf,
}

impl Front {
    async fn new(server: &str, has_tls: bool) -> Self {
        let issuer = authority();
        let authority = std::env::temp_dir().join(format!("authority_{}.pem", uuid::Uuid::now_v7().simple()));
        std::fs::write(&authority, issuer.as_ref().pem()).unwrap();
        let acceptor = has_tls.then(|| acceptor(&issuer));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let target = socket_of(server);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, target) = (acceptor.clone(), target.clone());
                // A client that refuses the certificate ends the handshake.
                tokio::spawn(async move { drop(pass(stream, acceptor, target).await) });
            }
        });
        Self { port, authority }
    }

    /// Options that reach the server under a name.
    fn options(&self, world: &World, name: &str, rest: &str) -> ConnectOptions {
        world.options_at(&format!("host={name} hostaddr=127.0.0.1 port={} {rest}", self.port))
    }

    /// The error of a client that can never connect.
    async fn error(&self, world: &World, name: &str, authority: Option<&PathBuf>) -> String {
        let options = self.options(world, name, "sslmode=require");
        let options = authority.into_iter().fold(options, |options, path| options.certificate_authority(path));
        let error = Client::connect(options).await.expect_err("it is refused");
        assert!(matches!(error, Error::Options(_)) && !error.is_transient(), "{error:?}");
        error.to_string()
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.authority);
    }
}

fn authority() -> rcgen::CertifiedIssuer<'static, KeyPair> {
    let mut parameters = CertificateParams::default();
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    rcgen::CertifiedIssuer::self_signed(parameters, KeyPair::generate().unwrap()).unwrap()
}

fn acceptor(issuer: &Issuer<'_, KeyPair>) -> TlsAcceptor {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(["db.test".to_owned()]).unwrap().signed_by(&key, issuer).unwrap();
    let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

/// Answers the request for TLS, and passes on what follows.
async fn pass(mut stream: TcpStream, acceptor: Option<TlsAcceptor>, target: PathBuf) -> std::io::Result<()> {
    let mut first = [0; 8];
    stream.peek(&mut first).await?;
    // The code of a request for TLS, in place of the version of the protocol.
    let asks = first[4..] == 80_877_103_u32.to_be_bytes();
    let mut server = UnixStream::connect(target).await?;
    if asks {
        stream.read_exact(&mut first).await?;
        stream.write_all(if acceptor.is_some() { b"S" } else { b"N" }).await?;
    }
    match acceptor.filter(|_| asks) {
        Some(acceptor) => {
            let mut stream = acceptor.accept(stream).await?;
            tokio::io::copy_bidirectional(&mut stream, &mut server).await.map(drop)
        }
        None => tokio::io::copy_bidirectional(&mut stream, &mut server).await.map(drop),
    }
}

#[tokio::test]
async fn the_certificate_of_the_server_is_verified() {
    let world = World::new().await;
    let front = Front::new(&world.server, true).await;
    let options = front.options(&world, "db.test", "sslmode=require").certificate_authority(&front.authority);
    let client = Client::connect(options).await.unwrap();
    define_task(&client, "wait").await;
    client.run(Start::new("wait")).await.unwrap();
    client.task_waiter(["wait"]).await.unwrap().wait(crate::NEVER).await.unwrap();

    let wrong_name = front.error(&world, "other.test", Some(&front.authority)).await;
    assert!(wrong_name.contains("not valid for name"), "{wrong_name}");
    let another = Front::new(&world.server, true).await;
    for authority in [Some(&another.authority), None] {
        let unknown = front.error(&world, "db.test", authority).await;
        assert!(unknown.contains("invalid peer certificate"), "{unknown}");
    }
    // `prefer` verifies as well: it does without TLS only if the server offers none.
    let preferring = front.options(&world, "db.test", "sslmode=prefer");
    assert!(matches!(Client::connect(preferring).await, Err(Error::Options(_))));
}

#[tokio::test]
async fn a_server_without_tls_is_refused_unless_the_options_allow_it() {
    let world = World::new().await;
    let front = Front::new(&world.server, false).await;
    let refused = front.error(&world, "db.test", None).await;
    assert!(refused.contains("does not support TLS") && refused.contains("sslmode=prefer"), "{refused}");
    // The address is a loopback address, so the default is `prefer`.
    for rest in ["", "sslmode=prefer", "sslmode=disable"] {
        Client::connect(front.options(&world, "db.test", rest)).await.unwrap();
    }
}
