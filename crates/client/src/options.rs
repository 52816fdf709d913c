//! How to reach the database: connection string, password, certificates, and the size of the pool.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::{self, PemObject as _};
use tokio_postgres::Config;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::connector::{self, Connector, NoticeHandler};
use crate::error::{DatabaseError, Error};

/// How long a transaction is repeated by default.
const REPEAT_FOR: Duration = Duration::from_secs(10);
/// Connections of a pool by default.
const CONNECTIONS: usize = 8;

/// Where the database is, and how the client behaves.
///
/// ```
/// use std::time::Duration;
/// use workflow_client::ConnectOptions;
///
/// let options = ConnectOptions::new("host=db1,db2 dbname=shop user=app target_session_attrs=read-write")?
///     .application_name("checkout")
///     .connections(16)
///     .repeat_for(Duration::from_secs(30));
/// # Ok::<(), workflow_client::Error>(())
/// ```
#[derive(Clone)]
pub struct ConnectOptions {
    pub(crate) config: Config,
    pub(crate) connections: usize,
    pub(crate) repeat_for: Duration,
    authority: Option<PathBuf>,
    on_notice: Option<NoticeHandler>,
}

impl ConnectOptions {
    /// Options from a connection string: `key=value` pairs or a URL, as for libpq.
    ///
    /// `sslmode` is `disable`, `prefer` or `require`; with TLS, the certificate and the host name are always verified.
    /// The default is `require`. It is `prefer` if each host is a Unix socket or a loopback address, which needs no
    /// protection: `prefer` does without TLS if the server, or somebody in between, refuses it. Unix sockets have no TLS.
    ///
    /// ```
    /// use workflow_client::ConnectOptions;
    ///
    /// ConnectOptions::new("postgresql://app@db.example/shop?sslmode=require")?;
    /// assert!(ConnectOptions::new("no connection string").is_err());
    /// # Ok::<(), workflow_client::Error>(())
    /// ```
    pub fn new(connection_string: &str) -> Result<Self, Error> {
        let given: Config = connection_string.parse().map_err(unreadable)?;
        // A later `sslmode` overrides the first one.
        let default = if connector::uses_a_network(&given) { "require" } else { "prefer" };
        let config: Config = with_first(connection_string, "sslmode", default).parse().map_err(unreadable)?;
        let (hosts, addresses) = (config.get_hosts().len(), config.get_hostaddrs().len());
        let ports = config.get_ports().len();
        if (hosts > 0 && addresses > 0 && hosts != addresses) || (ports > 1 && ports != hosts.max(addresses)) {
            return Err(Error::Options("there are not as many addresses or ports as hosts".into()));
        }
        Ok(Self::from_config(config))
    }

