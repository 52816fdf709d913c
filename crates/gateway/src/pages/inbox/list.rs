//! The list of open tasks: its address, its statements, and the tasks in it.

use chrono::{DateTime, Utc};
use serde::Deserialize;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::failure::Failure;
use crate::gateway::Gateway;
use crate::pages::frame::Visitor;
use crate::parameters;

/// Tasks per page.
const PAGE: usize = 50;
/// Maximum length of a list; it contains the oldest tasks.
const MAX_TASKS: u32 = 10_000;

/// An instant that has a date in our calendar, else NULL.
macro_rules! instant {
    ($value:literal) => {
        concat!(
            "CASE WHEN pg_catalog.isfinite(",
            $value,
            ") AND ",
            $value,
            " OPERATOR(pg_catalog.<) '9999-12-31 00:00:00+00'::pg_catalog.timestamptz THEN ",
            $value,
            " END"
        )
    };
}
pub(crate) use instant;

/// The name of a row's definition, or its id: a role with a task need not be able to read the definition.
macro_rules! definition_name {
    ($row:literal) => {
        concat!(
            "coalesce((SELECT d.name FROM workflow.definition_list d WHERE d.definition_id OPERATOR(pg_catalog.=) ",
            $row,
            ".definition_id AND d.is_latest), ",
            $row,
            ".definition_id)"
        )
    };
}
pub(crate) use definition_name;

/// The name of the workflow of a task `t`, or its id.
macro_rules! task_definition {
    () => {
        "coalesce((SELECT w.definition_name FROM workflow.task_definitions w \
            WHERE w.task_id OPERATOR(pg_catalog.=) t.task_id), t.definition_id)"
    };
}
pub(crate) use task_definition;

/// What a payload is about, in a line: its subject, or else its first values.
macro_rules! about {
    ($row:literal) => {
        concat!(
            "pg_catalog.left(coalesce(CASE WHEN pg_catalog.jsonb_typeof(",
            $row,
            ".payload OPERATOR(pg_catalog.->) 'subject') OPERATOR(pg_catalog.=) 'string' THEN ",
            $row,
            ".payload OPERATOR(pg_catalog.->>) 'subject' END, \
             (SELECT pg_catalog.string_agg(e.line, ' · ') FROM (SELECT pg_catalog.concat(m.key, ': ', \
                m.value OPERATOR(pg_catalog.#>>) '{}') AS line FROM pg_catalog.jsonb_each(CASE WHEN \
                pg_catalog.jsonb_typeof(",
            $row,
            ".payload) OPERATOR(pg_catalog.=) 'object' THEN ",
            $row,
            ".payload END) m WHERE pg_catalog.jsonb_typeof(m.value) OPERATOR(pg_catalog.=) \
                ANY ('{string,number,boolean}'::pg_catalog.text[]) LIMIT 3) e), ",
            $row,
            ".correlation_id, ''), 300)"
        )
    };
}
pub(crate) use about;

/// The title of a task in a message: its subject, or else the name in the second parameter.
macro_rules! title {
    ($row:literal, $name:literal) => {
        concat!(
            "pg_catalog.left(coalesce(CASE WHEN pg_catalog.jsonb_typeof(",
            $row,
            ".payload OPERATOR(pg_catalog.->) 'subject') OPERATOR(pg_catalog.=) 'string' THEN ",
            $row,
            ".payload OPERATOR(pg_catalog.->>) 'subject' END, ",
            $name,
            "), 300)"
        )
    };
}
pub(crate) use title;

/// The columns of an [`OpenTask`], of a task `t`.
macro_rules! task_columns {
    () => {
        concat!(
            "t.task_id, t.instance_id, coalesce(t.name, t.activity_id) AS name, ",
            task_definition!(),
            " AS definition, ",
            about!("t"),
            " AS about, t.definition_owner, t.excluded, t.correlation_id, t.assignee, CASE WHEN t.assignee \
               OPERATOR(pg_catalog.=) ANY (",
            my_names!(),
            ") THEN NULL ELSE t.assignee END AS other_assignee, t.candidates, ",
            instant!("t.created_at"),
            " AS created, ",
            instant!("t.deadline"),
            " AS deadline, coalesce(t.deadline OPERATOR(pg_catalog.<) pg_catalog.now(), false) AS is_late, t.priority, \
             CASE WHEN t.lease_until OPERATOR(pg_catalog.>) pg_catalog.now() THEN coalesce(t.worker, '') END \
               AS worker, \
             t.paused_at IS NOT NULL AS is_paused"
        )
    };
}
pub(crate) use task_columns;

