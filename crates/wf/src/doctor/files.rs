//! The files that options name: who may read them, and until when certificates are valid.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use workflow_gateway::ServeOptions;
use workflow_services::WorkOptions;
use x509_cert::Certificate;

use super::Findings;
use crate::connection::ConnectionArguments;

/// A certificate that is valid for less than this is a warning.
const SOON: Duration = Duration::from_secs(30 * 86_400);

pub fn of_serve(options: &ServeOptions, findings: &mut Findings) {
    if let Some(problem) = options.problem() {
        findings.error("options", problem, "wf serve --help explains the options");
    }
    let secrets = [
        ("cookie keys", &options.cookie_keys),
        ("API keys", &options.api_keys),
        ("TLS key", &options.tls_key),
        ("secret at the identity provider", &options.sign_on.oidc_client_secret_file),
    ];
    for (subject, path) in secrets {
        if let Some(path) = path {
            secret(subject, path, findings);
        }
    }
    if options.cookie_keys.is_none() {
        findings.warning(
            "cookie keys",
            "there is no file, so sessions end with the process, and no other gateway knows them",
            "wf cookie-key >FILE, and name it by --cookie-keys",
        );
    }
    if let Some(path) = &options.tls_certificate {
        certificates("TLS certificate", path, SystemTime::now(), findings);
    }
    if let Some(path) = &options.sign_on.oidc_ca {
        certificates("authorities of the identity provider", path, SystemTime::now(), findings);
    }
}

pub fn of_work(options: &WorkOptions, findings: &mut Findings) {
    if let Some(path) = &options.mail.smtp_password_file {
        secret("password of the mail server", path, findings);
    }
}

pub fn of_connection(connection: &ConnectionArguments, findings: &mut Findings) {
    if let Some(path) = &connection.database_password_file {
        secret("password file", path, findings);
    }
    if let Some(path) = &connection.database_ca {
        certificates("certificates of the database", path, SystemTime::now(), findings);
    }
}

/// Only its owner and its group may read a file with secrets, and only its owner may write it.
fn secret(subject: &'static str, path: &Path, findings: &mut Findings) {
    let name = path.display();
    match fs::metadata(path) {
        Err(error) => {
            findings.error(subject, format!("cannot read {name}: {error}"), "create it, or correct the option")
        }
        Ok(file) if file.permissions().mode() & 0o027 != 0 => {
            let mode = file.permissions().mode() & 0o777;
            let message = format!("{name} has the mode {mode:03o}: others may read it or change it");
            findings.error(subject, message, format!("chmod 600 {name}"));
        }
        Ok(_) => match fs::File::open(path) {
            Ok(_) => findings.ok(subject, format!("only its owner and its group may read {name}")),
            Err(error) => findings.error(
                subject,
                format!("this user cannot read {name}: {error}"),
                "run wf doctor as the user of the service, or correct the owner of the file",
            ),
        },
    }
}

fn certificates(subject: &'static str, path: &Path, now: SystemTime, findings: &mut Findings) {
    let name = path.display();
    let read = fs::read(path).map_err(|error| error.to_string());
    let chain = read.and_then(|text| Certificate::load_pem_chain(&text).map_err(|error| error.to_string()));
    let chain = match chain {
        Ok(chain) if !chain.is_empty() => chain,
        Ok(_) => return findings.error(subject, format!("{name} has no certificate (PEM)"), "correct the option"),
        Err(error) => return findings.error(subject, format!("cannot read {name}: {error}"), "correct the option"),
    };
    let ends = chain.iter().map(|one| one.tbs_certificate.validity.not_after.to_unix_duration()).min();
    let left = ends.and_then(|end| end.checked_sub(now.duration_since(UNIX_EPOCH).unwrap_or_default()));
    match left {
        None => {
            findings.error(subject, format!("a certificate of {name} has expired"), "renew it, and restart the service")
        }
        Some(left) => {
            let message = format!("the certificates of {name} are valid for {} more days", left.as_secs() / 86_400);
            if left < SOON {
                findings.warning(subject, message, "renew it, and restart the service");
            } else {
                findings.ok(subject, message);
            }
        }
    }
}
