//! The behaviour of a worker, with tasks in memory in place of the database, and a clock that advances by itself.

use std::collections::{HashMap, HashSet, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore, oneshot, watch};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use super::Worker;
use super::answer::{Answer, TaskError};
use super::queue::{Claim, DatabaseQueue, TaskQueue};
use super::running::{Handler, Lease, Slot, Stage, process};
use super::serving::{Serving, Settings};
use super::task::Task;
use crate::client::Client;
use crate::error::{DatabaseError, Error};
use crate::options::ConnectOptions;
use crate::results::ClaimedTask;
use crate::statement::Json;

const LEASE: Duration = Duration::from_secs(60);

/// A call that the worker made for a task, by the task's number.
#[derive(Debug, Clone, PartialEq)]
enum Event {
    Extended(u128, Option<Value>),
    Completed(u128, Value),
    Failed(u128, TaskError),
    /// And the delay before the next claim.
    Released(u128, Option<Duration>),
    /// The handler was dropped.
    Dropped(u128),
}

#[derive(Default)]
struct Tasks {
    open: VecDeque<ClaimedTask>,
    events: Vec<Event>,
    /// How many tasks each claim asked for.
    asked: Vec<usize>,
    /// Tasks that another worker has taken.
    taken: HashSet<u128>,
    claim_errors: VecDeque<Error>,
    claim_hangs: bool,
    /// How long claims take.
    claim_time: Duration,
    wait_fails: bool,
    /// How often the worker waited for tasks.
    waits: usize,
    extend_fails: bool,
    rejects_progress: bool,
    complete_errors: VecDeque<Error>,
    /// How long answers take.
    complete_time: Duration,
    complete_panics: bool,
    fail_errors: VecDeque<Error>,
    release_errors: VecDeque<Error>,
    running: usize,
    most_running: usize,
}

#[derive(Clone, Default)]
struct MemoryQueue {
    tasks: Arc<Mutex<Tasks>>,
    changed: Arc<Notify>,
}

impl MemoryQueue {
    fn with(number: u128) -> Self {
        let queue = Self::default();
        queue.lock().open = (1..=number).map(task).collect();
        queue
    }

    fn lock(&self) -> MutexGuard<'_, Tasks> {
        self.tasks.lock().unwrap()
    }

    fn events(&self) -> Vec<Event> {
        self.lock().events.clone()
    }

    fn add(&self, event: Event) {
        self.lock().events.push(event);
        self.changed.notify_waiters();
    }

    /// Returns when the worker has made so many calls for tasks, heartbeats apart.
    async fn answers(self, number: usize) {
        loop {
            let changed = self.changed.notified();
            let is_answer = |event: &&Event| !matches!(event, Event::Extended(..) | Event::Dropped(_));
            if self.lock().events.iter().filter(is_answer).count() >= number {
                return;
            }
            changed.await;
        }
    }
}

fn task(number: u128) -> ClaimedTask {
    ClaimedTask {
        task_id: Uuid::from_u128(number),
        token: Uuid::from_u128(number),
        name: "charge".into(),
        payload: Some(json!(number as u64)),
        correlation_id: None,
        instance_id: Uuid::nil(),
        definition_id: "payment".into(),
        activity_id: "charge".into(),
        owner: Some("shop".into()),
        attempt: 1,
        max_attempts: None,
        priority: 0,
        deadline: None,
        lease_until: chrono::DateTime::UNIX_EPOCH,
        progress: None,
        traceparent: None,
    }
}

fn rejected(sqlstate: &str) -> Error {
    Error::Database(Box::new(DatabaseError::new(sqlstate, false)))
}

fn lost() -> Error {
    Error::Connection("closed".into())
}

impl TaskQueue for MemoryQueue {
    async fn claim(&self, max: usize, _lease: Duration) -> Result<Vec<ClaimedTask>, Error> {
        if std::mem::take(&mut self.lock().claim_hangs) {
            std::future::pending::<()>().await;
        }
        let time = self.lock().claim_time;
        sleep(time).await;
        let mut tasks = self.lock();
        if let Some(error) = tasks.claim_errors.pop_front() {
            return Err(error);
        }
        tasks.asked.push(max);
        let number = max.min(tasks.open.len());
        Ok(tasks.open.drain(..number).collect())
    }

