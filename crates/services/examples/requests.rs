//! Measures the requests of `wf work`, compared with a program that sends them without a database, and with sessions that
//! claim and answer the tasks without sending anything. `bench/services.sh` runs this:
//!
//! ```text
//! requests rates   DATABASE PROGRAM MS COUNT IN_FLIGHT   requests a second, at a service that answers after MS
//! requests wakeup  DATABASE PROGRAM COUNT                ms from the commit of a task to its request: p50 and p99
//! requests memory  DATABASE PROGRAM COUNT                MB of `wf work` when it has sent nothing, and with COUNT requests in flight
//! requests send    URL COUNT IN_FLIGHT                   sends requests, without a database
//! ```
//!
//! DATABASE is a connection string, PROGRAM is `wf`. Each line printed is a name and a number.

#[allow(dead_code, reason = "the tests need more of it")]
#[path = "../tests/servers/http.rs"]
mod service;

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use service::HttpServer;
use tokio::process::{Child, Command};
use tokio_postgres::{Client, NoTls};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Rounds of the rates, in which each side runs once.
const ROUNDS: usize = 5;

/// Claims a hundred tasks, and makes the answers that the worker would send.
const CLAIM: &str = r#"SELECT jsonb_agg(jsonb_build_object('taskId', task_id, 'token', token, 'result', jsonb
    '{"statusCode": 200, "headers": {"Content-Type": "application/json", "Content-Length": "11"}, "content": {"ok": true}}'))::text
    FROM wf_claim_tasks('{Elsa.SendHttpRequest}', max => 100)"#;

/// The workflow: a request whose answer is its output.
const DEFINITION: &str = r#"{"definitionId": "bench-call", "outputs": [{"name": "Answer"}], "root": {
    "id": "call", "type": "SendHttpRequest", "method": "POST", "url": {"input": "url"}, "contentType": "application/json",
    "content": {"object": {"amount": 60}}, "parsedContent": {"output": "Answer"}}}"#;

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["rates", database, program, ms, count, in_flight] => {
            rates(&Bench::new(database, program).await?, ms.parse()?, count.parse()?, in_flight).await
        }
        ["wakeup", database, program, count] => wakeup(&Bench::new(database, program).await?, count.parse()?).await,
        ["memory", database, program, count] => memory(&Bench::new(database, program).await?, count.parse()?).await,
        ["send", url, count, in_flight] => send(url, count.parse()?, in_flight.parse()?).await,
        _ => Err("usage: requests rates|wakeup|memory|send …".into()),
    }
}

/// A database, a service, and how to start `wf work`.
struct Bench {
    database: String,
    program: String,
    client: Client,
    service: HttpServer,
}

impl Bench {
    async fn new(database: &str, program: &str) -> Result<Self, BoxError> {
        let (client, connection) = tokio_postgres::connect(database, NoTls).await?;
        tokio::spawn(connection);
        client.batch_execute(&format!("SELECT wf_define('{DEFINITION}')")).await?;
        let service = HttpServer::forgetful().await;
        Ok(Self { database: database.to_owned(), program: program.to_owned(), client, service })
    }

    /// Starts instances that call this URL, in a transaction.
    async fn start(&self, url: &str, count: usize) -> Result<(), BoxError> {
        let input = json!({"url": url});
        self.client
            .batch_execute(&format!("SELECT count(wf_start('bench-call', '{input}')) FROM generate_series(1, {count})"))
            .await?;
        if count > 1 {
            let vacuum = "VACUUM ANALYZE workflow.bookmarks, workflow.tasks, workflow.instances";
            self.client.batch_execute(vacuum).await?;
        }
        Ok(())
    }

    /// Starts `wf work`. It is killed when it is dropped.
    fn work(&self, concurrency: usize) -> Result<Child, BoxError> {
        let worker = Command::new(&self.program)
            .args(["work", "--database", &self.database, "--concurrency", &concurrency.to_string()])
            .args(["--allow-addresses", &self.service.address.to_string(), "--timeout-seconds", "600"])
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        Ok(worker)
    }

    async fn finished(&self) -> Result<i64, BoxError> {
        let finished = "SELECT count(*) FROM workflow.instances WHERE status = 'Finished'";
        Ok(self.client.query_one(finished, &[]).await?.get(0))
    }

