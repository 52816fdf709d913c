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

/// A value that is to be filled, or that a token without one is pushed with; it reads as JSON null.
pub fn empty() -> JsonbValue {
    // SAFETY: an all-zero JsonbValue is jbvNull.
    unsafe { std::mem::zeroed() }
}

/// The tokens of a document.
pub struct Reader {
    iterator: *mut pg_sys::JsonbIterator,
    batch: Vec<Token>,
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
        Self { iterator, batch: Vec::with_capacity(BATCH), next: 0 }
    }

    /// The next token; `WJB_DONE` after the last.
    pub fn next(&mut self) -> Token {
        if self.next == self.batch.len() {
            let Self { iterator, batch, .. } = self;
            // SAFETY: the document outlives this. An error leaves the tokens that were read.
            unsafe { pg_guard_ffi_boundary(|| fill(iterator, batch)) };
            self.next = 0;
        }
        self.next += 1;
        self.batch[self.next - 1]
    }
}

/// Reads a batch, up to `WJB_DONE`.
unsafe fn fill(iterator: &mut *mut pg_sys::JsonbIterator, batch: &mut Vec<Token>) {
    batch.clear();
    while batch.len() < BATCH {
        let mut value = empty();
        // SAFETY: as the caller's.
        let kind = unsafe { raw::JsonbIteratorNext(iterator, &mut value, false) };
        batch.push(Token { kind, value });
        if kind == Kind::WJB_DONE {
            break;
        }
    }
}

/// Builds a document from tokens.
pub struct Writer {
    state: *mut pg_sys::JsonbParseState,
    top: *mut JsonbValue,
    waiting: Vec<Token>,
}

impl Writer {
    /// Begins without tokens.
    pub fn new() -> Self {
        Self { state: std::ptr::null_mut(), top: std::ptr::null_mut(), waiting: Vec::with_capacity(BATCH) }
    }

    /// Adds a token, in the order that PostgreSQL's builder requires. Texts that its value points to must live until
    /// the document is finished.
    pub fn push(&mut self, kind: Kind::Type, value: JsonbValue) {
        if self.waiting.len() == BATCH {
            self.write();
        }
        self.waiting.push(Token { kind, value });
    }

    fn write(&mut self) {
        let Self { state, top, waiting } = self;
        // SAFETY: tokens in their order. An error leaves plain values only.
        unsafe {
            pg_guard_ffi_boundary(|| {
                for token in waiting.iter_mut() {
                    *top = raw::pushJsonbValue(state, token.kind, value_of(token));
                }
            });
        }
        waiting.clear();
    }

    /// Finishes the document.
    pub fn finish(mut self) -> pg_sys::Datum {
        self.write();
        // SAFETY: the builder's finished value.
        pg_sys::Datum::from(unsafe { pg_sys::JsonbValueToJsonb(self.top) })
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
