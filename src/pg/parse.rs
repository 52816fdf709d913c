//! Splits a command into statements by PostgreSQL's grammar, without catalog look-ups and without running them.

use std::ffi::{CStr, CString};

use pgrx::pg_sys;
use pgrx::pg_sys::NodeTag;

use crate::pg::error::{PgError, catch};

/// One statement of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandStatement {
    /// Its part of the command, trimmed, without the terminating semicolon.
    pub text: String,
    /// Whether PostgreSQL may reject it inside a transaction block; CALL counts, because a procedure can commit.
    pub needs_top_level: bool,
    /// Whether it is BEGIN, COMMIT or a similar statement.
    pub controls_transaction: bool,
    /// Whether it is a COPY from or to the client.
    pub copies_with_client: bool,
}

/// The statements of a command; a syntax error is PostgreSQL's own.
pub fn statements(command: &str) -> Result<Vec<CommandStatement>, PgError> {
    parsed(command).map_err(|error| PgError { message: format!("invalid command: {}", error.message), ..error })
}

/// How many statements a text has; a syntax error is PostgreSQL's own.
pub fn count(text: &str) -> Result<usize, PgError> {
    parsed(text).map(|statements| statements.len())
}

/// SQL text as a C string; 22021 if it contains a NUL character.
pub fn c_text(text: impl Into<Vec<u8>>) -> Result<CString, PgError> {
    CString::new(text).map_err(|_| PgError::new("22021", "SQL text contains a NUL character"))
}

fn parsed(command: &str) -> Result<Vec<CommandStatement>, PgError> {
    let text = c_text(command)?;
    // SAFETY: the parser makes a list of RawStmt nodes in the current memory context. It takes no locks and reads no
    // catalogs, so its error can be caught without a rollback and returned as the error of this call.
    catch(|| unsafe {
        let list = pg_sys::raw_parser(text.as_ptr(), pg_sys::RawParseMode::RAW_PARSE_DEFAULT);
        elements(list).map(|node| statement(command, &*node.cast::<pg_sys::RawStmt>())).collect()
    })
}

/// The pointers of a list, which may be null.
unsafe fn elements(list: *mut pg_sys::List) -> impl Iterator<Item = *mut pg_sys::Node> {
    // SAFETY: a list of pointers to nodes, as long as it says.
    let cells = unsafe {
        if list.is_null() { &[] } else { std::slice::from_raw_parts((*list).elements, (*list).length as usize) }
    };
    // SAFETY: as above.
    cells.iter().map(|cell| unsafe { cell.ptr_value }.cast())
}

unsafe fn statement(command: &str, raw: &pg_sys::RawStmt) -> CommandStatement {
    let start = usize::try_from(raw.stmt_location).unwrap_or(0);
    let end = match usize::try_from(raw.stmt_len).unwrap_or(0) {
        0 => command.len(),
        length => start.saturating_add(length),
    };
    // SAFETY: the parser's own node.
    let tag = unsafe { (*raw.stmt).type_ };
    CommandStatement {
        text: command.get(start..end).unwrap_or(command).trim().to_owned(),
        // SAFETY: the node has that tag.
        needs_top_level: unsafe { needs_top_level(raw.stmt, tag) },
        // SAFETY: as above.
        controls_transaction: unsafe { controls_transaction(raw.stmt, tag) },
        // SAFETY: as above.
        copies_with_client: tag == NodeTag::T_CopyStmt
            && unsafe { (*raw.stmt.cast::<pg_sys::CopyStmt>()).filename.is_null() },
    }
}

/// Whether it begins or ends the session's transaction or a subtransaction. Committing a prepared transaction does not.
unsafe fn controls_transaction(node: *mut pg_sys::Node, tag: NodeTag) -> bool {
    if tag != NodeTag::T_TransactionStmt {
        return false;
    }
    // SAFETY: the node has that tag.
    let kind = unsafe { (*node.cast::<pg_sys::TransactionStmt>()).kind };
    kind != pg_sys::TransactionStmtKind::TRANS_STMT_COMMIT_PREPARED
        && kind != pg_sys::TransactionStmtKind::TRANS_STMT_ROLLBACK_PREPARED
}

/// Whether utility.c, or code that it calls, runs PreventInTransactionBlock for the statement.
unsafe fn needs_top_level(node: *mut pg_sys::Node, tag: NodeTag) -> bool {
    // SAFETY: each arm reads the node as the type that its tag names.
    unsafe {
        match tag {
            NodeTag::T_CallStmt
            | NodeTag::T_CreatedbStmt
            | NodeTag::T_DropdbStmt
            | NodeTag::T_AlterSystemStmt
            | NodeTag::T_TransactionStmt
            | NodeTag::T_CreateTableSpaceStmt
            | NodeTag::T_DropTableSpaceStmt
            | NodeTag::T_CreateSubscriptionStmt
            | NodeTag::T_AlterSubscriptionStmt
            | NodeTag::T_DropSubscriptionStmt => true,
            NodeTag::T_VacuumStmt => (*node.cast::<pg_sys::VacuumStmt>()).is_vacuumcmd,
            NodeTag::T_IndexStmt => (*node.cast::<pg_sys::IndexStmt>()).concurrent,
            NodeTag::T_DropStmt => (*node.cast::<pg_sys::DropStmt>()).concurrent,
            NodeTag::T_ClusterStmt => (*node.cast::<pg_sys::ClusterStmt>()).relation.is_null(),
            NodeTag::T_DiscardStmt => (*node.cast::<pg_sys::DiscardStmt>()).target == pg_sys::DiscardMode::DISCARD_ALL,
            NodeTag::T_ReindexStmt => reindexes_outside(&*node.cast::<pg_sys::ReindexStmt>()),
            NodeTag::T_AlterDatabaseStmt => {
                has_option((*node.cast::<pg_sys::AlterDatabaseStmt>()).options, c"tablespace")
            }
            NodeTag::T_AlterTableStmt => detaches_concurrently(&*node.cast::<pg_sys::AlterTableStmt>()),
            _ => false,
        }
    }
}

unsafe fn reindexes_outside(statement: &pg_sys::ReindexStmt) -> bool {
    use pg_sys::ReindexObjectType::{REINDEX_OBJECT_INDEX, REINDEX_OBJECT_TABLE};
    let is_single = [REINDEX_OBJECT_INDEX, REINDEX_OBJECT_TABLE].contains(&statement.kind);
    // SAFETY: a list of DefElem.
    !is_single || unsafe { has_option(statement.params, c"concurrently") }
}

unsafe fn has_option(options: *mut pg_sys::List, name: &CStr) -> bool {
    // SAFETY: a list of DefElem, whose names are C strings.
    unsafe { elements(options).any(|option| CStr::from_ptr((*option.cast::<pg_sys::DefElem>()).defname) == name) }
}

unsafe fn detaches_concurrently(statement: &pg_sys::AlterTableStmt) -> bool {
    // SAFETY: a list of AlterTableCmd; that of DETACH PARTITION has a PartitionCmd.
    unsafe {
        elements(statement.cmds).any(|command| {
            let command = &*command.cast::<pg_sys::AlterTableCmd>();
            command.subtype == pg_sys::AlterTableType::AT_DetachPartition
                && !command.def.is_null()
                && (*command.def.cast::<pg_sys::PartitionCmd>()).concurrent
        })
    }
}
