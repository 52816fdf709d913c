//! Hooks into PostgreSQL: at the end of transactions, and around statements that affect the background workers.

use std::ffi::{CStr, c_char, c_void};

use pgrx::pg_sys::{self, NodeTag, Oid};

use crate::pg::entry::keeping;
use crate::pg::error::raise;
use crate::pg::state::{BACKEND, TRANSACTION, Transaction};
use crate::pg::{boundary, planner, raw, rows};

/// The extension's handlers.
pub struct Hooks {
    /// Called when a transaction has ended: after it has released its locks and sent its invalidation messages, so a
    /// session that this wakes sees all of it. Must not fail.
    pub transaction_ended: fn(TransactionEnd),
    /// Called when a subtransaction has ended, with its number. The number of its parent is given if it has become part
    /// of that; otherwise it has been rolled back. Must not fail.
    pub subtransaction_ended: fn(u32, Option<u32>),
    /// Called before a statement. Returns the function to call after the statement succeeds: a function pointer, since
    /// an error of the statement leaves the frame by longjmp.
    pub before: fn(Meaning) -> Option<fn()>,
}

/// How a transaction has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionEnd {
    /// It has committed.
    Committed,
    /// It has been rolled back.
    Aborted,
    /// It has been prepared. COMMIT PREPARED or ROLLBACK PREPARED ends it, in any session.
    Prepared,
}

#[derive(Clone, Copy)]
pub(super) struct Installed {
    hooks: &'static Hooks,
    /// The hook for statements that was there before.
    previous: pg_sys::ProcessUtility_hook_type,
}

/// Installs the hooks of this process; the postmaster's children inherit them.
pub fn install(hooks: &'static Hooks) {
    planner::install();
    // SAFETY: hooks are set by the process's only thread; the callbacks live as long as the library.
    unsafe {
        pg_sys::RegisterXactCallback(Some(transaction_ending), std::ptr::null_mut());
        pg_sys::RegisterResourceReleaseCallback(Some(resources_released), std::ptr::null_mut());
        pg_sys::RegisterSubXactCallback(Some(subtransaction_ended), std::ptr::null_mut());
        BACKEND.hooks.set(Some(Installed { hooks, previous: pg_sys::ProcessUtility_hook }));
        pg_sys::ProcessUtility_hook = Some(process_utility);
    }
}

// PostgreSQL calls this before it sends the invalidation messages of the transaction. A session woken here could look
// with what it cached before, find nothing, and sleep on.
unsafe extern "C-unwind" fn transaction_ending(event: pg_sys::XactEvent::Type, _argument: *mut c_void) {
    let end = match event {
        pg_sys::XactEvent::XACT_EVENT_COMMIT => TransactionEnd::Committed,
        pg_sys::XactEvent::XACT_EVENT_ABORT => TransactionEnd::Aborted,
        pg_sys::XactEvent::XACT_EVENT_PREPARE => TransactionEnd::Prepared,
        _ => return,
    };
    boundary::transaction_ends(end == TransactionEnd::Aborted);
    TRANSACTION.borrow_mut().end = Some(end);
}

unsafe extern "C-unwind" fn resources_released(
    phase: pg_sys::ResourceReleasePhase::Type,
    _is_commit: bool,
    is_top_level: bool,
    _argument: *mut c_void,
) {
    if !is_top_level || phase != pg_sys::ResourceReleasePhase::RESOURCE_RELEASE_AFTER_LOCKS {
        return;
    }
    let end = TRANSACTION.borrow().end;
    if let Some(end) = end
        && let Some(Installed { hooks, .. }) = BACKEND.hooks.get()
    {
        TRANSACTION.replace(Transaction::NEW);
        (hooks.transaction_ended)(end);
    }
}

unsafe extern "C-unwind" fn subtransaction_ended(
    event: pg_sys::SubXactEvent::Type,
    subtransaction: pg_sys::SubTransactionId,
    parent: pg_sys::SubTransactionId,
    _argument: *mut c_void,
) {
    boundary::subtransaction_ends(event, subtransaction, parent);
    let parent = match event {
        pg_sys::SubXactEvent::SUBXACT_EVENT_ABORT_SUB => None,
        pg_sys::SubXactEvent::SUBXACT_EVENT_COMMIT_SUB => Some(parent),
        _ => return,
    };
    if parent.is_none() {
        rows::forget_tids();
    }
    if let Some(Installed { hooks, .. }) = BACKEND.hooks.get() {
        (hooks.subtransaction_ended)(subtransaction, parent);
    }
}

