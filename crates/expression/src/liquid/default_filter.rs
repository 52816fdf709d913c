//! `default`: the only standard filter with a named argument, `allow_false`.

use std::fmt;

use liquid_core::error::{Error, Result};
use liquid_core::model::{State, Value, ValueView};
use liquid_core::parser::{FilterArguments, ParameterReflection, ParseFilter};
use liquid_core::{Expression, Filter, FilterReflection, Runtime};

/// `value | default: other` and `value | default: other, allow_false: true`.
#[derive(Clone)]
pub(super) struct Default;

impl FilterReflection for Default {
    fn name(&self) -> &'static str {
        "default"
    }
    fn description(&self) -> &'static str {
        ""
    }
    fn positional_parameters(&self) -> &'static [ParameterReflection] {
        &[]
    }
    fn keyword_parameters(&self) -> &'static [ParameterReflection] {
        &[]
    }
}

impl ParseFilter for Default {
    fn parse(&self, mut arguments: FilterArguments<'_>) -> Result<Box<dyn Filter>> {
        let wrong = || Error::with_msg("wrong arguments of filter \"default\"");
        let other = arguments.positional.next().ok_or_else(wrong)?;
        let mut allow_false = None;
        for (name, value) in arguments.keyword {
            match name {
                "allow_false" => allow_false = Some(value),
                _ => return Err(wrong()),
            }
        }
        match arguments.positional.next() {
            None => Ok(Box::new(DefaultFilter { other, allow_false })),
            Some(_) => Err(wrong()),
        }
    }

    fn reflection(&self) -> &dyn FilterReflection {
        self
    }
}

#[derive(Debug)]
struct DefaultFilter {
    other: Expression,
    allow_false: Option<Expression>,
}

impl fmt::Display for DefaultFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("default")
    }
}

impl Filter for DefaultFilter {
    fn evaluate(&self, input: &dyn ValueView, runtime: &dyn Runtime) -> Result<Value> {
        let keeps_false = match &self.allow_false {
            Some(flag) => flag.evaluate(runtime)?.query_state(State::Truthy),
            None => false,
        };
        let is_false = input.as_scalar().and_then(|scalar| scalar.to_bool()) == Some(false);
        match input.query_state(State::DefaultValue) && !(keeps_false && is_false) {
            true => Ok(self.other.evaluate(runtime)?.into_owned()),
            false => Ok(input.to_value()),
        }
    }
}
