//! Users' SQL: statements, expressions with named parameters, functions.
//!
//! It runs with the rights that currently apply, under the caller's search path. Callers run it in a subtransaction. A
//! backend caches plans per text, as PL/pgSQL does; PostgreSQL replans when the search path or an object changes.

use std::ffi::{CStr, CString, c_void};

use pgrx::pg_sys;
use serde_json::Value;

use crate::pg::error::{PgError, throw};
use crate::pg::function::Predicate;
use crate::pg::role::RestrictedRights;
use crate::pg::spi::{Column, Timestamp};
use crate::pg::state::CALL;
use crate::pg::varlena::varlena;
use crate::pg::{catalog, jsonb, memory, parse, raw};

mod inferred;
mod plans;
mod result;
mod text;

pub use inferred::{analyze, run, run_inferred};
pub(super) use plans::Plans;
use plans::{KeptPlan, UsedParameters, forget_when_full, kept, retire, search_path};
use text::{is_query, shortened};

/// The parameters that an expression sees by name, in this order.
pub const NAMES: [&CStr; 6] = [c"input", c"variables", c"outputs", c"result", c"instance", c"correlation_id"];

/// The result of a user's statement.
#[derive(Debug, Default)]
pub struct SqlResult {
    /// Rows as objects, if it returned any.
    pub rows: Vec<Value>,
    /// Rows returned or affected.
    pub count: u64,
}

/// Guards an evaluation. While it lives, no plan is freed, since PostgreSQL holds no reference to a plan that it
/// executes. The evaluation allocates in a memory context of its own, so that memory does not pile up in a loop of a
/// million evaluations.
struct Evaluation {
    before: pg_sys::MemoryContext,
    own: pg_sys::MemoryContext,
}

impl Evaluation {
    fn begin() -> Self {
        // SAFETY: a child of the current context, made current until `drop`.
        unsafe {
            let before = pg_sys::CurrentMemoryContext;
            let own = pg_sys::AllocSetContextCreateInternal(
                before,
                c"workflow user SQL".as_ptr(),
                pg_sys::ALLOCSET_SMALL_MINSIZE as usize,
                pg_sys::ALLOCSET_SMALL_INITSIZE as usize,
                pg_sys::ALLOCSET_DEFAULT_MAXSIZE as usize,
            );
            pg_sys::CurrentMemoryContext = own;
            // Only now: to make the context can fail.
            CALL.evaluations.set(CALL.evaluations.get() + 1);
            Self { before, own }
        }
    }
}

impl Drop for Evaluation {
    fn drop(&mut self) {
        CALL.evaluations.set(CALL.evaluations.get() - 1);
        // After an error the rollback frees it; no function of PostgreSQL may run while unwinding.
        if !std::thread::panicking() {
            // SAFETY: made by `begin`; results are owned by Rust.
            unsafe {
                pg_sys::CurrentMemoryContext = self.before;
                pg_sys::MemoryContextDelete(self.own);
            }
        }
    }
}

/// Whether SQL of a user is running.
pub fn is_running() -> bool {
    CALL.evaluations.get() > 0
}

/// Evaluates an expression or a query. Its value is the first column of the only row, or null without a row.
/// `parameter` is called for the values of the named parameters that the text uses.
pub fn value(text: &str, mut parameter: impl FnMut(&str) -> Value) -> Value {
    let _evaluation = Evaluation::begin();
    let (plan, used) = expression_plan(text);
    // SAFETY: a parameter list of six, filled below; the plan's parser made parameters of these types.
    let code = unsafe {
        let list = pg_sys::makeParamList(NAMES.len() as i32);
        let slots = (*list).params.as_mut_ptr();
        for (i, name) in NAMES.iter().enumerate() {
            let slot = &mut *slots.add(i);
            slot.ptype = type_of(i);
            slot.pflags = pg_sys::PARAM_FLAG_CONST as u16;
            slot.isnull = true;
            if used & (1 << i) != 0 {
                fill(slot, i, &parameter(&name.to_string_lossy()));
            }
        }
        pg_sys::SPI_execute_plan_with_paramlist(plan, list, false, 2)
    };
    refuse_failure(code, text);
    let mut rows = result::first_column();
    if rows.len() > 1 {
        throw(
            PgError::new("21000", "more than one row returned by a SQL expression")
                .detail(format!("SQL expression: {}", shortened(text)))
                .hint("Add LIMIT 1, or aggregate the rows."),
        );
    }
    rows.pop().unwrap_or_default()
}

/// Calls `function(context)`; the function's name is qualified and quoted. NULL becomes null.
pub fn call(function: &str, context: &Value) -> Value {
    run_function(&format!("SELECT {function}($1)"), context).pop().unwrap_or_default()
}

/// Calls a function that returns a set of jsonb.
pub fn call_set(function: &str, context: &Value) -> Vec<Value> {
    run_function(&format!("SELECT * FROM {function}($1) AS payload"), context)
}

