//! Secrets: values that definitions name, and that only the worker knows.
//!
//! A secret states where it may be sent and for whose workflows. Its value never leaves the worker otherwise: the
//! [redactor] replaces it in everything that the worker reports.

pub mod redactor;

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use serde::Deserialize;
use tokio::process::Command;

use crate::task::Failure;
use redactor::Redactor;

/// Shorter values would be replaced in texts that have nothing to do with them.
const SHORTEST: usize = 8;
/// How long a command may take to print a secret.
const COMMAND_TIME: Duration = Duration::from_secs(30);
/// The longest part of a failing command's first line of errors that is logged.
const MAX_SAID: usize = 500;
const WRONG_TYPE: &str = "it is no table, or one of its members has the wrong type: value, environment, file and prefix are texts, \
    and command, hosts and owners are lists of texts";

/// A destination as a secret names it: host and port, and whether the connection is encrypted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Destination {
    /// The host as in a normalized URL: lower case, no brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Whether TLS is used.
    pub is_encrypted: bool,
}

/// The table of one secret in the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    value: Option<String>,
    environment: Option<String>,
    file: Option<PathBuf>,
    command: Option<Vec<String>>,
    #[serde(default)]
    prefix: String,
    hosts: Vec<String>,
    owners: Vec<String>,
}

/// Why secrets cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretsError {
    /// The file has to be corrected.
    Wrong(String),
    /// A command failed, and may succeed later.
    Unavailable(String),
}

impl SecretsError {
    fn of_secret(self, file: &Path, name: &str) -> Self {
        let with_name = |problem: String| format!("{}: secret {name}: {problem}", file.display());
        match self {
            Self::Wrong(problem) => Self::Wrong(with_name(problem)),
            Self::Unavailable(problem) => Self::Unavailable(with_name(problem)),
        }
    }
}

impl From<String> for SecretsError {
    fn from(problem: String) -> Self {
        Self::Wrong(problem)
    }
}

impl fmt::Display for SecretsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wrong(problem) | Self::Unavailable(problem) => f.write_str(problem),
        }
    }
}

/// A secret with its value.
#[derive(Clone)]
struct Secret {
    value: String,
    destinations: Vec<Destination>,
    owners: Vec<String>,
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { value: _, destinations, owners } = self;
        f.debug_struct("Secret").field("destinations", destinations).field("owners", owners).finish_non_exhaustive()
    }
}

/// The secrets of one reading of the file, with the redactors of owners.
#[derive(Debug, Default)]
struct Loaded {
    secrets: HashMap<String, Secret>,
    /// Values of the reading before, which services may still send back.
    former: Vec<(String, Secret)>,
    redactors: RwLock<HashMap<String, Arc<Redactor>>>,
}

/// The secrets of a worker. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Secrets {
    file: Option<PathBuf>,
    loaded: Arc<RwLock<Arc<Loaded>>>,
}

impl Secrets {
    /// Reads a file. Without one there are no secrets.
    ///
    /// # Errors
    /// Describes what is wrong with the file or with a secret, without any value.
    pub async fn load(file: Option<&Path>) -> Result<Self, SecretsError> {
        let secrets = Self { file: file.map(Path::to_owned), ..Self::default() };
        secrets.reload().await?;
        Ok(secrets)
    }

    /// Reads the file again, and runs the commands in it. The values that it replaces are still redacted until the next
    /// time that it reads the file.
    ///
    /// # Errors
    /// Describes the first problem. A secret that cannot be read stays as it was, and so do all if the file is invalid.
    pub async fn reload(&self) -> Result<(), SecretsError> {
        let Some(file) = &self.file else { return Ok(()) };
        let before = self.loaded();
        let (mut secrets, mut problem) = (HashMap::new(), None);
        for (name, entry) in entries(file)? {
            match entry.read().await {
                Ok(secret) => drop(secrets.insert(name, secret)),
                Err(error) => {
                    problem.get_or_insert(error.of_secret(file, &name));
                    if let Some(secret) = before.secrets.get(&name) {
                        secrets.insert(name, secret.clone());
                    }
                }
            }
        }
        let mut loaded = self.loaded.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        let former = loaded.secrets.iter().map(|(name, secret)| (name.clone(), secret.clone())).collect();
        *loaded = Arc::new(Loaded { secrets, former, redactors: RwLock::default() });
        problem.map_or(Ok(()), Err)
    }

    /// How many there are.
    pub fn number(&self) -> usize {
        self.loaded().secrets.len()
    }

