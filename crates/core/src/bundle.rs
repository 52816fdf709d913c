//! Bundles: the rows of workflow instances on their way to another node.
//!
//! A bundle is a piece of a set. It begins with [`MAGIC`] and the number of its format, then has the SHA-256 of the
//! rest, and the rest is a [`Bundle`], packed. The values of its rows say their types: the server that takes them in
//! compares these with the types of its own tables.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use workflow_value::value::Bounds;

/// The first bytes of each bundle, by which other bytes are refused.
pub const MAGIC: &[u8] = b"workflow bundle\n";
/// The format that is written. Every later version reads it.
const FORMAT: u16 = 1;

/// SHA-256 of a piece.
pub type Digest = [u8; 32];

/// One piece of what an export packs. Only all pieces of its set can be taken in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bundle {
    /// Id of the set, which the export makes: pieces of two sets do not fit together.
    pub set: Uuid,
    /// Number of this piece, from 1 on.
    pub piece: u32,
    /// What the last piece says of those before it.
    pub last: Option<Last>,
    /// Correlation ids of the rows.
    #[serde(deserialize_with = "list")]
    pub keys: Vec<String>,
    /// Owners that the rows refer to.
    #[serde(deserialize_with = "list")]
    pub owners: Vec<Owner>,
    /// Definition versions that the rows refer to.
    #[serde(deserialize_with = "list")]
    pub definitions: Vec<Definition>,
    /// The rows to be taken in, table by table.
    #[serde(deserialize_with = "list")]
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
    /// Its id in `workflow.owners` of that node, to which the rows refer.
    pub id: i32,
    /// Name of the role; empty if it does not exist any more.
    pub role: String,
}

/// A definition version on the node from which the rows come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// Id of the version there.
    pub id: Uuid,
    /// The id that all versions of the definition share.
    pub definition_id: String,
    /// Number of the version among those of its definition.
    pub version: i32,
    /// Name of the owner's role.
    pub owner: String,
    /// SHA-256 of the document, and of what the numbers in stored states stand for.
    pub content: Digest,
}

/// Rows of one table of the schema, with the names of their columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// Name of the table, without the schema.
    pub name: String,
    /// Names of the columns whose values each row has, in their order.
    #[serde(deserialize_with = "list")]
    pub columns: Vec<String>,
    /// The values of the rows, packed one after the other.
    #[serde(with = "as_bytes")]
    values: Vec<u8>,
}

/// A value of a column. The variant is stored, so the import can compare it with the type of its column.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Cell<'a> {
    /// NULL, whatever the type of the column is.
    Null,
    /// `uuid`
    Uuid(Uuid),
    /// `text`
    Text(&'a str),
    /// `integer`
    Integer(i32),
    /// `bigint`
    BigInt(i64),
    /// `boolean`
    Boolean(bool),
    /// `bytea`
    #[serde(with = "as_bytes")]
    Bytea(&'a [u8]),
    /// `jsonb`, as PostgreSQL writes it.
    Jsonb(&'a str),
    /// `timestamptz`, in microseconds since 2000.
    Timestamp(i64),
}

impl Cell<'_> {
    /// Bytes of a value of any length.
    pub fn size(&self) -> usize {
        match self {
            Self::Text(text) | Self::Jsonb(text) => text.len(),
            Self::Bytea(bytes) => bytes.len(),
            _ => 0,
        }
    }
}

impl Table {
    /// A table without rows.
    pub fn new(name: String, columns: Vec<String>) -> Self {
        Self { name, columns, values: Vec::new() }
    }

    /// Where a row has the value of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// Appends the next value: that of the next column, or of the first one in a new row.
    pub fn push(&mut self, cell: Cell<'_>) {
        self.values.reserve_exact(self.growth(&cell));
        let values = std::mem::take(&mut self.values);
        self.values = postcard::to_extend(&cell, values).expect("a vector takes any bytes");
    }

    /// Bytes by which its memory grows for this value. While the values move, the memory from before exists as well.
    pub fn growth(&self, cell: &Cell<'_>) -> usize {
        /// What a value takes beside its bytes.
        const MOST: usize = 24;
        let (size, spare) = (MOST + cell.size(), self.values.capacity() - self.values.len());
        if size <= spare { 0 } else { size.max(self.values.capacity() / 2) }
    }

    /// Bytes that its packed rows take, so that a caller can ask for room first.
    pub fn size(&self) -> usize {
        self.values.len()
    }

    /// Its rows, each with a value for each column.
    pub fn rows(&self) -> impl Iterator<Item = Result<Vec<Cell<'_>>, Unreadable>> {
        let mut rest = self.values.as_slice();
        std::iter::from_fn(move || {
            let row = (!rest.is_empty()).then(|| row(&mut rest, self.columns.len()))?;
            if row.is_err() {
                rest = &[];
            }
            Some(row)
        })
    }
}

