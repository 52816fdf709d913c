//! Pictures of a definition or of one run of it: Mermaid text, and SVG.
//!
//! A program becomes a [`Picture`]: boxes and arrows, in frames where a box holds a flow of its own. Control
//! flow is drawn as people draw it: a sequence is a chain, an `If` a decision with branches, a loop goes back
//! to its head, the branches of a fork meet again. An activity of any other type is drawn by its ports and
//! children. A layout gives every box its position and every arrow its route.
//!
//! Everything in here is bounded (nothing recurses over the depth of a definition, no step is worse than
//! n log n), gives the same text for the same input, and escapes all texts: labels are hostile.

use workflow_core::program::Program;
use workflow_definition::Appearance;

mod arrange;
mod build;
mod layout;
mod mermaid;
mod model;
pub(crate) mod naming;
mod progress;
mod svg;
pub(crate) mod text;

pub use arrange::arrange;
pub use layout::{Area, Drawing};
pub use model::Picture;
pub use progress::{Progress, Standing};

/// The text above a picture.
#[derive(Clone, Debug, Default)]
pub struct Caption {
    /// Name of the workflow.
    pub title: String,
    /// Version, instance, status.
    pub subtitle: String,
}

impl Picture {
    /// Makes the picture of a program, of one run of it where `progress` is given. `looks` are those of its
    /// nodes, as [`workflow_definition::appearances`] gives them.
    pub fn new(program: &Program, looks: &[Appearance], caption: Caption, progress: Option<&Progress<'_>>) -> Self {
        build::build(program, looks, caption, progress)
    }

    /// Mermaid text of a flowchart.
    pub fn mermaid(&self) -> String {
        mermaid::write(self)
    }

    /// A self-contained SVG document.
    pub fn svg(&self) -> String {
        svg::write(self, &self.drawing())
    }

    /// The layout, for callers that measure it.
    pub fn drawing(&self) -> Drawing {
        layout::draw(self)
    }
}
