//! Builds boxes and arrows from a program.
//!
//! Nodes are in document order, parents before their children. The first pass goes forward and decides the look and the
//! frame of each node; the second goes backward and connects, children before their parents. So the depth of a
//! definition costs no stack.

use super::model::{Frame, Item, Picture, Shape};
use super::{Caption, Progress, naming, text};
use workflow_core::activity::FlowRole;
use workflow_core::program::{Node, Program};
use workflow_definition::Appearance;

mod branches;
mod connect;
mod machine;

use branches::is_decision;
use workflow_core::NodeIx;

/// Maximum number of characters of a title and of a tooltip.
const MAX_TITLE: usize = 120;
const MAX_TOOLTIP: usize = 400;

/// How a node appears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Depiction {
    /// A box of a node without children.
    Leaf,
    /// A box with its branches beside it.
    Head,
    /// A box around its children, which are a separate flow.
    Frame,
    /// No box: its children are shown in its place, one after another.
    Chain,
    /// No box: it is shown by the box of a state or the arrow of a transition.
    Told,
}

/// Makes the picture.
pub(super) fn build(
    program: &Program,
    looks: &[Appearance],
    caption: Caption,
    progress: Option<&Progress<'_>>,
) -> Picture {
    let mut builder = Builder::new(program, looks, progress);
    builder.picture.caption = caption;
    builder.picture.is_run = progress.is_some();
    for ix in 0..program.nodes.len() {
        builder.add_node(ix);
    }
    builder.connect();
    builder.finish()
}

struct Builder<'p> {
    program: &'p Program,
    looks: &'p [Appearance],
    progress: Option<&'p Progress<'p>>,
    picture: Picture,
    depictions: Vec<Depiction>,
    /// Frame of the content of a node: the node's own frame, or the enclosing one.
    inner: Vec<usize>,
    /// Box of each node that has one.
    item_of: Vec<Option<usize>>,
    /// Node of each box that has one.
    node_of: Vec<Option<usize>>,
    /// The children of each node, of any kind.
    children: Vec<Vec<NodeIx>>,
}

impl<'p> Builder<'p> {
    fn new(program: &'p Program, looks: &'p [Appearance], progress: Option<&'p Progress<'p>>) -> Self {
        let picture = Picture { frames: vec![Frame::default()], ..Picture::default() };
        let (depictions, inner, item_of, node_of) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut children = vec![Vec::new(); program.nodes.len()];
        for (ix, node) in (0u32..).zip(&program.nodes) {
            if let Some(parent) = node.parent {
                children[parent.0 as usize].push(NodeIx(ix));
            }
        }
        Self { program, looks, progress, picture, depictions, inner, item_of, node_of, children }
    }

    /// Decides how a node appears, and makes its box.
    fn add_node(&mut self, ix: usize) {
        let node = &self.program.nodes[ix];
        let depiction = self.depiction(ix, node);
        let frame = node.parent.map_or(0, |parent| self.inner[parent.0 as usize]);
        self.depictions.push(depiction);
        let is_picture = ix == 0 && matches!(depiction, Depiction::Frame | Depiction::Chain);
        let has_box = !matches!(depiction, Depiction::Chain | Depiction::Told) && !is_picture;
        let item = has_box.then(|| self.add(self.box_of(ix, node, frame, depiction), Some(ix)));
        self.item_of.push(item);
        let inner = match (depiction, item) {
            (Depiction::Frame, Some(item)) => {
                let inner = self.picture.frames.len();
                self.picture.frames.push(Frame::default());
                self.picture.items[item].inner = Some(inner);
                inner
            }
            _ => frame,
        };
        self.inner.push(inner);
    }

    fn depiction(&self, ix: usize, node: &Node) -> Depiction {
        let above = node.parent.map(|parent| parent.0 as usize);
        if above.is_some_and(|above| {
            self.depictions[above] == Depiction::Told || self.program.nodes[above].machine.is_some()
        }) {
            return Depiction::Told;
        }
        if node.machine.as_ref().is_some_and(|machine| !machine.is_empty()) {
            return Depiction::Frame;
        }
        if self.children[ix].is_empty() {
            return if ix == 0 && node.flow.is_some() { Depiction::Frame } else { Depiction::Leaf };
        }
        let is_sequence = node.activity.descriptor().flow == FlowRole::Sequence;
        let above = above.map(|above| &self.program.nodes[above]);
        let has_title = self.looks.get(ix).is_some_and(|look| look.title.is_some());
        if node.flow.is_some() || above.is_some_and(|above| above.flow.is_some()) {
            Depiction::Frame
        } else if is_sequence && !(has_title && ix > 0) {
            Depiction::Chain
        } else if is_sequence {
            Depiction::Frame
        } else {
            Depiction::Head
        }
    }

    fn box_of(&self, ix: usize, node: &Node, frame: usize, depiction: Depiction) -> Item {
        let look = self.looks.get(ix);
        let (title, kind) = (naming::title(node, look), naming::kind(node));
        let description = look.and_then(|look| look.description.as_deref()).unwrap_or_default();
        let more = if description.is_empty() { String::new() } else { format!(" – {description}") };
        Item {
            frame,
            inner: None,
            shape: shape(node, depiction),
            title: text::one_line(title, MAX_TITLE),
            tooltip: text::one_line(&format!("{title} ({kind}){more}"), MAX_TOOLTIP),
            kind,
            is_trigger: node.can_start_workflow,
            standing: self.progress.map(|progress| progress.standing(NodeIx(ix as u32))),
            remarks: self
                .progress
                .map(|progress| text::one_line(progress.remarks(NodeIx(ix as u32)), MAX_TOOLTIP))
                .unwrap_or_default(),
            position: look.and_then(|look| look.position),
            size: look.and_then(|look| look.size),
        }
    }

    fn add(&mut self, item: Item, node: Option<usize>) -> usize {
        self.picture.items.push(item);
        self.node_of.push(node);
        self.picture.items.len() - 1
    }

    /// Sorts boxes and arrows into their frames.
    fn finish(mut self) -> Picture {
        let picture = &mut self.picture;
        // The sort is stable: the arrows that leave one box stay in the order of its branches.
        picture.edges.sort_by_key(|edge| edge.source);
        for (ix, item) in picture.items.iter().enumerate() {
            picture.frames[item.frame].items.push(ix);
        }
        for (ix, edge) in picture.edges.iter().enumerate() {
            picture.frames[picture.items[edge.source].frame].edges.push(ix);
        }
        for frame in &mut picture.frames {
            let mut boxes = frame.items.iter().map(|ix| &picture.items[*ix]).peekable();
            let some = boxes.peek().is_some();
            frame.is_positioned = some && boxes.all(|item| item.position.is_some() || item.shape == Shape::Dot);
        }
        self.picture
    }
}

fn shape(node: &Node, depiction: Depiction) -> Shape {
    match depiction {
        Depiction::Frame => return Shape::Frame,
        Depiction::Leaf | Depiction::Head | Depiction::Chain | Depiction::Told => {}
    }
    let flow = node.activity.descriptor().flow;
    if matches!(flow, FlowRole::Loop(_)) {
        Shape::Loop
    } else if is_decision(node) {
        Shape::Decision
    } else if node.terminal || flow == FlowRole::Start {
        Shape::End
    } else if depiction == Depiction::Head && !node.children.is_empty()
        || matches!(flow, FlowRole::Fork | FlowRole::Join)
    {
        Shape::Fork
    } else {
        Shape::Activity
    }
}