/// Whether a superuser's function returns true for a key; NULL is false. It runs as the extension's owner, under a
/// search path of `pg_catalog`, so that no temporary relation of the caller takes the place of a catalog.
pub fn admits(predicate: &Predicate, key: &str) -> bool {
    let text = format!("SELECT {}($1 OPERATOR(pg_catalog.#>>) '{{}}'::pg_catalog.text[])", predicate.0);
    let call = || run_function(&text, &Value::String(key.to_owned())).pop();
    RestrictedRights::during(catalog::extension_owner(), c"pg_catalog, pg_temp", call) == Some(Value::Bool(true))
}

/// These columns of the first row of `function(text)` as an object; all names are qualified and quoted where they must
/// be.
pub fn first_row(function: &str, columns: &[&str], argument: &str) -> Option<Value> {
    let members: Vec<String> = columns.iter().map(|column| format!("'{column}', f.{column}")).collect();
    let row = format!("pg_catalog.jsonb_build_object({})", members.join(", "));
    let text =
        format!("SELECT {row} FROM {function}($1 OPERATOR(pg_catalog.#>>) '{{}}'::pg_catalog.text[]) AS f LIMIT 1");
    run_function(&text, &Value::String(argument.to_owned())).pop().filter(Value::is_object)
}

fn run_function(statement: &str, context: &Value) -> Vec<Value> {
    let _evaluation = Evaluation::begin();
    let plan = statement_plan(statement, 1);
    let (mut value, null) = (jsonb::encode(context), b' ' as std::ffi::c_char);
    // SAFETY: the plan was made for one jsonb parameter.
    let code = unsafe { pg_sys::SPI_execute_plan(plan, &mut value, &null, false, 0) };
    refuse_failure(code, statement);
    result::first_column()
}

/// The qualified, quoted name of `name(jsonb)` as found through the current search path.
pub fn resolve_function(name: &str) -> Option<String> {
    let found = value_of_text(
        "SELECT pg_catalog.format('%I.%I', n.nspname, p.proname) \
         FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) p.pronamespace \
         WHERE p.oid OPERATOR(pg_catalog.=) pg_catalog.to_regprocedure(\
             ($1 OPERATOR(pg_catalog.#>>) '{}'::pg_catalog.text[]) OPERATOR(pg_catalog.||) '(jsonb)')",
        &Value::String(name.into()),
    );
    match found {
        Value::String(name) => Some(name),
        _ => None,
    }
}

fn value_of_text(statement: &str, parameter: &Value) -> Value {
    run_function(statement, parameter).pop().unwrap_or_default()
}

fn refuse_failure(code: i32, text: &str) {
    // The statement may have allocated much memory for its result.
    memory::check_next();
    if code >= 0 {
        return;
    }
    let error = match code {
        pg_sys::SPI_ERROR_TRANSACTION => PgError::new("0A000", "cannot begin or end a transaction in a workflow")
            .detail("The workflow runs inside the caller's transaction."),
        pg_sys::SPI_ERROR_COPY => PgError::new("0A000", "cannot COPY to or from the client in a workflow"),
        other => PgError::new("XX000", format!("SQL of a workflow failed with code {other}")),
    };
    let error = match error.detail {
        Some(_) => error,
        None => error.detail(format!("SQL: {}", shortened(text))),
    };
    throw(error)
}

fn statement_plan(statement: &str, parameters: usize) -> pg_sys::SPIPlanPtr {
    let key = (statement.to_owned(), parameters);
    if let Some(plan) = kept().statements.borrow().get(&key).map(|kept| kept.plan) {
        return plan;
    }
    let text = c_text(statement);
    let mut types = vec![pg_sys::JSONBOID; parameters];
    // SAFETY: as many types as said.
    let plan = unsafe { pg_sys::SPI_prepare(text.as_ptr(), parameters as i32, types.as_mut_ptr()) };
    keep(plan, statement);
    let mut plans = kept().statements.borrow_mut();
    forget_when_full(&mut plans);
    plans.insert(key, KeptPlan { plan, names: std::ptr::null_mut(), types: Vec::new(), inferred: 0 });
    plan
}

/// The query that computes a SQL expression.
pub fn query_of(text: &str) -> String {
    if is_query(text) { text.to_owned() } else { format!("SELECT {text}\n") }
}

fn expression_plan(text: &str) -> (pg_sys::SPIPlanPtr, u8) {
    let key = (text.to_owned(), search_path());
    let known = {
        let plans = kept().expressions.borrow();
        // A new analysis may find that it uses other parameters, which must be known before it runs.
        let valid = plans.get(&key).filter(|kept| kept.is_valid());
        // SAFETY: the names live as long as the plan.
        valid.map(|kept| (kept.plan, unsafe { (*kept.names).used.get() }))
    };
    if let Some(known) = known {
        return known;
    }
    let statement = c_text(query_of(text));
    let names = Box::into_raw(Box::<UsedParameters>::default());
    // SAFETY: the hook's argument lives as long as the plan; see `forget_when_full`.
    let plan = unsafe { pg_sys::SPI_prepare_params(statement.as_ptr(), Some(set_up_parser), names.cast(), 0) };
    keep(plan, text);
    // SAFETY: just made.
    let used = unsafe { (*names).used.get() };
    let mut plans = kept().expressions.borrow_mut();
    forget_when_full(&mut plans);
    retire(plans.insert(key, KeptPlan { plan, names, types: Vec::new(), inferred: 0 }));
    (plan, used)
}

