//! Compiled definitions, cached per backend.
//!
//! The key is the id of the version's row, which is never reused: a version number that was deleted or rolled back can
//! come back with other content. Drafts, whose content can change, are not cached. The owner of a definition or an
//! activity type can change, and so can a type's declaration. The session that changes them invalidates the caches of
//! all sessions.

use std::cell::{LazyCell, RefCell};
use std::collections::HashMap;
use std::ffi::CString;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::Program;
use workflow_engine::definition::{
    self, ActivityTypes, Appearance, CustomType, Problem, ReadLimits, Validated, WorkflowReference,
};

use crate::error;
use crate::pg::error::warning;
use crate::pg::state::ProcessLocal;
use crate::pg::{PgError, catalog, guc, interrupt, memory, role};
use crate::store::definitions::activity_types;
use crate::store::definitions::links::Link;
use crate::store::definitions::{self, DefinitionRow, WholeDefinition};
use crate::store::instances::InstanceRow;
use crate::store::rights::owners::Owner;

/// Maximum number of compiled definitions per backend. Above it, or when the backend holds a quarter of the memory that
/// one call may add, the cache is emptied.
const MAX_CACHED: usize = 500;

/// A compiled definition version.
#[derive(Debug)]
pub struct Compiled {
    /// What the engine runs; each backend has its own.
    pub program: Arc<Program>,
    /// Its row; `is_latest` and `is_published` are as they were when it was loaded.
    pub row: DefinitionRow,
}

/// Programs by version id.
#[derive(Default)]
struct ProgramCache {
    /// The catalog generation and the setting for which they were compiled.
    of: (u64, Option<CString>),
    programs: HashMap<Uuid, Rc<Compiled>>,
}

impl ProgramCache {
    /// Drops programs that were compiled before the owners or the setting changed.
    fn renew(&mut self) -> &mut HashMap<Uuid, Rc<Compiled>> {
        let of = (catalog::definitions_generation(), guc::resilience_strategies());
        if self.of != of {
            self.programs.clear();
            self.of = of;
        }
        &mut self.programs
    }
}

/// Backend: the programs that this session has compiled.
static PROGRAMS: ProcessLocal<LazyCell<RefCell<ProgramCache>>> = ProcessLocal::new(LazyCell::new(RefCell::default));
/// Transaction: drafts that it publishes. If it is rolled back they can get other content.
static JUST_PUBLISHED: ProcessLocal<RefCell<Vec<Uuid>>> = ProcessLocal::new(RefCell::new(Vec::new()));

/// The compiled form of a stored version.
pub fn of_version(id: Uuid) -> Result<Rc<Compiled>, PgError> {
    match cached(id) {
        Some(compiled) => Ok(compiled),
        None => load(id),
    }
}

/// Empties the cache, because an activity type has changed.
pub fn forget() {
    PROGRAMS.borrow_mut().programs.clear();
}

fn cached(id: Uuid) -> Option<Rc<Compiled>> {
    PROGRAMS.borrow_mut().renew().get(&id).cloned()
}

/// The version that an instance runs. Raises XX001 if the instance's state does not match it.
pub fn of_instance(row: &InstanceRow) -> Result<Rc<Compiled>, PgError> {
    let compiled = of_version(row.definition_version_id)?;
    if row.instance.state.fits(compiled.program.nodes.len()) {
        return Ok(compiled);
    }
    Err(error::unreadable_state(row.instance.id, "It names an activity that the definition does not have."))
}

/// Compiles a version after those that it uses, with a work list instead of recursion.
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
        match cached(used) {
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
    let Some(numbering) = numbering else { return Err(error::unfinished(&row.definition_id, row.version)) };
    let used =
        links.iter().filter_map(|link| Some((link.reference.clone(), Arc::clone(&ready.get(&link.uses)?.program))));
    // A version that was accepted once must run: a missing custom type faults when it is reached.
    let limits = ReadLimits { max_size: usize::MAX, ..limits(false) };
    let types = Pinned { used: used.collect(), unknown: unknown_types, owner: Some(row.owner.clone()) };
    let compiled = definition::compile(&document, &types, &limits, true);
    interrupt::check();
    let program = compiled.map_err(|problems| error::definition(&problems))?;
    // The states of its instances are stored with these numbers, however the document is parsed today.
    let numbering = serde_json::from_value(numbering).map_err(|error| error.to_string());
    let numbered = numbering.and_then(|numbering| program.numbered(&numbering));
    let mut program = numbered.map_err(|reason| error::unreadable_definition(id, &reason))?;
    program.version_id = Some(id.to_string());
    let program = Arc::new(program);
    // Types that were unknown when the version was defined may be registered by now, and run SQL.
    row.uses_sql |= program.uses_sql;
    let compiled = Rc::new(Compiled { program, row });
    cache(&compiled);
    Ok(compiled)
}

