//! Why an evaluation failed, and the fault that reports it.

use std::any::Any;
use std::time::Duration;

use rquickjs::{Ctx, Error, Exception};
use serde_json::Value;

use super::state::{self, Stop};
use super::values::{self, too_deep};
use crate::ScriptLimits;
use workflow_value::fault::{Fault, shorten};
use workflow_value::value::to_text;

/// Why an evaluation returned no value.
pub(super) enum Failure {
    /// The script, and so its activity, has a fault.
    Fault(Box<Fault>),
    /// PostgreSQL has asked the query to end.
    Interrupted,
    /// A host call unwound; its panic is resumed outside the interpreter.
    Panic(Box<dyn Any + Send>),
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Fault(Box::new(fault))
    }
}

/// Reads the pending exception, if the error is one.
pub(super) fn from_error(ctx: &Ctx<'_>, error: &Error, source: &str, limits: &ScriptLimits) -> Failure {
    if let Some(failure) = from_stop(limits) {
        return failure;
    }
    match error {
        Error::Exception => {
            let fault = from_exception(ctx, source, limits);
            // Reading an exception can run code of the script: getters, `toJSON`.
            from_stop(limits).unwrap_or_else(|| fault.into())
        }
        Error::Allocation => out_of_memory(limits).into(),
        other => script_fault(&other.to_string(), source).into(),
    }
}

/// Why the interpreter was stopped, if it was.
fn from_stop(limits: &ScriptLimits) -> Option<Failure> {
    Some(match state::stopped()? {
        Stop::Time => out_of_time(limits).into(),
        Stop::Memory => out_of_memory(limits).into(),
        Stop::Interrupt => Failure::Interrupted,
        Stop::Panic => state::take_panic().map_or(Failure::Interrupted, Failure::Panic),
    })
}

fn from_exception(ctx: &Ctx<'_>, source: &str, limits: &ScriptLimits) -> Fault {
    let thrown = ctx.catch();
    // Without memory for an error object QuickJS throws null.
    if thrown.is_null() && state::is_poisoned() {
        return out_of_memory(limits);
    }
    let Some(exception) = thrown.clone().into_object().and_then(Exception::from_object) else {
        let text = match values::from_js(ctx, thrown) {
            Ok(Value::Null) => "null".to_owned(),
            Ok(value) => to_text(&value),
            Err(_) => "unknown value".to_owned(),
        };
        return script_fault(&shorten(&text, 500), source);
    };
    let message = shorten(&exception.message().unwrap_or_default(), 500);
    let name: String = exception.as_object().get("name").unwrap_or_else(|_| "Error".to_owned());
    let stack = exception.stack().map(|stack| trimmed(&stack));
    let mut fault = match (name.as_str(), message.as_str()) {
        ("InternalError", "out of memory") => return out_of_memory(limits),
        ("RangeError", "Maximum call stack size exceeded") => too_deep(),
        ("InternalError" | "SyntaxError", _) if message.contains("out of memory") => return out_of_memory(limits),
        ("InternalError", "string too long") => Fault::new("54000", "JavaScript string is too long"),
        _ => match state::take_fault(&exception.message().unwrap_or_default()) {
            Some(fault) => fault,
            None => script_fault(&format!("{}: {message}", shorten(&name, 60)), source),
        },
    };
    if fault.context.is_none() {
        fault.context = stack.filter(|stack| !stack.is_empty());
    }
    fault
}

/// The fault for text that is no JavaScript.
pub(super) fn syntax(ctx: &Ctx<'_>, source: &str, lines_before: u32) -> Fault {
    let thrown = ctx.catch();
    let exception = thrown.into_object().and_then(Exception::from_object);
    let message = exception.as_ref().and_then(Exception::message).unwrap_or_else(|| "syntax error".to_owned());
    let position = exception.and_then(|exception| exception.stack()).and_then(|stack| position(&stack, lines_before));
    // The parser continued into the wrapper, whose brackets are not in the script.
    let after_end = position.is_some_and(|(line, _)| line as usize > source.lines().count().max(1));
    let (message, position) = match after_end {
        true => ("the script ends too early".to_owned(), None),
        false => (shorten(&message, 200), position),
    };
    let text = match position {
        Some((line, column)) => {
            format!("invalid JavaScript: {message} at line {line}, column {column}")
        }
        None => format!("invalid JavaScript: {message}"),
    };
    Fault::new("42601", text).detail(script(source))
}

