//! The triggers that a stimulus matches.

use uuid::Uuid;
use workflow_engine::journal::Identity;

use crate::access::event_consent::{EventConsent, Verdict};
use crate::access::person;
use crate::compiled;
use crate::pg::PgError;
use crate::pg::error::{notice, warning};
use crate::run::CallContext;
use crate::run::call::isolated::{self, Isolated};
use crate::run::events::deliver::PublishedBy;
use crate::run::events::stimuli::{Delivery, Stimulus};
use crate::run::instances::start::{self, RunIn};
use crate::run::instances::version;
use crate::store::definitions::triggers::{self, TriggerRow};
use crate::store::instances;
use crate::store::nodes::route;

/// Starts the triggers that match. A failure of another owner's workflow is a WARNING, and does not stop the others.
pub(super) fn start_all(
    context: &mut CallContext,
    name: &str,
    stimulus: &Stimulus,
    publisher: Option<PublishedBy>,
    delivery: &mut Delivery,
) -> Result<(), PgError> {
    let mut consent = EventConsent::of(&stimulus.sender, stimulus.filter.names_target());
    // A notice has no correlation id, and so resumes any instance that waits for it. Where keys decide the node, what it
    // starts has the key of the instance whose task it is about.
    let is_notice = |publisher: &PublishedBy| publisher.is_notice && route::is_on();
    let key_of_publisher = publisher.filter(is_notice).and_then(|publisher| route::key_of(publisher.instance));
    let correlation_id = stimulus.filter.correlation.id().or(key_of_publisher.as_deref());
    let input = stimulus.input.as_ref();
    let (found, passed_over) = search(&mut consent, name, stimulus);
    // A stimulus without a correlation id reaches every node, and would start the triggers once on each.
    if correlation_id.is_none() && !found.is_empty() && route::is_on() {
        notice(
            PgError::new("00000", "a stimulus without a correlation id starts no workflow")
                .detail("The correlation id decides the node, as workflow.route_check is set."),
        );
        return Ok(());
    }
    delivery.withheld += withheld(&mut consent, passed_over)?;
    if found.is_empty() {
        return Ok(());
    }
    let by = sent_by(stimulus, publisher.map(|publisher| publisher.instance));
    for trigger in found {
        let compiled = compiled::of_version(trigger.definition_version_id)?;
        match consent.may_start(&compiled.row) {
            Verdict::Allowed => {}
            Verdict::Withheld => {
                delivery.withheld += 1;
                continue;
            }
            Verdict::Denied => continue,
        }
        let start = |context: &mut CallContext, run_in| {
            isolated::run_isolated(context, &compiled.row.owner, |context| {
                start::start_by_trigger(context, &trigger, input, correlation_id, run_in, &by)
            })
        };
        let started = match start(context, RunIn::ThisSession)? {
            Isolated::Short => start(context, RunIn::OwnersSession)?,
            other => other,
        };
        match started {
            Isolated::Done(id) => delivery.started.extend(id),
            Isolated::Short => {}
            Isolated::Failed(error) => warning(PgError {
                message: format!("trigger \"{}\" could not start: {}", trigger.activity_id, error.message),
                ..*error
            }),
        }
    }
    Ok(())
}

/// The triggers that a stimulus may start, and a few that it matches and that may not hear it.
fn search(consent: &mut EventConsent<'_>, name: &str, stimulus: &Stimulus) -> (Vec<TriggerRow>, Vec<TriggerRow>) {
    let (hash, reach) = (stimulus.filter.hashes.first(), consent.reach_of_triggers());
    (version::of_triggers(name, hash, &reach.open), triggers::few_matching(name, hash, &reach.granting))
}

/// How many of these triggers are withheld from the sender.
fn withheld(consent: &mut EventConsent<'_>, passed_over: Vec<TriggerRow>) -> Result<i32, PgError> {
    let mut count = 0;
    for trigger in passed_over {
        let verdict = consent.may_start(&compiled::of_version(trigger.definition_version_id)?.row);
        count += i32::from(verdict == Verdict::Withheld);
    }
    Ok(count)
}

/// Who is the starter of what a stimulus starts: its sender, or the starter of the instance that published it.
fn sent_by(stimulus: &Stimulus, publisher: Option<Uuid>) -> Identity {
    let of_publisher = || publisher.and_then(instances::get).map(|row| person::starter_of(&row));
    let by = stimulus.sent_by.clone().or_else(of_publisher);
    by.unwrap_or_else(|| Identity { role: stimulus.sender.id.unsigned_abs(), ..Identity::default() })
}
