//! The fields of Elsa's built-in payloads, in Elsa's order.

use chrono::{DateTime, SecondsFormat, Utc};

/// A payload type: some names have two, one of bookmarks and one of triggers.
pub(super) struct Shape {
    /// Fields in Elsa's order; the first one tells shapes of one name apart.
    pub(super) fields: &'static [Field],
}

/// One field.
pub(super) struct Field {
    /// Elsa's name.
    pub(super) name: &'static str,
    /// What its text means.
    pub(super) kind: Kind,
    /// Whether a payload without it is refused.
    pub(super) required: bool,
    /// Whether it counts for the hash.
    pub(super) hashed: bool,
}

/// How the text of a field is normalised.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// As it is.
    Text,
    /// Lower-cased.
    Lower,
    /// An instant: .NET's form, in UTC.
    Instant,
    /// A span as .NET writes it.
    Span,
}

impl Kind {
    /// The normal form of a text, `None` if it is none of this kind.
    pub(super) fn normal(self, text: &str) -> Option<String> {
        match self {
            Self::Text => Some(text.to_owned()),
            Self::Lower => Some(text.to_lowercase()),
            Self::Instant => instant(text),
            Self::Span => Some(text.trim().to_owned()).filter(|text| crate::value::is_time_span(text)),
        }
    }

    /// Whether .NET writes the value without escaping it.
    pub(super) fn is_raw(self) -> bool {
        matches!(self, Self::Instant | Self::Span)
    }
}

/// Seven digits of a second at most, without trailing zeros, as .NET writes an instant.
fn instant(text: &str) -> Option<String> {
    let parsed = DateTime::parse_from_rfc3339(text.trim()).ok()?.with_timezone(&Utc);
    let text = parsed.to_rfc3339_opts(SecondsFormat::Nanos, false);
    let (seconds, rest) = text.split_once('.')?;
    let fraction = rest.get(..7)?.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    Some(format!("{seconds}{point}{fraction}+00:00"))
}

const fn counts(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, required: true, hashed: true }
}

const fn kept(name: &'static str) -> Field {
    Field { name, kind: Kind::Text, required: false, hashed: false }
}

const EVENT: &[Shape] = &[Shape { fields: &[counts("EventName", Kind::Text)] }];
const HTTP_ENDPOINT: &[Shape] = &[Shape {
    fields: &[
        counts("Path", Kind::Lower),
        counts("Method", Kind::Lower),
        kept("Policy"),
        kept("Authorize"),
        kept("RequestTimeout"),
        kept("RequestSizeLimit"),
    ],
}];
const RUN_TASK: &[Shape] = &[Shape { fields: &[counts("TaskId", Kind::Text), kept("TaskName")] }];
const CHILD: &[Shape] = &[Shape { fields: &[counts("ChildInstanceId", Kind::Text)] }];
const CHILDREN: &[Shape] =
    &[Shape { fields: &[counts("ParentInstanceId", Kind::Text), kept("ScheduledInstanceIdsCount")] }];
const BACKGROUND: &[Shape] = &[Shape { fields: &[kept("JobId")] }];
const DELAY: &[Shape] = &[Shape { fields: &[counts("ResumeAt", Kind::Instant)] }];
const START_AT: &[Shape] = &[Shape { fields: &[counts("ExecuteAt", Kind::Instant)] }];
const TIMER: &[Shape] = &[
    Shape { fields: &[counts("ResumeAt", Kind::Instant)] },
    Shape { fields: &[counts("StartAt", Kind::Instant), counts("Interval", Kind::Span)] },
    // Ours of a trigger. Elsa's holds the first fire, which is another one whenever it is indexed again.
    Shape { fields: &[counts("Interval", Kind::Span)] },
];
const CRON: &[Shape] = &[
    Shape { fields: &[counts("ExecuteAt", Kind::Instant), counts("CronExpression", Kind::Text)] },
    Shape { fields: &[counts("CronExpression", Kind::Text)] },
];

/// The payload types of a stimulus name, if Elsa knows it.
pub(super) fn shapes_of(name: &str) -> Option<&'static [Shape]> {
    Some(match name {
        "Elsa.Event" => EVENT,
        "Elsa.HttpEndpoint" => HTTP_ENDPOINT,
        "Elsa.RunTask" => RUN_TASK,
        "Elsa.DispatchWorkflow" | "Elsa.ExecuteWorkflow" => CHILD,
        "Elsa.BulkDispatchWorkflows" => CHILDREN,
        "BackgroundActivity" => BACKGROUND,
        "Elsa.Delay" => DELAY,
        "Elsa.StartAt" => START_AT,
        "Elsa.Timer" => TIMER,
        "Elsa.Cron" => CRON,
        _ => return None,
    })
}
