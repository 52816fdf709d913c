//! What the gateway counts itself: the requests that it has answered.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

/// The numbers of this process since its start.
#[derive(Debug, Default)]
pub struct Traffic {
    requests: Family<Answered, Counter>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    listener: &'static str,
    status: &'static str,
}

/// A listener whose requests are counted.
#[derive(Clone)]
pub struct Counted {
    /// Its name.
    pub listener: &'static str,
    /// Where they are counted.
    pub traffic: Arc<Traffic>,
}

impl Traffic {
    /// Adds the numbers to those that are shown.
    pub fn register(&self, registry: &mut Registry) {
        let help = "Requests that the gateway has answered since its start";
        registry.register("wf_requests", help, self.requests.clone());
    }
}

/// Counts a request by the class of its status.
pub async fn count(State(counted): State<Counted>, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    let status = match response.status().as_u16() / 100 {
        1 => "1xx",
        2 => "2xx",
        3 => "3xx",
        4 => "4xx",
        _ => "5xx",
    };
    counted.traffic.requests.get_or_create(&Answered { listener: counted.listener, status }).inc();
    response
}
