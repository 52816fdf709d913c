//! Boxes and arrows of one frame, the input and output of a layout: sizes in, coordinates out.

use super::Area;

/// The boxes and arrows to lay out.
#[derive(Debug, Default)]
pub struct Graph {
    /// Width and height of each box.
    pub sizes: Vec<(f64, f64)>,
    /// Arrows between them.
    pub arrows: Vec<Arrow>,
    /// Index of the box at which the frame begins.
    pub start: Option<usize>,
    /// Position of each box in the Studio, if it has one.
    pub given: Vec<Option<StudioBox>>,
}

/// The position and size of a box in the Studio.
#[derive(Clone, Copy, Debug)]
pub struct StudioBox {
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

/// The positions of boxes and arrows of one frame, relative to its upper left corner.
#[derive(Debug, Default)]
pub struct FrameLayout {
    /// Width of the frame.
    pub width: f64,
    /// Height of the frame.
    pub height: f64,
    /// Upper left corner of each box.
    pub corners: Vec<(f64, f64)>,
    /// The route of each arrow, in the order of the arrows.
    pub routes: Vec<ArrowRoute>,
}

/// The route of an arrow.
#[derive(Clone, Debug, Default)]
pub struct ArrowRoute {
    /// Its corners, from source to target.
    pub points: Vec<(f64, f64)>,
    /// Position of its label.
    pub label: Option<Area>,
}

impl Graph {
    /// The same graph with x and y exchanged.
    pub(super) fn turned(&self) -> Self {
        let turn = |(a, b): (f64, f64)| (b, a);
        Self {
            sizes: self.sizes.iter().copied().map(turn).collect(),
            arrows: self.arrows.iter().map(|arrow| Arrow { label: arrow.label.map(turn), ..*arrow }).collect(),
            start: self.start,
            given: Vec::new(),
        }
    }
}

impl FrameLayout {
    /// The same layout with x and y exchanged.
    pub(super) fn turned(self) -> Self {
        let turn = |(a, b): (f64, f64)| (b, a);
        let route = |route: ArrowRoute| ArrowRoute {
            points: route.points.into_iter().map(turn).collect(),
            label: route.label.map(Area::turned),
        };
        Self {
            width: self.height,
            height: self.width,
            corners: self.corners.into_iter().map(turn).collect(),
            routes: self.routes.into_iter().map(route).collect(),
        }
    }
}
