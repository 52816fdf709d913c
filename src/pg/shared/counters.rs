//! Counters of committed work by name, in shared memory of their own.
//!
//! This memory exists only if the library is preloaded. A name keeps its slot until the server restarts or its database
//! is dropped, so a session that has found a slot counts without a lock. A restart, also one after a crash, begins at
//! zero.

use std::mem::offset_of;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use pgrx::pg_sys::{self, InvalidOid, Oid};

use super::histogram::BUCKETS;
use super::state::MAX_DATABASES;
use crate::pg::error::{catch, log};
use crate::pg::interrupt;
use crate::pg::state::BACKEND;

/// The number of totals of each name, which are its first counters.
pub const TOTALS: usize = 6;
/// The number of histograms of each name, whose counters follow the totals.
const HISTOGRAMS: usize = 2;
/// The number of counters of a histogram: those of its buckets, and the sum.
pub const PER_HISTOGRAM: usize = BUCKETS + 1;
/// The number of counters of each name.
pub const COUNTERS: usize = TOTALS + HISTOGRAMS * PER_HISTOGRAM;
/// The number of names of all databases.
const NAMES: usize = 4096;
/// The number of names of one kind in one database. What exceeds it counts as [`OTHER`].
const MAX_NAMES: usize = 500;
/// The length of a name in bytes. Longer ones count as [`OTHER`].
const MAX_LENGTH: usize = 125;
/// The slots at the beginning, one for each kind in each database, which count everything without a slot of its own.
const OTHERS: usize = MAX_DATABASES * KINDS;
const SLOTS: usize = OTHERS + NAMES;
/// The name under which everything counts that has no slot of its own.
const OTHER: &str = "other";
/// Maximum size of the name of a prepared transaction (`GIDSIZE` of PostgreSQL).
const GID_SIZE: usize = 200;
/// The number of counts of a prepared transaction.
const MAX_COUNTS: usize = 128;
/// How many of them have a name of their own if there are more: the rest is for those of [`OTHER`].
const MAX_NAMED_COUNTS: usize = MAX_COUNTS - KINDS * COUNTERS;

/// What a name names.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A definition, by its id.
    Definition = 0,
    /// Tasks, by their name.
    Task,
}

const KINDS: usize = 2;

/// A number to be added to a counter.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// The number.
    pub number: u64,
    /// The slot of the name.
    pub slot: u16,
    /// The counter of this name.
    pub counter: u8,
}

/// The counters of a name.
#[derive(Debug)]
pub struct Counted {
    /// What the name names.
    pub kind: Kind,
    /// The name. Several slots can have the name [`OTHER`].
    pub name: String,
    /// The values.
    pub values: [u64; COUNTERS],
}

/// The name of a slot.
#[repr(C)]
#[derive(Clone, Copy)]
struct Name {
    /// The database; 0: the slot is free.
    database: Oid,
    kind: Kind,
    /// Whether it has ever had a name. Slots are taken in order, so all behind the first unused one are unused.
    is_used: bool,
    length: u8,
    text: [u8; MAX_LENGTH],
}

impl Name {
    fn is_of(&self, database: Oid, kind: Kind) -> bool {
        self.database == database && self.kind == kind
    }

    fn text(&self) -> &[u8] {
        &self.text[..usize::from(self.length)]
    }
}

/// The counts of a prepared transaction.
#[repr(C)]
#[derive(Clone, Copy)]
struct Prepared {
    /// 0: this place is free. Otherwise it grows from one PREPARE to the next: the name can be used again before the
    /// session that has ended the first transaction of this name has reported that. It may never report it: an error
    /// can occur between the end of the transaction and the report.
    order: u64,
    gid_length: u8,
    gid: [u8; GID_SIZE],
    length: u8,
    counts: [Count; MAX_COUNTS],
}

impl Prepared {
    fn has(&self, gid: &[u8]) -> bool {
        self.order != 0 && &self.gid[..usize::from(self.gid_length)] == gid
    }
}

/// Where the counts of a prepared transaction are.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    index: usize,
    /// Another order means that the place has been taken by another transaction.
    order: u64,
}

/// The shared memory of the counters.
#[repr(C)]
pub(super) struct Memory {
    lock: pg_sys::LWLock,
    /// Whether the process that allocated it has initialised it.
    is_ready: AtomicBool,
    /// The counters of each slot, read and changed without the lock.
    values: [[AtomicU64; COUNTERS]; SLOTS],
    /// The number of places in `prepared`.
    places: usize,
    /// How many of them are taken: changed under the lock, and read without it.
    kept: AtomicUsize,
    /// The order of the place that was taken last; changed under the lock.
    last_order: AtomicU64,
    names: [Name; SLOTS],
    /// Behind this struct.
    prepared: [Prepared; 0],
}

