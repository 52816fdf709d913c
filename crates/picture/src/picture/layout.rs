//! The layout: frames from the inside out, then all of them in one coordinate system.
//!
//! A frame whose boxes all have a position in the Studio keeps them; every other is laid out in layers.

use super::model::{Frame, Item, Picture, Shape};
use super::text;

mod channel;
mod choice;
mod coordinates;
mod graph;
mod layers;
mod order;
mod route;
mod studio;

use graph::{Arrow, FrameLayout, Graph, StudioBox};

/// Font sizes of a title, of the line under it, and of a label.
pub(super) const TITLE: f64 = 13.0;
pub(super) const KIND: f64 = 11.0;
pub(super) const LABEL: f64 = 11.0;

/// Space left and right of a text in its box.
pub(super) const INSET: f64 = 16.0;
/// Space between a frame and its content, and the height of its title.
const PADDING: f64 = 22.0;
pub(super) const HEADER: f64 = 34.0;

const NARROWEST: f64 = 116.0;
const WIDEST: f64 = 248.0;
/// How much the line under a title may widen a box.
const KIND_ROOM: f64 = 170.0;

/// A rectangle; x to the right, y down, from the upper left corner.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Area {
    /// Left edge, in pixels.
    pub x: f64,
    /// Upper edge, in pixels.
    pub y: f64,
    /// Extent to the right, in pixels.
    pub width: f64,
    /// Extent downward, in pixels.
    pub height: f64,
}

impl Area {
    pub(super) fn new(x: f64, y: f64, width: f64, height: f64) -> Self {
        Self { x, y, width, height }
    }

    fn moved(self, x: f64, y: f64) -> Self {
        Self { x: self.x + x, y: self.y + y, ..self }
    }

    /// The same area with x and y exchanged.
    fn turned(self) -> Self {
        Self { x: self.y, y: self.x, width: self.height, height: self.width }
    }

    fn grown(self, by: f64) -> Self {
        Self::new(self.x - by, self.y - by, self.width + 2.0 * by, self.height + 2.0 * by)
    }

    pub(super) fn right(self) -> f64 {
        self.x + self.width
    }

    pub(super) fn bottom(self) -> f64 {
        self.y + self.height
    }

    pub(super) fn middle(self) -> (f64, f64) {
        (self.x + self.width / 2.0, self.y + self.height / 2.0)
    }

    /// Whether two areas share more than an edge.
    pub fn overlaps(self, other: Self) -> bool {
        self.x < other.right() && other.x < self.right() && self.y < other.bottom() && other.y < self.bottom()
    }
}

/// The positions of everything in a picture.
#[derive(Debug, Default)]
pub struct Drawing {
    /// Width of the whole picture, in pixels.
    pub width: f64,
    /// Height of the whole picture, in pixels.
    pub height: f64,
    /// One area per box. The box of a frame contains those of its frame.
    pub boxes: Vec<Area>,
    /// For each box, the box of the enclosing frame; `None` in the picture itself.
    pub holders: Vec<Option<usize>>,
    /// One line per arrow, from corner to corner.
    pub lines: Vec<Vec<(f64, f64)>>,
    /// The two boxes of each arrow.
    pub ends: Vec<(usize, usize)>,
    /// Position of each arrow's label.
    pub labels: Vec<Option<Area>>,
}

/// The upper left corners of boxes of one size, in layers from left to right. An arrow is its source and its target.
pub(super) fn sideways(
    size: (f64, f64),
    count: usize,
    arrows: Vec<(usize, usize)>,
    start: Option<usize>,
) -> Vec<(f64, f64)> {
    let arrow = |(source, target)| Arrow { source, target, label: None };
    let arrows = arrows.into_iter().map(arrow).collect();
    Graph { sizes: vec![size; count], arrows, start, given: Vec::new() }.sideways().corners
}

