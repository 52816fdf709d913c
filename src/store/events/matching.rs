//! The bookmarks that a stimulus matches: one statement per shape of filter, each with an index.

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::stimulus::RUN_TASK;
use workflow_engine::{Bookmark, NodeIx};

use crate::pg::spi::{Arg, Row, Statement, Type, read};
use crate::store::instances::bookmarks::{BookmarkKind, hash_key, read_stimulus};
use crate::store::tables::BOOKMARKS;

/// The correlation ids that a stimulus asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Correlation {
    /// Any instance, with or without a correlation id.
    #[default]
    Any,
    /// Instances without a correlation id.
    Without,
    /// Instances with this correlation id.
    Is(String),
}

impl Correlation {
    /// Converts the column of a filter, in which NULL matches anything.
    pub fn of_filter(id: Option<String>) -> Self {
        id.map_or(Self::Any, Self::Is)
    }

    /// The id, if the filter names one.
    pub fn id(&self) -> Option<&str> {
        match self {
            Self::Is(id) => Some(id),
            Self::Any | Self::Without => None,
        }
    }

    /// Whether it matches an instance with this correlation id.
    pub fn matches(&self, correlation_id: Option<&str>) -> bool {
        match self {
            Self::Any => true,
            Self::Without => correlation_id.is_none(),
            Self::Is(id) => correlation_id == Some(id),
        }
    }
}

/// The conditions of a stimulus; `None` matches anything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Id of the only bookmark that can match.
    pub bookmark_id: Option<Uuid>,
    /// The instance whose bookmarks can match.
    pub instance_id: Option<Uuid>,
    /// The execution whose bookmarks can match.
    pub activity_instance_id: Option<Uuid>,
    /// Hashes that match: of the stimulus, with and without the activity instance.
    pub hashes: Vec<[u8; 32]>,
    /// The task's id, if the stimulus completes a task: bookmarks of tasks have no hash in the index.
    pub task: Option<Uuid>,
    /// The stimulus name that a bookmark must have.
    pub name: Option<String>,
    /// What the correlation id of the bookmark's instance must be.
    pub correlation: Correlation,
    /// Full type name of the activity that made the bookmark; of every task that of `RunTask`.
    pub activity_type: Option<String>,
    /// Id within the definition of the activity that waits.
    pub activity_id: Option<String>,
}

impl Filter {
    /// Whether it has no condition.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it names its target: an instance or a bookmark.
    pub fn names_target(&self) -> bool {
        self.instance_id.is_some() || self.bookmark_id.is_some()
    }

    /// Whether it matches a bookmark of an instance with this correlation id. None matches a bookmark of the engine's
    /// own, at which an activity waits for its next attempt.
    pub fn matches(&self, bookmark: &Bookmark, instance: Uuid, correlation_id: Option<&str>) -> bool {
        fn is<T: PartialEq>(wanted: Option<&T>, found: &T) -> bool {
            wanted.is_none_or(|wanted| wanted == found)
        }
        BookmarkKind::of(bookmark).meets_stimuli()
            && is(self.bookmark_id.as_ref(), &bookmark.id)
            && is(self.instance_id.as_ref(), &instance)
            && is(self.activity_instance_id.as_ref(), &bookmark.activity_instance_id)
            && (self.hashes.is_empty() || self.hashes.contains(&bookmark.hash))
            && is(self.name.as_ref(), &bookmark.name)
            && self.correlation.matches(correlation_id)
            && is(self.activity_type.as_ref(), &bookmark.activity_type)
            && is(self.activity_id.as_ref(), &bookmark.activity_id)
    }
}

/// A stored bookmark, with the columns that matching and results need.
#[derive(Debug)]
pub struct StoredBookmark {
    /// The instance that waits at the bookmark.
    pub instance_id: Uuid,
    /// The bookmark. Its node, metadata, callback, `auto_complete` and due time are not read, and mean nothing.
    pub bookmark: Bookmark,
    /// What it waits for.
    pub kind: BookmarkKind,
    /// Correlation id of the instance; `None`: it has none.
    pub correlation_id: Option<String>,
}

read! {
    struct BookmarkColumns of BOOKMARKS {
        instance_id: Uuid,
        id: Uuid,
        activity_id: String,
        node_id: String,
        activity_type: String,
        activity_instance_id: Uuid,
        name: String,
        hash: Option<Vec<u8>>,
        payload: Option<Value>,
        auto_burn: bool,
        correlation_id: Option<String>,
    }
}

