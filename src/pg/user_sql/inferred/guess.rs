//! Parameter types for a statement whose author may have meant jsonb: the type that the context determines, and jsonb
//! if it determines none, or several.

use std::ffi::{CStr, c_int};

use pgrx::pg_sys;

use super::super::c_text;
use crate::pg::error::{PgError, throw};
use crate::pg::raw;
use crate::pg::subtransaction::subtransaction;

mod message;

/// The types of the statement's `parameters` parameters.
pub fn types(statement: &str, parameters: usize) -> Vec<pg_sys::Oid> {
    if parameters == 0 {
        return Vec::new();
    }
    let text = c_text(statement);
    let mut known = vec![pg_sys::InvalidOid; parameters];
    // Each round determines the type of at least one more parameter.
    for _ in 0..=parameters {
        let (found, error) = analyze(&text, &known);
        let is_unknown = |i: usize| found.get(i) == Some(&pg_sys::UNKNOWNOID);
        let Some(error) = error else {
            let is_open = |kind: &pg_sys::Oid| [pg_sys::InvalidOid, pg_sys::UNKNOWNOID].contains(kind);
            let kinds = found.iter().take(parameters).map(|kind| if is_open(kind) { pg_sys::JSONBOID } else { *kind });
            let mut kinds: Vec<pg_sys::Oid> = kinds.collect();
            kinds.resize(parameters, pg_sys::JSONBOID);
            return kinds;
        };
        if error.is_never_an_incident() {
            throw(error);
        }
        // For a parameter of several types the message names it. Otherwise blame all parameters without a type so far.
        let several = (error.sqlstate == "42P08").then(|| message::parameter(&error.message)).flatten();
        let blamed: Vec<usize> = match several {
            Some(number) => vec![number - 1],
            None => (0..parameters).filter(|i| is_unknown(*i)).collect(),
        };
        let blamed = blamed.into_iter().filter(|i| known.get(*i) == Some(&pg_sys::InvalidOid)).collect::<Vec<_>>();
        if blamed.is_empty() {
            break;
        }
        blamed.into_iter().for_each(|i| known[i] = pg_sys::JSONBOID);
    }
    // SPI_prepare will raise the error.
    vec![pg_sys::JSONBOID; parameters]
}

/// The types that PostgreSQL infers before any error: 0 for a parameter that it has not reached, `unknown` for a
/// parameter whose context determines no type.
fn analyze(text: &CStr, known: &[pg_sys::Oid]) -> (Vec<pg_sys::Oid>, Option<PgError>) {
    let mut count = known.len() as c_int;
    // SAFETY: an array of oids that PostgreSQL may make larger, in a context that outlives the subtransaction; the
    // parser's own nodes. In a subtransaction, since an error leaves tables open and locked.
    unsafe {
        let mut types = pg_sys::palloc(size_of_val(known)).cast::<pg_sys::Oid>();
        std::ptr::copy_nonoverlapping(known.as_ptr(), types, known.len());
        let (array, length) = (&raw mut types, &raw mut count);
        let outcome = subtransaction(|| {
            let list = pg_sys::pg_parse_query(text.as_ptr());
            if list.is_null() || (*list).length != 1 {
                return;
            }
            let statement = (*(*list).elements).ptr_value.cast::<pg_sys::RawStmt>();
            let state = pg_sys::make_parsestate(std::ptr::null_mut());
            (*state).p_sourcetext = text.as_ptr();
            // Otherwise PostgreSQL would make a parameter without context text.
            (*state).p_resolve_unknowns = false;
            raw::setup_parse_variable_parameters(state, array, length);
            pg_sys::transformTopLevelStmt(state, statement);
            pg_sys::free_parsestate(state);
        });
        let found = std::slice::from_raw_parts(types, usize::try_from(count).unwrap_or(0)).to_vec();
        (found, outcome.err())
    }
}
