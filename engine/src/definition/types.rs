//! What the reader is told of types that are not built in, and of its limits.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::content::whole_number;
use super::json::{member, text};
use super::problem::ProblemKind;
use crate::program::Program;

/// What is known of activity types that are not built in: registered in SQL, or workflows.
pub trait ActivityTypes {
    /// Finds a registered type by its full name.
    fn custom(&self, type_name: &str) -> Option<CustomType>;

    /// Whether any workflow was settled when the definition was stored.
    fn has_pinned(&self) -> bool {
        false
    }

    /// The workflow that an activity refers to, as it was settled when the definition was stored. It comes before
    /// all else: a type that is registered, or built in, since then changes no stored definition.
    fn pinned(&self, reference: &WorkflowReference) -> Option<Arc<Program>> {
        let _ = reference;
        None
    }

    /// Finds the workflow that an activity refers to: one that names a definition, or whose type is neither built in
    /// nor registered. `None`: there is none.
    ///
    /// # Errors
    /// Why it cannot be used here.
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
    /// Names of its outputs, where its registration declares them. They tell an output that goes into
    /// a variable from an input that reads one, since the short form writes both `{"var": "Name"}`.
    pub outputs: Option<Vec<String>>,
}

/// For definitions that use built-in activities only.
impl ActivityTypes for () {
    fn custom(&self, _type_name: &str) -> Option<CustomType> {
        None
    }
}

/// Limits of what is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// How deep activities may be nested.
    pub max_nesting: usize,
    /// Bytes that the document may have with those of all the workflows that it uses.
    pub max_size: usize,
    /// Whether the document is new content: its scripts and schemas are checked, and what would do nothing is refused.
    /// What is stored is read as it was when it was accepted.
    pub is_new: bool,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self { max_nesting: 500, max_size: 16 * 1024 * 1024, is_new: false }
    }
}

/// How an activity refers to the workflow that it stands for, as written.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkflowReference {
    /// Type of the activity; empty where none is written.
    pub type_name: String,
    /// `workflowDefinitionId`.
    pub definition_id: Option<String>,
    /// `workflowDefinitionVersionId`: the id that the document of a version has.
    pub version_id: Option<String>,
    /// `version`.
    pub version: Option<i32>,
}

/// Why a workflow cannot be used here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What sort of problem it is.
    pub kind: ProblemKind,
    /// What is wrong, in the style of a primary message.
    pub message: String,
}

impl WorkflowReference {
    /// Reads the reference of an activity.
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
