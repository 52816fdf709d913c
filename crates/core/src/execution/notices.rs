//! Notices of tasks. A burst collects them and sends them at its end, so a task that it closes again causes none.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::activity::Excluded;
use crate::execution::context::Execution;
use crate::execution::runner::Runner;
use crate::execution::{NewTask, RaisedTasks};
use crate::notification::{self, Notice, OpenTask, Reason};

impl Execution<'_> {
    /// Notifies people of a task of this execution, if its author wants that.
    pub fn notify(&mut self, task: Uuid, reason: Reason) {
        if self.node.notify.is_some() {
            self.burst.scratch.notices.push((self.sequence, Notice { task, reason, event: None }));
        }
    }

    /// Publishes an event about a task of this execution whose deadline has passed.
    pub fn publish_due(&mut self, task: Uuid, event: String) {
        self.burst.scratch.notices.push((self.sequence, Notice { task, reason: Reason::Due, event: Some(event) }));
    }

    /// An open task of this instance that was opened before this burst.
    pub fn open_task(&mut self, task: Uuid) -> Option<OpenTask> {
        self.burst.host.open_task(task)
    }

    /// The manager of a person by the directory, in the form of an assignee whom a task with these exclusions can have.
    ///
    /// # Errors
    /// Why the directory cannot tell.
    pub fn manager_of(&mut self, person: &str, excluded: &[Excluded]) -> Result<Option<String>, String> {
        self.burst.host.manager_of(person, excluded)
    }

    /// Raises the priority of open tasks that were opened before this burst.
    pub fn raise_tasks(&mut self, tasks: Vec<Uuid>, priority: i32) {
        if !tasks.is_empty() {
            self.burst.scratch.delta.raised_tasks.push(RaisedTasks { tasks, priority });
        }
    }
}

impl Runner<'_> {
    /// Sends the notices about tasks that are open at the end of the burst. `opened` are those that it has opened.
    pub(super) fn send_notices(&mut self, opened: &[NewTask]) {
        let opened: BTreeMap<Uuid, &NewTask> = opened.iter().map(|task| (task.bookmark_id, task)).collect();
        for (sequence, notice) in std::mem::take(&mut self.burst.scratch.notices) {
            let Some(context) = self.burst.context(sequence) else { continue };
            let (program, node) = (self.burst.program, self.burst.program.node(context.node));
            let task = match notice.reason {
                Reason::Opened | Reason::Escalated => opened.get(&notice.task).map(|task| OpenTask::of(task)),
                Reason::Assigned | Reason::Reminded | Reason::Due => self.burst.host.open_task(notice.task),
            };
            // A task without assignee and candidates is for task workers. An operator may assign it to a person later.
            let Some(task) = task.filter(|task| notice.event.is_some() || task.is_for_people()) else { continue };
            let sent = notification::send(program, self.burst.instance, node, &notice, &task, self.burst.host);
            for (kind, data) in sent.events {
                self.burst.event(kind, sequence, node, Some(data));
            }
            sent.warnings.iter().for_each(|warning| self.burst.host.warn(warning));
            self.burst.scratch.delta.children.extend(sent.child);
            self.burst.scratch.delta.stimuli.extend(sent.stimulus);
        }
    }
}
