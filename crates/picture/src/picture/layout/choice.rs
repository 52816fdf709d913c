//! Chooses the layout of a graph: that of the Studio, or layers in the better direction.

use super::graph::{FrameLayout, Graph};
use super::{coordinates, layers, order, route, studio};

impl Graph {
    /// Lays the graph out: as in the Studio if that is wanted and possible, otherwise in layers.
    pub fn layout(&self, as_given: bool) -> FrameLayout {
        if self.sizes.is_empty() {
            return FrameLayout { width: 40.0, height: 16.0, ..FrameLayout::default() };
        }
        as_given.then(|| studio::layout(self)).flatten().unwrap_or_else(|| self.layered())
    }

    /// Layers from top to bottom, or from left to right if that gives a better page.
    fn layered(&self) -> FrameLayout {
        let ranks = layers::ranks(self);
        if layers::is_better_sideways(self, &ranks) { self.turned_run(&ranks) } else { run(self, &ranks) }
    }

    /// Layers from left to right, as the Studio's ports require.
    pub fn sideways(&self) -> FrameLayout {
        if self.sizes.is_empty() { FrameLayout::default() } else { self.turned_run(&layers::ranks(self)) }
    }

    fn turned_run(&self, ranks: &layers::Ranks) -> FrameLayout {
        run(&self.turned(), ranks).turned()
    }
}

fn run(graph: &Graph, ranks: &layers::Ranks) -> FrameLayout {
    let mut layers = layers::Layers::new(graph, ranks);
    order::arrange(&mut layers);
    let across = coordinates::horizontal(&layers);
    route::route(graph, &layers, &across)
}
