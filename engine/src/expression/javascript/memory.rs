//! The memory of a runtime: from Rust's allocator, within a limit, and no longer than the evaluation may run.
//!
//! Many built-in functions loop in C and take memory while they do (`JSON.stringify`, `split`, spreading). So the
//! allocator asks for the time as well: what it refuses, QuickJS reports as lack of memory, and the evaluation
//! ends for the reason that is noted in the state, at the latest at the next operation of the interpreter.

use std::cell::Cell;
use std::rc::Rc;

use rquickjs::allocator::{Allocator, RustAllocator};

use super::state;

/// Bytes given out between two looks at the clock.
const STEP: usize = 256 << 10;

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
        if self.held.get().checked_add(bytes).is_none_or(|sum| sum > self.limit.get()) {
            return false;
        }
        let given = self.given.get().saturating_add(bytes);
        if given < STEP {
            self.given.set(given);
            return true;
        }
        self.given.set(0);
        // After a stop what is large is refused, which ends what grows in C. Small pieces are not: QuickJS needs some
        // to say what is the matter, and the limit of memory bounds what they can add up to.
        !state::poll() || bytes < STEP
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
