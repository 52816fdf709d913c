//! The definitions of all files that are validated together.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use workflow_engine::activities::catalogue;
use workflow_engine::activity::short_name;
use workflow_engine::definition::{
    self, ActivityTypes, CustomType, Identity, Problem, ProblemKind, ReadLimits, Refusal, WorkflowReference,
};
use workflow_engine::program::Program;
use workflow_engine::spelling::nearest;

use super::{Finding, Severity};
use crate::document::Document;

/// Workflows that are used inside each other more levels deep are not read. The engine refuses them, too.
const MAX_LEVELS: usize = 50;

/// Definitions, each of which may use the others as activities.
pub struct Library<'a> {
    definitions: Vec<Source<'a>>,
    /// What was found in those that have been read.
    examined: RefCell<BTreeMap<usize, Examined>>,
    /// Those that are being read: each uses the next one.
    open: RefCell<Vec<usize>>,
    /// The refusals that only say that something was not checked.
    undecided: RefCell<BTreeSet<String>>,
}

struct Source<'a> {
    document: &'a Document,
    /// `None`: it has none that is valid.
    identity: Option<Identity>,
    activity_type: Option<String>,
}

#[derive(Clone)]
struct Examined {
    findings: Vec<Finding>,
    /// `None`: it does not compile, or only with what is not in the files.
    program: Option<Arc<Program>>,
}

impl<'a> Library<'a> {
    pub fn new(documents: impl Iterator<Item = &'a Document>) -> Self {
        let source = |document: &'a Document| Source {
            document,
            identity: definition::identity(&document.value).ok(),
            activity_type: definition::activity_type(&document.value),
        };
        Self {
            definitions: documents.map(source).collect(),
            examined: RefCell::default(),
            open: RefCell::default(),
            undecided: RefCell::default(),
        }
    }

    /// What is wrong with a definition, in the order of its text.
    pub fn findings(&self, ix: usize) -> Vec<Finding> {
        self.examined(ix).findings
    }

    fn examined(&self, ix: usize) -> Examined {
        if let Some(examined) = self.examined.borrow().get(&ix) {
            return examined.clone();
        }
        self.open.borrow_mut().push(ix);
        let examined = self.examine(&self.definitions[ix]);
        self.open.borrow_mut().pop();
        self.examined.borrow_mut().insert(ix, examined.clone());
        examined
    }

    fn examine(&self, source: &Source<'_>) -> Examined {
        let document = source.document;
        let limits = ReadLimits { is_new: true, ..ReadLimits::default() };
        let validated = definition::validate(&document.value, self, &limits, false);
        let (program, problems) = match validated.program {
            Ok(program) => (Some(Arc::new(program)), Vec::new()),
            Err(problems) => (None, problems),
        };
        let mut findings: Vec<Finding> =
            problems.into_iter().chain(validated.warnings).map(|problem| self.finding(document, problem)).collect();
        let finding = |path: &str, severity, message: String| Finding {
            at: document.position(path),
            path: path.to_owned(),
            severity,
            message,
        };
        findings.extend(reserved_type(source).map(|message| finding("/name", Severity::Error, message)));
        for person in validated.people {
            if let Some(role) = person.text.strip_prefix("role:") {
                let message = format!("whether role \"{role}\" exists is not checked without a database");
                findings.push(finding(&person.path, Severity::Note, message));
            }
        }
        if let Some(first) = validated.sql.first() {
            let message = "SQL is not parsed without a database".to_owned();
            findings.push(finding(&first.path, Severity::Note, message));
        }
        findings.sort_by_key(|finding| finding.at);
        Examined { findings, program }
    }

    fn finding(&self, document: &Document, Problem { path, message, kind, .. }: Problem) -> Finding {
        let severity = match kind {
            // A note about an activity is a refusal for the reader, which names it an error.
            ProblemKind::Warning if self.undecided.borrow().contains(&message) => Severity::Note,
            ProblemKind::Warning => Severity::Warning,
            _ => Severity::Error,
        };
        Finding { at: document.position(&path), path, severity, message }
    }

    /// The definition that an activity uses, as `wf_define` finds it: by the id that it names, or else by its type.
    fn find(&self, reference: &WorkflowReference) -> Result<Option<usize>, Refusal> {
        let with_id = |id: &str| self.indexes(|source| source.id() == Some(id));
        let named = reference.definition_id.as_deref().map(with_id).unwrap_or_default();
        let found = if named.is_empty() { self.of_type(&reference.type_name)? } else { named };
        let is_asked = |ix: &&usize| {
            let Source { document, identity, .. } = &self.definitions[**ix];
            let version_id = document.value.get("id").and_then(|id| id.as_str());
            let version = identity.as_ref().and_then(|identity| identity.version);
            (reference.version_id.is_some() && version_id == reference.version_id.as_deref())
                || (reference.version.is_some() && version == reference.version)
        };
        Ok(found.iter().find(is_asked).or(found.last()).copied())
    }

    /// All versions of the definition with an activity type.
    fn of_type(&self, type_name: &str) -> Result<Vec<usize>, Refusal> {
        let found = self.indexes(|source| source.activity_type.as_deref() == Some(type_name));
        let ids: BTreeSet<&str> = found.iter().filter_map(|ix| self.definitions[*ix].id()).collect();
        if ids.len() > 1 {
            let names: Vec<String> = ids.iter().map(|id| format!("\"{id}\"")).collect();
            let message = format!(
                "activity type \"{type_name}\" stands for several workflows: {}; name one with \"workflowDefinitionId\"",
                names.join(", ")
            );
            return Err(Refusal { kind: ProblemKind::Invalid, message });
        }
        Ok(found)
    }

    fn indexes(&self, is_wanted: impl Fn(&Source<'_>) -> bool) -> Vec<usize> {
        let all = self.definitions.iter().enumerate();
        all.filter(|(_, source)| is_wanted(source)).map(|(ix, _)| ix).collect()
    }

    /// The refusal of a definition that contains itself, or is too deep inside of others.
    fn check_nesting(&self, ix: usize) -> Result<(), Refusal> {
        let open = self.open.borrow();
        let name = |ix: &usize| format!("\"{}\"", self.definitions[*ix].id().unwrap_or_default());
        if let Some(at) = open.iter().position(|outer| *outer == ix) {
            let circle: Vec<String> = open[at..].iter().chain([&ix]).map(name).collect();
            let message = format!("a workflow cannot contain itself: {}", circle.join(" contains "));
            return Err(Refusal { kind: ProblemKind::Invalid, message });
        }
        if open.len() > MAX_LEVELS {
            let message = format!("workflows are used inside each other more than {MAX_LEVELS} levels deep");
            return Err(Refusal { kind: ProblemKind::TooDeep, message });
        }
        Ok(())
    }

    /// The refusal that becomes a note.
    fn undecided(&self, message: String) -> Refusal {
        self.undecided.borrow_mut().insert(message.clone());
        Refusal { kind: ProblemKind::Warning, message }
    }
}

