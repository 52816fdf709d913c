//! Pictures of a definition or of one run of it: Mermaid text, and SVG.
//!
//! A program becomes a [`Picture`]: boxes and arrows, in frames where a box contains a flow of its own. Control flow
//! has its usual form: a sequence is a chain, an `If` a decision with branches, a loop returns to its head, the
//! branches of a fork join again. An activity of any other type is drawn by its ports and children. A layout gives
//! every box its position and every arrow its route.
//!
//! Everything here is bounded (nothing recurses over the depth of a definition, no step is worse than O(n log n)),
//! deterministic, and escapes all texts: labels are untrusted.

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
    /// Draws a program, or one run of it if `progress` is given. `looks` are those of its nodes, as
    /// [`workflow_definition::appearances`] returns them.
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