/// The number of places for prepared transactions: twice as many as the server allows, because a transaction leaves its
/// place a moment after PostgreSQL has ended it.
fn places() -> usize {
    // SAFETY: a setting of PostgreSQL, which is known when memory is requested, and its text ends with NUL.
    let text = unsafe {
        let value = pg_sys::GetConfigOption(c"max_prepared_transactions".as_ptr(), true, false);
        if value.is_null() { None } else { std::ffi::CStr::from_ptr(value).to_str().ok() }
    };
    2 * text.and_then(|text| text.parse::<usize>().ok()).unwrap_or(0)
}

/// The size of the memory in bytes, for the hook in which memory is requested.
pub(super) fn size() -> usize {
    size_of::<Memory>() + places() * size_of::<Prepared>()
}

/// The memory; null if the library is not preloaded.
fn memory() -> *mut Memory {
    let attached = &BACKEND.shared;
    if attached.counters.get().is_null() && attached.is_preloaded.get() && !attached.counters_failed.get() {
        match catch(find) {
            Ok(memory) => attach(memory),
            Err(error) => {
                attached.counters_failed.set(true);
                log(&format!("workflow has no shared memory for counters: {}", error.message));
            }
        }
    }
    attached.counters.get()
}

/// Whether there is memory for counters.
pub fn is_available() -> bool {
    !memory().is_null()
}

fn find() -> *mut Memory {
    // SAFETY: PostgreSQL makes the struct once, of memory that is zero until then. No lock is held: it may raise.
    unsafe {
        let mut found = false;
        let memory = pg_sys::ShmemInitStruct(c"workflow counters".as_ptr(), size(), &mut found).cast::<Memory>();
        if !found {
            pg_sys::LWLockInitialize(&mut (*memory).lock, pg_sys::LWLockNewTrancheId());
            (*memory).places = places();
            (*memory).is_ready.store(true, Ordering::Release);
        }
        memory
    }
}

/// Waits until the process that allocates the struct has initialised it.
fn attach(memory: *mut Memory) {
    // SAFETY: a struct of PostgreSQL's shared memory, which is there as long as this process.
    unsafe {
        while !(*memory).is_ready.load(Ordering::Acquire) {
            interrupt::check();
            pg_sys::pg_usleep(100);
        }
        pg_sys::LWLockRegisterTranche((*memory).lock.tranche.into(), c"workflow counters".as_ptr());
    }
    BACKEND.shared.counters.set(memory);
}

/// Reads or changes names and prepared transactions, under the lock; `body` must not raise. `None`: there is no memory.
fn with<R>(body: impl FnOnce(&mut [Name; SLOTS], &mut [Prepared]) -> R) -> Option<R> {
    let memory = memory();
    if memory.is_null() {
        return None;
    }
    // SAFETY: attached for the life of the process, with as many places behind it as it says; the lock makes the
    // references the only ones. The counters, which other processes change meanwhile, are not part of them.
    unsafe {
        pg_sys::LWLockAcquire(&mut (*memory).lock, pg_sys::LWLockMode::LW_EXCLUSIVE);
        let behind = memory.cast::<u8>().add(offset_of!(Memory, prepared)).cast::<Prepared>();
        let prepared = std::slice::from_raw_parts_mut(behind, (*memory).places);
        let outcome = body(&mut (*memory).names, prepared);
        pg_sys::LWLockRelease(&mut (*memory).lock);
        Some(outcome)
    }
}

/// Reads names, under the lock, beside others that read; `body` must not raise, and should not allocate. `None`: there
/// is no memory.
fn with_names<R>(body: impl FnOnce(&[Name; SLOTS]) -> R) -> Option<R> {
    let memory = memory();
    if memory.is_null() {
        return None;
    }
    // SAFETY: attached for the life of the process; while the lock is held nobody changes the names.
    unsafe {
        pg_sys::LWLockAcquire(&mut (*memory).lock, pg_sys::LWLockMode::LW_SHARED);
        let outcome = body(&(*memory).names);
        pg_sys::LWLockRelease(&mut (*memory).lock);
        Some(outcome)
    }
}