    async fn wait(&self, time: Duration) -> Result<bool, Error> {
        self.lock().waits += 1;
        if self.lock().wait_fails {
            return Err(rejected("53400"));
        }
        sleep(time).await;
        Ok(!self.lock().open.is_empty())
    }

    async fn extend(&self, claim: Claim, _lease: Duration, progress: Json) -> Result<bool, Error> {
        let number = claim.task_id.as_u128();
        if self.lock().extend_fails {
            return Err(lost());
        }
        if self.lock().rejects_progress && progress != Json::null() {
            return Err(rejected("22P05"));
        }
        if self.lock().taken.contains(&number) {
            return Ok(false);
        }
        self.add(Event::Extended(number, progress.get()?));
        Ok(true)
    }

    async fn complete(&self, claim: Claim, answer: &mut Answer) -> Result<(), Error> {
        let time = self.lock().complete_time;
        sleep(time).await;
        if let Some(error) = self.lock().complete_errors.pop_front() {
            return Err(error);
        }
        assert!(!self.lock().complete_panics, "a bug in a statement");
        self.add(Event::Completed(claim.task_id.as_u128(), answer.result.get()?.unwrap_or_default()));
        Ok(())
    }

    async fn fail(&self, claim: Claim, error: &TaskError) -> Result<(), Error> {
        if let Some(error) = self.lock().fail_errors.pop_front() {
            return Err(error);
        }
        self.add(Event::Failed(claim.task_id.as_u128(), error.clone()));
        Ok(())
    }

    async fn release(&self, claim: Claim, retry_in: Option<Duration>) -> Result<(), Error> {
        if let Some(error) = self.lock().release_errors.pop_front() {
            return Err(error);
        }
        self.add(Event::Released(claim.task_id.as_u128(), retry_in));
        Ok(())
    }
}

/// Serves with a handler until `stop` is ready.
async fn serve<F, Done>(
    queue: &MemoryQueue,
    concurrency: usize,
    handler: F,
    stop: impl Future<Output = ()>,
) -> Result<(), Error>
where
    F: Fn(Task) -> Done + Send + Sync + 'static,
    Done: Future<Output = Result<Answer, TaskError>> + Send + 'static,
{
    let handler: Handler = Arc::new(move |task| Box::pin(handler(task)));
    let handlers = HashMap::from([("charge".to_owned(), handler)]);
    let settings = Settings { concurrency, lease: LEASE, grace: Duration::from_secs(20) };
    Serving::new(queue.clone(), handlers, settings).until(stop).await
}

async fn for_an_hour(_task: Task) -> Result<Answer, TaskError> {
    sleep(Duration::from_secs(3600)).await;
    Ok(Answer::new("done"))
}

#[tokio::test(start_paused = true)]
async fn it_claims_only_what_may_run_and_answers_everything() {
    let queue = MemoryQueue::with(7);
    let counted = queue.clone();
    let handler = move |task: Task| {
        let counted = counted.clone();
        async move {
            {
                let mut tasks = counted.lock();
                tasks.running += 1;
                tasks.most_running = tasks.most_running.max(tasks.running);
            }
            sleep(Duration::from_secs(1)).await;
            counted.lock().running -= 1;
            Ok(Answer::new(task.payload.clone()))
        }
    };
    serve(&queue, 3, handler, queue.clone().answers(7)).await.unwrap();
    assert_eq!(queue.lock().most_running, 3);
    assert_eq!(queue.lock().asked[0], 3);
    let mut completed = queue.events();
    completed.sort_by_key(|event| match event {
        Event::Completed(number, _) => *number,
        other => panic!("{other:?}"),
    });
    assert_eq!(completed[6], Event::Completed(7, json!(7)));
}

