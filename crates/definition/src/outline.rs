//! The activities of a document, found and named before any of them is read.
//!
//! The walk has its own work list, so a deeply nested document uses no stack. It determines the order of the nodes,
//! their ids, and the type of each.

use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::forms::wrapper;
use super::json::{Activities, Path, entry, text};
use super::problem::{ProblemKind, Problems};
use super::{ActivityTypes, CustomType, ReadLimits, WorkflowReference};
use workflow_core::activity::{Activity, Descriptor};
use workflow_core::program::Program;

mod walk;

/// All activities of a document, in document order; parents precede their children.
pub(super) struct Outline<'d> {
    /// In document order; an activity is named by its position here.
    pub activities: Vec<RawActivity<'d>>,
    /// Whether Elsa's tools wrote the document.
    pub elsa: bool,
}

/// An activity in the document, with the results of the walk.
pub(super) struct RawActivity<'d> {
    /// Its object, or the array that represents a sequence.
    pub value: &'d Value,
    /// The kind of its type: built in, registered in SQL, a workflow, or unknown.
    pub kind: ActivityKind,
    /// Its reference to a workflow, if it may use one.
    pub reference: Option<Box<WorkflowReference>>,
    /// Full type name, such as `Elsa.Event`.
    pub type_name: &'d str,
    /// Activity id, given or generated.
    pub id: String,
    /// The activity that has this one as a child.
    pub parent: Option<usize>,
    /// JSON pointer from the parent to the activity.
    step: String,
    /// Depth of nesting; the root has 0.
    pub depth: usize,
    /// Whether the activity is in the body of a loop, where undeclared variables exist.
    pub in_loop: bool,
    /// Children of single ports, in the order of the descriptor.
    pub ports: Vec<Option<usize>>,
    /// Children of the list port.
    pub children: Vec<usize>,
    /// The activity's lists of parts, in the order of the descriptor.
    pub parts: Vec<Vec<RawPart<'d>>>,
}

/// One object of a list of parts in the document.
pub(super) struct RawPart<'d> {
    /// The object, or the text in place of one.
    pub value: &'d Value,
    /// JSON pointer from the activity to the part.
    pub step: String,
    /// Activities of the part, in the order of the descriptor's ports.
    pub ports: Vec<Option<usize>>,
}

impl<'d> RawPart<'d> {
    /// A member's key and value.
    pub fn member(&self, name: &str) -> Option<(&'d str, &'d Value)> {
        self.value.as_object().and_then(|members| entry(members, name))
    }
}

/// The kind of an activity's type.
#[derive(Clone)]
pub(super) enum ActivityKind {
    /// A built-in type, by its entry in the catalogue.
    Known(&'static dyn Activity),
    /// A type registered in SQL.
    Custom(Rc<CustomType>),
    /// The program of a workflow, which is inlined.
    Workflow(Arc<Program>),
    /// An unregistered type: the activity faults when it is executed.
    Unknown,
}

impl ActivityKind {
    /// Whether activities of this type contain others.
    pub fn holds_activities(&self) -> bool {
        match self {
            Self::Known(activity) => activity.descriptor().holds_activities(),
            Self::Workflow(_) => true,
            Self::Custom(_) | Self::Unknown => false,
        }
    }

    /// Whether activities of this type have a declared input of this name.
    pub fn has_input(&self, name: &str) -> bool {
        match self {
            Self::Known(activity) => activity.descriptor().inputs.iter().any(|input| input.name == name),
            Self::Custom(custom) => custom.inputs.iter().flatten().any(|input| input.eq_ignore_ascii_case(name)),
            Self::Workflow(program) => program.inputs.iter().any(|input| input.name.eq_ignore_ascii_case(name)),
            Self::Unknown => false,
        }
    }
}

impl<'d> RawActivity<'d> {
    /// The activity's members; none if it is an array.
    pub fn members(&self) -> Option<&'d Map<String, Value>> {
        self.value.as_object()
    }

