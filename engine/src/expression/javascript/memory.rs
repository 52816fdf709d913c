//! The memory of a runtime: from Rust's allocator, within a limit, and no longer than the evaluation may run.
//!
//! Many built-in functions loop in C and take memory while they do (`JSON.stringify`, `split`, spreading). So the
//! allocator asks for the time as well: what it refuses, QuickJS reports as lack of memory, and the evaluation
//! ends for the reason that is noted in the state, at the latest at the next operation of the interpreter.
//!
//! The compiler of QuickJS does not survive everywhere that memory is refused (scopes that could not be entered are used
//! all the same). So while it runs nothing is refused: the evaluation is stopped, and the compiler asks at each token.

use std::cell::Cell;
use std::rc::Rc;

use rquickjs::allocator::{Allocator, RustAllocator};

use super::state;

/// Bytes given out between two looks at the clock.
const STEP: usize = 256 << 10;

/// Bytes beyond what the growth of a block may need, for what the compiler takes until it asks whether to stop.
const RESERVE: usize = 8 << 20;

unsafe extern "C" {
    /// Whether this thread compiles; see vendor/README.md.
    safe fn JS_IsCompiling() -> bool;
}

/// What a runtime holds and may hold, in bytes.
#[derive(Debug)]
pub(super) struct Account {
    held: Cell<usize>,
    limit: Cell<usize>,
    /// Given out since the clock was asked.
    given: Cell<usize>,
}

impl Account {
    pub(super) fn new(limit: usize) -> Self {
        Self { held: Cell::new(0), limit: Cell::new(limit), given: Cell::new(0) }
    }

    pub(super) fn limit(&self, bytes: usize) {
        self.limit.set(bytes);
    }

    /// Whether as many bytes more may be given out.
    fn admits(&self, bytes: usize) -> bool {
        if self.exceeds(self.limit.get(), bytes) {
            // A built-in function that could not be made is missing from then on.
            state::spoil();
            return JS_IsCompiling() && self.lends(bytes);
        }
        let given = self.given.get().saturating_add(bytes);
        if given < STEP {
            self.given.set(given);
            return true;
        }
        self.given.set(0);
        // After a stop what is large is refused, which ends what grows in C. Small pieces are not: QuickJS needs some
        // to say what is the matter, and the limit of memory bounds what they can add up to.
        !state::poll() || bytes < STEP || JS_IsCompiling()
    }

    fn exceeds(&self, limit: usize, bytes: usize) -> bool {
        #[cfg(test)]
        if refusal::falls_here() {
            return true;
        }
        self.held.get().checked_add(bytes).is_none_or(|sum| sum > limit)
    }

    /// Stops the evaluation, and gives memory beyond the limit until it ends: the compiler's blocks grow by half.
    fn lends(&self, bytes: usize) -> bool {
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
pub(super) struct Memory(Rc<Account>);

impl Memory {
    pub(super) fn new(account: Rc<Account>) -> Self {
        Self(account)
    }
}

// SAFETY: blocks come from `RustAllocator`, which keeps the contract; here is only decided whether to ask it. A
// refusal is the null pointer that the contract allows.
unsafe impl Allocator for Memory {
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
        // SAFETY: the caller hands over a block of this allocator. Null is "as it was": the old block stays valid.
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

/// Memory that ends at a request of the test's choice.
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

    /// Refuses the request after so many others.
    pub(in super::super) fn after(left: u64, which: Which) {
        LEFT.set(left);
        WHICH.set(which);
    }

    /// Refuses nothing any more; says how many requests were left until then.
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
