//! TLS on both sides: for clients, and for the database.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use crate::cluster::Cluster;
use crate::support::{Answer, NEVER, PROGRAM, World, free_port, output, send, send_with, shared_server};

const FORM: &[(&str, &str)] =
    &[("Sec-Fetch-Site", "same-origin"), ("Content-Type", "application/x-www-form-urlencoded")];

/// A certificate authority for this machine.
struct Authority {
    certificate: rcgen::Certificate,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Self {
        let mut parameters = CertificateParams::new(Vec::new()).unwrap();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        Self { certificate: parameters.self_signed(&key).unwrap(), issuer: Issuer::new(parameters, key) }
    }

    /// A certificate for this machine, also valid for `db.invalid`, and its key.
    fn sign(&self) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let names = ["127.0.0.1".to_owned(), "db.invalid".to_owned()];
        let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &self.issuer).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    fn pem(&self) -> String {
        self.certificate.pem()
    }
}

/// A folder for files that a gateway reads when it starts.
struct Files(std::path::PathBuf);

impl Files {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("workflow-tls-{}", uuid::Uuid::now_v7()));
        std::fs::create_dir(&folder).unwrap();
        Self(folder)
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A client that trusts only one authority.
fn client(authority: &Authority) -> ureq::Agent {
    // The first test installs it for all.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let trusted = Certificate::from_pem(authority.pem().as_bytes()).unwrap();
    let tls = TlsConfig::builder().root_certs(RootCerts::Specific(Arc::new(vec![trusted]))).build();
    ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .timeout_global(Some(NEVER))
        .tls_config(tls)
        .build()
        .into()
}

#[test]
fn a_gateway_with_a_certificate_speaks_https_and_nothing_else() {
    let (authority, files) = (Authority::new(), Files::new());
    let (certificate, key) = authority.sign();
    let (certificate, key) = (files.write("certificate.pem", &certificate), files.write("key.pem", &key));
    let world = World::with(&["--tls-certificate", &certificate, "--tls-key", &key]);
    assert!(world.url.starts_with("https://"), "{}", world.url);
    let agent = client(&authority);
    let ask = |method: &str, path: &str, headers: &[(&str, &str)], body: &str| -> Answer {
        send_with(&agent, method, &format!("{}{path}", world.url), headers, body)
    };
    // A client that never starts TLS.
    let mut silent = TcpStream::connect(world.url.trim_start_matches("https://")).unwrap();
    silent.set_read_timeout(Some(NEVER)).unwrap();
    let ready = ask("GET", "/readyz", &[], "");
    assert_eq!(
        (ready.status, &ready.headers["strict-transport-security"]),
        (200, &"max-age=31536000".parse().unwrap())
    );

    let answer = ask("POST", "/login", FORM, "role=ada&password=lovelace&next=/inbox");
    assert_eq!(answer.status, 303, "{answer:?}");
    let set = answer.headers["set-cookie"].to_str().unwrap();
    let attributes: Vec<&str> = set.split("; ").skip(1).collect();
    assert!(set.starts_with("__Host-workflow="), "{set}");
    for attribute in ["Secure", "HttpOnly", "SameSite=Lax", "Path=/"] {
        assert!(attributes.contains(&attribute), "{attribute} of {set}");
    }
    assert!(!set.contains("Domain"), "a browser would not take it: {set}");
    let cookie = set.split(';').next().unwrap();
    assert_eq!(ask("GET", "/elsa/api/workflow-definitions", &[("Cookie", cookie)], "").status, 200);
    assert_eq!(
        ask("GET", "/elsa/api/workflow-definitions", &[("Cookie", &cookie.replace("__Host-", ""))], "").status,
        401
    );
    let own = ("Origin", world.url.as_str());
    assert_eq!(ask("POST", "/logout", &[own, ("Cookie", cookie)], "").status, 303);
    let plain = world.url.replace("https", "http");
    assert_eq!(ask("POST", "/logout", &[("Origin", plain.as_str()), ("Cookie", cookie)], "").status, 403);

    // A client without TLS gets no answer, and one that trusts another authority gets no connection.
    let mut stream = TcpStream::connect(world.url.trim_start_matches("https://")).unwrap();
    stream.set_read_timeout(Some(NEVER)).unwrap();
    stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").unwrap();
    let mut received = Vec::new();
    let ended = stream.read_to_end(&mut received);
    assert!(!ended.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock), "it is still open");
    assert!(!received.windows(4).any(|part| part == b"HTTP"), "{received:?}");
    assert!(
        !silent.read(&mut [0]).is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock),
        "it is still open"
    );
    assert!(client(&Authority::new()).get(format!("{}/readyz", world.url)).call().is_err());
    assert_eq!(ask("GET", "/readyz", &[], "").status, 200);
}

/// The message of a gateway that does not start.
fn refusal(arguments: &[&str]) -> String {
    let database = format!("{} dbname=workflow_template user=workflow_gateway password=gateway", shared_server());
    let mut command = Command::new(PROGRAM);
    command.args(["serve", "--listen", "127.0.0.1:0"]).args(arguments);
    if !arguments.contains(&"--database") {
        command.args(["--database", &database]);
    }
    let ended = output(&mut command);
    assert_eq!(ended.status.code(), Some(1), "{arguments:?}: {ended:?}");
    String::from_utf8(ended.stderr).unwrap()
}

