//! Plans of users' texts: kept, replaced and freed.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::CStr;

use pgrx::pg_sys;

/// Plans kept in a backend; when there are more, all go.
const MAX_PLANS: usize = 500;

thread_local! {
    /// Evaluations that are running: while there is one, no plan may be freed.
    pub(super) static EVALUATIONS: Cell<u32> = const { Cell::new(0) };
}

/// A plan and what its parameters are.
pub(super) struct Plan {
    pub(super) plan: pg_sys::SPIPlanPtr,
    /// Parameters that the text names; the parser writes here, also when PostgreSQL analyzes anew.
    pub(super) names: *mut Names,
    /// Types of the parameters, where they were inferred, and when.
    pub(super) types: Vec<pg_sys::Oid>,
    pub(super) inferred: u64,
}

impl Plan {
    fn free(self) {
        // SAFETY: no other code has it, and it is not executing.
        unsafe {
            pg_sys::SPI_freeplan(self.plan);
            if !self.names.is_null() {
                drop(Box::from_raw(self.names));
            }
        }
    }

    /// Whether PostgreSQL would not analyze the text anew, as far as this session has heard of changes.
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
pub(super) struct Names {
    pub(super) used: Cell<u8>,
}

thread_local! {
    /// Plans that others have taken the place of, and that may be executing further up.
    static RETIRED: RefCell<Vec<Plan>> = const { RefCell::new(Vec::new()) };
}

/// Where names are looked up: the search path as text, and the role that "$user" is.
pub(super) type LookupPath = (String, pg_sys::Oid);

/// What a text means depends on it: the search path of the session, and the role, whose `"$user"` is a schema of its own
/// and which may not look into every schema.
pub(super) fn search_path() -> LookupPath {
    // SAFETY: the value of a setting, a C string that is not changed meanwhile.
    unsafe {
        let path = pg_sys::namespace_search_path;
        let path = if path.is_null() { String::new() } else { CStr::from_ptr(path).to_string_lossy().into_owned() };
        (path, pg_sys::GetUserId())
    }
}

/// Frees a plan that another one has taken the place of, as soon as none can be executing.
pub(super) fn retire(plan: Option<Plan>) {
    RETIRED.with_borrow_mut(|retired| {
        retired.extend(plan);
        if EVALUATIONS.get() <= 1 {
            retired.drain(..).for_each(Plan::free);
        }
    });
}

/// Frees all plans when there are too many, unless one of them may be executing.
pub(super) fn forget_when_full<K>(plans: &mut HashMap<K, Plan>) {
    // The evaluation that asks is one; any other is further up and may be executing one of these.
    if plans.len() < MAX_PLANS || EVALUATIONS.get() > 1 {
        return;
    }
    plans.drain().for_each(|(_, plan)| plan.free());
}
