//! The bookmarks that a stimulus matches: one statement per shape of filter, each with an index.

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::Bookmark;
use workflow_engine::stimulus::RUN_TASK;

use crate::pg::spi::{Arg, Row, Statement, Type, read};
use crate::store::instances::bookmarks::{BookmarkKind, keys, read_stimulus};
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
            && (self.hashes.is_empty() || self.hashes.contains(&bookmark.hash()))
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

// None of the statements sets an order: an index that has it would be read as a whole.
/// A statement that reads bookmarks.
macro_rules! bookmarks {
    ($rest:literal, $types:expr) => {
        Statement::reading(BookmarkColumns::COLUMNS, concat!("SELECT {b} FROM workflow.bookmarks b ", $rest), $types)
    };
}

/// The owners among whose bookmarks or triggers a stimulus is looked for, by the ids under which these are stored.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    /// Owners of definitions, all of whose instances may hear it.
    pub open: Vec<i32>,
    /// Owners of all other definitions. Only instances of `starters` may hear it.
    pub others: Vec<i32>,
    /// Those of the others that have given the sender a privilege.
    pub granting: Vec<i32>,
    /// Owners of instances whose rights the sender has.
    pub starters: Vec<i32>,
}

impl Reach {
    /// Leaves out ids that are open as those of another owner.
    pub fn tidy(&mut self) {
        let Self { open, others, granting, .. } = self;
        for ids in [&mut *others, &mut *granting] {
            ids.retain(|id| !open.contains(id));
        }
        for ids in [open, others, granting] {
            ids.sort_unstable();
            ids.dedup();
        }
    }

    /// The owners whose bookmarks are read where no index has the owner of the instance.
    fn open_or_granting(&self) -> Vec<i32> {
        self.open.iter().chain(&self.granting).copied().collect()
    }
}

static BY_ID: Statement = bookmarks!("WHERE b.id = $1", &[Type::Uuid]);
static BY_INSTANCE: Statement = bookmarks!("WHERE b.instance_id = $1", &[Type::Uuid]);

/// Searches by hash that differ in what they ask of the correlation id.
struct ByHash {
    any: Statement,
    is: Statement,
    without: Statement,
}

/// Makes them. Each searches for each hash and owner by itself: with a list for a later column the planner would read
/// what the index has of the hash as a whole.
macro_rules! by_hash {
    ($from:literal, $condition:literal, $limits:literal, $types:expr, $key:literal, $id:literal, $types_with_id:expr) => {
        ByHash {
            any: by_hash!(one $from, $condition, "", $limits, $types),
            is: by_hash!(
                one $from,
                $condition,
                concat!(" AND b.correlation_key = ", $key, " AND b.correlation_id = ", $id),
                $limits,
                $types_with_id
            ),
            without: by_hash!(
                one $from, $condition, " AND b.correlation_key = 0 AND b.correlation_id IS NULL", $limits, $types
            ),
        }
    };
    (one $from:literal, $condition:literal, $correlation:expr, $limits:literal, $types:expr) => {
        Statement::reading(
            BookmarkColumns::COLUMNS,
            concat!(
                "SELECT {b} FROM ",
                $from,
                "(SELECT * FROM workflow.bookmarks b WHERE ",
                $condition,
                $correlation,
                $limits
            ),
            $types,
        )
    };
}

