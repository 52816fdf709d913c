//! The environment of the reader: types that are not built in, and limits.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::content::whole_number;
use super::json::{member, text};
use super::problem::ProblemKind;
use workflow_core::program::Program;

/// The activity types that are not built in: registered in SQL, or workflows.
pub trait ActivityTypes {
    /// Finds a registered type by its full name.
    fn custom(&self, type_name: &str) -> Option<CustomType>;

    /// Whether the document has links: used workflows that were resolved when the definition was stored.
    fn has_pinned(&self) -> bool {
        false
    }

    /// The workflow to which an activity's link was resolved when the definition was stored. A link takes precedence
    /// over every type: a type registered, or built in, since then does not change a stored definition.
    fn pinned(&self, reference: &WorkflowReference) -> Option<Arc<Program>> {
        let _ = reference;
        None
    }

    /// Elsa's resilience strategies available to all definitions, by their names or as Elsa's list.
    fn resilience_strategies(&self) -> Option<Value> {
        None
    }

    /// Finds the workflow that an activity refers to. The activity names a definition, or its type is neither built in
    /// nor registered. `None`: there is none.
    ///
    /// # Errors
    /// Why the workflow cannot be used here.
    fn workflow(&self, reference: &WorkflowReference) -> Result<Option<Arc<Program>>, Refusal> {
        let _ = reference;
        Ok(None)
    }
}

/// An activity type that is registered in SQL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CustomType {
    /// Whether it may start a workflow.
    pub trigger: bool,
    /// Names of its outputs, if its registration declares them. They distinguish an output bound to a variable from an
    /// input that reads one, because the short form writes both as `{"var": "Name"}`.
    pub outputs: Option<Vec<String>>,
    /// Names of its inputs, if its registration declares them.
    pub inputs: Option<Vec<String>>,
}

/// No types: for definitions that use built-in activities only.
impl ActivityTypes for () {
    fn custom(&self, _type_name: &str) -> Option<CustomType> {
        None
    }
}

/// Limits of the reader, and its strictness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// Maximum nesting depth of activities.
    pub max_nesting: usize,
    /// Maximum size in bytes of the document together with all the workflows that it uses.
    pub max_size: usize,
    /// Whether the document is new content. The reader checks scripts and schemas of new content, and rejects unknown
    /// members. It reads stored content as it was accepted.
    pub is_new: bool,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self { max_nesting: 500, max_size: 16 * 1024 * 1024, is_new: false }
    }
}

/// An activity's reference to the workflow that it uses, as in the document.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkflowReference {
    /// Type of the activity; empty if it has none.
    pub type_name: String,
    /// The member `workflowDefinitionId`: the id that all versions share.
    pub definition_id: Option<String>,
    /// `workflowDefinitionVersionId`: the `id` in the document of a version.
    pub version_id: Option<String>,
    /// The member `version`: a version number from 1 on; `None`: the member names none.
    pub version: Option<i32>,
}

/// Why a workflow cannot be used here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Its kind, which determines the SQLSTATE.
    pub kind: ProblemKind,
    /// What is wrong, in the style of a primary message.
    pub message: String,
}

impl WorkflowReference {
    /// Reads the reference in an activity's members.
    pub(super) fn read(members: &Map<String, Value>) -> Self {
        let given = |name| text(members, name).filter(|text| !text.is_empty()).map(str::to_owned);
        let version = member(members, "version").and_then(whole_number).and_then(|n| i32::try_from(n).ok());
        Self {
            type_name: given("type").unwrap_or_default(),
            definition_id: given("workflowDefinitionId"),
            version_id: given("workflowDefinitionVersionId"),
            version: version.filter(|version| *version > 0),
        }
    }
}
