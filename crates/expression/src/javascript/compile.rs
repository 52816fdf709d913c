//! Compiles each script once, to a function. Its wrapper declares as local the names that the script leaves undeclared.
//!
//! A script is inserted into a wrapper, and must not close the wrapper and continue outside of it, where it could
//! declare globals. So a probe first parses each script inside different brackets: unbalanced text cannot fit both. (A
//! probe begins with `throw 0`, so that nothing of the script runs.)

use rquickjs::{Ctx, Error, Function, Persistent, Value as JsValue};
use serde_json::Value;

use super::failure::{Failure, from_error, syntax};
use super::plain::Plain;
use super::prelude::{Prelude, evaluate};
use super::scan::{ScriptNames, script_names};
use super::state;
use crate::ScriptLimits;
use workflow_value::fault::Fault;

/// A compiled script.
#[derive(Clone)]
pub(super) struct Script {
    /// The function that runs it.
    pub(super) function: Persistent<Function<'static>>,
    /// Whether the function takes the `variables` container.
    pub(super) variables: bool,
    /// Whether the function takes `eval`: the result is the value of the last statement, which only `eval` returns.
    pub(super) completion: bool,
    /// What the script reads, if it does nothing else.
    pub(super) plain: Option<Plain>,
}

/// Compiles a script.
pub(super) fn compile<'js>(
    ctx: &Ctx<'js>,
    prelude: &Prelude,
    source: &str,
    limits: &ScriptLimits,
) -> Result<Script, Failure> {
    if source.contains('\0') {
        return Err(Fault::new("42601", "invalid JavaScript: the script contains a NUL character").into());
    }
    let script_names = script_names(source, &|name| prelude.names.contains(name));
    let compiler = Compiler { ctx, prelude, source, limits, script_names };
    if let Some(script) = compiler.expression()? {
        return Ok(script);
    }
    if compiler.is_complete()? {
        return compiler.build("eval(__source)", true)?.ok_or_else(|| compiler.broken());
    }
    compiler.body()
}

struct Compiler<'a, 'js> {
    ctx: &'a Ctx<'js>,
    prelude: &'a Prelude,
    source: &'a str,
    limits: &'a ScriptLimits,
    script_names: ScriptNames,
}