    async fn wait_for_arrivals(&self, count: usize) {
        while self.service.count() < count as u64 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Requests a second from the first to the last.
    fn rate(&self) -> f64 {
        self.service.take_times().map_or(0.0, |times| {
            let seconds = times.last.duration_since(times.first).as_secs_f64();
            (times.count - 1) as f64 / seconds
        })
    }
}

/// Claims and answers tasks by SQL alone, in two sessions. Tasks a second.
async fn by_sql(bench: &Bench, count: usize) -> Result<f64, BoxError> {
    bench.start("http://127.0.0.1", count).await?;
    let begun = Instant::now();
    let session = async || -> Result<(), BoxError> {
        let (client, connection) = tokio_postgres::connect(&bench.database, NoTls).await?;
        tokio::spawn(connection);
        while let Some(answers) = client.query_one(CLAIM, &[]).await?.get::<_, Option<String>>(0) {
            client.query_one("SELECT count(*) FROM wf_complete_tasks($1::text::jsonb)", &[&answers]).await?;
        }
        Ok(())
    };
    let (one, other) = tokio::join!(session(), session());
    one.and(other)?;
    Ok(count as f64 / begun.elapsed().as_secs_f64())
}

/// All sides in turns, both programs with the same requests in flight.
async fn rates(bench: &Bench, ms: u64, count: usize, in_flight: &str) -> Result<(), BoxError> {
    let url = format!("http://{}/after/{ms}", bench.service.address);
    for round in 0..ROUNDS {
        let mut rates = [0.0; 2];
        for side in if round % 2 == 0 { [0, 1] } else { [1, 0] } {
            bench.service.take_times();
            if side == 0 {
                let mut sender = Command::new(std::env::current_exe()?)
                    .args(["send", &url, &count.to_string(), in_flight])
                    .kill_on_drop(true)
                    .spawn()?;
                bench.wait_for_arrivals(count).await;
                rates[0] = bench.rate();
                sender.wait().await?;
            } else {
                bench.start(&url, count).await?;
                let before = bench.finished().await?;
                let worker = bench.work(in_flight.parse()?)?;
                bench.wait_for_arrivals(count).await;
                rates[1] = bench.rate();
                while bench.finished().await? < before + count as i64 {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                drop(worker);
            }
        }
        let [plain, work] = rates;
        println!("plain {plain}\nwork {work}\nratio {}", work / plain);
        if ms == 0 {
            let sql = by_sql(bench, count).await?;
            println!("sql {sql}\nratio_sql {}", work / sql);
        }
    }
    Ok(())
}

/// An idle worker is woken, again and again.
async fn wakeup(bench: &Bench, count: usize) -> Result<(), BoxError> {
    let url = format!("http://{}/after/0", bench.service.address);
    let worker = bench.work(100)?;
    // The first calls make its connections.
    let mut times = Vec::new();
    for call in 0..count + 20 {
        bench.service.take_times();
        bench.start(&url, 1).await?;
        let committed = Instant::now();
        bench.wait_for_arrivals(1).await;
        let arrived = bench.service.take_times().map_or(committed, |times| times.first);
        if call >= 20 {
            times.push(arrived.saturating_duration_since(committed).as_secs_f64() * 1000.0);
        }
        // It goes back to sleep.
        tokio::time::sleep(Duration::from_millis(10 + (call as u64 * 7) % 20)).await;
    }
    times.sort_by(f64::total_cmp);
    println!("p50 {}\np99 {}", times[count / 2], times[count * 99 / 100]);
    drop(worker);
    Ok(())
}

/// Memory of the worker while a service holds all of its requests.
async fn memory(bench: &Bench, count: usize) -> Result<(), BoxError> {
    let worker = bench.work(count)?;
    let pid = worker.id().ok_or("the worker has ended")?;
    let idle = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%wf_wait_tasks%' AND state = 'active' AND pid <> pg_backend_pid()";
    while bench.client.query_one(idle, &[]).await?.get::<_, i64>(0) == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    println!("idle {}", resident_mb(pid)?);
    bench.start(&bench.service.url("held", &["hold"; 1]), count).await?;
    while bench.service.held().len() < count {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    println!("in_flight {}", resident_mb(pid)?);
    drop(worker);
    Ok(())
}

fn resident_mb(pid: u32) -> Result<f64, BoxError> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? / 1024.0)
}

/// Sends requests with the settings of the worker, and reads the answers.
async fn send(url: &str, count: usize, in_flight: usize) -> Result<(), BoxError> {
    rustls::crypto::ring::default_provider().install_default().map_err(|_| "there are two TLS providers")?;
    let client = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .connect_timeout(Duration::from_secs(10))
        .pool_idle_timeout(Duration::from_secs(4))
        .user_agent("workflow")
        .build()?;
    let sent = Arc::new(AtomicUsize::new(0));
    let senders: Vec<_> = (0..in_flight)
        .map(|_| {
            let (client, url, sent) = (client.clone(), url.to_owned(), Arc::clone(&sent));
            tokio::spawn(async move {
                loop {
                    let number = sent.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return Ok::<(), reqwest::Error>(());
                    }
                    let request = client
                        .post(&url)
                        .header("Content-Type", "application/json")
                        .header("Idempotency-Key", number.to_string())
                        .timeout(Duration::from_secs(600))
                        .body(r#"{"amount": 60}"#);
                    request.send().await?.bytes().await?;
                }
            })
        })
        .collect();
    for sender in senders {
        sender.await??;
    }
    Ok(())
}
