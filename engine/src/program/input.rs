//! The input of a start: converted to the declared types, and refused where it does not fit.
//!
//! A definition that declares no inputs accepts any. One that does refuses names that it does not know,
//! unless a stimulus brought them: who sends an event does not know whom it starts. What the engine itself
//! gives to a run is never unknown. Null is as good as not given.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::fault::{Fault, shorten};
use crate::program::{Argument, Program};
use crate::spelling::nearest;
use crate::value::{convert, copy};

/// Inputs that the engine gives: schedules and timers say what fired, a parent says who it is.
pub const GIVEN_BY_ENGINE: [&str; 6] =
    ["StartAt", "Interval", "ExecuteAt", "CronExpression", "ScheduledAt", "ParentInstanceId"];

/// Names that a DETAIL lists.
const MAX_NAMES: usize = 20;

/// What a run is started with.
#[derive(Debug, Default)]
pub struct Given {
    values: Map<String, Value>,
    by_stimulus: bool,
}

impl Given {
    /// What a stimulus brought: it may hold more than the definition declares.
    pub fn by_stimulus(values: Map<String, Value>) -> Self {
        Self { values, by_stimulus: true }
    }
}

/// What a caller gave, who must know the definition.
impl From<Map<String, Value>> for Given {
    fn from(values: Map<String, Value>) -> Self {
        Self { values, by_stimulus: false }
    }
}

impl Program {
    /// Checks the input of a start and converts it. Defaults are not added: they are read where they are needed.
    ///
    /// # Errors
    /// 22023 for a name that is not declared, a required input that is missing, and a value that does not match its
    /// schema; what the conversion says for a value that is not of its type.
    pub fn accept_input(&self, given: Given) -> Result<Map<String, Value>, Fault> {
        let Given { mut values, by_stimulus } = given;
        if !by_stimulus && !self.inputs.is_empty() {
            self.refuse_unknown(&values)?;
        }
        for argument in &self.inputs {
            if let Some(value) = values.get_mut(&argument.name) {
                *value = argument.accept(value.take(), "input")?;
            }
            let is_given = values.get(&argument.name).is_some_and(|value| !value.is_null());
            if argument.required && argument.default.is_none() && !is_given {
                return Err(Fault::new("22023", format!("missing input \"{}\"", argument.name))
                    .detail(format!("Workflow definition \"{}\" requires it.", self.definition_id)));
            }
        }
        self.check_whole(&values)?;
        Ok(values)
    }

    fn refuse_unknown(&self, values: &Map<String, Value>) -> Result<(), Fault> {
        let is_known = |name: &str| self.declares(name) || GIVEN_BY_ENGINE.contains(&name);
        let Some(name) = values.keys().find(|name| !is_known(name)) else {
            return Ok(());
        };
        let declared = || self.inputs.iter().map(|input| input.name.as_str());
        let mut list: Vec<String> = declared().take(MAX_NAMES).map(|name| format!("\"{name}\"")).collect();
        if self.inputs.len() > MAX_NAMES {
            list.push("…".into());
        }
        let message = format!("workflow definition \"{}\" has no input \"{}\"", self.definition_id, shorten(name, 100));
        let fault = Fault::new("22023", message).detail(format!("Its inputs are {}.", list.join(", ")));
        let nearest = nearest(name, declared().filter(|name| !values.contains_key(*name)));
        Err(match nearest {
            Some(nearest) => fault.hint(format!("Perhaps you meant \"{nearest}\".")),
            None => fault,
        })
    }

    fn declares(&self, name: &str) -> bool {
        self.inputs.iter().any(|input| input.name == name)
    }

    /// The schema of the whole sees defaults, and not what only the engine gave.
    fn check_whole(&self, values: &Map<String, Value>) -> Result<(), Fault> {
        let Some(schema) = &self.input_schema else {
            return Ok(());
        };
        let defaults = self.inputs.iter().filter_map(|input| Some((&input.name, input.default.as_ref()?)));
        let given = values.iter().filter(|(name, _)| !GIVEN_BY_ENGINE.contains(&name.as_str()) || self.declares(name));
        let whole: Result<_, Fault> =
            defaults.chain(given).map(|(name, value)| Ok((name.clone(), copy(value)?))).collect();
        let what = format!("input of workflow definition \"{}\"", self.definition_id);
        schema.accept(&Value::Object(whole?), &what, "")
    }
}

impl Argument {
    /// Converts a value to the type of this `input` or `output` and checks it against its schema.
    ///
    /// # Errors
    /// What the conversion or the schema says, with the name of the argument.
    pub fn accept(&self, value: Value, kind: &str) -> Result<Value, Fault> {
        let what = format!("{kind} \"{}\"", self.name);
        let value = convert(value, self.type_name).map_err(|mut fault| {
            fault.message = format!("{what}: {}", fault.message);
            fault
        })?;
        match &self.schema {
            Some(schema) if !value.is_null() => schema.accept(&value, &what, &self.pointer())?,
            Some(_) | None => {}
        }
        Ok(value)
    }

    fn pointer(&self) -> String {
        let name = match self.name.contains(['~', '/']) {
            true => Cow::Owned(self.name.replace('~', "~0").replace('/', "~1")),
            false => Cow::Borrowed(&self.name),
        };
        format!("/{name}")
    }
}