fn read_stored(row: &mut Row<'_>) -> StoredBookmark {
    let columns = BookmarkColumns::read(row);
    let kind = BookmarkKind::named(&columns.name, &columns.activity_type, columns.auto_burn);
    let (hash, payload) = read_stimulus(kind, columns.id, columns.hash, columns.payload);
    let bookmark = Bookmark {
        id: columns.id,
        node: NodeIx(0),
        activity_id: columns.activity_id,
        node_id: columns.node_id,
        activity_type: columns.activity_type,
        activity_instance_id: columns.activity_instance_id,
        name: columns.name,
        hash,
        payload,
        metadata: None,
        callback: None,
        auto_burn: columns.auto_burn,
        auto_complete: true,
        due_at: None,
    };
    StoredBookmark { instance_id: columns.instance_id, bookmark, kind, correlation_id: columns.correlation_id }
}

/// A statement that reads bookmarks.
macro_rules! bookmarks {
    ($before:literal, $rest:literal, $types:expr) => {
        Statement::reading(
            BookmarkColumns::COLUMNS,
            concat!($before, "SELECT {b} FROM workflow.bookmarks b ", $rest, " ORDER BY b.instance_id, b.id"),
            $types,
        )
    };
    ($rest:literal, $types:expr) => {
        bookmarks!("", $rest, $types)
    };
}

static BY_ID: Statement = bookmarks!("WHERE b.id = $1", &[Type::Uuid]);
static BY_INSTANCE: Statement = bookmarks!("WHERE b.instance_id = $1", &[Type::Uuid]);
static BY_HASH: Statement = bookmarks!("WHERE b.hash_key = ANY ($1)", &[Type::BigIntArray]);
static BY_HASH_AND_CORRELATION: Statement =
    bookmarks!("WHERE b.hash_key = ANY ($1) AND b.correlation_id = $2", &[Type::BigIntArray, Type::Text]);
static BY_HASH_WITHOUT_CORRELATION: Statement =
    bookmarks!("WHERE b.hash_key = ANY ($1) AND b.correlation_id IS NULL", &[Type::BigIntArray]);
static BY_CORRELATION: Statement =
    bookmarks!("JOIN workflow.instances i ON i.id = b.instance_id WHERE i.correlation_id = $1", &[Type::Text]);
static TASKS: Statement = bookmarks!("WHERE b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask'", &[]);
static TASKS_OF: Statement =
    bookmarks!("WHERE b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask' AND b.activity_id = $1", &[Type::Text]);
static BY_TYPE: Statement =
    bookmarks!("WHERE b.activity_type = $1 AND b.activity_type <> 'Elsa.RunTask'", &[Type::Text]);
// No index has the id of the execution. It differs from its instance's id only in the last four bytes, so a range scan
// of the index on the instance finds it.
static BY_EXECUTION: Statement = bookmarks!(
    "WHERE b.instance_id BETWEEN (substr($1::text, 1, 28) || '00000000')::uuid \
         AND (substr($1::text, 1, 28) || 'ffffffff')::uuid AND b.activity_instance_id = $1",
    &[Type::Uuid]
);
// One index on type, name and activity serves the rare shapes below. There are few types and names, so a loose index
// scan over the leading columns finds rows by a later column. Bookmarks of tasks are not in it: they are met by id, and
// each entry would cost every task. A stimulus that names nothing but their activity reads all of them.
macro_rules! kinds {
    ($rest:literal) => {
        bookmarks!(
            "WITH RECURSIVE kinds (activity_type, name) AS ( \
                 (SELECT k.activity_type, k.name FROM workflow.bookmarks k WHERE k.activity_type <> 'Elsa.RunTask' \
                  ORDER BY k.activity_type, k.name LIMIT 1) \
                 UNION ALL \
                 SELECT n.activity_type, n.name FROM kinds p CROSS JOIN LATERAL ( \
                     SELECT k.activity_type, k.name FROM workflow.bookmarks k \
                     WHERE (k.activity_type, k.name) > (p.activity_type, p.name) AND k.activity_type <> 'Elsa.RunTask' \
                     ORDER BY k.activity_type, k.name LIMIT 1) n) ",
            $rest,
            &[Type::Text]
        )
    };
}
static BY_NAME: Statement = kinds!(
    "JOIN kinds k ON b.activity_type = k.activity_type AND b.name = k.name AND b.activity_type <> 'Elsa.RunTask' WHERE k.name = $1"
);
static BY_ACTIVITY: Statement = kinds!(
    "JOIN kinds k ON b.activity_type = k.activity_type AND b.name = k.name AND b.activity_type <> 'Elsa.RunTask' WHERE b.activity_id = $1"
);

