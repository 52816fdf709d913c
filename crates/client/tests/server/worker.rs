//! Workers in front of a database: every task is done, and its answer counts once, whatever ends meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{Notify, oneshot};
use workflow_client::{Answer, Cancel, ClaimTasks, Client, ConnectOptions, Define, Start, Task, TaskError, Worker};

use crate::{World, answers, define_task, soon};

/// Of tests that fail if a lease ends: on a busy machine a heartbeat may be late by many seconds.
const LEASE: Duration = Duration::from_secs(20);

async fn start(client: &Client, name: &str, number: u32) {
    for number in 0..number {
        client.run(Start::new(name).input(json!({"number": number}))).await.unwrap();
    }
}

/// Works until no instance waits any more.
async fn work_off(world: &World, worker: Worker) {
    let done = world.wait_until("SELECT count(*) = 0 FROM workflow.instance_list WHERE sub_status = 'Suspended'");
    soon("all is done", worker.run_until(done)).await.unwrap();
}

async fn echo(task: Task) -> Result<Value, TaskError> {
    Ok(task.payload.clone().unwrap_or_default())
}

#[tokio::test]
async fn every_task_is_done() {
    let world = World::new().await;
    let client = world.client().await;
    define_task(&client, "one").await;
    define_task(&client, "two").await;
    start(&client, "one", 5).await;
    start(&client, "two", 5).await;
    let worker = Worker::new(client.clone()).handle("one", echo).handle("two", |_| async { Ok(json!("two")) });
    work_off(&world, worker.concurrency(3)).await;
    let answers = answers(&world).await;
    assert_eq!((answers.len(), answers.iter().filter(|answer| **answer == json!("two")).count()), (10, 5));
}

#[tokio::test]
async fn tasks_that_are_opened_while_the_worker_waits_are_done() {
    let world = World::new().await;
    let client = world.client().await;
    define_task(&client, "one").await;
    let (stop, stopped) = oneshot::channel::<()>();
    let worker = tokio::spawn(Worker::new(client.clone()).handle("one", echo).run_until(async { drop(stopped.await) }));
    world.wait_until("SELECT count(*) = 1 FROM pg_stat_activity WHERE query LIKE 'CALL %wf_wait_tasks%' AND state = 'active' AND datname = current_database()").await;
    start(&client, "one", 3).await;
    world.wait_until("SELECT count(*) = 3 FROM workflow.instance_list WHERE sub_status = 'Finished'").await;
    stop.send(()).unwrap();
    soon("the worker has ended", worker).await.unwrap().unwrap();
    // The waiting session ends with its connection.
    world.wait_until("SELECT count(*) = 0 FROM pg_stat_activity WHERE query LIKE 'CALL %wf_wait_tasks%' AND datname = current_database()").await;
}

/// Ends all connections each time that a few more tasks are done, while tasks fail, are answered, and write rows.
#[tokio::test(flavor = "multi_thread")]
async fn answers_and_rows_survive_the_ends_of_connections() {
    const TASKS: u32 = 200;
    let world = Arc::new(World::new().await);
    // On a slow machine, many leases are lost.
    world.sql(&format!("ALTER DATABASE {} SET workflow.max_leases = 1000", world.database)).await;
    let client = world.client().await;
    define_task(&client, "one").await;
    start(&client, "one", TASKS).await;
    world.sql("ALTER TABLE payments ADD PRIMARY KEY (task_id)").await;
    let charge = |task: Task| async move {
        if task.attempt == 1 && task.payload_as::<Value>()?["number"].as_u64().unwrap_or_default() % 7 == 0 {
            return Err(TaskError::new("not yet").retry_in(Duration::ZERO));
        }
        let (task_id, attempt) = (task.task_id, task.attempt);
        Ok(Answer::new(attempt).and_write(move |tx| async move {
            let insert = "INSERT INTO payments VALUES ($1, $2) ON CONFLICT DO NOTHING";
            tx.execute(insert, &[&task_id, &attempt]).await.map(drop)
        }))
    };
    let disturbed = Arc::clone(&world);
    let disturbing = tokio::spawn(async move {
        for done in (0..TASKS).step_by(10) {
            let finished = "SELECT count(*) FROM workflow.instance_list WHERE sub_status = 'Finished'";
            disturbed.wait_until(&format!("({finished}) >= {done}")).await;
            disturbed.end_connections().await;
        }
    });
    // A claim whose answer is lost holds its tasks until the lease ends.
    let worker = Worker::new(client.clone()).handle("one", charge).concurrency(8).lease(Duration::from_secs(1));
    work_off(&world, worker).await;
    soon("all connections were ended", disturbing).await.unwrap();
    assert_eq!(answers(&world).await.len(), 200);
    assert_eq!(world.count("payments").await, 200);
    let twice = "(SELECT FROM workflow.journal WHERE event = 'Workflow finished' GROUP BY instance_id HAVING count(*) <> 1) AS x";
    assert_eq!(world.count(twice).await, 0);
}