// With one hash and one owner, as nearly always.
static OPEN_OF_ONE: ByHash = by_hash!(
    "",
    "b.hash_key = $1 AND b.definition_owner = $2",
    ") b",
    &[Type::Integer, Type::Integer],
    "$3",
    "$4",
    &[Type::Integer, Type::Integer, Type::Integer, Type::Text]
);
static OPEN: ByHash = by_hash!(
    "unnest($1) AS h (key) CROSS JOIN unnest($2) AS o (owner) CROSS JOIN LATERAL ",
    "b.hash_key = h.key AND b.definition_owner = o.owner",
    " OFFSET 0) b",
    &[Type::IntegerArray, Type::IntegerArray],
    "$3",
    "$4",
    &[Type::IntegerArray, Type::IntegerArray, Type::Integer, Type::Text]
);
static OWN: ByHash = by_hash!(
    "unnest($1) AS h (key) CROSS JOIN unnest($2) AS o (owner) CROSS JOIN unnest($3) AS s (starter) CROSS JOIN LATERAL ",
    "b.hash_key = h.key AND b.definition_owner = o.owner AND b.instance_owner = s.starter",
    " OFFSET 0) b",
    &[Type::IntegerArray, Type::IntegerArray, Type::IntegerArray],
    "$4",
    "$5",
    &[Type::IntegerArray, Type::IntegerArray, Type::IntegerArray, Type::Integer, Type::Text]
);
// They are counted, and no more.
static FEW: ByHash = by_hash!(
    "unnest($1) AS h (key) CROSS JOIN unnest($2) AS o (owner) CROSS JOIN LATERAL ",
    "b.hash_key = h.key AND b.definition_owner = o.owner AND b.instance_owner <> ALL ($3)",
    " LIMIT 10) b LIMIT 100",
    &[Type::IntegerArray, Type::IntegerArray, Type::IntegerArray],
    "$4",
    "$5",
    &[Type::IntegerArray, Type::IntegerArray, Type::IntegerArray, Type::Integer, Type::Text]
);

impl ByHash {
    fn rows(&'static self, correlation: &Correlation, args: &[Arg<'_>]) -> Vec<StoredBookmark> {
        match correlation {
            Correlation::Any => self.any.rows(args, read_stored),
            Correlation::Is(id) => {
                let key = Arg::Integer(keys::of_correlation(Some(id)));
                self.is.rows(&[args, &[key, Arg::Text(id)]].concat(), read_stored)
            }
            Correlation::Without => self.without.rows(args, read_stored),
        }
    }
}

/// A search among the bookmarks of some owners.
macro_rules! of_owners {
    ($condition:literal) => {
        of_owners!($condition, &[Type::Text, Type::IntegerArray])
    };
    ($condition:literal, $types:expr) => {
        Statement::reading(
            BookmarkColumns::COLUMNS,
            concat!(
                "SELECT {b} FROM unnest($2) AS o (owner) CROSS JOIN LATERAL ( \
                     SELECT * FROM workflow.bookmarks b WHERE b.definition_owner = o.owner AND ",
                $condition,
                " OFFSET 0) b"
            ),
            $types,
        )
    };
}

static MANY_OF_CORRELATION: Statement =
    Statement::new("SELECT 1 FROM workflow.instances i WHERE i.correlation_id = $1 LIMIT 1001", &[Type::Text]);
static BY_CORRELATION: Statement = bookmarks!(
    "JOIN workflow.instances i ON i.id = b.instance_id WHERE i.correlation_id = $1 AND b.definition_owner = ANY ($2)",
    &[Type::Text, Type::IntegerArray]
);
// Where others have many instances with a correlation id: what waits of some owners, of which some has it.
static OF_CORRELATION: [Statement; 2] = [
    of_owners!("b.kind_key IS NOT NULL AND b.correlation_id = $1"),
    of_owners!("b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask' AND b.correlation_id = $1"),
];
// `$1` is NULL: any activity.
static TASKS: Statement =
    of_owners!("b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask' AND ($1 IS NULL OR b.activity_id = $1)");
