//! `wf dev`: a private PostgreSQL with examples, and the services beside it.

mod options;
mod server;
mod services;

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use clap::Args;
use workflow_services::addresses::ListedAddress;

use crate::failure::Failure;
use options::KeptOptions;
use server::Server;

/// Start a private PostgreSQL with examples, the gateway with Elsa Studio, and the worker for services
///
/// It needs a PostgreSQL with the extension; no server of the machine is touched. It returns when all is ready and
/// leaves it running; a second call uses what runs, and `wf dev --stop` ends it. The data stays until --fresh, or until
/// the extension or this program is another one. It prints how psql and the other commands reach the database. The last
/// two lines are an API key of the role demo, and the address. The folder keeps --pg-config, --server-user and
/// --allow-addresses for later calls.
#[derive(Debug, Args)]
pub struct DevArguments {
    /// Folder of the server, its socket, and the logs; by default /var/tmp/wf-dev-UID
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// pg_config of the PostgreSQL to use; by default the one on the PATH
    #[arg(long, value_name = "FILE")]
    pg_config: Option<PathBuf>,
    /// User to run PostgreSQL as, which refuses to run as root
    #[arg(long, value_name = "NAME")]
    server_user: Option<String>,
    /// Addresses to which the worker may connect besides public ones and 127.0.0.0/8 and ::1, as 10.0.0.0/8 or
    /// 192.168.1.7:8080
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',')]
    allow_addresses: Vec<ListedAddress>,
    /// Folder with Elsa Studio; if it is empty, Studio is fetched from a registry of npm packages, if one can be reached
    #[arg(long, value_name = "FOLDER")]
    studio: Option<PathBuf>,
    /// Begin with an empty database
    #[arg(long)]
    fresh: bool,
    /// End the services and the server
    #[arg(long, conflicts_with = "fresh")]
    stop: bool,
}

pub fn run(arguments: DevArguments) -> Result<(), Failure> {
    let folder = arguments.folder.clone().map_or_else(default_folder, Ok)?;
    let kept = KeptOptions::read(&folder)?;
    let options =
        kept.clone().with(arguments.pg_config.as_deref(), arguments.server_user.as_deref(), &arguments.allow_addresses);
    let folder = private_folder(folder, options.server_user.as_deref())?;
    let server = Server::find(options.pg_config(), folder.clone(), options.server_user.as_deref())?;
    if arguments.stop {
        services::stop(&folder)?;
        server.stop()?;
        eprintln!("stopped; the data stays in {}", folder.display());
        return Ok(());
    }
    let studio = arguments.studio.unwrap_or_else(|| folder.join("elsa-studio"));
    services::fetch_studio(&studio);
    prepare(&server, &folder, arguments.fresh)?;
    options.write(&folder)?;
    if !services::are_running(&folder) || kept.allow_addresses != options.allow_addresses {
        services::stop(&folder)?;
        services::start(&folder, &studio, &options.allowed())?;
    }
    let stop = match &arguments.folder {
        None => "wf dev --stop".to_owned(),
        Some(_) => format!("wf dev --folder {} --stop", quoted(&folder)),
    };
    say(&folder, &stop)
}

/// Starts the server, with new data if that is wanted or needed.
fn prepare(server: &Server, folder: &Path, fresh: bool) -> Result<(), Failure> {
    let is_current = server.is_current();
    if !fresh && is_current && server.is_running() {
        return Ok(());
    }
    services::stop(folder)?;
    server.stop()?;
    if !fresh && is_current {
        return server.start();
    }
    if !fresh && server.has_data() {
        eprintln!("removing the data, which another build of the extension or of this program has made");
    }
    server.remove()?;
    server.create()
}

/// Says how to use what runs. Programs read the lines on standard output, people all of them.
fn say(folder: &Path, stop: &str) -> Result<(), Failure> {
    let text = |name: &str| fs::read_to_string(folder.join(name)).map(|text| text.trim_end().to_owned());
    let password = text("password")?;
    eprintln!("log in as demo with the password {password}; `{stop}` ends it");
    if let Ok(endpoints) = text("endpoints") {
        eprintln!("endpoints of workflows: {endpoints}");
    }
    eprintln!("the database, for psql and for other commands of wf:");
    eprintln!(
        "export PGHOST={} PGPORT={} PGDATABASE=workflow PGUSER=demo PGPASSWORD={password}",
        quoted(folder),
        server::PORT
    );
    Ok(writeln!(std::io::stdout(), "key: {}\n{}", text("key")?, text("address")?)?)
}

/// A path as a word of a shell.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    match text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c)) {
        true => text,
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// Named after the user of this process, whatever user the server runs as: later calls find its options there.
fn default_folder() -> Result<PathBuf, Failure> {
    Ok(PathBuf::from(format!("/var/tmp/wf-dev-{}", fs::metadata("/proc/self")?.uid())))
}

/// The folder, which only the server's user may enter: that is what protects the socket, which asks the superuser for no
/// password.
fn private_folder(folder: PathBuf, server_user: Option<&str>) -> Result<PathBuf, Failure> {
    let user = server::Account::of(server_user)?;
    if !folder.exists() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        std::os::unix::fs::chown(&folder, Some(user.uid), Some(user.gid))?;
    }
    let folder = folder.canonicalize()?;
    let of = fs::metadata(&folder)?;
    if of.uid() != user.uid {
        return Err(format!("{} belongs to another user: name another one with --folder", folder.display()).into());
    }
    // A path of a socket has 107 bytes.
    if folder.as_os_str().len() > 80 {
        return Err(format!("{} is too long for a socket: name another one with --folder", folder.display()).into());
    }
    refuse_foreign(&folder)?;
    Ok(folder)
}

/// A folder that `wf dev` has not filled must not have files of the names that it writes and removes.
fn refuse_foreign(folder: &Path) -> Result<(), Failure> {
    const WRITTEN: [&str; 7] = ["address", "api-keys.toml", "cookie-keys", "data", "key", "log", "password"];
    if folder.join(server::BUILD).exists() {
        return Ok(());
    }
    match WRITTEN.iter().find(|name| folder.join(name).exists()) {
        Some(name) => {
            let folder = folder.display();
            Err(format!("{folder} has a file or folder {name} that is not of wf dev: name another one with --folder")
                .into())
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_of_a_shell() {
        assert_eq!(quoted(Path::new("/var/tmp/wf-dev-0")), "/var/tmp/wf-dev-0");
        assert_eq!(quoted(Path::new("/home/ada's files")), "'/home/ada'\\''s files'");
    }
}
