//! Documents that are stored or returned as they are.

use pgrx::pg_sys;
use serde_json::Value;

use super::{Builder, encode};
use crate::pg::spi::{Column, Type, varlena};

/// An encoded `jsonb`: the bytes after its length. It is read from a `jsonb` alone.
#[derive(Debug)]
pub struct Document(Vec<u8>);

impl Document {
    /// Encodes a value. Refuses `\u0000` as PostgreSQL does (22P05).
    pub fn of(value: &Value) -> Self {
        // SAFETY: a jsonb that was just made.
        unsafe { Self::read(encode(value)) }
    }

    /// Encodes an object of these members.
    pub fn object<'a>(members: impl Iterator<Item = (&'a str, &'a Value)>) -> Self {
        let mut builder = Builder::new();
        builder.object(members);
        // SAFETY: a jsonb that was just made.
        unsafe { Self::read(builder.finish()) }
    }

    /// The `jsonb`, in the current memory context.
    pub(in crate::pg) fn datum(&self) -> pg_sys::Datum {
        varlena(&self.0)
    }
}

impl Column for Document {
    const TYPE: Type = Type::Jsonb;

    unsafe fn read(datum: pg_sys::Datum) -> Self {
        // SAFETY: a jsonb is a varlena, like bytea.
        Self(unsafe { Vec::<u8>::read(datum) })
    }
}
