//! Tasks that exclude those who answered another activity. That activity must exist, or the task would exclude no one.

use super::json::{Activities, Path};
use super::outline::Outline;
use super::problem::Problems;
use workflow_core::activity::Excluded;
use workflow_core::program::{Node, Program};
use workflow_value::spelling::nearest;

/// Whether the tasks of an activity exclude anybody. An invalid value excludes everybody.
pub(super) fn excludes(node: &Node) -> bool {
    !node.activity.excluded(&node.inputs).is_ok_and(|excluded| excluded.is_empty())
}

/// Reports activities of new content that are named there and open no task. The used workflows are part of the program.
pub(super) fn check(program: &Program, outline: &Outline<'_>, problems: &mut Problems) {
    if !problems.is_new() || !program.excludes_people {
        return;
    }
    let opens = |node: &&Node| node.activity.descriptor().opens_tasks();
    let ids = || program.nodes.iter().filter(opens).map(|node| node.id.as_str());
    for (ix, node) in program.nodes.iter().enumerate().take(outline.activities.len()) {
        for excluded in node.activity.excluded(&node.inputs).unwrap_or_default() {
            let Excluded::Answered(id) = excluded else { continue };
            if !ids().any(|known| known == id) {
                let pointer = outline.pointer(ix);
                let message = format!("no activity \"{id}\" opens a task");
                problems.unknown(&Path::Below(&Path::Root, &pointer).key("not"), message, nearest(&id, ids()));
            }
        }
    }
}
