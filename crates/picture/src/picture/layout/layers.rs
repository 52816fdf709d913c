//! Layers: the layer of each box, and the layers through which each arrow passes.
//!
//! Boxes are in even layers, labels in odd ones. An arrow that goes down has a point in every layer between its ends.
//! An arrow that goes back up leaves its source at the bottom like all others, passes the layers of both its ends on
//! the way up, and enters from above, so that a loop visibly goes back.

use super::graph::Graph;

/// Maximum number of points of a frame's arrows: a fixed number, and some for each of its parts. An arrow that needs
/// more goes around everything.
const MAX_POINTS: usize = 4_000;
const MAX_POINTS_PER_PART: usize = 4;

/// Layer of each box (counted in boxes), and which arrows go back.
#[derive(Debug)]
pub struct Ranks {
    rank: Vec<usize>,
    back: Vec<bool>,
    count: usize,
}

/// An element of a layer.
#[derive(Clone, Copy, Debug)]
pub struct Vertex {
    /// Index of its layer; 0 is the uppermost.
    pub layer: usize,
    /// Width and height.
    pub size: (f64, f64),
    /// What it represents: a box, or a point of an arrow.
    pub kind: VertexKind,
}

/// The kind of a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VertexKind {
    /// A box of the frame.
    Box,
    /// A point of an arrow to the next boxes.
    Short,
    /// A point of an arrow that passes boxes.
    Long,
    /// A point of an arrow that goes back.
    Back,
}

/// How an arrow passes through the layers.
#[derive(Clone, Debug, Default)]
pub struct Chain {
    /// Whether it goes back up.
    pub back: bool,
    /// Its points, from the upper layer to the lower one.
    pub points: Vec<usize>,
    /// The point of its label.
    pub label: Option<usize>,
    /// Whether it goes around everything.
    pub outside: bool,
}

/// The layers of a frame. The first vertices are its boxes.
#[derive(Debug, Default)]
pub struct Layers {
    /// Boxes and points.
    pub vertices: Vec<Vertex>,
    /// Vertices of each layer, from left to right.
    pub layers: Vec<Vec<usize>>,
    /// One per arrow.
    pub chains: Vec<Chain>,
    /// Neighbours in the layer above.
    pub above: Vec<Vec<usize>>,
    /// Neighbours in the layer below.
    pub below: Vec<Vec<usize>>,
}

/// Removes the arrows that go back, and ranks every box by the longest path to it.
pub fn ranks(graph: &Graph) -> Ranks {
    let count = graph.sizes.len();
    let mut outbound = vec![Vec::new(); count];
    for (ix, arrow) in graph.arrows.iter().enumerate() {
        outbound[arrow.source].push(ix);
    }
    let back = back_arrows(graph, &outbound);
    let mut inbound = vec![0usize; count];
    for (arrow, _) in graph.arrows.iter().zip(&back).filter(|(_, back)| !**back) {
        inbound[arrow.target] += 1;
    }
    let has_inbound: Vec<bool> = inbound.iter().map(|inbound| *inbound > 0).collect();
    let mut rank = vec![0usize; count];
    let mut ready: Vec<usize> = (0..count).filter(|ix| inbound[*ix] == 0).collect();
    let mut sorted = Vec::with_capacity(count);
    while let Some(ix) = ready.pop() {
        sorted.push(ix);
        for arrow in outbound[ix].iter().filter(|arrow| !back[**arrow]) {
            let target = graph.arrows[*arrow].target;
            rank[target] = rank[target].max(rank[ix] + 1);
            inbound[target] -= 1;
            if inbound[target] == 0 {
                ready.push(target);
            }
        }
    }
    // A box without incoming arrows is placed directly above the first box that it leads to, not at the top.
    for ix in sorted.into_iter().rev().filter(|ix| !has_inbound[*ix] && Some(*ix) != graph.start) {
        let forward = outbound[ix].iter().filter(|arrow| !back[**arrow]);
        if let Some(next) = forward.map(|arrow| rank[graph.arrows[*arrow].target]).min() {
            rank[ix] = next.saturating_sub(1);
        }
    }
    let count = rank.iter().max().map_or(0, |last| last + 1);
    Ranks { rank, back, count }
}

/// Arrows that lead to a box that is still being visited in a depth-first search from the start.
fn back_arrows(graph: &Graph, outbound: &[Vec<usize>]) -> Vec<bool> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Closed,
    }
    let mut back = vec![false; graph.arrows.len()];
    let mut marks = vec![Mark::New; graph.sizes.len()];
    for begin in graph.start.into_iter().chain(0..graph.sizes.len()) {
        if marks[begin] != Mark::New {
            continue;
        }
        marks[begin] = Mark::Open;
        let mut path = vec![(begin, 0)];
        while let Some((ix, next)) = path.last_mut() {
            let Some(arrow) = outbound[*ix].get(*next) else {
                marks[*ix] = Mark::Closed;
                path.pop();
                continue;
            };
            *next += 1;
            let target = graph.arrows[*arrow].target;
            match marks[target] {
                Mark::New => {
                    marks[target] = Mark::Open;
                    path.push((target, 0));
                }
                Mark::Open => back[*arrow] = true,
                Mark::Closed => {}
            }
        }
    }
    back
}

