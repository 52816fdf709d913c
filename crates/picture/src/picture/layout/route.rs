//! The routes of the arrows through the layers: straight down, and across only in the gaps between layers.

use std::collections::BTreeMap;

use super::Area;
use super::channel::{self, LineBundle};
use super::graph::{ArrowRoute, FrameLayout, Graph};
use super::layers::{Chain, Layers};

/// Space above the first track of a gap and below the last, where the head of an arrow is.
const BEFORE: f64 = 13.0;
const AFTER: f64 = 17.0;
/// Space between two tracks.
const TRACK: f64 = 9.0;
/// Height of a gap without tracks.
const PLAIN: f64 = 16.0;
/// Space between routes that go around everything.
const OUTSIDE: f64 = 12.0;

/// Lines with equal keys share a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum TrackKey {
    Source(usize),
    Arrow(usize),
    Target(usize),
}

/// A part of a route, across one gap.
#[derive(Clone, Copy, Debug)]
struct Leg {
    gap: usize,
    key: TrackKey,
    from: f64,
    to: f64,
    /// For each end, whether it is connected upward or downward; `None` at a route around everything.
    ends: [Option<bool>; 2],
}

/// Finds all routes, and with them the vertical position of each layer.
pub fn route(graph: &Graph, layers: &Layers, x: &[f64]) -> FrameLayout {
    let extent = |ix: usize| x[ix] + layers.vertices[ix].size.0 / 2.0;
    let mut width = (0..layers.vertices.len()).map(extent).fold(0.0, f64::max);
    let mut legs: Vec<Vec<Leg>> = Vec::with_capacity(graph.arrows.len());
    for (ix, (arrow, chain)) in graph.arrows.iter().zip(&layers.chains).enumerate() {
        let ends = (arrow.source, arrow.target);
        legs.push(if chain.outside {
            width += OUTSIDE;
            legs_outside(layers, x, ends, width)
        } else if chain.back {
            legs_back(layers, x, ends, chain, ix)
        } else {
            legs_down(layers, x, ends, chain, ix)
        });
    }
    let bundles = bundles(&legs);
    let grid = Grid::new(layers, &bundles);
    let corner = |ix: usize| {
        let vertex = &layers.vertices[ix];
        let room = grid.heights[vertex.layer];
        (x[ix] - vertex.size.0 / 2.0, grid.tops[vertex.layer] + (room - vertex.size.1) / 2.0)
    };
    let corners: Vec<(f64, f64)> = (0..graph.sizes.len()).map(corner).collect();
    let routes = graph.arrows.iter().zip(&layers.chains).zip(&legs).map(|((arrow, chain), legs)| {
        let begin = (x[arrow.source], corners[arrow.source].1 + graph.sizes[arrow.source].1);
        let end = (x[arrow.target], corners[arrow.target].1);
        let mut points = vec![begin];
        for leg in legs.iter().filter(|leg| (leg.from - leg.to).abs() >= 0.75) {
            let y = grid.track(leg.gap, leg.key);
            points.extend([(leg.from, y), (leg.to, y)]);
        }
        points.push(end);
        let label = label(layers, chain, &corner).or_else(|| label_outside(arrow.label, chain, &points));
        ArrowRoute { points: simplified(points), label }
    });
    let routes = routes.collect();
    FrameLayout { width, height: grid.height, corners, routes }
}

fn label(layers: &Layers, chain: &Chain, corner: &impl Fn(usize) -> (f64, f64)) -> Option<Area> {
    let ix = chain.label?;
    let (left, top) = corner(ix);
    Some(Area::new(left, top, layers.vertices[ix].size.0, layers.vertices[ix].size.1))
}

fn label_outside(size: Option<(f64, f64)>, chain: &Chain, points: &[(f64, f64)]) -> Option<Area> {
    let (width, height) = size.filter(|_| chain.outside)?;
    let (x, y) = points.get(1)?;
    Some(Area::new(x + 4.0, y - height / 2.0, width, height))
}

fn legs_down(layers: &Layers, x: &[f64], (source, target): (usize, usize), chain: &Chain, ix: usize) -> Vec<Leg> {
    let stops: Vec<usize> = std::iter::once(source).chain(chain.points.iter().copied()).chain([target]).collect();
    let last = stops.len() - 2;
    let pairs = stops.windows(2).enumerate();
    let leg = |(at, pair): (usize, &[usize])| Leg {
        gap: layers.vertices[pair[0]].layer + 1,
        key: if at == 0 {
            TrackKey::Source(source)
        } else if at == last {
            TrackKey::Target(target)
        } else {
            TrackKey::Arrow(ix)
        },
        from: x[pair[0]],
        to: x[pair[1]],
        ends: [Some(true), Some(false)],
    };
    pairs.map(leg).collect()
}

