//! Records: columns of one table that are read or written together, each by its name.
//!
//! Each table declares its columns once ([`table!`]). A record is a struct whose fields are some of these columns, in
//! the order in which they are read ([`read!`]) or written ([`written!`], [`changed!`]). A field without a column, of
//! another type, or without an `Option` where the column may be NULL, does not compile.

use std::ffi::CStr;

use pgrx::pg_sys::Oid;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::pg::jsonb::Document;

use super::{Arg, Column, ColumnRef, Row, Timestamp, Type};

/// A table in the schema `workflow`.
pub struct Table {
    /// Without the schema, which is `workflow`.
    pub name: &'static CStr,
    /// Its columns, in the order of their declaration.
    pub columns: &'static [ColumnRef],
    /// Whether each of them may be NULL.
    nullable: &'static [bool],
}

/// Declares a column. `name` ends with NUL.
pub const fn column(name: &'static str, kind: Type) -> ColumnRef {
    (c_name(name), kind)
}

impl Table {
    /// Declares a table. `name` ends with NUL.
    pub const fn new(name: &'static str, columns: &'static [ColumnRef], nullable: &'static [bool]) -> Self {
        Self { name: c_name(name), columns, nullable }
    }

    /// The column with this name, for a field that reads this type, and with `reads_null` also NULL.
    pub const fn read(&self, name: &str, kind: Type, reads_null: bool) -> ColumnRef {
        let (column, is_nullable) = self.find(name, kind);
        assert!(reads_null || !is_nullable, "the column may be NULL");
        column
    }

    /// The column with this name, for a field that writes this type, and with `writes_null` also NULL.
    pub const fn written(&self, name: &str, kind: Type, writes_null: bool) -> ColumnRef {
        let (column, is_nullable) = self.find(name, kind);
        assert!(is_nullable || !writes_null, "the column is never NULL");
        column
    }

    const fn find(&self, name: &str, kind: Type) -> (ColumnRef, bool) {
        let mut i = 0;
        while i < self.columns.len() {
            let column = self.columns[i];
            if is_same(column.0.to_bytes(), name.as_bytes()) {
                assert!(column.1 as u8 == kind as u8, "the column has another type");
                return (column, self.nullable[i]);
            }
            i += 1;
        }
        panic!("the table has no such column")
    }
}

const fn c_name(name: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(name.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("the name does not end with NUL"),
    }
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut i = 0;
    while i < one.len() && i < other.len() && one[i] == other[i] {
        i += 1;
    }
    i == one.len() && i == other.len()
}

/// The columns of one record followed by those of another one.
pub const fn joined<const N: usize>(first: &[ColumnRef], then: &[ColumnRef]) -> [ColumnRef; N] {
    assert!(N == first.len() + then.len());
    let mut all = [(c"", Type::Uuid); N];
    let mut i = 0;
    while i < N {
        all[i] = if i < first.len() { first[i] } else { then[i - first.len()] };
        i += 1;
    }
    all
}

/// A type that a field can be read as.
pub trait Read: Sized {
    /// The type that the column must have; another one does not compile.
    const TYPE: Type;
    /// Whether it may be NULL.
    const READS_NULL: bool;

    /// Reads the next column.
    fn read(row: &mut Row<'_>) -> Self;
}

impl<T: Column> Read for T {
    const TYPE: Type = T::TYPE;
    const READS_NULL: bool = false;

    fn read(row: &mut Row<'_>) -> Self {
        row.get()
    }
}

impl<T: Column> Read for Option<T> {
    const TYPE: Type = T::TYPE;
    const READS_NULL: bool = true;

    fn read(row: &mut Row<'_>) -> Self {
        row.maybe()
    }
}

/// A type that a field can be written from.
pub trait Written {
    /// The type that the column must have; another one does not compile.
    const TYPE: Type;
    /// Whether it may be NULL.
    const WRITES_NULL: bool = false;

    /// The parameter that binds it to its column.
    fn arg(&self) -> Arg<'_>;
}

macro_rules! written_as {
    ($($type:ty => $kind:ident, $value:ident => $arg:expr;)*) => {
        $(impl Written for $type {
            const TYPE: Type = Type::$kind;

            fn arg(&self) -> Arg<'_> {
                let $value = self;
                $arg
            }
        })*
    };
}

written_as! {
    &Uuid => Uuid, id => Arg::Uuid(id);
    &str => Text, text => Arg::Text(text);
    &[String] => TextArray, texts => Arg::Texts(texts);
    &[u8] => Bytea, bytes => Arg::Bytea(bytes);
    &Value => Jsonb, value => Arg::Json(value);
    &Document => Jsonb, document => Arg::Document(document);
    &Map<String, Value> => Jsonb, members => Arg::Object(members);
    i32 => Integer, number => Arg::Integer(*number);
    i64 => BigInt, number => Arg::BigInt(*number);
    bool => Boolean, value => Arg::Boolean(*value);
    Timestamp => Timestamp, at => Arg::Timestamp(*at);
    Oid => Oid, oid => Arg::Oid(*oid);
}

