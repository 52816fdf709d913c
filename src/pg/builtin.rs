//! SQL functions of PostgreSQL as C symbols, to be called through `DirectFunctionCall…`, which is guarded.

use pgrx::pg_sys::{Datum, FunctionCallInfo};

unsafe extern "C-unwind" {
    pub fn numeric_in(fcinfo: FunctionCallInfo) -> Datum;
    pub fn numeric_out(fcinfo: FunctionCallInfo) -> Datum;
    pub fn timestamptz_in(fcinfo: FunctionCallInfo) -> Datum;
}