/// Finds the position of everything.
pub(super) fn draw(picture: &Picture) -> Drawing {
    let mut sizes: Vec<(f64, f64)> = picture.items.iter().map(size).collect();
    let mut layouts = Vec::with_capacity(picture.frames.len());
    let mut holders = vec![None; picture.frames.len()];
    for (ix, item) in picture.items.iter().enumerate() {
        if let Some(inner) = item.inner {
            holders[inner] = Some(ix);
        }
    }
    // An inner frame comes after the enclosing one, so going backward its size is known in time.
    for (ix, frame) in picture.frames.iter().enumerate().rev() {
        let content = graph_of(picture, frame, &sizes).layout(frame.is_positioned);
        if let Some(holder) = holders[ix] {
            let item = &picture.items[holder];
            let title = text::width(&item.title, TITLE).min(WIDEST * 1.5) + 2.0 * INSET;
            let width = (content.width + 2.0 * PADDING).max(title).max(NARROWEST);
            sizes[holder] = (even(width), even(content.height + HEADER + PADDING));
        }
        layouts.push(content);
    }
    layouts.reverse();
    assemble(picture, &layouts, &sizes, &holders)
}

fn assemble(picture: &Picture, layouts: &[FrameLayout], sizes: &[(f64, f64)], holders: &[Option<usize>]) -> Drawing {
    let mut drawing = Drawing {
        width: layouts[0].width,
        height: layouts[0].height,
        boxes: vec![Area::default(); picture.items.len()],
        holders: picture.items.iter().map(|item| holders[item.frame]).collect(),
        lines: vec![Vec::new(); picture.edges.len()],
        ends: picture.edges.iter().map(|edge| (edge.source, edge.target)).collect(),
        labels: vec![None; picture.edges.len()],
    };
    for ((frame, content), holder) in picture.frames.iter().zip(layouts).zip(holders) {
        let (x, y) = holder.map_or((0.0, 0.0), |holder| {
            let around = drawing.boxes[holder];
            (around.x + (around.width - content.width) / 2.0, around.y + HEADER)
        });
        for (item, (left, top)) in frame.items.iter().zip(&content.corners) {
            let (width, height) = sizes[*item];
            drawing.boxes[*item] = Area::new(left + x, top + y, width, height);
        }
        for (edge, route) in frame.edges.iter().zip(&content.routes) {
            drawing.lines[*edge] = route.points.iter().map(|(a, b)| (a + x, b + y)).collect();
            drawing.labels[*edge] = route.label.map(|label| label.moved(x, y));
        }
    }
    drawing
}

fn graph_of(picture: &Picture, frame: &Frame, sizes: &[(f64, f64)]) -> Graph {
    let position_of = |item: usize| frame.items.binary_search(&item).unwrap_or_default();
    let arrow = |edge: &usize| {
        let edge = &picture.edges[*edge];
        let label = (!edge.label.is_empty()).then(|| {
            let width = text::width(&edge.label, LABEL).min(label_room());
            (even(width + 12.0), LABEL + 7.0)
        });
        Arrow { source: position_of(edge.source), target: position_of(edge.target), label }
    };
    Graph {
        sizes: frame.items.iter().map(|item| sizes[*item]).collect(),
        arrows: frame.edges.iter().map(arrow).collect(),
        start: frame.start.map(position_of),
        given: frame.items.iter().map(|item| studio_box(&picture.items[*item])).collect(),
    }
}

fn studio_box(item: &Item) -> Option<StudioBox> {
    item.position.map(|corner| StudioBox { corner, size: item.size })
}

/// Maximum width of a label's text.
pub(super) fn label_room() -> f64 {
    WIDEST * 0.6
}

fn size(item: &Item) -> (f64, f64) {
    match item.shape {
        Shape::Bar => return (72.0, 6.0),
        Shape::Dot => return (14.0, 14.0),
        Shape::Activity | Shape::Decision | Shape::Loop | Shape::State | Shape::End | Shape::Fork | Shape::Frame => {}
    }
    let height = if item.kind.is_empty() { 40.0 } else { 52.0 };
    let inset = if item.shape == Shape::Decision { INSET + 12.0 } else { INSET };
    let text = text::width(&item.title, TITLE).max(text::width(&item.kind, KIND).min(KIND_ROOM));
    (even((text + 2.0 * inset).clamp(NARROWEST, WIDEST)), height)
}

/// A size whose half is a whole number.
fn even(size: f64) -> f64 {
    (size / 2.0).ceil() * 2.0
}