#[tokio::test]
async fn a_cancelled_task_ends_its_handler() {
    let world = World::new().await;
    let client = world.client().await;
    define_task(&client, "one").await;
    let instance = client.run(Start::new("one")).await.unwrap();
    let (begun, dropped) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    struct Tell(Arc<Notify>);
    impl Drop for Tell {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    let (begins, drops) = (Arc::clone(&begun), Arc::clone(&dropped));
    let handler = move |_: Task| {
        let (begun, tell) = (Arc::clone(&begins), Tell(Arc::clone(&drops)));
        async move {
            begun.notify_one();
            std::future::pending::<()>().await;
            drop(tell);
            Ok(())
        }
    };
    let stop = async {
        begun.notified().await;
        client.run(Cancel::new(instance)).await.unwrap();
        dropped.notified().await;
    };
    let worker = Worker::new(client.clone()).handle("one", handler).lease(Duration::from_secs(1));
    soon("the handler was dropped", worker.run_until(stop)).await.unwrap();
    assert_eq!(world.count("workflow.instance_list WHERE sub_status = 'Cancelled'").await, 1);
}

#[tokio::test]
async fn heartbeats_do_not_wait_for_the_connections_of_handlers() {
    let world = Arc::new(World::new().await);
    let client = Client::connect(world.options_at(&world.server).connections(1)).await.unwrap();
    define_task(&client, "one").await;
    start(&client, "one", 1).await;
    let (shared, busy) = (Arc::clone(&world), client.clone());
    let handler = move |task: Task| {
        let (world, client) = (Arc::clone(&shared), busy.clone());
        async move {
            // The only connection of the pool is busy until the first lease would have ended.
            let (first, lease) = (task.lease_until, LEASE.as_secs());
            let late = format!("(SELECT lease_until FROM workflow._open_tasks) > '{first}'::timestamptz + '{lease} s'");
            let wait = async |_| {
                world.wait_until(&late).await;
                Ok(())
            };
            client.transaction(wait).await?;
            Ok(json!(task.attempt))
        }
    };
    work_off(&world, Worker::new(client).handle("one", handler).lease(LEASE)).await;
    assert_eq!(answers(&world).await, [json!(1)]);
}

#[tokio::test]
async fn heartbeats_of_many_tasks_are_few_statements() {
    const TASKS: u32 = 300;
    let world = World::new().await;
    let client = world.client().await;
    define_task(&client, "one").await;
    start(&client, "one", TASKS).await;
    let hanging = |_: Task| std::future::pending::<Result<(), TaskError>>();
    let stop = async {
        let held = "SELECT count(*) = 300 FROM workflow._open_tasks WHERE lease_until";
        world.wait_until(&format!("{held} IS NOT NULL")).await;
        let last = world.value("SELECT max(lease_until)::text FROM workflow._open_tasks").await.unwrap();
        world.wait_until(&format!("{held} > '{last}'::timestamptz + '3 s'")).await;
        // The rows that a statement has written have one transaction.
        let statements =
            world.count("(SELECT DISTINCT xmin::text FROM workflow.bookmarks WHERE lease_until IS NOT NULL) AS x");
        let statements = statements.await;
        assert!(statements <= 30, "{statements} statements for {TASKS} heartbeats");
    };
    let worker = Worker::new(client.clone()).handle("one", hanging).concurrency(500).lease(LEASE);
    soon("the worker has ended", worker.grace(Duration::ZERO).run_until(stop)).await.unwrap();
    assert_eq!(world.count("workflow._open_tasks WHERE attempt = 0").await, u64::from(TASKS));
}

/// Another session holds the lock of one task for long. The leases of the others are extended.
#[tokio::test]
async fn a_locked_task_does_not_cost_the_leases_of_others() {
    let world = World::new().await;
    let client = world.client().await;
    define_task(&client, "one").await;
    start(&client, "one", 5).await;
    let cancelled = client.run(Start::new("one")).await.unwrap();
    let hanging = |task: Task| async move {
        task.record_progress("begun")?;
        std::future::pending::<Result<(), TaskError>>().await
    };
    let stop = async {
        world.wait_until("SELECT count(*) = 6 FROM workflow._open_tasks WHERE progress = '\"begun\"'").await;
        let others = "FROM workflow._open_tasks";
        let of_first = format!("SELECT max(lease_until)::text {others}");
        let first = world.value(&of_first).await.unwrap();
        let locking = client.transaction(async |tx| {
            tx.run(Cancel::new(cancelled)).await?;
            let lease = LEASE.as_secs();
            let extended = format!("count(*) FILTER (WHERE lease_until > '{first}'::timestamptz + '{lease} s') >= 5");
            world.wait_until(&format!("SELECT {extended} {others}")).await;
            Ok(())
        });
        locking.await.unwrap();
        assert_eq!(world.count("workflow._open_tasks WHERE attempt = 1").await, 5);
    };
    let worker = Worker::new(client.clone()).handle("one", hanging).lease(LEASE).grace(Duration::ZERO);
    soon("the worker has ended", worker.run_until(stop)).await.unwrap();
}

/// Its task has an owner without a name. It must not keep the others of the same claim from being done.
#[tokio::test]
async fn a_task_whose_owner_was_dropped_is_claimed_like_others() {
    let world = World::new().await;
    let client = world.client().await;
    define_task(&client, "one").await;
    let clerk = world.role.replace("app", "clerk");
    world.sql(&format!("CREATE ROLE {clerk}; SELECT wf_grant_usage('{clerk}')")).await;
    world.sql(&format!("SELECT wf_grant('one', '{clerk}', '{{start}}')")).await;
    world.sql(&format!("SET ROLE {clerk}; SELECT wf_start('one')")).await;
    world.sql(&format!("DROP OWNED BY {clerk}; DROP ROLE {clerk}")).await;
    start(&client, "one", 1).await;
    let tasks = client.run(ClaimTasks::new(["one"]).max(10)).await.unwrap();
    let owners: Vec<_> = tasks.iter().map(|task| task.owner.as_deref()).collect();
    assert_eq!(owners, [None, Some(&*world.role)]);
}

/// Its answer waits for longer than a lease, and no worker does the task again.
#[tokio::test]
async fn an_instance_that_is_locked_for_long_costs_no_attempt() {
    let world = World::new().await;
    let client = world.client().await;
    define_task(&client, "one").await;
    start(&client, "one", 5).await;
    let locker = crate::connect(&world.server, &world.database).await;
    locker.batch_execute("BEGIN; SELECT FROM workflow.instances LIMIT 1 FOR UPDATE").await.unwrap();
    let runs = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&runs);
    let counting = move |task: Task| {
        counted.fetch_add(1, Ordering::Relaxed);
        echo(task)
    };
    let stop = async {
        let waiting = "FROM workflow.instance_list WHERE sub_status = 'Suspended'";
        world.wait_until(&format!("SELECT count(*) = 1 {waiting}")).await;
        let first = world.value("SELECT lease_until::text FROM workflow._open_tasks").await.unwrap();
        let lease = LEASE.as_secs();
        let extended = format!("SELECT lease_until > '{first}'::timestamptz + '{lease} s' FROM workflow._open_tasks");
        world.wait_until(&extended).await;
        locker.batch_execute("COMMIT").await.unwrap();
        world.wait_until(&format!("SELECT count(*) = 0 {waiting}")).await;
    };
    let worker = Worker::new(client.clone()).handle("one", counting).lease(LEASE).answers_at_once(32);
    soon("the worker has ended", worker.run_until(stop)).await.unwrap();
    assert_eq!(runs.load(Ordering::Relaxed), 5);
}

