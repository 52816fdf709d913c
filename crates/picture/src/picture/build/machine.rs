//! State machines: a box for each state, an arrow for each transition. An arrow shows the activities of its transition,
//! a box those of its state.

use super::{Builder, MAX_TITLE, MAX_TOOLTIP};
use crate::picture::model::{Edge, Item, Shape};
use crate::picture::{Standing, naming, text};
use workflow_core::NodeIx;
use workflow_core::activity::FlowRole;
use workflow_core::program::{Machine, Node, Part, STATES, TRANSITIONS};

/// Maximum number of characters of an arrow's label, and of a condition in it.
const MAX_LABEL: usize = 60;
const MAX_CONDITION: usize = 30;

/// Position of a transition's name among its texts, and of its trigger and action among its ports; of the activities of
/// a state among its ports.
const NAME: usize = 2;
const TRIGGER: usize = 0;
const ACTION: usize = 1;
const ENTRY: usize = 0;
const EXIT: usize = 1;

impl Builder<'_> {
    /// Adds the states and transitions of a machine to its frame. Returns its initial state.
    pub(super) fn states(&mut self, ix: usize, machine: &Machine) -> Option<usize> {
        let node = &self.program.nodes[ix];
        let frame = self.inner[ix];
        let states = node.part_list(STATES);
        let first = self.picture.items.len();
        for (position, state) in (0u32..).zip(states) {
            let mut item = self.state(state, machine.outbound(position).is_empty());
            (item.frame, item.standing) = (frame, self.state_standing(ix, state.text(0)));
            self.add(item, None);
        }
        for (from, state) in (0u32..).zip(states) {
            for transition in machine.outbound(from) {
                let Some(part) = node.part_list(TRANSITIONS).get(*transition as usize) else { continue };
                let Some(to) = machine.target(*transition) else { continue };
                let taken = self.is_taken(ix, part, state.text(0), states[to as usize].text(0));
                let (source, target) = (first + from as usize, first + to as usize);
                self.picture.edges.push(Edge { source, target, label: self.label(part), taken });
            }
        }
        (!states.is_empty()).then_some(first + machine.initial() as usize)
    }

    fn state(&self, state: &Part, is_last: bool) -> Item {
        let told = |port: usize, what: &str| state.port(port).map(|child| format!("{what}: {}", self.line(child)));
        let (entry, exit) = (told(ENTRY, "entry"), told(EXIT, "exit"));
        let name = text::one_line(state.text(0), MAX_TITLE);
        let more: Vec<&str> = [&entry, &exit].into_iter().flatten().map(String::as_str).collect();
        let more = if more.is_empty() { String::new() } else { format!(" – {}", more.join("; ")) };
        Item {
            shape: if is_last { Shape::End } else { Shape::State },
            tooltip: text::one_line(&format!("{name} (state){more}"), MAX_TOOLTIP),
            title: name,
            kind: entry.unwrap_or_default(),
            ..Item::default()
        }
    }

    /// The label of a transition's arrow: `trigger [condition] / action`.
    fn label(&self, transition: &Part) -> String {
        let mut label = String::new();
        let trigger = transition.port(TRIGGER);
        if trigger.is_some_and(|trigger| self.program.node(trigger).can_start_workflow) {
            label.push_str("⚡ ");
        }
        match (transition.text(NAME), trigger) {
            ("", Some(trigger)) => label.push_str(&self.line(trigger)),
            (name, _) => label.push_str(name),
        }
        if let Some(condition) = &transition.condition {
            let told = naming::input_text(condition).unwrap_or_else(|| "if".to_owned());
            label.push_str(&format!(" [{}]", text::one_line(&told, MAX_CONDITION)));
        }
        if let Some(action) = transition.port(ACTION) {
            label.push_str(&format!(" / {}", self.line(action)));
        }
        text::one_line(label.trim_start(), MAX_LABEL)
    }

    /// A short description of an activity. A sequence without a title is described by its first activity.
    fn line(&self, mut child: NodeIx) -> String {
        loop {
            let node = self.program.node(child);
            let look = self.looks.get(child.0 as usize);
            if let Some(title) = naming::given_title(node, look) {
                return text::one_line(title, MAX_TITLE);
            }
            match node.children.first() {
                Some(first) if is_plain(node) => child = *first,
                _ => return naming::kind(node),
            }
        }
    }

    fn state_standing(&self, ix: usize, name: &str) -> Option<Standing> {
        let progress = self.progress?;
        let machine = NodeIx(ix as u32);
        let visits = progress.visits(machine, name);
        let came_by = if visits == 0 { Standing::Unreached } else { Standing::Ran(visits) };
        if progress.last_state(machine) != Some(name) {
            return Some(came_by);
        }
        Some(match progress.standing(machine) {
            Standing::Unreached | Standing::Ran(_) | Standing::Compensable | Standing::Compensated => came_by,
            Standing::Open | Standing::Waits | Standing::Paused => self.standing_inside(ix),
            ended => ended,
        })
    }

    /// The standing of the activities inside a machine's current state: a fault or a wait is more informative than
    /// `Open`.
    fn standing_inside(&self, machine: usize) -> Standing {
        let mut found = Standing::Open;
        let mut rest = self.children[machine].clone();
        while let (Some(child), Some(progress)) = (rest.pop(), self.progress) {
            rest.extend(&self.children[child.0 as usize]);
            match progress.standing(child) {
                Standing::Faulted => return Standing::Faulted,
                waits @ (Standing::Waits | Standing::Paused) => found = waits,
                Standing::Unreached
                | Standing::Open
                | Standing::Ran(_)
                | Standing::Compensable
                | Standing::Compensated
                | Standing::Cancelled => {}
            }
        }
        found
    }

    fn is_taken(&self, ix: usize, transition: &Part, from: &str, to: &str) -> Option<bool> {
        let progress = self.progress?;
        let moved = progress.has_moved(NodeIx(ix as u32), from, to);
        Some(moved && transition.port(TRIGGER).is_none_or(|trigger| progress.has_ended(trigger)))
    }
}

fn is_plain(node: &Node) -> bool {
    node.activity.descriptor().flow == FlowRole::Sequence
}