fn legs_back(layers: &Layers, x: &[f64], (source, target): (usize, usize), chain: &Chain, ix: usize) -> Vec<Leg> {
    let up: Vec<usize> = chain.points.iter().rev().copied().collect();
    let (Some(first), Some(last)) = (up.first(), up.last()) else {
        return Vec::new();
    };
    let below = Leg {
        gap: layers.vertices[source].layer + 1,
        key: TrackKey::Source(source),
        from: x[source],
        to: x[*first],
        ends: [Some(true), Some(true)],
    };
    let between = up.windows(2).map(|pair| Leg {
        gap: layers.vertices[pair[0]].layer,
        key: TrackKey::Arrow(ix),
        from: x[pair[0]],
        to: x[pair[1]],
        ends: [Some(false), Some(true)],
    });
    let above = Leg {
        gap: layers.vertices[target].layer,
        key: TrackKey::Target(target),
        from: x[*last],
        to: x[target],
        ends: [Some(false), Some(false)],
    };
    std::iter::once(below).chain(between).chain([above]).collect()
}

fn legs_outside(layers: &Layers, x: &[f64], (source, target): (usize, usize), lane: f64) -> Vec<Leg> {
    let away = Leg {
        gap: layers.vertices[source].layer + 1,
        key: TrackKey::Source(source),
        from: x[source],
        to: lane,
        ends: [Some(true), None],
    };
    let home = Leg {
        gap: layers.vertices[target].layer,
        key: TrackKey::Target(target),
        from: lane,
        to: x[target],
        ends: [None, Some(false)],
    };
    vec![away, home]
}

fn bundles(legs: &[Vec<Leg>]) -> BTreeMap<(usize, TrackKey), LineBundle> {
    let mut bundles: BTreeMap<(usize, TrackKey), LineBundle> = BTreeMap::new();
    for leg in legs.iter().flatten() {
        let bundle = bundles.entry((leg.gap, leg.key)).or_default();
        bundle.add(leg.from, leg.ends[0]);
        bundle.add(leg.to, leg.ends[1]);
    }
    bundles
}

/// The vertical positions of layers and tracks.
#[derive(Default)]
struct Grid {
    tops: Vec<f64>,
    heights: Vec<f64>,
    tracks: BTreeMap<(usize, TrackKey), f64>,
    height: f64,
}

impl Grid {
    fn new(layers: &Layers, bundles: &BTreeMap<(usize, TrackKey), LineBundle>) -> Self {
        let mut by_gap: Vec<(Vec<TrackKey>, Vec<LineBundle>)> = vec![Default::default(); layers.layers.len() + 1];
        for ((gap, key), bundle) in bundles {
            by_gap[*gap].0.push(*key);
            by_gap[*gap].1.push(bundle.clone());
        }
        let mut grid = Self::default();
        for (gap, (keys, bundles)) in by_gap.iter().enumerate() {
            let (tracks, count) = channel::tracks(bundles);
            for (key, track) in keys.iter().zip(tracks) {
                grid.tracks.insert((gap, *key), grid.height + BEFORE + track as f64 * TRACK);
            }
            let is_edge = gap == 0 || gap + 1 >= layers.layers.len();
            grid.height += match count {
                0 if is_edge => 0.0,
                0 => PLAIN,
                count => BEFORE + (count - 1) as f64 * TRACK + AFTER,
            };
            if let Some(layer) = layers.layers.get(gap) {
                let height = layer.iter().map(|ix| layers.vertices[*ix].size.1).fold(0.0, f64::max);
                grid.tops.push(grid.height);
                grid.heights.push(height);
                grid.height += height;
            }
        }
        grid
    }

    fn track(&self, gap: usize, key: TrackKey) -> f64 {
        self.tracks.get(&(gap, key)).copied().unwrap_or_default()
    }
}

/// The same route without points that are no corners.
pub(super) fn simplified(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let mut simple: Vec<(f64, f64)> = Vec::with_capacity(points.len());
    for point in points {
        if simple.last().is_some_and(|last| (last.0 - point.0).abs() < 0.01 && (last.1 - point.1).abs() < 0.01) {
            continue;
        }
        if let [.., a, b] = simple.as_slice() {
            let cross = (b.0 - a.0) * (point.1 - b.1) - (b.1 - a.1) * (point.0 - b.0);
            let onward = (b.0 - a.0) * (point.0 - b.0) + (b.1 - a.1) * (point.1 - b.1);
            if cross.abs() < 0.01 && onward >= 0.0 {
                simple.pop();
            }
        }
        simple.push(point);
    }
    simple
}