    /// Options from the variables of libpq: `PGHOST`, `PGPORT`, `PGDATABASE`, `PGUSER`, `PGPASSWORD`, `PGSSLMODE` and
    /// `PGAPPNAME`. Without `PGHOST` the server is that of the socket in `/var/run/postgresql`.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), workflow_client::Error> {
    /// use workflow_client::{Client, ConnectOptions};
    ///
    /// let client = Client::connect(ConnectOptions::from_environment()?).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_environment() -> Result<Self, Error> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        let names = [
            ("host", "PGHOST"),
            ("port", "PGPORT"),
            ("dbname", "PGDATABASE"),
            ("user", "PGUSER"),
            ("password", "PGPASSWORD"),
            ("sslmode", "PGSSLMODE"),
            ("application_name", "PGAPPNAME"),
        ];
        let mut text = String::new();
        for (key, name) in names {
            let value = variable(name).filter(|value| !value.is_empty());
            let value = value.or_else(|| (key == "host").then(|| "/var/run/postgresql".to_owned()));
            if let Some(value) = value {
                text += &format!("{key}='{}' ", value.replace('\\', "\\\\").replace('\'', "\\'"));
            }
        }
        Self::new(&text)
    }

    fn from_config(mut config: Config) -> Self {
        if config.get_application_name().is_none() {
            config.application_name("workflow-client");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Duration::from_secs(5));
        }
        // A host that fails silently is detected within half a minute, unless the string says otherwise.
        if config.get_keepalives_idle() == Config::new().get_keepalives_idle() {
            config.keepalives_idle(Duration::from_secs(10));
        }
        if config.get_keepalives_interval().is_none() {
            config.keepalives_interval(Duration::from_secs(5));
        }
        if config.get_keepalives_retries().is_none() {
            config.keepalives_retries(3);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(Duration::from_secs(30));
        }
        Self { config, connections: CONNECTIONS, repeat_for: REPEAT_FOR, authority: None, on_notice: None }
    }

    /// The name that `pg_stat_activity` shows; `workflow-client` by default.
    ///
    /// ```
    /// # use workflow_client::ConnectOptions;
    /// let options = ConnectOptions::new("dbname=shop")?.application_name("checkout");
    /// # Ok::<(), workflow_client::Error>(())
    /// ```
    pub fn application_name(mut self, name: &str) -> Self {
        self.config.application_name(name);
        self
    }

    /// Reads the password from a file, so that it appears neither in the list of processes nor in the environment. A
    /// password of the connection string wins.
    ///
    /// ```no_run
    /// # use workflow_client::ConnectOptions;
    /// let options = ConnectOptions::new("host=db user=app")?.password_file("/run/secrets/app")?;
    /// # Ok::<(), workflow_client::Error>(())
    /// ```
    pub fn password_file(mut self, path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let unreadable = |error| Error::Options(format!("cannot read {}: {error}", path.display()));
        let password = std::fs::read_to_string(path).map_err(unreadable)?;
        if self.config.get_password().is_none() {
            self.config.password(password.trim_end_matches(['\r', '\n']));
        }
        Ok(self)
    }

    /// The file (PEM) of the certificates that may sign the server's certificate. By default, those that the system
    /// trusts.
    ///
    /// ```
    /// # use workflow_client::ConnectOptions;
    /// let options = ConnectOptions::new("host=db sslmode=require")?.certificate_authority("/etc/ssl/our-ca.pem");
    /// # Ok::<(), workflow_client::Error>(())
    /// ```
    pub fn certificate_authority(mut self, path: impl Into<PathBuf>) -> Self {
        self.authority = Some(path.into());
        self
    }

    /// The maximum number of connections of the pool; 8 by default.
    ///
    /// ```
    /// # use workflow_client::ConnectOptions;
    /// let options = ConnectOptions::new("dbname=shop")?.connections(16);
    /// # Ok::<(), workflow_client::Error>(())
    /// ```
    pub fn connections(mut self, number: usize) -> Self {
        self.connections = number.max(1);
        self
    }

    /// For how long the client repeats a transaction that a concurrent one or a lost connection has stopped; ten seconds
    /// by default. With zero, nothing is repeated.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use workflow_client::ConnectOptions;
    /// let options = ConnectOptions::new("dbname=shop")?.repeat_for(Duration::ZERO);
    /// # Ok::<(), workflow_client::Error>(())
    /// ```
    pub fn repeat_for(mut self, time: Duration) -> Self {
        self.repeat_for = time;
        self
    }

    /// Calls a function with each message that is no error: the warning that an instance is faulted, those of
    /// `wf_define` about a definition, and what SQL of workflows raises. By default they are discarded.
    ///
    /// The function is called while a connection reads, so it must not wait, and a panic in it ends the connection. It
    /// learns neither which call nor which instance a message is about, except from its text. `client_min_messages`
    /// decides what the server sends.
    ///
    /// ```
    /// # use workflow_client::ConnectOptions;
    /// let options = ConnectOptions::new("dbname=shop")?.on_notice(|notice| eprintln!("{}: {notice}", notice.severity));
    /// # Ok::<(), workflow_client::Error>(())
    /// ```
    pub fn on_notice(mut self, handler: impl Fn(&DatabaseError) + Send + Sync + 'static) -> Self {
        self.on_notice = Some(Arc::new(handler));
        self
    }

    /// Opens connections of the driver with these options. Reads the certificates.
    ///
    /// ```
    /// # use workflow_client::ConnectOptions;
    /// let connector = ConnectOptions::new("host=db dbname=shop user=app")?.connector()?;
    /// # Ok::<(), workflow_client::Error>(())
    /// ```
    pub fn connector(&self) -> Result<Connector, Error> {
        // A provider that is named does not depend on what other code of the program has installed.
        let client = rustls::ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::Options(error.to_string()))?
            .with_root_certificates(self.roots()?)
            .with_no_client_auth();
        Ok(Connector::new(self.config.clone(), MakeRustlsConnect::new(client), self.on_notice.clone()))
    }

    /// The certificates that may sign that of the server.
    fn roots(&self) -> Result<rustls::RootCertStore, Error> {
        let mut roots = rustls::RootCertStore::empty();
        let Some(path) = &self.authority else {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            return Ok(roots);
        };
        let unreadable = |error: pem::Error| Error::Options(format!("cannot read {}: {error}", path.display()));
        for certificate in CertificateDer::pem_file_iter(path).map_err(unreadable)? {
            let added = roots.add(certificate.map_err(unreadable)?);
            added.map_err(|error| Error::Options(format!("{}: {error}", path.display())))?;
        }
        if roots.is_empty() {
            return Err(Error::Options(format!("{} has no certificate (PEM)", path.display())));
        }
        Ok(roots)
    }
}

