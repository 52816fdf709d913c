//! The search of a claim, which starts where this session last found the first tasks.
//!
//! A claim calls [`search`]; all else is private. It reads the tasks, passes them to the claim, and remembers for a second
//! what it has learned, so that the next claims of this session read fewer pages of the inbox:
//!
//! - [`fronts`], the position of the first task of each name, behind the dead entries of claimed tasks: after 6,000
//!   completed tasks a claim reads more than 200 pages, and the next ones fewer than 150 (`regress/tasks/claim_front`).
//! - [`heads`], the names that have the first tasks, for claims of tasks of any name: with 1,000 names of 3 tasks each a
//!   claim reads 30,000 pages, and the next ones 350.
//! - [`locked`], whether a search locks the tasks that it finds, because other claims hold the first ones: with 100 tasks
//!   held a claim reads 440 pages, and the next ones 60.
//!
//! The pages are those that EXPLAIN (ANALYZE, BUFFERS) reports for one `wf_claim_tasks`.
//!
//! A search that does not find enough this way starts again from the first task of each name, with statements that check
//! rights themselves.

use std::cell::{Cell, LazyCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use pgrx::pg_sys::Oid;
use uuid::Uuid;

use super::{ClaimRequest, FEW_NAMES, TaskClaim};
use crate::access::instance::Subject;
use crate::access::{task_consent, work};
use crate::compiled;
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, interrupt, role};
use crate::run::tasks::limits::Search;
use crate::run::{BACKEND, CallContext};
use crate::store::rights::owners;
use crate::store::tasks::leases::{self, ClaimableTask, Claimant, Front, Held};
use crate::store::tasks::limits;

mod fronts;
mod heads;
mod locked;

use fronts::First;
use heads::Heads;

/// How long a session uses what it remembers.
const VALID: Duration = Duration::from_secs(1);
/// Tasks that a claim reads at least beyond those that it wants.
const SPARE: usize = 8;
/// How often a claim of tasks of any name asks for other names, because the tasks of those it asked for do not come
/// first.
const MAX_ROUNDS: usize = 5;

/// A note for tasks of a name, as a role finds them, and until when it counts.
type ByRoleAndName<T> = LazyCell<RefCell<HashMap<(Oid, String), (T, Instant)>>>;

/// What a session remembers of its searches.
pub(in crate::run) struct FrontCache {
    fronts: ByRoleAndName<Front>,
    heads: RefCell<Option<Heads>>,
    /// Until when ends of leases are not looked for.
    ends: Cell<Option<Instant>>,
    /// Tasks that the claim before could not have.
    passed: Cell<usize>,
    /// Whether searches of a role for tasks of a name lock what they find.
    locks: ByRoleAndName<bool>,
    /// The first search of each kind reads the catalog as well.
    has_searched: Cell<bool>,
    has_locked: Cell<bool>,
}

impl FrontCache {
    pub(in crate::run) const fn nothing() -> Self {
        Self {
            fronts: LazyCell::new(RefCell::default),
            heads: RefCell::new(None),
            ends: Cell::new(None),
            passed: Cell::new(0),
            locks: LazyCell::new(RefCell::default),
            has_searched: Cell::new(false),
            has_locked: Cell::new(false),
        }
    }
}

fn cache() -> &'static FrontCache {
    &BACKEND.front
}

/// Searches for the tasks that a claim asks for, and takes what it finds.
pub(super) fn search(
    claim: &mut TaskClaim<'_>,
    context: &mut CallContext,
    request: &ClaimRequest,
) -> Result<(), PgError> {
    // Limits that are changed during a search are found when a task is taken; then another search begins.
    while claim.search(context, request)? && claim.given.len() < request.max {
        interrupt::check();
    }
    cache().passed.set(claim.passed);
    Ok(())
}

