//! The functions that the prelude uses. Each accesses the scope of the running evaluation.
//!
//! A fault of the scope is thrown into the script; if the script does not catch it, it is returned unchanged. A panic
//! must not cross QuickJS's frames, so it is kept and the script is stopped.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rquickjs::{Ctx, Exception, Function, IntoJs, Object, TypedArray, Value as JsValue};
use scoped_tls_hkt::scoped_thread_local;
use uuid::Uuid;

use super::values::{TakeError, from_js, throw, to_js};
use super::{names, state};
use crate::Scope;
use workflow_value::fault::{Fault, shorten};
use workflow_value::value::base64;

scoped_thread_local!(static mut SCOPE: for<'a> &'a mut (dyn Scope + 'a));

type JsResult<T> = rquickjs::Result<T>;

/// Runs `work` with the scope that the functions of [`object`] access.
pub(super) fn with_scope<R>(scope: &mut dyn Scope, work: impl FnOnce() -> R) -> R {
    SCOPE.set(scope, work)
}

/// Creates the object that the prelude receives.
pub(super) fn object<'js>(ctx: &Ctx<'js>) -> JsResult<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    let function = |name: &str, function: JsResult<Function<'js>>| native.set(name, function?);
    function("variable", Function::new(ctx.clone(), variable))?;
    function("variableNames", Function::new(ctx.clone(), variable_names))?;
    function("setVariable", Function::new(ctx.clone(), set_variable))?;
    function("input", Function::new(ctx.clone(), input))?;
    function("outputFrom", Function::new(ctx.clone(), output_from))?;
    function("lastResult", Function::new(ctx.clone(), last_result))?;
    function("generated", Function::new(ctx.clone(), generated))?;
    function("variableOf", Function::new(ctx.clone(), variable_of))?;
    function("holdObjects", Function::new(ctx.clone(), state::hold_objects))?;
    function("setGenerated", Function::new(ctx.clone(), set_generated))?;
    function("fact", Function::new(ctx.clone(), fact))?;
    function("setFact", Function::new(ctx.clone(), set_fact))?;
    function("now", Function::new(ctx.clone(), now))?;
    function("newId", Function::new(ctx.clone(), new_id))?;
    function("newShortId", Function::new(ctx.clone(), new_short_id))?;
    function("parseId", Function::new(ctx.clone(), parse_id))?;
    function("toBase64", Function::new(ctx.clone(), to_base64))?;
    function("fromBase64", Function::new(ctx.clone(), from_base64))?;
    function("toUtf8", Function::new(ctx.clone(), to_utf8))?;
    function("fromUtf8", Function::new(ctx.clone(), from_utf8))?;
    Ok(native)
}

/// Calls a method of the scope, and throws its fault into the script.
fn ask<R>(ctx: &Ctx<'_>, question: impl FnOnce(&mut dyn Scope) -> Result<R, Fault>) -> JsResult<R> {
    if !SCOPE.is_set() {
        return Err(unreachable(ctx));
    }
    match catch_unwind(AssertUnwindSafe(|| SCOPE.with(|scope| question(scope)))) {
        // If there is no memory for a copy, the scope returns null, which the script must not see. The deadline is not
        // checked here, because the interpreter soon checks it.
        Ok(_) if state::is_interrupted() => Err(unreachable(ctx)),
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(fault)) => Err(throw(ctx, fault)),
        Err(payload) => {
            state::set_panic(payload);
            Err(unreachable(ctx))
        }
    }
}

fn unreachable(ctx: &Ctx<'_>) -> rquickjs::Error {
    Exception::throw_message(ctx, "the workflow cannot be reached")
}

fn ask_value<'js>(
    ctx: &Ctx<'js>,
    question: impl FnOnce(&dyn Scope) -> Option<serde_json::Value>,
) -> JsResult<JsValue<'js>> {
    match ask(ctx, |scope| Ok(question(scope)))? {
        Some(value) => to_js(ctx, &value),
        None => Ok(JsValue::new_null(ctx.clone())),
    }
}

/// Converts a value that the script passes to the host.
fn take<'js>(ctx: &Ctx<'js>, value: JsValue<'js>) -> JsResult<serde_json::Value> {
    if state::poll() {
        return Err(unreachable(ctx));
    }
    from_js(ctx, value).map_err(|error| match error {
        TakeError::Thrown(error) => error,
        TakeError::Fault(fault) => throw(ctx, fault),
    })
}

fn variable<'js>(ctx: Ctx<'js>, name: String) -> JsResult<JsValue<'js>> {
    ask_value(&ctx, |scope| scope.variable(&name))
}

fn variable_names(ctx: Ctx<'_>) -> JsResult<Vec<String>> {
    ask(&ctx, |scope| Ok(scope.variable_names()))
}

fn set_variable<'js>(ctx: Ctx<'js>, name: String, value: JsValue<'js>) -> JsResult<()> {
    let value = take(&ctx, value)?;
    ask(&ctx, |scope| names::set_variable(scope, &name, value))
}

