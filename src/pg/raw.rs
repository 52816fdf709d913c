//! PostgreSQL functions that are declared by hand. pgrx does not bind them, or wraps them in its guard, which must not
//! run while an error is being built or when an error leaves a frame that owns nothing.
//!
//! `declarations.c` has the same declarations in C, and the build compares them with the headers of the server that it
//! builds for. The four functions whose names or arguments changed between versions are in `version.rs`.

use std::ffi::{c_char, c_int, c_void};

use pgrx::pg_sys;

pub const OUT_OF_MEMORY: c_int = 8389; // MAKE_SQLSTATE('5','3','2','0','0')

unsafe extern "C-unwind" {
    // Signals.
    pub fn die(signal: c_int);
    pub fn StatementCancelHandler(signal: c_int);
    pub fn SignalHandlerForConfigReload(signal: c_int);

    // Timers.
    pub fn RegisterTimeout(timeout: c_int, handler: unsafe extern "C-unwind" fn()) -> c_int;
    pub fn enable_timeout_after(timeout: c_int, milliseconds: c_int);
    pub fn enable_timeout_every(timeout: c_int, first: pg_sys::TimestampTz, milliseconds: c_int);
    pub fn disable_timeout(timeout: c_int, keep_indicator: bool);
    pub fn get_timeout_active(timeout: c_int) -> bool;

    // Functions that only read state and cannot fail: a guard would be most of their cost.
    pub fn GetUserId() -> pg_sys::Oid;
    pub fn GetSessionUserId() -> pg_sys::Oid;
    pub fn GetOuterUserId() -> pg_sys::Oid;
    pub fn GetCurrentSubTransactionId() -> pg_sys::SubTransactionId;
    pub fn GetCurrentTimestamp() -> pg_sys::TimestampTz;

    // Reads the bytes that it is given, and cannot fail.
    pub fn hash_bytes(bytes: *const u8, length: c_int) -> u32;

    // The current user, set where a transaction has ended: no error is possible.
    pub fn SetUserIdAndSecContext(user: pg_sys::Oid, context: c_int);

    // Errors.
    pub fn ThrowErrorData(data: *mut pg_sys::ErrorData);
    pub fn CopyErrorData() -> *mut pg_sys::ErrorData;
    pub fn geterrcode() -> c_int;

    // Clean-up of a session's state.
    pub fn Async_UnlistenAll();
    pub fn DropAllPreparedStatements();
    pub fn PortalHashTableDeleteAll();
    pub fn ResetSequenceCaches();
    pub fn ResetTempTableNamespace();
    pub fn SetSessionAuthorization(role: pg_sys::Oid, is_superuser: bool);

    // Standard implementations that hooks call.
    pub fn standard_ProcessUtility(
        statement: *mut pg_sys::PlannedStmt,
        query: *const c_char,
        read_only: bool,
        context: pg_sys::ProcessUtilityContext::Type,
        parameters: pg_sys::ParamListInfo,
        environment: *mut pg_sys::QueryEnvironment,
        destination: *mut pg_sys::DestReceiver,
        completion: *mut pg_sys::QueryCompletion,
    );
    pub fn standard_planner(
        query: *mut pg_sys::Query,
        text: *const c_char,
        options: c_int,
        parameters: pg_sys::ParamListInfo,
    ) -> *mut pg_sys::PlannedStmt;
    pub fn setup_parse_variable_parameters(
        state: *mut pg_sys::ParseState,
        types: *mut *mut pg_sys::Oid,
        count: *mut c_int,
    );

    // Reading and building a jsonb, in batches behind one guard.
    pub fn JsonbIteratorNext(
        iterator: *mut *mut pg_sys::JsonbIterator,
        value: *mut pg_sys::JsonbValue,
        skip_nested: bool,
    ) -> pg_sys::JsonbIteratorToken::Type;
    pub fn pushJsonbValue(
        state: *mut *mut pg_sys::JsonbParseState,
        token: pg_sys::JsonbIteratorToken::Type,
        value: *mut pg_sys::JsonbValue,
    ) -> *mut pg_sys::JsonbValue;
    pub fn JsonbValueToJsonb(value: *mut pg_sys::JsonbValue) -> *mut pg_sys::Jsonb;

    // Opening tables and writing rows, in batches behind one guard.
    pub fn LockRelationOid(table: pg_sys::Oid, lock: c_int);
    pub fn table_open(table: pg_sys::Oid, lock: c_int) -> pg_sys::Relation;
    pub fn table_close(table: pg_sys::Relation, lock: c_int);
    pub fn index_open(index: pg_sys::Oid, lock: c_int) -> pg_sys::Relation;
    pub fn BuildIndexInfo(index: pg_sys::Relation) -> *mut pg_sys::IndexInfo;
    pub fn palloc(size: usize) -> *mut c_void;
    pub fn palloc0(size: usize) -> *mut c_void;
    pub fn lappend(list: *mut pg_sys::List, element: *mut c_void) -> *mut pg_sys::List;
    pub fn MemoryContextReset(context: pg_sys::MemoryContext);
    pub fn PreventCommandIfReadOnly(command: *const c_char);
    pub fn PreventCommandIfParallelMode(command: *const c_char);
    pub fn CommandCounterIncrement();
    pub fn GetCurrentCommandId(is_used: bool) -> pg_sys::CommandId;
    pub fn GetTransactionSnapshot() -> pg_sys::Snapshot;
    pub fn RegisterSnapshot(snapshot: pg_sys::Snapshot) -> pg_sys::Snapshot;
    pub fn UnregisterSnapshot(snapshot: pg_sys::Snapshot);
    pub fn CreateExecutorState() -> *mut pg_sys::EState;
    pub fn FreeExecutorState(estate: *mut pg_sys::EState);
    pub fn AfterTriggerBeginQuery();
    pub fn AfterTriggerEndQuery(estate: *mut pg_sys::EState);
    pub fn InitResultRelInfo(
        info: *mut pg_sys::ResultRelInfo,
        table: pg_sys::Relation,
        position: pg_sys::Index,
        root: *mut pg_sys::ResultRelInfo,
        instrument: c_int,
    );
    pub fn ExecCloseResultRelations(estate: *mut pg_sys::EState);
    pub fn ExecResetTupleTable(slots: *mut pg_sys::List, is_freed: bool);
    pub fn ExecStoreVirtualTuple(slot: *mut pg_sys::TupleTableSlot) -> *mut pg_sys::TupleTableSlot;
    pub fn ExecSimpleRelationInsert(
        info: *mut pg_sys::ResultRelInfo,
        estate: *mut pg_sys::EState,
        slot: *mut pg_sys::TupleTableSlot,
    );

    // SQL functions as C symbols, to be called through `DirectFunctionCall…`, which is guarded.
    pub fn numeric_in(fcinfo: pg_sys::FunctionCallInfo) -> pg_sys::Datum;
    pub fn numeric_out(fcinfo: pg_sys::FunctionCallInfo) -> pg_sys::Datum;
    pub fn jsonb_in(fcinfo: pg_sys::FunctionCallInfo) -> pg_sys::Datum;
    pub fn timestamptz_in(fcinfo: pg_sys::FunctionCallInfo) -> pg_sys::Datum;
}
