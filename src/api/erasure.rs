//! `wf_erase`.

use crate::pg::symbols::sql_functions;
use crate::pg::{Call, PgError, Returned, actor, guc, role};
use crate::run::Session;
use crate::run::call::work;
use crate::run::maintenance::erase as erasure;
use crate::store::maintenance::removal::Tally;

sql_functions! {
    wf_erase(correlation_id: Text, actor: Text, pseudonym: Text, force: Boolean, max: Integer) => erase;
}

fn erase(call: &Call) -> Result<Returned, PgError> {
    let (case, actor): (Option<String>, Option<String>) = (call.arg("correlation_id"), call.arg("actor"));
    let pseudonym: Option<String> = call.arg("pseudonym");
    let force: bool = call.required("force")?;
    let max: i32 = call.required("max")?;
    if max < 1 {
        return Err(PgError::new("22023", format!("argument \"max\" must be at least 1, not {max}")));
    }
    let max = usize::try_from(max).unwrap_or(usize::MAX);
    let tally = match (case.as_deref(), actor.as_deref()) {
        (Some(case), None) if pseudonym.is_none() => {
            let case = named("correlation_id", case)?;
            work::call(&mut Session::begin(), |session| erasure::erase_case(session, case, force, max))?
        }
        (None, Some(actor)) if !force => {
            let actor = named("actor", actor)?;
            guc::check_no_role(actor)
                .map_err(|reason| PgError::new("22023", "invalid value for argument \"actor\"").detail(reason))?;
            let pseudonym = pseudonym.as_deref().map(|pseudonym| checked(pseudonym, actor)).transpose()?;
            work::call(&mut Session::begin(), |session| erasure::erase_actor(session, actor, pseudonym, max))?
        }
        (Some(_), None) => return Err(PgError::new("22023", "argument \"pseudonym\" is for an actor")),
        (None, Some(_)) => return Err(PgError::new("22023", "argument \"force\" is for a correlation id")),
        _ => {
            return Err(PgError::new("22023", "exactly one of \"correlation_id\" and \"actor\" must be given")
                .hint("wf_erase(correlation_id => …) erases a case, wf_erase(actor => …) a person."));
        }
    };
    Ok(rows(&tally))
}

fn named<'a>(argument: &str, text: &'a str) -> Result<&'a str, PgError> {
    match text.trim().is_empty() {
        true => Err(PgError::new("22023", format!("argument \"{argument}\" must not be empty"))),
        false => Ok(text),
    }
}

/// A pseudonym that can stand for an actor. The choice says whose acts they are, as the setting does.
fn checked<'a>(pseudonym: &'a str, erased: &str) -> Result<&'a str, PgError> {
    let pseudonym = named("pseudonym", pseudonym)?;
    let invalid = |reason: String| PgError::new("22023", "invalid value for argument \"pseudonym\"").detail(reason);
    guc::check_name(pseudonym).map_err(invalid)?;
    if !guc::is_pseudonym(pseudonym) {
        return Err(invalid(format!("A pseudonym begins with \"{}\", so it is no name of an actor.", guc::PSEUDONYM)));
    }
    if pseudonym == erased {
        return Err(PgError::new("22023", "argument \"pseudonym\" must not be the actor"));
    }
    match actor::may_be_set_by(role::current()) {
        true => Ok(pseudonym),
        false => Err(PgError::new("42501", "permission denied to choose a pseudonym")
            .detail("It needs the right to set workflow.actor.")
            .hint("Without the argument \"pseudonym\" one is made.")),
    }
}

fn rows(tally: &Tally) -> Returned {
    let number = |count: u64| Returned::BigInt(count.cast_signed());
    let row = |(table, rows): (&str, crate::store::maintenance::removal::Rows)| {
        vec![Returned::Text(table.to_owned()), number(rows.done), number(rows.kept)]
    };
    Returned::Rows(tally.tables().map(row).collect())
}
