//! The gateway and the worker beside the private server, as processes that outlive this one.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::server::PORT;
use crate::failure::Failure;

/// The processes, by the names of the files with their ids. The gateway is the last to start.
const SERVICES: [&str; 2] = ["worker", "gateway"];
const PAUSE: Duration = Duration::from_millis(100);

/// Fetches Elsa Studio if it is not there. Without it, the pages that need it say so.
pub fn fetch_studio(folder: &Path) {
    if folder.join("_framework/blazor.webassembly.js").exists() {
        return;
    }
    let program = std::env::current_exe();
    // A process of its own, because its output must not be mixed with that of this command.
    let fetched = program.and_then(|program| {
        Command::new(program).args(["studio", "fetch", "--studio"]).arg(folder).stdout(Stdio::null()).status()
    });
    if !fetched.is_ok_and(|status| status.success()) {
        eprintln!("continuing without Elsa Studio: the inbox and the other pages work");
    }
}

pub fn are_running(folder: &Path) -> bool {
    SERVICES.iter().all(|service| running(folder, service).is_some())
}

/// The id of a process that runs. It may have been given to another program, or to a `wf` of another folder.
fn running(folder: &Path, service: &str) -> Option<String> {
    let id = fs::read_to_string(folder.join(format!("{service}.pid"))).ok()?.trim().to_owned();
    let arguments = fs::read(format!("/proc/{id}/cmdline")).ok()?;
    String::from_utf8_lossy(&arguments).contains(&server_of(folder)).then_some(id)
}

/// What begins the connection string of the services.
fn server_of(folder: &Path) -> String {
    format!("host={} port={PORT} ", folder.display())
}

pub fn stop(folder: &Path) -> Result<(), Failure> {
    for service in SERVICES {
        if let Some(id) = running(folder, service) {
            Command::new("kill").arg(&id).status()?;
            while running(folder, service).is_some() {
                std::thread::sleep(PAUSE);
            }
        }
        let _ = fs::remove_file(folder.join(format!("{service}.pid")));
    }
    Ok(())
}

/// Starts both, and returns when the gateway is ready.
pub fn start(folder: &Path, studio: &Path, allowed_addresses: &str) -> Result<(), Failure> {
    write_secret(folder, "cookie-keys", &workflow_gateway::new_key_line())?;
    let keys = folder.join("api-keys.toml");
    let _ = fs::remove_file(&keys);
    write_secret(folder, "key", &workflow_gateway::add_key(&keys, "demo", &[], None, "wf dev")?)?;
    let [address, endpoints] = free_ports()?.map(|port| format!("127.0.0.1:{port}"));
    fs::write(folder.join("address"), format!("http://{address}\n"))?;
    fs::write(folder.join("endpoints"), format!("http://{endpoints}\n"))?;
    service(folder, "worker", "demo", &["work", "--allow-addresses", allowed_addresses].map(str::to_owned))?;
    let file = |name: &str| folder.join(name).display().to_string();
    let arguments = ["serve", "--listen", &address, "--studio", &studio.display().to_string(), "--cookie-keys"];
    let files = [file("cookie-keys"), "--api-keys".into(), file("api-keys.toml")];
    let endpoints = ["--endpoints-listen".into(), endpoints, "--endpoints-role".into(), "demo".into()];
    let arguments: Vec<String> = arguments.iter().map(ToString::to_string).chain(files).chain(endpoints).collect();
    let mut gateway = service(folder, "gateway", "workflow_gateway", &arguments)?;
    while !is_ready(&address) {
        if gateway.try_wait()?.is_some() {
            let log = fs::read_to_string(folder.join("gateway.log"))?;
            return Err(format!("the gateway has ended:\n{log}").into());
        }
        std::thread::sleep(PAUSE);
    }
    Ok(())
}

/// Starts this program once more, as a process that does not end with the terminal.
fn service(folder: &Path, name: &str, role: &str, arguments: &[String]) -> Result<Child, Failure> {
    let log = fs::File::create(folder.join(format!("{name}.log")))?;
    let database = format!("{}dbname=workflow user={role}", server_of(folder));
    let mut command = Command::new(std::env::current_exe()?);
    command.args(arguments).args(["--config", "/dev/null", "--database", &database, "--database-password-file"]);
    command.arg(folder.join("password")).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).process_group(0);
    let process = command.spawn()?;
    fs::write(folder.join(format!("{name}.pid")), process.id().to_string())?;
    Ok(process)
}

/// Creates the file with its mode, so that no other user can ever read it.
fn write_secret(folder: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let path = folder.join(name);
    let _ = fs::remove_file(&path);
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    Ok(writeln!(file, "{text}")?)
}

fn free_ports() -> Result<[u16; 2], Failure> {
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    let mut free = (8080..8180).filter(is_free);
    match (free.next(), free.next()) {
        (Some(one), Some(other)) => Ok([one, other]),
        _ => Err("no two ports from 8080 to 8179 are free".into()),
    }
}

fn is_ready(address: &str) -> bool {
    let answer = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        write!(stream, "GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        Ok(text)
    };
    answer().is_ok_and(|text| text.starts_with("HTTP/1.1 200"))
}
