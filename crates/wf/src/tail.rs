//! `wf tail`: the journal as it grows.

use std::collections::HashSet;
use std::io::Write as _;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;
use workflow_client::tokio_postgres::types::Type;
use workflow_client::{Client, Error, Transaction};

use crate::arguments::SharedArguments;
use crate::failure::Failure;
use crate::terminal::{OutputArguments, Parameter, local, one_line, rows};

/// Events become visible when their transaction commits, and bear the time at which it ran. So each look goes back this
/// far, and leaves out what was printed.
const OVERLAP: TimeDelta = TimeDelta::minutes(1);
/// How long the command waits after the connection was lost.
const RECONNECT_DELAY: Duration = Duration::from_secs(2);

/// Print the journal as it grows
///
/// It asks once a second, and continues after the connection was lost. An event of a transaction that took longer than a
/// minute can be missing, except with --instance. With --json each event is a line.
#[derive(Debug, Args)]
pub struct TailArguments {
    /// Only instances of this definition
    #[arg(long, value_name = "ID")]
    definition: Option<String>,
    /// Only this instance, from its start
    #[arg(long, value_name = "ID", conflicts_with_all = ["definition", "since"])]
    instance: Option<Uuid>,
    /// Begin with the events of so many last minutes
    #[arg(long, value_name = "MINUTES", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=525_600))]
    since: u32,
    /// Seconds between two looks
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=3600))]
    interval: u64,
    /// End after what is there now
    #[arg(long)]
    no_follow: bool,

    #[command(flatten)]
    output: OutputArguments,
}

#[derive(Serialize, Deserialize)]
struct Event {
    instance_id: Uuid,
    definition_id: Option<String>,
    correlation_id: Option<String>,
    seq: i32,
    number: i32,
    at: DateTime<Utc>,
    event: String,
    activity: Option<String>,
    activity_type: Option<String>,
    data: Option<Value>,
    by: Option<String>,
    actor: Option<String>,
}

/// OFFSET 0 keeps the planner from reading all instances to find those of a few events.
const EVENTS: &str = "SELECT j.instance_id, i.definition_id, i.correlation_id, j.seq, j.number, j.at, j.event, j.activity, \
    j.activity_type, j.data, j.by, j.actor FROM workflow.journal j \
    LEFT JOIN LATERAL (SELECT l.definition_id, l.correlation_id FROM workflow.instance_list l \
                       WHERE l.instance_id = j.instance_id OFFSET 0) AS i ON true ";
const OF_TIME: &str =
    "WHERE j.at >= $1 AND ($2 IS NULL OR i.definition_id = $2) ORDER BY j.at, j.instance_id, j.seq, j.number";
const OF_INSTANCE: &str = "WHERE j.instance_id = $1 AND j.seq > $2 ORDER BY j.seq, j.number";

/// Where a look begins.
enum Cursor {
    /// The number of the last burst that was printed is exact: the bursts of an instance commit in their order.
    Instance {
        id: Uuid,
        seq: i32,
    },
    Time {
        from: DateTime<Utc>,
        definition: Option<String>,
        printed: HashSet<(Uuid, i32, i32)>,
    },
}

impl Cursor {
    /// The events that this look finds.
    async fn read(&self, tx: &Transaction) -> Result<Vec<Event>, Error> {
        match self {
            Self::Instance { id, seq } => {
                let values: [Parameter; 2] = [(id, Type::UUID), (seq, Type::INT4)];
                rows(tx, &format!("{EVENTS}{OF_INSTANCE}"), &values).await
            }
            Self::Time { from, definition, .. } => {
                let values: [Parameter; 2] = [(from, Type::TIMESTAMPTZ), (definition, Type::TEXT)];
                rows(tx, &format!("{EVENTS}{OF_TIME}"), &values).await
            }
        }
    }

    /// The events that were not printed yet. The next look begins behind them, as far as that is certain.
    fn advance(&mut self, events: Vec<Event>, now: DateTime<Utc>) -> Vec<Event> {
        match self {
            Self::Instance { seq, .. } => {
                *seq = events.last().map_or(*seq, |event| event.seq);
                events
            }
            Self::Time { from, printed, .. } => {
                let found: HashSet<_> = events.iter().map(Event::key).collect();
                let new = events.into_iter().filter(|event| !printed.contains(&event.key())).collect();
                *printed = found;
                *from = (*from).max(now - OVERLAP);
                new
            }
        }
    }
}

impl Event {
    fn key(&self) -> (Uuid, i32, i32) {
        (self.instance_id, self.seq, self.number)
    }

    fn text(&self) -> String {
        let name = self.definition_id.as_deref().unwrap_or("?");
        let name = self.correlation_id.as_deref().map_or_else(|| name.to_owned(), |id| format!("{name} {id}"));
        let activity = match (&self.activity, &self.activity_type) {
            (Some(activity), Some(kind)) => format!("  {activity} ({kind})"),
            (Some(activity), None) => format!("  {activity}"),
            _ => String::new(),
        };
        let by = self.actor.as_ref().or(self.by.as_ref()).map_or_else(String::new, |by| format!("  by {by}"));
        let data = self.data.as_ref().map_or_else(String::new, |data| format!("  {data}"));
        let line = format!("{name}  {}{activity}{by}{data}", self.event);
        format!("{}  {}  {}", local(self.at), self.instance_id, one_line(&line))
    }
}

pub fn tail(arguments: TailArguments, shared: &SharedArguments) -> Result<(), Failure> {
    crate::run(async {
        // This command reports a lost connection itself.
        let options = shared.connection.client("wf tail")?.repeat_for(Duration::ZERO);
        let client = crate::terminal::open(shared, options).await?;
        let mut cursor = begin(&client, &arguments).await?;
        loop {
            match look(&client, &cursor).await {
                Ok((events, now)) => print(&cursor.advance(events, now), arguments.output)?,
                Err(error) if error.is_transient() && !arguments.no_follow => {
                    eprintln!("wf: {error}; trying again");
                    tokio::time::sleep(RECONNECT_DELAY).await;
                    continue;
                }
                Err(error) => return Err(error.into()),
            }
            if arguments.no_follow {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_secs(arguments.interval)).await;
        }
    })
}

#[derive(Deserialize)]
struct Now {
    now: DateTime<Utc>,
}

const NOW: &str = "SELECT pg_catalog.clock_timestamp() AS now";

async fn begin(client: &Client, arguments: &TailArguments) -> Result<Cursor, Error> {
    if let Some(id) = arguments.instance {
        return Ok(Cursor::Instance { id, seq: -1 });
    }
    let Now { now } = client.transaction(async |tx: Transaction| crate::terminal::row(&tx, NOW, &[]).await).await?;
    let from = now - TimeDelta::minutes(arguments.since.into());
    Ok(Cursor::Time { from, definition: arguments.definition.clone(), printed: HashSet::new() })
}

/// The events, and the time of the database before it was asked for them.
async fn look(client: &Client, cursor: &Cursor) -> Result<(Vec<Event>, DateTime<Utc>), Error> {
    let looked = client.transaction(async |tx: Transaction| {
        let Now { now } = crate::terminal::row(&tx, NOW, &[]).await?;
        Ok((cursor.read(&tx).await?, now))
    });
    looked.await
}

fn print(events: &[Event], output: OutputArguments) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    for event in events {
        match output.json {
            true => writeln!(out, "{}", serde_json::to_string(event)?)?,
            false => writeln!(out, "{}", event.text())?,
        }
    }
    Ok(out.flush()?)
}