fn c_text(text: impl Into<Vec<u8>>) -> CString {
    parse::c_text(text).unwrap_or_else(|error| throw(error))
}

fn keep(plan: pg_sys::SPIPlanPtr, text: &str) {
    if plan.is_null() {
        // SAFETY: reads the code that SPI left.
        refuse_failure(unsafe { pg_sys::SPI_result }, text);
        throw(PgError::new("XX000", "could not prepare SQL of a workflow"));
    }
    // SAFETY: the list belongs to the plan.
    let statements = unsafe {
        let sources = pg_sys::SPI_plan_get_plan_sources(plan);
        if sources.is_null() { 0 } else { (*sources).length }
    };
    if statements != 1 {
        let message = if statements == 0 {
            "SQL of a workflow is empty"
        } else {
            "SQL of a workflow has more than one statement"
        };
        throw(PgError::new("42601", message).detail(format!("SQL: {}", shortened(text))));
    }
    // SAFETY: moves the plan out of SPI's context.
    unsafe { pg_sys::SPI_keepplan(plan) };
}

/// PostgreSQL calls this before it analyzes an expression.
#[pgrx::pg_guard]
unsafe extern "C-unwind" fn set_up_parser(state: *mut pg_sys::ParseState, names: *mut c_void) {
    // SAFETY: the parser's own state.
    unsafe {
        (*state).p_post_columnref_hook = Some(resolve_name);
        (*state).p_ref_hook_state = names;
    }
}

/// PostgreSQL calls this for each name in the text. A column of that name takes precedence over a parameter.
#[pgrx::pg_guard]
unsafe extern "C-unwind" fn resolve_name(
    state: *mut pg_sys::ParseState,
    reference: *mut pg_sys::ColumnRef,
    column: *mut pg_sys::Node,
) -> *mut pg_sys::Node {
    // SAFETY: called by the parser with its own nodes; a one-element list of a String node is a plain name.
    unsafe {
        if !column.is_null() || (*(*reference).fields).length != 1 {
            return std::ptr::null_mut();
        }
        let field = (*(*(*reference).fields).elements).ptr_value.cast::<pg_sys::Node>();
        if (*field).type_ != pg_sys::NodeTag::T_String {
            return std::ptr::null_mut();
        }
        let name = CStr::from_ptr((*field.cast::<pg_sys::String>()).sval);
        let Some(i) = NAMES.iter().position(|known| *known == name) else {
            return std::ptr::null_mut();
        };
        let names = (*state).p_ref_hook_state.cast::<UsedParameters>();
        (*names).used.set((*names).used.get() | (1 << i));
        parameter_node(i, (*reference).location)
    }
}

fn parameter_node(i: usize, location: i32) -> *mut pg_sys::Node {
    // SAFETY: a node of that size and tag in the parser's memory context.
    unsafe {
        let node = pg_sys::palloc0(size_of::<pg_sys::Param>()).cast::<pg_sys::Param>();
        (*node).xpr.type_ = pg_sys::NodeTag::T_Param;
        (*node).paramkind = pg_sys::ParamKind::PARAM_EXTERN;
        (*node).paramid = i as i32 + 1;
        (*node).paramtype = type_of(i);
        (*node).paramtypmod = -1;
        (*node).paramcollid = pg_sys::get_typcollation(type_of(i));
        (*node).location = location;
        node.cast()
    }
}

fn type_of(parameter: usize) -> pg_sys::Oid {
    if NAMES[parameter] == c"correlation_id" { pg_sys::TEXTOID } else { pg_sys::JSONBOID }
}

fn fill(slot: &mut pg_sys::ParamExternData, i: usize, value: &Value) {
    if value.is_null() {
        return;
    }
    slot.isnull = false;
    slot.value = match value {
        Value::String(text) if type_of(i) == pg_sys::TEXTOID => varlena(text.as_bytes()),
        other => jsonb::encode(other),
    };
}

/// The instant that `text` means, in the session's time zone, or an error of class 22.
pub fn timestamp(text: &str) -> Timestamp {
    let text = c_text(text);
    // SAFETY: timestamptz_in takes a C string, a type oid and a type modifier.
    unsafe {
        let datum = pg_sys::DirectFunctionCall3Coll(
            Some(raw::timestamptz_in),
            pg_sys::InvalidOid,
            pg_sys::Datum::from(text.as_ptr()),
            pg_sys::Datum::from(pg_sys::InvalidOid),
            pg_sys::Datum::from(-1i32),
        );
        Timestamp::read(datum)
    }
}
