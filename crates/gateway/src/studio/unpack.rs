//! Unpacks an npm archive: regular files below `package/`, within limits, and never outside the folder.

use std::fs::{self, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use flate2::read::GzDecoder;

/// Maximum total size of the files in bytes; those of 3.8.2 have 93 million.
const MAX_BYTES: u64 = 256 << 20;
/// Maximum number of files; 3.8.2 has 1040.
const MAX_FILES: usize = 10_000;

/// Extracts the archive into a new folder. The files are readable for every user, whatever the umask.
pub fn unpack(archive: &[u8], folder: &Path) -> io::Result<()> {
    make_folder(folder, folder)?;
    // Headers and padding count as well, which bounds an archive of empty files.
    let bytes = GzDecoder::new(archive).take(MAX_BYTES);
    let mut tar = tar::Archive::new(bytes);
    for (number, entry) in tar.entries()?.enumerate() {
        let mut entry = entry?;
        if number >= MAX_FILES {
            return Err(refused("it has too many files"));
        }
        let path = safe_path(&entry)?;
        // The .br file beside it is smaller, and every browser accepts it.
        if path.extension().is_some_and(|extension| extension == "gz") {
            continue;
        }
        let to = folder.join(path);
        make_folder(folder, to.parent().unwrap_or(folder))?;
        let mut file = fs::File::create_new(&to)?;
        let written = io::copy(&mut entry, &mut file)?;
        if written != entry.size() {
            return Err(refused("it is cut short, or larger than it may be"));
        }
        fs::set_permissions(&to, Permissions::from_mode(0o644))?;
    }
    Ok(())
}

/// The path of an entry, relative to the folder.
fn safe_path<R: Read>(entry: &tar::Entry<R>) -> io::Result<PathBuf> {
    let path = entry.path()?;
    if !entry.header().entry_type().is_file() {
        return Err(refused(&format!("{} is no regular file", path.display())));
    }
    let below = path.strip_prefix("package").ok().filter(|below| below.file_name().is_some());
    let is_safe = |path: &Path| path.components().all(|part| matches!(part, Component::Normal(_)));
    match below {
        Some(below) if is_safe(below) => Ok(below.to_owned()),
        _ => Err(refused(&format!("{} would lie outside the folder", path.display()))),
    }
}

fn make_folder(top: &Path, folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if folder != top {
        make_folder(top, folder.parent().unwrap_or(top))?;
    }
    fs::create_dir(folder)?;
    fs::set_permissions(folder, Permissions::from_mode(0o755))
}

fn refused(why: &str) -> io::Error {
    io::Error::other(format!("the archive is refused: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use tar::{Builder, EntryType, Header};

    /// Writes the name unchecked: the crate rejects names that archives of other programs may contain.
    fn archive(name: &str, kind: EntryType, content: &[u8]) -> Vec<u8> {
        let mut header = Header::new_old();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(kind);
        header.set_size(content.len() as u64);
        header.set_mode(0o777);
        header.set_cksum();
        let mut builder = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        builder.append(&header, content).unwrap();
        builder.into_inner().unwrap().finish().unwrap()
    }

    #[test]
    fn only_files_below_the_folder_are_written() {
        let home = std::env::temp_dir().join(format!("workflow-unpack-{}", uuid::Uuid::now_v7()));
        fs::create_dir(&home).unwrap();
        let folder = home.join("studio");
        let bad = [
            ("package/../../evil", EntryType::Regular),
            ("../evil", EntryType::Regular),
            ("/evil", EntryType::Regular),
            ("other/evil", EntryType::Regular),
            ("package", EntryType::Regular),
            ("package/link", EntryType::Symlink),
            ("package/link", EntryType::Link),
            ("package/pipe", EntryType::Fifo),
        ];
        for (name, kind) in bad {
            let error = unpack(&archive(name, kind, b""), &folder).unwrap_err();
            assert!(error.to_string().contains("refused"), "{name}: {error}");
            assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "{name}");
            fs::remove_dir_all(&folder).unwrap();
        }
        let good = archive("package/_framework/x.js", EntryType::Regular, b"1");
        assert!(unpack(&good[..good.len() / 2], &folder).is_err());
        fs::remove_dir_all(&folder).unwrap();
        unpack(&good, &folder).unwrap();
        let file = folder.join("_framework/x.js");
        assert_eq!(fs::read(&file).unwrap(), b"1");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o644);
        assert_eq!(fs::read_dir(&home).unwrap().count(), 1);
        fs::remove_dir_all(home).unwrap();
    }
}
