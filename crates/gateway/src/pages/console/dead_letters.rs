//! Dead letters: stimuli and timers that the engine has given up, and their replay, one by one or all that match.

mod replay;

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use chrono::{DateTime, SecondsFormat, Utc};
use tokio_postgres::Row;
use uuid::Uuid;

use super::address;
use crate::failure::Failure;
use crate::gateway::{App, Gateway};
use crate::pages::csv;
use crate::pages::frame::{Frame, PageFailure, Visitor, html};
use crate::pages::inbox::list::instant;
use crate::pages::statement::Statement;
use crate::pages::typed::Typed;
use crate::routing::Routes;

pub fn routes() -> Routes {
    Routes::new().get(PATH, show).post(PATH, replay_one).merge(replay::routes())
}

const PATH: &str = "/dead-letters";
/// Dead letters per page.
const PAGE: usize = 50;

/// Whether a dead letter `d` is among those of a [`Filter`], whose values are $1 and $2.
macro_rules! of_filter {
    () => {
        "($1 OPERATOR(pg_catalog.=) '' OR d.reason OPERATOR(pg_catalog.=) $1) AND ($2 OPERATOR(pg_catalog.=) '' \
         OR EXISTS (SELECT FROM workflow.instance_list l WHERE l.instance_id OPERATOR(pg_catalog.=) d.instance_id \
           AND l.definition_id OPERATOR(pg_catalog.=) $2))"
    };
}
pub(super) use of_filter;

/// The latest ones. $3: whether to include those that were replayed, as `yes`; $4 and $5: the time and the id of the
/// one after which the page begins; $6: limit.
const LETTERS: &str = concat!(
    "SELECT d.dead_letter_id, d.reason, d.sender, d.attempts, pg_catalog.left(d.last_error, 1000) AS last_error, ",
    instant!("d.dead_at"),
    " AS dead, ",
    instant!("d.replayed_at"),
    " AS replayed, d.due_at IS NOT NULL AS is_timer, d.instance_id, d.correlation_id, d.activity_id, \
     coalesce(d.stimulus OPERATOR(pg_catalog.->>) 'EventName', d.name, d.activity_type) AS name, \
     (SELECT l.definition_id FROM workflow.instance_list l \
        WHERE l.instance_id OPERATOR(pg_catalog.=) d.instance_id) AS definition \
     FROM workflow.dead_letter_list d WHERE ",
    of_filter!(),
    " AND ($3 OPERATOR(pg_catalog.=) 'yes' OR d.replayed_at IS NULL) \
      AND ($5::pg_catalog.uuid IS NULL OR ROW(d.dead_at, d.dead_letter_id) OPERATOR(pg_catalog.<) \
        ROW($4::pg_catalog.timestamptz, $5::pg_catalog.uuid)) \
      ORDER BY d.dead_at DESC, d.dead_letter_id DESC LIMIT $6::bigint"
);

const REPLAY: &str = "SELECT @wf.wf_replay($1::pg_catalog.uuid) AS is_delivered";

/// The reasons with what they mean.
const REASONS: [(&str, &str); 3] = [
    ("Expired", "expired: nothing received it in time"),
    ("Failed", "failed three times"),
    ("Gone", "gone: its bookmark ended first"),
];

/// Which dead letters a list has.
#[derive(Clone, Debug, Default)]
struct Filter {
    reason: String,
    definition: String,
}

impl Filter {
    /// The filter in a query string or a form.
    fn of(typed: &Typed) -> Self {
        Self { reason: typed.one("reason").to_owned(), definition: typed.one("definition").trim().to_owned() }
    }