#[tokio::test(start_paused = true)]
async fn it_waits_where_there_is_nothing_to_claim() {
    let queue = MemoryQueue::default();
    let later = queue.clone();
    let stop = async move {
        sleep(Duration::from_secs(299)).await;
        assert!(later.lock().asked.len() <= 11, "a claim for each wait of 30 seconds");
        later.lock().open.push_back(task(1));
        later.answers(1).await;
    };
    serve(&queue, 1, |_| async { Ok(Answer::new("done")) }, stop).await.unwrap();
    assert_eq!(queue.events(), [Event::Completed(1, json!("done"))]);
}

#[tokio::test(start_paused = true)]
async fn heartbeats_extend_the_lease_while_the_handler_runs() {
    let queue = MemoryQueue::with(1);
    serve(&queue, 1, for_an_hour, queue.clone().answers(1)).await.unwrap();
    let events = queue.events();
    // Three in each minute.
    let heartbeats = events.iter().filter(|event| **event == Event::Extended(1, None)).count();
    assert!((170..=190).contains(&heartbeats), "{heartbeats}");
    assert_eq!(events.last(), Some(&Event::Completed(1, json!("done"))));
}

#[test]
fn heartbeats_of_all_tasks_are_sent_at_the_same_moments() {
    let epoch = Instant::now();
    for passed in (0..600).map(|step| Duration::from_millis(step * 173)) {
        let lease = Lease { time: LEASE, since: epoch + passed, epoch };
        let next = lease.next_heartbeat();
        assert!(next > lease.since + LEASE / 6 && next <= lease.since + LEASE / 3, "{passed:?}");
        assert_eq!((next - epoch).as_millis() % (LEASE / 6).as_millis(), 0, "{passed:?}");
    }
}

#[tokio::test]
async fn a_task_in_flight_needs_little_memory() {
    let (handler, stage): (Handler, _) = (Arc::new(|task| Box::pin(for_an_hour(task))), watch::channel(Stage::Working));
    let lease = Lease { time: LEASE, since: Instant::now(), epoch: Instant::now() };
    let client = Client::lazy(ConnectOptions::new("host=/nowhere").unwrap()).unwrap();
    let queue = DatabaseQueue::new(client, vec!["charge".into()], "worker-1".into(), LEASE, 50).unwrap();
    let slots = Arc::new(Semaphore::new(1));
    let slot = Slot { permit: Arc::clone(&slots).acquire_owned().await.unwrap(), answers: slots };
    let work = process(Arc::new(queue), handler, task(1), lease, stage.1, slot);
    assert!(size_of_val(&work) <= 2048, "{} bytes", size_of_val(&work));
}

#[tokio::test(start_paused = true)]
async fn progress_is_sent_at_once() {
    let queue = MemoryQueue::with(1);
    let handler = |task: Task| async move {
        task.record_progress(json!({"step": 1}))?;
        sleep(Duration::from_secs(1)).await;
        Ok(Answer::new("done"))
    };
    serve(&queue, 1, handler, queue.clone().answers(1)).await.unwrap();
    assert_eq!(queue.events(), [Event::Extended(1, Some(json!({"step": 1}))), Event::Completed(1, json!("done"))]);
}

#[tokio::test(start_paused = true)]
async fn progress_just_before_a_failure_is_kept() {
    let queue = MemoryQueue::with(2);
    let handler = |task: Task| async move {
        task.record_progress(json!({"step": 1}))?;
        Err(if task.task_id.as_u128() == 1 { TaskError::new("declined") } else { TaskError::release() })
    };
    serve(&queue, 1, handler, queue.clone().answers(2)).await.unwrap();
    let recorded = |number| Event::Extended(number, Some(json!({"step": 1})));
    let failed = Event::Failed(1, TaskError::new("declined"));
    assert_eq!(queue.events(), [recorded(1), failed, recorded(2), Event::Released(2, None)]);
}