/// The same connection string with a parameter in front of the others.
fn with_first(text: &str, key: &str, value: &str) -> String {
    if !text.starts_with("postgres://") && !text.starts_with("postgresql://") {
        return format!("{key}={value} {text}");
    }
    // A password may contain question marks.
    let credentials = text.find('@').unwrap_or_default();
    match text[credentials..].find('?') {
        Some(at) => {
            let (front, parameters) = text.split_at(credentials + at + 1);
            format!("{front}{key}={value}&{parameters}")
        }
        None => format!("{text}?{key}={value}"),
    }
}

/// Without the password, and without the connection string, which may contain one.
impl fmt::Debug for ConnectOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectOptions")
            .field("hosts", &self.config.get_hosts())
            .field("database", &self.config.get_dbname())
            .field("user", &self.config.get_user())
            .field("connections", &self.connections)
            .finish_non_exhaustive()
    }
}

impl FromStr for ConnectOptions {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::new(text)
    }
}

/// The error for an invalid connection string. It does not quote the string, which may contain a password.
fn unreadable(error: tokio_postgres::Error) -> Error {
    let cause = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
    // libpq has more modes (verify-ca, verify-full); here the certificate and the host name are always verified.
    let modes = if cause.contains("sslmode") { ": sslmode is disable, prefer or require" } else { "" };
    Error::Options(format!("{cause}{modes}"))
}

#[cfg(test)]
mod tests {
    use tokio_postgres::config::SslMode;

    use super::*;

    fn from(variables: &[(&str, &str)]) -> ConnectOptions {
        let find =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        ConnectOptions::from_variables(find).expect("options")
    }

    #[test]
    fn variables_are_read_as_libpq_does() {
        let options = from(&[("PGHOST", "db"), ("PGPORT", "6432"), ("PGUSER", "a'b\\c"), ("PGPASSWORD", "p q")]);
        assert_eq!(options.config.get_user(), Some("a'b\\c"));
        assert_eq!(options.config.get_password(), Some(&b"p q"[..]));
        assert_eq!((options.config.get_hosts().len(), options.config.get_ports()), (1, &[6432][..]));
        assert!(format!("{:?}", from(&[]).config.get_hosts()).contains("/var/run/postgresql"));
    }

    #[test]
    fn networks_need_tls_unless_the_string_says_otherwise() {
        let mode = |text: &str| ConnectOptions::new(text).expect(text).config.get_ssl_mode();
        for text in [
            "host=db",
            "host=/tmp,db",
            "host=localhost hostaddr=10.0.0.7",
            "host=10.0.0.7",
            "postgresql://app@db/shop",
            "postgres://app:a?b@db/shop?application_name=a",
            "postgresql://db:6432",
        ] {
            assert_eq!(mode(text), SslMode::Require, "{text}");
        }
        for text in [
            "host=localhost,127.0.0.2,::1",
            "host=/tmp",
            "host=db hostaddr=127.0.0.1",
            "postgresql://app@localhost/shop",
            "host=db sslmode=prefer",
            "postgresql://app@db/shop?sslmode=prefer",
            "postgresql://app@db/shop?application_name=a&sslmode=prefer",
        ] {
            assert_eq!(mode(text), SslMode::Prefer, "{text}");
        }
        assert_eq!(mode("host=db sslmode=disable"), SslMode::Disable);
    }

    #[test]
    fn times_of_the_string_are_kept() {
        let given = "host=db keepalives_idle=60 keepalives_interval=7 keepalives_retries=9 tcp_user_timeout=8";
        let given = ConnectOptions::new(given).expect("options").config;
        assert_eq!(given.get_keepalives_idle(), Duration::from_secs(60));
        assert_eq!(given.get_keepalives_interval(), Some(Duration::from_secs(7)));
        assert_eq!(given.get_keepalives_retries(), Some(9));
        assert_eq!(given.get_tcp_user_timeout(), Some(&Duration::from_secs(8)));
        assert_eq!(from(&[]).config.get_keepalives_idle(), Duration::from_secs(10));
    }

    #[test]
    fn secrets_are_not_shown() {
        let options = ConnectOptions::new("host=db user=app password=hidden").expect("options");
        assert!(!format!("{options:?}").contains("hidden"));
        let error = ConnectOptions::new("password=hidden sslmode=verify-full").expect_err("an unknown mode");
        let text = error.to_string();
        assert!(text.contains("disable, prefer or require") && !text.contains("hidden"), "{text}");
    }

    #[test]
    fn addresses_and_ports_belong_to_hosts() {
        for text in ["host=a,b hostaddr=127.0.0.1", "host=a,b port=1,2,3"] {
            assert!(matches!(ConnectOptions::new(text), Err(Error::Options(_))), "{text}");
        }
    }

    #[test]
    fn a_file_of_certificates_must_have_one() {
        let options = ConnectOptions::new("host=db").expect("options").certificate_authority("/dev/null");
        let error = options.connector().expect_err("no certificate");
        assert!(error.to_string().contains("/dev/null"), "{error}");
    }
}