/// The effect of a statement on the workers.
pub enum Meaning {
    /// No effect.
    Nothing,
    /// It creates the extension in this database.
    Creates,
    /// It updates the extension in this database to another version.
    Updates,
    /// It drops the extension from this database.
    Drops,
    /// It drops, renames, moves or copies these databases, so no worker may be connected to them.
    Needs(Vec<Oid>),
    /// It creates a database by copying, which may contain the extension.
    Copies(Vec<Oid>),
    /// It prepares the transaction under this name.
    Prepares(Vec<u8>),
    /// It commits or rolls back a prepared transaction, whose rows other sessions see only then.
    EndsPrepared {
        /// Its name.
        gid: Vec<u8>,
        /// Whether it is committed.
        commits: bool,
    },
    /// It copies rows into a table of ours, as in the restore of a dump.
    Loads,
    /// It changes session settings of one database, or of all databases.
    Sets(Option<Oid>),
}

unsafe extern "C-unwind" fn process_utility(
    statement: *mut pg_sys::PlannedStmt,
    query: *const c_char,
    read_only: bool,
    context: pg_sys::ProcessUtilityContext::Type,
    parameters: pg_sys::ParamListInfo,
    environment: *mut pg_sys::QueryEnvironment,
    destination: *mut pg_sys::DestReceiver,
    completion: *mut pg_sys::QueryCompletion,
) {
    // SAFETY: what PostgreSQL passed goes on as it is; `before` owns nothing when an error leaves.
    unsafe {
        let after = before((*statement).utilityStmt);
        match BACKEND.hooks.get().and_then(|installed| installed.previous) {
            Some(previous) => {
                previous(statement, query, read_only, context, parameters, environment, destination, completion);
            }
            None => raw::standard_ProcessUtility(
                statement,
                query,
                read_only,
                context,
                parameters,
                environment,
                destination,
                completion,
            ),
        }
        if let Some(after) = after
            && let Err(error) = keeping(|| {
                after();
                Ok(())
            })
        {
            raise(error);
        }
    }
}

unsafe fn before(node: *mut pg_sys::Node) -> Option<fn()> {
    // SAFETY: a statement of PostgreSQL's parser.
    match keeping(|| Ok(BACKEND.hooks.get().and_then(|installed| (installed.hooks.before)(unsafe { meaning(node) })))) {
        Ok(after) => after,
        Err(error) => raise(error),
    }
}

unsafe fn meaning(node: *mut pg_sys::Node) -> Meaning {
    // SAFETY: each node is read as what its tag says it is.
    unsafe {
        match (*node).type_ {
            NodeTag::T_CreateExtensionStmt => {
                let statement = node.cast::<pg_sys::CreateExtensionStmt>();
                if is_workflow((*statement).extname) { Meaning::Creates } else { Meaning::Nothing }
            }
            NodeTag::T_AlterExtensionStmt => {
                let statement = node.cast::<pg_sys::AlterExtensionStmt>();
                if is_workflow((*statement).extname) { Meaning::Updates } else { Meaning::Nothing }
            }
            NodeTag::T_DropStmt => drop_meaning(node.cast()),
            NodeTag::T_DropdbStmt => needs(&[(*node.cast::<pg_sys::DropdbStmt>()).dbname]),
            NodeTag::T_RenameStmt => {
                let statement = node.cast::<pg_sys::RenameStmt>();
                match (*statement).renameType {
                    pg_sys::ObjectType::OBJECT_DATABASE => needs(&[(*statement).subname]),
                    _ => Meaning::Nothing,
                }
            }
            NodeTag::T_AlterDatabaseStmt => needs(&[(*node.cast::<pg_sys::AlterDatabaseStmt>()).dbname]),
            NodeTag::T_CreatedbStmt => Meaning::Copies(template(node.cast())),
            NodeTag::T_TransactionStmt => {
                let statement = node.cast::<pg_sys::TransactionStmt>();
                let gid = || CStr::from_ptr((*statement).gid).to_bytes().to_vec();
                match (*statement).kind {
                    pg_sys::TransactionStmtKind::TRANS_STMT_PREPARE => Meaning::Prepares(gid()),
                    pg_sys::TransactionStmtKind::TRANS_STMT_COMMIT_PREPARED => {
                        Meaning::EndsPrepared { gid: gid(), commits: true }
                    }
                    pg_sys::TransactionStmtKind::TRANS_STMT_ROLLBACK_PREPARED => {
                        Meaning::EndsPrepared { gid: gid(), commits: false }
                    }
                    _ => Meaning::Nothing,
                }
            }
            NodeTag::T_CopyStmt => copy_meaning(node.cast()),
            NodeTag::T_AlterDatabaseSetStmt => {
                let statement = node.cast::<pg_sys::AlterDatabaseSetStmt>();
                set_meaning((*statement).dbname, (*statement).setstmt)
            }
            NodeTag::T_AlterRoleSetStmt => {
                let statement = node.cast::<pg_sys::AlterRoleSetStmt>();
                set_meaning((*statement).database, (*statement).setstmt)
            }
            _ => Meaning::Nothing,
        }
    }
}

