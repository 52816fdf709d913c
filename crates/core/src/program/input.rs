//! The input of a start: converted to the declared types, and rejected if it does not match.
//!
//! A definition that declares no inputs accepts any. A definition with declared inputs rejects undeclared names from a
//! caller. It accepts them from a stimulus, because a sender does not know which workflows it starts. Inputs from the
//! engine itself are always accepted. Null counts as missing.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::program::{Argument, Program};
use workflow_value::fault::{Fault, shorten};
use workflow_value::spelling::nearest;
use workflow_value::value::{convert, copy};

/// Inputs from the engine: schedules and timers pass what fired, a parent passes its id.
pub const GIVEN_BY_ENGINE: [&str; 6] =
    ["StartAt", "Interval", "ExecuteAt", "CronExpression", "ScheduledAt", "ParentInstanceId"];

/// Maximum number of names that a DETAIL lists.
const MAX_NAMES: usize = 20;

/// The input of a start, and whether a stimulus brought it.
#[derive(Debug, Default)]
pub struct GivenInput {
    values: Map<String, Value>,
    by_stimulus: bool,
}

impl GivenInput {
    /// Input from a stimulus, which may contain more than the definition declares.
    pub fn by_stimulus(values: Map<String, Value>) -> Self {
        Self { values, by_stimulus: true }
    }
}

/// Input from a caller, who must know the definition.
impl From<Map<String, Value>> for GivenInput {
    fn from(values: Map<String, Value>) -> Self {
        Self { values, by_stimulus: false }
    }
}

impl Program {
    /// Validates the input of a start and converts it. Defaults are not added; each reader of an input adds them.
    ///
    /// # Errors
    /// 22023 for an undeclared name, a missing required input, and a value that does not match its schema; the fault of
    /// the conversion for a value of another type.
    pub fn accept_input(&self, given: GivenInput) -> Result<Map<String, Value>, Fault> {
        let GivenInput { mut values, by_stimulus } = given;
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

    /// Validates the whole input with its defaults, without undeclared inputs of the engine.
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
    /// Converts a value to the type of this argument, an `input` or `output`, and validates it against its schema.
    ///
    /// # Errors
    /// The fault of the conversion or of the schema, with the name of the argument.
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
