//! Liquid templates, built from the parts of the crate `liquid`.
//!
//! A template is compiled when the definition is read, and kept in the program. It sees what Elsa's templates see:
//! `Variables`, `Input`, `CorrelationId` and the facts of the workflow; members are found in any letter case. A missing
//! member is empty. There are no partials, no function calls, and no clock but the burst's.
//!
//! The crate's own loops, captures and filters have no limits, so [`language`] replaces or wraps those whose result can
//! grow. Time, memory and output are limited as for scripts, and a query cancel stops a rendering.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;

use liquid_core::{Renderable, Template};
use serde_json::Value;

use super::Scope;
use super::shared_time::Turn;
use workflow_value::fault::{Fault, shorten};
use workflow_value::value::nul_in_string;

mod blocks;
mod default_filter;
mod filters;
mod language;
mod meter;
mod names;
mod numbers;
mod own_filters;
mod roots;
mod runtime;
mod shape;
mod syntax;
mod values;

use meter::{Meter, MeteredOutput, Stop};
use roots::Roots;
use runtime::Run;

/// A Liquid template with its source text, by which two templates are compared.
#[derive(Clone, Debug)]
pub struct LiquidTemplate {
    source: Arc<str>,
    compiled: Arc<Template>,
}

impl PartialEq for LiquidTemplate {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl LiquidTemplate {
    /// Compiles a template.
    ///
    /// # Errors
    /// A message with the mistake and its position.
    pub fn compile(source: &str) -> Result<Self, String> {
        shape::check(source)?;
        let parse = || liquid_core::parser::parse(source, language::language());
        // The crate should never panic, but the template is untrusted input.
        let parsed = catch_unwind(parse).map_err(|_| "invalid Liquid: the template cannot be read".to_owned())?;
        let elements = parsed.map_err(|error| syntax::describe(&error.to_string(), source))?;
        Ok(Self { source: source.into(), compiled: Arc::new(Template::new(elements)) })
    }

    /// The text as the author wrote it.
    pub fn source(&self) -> &str {
        &self.source
    }
}

/// Renders a template. The value is the rendered text.
///
/// # Errors
/// 38000 for an error in a filter or tag, 54000 beyond the limits of time and memory, 54001 for values nested
/// too deep.
pub fn evaluate(template: &LiquidTemplate, scope: &mut dyn Scope) -> Result<Value, Fault> {
    let mut limits = scope.script_limits();
    let turn = Turn::begin(&mut limits, scope)?;
    let meter = Rc::new(Meter::new(&limits, scope.now()));
    let mut output = MeteredOutput::new(Rc::clone(&meter));
    let rendered = {
        let roots = Roots::new(&*scope, Rc::clone(&meter));
        let run = Run::new(&roots, Rc::clone(&meter));
        catch_unwind(AssertUnwindSafe(|| template.compiled.render_to(&mut output, &run)))
    };
    match meter.stopped() {
        None => {}
        Some(Stop::Interrupt) => {
            scope.check_interrupts();
            return Err(Fault::new("57014", "canceling Liquid due to user request"));
        }
        Some(stop) => return Err(turn.fault_of(stop.fault(&limits).detail(described(template)), scope)),
    }
    match rendered {
        Ok(Ok(())) => text(output.into_bytes()),
        Ok(Err(error)) => {
            let message = syntax::first_line(&error.to_string());
            Err(Fault::new("38000", format!("Liquid error: {message}")).detail(described(template)))
        }
        Err(_) => Err(Fault::new("38000", "Liquid error: the template cannot be rendered").detail(described(template))),
    }
}

fn described(template: &LiquidTemplate) -> String {
    format!("The template is: {}", shorten(template.source.trim(), 200))
}

fn text(bytes: Vec<u8>) -> Result<Value, Fault> {
    let text = String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    if text.contains('\0') { Err(nul_in_string()) } else { Ok(Value::String(text)) }
}

#[cfg(test)]
mod tests;