/// Caches the program of a version that this transaction has just stored. If the transaction rolls back, no call asks
/// for the program: version ids are not reused.
pub fn cache_new(mut program: Program, row: &DefinitionRow) {
    program.version_id = Some(row.id.to_string());
    cache(&Rc::new(Compiled { program: Arc::new(program), row: row.clone() }));
}

/// Records that this transaction publishes a draft.
pub fn record_publication(id: Uuid) {
    JUST_PUBLISHED.borrow_mut().push(id);
}

/// Drops the record of published drafts. Called when the transaction has ended; does not fail.
pub fn transaction_ended() {
    JUST_PUBLISHED.borrow_mut().clear();
}

fn cache(compiled: &Rc<Compiled>) {
    // Another session may register the unknown types at any time.
    let is_final = !compiled.row.is_draft && !JUST_PUBLISHED.borrow().contains(&compiled.row.id);
    if !is_final || !compiled.program.knows_all_types() {
        return;
    }
    let mut cache = PROGRAMS.borrow_mut();
    let cache = cache.renew();
    if cache.len() >= MAX_CACHED || memory::held() > guc::memory_limit() / 4 {
        cache.clear();
    }
    cache.insert(compiled.row.id, Rc::clone(compiled));
}

/// Limits for reading a document; new content is also validated.
fn limits(is_new: bool) -> ReadLimits {
    let max_nesting = guc::max_nesting() as usize;
    ReadLimits { max_nesting, max_size: guc::max_definition_size(), is_new }
}

/// The layout of a program's nodes, from its document.
pub fn appearances(document: &Value, program: &Program) -> Vec<Appearance> {
    let appearances = definition::appearances(document, &Registered, &limits(false), program);
    interrupt::check();
    appearances
}

/// Compiles and validates new content.
pub fn validate(document: &Value, types: &dyn ActivityTypes, allow_unknown: bool) -> Validated {
    let validated = definition::validate(document, types, &limits(true), allow_unknown);
    // If memory runs out, only a part of the document was read; this call raises the error.
    interrupt::check();
    validated
}

/// Compiles and validates content of an existing version, by the rules under which it was stored.
pub fn validate_stored(document: &Value, types: &dyn ActivityTypes) -> Validated {
    let validated = definition::validate(document, types, &limits(false), true);
    interrupt::check();
    validated
}

/// Compiles stored content, for a version with other links.
pub fn compile(document: &Value, types: &dyn ActivityTypes) -> Result<Program, Vec<Problem>> {
    let compiled = definition::compile(document, types, &limits(false), true);
    interrupt::check();
    compiled
}

/// The activity types registered in SQL.
pub struct Registered;

impl ActivityTypes for Registered {
    fn custom(&self, type_name: &str) -> Option<CustomType> {
        let found = activity_types::find(type_name)?;
        Some(CustomType { trigger: found.trigger, outputs: found.outputs, inputs: found.inputs })
    }

    fn resilience_strategies(&self) -> Option<Value> {
        let text = guc::resilience_strategies()?;
        let parsed: Result<Value, _> = serde_json::from_slice(text.as_bytes());
        match &parsed {
            Ok(strategies) => {
                let problems = definition::problems_of_strategies(strategies);
                if !problems.is_empty() {
                    warning(error::strategies(&problems));
                }
            }
            Err(error) => warning(
                PgError::new("01000", "setting workflow.resilience_strategies is not read")
                    .detail(format!("It is no JSON: {error}.")),
            ),
        }
        parsed.ok()
    }
}

/// The activity types of a stored version, whose used workflows are resolved.
pub struct Pinned {
    used: HashMap<WorkflowReference, Arc<Program>>,
    /// Types that were unknown when it was stored.
    unknown: Vec<String>,
    /// The owner of the definition.
    owner: Option<Owner>,
}

impl Pinned {
    /// The workflows that these links name.
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

    fn resilience_strategies(&self) -> Option<Value> {
        Registered.resilience_strategies()
    }

    fn has_pinned(&self) -> bool {
        !self.used.is_empty()
    }

    fn pinned(&self, reference: &WorkflowReference) -> Option<Arc<Program>> {
        self.used.get(reference).cloned()
    }
}

/// Whether a type that was registered later may be used for a name in a definition of this owner: only a type of the
/// same owner, or of a superuser. Another role's type would run with rights that were never meant for it.
fn may_stand_for(type_name: &str, owner: &Owner) -> bool {
    activity_types::find(type_name)
        .is_some_and(|found| found.owner.id == owner.id || found.owner.role().is_some_and(role::is_superuser))
}

/// Whether one of these types, unknown when a definition of this owner was stored, has been registered since by a role
/// that may not supply it. Storing the definition again resolves it to the registered type.
pub fn is_known_to_others(unknown: &[String], owner: &Owner) -> bool {
    unknown.iter().any(|name| activity_types::find(name).is_some() && !may_stand_for(name, owner))
}
