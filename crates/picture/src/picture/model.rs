//! The content of a picture, before the layout.

use super::{Caption, Standing};

/// Boxes and arrows, in frames.
#[derive(Debug, Default)]
pub struct Picture {
    pub(super) caption: Caption,
    /// Whether it shows a run.
    pub(super) is_run: bool,
    /// The first is the picture itself. An inner frame comes after the enclosing one.
    pub(super) frames: Vec<Frame>,
    pub(super) items: Vec<Item>,
    /// Both ends of an edge are in the same frame.
    pub(super) edges: Vec<Edge>,
}

/// A separate flow.
#[derive(Debug, Default)]
pub(super) struct Frame {
    /// Indices of its boxes in the picture.
    pub items: Vec<usize>,
    /// Indices of its arrows in the picture.
    pub edges: Vec<usize>,
    /// Index of the box at which the flow begins.
    pub start: Option<usize>,
    /// Whether every box that stands for an activity has a position in the Studio.
    pub is_positioned: bool,
}

/// A box: an activity, a state, or a mark at which arrows meet.
#[derive(Debug, Default)]
pub(super) struct Item {
    /// Index of its frame.
    pub frame: usize,
    /// The frame inside the box, if it contains a flow.
    pub inner: Option<usize>,
    /// Its kind, which determines its outline.
    pub shape: Shape,
    /// The line in bold: the name of the activity, or its id.
    pub title: String,
    /// Type and detail: the line under the title.
    pub kind: String,
    /// Type, title and detail without cuts, for a tooltip.
    pub tooltip: String,
    /// Whether it starts the workflow.
    pub is_trigger: bool,
    /// Its standing in this run; `None` if the picture is of a definition.
    pub standing: Option<Standing>,
    /// Remarks on it in this run.
    pub remarks: String,
    /// Upper left corner in the Studio.
    pub position: Option<(f64, f64)>,
    /// Width and height in the Studio.
    pub size: Option<(f64, f64)>,
}

/// How a box looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Shape {
    /// An ordinary activity.
    #[default]
    Activity,
    /// It has several ways out.
    Decision,
    /// The head of a loop.
    Loop,
    /// A state that a transition leaves.
    State,
    /// It ends something.
    End,
    /// Branches begin or meet.
    Fork,
    /// A bar at which branches meet.
    Bar,
    /// The dot at which the picture begins.
    Dot,
    /// It contains a separate flow.
    Frame,
}

/// An arrow from one box to one that can follow it.
#[derive(Clone, Debug, Default)]
pub(super) struct Edge {
    /// Index of the box that it leaves.
    pub source: usize,
    /// Index of the box that it leads to.
    pub target: usize,
    /// Outcome; empty if it is obvious.
    pub label: String,
    /// Whether this run went along it; `None` for a definition.
    pub taken: Option<bool>,
}
