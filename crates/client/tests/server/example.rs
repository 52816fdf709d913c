//! The program of examples/worker.rs: it does tasks, and ends in order when it gets SIGTERM.

use std::process::{Child, Command};
use std::time::Instant;

use serde_json::json;
use workflow_client::{Define, Start};

use crate::{NEVER, World, answers};

/// Kills the program if the test fails.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Cargo builds examples beside the tests' folder.
fn start_example(world: &World) -> Program {
    let tests = std::env::current_exe().unwrap();
    let program = tests.ancestors().nth(2).unwrap().join("examples/worker");
    let config: tokio_postgres::Config = world.server.parse().unwrap();
    let [tokio_postgres::config::Host::Unix(sockets)] = config.get_hosts() else { panic!("no socket: {config:?}") };
    let mut command = Command::new(&program);
    command.env("PGHOST", sockets).env("PGDATABASE", &world.database).env("PGUSER", &world.role);
    command.env("PGPASSWORD", "secret").env("PGPORT", config.get_ports().first().unwrap_or(&5432).to_string());
    Program(command.spawn().unwrap_or_else(|error| {
        panic!("{}: {error}. `cargo build -p workflow-client --example worker` makes it", program.display())
    }))
}

#[tokio::test]
async fn the_worker_of_the_examples_does_its_tasks_and_ends_in_order() {
    let world = World::new().await;
    let client = world.client().await;
    let document = json!({"definitionId": "payment", "outputs": [{"name": "Answer"}], "root": {
        "type": "RunTask", "taskName": "Charge card", "result": {"output": "Answer"},
        "payload": {"object": {"amount": {"input": "amount"}, "card": {"input": "card"}}}}});
    client.run(Define::new(document)).await.unwrap();
    client.run(Start::new("payment").input(json!({"amount": 98, "card": "visa"}))).await.unwrap();
    let mut program = start_example(&world);
    world.wait_until("SELECT count(*) = 1 FROM workflow.instance_list WHERE sub_status = 'Finished'").await;
    assert_eq!(answers(&world).await[0]["attempt"], json!(1));
    // It waits for the next task.
    world.wait_until("SELECT count(*) = 1 FROM pg_stat_activity WHERE query LIKE 'CALL %wf_wait_tasks%' AND state = 'active' AND datname = current_database()").await;
    assert!(Command::new("kill").arg(program.0.id().to_string()).status().unwrap().success());
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = program.0.try_wait().unwrap() {
            break status;
        }
        assert!(begun.elapsed() < NEVER, "it runs on");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    };
    assert_eq!(status.code(), Some(0));
}