    /// The activity's entry in the catalogue.
    pub fn descriptor(&self) -> Option<&'static Descriptor> {
        match self.kind {
            ActivityKind::Known(activity) => Some(activity.descriptor()),
            ActivityKind::Custom(_) | ActivityKind::Workflow(_) | ActivityKind::Unknown => None,
        }
    }

    /// Whether the activity is written in Elsa's form, in which unknown members are permitted.
    pub fn is_elsa(&self) -> bool {
        self.members().is_some_and(has_marks)
    }

    /// Whether the activity is in the short form: neither the document, nor the activity, nor any of its values is in
    /// Elsa's form.
    pub fn is_short(&self, outline: &Outline<'_>) -> bool {
        let wrapped = |members: &Map<String, Value>| members.values().any(|value| wrapper(value).is_some());
        !outline.elsa && !self.is_elsa() && !self.members().is_some_and(wrapped)
    }
}

/// Members that Elsa writes into every activity.
pub(super) const MARKS: [&str; 4] = ["nodeId", "customProperties", "metadata", "version"];

/// Members that only Elsa's tools write into a document.
pub(super) const DOCUMENT_MARKS: [&str; 5] =
    ["toolVersion", "createdAt", "isLatest", "isPublished", "customProperties"];

/// Whether an activity has members that Elsa writes into every activity.
fn has_marks(members: &Map<String, Value>) -> bool {
    MARKS.iter().any(|mark| entry(members, mark).is_some())
}

/// Whether Elsa's tools wrote a document: it, or its root, has members that only they write.
pub(super) fn is_elsa_document(document: &Map<String, Value>) -> bool {
    let schema = text(document, "$schema").is_some_and(|schema| schema.to_ascii_lowercase().contains("elsa"));
    let root = entry(document, "root").and_then(|(_, root)| root.as_object());
    schema || DOCUMENT_MARKS.iter().any(|mark| entry(document, mark).is_some()) || root.is_some_and(has_marks)
}

/// The problem of a document without a root, depending on the kind of document that it seems to be.
fn rootless(document: &Map<String, Value>) -> (ProblemKind, String) {
    let has = |name: &str| entry(document, name).is_some();
    let wraps = ["model", "workflowDefinition"].into_iter().find(|name| {
        entry(document, name)
            .and_then(|(_, value)| value.as_object())
            .is_some_and(|inner| entry(inner, "root").is_some())
    });
    if let Some(name) = wraps {
        return (
            ProblemKind::Invalid,
            format!("a definition needs a \"root\" activity; it is in \"{name}\" of this document"),
        );
    }
    if has("type") {
        let message =
            "this is an activity: a definition needs it as its \"root\", beside a \"definitionId\" and the variables";
        return (ProblemKind::Invalid, message.to_owned());
    }
    if has("activities") && has("connections") {
        let message = "this is a definition of Elsa 1 or 2, whose format Elsa 3 does not read either: rebuild it in Elsa 3's \
                       Studio, or in the short form, with a \"root\" activity";
        return (ProblemKind::Unsupported, message.to_owned());
    }
    (ProblemKind::Invalid, "a definition needs a \"root\" activity".to_owned())
}

impl<'d> Outline<'d> {
    /// Finds all activities of a document.
    pub fn read(
        document: &'d Map<String, Value>,
        types: &dyn ActivityTypes,
        limits: &ReadLimits,
        allow_unknown: bool,
        problems: &mut Problems,
    ) -> Self {
        let root = entry(document, "root").filter(|(_, value)| !value.is_null());
        if root.is_none() {
            let (kind, message) = rootless(document);
            problems.add(kind, &Path::Root, message);
        }
        let elsa = is_elsa_document(document);
        Outline { elsa, ..walk::walk(root, types, limits.max_nesting, allow_unknown, problems) }
    }
}

impl Activities for Outline<'_> {
    fn pointer(&self, ix: usize) -> String {
        let mut steps = Vec::new();
        let mut next = Some(ix);
        while let Some(raw) = next.and_then(|ix| self.activities.get(ix)) {
            steps.push(raw.step.as_str());
            next = raw.parent;
        }
        steps.reverse();
        steps.concat()
    }
}
