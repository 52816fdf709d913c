//! `wf dev`: a private PostgreSQL with examples, and the services beside it.

mod server;
mod services;

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::failure::Failure;
use server::Server;

/// Start a private PostgreSQL with examples, the gateway with Elsa Studio, and the worker for services
///
/// It needs a PostgreSQL with the extension; no server of the machine is touched. It returns when all is ready and
/// leaves it running; a second call uses what runs, and `wf dev --stop` ends it. The data stays until --fresh, or until
/// the extension or this program is another one. The last two lines that it prints are an API key of the role demo, and
/// the address.
#[derive(Debug, Args)]
pub struct DevArguments {
    /// Folder of the server, its socket, and the logs; by default /var/tmp/wf-dev-UID
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// pg_config of the PostgreSQL to use
    #[arg(long, value_name = "FILE", default_value = "pg_config")]
    pg_config: PathBuf,
    /// User to run PostgreSQL as, which refuses to run as root
    #[arg(long, value_name = "NAME")]
    server_user: Option<String>,
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
    let folder = private_folder(arguments.folder, arguments.server_user.as_deref())?;
    let server = Server::find(&arguments.pg_config, folder.clone(), arguments.server_user.as_deref())?;
    if arguments.stop {
        services::stop(&folder)?;
        server.stop()?;
        eprintln!("stopped; the data stays in {}", folder.display());
        return Ok(());
    }
    let studio = arguments.studio.unwrap_or_else(|| folder.join("elsa-studio"));
    services::fetch_studio(&studio);
    let is_current = server.is_current();
    if arguments.fresh || !is_current || !server.is_running() {
        services::stop(&folder)?;
        server.stop()?;
        if arguments.fresh || !is_current {
            if !arguments.fresh && server.has_data() {
                eprintln!("removing the data, which another build of the extension or of this program has made");
            }
            server.remove()?;
            server.create()?;
        } else {
            server.start()?;
        }
    }
    if !services::are_running(&folder) {
        services::stop(&folder)?;
        services::start(&folder, &studio)?;
    }
    let password = fs::read_to_string(folder.join("password"))?;
    eprintln!("log in as demo with the password {}; `wf dev --stop` ends it", password.trim_end());
    if let Ok(endpoints) = fs::read_to_string(folder.join("endpoints")) {
        eprintln!("endpoints of workflows: {}", endpoints.trim_end());
    }
    let (key, address) = (fs::read_to_string(folder.join("key"))?, fs::read_to_string(folder.join("address"))?);
    Ok(writeln!(std::io::stdout(), "key: {}\n{}", key.trim_end(), address.trim_end())?)
}

/// The folder, which only the server's user may enter: that is what protects the socket, which asks the superuser for no
/// password.
fn private_folder(folder: Option<PathBuf>, server_user: Option<&str>) -> Result<PathBuf, Failure> {
    let user = server::Account::of(server_user)?;
    let folder = folder.unwrap_or_else(|| PathBuf::from(format!("/var/tmp/wf-dev-{}", user.uid)));
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
