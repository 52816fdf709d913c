//! A proxy that loses connections at chosen moments, such as between a COMMIT and its answer.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};

/// Where the next connection is lost. Each happens once.
#[derive(Debug, Clone, Copy)]
pub enum Loss {
    /// The server carries out COMMIT, and its answer does not arrive.
    AnswerToCommit,
    /// COMMIT does not arrive at the server.
    Commit,
    /// A message with this text does not arrive at the server.
    Message(&'static str),
}

impl Loss {
    fn text(self) -> &'static str {
        match self {
            // With the end of the message: every BEGIN says READ COMMITTED.
            Self::AnswerToCommit | Self::Commit => "COMMIT\0",
            Self::Message(text) => text,
        }
    }
}

pub struct Proxy {
    folder: PathBuf,
    loss: Arc<Mutex<Option<Loss>>>,
}

impl Proxy {
    /// In front of a server that listens on a socket.
    pub fn new(server: &str) -> Self {
        let target = socket_of(server);
        let folder = std::env::temp_dir().join(format!("proxy_{}", uuid::Uuid::now_v7().simple()));
        std::fs::create_dir(&folder).unwrap();
        let listener = UnixListener::bind(folder.join(".s.PGSQL.5432")).unwrap();
        let loss: Arc<Mutex<Option<Loss>>> = Arc::default();
        let shared = Arc::clone(&loss);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (target, loss) = (target.clone(), Arc::clone(&shared));
                tokio::spawn(async move {
                    let server = UnixStream::connect(target).await?;
                    pass(client, server, &loss).await
                });
            }
        });
        Self { folder, loss }
    }

    /// How clients reach it.
    pub fn server(&self) -> String {
        format!("host={} port=5432", self.folder.display())
    }

    pub fn lose(&self, loss: Loss) {
        *self.loss.lock().unwrap() = Some(loss);
    }

    /// Whether the loss has not happened yet.
    pub fn is_armed(&self) -> bool {
        self.loss.lock().unwrap().is_some()
    }
}

/// The socket of a server.
pub fn socket_of(server: &str) -> PathBuf {
    let config: tokio_postgres::Config = server.parse().unwrap();
    let [tokio_postgres::config::Host::Unix(sockets)] = config.get_hosts() else { panic!("no socket: {server}") };
    sockets.join(format!(".s.PGSQL.{}", config.get_ports().first().copied().unwrap_or(5432)))
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Passes bytes on until one side closes, or the connection is to be lost.
async fn pass(client: UnixStream, server: UnixStream, loss: &Mutex<Option<Loss>>) -> std::io::Result<()> {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let (mut asked, mut answered) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        tokio::select! {
            read = from_client.read(&mut asked) => {
                let message = &asked[..read?];
                if message.is_empty() {
                    return Ok(());
                }
                match take(loss, message) {
                    None => to_server.write_all(message).await?,
                    Some(Loss::AnswerToCommit) => {
                        to_server.write_all(message).await?;
                        let mut answer = Vec::new();
                        // The tag of the command's completion.
                        while !contains(&answer, b"COMMIT\0") {
                            let read = from_server.read(&mut answered).await?;
                            assert!(read > 0, "COMMIT was not carried out");
                            answer.extend_from_slice(&answered[..read]);
                        }
                        return Ok(());
                    }
                    Some(_) => return Ok(()),
                }
            }
            read = from_server.read(&mut answered) => {
                let message = &answered[..read?];
                if message.is_empty() {
                    return Ok(());
                }
                to_client.write_all(message).await?;
            }
        }
    }
}

fn take(loss: &Mutex<Option<Loss>>, message: &[u8]) -> Option<Loss> {
    loss.lock().unwrap().take_if(|loss| contains(message, loss.text().as_bytes()))
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
