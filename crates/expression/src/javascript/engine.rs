//! The QuickJS runtime of a backend: created once, hardened by the prelude, with a cache of compiled scripts.

use std::collections::HashMap;
use std::rc::Rc;

use rquickjs::{Context, Ctx, Error, Runtime, Value as JsValue};
use serde_json::Value;

use super::compile::{Script, compile};
use super::failure::{Failure, from_error};
use super::memory::{Account, ScriptMemory};
use super::prelude::Prelude;
use super::values::{TakeError, from_js};
use super::{globals, state};
use crate::Scope;
use crate::ScriptLimits;
use workflow_value::fault::Fault;
use workflow_value::value::Bounds;

/// Maximum number of scripts in the cache, and of bytes of their source. Beyond either, the cache is emptied.
const CACHED_SCRIPTS: usize = 500;
const CACHED_BYTES: usize = 1 << 20;

/// Minimum memory of a runtime: with less, even the prelude does not fit.
const MIN_MEMORY: usize = 1 << 20;

/// Minimum stack of a runtime.
const MIN_STACK: usize = 64 << 10;

/// A runtime with its compiled scripts. Fields are dropped in this order: nothing may outlive the runtime.
pub(super) struct Engine {
    scripts: HashMap<Box<str>, Script>,
    /// Bytes of the sources of these scripts.
    cached_bytes: usize,
    prelude: Prelude,
    context: Context,
    runtime: Runtime,
    account: Rc<Account>,
    stack_top: usize,
}

impl Engine {
    /// Whether the global object has this name.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.prelude.names.contains(name)
    }

    /// Creates a runtime.
    pub(super) fn new(limits: &ScriptLimits) -> Result<Self, Failure> {
        let cannot = |error: Error| Failure::from(Fault::new("54000", format!("cannot start JavaScript: {error}")));
        let stack_top = stack_address();
        let account = Rc::new(Account::new(limits.memory.max(MIN_MEMORY)));
        let runtime = Runtime::new_with_alloc(ScriptMemory::new(Rc::clone(&account))).map_err(cannot)?;
        runtime.set_max_stack_size(limits.stack.max(MIN_STACK));
        let context = Context::full(&runtime).map_err(cannot)?;
        let prelude = context.with(|ctx| {
            Prelude::new(&ctx).map_err(|error| {
                let thrown = ctx.catch();
                let message = thrown.as_exception().map(ToString::to_string);
                let text = format!("cannot start JavaScript: {error}");
                Failure::from(Fault::new("54000", text).detail(message.unwrap_or_default()))
            })
        })?;
        runtime.set_interrupt_handler(Some(Box::new(state::poll)));
        let scripts = HashMap::new();
        Ok(Self { scripts, cached_bytes: 0, prelude, context, runtime, account, stack_top })
    }

    /// Compiles a script if it is not in the cache, runs it, and converts its value.
    pub(super) fn evaluate(
        &mut self,
        source: &str,
        limits: &ScriptLimits,
        scope: &mut dyn Scope,
    ) -> Result<Value, Failure> {
        self.prepare(source, limits)?;
        let Some(script) = self.scripts.get(source) else {
            return Err(Fault::new("XX000", "compiled script not found").into());
        };
        if let Some(value) = script.plain.as_ref().and_then(|plain| plain.read(scope)) {
            Bounds::check_interrupts()?;
            return Ok(value);
        }
        let Self { context, prelude, .. } = self;
        globals::with_scope(scope, || context.with(|ctx| run(&ctx, prelude, script, source, limits)))
    }

    /// Compiles a script of a new definition without running it.
    pub(super) fn check(&mut self, source: &str, limits: &ScriptLimits) -> Result<(), Failure> {
        self.prepare(source, limits)
    }

    /// Applies the limits and compiles the script if necessary.
    fn prepare(&mut self, source: &str, limits: &ScriptLimits) -> Result<(), Failure> {
        self.apply(limits);
        if self.scripts.contains_key(source) {
            return Ok(());
        }
        let Self { context, prelude, .. } = self;
        let script = context.with(|ctx| compile(&ctx, prelude, source, limits))?;
        if self.scripts.len() >= CACHED_SCRIPTS || self.cached_bytes > CACHED_BYTES {
            self.scripts.clear();
            self.cached_bytes = 0;
        }
        self.cached_bytes += source.len();
        self.scripts.insert(source.into(), script);
        Ok(())
    }

    /// QuickJS measures the stack from where the runtime was created; the limit counts from where the script is called.
    fn apply(&mut self, limits: &ScriptLimits) {
        self.account.limit(limits.memory.max(MIN_MEMORY));
        let used = self.stack_top.wrapping_sub(stack_address()).cast_signed();
        self.runtime.set_max_stack_size(limits.stack.saturating_add_signed(used).max(MIN_STACK));
    }
}

/// The approximate address of the stack's top.
#[inline(never)]
fn stack_address() -> usize {
    let marker = std::hint::black_box(0u8);
    std::ptr::from_ref(std::hint::black_box(&marker)).addr()
}

fn run<'js>(
    ctx: &Ctx<'js>,
    prelude: &Prelude,
    script: &Script,
    source: &str,
    limits: &ScriptLimits,
) -> Result<Value, Failure> {
    let failure = |error: Error| from_error(ctx, &error, source, limits);
    call(ctx, prelude, script).map_err(|error| match error {
        TakeError::Thrown(error) => failure(error),
        TakeError::Fault(fault) => fault.into(),
    })
}

fn call<'js>(ctx: &Ctx<'js>, prelude: &Prelude, script: &Script) -> Result<Value, TakeError> {
    let function = script.function.clone().restore(ctx)?;
    let variables: JsValue<'js> = match script.variables {
        true => prelude.open_variables.clone().restore(ctx)?.call(())?,
        false => JsValue::new_undefined(ctx.clone()),
    };
    let result: JsValue<'js> = match script.completion {
        true => function.call((variables.clone(), prelude.direct_eval.clone().restore(ctx)?))?,
        false => function.call((variables.clone(),))?,
    };
    let value = from_js(ctx, settled(ctx, result)?)?;
    if state::holds_objects() {
        prelude.close_variables.clone().restore(ctx)?.call::<_, ()>(())?;
    }
    // Since the interpreter's last check, a host call may have unwound or the time may have run out.
    if state::stopped().is_some() { Err(TakeError::Thrown(Error::Unknown)) } else { Ok(value) }
}

/// Runs the pending jobs of promises, and returns the value of a promise.
fn settled<'js>(ctx: &Ctx<'js>, result: JsValue<'js>) -> Result<JsValue<'js>, TakeError> {
    while state::stopped().is_none() && ctx.execute_pending_job() {}
    if state::stopped().is_some() {
        return Err(TakeError::Thrown(Error::Unknown));
    }
    match result.as_promise().map(|promise| promise.result::<JsValue<'js>>()) {
        None => Ok(result),
        Some(Some(settled)) => Ok(settled?),
        Some(None) => Err(TakeError::Fault(
            Fault::new("38000", "JavaScript error: the promise is never settled")
                .hint("Nothing in a database script can finish later."),
        )),
    }
}
