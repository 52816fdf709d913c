//! Undeclared names: checked after the whole document was read, because any activity may set an undeclared variable.

use std::collections::HashSet;

use super::json::Path;
use super::mentions::{Mentions, Use};
use super::outline::{ActivityKind, Outline};
use super::problem::Problems;
use super::scope::Scopes;
use super::settings::Settings;
use workflow_core::program::GIVEN_BY_ENGINE;
use workflow_expression::javascript;
use workflow_value::spelling::nearest;

/// Variables that activities pass to the activities inside them.
const OF_LOOPS: [&str; 4] = ["CurrentValue", "CurrentIndex", "ChildInstanceId", "Item"];

/// Maximum number of names that are compared with an unknown name; with more, none is suggested.
const MAX_COMPARED: usize = 1_000;

/// Names in all accepted spellings.
#[derive(Default)]
struct Spellings<'a> {
    all: Vec<&'a str>,
    lower: HashSet<String>,
    pascal: HashSet<String>,
}

impl<'a> Spellings<'a> {
    fn of(all: Vec<&'a str>) -> Self {
        let lower = all.iter().map(|name| name.to_lowercase()).collect();
        let pascal = all.iter().flat_map(|name| [(*name).to_owned(), javascript::pascal(name)]).collect();
        Self { all, lower, pascal }
    }

    fn has(&self, name: &str) -> bool {
        self.lower.contains(&name.to_lowercase())
    }

    fn nearest(&self, name: &str) -> Option<&'a str> {
        let few = self.all.len() <= MAX_COMPARED;
        few.then(|| nearest(name, self.all.iter().copied())).flatten()
    }
}

/// The names that a document declares.
struct Declared<'a> {
    variables: Spellings<'a>,
    /// Declared inputs and those of the engine; empty if none is declared, since then any input may be given.
    inputs: Spellings<'a>,
    /// Variables that scripts set.
    sets: Spellings<'a>,
}

impl Declared<'_> {
    fn variable(&self, name: &str) -> bool {
        self.variables.has(name) || self.sets.has(name) || self.sets.pascal.contains(&javascript::pascal(name))
    }

    fn input(&self, name: &str) -> bool {
        self.inputs.all.is_empty() || self.inputs.has(name)
    }

    fn getter(&self, suffix: &str) -> bool {
        [&self.variables, &self.inputs, &self.sets].iter().any(|names| names.pascal.contains(suffix))
            || suffix.contains("From")
            || javascript::is_global(&format!("get{suffix}"))
    }
}

/// Reports the names that are neither declared nor set.
pub(super) fn check(settings: &Settings, scopes: &Scopes, outline: &Outline<'_>, problems: &mut Problems) {
    let Mentions { wanted, sets, sets_any } = std::mem::take(&mut problems.mentions);
    if wanted.is_empty() {
        return;
    }
    let mut variables: Vec<&str> = scopes.all_names().chain(OF_LOOPS).collect();
    for raw in &outline.activities {
        if let ActivityKind::Workflow(program) = &raw.kind {
            variables.extend(program.inputs.iter().map(|input| input.name.as_str()));
        }
    }
    let mut inputs: Vec<&str> = settings.inputs.iter().map(|input| input.name.as_str()).collect();
    if !inputs.is_empty() {
        inputs.extend(GIVEN_BY_ENGINE);
    }
    let sets = sets.iter().map(String::as_str).collect();
    let declared =
        Declared { variables: Spellings::of(variables), inputs: Spellings::of(inputs), sets: Spellings::of(sets) };
    for ((used, name), path) in &wanted {
        let place = Path::Below(&Path::Root, path);
        match used {
            Use::Variable if !sets_any && !declared.variable(name) => {
                let near = declared.variables.nearest(name);
                problems.unknown(&place, format!("variable \"{name}\" is not declared, and no activity sets it"), near);
            }
            Use::Input if !declared.input(name) => {
                let near = declared.inputs.nearest(name);
                problems.unknown(&place, format!("input \"{name}\" is not declared"), near);
            }
            Use::Getter if !sets_any && !declared.getter(name) => getter(name, &declared, &place, problems),
            _ => {}
        }
    }
}

fn getter(suffix: &str, declared: &Declared<'_>, place: &Path<'_>, problems: &mut Problems) {
    let near = declared.variables.nearest(suffix).or_else(|| declared.inputs.nearest(suffix));
    let near = near.map(|near| format!("get{}()", javascript::pascal(near)));
    if declared.inputs.all.is_empty() {
        // Then any member of the input of a start or stimulus is an input.
        let message = format!("get{suffix}() exists only where the input has a \"{suffix}\": nothing declares it");
        return problems.warn(place, message);
    }
    let message = format!("get{suffix}() does not exist: no variable or input \"{suffix}\" is declared");
    problems.unknown(place, message, near.as_deref());
}
