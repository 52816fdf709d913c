//! The fields of payloads, in Elsa's order.

use chrono::{DateTime, SecondsFormat, Utc};

/// A payload type: some names have two, one of bookmarks and one of triggers.
#[derive(Debug)]
pub(super) struct Shape {
    /// Fields in Elsa's order; the first one tells shapes of one name apart.
    pub(super) fields: &'static [Field],
}

/// One field.
#[derive(Debug)]
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
#[derive(Clone, Copy, Debug)]
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

/// A field that counts for the hash.
pub(super) const fn counts(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, required: true, hashed: true }
}

/// A field that is stored beside them.
pub(super) const fn kept(name: &'static str) -> Field {
    Field { name, kind: Kind::Text, required: false, hashed: false }
}
