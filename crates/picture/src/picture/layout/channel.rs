//! Tracks in the gap between two layers: the vertical order of horizontal lines.
//!
//! Lines that leave the same box share a track, as do lines that enter the same box: a fork is drawn as one line. Two
//! lines of different origin share a track only if they do not meet. If one line comes down where another begins, the
//! line that begins there runs above.

use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of tracks in one gap; lines that need more are drawn on top of others.
const MAX_TRACKS: usize = 60;

/// Space between lines that share a track.
const APART: i64 = 10;

/// Lines that share a track.
#[derive(Clone, Debug)]
pub struct LineBundle {
    /// One end of its horizontal part.
    pub from: f64,
    /// The other end of its horizontal part.
    pub to: f64,
    /// Positions at which it goes up.
    pub tops: Vec<i64>,
    /// Positions at which it goes down.
    pub bottoms: Vec<i64>,
}

impl Default for LineBundle {
    fn default() -> Self {
        Self { from: f64::MAX, to: f64::MIN, tops: Vec::new(), bottoms: Vec::new() }
    }
}

impl LineBundle {
    /// Adds an x at which it goes up or down.
    pub fn add(&mut self, x: f64, up: Option<bool>) {
        self.from = self.from.min(x);
        self.to = self.to.max(x);
        match up {
            Some(true) => self.tops.push(x.round() as i64),
            Some(false) => self.bottoms.push(x.round() as i64),
            None => {}
        }
    }

    fn is_straight(&self) -> bool {
        self.to - self.from < 0.75
    }
}

/// A track for each bundle, and the number of tracks. Straight lines need none.
pub fn tracks(bundles: &[LineBundle]) -> (Vec<usize>, usize) {
    let above = constraints(bundles);
    let mut taken: Vec<BTreeMap<i64, i64>> = Vec::new();
    let mut track = vec![0; bundles.len()];
    for ix in in_order(bundles, &above) {
        let bundle = &bundles[ix];
        if bundle.is_straight() {
            continue;
        }
        let least = above[ix].iter().map(|other| track[*other] + 1).max().unwrap_or(0).min(MAX_TRACKS - 1);
        let (from, to) = (bundle.from.floor() as i64 - APART, bundle.to.ceil() as i64 + APART);
        let free = (least..MAX_TRACKS).find(|track| taken.get(*track).is_none_or(|taken| is_free(taken, from, to)));
        let found = free.unwrap_or(MAX_TRACKS - 1);
        if taken.len() <= found {
            taken.resize_with(found + 1, BTreeMap::new);
        }
        taken[found].insert(from, to);
        track[ix] = found;
    }
    (track, taken.len())
}

fn is_free(taken: &BTreeMap<i64, i64>, from: i64, to: i64) -> bool {
    taken.range(..=to).next_back().is_none_or(|(_, end)| *end < from)
}

/// For each bundle the bundles that must run above it.
fn constraints(bundles: &[LineBundle]) -> Vec<BTreeSet<usize>> {
    let mut begins: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    for (ix, bundle) in bundles.iter().enumerate().filter(|(_, bundle)| !bundle.is_straight()) {
        for x in &bundle.tops {
            begins.entry(*x).or_default().push(ix);
        }
    }
    let mut above = vec![BTreeSet::new(); bundles.len()];
    for (ix, bundle) in bundles.iter().enumerate().filter(|(_, bundle)| !bundle.is_straight()) {
        for x in &bundle.bottoms {
            let near = begins.range(x - 6..=x + 6).flat_map(|(_, others)| others);
            above[ix].extend(near.copied().filter(|other| *other != ix));
        }
    }
    above
}

/// The order in which bundles get their tracks: those that must run above first, the shortest first in a cycle.
fn in_order(bundles: &[LineBundle], above: &[BTreeSet<usize>]) -> Vec<usize> {
    let mut below = vec![Vec::new(); bundles.len()];
    let mut missing: Vec<usize> = above.iter().map(BTreeSet::len).collect();
    for (ix, others) in above.iter().enumerate() {
        for other in others {
            below[*other].push(ix);
        }
    }
    let length = |ix: usize| (bundles[ix].to - bundles[ix].from).round() as i64;
    let mut waiting: BTreeSet<(usize, i64, usize)> =
        (0..bundles.len()).map(|ix| (missing[ix], length(ix), ix)).collect();
    let mut order = Vec::with_capacity(bundles.len());
    while let Some((_, _, ix)) = waiting.pop_first() {
        order.push(ix);
        for next in &below[ix] {
            if waiting.remove(&(missing[*next], length(*next), *next)) {
                missing[*next] -= 1;
                waiting.insert((missing[*next], length(*next), *next));
            }
        }
    }
    order
}