/// Names of the visitor: the role, and the actor if there is one.
macro_rules! my_names {
    () => {
        "ARRAY['role:' OPERATOR(pg_catalog.||) current_user, pg_catalog.current_setting('workflow.actor', true)]"
    };
}
pub(crate) use my_names;

/// The names under which a task can be for the visitor, directly or not: the roles of the visitor, the groups in the
/// parameter, and the absent people for whom the visitor is a substitute, with their roles.
macro_rules! my_groups {
    ($groups:literal) => {
        concat!(
            "ARRAY(WITH absent AS (SELECT s.person FROM workflow.substitute_list s \
                WHERE s.in_force AND s.substitute OPERATOR(pg_catalog.=) ANY (",
            my_names!(),
            ")) SELECT 'role:' OPERATOR(pg_catalog.||) r.rolname FROM pg_catalog.pg_roles r CROSS JOIN (\
                SELECT m.oid FROM pg_catalog.pg_roles m WHERE m.rolname OPERATOR(pg_catalog.=) current_user \
                   OR 'role:' OPERATOR(pg_catalog.||) m.rolname OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT a.person FROM absent a))) m \
              WHERE pg_catalog.pg_has_role(m.oid, r.oid, 'MEMBER') \
              UNION ALL SELECT a.person FROM absent a \
              UNION ALL SELECT pg_catalog.unnest(",
            $groups,
            "))"
        )
    };
}

/// Whether a task is for the visitor in person.
macro_rules! mine {
    () => {
        concat!(
            "coalesce(t.assignee OPERATOR(pg_catalog.=) ANY (",
            my_names!(),
            "), t.candidates OPERATOR(pg_catalog.&&) ",
            my_names!(),
            ", false)"
        )
    };
}

/// Whether a task is for the visitor, in person or as a member of a group.
macro_rules! for_me {
    ($groups:literal) => {
        concat!(
            "(t.assignee OPERATOR(pg_catalog.=) ANY (",
            my_groups!($groups),
            ") OR t.candidates OPERATOR(pg_catalog.&&) ",
            my_groups!($groups),
            " OR ",
            mine!(),
            ")"
        )
    };
}

/// Tasks that satisfy a condition and do not exclude the visitor, in an order. $1: offset; $2: limit; $3: a text that
/// they contain, in lower case; $4: whether to include tasks that are not for people; $5: the visitor's groups that are
/// no roles; $6: whether to list only what is late.
///
/// Each statement has all parameters, whether or not its condition needs them.
///
/// Each of the visitor's roles is looked up once, and the view is read in its own order (by age), no further than
/// necessary.
macro_rules! tasks {
    ($condition:expr, $order:expr) => {
        concat!(
            "SELECT ",
            task_columns!(),
            " FROM (SELECT * FROM workflow.open_tasks t WHERE ",
            $condition,
            " AND NOT t.excluded AND $5::pg_catalog.text[] IS NOT NULL AND ($4 OR t.assignee IS NOT NULL OR t.candidates IS NOT NULL OR t.form IS NOT NULL) \
              AND (NOT $6 OR t.deadline OPERATOR(pg_catalog.<) pg_catalog.now()) \
              AND ($3 OPERATOR(pg_catalog.=) '' OR pg_catalog.strpos(pg_catalog.lower(pg_catalog.concat_ws(' ', t.name, ",
            about!("t"),
            ", ",
            task_definition!(),
            ", t.correlation_id)), $3) OPERATOR(pg_catalog.>) 0) LIMIT 10000) t ORDER BY ",
            $order,
            " OFFSET $1 LIMIT $2"
        )
    };
}

/// The statements of a condition in each order.
macro_rules! ordered {
    ($order:expr, $condition:expr) => {
        match $order {
            Order::Age => tasks!($condition, "t.task_id"),
            Order::Due => tasks!($condition, "t.deadline NULLS LAST, t.task_id"),
            Order::Name => tasks!($condition, "coalesce(t.name, t.activity_id), t.task_id"),
            Order::Workflow => tasks!($condition, "t.definition_id, t.task_id"),
        }
    };
}

/// How many tasks are for the visitor, and how many of them are late, of the oldest thousand. $1: the visitor's groups that are no roles.
const COUNTS: &str = concat!(
    "SELECT pg_catalog.count(*) FILTER (WHERE t.is_mine) AS mine, \
            pg_catalog.count(*) FILTER (WHERE t.is_mine AND t.is_late) AS late_mine, \
            pg_catalog.count(*) FILTER (WHERE NOT t.is_mine) AS roles, \
            pg_catalog.count(*) FILTER (WHERE NOT t.is_mine AND t.is_late) AS late_roles FROM (SELECT ",
    mine!(),
    " AS is_mine, t.deadline OPERATOR(pg_catalog.<) pg_catalog.now() AS is_late FROM workflow.open_tasks t WHERE ",
    for_me!("$1::pg_catalog.text[]"),
    " AND NOT t.excluded LIMIT 1000) t"
);

