//! `wf doctor`: what is wrong with a set-up, and what to do about it.

mod database;
mod files;
mod provider;
mod rights;

use clap::{Args, Subcommand};
use serde::Serialize;
use workflow_gateway::ServeOptions;
use workflow_services::WorkOptions;

use crate::arguments::SharedArguments;
use crate::failure::Failure;
use crate::terminal::{OutputArguments, one_line};

/// Find what is wrong with a set-up, and what to do about it
///
/// It connects as the other commands do, or as the service that is named, with the configuration of that: is the server
/// reachable, over TLS, by the same clock; do extension, library and program fit; do background workers run; are the
/// extension's functions on the search path; has the role the rights that it needs. For a service it also looks at the
/// files of its options: who may read those with secrets, and when certificates expire; and at the identity provider of
/// people: is it there, does it accept the gateway, do the clocks agree. The exit code is 1 if something is wrong.
#[derive(Debug, Args)]
pub struct DoctorArguments {
    #[command(subcommand)]
    service: Option<Service>,

    /// Leave out wf_check(), which reads every row
    #[arg(long, global = true)]
    quick: bool,

    #[command(flatten)]
    output: OutputArguments,
}

#[derive(Debug, Subcommand)]
enum Service {
    /// Examine the set-up of `wf serve`
    Serve(Box<ServeOptions>),
    /// Examine the set-up of `wf work`
    Work(Box<WorkOptions>),
}

/// For whom the set-up has to be right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Person,
    Serve,
    Work,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Ok,
    Warning,
    Error,
}

#[derive(Debug, Serialize)]
struct Finding {
    level: Level,
    /// What was examined.
    subject: &'static str,
    message: String,
    /// What to do.
    advice: Option<String>,
}

/// What was found so far.
#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn ok(&mut self, subject: &'static str, message: impl Into<String>) {
        self.0.push(Finding { level: Level::Ok, subject, message: message.into(), advice: None });
    }

    fn warning(&mut self, subject: &'static str, message: impl Into<String>, advice: impl Into<String>) {
        self.0.push(Finding { level: Level::Warning, subject, message: message.into(), advice: Some(advice.into()) });
    }

    fn error(&mut self, subject: &'static str, message: impl Into<String>, advice: impl Into<String>) {
        self.0.push(Finding { level: Level::Error, subject, message: message.into(), advice: Some(advice.into()) });
    }

    fn text(&self) -> String {
        let line = |finding: &Finding| {
            let sign = match finding.level {
                Level::Ok => "ok      ",
                Level::Warning => "warning ",
                Level::Error => "ERROR   ",
            };
            let advice = finding.advice.as_ref().map_or_else(String::new, |advice| format!("\n            {advice}"));
            format!("{sign} {}: {}{advice}\n", finding.subject, one_line(&finding.message))
        };
        self.0.iter().map(line).collect()
    }
}

pub fn examine(arguments: DoctorArguments, shared: &SharedArguments) -> Result<(), Failure> {
    let mut findings = Findings::default();
    let mut listeners = Vec::new();
    let purpose = match &arguments.service {
        None => Purpose::Person,
        Some(Service::Serve(options)) => {
            files::of_serve(options, &mut findings);
            let endpoints = options.endpoints.endpoints_role.as_deref().map(|role| (rights::ENDPOINTS, role));
            let metrics = options.metrics.metrics_role.as_deref().map(|role| (rights::METRICS, role));
            let traces = options.traces.traces_role.as_deref().map(|role| (rights::TRACES, role));
            listeners.extend(endpoints.into_iter().chain(metrics).chain(traces));
            Purpose::Serve
        }
        Some(Service::Work(options)) => {
            files::of_work(options, &mut findings);
            Purpose::Work
        }
    };
    files::of_connection(&shared.connection, &mut findings);
    crate::run(async {
        if let Some(Service::Serve(options)) = &arguments.service {
            provider::examine(options, &mut findings).await;
        }
        if let Some(Service::Work(options)) = &arguments.service {
            match workflow_services::check(options).await {
                Ok(()) => findings.ok("options", "they fit together, and the files and secrets can be read"),
                Err(problem) => findings.error("options", problem, "wf work --help explains the options"),
            }
        }
        database::examine(shared, purpose, &listeners, arguments.quick, &mut findings).await;
        arguments.output.print(&findings.0, || findings.text())?;
        let is_wrong = findings.0.iter().any(|finding| finding.level == Level::Error);
        if is_wrong { Err(Failure::Reported) } else { Ok(()) }
    })
}
