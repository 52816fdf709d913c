//! Bundles: the rows of workflow instances on their way to another node.
//!
//! A bundle is a piece of a set. It begins with [`MAGIC`] and the number of its format, then has the SHA-256 of the rest, and
//! the rest is a [`Bundle`], packed. The rows are text, in the form in which PostgreSQL writes arrays, one array for each column:
//! the server that takes them in reads them by the types of its own tables.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// What a bundle begins with.
pub const MAGIC: &[u8] = b"workflow bundle\n";
/// The format that is written. Every later version reads it.
const FORMAT: u16 = 1;

/// SHA-256 of a piece.
pub type Digest = [u8; 32];

/// One piece.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bundle {
    /// Names the set.
    pub set: Uuid,
    /// Number of this piece, from 1 on.
    pub piece: u32,
    /// What the last piece says of those before it.
    pub last: Option<Last>,
    /// Correlation ids of the rows.
    pub keys: Vec<String>,
    /// Owners that the rows refer to.
    pub owners: Vec<Owner>,
    /// Definition versions that the rows refer to.
    pub definitions: Vec<Definition>,
    /// The rows.
    pub tables: Vec<Table>,
}

/// What the last piece of a set says of those before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Last {
    /// SHA-256 of their digests, in order.
    pub digest: Digest,
}

/// An owner on the node from which the rows come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Its number there.
    pub id: i32,
    /// Name of the role; empty if it does not exist any more.
    pub role: String,
}

/// A definition version on the node from which the rows come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// Id of the version there.
    pub id: Uuid,
    /// Logical id.
    pub definition_id: String,
    /// Number of the version.
    pub version: i32,
    /// Name of the owner's role.
    pub owner: String,
    /// SHA-256 of the document, and of what the numbers in stored states stand for.
    pub content: Digest,
}

/// Rows of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Number of rows.
    pub rows: u64,
    /// Name and values of each column.
    pub columns: Vec<(String, String)>,
}

/// Why bytes are no bundle that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// They are something else.
    NoBundle,
    /// A later version wrote this format.
    Format(u16),
    /// They are not as they were written.
    Damaged,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoBundle => f.write_str("It does not begin as one."),
            Self::Format(format) => write!(f, "It has format {format}, and this version reads {FORMAT}."),
            Self::Damaged => f.write_str("It is not as it was written."),
        }
    }
}

impl Bundle {
    /// Packs it.
    pub fn pack(&self) -> Vec<u8> {
        // A vector takes any bytes, so nothing can go wrong.
        seal(&postcard::to_stdvec(self).unwrap_or_default())
    }

    /// Reads one, and its digest.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn read(bytes: &[u8]) -> Result<(Self, Digest), Unreadable> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(Unreadable::NoBundle)?;
        let (format, rest) = rest.split_first_chunk::<2>().ok_or(Unreadable::Damaged)?;
        match u16::from_be_bytes(*format) {
            FORMAT => {}
            other => return Err(Unreadable::Format(other)),
        }
        let (digest, rest) = rest.split_first_chunk::<32>().ok_or(Unreadable::Damaged)?;
        if Sha256::digest(rest)[..] != digest[..] {
            return Err(Unreadable::Damaged);
        }
        match postcard::take_from_bytes(rest) {
            Ok((bundle, [])) => Ok((bundle, *digest)),
            _ => Err(Unreadable::Damaged),
        }
    }
}

/// Puts the beginning, the format and the digest before a packed bundle.
pub fn seal(packed: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(MAGIC.len() + 2 + 32 + packed.len());
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&FORMAT.to_be_bytes());
    bytes.extend_from_slice(&Sha256::digest(packed));
    bytes.extend_from_slice(packed);
    bytes
}

/// The digest that packed bytes have.
pub fn digest_in(bytes: &[u8]) -> Option<Digest> {
    bytes.get(MAGIC.len() + 2..)?.first_chunk::<32>().copied()
}

/// The digest of the digests of several pieces, in order.
pub fn digest_of(pieces: &[Digest]) -> Digest {
    let mut digest = Sha256::new();
    pieces.iter().for_each(|piece| digest.update(piece));
    digest.finalize().into()
}

/// The elements of an array of numbers or ids as PostgreSQL writes it; `None` stands for NULL.
///
/// # Errors
/// If it is written in another way.
pub fn elements(array: &str) -> Result<Vec<Option<&str>>, Unreadable> {
    let inner = array.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).ok_or(Unreadable::Damaged)?;
    if inner.is_empty() {
        return Ok(Vec::new());
    }
    let element = |text| match text {
        "NULL" => Ok(None),
        text if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') => Ok(Some(text)),
        _ => Err(Unreadable::Damaged),
    };
    inner.split(',').map(element).collect()
}

/// The array of such elements.
pub fn array<'a>(elements: impl Iterator<Item = Option<&'a str>>) -> String {
    let mut array = String::from("{");
    for (i, element) in elements.enumerate() {
        if i > 0 {
            array.push(',');
        }
        array.push_str(element.unwrap_or("NULL"));
    }
    array.push('}');
    array
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Bundle {
        Bundle {
            set: Uuid::from_u128(1),
            piece: 2,
            last: Some(Last { digest: [7; 32] }),
            keys: vec!["A-42".into()],
            owners: vec![Owner { id: 5, role: "ada".into() }],
            definitions: vec![Definition {
                id: Uuid::from_u128(2),
                definition_id: "order".into(),
                version: 3,
                owner: "ada".into(),
                content: [9; 32],
            }],
            tables: vec![Table {
                name: "instances".into(),
                rows: 1,
                columns: vec![("id".into(), "{00000000-0000-0000-0000-000000000003}".into())],
            }],
        }
    }

    #[test]
    fn a_bundle_is_read_as_it_was_packed() {
        let (read, digest) = Bundle::read(&sample().pack()).expect("it was just packed");
        assert_eq!(read, sample());
        assert_eq!(digest_in(&sample().pack()), Some(digest));
    }

    #[test]
    fn whatever_is_changed_is_refused() {
        let bytes = sample().pack();
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(Bundle::read(&changed).is_err(), "byte {at}");
            assert!(Bundle::read(&bytes[..at]).is_err(), "only {at} bytes");
        }
        assert_eq!(Bundle::read(&[bytes, vec![0]].concat()), Err(Unreadable::Damaged));
        assert_eq!(Bundle::read(b"workflow bundle\n\x00\x02"), Err(Unreadable::Format(2)));
    }

    #[test]
    fn format_1_stays_readable() {
        let stored = data_encoding::HEXLOWER.decode(include_bytes!("bundle/format_1.hex").trim_ascii());
        assert_eq!(Bundle::read(&stored.expect("hex")).map(|(bundle, _)| bundle), Ok(sample()));
        assert_eq!(
            data_encoding::HEXLOWER.encode(&sample().pack()).as_bytes(),
            include_bytes!("bundle/format_1.hex").trim_ascii()
        );
    }

    #[test]
    fn arrays_of_ids_are_taken_apart() {
        assert_eq!(elements("{}"), Ok(vec![]));
        assert_eq!(elements("{1,NULL,-3}"), Ok(vec![Some("1"), None, Some("-3")]));
        assert_eq!(array(elements("{1,NULL,-3}").into_iter().flatten()), "{1,NULL,-3}");
        for wrong in ["", "{", "}", "1", "{\"1\"}", "{{1}}", "[0:0]={1}"] {
            assert_eq!(elements(wrong), Err(Unreadable::Damaged), "{wrong}");
        }
    }
}
