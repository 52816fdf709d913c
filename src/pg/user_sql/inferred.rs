//! Statements whose parameter types PostgreSQL infers from their context, as it does for a client.
//!
//! PostgreSQL infers the types by analyzing the statement once; it is then prepared with these types. The values are
//! JSON, and are converted as text through the input function of the type.

use std::ffi::c_char;

use pgrx::pg_sys;
use serde_json::Value;
use workflow_engine::fault::Fault;
use workflow_engine::value::Text;

use super::plans::{KeptPlan, forget_when_full, kept, retire, search_path};
use super::{Evaluation, SqlResult, c_text, is_query, keep, refuse_failure, result, shortened};
use crate::pg::error::{PgError, throw};
use crate::pg::session::ShortWaits;
use crate::pg::subtransaction::subtransaction_if;
use crate::pg::{catalog, interrupt, json, jsonb, memory};
use workflow_engine::expression::Take;

mod guess;

/// The type of a parameter whose context determines no type.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Otherwise {
    Text,
    Jsonb,
}

/// Text, number of parameters, their type if none is inferred, and search path: another path may give other types.
pub(super) type PlanKey = (String, usize, Otherwise, (String, pg_sys::Oid));

/// Runs a statement with parameters `$1…`. A parameter whose context determines no type, or several, is jsonb.
pub fn run(statement: &str, parameters: &[Value]) -> SqlResult {
    let _evaluation = Evaluation::begin();
    execute(statement, parameters, Otherwise::Jsonb, Take::Rows)
}

/// Runs a statement with parameters `$1…`. A parameter whose context determines no type is text. Returns rows as
/// objects, or only their first columns.
pub fn run_inferred(statement: &str, parameters: &[Value], take: Take) -> SqlResult {
    let _evaluation = Evaluation::begin();
    let expression = (take == Take::Value && !is_query(statement)).then(|| format!("SELECT {statement}\n"));
    execute(expression.as_deref().unwrap_or(statement), parameters, Otherwise::Text, take)
}

fn execute(statement: &str, parameters: &[Value], otherwise: Otherwise, take: Take) -> SqlResult {
    let (plan, types) = plan(statement, parameters.len(), otherwise);
    let mut nulls: Vec<c_char> = Vec::with_capacity(parameters.len());
    let mut values: Vec<pg_sys::Datum> = Vec::with_capacity(parameters.len());
    for (parameter, kind) in parameters.iter().zip(types) {
        nulls.push(if parameter.is_null() { b'n' } else { b' ' } as _);
        values.push(if parameter.is_null() { pg_sys::Datum::null() } else { datum(parameter, kind) });
    }
    // SAFETY: the plan was made for parameters of these types.
    let code = unsafe { pg_sys::SPI_execute_plan(plan, values.as_mut_ptr(), nulls.as_ptr(), false, 0) };
    refuse_failure(code, statement);
    // SAFETY: set by the execution just made.
    let count = unsafe { pg_sys::SPI_processed };
    let rows = if take == Take::Rows { result::objects() } else { result::first_column() };
    SqlResult { rows, count }
}

fn plan(statement: &str, parameters: usize, otherwise: Otherwise) -> (pg_sys::SPIPlanPtr, Vec<pg_sys::Oid>) {
    let key = (statement.to_owned(), parameters, otherwise, search_path());
    let generation = catalog::generation();
    let known = {
        let plans = kept().inferred.borrow();
        let current = plans.get(&key).filter(|kept| kept.inferred == generation);
        current.map(|kept| (kept.plan, kept.types.clone()))
    };
    if let Some(known) = known {
        return known;
    }
    // The catalog has changed: a type may no longer exist, or a column may have another type.
    let mut types = match otherwise {
        Otherwise::Text => inferred(statement, parameters),
        Otherwise::Jsonb => guess::types(statement, parameters),
    };
    let text = c_text(statement);
    // SAFETY: as many types as said.
    let plan = unsafe { pg_sys::SPI_prepare(text.as_ptr(), types.len() as i32, types.as_mut_ptr()) };
    keep(plan, statement);
    let mut plans = kept().inferred.borrow_mut();
    forget_when_full(&mut plans);
    let new = KeptPlan { plan, names: std::ptr::null_mut(), types: types.clone(), inferred: generation };
    retire(plans.insert(key, new));
    (plan, types)
}

