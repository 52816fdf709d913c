//! Horizontal positions: each layer keeps its order and its distances, and comes as close as possible to its
//! neighbours.
//!
//! For one layer that is an isotonic regression, which pooling adjacent violators solves exactly in one pass.
//! A few sweeps up and down are enough for all layers; at the end nearly straight lines become straight.

use super::layers::{Chain, Layers, Vertex, VertexKind};

/// Space between two boxes, and next to a line.
const BOX_GAP: f64 = 30.0;
const LINE_GAP: f64 = 18.0;

/// A bend smaller than this is straightened if there is space.
const STRAIGHTEN: f64 = 40.0;

/// Points of arrows attract each other more than boxes do, so that long arrows are straight.
const LINE_PULL: f64 = 6.0;

/// The neighbours that count.
#[derive(Clone, Copy, PartialEq)]
enum Sweep {
    Down,
    Up,
    Both,
}

/// Horizontal middle of every vertex, in whole pixels; the leftmost edge is at 0.
pub fn horizontal(layers: &Layers) -> Vec<f64> {
    let mut x = vec![0.0; layers.vertices.len()];
    for layer in &layers.layers {
        let mut at = 0.0;
        let mut before: Option<usize> = None;
        for ix in layer {
            at += before.map_or(0.0, |before| distance(layers, before, *ix));
            x[*ix] = at;
            before = Some(*ix);
        }
    }
    let sweeps = [Sweep::Down, Sweep::Up, Sweep::Down, Sweep::Up, Sweep::Both, Sweep::Both, Sweep::Both, Sweep::Both];
    for sweep in sweeps {
        let count = layers.layers.len();
        for step in 0..count {
            let layer = if sweep == Sweep::Up { count - 1 - step } else { step };
            position_layer(layers, layer, &mut x, |ix, x| wanted_position(layers, ix, sweep, x));
        }
    }
    straighten(layers, &mut x);
    draw_in(layers, &mut x);
    for layer in (1..layers.layers.len()).step_by(2) {
        position_layer(layers, layer, &mut x, |ix, x| bend(layers, ix, x));
    }
    let left = x.iter().zip(&layers.vertices).map(|(x, vertex)| x - vertex.size.0 / 2.0).fold(f64::MAX, f64::min);
    for x in &mut x {
        *x = (*x - left).round();
    }
    x
}

fn distance(layers: &Layers, left: usize, right: usize) -> f64 {
    let (left, right): (Vertex, Vertex) = (layers.vertices[left], layers.vertices[right]);
    let gap = if left.kind == VertexKind::Box && right.kind == VertexKind::Box { BOX_GAP } else { LINE_GAP };
    (left.size.0 + right.size.0) / 2.0 + gap
}

/// Neighbouring vertices, joined because they would overlap otherwise.
struct Pool {
    weight: f64,
    sum: f64,
    count: usize,
}

/// Puts the vertices of a layer as close as possible to their wanted positions, by their weights.
fn position_layer(layers: &Layers, layer: usize, x: &mut [f64], wanted: impl Fn(usize, &[f64]) -> (f64, f64)) {
    let line = &layers.layers[layer];
    let mut offset = 0.0;
    let mut offsets = Vec::with_capacity(line.len());
    let mut pools: Vec<Pool> = Vec::new();
    for (at, ix) in line.iter().enumerate() {
        if at > 0 {
            offset += distance(layers, line[at - 1], *ix);
        }
        offsets.push(offset);
        let (wanted, weight) = wanted(*ix, x);
        let mut pool = Pool { weight, sum: (wanted - offset) * weight, count: 1 };
        while let Some(last) = pools.pop_if(|last| last.sum / last.weight > pool.sum / pool.weight) {
            let (weight, sum) = (last.weight + pool.weight, last.sum + pool.sum);
            pool = Pool { weight, sum, count: last.count + pool.count };
        }
        pools.push(pool);
    }
    let mut vertices = line.iter().zip(offsets);
    for pool in pools {
        for (ix, offset) in vertices.by_ref().take(pool.count) {
            x[*ix] = pool.sum / pool.weight + offset;
        }
    }
}

/// The weight with which a neighbour attracts a vertex.
fn pull(layers: &Layers, ix: usize, neighbour: usize) -> f64 {
    match (layers.vertices[ix].kind, layers.vertices[neighbour].kind) {
        // An arrow that goes back does not move a box.
        (VertexKind::Box, VertexKind::Back) => 0.0,
        (VertexKind::Back, VertexKind::Box) => 0.1,
        (VertexKind::Box, VertexKind::Long) => 0.4,
        (VertexKind::Box, _) | (_, VertexKind::Box) => 1.0,
        (_, _) => LINE_PULL,
    }
}

