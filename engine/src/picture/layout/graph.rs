//! Boxes and arrows of one frame as a layout sees them: sizes in, places out.

use super::{Area, layers, order, place, route, studio};

/// The boxes and arrows to lay out.
#[derive(Debug, Default)]
pub struct Graph {
    /// Width and height of each box.
    pub sizes: Vec<(f64, f64)>,
    /// Arrows between them.
    pub arrows: Vec<Arrow>,
    /// Index of the box at which the frame begins.
    pub start: Option<usize>,
    /// The place that the Studio gives each box; `None`: it gives none.
    pub given: Vec<Option<Given>>,
}

/// A place in the Studio.
#[derive(Clone, Copy, Debug)]
pub struct Given {
    /// Upper left corner.
    pub corner: (f64, f64),
    /// Size, if the Studio has one.
    pub size: Option<(f64, f64)>,
}

/// An arrow between two boxes.
#[derive(Clone, Copy, Debug)]
pub struct Arrow {
    /// Index of the box at which it begins.
    pub source: usize,
    /// Index of the box at which it ends.
    pub target: usize,
    /// Width and height of its label.
    pub label: Option<(f64, f64)>,
}

/// Where the boxes and arrows of one frame stand, measured from its upper left corner.
#[derive(Debug, Default)]
pub struct Placed {
    /// Width of the frame.
    pub width: f64,
    /// Height of the frame.
    pub height: f64,
    /// Upper left corner of each box.
    pub corners: Vec<(f64, f64)>,
    /// The route of each arrow, in the order of the arrows.
    pub ways: Vec<Way>,
}

/// The route of an arrow.
#[derive(Clone, Debug, Default)]
pub struct Way {
    /// Its corners, from source to target.
    pub points: Vec<(f64, f64)>,
    /// Where its label stands.
    pub label: Option<Area>,
}

impl Graph {
    /// Lays the graph out: as the Studio has it if that is wanted and possible, else in layers.
    pub fn placed(&self, as_given: bool) -> Placed {
        if self.sizes.is_empty() {
            return Placed { width: 40.0, height: 16.0, ..Placed::default() };
        }
        as_given.then(|| studio::place(self)).flatten().unwrap_or_else(|| self.layered())
    }

    /// Layers from top to bottom, or from left to right where that makes the better page.
    fn layered(&self) -> Placed {
        let ranks = layers::ranks(self);
        if layers::is_better_sideways(self, &ranks) { self.turned_run(&ranks) } else { run(self, &ranks) }
    }

    /// Layers from left to right, as the Studio's ports ask for.
    pub fn sideways(&self) -> Placed {
        if self.sizes.is_empty() { Placed::default() } else { self.turned_run(&layers::ranks(self)) }
    }

    fn turned_run(&self, ranks: &layers::Ranks) -> Placed {
        run(&self.turned(), ranks).turned()
    }

    /// The same graph with x and y exchanged.
    fn turned(&self) -> Self {
        let turn = |(a, b): (f64, f64)| (b, a);
        Self {
            sizes: self.sizes.iter().copied().map(turn).collect(),
            arrows: self.arrows.iter().map(|arrow| Arrow { label: arrow.label.map(turn), ..*arrow }).collect(),
            start: self.start,
            given: Vec::new(),
        }
    }
}

fn run(graph: &Graph, ranks: &layers::Ranks) -> Placed {
    let mut layers = layers::Layers::new(graph, ranks);
    order::arrange(&mut layers);
    let across = place::place(&layers);
    route::route(graph, &layers, &across)
}

impl Placed {
    fn turned(self) -> Self {
        let turn = |(a, b): (f64, f64)| (b, a);
        let way =
            |way: Way| Way { points: way.points.into_iter().map(turn).collect(), label: way.label.map(Area::turned) };
        Self {
            width: self.height,
            height: self.width,
            corners: self.corners.into_iter().map(turn).collect(),
            ways: self.ways.into_iter().map(way).collect(),
        }
    }
}