/// Whether layers from left to right give a page that is easier to read than layers from top to bottom.
pub fn is_better_sideways(graph: &Graph, ranks: &Ranks) -> bool {
    let mut down = vec![(0.0f64, 0.0f64); ranks.count];
    let mut sideways = down.clone();
    for (size, rank) in graph.sizes.iter().zip(&ranks.rank) {
        down[*rank].0 += size.0 + 28.0;
        down[*rank].1 = down[*rank].1.max(size.1);
        sideways[*rank].0 += size.1 + 28.0;
        sideways[*rank].1 = sideways[*rank].1.max(size.0);
    }
    let extent = |layers: &[(f64, f64)], gap: f64| {
        let across = layers.iter().map(|layer| layer.0).fold(0.0, f64::max);
        (across, layers.iter().map(|layer| layer.1 + gap).sum::<f64>())
    };
    let labels = graph.arrows.iter().filter_map(|arrow| arrow.label).map(|label| label.0).fold(0.0, f64::max);
    let (down_width, down_height) = extent(&down, 40.0);
    let (sideways_height, sideways_width) = extent(&sideways, 40.0 + labels);
    // A page is wider than high, and scrolls better down than sideways.
    let badness = |width: f64, height: f64| (width / 1.3).max(height);
    badness(sideways_width, sideways_height) * 1.15 < badness(down_width, down_height)
}

impl Layers {
    /// Gives every box its layer, and every arrow its points.
    pub fn new(graph: &Graph, ranks: &Ranks) -> Self {
        let vertices = graph.sizes.iter().zip(&ranks.rank);
        let vertices =
            vertices.map(|(size, rank)| Vertex { layer: 2 * rank, size: *size, kind: VertexKind::Box }).collect();
        let mut layers = Self { vertices, ..Self::default() };
        layers.chains.resize_with(graph.arrows.len(), Chain::default);
        let span = |ix: &usize| {
            let arrow = &graph.arrows[*ix];
            (2 * ranks.rank[arrow.target]).abs_diff(2 * ranks.rank[arrow.source]) + 1
        };
        let mut order: Vec<usize> = (0..graph.arrows.len()).collect();
        order.sort_by_key(|ix| (span(ix), *ix));
        let mut room = MAX_POINTS + MAX_POINTS_PER_PART * (graph.sizes.len() + graph.arrows.len());
        for ix in order {
            let wanted = span(&ix);
            layers.chains[ix] = if wanted <= room { layers.chain(graph, ranks, ix) } else { outside(ranks.back[ix]) };
            room = room.saturating_sub(wanted);
        }
        layers.index(2 * ranks.count);
        layers.link(graph);
        layers
    }

    fn chain(&mut self, graph: &Graph, ranks: &Ranks, ix: usize) -> Chain {
        let arrow = &graph.arrows[ix];
        let (source, target) = (2 * ranks.rank[arrow.source], 2 * ranks.rank[arrow.target]);
        let back = ranks.back[ix];
        let (passed, label_layer) = match back {
            false => (source + 1..target, source + 1),
            true if source == target => (source..source + 1, source),
            true => (target..source + 1, source - 1),
        };
        let mut chain = Chain { back, ..Chain::default() };
        let kind = if back {
            VertexKind::Back
        } else if passed.len() > 1 {
            VertexKind::Long
        } else {
            VertexKind::Short
        };
        for layer in passed {
            let label = arrow.label.filter(|_| layer == label_layer);
            let vertex = self.vertices.len();
            self.vertices.push(Vertex { layer, size: label.unwrap_or_default(), kind });
            chain.points.push(vertex);
            if label.is_some() {
                chain.label = Some(vertex);
            }
        }
        chain
    }

    fn index(&mut self, count: usize) {
        self.layers = vec![Vec::new(); count.max(1)];
        for (ix, vertex) in self.vertices.iter().enumerate() {
            self.layers[vertex.layer].push(ix);
        }
    }

    fn link(&mut self, graph: &Graph) {
        self.above = vec![Vec::new(); self.vertices.len()];
        self.below = vec![Vec::new(); self.vertices.len()];
        let chains = std::mem::take(&mut self.chains);
        for (arrow, chain) in graph.arrows.iter().zip(&chains) {
            for pair in chain.points.windows(2) {
                self.connect(pair[0], pair[1]);
            }
            match chain.points.as_slice() {
                [first, .., last] if chain.back => {
                    // The route of an arrow that goes back stays near both its ends.
                    let (second, before) = (chain.points[1], chain.points[chain.points.len() - 2]);
                    if first != last {
                        self.connect(arrow.target, second);
                        self.connect(before, arrow.source);
                    }
                }
                [first, ..] if !chain.back => {
                    self.connect(arrow.source, *first);
                    self.connect(chain.points[chain.points.len() - 1], arrow.target);
                }
                _ => {}
            }
        }
        self.chains = chains;
    }

    fn connect(&mut self, above: usize, below: usize) {
        self.below[above].push(below);
        self.above[below].push(above);
    }
}

fn outside(back: bool) -> Chain {
    Chain { back, outside: true, ..Chain::default() }
}
