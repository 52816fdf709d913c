//! Fetches the package from a registry or a file, and accepts only the one known version.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha512};

use super::{BOOT, unpack};
use crate::tls;

const PACKAGE: &str = "@elsa-workflows/elsa-studio-wasm";
const ARCHIVE: &str = "elsa-studio-wasm-3.8.2.tgz";
/// The integrity value of this version in npm's registry: other content is rejected, wherever it comes from.
const SHA512: &str = "aoyapE8UDCEriuYekGv1CWzLqeNZDUL8nJGmxPXNcvXTkGRT8u4QWBqlRwlm02AZcPpG9PU0FZJx3zSAyQVzGg==";
/// Maximum size of the archive in bytes; it has 46 million.
const MAX_BYTES: u64 = 64 << 20;
const MAX_TIME: Duration = Duration::from_secs(900);

/// Fills the folder with Studio atomically: requests in the meantime get the previous files.
pub fn fetch(folder: &Path, from: Option<&Path>, registry: &str) -> Result<(), String> {
    check_replaceable(folder)?;
    let archive = match from {
        Some(file) => read(file)?,
        None => download(registry)?,
    };
    verify(&archive)?;
    put(folder, &archive).map_err(|error| format!("cannot put Elsa Studio into {}: {error}", folder.display()))?;
    println!("Elsa Studio is in {}", folder.display());
    Ok(())
}

/// Refuses to replace a folder that contains anything else.
fn check_replaceable(folder: &Path) -> Result<(), String> {
    let is_empty = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => true,
        Err(error) => return Err(format!("cannot read {}: {error}", folder.display())),
    };
    if is_empty || folder.join(BOOT).exists() {
        return Ok(());
    }
    Err(format!(
        "{} holds something else than Elsa Studio: give an empty or new folder with --studio",
        folder.display()
    ))
}

fn read(file: &Path) -> Result<Vec<u8>, String> {
    let unreadable = |error: io::Error| format!("cannot read {}: {error}", file.display());
    if fs::metadata(file).map_err(unreadable)?.len() > MAX_BYTES {
        return Err(not_the_package());
    }
    fs::read(file).map_err(unreadable)
}

fn download(registry: &str) -> Result<Vec<u8>, String> {
    let url = format!("{}/{PACKAGE}/-/{ARCHIVE}", registry.trim_end_matches('/'));
    let failed = |error: ureq::Error| {
        format!(
            "cannot fetch {url}: {error}. Without a way to a registry, fetch {ARCHIVE} elsewhere and give it with --from"
        )
    };
    eprintln!("fetching {url}");
    let mut response = agent().get(&url).call().map_err(failed)?;
    response.body_mut().with_config().limit(MAX_BYTES).read_to_vec().map_err(failed)
}

/// An HTTP agent that trusts the system's certificates.
fn agent() -> ureq::Agent {
    ureq::Agent::config_builder().tls_config(tls::trusting_system()).timeout_global(Some(MAX_TIME)).build().into()
}

fn verify(archive: &[u8]) -> Result<(), String> {
    if STANDARD.encode(Sha512::digest(archive)) == SHA512 { Ok(()) } else { Err(not_the_package()) }
}

fn not_the_package() -> String {
    format!("this is not {ARCHIVE} of {PACKAGE}: its SHA-512 is another, so nothing of it is used")
}

/// Unpacks beside the folder, then swaps the result into its place.
fn put(folder: &Path, archive: &[u8]) -> io::Result<()> {
    let (new, old) = (beside(folder, "new"), beside(folder, "old"));
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent)?;
    }
    for left in [&new, &old] {
        remove(left)?;
    }
    unpack::unpack(archive, &new).inspect_err(|_| {
        let _ = remove(&new);
    })?;
    if folder.exists() {
        fs::rename(folder, &old)?;
    }
    fs::rename(&new, folder)?;
    remove(&old)
}

fn beside(folder: &Path, ending: &str) -> PathBuf {
    let mut name = folder.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(ending);
    folder.with_file_name(name)
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_bytes_and_other_folders_are_refused() {
        let home = std::env::temp_dir().join(format!("workflow-studio-{}", uuid::Uuid::now_v7()));
        fs::create_dir(&home).unwrap();
        let (file, folder) = (home.join("package.tgz"), home.join("studio"));
        fs::write(&file, "something else").unwrap();
        let refused = fetch(&folder, Some(&file), "").unwrap_err();
        assert!(refused.contains("SHA-512") && !folder.exists(), "{refused}");
        let refused = fetch(&home, Some(&file), "").unwrap_err();
        assert!(refused.contains("holds something else") && file.exists(), "{refused}");
        let refused = fetch(&folder, Some(&home.join("none.tgz")), "").unwrap_err();
        assert!(refused.contains("cannot read"), "{refused}");
        let refused = fetch(&folder, None, "http://127.0.0.1:1/").unwrap_err();
        assert!(refused.contains("http://127.0.0.1:1/@elsa") && refused.contains("--from"), "{refused}");
        fs::remove_dir_all(home).unwrap();
    }
}