/// Reads `at name:line:column` of the first frame.
fn position(stack: &str, lines_before: u32) -> Option<(u32, u32)> {
    let frame = stack.lines().next()?.trim_end_matches(')');
    let mut parts = frame.rsplit(':');
    let column = parts.next()?.parse().ok()?;
    let line: u32 = parts.next()?.parse().ok()?;
    Some((line.saturating_sub(lines_before).max(1), column))
}

fn out_of_time(limits: &ScriptLimits) -> Fault {
    Fault::new("54000", format!("JavaScript took longer than {}", duration(limits.time)))
}

/// An object that QuickJS could not create for lack of memory may stay missing, so the runtime is not used again.
fn out_of_memory(limits: &ScriptLimits) -> Fault {
    state::poison();
    Fault::new("54000", format!("JavaScript used more than {}", size(limits.memory)))
}

fn duration(time: Duration) -> String {
    if time.subsec_millis() == 0 { format!("{} s", time.as_secs()) } else { format!("{} ms", time.as_millis()) }
}

fn size(bytes: usize) -> String {
    if bytes.is_multiple_of(1 << 20) { format!("{} MB", bytes >> 20) } else { format!("{} kB", bytes >> 10) }
}

fn script_fault(message: &str, source: &str) -> Fault {
    let fault = Fault::new("38000", format!("JavaScript error: {message}")).detail(script(source));
    let missing = message.strip_prefix("ReferenceError: ").and_then(|rest| rest.strip_suffix(" is not defined"));
    match missing.map(|name| name.trim_matches('\'')).and_then(advice) {
        Some(hint) => fault.hint(hint),
        None => fault,
    }
}

/// Advice for scripts that use names of Elsa that need something outside of the database.
pub(super) fn advice(name: &str) -> Option<&'static str> {
    Some(match name {
        "getConfig" => "Read settings by SQL: {\"sql\": \"current_setting('app.name', true)\"}.",
        "getSecret" => "Keep secrets out of workflows: let the client that works off a task know them.",
        "createEventTriggerUrl" => {
            "The database knows no URL: give the bookmark's id to the program that calls wf_resume."
        }
        "_" | "lodash" | "moment" | "dayjs" => {
            "Scripts have no libraries: use JavaScript's own functions, DateTime and TimeSpan."
        }
        "fetch" | "XMLHttpRequest" | "setTimeout" | "setInterval" => NO_WAITING,
        "require" | "process" | "Buffer" => "Scripts run inside the database: there is no Node.js and no browser.",
        _ => return None,
    })
}

/// Advice for scripts that wait or open connections.
pub(super) const NO_WAITING: &str =
    "A script cannot wait and opens no connections: SendHttpRequest or RunTask hands such work to a worker.";

fn script(source: &str) -> String {
    format!("The script is: {}", shorten(source.trim(), 200))
}

/// At most ten frames of a stack, without those of the prelude.
fn trimmed(stack: &str) -> String {
    let frames: Vec<String> = stack
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.contains("prelude.js") && !line.contains("types.js"))
        .take(10)
        .map(|line| shorten(&with_own_line(line), 200))
        .collect();
    frames.join("\n")
}

/// Counts lines from the script's first: the wrapper puts one line before it.
fn with_own_line(frame: &str) -> String {
    let mut parts = frame.rsplitn(3, ':');
    match (parts.next(), parts.next().map(str::parse::<u32>), parts.next()) {
        (Some(column), Some(Ok(line)), Some(rest)) => {
            format!("{rest}:{}:{column}", line.saturating_sub(1).max(1))
        }
        _ => frame.to_owned(),
    }
}