impl<'js> Compiler<'_, 'js> {
    /// An expression, optionally followed by a semicolon.
    fn expression(&self) -> Result<Option<Script>, Failure> {
        let text = self.source.trim_end_matches(|c: char| c == ';' || c.is_whitespace());
        if text.trim().is_empty()
            || begins_declaration(text)
            || self.probe(&format!("throw 0;([\n{text}\n])"))?.is_some()
        {
            return Ok(None);
        }
        let script = self.build(&format!("(\n{text}\n)"), false)?;
        if script.is_none() {
            state::poison();
        }
        Ok(script)
    }

    /// Statements without a `return` of their own.
    fn is_complete(&self) -> Result<bool, Failure> {
        let complete = self.prelude.complete.clone().restore(self.ctx).map_err(|error| self.failure(&error))?;
        let direct_eval = self.prelude.direct_eval.clone().restore(self.ctx).map_err(|error| self.failure(&error))?;
        let probe = complete.call::<_, JsValue<'js>>((direct_eval, format!("throw 0;\n{}", self.source)));
        Ok(self.verdict(probe)?.is_none())
    }

    /// Statements with `return`.
    fn body(&self) -> Result<Script, Failure> {
        if let Some(fault) = self.probe(&format!("throw 0;(()=>{{\n{}\n}})", self.source))? {
            return Err(fault.into());
        }
        self.build(&format!("{{{{\n{}\n}}}}", self.source), false)?.ok_or_else(|| {
            state::poison();
            self.broken()
        })
    }

    /// Parses a text that begins by throwing zero. Returns its syntax fault, if any.
    fn probe(&self, text: &str) -> Result<Option<Fault>, Failure> {
        self.verdict(evaluate(self.ctx, text))
    }

    fn verdict(&self, probe: Result<JsValue<'js>, Error>) -> Result<Option<Fault>, Failure> {
        match probe {
            Ok(_) => {
                state::poison();
                Ok(Some(self.broken_fault()))
            }
            Err(Error::Exception) => self.complaint(),
            Err(other) => Err(self.failure(&other)),
        }
    }

    /// The fault for the pending exception; `None` if it is the zero thrown by a probe.
    fn complaint(&self) -> Result<Option<Fault>, Failure> {
        let thrown = self.ctx.catch();
        if thrown.as_int() == Some(0) {
            return Ok(None);
        }
        let name = thrown.as_object().and_then(|error| error.get::<_, String>("name").ok());
        self.ctx.throw(thrown);
        match name.as_deref() {
            Some("SyntaxError" | "ReferenceError" | "TypeError") => Ok(Some(syntax(self.ctx, self.source, 1))),
            _ => Err(self.failure(&Error::Exception)),
        }
    }

    /// Builds the function; `None` if the text does not fit its wrapper.
    fn build(&self, inner: &str, completion: bool) -> Result<Option<Script>, Failure> {
        let mut wrapper = String::from("((__get,__set,__source)=>{");
        for (prefix, suffixes) in [("get", &self.script_names.getters), ("set", &self.script_names.setters)] {
            for suffix in suffixes {
                wrapper.push_str(&format!("const {prefix}{suffix}=__{prefix}({});", Value::from(suffix.as_str())));
            }
        }
        for name in &self.script_names.replaced {
            wrapper.push_str(&format!("const __was{name}={name};"));
        }
        wrapper.push_str("return (variables");
        if completion {
            wrapper.push_str(",eval");
        }
        for name in &self.script_names.assigned {
            wrapper.push(',');
            wrapper.push_str(name);
        }
        for name in &self.script_names.replaced {
            wrapper.push_str(&format!(",{name}=__was{name}"));
        }
        wrapper.push_str(")=>");
        wrapper.push_str(inner);
        wrapper.push_str("})");
        let wrapper = match evaluate(self.ctx, &wrapper) {
            Ok(wrapper) => wrapper,
            Err(Error::Exception) if state::stopped().is_none() => {
                self.complaint()?;
                return Ok(None);
            }
            Err(error) => return Err(self.failure(&error)),
        };
        // The script must not find `eval`, so the code that `eval` runs first overwrites the parameter.
        let source = if completion { format!("eval=undefined;\n{}", self.source) } else { String::new() };
        let link = self.prelude.link.clone().restore(self.ctx).map_err(|error| self.failure(&error))?;
        let function: Function<'js> = link.call((wrapper, source)).map_err(|error| self.failure(&error))?;
        let function = Persistent::save(self.ctx, function);
        let plain = Plain::of(self.source, &|name| self.prelude.names.contains(name));
        Ok(Some(Script { function, variables: self.script_names.variables, completion, plain }))
    }

    fn failure(&self, error: &Error) -> Failure {
        from_error(self.ctx, error, self.source, self.limits)
    }

    fn broken(&self) -> Failure {
        self.broken_fault().into()
    }

    fn broken_fault(&self) -> Fault {
        Fault::new("42601", "invalid JavaScript: unbalanced brackets")
    }
}

/// Whether a script begins with a declaration, which must not be compiled as an expression. (A script that begins with
/// a brace is compiled as an object if that parses.)
fn begins_declaration(source: &str) -> bool {
    let source = without_leading_comments(source);
    ["class", "function", "async"].iter().any(|word| {
        source
            .strip_prefix(word)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_whitespace() || c == '*' || c == '{'))
    })
}

fn without_leading_comments(mut source: &str) -> &str {
    loop {
        source = source.trim_start();
        let end = if source.starts_with("//") {
            source.find('\n')
        } else if source.starts_with("/*") {
            source.find("*/").map(|at| at + 2)
        } else {
            return source;
        };
        match end {
            Some(end) => source = &source[end..],
            None => return "",
        }
    }
}
