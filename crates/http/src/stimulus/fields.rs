//! The fields of payloads, in Elsa's order.

use chrono::{DateTime, SecondsFormat, Utc};

/// A payload type: some stimuli have two, one for bookmarks and one for triggers.
#[derive(Debug)]
pub(super) struct PayloadShape {
    /// Fields in Elsa's order. The first field distinguishes the shapes of one stimulus.
    pub(super) fields: &'static [PayloadField],
}

/// A member of a payload.
#[derive(Debug)]
pub(super) struct PayloadField {
    /// The key in a payload, in Elsa's spelling; payloads may have it in any letter case.
    pub(super) name: &'static str,
    /// How its text is normalised.
    pub(super) kind: FieldKind,
    /// Whether a payload without it is refused.
    pub(super) required: bool,
    /// Whether it is part of the hash.
    pub(super) hashed: bool,
}

/// How the text of a field is normalised.
#[derive(Clone, Copy, Debug)]
pub(super) enum FieldKind {
    /// The text unchanged: letter case and blanks are significant.
    Text,
    /// The text in lower case: letter case is not significant.
    Lower,
    /// An instant: .NET's form, in UTC.
    Instant,
    /// A span as .NET writes it.
    Span,
}

impl FieldKind {
    /// The normal form of a text; `None` if the text is no value of this kind.
    pub(super) fn normal(self, text: &str) -> Option<String> {
        match self {
            Self::Text => Some(text.to_owned()),
            Self::Lower => Some(text.to_lowercase()),
            Self::Instant => instant(text),
            Self::Span => Some(text.trim().to_owned()).filter(|text| workflow_value::value::is_time_span(text)),
        }
    }

    /// Whether .NET writes the value without escaping it.
    pub(super) fn is_raw(self) -> bool {
        matches!(self, Self::Instant | Self::Span)
    }
}

/// Writes an instant as .NET does: at most seven digits of a second, without trailing zeros.
fn instant(text: &str) -> Option<String> {
    let parsed = DateTime::parse_from_rfc3339(text.trim()).ok()?.with_timezone(&Utc);
    let text = parsed.to_rfc3339_opts(SecondsFormat::Nanos, false);
    let (seconds, rest) = text.split_once('.')?;
    let fraction = rest.get(..7)?.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    Some(format!("{seconds}{point}{fraction}+00:00"))
}

/// A field that is part of the hash.
pub(super) const fn hashed(name: &'static str, kind: FieldKind) -> PayloadField {
    PayloadField { name, kind, required: true, hashed: true }
}

/// A field that is stored, but is not part of the hash.
pub(super) const fn unhashed(name: &'static str) -> PayloadField {
    PayloadField { name, kind: FieldKind::Text, required: false, hashed: false }
}
