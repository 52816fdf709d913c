//! Resolves references to variables.
//!
//! Elsa refers to variables by id, people and scripts by name. The program uses only names, because scopes at run time
//! look variables up by name. A reference by id is replaced by the name in its declaration.

use std::collections::{HashMap, HashSet};

use super::json::Path;
use super::outline::Outline;
use super::problem::Problems;
use super::settings::{self, Settings};
use workflow_core::program::Variable;

/// The variables of a document, by the activity that declares them.
pub(super) struct Scopes {
    frames: Vec<ScopeFrame>,
    /// Innermost frame of each activity.
    frame_of: Vec<usize>,
    /// Variables that activities declare.
    declared: HashMap<usize, Vec<Variable>>,
    outputs: HashSet<String>,
}

#[derive(Default)]
struct ScopeFrame {
    parent: Option<usize>,
    name_of: HashMap<String, String>,
    id_of: HashMap<String, String>,
}

impl ScopeFrame {
    fn new(parent: Option<usize>, variables: &[Variable]) -> Self {
        let mut frame = ScopeFrame { parent, ..Self::default() };
        for variable in variables {
            frame.name_of.entry(variable.id.clone()).or_insert_with(|| variable.name.clone());
            frame.id_of.entry(variable.name.clone()).or_insert_with(|| variable.id.clone());
        }
        frame
    }
}

impl Scopes {
    /// Reads the variables that containers declare.
    pub fn read(settings: &Settings, outline: &Outline<'_>, problems: &mut Problems) -> Self {
        let mut frames = vec![ScopeFrame::new(None, &settings.variables)];
        let mut frame_of: Vec<usize> = Vec::with_capacity(outline.activities.len());
        let mut declared = HashMap::new();
        for (ix, raw) in outline.activities.iter().enumerate() {
            let outer = raw.parent.and_then(|parent| frame_of.get(parent).copied()).unwrap_or(0);
            let container = raw.descriptor().is_some_and(|descriptor| descriptor.container);
            let variables = match raw.members() {
                Some(members) if container => {
                    settings::variables(members, raw.is_short(outline), &Path::Activity(outline, ix), problems)
                }
                _ => Vec::new(),
            };
            if variables.is_empty() {
                frame_of.push(outer);
            } else {
                frame_of.push(frames.len());
                frames.push(ScopeFrame::new(Some(outer), &variables));
                declared.insert(ix, variables);
            }
        }
        let outputs = settings.outputs.iter().map(|output| output.name.clone()).collect();
        Self { frames, frame_of, declared, outputs }
    }

    /// The names that an activity sees.
    pub fn names(&self, outline: &Outline<'_>, ix: usize) -> VisibleNames<'_> {
        VisibleNames {
            scopes: self,
            frame: self.frame_of.get(ix).copied().unwrap_or(0),
            in_loop: outline.activities.get(ix).is_some_and(|raw| raw.in_loop),
        }
    }

    /// The names that an activity sees from outside its own scope, without the variables that it declares.
    pub fn outside(&self, outline: &Outline<'_>, ix: usize) -> VisibleNames<'_> {
        let names = self.names(outline, ix);
        let outer = self.frames.get(names.frame).and_then(|frame| frame.parent);
        let frame = outer.filter(|_| self.declared.contains_key(&ix)).unwrap_or(names.frame);
        VisibleNames { frame, ..names }
    }

    /// The names of all variables in the document.
    pub fn all_names(&self) -> impl Iterator<Item = &str> {
        self.frames.iter().flat_map(|frame| frame.id_of.keys()).map(String::as_str)
    }

    /// Variables that an activity declares.
    pub fn declared(&self, ix: usize) -> &[Variable] {
        self.declared.get(&ix).map_or(&[], Vec::as_slice)
    }
}

/// The names that one activity sees.
#[derive(Clone, Copy)]
pub(super) struct VisibleNames<'a> {
    scopes: &'a Scopes,
    frame: usize,
    in_loop: bool,
}

impl<'a> VisibleNames<'a> {
    fn frames(self) -> impl Iterator<Item = &'a ScopeFrame> {
        let frames = &self.scopes.frames;
        std::iter::successors(frames.get(self.frame), |frame| frame.parent.and_then(|parent| frames.get(parent)))
    }

    /// Resolves a name. `None` is no error in the body of a loop, where undeclared variables may exist.
    pub fn by_name(self, name: &str) -> Option<&'a str> {
        self.frames().find_map(|frame| frame.id_of.get_key_value(name)).map(|(name, _)| name.as_str())
    }

    /// Name of the nearest variable whose declaration has this id.
    fn by_id(self, id: &str) -> Option<&'a str> {
        self.frames().find_map(|frame| frame.name_of.get(id)).map(String::as_str)
    }

    /// Resolves Elsa's reference: to the nearest declaration with both id and name, else with the id, else with the
    /// name (hand-written definitions often use names as ids).
    pub fn by_reference(self, id: Option<&str>, name: Option<&str>) -> Option<&'a str> {
        let both = id.zip(name).and_then(|(id, name)| {
            self.frames().find_map(|frame| frame.name_of.get(id).filter(|found| *found == name)).map(String::as_str)
        });
        both.or_else(|| id.and_then(|id| self.by_id(id)))
            .or_else(|| name.and_then(|name| self.by_name(name)))
            .or_else(|| id.and_then(|id| self.by_name(id)))
    }

    /// Id of the nearest variable with this name.
    pub fn id_of(self, name: &str) -> Option<&'a str> {
        self.frames().find_map(|frame| frame.id_of.get(name)).map(String::as_str)
    }

    /// Whether undeclared names may exist at run time.
    pub fn in_loop(self) -> bool {
        self.in_loop
    }

    /// Whether the workflow declares this output.
    pub fn has_output(self, name: &str) -> bool {
        self.scopes.outputs.contains(name)
    }

    /// Whether the workflow declares no outputs at all, so that any may be set.
    pub fn any_output(self) -> bool {
        self.scopes.outputs.is_empty()
    }
}
