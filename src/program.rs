//! Compiled definitions, kept per backend.
//!
//! The key is the id of the version's row, which is never used again: a version number that was deleted or
//! rolled back can come back with other content, a row's id cannot. So nothing here is ever stale.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::Program;
use workflow_engine::definition::{self, ActivityTypes, Appearance, CustomType, Problem, ReadLimits};

use crate::pg::PgError;
use crate::store::activity_types;
use crate::store::definitions::{self, DefinitionRow};
use crate::{error, guc};

/// Compiled definitions that a backend keeps; when there are more, all go.
const MAX_KEPT: usize = 500;

/// A definition version, ready to run.
#[derive(Debug)]
pub struct Compiled {
    /// The program.
    pub program: Program,
    /// Its row; `is_latest` and `is_published` are as they were when it was loaded.
    pub row: DefinitionRow,
}

thread_local! {
    static KEPT: RefCell<HashMap<Uuid, Rc<Compiled>>> = RefCell::new(HashMap::new());
}

/// The compiled form of a stored version.
pub fn of_version(id: Uuid) -> Result<Rc<Compiled>, PgError> {
    if let Some(compiled) = KEPT.with_borrow(|kept| kept.get(&id).cloned()) {
        return Ok(compiled);
    }
    let gone = || PgError::new("XX001", format!("definition version {id} is missing"));
    let mut row = definitions::by_id(id).ok_or_else(gone)?;
    let document = definitions::document(id).ok_or_else(gone)?;
    // What was accepted once must run: a custom type that is gone faults when it is reached.
    let mut program = compile(&document, true, false).map_err(|problems| error::definition(&problems))?;
    program.version_id = Some(id.to_string());
    // What was unknown when it was defined may be known, and run SQL, by now.
    row.uses_sql |= program.uses_sql;
    let compiled = Rc::new(Compiled { program, row });
    KEPT.with_borrow_mut(|kept| {
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.insert(id, Rc::clone(&compiled));
    });
    Ok(compiled)
}

/// Compiles a document; one that just came in has the syntax of its scripts checked as well.
pub fn compile(document: &Value, allow_unknown: bool, check_scripts: bool) -> Result<Program, Vec<Problem>> {
    definition::compile(document, &Registered, &limits(check_scripts), allow_unknown)
}

/// How the activities of a document look, in the order of its compiled form.
pub fn appearances(document: &Value) -> Vec<Appearance> {
    definition::appearances(document, &Registered, &limits(false))
}

fn limits(check_scripts: bool) -> ReadLimits {
    ReadLimits { max_nesting: guc::limits().max_nesting as usize, check_scripts }
}

/// The activity types that are written in SQL.
pub struct Registered;

impl ActivityTypes for Registered {
    fn custom(&self, type_name: &str) -> Option<CustomType> {
        let found = activity_types::find(type_name)?;
        Some(CustomType { trigger: found.trigger, outputs: found.outputs })
    }
}
