//! Compiled definitions, kept per backend.
//!
//! The key is the id of the version's row, which is never used again: a version number that was deleted or
//! rolled back can come back with other content, a row's id cannot. So nothing here is ever stale.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::Program;
use workflow_engine::definition::{
    self, ActivityTypes, Appearance, CustomType, Judged, Problem, ReadLimits, WorkflowReference,
};

use crate::pg::{PgError, memory};
use crate::store::activity_types;
use crate::store::definitions::{self, DefinitionRow, WholeDefinition};
use crate::store::links::Link;
use crate::{error, guc};

/// Compiled definitions that a backend keeps. When there are more, or when the backend holds a quarter of what one call
/// may add, all go.
const MAX_KEPT: usize = 500;

/// A definition version, ready to run.
#[derive(Debug)]
pub struct Compiled {
    /// The program.
    pub program: Arc<Program>,
    /// Its row; `is_latest` and `is_published` are as they were when it was loaded.
    pub row: DefinitionRow,
}

thread_local! {
    static KEPT: RefCell<HashMap<Uuid, Rc<Compiled>>> = RefCell::new(HashMap::new());
}

/// The compiled form of a stored version.
pub fn of_version(id: Uuid) -> Result<Rc<Compiled>, PgError> {
    match kept(id) {
        Some(compiled) => Ok(compiled),
        None => load(id),
    }
}

/// Forgets all: an activity type is another one now.
pub fn forget() {
    KEPT.with_borrow_mut(HashMap::clear);
}

fn kept(id: Uuid) -> Option<Rc<Compiled>> {
    KEPT.with_borrow(|kept| kept.get(&id).cloned())
}

/// Compiles a version, and before it those that it uses, with a list of work instead of recursion.
fn load(id: Uuid) -> Result<Rc<Compiled>, PgError> {
    let mut ready: HashMap<Uuid, Rc<Compiled>> = HashMap::new();
    let mut pending = vec![definitions::whole(id)?];
    while let Some(next) = pending.pop() {
        let missing = next.links.iter().map(|link| link.uses).find(|used| !ready.contains_key(used));
        let Some(used) = missing else {
            ready.insert(next.row.id, compile_version(next, &ready)?);
            continue;
        };
        pending.push(next);
        match kept(used) {
            Some(compiled) => drop(ready.insert(used, compiled)),
            None if pending.iter().any(|waits| waits.row.id == used) => {
                return Err(PgError::new("XX001", format!("definition version {used} uses itself")));
            }
            None => pending.push(definitions::whole(used)?),
        }
    }
    ready.remove(&id).ok_or_else(|| definitions::missing(id))
}

fn compile_version(whole: WholeDefinition, ready: &HashMap<Uuid, Rc<Compiled>>) -> Result<Rc<Compiled>, PgError> {
    let WholeDefinition { mut row, links, document } = whole;
    let id = row.id;
    let used =
        links.iter().filter_map(|link| Some((link.reference.clone(), Arc::clone(&ready.get(&link.uses)?.program))));
    // What was accepted once must run: a custom type that is gone faults when it is reached.
    let limits = ReadLimits { max_size: usize::MAX, ..limits(false) };
    let compiled = definition::compile(&document, &Pinned(used.collect()), &limits, true);
    let mut program = compiled.map_err(|problems| error::definition(&problems))?;
    program.version_id = Some(id.to_string());
    let program = Arc::new(program);
    // What was unknown when it was defined may be known, and run SQL, by now.
    row.uses_sql |= program.uses_sql;
    let compiled = Rc::new(Compiled { program, row });
    // What is unknown now may be registered by another session at any time.
    if !compiled.program.knows_all_types() {
        return Ok(compiled);
    }
    KEPT.with_borrow_mut(|kept| {
        if kept.len() >= MAX_KEPT || memory::held() > guc::memory_limit() / 4 {
            kept.clear();
        }
        kept.insert(id, Rc::clone(&compiled));
    });
    Ok(compiled)
}

/// Limits of what is read; new content is judged as well.
fn limits(is_new: bool) -> ReadLimits {
    let max_nesting = guc::limits().max_nesting as usize;
    ReadLimits { max_nesting, max_size: guc::max_definition_size(), is_new }
}

/// How the activities of a document look, in the order of its compiled form.
pub fn appearances(document: &Value) -> Vec<Appearance> {
    definition::appearances(document, &Registered, &limits(false))
}

/// Compiles and judges new content.
pub fn judge(document: &Value, types: &dyn ActivityTypes, allow_unknown: bool) -> Judged {
    definition::judge(document, types, &limits(true), allow_unknown)
}

/// Compiles content that is stored, for a version with other links.
pub fn compile(document: &Value, types: &dyn ActivityTypes) -> Result<Program, Vec<Problem>> {
    definition::compile(document, types, &limits(false), true)
}

/// The activity types that are written in SQL.
pub struct Registered;

impl ActivityTypes for Registered {
    fn custom(&self, type_name: &str) -> Option<CustomType> {
        let found = activity_types::find(type_name)?;
        Some(CustomType { trigger: found.trigger, outputs: found.outputs })
    }
}

/// The activity types of a stored version: its workflows are settled.
pub struct Pinned(HashMap<WorkflowReference, Arc<Program>>);

impl Pinned {
    /// What these links mean.
    pub fn to(links: &[Link]) -> Result<Self, PgError> {
        let used = links.iter().map(|link| Ok((link.reference.clone(), Arc::clone(&of_version(link.uses)?.program))));
        used.collect::<Result<_, PgError>>().map(Self)
    }
}

impl ActivityTypes for Pinned {
    fn custom(&self, type_name: &str) -> Option<CustomType> {
        Registered.custom(type_name)
    }

    fn has_pinned(&self) -> bool {
        !self.0.is_empty()
    }

    fn pinned(&self, reference: &WorkflowReference) -> Option<Arc<Program>> {
        self.0.get(reference).cloned()
    }
}
