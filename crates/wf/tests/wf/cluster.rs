//! Private PostgreSQL servers for tests of authentication, of a server that stops, or of two servers.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use uuid::Uuid;

use crate::support::{NEVER, connect, create_roles, shared_server, wait_until};

/// The superuser connects without a password, also to replicate.
const SUPERUSER: &str = "local all,replication postgres trust\n";

/// A server of the same installation as the shared one, run by the same operating system user. It stops when this value
/// is dropped, or when the shared server's folder is removed.
pub struct Cluster {
    folder: PathBuf,
    programs: PathBuf,
    owner: (u32, u32),
    port: u16,
}

impl Cluster {
    /// A server that listens on a socket, with these lines of `pg_hba.conf` and these settings. It has the roles and
    /// the template database of the shared server.
    pub fn new(hba: &str, settings: &[&str]) -> Self {
        Self::at(5432, hba, settings)
    }

    /// The same with its own port, to be reached over the network.
    pub fn at(port: u16, hba: &str, settings: &[&str]) -> Self {
        let cluster = Self::beside_shared(port);
        let data = cluster.data();
        cluster.run("initdb", &["-D", &data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N"]);
        let socket = format!("unix_socket_directories = '{}'", cluster.folder.display());
        let fixed = [
            socket.as_str(),
            "listen_addresses = ''",
            &format!("port = {port}"),
            "fsync = off",
            "max_connections = 100",
            "shared_preload_libraries = 'workflow'",
        ];
        cluster.append("data/postgresql.conf", &[&fixed, settings].concat().join("\n"));
        fs::write(cluster.folder.join("data/pg_hba.conf"), format!("{SUPERUSER}{hba}")).expect("pg_hba.conf");
        cluster.start();
        connect(&cluster.address(), "postgres").batch_execute("CREATE DATABASE workflow_template").expect("a database");
        connect(&cluster.address(), "workflow_template").batch_execute("CREATE EXTENSION workflow").expect("workflow");
        create_roles(&cluster.address());
        cluster
    }

    /// A standby of this server. Returns when it is connected.
    pub fn standby(&self) -> Self {
        let standby = Self::beside_shared(self.port);
        let (from, data) = (self.folder.display().to_string(), standby.data());
        self.run("pg_basebackup", &["-h", &from, "-U", "postgres", "-D", &data, "-c", "fast", "-N", "-R"]);
        let socket = format!("unix_socket_directories = '{}'", standby.folder.display());
        standby.append("data/postgresql.conf", &socket);
        standby.start();
        standby
    }

    fn beside_shared(port: u16) -> Self {
        let mut shared = connect(&shared_server(), "postgres");
        let mut setting = |query: &str| -> String { shared.query_one(query, &[]).expect("a setting").get(0) };
        let sockets = setting("SELECT current_setting('unix_socket_directories')");
        let programs = setting("SELECT setting FROM pg_config WHERE name = 'BINDIR'");
        // Short, because the path of a socket is limited.
        let id = Uuid::now_v7().simple().to_string();
        let folder = Path::new(&sockets).join(&id[26..]);
        fs::create_dir(&folder).expect("a folder for a server");
        let owner = fs::metadata(&sockets).map(|folder| (folder.uid(), folder.gid())).expect("its folder");
        chown(&folder, Some(owner.0), Some(owner.1)).expect("a folder of the server's user");
        Self { folder, programs: programs.into(), owner, port }
    }

    /// Connection options without a role and a database.
    pub fn address(&self) -> String {
        format!("host={} port={}", self.folder.display(), self.port)
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn start(&self) {
        let log = self.folder.join("log").display().to_string();
        self.run("pg_ctl", &["-D", &self.data(), "-l", &log, "-s", "-w", "start"]);
    }

    /// Stops it in a mode of `pg_ctl`. `immediate` is like a power failure.
    pub fn stop(&self, mode: &str) {
        self.run("pg_ctl", &["-D", &self.data(), "-m", mode, "-s", "-w", "stop"]);
    }

    /// Tells it to stop after the last client has disconnected.
    pub fn begin_to_stop(&self) {
        self.run("pg_ctl", &["-D", &self.data(), "-m", "smart", "-s", "-W", "stop"]);
    }

    /// Kills its main process, as the kernel does when memory is short. Returns when the children have noticed it and are
    /// gone, so that the server can start again.
    #[allow(dead_code, reason = "of the tests that contain this module, only kills.rs does this")]
    pub fn kill(&self) {
        let postmaster = self.postmaster();
        // It starts no other process from now on.
        signal("-STOP", std::slice::from_ref(&postmaster));
        let children = children_of(&postmaster);
        signal("-KILL", std::slice::from_ref(&postmaster));
        let is_gone = |pid: &String| process(pid).is_none();
        wait_until("the server's processes are gone", || is_gone(&postmaster) && children.iter().all(is_gone));
    }

    /// Stops all of its processes with SIGSTOP until the guard is dropped. The operating system still accepts
    /// connections for them.
    pub fn freeze(&self) -> Frozen {
        let postmaster = self.postmaster();
        let mut frozen = Frozen(vec![postmaster.clone()]);
        // It starts no other process from now on.
        signal("-STOP", &frozen.0);
        frozen.0.extend(children_of(&postmaster));
        signal("-STOP", &frozen.0);
        frozen
    }

    /// The id of its main process.
    fn postmaster(&self) -> String {
        let pid = fs::read_to_string(self.folder.join("data/postmaster.pid")).expect("its process");
        pid.lines().next().expect("a number").trim().to_owned()
    }

    /// Promotes a standby to a primary.
    pub fn promote(&self) {
        self.run("pg_ctl", &["-D", &self.data(), "-s", "-w", "promote"]);
    }

    /// Runs SQL as the superuser, outside of transactions and databases of worlds.
    pub fn sql(&self, text: &str) {
        connect(&self.address(), "postgres").batch_execute(text).unwrap_or_else(|error| panic!("{error:?} in {text}"));
    }

    /// Waits until a query returns true for the superuser.
    pub fn wait_until(&self, query: &str) {
        let mut client = connect(&self.address(), "postgres");
        wait_until(query, || client.query_one(query, &[]).expect("an answer").get(0));
    }

    /// Writes a file that only the server's user can read.
    pub fn write(&self, name: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.folder.join(name);
        fs::write(&path, text).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("its mode");
        chown(&path, Some(self.owner.0), Some(self.owner.1)).expect("its owner");
    }

    fn append(&self, name: &str, text: &str) {
        let path = self.folder.join(name);
        let before = fs::read_to_string(&path).expect("a file");
        fs::write(&path, format!("{before}\n{text}\n")).expect("a file");
    }

    fn data(&self) -> String {
        self.folder.join("data").display().to_string()
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let status = self.command(program, arguments).status().expect("a program of PostgreSQL");
        let log = || fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        assert!(status.success(), "{program} {arguments:?}: {status}\n{}", log());
    }

    /// Runs as the server's user, since PostgreSQL refuses to run as root, and without the caller's environment.
    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command.args(arguments).current_dir(&self.folder).env_clear().env("LC_ALL", "C.UTF-8");
        command.env("PGCTLTIMEOUT", NEVER.as_secs().to_string());
        command.env("PATH", "/usr/bin:/bin").stdin(Stdio::null()).stdout(Stdio::null());
        if fs::metadata("/proc/self").expect("this process").uid() != self.owner.0 {
            command.uid(self.owner.0).gid(self.owner.1);
        }
        command
    }
}

/// The state of a process, and the id of its parent.
fn process(pid: &str) -> Option<(String, String)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    Some((fields.next()?.to_owned(), fields.next()?.to_owned()))
}

fn children_of(parent: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").expect("processes").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().into_string().ok());
    pids.filter(|pid| process(pid).is_some_and(|(_, of)| of == parent)).collect()
}

fn signal(name: &str, pids: &[String]) {
    let _ = Command::new("kill").arg(name).args(pids).stderr(Stdio::null()).status();
}

/// Processes stopped by SIGSTOP.
pub struct Frozen(Vec<String>);

impl Drop for Frozen {
    fn drop(&mut self) {
        signal("-CONT", &self.0);
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let data = self.data();
        let stop = self
            .command("pg_ctl", &["-D", &data, "-m", "immediate", "-s", "-w", "stop"])
            .stderr(Stdio::null())
            .status();
        drop(stop);
        let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        let _ = fs::remove_dir_all(&self.folder);
        // A crashed backend would have been replaced before a test could see it.
        let crash = log.lines().find(|line| line.contains("PANIC") || line.contains("terminated by signal"));
        assert!(std::thread::panicking() || crash.is_none(), "{crash:?}");
    }
}
