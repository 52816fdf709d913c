//! The audit: who did what, by person, action, object and time.
//!
//! PostgreSQL finds the acts of an instance, a correlation id or a definition by an index. Otherwise it reads the whole
//! journal, so a visitor who has named nothing yet gets a list only where the journal is small.

use axum::extract::{Query, State};
use axum::response::Response;
use chrono::{DateTime, NaiveDateTime, SecondsFormat, TimeZone as _, Utc};
use tokio_postgres::Row;
use uuid::Uuid;

use super::address;
use crate::gateway::App;
use crate::pages::csv;
use crate::pages::frame::{Frame, PageFailure, Visitor, html};
use crate::pages::inbox::list::instant;
use crate::pages::reader::Reader;
use crate::pages::statement::Statement;
use crate::pages::typed::Typed;
use crate::parameters;
use crate::routing::Routes;

pub fn routes() -> Routes {
    Routes::new().get(PATH, show)
}

const PATH: &str = "/audit";
/// Acts per page.
const PAGE: usize = 50;
/// Maximum number of acts of one time that precede a page.
const MAX_SKIP: usize = 1_000_000;

/// The latest acts. $1: a part of the name of the person or role, in lower case; $2: a part of the action, in lower
/// case, as all actions are; $3: the definition; $4: the instance; $5: the correlation id; $6 and $7: from when until when; $8: the time of the latest
/// one, and $9: how many of that time precede the page; $10: limit. Acts have no id. Those of one time have any fixed
/// order.
const ACTS: &str = concat!(
    "SELECT ",
    instant!("a.at"),
    " AS at, a.kind, a.definition_id, a.instance_id, a.correlation_id, a.activity, a.task, a.role, a.login, a.actor, \
     pg_catalog.left((SELECT pg_catalog.string_agg(pg_catalog.concat(m.key, ': ', \
         m.value OPERATOR(pg_catalog.#>>) '{}'), ' · ') FROM pg_catalog.jsonb_each(CASE WHEN \
         pg_catalog.jsonb_typeof(a.detail) OPERATOR(pg_catalog.=) 'object' THEN a.detail END) m), 1000) AS detail \
     FROM workflow.audit a WHERE ($1 OPERATOR(pg_catalog.=) '' OR pg_catalog.strpos(pg_catalog.lower(\
         pg_catalog.concat_ws(' ', a.actor, a.role, a.login)), $1) OPERATOR(pg_catalog.>) 0) \
       AND ($2 OPERATOR(pg_catalog.=) '' OR pg_catalog.strpos(a.kind, $2) OPERATOR(pg_catalog.>) 0) \
       AND ($3 OPERATOR(pg_catalog.=) '' OR a.definition_id OPERATOR(pg_catalog.=) $3) \
       AND ($4::pg_catalog.uuid IS NULL OR a.instance_id OPERATOR(pg_catalog.=) $4::pg_catalog.uuid) \
       AND ($5 OPERATOR(pg_catalog.=) '' OR a.correlation_id OPERATOR(pg_catalog.=) $5) \
       AND ($6::pg_catalog.timestamptz IS NULL OR a.at OPERATOR(pg_catalog.>=) $6::pg_catalog.timestamptz) \
       AND ($7::pg_catalog.timestamptz IS NULL OR a.at OPERATOR(pg_catalog.<) $7::pg_catalog.timestamptz) \
       AND ($8::pg_catalog.timestamptz IS NULL OR a.at OPERATOR(pg_catalog.<=) $8::pg_catalog.timestamptz) \
     ORDER BY a.at DESC, a.instance_id, a.kind, a.bookmark_id, a.detail OFFSET $9::bigint LIMIT $10::bigint"
);

/// Whether the journal is so small that reading all of it takes little time: as many rows as autovacuum has counted.
const IS_SMALL: &str = "SELECT c.reltuples OPERATOR(pg_catalog.<) 100000::pg_catalog.float4 AS is_small \
     FROM pg_catalog.pg_class c WHERE c.oid OPERATOR(pg_catalog.=) 'workflow.execution_log'::pg_catalog.regclass";

