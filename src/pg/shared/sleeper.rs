//! A sleeping process in shared memory: how to wake it, and the constant for a due time that never comes.

use std::ffi::c_int;

use pgrx::pg_sys;

/// A due time that never comes.
pub const NEVER: i64 = i64::MAX;

/// A process that can be woken.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Process {
    /// Its process id; 0: none.
    pub pid: c_int,
    latch: *mut pg_sys::Latch,
}

impl Process {
    /// No process.
    pub const NONE: Self = Self { pid: 0, latch: std::ptr::null_mut() };

    /// The process that calls this.
    pub fn me() -> Self {
        // SAFETY: reads globals of the backend's only thread. The latch of a process with shared memory lies there,
        // at an address that stays that of a latch.
        unsafe { Self { pid: pg_sys::MyProcPid, latch: pg_sys::MyLatch } }
    }

    /// Whether there is a process.
    pub fn is_some(&self) -> bool {
        self.pid != 0
    }

    /// Sets its latch. If the process has ended, another process may own the latch; it then wakes without need.
    pub fn wake(&self) {
        if self.is_some() {
            // SAFETY: see `me`; SetLatch may be called from anywhere.
            unsafe { pg_sys::SetLatch(self.latch) };
        }
    }
}
