//! Opening connections of the driver, to one of several hosts.

use std::fmt;
use std::future::{Future, poll_fn};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Connect, Manager, ManagerConfig, PoolBuilder, QueueMode, RecyclingMethod, Runtime, Timeouts};
use rand::seq::SliceRandom as _;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use tokio_postgres::config::{Host, LoadBalanceHosts, SslMode};
use tokio_postgres::{AsyncMessage, Client, Config, Connection, Error};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::{DatabaseError, is_about_options};

/// What is called with each message of the server that is no error.
pub(crate) type NoticeHandler = Arc<dyn Fn(&DatabaseError) + Send + Sync>;

/// Opens connections of the driver, for programs that need other transactions than those of [`Client`](crate::Client),
/// or a pool of their own. It connects to the hosts, and verifies certificates, as the options say.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use workflow_client::{ConnectOptions, Connector, Start, run_on};
///
/// let connector = ConnectOptions::new("host=db1,db2 dbname=shop user=app target_session_attrs=read-write")?.connector()?;
/// let (connection, _driver) = tokio::time::timeout(Connector::TIME_LIMIT, connector.connect()).await??;
/// run_on(&connection, Start::new("order")).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Connector {
    config: Config,
    tls: MakeRustlsConnect,
    on_notice: Option<NoticeHandler>,
}

impl Connector {
    /// How long all hosts together may take to connect.
    pub const TIME_LIMIT: Duration = Duration::from_secs(15);

    pub(crate) fn new(config: Config, tls: MakeRustlsConnect, on_notice: Option<NoticeHandler>) -> Self {
        Self { config, tls, on_notice }
    }

