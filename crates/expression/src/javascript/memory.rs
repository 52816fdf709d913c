//! The memory of a runtime: from Rust's allocator, within a limit, and only while the evaluation may run.
//!
//! Many built-in functions allocate in C loops (`JSON.stringify`, `split`, spreading), so the allocator checks the time
//! as well. QuickJS reports a refused request as lack of memory, but the evaluation ends for the reason recorded in the
//! state, at the latest at the interpreter's next operation.
//!
//! The compiler of QuickJS does not survive every refusal: it continues with scopes that it could not enter. So the
//! allocator grants its requests up to a reserve beyond the limit and stops the evaluation, and the compiler checks for
//! that at each token.

use std::cell::Cell;
use std::rc::Rc;

use rquickjs::allocator::{Allocator, RustAllocator};

use super::state;

/// Bytes allocated between two checks of the clock.
const STEP: usize = 256 << 10;

/// Bytes, beyond the growth of one block, that the compiler may allocate until it next checks whether to stop.
const RESERVE: usize = 8 << 20;

unsafe extern "C" {
    /// Whether this thread is compiling; see vendor/README.md.
    safe fn JS_IsCompiling() -> bool;
}

/// Used and permitted memory of a runtime, in bytes.
#[derive(Debug)]
pub(super) struct Account {
    held: Cell<usize>,
    limit: Cell<usize>,
    /// Allocated since the last check of the clock.
    given: Cell<usize>,
}

impl Account {
    pub(super) fn new(limit: usize) -> Self {
        Self { held: Cell::new(0), limit: Cell::new(limit), given: Cell::new(0) }
    }

    pub(super) fn limit(&self, bytes: usize) {
        self.limit.set(bytes);
    }

    /// Whether the allocator may allocate this many more bytes.
    fn admits(&self, bytes: usize) -> bool {
        if self.exceeds(self.limit.get(), bytes) {
            // A built-in function that QuickJS could not create stays missing, so the runtime must not be used again.
            state::poison();
            return JS_IsCompiling() && self.grants_more(bytes);
        }
        let given = self.given.get().saturating_add(bytes);
        if given < STEP {
            self.given.set(given);
            return true;
        }
        self.given.set(0);
        // After a stop, large requests are refused, which ends a C loop whose result grows. Small requests are granted:
        // QuickJS needs memory to report the failure, and the memory limit applies to their sum.
        !state::poll() || bytes < STEP || JS_IsCompiling()
    }

    fn exceeds(&self, limit: usize, bytes: usize) -> bool {
        #[cfg(test)]
        if refusal::falls_here() {
            return true;
        }
        self.held.get().checked_add(bytes).is_none_or(|sum| sum > limit)
    }

    /// Stops the evaluation, and grants memory beyond the limit until it ends: the compiler grows its blocks by half.
    fn grants_more(&self, bytes: usize) -> bool {
        state::run_out();
        let limit = self.limit.get();
        let most = limit.saturating_add(limit / 2).saturating_add(RESERVE);
        self.held.get().saturating_add(bytes) <= most
    }

    fn add(&self, block: *mut u8) -> *mut u8 {
        if !block.is_null() {
            // SAFETY: the block comes from the allocator below and is not null.
            self.held.set(self.held.get().saturating_add(unsafe { RustAllocator::usable_size(block) }));
        }
        block
    }

    fn remove(&self, bytes: usize) {
        self.held.set(self.held.get().saturating_sub(bytes));
    }
}

/// The allocator of one runtime.
pub(super) struct ScriptMemory(Rc<Account>);

impl ScriptMemory {
    pub(super) fn new(account: Rc<Account>) -> Self {
        Self(account)
    }
}

// SAFETY: blocks come from `RustAllocator`, which keeps the contract; this allocator only decides whether to call
// it. A refusal is the null pointer that the contract allows.
unsafe impl Allocator for ScriptMemory {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        if !self.0.admits(size) {
            return std::ptr::null_mut();
        }
        self.0.add(RustAllocator.alloc(size))
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        if !count.checked_mul(size).is_some_and(|bytes| self.0.admits(bytes)) {
            return std::ptr::null_mut();
        }
        self.0.add(RustAllocator.calloc(count, size))
    }

    unsafe fn dealloc(&mut self, block: *mut u8) {
        // SAFETY: the caller hands back a block of this allocator.
        unsafe {
            self.0.remove(RustAllocator::usable_size(block));
            RustAllocator.dealloc(block);
        }
    }

    unsafe fn realloc(&mut self, block: *mut u8, size: usize) -> *mut u8 {
        if block.is_null() {
            return self.alloc(size);
        }
        // SAFETY: the caller hands over a block of this allocator. After null the old block stays valid.
        unsafe {
            let old = RustAllocator::usable_size(block);
            if size > old && !self.0.admits(size - old) {
                return std::ptr::null_mut();
            }
            let moved = RustAllocator.realloc(block, size);
            if !moved.is_null() {
                self.0.remove(old);
            }
            self.0.add(moved)
        }
    }

    unsafe fn usable_size(block: *mut u8) -> usize {
        // SAFETY: as in the contract.
        unsafe { RustAllocator::usable_size(block) }
    }
}

/// Refusal of memory at a request chosen by the test.
#[cfg(test)]
pub(super) mod refusal {
    use std::cell::Cell;

    #[derive(Clone, Copy)]
    pub(in super::super) enum Which {
        This,
        AndAllAfterIt,
    }

    thread_local! {
        static LEFT: Cell<u64> = const { Cell::new(u64::MAX) };
        static WHICH: Cell<Which> = const { Cell::new(Which::This) };
    }

    /// Refuses the request after `left` others.
    pub(in super::super) fn after(left: u64, which: Which) {
        LEFT.set(left);
        WHICH.set(which);
    }

    /// Ends the refusals. Returns how many requests were left until the next one.
    pub(in super::super) fn end() -> u64 {
        LEFT.replace(u64::MAX)
    }

    pub(super) fn falls_here() -> bool {
        match (LEFT.get(), WHICH.get()) {
            (u64::MAX, _) => false,
            (0, Which::AndAllAfterIt) => true,
            (0, Which::This) => {
                LEFT.set(u64::MAX);
                true
            }
            (left, _) => {
                LEFT.set(left - 1);
                false
            }
        }
    }
}