/// The actions that the field proposes.
const ACTIONS: &[&str] = &[
    "start",
    "complete task",
    "fail task",
    "claim task",
    "override task",
    "assign task",
    "resume",
    "send",
    "cancel",
    "retry",
    "pause",
    "unpause",
    "delete",
    "alter",
    "migrate",
    "set owner",
    "erase case",
    "erase actor",
    "define",
    "publish",
    "retract",
    "delete definition",
    "grant",
    "revoke",
    "grant events",
    "grant invoker",
    "grant worker",
    "schedule",
    "alter schedule",
    "unschedule",
    "run schedule",
    "set substitute",
    "remove substitute",
    "limit tasks",
    "replay",
];

/// An act, as the page and the file show it.
struct Act {
    at: Option<DateTime<Utc>>,
    kind: String,
    definition: Option<String>,
    instance: Option<Uuid>,
    correlation_id: Option<String>,
    activity: Option<String>,
    task: Option<String>,
    role: Option<String>,
    /// The role of the session, if it is another one.
    login: Option<String>,
    actor: Option<String>,
    detail: Option<String>,
}

impl From<&Row> for Act {
    fn from(row: &Row) -> Self {
        Self {
            at: row.get("at"),
            kind: row.get("kind"),
            definition: row.get("definition_id"),
            instance: row.get("instance_id"),
            correlation_id: row.get("correlation_id"),
            activity: row.get("activity"),
            task: row.get("task"),
            role: row.get("role"),
            login: row.get("login"),
            actor: row.get("actor"),
            detail: row.get("detail"),
        }
    }
}

impl Act {
    /// The person, or else the role. The engine has acted by itself if there is neither.
    fn who(&self) -> &str {
        self.actor.as_deref().or(self.role.as_deref()).unwrap_or_default()
    }

    /// The roles beside the person.
    fn roles(&self) -> String {
        let role = self.role.as_deref().filter(|role| *role != self.who());
        let login = self.login.as_deref().filter(|login| *login != self.who());
        match (role, login) {
            (Some(role), Some(login)) => format!("{role}, by {login}"),
            (Some(role), None) => role.to_owned(),
            (None, Some(login)) => format!("by {login}"),
            (None, None) => String::new(),
        }
    }

    /// The task or activity that it is about.
    fn subject(&self) -> Option<&str> {
        self.task.as_deref().or(self.activity.as_deref())
    }

    /// The cells of the row in a file.
    fn cells(self) -> Vec<String> {
        let text = Option::<String>::unwrap_or_default;
        vec![
            csv::instant(self.at),
            text(self.actor),
            text(self.role),
            text(self.login),
            self.kind,
            text(self.definition),
            self.instance.map_or_else(String::new, |id| id.to_string()),
            text(self.correlation_id),
            text(self.task),
            text(self.activity),
            text(self.detail),
        ]
    }
}

/// The columns of a file.
const COLUMNS: &[&str] = &[
    "at",
    "person",
    "role",
    "login",
    "action",
    "definition",
    "instance",
    "correlation id",
    "task",
    "activity",
    "detail",
];

/// What the address of the list says. What is no instant counts as none.
struct Asked {
    who: String,
    action: String,
    definition: String,
    /// The id of an instance, or else a correlation id.
    object: String,
    /// Instants in the zone of the reader, as the fields have them.
    from: String,
    to: String,
    /// The time of the latest act of the page, and how many acts of that time precede it.
    upto: Option<(DateTime<Utc>, usize)>,
}