/// The wanted position of a vertex, and its weight.
fn wanted_position(layers: &Layers, ix: usize, sweep: Sweep, x: &[f64]) -> (f64, f64) {
    let above = layers.above[ix].iter().filter(|_| sweep != Sweep::Up);
    let below = layers.below[ix].iter().filter(|_| sweep != Sweep::Down);
    let (mut weight, mut sum) = (0.0, 0.0);
    for neighbour in above.chain(below) {
        let pull = pull(layers, ix, *neighbour);
        weight += pull;
        sum += pull * x[*neighbour];
    }
    if weight == 0.0 { (x[ix], 0.01) } else { (sum / weight, weight) }
}

/// The neighbours on one side to which a line could be straight.
fn in_line(layers: &Layers, ix: usize, neighbours: &[Vec<usize>]) -> (Option<usize>, usize) {
    let mut found = neighbours[ix].iter().filter(|neighbour| pull(layers, ix, **neighbour) >= 0.4);
    (found.next().copied(), 1 + found.count())
}

/// Moves a vertex with one neighbour on a side exactly under or above it, if that position is close and free.
fn straighten(layers: &Layers, x: &mut [f64]) {
    let count = layers.layers.len();
    for step in 0..3 * count {
        let is_down = step / count != 1;
        let layer = if is_down { step % count } else { 2 * count - 1 - step };
        let (neighbours, others) =
            if is_down { (&layers.above, &layers.below) } else { (&layers.below, &layers.above) };
        let line = &layers.layers[layer];
        for (at, ix) in line.iter().enumerate() {
            let (Some(only), 1) = in_line(layers, *ix, neighbours) else { continue };
            let to = x[only];
            // A box in the middle of its branches may move only half as far.
            let is_centre = layers.vertices[*ix].kind == VertexKind::Box && in_line(layers, *ix, others).1 > 1;
            let near = (to - x[*ix]).abs() < if is_centre { STRAIGHTEN / 2.0 } else { STRAIGHTEN };
            let left = at == 0 || to - x[line[at - 1]] >= distance(layers, line[at - 1], *ix);
            let right = line.get(at + 1).is_none_or(|next| x[*next] - to >= distance(layers, *ix, *next));
            if near && left && right {
                x[*ix] = to;
            }
        }
    }
}

/// Makes long arrows one straight line if there is space, and moves arrows that go back as close as possible to the
/// boxes that they pass.
fn draw_in(layers: &Layers, x: &mut [f64]) {
    let mut position = vec![0; layers.vertices.len()];
    for layer in &layers.layers {
        for (at, ix) in layer.iter().enumerate() {
            position[*ix] = at;
        }
    }
    let mut chains: Vec<&Chain> = layers.chains.iter().filter(|chain| chain.points.len() > 1).collect();
    let mean = |chain: &Chain, x: &[f64]| chain.points.iter().map(|ix| x[*ix]).sum::<f64>() / chain.points.len() as f64;
    chains.sort_by(|a, b| mean(a, x).total_cmp(&mean(b, x)));
    for chain in chains {
        let (mut least, mut most) = (f64::MIN, f64::MAX);
        let mut beside = 0.0;
        for ix in &chain.points {
            let line = &layers.layers[layers.vertices[*ix].layer];
            if let Some(left) = position[*ix].checked_sub(1).map(|at| line[at]) {
                least = least.max(x[left] + distance(layers, left, *ix));
                beside -= 1.0;
            }
            if let Some(right) = line.get(position[*ix] + 1) {
                most = most.min(x[*right] - distance(layers, *ix, *right));
                beside += 1.0;
            }
        }
        if least > most {
            continue;
        }
        let wanted = match chain.back {
            true if beside <= 0.0 => least,
            true => most,
            false => mean(chain, x).clamp(least, most),
        };
        for ix in chain.points.iter().filter(|_| wanted.is_finite() && wanted.abs() < f64::MAX) {
            x[*ix] = wanted;
        }
    }
}

/// The wanted position of a point between two layers of boxes, so that its arrow bends once at most: under the box that
/// the arrow leaves, unless that box has several arrows, which part right below it.
fn bend(layers: &Layers, ix: usize, x: &[f64]) -> (f64, f64) {
    let (Some(above), _) = in_line(layers, ix, &layers.above) else { return (x[ix], 1.0) };
    let (Some(below), _) = in_line(layers, ix, &layers.below) else { return (x[ix], 1.0) };
    let is_box = |ix: usize| layers.vertices[ix].kind == VertexKind::Box;
    let parts =
        || layers.below[above].iter().filter(|below| layers.vertices[**below].kind != VertexKind::Back).count() > 1;
    match (is_box(above), is_box(below)) {
        (true, true) if parts() => (x[below], 1.0),
        (true, true) | (false, true) => (x[above], 1.0),
        (true, false) => (x[below], 1.0),
        (false, false) => ((x[above] + x[below]) / 2.0, LINE_PULL),
    }
}
