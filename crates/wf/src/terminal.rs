//! What the commands for a terminal share: a connection, rows of views, tables, and times for people.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use chrono::{DateTime, Local, TimeDelta, Utc};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use serde::de::DeserializeOwned;
use workflow_client::tokio_postgres::types::{ToSql, Type};
use workflow_client::{Client, ConnectOptions, Error, Transaction};

use crate::arguments::SharedArguments;
use crate::failure::Failure;

/// A value of a statement, with its type.
pub type Parameter<'a> = (&'a (dyn ToSql + Sync), Type);

#[derive(Debug, Clone, Copy, Args)]
pub struct OutputArguments {
    /// Print JSON instead of text for people
    #[arg(long, global = true)]
    pub json: bool,
}

impl OutputArguments {
    /// Prints a value as JSON, or a text.
    pub fn print<T: Serialize>(self, value: &T, text: impl FnOnce() -> String) -> Result<(), Failure> {
        let text = if self.json { serde_json::to_string_pretty(value)? } else { text() };
        Ok(writeln!(std::io::stdout(), "{}", text.trim_end())?)
    }
}

/// A connection for a command, which is known to the database by this name.
pub async fn connect(shared: &SharedArguments, command: &str) -> Result<Client, Failure> {
    open(shared, shared.connection.client(command)?).await
}

/// A connection with options of the command. An error says where the connection goes.
pub async fn open(shared: &SharedArguments, options: ConnectOptions) -> Result<Client, Failure> {
    Client::connect(options.connections(1)).await.map_err(|error| match error {
        Error::Connection(_) | Error::Options(_) => format!("{error}\nHINT: {}", shared.connection.advice()).into(),
        error => error.into(),
    })
}

/// Reads the rows of a query, each of whose columns is the field of the same name.
pub async fn rows<T: DeserializeOwned>(
    tx: &Transaction,
    query: &str,
    values: &[Parameter<'_>],
) -> Result<Vec<T>, Error> {
    let text = format!("SELECT pg_catalog.to_jsonb(r)::pg_catalog.text FROM ({query}) AS r");
    let rows = tx.connection().query_typed(&text, values).await?;
    rows.iter().map(|row| Ok(serde_json::from_str(row.try_get(0)?)?)).collect()
}

/// Reads the only row of a query.
pub async fn row<T: DeserializeOwned>(tx: &Transaction, query: &str, values: &[Parameter<'_>]) -> Result<T, Error> {
    rows(tx, query, values).await?.pop().ok_or_else(|| Error::Value("the database returned no row".into()))
}

/// Lines with aligned columns. The first line is the head.
pub fn table(head: &[&str], lines: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count());
        cells.chain(head.get(column).map(|cell| cell.chars().count())).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut text = String::new();
    let head: Vec<String> = head.iter().map(|name| name.to_uppercase()).collect();
    for line in std::iter::once(&head).chain(lines) {
        let mut written = String::from(" ");
        for (cell, width) in line.iter().zip(&widths) {
            let _ = write!(written, " {cell:width$} ");
        }
        text += written.trim_end();
        text.push('\n');
    }
    text
}

/// A text from a workflow in one line, without what could change how the terminal shows it.
pub fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || is_direction(c) { ' ' } else { c }).collect()
}

/// The same for a text of several lines.
pub fn lines(text: &str) -> String {
    text.split('\n').map(one_line).collect::<Vec<_>>().join("\n")
}

/// Whether a character changes the direction of the text around it.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// How long ago something was, in its largest two units.
pub fn age(since: DateTime<Utc>, now: DateTime<Utc>) -> String {
    length(now.signed_duration_since(since))
}

/// A length of time in its largest two units: `3 d 4 h`.
pub fn length(time: TimeDelta) -> String {
    let seconds = time.num_seconds().max(0);
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min"),
        (0, _, _) => format!("{hours} h {minutes} min"),
        _ => format!("{days} d {hours} h"),
    }
}

/// A time in the time zone of the terminal.
pub fn local(time: DateTime<Utc>) -> String {
    time.with_timezone(&Local).format("%Y-%m-%d %H:%M:%S").to_string()
}

/// Shows on a terminal that something takes its time, until it is dropped.
pub struct Progress(Option<ProgressBar>);

impl Progress {
    pub fn start(message: &str) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self(None);
        }
        let bar = ProgressBar::new_spinner().with_message(message.to_owned());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        Self(Some(bar))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let lines = [vec!["a".into(), "1".into()], vec!["größer".into(), String::new()]];
        assert_eq!(table(&["name", "number"], &lines), "  NAME    NUMBER\n  a       1\n  größer\n");
    }

    #[test]
    fn a_text_cannot_change_what_the_terminal_shows() {
        assert_eq!(one_line("a\u{1b}[2Jb\nc\u{202e}d"), "a [2Jb c d");
        assert_eq!(lines("a\u{1b}b\nc"), "a b\nc");
    }

    #[test]
    fn times_are_as_exact_as_people_need() {
        for (seconds, text) in
            [(-5, "0 s"), (59, "59 s"), (61, "1 min"), (3700, "1 h 1 min"), (90_000, "1 d 1 h"), (864_000, "10 d 0 h")]
        {
            assert_eq!(length(TimeDelta::seconds(seconds)), text);
        }
    }
}
