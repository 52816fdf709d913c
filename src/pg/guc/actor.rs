//! `workflow.actor`.

use std::ffi::{CStr, CString, c_char, c_void};

use pgrx::guc::{GucContext, GucFlags, GucRegistry, GucSetting};
use pgrx::pg_sys;

use crate::pg::entry::is_in_call;

static ACTOR: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(None);

/// The prefix of a role among the candidates of a task, also in the tables.
const ROLE: &str = "role:";

/// Maximum length of an actor's name in bytes.
const LONGEST: usize = 200;

pub(super) fn define() {
    // SAFETY: the hook keeps to what PostgreSQL asks of one.
    unsafe {
        GucRegistry::define_string_guc_with_hooks(
            c"workflow.actor",
            c"Name of the person for whom this session acts.",
            c"Calls record it beside the role. It must be set for one transaction, with SET LOCAL.",
            &ACTOR,
            GucContext::Suset,
            // PostgreSQL asks for no right in RESET ALL, by which SQL of users could take the actor away.
            GucFlags::NO_RESET_ALL,
            Some(check),
            None,
            None,
        );
    }
}

/// The prefix of a pseudonym, which replaces an erased actor. No actor has it.
pub const PSEUDONYM: &str = "erased-";

/// Whether a stored actor is a pseudonym.
pub fn is_pseudonym(actor: &str) -> bool {
    actor.starts_with(PSEUDONYM)
}

/// Why a text cannot be the name of an actor.
///
/// # Errors
/// The reason, as a sentence.
pub fn check_actor(actor: &str) -> Result<(), String> {
    match actor.trim_start() {
        pseudonym if is_pseudonym(pseudonym) => {
            Err(format!("\"{PSEUDONYM}\" begins a pseudonym, which stands for an actor that was erased."))
        }
        name => check_no_role(name).and_then(|()| check_name(actor)),
    }
}

/// Why a text cannot be an actor, if it names a role.
///
/// # Errors
/// The reason, as a sentence.
pub fn check_no_role(actor: &str) -> Result<(), String> {
    match actor.starts_with(ROLE) {
        true => Err(format!("\"{ROLE}\" begins a candidate that is a role.")),
        false => Ok(()),
    }
}

/// Why a text can be neither an actor nor a pseudonym.
///
/// # Errors
/// The reason, as a sentence.
pub fn check_name(actor: &str) -> Result<(), String> {
    match actor {
        _ if actor.len() > LONGEST => Err(format!("An actor has at most {LONGEST} bytes.")),
        _ if actor.chars().any(char::is_control) => Err("An actor has no control characters.".to_owned()),
        _ => Ok(()),
    }
}

/// `workflow.actor`, if it is set.
pub fn actor() -> Option<String> {
    let text = ACTOR.get()?;
    let text = text.to_string_lossy();
    (!text.trim().is_empty()).then(|| text.trim().to_owned())
}

unsafe extern "C-unwind" fn check(
    value: *mut *mut c_char,
    _extra: *mut *mut c_void,
    _source: pg_sys::GucSource::Type,
) -> bool {
    // SAFETY: PostgreSQL passes a C string or null; the detail is allocated as PostgreSQL allocates it.
    unsafe {
        if (*value).is_null() {
            return true;
        }
        let text = CStr::from_ptr(*value).to_string_lossy();
        let refused = match check_actor(&text) {
            Err(reason) => Some(reason),
            Ok(()) if !text.is_empty() && is_in_call() => Some("SQL of a workflow cannot change who acts.".to_owned()),
            Ok(()) => None,
        };
        let Some(reason) = refused else { return true };
        if let Ok(reason) = CString::new(reason) {
            pg_sys::GUC_check_errdetail_string = pg_sys::pstrdup(reason.as_ptr());
        }
        false
    }
}
