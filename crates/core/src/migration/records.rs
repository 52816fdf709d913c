//! Compensation records: the effects of an activity are undone by the handlers of the new version.

use crate::instance::compensation::{Record, RecordAction, Unwinding};
use crate::migration::{Migration, Problem};
use crate::node_ix::NodeIx;

impl Migration {
    /// Migrates a record. Its handler sees the outputs of the activities that still exist.
    pub(super) fn migrate_record(&self, record: &mut Record, problems: &mut Vec<Problem>) {
        let old = record.kept.node;
        let Some(new) = self.recorded(old, problems) else { return };
        for action in [RecordAction::Compensate, RecordAction::Confirm, RecordAction::Cancel] {
            if self.old.node(old).handler(action).is_some() && self.new.node(new).handler(action).is_none() {
                let node = self.old.node(old);
                let what = match action {
                    RecordAction::Compensate => "compensated",
                    RecordAction::Confirm => "confirmed",
                    RecordAction::Cancel => "cancelled",
                };
                let message =
                    format!("nothing runs in version {} when what \"{}\" has done is {what}", self.version, node.id);
                problems.push(Problem::warning(&node.node_id, message));
            }
        }
        record.kept.node = new;
        let outputs = std::mem::take(&mut record.kept.outputs);
        let to = |ix: NodeIx| self.counterparts.of_same_type(&self.old, &self.new, ix);
        record.kept.outputs = outputs.into_iter().filter_map(|(ix, outputs)| Some((to(ix)?, outputs))).collect();
    }

    /// Migrates the memory of an execution that runs handlers.
    pub(super) fn migrate_unwinding(&self, unwinding: &mut Unwinding, problems: &mut Vec<Problem>) {
        if let Unwinding::Each { node: Some(node), .. } = unwinding
            && let Some(new) = self.recorded(*node, problems)
        {
            *node = new;
        }
    }

    /// The counterpart of an activity with something to compensate.
    fn recorded(&self, old: NodeIx, problems: &mut Vec<Problem>) -> Option<NodeIx> {
        let found = self.counterparts.of_same_type(&self.old, &self.new, old);
        if found.is_none() {
            let node = self.old.node(old);
            let message = format!(
                "\"{}\" has done what may have to be compensated, and version {} has no such activity",
                node.id, self.version
            );
            problems.push(Problem::error(&node.node_id, message));
        }
        found
    }
}
