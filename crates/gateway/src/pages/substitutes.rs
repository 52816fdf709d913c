//! Substitutes: who answers tasks in place of the visitor, and for whom the visitor answers.

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use chrono::{DateTime, Days, NaiveDate, NaiveTime, TimeZone as _, Utc};
use chrono_tz::{GapInfo, Tz};

use super::frame::{Frame, PageFailure, Visitor, html};
use super::inbox::DoneQuery;
use super::inbox::list::{instant, my_names, person};
use super::statement::Statement;
use super::typed::Typed;
use crate::failure::Failure;
use crate::gateway::{App, Gateway};
use crate::parameters;
use crate::routing::Routes;

pub fn routes() -> Routes {
    Routes::new().get("/substitutes", show).post("/substitutes", change)
}

/// The substitutes of the visitor, and those that the visitor is.
const SUBSTITUTES: &str = concat!(
    "SELECT s.person, s.substitute, ",
    instant!("s.starts_at"),
    " AS since, ",
    instant!("s.ends_at"),
    " AS until, s.in_force, s.person OPERATOR(pg_catalog.=) ANY (",
    my_names!(),
    ") AS is_mine FROM workflow.substitute_list s WHERE s.person OPERATOR(pg_catalog.=) ANY (",
    my_names!(),
    ") OR s.substitute OPERATOR(pg_catalog.=) ANY (",
    my_names!(),
    ") ORDER BY s.starts_at, s.substitute LIMIT 200"
);

struct Substitution {
    person: String,
    substitute: String,
    since: Option<DateTime<Utc>>,
    until: Option<DateTime<Utc>>,
    is_in_force: bool,
    /// Whether the visitor is the absent person.
    is_mine: bool,
}

impl Page<'_> {
    /// The substitute who was typed and not accepted.
    fn named(&self) -> &str {
        person(self.typed.one("substitute"))
    }
}

impl Substitution {
    /// The other one of the two, as people name them.
    fn other(&self) -> &str {
        person(if self.is_mine { &self.substitute } else { &self.person })
    }
}

#[derive(askama::Template)]
#[template(path = "substitutes.html")]
struct Page<'a> {
    frame: Frame,
    substitutions: Vec<Substitution>,
    typed: &'a Typed,
    failure: Option<Failure>,
    notice: Option<&'static str>,
}

async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Query(done): Query<DoneQuery>,
) -> Result<Response, PageFailure> {
    let notice = match done.done.as_str() {
        "set" => Some(visitor.reader.t("substitutes.set")),
        "removed" => Some(visitor.reader.t("substitutes.removed")),
        _ => None,
    };
    page(&app, &visitor, &Typed::default(), None, notice).await
}

async fn page(
    app: &Gateway,
    visitor: &Visitor,
    typed: &Typed,
    failure: Option<Failure>,
    notice: Option<&'static str>,
) -> Result<Response, PageFailure> {
    let rows = app.database.read(&visitor.caller, SUBSTITUTES, parameters![]).await?;
    let substitution = |row: &tokio_postgres::Row| Substitution {
        person: row.get("person"),
        substitute: row.get("substitute"),
        since: row.get("since"),
        until: row.get("until"),
        is_in_force: row.get("in_force"),
        is_mine: row.get::<_, Option<bool>>("is_mine").unwrap_or_default(),
    };
    let status = failure.as_ref().map_or(StatusCode::OK, |failure| failure.status);
    let response = html(&Page {
        frame: Frame::new(app, visitor, "/substitutes", visitor.reader.t("substitutes.title")).await?,
        substitutions: rows.iter().map(substitution).collect(),
        typed,
        failure,
        notice,
    })?;
    Ok((status, response).into_response())
}

async fn change(State(app): State<App>, visitor: Visitor, typed: Typed) -> Result<Response, PageFailure> {
    let done = match typed.one("do") {
        "set" => set(&app, &visitor, &typed).await.map(|()| "set"),
        "remove" => remove(&app, &visitor, &typed).await.map(|()| "removed"),
        other => Err(Failure::bad_request(format!("substitutes cannot be asked to {other:?}"))),
    };
    match done {
        Ok(done) => Ok(Redirect::to(&format!("/substitutes?done={done}")).into_response()),
        Err(failure) if failure.status == StatusCode::UNAUTHORIZED => Err(failure.into()),
        Err(failure) => page(&app, &visitor, &typed, Some(failure), None).await,
    }
}

/// Sets a substitute for whole days in the zone of the visitor. Without a first day the period begins at once.
async fn set(app: &Gateway, visitor: &Visitor, typed: &Typed) -> Result<(), Failure> {
    let zone = visitor.reader.zone;
    let since = typed.non_empty("since").map(|day| Ok::<_, Failure>(begin(date(&day)?, zone))).transpose()?;
    let last = date(typed.one("until"))?;
    let until = last.checked_add_days(Days::new(1)).map(|day| begin(day, zone));
    let statement = Statement::new(
        "SELECT @wf.wf_set_substitute($1, $2, $3::pg_catalog.timestamptz, $4::pg_catalog.timestamptz)",
        vec![Some(visitor.entry()), Some(visitor.entry_of(typed.one("substitute").trim())), until, since],
    );
    statement.run(&app.database, &visitor.caller).await.map(|_| ())
}

async fn remove(app: &Gateway, visitor: &Visitor, typed: &Typed) -> Result<(), Failure> {
    let statement = Statement::new(
        "SELECT @wf.wf_remove_substitute($1, $2)",
        vec![Some(visitor.entry()), Some(typed.one("substitute").to_owned())],
    );
    statement.run(&app.database, &visitor.caller).await.map(|_| ())
}

fn date(text: &str) -> Result<NaiveDate, Failure> {
    text.parse().map_err(|_| Failure::bad_request(format!("{text:?} is no date, such as 2030-12-31")))
}

/// The first instant of a day in a zone, as text. Where clocks skip midnight, or the whole day, it is the first instant
/// after what they skip.
fn begin(day: NaiveDate, zone: Tz) -> String {
    let midnight = day.and_time(NaiveTime::MIN);
    let skipped_to = || GapInfo::new(&midnight, &zone)?.end;
    let first = zone.from_local_datetime(&midnight).earliest().or_else(skipped_to);
    first.map_or_else(|| midnight.and_utc(), |first| first.with_timezone(&Utc)).to_rfc3339()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_begin_at_their_first_instant_in_the_zone() {
        let begin = |day: &str, zone| begin(date(day).unwrap(), zone);
        assert_eq!(begin("2030-07-01", Tz::Europe__Berlin), "2030-06-30T22:00:00+00:00");
        // No midnight: clocks went from 0 to 1 o'clock, which was 3 o'clock in UTC.
        assert_eq!(begin("2018-11-04", Tz::America__Sao_Paulo), "2018-11-04T03:00:00+00:00");
        // Two midnights: clocks went from 1 to 0 o'clock.
        assert_eq!(begin("2025-11-02", Tz::America__Havana), "2025-11-02T04:00:00+00:00");
        // No such day: at the end of the day before, the zone changed to the other side of the date line.
        assert_eq!(begin("2011-12-30", Tz::Pacific__Apia), "2011-12-30T10:00:00+00:00");
        assert!(date("1 July").is_err() && date("").is_err());
    }
}