    fn loaded(&self) -> Arc<Loaded> {
        Arc::clone(&self.loaded.read().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// The value of a secret, if workflows of this owner may send it there.
    ///
    /// # Errors
    /// `secret_denied`; the message does not say whether there is such a secret.
    pub fn value(&self, name: &str, owner: &str, destination: &Destination) -> Result<String, Failure> {
        let loaded = self.loaded();
        let secret = loaded.secrets.get(name).filter(|secret| secret.owners.iter().any(|known| known == owner));
        let secret = secret.filter(|secret| secret.destinations.contains(destination));
        secret.map(|secret| secret.value.clone()).ok_or_else(|| {
            let (host, port) = (&destination.host, destination.port);
            let scheme = if destination.is_encrypted { "https" } else { "http" };
            let message = format!("workflows of {owner:?} may not send secret {name:?} to {scheme}://{host}:{port}");
            Failure::last("secret_denied", message)
        })
    }

    /// Replaces the secrets that workflows of this owner may use.
    pub fn redactor(&self, owner: &str) -> Arc<Redactor> {
        let loaded = self.loaded();
        let known = loaded.redactors.read().unwrap_or_else(std::sync::PoisonError::into_inner).get(owner).cloned();
        known.unwrap_or_else(|| {
            let all = loaded.secrets.iter().chain(loaded.former.iter().map(|(name, secret)| (name, secret)));
            let theirs = all.filter(|(_, secret)| secret.owners.iter().any(|known| known == owner));
            let redactor = Arc::new(Redactor::new(theirs.map(|(name, secret)| (name.as_str(), secret.value.as_str()))));
            if !redactor.is_empty() {
                let mut redactors = loaded.redactors.write().unwrap_or_else(std::sync::PoisonError::into_inner);
                redactors.insert(owner.to_owned(), Arc::clone(&redactor));
            }
            redactor
        })
    }
}

/// The tables of the file, in the order of their names.
fn entries(file: &Path) -> Result<Vec<(String, Entry)>, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    let tables: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        // Not the text of the error: it quotes the line, which may contain a value.
        format!("{} is not valid TOML: {}", file.display(), error.message())
    })?;
    let mut entries = Vec::new();
    for (name, table) in tables {
        let entry = Entry::deserialize(table).map_err(|error: toml::de::Error| {
            // Other messages quote the value.
            let is_about_names =
                ["unknown field", "missing field"].iter().any(|start| error.message().starts_with(start));
            let problem = if is_about_names { error.message() } else { WRONG_TYPE };
            format!("{}: secret {name}: {problem}", file.display())
        })?;
        entries.push((name, entry));
    }
    let has_values = entries.iter().any(|(_, entry)| entry.value.is_some());
    // Its commands run as the worker, and it says where secrets go.
    refuse_access(file, if has_values { 0o007 } else { 0o002 })?;
    Ok(entries)
}

/// Refuses a file for which other users have one of these rights.
#[cfg(unix)]
fn refuse_access(file: &Path, rights: u32) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt as _;

    let mode = std::fs::metadata(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    match mode.permissions().mode() & rights {
        0 => Ok(()),
        found if found & 0o002 != 0 => {
            Err(format!("{} is about secrets, and every user can change it; chmod o-rwx it", file.display()))
        }
        _ => Err(format!("{} has secrets, and every user can read it; chmod o-rwx it", file.display())),
    }
}

#[cfg(not(unix))]
fn refuse_access(_: &Path, _: u32) -> Result<(), String> {
    Ok(())
}

impl Entry {
    async fn read(self) -> Result<Secret, SecretsError> {
        let value = match (self.value, self.environment, self.file, self.command) {
            (Some(value), None, None, None) => value,
            (None, Some(variable), None, None) => {
                std::env::var(&variable).map_err(|_| format!("the environment variable {variable} is not set"))?
            }
            (None, None, Some(file), None) => {
                refuse_access(&file, 0o007)?;
                let read = std::fs::read_to_string(&file);
                read.map_err(|error| format!("cannot read {}: {error}", file.display()))?
            }
            (None, None, None, Some(command)) => output(&command).await?,
            _ => return Err("it needs one of value, environment, file and command".to_owned().into()),
        };
        let value = format!("{}{}", self.prefix, value.trim_end_matches(['\r', '\n']));
        let secret_part = value.split_once(' ').map_or(&*value, |(_, token)| token);
        if secret_part.len() < SHORTEST {
            return Err(format!("its value is shorter than {SHORTEST} characters").into());
        }
        if value.chars().any(char::is_control) {
            return Err("its value has control characters".to_owned().into());
        }
        if self.hosts.is_empty() || self.owners.is_empty() {
            return Err("it needs hosts and owners".to_owned().into());
        }
        let destinations = self.hosts.iter().map(|host| destination(host)).collect::<Result<_, String>>()?;
        Ok(Secret { value, destinations, owners: self.owners })
    }
}

/// `bank.example`, `bank.example:8443`, or `http://127.0.0.1:8080`: without TLS only on this host.
fn destination(text: &str) -> Result<Destination, String> {
    let url = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
    let wrong = || format!("{text:?} is no host: use bank.example, bank.example:8443 or http://127.0.0.1:8080");
    let url = reqwest::Url::parse(&url).map_err(|_| wrong())?;
    let is_plain = url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.path() == "/";
    let found = Destination::of(&url).filter(|_| is_plain && url.fragment().is_none()).ok_or_else(wrong)?;
    if !found.is_encrypted && !is_loopback(&found.host) {
        return Err(format!("{text:?} would send it without TLS, which is possible only to a loopback address"));
    }
    Ok(found)
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

impl Destination {
    /// The destination of a URL. `None` unless it is one of http or https with a host.
    pub fn of(url: &reqwest::Url) -> Option<Self> {
        let is_encrypted = match url.scheme() {
            "https" => true,
            "http" => false,
            _ => return None,
        };
        let host = url.host_str()?.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.').to_owned();
        Some(Self { host, port: url.port_or_known_default()?, is_encrypted })
    }
}

/// What a command prints.
async fn output(command: &[String]) -> Result<String, SecretsError> {
    let [program, arguments @ ..] = command else { return Err("the command is empty".to_owned().into()) };
    let child = Command::new(program).args(arguments).stdin(Stdio::null()).kill_on_drop(true).output();
    let output = tokio::time::timeout(COMMAND_TIME, child).await;
    let too_long = || format!("{program} takes longer than {} s", COMMAND_TIME.as_secs());
    let output = output.map_err(|_| SecretsError::Unavailable(too_long()))?;
    let output = output.map_err(|error| format!("cannot run {program}: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said: String = said.lines().next().unwrap_or_default().chars().take(MAX_SAID).collect();
        return Err(SecretsError::Unavailable(format!("{program} failed: {}: {said}", output.status)));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("{program} printed no UTF-8").into())
}
