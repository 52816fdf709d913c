//! What people say about a task, who else was asked and how they voted, and whom they can ask instead.

use chrono::{DateTime, Utc};
use serde::Deserialize;
use uuid::Uuid;

use crate::failure::Failure;
use crate::gateway::Gateway;
use crate::pages::frame::Visitor;
use crate::pages::inbox::answers::pill;
use crate::pages::inbox::list::{OpenTask, instant, person};
use crate::pages::requests::{Step, steps};
use crate::{json, parameters};

/// The comments on a task; the engine accepts at most 100. $1: the task.
const COMMENTS: &str = concat!(
    "SELECT coalesce(c.actor, c.role) AS by, ",
    instant!("c.at"),
    " AS at, c.comment, c.attachments::pg_catalog.text AS attachments \
     FROM workflow.task_comments c WHERE c.task_id OPERATOR(pg_catalog.=) $1 ORDER BY c.number"
);

/// The other tasks with the name $2 of the instance $1, as far as the role may read them: those of the same approval.
/// $3: the task.
const OTHERS: &str = concat!(
    "SELECT ",
    steps!(
        "s.instance_id OPERATOR(pg_catalog.=) $1 AND s.name OPERATOR(pg_catalog.=) $2 \
         AND s.task_id OPERATOR(pg_catalog.<>) $3"
    )
);

/// The latest 200 votes in the approval of a task: votes may be changed any number of times. $1: the task.
const VOTES: &str = concat!(
    "SELECT coalesce(v.actor, v.role) AS by, v.voter, v.in_place_of, v.vote, ",
    instant!("v.completed_at"),
    " AS at, v.used FROM workflow.approval_votes v WHERE v.task_id OPERATOR(pg_catalog.=) $1 \
     ORDER BY v.completed_at DESC, v.vote_task_id DESC LIMIT 200"
);

/// Roles that log in and are members of a role that is a candidate of the task. $1: the candidates.
const COLLEAGUES: &str = "SELECT r.rolname::pg_catalog.text AS name FROM pg_catalog.pg_roles r \
    WHERE r.rolcanlogin AND r.rolname OPERATOR(pg_catalog.<>) current_user AND EXISTS (\
        SELECT FROM pg_catalog.pg_roles c WHERE 'role:' OPERATOR(pg_catalog.||) c.rolname OPERATOR(pg_catalog.=) ANY ($1) \
           AND pg_catalog.pg_has_role(r.oid, c.oid, 'MEMBER') AND NOT r.rolsuper) ORDER BY 1 LIMIT 200";

/// A vote in the approval to which a task belongs.
pub struct Vote {
    pub by: String,
    pub at: Option<DateTime<Utc>>,
    pub is_used: bool,
    voter: String,
    in_place_of: Option<String>,
    vote: Option<String>,
}

impl Vote {
    /// The vote as a pill: its class, and the key of its text.
    pub fn pill(&self) -> Option<(&'static str, &'static str)> {
        self.vote.as_deref().and_then(pill)
    }

    /// Who was asked, unless this person voted.
    pub fn group(&self) -> Option<&str> {
        Some(person(&self.voter)).filter(|voter| *voter != self.by)
    }

    /// The absent person for whom a substitute voted.
    pub fn absent(&self) -> Option<&str> {
        self.in_place_of.as_deref().map(person)
    }
}

pub struct Comment {
    pub by: String,
    pub at: Option<DateTime<Utc>>,
    pub text: Option<String>,
    pub attachments: Vec<Attachment>,
}

/// A reference to a file that is kept elsewhere.
#[derive(Deserialize)]
pub struct Attachment {
    pub name: String,
    pub uri: String,
}

impl Attachment {
    /// Whether a browser opens it. Other addresses are shown as they are.
    pub fn is_link(&self) -> bool {
        self.uri.starts_with("https://") || self.uri.starts_with("http://")
    }
}

pub async fn comments(app: &Gateway, visitor: &Visitor, task: Uuid) -> Result<Vec<Comment>, Failure> {
    let rows = app.database.read(&visitor.caller, COMMENTS, parameters![task]).await?;
    let attachments = |text: &str| json::read(text.as_bytes()).ok().and_then(|list| serde_json::from_value(list).ok());
    let comment = |row: &tokio_postgres::Row| Comment {
        by: row.get::<_, Option<String>>("by").unwrap_or_default(),
        at: row.get("at"),
        text: row.get("comment"),
        attachments: attachments(row.get("attachments")).unwrap_or_default(),
    };
    Ok(rows.iter().map(comment).collect())
}

/// The votes in the approval of a task, open or not, oldest first. Empty: it is no vote, or votes are secret.
pub async fn votes(app: &Gateway, visitor: &Visitor, task: Uuid) -> Result<Vec<Vote>, Failure> {
    let rows = app.database.read(&visitor.caller, VOTES, parameters![task]).await?;
    let vote = |row: &tokio_postgres::Row| Vote {
        by: row.get::<_, Option<String>>("by").unwrap_or_default(),
        at: row.get("at"),
        is_used: row.get("used"),
        voter: row.get::<_, Option<String>>("voter").unwrap_or_default(),
        in_place_of: row.get("in_place_of"),
        vote: row.get("vote"),
    };
    Ok(rows.iter().rev().map(vote).collect())
}

/// Who else was asked the same, and who of them has answered.
pub async fn others(app: &Gateway, visitor: &Visitor, task: &OpenTask) -> Result<Vec<Step>, Failure> {
    let values = parameters![task.instance, task.name.as_str(), task.id];
    let rows = app.database.read(&visitor.caller, OTHERS, values).await?;
    Ok(rows.first().map_or_else(Vec::new, Step::list))
}

/// Names to choose from. Others can be typed.
pub async fn colleagues(app: &Gateway, visitor: &Visitor, candidates: &[String]) -> Result<Vec<String>, Failure> {
    let rows = app.database.read(&visitor.caller, COLLEAGUES, parameters![candidates.to_vec()]).await?;
    Ok(rows.iter().map(|row| row.get("name")).collect())
}