fn input<'js>(ctx: Ctx<'js>, name: String) -> JsResult<JsValue<'js>> {
    ask_value(&ctx, |scope| scope.input(&name))
}

fn output_from<'js>(ctx: Ctx<'js>, activity: String, output: Option<String>) -> JsResult<JsValue<'js>> {
    ask_value(&ctx, |scope| scope.output_from(&activity, output.as_deref()))
}

fn last_result<'js>(ctx: Ctx<'js>) -> JsResult<JsValue<'js>> {
    ask_value(&ctx, |scope| scope.last_result())
}

fn generated<'js>(ctx: Ctx<'js>, suffix: String) -> JsResult<JsValue<'js>> {
    match ask(&ctx, |scope| Ok(names::generated(scope, &suffix)))? {
        Some(value) => to_js(&ctx, &value),
        None => Err(Exception::throw_reference(&ctx, &format!("get{} is not defined", shorten(&suffix, 60)))),
    }
}

fn variable_of(ctx: Ctx<'_>, suffix: String) -> JsResult<Option<String>> {
    ask(&ctx, |scope| Ok(names::variable_of(scope, &suffix)))
}

fn set_generated<'js>(ctx: Ctx<'js>, suffix: String, value: JsValue<'js>) -> JsResult<String> {
    let value = take(&ctx, value)?;
    let name = ask(&ctx, |scope| names::set_generated(scope, &suffix, value))?;
    name.ok_or_else(|| Exception::throw_reference(&ctx, &format!("set{} is not defined", shorten(&suffix, 60))))
}

fn fact<'js>(ctx: Ctx<'js>, name: String) -> JsResult<JsValue<'js>> {
    match name.as_str() {
        "definitionId" => ask(&ctx, |scope| Ok(scope.definition_id()))?.into_js(&ctx),
        "version" => ask(&ctx, |scope| Ok(scope.definition_version()))?.into_js(&ctx),
        "versionId" => or_null(&ctx, ask(&ctx, |scope| Ok(scope.definition_version_id()))?),
        "instanceId" => ask(&ctx, |scope| Ok(scope.instance_id().to_string()))?.into_js(&ctx),
        "correlationId" => or_null(&ctx, ask(&ctx, |scope| Ok(scope.correlation_id()))?),
        _ => or_null(&ctx, ask(&ctx, |scope| Ok(scope.instance_name()))?),
    }
}

fn or_null<'js>(ctx: &Ctx<'js>, text: Option<String>) -> JsResult<JsValue<'js>> {
    text.map_or_else(|| Ok(JsValue::new_null(ctx.clone())), |text| text.into_js(ctx))
}

fn set_fact(ctx: Ctx<'_>, name: String, value: Option<String>) -> JsResult<()> {
    if value.as_ref().is_some_and(|text| text.contains('\0')) {
        return Err(throw(&ctx, workflow_value::value::nul_in_string()));
    }
    match name.as_str() {
        "correlationId" => ask(&ctx, |scope| scope.set_correlation_id(value)),
        _ => ask(&ctx, |scope| {
            scope.set_instance_name(value);
            Ok(())
        }),
    }
}

fn now(ctx: Ctx<'_>) -> JsResult<f64> {
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of years far beyond 9999 are exact")]
    ask(&ctx, |scope| Ok(scope.now().timestamp_millis() as f64))
}

fn new_id(ctx: Ctx<'_>) -> JsResult<String> {
    ask(&ctx, |scope| Ok(scope.new_id().to_string()))
}

/// Base64 of a new id without the characters that are special in URLs.
fn new_short_id(ctx: Ctx<'_>) -> JsResult<String> {
    let id = ask(&ctx, |scope| Ok(scope.new_id()))?;
    Ok(base64::to_base64(id.as_bytes()).chars().filter(char::is_ascii_alphanumeric).collect())
}

fn parse_id(ctx: Ctx<'_>, text: String) -> JsResult<String> {
    Uuid::try_parse(text.trim())
        .map(|id| id.to_string())
        .map_err(|_| Exception::throw_type(&ctx, &format!("invalid GUID: \"{}\"", shorten(&text, 60))))
}

fn to_base64(bytes: Vec<u8>) -> String {
    base64::to_base64(&bytes)
}

fn from_base64<'js>(ctx: Ctx<'js>, text: String) -> JsResult<TypedArray<'js, u8>> {
    match base64::from_base64(&text) {
        Some(bytes) => TypedArray::new_copy(ctx, bytes),
        None => Err(Exception::throw_type(&ctx, &format!("invalid Base64: \"{}\"", shorten(&text, 60)))),
    }
}

fn to_utf8<'js>(ctx: Ctx<'js>, text: String) -> JsResult<TypedArray<'js, u8>> {
    TypedArray::new_copy(ctx, text.into_bytes())
}

/// Invalid UTF-8 becomes U+FFFD, as in .NET.
fn from_utf8(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}
