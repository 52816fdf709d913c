//! State machines: the state is matched by its name, an open trigger or action by its transition.

use crate::activities::state_machine::{ACTION, ChildRole, ENTRY, EXIT, TRIGGER};
use crate::instance::Memory;
use crate::migration::Problem;
use crate::migration::executions::{Container, ExecutionMigration, OpenChild};
use crate::node_ix::NodeIx;
use crate::program::{Node, Part, STATES, TRANSITIONS};

impl ExecutionMigration<'_> {
    /// Converts the state of a machine. Returns new tags of its open children.
    pub(super) fn migrate_machine(&mut self, container: &Container<'_>, memory: &mut Memory) -> Vec<(u32, u32)> {
        let of = self.of;
        let (old, new) = (of.old.node(container.old), of.new.node(container.new));
        if *memory == Memory::None {
            return Vec::new();
        }
        let is_in = usize::try_from(memory.position()).ok().and_then(|at| old.part_list(STATES).get(at));
        let name = is_in.map_or("", |state| state.text(0));
        let Some(state) = new.part_list(STATES).iter().position(|state| state.text(0) == name) else {
            let message = format!("\"{}\" is in state \"{name}\", and version {} does not have it", old.id, of.version);
            self.problems.push(Problem::error(&old.node_id, message));
            return Vec::new();
        };
        memory.set_position(i64::try_from(state).unwrap_or(i64::MAX));
        for orphan in &self.moved.after.orphans {
            if orphan.parent == container.sequence {
                let message = format!("nothing would follow in state machine \"{}\" what is to be cancelled", old.id);
                self.problems.push(Problem::error(&old.node_id, message));
            }
        }
        self.warn_of_transitions(container, (old, new), name);
        let mut tags = Vec::new();
        for child in container.children {
            match self.tag(child, (old, new), state, name) {
                Some(tag) => tags.push((child.sequence, tag)),
                None => {
                    let node = of.old.node(child.old);
                    let message = format!(
                        "activity \"{}\" is open in state \"{name}\", and has another place inside \"{}\" in version {}",
                        node.id, new.id, of.version
                    );
                    self.problems.push(Problem::error(&node.node_id, message));
                }
            }
        }
        tags
    }

    /// The tag of an open child in the new version, if it has the same role there.
    fn tag(&self, child: &OpenChild, (old, new): (&Node, &Node), state: usize, name: &str) -> Option<u32> {
        let of_state = |port: usize| new.part_list(STATES).get(state)?.port(port);
        let leaving = |port: usize| {
            let transitions = new.part_list(TRANSITIONS);
            let at = transitions.iter().position(|one| one.port(port) == Some(child.new) && one.text(0) == name)?;
            u32::try_from(at).ok()
        };
        Some(match ChildRole::of(child.tag) {
            ChildRole::Entry if of_state(ENTRY) == Some(child.new) => ChildRole::Entry.tag(),
            ChildRole::Trigger(_) => ChildRole::Trigger(leaving(TRIGGER)?).tag(),
            ChildRole::Action(_) => ChildRole::Action(leaving(ACTION)?).tag(),
            ChildRole::Exit(transition) if of_state(EXIT) == Some(child.new) => {
                ChildRole::Exit(self.transition(transition, (old, new))?).tag()
            }
            ChildRole::Entry | ChildRole::Exit(_) => return None,
        })
    }

    /// The counterpart of a transition: the one with the same trigger or action, otherwise the one with the same texts.
    fn transition(&self, transition: u32, (old, new): (&Node, &Node)) -> Option<u32> {
        let taken = old.part_list(TRANSITIONS).get(transition as usize)?;
        let port = |part: &Part, port: usize| part.port(port);
        let to = |ix: Option<NodeIx>| ix.and_then(|ix| self.of.counterparts.at(ix));
        let same = |one: &Part| match (to(port(taken, TRIGGER)), to(port(taken, ACTION))) {
            (Some(trigger), _) => port(one, TRIGGER) == Some(trigger),
            (None, Some(action)) => port(one, ACTION) == Some(action),
            (None, None) => one.texts == taken.texts,
        };
        let at = new.part_list(TRANSITIONS).iter().position(same)?;
        u32::try_from(at).ok()
    }

    /// Warns of transitions added to a state whose triggers already wait.
    fn warn_of_transitions(&mut self, container: &Container<'_>, (old, new): (&Node, &Node), state: &str) {
        let waits = container.children.iter().any(|child| matches!(ChildRole::of(child.tag), ChildRole::Trigger(_)));
        if !waits {
            return;
        }
        let known: Vec<NodeIx> = container.children.iter().map(|child| child.new).collect();
        let added =
            |one: &&Part| one.text(0) == state && one.port(TRIGGER).is_some_and(|trigger| !known.contains(&trigger));
        for transition in new.part_list(TRANSITIONS).iter().filter(added) {
            let message = format!(
                "the transition from \"{state}\" to \"{}\" of version {} waits only when the state is entered again",
                transition.text(1),
                self.of.version
            );
            self.problems.push(Problem::warning(&old.node_id, message));
        }
    }
}