/// The types that PostgreSQL infers for the parameters; text where the context determines none.
fn inferred(statement: &str, parameters: usize) -> Vec<pg_sys::Oid> {
    if parameters == 0 {
        return Vec::new();
    }
    let text = c_text(statement);
    // SAFETY: the parser's own nodes and arrays, in the current memory context; PostgreSQL makes the array larger
    // where the text names more parameters than there are.
    let types = unsafe {
        let list = pg_sys::pg_parse_query(text.as_ptr());
        if list.is_null() || (*list).length != 1 {
            // SPI_prepare will raise the error.
            return vec![pg_sys::TEXTOID; parameters];
        }
        let raw = (*(*list).elements).ptr_value.cast::<pg_sys::RawStmt>();
        let mut types: *mut pg_sys::Oid = std::ptr::null_mut();
        let mut count = 0;
        pg_sys::parse_analyze_varparams(raw, text.as_ptr(), &mut types, &mut count, std::ptr::null_mut());
        let count = usize::try_from(count).unwrap_or(0);
        if count == 0 { Vec::new() } else { std::slice::from_raw_parts(types, count).to_vec() }
    };
    if types.len() > parameters {
        let error = PgError::new("42P02", format!("there is no parameter ${}", types.len()));
        throw(error.detail(format!("SQL: {}", shortened(statement))));
    }
    let known = |kind: pg_sys::Oid| kind != pg_sys::InvalidOid && kind != pg_sys::UNKNOWNOID;
    let mut types: Vec<pg_sys::Oid> =
        types.into_iter().map(|kind| if known(kind) { kind } else { pg_sys::TEXTOID }).collect();
    types.resize(parameters, pg_sys::TEXTOID);
    types
}

/// The number of parameters of a statement, or the error of its analysis. Analysis runs nothing, and its locks are
/// released.
pub fn analyze(statement: &str) -> Result<usize, PgError> {
    let text = c_text(statement);
    let mut parameters = 0;
    let analysis = || {
        // Do not wait for a table that another session is changing.
        let waits = ShortWaits::begin();
        // SAFETY: the parser's own nodes, in the current memory context.
        unsafe {
            let list = pg_sys::pg_parse_query(text.as_ptr());
            if list.is_null() || (*list).length != 1 {
                return;
            }
            let raw = (*(*list).elements).ptr_value.cast::<pg_sys::RawStmt>();
            let mut types: *mut pg_sys::Oid = std::ptr::null_mut();
            pg_sys::parse_analyze_varparams(raw, text.as_ptr(), &mut types, &mut parameters, std::ptr::null_mut());
        }
        waits.end();
    };
    match subtransaction_if(analysis, |()| false) {
        Err(error) if error.aborts_transaction() => throw(error),
        Err(error) => Err(error),
        Ok(()) => Ok(usize::try_from(parameters).unwrap_or(0)),
    }
}

/// Converts a value to a datum of a type.
fn datum(value: &Value, kind: pg_sys::Oid) -> pg_sys::Datum {
    if kind == pg_sys::JSONBOID {
        return jsonb::encode(value);
    }
    let text = c_text(text_of(value, kind));
    // The input function makes its own copy of the text.
    memory::check_next();
    // SAFETY: the input function of the type, called as PostgreSQL does for a literal of that type.
    unsafe {
        let (mut function, mut parameter) = (pg_sys::InvalidOid, pg_sys::InvalidOid);
        pg_sys::getTypeInputInfo(kind, &mut function, &mut parameter);
        pg_sys::OidInputFunctionCall(function, text.as_ptr().cast_mut(), parameter, -1)
    }
}

/// The text of a value for the input function of a type.
fn text_of(value: &Value, kind: pg_sys::Oid) -> String {
    // SAFETY: looks the type up.
    let is_array = unsafe { pg_sys::get_element_type(kind) } != pg_sys::InvalidOid;
    match value {
        _ if kind == pg_sys::JSONOID => json::text(value),
        Value::String(text) => text.clone(),
        Value::Array(items) if is_array => array_literal(items).unwrap_or_else(|_| {
            interrupt::check();
            String::new()
        }),
        other => json::text(other),
    }
}

/// `{"a","b",NULL}`. An item that is an array or object is its JSON text.
fn array_literal(items: &[Value]) -> Result<String, Fault> {
    let mut literal = Text::default();
    literal.push("{")?;
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            literal.push(",")?;
        }
        match item {
            Value::Null => literal.push("NULL")?,
            Value::String(text) => push_quoted(text, &mut literal)?,
            other => push_quoted(&json::text(other), &mut literal)?,
        }
    }
    literal.push("}")?;
    literal.finish()
}

fn push_quoted(text: &str, literal: &mut Text) -> Result<(), Fault> {
    literal.push("\"")?;
    for part in text.split_inclusive(['\\', '"']) {
        let plain = part.trim_end_matches(['\\', '"']);
        literal.push(plain)?;
        if plain.len() < part.len() {
            literal.push("\\")?;
            literal.push(&part[plain.len()..])?;
        }
    }
    literal.push("\"")
}