    fn pairs(&self) -> [(&'static str, &str); 2] {
        [("reason", self.reason.as_str()), ("definition", self.definition.as_str())]
    }

    fn is_empty(&self) -> bool {
        self.reason.is_empty() && self.definition.is_empty()
    }

    /// An address with this filter and further pairs.
    fn address(&self, path: &str, further: &[(&str, &str)]) -> String {
        address(path, &[&self.pairs()[..], further].concat())
    }

    /// The values of `of_filter`.
    fn values(&self) -> Vec<Option<String>> {
        vec![Some(self.reason.clone()), Some(self.definition.clone())]
    }
}

struct Letter {
    id: Uuid,
    reason: String,
    sender: Option<String>,
    attempts: i32,
    last_error: Option<String>,
    dead: Option<DateTime<Utc>>,
    replayed: Option<DateTime<Utc>>,
    /// Whether it is a bookmark that could not be fired, and no stimulus.
    is_timer: bool,
    /// The event, or else the kind of the stimulus or the bookmark.
    name: Option<String>,
    instance: Option<Uuid>,
    definition: Option<String>,
    activity: Option<String>,
    correlation_id: Option<String>,
}

impl From<&Row> for Letter {
    fn from(row: &Row) -> Self {
        Self {
            id: row.get("dead_letter_id"),
            reason: row.get("reason"),
            sender: row.get("sender"),
            attempts: row.get("attempts"),
            last_error: row.get("last_error"),
            dead: row.get("dead"),
            replayed: row.get("replayed"),
            is_timer: row.get("is_timer"),
            name: row.get("name"),
            instance: row.get("instance_id"),
            definition: row.get("definition"),
            activity: row.get("activity_id"),
            correlation_id: row.get("correlation_id"),
        }
    }
}

impl Letter {
    fn title(&self) -> &str {
        self.name.as_deref().unwrap_or("any stimulus")
    }

    /// The cells of the row in a file.
    fn cells(self) -> Vec<String> {
        let text = Option::<String>::unwrap_or_default;
        vec![
            self.id.to_string(),
            if self.is_timer { "timer" } else { "stimulus" }.to_owned(),
            text(self.name),
            self.reason,
            self.attempts.to_string(),
            text(self.last_error),
            text(self.sender),
            text(self.definition),
            self.instance.map_or_else(String::new, |id| id.to_string()),
            text(self.activity),
            text(self.correlation_id),
            csv::instant(self.dead),
            csv::instant(self.replayed),
        ]
    }
}

/// The columns of a file.
const COLUMNS: &[&str] = &[
    "dead letter",
    "kind",
    "name",
    "reason",
    "attempts",
    "last error",
    "sender",
    "definition",
    "instance",
    "activity",
    "correlation id",
    "dead since",
    "replayed",
];

/// A page of the list: a filter, and where the page begins.
struct Asked {
    filter: Filter,
    /// Whether those that were replayed are listed, too.
    is_all: bool,
    /// The time and the id of the one after which the page begins.
    after: Option<(DateTime<Utc>, Uuid)>,
}

impl Asked {
    fn of(typed: &Typed) -> Self {
        let at = DateTime::parse_from_rfc3339(typed.one("at")).ok().map(|at| at.to_utc());
        Self {
            filter: Filter::of(typed),
            is_all: typed.one("all") == "yes",
            after: at.zip(typed.one("after").parse().ok()),
        }
    }

    fn all(&self) -> &'static str {
        if self.is_all { "yes" } else { "" }
    }

    /// The statement for so many dead letters, and one more.
    fn statement(&self, most: usize) -> Statement {
        let (at, id) = self.after.map(|(at, id)| (exactly(at), id.to_string())).unzip();
        let further = vec![Some(self.all().to_owned()), at, id, Some((most + 1).to_string())];
        Statement::new(LETTERS, [self.filter.values(), further].concat())
    }

    fn is_narrowed(&self) -> bool {
        !self.filter.is_empty() || self.after.is_some()
    }

    /// The first page of the list.
    fn first(&self) -> String {
        self.filter.address(PATH, &[("all", self.all())])
    }

    /// The page that begins after a dead letter.
    fn after(&self, letter: &Letter) -> Option<String> {
        let at = exactly(letter.dead?);
        let id = letter.id.to_string();
        Some(self.filter.address(PATH, &[("all", self.all()), ("at", at.as_str()), ("after", id.as_str())]))
    }
}

/// An instant with the precision of PostgreSQL.
fn exactly(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Micros, true)
}