/// The bookmarks that a filter matches, in order of instance id.
pub fn find(filter: &Filter) -> Vec<StoredBookmark> {
    let mut found = possible(filter);
    found.retain(|stored| filter.matches(&stored.bookmark, stored.instance_id, stored.correlation_id.as_deref()));
    found
}

fn possible(filter: &Filter) -> Vec<StoredBookmark> {
    let keys: Vec<i64> = filter.hashes.iter().map(hash_key).collect();
    if let Some(id) = &filter.bookmark_id {
        return BY_ID.rows(&[Arg::Uuid(id)], read_stored);
    }
    if let Some(execution) = &filter.activity_instance_id
        && filter.instance_id.is_none()
        && keys.is_empty()
    {
        return BY_EXECUTION.rows(&[Arg::Uuid(execution)], read_stored);
    }
    if let Some(id) = &filter.instance_id {
        return BY_INSTANCE.rows(&[Arg::Uuid(id)], read_stored);
    }
    if !keys.is_empty() {
        let mut found = match &filter.correlation {
            Correlation::Is(id) => BY_HASH_AND_CORRELATION.rows(&[Arg::BigInts(&keys), Arg::Text(id)], read_stored),
            Correlation::Without => BY_HASH_WITHOUT_CORRELATION.rows(&[Arg::BigInts(&keys)], read_stored),
            Correlation::Any => BY_HASH.rows(&[Arg::BigInts(&keys)], read_stored),
        };
        if let Some(task) = &filter.task {
            found.extend(BY_ID.rows(&[Arg::Uuid(task)], read_stored));
            in_order(&mut found);
        }
        return found;
    }
    if let Some(id) = filter.correlation.id() {
        return BY_CORRELATION.rows(&[Arg::Text(id)], read_stored);
    }
    let mut found = match (&filter.activity_id, &filter.name, &filter.activity_type) {
        (Some(id), ..) => BY_ACTIVITY.rows(&[Arg::Text(id)], read_stored),
        (None, Some(name), _) => BY_NAME.rows(&[Arg::Text(name)], read_stored),
        (None, None, Some(kind)) => BY_TYPE.rows(&[Arg::Text(kind)], read_stored),
        (None, None, None) => return Vec::new(),
    };
    // The bookmark of a task has the name of its type.
    let may_be_task = |wanted: &Option<String>| wanted.as_ref().is_none_or(|wanted| wanted == RUN_TASK.name);
    if may_be_task(&filter.activity_type) && may_be_task(&filter.name) {
        found.extend(match &filter.activity_id {
            Some(id) => TASKS_OF.rows(&[Arg::Text(id)], read_stored),
            None => TASKS.rows(&[], read_stored),
        });
        in_order(&mut found);
    }
    found
}

fn in_order(found: &mut Vec<StoredBookmark>) {
    found.sort_by_key(|stored| (stored.instance_id, stored.bookmark.id));
    found.dedup_by_key(|stored| stored.bookmark.id);
}

/// The bookmarks of an instance.
pub fn of_instance(instance: Uuid) -> Vec<StoredBookmark> {
    BY_INSTANCE.rows(&[Arg::Uuid(&instance)], read_stored)
}

static OF_ACTIVITIES: Statement = Statement::new(
    "SELECT b.id FROM workflow.bookmarks b WHERE b.instance_id = $1 AND b.activity_instance_id = ANY ($2)",
    &[Type::Uuid, Type::UuidArray],
);

/// Ids of the bookmarks at which these executions of an instance wait.
pub fn of_activities(instance: Uuid, activity_instances: &[Uuid]) -> Vec<Uuid> {
    OF_ACTIVITIES.rows(&[Arg::Uuid(&instance), Arg::Uuids(activity_instances)], |row| row.get())
}
