//! Requests that are sent together if they arrive at the same time, or while earlier ones are on their way. So a busy
//! worker needs few statements, and a single request waits for nothing.
//!
//! A statement costs as much as dozens of requests in it. So usually one group is on its way at a time, and further
//! ones are sent only past a group that takes long.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// Requests are sent together up to this total of weights, in bytes.
const MAX_WEIGHT: usize = 1 << 20;
/// How long a request waits for the group on its way, before another group may be sent beside it.
const PATIENCE: Duration = Duration::from_millis(10);

/// A request that waits for its outcome.
struct Waiting<Request, Outcome> {
    request: Request,
    weight: usize,
    sender: oneshot::Sender<Outcome>,
}

/// Groups requests, and sends the groups.
pub(crate) struct Batches<Request, Outcome> {
    waiting: Mutex<VecDeque<Waiting<Request, Outcome>>>,
    /// The maximum number of requests in a group.
    max: usize,
    /// Permits the one group that usually is on its way.
    first: Arc<Semaphore>,
    /// Permits the groups that may be on their way besides.
    others: Arc<Semaphore>,
}

impl<Request: Send + 'static, Outcome: Send + 'static> Batches<Request, Outcome> {
    /// Groups of up to `max` requests, of which up to `senders` are on their way at the same time.
    pub fn new(max: usize, senders: usize) -> Self {
        let (first, others) = (Semaphore::new(1), Semaphore::new(senders.saturating_sub(1)));
        Self { waiting: Mutex::default(), max, first: Arc::new(first), others: Arc::new(others) }
    }

    /// Sends a request in a group, by a function that returns the outcomes in the order of its requests. `None` if the
    /// function has panicked. `weight` is roughly the size of the request.
    ///
    /// A group that is on its way is sent whole, also if a caller no longer waits.
    pub async fn submit<Sent>(
        &self,
        request: Request,
        weight: usize,
        send: impl Fn(Vec<Request>) -> Sent,
    ) -> Option<Outcome>
    where
        Sent: Future<Output = Vec<Outcome>> + Send + 'static,
    {
        let (sender, mut outcome) = oneshot::channel();
        self.lock().push_back(Waiting { request, weight, sender });
        loop {
            let sending = tokio::select! {
                biased;
                outcome = &mut outcome => return outcome.ok(),
                // In a box, so that a task whose handler runs needs less memory.
                permit = Box::pin(self.turn()) => permit?,
            };
            // The others whose turn it is at this moment join.
            tokio::task::yield_now().await;
            let (requests, senders): (Vec<_>, Vec<_>) = self.take().into_iter().unzip();
            if requests.is_empty() {
                // It is on its way.
                drop(sending);
                return outcome.await.ok();
            }
            let sent = send(requests);
            tokio::spawn(async move {
                let outcomes = sent.await;
                drop(sending);
                for (sender, outcome) in senders.into_iter().zip(outcomes) {
                    // The caller may no longer wait.
                    let _ = sender.send(outcome);
                }
            });
        }
    }

    /// Waits until a group may be sent.
    async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        let beside = async {
            tokio::time::sleep(PATIENCE).await;
            Arc::clone(&self.others).acquire_owned().await
        };
        tokio::select! {
            biased;
            permit = Arc::clone(&self.first).acquire_owned() => permit.ok(),
            permit = beside => permit.ok(),
        }
    }

    /// The next group.
    fn take(&self) -> Vec<(Request, oneshot::Sender<Outcome>)> {
        let mut waiting = self.lock();
        let (mut group, mut total) = (Vec::new(), 0);
        while let Some(next) = waiting.pop_front_if(|next| {
            group.is_empty() || (group.len() < self.max && next.weight.saturating_add(total) <= MAX_WEIGHT)
        }) {
            if !next.sender.is_closed() {
                total += next.weight;
                group.push((next.request, next.sender));
            }
        }
        group
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Waiting<Request, Outcome>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Groups = Arc<Mutex<Vec<Vec<usize>>>>;

    /// A function that takes a second for each group, and doubles its numbers.
    fn doubling(groups: &Groups) -> impl Fn(Vec<usize>) -> futures::Doubled + Clone + use<> {
        let groups = Arc::clone(groups);
        move |numbers| {
            groups.lock().unwrap().push(numbers.clone());
            Box::pin(async move {
                tokio::time::sleep(Duration::from_secs(1)).await;
                numbers.into_iter().map(|number| 2 * number).collect()
            })
        }
    }

    mod futures {
        pub type Doubled = std::pin::Pin<Box<dyn Future<Output = Vec<usize>> + Send>>;
    }

    async fn submit_all(batches: &Arc<Batches<usize, usize>>, groups: &Groups, numbers: &[usize], weight: usize) {
        let mut submitted = tokio::task::JoinSet::new();
        for number in numbers.iter().copied() {
            let (batches, send) = (Arc::clone(batches), doubling(groups));
            submitted.spawn(async move { assert_eq!(batches.submit(number, weight, send).await, Some(2 * number)) });
        }
        submitted.join_all().await;
    }

    #[tokio::test(start_paused = true)]
    async fn requests_of_the_same_moment_go_together() {
        let (groups, batches) = (Groups::default(), Arc::new(Batches::new(100, 1)));
        submit_all(&batches, &groups, &(0..250).collect::<Vec<_>>(), 1).await;
        let sizes: Vec<_> = groups.lock().unwrap().iter().map(Vec::len).collect();
        assert_eq!(sizes, [100, 100, 50]);
        submit_all(&batches, &groups, &[7], 1).await;
        assert_eq!(groups.lock().unwrap().last(), Some(&vec![7]));
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_group_does_not_hold_up_the_others() {
        let (groups, batches) = (Groups::default(), Arc::new(Batches::new(2, 3)));
        let begun = tokio::time::Instant::now();
        submit_all(&batches, &groups, &[1, 2, 3, 4, 5, 6, 7, 8], 1).await;
        assert_eq!(groups.lock().unwrap().len(), 4);
        let passed = begun.elapsed();
        assert!(passed < Duration::from_secs(2) + 4 * PATIENCE, "three at once, and a fourth: {passed:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn large_requests_go_alone() {
        let (groups, batches) = (Groups::default(), Arc::new(Batches::new(100, 1)));
        submit_all(&batches, &groups, &[1, 2, 3], MAX_WEIGHT).await;
        assert_eq!(groups.lock().unwrap().iter().map(Vec::len).max(), Some(1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_group_that_is_on_its_way_is_sent_whole() {
        let (groups, batches) = (Groups::default(), Arc::new(Batches::new(100, 1)));
        let first = {
            let (batches, send) = (Arc::clone(&batches), doubling(&groups));
            tokio::spawn(async move { batches.submit(1, 1, send).await })
        };
        let second = {
            let (batches, send) = (Arc::clone(&batches), doubling(&groups));
            tokio::spawn(async move { batches.submit(2, 1, send).await })
        };
        while groups.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        first.abort();
        assert_eq!(second.await.unwrap(), Some(4));
        assert_eq!(*groups.lock().unwrap(), [[1, 2]]);
    }
}
