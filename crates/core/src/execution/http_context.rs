//! The HTTP request that a burst serves, and its response.

use std::rc::Rc;

use serde_json::{Value, json};

use crate::execution::Execution;
use crate::execution::undo::Undo;
use crate::host::WaitingRequest;
use crate::journal::{EventKind, LATE_RESPONSE};
use workflow_http::http::{Request, Response};
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

    /// Writes the response. If the request no longer waits for it, the journal gets a note instead.
    ///
    /// # Errors
    /// 55000 if there is no request, or an activity has written the response already.
    pub fn respond(&mut self, response: Response) -> Result<(), Fault> {
        let waiting = if self.request().is_some() { WaitingRequest::Open } else { self.burst.host.waiting_request() };
        match waiting {
            WaitingRequest::Open => {}
            WaitingRequest::Over => {
                self.journal(EventKind::Note, Some(json!({ LATE_RESPONSE: response.status })));
                return Ok(());
            }
            WaitingRequest::None => {
                return Err(Fault::new("55000", "there is no HTTP request to respond to")
                    .detail("A request of wf_http_request has its response when the workflow waits for something else.")
                    .hint("Write the response before, wait at an HttpEndpoint for another request, or let a server pass requests on with wf_begin_http_request."));
            }
        }
        let slot = &mut self.burst.scratch.delta.response;
        if slot.is_some() {
            return Err(Fault::new("55000", "the response to the HTTP request was already written"));
        }
        *slot = Some(response);
        self.burst.scratch.undo.push(Undo::Responded);
        Ok(())
    }

    /// Rejects the request with this response; the extension discards the burst.
    pub fn refuse(&mut self, response: Response) {
        self.burst.scratch.delta.refusal = Some(response);
    }
}
