//! `workflow.traceparent`.

use std::ffi::{CStr, CString, c_char, c_void};

use pgrx::guc::{GucContext, GucFlags, GucRegistry, GucSetting};
use pgrx::pg_sys;
use workflow_engine::traceparent::Traceparent;

static TRACEPARENT: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(None);

const DETAIL: &CStr = c"It has the form 00-TRACE-PARENT-FLAGS with 32, 16 and 2 lower-case hexadecimal digits; trace and parent are not zero.";

pub(super) fn define() {
    // SAFETY: the hook keeps to what PostgreSQL asks of one.
    unsafe {
        GucRegistry::define_string_guc_with_hooks(
            c"workflow.traceparent",
            c"The trace that instances join which the session starts.",
            c"A value of the header traceparent of W3C Trace Context. If it is empty, they join none.",
            &TRACEPARENT,
            GucContext::Userset,
            GucFlags::default(),
            Some(check),
            None,
            None,
        );
    }
}

/// `workflow.traceparent`, if it is set.
pub fn traceparent() -> Option<Traceparent> {
    TRACEPARENT.get().and_then(|text| Traceparent::parse(&text.to_string_lossy()))
}

unsafe extern "C-unwind" fn check(
    value: *mut *mut c_char,
    _extra: *mut *mut c_void,
    _source: pg_sys::GucSource::Type,
) -> bool {
    // SAFETY: PostgreSQL passes a C string or null; the detail is allocated as PostgreSQL allocates it.
    unsafe {
        if (*value).is_null() {
            return true;
        }
        let text = CStr::from_ptr(*value).to_string_lossy();
        if text.trim().is_empty() || Traceparent::parse(&text).is_some() {
            return true;
        }
        pg_sys::GUC_check_errdetail_string = pg_sys::pstrdup(DETAIL.as_ptr());
        false
    }
}
