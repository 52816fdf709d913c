//! The options of `wf dev` that a folder keeps, so that later commands need not repeat them.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use workflow_services::addresses::ListedAddress;

use crate::failure::Failure;

/// The file in the folder.
const FILE: &str = ".wf-dev-options";

/// What a workflow of the private server may call besides public addresses, because services that one tries run there.
const LOOPBACK: [&str; 2] = ["127.0.0.0/8", "::1"];

/// What the last call said, or a later one changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptOptions {
    pub pg_config: Option<PathBuf>,
    pub server_user: Option<String>,
    /// In the form of the worker's option.
    #[serde(default)]
    pub allow_addresses: Vec<String>,
}

impl KeptOptions {
    /// Those of a folder; none if it has no such file. Root runs what the file names, so a file of another user counts as
    /// none.
    pub fn read(folder: &Path) -> Result<Self, Failure> {
        let path = folder.join(FILE);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            // A folder of another user is refused later.
            Err(error) if [ErrorKind::NotFound, ErrorKind::PermissionDenied].contains(&error.kind()) => {
                return Ok(Self::default());
            }
            Err(error) => return Err(format!("cannot read {}: {error}", path.display()).into()),
        };
        if fs::symlink_metadata(&path)?.uid() != fs::metadata("/proc/self")?.uid() {
            return Ok(Self::default());
        }
        serde_json::from_str(&text).map_err(|error| format!("{} is damaged: {error}", path.display()).into())
    }

    /// The same with what this call says instead.
    pub fn with(self, pg_config: Option<&Path>, server_user: Option<&str>, allow: &[ListedAddress]) -> Self {
        Self {
            pg_config: pg_config.map(absolute).or(self.pg_config),
            server_user: server_user.map(str::to_owned).or(self.server_user),
            allow_addresses: match allow {
                [] => self.allow_addresses,
                allow => allow.iter().map(ToString::to_string).collect(),
            },
        }
    }

    /// As a new file, whose owner is the user of this process.
    pub fn write(&self, folder: &Path) -> Result<(), Failure> {
        let path = folder.join(FILE);
        let _ = fs::remove_file(&path);
        let mut file = fs::OpenOptions::new().write(true).create_new(true).open(path)?;
        Ok(file.write_all(serde_json::to_string_pretty(self)?.as_bytes())?)
    }

    /// The program that finds the PostgreSQL.
    pub fn pg_config(&self) -> &Path {
        self.pg_config.as_deref().unwrap_or(Path::new("pg_config"))
    }

    /// The addresses that the worker may connect to, as the value of its option.
    pub fn allowed(&self) -> String {
        let listed = self.allow_addresses.iter().map(String::as_str);
        LOOPBACK.into_iter().chain(listed).collect::<Vec<_>>().join(",")
    }
}

/// A later call may come from another folder. A name without a folder is looked for on the PATH.
fn absolute(path: &Path) -> PathBuf {
    match path.components().count() {
        1 => path.to_owned(),
        _ => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_call_changes_what_it_says() {
        let address = |text: &str| text.parse::<ListedAddress>().unwrap();
        let first = KeptOptions::default().with(Some(Path::new("/pg/bin/pg_config")), Some("ada"), &[]);
        assert_eq!(first.allowed(), "127.0.0.0/8,::1");
        let later = first.clone().with(None, None, &[address("10.0.0.0/8"), address("[::1]:80")]);
        assert_eq!((later.pg_config(), later.server_user.as_deref()), (Path::new("/pg/bin/pg_config"), Some("ada")));
        for text in later.allowed().split(',') {
            address(text);
        }
        assert_eq!(later.clone().with(None, None, &[]), later);
        assert_eq!(absolute(Path::new("pg_config")), Path::new("pg_config"));
        assert!(absolute(Path::new("bin/pg_config")).is_absolute());
    }

    #[test]
    fn a_folder_keeps_them() {
        let folder = std::env::temp_dir().join(format!("wf-dev-options-{}", uuid::Uuid::now_v7()));
        fs::create_dir(&folder).unwrap();
        assert_eq!(KeptOptions::read(&folder).unwrap(), KeptOptions::default());
        let kept = KeptOptions::default().with(None, Some("ada"), &["10.0.0.0/8".parse().unwrap()]);
        kept.write(&folder).unwrap();
        assert_eq!(KeptOptions::read(&folder).unwrap(), kept);
        fs::write(folder.join(FILE), "{").unwrap();
        assert!(KeptOptions::read(&folder).unwrap_err().to_string().contains("is damaged"));
        fs::remove_dir_all(folder).unwrap();
    }
}
