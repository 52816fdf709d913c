//! Documents that are stored or returned unchanged.

use pgrx::pg_sys;
use serde_json::Value;

use super::{Builder, encode};
use crate::pg::varlena::{bytes_of, varlena};

/// An encoded `jsonb`: the bytes after its length. It is read from a `jsonb` alone.
#[derive(Debug)]
pub struct Document(Vec<u8>);

impl Document {
    /// Encodes a value. Rejects `\u0000`, as PostgreSQL does (22P05).
    pub fn of(value: &Value) -> Self {
        // SAFETY: a jsonb that was just made.
        unsafe { Self::stored(encode(value)) }
    }

    /// Encodes an object with these members.
    pub fn object<'a>(members: impl Iterator<Item = (&'a str, &'a Value)>) -> Self {
        let mut builder = Builder::new();
        builder.object(members);
        // SAFETY: a jsonb that was just made.
        unsafe { Self::stored(builder.finish()) }
    }

    /// Copies a `jsonb` unchanged.
    ///
    /// # Safety
    /// The datum must be a `jsonb`.
    pub(in crate::pg) unsafe fn stored(datum: pg_sys::Datum) -> Self {
        // SAFETY: a jsonb is a varlena, like bytea.
        Self(unsafe { bytes_of(datum) })
    }

    /// The `jsonb`, in the current memory context.
    pub(in crate::pg) fn datum(&self) -> pg_sys::Datum {
        varlena(&self.0)
    }
}
