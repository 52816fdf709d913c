//! Migration of a world's instance, as the shell does it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::bookmark::Bookmark;
use workflow_engine::execution::{self, sequence_of};
use workflow_engine::instance::codec::{decode_state, encode_state};
use workflow_engine::instance::compensation::{Record, decode_kept, encode_kept};
use workflow_engine::migration::{Migration, Moved, Problem, Timers, Waits, is_refused, read_mapping};
use workflow_engine::stimulus::{RETRY, START_TIMEOUT};

use super::{World, program};

impl World {
    /// Migrates the instance from one definition to another.
    ///
    /// # Errors
    /// The problems, if one of them is an error. Then the instance is unchanged.
    pub fn migrate(
        &mut self,
        (old, new): (&Value, &Value),
        mapping: &Value,
        timers: Timers,
    ) -> Result<Vec<Problem>, Vec<Problem>> {
        let mapping = read_mapping(mapping).expect("a mapping");
        let programs = [old, new].map(|definition| Arc::new(program(definition.clone())));
        let [old, new] = programs;
        let migration = Migration::new(old, new.clone(), 2, &mapping, timers, &mut || {});
        let before = (encode_state(&self.instance.state), self.instance.variables.clone());
        let cancelled = migration.cancelled(&self.instance);
        let (mut moved, mut problems, mut records) = self.moved_by(&migration);
        if is_refused(&problems) || !cancelled.is_empty() {
            self.instance.state = decode_state(&before.0).expect("a readable state");
            (self.instance.variables, self.instance.version) = (before.1, 1);
        }
        if is_refused(&problems) {
            return Err(problems);
        }
        if !cancelled.is_empty() {
            let after = std::mem::take(&mut moved.after);
            let (instance, host) = (&mut self.instance, &mut self.host);
            let delta = execution::cancel_executions(&self.program, instance, &cancelled, host, &self.limits);
            self.put(delta.expect("the burst ends"), None);
            assert_eq!(migration.cancelled(&self.instance), [0; 0], "all of it is cancelled");
            (moved, problems, records) = self.moved_by(&migration);
            assert!(!is_refused(&problems), "{problems:?}");
            moved.after.add_cancelled(after);
        }
        self.host.records = records.into_iter().map(|one| (one.number, (one.holder, encode_kept(&one.kept)))).collect();
        self.is_whole_trail = false;
        self.program = Arc::into_inner({
            drop(migration);
            new
        })
        .expect("the only one");
        for (number, ix) in &moved.renamed {
            let (id, node) = (execution::activity_instance_id(self.instance.id, *number), self.program.node(*ix));
            for bookmark in self.bookmarks.iter_mut().filter(|bookmark| bookmark.activity_instance_id == id) {
                (bookmark.activity_id, bookmark.node_id) = (node.id.clone(), node.node_id.clone());
            }
        }
        self.reload();
        if !moved.after.is_empty() {
            let (instance, host) = (&mut self.instance, &mut self.host);
            let delta = execution::continue_migrated(&self.program, instance, &moved.after, host, &self.limits);
            self.put(delta.expect("the burst ends"), None);
        }
        self.check();
        Ok(problems)
    }

    fn moved_by(&mut self, migration: &Migration) -> (Moved, Vec<Problem>, Vec<Record>) {
        let read = |(number, (holder, kept)): (&u32, &(u32, Vec<u8>))| Record {
            number: *number,
            holder: *holder,
            kept: decode_kept(kept).expect("readable"),
        };
        let mut records: Vec<Record> = self.host.records.iter().map(read).collect();
        let of = |bookmark: &Bookmark| sequence_of(self.instance.id, bookmark.activity_instance_id);
        let waiting = |name: &str| -> BTreeMap<u32, Uuid> {
            let waits = self.bookmarks.iter().filter(|bookmark| bookmark.name == name);
            waits.filter_map(|bookmark| Some((of(bookmark)?, bookmark.id))).collect()
        };
        let waits = Waits { retries: waiting(RETRY).into_keys().collect(), claims: waiting(START_TIMEOUT) };
        assert!(waits.retries.is_empty() || Migration::may_wait_for_retry(&self.instance));
        assert!(waits.claims.is_empty() || migration.may_wait_for_claim(&self.instance));
        let (moved, problems) = migration.migrate(&mut self.instance, &mut records, &waits, &mut || {});
        (moved, problems, records)
    }
}