/// Results, failures with a delay, and results that cannot be stored.
#[tokio::test]
async fn answers_that_are_sent_together_count_like_single_ones() {
    const TASKS: u32 = 200;
    let world = World::new().await;
    let client = world.client().await;
    define_task(&client, "one").await;
    start(&client, "one", TASKS).await;
    let handler = |task: Task| async move {
        match task.payload_as::<Value>()?["number"].as_u64().unwrap_or_default() % 10 {
            0 if task.attempt == 1 => Err(TaskError::new("not yet").detail("busy").retry_in(Duration::from_micros(1))),
            1 => Err(TaskError::new("declined").code("card_declined").without_retry()),
            2 => Ok(json!("\0")),
            3 => Ok(Value::Null),
            _ => Ok(json!(task.attempt)),
        }
    };
    let worker = Worker::new(client.clone()).handle("one", handler).concurrency(100).answers_at_once(50);
    // The results that cannot be stored fail their attempts, which are many.
    let done = "SELECT count(*) = 20 FROM workflow.instance_list WHERE sub_status = 'Suspended'";
    soon("all is done", worker.run_until(world.wait_until(done))).await.unwrap();
    let answers = answers(&world).await;
    assert_eq!(answers.len(), 160);
    assert_eq!(answers.iter().filter(|answer| **answer == json!(2)).count(), 20);
    assert_eq!(world.count("workflow.open_incidents WHERE code = 'card_declined'").await, 20);
    assert_eq!(world.count("workflow._open_tasks WHERE last_error LIKE '%unsupported Unicode%'").await, 20);
    // Each call has one time.
    let calls = world
        .count("(SELECT DISTINCT finished_at FROM workflow.instance_list WHERE finished_at IS NOT NULL) AS x")
        .await;
    assert!(calls < 100, "180 answers in {calls} calls");
}