/// Whose tasks a list contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    Mine,
    /// Of the visitor's roles and groups, and of absent people, without those of [`Whose::Mine`].
    Roles,
    /// All that the role may see.
    All,
    /// What the visitor has answered: a list of answers instead of tasks.
    Done,
}

impl Whose {
    /// The keyword in addresses.
    pub fn key(self) -> &'static str {
        match self {
            Self::Mine => "mine",
            Self::Roles => "roles",
            Self::All => "all",
            Self::Done => "done",
        }
    }

    fn of_key(key: &str) -> Option<Self> {
        [Self::Mine, Self::Roles, Self::All, Self::Done].into_iter().find(|whose| whose.key() == key)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Age,
    Due,
    Name,
    Workflow,
}

impl Order {
    pub fn key(self) -> &'static str {
        match self {
            Self::Age => "age",
            Self::Due => "deadline",
            Self::Name => "name",
            Self::Workflow => "workflow",
        }
    }

    fn of_key(key: &str) -> Option<Self> {
        [Self::Due, Self::Name, Self::Workflow].into_iter().find(|order| order.key() == key)
    }
}

/// The query string of a list. Unknown values are ignored.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub struct ListQuery {
    whose: String,
    order: String,
    page: String,
    q: String,
    every: String,
    late: String,
}

impl ListQuery {
    fn whose(&self, counts: &Counts) -> Whose {
        let first = if counts.mine == 0 && counts.roles > 0 { Whose::Roles } else { Whose::Mine };
        Whose::of_key(&self.whose).unwrap_or(first)
    }

    fn order(&self) -> Order {
        Order::of_key(&self.order).unwrap_or(Order::Age)
    }

    fn page(&self) -> u32 {
        self.page.parse().unwrap_or(1).clamp(1, MAX_TASKS / PAGE as u32)
    }

    /// The pairs that an address must have to lead back to this list.
    fn pairs(&self) -> Vec<(&'static str, &str)> {
        let all = [
            ("whose", &self.whose),
            ("order", &self.order),
            ("page", &self.page),
            ("q", &self.q),
            ("every", &self.every),
            ("late", &self.late),
        ];
        all.into_iter().filter(|(_, value)| !value.is_empty()).map(|(name, value)| (name, value.as_str())).collect()
    }

