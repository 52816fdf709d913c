//! API keys: 32 random bytes each. The file stores their SHA-256 with role, scopes, expiry and note.

use std::collections::HashMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, TimeDelta, Utc};
use rand::RngCore as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::people::{MAX_NAME, is_actor};
use crate::caller::Caller;
use crate::scopes::Scope;

/// A key's entry in the file, under its SHA-256 in hexadecimal: `[key.0123…]`.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ApiKeyEntry {
    role: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires: Option<DateTime<Utc>>,
    #[serde(default)]
    note: String,
    /// What the key is for. Without scopes it is for everything, as all keys were before there were scopes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scopes: Option<Vec<Scope>>,
}

/// What a key stands for.
pub struct KeyOwner {
    pub role: String,
    /// The actor that the audit records.
    pub actor: String,
    pub scopes: Option<Vec<Scope>>,
}

impl ApiKeyEntry {
    fn has_expired(&self) -> bool {
        self.expires.is_some_and(|end| end <= Utc::now())
    }

    /// The actor is the note, or the role if the note cannot be a name.
    fn owner(self) -> KeyOwner {
        let is_named = !self.note.trim().is_empty() && is_actor(&self.note);
        let actor = if is_named { self.note.trim().to_owned() } else { self.role.clone() };
        KeyOwner { role: self.role, actor, scopes: self.scopes }
    }
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyFile {
    #[serde(default)]
    key: HashMap<String, ApiKeyEntry>,
}

/// The keys of a file, reloaded when it changes.
pub struct ApiKeys {
    path: Option<PathBuf>,
    read: Mutex<Option<(Stamp, HashMap<String, ApiKeyEntry>)>>,
}

/// Modification time and size, by which a changed file is detected.
type Stamp = (SystemTime, u64);

impl ApiKeys {
    pub fn new(path: Option<&Path>) -> Result<Self, String> {
        let keys = Self { path: path.map(Path::to_owned), read: Mutex::new(None) };
        if let Some(path) = path {
            read(path)?;
        }
        Ok(keys)
    }

    /// The caller that a key authenticates, if the key exists and has not expired.
    pub fn caller(&self, key: &str) -> Option<Caller> {
        let KeyOwner { role, actor, scopes } = self.owner(&digest(key))?;
        Some(Caller { scopes, ..Caller::of_role(role, actor) })
    }

    /// What the key with a digest stands for, if the key exists and has not expired.
    pub fn owner(&self, digest: &str) -> Option<KeyOwner> {
        self.live(digest).map(ApiKeyEntry::owner)
    }

    fn live(&self, digest: &str) -> Option<ApiKeyEntry> {
        self.entry(digest).filter(|entry| !entry.has_expired())
    }

    /// Looks a key up by its digest, so that the time of the comparison reveals nothing about the key.
    fn entry(&self, digest: &str) -> Option<ApiKeyEntry> {
        let path = self.path.as_deref()?;
        let mut kept = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = fs::metadata(path).and_then(|file| Ok((file.modified()?, file.len()))).ok()?;
        if kept.as_ref().is_none_or(|(of, _)| *of != stamp) {
            match read(path) {
                Ok(file) => *kept = Some((stamp, file.key)),
                // While the file cannot be read, the keys that were loaded before stay valid.
                Err(cause) => tracing::warn!(cause, "cannot read the API keys anew"),
            }
        }
        kept.as_ref()?.1.get(digest).cloned()
    }
}

/// Adds a key for a role to the file, and returns the key. Without scopes it is for everything.
pub fn add(path: &Path, role: &str, scopes: &[Scope], days: Option<u32>, note: &str) -> Result<String, String> {
    if !is_actor(note) {
        return Err(format!(
            "a note has at most {MAX_NAME} bytes and no control characters, and does not begin with \"role:\" or \"erased-\""
        ));
    }
    let mut bytes = [0; 32];
    rand::rng().fill_bytes(&mut bytes);
    let key = URL_SAFE_NO_PAD.encode(bytes);
    let mut file = if path.exists() { read(path)? } else { KeyFile::default() };
    let expires = days.map(|days| Utc::now() + TimeDelta::days(days.into()));
    let scopes = (!scopes.is_empty()).then(|| scopes.to_vec());
    file.key.insert(digest(&key), ApiKeyEntry { role: role.into(), expires, note: note.into(), scopes });
    let text = toml::to_string(&file).map_err(|error| error.to_string())?;
    write(path, &text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(key)
}

/// Replaces the file atomically, so that a gateway never reads half of it.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let beside = path.with_extension("new");
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    if let Ok(old) = fs::metadata(path) {
        fs::set_permissions(&beside, old.permissions())?;
        // An administrator adds keys to the file of the gateway's user.
        chown(&beside, Some(old.uid()), Some(old.gid()))?;
    }
    fs::rename(beside, path)
}

fn read(path: &Path) -> Result<KeyFile, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// The identifier of a key in the file: its SHA-256 in hexadecimal.
pub fn digest(key: &str) -> String {
    Sha256::digest(key.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_known_from_the_moment_that_the_file_has_it() {
        let folder = std::env::temp_dir().join(format!("workflow-keys-{}", uuid::Uuid::now_v7()));
        fs::create_dir(&folder).unwrap();
        let path = folder.join("keys.toml");
        let first = add(&path, "ada", &[], None, "").unwrap();
        let keys = ApiKeys::new(Some(&path)).unwrap();
        assert_eq!(keys.caller(&first).unwrap().role, "ada");
        let second = add(&path, "ben", &[], Some(1), "for a day").unwrap();
        assert_eq!(keys.caller(&second).unwrap().role, "ben");
        assert_eq!(keys.caller(&first).unwrap().role, "ada");
        // The audit records the note as the actor.
        assert_eq!(keys.caller(&first).unwrap().actor, "ada");
        assert_eq!(keys.caller(&second).unwrap().actor, "for a day");
        add(&path, "ben", &[], None, "two\nlines").unwrap_err();
        add(&path, "ben", &[], None, "role:ben").unwrap_err();
        add(&path, "ben", &[], None, "erased-1").unwrap_err();
        add(&path, "ben", &[], None, &"n".repeat(201)).unwrap_err();
        assert_eq!(keys.caller(&second).unwrap().scopes, None);
        let narrow = add(&path, "ben", &[Scope::Read, Scope::Answer], None, "").unwrap();
        assert_eq!(keys.caller(&narrow).unwrap().scopes, Some(vec![Scope::Read, Scope::Answer]));
        assert!(keys.caller("another").is_none());
        assert!(!fs::read_to_string(&path).unwrap().contains(&first));
        let gone = fs::read_to_string(&path).unwrap().replace(&Utc::now().format("%Y").to_string(), "2001");
        fs::write(&path, gone.replace("for a day", "for a day, long ago")).unwrap();
        assert!(keys.caller(&second).is_none());
        fs::remove_dir_all(folder).unwrap();
    }
}