    /// Connects to the first host that answers and satisfies `target_session_attrs`. The returned task drives the
    /// connection.
    ///
    /// The driver limits only the time of a TCP connection. Here a host that accepts and then stays silent, for example
    /// because its disk hangs, gets its [share](Self::time_of_host) of the time limit. The last host has no limit of its
    /// own: the caller limits the whole to [`TIME_LIMIT`](Self::TIME_LIMIT).
    ///
    /// If all fail, the error is that of the host that said most: a wrong password at one host matters more than another
    /// host that is down.
    ///
    /// ```no_run
    /// # async fn example(connector: workflow_client::Connector) -> Result<(), Box<dyn std::error::Error>> {
    /// let (connection, _driver) = connector.connect().await?;
    /// connection.batch_execute("VACUUM orders").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn connect(&self) -> Result<(Client, JoinHandle<()>), Error> {
        let mut hosts = self.hosts();
        if self.config.get_load_balance_hosts() == LoadBalanceHosts::Random {
            hosts.shuffle(&mut rand::rng());
        }
        let time = self.time_of_host(Self::TIME_LIMIT);
        let last = hosts.pop().unwrap_or_else(|| self.config.clone());
        let mut errors = Vec::new();
        for host in hosts {
            match tokio::time::timeout(time, host.connect(self.tls.clone())).await {
                Ok(Ok((client, connection))) => return Ok((client, self.carried(connection))),
                Ok(Err(error)) => errors.push(error),
                Err(_) => {}
            }
        }
        match last.connect(self.tls.clone()).await {
            Ok((client, connection)) => Ok((client, self.carried(connection))),
            Err(error) => Err(most_telling(errors, error)),
        }
    }

    /// A pool of such connections; the most recently used one serves first, because its backend has its caches in the
    /// cache of the processor. `wait` is how long a caller waits for a connection.
    ///
    /// ```no_run
    /// # fn example(connector: workflow_client::Connector) -> Result<(), Box<dyn std::error::Error>> {
    /// let pool = connector.pool(16, std::time::Duration::from_secs(5)).build()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn pool(&self, connections: usize, wait: Duration) -> PoolBuilder {
        let fast = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        deadpool_postgres::Pool::builder(Manager::from_connect(self.config.clone(), self.clone(), fast))
            .max_size(connections)
            .queue_mode(QueueMode::Lifo)
            .runtime(Runtime::Tokio1)
            .timeouts(Timeouts { wait: Some(wait), create: Some(Self::TIME_LIMIT), recycle: None })
    }

    /// The options in the form of the driver, with all hosts. `sslmode` has the [default](crate::ConnectOptions::new) of
    /// this library.
    ///
    /// ```
    /// # fn example(connector: workflow_client::Connector) {
    /// println!("{:?}", connector.config().get_dbname());
    /// # }
    /// ```
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The options of each host alone, in the order of the connection string.
    ///
    /// ```
    /// # fn example() -> Result<(), workflow_client::Error> {
    /// let connector = workflow_client::ConnectOptions::new("host=db1,db2 port=5432,6432")?.connector()?;
    /// assert_eq!(connector.hosts()[1].get_ports(), [6432]);
    /// # Ok(())
    /// # }
    /// # example().expect("a connector");
    /// ```
    pub fn hosts(&self) -> Vec<Config> {
        (0..count(&self.config)).map(|index| only(&self.config, index)).collect()
    }

    /// The part of a time limit that one host gets, so that a silent host leaves time for the others.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # fn example() -> Result<(), workflow_client::Error> {
    /// let connector = workflow_client::ConnectOptions::new("host=db1,db2")?.connector()?;
    /// assert_eq!(connector.time_of_host(Duration::from_secs(6)), Duration::from_secs(3));
    /// # Ok(())
    /// # }
    /// # example().expect("a connector");
    /// ```
    pub fn time_of_host(&self, limit: Duration) -> Duration {
        let share = limit / u32::try_from(count(&self.config).max(1)).unwrap_or(u32::MAX);
        self.config.get_connect_timeout().map_or(share, |time| share.min(*time))
    }

    /// TLS as the options say, for requests that the driver sends on connections of their own.
    ///
    /// ```no_run
    /// # async fn example(connector: workflow_client::Connector) -> Result<(), Box<dyn std::error::Error>> {
    /// let (connection, _driver) = connector.connect().await?;
    /// connection.cancel_token().cancel_query(connector.tls()).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn tls(&self) -> MakeRustlsConnect {
        self.tls.clone()
    }

    /// Spawns the task that drives the connection. Each pending request gets the connection's error.
    fn carried<S, T>(&self, mut connection: Connection<S, T>) -> JoinHandle<()>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let on_notice = self.on_notice.clone();
        tokio::spawn(async move {
            while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
                if let (AsyncMessage::Notice(notice), Some(handle)) = (message, &on_notice) {
                    handle(&DatabaseError::from(&notice));
                }
            }
        })
    }
}

/// For the pool.
impl Connect for Connector {
    fn connect(
        &self,
        _config: &Config,
    ) -> Pin<Box<dyn Future<Output = Result<(Client, JoinHandle<()>), Error>> + Send + '_>> {
        Box::pin(Self::connect(self))
    }
}

/// Without the password.
impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector").field("config", &self.config).finish_non_exhaustive()
    }
}

/// The first error that would come again, else the last one.
fn most_telling(errors: Vec<Error>, last: Error) -> Error {
    let (mut errors, mut chosen) = (errors.into_iter(), last);
    let is_temporary = |error: &Error| match error.as_db_error() {
        Some(error) => DatabaseError::from(error).is_transient(),
        None => !is_about_options(error),
    };
    if is_temporary(&chosen)
        && let Some(error) = errors.find(|error| !is_temporary(error))
    {
        chosen = error;
    }
    chosen
}

/// The number of hosts in a connection string.
fn count(config: &Config) -> usize {
    config.get_hosts().len().max(config.get_hostaddrs().len())
}

/// The port of a host.
fn port(config: &Config, index: usize) -> u16 {
    config.get_ports().get(index).or(config.get_ports().first()).copied().unwrap_or(5432)
}

/// Whether a host is the folder of a Unix socket.
fn is_socket(config: &Config, index: usize) -> bool {
    config.get_hostaddrs().get(index).is_none() && matches!(config.get_hosts().get(index), Some(Host::Unix(_)))
}