/// Takes a row of so many values.
fn row<'a>(rest: &mut &'a [u8], columns: usize) -> Result<Vec<Cell<'a>>, Unreadable> {
    if columns == 0 {
        return Err(Unreadable::Damaged);
    }
    let mut cell = || {
        let (cell, after) = postcard::take_from_bytes(rest).map_err(|_| Unreadable::Damaged)?;
        *rest = after;
        Ok(cell)
    };
    (0..columns).map(|_| cell()).collect()
}

/// Reads a list that asks for room before it grows: an element takes many times the memory of its bytes.
fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    struct Elements<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Elements<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list for which there is room")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Vec<T>, A::Error> {
            let mut list = Vec::new();
            while let Some(element) = elements.next_element()? {
                if !Bounds::may_push(&list) {
                    return Err(A::Error::invalid_length(list.len(), &self));
                }
                list.push(element);
            }
            Ok(list)
        }
    }

    deserializer.deserialize_seq(Elements(PhantomData))
}

/// Bytes as one value instead of a sequence of numbers.
mod as_bytes {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &impl AsRef<[u8]>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytes.as_ref())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>, T: From<&'de [u8]>>(deserializer: D) -> Result<T, D::Error> {
        <&[u8]>::deserialize(deserializer).map(T::from)
    }
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
    /// The bytes of the bundle, with its digest, as a client carries them to the other node.
    pub fn pack(&self) -> Vec<u8> {
        // A vector takes any bytes, so nothing can go wrong.
        seal(&postcard::to_stdvec(self).unwrap_or_default())
    }

    /// Reads one, and its digest.
    ///
    /// # Errors
    /// Why it cannot be read. A bundle for which there is no room counts as damaged; the host knows the reason.
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
            tables: vec![rows()],
        }
    }

    const VALUES: [Cell<'_>; 9] = [
        Cell::Null,
        Cell::Uuid(Uuid::from_u128(3)),
        Cell::Text("Müller"),
        Cell::Integer(-1),
        Cell::BigInt(i64::MAX),
        Cell::Boolean(true),
        Cell::Bytea(&[0, 255]),
        Cell::Jsonb("{\"days\": 3}"),
        Cell::Timestamp(i64::MIN),
    ];

    fn rows() -> Table {
        let mut table = Table::new("instances".into(), vec!["a".into(), "b".into(), "c".into()]);
        VALUES.into_iter().for_each(|value| table.push(value));
        table
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
        let stored = data_encoding::HEXLOWER.decode(include_str!("bundle/format_1.hex").trim().as_bytes());
        assert_eq!(data_encoding::HEXLOWER.encode(&sample().pack()), include_str!("bundle/format_1.hex").trim());
        assert_eq!(Bundle::read(&stored.expect("hex")).map(|(bundle, _)| bundle), Ok(sample()));
    }

    #[test]
    fn rows_are_read_as_they_were_pushed() {
        let table = rows();
        let read: Vec<_> = table.rows().collect();
        assert_eq!(read, VALUES.chunks(3).map(|row| Ok(row.to_vec())).collect::<Vec<_>>());
    }

    #[test]
    fn lists_ask_for_room() {
        let mut bundle = sample();
        bundle.keys = vec![String::new(); 10_000];
        let bytes = bundle.pack();
        assert!(Bundle::read(&bytes).is_ok());
        let before = Bounds::current();
        Bounds { room: |bytes| bytes < 100_000, ..before }.apply();
        assert_eq!(Bundle::read(&bytes), Err(Unreadable::Damaged));
        before.apply();
    }

    #[test]
    fn rows_that_end_early_are_refused() {
        let mut table = Table::new("instances".into(), vec!["a".into(), "b".into(), "c".into()]);
        for row in VALUES.chunks(3) {
            let start = table.size();
            row.iter().for_each(|value| table.push(*value));
            let whole = table.values.clone();
            for end in start + 1..whole.len() {
                table.values.truncate(end);
                assert_eq!(table.rows().last(), Some(Err(Unreadable::Damaged)), "{end} bytes");
                table.values.clone_from(&whole);
            }
        }
        table.columns.clear();
        assert_eq!(table.rows().collect::<Vec<_>>(), [Err(Unreadable::Damaged)]);
    }
}
