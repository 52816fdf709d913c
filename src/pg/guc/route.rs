//! Which correlation ids belong to this node.

use std::ffi::CString;

use pgrx::guc::{GucContext, GucFlags, GucRegistry, GucSetting};

static ROUTE_CHECK: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(None);

/// The rule that decides whether a correlation id belongs to this node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouteCheck {
    /// The list of partitions.
    Partitions,
    /// A function: its name, as it was written.
    Function(String),
}

pub(super) fn define() {
    GucRegistry::define_string_guc(
        c"workflow.route_check",
        c"How to decide whether a correlation id belongs to this node.",
        c"partitions: the list of partitions. schema.function: a superuser's function f(key text) returning boolean. If it is empty, all do.",
        &ROUTE_CHECK,
        GucContext::Suset,
        GucFlags::default(),
    );
}

/// `workflow.route_check`, if it is set.
pub fn route_check() -> Option<RouteCheck> {
    let text = ROUTE_CHECK.get()?;
    match text.to_string_lossy().trim() {
        "" => None,
        "partitions" => Some(RouteCheck::Partitions),
        function => Some(RouteCheck::Function(function.to_owned())),
    }
}
