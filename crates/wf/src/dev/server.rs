//! The private PostgreSQL: its programs, its data, and what a new one gets.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::Failure;

/// The server listens only on a socket in its folder, so that ports of two servers cannot collide.
pub const PORT: u16 = 5432;

/// The file that names the build for which the data was made. It marks the folder as one of `wf dev`.
pub const BUILD: &str = ".wf-dev-build";

const EXAMPLES: [(&str, &str); 13] = [
    ("approval-escalation", include_str!("../../../../examples/approval-escalation.sql")),
    ("custom-approval", include_str!("../../../../examples/custom-approval.sql")),
    ("document-review", include_str!("../../../../examples/document-review.sql")),
    ("event-order", include_str!("../../../../examples/event-order.sql")),
    ("leave-approval", include_str!("../../../../examples/leave-approval.sql")),
    ("nightly-batch", include_str!("../../../../examples/nightly-batch.sql")),
    ("onboarding", include_str!("../../../../examples/onboarding.sql")),
    ("order-compensation", include_str!("../../../../examples/order-compensation.sql")),
    ("order-migration", include_str!("../../../../examples/order-migration.sql")),
    ("payment", include_str!("../../../../examples/payment.sql")),
    ("row-trigger", include_str!("../../../../examples/row-trigger.sql")),
    ("studio-approval", include_str!("../../../../examples/studio-approval.sql")),
    ("team-inbox", include_str!("../../../../examples/team-inbox.sql")),
];
const DEMO: &str = include_str!("demo.sql");

/// The user of the server.
#[derive(Clone, Copy)]
pub struct Account {
    pub uid: u32,
    pub gid: u32,
}

impl Account {
    /// That of a name, or the user of this process.
    pub fn of(name: Option<&str>) -> Result<Self, Failure> {
        let own = fs::metadata("/proc/self")?;
        let account = match name {
            None => Self { uid: own.uid(), gid: own.gid() },
            Some(name) => {
                let users = fs::read_to_string("/etc/passwd")?;
                let fields = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
                let found = fields.filter(|fields| fields.first() == Some(&name)).find_map(|fields| {
                    Some(Self { uid: fields.get(2)?.parse().ok()?, gid: fields.get(3)?.parse().ok()? })
                });
                found.ok_or_else(|| format!("there is no user {name}"))?
            }
        };
        match account.uid {
            0 => Err("PostgreSQL refuses to run as root: name another user with --server-user".into()),
            _ => Ok(account),
        }
    }
}

pub struct Server {
    programs: PathBuf,
    /// The library of the extension.
    library: PathBuf,
    folder: PathBuf,
    account: Account,
}

