//! The HTTP request that a burst serves, and its response.

use std::rc::Rc;

use serde_json::Value;

use crate::execution::Execution;
use crate::execution::undo::Undo;
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

    /// Writes the response.
    ///
    /// # Errors
    /// 55000 if this burst serves no request, or an activity has written the response already.
    pub fn respond(&mut self, response: Response) -> Result<(), Fault> {
        if self.request().is_none() {
            return Err(Fault::new("55000", "there is no HTTP request to respond to")
                .detail("A response can be written until the workflow waits for something else.")
                .hint("Write the response before, or wait at an HttpEndpoint for another request."));
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