#[tokio::test(start_paused = true)]
async fn progress_that_cannot_be_stored_does_not_cost_the_lease() {
    let queue = MemoryQueue::with(1);
    queue.lock().rejects_progress = true;
    let handler = |task: Task| async move {
        task.record_progress("\0")?;
        for_an_hour(task).await
    };
    serve(&queue, 1, handler, queue.clone().answers(1)).await.unwrap();
    assert_eq!(queue.events().last(), Some(&Event::Completed(1, json!("done"))));
}

/// Tells when it is dropped.
struct Dropped(Option<oneshot::Sender<Instant>>);

impl Drop for Dropped {
    fn drop(&mut self) {
        if let Some(sender) = self.0.take() {
            let _ = sender.send(Instant::now());
        }
    }
}

/// A handler that never ends, and the time at which it was dropped.
fn endless() -> (impl Fn(Task) -> Handled + Send + Sync, oneshot::Receiver<Instant>) {
    let (sender, dropped) = oneshot::channel();
    let sender = Mutex::new(Some(sender));
    let handler = move |task: Task| -> Handled {
        let dropped = Dropped(sender.lock().unwrap().take());
        Box::pin(async move {
            let _held = (task, dropped);
            std::future::pending().await
        })
    };
    (handler, dropped)
}

type Handled = Pin<Box<dyn Future<Output = Result<Answer, TaskError>> + Send>>;

#[tokio::test(start_paused = true)]
async fn a_task_that_another_worker_has_taken_is_dropped_and_not_answered() {
    let (queue, begun) = (MemoryQueue::with(1), Instant::now());
    queue.lock().taken.insert(1);
    let (handler, dropped) = endless();
    let stop = async { assert!(dropped.await.unwrap() - begun < LEASE) };
    serve(&queue, 1, handler, stop).await.unwrap();
    assert_eq!(queue.events(), []);
}

#[tokio::test(start_paused = true)]
async fn without_a_heartbeat_the_handler_ends_with_the_lease() {
    let (queue, begun) = (MemoryQueue::with(1), Instant::now());
    queue.lock().extend_fails = true;
    let (handler, dropped) = endless();
    let stop = async {
        let time = dropped.await.unwrap() - begun;
        assert!(time >= LEASE * 9 / 10 && time <= LEASE + Duration::from_secs(2), "{time:?}");
    };
    serve(&queue, 1, handler, stop).await.unwrap();
    assert_eq!(queue.events(), []);
}