#[test]
fn wrong_files_are_named_and_nothing_starts() {
    // It creates the roles.
    let _world = World::new();
    let (authority, files) = (Authority::new(), Files::new());
    let ((certificate, key), (_, other)) = (authority.sign(), authority.sign());
    let path = |name: &str, text: &str| files.write(name, text);
    let (certificate, key) = (path("certificate.pem", &certificate), path("key.pem", &key));
    let (other, empty, broken) = (
        path("other.pem", &other),
        path("empty.pem", ""),
        path("broken.pem", "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n"),
    );
    for (certificate, key) in [
        ("/nowhere", key.as_str()),
        (&certificate, "/nowhere"),
        (&certificate, &other),
        (&certificate, &empty),
        (&empty, &key),
        (&broken, &key),
        (&key, &key),
        (&certificate, &certificate),
    ] {
        let said = refusal(&["--tls-certificate", certificate, "--tls-key", key]);
        assert!(said.contains(certificate) && said.contains(key), "{said}");
        assert!(said.trim_end().rsplit(": ").next().is_some_and(|cause| cause.len() > 5), "{said}");
        assert!(!said.contains("listening"), "{said}");
    }
    for (file, cause) in [
        ("/nowhere", "cannot read /nowhere"),
        (&empty, "has no certificate"),
        (&broken, "broken.pem"),
        (&key, "has no certificate"),
    ] {
        let said = refusal(&["--database-ca", file]);
        assert!(said.contains(cause), "{said}");
    }
}

/// A server that accepts only TLS connections with passwords over the network.
fn server(authority: &Authority, port: u16) -> Cluster {
    let hba = "local all all scram-sha-256\nhostssl all by_cert 127.0.0.1/32 cert\nhostssl all all 127.0.0.1/32 scram-sha-256";
    let cluster = Cluster::at(port, hba, &["listen_addresses = '127.0.0.1'"]);
    let (certificate, key) = authority.sign();
    for (name, text) in [("server.crt", certificate), ("server.key", key), ("root.crt", authority.pem())] {
        cluster.write(&format!("data/{name}"), &text);
    }
    cluster.sql("ALTER SYSTEM SET ssl_ca_file = 'root.crt'");
    cluster.sql("ALTER SYSTEM SET ssl = on");
    cluster.sql("SELECT pg_reload_conf()");
    cluster.wait_until(
        "SELECT current_setting('ssl') = 'on' AND NOT EXISTS (SELECT FROM pg_hba_file_rules WHERE error IS NOT NULL)",
    );
    cluster.sql("CREATE ROLE by_cert LOGIN PASSWORD 'pw'; GRANT by_cert TO workflow_gateway");
    cluster
}

#[test]
fn the_database_must_have_a_certificate_that_is_trusted() {
    let (authority, files, port) = (Authority::new(), Files::new(), free_port());
    let cluster = server(&authority, port);
    let world = World::on(&cluster.address(), &[]);
    let (own, other) = (files.write("own.pem", &authority.pem()), files.write("other.pem", &Authority::new().pem()));
    // Whether it is ready, and its message. Passwords are checked over the same kind of connection.
    let readiness = |rest: &str, authority: &str| {
        let gateway = world.another_at(&format!("port={port} {rest}"), &["--database-ca", authority]);
        let status = send("GET", &format!("{}/readyz", gateway.url), &[], "").status;
        let log_in = send("POST", &format!("{}/login", gateway.url), FORM, "role=ada&password=lovelace").status;
        assert_eq!(log_in, if status == 200 { 303 } else { 503 }, "{rest}");
        let encrypted = world.value(
            "SELECT string_agg(DISTINCT ssl::text, ' ') FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
             WHERE usename = 'workflow_gateway' AND client_addr IS NOT NULL",
        );
        assert_eq!(encrypted.as_deref(), (status == 200).then_some("true"), "{rest}");
        if status == 200 {
            let by_cert = send("POST", &format!("{}/login", gateway.url), FORM, "role=by_cert&password=pw");
            assert!(by_cert.status == 401 && by_cert.text.contains("pg_hba.conf"), "{by_cert:?}");
        }
        (status, gateway.into_log())
    };
    for mode in ["", "sslmode=prefer", "sslmode=require"] {
        assert_eq!(readiness(&format!("host=127.0.0.1 {mode}"), &own).0, 200, "{mode}");
    }
    // The name is not resolved; it is only compared with the certificate.
    assert_eq!(readiness("host=db.invalid hostaddr=127.0.0.1 sslmode=require", &own).0, 200);
    for (rest, authority, cause) in [
        ("host=127.0.0.1 sslmode=require", &other, "invalid peer certificate"),
        ("host=127.0.0.1", &other, "invalid peer certificate"),
        ("host=localhost sslmode=require", &own, "not valid for name"),
        ("host=other.invalid hostaddr=127.0.0.1 sslmode=require", &own, "not valid for name"),
        ("host=127.0.0.1 sslmode=disable", &own, "no pg_hba.conf entry"),
    ] {
        let (status, log) = readiness(rest, authority);
        assert!(status == 503 && log.contains(cause), "{rest}: {status} {log}");
    }
    cluster.sql("ALTER SYSTEM SET ssl = off");
    cluster.sql("SELECT pg_reload_conf()");
    cluster.wait_until("SELECT current_setting('ssl') = 'off'");
    let (status, log) = readiness("host=127.0.0.1 sslmode=require", &own);
    assert!(status == 503 && log.contains("TLS"), "{status} {log}");
    for mode in ["verify-full", "verify-ca", "allow"] {
        let said = refusal(&["--database", &format!("host=127.0.0.1 sslmode={mode}")]);
        assert!(said.contains("sslmode is disable, prefer or require"), "{said}");
    }
}
