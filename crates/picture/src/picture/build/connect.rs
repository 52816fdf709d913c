//! The arrows, from the last node to the first, so that the children of a node are connected before the node.

use std::collections::BTreeSet;

use super::branches::{branches, is_aside, loop_of};
use super::{Builder, Depiction};
use crate::picture::Standing;
use crate::picture::model::{Edge, Item, Shape};
use workflow_core::NodeIx;
use workflow_core::activity::FlowRole;
use workflow_core::program::Node;

/// How a flow enters a node, and how it continues from there.
#[derive(Debug, Default)]
pub(super) struct Fragment {
    entry: Option<usize>,
    exits: Vec<Exit>,
    /// Exits that leave the enclosing loop.
    breaks: Vec<Exit>,
}

/// A way out of a fragment, from which the next arrow starts.
#[derive(Debug)]
struct Exit {
    item: usize,
    label: String,
    rule: Rule,
}

/// When an arrow counts as taken by a run.
#[derive(Debug)]
enum Rule {
    /// The run reached the target.
    Reached,
    /// The run ended the source and reached the target.
    After,
    /// The run ended the source with this outcome and reached the target.
    Outcome(String),
    /// The run reached the source more often than all of these together.
    PastAll(Vec<usize>),
}

impl Exit {
    fn new(item: usize, label: &str, rule: Rule) -> Self {
        Self { item, label: label.to_owned(), rule }
    }
}