#[tokio::test(start_paused = true)]
async fn errors_panics_and_released_tasks_are_reported() {
    let queue = MemoryQueue::with(4);
    let handler = |task: Task| async move {
        match task.task_id.as_u128() {
            1 => Err(TaskError::new("declined").code("card_declined").without_retry()),
            2 => Err(TaskError::release()),
            3 => Err(TaskError::release().retry_in(Duration::from_secs(30))),
            _ => panic!("a bug"),
        }
    };
    serve(&queue, 1, handler, queue.clone().answers(4)).await.unwrap();
    let declined = TaskError::new("declined").code("card_declined").without_retry();
    let panicked = TaskError::new("the handler of the task panicked").code("handler_panicked").detail("a bug");
    let later = Event::Released(3, Some(Duration::from_secs(30)));
    let expected = [Event::Failed(1, declined), Event::Released(2, None), later, Event::Failed(4, panicked)];
    assert_eq!(queue.events(), expected);
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_sent_until_it_is_confirmed() {
    let queue = MemoryQueue::with(1);
    let unknown = Error::OutcomeUnknown("closed".into());
    queue.lock().complete_errors = [lost(), rejected("40P01"), rejected("57014"), rejected("25006"), unknown].into();
    serve(&queue, 1, |_| async { Ok(Answer::new("done")) }, queue.clone().answers(1)).await.unwrap();
    assert_eq!(queue.events(), [Event::Completed(1, json!("done"))]);
}

/// An instance that another session has locked must not make another worker do the task again.
#[tokio::test(start_paused = true)]
async fn the_lease_is_extended_until_the_answer_is_confirmed() {
    let queue = MemoryQueue::with(1);
    queue.lock().complete_time = 10 * LEASE;
    let handler = |_| async {
        sleep(2 * LEASE).await;
        Ok(Answer::new("done"))
    };
    serve(&queue, 1, handler, queue.clone().answers(1)).await.unwrap();
    let events = queue.events();
    assert_eq!(events.last(), Some(&Event::Completed(1, json!("done"))));
    let extended = events.iter().filter(|event| matches!(event, Event::Extended(1, None))).count();
    assert!((24..=72).contains(&extended), "every sixth to half of a lease: {extended}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_sent_as_long_as_the_lease_is_held() {
    let queue = MemoryQueue::with(1);
    queue.lock().complete_errors = (0..1000).flat_map(|_| [lost(), rejected("55P03"), rejected("25006")]).collect();
    serve(&queue, 1, |_| async { Ok(Answer::new("done")) }, queue.clone().answers(1)).await.unwrap();
    assert_eq!(queue.events().last(), Some(&Event::Completed(1, json!("done"))));
}

/// What follows the answer in its workflow can exceed `statement_timeout`, or end the server's process, each time.
#[tokio::test(start_paused = true)]
async fn an_answer_that_the_server_cannot_carry_out_fails_the_attempt() {
    let errors: [fn() -> Error; 4] = [
        || rejected("57014"),
        || rejected("53200"),
        || rejected("XX000"),
        || Error::OutcomeUnknown("the connection was closed".into()),
    ];
    for error in errors {
        let queue = MemoryQueue::with(1);
        queue.lock().complete_errors = (0..1000).map(|_| error()).collect();
        serve(&queue, 1, |_| async { Ok(Answer::new("done")) }, queue.clone().answers(1)).await.unwrap();
        assert_eq!(queue.events(), [Event::Failed(1, TaskError::from(error()))]);
        assert_eq!(queue.lock().complete_errors.len(), 995, "{}", error());
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_the_server_cannot_carry_out_is_given_up() {
    let queue = MemoryQueue::with(2);
    queue.lock().fail_errors = (0..5).map(|_| rejected("57014")).collect();
    let handler = |_| async { Err::<Answer, _>(TaskError::new("declined")) };
    serve(&queue, 1, handler, queue.clone().answers(1)).await.unwrap();
    assert_eq!(queue.events(), [Event::Failed(2, TaskError::new("declined"))]);
}

#[tokio::test(start_paused = true)]
async fn without_a_lease_an_answer_is_given_up() {
    let queue = MemoryQueue::with(1);
    queue.lock().extend_fails = true;
    // A second of backoff each: more than two leases.
    queue.lock().complete_errors = (0..300).map(|_| lost()).collect();
    let later = queue.clone();
    let stop = async move {
        sleep(LEASE * 3).await;
        later.lock().complete_errors.clear();
        later.lock().open.push_back(task(2));
        later.answers(1).await;
    };
    serve(&queue, 1, |_| async { Ok(Answer::new("done")) }, stop).await.unwrap();
    assert_eq!(queue.events(), [Event::Completed(2, json!("done"))]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_cannot_be_stored_fails_the_task() {
    for (sqlstate, code) in [("22023", Some("invalid_result")), ("54000", Some("invalid_result")), ("P0001", None)] {
        let queue = MemoryQueue::with(1);
        queue.lock().complete_errors = (0..100).map(|_| rejected(sqlstate)).collect();
        serve(&queue, 1, |_| async { Ok(Answer::new("done")) }, queue.clone().answers(1)).await.unwrap();
        let [Event::Failed(1, error)] = &queue.events()[..] else { panic!("{sqlstate}: {:?}", queue.events()) };
        assert_eq!((error.code.as_deref(), error.retry), (code, true), "{sqlstate}");
        assert_eq!(queue.lock().complete_errors.len(), 99, "{sqlstate}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_release_is_sent_until_it_is_confirmed() {
    let queue = MemoryQueue::with(1);
    queue.lock().release_errors = [lost(), rejected("55P03"), Error::OutcomeUnknown("closed".into())].into();
    serve(&queue, 1, |_| async { Err::<Answer, _>(TaskError::release()) }, queue.clone().answers(1)).await.unwrap();
    assert_eq!(queue.events(), [Event::Released(1, None)]);
}

#[tokio::test(start_paused = true)]
async fn writes_that_are_rejected_fail_the_task() {
    let queue = MemoryQueue::with(1);
    queue.lock().complete_errors = [rejected("23505")].into();
    let handler = |_| async { Ok(Answer::new("done").and_write(|_| async { Ok(()) })) };
    serve(&queue, 1, handler, queue.clone().answers(1)).await.unwrap();
    assert_eq!(queue.events(), [Event::Failed(1, TaskError::new("a message (SQLSTATE 23505)"))]);
}

#[tokio::test(start_paused = true)]
async fn statements_that_panic_fail_the_task() {
    let queue = MemoryQueue::with(1);
    queue.lock().complete_panics = true;
    let handler = |_| async { Ok(Answer::new("done").and_write(|_| async { Ok(()) })) };
    serve(&queue, 1, handler, queue.clone().answers(1)).await.unwrap();
    let [Event::Failed(1, error)] = &queue.events()[..] else { panic!("{:?}", queue.events()) };
    assert_eq!(
        (error.code.as_deref(), error.detail.as_deref()),
        (Some("handler_panicked"), Some("a bug in a statement"))
    );
}

#[tokio::test(start_paused = true)]
async fn a_failure_with_an_invalid_code_is_reported_without_it() {
    let queue = MemoryQueue::with(1);
    queue.lock().fail_errors = [rejected("22023")].into();
    let handler = |_| async { Err(TaskError::new("declined").code("23505").retry_in(Duration::MAX).without_retry()) };
    serve(&queue, 1, handler, queue.clone().answers(1)).await.unwrap();
    let failed = TaskError::new("declined").detail("a message (SQLSTATE 22023)").without_retry();
    assert_eq!(queue.events(), [Event::Failed(1, failed)]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_for_a_task_of_another_worker_is_given_up() {
    let queue = MemoryQueue::with(2);
    queue.lock().complete_errors = [rejected("55000")].into();
    serve(&queue, 1, |_| async { Ok(Answer::new("done")) }, queue.clone().answers(1)).await.unwrap();
    assert_eq!(queue.events(), [Event::Completed(2, json!("done"))]);
}

/// A signal after a second.
async fn soon() {
    sleep(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_stops_lets_handlers_finish() {
    let queue = MemoryQueue::with(3);
    let handler = |_| async {
        sleep(Duration::from_secs(10)).await;
        Ok(Answer::new("done"))
    };
    serve(&queue, 2, handler, soon()).await.unwrap();
    let events = queue.events();
    assert!(
        events.contains(&Event::Completed(1, json!("done"))) && events.contains(&Event::Completed(2, json!("done")))
    );
    assert_eq!((events.len(), queue.lock().open.len()), (2, 1), "nothing is claimed any more");
}

#[tokio::test(start_paused = true)]
async fn after_the_grace_time_tasks_are_given_back() {
    let (queue, begun) = (MemoryQueue::with(1), Instant::now());
    serve(&queue, 1, for_an_hour, soon()).await.unwrap();
    assert_eq!(queue.events().last(), Some(&Event::Released(1, None)));
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_task_is_released_when_its_handler_has_stopped() {
    struct Guard(MemoryQueue);
    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.add(Event::Dropped(1));
        }
    }
    let queue = MemoryQueue::with(1);
    let guarded = queue.clone();
    let handler = move |task: Task| {
        let guard = Guard(guarded.clone());
        async move {
            let _guard = guard;
            for_an_hour(task).await
        }
    };
    serve(&queue, 1, handler, soon()).await.unwrap();
    let events = queue.events();
    assert_eq!(events[events.len() - 2..], [Event::Dropped(1), Event::Released(1, None)]);
}

#[tokio::test(start_paused = true)]
async fn tasks_that_are_claimed_while_the_worker_stops_are_given_back() {
    let (queue, begun) = (MemoryQueue::with(2), Instant::now());
    queue.lock().claim_time = Duration::from_secs(5);
    serve(&queue, 2, for_an_hour, soon()).await.unwrap();
    assert_eq!(queue.events(), [Event::Released(1, None), Event::Released(2, None)]);
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_claim_that_hangs_does_not_keep_the_worker_from_stopping() {
    let (queue, begun) = (MemoryQueue::with(1), Instant::now());
    let hangs = queue.clone();
    let handler = move |task: Task| {
        hangs.lock().claim_hangs = true;
        async move {
            task.stopping().await;
            Err(TaskError::release())
        }
    };
    serve(&queue, 2, handler, soon()).await.unwrap();
    assert_eq!(queue.events(), [Event::Released(1, None)]);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_handler_learns_that_the_worker_stops() {
    let (queue, begun) = (MemoryQueue::with(1), Instant::now());
    let handler = |task: Task| async move {
        task.stopping().await;
        Err(TaskError::release())
    };
    serve(&queue, 1, handler, soon()).await.unwrap();
    assert_eq!(queue.events(), [Event::Released(1, None)]);
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_database_that_is_away_is_waited_for() {
    let queue = MemoryQueue::with(1);
    queue.lock().claim_errors = (0..20).map(|_| lost()).chain([rejected("57P03"), rejected("55000")]).collect();
    serve(&queue, 1, |_| async { Ok(Answer::new("done")) }, queue.clone().answers(1)).await.unwrap();
    assert_eq!(queue.events(), [Event::Completed(1, json!("done"))]);
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_cannot_wait_polls() {
    let queue = MemoryQueue::default();
    queue.lock().wait_fails = true;
    let later = queue.clone();
    let stop = async move {
        sleep(Duration::from_secs(600)).await;
        let (waits, claims) = {
            let tasks = later.lock();
            (tasks.waits, tasks.asked.len())
        };
        assert!(waits <= 40 && claims >= 300, "{waits} waits, {claims} claims");
        later.lock().open.push_back(task(1));
        later.answers(1).await;
    };
    serve(&queue, 1, |_| async { Ok(Answer::new("done")) }, stop).await.unwrap();
    assert_eq!(queue.events(), [Event::Completed(1, json!("done"))]);
}

#[tokio::test]
async fn a_name_has_one_handler() {
    let client = Client::lazy(ConnectOptions::new("host=/nowhere").unwrap()).unwrap();
    let worker = Worker::new(client).handle("charge", |_| async { Ok(()) }).handle("charge", |_| async { Ok(()) });
    let error = worker.run_until(std::future::pending()).await.expect_err("two handlers");
    assert!(error.to_string().contains("\"charge\""), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_claim_that_hangs_is_made_again() {
    let queue = MemoryQueue::with(1);
    queue.lock().claim_hangs = true;
    serve(&queue, 1, |_| async { Ok(Answer::new("done")) }, queue.clone().answers(1)).await.unwrap();
    assert_eq!(queue.events(), [Event::Completed(1, json!("done"))]);
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_can_never_claim_ends() {
    for error in [rejected("28P01"), rejected("42501"), Error::Unfit("no extension".into())] {
        let (queue, text) = (MemoryQueue::with(1), error.to_string());
        queue.lock().claim_errors = [error].into();
        let ended = serve(&queue, 1, for_an_hour, std::future::pending()).await;
        assert_eq!(ended.expect_err("an error").to_string(), text);
    }
    // Once it has worked, an administrator may be changing rights.
    let queue = MemoryQueue::with(2);
    let later = queue.clone();
    let handler = move |_| {
        later.lock().claim_errors.push_back(rejected("42501"));
        async { Ok(Answer::new("done")) }
    };
    serve(&queue, 1, handler, queue.clone().answers(2)).await.unwrap();
}
