//! Who may answer a task, if it is for certain people.
//!
//! An assignee and each candidate is a text. `role:` and an id of `workflow.owners` is a role, which so keeps its
//! meaning when it is renamed or dumped. Anything else is a label of the application's.

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::execution::ForPeople;

use crate::pg::rows::{self, Columns};
use crate::pg::spi::changed;
use crate::pg::{PgError, role};
use crate::store::rights::owners::{self, Owner};
use crate::store::tables::BOOKMARKS;

/// Who may answer a task, and how, as rows store it.
#[derive(Clone, Debug, Default)]
pub struct Assignment {
    /// Who is to do it: a label, or `role:` and an id in `workflow.owners`. `None`: the task has no assignee.
    pub assignee: Option<String>,
    /// Who may do it: an array of such texts. `None`: the task has no candidates.
    pub candidates: Option<Value>,
    /// JSON Schema that an answer must match.
    pub result_schema: Option<Value>,
}

/// What stands for a person or a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry<'a> {
    /// A role of the cluster, stored by its id in `workflow.owners`, so a renamed role keeps its tasks.
    Role(Owner),
    /// A label that the application knows.
    Label(&'a str),
}

impl Entry<'_> {
    /// Reads a stored text.
    pub fn read(text: &str) -> Entry<'_> {
        match text.strip_prefix(ForPeople::ROLE) {
            Some(id) => Entry::Role(owners::by_id(id.parse().unwrap_or_default())),
            None => Entry::Label(text),
        }
    }

    /// As users write and read it.
    pub fn title(&self) -> String {
        match self {
            Self::Role(owner) => format!("{}{}", ForPeople::ROLE, owner.title()),
            Self::Label(label) => (*label).to_owned(),
        }
    }
}

impl Assignment {
    /// What the columns of a row say.
    pub fn read(
        assignee: Option<String>,
        candidates: Option<Value>,
        result_schema: Option<Value>,
    ) -> Option<Box<Self>> {
        let is_any = assignee.is_some() || candidates.is_some() || result_schema.is_some();
        is_any.then(|| Box::new(Self { assignee, candidates, result_schema }))
    }

    /// What a new task says. Makes rows of its roles in `workflow.owners`.
    ///
    /// # Errors
    /// 42704 if there is no such role any more.
    pub fn of(for_people: &ForPeople) -> Result<Option<Box<Self>>, PgError> {
        let assignee = for_people.assignee.as_deref().map(stored).transpose()?;
        let candidates: Vec<Value> =
            for_people.candidates.iter().map(|entry| stored(entry).map(Value::String)).collect::<Result<_, _>>()?;
        let candidates = Some(candidates).filter(|list| !list.is_empty()).map(Value::Array);
        Ok(Self::read(assignee, candidates, for_people.result_schema.clone()))
    }

    /// The assignee, with a stored id turned into its role.
    pub fn assignee(&self) -> Option<Entry<'_>> {
        self.assignee.as_deref().map(Entry::read)
    }

    /// The candidates in their order, with stored ids turned into their roles.
    pub fn candidates(&self) -> impl Iterator<Item = Entry<'_>> {
        self.candidates.iter().filter_map(Value::as_array).flatten().filter_map(Value::as_str).map(Entry::read)
    }

    /// The assignee and the candidates.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.assignee().into_iter().chain(self.candidates())
    }

    /// Whether the task is for certain people.
    pub fn is_assigned(&self) -> bool {
        self.assignee.is_some() || self.candidates.is_some()
    }
}

/// An assignee or candidate as rows store it.
///
/// # Errors
/// 42704 if it names a role that does not exist.
pub fn stored(entry: &str) -> Result<String, PgError> {
    match entry.strip_prefix(ForPeople::ROLE) {
        Some(name) => Ok(format!("{}{}", ForPeople::ROLE, owners::reference_to(role::required(name)?))),
        None => Ok(entry.to_owned()),
    }
}

changed! {
    struct Assigned<'a> of BOOKMARKS {
        id: &'a Uuid,
        assignee: Option<&'a str>,
    }
}
static ASSIGNED: Columns = Columns::of(&BOOKMARKS, Assigned::COLUMNS);

/// Changes the assignee of a task whose row is locked.
pub fn assign(task: &Uuid, assignee: Option<&str>) {
    rows::write(|writer| writer.update(&ASSIGNED, &Assigned { id: task, assignee }.changes()));
}
