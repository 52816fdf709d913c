//! Measures requests through the gateway, compared with the same calls without it. `bench/gateway.sh` runs this:
//!
//! ```text
//! load tasks  URL KEY DATABASE   completions: p50 of one client, and completions a second of 16
//! load get    URL KEY PATH       p50 and p99 of a GET, in ms
//! load files  URL KEY            all files whose paths standard input has, as a browser gets them: ms to the last
//!                                byte, and MB
//! load saves  URL KEY COUNT MB   saves of a definition of so many MB
//! load hubs   URL KEY COUNT      so many open hubs, until standard input ends
//! ```
//!
//! DATABASE is a connection string of a superuser. Each line printed is a name and a number.

use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, NoTls};
use uuid::Uuid;

const CLIENTS: usize = 16;
const LATENCY_CALLS: usize = 1000;
const THROUGHPUT_CALLS: usize = 6000;
const ROUNDS: usize = 9;
/// Connections that a browser opens to a host.
const BROWSER_CONNECTIONS: usize = 6;
/// The result of wf_complete_task is not read; it only has to exist.
const COMPLETE: &str = "SELECT 1 FROM wf_complete_task($1, '{\"by\": \"Ada\"}')";

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A persistent HTTP/1.1 connection of a client.
struct Http {
    stream: TcpStream,
    host: String,
    key: String,
    received: Vec<u8>,
}

impl Http {
    async fn connect(url: &str, key: &str) -> Result<Self, BoxError> {
        let host = url.trim_start_matches("http://").to_owned();
        let stream = TcpStream::connect(&host).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, host, key: key.to_owned(), received: Vec::new() })
    }

    /// Sends a request and reads the whole answer. Fails unless its status is one of success.
    async fn send(&mut self, method: &str, path: &str, body: &str) -> Result<(), BoxError> {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: ApiKey {}\r\nContent-Type: application/json\r\n\
             Accept-Encoding: br\r\nContent-Length: {}\r\n\r\n",
            self.host,
            self.key,
            body.len()
        );
        self.stream.write_all(&[head.as_bytes(), body.as_bytes()].concat()).await?;
        self.received.clear();
        let (head_end, length) = loop {
            if self.stream.read_buf(&mut self.received).await? == 0 {
                return Err("the gateway closed the connection".into());
            }
            if let Some(end) = self.received.windows(4).position(|four| four == b"\r\n\r\n") {
                break (end + 4, content_length(&self.received[..end])?);
            }
        };
        while self.received.len() < head_end + length {
            self.stream.read_buf(&mut self.received).await?;
        }
        if self.received.starts_with(b"HTTP/1.1 2") {
            return Ok(());
        }
        Err(String::from_utf8_lossy(&self.received).into_owned().into())
    }
}

fn content_length(head: &[u8]) -> Result<usize, BoxError> {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:").map(str::trim).map(str::to_owned));
    Ok(length.map_or(Ok(0), |length| length.parse())?)
}

/// A client that completes tasks, directly or through the gateway.
enum Worker {
    Direct(Client),
    Through(Http),
}