impl TaskClaim<'_> {
    /// Searches once. Returns whether limits have changed meanwhile.
    fn search(&mut self, context: &mut CallContext, request: &ClaimRequest) -> Result<bool, PgError> {
        let (now, claimant) = (context.timestamp(), task_consent::claimant(role::current()));
        self.is_outdated = false;
        let has_seen_all = self.take_first(context, request.names.as_deref(), now, &claimant)?;
        if has_seen_all || self.given.len() == request.max {
            return Ok(self.is_outdated);
        }
        let names = request.names.clone().unwrap_or_else(|| leases::names(claimant.stored_under()));
        leases::release_due(&names, now, &claimant);
        if request.names.is_none() && !limits::has_any() {
            heads::remember_names(&names, &claimant);
        }
        let mut search = Search::new(names, now, &claimant);
        let (mut page, mut most) = (page_for(request.max), of_lane_for(request.max));
        loop {
            let skips_lanes = search.skips_lanes();
            let (found, is_all) = search.page(page, most);
            self.take_all(context, &mut search, unlocked(&found))?;
            if is_all || self.given.len() == request.max || self.is_outdated {
                return Ok(self.is_outdated);
            }
            // The first page without the tasks of lanes that are held is as good as the first one.
            if skips_lanes == search.skips_lanes() {
                (page, most) = (page.saturating_mul(4), most.saturating_mul(4));
            }
        }
    }

    /// Takes the first tasks of few names, from their fronts on: of the given ones, or of those whose first tasks come
    /// first. Says whether there are no others.
    fn take_first(
        &mut self,
        context: &mut CallContext,
        wanted: Option<&[String]>,
        now: Timestamp,
        claimant: &Rc<Claimant>,
    ) -> Result<bool, PgError> {
        let page = page_for(self.max);
        let names = match wanted {
            Some(names) => Some(names.to_vec()).filter(|names| names.len() <= FEW_NAMES),
            None => heads::names(page, claimant.role).filter(|_| !limits::has_any()),
        };
        let Some(mut names) = names else { return Ok(false) };
        for _ in 0..MAX_ROUNDS {
            let has_released = fronts::release_due(&names, || leases::release_due(&names, now, claimant));
            let mut search = Search::new(names.clone(), now, claimant);
            if wanted.is_some()
                && let Some(is_all) = self.take_locked(context, &mut search)?
            {
                return Ok(is_all && has_released);
            }
            let Some(First { found, is_full, starts_with_first, all_claimable }) = fronts::first(&search, page) else {
                break;
            };
            if wanted.is_some() {
                if is_full || starts_with_first {
                    self.take_all(context, &mut search, unlocked(&found))?;
                }
                if all_claimable && self.passed > 0 {
                    locked::remember_locks(&search, true);
                }
                return Ok(starts_with_first && !is_full && has_released);
            }
            // The names are the right ones if they are still those whose tasks come first.
            heads::move_heads(&names, &found, is_full, |_| true);
            let first = heads::names(page, claimant.role).unwrap_or_default();
            if first == names {
                self.take_all(context, &mut search, unlocked(&found))?;
                heads::move_heads(&names, &found, is_full, |claimable| !self.given.contains_key(&claimable.task));
                break;
            }
            names = first;
        }
        Ok(false)
    }
}

/// Tasks whose rows the search has not locked.
fn unlocked(found: &[ClaimableTask]) -> impl Iterator<Item = (&ClaimableTask, Option<Held>)> {
    found.iter().map(|claimable| (claimable, None))
}

/// Tasks that a claim of so many tasks reads at first. Other workers hold some of the first ones until they have
/// committed, about as many as the claim before found held. A claim that finds too few starts again with a search that
/// costs more.
fn page_for(max: usize) -> usize {
    of_lane_for(max).max(max.saturating_add(SPARE))
}

/// The same of one lane, of which a claim wants no more tasks than of all.
fn of_lane_for(max: usize) -> usize {
    max.saturating_add(cache().passed.get().saturating_mul(2).min(max.saturating_mul(3)))
}

/// Which tasks without assignee and candidates a role may claim, for searches by statements that ask for no rights.
struct Rights<'a> {
    claimant: &'a Claimant,
    /// Whether it may claim those of an owner, a version and a name.
    known: HashMap<(i32, Uuid, String), bool>,
}

impl<'a> Rights<'a> {
    fn of(claimant: &'a Claimant) -> Self {
        Self { claimant, known: HashMap::new() }
    }

    /// Whether the role may claim such a task. `None`: its definition cannot be read.
    fn may_work(&mut self, claimable: &ClaimableTask, owner: i32) -> Option<bool> {
        let key = (owner, claimable.version, claimable.name.clone());
        if let Some(known) = self.known.get(&key) {
            return Some(*known);
        }
        let compiled = compiled::of_version(claimable.version).ok()?;
        let name = || Some(claimable.name.clone());
        let subject = Subject { owner: &owners::by_id(owner), is_child: true, compiled: &compiled };
        let may_work = self.claimant.accepts(&compiled.row.owner) && work::may_work(self.claimant.role, subject, name);
        self.known.insert(key, may_work);
        Some(may_work)
    }
}