static BY_TYPE: Statement = of_owners!(
    "b.kind_key BETWEEN $3 AND $4 AND b.activity_type = $1",
    &[Type::Text, Type::IntegerArray, Type::Integer, Type::Integer]
);
// No index has the id of the execution. It differs from its instance's id only in the last four bytes, so a range scan
// of the index on the instance finds it.
static BY_EXECUTION: Statement = bookmarks!(
    "WHERE b.instance_id BETWEEN (substr($1::text, 1, 28) || '00000000')::uuid \
         AND (substr($1::text, 1, 28) || 'ffffffff')::uuid AND b.activity_instance_id = $1",
    &[Type::Uuid]
);
// One index on the owner and the key of type, name and activity serves the rare shapes below. An owner has few types and
// names, so a loose index scan over the leading bits finds rows by later ones: 4095 covers those of the activity, 4190208
// those of the name (`keys`). Bookmarks of tasks are not in it: they are met by id, and each entry would cost every task.
// A stimulus that names nothing but their activity reads all of them.
macro_rules! kinds {
    ($condition_on_kinds:literal, $condition:literal) => {
        Statement::reading(
            BookmarkColumns::COLUMNS,
            concat!(
                "WITH RECURSIVE kinds (owner, key) AS ( \
                     SELECT o.owner, f.kind_key & ~4095 FROM unnest($2) AS o (owner) CROSS JOIN LATERAL ( \
                         SELECT k.kind_key FROM workflow.bookmarks k \
                         WHERE k.definition_owner = o.owner AND k.kind_key IS NOT NULL \
                         ORDER BY k.definition_owner, k.kind_key LIMIT 1) f \
                     UNION ALL \
                     SELECT p.owner, n.kind_key & ~4095 FROM kinds p CROSS JOIN LATERAL ( \
                         SELECT k.kind_key FROM workflow.bookmarks k \
                         WHERE k.definition_owner = p.owner AND k.kind_key > (p.key | 4095) \
                         ORDER BY k.definition_owner, k.kind_key LIMIT 1) n) \
                 SELECT {b} FROM kinds k CROSS JOIN LATERAL ( \
                     SELECT * FROM workflow.bookmarks b WHERE b.definition_owner = k.owner AND ",
                $condition,
                " OFFSET 0) b",
                $condition_on_kinds
            ),
            &[Type::Text, Type::IntegerArray, Type::Integer],
        )
    };
}
static BY_NAME: Statement =
    kinds!(" WHERE k.key & 4190208 = $3", "b.kind_key BETWEEN k.key AND (k.key | 4095) AND b.name = $1");
static BY_ACTIVITY: Statement = kinds!("", "b.kind_key = (k.key | $3) AND b.activity_id = $1");

/// The bookmarks that a filter matches, in order of instance id. `reach` says among whose they are looked for, if the
/// filter names neither a bookmark nor an instance or an execution.
pub fn find(filter: &Filter, reach: impl FnOnce() -> Reach) -> Vec<StoredBookmark> {
    let mut found = of_target(filter).unwrap_or_else(|| possible(filter, &reach()));
    found.retain(|stored| filter.matches(&stored.bookmark, stored.instance_id, stored.correlation_id.as_deref()));
    in_order(&mut found);
    found
}

/// The bookmarks of what a filter names.
fn of_target(filter: &Filter) -> Option<Vec<StoredBookmark>> {
    let Filter { bookmark_id, instance_id, activity_instance_id, .. } = filter;
    match (bookmark_id, instance_id, activity_instance_id) {
        (Some(id), ..) => Some(BY_ID.rows(&[Arg::Uuid(id)], read_stored)),
        (None, Some(id), _) => Some(BY_INSTANCE.rows(&[Arg::Uuid(id)], read_stored)),
        (None, None, Some(execution)) => Some(BY_EXECUTION.rows(&[Arg::Uuid(execution)], read_stored)),
        (None, None, None) => None,
    }
}

fn possible(filter: &Filter, reach: &Reach) -> Vec<StoredBookmark> {
    if !filter.hashes.is_empty() {
        let mut found = of_hash(filter, reach);
        if let Some(task) = &filter.task {
            found.extend(BY_ID.rows(&[Arg::Uuid(task)], read_stored));
        }
        return found;
    }
    let owners = reach.open_or_granting();
    if owners.is_empty() {
        return Vec::new();
    }
    match filter.correlation.id() {
        Some(id) => of_correlation(id, &owners),
        None => of_kind(filter, &owners),
    }
}