impl Server {
    /// The PostgreSQL of a pg_config; it must have the extension.
    pub fn find(pg_config: &Path, folder: PathBuf, user: Option<&str>) -> Result<Self, Failure> {
        let value = |option: &str| -> Result<PathBuf, Failure> {
            let output = Command::new(pg_config).arg(option).output();
            let output = output.map_err(|error| {
                format!("cannot run {}: {error}. Name that of a PostgreSQL with --pg-config", pg_config.display())
            })?;
            Ok(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim_end()))
        };
        let (programs, shared) = (value("--bindir")?, value("--sharedir")?);
        if !shared.join("extension/workflow.control").exists() {
            let version = value("--version")?;
            return Err(format!(
                "the {} of {} has no extension workflow: install its package, or name another one with --pg-config",
                version.display(),
                programs.display()
            )
            .into());
        }
        let library = value("--pkglibdir")?.join("workflow.so");
        Ok(Self { programs, library, folder, account: Account::of(user)? })
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// A program of PostgreSQL, as the server's user, with nothing of the caller's environment.
    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LC_ALL", "C.UTF-8");
        command.env("HOME", &self.folder).current_dir(&self.folder).stdin(Stdio::null());
        if fs::metadata("/proc/self").is_ok_and(|own| own.uid() != self.account.uid) {
            command.uid(self.account.uid).gid(self.account.gid);
        }
        command
    }

    pub fn is_running(&self) -> bool {
        let mut status = self.program("pg_ctl");
        status.arg("-D").arg(self.data()).arg("status").stdout(Stdio::null()).stderr(Stdio::null());
        self.data().exists() && status.status().is_ok_and(|status| status.success())
    }

    /// What another database is needed for: another extension, or another program.
    fn build(&self) -> Result<String, Failure> {
        let stamp =
            |path: &Path| fs::metadata(path).map(|of| format!("{} {} {}", path.display(), of.len(), of.mtime()));
        Ok(format!("{}\n{}\n", stamp(&self.library)?, stamp(&std::env::current_exe()?)?))
    }

    /// Whether the data is that of this build.
    pub fn is_current(&self) -> bool {
        let of_data = fs::read_to_string(self.folder.join(BUILD)).ok();
        of_data.is_some() && of_data == self.build().ok()
    }

    pub fn start(&self) -> Result<(), Failure> {
        eprintln!("starting PostgreSQL in {}", self.folder.display());
        let mut start = self.program("pg_ctl");
        start
            .arg("-D")
            .arg(self.data())
            .arg("-l")
            .arg(self.folder.join("log"))
            .args(["-s", "-w", "-t", "600", "start"]);
        done(&mut start, "the server does not start; its log is in the folder")
    }

    pub fn stop(&self) -> Result<(), Failure> {
        if !self.is_running() {
            return Ok(());
        }
        let mut stop = self.program("pg_ctl");
        stop.arg("-D").arg(self.data()).args(["-m", "fast", "-s", "-w", "-t", "600", "stop"]);
        done(&mut stop, "the server does not stop")
    }

    pub fn has_data(&self) -> bool {
        self.data().exists()
    }

    pub fn remove(&self) -> Result<(), Failure> {
        // Of no build, until all is created.
        fs::write(self.folder.join(BUILD), "")?;
        match fs::remove_dir_all(self.data()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Makes a server with the role demo, which owns a database with the examples.
    pub fn create(&self) -> Result<(), Failure> {
        let mut init = self.program("initdb");
        init.arg("-D").arg(self.data()).args(["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N"]);
        done(init.stdout(Stdio::null()), "initdb has failed")?;
        let mut settings = fs::OpenOptions::new().append(true).open(self.data().join("postgresql.conf"))?;
        // The examples fire due timers themselves, at the step that shows it.
        writeln!(
            settings,
            "listen_addresses = ''\nport = {PORT}\nunix_socket_directories = '{}'\n\
             unix_socket_permissions = 0700\n\
             shared_preload_libraries = 'workflow'\nworkflow.launch_workers = off",
            self.folder.display()
        )?;
        // The gateway accepts a password only if the server asks for one.
        fs::write(self.data().join("pg_hba.conf"), "local all postgres trust\nlocal all all scram-sha-256\n")?;
        self.start()?;
        self.fill()?;
        self.sql("postgres", "ALTER SYSTEM SET workflow.launch_workers = on")?;
        self.sql("postgres", "SELECT pg_reload_conf()")?;
        Ok(fs::write(self.folder.join(BUILD), self.build()?)?)
    }

    fn fill(&self) -> Result<(), Failure> {
        let password = self.new_password()?;
        let roles = format!(
            "SET password_encryption = 'scram-sha-256';
             CREATE ROLE workflow_gateway LOGIN NOINHERIT PASSWORD '{password}';
             GRANT SET ON PARAMETER workflow.actor TO workflow_gateway;
             CREATE ROLE demo LOGIN PASSWORD '{password}';
             GRANT demo TO workflow_gateway;"
        );
        self.sql("postgres", &roles)?;
        self.sql("postgres", "CREATE DATABASE workflow OWNER demo")?;
        self.sql("workflow", "CREATE EXTENSION workflow; SELECT wf_grant_usage('demo')")?;
        let log = fs::OpenOptions::new().create(true).append(true).open(self.folder.join("examples.log"))?;
        for (name, text) in EXAMPLES {
            eprintln!("example {name}");
            // Steps that need a superuser are left out: the definitions do not need them.
            let text = format!("SET SESSION AUTHORIZATION demo;\n{text}");
            let mut psql = self.psql("workflow");
            psql.stdout(log.try_clone()?).stderr(log.try_clone()?);
            let _ = fed(&mut psql, &text)?;
        }
        self.sql("workflow", DEMO)
    }

    /// A random password of the roles, in a file that only the owner may read: other users can reach the gateway.
    fn new_password(&self) -> Result<String, Failure> {
        let password = workflow_gateway::new_key_line().chars().filter(char::is_ascii_alphanumeric).take(16).collect();
        let path = self.folder.join("password");
        let _ = fs::remove_file(&path);
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        writeln!(file, "{password}")?;
        Ok(password)
    }

    fn psql(&self, database: &str) -> Command {
        let mut psql = self.program("psql");
        psql.args(["-X", "-q", "-U", "postgres", "-d", database, "-p", &PORT.to_string(), "-f", "-", "-h"]);
        psql.arg(&self.folder);
        psql
    }

    fn sql(&self, database: &str, text: &str) -> Result<(), Failure> {
        let mut psql = self.psql(database);
        psql.args(["-v", "ON_ERROR_STOP=1"]).stdout(Stdio::null());
        match fed(&mut psql, text)? {
            true => Ok(()),
            false => Err("a statement that prepares the server has failed".into()),
        }
    }
}

/// Runs a program with a text as its standard input. Returns whether it succeeded.
fn fed(command: &mut Command, text: &str) -> Result<bool, Failure> {
    let mut running = command.stdin(Stdio::piped()).spawn()?;
    if let Some(mut input) = running.stdin.take() {
        // It may end before it has read all.
        let _ = input.write_all(text.as_bytes());
    }
    Ok(running.wait()?.success())
}

fn done(command: &mut Command, problem: &str) -> Result<(), Failure> {
    match command.status()?.success() {
        true => Ok(()),
        false => Err(problem.into()),
    }
}