unsafe fn copy_meaning(statement: *mut pg_sys::CopyStmt) -> Meaning {
    // SAFETY: the name of a table, which may not exist; COPY itself then raises the error.
    unsafe {
        if !(*statement).is_from || (*statement).relation.is_null() {
            return Meaning::Nothing;
        }
        let missing_ok = pg_sys::RVROption::RVR_MISSING_OK;
        let relation =
            pg_sys::RangeVarGetRelidExtended((*statement).relation, 0, missing_ok, None, std::ptr::null_mut());
        let is_ours = relation != pg_sys::InvalidOid
            && is_workflow(pg_sys::get_namespace_name(pg_sys::get_rel_namespace(relation)));
        if is_ours { Meaning::Loads } else { Meaning::Nothing }
    }
}

/// The effect of the settings that ALTER DATABASE or ALTER ROLE changes.
unsafe fn set_meaning(database: *mut c_char, set: *mut pg_sys::VariableSetStmt) -> Meaning {
    // SAFETY: names of the parser end with NUL.
    unsafe {
        let is_all = (*set).kind == pg_sys::VariableSetKind::VAR_RESET_ALL;
        let is_ours = !(*set).name.is_null()
            && CStr::from_ptr((*set).name).to_bytes().to_ascii_lowercase().starts_with(b"workflow.");
        if !is_all && !is_ours {
            return Meaning::Nothing;
        }
        if database.is_null() {
            return Meaning::Sets(None);
        }
        match pg_sys::get_database_oid(database, true) {
            pg_sys::InvalidOid => Meaning::Nothing,
            oid => Meaning::Sets(Some(oid)),
        }
    }
}

unsafe fn is_workflow(name: *const c_char) -> bool {
    // SAFETY: names of the parser end with NUL.
    !name.is_null() && unsafe { CStr::from_ptr(name) } == c"workflow"
}

unsafe fn drop_meaning(statement: *mut pg_sys::DropStmt) -> Meaning {
    // SAFETY: the objects of DROP EXTENSION, and of DROP SCHEMA, are strings or lists of them.
    unsafe {
        let kind = (*statement).removeType;
        if kind != pg_sys::ObjectType::OBJECT_EXTENSION && kind != pg_sys::ObjectType::OBJECT_SCHEMA {
            return Meaning::Nothing;
        }
        let objects = (*statement).objects;
        let count = if objects.is_null() { 0 } else { (*objects).length };
        for i in 0..count {
            let node = (*(*objects).elements.add(i as usize)).ptr_value.cast::<pg_sys::Node>();
            if (*node).type_ == NodeTag::T_String && is_workflow(string(node)) {
                return Meaning::Drops;
            }
        }
        Meaning::Nothing
    }
}

unsafe fn string(node: *mut pg_sys::Node) -> *const c_char {
    // SAFETY: the tag said that it is a string.
    unsafe { (*node.cast::<pg_sys::String>()).sval }
}

unsafe fn needs(names: &[*mut c_char]) -> Meaning {
    let found = names.iter().filter(|name| !name.is_null());
    // SAFETY: names of the parser end with NUL.
    let found = found.map(|name| unsafe { pg_sys::get_database_oid(*name, true) });
    Meaning::Needs(found.filter(|oid| *oid != pg_sys::InvalidOid).collect())
}

/// The database that CREATE DATABASE copies.
unsafe fn template(statement: *mut pg_sys::CreatedbStmt) -> Vec<Oid> {
    // SAFETY: options are DefElem nodes; defGetString reads whatever form the value has.
    unsafe {
        let options = (*statement).options;
        let count = if options.is_null() { 0 } else { (*options).length };
        let mut copied = None;
        for i in 0..count {
            let option = (*(*options).elements.add(i as usize)).ptr_value.cast::<pg_sys::DefElem>();
            if CStr::from_ptr((*option).defname) == c"template" && !(*option).arg.is_null() {
                copied = Some(pg_sys::defGetString(option));
            }
        }
        let Some(name) = copied else { return Vec::new() };
        let oid = pg_sys::get_database_oid(name, true);
        if oid == pg_sys::InvalidOid { Vec::new() } else { vec![oid] }
    }
}