/// The counters of a slot. The memory must be attached.
fn values(slot: usize) -> &'static [AtomicU64; COUNTERS] {
    // SAFETY: attached for the life of the process; the numbers are atomic.
    unsafe { &(&(*BACKEND.shared.counters.get()).values)[slot] }
}

/// The number of places of prepared transactions that are taken, and the order of the last one. `None`: there is no
/// memory.
fn kept() -> Option<(&'static AtomicUsize, &'static AtomicU64)> {
    let memory = memory();
    if memory.is_null() {
        return None;
    }
    // SAFETY: attached for the life of the process; the numbers are atomic.
    unsafe { Some((&(*memory).kept, &(*memory).last_order)) }
}

/// The result of the search for the slot of a name.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// The slot. `None`: what has this name is not counted.
    pub slot: Option<u16>,
    /// Whether the name has no slot of its own, or none at all, only because other databases have them.
    pub is_full: bool,
    /// Whether the name has no slot of its own because the database has as many names of this kind as it may. None of
    /// them goes and none comes before the server restarts.
    pub is_complete: bool,
}

/// Why a name has no slot of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    /// It is too long.
    TooLong,
    /// The database has as many names of this kind as it may.
    Complete,
    /// All slots are taken.
    Full,
}

/// Finds the slot of a name in a database, or takes one for it. `None`: there is no memory, so nothing is counted.
pub fn slot_of(database: Oid, kind: Kind, name: &str) -> Option<Found> {
    with(|names, _| {
        let own = own_slot(names, database, kind, name.as_bytes());
        let missing = own.err();
        let slot = own.ok().or_else(|| other_slot(names, database, kind)).and_then(|slot| u16::try_from(slot).ok());
        let is_full = missing == Some(Missing::Full) || slot.is_none();
        Found { slot, is_full, is_complete: missing == Some(Missing::Complete) }
    })
}

/// The slot of a name, taken for it if it had none.
fn own_slot(names: &mut [Name; SLOTS], database: Oid, kind: Kind, text: &[u8]) -> Result<usize, Missing> {
    if text.len() > MAX_LENGTH {
        return Err(Missing::TooLong);
    }
    let (mut free, mut count) = (None, 0);
    for (slot, name) in names.iter().enumerate().skip(OTHERS) {
        if name.database == InvalidOid {
            free = free.or(Some(slot));
            if !name.is_used {
                break;
            }
        } else if name.is_of(database, kind) {
            if name.text() == text {
                return Ok(slot);
            }
            count += 1;
        }
    }
    match free {
        _ if count >= MAX_NAMES => Err(Missing::Complete),
        None => Err(Missing::Full),
        Some(slot) => {
            take(names, slot, database, kind, text);
            Ok(slot)
        }
    }
}

/// The slot for names without a slot of their own.
fn other_slot(names: &mut [Name; SLOTS], database: Oid, kind: Kind) -> Option<usize> {
    if let Some(slot) = names[..OTHERS].iter().position(|name| name.is_of(database, kind)) {
        return Some(slot);
    }
    let slot = names[..OTHERS].iter().position(|name| name.database == InvalidOid)?;
    take(names, slot, database, kind, OTHER.as_bytes());
    Some(slot)
}

/// Takes a free slot. Nobody counts there yet: other sessions find it only when this one has released the lock.
fn take(names: &mut [Name; SLOTS], slot: usize, database: Oid, kind: Kind, text: &[u8]) {
    let name = &mut names[slot];
    (name.database, name.kind, name.is_used, name.length) = (database, kind, true, text.len() as u8);
    name.text[..text.len()].copy_from_slice(text);
    values(slot).iter().for_each(|value| value.store(0, Ordering::Relaxed));
}

/// All names of a kind in a database that have slots of their own, and these.
pub fn names_of(database: Oid, kind: Kind) -> Vec<(String, u16)> {
    let mut found = Vec::with_capacity(MAX_NAMES);
    with_names(|names| {
        let here = names.iter().enumerate().skip(OTHERS).filter(|(_, name)| name.is_of(database, kind));
        found.extend(here.map(|(slot, name)| (slot, *name)));
    });
    let named = found.into_iter().filter_map(|(slot, name)| {
        let text = String::from_utf8(name.text().to_vec()).ok()?;
        Some((text, u16::try_from(slot).ok()?))
    });
    named.collect()
}

/// The databases that have slots.
pub fn databases() -> Vec<Oid> {
    let mut found = Vec::with_capacity(SLOTS);
    with_names(|names| found.extend(names.iter().map(|name| name.database)));
    found.retain(|oid| *oid != InvalidOid);
    found.sort_unstable_by_key(|oid| oid.to_u32());
    found.dedup();
    found
}

