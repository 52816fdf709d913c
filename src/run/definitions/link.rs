//! Linking: resolving which version of a workflow an activity uses, when a definition is stored.
//!
//! As in Elsa: the version that the reference names, else the published one, else the latest.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::Program;
use workflow_engine::activities::workflow_definition_activity::TYPE_NAME as USE;
use workflow_engine::definition::{ActivityTypes, CustomType, ProblemKind, Refusal, WorkflowReference};

use crate::access::{self, Privilege};
use crate::compiled::{self, Registered};
use crate::pg::{PgError, role};
use crate::store::definitions::links::Link;
use crate::store::definitions::uses;
use crate::store::definitions::{self, DefinitionRow};
use crate::store::rights::owners::Owner;
use crate::store::timers::schedules::COMMANDS;

/// The activity types for a definition that is being stored. Records the workflows that it resolves.
pub struct Linker {
    owner: Option<Owner>,
    found: RefCell<BTreeMap<WorkflowReference, (Uuid, Arc<Program>)>>,
    failed: RefCell<Option<PgError>>,
}

impl Linker {
    /// For a definition of this owner, or of the current role if the definition is new.
    pub fn new(owner: Option<Owner>) -> Self {
        Self { owner, found: RefCell::default(), failed: RefCell::default() }
    }

    /// Owners of the workflows that a definition with these references uses, as far as the current role may use them.
    pub fn owners_of(&self, references: &[(String, WorkflowReference)]) -> BTreeSet<i32> {
        let used =
            references.iter().filter_map(|(_, reference)| version(reference, self.owner.as_ref()).ok().flatten());
        used.filter(|row| may_use(row).is_ok()).map(|row| row.owner.id).collect()
    }

    /// The links of the definition.
    ///
    /// # Errors
    /// The error that prevented reading a used version.
    pub fn into_links(self) -> Result<Vec<Link>, PgError> {
        match self.failed.into_inner() {
            Some(error) => Err(error),
            None => {
                let found = self.found.into_inner().into_iter();
                Ok(found.map(|(reference, (uses, _))| Link { reference, uses }).collect())
            }
        }
    }
}

impl ActivityTypes for Linker {
    fn resilience_strategies(&self) -> Option<Value> {
        Registered.resilience_strategies()
    }

    fn custom(&self, type_name: &str) -> Option<CustomType> {
        Registered.custom(type_name)
    }

    fn workflow(&self, reference: &WorkflowReference) -> Result<Option<Arc<Program>>, Refusal> {
        if let Some((_, program)) = self.found.borrow().get(reference) {
            return Ok(Some(Arc::clone(program)));
        }
        let Some(row) = version(reference, self.owner.as_ref())? else { return Ok(None) };
        may_use(&row)?;
        refuse_draft(&row)?;
        agree(&row, self.owner.as_ref())?;
        match compiled::of_version(row.id) {
            Ok(compiled) => {
                let program = Arc::clone(&compiled.program);
                self.found.borrow_mut().insert(reference.clone(), (row.id, Arc::clone(&program)));
                Ok(Some(program))
            }
            Err(error) => {
                self.failed.borrow_mut().get_or_insert(error);
                Ok(None)
            }
        }
    }
}

/// Resolves a reference to a version. A definition from another database may refer to a definition id that does not
/// exist here; then the activity type decides.
fn version(reference: &WorkflowReference, owner: Option<&Owner>) -> Result<Option<DefinitionRow>, Refusal> {
    let named = reference.definition_id.as_deref().filter(|id| *id != COMMANDS);
    let found = match named.and_then(definitions::latest) {
        Some(row) => Some(row),
        None => by_type(&reference.type_name, owner)?,
    };
    let Some(latest) = found else { return Ok(None) };
    let id = latest.definition_id.as_str();
    let asked = reference.version_id.as_deref().and_then(|version_id| uses::by_document_id(id, version_id));
    let asked = asked.or_else(|| reference.version.and_then(|version| definitions::version(id, version)));
    Ok(Some(asked.or_else(|| definitions::published(id)).unwrap_or(latest)))
}

/// If several workflows have the same activity type, those of the definition's owner take precedence, then those that
/// the current role may start: the name of one role's workflow must not hide another role's own. A workflow that the
/// current role may neither start nor read is ignored.
fn by_type(type_name: &str, owner: Option<&Owner>) -> Result<Option<DefinitionRow>, Refusal> {
    if type_name.is_empty() || type_name == USE {
        return Ok(None);
    }
    let mut found: Vec<DefinitionRow> =
        uses::by_type(type_name).iter().filter_map(|id| definitions::latest(id)).filter(is_known).collect();
    if found.len() > 1 {
        let is_own = |row: &DefinitionRow| match owner {
            Some(owner) => owner.id == row.owner.id,
            None => row.owner.is_current(),
        };
        let has_own = found.iter().any(is_own);
        found.retain(|row| if has_own { is_own(row) } else { access::may(role::current(), Privilege::Start, row) });
    }
    match found.as_slice() {
        [] => Ok(None),
        [row] => Ok(Some(row.clone())),
        several => {
            let names: Vec<String> = several.iter().map(|row| format!("\"{}\"", row.definition_id)).collect();
            let names = names.join(", ");
            let message = format!(
                "activity type \"{type_name}\" stands for several workflows: {names}; \
                 name one with \"workflowDefinitionId\""
            );
            Err(Refusal { kind: ProblemKind::Invalid, message })
        }
    }
}

fn is_known(row: &DefinitionRow) -> bool {
    let who = role::current();
    access::may(who, Privilege::Start, row) || access::may(who, Privilege::Read, row)
}

/// A role that defines a consumer needs the right to start the used workflow.
fn may_use(row: &DefinitionRow) -> Result<(), Refusal> {
    access::require(Privilege::Start, row).map_err(|error| {
        let hint = error.hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
        Refusal { kind: ProblemKind::Denied, message: format!("{}{hint}", error.message) }
    })
}

/// A used version must not change, so it cannot be a draft.
fn refuse_draft(row: &DefinitionRow) -> Result<(), Refusal> {
    if !row.is_draft {
        return Ok(());
    }
    let message = format!(
        "version {} of workflow \"{}\" is a draft, which has to be published before it is used",
        row.version, row.definition_id
    );
    Err(Refusal { kind: ProblemKind::Invalid, message })
}

/// An inlined workflow runs with the rights of the outer one, so a `definer` can be inlined only by its own owner.
pub fn agree(used: &DefinitionRow, owner: Option<&Owner>) -> Result<(), Refusal> {
    let same = match owner {
        Some(owner) => owner.id == used.owner.id,
        None => used.owner.role() == Some(role::current()),
    };
    if !used.definer || same {
        return Ok(());
    }
    let message = format!(
        "workflow \"{}\" runs with the rights of its owner and cannot run inside a workflow of another owner; \
         start it with ExecuteWorkflow",
        used.definition_id
    );
    Err(Refusal { kind: ProblemKind::Denied, message })
}
