//! Requests to endpoints that wait for the response of a workflow: a map entry each.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::response::Response;
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::failure::Failure;

type Sender = oneshot::Sender<Result<Response, Failure>>;

/// The requests that wait at this gateway.
pub struct Waiting {
    server: String,
    requests: Mutex<HashMap<Uuid, Sender>>,
}

/// A request that may wait. It does not any more when this is dropped, as when its client has gone.
pub struct Waiter {
    waiting: Arc<Waiting>,
    id: Uuid,
    receiver: oneshot::Receiver<Result<Response, Failure>>,
}

impl Waiting {
    /// None; under a name that no other process has.
    pub fn new() -> Arc<Self> {
        Arc::new(Self { server: format!("wf {}", Uuid::now_v7()), requests: Mutex::default() })
    }

    /// The name under which the database knows this gateway.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// A new request. It is registered before the database knows it, so no response can be too early.
    pub fn register(self: &Arc<Self>) -> Waiter {
        let (sender, receiver) = oneshot::channel();
        let id = Uuid::now_v7();
        self.lock().insert(id, sender);
        Waiter { waiting: Arc::clone(self), id, receiver }
    }

    /// Gives a request its response, if its client still waits.
    pub fn give(&self, id: Uuid, response: Result<Response, Failure>) {
        let sender = self.lock().remove(&id);
        if sender.is_none_or(|sender| sender.send(response).is_err()) {
            tracing::debug!(%id, "nobody waits for a response any more");
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Uuid, Sender>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiter {
    /// The id of the request.
    pub fn id(&self) -> Uuid {
        self.id
    }

    /// Waits for the response.
    pub async fn response(mut self) -> Result<Response, Failure> {
        (&mut self.receiver).await.unwrap_or_else(|_| Err(Failure::internal("a request is no longer known")))
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut requests = self.waiting.lock();
        requests.remove(&self.id);
        // A peak of requests leaves no memory behind.
        if requests.len() < requests.capacity() / 4 {
            requests.shrink_to_fit();
        }
    }
}