/// Whether connections to one of the hosts leave this machine.
pub(crate) fn uses_a_network(config: &Config) -> bool {
    let is_here = |index: usize| match (config.get_hostaddrs().get(index), config.get_hosts().get(index)) {
        (Some(address), _) => address.is_loopback(),
        (None, Some(Host::Tcp(name))) => {
            name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        (None, _) => true,
    };
    !(0..count(config)).all(is_here)
}

/// The same configuration with a single host.
fn only(config: &Config, index: usize) -> Config {
    let mut one = Config::new();
    match config.get_hosts().get(index) {
        Some(Host::Tcp(name)) => drop(one.host(name)),
        Some(Host::Unix(folder)) => drop(one.host_path(folder)),
        None => {}
    }
    config.get_hostaddrs().get(index).map(|address| one.hostaddr(*address));
    config.get_user().map(|user| one.user(user));
    config.get_password().map(|password| one.password(password));
    config.get_dbname().map(|name| one.dbname(name));
    config.get_options().map(|options| one.options(options));
    config.get_application_name().map(|name| one.application_name(name));
    config.get_connect_timeout().map(|time| one.connect_timeout(*time));
    config.get_tcp_user_timeout().map(|time| one.tcp_user_timeout(*time));
    config.get_keepalives_interval().map(|time| one.keepalives_interval(time));
    config.get_keepalives_retries().map(|retries| one.keepalives_retries(retries));
    one.port(port(config, index))
        .ssl_mode(config.get_ssl_mode())
        .ssl_negotiation(config.get_ssl_negotiation())
        .keepalives(config.get_keepalives())
        .keepalives_idle(config.get_keepalives_idle())
        .target_session_attrs(config.get_target_session_attrs())
        .channel_binding(config.get_channel_binding());
    if is_socket(config, index) {
        // As for libpq: PostgreSQL offers no TLS there.
        one.ssl_mode(SslMode::Disable);
    }
    one
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[test]
    fn one_host_of_several_has_all_that_the_string_says() {
        let options = "user=u password=p dbname=d options='-c a=b' application_name=a sslmode=require \
             sslnegotiation=direct connect_timeout=3 tcp_user_timeout=4 keepalives=0 keepalives_idle=5 \
             keepalives_interval=6 keepalives_retries=7 target_session_attrs=read-write channel_binding=require";
        let parsed = |hosts: &str| format!("{hosts} {options}").parse::<Config>().unwrap();
        let three = parsed("host=one,/two,three hostaddr=127.0.0.1,127.0.0.2,127.0.0.3 port=1,2,3");
        assert_eq!(only(&three, 0), parsed("host=one hostaddr=127.0.0.1 port=1"));
        assert_eq!(only(&three, 1), parsed("host=/two hostaddr=127.0.0.2 port=2"));
        assert_eq!(only(&parsed("hostaddr=127.0.0.1,127.0.0.2 port=9"), 1), parsed("hostaddr=127.0.0.2 port=9"));
        assert_eq!(only(&parsed("host=one,two"), 1), parsed("host=two port=5432"));
    }

    #[test]
    fn sockets_have_no_tls() {
        let mixed = "host=db,/tmp sslmode=require".parse::<Config>().unwrap();
        assert_eq!(only(&mixed, 0).get_ssl_mode(), SslMode::Require);
        assert_eq!(only(&mixed, 1).get_ssl_mode(), SslMode::Disable);
    }

    #[tokio::test]
    async fn the_host_that_rejects_the_options_explains_the_failure() {
        // Asks for a password in clear text.
        let asking = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = asking.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = asking.accept().await {
                stream.write_all(b"R\0\0\0\x08\0\0\0\x03").await.unwrap();
                let _ = stream.read_to_end(&mut Vec::new()).await;
            }
        });
        let text = format!("host=127.0.0.1,/nowhere port={port},1 sslmode=disable user=app");
        let connector = crate::ConnectOptions::new(&text).unwrap().connector().unwrap();
        let error = connector.connect().await.map(drop).expect_err("no password");
        let error = crate::Error::of_connecting(error);
        assert!(matches!(error, crate::Error::Options(_)), "{error:?}");
        assert!(error.to_string().contains("password missing") && !error.is_transient(), "{error}");
    }
}