#[derive(askama::Template)]
#[template(path = "dead_letters.html")]
struct Page {
    frame: Frame,
    asked: Asked,
    letters: Vec<Letter>,
    /// The address of the next page.
    next: Option<String>,
    failure: Option<Failure>,
    notice: Option<&'static str>,
    sql: String,
}

impl Page {
    fn reasons(&self) -> [(&'static str, &'static str); 3] {
        REASONS
    }

    /// The address of the list as a file.
    fn file(&self) -> String {
        self.asked.filter.address(PATH, &[("all", self.asked.all()), ("format", "csv")])
    }

    /// The page that replays all that match.
    fn replay_all(&self) -> String {
        self.asked.filter.address(replay::PATH, &[])
    }
}

async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Query(given): Query<Vec<(String, String)>>,
) -> Result<Response, PageFailure> {
    let typed: Typed = given.into_iter().collect();
    if typed.one("format") == "csv" {
        let asked = Asked { after: None, ..Asked::of(&typed) };
        let rows = asked.statement(csv::MOST).read(&app.database, &visitor.caller).await?;
        return Ok(csv::response("dead-letters.csv", COLUMNS, rows.iter().map(|row| Letter::from(row).cells())));
    }
    let notice = match typed.one("done") {
        "delivered" => Some("It is delivered."),
        "stored" => Some("It is stored or due, and is delivered as soon as possible."),
        _ => None,
    };
    page(&app, &visitor, Asked::of(&typed), None, notice).await
}

async fn page(
    app: &Gateway,
    visitor: &Visitor,
    asked: Asked,
    failure: Option<Failure>,
    notice: Option<&'static str>,
) -> Result<Response, PageFailure> {
    let statement = asked.statement(PAGE);
    let rows = statement.read(&app.database, &visitor.caller).await?;
    let letters: Vec<Letter> = rows.iter().take(PAGE).map(Letter::from).collect();
    let next = letters.last().filter(|_| rows.len() > PAGE).and_then(|last| asked.after(last));
    let status = failure.as_ref().map_or(StatusCode::OK, |failure| failure.status);
    let response = html(&Page {
        frame: Frame::new(app, visitor, PATH, "Dead letters").await?,
        sql: statement.display(),
        asked,
        letters,
        next,
        failure,
        notice,
    })?;
    Ok((status, response).into_response())
}

/// Replays one, and leads back to the list.
async fn replay_one(State(app): State<App>, visitor: Visitor, typed: Typed) -> Result<Response, PageFailure> {
    let asked = Asked::of(&typed);
    let id = typed.one("id");
    let id: Uuid = id.parse().map_err(|_| Failure::not_found("dead letter", id))?;
    let statement = Statement::new(REPLAY, vec![Some(id.to_string())]);
    match statement.run(&app.database, &visitor.caller).await {
        Ok(rows) => {
            let done = if is_delivered(&rows) { "delivered" } else { "stored" };
            let address = asked.filter.address(PATH, &[("all", asked.all()), ("done", done)]);
            Ok(Redirect::to(&address).into_response())
        }
        Err(failure) if failure.status == StatusCode::UNAUTHORIZED => Err(failure.into()),
        Err(failure) => page(&app, &visitor, asked, Some(failure), None).await,
    }
}

/// Whether a replay has delivered its dead letter at once.
fn is_delivered(rows: &[Row]) -> bool {
    rows.first().and_then(|row| row.get("is_delivered")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_begins_where_its_address_says() {
        let pairs = |pairs: &[(&str, &str)]| -> Typed {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let (at, id) = ("2030-01-02T03:04:05.000006Z", "01900000-0000-7000-8000-000000000001");
        let asked = Asked::of(&pairs(&[("at", at), ("after", id), ("reason", "Gone"), ("all", "yes")]));
        let (since, after) = asked.after.unwrap();
        assert_eq!((exactly(since).as_str(), after.to_string().as_str()), (at, id));
        assert_eq!(asked.first(), "/dead-letters?reason=Gone&all=yes");
        for wrong in [[("at", at), ("after", "x")], [("at", "yesterday"), ("after", id)]] {
            assert!(Asked::of(&pairs(&wrong)).after.is_none());
        }
    }
}