/// Frees the slots of databases that do not exist any more, so that no session knows them.
pub fn forget(databases: &[Oid]) {
    with(|names, _| {
        let gone = names.iter_mut().filter(|name| databases.contains(&name.database));
        gone.for_each(|name| name.database = InvalidOid);
    });
}

/// Adds to a counter.
pub fn add(count: &Count) {
    values(count.slot.into())[usize::from(count.counter)].fetch_add(count.number, Ordering::Relaxed);
}

/// Stores the counts of a prepared transaction until it ends. If there are more than [`MAX_COUNTS`], the last ones count
/// as [`OTHER`]. If all places are taken, at least half of them are of transactions whose end was not reported: then the
/// oldest is overwritten.
pub fn keep(gid: &[u8], counts: &[Count]) {
    let Some((kept, last_order)) = kept() else { return };
    if gid.len() >= GID_SIZE || (counts.is_empty() && kept.load(Ordering::Acquire) == 0) {
        return;
    }
    with(|names, prepared| {
        // Without counts it needs a place only so that nobody takes an earlier one of this name for its own.
        if counts.is_empty() && !prepared.iter().any(|place| place.has(gid)) {
            return;
        }
        let Some(place) = prepared.iter_mut().min_by_key(|place| place.order) else { return };
        if place.order == 0 {
            kept.fetch_add(1, Ordering::Release);
        }
        let order = last_order.fetch_add(1, Ordering::Relaxed) + 1;
        (place.order, place.gid_length, place.length) = (order, gid.len() as u8, 0);
        place.gid[..gid.len()].copy_from_slice(gid);
        let named = if counts.len() <= MAX_COUNTS { counts.len() } else { MAX_NAMED_COUNTS };
        for (i, count) in counts.iter().enumerate() {
            let mut count = *count;
            if i >= named {
                let Name { database, kind, .. } = names[usize::from(count.slot)];
                let other = other_slot(names, database, kind).and_then(|slot| u16::try_from(slot).ok());
                let Some(other) = other else { continue };
                count.slot = other;
            }
            let length = usize::from(place.length);
            let is_same = |kept: &&mut Count| kept.slot == count.slot && kept.counter == count.counter;
            match place.counts[..length].iter_mut().find(is_same) {
                Some(kept) => kept.number += count.number,
                None if length < MAX_COUNTS => {
                    place.counts[length] = count;
                    place.length += 1;
                }
                None => {}
            }
        }
    });
}

/// The place of a prepared transaction that is about to end, for [`settle`]; `None`: it has none. Takes no lock if no
/// prepared transaction has counts: it is called for those of all databases. A transaction has stored its counts before
/// PostgreSQL lets a session end it.
pub fn place_of(gid: &[u8]) -> Option<Place> {
    kept().filter(|(kept, _)| kept.load(Ordering::Acquire) > 0)?;
    let newest = |_: &mut [Name; SLOTS], prepared: &mut [Prepared]| {
        let named = prepared.iter().enumerate().filter(|(_, place)| place.has(gid));
        named.max_by_key(|(_, place)| place.order).map(|(index, place)| Place { index, order: place.order })
    };
    with(newest).flatten()
}

/// Adds the counts of a prepared transaction that has been committed, or drops them.
pub fn settle(place: Place, committed: bool) {
    let Some((kept, _)) = kept() else { return };
    with(|_, prepared| {
        let Some(prepared) = prepared.get_mut(place.index).filter(|prepared| prepared.order == place.order) else {
            return;
        };
        if committed {
            prepared.counts[..usize::from(prepared.length)].iter().for_each(add);
        }
        prepared.order = 0;
        kept.fetch_sub(1, Ordering::Release);
    });
}

/// The counters of a database.
pub fn read(database: Oid) -> Vec<Counted> {
    let mut found = Vec::with_capacity(KINDS * (MAX_NAMES + 1));
    with_names(|names| {
        let here = names.iter().enumerate().filter(|(_, name)| name.database == database);
        found.extend(here.map(|(slot, name)| (slot, *name)));
    });
    let counted = found.into_iter().map(|(slot, name)| Counted {
        kind: name.kind,
        name: String::from_utf8_lossy(name.text()).into_owned(),
        values: std::array::from_fn(|counter| values(slot)[counter].load(Ordering::Relaxed)),
    });
    counted.collect()
}
