//! The search path of user SQL.

use std::borrow::Cow;
use std::ffi::{CStr, CString};

use workflow_engine::program::SearchPath;

use crate::compiled::Compiled;
use crate::pg::{PgError, role, session};
use crate::store::definitions;
use crate::store::rights::owners::Owner;

/// Only PostgreSQL's built-in objects. The temporary schema comes last in every path, because its objects belong to the
/// session that runs the SQL.
const BUILT_IN: &CStr = c"pg_catalog, pg_temp";

/// The search path of user SQL.
#[derive(Clone, Debug)]
pub enum UserSearchPath {
    /// The session's.
    CallContext,
    /// This one.
    Path(CString),
}

impl UserSearchPath {
    /// The search path for a burst of a definition.
    pub fn of(compiled: &Compiled, lacks_caller: bool) -> Self {
        match &compiled.program.options.search_path {
            SearchPath::Schemas(names) => {
                let names = names.iter().filter(|name| *name != "pg_temp").map(|name| session::quoted(name));
                Self::path(&names.collect::<Vec<_>>().join(", "))
            }
            SearchPath::Caller => Self::CallContext,
            SearchPath::Unset if compiled.row.definer => Self::path(""),
            SearchPath::Unset if !lacks_caller => Self::CallContext,
            SearchPath::Unset => {
                definitions::search_path(compiled.row.id).map_or(Self::CallContext, |path| Self::path(&path))
            }
        }
    }

    fn path(schemas: &str) -> Self {
        let path = if schemas.is_empty() { None } else { CString::new(format!("{schemas}, pg_temp")).ok() };
        Self::Path(path.unwrap_or_else(|| BUILT_IN.to_owned()))
    }

    /// Runs `body` under this search path, with the rights of the session.
    pub fn during<R>(&self, body: impl FnOnce() -> R) -> R {
        match self {
            Self::CallContext => body(),
            Self::Path(path) => role::with_search_path(path, body),
        }
    }

    /// The search path for SQL with the rights of a role other than the session's. It is never the session's own.
    pub fn restricted(&self) -> Cow<'_, CStr> {
        match self {
            Self::CallContext => BUILT_IN.into(),
            Self::Path(path) => path.as_c_str().into(),
        }
    }

    /// The hint of an error of user SQL. If a name was not found, the hint says where it was looked up; if a right was
    /// missing, whose rights the SQL had.
    pub fn hint(&self, error: &PgError, rights: Option<&Owner>) -> Option<String> {
        let who = || rights.map_or_else(|| Some(role::current()), Owner::role).and_then(role::name).unwrap_or_default();
        let add =
            |text: String| Some(error.hint.as_ref().map_or_else(|| text.clone(), |hint| format!("{hint} {text}")));
        match error.sqlstate.as_str() {
            "42P01" | "42883" | "3F000" => {}
            "42501" => return add(format!("The SQL ran with the rights of role \"{}\".", who())),
            _ => return error.hint.clone(),
        }
        let path = match (self, rights) {
            (Self::CallContext, None) => session::setting(c"search_path"),
            _ => self.restricted().to_string_lossy().into_owned(),
        };
        add(format!(
            "Names were looked up in {path}, as role \"{}\". To look elsewhere, set options.searchPath.",
            who()
        ))
    }
}
