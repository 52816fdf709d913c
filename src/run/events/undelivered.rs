//! Telling a caller that its stimulus reached nothing: a misspelled name looks like a stimulus that comes too early.

use serde_json::Value;
use workflow_engine::spelling::nearest;
use workflow_engine::stimulus::EVENT;

use crate::access;
use crate::access::event_consent::EventConsent;
use crate::pg::error::notice;
use crate::pg::{PgError, process, role, session};
use crate::run::BACKEND;
use crate::run::call::running;
use crate::run::events::stimuli::{Delivery, KeepUntil, Stimulus};
use crate::store::events::matching::Correlation;
use crate::store::events::undelivered;
use crate::store::rights::owners;

/// What a call sent.
#[derive(Debug)]
pub struct SentEvent {
    what: String,
    /// The name of the event, if it is one.
    event: Option<String>,
    correlation_id: Option<String>,
    may_start: bool,
}

impl SentEvent {
    /// A stimulus, in the words of the call.
    pub fn new(stimulus: &Stimulus, may_start: bool) -> Self {
        let filter = &stimulus.filter;
        let event = stimulus.payload.as_ref().and_then(|payload| payload.get("EventName")).and_then(Value::as_str);
        let mut what = match (filter.name.as_deref(), event, &filter.activity_id) {
            (Some(name), Some(event), _) if name == EVENT.name => format!("event \"{event}\""),
            (Some(name), _, _) => format!("stimulus \"{name}\""),
            (None, _, Some(activity)) => format!("stimulus for activity \"{activity}\""),
            (None, _, None) => "stimulus".to_owned(),
        };
        match &filter.correlation {
            Correlation::Is(id) => what = format!("{what} with correlation id \"{id}\""),
            Correlation::Without => what.push_str(" without correlation id"),
            Correlation::Any => {}
        }
        let event = event.filter(|_| filter.name.as_deref() == Some(EVENT.name)).map(str::to_owned);
        let correlation_id = match &filter.correlation {
            Correlation::Is(id) => Some(id.clone()),
            Correlation::Without | Correlation::Any => None,
        };
        Self { what, event, correlation_id, may_start }
    }

    /// Sends a NOTICE if the stimulus reached nothing, at most one for each statement of the client, because a row
    /// trigger may send a stimulus for each row. A worker sends none, because no client sees its notices. A call inside
    /// a burst sends none, because its instance may get the stimulus when the burst has ended. A call that chose to
    /// keep the stimulus sends none, because it expects that the stimulus may come too early; `default_keep`: it chose
    /// no keep time.
    pub fn notice_if_undelivered(&self, delivery: &Delivery, keep: KeepUntil, default_keep: bool) {
        let is_kept = keep.is_some();
        if !delivery.is_unheard || is_kept && !default_keep || running::any() || process::connected_as().is_some() {
            return;
        }
        let statement = session::statement_start();
        if BACKEND.told_of_stimulus_at.replace(statement) == statement {
            return;
        }
        let reached =
            if self.may_start { "started and resumed no workflow instance" } else { "resumed no workflow instance" };
        let told = PgError::new("00000", format!("{} {reached}", self.what));
        let kept = match is_kept {
            true => {
                let ttl = session::setting(c"workflow.queue_ttl");
                format!("It waits in the queue for a matching bookmark, for {ttl} at most (workflow.queue_ttl).")
            }
            false => "It is not kept.".to_owned(),
        };
        let kept = match self.ended() {
            Some(ended) => format!("{ended} {kept}"),
            None => kept,
        };
        let suggestion = self.suggestion();
        notice(if delivery.withheld > 0 {
            // Do not name the roles: a role that listens for a name could have itself advertised to all publishers of
            // it.
            told.detail(format!(
                "It was withheld from matching triggers and bookmarks: \
                 their owners may not hear the current role. {kept}"
            ))
            .hint("wf_grant_events lets the workflows of a role hear what another role publishes.")
        } else if let Some(suggestion) = suggestion {
            told.detail(kept).hint(suggestion)
        } else if is_kept {
            told.detail(kept)
        } else {
            told.detail(kept).hint("With keep_for it waits in the queue for a matching bookmark.")
        });
    }
}

impl SentEvent {
    /// What became of the last instance with the correlation id, if it has ended and the caller may read it: the
    /// stimulus comes too late.
    fn ended(&self) -> Option<String> {
        let (id, status) = undelivered::last_ended(self.correlation_id.as_deref()?)?;
        let may_read = access::instance::may_see(role::current(), id).unwrap_or(false);
        may_read.then(|| format!("Workflow instance {id}, the last one with this correlation id, is {status}."))
    }

    /// The name of an event for which workflows of the caller wait, and that differs little from this one.
    fn suggestion(&self) -> Option<String> {
        let event = self.event.as_deref()?;
        let sender = owners::known_id_of(role::current()).map(owners::by_id)?;
        let reach = EventConsent::of(&sender, false).reach_of_bookmarks();
        let known = undelivered::events_of(role::current(), &[reach.open, reach.granting].concat());
        let near = nearest(event, known.iter().map(String::as_str).filter(|known| *known != event))?;
        Some(format!("Did you mean event \"{near}\"?"))
    }
}
