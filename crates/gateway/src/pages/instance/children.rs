//! The children of an instance, in the order in which they were started.

use axum::extract::{Path, Query, State};
use axum::response::Response;
use chrono::{DateTime, Utc};
use serde::Deserialize;
use tokio_postgres::Row;
use uuid::Uuid;

use super::{Heading, state_class};
use crate::failure::Failure;
use crate::gateway::{App, Gateway};
use crate::pages::frame::{Frame, PageFailure, Visitor, html};
use crate::pages::inbox::list::{definition_name, instant};
use crate::parameters;

/// Children on the page of the instance, and on a page of the list.
pub const FIRST: usize = 20;
const PAGE: usize = 100;

/// Children of the instance $1 after the child $2, or from the first one; $3: limit. Ids are in the order of time.
const CHILDREN: &str = concat!(
    "SELECT c.instance_id, ",
    definition_name!("c"),
    " AS definition, c.name, c.correlation_id, c.sub_status, c.paused_at IS NOT NULL AS is_paused, ",
    instant!("c.created_at"),
    " AS created, ",
    instant!("c.finished_at"),
    " AS finished FROM workflow.instance_list c WHERE c.parent_instance_id OPERATOR(pg_catalog.=) $1 \
       AND ($2 IS NULL OR c.instance_id OPERATOR(pg_catalog.>) $2) ORDER BY c.instance_id LIMIT $3"
);

/// An instance that another one has started.
pub struct Child {
    pub id: Uuid,
    pub definition: String,
    pub name: Option<String>,
    pub correlation_id: Option<String>,
    pub sub_status: String,
    pub is_paused: bool,
    pub created: Option<DateTime<Utc>>,
    pub finished: Option<DateTime<Utc>>,
}

impl From<&Row> for Child {
    fn from(row: &Row) -> Self {
        Self {
            id: row.get("instance_id"),
            definition: row.get("definition"),
            name: row.get("name"),
            correlation_id: row.get("correlation_id"),
            sub_status: row.get("sub_status"),
            is_paused: row.get("is_paused"),
            created: row.get("created"),
            finished: row.get("finished"),
        }
    }
}

impl Child {
    /// The class of the pill with its state.
    pub fn class(&self) -> &'static str {
        state_class(&self.sub_status, self.is_paused)
    }
}

/// Children of an instance that follow one another.
pub struct Children {
    parent: Uuid,
    pub list: Vec<Child>,
    /// Whether there are later ones.
    has_more: bool,
}

impl Children {
    /// So many children after one, or from the first one.
    pub async fn read(
        app: &Gateway,
        visitor: &Visitor,
        id: Uuid,
        after: Option<Uuid>,
        most: usize,
    ) -> Result<Self, Failure> {
        let limit = most as i64 + 1;
        let rows = app.database.read(&visitor.caller, CHILDREN, parameters![id, after, limit]).await?;
        let list = rows.iter().take(most).map(Child::from).collect();
        Ok(Self { parent: id, list, has_more: rows.len() > most })
    }

    /// The address of the page after these.
    pub fn next(&self) -> Option<String> {
        let last = self.list.last().filter(|_| self.has_more)?;
        Some(format!("/instances/{}/children?after={}", self.parent, last.id))
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct PageQuery {
    /// The child after which the page begins.
    after: String,
}

#[derive(askama::Template)]
#[template(path = "instance_children.html")]
struct Page {
    frame: Frame,
    id: Uuid,
    title: String,
    children: Children,
    is_first: bool,
}

pub async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Path(id): Path<String>,
    Query(asked): Query<PageQuery>,
) -> Result<Response, PageFailure> {
    let Heading { id, title } = Heading::read(&app, &visitor, &id).await?;
    let after = asked.after.parse().ok();
    let children = Children::read(&app, &visitor, id, after, PAGE).await?;
    html(&Page {
        frame: Frame::new(&app, &visitor, "/instances", format!("Children of {title}")).await?,
        id,
        title,
        children,
        is_first: after.is_none(),
    })
}