impl Worker {
    async fn complete(&mut self, task: Uuid) -> Result<(), BoxError> {
        match self {
            Self::Direct(client) => {
                let values: [(&(dyn ToSql + Sync), Type); 1] = [(&task, Type::UUID)];
                let (begun, role, done, committed) = tokio::join!(
                    client.batch_execute("BEGIN"),
                    client.batch_execute("SET LOCAL ROLE bench_worker"),
                    client.query_typed(COMPLETE, &values),
                    client.batch_execute("COMMIT"),
                );
                begun?;
                role?;
                done?;
                Ok(committed?)
            }
            Self::Through(http) => {
                http.send("POST", &format!("/elsa/api/tasks/{task}/complete"), r#"{"result": {"by": "Ada"}}"#).await
            }
        }
    }
}

async fn connect(database: &str) -> Result<Client, BoxError> {
    let (client, connection) = tokio_postgres::connect(database, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// Creates this many open tasks for the role `bench_worker`.
async fn open_tasks(client: &Client, count: usize) -> Result<Vec<Uuid>, BoxError> {
    let start =
        format!("SET ROLE bench_worker; SELECT wf_start('bench-task') FROM generate_series(1, {count}); RESET ROLE");
    client.batch_execute(&start).await?;
    let rows = client.query("SELECT id FROM workflow.tasks WHERE status = 'Open'", &[]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// The time of each completion by one client, in ms.
async fn latencies(worker: &mut Worker, tasks: &[Uuid]) -> Result<Vec<f64>, BoxError> {
    let mut times = Vec::with_capacity(tasks.len());
    for task in tasks {
        let begun = Instant::now();
        worker.complete(*task).await?;
        times.push(begun.elapsed().as_secs_f64() * 1000.0);
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}

/// Completions per second of all workers together.
async fn rate(workers: Vec<Worker>, tasks: Vec<Uuid>) -> Result<f64, BoxError> {
    let (tasks, next, begun) = (Arc::new(tasks), Arc::new(AtomicUsize::new(0)), Instant::now());
    let mut running = tokio::task::JoinSet::new();
    for mut worker in workers {
        let (tasks, next) = (tasks.clone(), next.clone());
        running.spawn(async move {
            while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                worker.complete(*task).await?;
            }
            Ok::<_, BoxError>(())
        });
    }
    while let Some(done) = running.join_next().await {
        done??;
    }
    Ok(tasks.len() as f64 / begun.elapsed().as_secs_f64())
}

async fn tasks(url: &str, key: &str, database: &str) -> Result<(), BoxError> {
    let admin = connect(database).await?;
    for round in 0..ROUNDS {
        let mut p50 = [0.0; 2];
        let mut rates = [0.0; 2];
        // The two sides take turns in going first.
        for side in [round % 2, 1 - round % 2] {
            let opened = open_tasks(&admin, LATENCY_CALLS).await?;
            let mut one = if side == 0 {
                Worker::Direct(connect(database).await?)
            } else {
                Worker::Through(Http::connect(url, key).await?)
            };
            p50[side] = percentile(&latencies(&mut one, &opened).await?, 50);
            let mut workers = Vec::new();
            for _ in 0..CLIENTS {
                workers.push(if side == 0 {
                    Worker::Direct(connect(database).await?)
                } else {
                    Worker::Through(Http::connect(url, key).await?)
                });
            }
            let opened = open_tasks(&admin, THROUGHPUT_CALLS).await?;
            rates[side] = rate(workers, opened).await?;
        }
        println!(
            "direct_p50 {:.4}\nthrough_p50 {:.4}\nextra {:.4}\nratio {:.4}",
            p50[0],
            p50[1],
            p50[1] - p50[0],
            rates[1] / rates[0]
        );
    }
    Ok(())
}

async fn get(url: &str, key: &str, path: &str) -> Result<(), BoxError> {
    let mut http = Http::connect(url, key).await?;
    http.send("GET", path, "").await?;
    let mut times = Vec::new();
    for _ in 0..300 {
        let begun = Instant::now();
        http.send("GET", path, "").await?;
        times.push(begun.elapsed().as_secs_f64() * 1000.0);
    }
    times.sort_by(f64::total_cmp);
    println!("p50 {:.3}\np99 {:.3}", percentile(&times, 50), percentile(&times, 99));
    Ok(())
}

/// The first round warms up and is not counted.
async fn files(url: &str, key: &str) -> Result<(), BoxError> {
    let paths: Arc<Vec<String>> = Arc::new(std::io::stdin().lines().collect::<Result<_, _>>()?);
    for round in 0..=ROUNDS {
        let (next, bytes, begun) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)), Instant::now());
        let mut running = tokio::task::JoinSet::new();
        for _ in 0..BROWSER_CONNECTIONS {
            let (paths, next, bytes) = (paths.clone(), next.clone(), bytes.clone());
            let mut http = Http::connect(url, key).await?;
            running.spawn(async move {
                while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
                    http.send("GET", path, "").await?;
                    bytes.fetch_add(http.received.len(), Ordering::Relaxed);
                }
                Ok::<_, BoxError>(())
            });
        }
        while let Some(done) = running.join_next().await {
            done??;
        }
        if round > 0 {
            println!("files {:.1}", begun.elapsed().as_secs_f64() * 1000.0);
            println!("megabytes {:.1}", bytes.load(Ordering::Relaxed) as f64 / 1e6);
        }
    }
    Ok(())
}

async fn saves(url: &str, key: &str, count: usize, megabytes: usize) -> Result<(), BoxError> {
    let mut http = Http::connect(url, key).await?;
    let text = "x".repeat(megabytes * 1024 * 1024);
    for number in 0..count {
        let body = format!(
            r#"{{"model": {{"definitionId": "bench-save", "name": "Bench {number}", "root": {{"type": "Elsa.WriteLine", "id": "w", "text": {{"typeName": "String", "expression": {{"type": "Literal", "value": "{text}"}}}}}}}}, "publish": false}}"#
        );
        http.send("POST", "/elsa/api/workflow-definitions", &body).await?;
    }
    println!("saves {count}");
    Ok(())
}

/// Opens the hub as a browser does, and reads its messages.
async fn hubs(url: &str, key: &str, count: usize) -> Result<(), BoxError> {
    let mut open = Vec::with_capacity(count);
    for _ in 0..count {
        let mut http = Http::connect(url, key).await?;
        let head = format!(
            "GET /elsa/hubs/workflow-instance?id=bench HTTP/1.1\r\nHost: {}\r\nAuthorization: ApiKey {}\r\nConnection: Upgrade\r\n\
             Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            http.host, http.key
        );
        http.stream.write_all(head.as_bytes()).await?;
        let answered = http.stream.read_buf(&mut http.received).await?;
        if answered == 0 || !http.received.starts_with(b"HTTP/1.1 101") {
            return Err(String::from_utf8_lossy(&http.received).into_owned().into());
        }
        open.push(http);
    }
    println!("hubs {}", open.len());
    tokio::time::sleep(Duration::from_secs(2)).await;
    tokio::task::spawn_blocking(|| std::io::stdin().read(&mut [0])).await??;
    Ok(())
}

/// A percentile of sorted numbers.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)]
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tasks", url, key, database] => tasks(url, key, database).await,
        ["get", url, key, path] => get(url, key, path).await,
        ["files", url, key] => files(url, key).await,
        ["saves", url, key, count, megabytes] => saves(url, key, count.parse()?, megabytes.parse()?).await,
        ["hubs", url, key, count] => hubs(url, key, count.parse()?).await,
        _ => Err("see the first lines of this file".into()),
    }
}