impl<T: Written> Written for Option<T> {
    const TYPE: Type = T::TYPE;
    const WRITES_NULL: bool = true;

    fn arg(&self) -> Arg<'_> {
        self.as_ref().map_or(Arg::Null, Written::arg)
    }
}

/// The new value of a field in an update; without a value the field stays unchanged.
pub struct Change<T>(Option<T>);

impl<T> Change<T> {
    /// The value, if `has_changed`.
    pub fn when(has_changed: bool, value: T) -> Self {
        Self(has_changed.then_some(value))
    }
}

/// A type of a field in an update.
pub trait Changed {
    /// The type that the column must have; another one does not compile.
    const TYPE: Type;
    /// Whether it may be NULL.
    const WRITES_NULL: bool;

    /// The new value; `None`: the column stays unchanged.
    fn change(&self) -> Option<Arg<'_>>;
}

impl<T: Written> Changed for T {
    const TYPE: Type = T::TYPE;
    const WRITES_NULL: bool = T::WRITES_NULL;

    fn change(&self) -> Option<Arg<'_>> {
        Some(self.arg())
    }
}

impl<T: Written> Changed for Change<T> {
    const TYPE: Type = T::TYPE;
    const WRITES_NULL: bool = T::WRITES_NULL;

    fn change(&self) -> Option<Arg<'_>> {
        self.0.as_ref().map(Written::arg)
    }
}

/// Declares a table: `table!(BOOKMARKS = "bookmarks" { id: Uuid, due_at: Timestamp null, … })`.
macro_rules! table {
    ($(#[$meta:meta])* $name:ident = $table:literal { $($column:ident: $kind:ident $($null:ident)?),* $(,)? }) => {
        $(#[$meta])*
        pub const $name: $crate::pg::spi::Table = $crate::pg::spi::Table::new(
            concat!($table, "\0"),
            &[$($crate::pg::spi::column(concat!(stringify!($column), "\0"), $crate::pg::spi::Type::$kind)),*],
            &[$(!concat!("" $(, stringify!($null))?).is_empty()),*],
        );
    };
}

/// Declares a record that is read: `read!(struct Waiting of BOOKMARKS { id: Uuid, due_at: Option<Timestamp>, … })`.
macro_rules! read {
    ($(#[$meta:meta])* $vis:vis struct $name:ident of $table:ident {
        $($(#[$field_meta:meta])* $field:ident: $type:ty),* $(,)?
    }) => {
        $(#[$meta])*
        $vis struct $name {
            $($(#[$field_meta])* $vis $field: $type),*
        }

        impl $name {
            $vis const COLUMNS: &'static [$crate::pg::spi::ColumnRef] = &[$($table.read(
                stringify!($field),
                <$type as $crate::pg::spi::Read>::TYPE,
                <$type as $crate::pg::spi::Read>::READS_NULL,
            )),*];

            $vis fn read(row: &mut $crate::pg::spi::Row<'_>) -> Self {
                Self { $($field: $crate::pg::spi::Read::read(row)),* }
            }
        }
    };
}

/// Declares a record that is inserted: `written!(struct New<'a> of TASKS { id: &'a Uuid, … })`.
macro_rules! written {
    ($(#[$meta:meta])* struct $name:ident<$life:lifetime> of $table:ident { $($field:ident: $type:ty),* $(,)? }) => {
        $(#[$meta])*
        struct $name<$life> {
            $($field: $type),*
        }

        impl<$life> $name<$life> {
            const COLUMNS: &'static [$crate::pg::spi::ColumnRef] = &[$($table.written(
                stringify!($field),
                <$type as $crate::pg::spi::Written>::TYPE,
                <$type as $crate::pg::spi::Written>::WRITES_NULL,
            )),*];

            fn values(&self) -> [$crate::pg::spi::Arg<'_>; [$(stringify!($field)),*].len()] {
                [$($crate::pg::spi::Written::arg(&self.$field)),*]
            }
        }
    };
}

/// Declares a record that updates an existing row, its key first. A field of type [`Change`] may stay unchanged.
macro_rules! changed {
    ($(#[$meta:meta])* struct $name:ident<$life:lifetime> of $table:ident { $($field:ident: $type:ty),* $(,)? }) => {
        $(#[$meta])*
        struct $name<$life> {
            $($field: $type),*
        }

        impl<$life> $name<$life> {
            const COLUMNS: &'static [$crate::pg::spi::ColumnRef] = &[$($table.written(
                stringify!($field),
                <$type as $crate::pg::spi::Changed>::TYPE,
                <$type as $crate::pg::spi::Changed>::WRITES_NULL,
            )),*];

            fn changes(&self) -> [Option<$crate::pg::spi::Arg<'_>>; [$(stringify!($field)),*].len()] {
                [$($crate::pg::spi::Changed::change(&self.$field)),*]
            }
        }
    };
}

pub(crate) use {changed, read, table, written};
