//! Options of mail, and the mail server that they describe.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum, value_parser};
use lettre::message::Mailbox;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, TlsParameters};

use super::connections::MailServer;

/// How the connection to the mail server is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SmtpTls {
    /// From the first byte, by default on port 465
    Tls,
    /// By the command STARTTLS, by default on port 587; without it nothing is sent
    Starttls,
    /// Not at all, by default on port 25; only to this machine, or with --smtp-insecure
    None,
}

/// Options of `SendEmail`.
#[derive(Debug, Clone, Args)]
pub struct MailOptions {
    /// Mail server (SMTP); without it this worker does not claim SendEmail
    #[arg(long, env = "WF_WORK_SMTP_HOST", value_name = "HOST")]
    pub smtp_host: Option<String>,

    /// Port of the mail server; the default depends on --smtp-tls
    #[arg(long, env = "WF_WORK_SMTP_PORT", value_name = "PORT")]
    pub smtp_port: Option<u16>,

    /// Encryption of the connection to the mail server
    #[arg(long, env = "WF_WORK_SMTP_TLS", value_name = "MODE", default_value = "starttls")]
    pub smtp_tls: SmtpTls,

    /// Allow --smtp-tls none to other machines: messages and the password can be read on the way
    #[arg(long, env = "WF_WORK_SMTP_INSECURE")]
    pub smtp_insecure: bool,

    /// File of additional certificate authorities (PEM) that may sign the mail server's certificate
    #[arg(long, env = "WF_WORK_SMTP_CA_FILE", value_name = "FILE")]
    pub smtp_ca_file: Option<PathBuf>,

    /// User name at the mail server
    #[arg(long, env = "WF_WORK_SMTP_USER", value_name = "USER")]
    pub smtp_user: Option<String>,

    /// File with the password at the mail server
    #[arg(long, env = "WF_WORK_SMTP_PASSWORD_FILE", value_name = "FILE")]
    pub smtp_password_file: Option<PathBuf>,

    /// Sender of messages that name none, such as 'Shop <shop@example.com>'
    #[arg(long, env = "WF_WORK_SMTP_FROM", value_name = "ADDRESS")]
    pub smtp_from: Option<Mailbox>,

    /// Messages that are sent at the same time, each over a connection of its own
    #[arg(long, env = "WF_WORK_SMTP_CONNECTIONS", value_name = "N", default_value_t = 10,
          value_parser = value_parser!(u32).range(1..=1000))]
    pub smtp_connections: u32,

    /// Largest message in MB, with attachments as they are encoded (a third larger than the files)
    #[arg(long, env = "WF_WORK_SMTP_MAX_SIZE", value_name = "MB", default_value_t = 25,
          value_parser = value_parser!(u16).range(1..=1000))]
    pub smtp_max_size: u16,
}

impl MailOptions {
    /// Bytes of the largest message.
    pub(super) fn max_bytes(&self) -> usize {
        usize::from(self.smtp_max_size) * 1_000_000
    }

    /// The mail server.
    ///
    /// # Errors
    /// A message about options that contradict each other, or about a file that cannot be used.
    pub(super) fn server(&self, host: &str) -> Result<MailServer, String> {
        if self.smtp_tls == SmtpTls::None && !self.smtp_insecure && !is_loopback(host) {
            return Err(format!(
                "--smtp-tls none sends messages to {host} unencrypted: use starttls or tls, or allow it with --smtp-insecure"
            ));
        }
        let (tls_parameters, port) = match self.smtp_tls {
            SmtpTls::Tls => (Some(self.tls_parameters(host)?), 465),
            SmtpTls::Starttls => (Some(self.tls_parameters(host)?), 587),
            SmtpTls::None => (None, 25),
        };
        Ok(MailServer {
            host: host.to_owned(),
            port: self.smtp_port.unwrap_or(port),
            tls: self.smtp_tls,
            tls_parameters,
            credentials: self.credentials()?,
        })
    }

    fn credentials(&self) -> Result<Option<Credentials>, String> {
        match (&self.smtp_user, &self.smtp_password_file) {
            (None, None) => Ok(None),
            (Some(user), Some(file)) => {
                let password = read(file)?;
                let password = password.strip_suffix('\n').unwrap_or(&password);
                Ok(Some(Credentials::new(user.clone(), password.to_owned())))
            }
            (Some(_), None) => Err("--smtp-user needs --smtp-password-file".into()),
            (None, Some(_)) => Err("--smtp-password-file needs --smtp-user".into()),
        }
    }

    fn tls_parameters(&self, host: &str) -> Result<TlsParameters, String> {
        let mut builder = TlsParameters::builder(host.to_owned());
        if let Some(file) = &self.smtp_ca_file {
            let pem = read(file)?;
            // A file without certificates would be read without an error.
            let certificate = Some(pem).filter(|pem| pem.contains("-----BEGIN CERTIFICATE-----"));
            let certificate = certificate.and_then(|pem| Certificate::from_pem(pem.as_bytes()).ok());
            let certificate = certificate
                .ok_or_else(|| format!("--smtp-ca-file {}: it has no certificate in PEM", file.display()))?;
            builder = builder.add_root_certificate(certificate);
        }
        builder.build_rustls().map_err(|error| format!("TLS to the mail server: {error}"))
    }
}

fn read(file: &Path) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|error| format!("cannot read {}: {error}", file.display()))
}

/// Only what cannot leave this machine, whatever a name server says.
fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