fn of_hash(filter: &Filter, reach: &Reach) -> Vec<StoredBookmark> {
    let Reach { open, others, granting, starters } = reach;
    let keys: Vec<i32> = filter.hashes.iter().map(keys::of_hash).collect();
    let mut found = match (keys.as_slice(), open.as_slice()) {
        ([key], [owner]) => OPEN_OF_ONE.rows(&filter.correlation, &[Arg::Integer(*key), Arg::Integer(*owner)]),
        (_, []) => Vec::new(),
        (keys, owners) => OPEN.rows(&filter.correlation, &[Arg::Integers(keys), Arg::Integers(owners)]),
    };
    let (keys, starters) = (Arg::Integers(&keys), Arg::Integers(starters));
    // Without a correlation id the index has the instances of all owners together.
    let others = if filter.correlation == Correlation::Any { granting } else { others };
    if !others.is_empty() {
        found.extend(OWN.rows(&filter.correlation, &[keys, Arg::Integers(others), starters]));
    }
    if !granting.is_empty() {
        found.extend(FEW.rows(&filter.correlation, &[keys, Arg::Integers(granting), starters]));
    }
    found
}

fn of_correlation(id: &str, owners: &[i32]) -> Vec<StoredBookmark> {
    let args = [Arg::Text(id), Arg::Integers(owners)];
    if MANY_OF_CORRELATION.run(&args[..1]) <= 1000 {
        return BY_CORRELATION.rows(&args, read_stored);
    }
    OF_CORRELATION.iter().flat_map(|statement| statement.rows(&args, read_stored)).collect()
}

fn of_kind(filter: &Filter, owners: &[i32]) -> Vec<StoredBookmark> {
    let of = Arg::Integers(owners);
    let mut found = match (&filter.activity_id, &filter.name, &filter.activity_type) {
        (Some(id), ..) => BY_ACTIVITY.rows(&[Arg::Text(id), of, Arg::Integer(keys::of_activity(id))], read_stored),
        (None, Some(name), _) => BY_NAME.rows(&[Arg::Text(name), of, Arg::Integer(keys::of_name(name))], read_stored),
        (None, None, Some(kind)) => {
            let (least, greatest) = keys::of_type(kind);
            BY_TYPE.rows(&[Arg::Text(kind), of, Arg::Integer(least), Arg::Integer(greatest)], read_stored)
        }
        (None, None, None) => return Vec::new(),
    };
    // The bookmark of a task has the name of its type.
    let may_be_task = |wanted: &Option<String>| wanted.as_ref().is_none_or(|wanted| wanted == RUN_TASK.name);
    if may_be_task(&filter.activity_type) && may_be_task(&filter.name) {
        found.extend(TASKS.rows(&[Arg::text(filter.activity_id.as_deref()), of], read_stored));
    }
    found
}

fn in_order(found: &mut Vec<StoredBookmark>) {
    found.sort_by_key(|stored| (stored.instance_id, stored.bookmark.id));
    found.dedup_by_key(|stored| stored.bookmark.id);
}

/// The bookmarks of an instance.
pub fn of_instance(instance: Uuid) -> Vec<StoredBookmark> {
    let mut found = BY_INSTANCE.rows(&[Arg::Uuid(&instance)], read_stored);
    in_order(&mut found);
    found
}

static OF_ACTIVITIES: Statement = Statement::new(
    "SELECT b.id FROM workflow.bookmarks b WHERE b.instance_id = $1 AND b.activity_instance_id = ANY ($2)",
    &[Type::Uuid, Type::UuidArray],
);

/// Ids of the bookmarks at which these executions of an instance wait.
pub fn of_activities(instance: Uuid, activity_instances: &[Uuid]) -> Vec<Uuid> {
    OF_ACTIVITIES.rows(&[Arg::Uuid(&instance), Arg::Uuids(activity_instances)], |row| row.get())
}
