//! Tokens of a `jsonb`, read or written in batches under one error guard.
//!
//! A document has a token for each value and name. A guarded call costs about a hundred instructions, more than the
//! work for most tokens.

use pgrx::pg_sys::ffi::pg_guard_ffi_boundary;
use pgrx::pg_sys::{self, JsonbIteratorToken as Kind, JsonbValue};

use crate::pg::raw;

/// Tokens that one guarded call reads or writes.
const BATCH: usize = 16;

/// A token, and the value that belongs to it.
#[derive(Clone, Copy)]
pub struct Token {
    /// PostgreSQL's `JsonbIteratorToken`: the kind of the token.
    pub kind: Kind::Type,
    /// Its value, for a key, a scalar, and the header of an array.
    pub value: JsonbValue,
}

/// No token yet: neither reading nor writing a small document allocates memory for its tokens.
const NONE: [Token; BATCH] = [Token { kind: Kind::WJB_DONE, value: EMPTY }; BATCH];

/// A value that is to be filled, or that a token without one is pushed with; it reads as JSON null.
pub fn empty() -> JsonbValue {
    EMPTY
}

// SAFETY: an all-zero JsonbValue is jbvNull.
const EMPTY: JsonbValue = unsafe { std::mem::zeroed() };

/// The tokens of a document.
pub struct Reader {
    iterator: *mut pg_sys::JsonbIterator,
    batch: [Token; BATCH],
    count: usize,
    next: usize,
}

impl Reader {
    /// Begins at the first token.
    ///
    /// # Safety
    /// The document must live as long as this.
    pub unsafe fn of(document: *mut pg_sys::Jsonb) -> Self {
        // SAFETY: as promised.
        let iterator = unsafe { pg_sys::JsonbIteratorInit(&mut (*document).root) };
        Self { iterator, batch: NONE, count: 0, next: 0 }
    }

    /// The next token; `WJB_DONE` after the last.
    pub fn next(&mut self) -> Token {
        if self.next == self.count {
            let Self { iterator, batch, .. } = self;
            // SAFETY: the document outlives this. An error leaves plain values only.
            self.count = unsafe { pg_guard_ffi_boundary(|| fill(iterator, batch)) };
            self.next = 0;
        }
        self.next += 1;
        self.batch[self.next - 1]
    }
}

/// Reads a batch, up to `WJB_DONE`. Returns the number of tokens.
unsafe fn fill(iterator: &mut *mut pg_sys::JsonbIterator, batch: &mut [Token; BATCH]) -> usize {
    let mut count = 0;
    for token in batch {
        token.value = EMPTY;
        // SAFETY: as the caller's.
        token.kind = unsafe { raw::JsonbIteratorNext(iterator, &mut token.value, false) };
        count += 1;
        if token.kind == Kind::WJB_DONE {
            break;
        }
    }
    count
}

/// Builds a document from tokens.
pub struct Writer {
    state: *mut pg_sys::JsonbParseState,
    top: *mut JsonbValue,
    waiting: [Token; BATCH],
    count: usize,
}

impl Writer {
    /// Begins without tokens.
    pub fn new() -> Self {
        Self { state: std::ptr::null_mut(), top: std::ptr::null_mut(), waiting: NONE, count: 0 }
    }

    /// Adds a token, in the order that PostgreSQL's builder requires. Texts that its value points to must live until
    /// the document is finished.
    pub fn push(&mut self, kind: Kind::Type, value: JsonbValue) {
        if self.count == BATCH {
            // SAFETY: tokens in their order. An error leaves plain values only.
            unsafe { pg_guard_ffi_boundary(|| self.write()) };
        }
        self.waiting[self.count] = Token { kind, value };
        self.count += 1;
    }

    /// Passes the tokens to the builder.
    ///
    /// # Safety
    /// An error of PostgreSQL leaves this frame, which owns nothing.
    unsafe fn write(&mut self) {
        for token in self.waiting.iter_mut().take(self.count) {
            // SAFETY: tokens in their order.
            self.top = unsafe { raw::pushJsonbValue(&mut self.state, token.kind, value_of(token)) };
        }
        self.count = 0;
    }

    /// Finishes the document.
    pub fn finish(mut self) -> pg_sys::Datum {
        // SAFETY: the builder's finished value. An error leaves plain values only.
        let document = unsafe {
            pg_guard_ffi_boundary(|| {
                self.write();
                raw::JsonbValueToJsonb(self.top)
            })
        };
        pg_sys::Datum::from(document)
    }
}

/// The value to pass to the builder: for keys, for scalars, and for the array that wraps a scalar document.
fn value_of(token: &mut Token) -> *mut JsonbValue {
    let has_value = match token.kind {
        Kind::WJB_KEY | Kind::WJB_VALUE | Kind::WJB_ELEM => true,
        // SAFETY: an array has such a header, all zero where it is an ordinary one.
        Kind::WJB_BEGIN_ARRAY => unsafe { token.value.val.array.rawScalar },
        _ => false,
    };
    if has_value { &mut token.value } else { std::ptr::null_mut() }
}
