//! The client in front of a real database, one for each test. `make test T=client` runs these.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod calls;
mod example;
mod lost;
mod proxy;
mod tls;
mod transactions;
mod worker;

use std::future::Future;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio_postgres::NoTls;
use uuid::Uuid;
use workflow_client::{Client, ConnectOptions, Define};

/// The time after which a test stops waiting and fails. It is far longer than anything takes on a slow or busy machine.
const NEVER: Duration = Duration::from_secs(600);

/// All databases share the rights to a parameter, in one row: of two sessions that change it at the same time, one gets an error.
static PARAMETER: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// A database of its own, and the role `app` of this test.
struct World {
    server: String,
    database: String,
    role: String,
}

impl World {
    /// A database with the extension and tables of an application, in which the role may do everything.
    async fn new() -> Self {
        let world = Self::without_extension("workflow_template").await;
        let role = &world.role;
        world.sql(&format!("SELECT wf_grant_usage('{role}')")).await;
        {
            let _guard = PARAMETER.lock().await;
            world.sql(&format!("GRANT SET ON PARAMETER workflow.actor TO {role}")).await;
        }
        world
            .sql(&format!(
                "CREATE TABLE orders (id text PRIMARY KEY, amount integer); GRANT ALL ON orders TO {role};
                 CREATE TABLE payments (task_id uuid, attempt integer); GRANT ALL ON payments TO {role}"
            ))
            .await;
        world
    }

    /// A copy of a template, and a role.
    async fn without_extension(template: &str) -> Self {
        let server = std::env::var("WORKFLOW_TEST_SERVER")
            .expect("WORKFLOW_TEST_SERVER says how to reach a server for tests; `make test T=client` sets it");
        let id = Uuid::now_v7().simple().to_string();
        let world = Self { server, database: format!("client_{id}"), role: format!("app_{id}") };
        let admin = connect(&world.server, "postgres").await;
        admin.batch_execute(&format!("CREATE DATABASE {} TEMPLATE {template}", world.database)).await.unwrap();
        admin.batch_execute(&format!("CREATE ROLE {} LOGIN PASSWORD 'secret'", world.role)).await.unwrap();
        world
    }

    /// Options of the role, for a server that is reached like this.
    fn options_at(&self, server: &str) -> ConnectOptions {
        self.options_of(server, &self.role)
    }

    fn options_of(&self, server: &str, role: &str) -> ConnectOptions {
        let text = format!("{server} dbname={} user={role} password=secret", self.database);
        // A busy machine may take long to restart a session.
        ConnectOptions::new(&text).unwrap().repeat_for(NEVER)
    }

    async fn client(&self) -> Client {
        Client::connect(self.options_at(&self.server)).await.unwrap()
    }

    /// Runs SQL as the superuser.
    async fn sql(&self, text: &str) {
        let admin = connect(&self.server, &self.database).await;
        admin.batch_execute(text).await.unwrap_or_else(|error| panic!("{error:?} in {text}"));
    }

    /// The first column of the first row, which the query casts to text.
    async fn value(&self, query: &str) -> Option<String> {
        let admin = connect(&self.server, &self.database).await;
        let row = admin.query_opt(query, &[]).await.unwrap_or_else(|error| panic!("{error:?} in {query}"));
        row.and_then(|row| row.get(0))
    }

    async fn count(&self, query: &str) -> u64 {
        self.value(&format!("SELECT count(*)::text FROM {query}")).await.unwrap().parse().unwrap()
    }

    /// Waits until a query returns `t`.
    async fn wait_until(&self, query: &str) {
        let begun = Instant::now();
        while self.value(&format!("SELECT ({query})::text")).await.as_deref() != Some("true") {
            assert!(begun.elapsed() < NEVER, "not yet so: {query}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Ends all connections of the role.
    async fn end_connections(&self) {
        let ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename";
        self.sql(&format!("{ended} = '{}' AND datname = current_database()", self.role)).await;
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let (server, database, role) = (self.server.clone(), self.database.clone(), self.role.clone());
        // A runtime of its own: that of the test may have one thread, which is here.
        let cleaned = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let admin = connect(&server, "postgres").await;
                admin.batch_execute(&format!("DROP DATABASE IF EXISTS {database} WITH (FORCE)")).await.unwrap();
                let _guard = PARAMETER.lock().await;
                admin.batch_execute(&format!("REVOKE ALL ON PARAMETER workflow.actor FROM {role}")).await.unwrap();
                admin.batch_execute(&format!("DROP ROLE {role}")).await.unwrap();
            });
        });
        let _ = cleaned.join();
    }
}

/// A superuser's connection, which ends when it is dropped.
async fn connect(server: &str, database: &str) -> tokio_postgres::Client {
    let options = format!("{server} user=postgres dbname={database}");
    let (client, connection) = tokio_postgres::connect(&options, NoTls).await.expect("a connection to the test server");
    tokio::spawn(async move { drop(connection.await) });
    client
}

/// Fails instead of waiting for ever.
async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(NEVER, future).await.unwrap_or_else(|_| panic!("not yet so: {what}"))
}

/// Defines a workflow with one task, whose name is that of the definition, and that may be tried again at once.
async fn define_task(client: &Client, name: &str) {
    let document = json!({
        "definitionId": name,
        "outputs": [{"name": "Answer"}],
        "root": [{
            "id": "task", "type": "RunTask", "taskName": name, "payload": {"object": {"number": {"input": "number"}}},
            "result": {"output": "Answer"}, "retry": {"maxAttempts": 1000, "delay": "0 s"},
        }],
    });
    client.run(Define::new(document)).await.unwrap();
}

/// An output of an instance, read by the superuser.
async fn answers(world: &World) -> Vec<Value> {
    let outputs = "SELECT COALESCE(json_agg(output -> 'Answer'), '[]')::text FROM workflow.instance_list";
    let outputs = world.value(&format!("{outputs} WHERE sub_status = 'Finished'")).await.unwrap();
    serde_json::from_str(&outputs).unwrap()
}
