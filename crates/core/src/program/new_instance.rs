//! Creates an instance of a program that has not started.

use serde_json::Map;
use uuid::Uuid;

use crate::instance::{Instance, State, SubStatus, check_correlation_id};
use crate::program::{GivenInput, Program};
use workflow_value::fault::Fault;
use workflow_value::value::copy_or_null;

impl Instance {
    /// Creates an instance that has not started, if the program accepts its input.
    ///
    /// # Errors
    /// A fault that names the wrong input; see [`Program::accept_input`].
    pub fn new(
        id: Uuid,
        program: &Program,
        version: i32,
        correlation_id: Option<String>,
        name: Option<String>,
        given: impl Into<GivenInput>,
    ) -> Result<Self, Fault> {
        check_correlation_id(correlation_id.as_deref())?;
        let input = program.accept_input(given.into())?;
        Ok(Self { correlation_id, name, input, ..Self::without_input(id, program, version) })
    }

    /// Creates an instance that never starts, so it needs no input, not even a required one.
    pub(crate) fn without_input(id: Uuid, program: &Program, version: i32) -> Self {
        let variables = program.variables.iter();
        Self {
            id,
            version,
            correlation_id: None,
            name: None,
            sub_status: SubStatus::Pending,
            input: Map::new(),
            output: Map::new(),
            variables: variables.map(|v| (v.name.clone(), copy_or_null(&v.initial))).collect(),
            incident_count: 0,
            state: State::default(),
        }
    }
}