#[tokio::test]
async fn another_worker_does_the_task_of_a_dead_one() {
    let world = World::new().await;
    let client = world.client().await;
    define_task(&client, "one").await;
    start(&client, "one", 1).await;
    let begun = Arc::new(Notify::new());
    let begins = Arc::clone(&begun);
    let hanging = move |_: Task| {
        begins.notify_one();
        std::future::pending::<Result<(), TaskError>>()
    };
    let first = Worker::new(client.clone()).handle("one", hanging).lease(Duration::from_secs(1));
    let first = tokio::spawn(first.run_until(std::future::pending()));
    begun.notified().await;
    // As if it had been killed: it gives nothing back.
    first.abort();
    work_off(&world, Worker::new(client).handle("one", |task: Task| async move { Ok(json!(task.attempt)) })).await;
    // On a slow machine, the first worker may have lost a lease before, too.
    let answers = answers(&world).await;
    assert!(answers.len() == 1 && answers[0].as_u64() >= Some(2), "{answers:?}");
}

#[tokio::test]
async fn a_worker_that_stops_gives_back_its_tasks() {
    let world = World::new().await;
    let client = world.client().await;
    define_task(&client, "one").await;
    start(&client, "one", 3).await;
    let (begun, number) = (Arc::new(Notify::new()), Arc::new(AtomicU32::new(0)));
    let begins = Arc::clone(&begun);
    let hanging = move |task: Task| {
        if number.fetch_add(1, Ordering::Relaxed) == 2 {
            begins.notify_one();
        }
        async move {
            task.record_progress("begun")?;
            std::future::pending::<Result<(), TaskError>>().await
        }
    };
    let stop = async {
        begun.notified().await;
        world.wait_until("SELECT count(*) = 3 FROM workflow._open_tasks WHERE progress = '\"begun\"'").await;
    };
    let worker = Worker::new(client).handle("one", hanging).grace(Duration::ZERO);
    soon("the worker has ended", worker.run_until(stop)).await.unwrap();
    let free = "workflow._open_tasks WHERE attempt = 0 AND available_at IS NULL AND progress = '\"begun\"'";
    assert_eq!(world.count(free).await, 3);
}

#[tokio::test]
async fn an_answer_that_does_not_match_its_schema_fails_the_task() {
    let world = World::new().await;
    let client = world.client().await;
    let document = json!({"definitionId": "one", "root": {"id": "task", "type": "RunTask", "taskName": "one",
        "resultSchema": {"type": "object"}}});
    client.run(Define::new(document)).await.unwrap();
    start(&client, "one", 1).await;
    work_off(&world, Worker::new(client).handle("one", |_| async { Ok(json!("no object")) })).await;
    assert_eq!(world.count("workflow.open_incidents WHERE code = 'invalid_result' AND sqlstate = 'WF001'").await, 1);
}

#[tokio::test]
async fn a_role_that_may_only_work_is_enough() {
    let world = World::new().await;
    let client = world.client().await;
    define_task(&client, "one").await;
    start(&client, "one", 2).await;
    let worker = format!("worker_{}", world.role);
    world.sql(&format!("CREATE ROLE {worker} LOGIN PASSWORD 'secret'")).await;
    world.sql(&format!("SET ROLE {}; SELECT wf_grant_worker('{worker}', '{{one}}')", world.role)).await;
    world.sql(&format!("SELECT wf_accept_tasks('{}', '{worker}')", world.role)).await;
    let options: ConnectOptions = world.options_of(&world.server, &worker);
    work_off(&world, Worker::new(Client::lazy(options).unwrap()).handle("one", echo)).await;
    assert_eq!(answers(&world).await.len(), 2);
    world.sql(&format!("SELECT wf_revoke_worker('{worker}'); DROP OWNED BY {worker}; DROP ROLE {worker}")).await;
}

#[tokio::test]
async fn a_worker_that_can_never_work_says_so() {
    let world = World::without_extension("template0").await;
    let client = Client::lazy(world.options_at(&world.server)).unwrap();
    let error = Worker::new(client.clone()).handle("one", echo).run_until(std::future::pending()).await.unwrap_err();
    assert!(error.to_string().contains("CREATE EXTENSION workflow"), "{error}");
    assert!(Worker::new(client).run_until(std::future::pending()).await.is_err(), "it has no handler");
}