impl Asked {
    fn of(typed: &Typed) -> Self {
        let text = |name: &str| typed.one(name).trim().to_owned();
        let upto = DateTime::parse_from_rfc3339(typed.one("upto")).ok().map(|at| at.to_utc());
        Self {
            who: text("who"),
            action: text("action"),
            definition: text("definition"),
            object: text("object"),
            from: text("from"),
            to: text("to"),
            upto: upto.map(|at| (at, typed.one("skip").parse().map_or(0, |skip: usize| skip.min(MAX_SKIP)))),
        }
    }

    fn pairs(&self) -> [(&'static str, &str); 6] {
        [
            ("who", self.who.as_str()),
            ("action", self.action.as_str()),
            ("definition", self.definition.as_str()),
            ("object", self.object.as_str()),
            ("from", self.from.as_str()),
            ("to", self.to.as_str()),
        ]
    }

    fn is_narrowed(&self) -> bool {
        self.pairs().iter().any(|(_, value)| !value.is_empty()) || self.upto.is_some()
    }

    /// An address with this filter and further pairs.
    fn address(&self, further: &[(&str, &str)]) -> String {
        address(PATH, &[&self.pairs()[..], further].concat())
    }

    /// The statement for so many acts and one more, from a place in the list or from its beginning.
    fn statement(&self, reader: &Reader, upto: Option<(DateTime<Utc>, usize)>, most: usize) -> Statement {
        let instance: Option<Uuid> = self.object.parse().ok();
        let (upto, skip) = upto.unzip();
        let bounds = [skip.unwrap_or_default(), most + 1].map(|number| Some(number.to_string()));
        let correlation_id = if instance.is_some() { String::new() } else { self.object.clone() };
        let filter = vec![
            Some(self.who.to_lowercase()),
            Some(self.action.to_lowercase()),
            Some(self.definition.clone()),
            instance.map(|id| id.to_string()),
            Some(correlation_id),
            instant_of(&self.from, reader).map(exactly),
            instant_of(&self.to, reader).map(exactly),
            upto.map(exactly),
        ];
        Statement::new(ACTS, [filter, bounds.to_vec()].concat())
    }

    /// The address of the page after some acts.
    fn after(&self, acts: &[Act]) -> Option<String> {
        let last = acts.last()?.at?;
        let same = acts.iter().rev().take_while(|act| act.at == Some(last)).count();
        let before = self.upto.filter(|(at, _)| *at == last).map_or(0, |(_, skip)| skip);
        let (at, skip) = (exactly(last), before.saturating_add(same).to_string());
        Some(self.address(&[("upto", at.as_str()), ("skip", skip.as_str())]))
    }
}

/// The instant of a field, which has no zone.
fn instant_of(text: &str, reader: &Reader) -> Option<DateTime<Utc>> {
    let formats = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"];
    let local = formats.into_iter().find_map(|format| NaiveDateTime::parse_from_str(text, format).ok())?;
    Some(reader.zone.from_local_datetime(&local).earliest()?.to_utc())
}

/// An instant with the precision of PostgreSQL.
fn exactly(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Micros, true)
}

#[derive(askama::Template)]
#[template(path = "audit.html")]
struct Page {
    frame: Frame,
    asked: Asked,
    /// `None` if the visitor has to name something first.
    acts: Option<Vec<Act>>,
    /// The address of the next page.
    next: Option<String>,
    sql: String,
}

impl Page {
    fn actions(&self) -> &'static [&'static str] {
        ACTIONS
    }

    /// The address of the list as a file.
    fn file(&self) -> String {
        self.asked.address(&[("format", "csv")])
    }

    /// The latest acts that match, or all of them if the journal is large.
    fn first(&self) -> String {
        self.asked.address(&[("list", "all")])
    }

    fn zone(&self) -> &'static str {
        self.frame.reader.zone.name()
    }
}

