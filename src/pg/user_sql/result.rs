//! Results of users' SQL as JSON, each value as `to_jsonb` makes it.

use std::ffi::CStr;

use pgrx::pg_sys;
use serde_json::{Map, Value};
use workflow_engine::value::Tally;

use crate::pg::error::throw;
use crate::pg::spi::{Column, Row, fetch};
use crate::pg::{jsonb, version};

/// Rows of the last execution, as objects.
pub fn objects() -> Vec<Value> {
    let mut tally = Tally::new();
    fetch_typed(|names, types, row| {
        count(&mut tally, 0);
        let mut members = Map::new();
        for (name, kind) in names.iter().zip(types) {
            count(&mut tally, name.len());
            members.insert(name.clone(), read(*kind, row.datum(), &mut tally));
        }
        Value::Object(members)
    })
}

pub fn first_column() -> Vec<Value> {
    let mut tally = Tally::new();
    fetch_typed(|_, types, row| types.first().map_or(Value::Null, |kind| read(*kind, row.datum(), &mut tally)))
}

fn fetch_typed(mut make: impl FnMut(&[String], &[pg_sys::Oid], &mut Row<'_>) -> Value) -> Vec<Value> {
    // SAFETY: the descriptor belongs to the result that SPI holds.
    let (names, types) = unsafe {
        let table = pg_sys::SPI_tuptable;
        if table.is_null() {
            return Vec::new();
        }
        let descriptor = (*table).tupdesc;
        let attributes = version::attributes(descriptor);
        let names: Vec<String> = attributes.iter().map(|column| name_of(&column.attname)).collect();
        (names, attributes.iter().map(|column| column.atttypid).collect::<Vec<_>>())
    };
    fetch(|row| make(&names, &types, row))
}

fn name_of(name: &pg_sys::NameData) -> String {
    // SAFETY: a name is NUL-terminated.
    unsafe { CStr::from_ptr(name.data.as_ptr()) }.to_string_lossy().into_owned()
}

/// Accounts a value of a result. The limits apply to all rows together.
fn count(tally: &mut Tally, text: usize) {
    tally.node(text).unwrap_or_else(|what| throw(jsonb::refused(what)));
}

/// A datum of any type as JSON, as `to_jsonb` makes it.
fn read(kind: pg_sys::Oid, datum: Option<pg_sys::Datum>, tally: &mut Tally) -> Value {
    let Some(datum) = datum else {
        count(tally, 0);
        return Value::Null;
    };
    // SAFETY: the datum has the type that the descriptor says.
    unsafe {
        match kind {
            pg_sys::JSONBOID => from_jsonb(datum, tally),
            pg_sys::TEXTOID => Value::String(String::accept(datum, tally).unwrap_or_else(|error| throw(error))),
            pg_sys::BOOLOID => counted(tally, Value::Bool(bool::read(datum))),
            pg_sys::INT4OID => counted(tally, Value::from(i32::read(datum))),
            pg_sys::INT8OID => counted(tally, Value::from(i64::read(datum))),
            pg_sys::VOIDOID => counted(tally, Value::Null),
            _ => from_jsonb(converted(kind, datum), tally),
        }
    }
}

fn counted(tally: &mut Tally, value: Value) -> Value {
    count(tally, 0);
    value
}

unsafe fn from_jsonb(datum: pg_sys::Datum, tally: &mut Tally) -> Value {
    // SAFETY: a jsonb, as the caller says.
    unsafe { jsonb::accept(datum, tally, jsonb::STORED_DEPTH) }.unwrap_or_else(|error| throw(error))
}

/// Converts through `to_jsonb(anyelement)`, called as the executor would.
unsafe fn converted(kind: pg_sys::Oid, datum: pg_sys::Datum) -> pg_sys::Datum {
    // SAFETY: to_jsonb asks for its argument's type through the expression that it was called with; a
    // constant of that type is one. All of it lives in the current memory context.
    unsafe {
        let (mut length, mut by_value) = (0i16, false);
        pg_sys::get_typlenbyval(kind, &mut length, &mut by_value);
        let constant = pg_sys::makeConst(kind, -1, pg_sys::InvalidOid, i32::from(length), datum, false, by_value);
        let arguments =
            pg_sys::list_make1_impl(pg_sys::NodeTag::T_List, pg_sys::ListCell { ptr_value: constant.cast() });
        let expression = pg_sys::makeFuncExpr(
            to_jsonb_oid(),
            pg_sys::JSONBOID,
            arguments,
            pg_sys::InvalidOid,
            pg_sys::InvalidOid,
            pg_sys::CoercionForm::COERCE_EXPLICIT_CALL,
        );
        let mut function: pg_sys::FmgrInfo = std::mem::zeroed();
        pg_sys::fmgr_info(to_jsonb_oid(), &mut function);
        function.fn_expr = expression.cast();
        pg_sys::FunctionCall1Coll(&mut function, pg_sys::InvalidOid, datum)
    }
}

fn to_jsonb_oid() -> pg_sys::Oid {
    pg_sys::Oid::from(3787)
}