impl Builder<'_> {
    pub(super) fn connect(&mut self) {
        let mut fragments: Vec<Fragment> = Vec::new();
        fragments.resize_with(self.depictions.len(), Fragment::default);
        for ix in (0..self.depictions.len()).rev() {
            fragments[ix] = self.fragment(ix, &mut fragments);
        }
        let entry = fragments.first().and_then(|root| root.entry);
        if let Some(entry) = entry.or_else(|| self.picture.frames[0].start) {
            self.begin_at(entry);
        }
    }

    /// Adds the dot at which the picture begins, unless its first box shows the beginning.
    fn begin_at(&mut self, entry: usize) {
        let first = &self.picture.items[entry];
        let says_so =
            first.is_trigger || self.node(entry).is_some_and(|node| node.activity.descriptor().flow == FlowRole::Start);
        let mut start = entry;
        if !says_so {
            start = self.add(Item { shape: Shape::Dot, tooltip: "Start".into(), ..Item::default() }, None);
            self.arrow(Exit::new(start, "", Rule::Reached), entry);
        }
        self.picture.frames[0].start = Some(start);
    }

    fn fragment(&mut self, ix: usize, fragments: &mut [Fragment]) -> Fragment {
        let node = &self.program.nodes[ix];
        match (self.depictions[ix], self.item_of[ix]) {
            (Depiction::Leaf, Some(item)) => self.leaf(item, node),
            (Depiction::Head, Some(item)) => self.head(item, node, fragments),
            (Depiction::Frame, item) => {
                self.fill(ix, node, fragments);
                item.map_or_else(Fragment::default, |item| self.leaf(item, node))
            }
            (Depiction::Told, _) => Fragment::default(),
            (Depiction::Chain | Depiction::Leaf | Depiction::Head, _) => self.chain(node, fragments),
        }
    }

    fn leaf(&self, item: usize, node: &Node) -> Fragment {
        let exit = vec![Exit::new(item, "", Rule::After)];
        let mut leaf = Fragment { entry: Some(item), ..Fragment::default() };
        match node.activity.descriptor().flow {
            FlowRole::Break => leaf.breaks = exit,
            FlowRole::Exit => {}
            _ => leaf.exits = exit,
        }
        leaf
    }

    /// Connects children one after another. After a terminal child, the flow continues after the sequence.
    fn chain(&mut self, node: &Node, fragments: &mut [Fragment]) -> Fragment {
        let mut whole = Fragment::default();
        let mut ends = Vec::new();
        for child in &node.children {
            let next = std::mem::take(&mut fragments[child.0 as usize]);
            let Some(entry) = next.entry else { continue };
            self.arrows(whole.exits, entry);
            whole.entry = whole.entry.or(Some(entry));
            whole.breaks.extend(next.breaks);
            whole.exits = next.exits;
            if self.program.node(*child).terminal {
                ends.append(&mut whole.exits);
            }
        }
        whole.exits.extend(ends);
        whole
    }

    /// Connects the content of a frame.
    fn fill(&mut self, ix: usize, node: &Node, fragments: &mut [Fragment]) {
        let frame = self.inner[ix];
        if let Some(flow) = &node.flow {
            for edge in flow.edges().iter() {
                let ends = [flow.activity(edge.source), flow.activity(edge.target)];
                let [Some(source), Some(target)] = ends.map(|node| self.item_of[node.0 as usize]) else { continue };
                let label = if edge.port == "Done" { "" } else { &edge.port };
                self.arrow(Exit::new(source, label, Rule::Outcome(edge.port.clone())), target);
            }
            let start = flow.default_start().map(|start| flow.activity(start));
            self.picture.frames[frame].start = start.and_then(|start| self.item_of[start.0 as usize]);
            return;
        }
        if let Some(machine) = &node.machine {
            self.picture.frames[frame].start = self.states(ix, machine);
            return;
        }
        let content = if node.activity.descriptor().flow == FlowRole::Sequence {
            self.chain(node, fragments)
        } else {
            let mut head = self.box_of(ix, node, frame, Depiction::Head);
            head.title = head.kind;
            head.kind = String::new();
            let item = self.add(head, Some(ix));
            self.head(item, node, fragments)
        };
        self.picture.frames[frame].start = content.entry;
    }

    /// Connects a box with its branches.
    fn head(&mut self, item: usize, node: &Node, fragments: &mut [Fragment]) -> Fragment {
        let branches = self.branches(item, node);
        let (mut exits, mut breaks, mut entries) = (Vec::new(), Vec::new(), Vec::new());
        for (label, child) in &branches {
            let branch = child.map(|child| std::mem::take(&mut fragments[child.0 as usize])).unwrap_or_default();
            if let Some(entry) = branch.entry {
                entries.push(entry);
                self.arrow(Exit::new(item, label, Rule::Reached), entry);
                if !is_aside(label) {
                    exits.extend(branch.exits);
                }
                breaks.extend(branch.breaks);
            }
        }
        if loop_of(node).is_some() {
            self.arrows(exits, item);
            breaks.insert(0, Exit::new(item, "Done", Rule::After));
            return Fragment { entry: Some(item), exits: breaks, breaks: Vec::new() };
        }
        if branches.iter().any(|(label, _)| is_aside(label)) {
            exits.push(Exit::new(item, "", Rule::After));
        }
        if !node.children.is_empty() || node.activity.descriptor().flow == FlowRole::Each {
            exits = self.meet(item, exits);
        }
        let unset = branches.iter().filter(|(_, child)| child.is_none()).map(|(label, _)| label.as_str());
        if let Some(label) = unset.reduce(|_, last| last) {
            exits.push(Exit::new(item, label, Rule::PastAll(entries)));
        }
        Fragment { entry: Some(item), exits, breaks }
    }

    /// Branches of a box, among them one without a label for each child that no other branch leads to.
    fn branches(&self, item: usize, node: &Node) -> Vec<(String, Option<NodeIx>)> {
        let mut branches = branches(node);
        let known: BTreeSet<NodeIx> = branches.iter().filter_map(|(_, child)| *child).collect();
        let all = self.node_of[item].map_or(&[][..], |ix| &self.children[ix]);
        branches.extend(all.iter().filter(|child| !known.contains(child)).map(|child| (String::new(), Some(*child))));
        branches
    }

    /// Joins branches that run in parallel at one bar.
    fn meet(&mut self, head: usize, exits: Vec<Exit>) -> Vec<Exit> {
        if exits.len() < 2 {
            return exits;
        }
        let frame = self.picture.items[head].frame;
        let bar = Item { frame, shape: Shape::Bar, tooltip: "Join".into(), ..Item::default() };
        let bar = self.add(bar, None);
        let is_reached = exits.iter().any(|exit| self.was_taken(exit, bar) != Some(false));
        self.picture.items[bar].standing = (!is_reached).then_some(Standing::Unreached);
        self.arrows(exits, bar);
        vec![Exit::new(bar, "", Rule::Reached)]
    }

    fn arrows(&mut self, exits: Vec<Exit>, target: usize) {
        for exit in exits {
            self.arrow(exit, target);
        }
    }

    fn arrow(&mut self, exit: Exit, target: usize) {
        let taken = self.was_taken(&exit, target);
        self.picture.edges.push(Edge { source: exit.item, target, label: exit.label, taken });
    }

    fn node(&self, item: usize) -> Option<&Node> {
        self.node_of[item].map(|ix| &self.program.nodes[ix])
    }

    fn was_taken(&self, exit: &Exit, target: usize) -> Option<bool> {
        let progress = self.progress?;
        let node = |item: usize| self.node_of[item].map(|ix| NodeIx(ix as u32));
        let begun = |item: usize| node(item).map_or(0, |node| progress.begun(node));
        let source_ended = node(exit.item).is_none_or(|source| progress.has_ended(source));
        let reached = match node(target) {
            Some(target) => progress.begun(target) > 0,
            None => source_ended,
        };
        Some(match &exit.rule {
            Rule::Reached => reached,
            Rule::After => reached && source_ended,
            Rule::Outcome(outcome) => {
                reached && node(exit.item).is_none_or(|source| progress.had_outcome(source, outcome))
            }
            Rule::PastAll(others) => {
                reached && source_ended && begun(exit.item) > others.iter().map(|other| begun(*other)).sum()
            }
        })
    }
}
