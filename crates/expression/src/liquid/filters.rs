//! Limits around filters, and the type of the engine's own filters.

use std::fmt;

use liquid_core::error::{Error, Result};
use liquid_core::model::{Value, ValueCow, ValueView};
use liquid_core::parser::{FilterArguments, ParameterReflection, ParseFilter};
use liquid_core::{Expression, Filter, FilterReflection, Runtime};

use super::meter::{Meter, meter};
use super::values::weight;

/// A filter whose input and result are metered.
#[derive(Clone)]
pub(super) struct Bounded {
    inner: Box<dyn ParseFilter>,
    limit: ArrayLimit,
}

/// The largest array that a filter accepts: a filter does not check the time while it runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArrayLimit {
    /// Maximum number of items of an array passed to the filter.
    pub(super) items: usize,
    /// Maximum size of an array with its content, in bytes.
    pub(super) bytes: usize,
}

impl Bounded {
    pub(super) fn new(inner: Box<dyn ParseFilter>, limit: ArrayLimit) -> Self {
        Self { inner, limit }
    }
}

impl ParseFilter for Bounded {
    fn parse(&self, arguments: FilterArguments<'_>) -> Result<Box<dyn Filter>> {
        Ok(Box::new(CountedFilter { inner: self.inner.parse(arguments)?, limit: self.limit }))
    }

    fn reflection(&self) -> &dyn FilterReflection {
        self.inner.reflection()
    }
}

#[derive(Debug)]
struct CountedFilter {
    inner: Box<dyn Filter>,
    limit: ArrayLimit,
}

impl fmt::Display for CountedFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl Filter for CountedFilter {
    fn evaluate(&self, input: &dyn ValueView, runtime: &dyn Runtime) -> Result<Value> {
        let meter = meter(runtime)?;
        // Few results are more than a few times as large as the input. Filters with larger results ask the meter.
        meter.charge_value(input)?;
        if let Some(items) = input.as_array() {
            let ArrayLimit { items: limit, bytes } = self.limit;
            if usize::try_from(items.size()).is_ok_and(|size| size > limit) {
                return Err(Error::with_msg(format!("the array has more than {limit} items")));
            }
            if bytes < usize::MAX && weight(input, bytes.saturating_add(1)) > bytes {
                return Err(Error::with_msg(format!("the array has more than {} kB", bytes >> 10)));
            }
        }
        let value = self.inner.evaluate(input, runtime)?;
        meter.charge_value(value.as_view())?;
        Ok(value)
    }
}

/// The function that computes the result of one of this engine's filters from input and arguments.
pub(super) type Compute = fn(&dyn ValueView, &[ValueCow<'_>], &Meter) -> Result<Value>;

/// A filter that this engine adds to those of the crate.
#[derive(Clone)]
pub(super) struct Own {
    /// Its name in templates.
    pub(super) name: &'static str,
    /// Minimum number of arguments.
    pub(super) min: usize,
    /// Maximum number of arguments.
    pub(super) max: usize,
    /// The function that computes the result.
    pub(super) compute: Compute,
}

impl FilterReflection for Own {
    fn name(&self) -> &str {
        self.name
    }
    fn description(&self) -> &str {
        ""
    }
    fn positional_parameters(&self) -> &'static [ParameterReflection] {
        &[]
    }
    fn keyword_parameters(&self) -> &'static [ParameterReflection] {
        &[]
    }
}

impl ParseFilter for Own {
    fn parse(&self, mut arguments: FilterArguments<'_>) -> Result<Box<dyn Filter>> {
        let positional: Vec<Expression> = arguments.positional.collect();
        let count = positional.len();
        if arguments.keyword.next().is_some() || count < self.min || count > self.max {
            return Err(Error::with_msg(format!("wrong arguments of filter \"{}\"", self.name)));
        }
        Ok(Box::new(OwnFilter { own: self.clone(), arguments: positional }))
    }

    fn reflection(&self) -> &dyn FilterReflection {
        self
    }
}

struct OwnFilter {
    own: Own,
    arguments: Vec<Expression>,
}

impl fmt::Debug for OwnFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for OwnFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.own.name)
    }
}

impl Filter for OwnFilter {
    fn evaluate(&self, input: &dyn ValueView, runtime: &dyn Runtime) -> Result<Value> {
        let arguments: Result<Vec<ValueCow<'_>>> =
            self.arguments.iter().map(|argument| argument.evaluate(runtime)).collect();
        let meter = meter(runtime)?;
        (self.own.compute)(input, &arguments?, &meter)
    }
}