impl Source<'_> {
    fn id(&self) -> Option<&str> {
        self.identity.as_ref().map(|identity| identity.definition_id.as_str())
    }
}

/// A type that is not built in may be registered in the database, or be a workflow there.
impl ActivityTypes for Library<'_> {
    fn custom(&self, _type_name: &str) -> Option<CustomType> {
        None
    }

    fn workflow(&self, reference: &WorkflowReference) -> Result<Option<Arc<Program>>, Refusal> {
        if let Some(ix) = self.find(reference)? {
            self.check_nesting(ix)?;
            let id = self.definitions[ix].id().unwrap_or_default();
            let unread = || {
                self.undecided(format!("the use of workflow \"{id}\", which has messages of its own, is not checked"))
            };
            return self.examined(ix).program.map(Some).ok_or_else(unread);
        }
        let named = [&reference.definition_id, &reference.version_id].into_iter().find_map(Option::as_deref);
        let type_name = reference.type_name.as_str();
        match named {
            Some(id) => {
                Err(self.undecided(format!("whether workflow \"{id}\" exists is not checked without a database")))
            }
            None if type_name.is_empty() || is_misspelt(type_name) => Ok(None),
            None => Err(self.undecided(format!(
                "activity type \"{type_name}\" is not built in, and not checked without a database"
            ))),
        }
    }
}

/// Whether a name that is no built-in type cannot be the name of another type, or was hardly meant as one.
fn is_misspelt(type_name: &str) -> bool {
    let built_in = || catalogue::ACTIVITIES.iter().map(|activity| short_name(activity.descriptor().type_name));
    catalogue::has_reserved_prefix(type_name) || nearest(type_name, built_in()).is_some()
}

/// Why a definition cannot be the activity type that it wants to be.
fn reserved_type(source: &Source<'_>) -> Option<String> {
    let name = source.activity_type.as_deref().filter(|name| catalogue::find(name).is_none())?;
    let built_in = catalogue::looks_like(name)?;
    Some(format!("activity type name \"{name}\" is reserved: the built-in type is \"{built_in}\""))
}