    /// An address with this query string and further pairs; a pair replaces that of the same name, and the first page
    /// is shown unless the pairs name another.
    pub fn address(&self, path: &str, changed: &[(&'static str, &str)]) -> String {
        let is_kept = |name: &str| {
            let keeps_page = |other: &str| matches!(other, "done" | "task" | "page");
            changed.iter().all(|(other, _)| *other != name && (name != "page" || keeps_page(other)))
        };
        let kept = self.pairs().into_iter().filter(|(name, _)| is_kept(name));
        let pairs = kept.chain(changed.iter().copied().filter(|(_, value)| !value.is_empty()));
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
    }
}

/// How many tasks are for the visitor in person, and for the visitor's roles besides, how many of each are late, and how
/// many answers the visitor has given, if that is known: no index finds the answers, so only the page that lists them counts them.
pub struct Counts {
    pub mine: i64,
    pub late_mine: i64,
    pub roles: i64,
    pub late_roles: i64,
    pub done: Option<i64>,
}

/// A page of the list.
pub struct List {
    pub query: ListQuery,
    pub counts: Counts,
    pub whose: Whose,
    pub order: Order,
    pub page: u32,
    pub tasks: Vec<OpenTask>,
    pub has_next: bool,
}

impl List {
    pub async fn read(app: &Gateway, visitor: &Visitor, query: ListQuery) -> Result<Self, Failure> {
        let groups = visitor.groups();
        let counts = app.database.read(&visitor.caller, COUNTS, parameters![groups.clone()]).await?;
        let count = |name: &str| counts.first().map_or(0, |row| row.get(name));
        let counts = Counts {
            mine: count("mine"),
            late_mine: count("late_mine"),
            roles: count("roles"),
            late_roles: count("late_roles"),
            done: None,
        };
        let (whose, order, page) = (query.whose(&counts), query.order(), query.page());
        let sql = match whose {
            Whose::Mine => ordered!(order, concat!(for_me!("$5::pg_catalog.text[]"), " AND ", mine!())),
            Whose::Roles => ordered!(order, concat!(for_me!("$5::pg_catalog.text[]"), " AND NOT ", mine!())),
            // The task beside a list of answers is open.
            Whose::All | Whose::Done => ordered!(order, "true"),
        };
        let passed = i64::from(page - 1) * PAGE as i64;
        let search = query.q.trim().to_lowercase();
        let (has_every, has_late_only) = (!query.every.is_empty(), !query.late.is_empty());
        let values = parameters![passed, PAGE as i64 + 1, search, has_every, groups, has_late_only];
        let rows = app.database.read(&visitor.caller, sql, values).await?;
        let tasks = rows.iter().take(PAGE).map(OpenTask::from).collect();
        let has_next = rows.len() > PAGE && page < MAX_TASKS / PAGE as u32;
        Ok(Self { query, counts, whose, order, page, tasks, has_next })
    }

    /// The address of this list with another value of a parameter.
    pub fn with(&self, name: &'static str, value: &str) -> String {
        self.query.address("/inbox", &[(name, value)])
    }

    pub fn search(&self) -> &str {
        &self.query.q
    }

    pub fn has_every(&self) -> bool {
        !self.query.every.is_empty()
    }

    /// Whether the list contains only what is late.
    pub fn has_late_only(&self) -> bool {
        !self.query.late.is_empty()
    }

    /// Whether the list is narrowed by more than its tab.
    pub fn is_narrowed(&self) -> bool {
        !self.query.q.trim().is_empty() || self.has_late_only() || self.page > 1
    }

    /// The address of this list without what narrows it.
    pub fn whole(&self) -> String {
        self.query.address("/inbox", &[("q", ""), ("late", "")])
    }

    pub fn link(&self, task: &OpenTask) -> String {
        self.query.address(&format!("/inbox/{}", task.id), &[("page", &self.query.page)])
    }

    /// The task to continue with after an answer: the following one if the list is by age, else the first.
    pub fn after(&self, answered: &OpenTask) -> Option<&OpenTask> {
        // A vote that can be changed is open again at once.
        let is_other = |task: &&OpenTask| {
            task.id != answered.id && (task.instance != answered.instance || task.name != answered.name)
        };
        let others = || self.tasks.iter().filter(is_other);
        let following = others().find(|task| self.order == Order::Age && task.id > answered.id);
        following.or_else(|| others().next())
    }
}

/// A task as the list and the task page show it.
pub struct OpenTask {
    pub id: Uuid,
    pub instance: Uuid,
    pub name: String,
    pub definition: String,
    /// What it is about, in a line.
    pub about: String,
    /// The owner of the workflow.
    pub definition_owner: Option<String>,
    /// Whether the task excludes the visitor.
    pub is_excluded: bool,
    pub correlation_id: Option<String>,
    pub assignee: Option<String>,
    /// The assignee, unless it is the visitor.
    pub other_assignee: Option<String>,
    pub candidates: Vec<String>,
    pub created: Option<DateTime<Utc>>,
    pub deadline: Option<DateTime<Utc>>,
    pub is_late: bool,
    pub priority: i32,
    /// The task worker that holds the claim; empty if it gave no name.
    pub worker: Option<String>,
    pub is_paused: bool,
}

impl OpenTask {
    /// The people whom it is for, as a person reads them.
    pub fn people(&self) -> String {
        let names: Vec<&str> = self.candidates.iter().map(|name| person(name)).collect();
        names.join(", ")
    }

    /// Another person to whom it is assigned.
    pub fn other_assignee(&self) -> Option<&str> {
        self.other_assignee.as_deref().map(person)
    }
}

/// A person or group without the prefix that the engine needs.
pub fn person(name: &str) -> &str {
    name.strip_prefix("role:").or_else(|| name.strip_prefix("group:")).unwrap_or(name)
}

impl From<&Row> for OpenTask {
    fn from(row: &Row) -> Self {
        Self {
            id: row.get("task_id"),
            instance: row.get("instance_id"),
            name: row.get("name"),
            definition: row.get("definition"),
            about: row.get("about"),
            definition_owner: row.get("definition_owner"),
            is_excluded: row.get("excluded"),
            correlation_id: row.get("correlation_id"),
            assignee: row.get("assignee"),
            other_assignee: row.get("other_assignee"),
            candidates: row.get::<_, Option<_>>("candidates").unwrap_or_default(),
            created: row.get("created"),
            deadline: row.get("deadline"),
            is_late: row.get("is_late"),
            priority: row.get("priority"),
            worker: row.get("worker"),
            is_paused: row.get("is_paused"),
        }
    }
}
