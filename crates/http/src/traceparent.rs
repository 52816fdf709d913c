//! The header `traceparent` of W3C Trace Context, and the ids of spans.
//!
//! An id of a span is a hash of what the span describes. So a session that hands a trace on and the exporter that sends
//! the span later compute the same id, and a span that is sent twice is one span. The hash must not change, because
//! others have stored the ids.

use std::fmt;

use sha2::{Digest, Sha256};
use uuid::Uuid;

/// What a span describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// A run, from its start to its end.
    Instance(Uuid),
    /// A burst, by the instance and the number of its first journal row.
    Burst(Uuid, u32),
    /// A wait, by its bookmark. A task has the id of its bookmark.
    Wait(Uuid),
}

impl Span {
    /// The id of the span: 64 bits that are not all zero.
    #[must_use]
    pub fn id(self) -> u64 {
        let hash = match self {
            Self::Instance(id) => Sha256::new().chain_update(b"instance").chain_update(id.as_bytes()),
            Self::Burst(id, seq) => {
                Sha256::new().chain_update(b"burst").chain_update(id.as_bytes()).chain_update(seq.to_be_bytes())
            }
            Self::Wait(id) => Sha256::new().chain_update(b"wait").chain_update(id.as_bytes()),
        };
        let mut first = [0; 8];
        first.copy_from_slice(&hash.finalize()[..8]);
        u64::from_be_bytes(first).max(1)
    }
}

/// A trace, and the span in it that is the parent of what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traceparent {
    /// Id of the trace, not zero.
    pub trace: u128,
    /// Id of the parent, not zero.
    pub parent: u64,
    /// Flags; the lowest bit says that the caller has recorded its part.
    pub flags: u8,
}

impl Traceparent {
    /// Reads a value of the header. `None`: the value is not valid, so the trace has to be ignored.
    ///
    /// ```
    /// use workflow_http::traceparent::Traceparent;
    ///
    /// let given = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    /// let parsed = Traceparent::parse(given).expect("a valid value");
    /// assert_eq!(parsed.to_string(), given);
    /// assert_eq!(Traceparent::parse("00-00000000000000000000000000000000-00f067aa0ba902b7-01"), None);
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('-');
        let version = hex(parts.next()?, 2)?;
        let trace = hex(parts.next()?, 32)?;
        let parent = u64::try_from(hex(parts.next()?, 16)?).ok()?;
        let flags = u8::try_from(hex(parts.next()?, 2)?).ok()?;
        // Later versions may have more parts. 255 is no version.
        let has_more = parts.next().is_some();
        let is_valid = trace != 0 && parent != 0 && version != 0xff && (version > 0 || !has_more);
        is_valid.then_some(Self { trace, parent, flags })
    }

    /// The same trace below a span of ours.
    #[must_use]
    pub fn under(self, span: Span) -> Self {
        Self { parent: span.id(), ..self }
    }
}

impl fmt::Display for Traceparent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "00-{:032x}-{:016x}-{:02x}", self.trace, self.parent, self.flags)
    }
}

/// A number of exactly `digits` lower-case hexadecimal digits.
fn hex(text: &str, digits: usize) -> Option<u128> {
    let is_hex = text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_hex.then(|| u128::from_str_radix(text, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIVEN: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn values_that_the_recommendation_refuses_are_ignored() {
        let refused = [
            "",
            "00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-00",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ];
        for text in refused {
            assert_eq!(Traceparent::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_later_version_is_read_as_this_one() {
        let later = format!("01{}-more", &GIVEN[2..]);
        assert_eq!(Traceparent::parse(&later), Traceparent::parse(GIVEN));
    }

    #[test]
    fn ids_of_spans_stay_and_differ() {
        let id = Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0010);
        let spans = [Span::Instance(id), Span::Wait(id), Span::Burst(id, 0), Span::Burst(id, 1)];
        // Computed with sha256sum.
        let expected: [u64; 4] =
            [0x6f91_066a_cf53_3a9f, 0x38a8_983d_600b_bcb1, 0xc081_94e8_6441_cd19, 0xfce6_f14a_6c7f_bf7b];
        assert_eq!(spans.map(Span::id), expected);
        let given = Traceparent::parse(GIVEN).unwrap();
        let below = given.under(Span::Wait(id));
        assert_eq!((below.trace, below.parent, below.flags), (given.trace, Span::Wait(id).id(), 1));
    }
}
