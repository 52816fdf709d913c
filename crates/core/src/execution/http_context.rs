//! The HTTP request that a burst serves, and its response.

use std::rc::Rc;

use serde_json::{Value, json};
use uuid::Uuid;

use crate::execution::Execution;
use crate::execution::burst::Burst;
use crate::execution::undo::Undo;
use crate::host::WaitingRequest;
use crate::instance::{Context, State};
use crate::journal::{EventKind, LATE_RESPONSE};
use crate::program::Program;
use workflow_http::http::{Request, Response};
use workflow_http::stimulus::HTTP_ENDPOINT;
use workflow_value::fault::Fault;

impl Execution<'_> {
    /// The HTTP request that this burst serves, if any.
    pub fn request(&self) -> Option<Rc<Request>> {
        self.burst.host.request()
    }

    /// Checks that the definition's owner may have an endpoint with this payload.
    ///
    /// # Errors
    /// 42501 if its path belongs to another owner.
    pub fn claim_endpoint(&mut self, payload: &Value) -> Result<(), Fault> {
        self.burst.host.claim_endpoint(payload)
    }

    /// Receives the request: what follows this execution responds to it. A fault does not undo that, because what
    /// handles it responds to the same request. What the request has started belongs to it as well, in whatever branch.
    pub fn receive_request(&mut self) {
        let sequence = self.sequence;
        self.burst.scratch.delta.received_by = Some(self.burst.id_of(sequence));
        let is_trigger = self.is_trigger();
        for (number, context) in &mut self.burst.instance.state.contexts {
            if *number == sequence || is_trigger && context.request.is_none() {
                context.request = Some(sequence);
            }
        }
    }

    /// Writes the response to the last request that was received on the path to this execution, or else to the one that
    /// this burst serves. If that request no longer waits for it, the journal gets a note instead.
    ///
    /// # Errors
    /// 55000 if there is no request, or an activity has written the response already.
    pub fn respond(&mut self, response: Response) -> Result<(), Fault> {
        let received_by = self.burst.context(self.sequence).and_then(|context| context.request);
        let received_by = received_by.map(|sequence| self.burst.id_of(sequence));
        let is_serving = self.request().is_some();
        if is_serving && (received_by.is_none() || received_by == self.burst.scratch.delta.received_by) {
            return self.respond_now(response);
        }
        match self.burst.host.waiting_request(received_by) {
            WaitingRequest::Open => self.respond_later(received_by, response),
            WaitingRequest::None if is_serving => self.respond_now(response),
            WaitingRequest::Over => {
                self.journal(EventKind::Note, Some(json!({ LATE_RESPONSE: response.status })));
                Ok(())
            }
            WaitingRequest::None => Err(Fault::new("55000", "there is no HTTP request to respond to")
                .detail("A request of wf_http_request has its response when the workflow waits for something else.")
                .hint("Write the response before, wait at an HttpEndpoint for another request, or let a server pass requests on with wf_begin_http_request.")),
        }
    }

    /// Responds to the request that this burst serves.
    fn respond_now(&mut self, response: Response) -> Result<(), Fault> {
        let slot = &mut self.burst.scratch.delta.response;
        if slot.is_some() {
            return Err(has_response());
        }
        *slot = Some(response);
        self.burst.scratch.undo.push(Undo::Responded);
        Ok(())
    }

    /// Responds to a request that an earlier burst has served.
    fn respond_later(&mut self, received_by: Option<Uuid>, response: Response) -> Result<(), Fault> {
        let Some(received_by) = received_by else { return Ok(()) };
        let responses = &mut self.burst.scratch.delta.responses;
        if responses.iter().any(|(of, _)| *of == received_by) {
            return Err(has_response());
        }
        responses.push((received_by, response));
        self.burst.scratch.undo.push(Undo::RespondedLater);
        Ok(())
    }

    /// Rejects the request with this response; the extension discards the burst.
    pub fn refuse(&mut self, response: Response) {
        self.burst.scratch.delta.refusal = Some(response);
    }
}

fn has_response() -> Fault {
    Fault::new("55000", "the response to the HTTP request was already written")
}

impl Burst<'_> {
    /// The request of a child that is scheduled now because another child has ended: that of the other one, whose branch
    /// may have none; at a join, the last one that any of its branches has received. `None`: there is no such child, so
    /// it is that of the parent when the new child begins. Bodies of a parallel loop have nothing to do with each other's
    /// requests.
    pub(super) fn request_for(&self, parent: u32, is_join: bool) -> Option<Option<u32>> {
        let cause = self.scratch.cause.as_ref().filter(|cause| cause.parent == parent)?;
        let context = self.context(parent).filter(|context| !self.program.node(context.node).runs_bodies_beside())?;
        Some(cause.request.or_else(|| context.request.filter(|_| is_join)))
    }

    /// Makes the request of a child that has ended the last one that its parent knows of.
    pub(super) fn hand_on_request(&mut self, to: u32, request: Option<u32>) {
        if let (Some(_), Some(context)) = (request, self.instance.state.contexts.get_mut(&to)) {
            context.request = request;
        }
    }
}

impl State {
    /// Whether a request was received on the path to an open execution.
    pub fn has_requests(&self) -> bool {
        self.contexts.values().any(|context| context.request.is_some())
    }

    /// The requests to which the instance may respond without a further one: on their paths it waits for something else
    /// than an endpoint or a timeout. By the numbers of the executions that received them, in order.
    pub fn open_requests(&self, program: &Program) -> Vec<u32> {
        let leads_on =
            |context: &&Context| context.waits() > 0 && program.node(context.node).type_name != HTTP_ENDPOINT.name;
        let with_request = self.contexts.values().filter(|context| context.request.is_some());
        let mut found: Vec<u32> = with_request.filter(leads_on).filter_map(|context| context.request).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}
