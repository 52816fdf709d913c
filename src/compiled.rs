//! Compiled definitions, kept per backend.
//!
//! The key is the id of the version's row, which is never used again: a version number that was deleted or
//! rolled back can come back with other content, a row's id cannot. What can change is whose a definition or an activity
//! type is, and what a type declares: then all sessions are told, and forget all.

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

use crate::error;
use crate::pg::{PgError, catalog, guc, interrupt, memory, role};
use crate::store::activity_types;
use crate::store::definitions::{self, DefinitionRow, WholeDefinition};
use crate::store::instances::InstanceRow;
use crate::store::links::Link;
use crate::store::owners::Owner;

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
    /// By version, as they were in a generation of ownership.
    static KEPT: RefCell<(u64, HashMap<Uuid, Rc<Compiled>>)> = RefCell::new((0, HashMap::new()));
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
    KEPT.with_borrow_mut(|(_, kept)| kept.clear());
}

fn kept(id: Uuid) -> Option<Rc<Compiled>> {
    let generation = catalog::definitions_generation();
    KEPT.with_borrow_mut(|(of, kept)| {
        if *of != generation {
            kept.clear();
            *of = generation;
        }
        kept.get(&id).cloned()
    })
}

/// The version that an instance runs, if the state of the instance fits it (XX001).
pub fn of_instance(row: &InstanceRow) -> Result<Rc<Compiled>, PgError> {
    let compiled = of_version(row.definition_version_id)?;
    if row.instance.state.fits(compiled.program.nodes.len()) {
        return Ok(compiled);
    }
    Err(error::unreadable_state(row.instance.id, "it names an activity that the definition does not have"))
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
    let WholeDefinition { mut row, links, unknown_types, document, numbering } = whole;
    let id = row.id;
    let used =
        links.iter().filter_map(|link| Some((link.reference.clone(), Arc::clone(&ready.get(&link.uses)?.program))));
    // What was accepted once must run: a custom type that is gone faults when it is reached.
    let limits = ReadLimits { max_size: usize::MAX, ..limits(false) };
    let types = Pinned { used: used.collect(), unknown: unknown_types, owner: Some(row.owner.clone()) };
    let compiled = definition::compile(&document, &types, &limits, true);
    interrupt::check();
    let program = compiled.map_err(|problems| error::definition(&problems))?;
    // Its instances are stored with these numbers, whatever order the document is read in today.
    let numbering = serde_json::from_value(numbering).map_err(|error| error.to_string());
    let numbered = numbering.and_then(|numbering| program.numbered(&numbering));
    let mut program = numbered.map_err(|reason| error::unreadable_definition(id, &reason))?;
    program.version_id = Some(id.to_string());
    let program = Arc::new(program);
    // What was unknown when it was defined may be known, and run SQL, by now.
    row.uses_sql |= program.uses_sql;
    let compiled = Rc::new(Compiled { program, row });
    keep(&compiled);
    Ok(compiled)
}

/// Keeps the program of a version that this transaction has just stored. If that is rolled back nobody asks for it: ids of
/// versions are not used again.
pub fn keep_new(mut program: Program, row: &DefinitionRow) {
    program.version_id = Some(row.id.to_string());
    keep(&Rc::new(Compiled { program: Arc::new(program), row: row.clone() }));
}

fn keep(compiled: &Rc<Compiled>) {
    // What is unknown now may be registered by another session at any time.
    if !compiled.program.knows_all_types() {
        return;
    }
    let generation = catalog::definitions_generation();
    KEPT.with_borrow_mut(|(of, kept)| {
        if *of != generation || kept.len() >= MAX_KEPT || memory::held() > guc::memory_limit() / 4 {
            kept.clear();
            *of = generation;
        }
        kept.insert(compiled.row.id, Rc::clone(compiled));
    });
}

/// Limits of what is read; new content is judged as well.
fn limits(is_new: bool) -> ReadLimits {
    let max_nesting = guc::max_nesting() as usize;
    ReadLimits { max_nesting, max_size: guc::max_definition_size(), is_new }
}

/// How the nodes of a program look, by its document.
pub fn appearances(document: &Value, program: &Program) -> Vec<Appearance> {
    let looks = definition::appearances(document, &Registered, &limits(false), program);
    interrupt::check();
    looks
}

/// Compiles and judges new content.
pub fn judge(document: &Value, types: &dyn ActivityTypes, allow_unknown: bool) -> Judged {
    let judged = definition::judge(document, types, &limits(true), allow_unknown);
    // Where there is no room for it, only a part was read.
    interrupt::check();
    judged
}

/// Compiles content that is stored, for a version with other links.
pub fn compile(document: &Value, types: &dyn ActivityTypes) -> Result<Program, Vec<Problem>> {
    let compiled = definition::compile(document, types, &limits(false), true);
    interrupt::check();
    compiled
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
pub struct Pinned {
    used: HashMap<WorkflowReference, Arc<Program>>,
    /// Types that were unknown when it was stored.
    unknown: Vec<String>,
    /// Whose definition it is.
    owner: Option<Owner>,
}

impl Pinned {
    /// What these links mean.
    pub fn to(links: &[Link]) -> Result<Self, PgError> {
        let used = links.iter().map(|link| Ok((link.reference.clone(), Arc::clone(&of_version(link.uses)?.program))));
        Ok(Self { used: used.collect::<Result<_, PgError>>()?, unknown: Vec::new(), owner: None })
    }
}

impl ActivityTypes for Pinned {
    fn custom(&self, type_name: &str) -> Option<CustomType> {
        let is_refused = self.unknown.iter().any(|unknown| unknown == type_name)
            && self.owner.as_ref().is_some_and(|owner| !may_stand_for(type_name, owner));
        if is_refused { None } else { Registered.custom(type_name) }
    }

    fn has_pinned(&self) -> bool {
        !self.used.is_empty()
    }

    fn pinned(&self, reference: &WorkflowReference) -> Option<Arc<Program>> {
        self.used.get(reference).cloned()
    }
}

/// Whether a registered type may be what a definition of this owner meant before there was one: only a type of the same
/// owner, or of a superuser. Another role's would run with rights that were never meant for it.
fn may_stand_for(type_name: &str, owner: &Owner) -> bool {
    activity_types::find(type_name)
        .is_some_and(|found| found.owner.id == owner.id || found.owner.role().is_some_and(role::is_superuser))
}

/// Whether one of these types, unknown when a definition of this owner was stored, is registered by now and may not
/// stand for it: stored again, the definition means that one.
pub fn is_known_to_others(unknown: &[String], owner: &Owner) -> bool {
    unknown.iter().any(|name| activity_types::find(name).is_some() && !may_stand_for(name, owner))
}
