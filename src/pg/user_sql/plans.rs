//! The cache of plans of users' texts.

use std::cell::{Cell, LazyCell, RefCell};
use std::collections::HashMap;
use std::ffi::CStr;

use pgrx::pg_sys;

use super::inferred::PlanKey;
use crate::pg::state::{BACKEND, CALL};

/// The maximum number of plans kept in a backend. Beyond it all are freed.
const MAX_PLANS: usize = 500;

/// The plans that this process keeps.
pub(in crate::pg) struct Plans {
    /// By text and number of parameters.
    pub(super) statements: LazyCell<RefCell<HashMap<(String, usize), KeptPlan>>>,
    /// By text and search path: under another path a parameter's name may be the name of a column.
    pub(super) expressions: LazyCell<RefCell<HashMap<(String, LookupPath), KeptPlan>>>,
    /// Statements whose parameter types PostgreSQL inferred.
    pub(super) inferred: LazyCell<RefCell<HashMap<PlanKey, KeptPlan>>>,
    /// Replaced plans that an outer evaluation may still be executing.
    retired: RefCell<Vec<KeptPlan>>,
}

impl Plans {
    pub(in crate::pg) const fn none() -> Self {
        Self {
            statements: LazyCell::new(RefCell::default),
            expressions: LazyCell::new(RefCell::default),
            inferred: LazyCell::new(RefCell::default),
            retired: RefCell::new(Vec::new()),
        }
    }
}

pub(super) fn kept() -> &'static Plans {
    &BACKEND.user_plans
}

/// A plan that is kept (`SPI_keepplan`), and its parameters.
pub(super) struct KeptPlan {
    pub(super) plan: pg_sys::SPIPlanPtr,
    /// Parameters that the text names. The parser's hook writes here, also when PostgreSQL analyzes the text again.
    pub(super) names: *mut UsedParameters,
    /// Inferred types of the parameters, and the generation of the catalog in which they were inferred.
    pub(super) types: Vec<pg_sys::Oid>,
    pub(super) inferred: u64,
}

impl KeptPlan {
    fn free(self) {
        // SAFETY: no other code has it, and it is not executing.
        unsafe {
            pg_sys::SPI_freeplan(self.plan);
            if !self.names.is_null() {
                drop(Box::from_raw(self.names));
            }
        }
    }

    /// Whether the plan is still valid, as of the invalidation messages that this session has processed.
    pub(super) fn is_valid(&self) -> bool {
        // SAFETY: a kept plan has one source.
        unsafe {
            let sources = pg_sys::SPI_plan_get_plan_sources(self.plan);
            (*(*(*sources).elements).ptr_value.cast::<pg_sys::CachedPlanSource>()).is_valid
        }
    }
}

/// The parameters that an expression names, as bits of their positions.
#[derive(Default)]
pub(super) struct UsedParameters {
    pub(super) used: Cell<u8>,
}

/// The search path as text, and the role for "$user".
pub(super) type LookupPath = (String, pg_sys::Oid);

/// The session's search path and current role, on which the meaning of a text depends: each role has its own `"$user"`
/// schema, and PostgreSQL skips schemas on which the role has no USAGE.
pub(super) fn search_path() -> LookupPath {
    // SAFETY: the value of a setting, a C string that is not changed meanwhile.
    unsafe {
        let path = pg_sys::namespace_search_path;
        let path = if path.is_null() { String::new() } else { CStr::from_ptr(path).to_string_lossy().into_owned() };
        (path, pg_sys::GetUserId())
    }
}

/// Frees a replaced plan as soon as no outer evaluation can be executing it.
pub(super) fn retire(plan: Option<KeptPlan>) {
    let mut retired = kept().retired.borrow_mut();
    retired.extend(plan);
    if CALL.evaluations.get() <= 1 {
        retired.drain(..).for_each(KeptPlan::free);
    }
}

/// Frees all plans when there are too many, unless one of them may be executing.
pub(super) fn forget_when_full<K>(plans: &mut HashMap<K, KeptPlan>) {
    // One evaluation is the caller's. Any other is an outer one and may be executing one of these plans.
    if plans.len() < MAX_PLANS || CALL.evaluations.get() > 1 {
        return;
    }
    plans.drain().for_each(|(_, plan)| plan.free());
}
