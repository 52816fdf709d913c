//! The order in each layer: sweeps by barycentre. The result with the fewest crossings is kept.

use std::cmp::Ordering;

use super::layers::Layers;

/// Number of arrow parts above which fewer sweeps are made.
const MANY: usize = 20_000;

/// Orders every layer.
pub fn arrange(layers: &mut Layers) {
    begin(layers);
    let size: usize = layers.below.iter().map(Vec::len).sum();
    let sweeps = if size > MANY { 4 } else { 16 };
    let mut position = positions(layers);
    let mut best = layers.layers.clone();
    let mut fewest = crossings(layers, &position);
    for sweep in 0..sweeps {
        if fewest == 0 {
            break;
        }
        let count = layers.layers.len();
        for step in 1..count {
            let (layer, down) = if sweep % 2 == 0 { (step, true) } else { (count - 1 - step, false) };
            sort(layers, layer, down, &mut position);
        }
        let found = crossings(layers, &position);
        if found < fewest {
            fewest = found;
            best.clone_from(&layers.layers);
        }
    }
    layers.layers = best;
}

/// The first order: that of a depth-first walk from above, with the points of arrows that go back at the right.
fn begin(layers: &mut Layers) {
    let mut ways_back = vec![false; layers.vertices.len()];
    for point in layers.chains.iter().filter(|chain| chain.back).flat_map(|chain| &chain.points) {
        ways_back[*point] = true;
    }
    let mut seen = vec![false; layers.vertices.len()];
    let mut order: Vec<Vec<usize>> = vec![Vec::new(); layers.layers.len()];
    for root in layers.layers.iter().flatten() {
        let mut path = vec![*root];
        while let Some(ix) = path.pop() {
            if std::mem::replace(&mut seen[ix], true) {
                continue;
            }
            order[layers.vertices[ix].layer].push(ix);
            path.extend(layers.below[ix].iter().rev().filter(|below| !seen[**below]));
        }
    }
    for layer in &mut order {
        layer.sort_by_key(|ix| ways_back[*ix]);
    }
    layers.layers = order;
}

/// The position of each vertex in its layer.
fn positions(layers: &Layers) -> Vec<usize> {
    let mut position = vec![0; layers.vertices.len()];
    for layer in &layers.layers {
        for (at, ix) in layer.iter().enumerate() {
            position[*ix] = at;
        }
    }
    position
}

/// Sorts a layer by the mean position of the neighbours above or below. A vertex without neighbours keeps its position.
fn sort(layers: &mut Layers, layer: usize, down: bool, position: &mut [usize]) {
    let neighbours = if down { &layers.above } else { &layers.below };
    let line = &mut layers.layers[layer];
    let mut keyed: Vec<(f64, usize)> = Vec::with_capacity(line.len());
    let mut free: Vec<(usize, usize)> = Vec::new();
    for (at, ix) in line.iter().enumerate() {
        match neighbours[*ix].as_slice() {
            [] => free.push((at, *ix)),
            some => {
                let sum: usize = some.iter().map(|ix| position[*ix]).sum();
                keyed.push((sum as f64 / some.len() as f64, *ix));
            }
        }
    }
    keyed.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap_or(Ordering::Equal));
    let mut sorted = keyed.into_iter().map(|(_, ix)| ix);
    let mut free = free.into_iter().peekable();
    for (at, slot) in line.iter_mut().enumerate() {
        let stays = free.next_if(|(position, _)| *position == at).map(|(_, ix)| ix);
        if let Some(ix) = stays.or_else(|| sorted.next()) {
            *slot = ix;
            position[ix] = at;
        }
    }
}

/// Crossings between neighbouring layers, counted with a Fenwick tree.
fn crossings(layers: &Layers, position: &[usize]) -> u64 {
    let mut total = 0;
    for pair in layers.layers.windows(2) {
        let mut tree = vec![0u64; pair[1].len() + 1];
        let mut seen = 0;
        for ix in &pair[0] {
            let mut targets: Vec<usize> = layers.below[*ix].iter().map(|below| position[*below]).collect();
            targets.sort_unstable();
            total += targets.iter().map(|target| seen - up_to(&tree, *target)).sum::<u64>();
            for target in targets {
                add(&mut tree, target);
                seen += 1;
            }
        }
    }
    total
}

fn up_to(tree: &[u64], at: usize) -> u64 {
    let (mut ix, mut sum) = (at + 1, 0);
    while ix > 0 {
        sum += tree[ix];
        ix &= ix - 1;
    }
    sum
}

fn add(tree: &mut [u64], at: usize) {
    let mut ix = at + 1;
    while ix < tree.len() {
        tree[ix] += 1;
        ix += ix & ix.wrapping_neg();
    }
}
