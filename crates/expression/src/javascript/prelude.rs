//! The functions that the prelude returns. A runtime needs them to compile and run scripts.

use std::collections::HashSet;

use rquickjs::context::EvalOptions;
use rquickjs::{Ctx, Error, Function, Object, Persistent, Value as JsValue};

use super::globals;

/// Evaluates statements for the value of the last one.
const COMPLETE: &str = "Object.freeze((eval, source) => eval(source))";

/// The functions returned by the prelude, and the function of [`COMPLETE`].
pub(super) struct Prelude {
    pub(super) link: Persistent<Function<'static>>,
    pub(super) complete: Persistent<Function<'static>>,
    pub(super) direct_eval: Persistent<Function<'static>>,
    pub(super) open_variables: Persistent<Function<'static>>,
    pub(super) close_variables: Persistent<Function<'static>>,
    /// Names of the global object.
    pub(super) names: HashSet<String>,
}

impl Prelude {
    /// Runs the prelude, which hardens the built-in objects.
    pub(super) fn new(ctx: &Ctx<'_>) -> rquickjs::Result<Self> {
        let mut options = EvalOptions::default();
        options.filename = Some("prelude.js".to_owned());
        let prelude: Function<'_> = ctx.eval_with_options(include_str!("prelude.js"), options)?;
        let mut options = EvalOptions::default();
        options.filename = Some("types.js".to_owned());
        let types: Function<'_> = ctx.eval_with_options(include_str!("types.js"), options)?;
        let functions: Object<'_> = prelude.call((globals::object(ctx)?, types))?;
        let function = |name| Ok::<_, Error>(Persistent::save(ctx, functions.get::<_, Function<'_>>(name)?));
        Ok(Self {
            link: function("link")?,
            // Compiled in sloppy mode, like scripts: the prelude is in strict mode, where no parameter may be named
            // `eval`.
            complete: Persistent::save(ctx, evaluate(ctx, COMPLETE)?.get::<Function<'_>>()?),
            direct_eval: function("directEval")?,
            open_variables: function("openVariables")?,
            close_variables: function("closeVariables")?,
            names: functions.get::<_, Vec<String>>("names")?.into_iter().collect(),
        })
    }
}

/// Evaluates source text in the global scope.
pub(super) fn evaluate<'js>(ctx: &Ctx<'js>, text: &str) -> Result<JsValue<'js>, Error> {
    let mut options = EvalOptions::default();
    options.strict = false;
    options.filename = Some("script".to_owned());
    ctx.eval_with_options(text, options)
}