async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Query(given): Query<Vec<(String, String)>>,
) -> Result<Response, PageFailure> {
    let typed: Typed = given.into_iter().collect();
    let asked = Asked::of(&typed);
    if typed.one("format") == "csv" {
        let statement = asked.statement(&visitor.reader, None, csv::MOST);
        let rows = statement.read(&app.database, &visitor.caller).await?;
        return Ok(csv::response("audit.csv", COLUMNS, rows.iter().map(|row| Act::from(row).cells())));
    }
    let statement = asked.statement(&visitor.reader, asked.upto, PAGE);
    let frame = Frame::new(&app, &visitor, PATH, "Audit").await?;
    let is_read = asked.is_narrowed() || typed.one("list") == "all" || {
        let small = app.database.read(&visitor.caller, IS_SMALL, parameters![]).await?;
        small.first().is_some_and(|row| row.get("is_small"))
    };
    let (mut acts, mut next) = (None, None);
    if is_read {
        let rows = statement.read(&app.database, &visitor.caller).await?;
        let found: Vec<Act> = rows.iter().take(PAGE).map(Act::from).collect();
        next = if rows.len() > PAGE { asked.after(&found) } else { None };
        acts = Some(found);
    }
    html(&Page { frame, sql: statement.display(), asked, acts, next })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::texts::Language;

    fn asked(pairs: &[(&str, &str)]) -> Asked {
        Asked::of(&pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    fn act(at: &str) -> Act {
        Act {
            at: Some(at.parse().unwrap()),
            kind: "pause".to_owned(),
            definition: None,
            instance: None,
            correlation_id: None,
            activity: None,
            task: None,
            role: Some("ada".to_owned()),
            login: Some("gateway".to_owned()),
            actor: Some("ada".to_owned()),
            detail: None,
        }
    }

    #[test]
    fn a_page_begins_after_the_last_act_of_one_time() {
        let (early, late) = ("2030-01-02T03:04:05.000006Z", "2030-01-02T03:04:06Z");
        let first = asked(&[("who", "a&b")]);
        let next = first.after(&[act(late), act(early), act(early)]).unwrap();
        assert_eq!(next, "/audit?who=a%26b&upto=2030-01-02T03%3A04%3A05.000006Z&skip=2");
        // A page with acts of one time only counts on.
        let second = asked(&[("upto", early), ("skip", "2")]);
        assert!(second.after(&[act(early)]).unwrap().ends_with("&skip=3"));
        let later = asked(&[("upto", late), ("skip", "1")]);
        assert!(later.after(&[act(late), act(early)]).unwrap().ends_with("&skip=1"));
        for wrong in [asked(&[("upto", "yesterday")]), asked(&[])] {
            assert!(wrong.upto.is_none() && wrong.after(&[]).is_none());
        }
    }

    #[test]
    fn fields_have_the_zone_of_the_reader() {
        let reader = Reader { language: Language::English, zone: chrono_tz::Europe::Berlin, is_developer: false };
        let of = |text: &str| instant_of(text, &reader).map(exactly);
        assert_eq!(of("2030-07-01T00:30").as_deref(), Some("2030-06-30T22:30:00.000000Z"));
        assert_eq!(of("2030-01-01T12:00:30").as_deref(), Some("2030-01-01T11:00:30.000000Z"));
        // The hour that summer time leaves out.
        assert_eq!(of("2030-03-31T02:30"), None);
        assert_eq!([of(""), of("2030-13-01T00:00")], [None, None]);
    }

    #[test]
    fn a_person_is_named_once() {
        let act = act("2030-01-02T03:04:05Z");
        assert_eq!((act.who(), act.roles().as_str()), ("ada", "by gateway"));
        let other = Act { actor: Some("bob".to_owned()), ..act };
        assert_eq!((other.who(), other.roles().as_str()), ("bob", "ada, by gateway"));
    }

    #[test]
    fn the_actions_are_those_of_the_documentation() {
        let page = include_str!("../../../../../docs/audit.md");
        let missing: Vec<_> = ACTIONS.iter().filter(|action| !page.contains(&format!("`{action}`"))).collect();
        assert!(missing.is_empty(), "docs/audit.md does not have {missing:?}");
    }
}
