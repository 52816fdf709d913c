//! The end of an explanation: what the instance waits for, what went wrong, and the call that continues it.

use std::collections::BTreeSet;

use serde_json::Value;
use uuid::Uuid;

use super::remarks::times;
use super::{Explanation, GivenUp, Lease, MAX_VALUE, OpenBookmark, OpenIncident, OpenRecords, members, value};
use crate::picture::text::one_line;
use workflow_core::execution::ForPeople;
use workflow_http::stimulus;

impl Explanation<'_> {
    pub(super) fn ending(&mut self, waits: &[OpenBookmark], open_incidents: &[OpenIncident]) {
        for open_incident in open_incidents {
            self.open_incident(open_incident);
        }
        let pause = self.pause.take();
        if !open_incidents.is_empty() && self.instance.has_faulted_activity() && pause.is_none() {
            self.repair(open_incidents);
        }
        if let Some(pause) = &pause {
            self.is_paused(pause);
        }
        for wait in waits {
            self.wait(wait, pause.is_some());
        }
        if self.is_ended() && !self.instance.output.is_empty() {
            self.add_line(format!("output: {}", members(&self.instance.output)));
        }
    }

    /// Adds the instance that this one continues.
    pub fn continues(&mut self, before: Uuid) {
        self.begin.push(format!("continues instance {before}"));
    }

    /// Adds the records that can be compensated or have to be cancelled.
    pub fn records(&mut self, records: &[OpenRecords]) {
        for open in records {
            let who = self.at(&open.node_id, &open.activity_id);
            let count = if open.count > 1 { format!(", {} times", open.count) } else { String::new() };
            self.add_line(match open.interrupted {
                true => format!("{who} was interrupted{count}: its cancellation is to run"),
                false => format!("{who} has completed{count}, and can be compensated"),
            });
        }
    }

    fn open_incident(&mut self, open_incident: &OpenIncident) {
        let who = self.at(&open_incident.node_id, &open_incident.activity_id);
        let message = one_line(&open_incident.message, MAX_VALUE);
        self.add_line(format!("{who} has faulted: {message} ({})", open_incident.sqlstate));
        let OpenIncident { code, detail, hint, .. } = open_incident;
        for (name, text) in [("code", code), ("detail", detail), ("hint", hint)] {
            if let Some(text) = text {
                self.add_line(format!("    {name}: {}", one_line(text, MAX_VALUE)));
            }
        }
    }

    /// Adds the calls that continue the instance. `wf_retry` would only raise the fault of a `Fault` again: a call to a
    /// service whose result it reports is repeated, any other `Fault` can be skipped.
    fn repair(&mut self, open_incidents: &[OpenIncident]) {
        let (id, mut calls, mut has_others) = (self.instance.id, BTreeSet::new(), false);
        for open_incident in open_incidents {
            let faulted = self.find_node(&open_incident.node_id, &open_incident.activity_id);
            let fault = faulted.map(|ix| self.program.node(ix)).filter(|node| node.is_fault());
            match fault.map(|fault| (fault, self.program.reported_call(fault))) {
                Some((_, Some(call))) => {
                    calls.insert(format!("SELECT * FROM wf_schedule_activity('{id}', {});", literal(&call.id)));
                }
                Some((fault, None)) => {
                    calls.insert(format!(
                        "wf_retry raises it again; to skip it: SELECT * FROM wf_cancel_activity('{id}', {});",
                        literal(&fault.id)
                    ));
                }
                None => has_others = true,
            }
        }
        for call in calls {
            self.add_line(format!("    {call}"));
        }
        if has_others {
            self.add_line(format!("    SELECT * FROM wf_retry('{id}');"));
        }
    }

    /// Adds the attempts of workers at a task. Returns whether a worker holds it.
    fn lease(&mut self, lease: &Lease) -> bool {
        if let Some(attempts) = self.attempts(lease) {
            self.add_line(format!("    {attempts}"));
        }
        if let Some(error) = &lease.last_error {
            self.add_line(format!("    last error: {}", one_line(error, MAX_VALUE)));
        }
        lease.until.is_some()
    }

    /// Adds the people who are to do a task, and its deadlines.
    fn for_people(&mut self, for_people: &ForPeople) {
        let mut known = Vec::new();
        if let Some(assignee) = &for_people.assignee {
            known.push(format!("assigned to {}", one_line(assignee, MAX_VALUE)));
        }
        if !for_people.candidates.is_empty() {
            known.push(format!("for {}", one_line(&for_people.candidates.join(", "), MAX_VALUE)));
        }
        if let Some(deadline) = for_people.deadline {
            known.push(format!("to be done until {}", self.time(deadline)));
        }
        if !known.is_empty() {
            self.add_line(format!("    {}", known.join(", ")));
        }
    }

    fn wait(&mut self, wait: &OpenBookmark, is_paused: bool) {
        let who = self.at(&wait.node_id, &wait.activity_id);
        if let Some(limit) = self.limit(wait) {
            return self.add_line(format!("{who} {limit}"));
        }
        if let Some(due) = wait.due.filter(|_| wait.name == stimulus::RUN_TIMEOUT) {
            return self.add_line(format!("the run may take until {}", self.time(due)));
        }
        let since = self.time(wait.since);
        if wait.name == stimulus::LIMIT {
            self.add_line(format!("it waits for its turn since {since}"));
            return self.add_line("    it begins when fewer instances of its definition run".to_owned());
        }
        let member = |name| wait.payload.as_ref().and_then(|payload| payload.get(name)).and_then(Value::as_str);
        let event = member("EventName").filter(|_| wait.name == stimulus::EVENT.name);
        let mut line = match (&wait.task, event) {
            (Some(task), _) => format!("{who} waits for task \"{}\" since {since}", one_line(task, MAX_VALUE)),
            (None, Some(event)) => format!("{who} waits for event \"{}\" since {since}", one_line(event, MAX_VALUE)),
            (None, None) if wait.name == stimulus::RETRY => format!("{who} waits for its next attempt since {since}"),
            (None, None) if wait.name == stimulus::ANSWER => {
                format!("{who} goes on with an answer of {since} in a session of the owner")
            }
            (None, None) => format!("{who} waits since {since}"),
        };
        if let Some(due) = wait.due {
            line = format!("{line}, due {}", self.time(due));
        }
        self.add_line(line);
        if let (Some(given_up), Some(GivenUp { dead_letter_id, .. })) = (self.given_up(wait), &wait.given_up) {
            self.add_line(format!("    {given_up}"));
            return self.add_line(format!("    SELECT wf_replay('{dead_letter_id}');"));
        }
        if wait.attempts > 0 {
            self.add_line(format!("    firing it failed without an outcome: {}", times(wait.attempts)));
        }
        if let Some(for_people) = &wait.for_people {
            self.for_people(for_people);
        }
        if let Some(lease) = wait.lease.as_ref().filter(|_| wait.name != stimulus::RETRY)
            && self.lease(lease)
        {
            return;
        }
        if is_paused {
            return;
        }
        let call = self.next_call(wait, event);
        self.add_line(format!("    {call}"));
    }

    /// Whether a service does a task, which is named after the type of its activity. Only a service knows its answer.
    fn is_of_service(&self, wait: &OpenBookmark, task: &str) -> bool {
        let node = self.find_node(&wait.node_id, &wait.activity_id).map(|ix| self.program.node(ix));
        node.is_some_and(|node| node.activity.descriptor().type_name == task)
    }

    /// Describes what resumes the instance at a bookmark, with the call for it.
    fn next_call(&self, wait: &OpenBookmark, event: Option<&str>) -> String {
        let (id, instance) = (wait.bookmark_id, self.instance.id);
        if stimulus::built_in(&wait.name).is_some_and(|known| known.is_of_child) {
            return format!(
                "its children go on: SELECT * FROM workflow.instance_list WHERE parent_instance_id = '{instance}';"
            );
        }
        match (&wait.task, event) {
            (Some(task), _) if self.is_of_service(wait, task) => {
                let attempts = wait.lease.as_ref().map_or(0, |lease| lease.attempt);
                match attempts {
                    0 => "a worker for services (wf work) continues it".to_owned(),
                    _ => format!(
                        "a worker for services (wf work) makes the next attempt; to make a new call at once: SELECT * FROM \
                         wf_schedule_activity('{instance}', {});",
                        literal(&wait.activity_id)
                    ),
                }
            }
            (Some(_), _) => {
                let answer = if self.program.asks_for_votes(&wait.node_id) { "true" } else { "{}" };
                format!("SELECT * FROM wf_complete_task('{id}', '{answer}');")
            }
            (None, Some(event)) => {
                format!("SELECT * FROM wf_publish_event({}, '{{}}', instance_id => '{instance}');", literal(event))
            }
            (None, None) if wait.due.is_some() => {
                format!("a worker or wf_run_due() goes on; before that: SELECT * FROM wf_resume('{id}');")
            }
            (None, None) => format!("SELECT * FROM wf_resume('{id}', '{{}}');"),
        }
    }
}

/// Names the instance that continues one that has ended.
pub(super) fn continued(data: Option<&Value>) -> String {
    let member = |name| data.and_then(|data| data.get(name)).map(value).unwrap_or_default();
    format!("goes on as {}, instance {}", member("definition_id"), member("instance_id"))
}

/// A text as a SQL literal.
fn literal(text: &str) -> String {
    let quoted = text.replace('\'', "''");
    if text.contains('\\') { format!("E'{}'", quoted.replace('\\', "\\\\")) } else { format!("'{quoted}'") }
}

#[cfg(test)]
mod tests {
    use super::literal;

    #[test]
    fn what_is_shown_can_be_copied() {
        assert_eq!(literal("it's"), "'it''s'");
        assert_eq!(literal("a\\b'"), "E'a\\\\b'''");
    }
}
