//! The index key of a queue item.

use uuid::Uuid;
use workflow_engine::bookmark::Bookmark;

use crate::store::events::matching::{Correlation, Filter};

/// Bits of a shape, in the order in which the columns enter the key.
const BOOKMARK: i32 = 1;
const INSTANCE: i32 = 2;
const EXECUTION: i32 = 4;
const HASH: i32 = 8;
const NAME: i32 = 16;
const CORRELATION: i32 = 32;
const TYPE: i32 = 64;
const ACTIVITY: i32 = 128;
/// Adds nothing to the key. A bookmark with a correlation id has no key of this shape.
const WITHOUT_CORRELATION: i32 = 256;

/// FNV-1a: stored, so it must never change.
struct Fnv1a(u64);

impl Fnv1a {
    fn new(shape: i32) -> Self {
        Self(0xcbf2_9ce4_8422_2325).with(&shape.to_be_bytes())
    }

    fn with(mut self, bytes: &[u8]) -> Self {
        for byte in bytes.iter().chain(&[0xFF]) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        self
    }

    fn value(self) -> i64 {
        self.0.cast_signed()
    }
}

/// The columns that a filter names.
pub fn shape_of(filter: &Filter) -> i32 {
    let bit = |is_set: bool, bit: i32| if is_set { bit } else { 0 };
    bit(filter.bookmark_id.is_some(), BOOKMARK)
        | bit(filter.instance_id.is_some(), INSTANCE)
        | bit(filter.activity_instance_id.is_some(), EXECUTION)
        // A filter with an execution has two hashes, so the key omits them and `Filter::matches` compares them.
        | bit(!filter.hashes.is_empty() && filter.activity_instance_id.is_none(), HASH)
        | bit(filter.name.is_some(), NAME)
        | bit(filter.correlation.id().is_some(), CORRELATION)
        | bit(filter.correlation == Correlation::Without, WITHOUT_CORRELATION)
        | bit(filter.activity_type.is_some(), TYPE)
        | bit(filter.activity_id.is_some(), ACTIVITY)
}

/// Whether filters of a shape name their target, as [`Filter::names_target`].
pub fn names_target(shape: i32) -> bool {
    shape & (BOOKMARK | INSTANCE) != 0
}

/// The key under which an item with this filter is stored.
pub fn key_of_filter(filter: &Filter, shape: i32) -> i64 {
    let mut key = Fnv1a::new(shape);
    for id in [&filter.bookmark_id, &filter.instance_id, &filter.activity_instance_id].into_iter().flatten() {
        key = key.with(id.as_bytes());
    }
    if shape & HASH != 0 {
        key = key.with(&filter.hashes[0]);
    }
    let texts = [
        filter.name.as_deref(),
        filter.correlation.id(),
        filter.activity_type.as_deref(),
        filter.activity_id.as_deref(),
    ];
    for text in texts.into_iter().flatten() {
        key = key.with(text.as_bytes());
    }
    key.value()
}

/// The key of the items of this shape that match a bookmark; `None` if none can.
pub fn key_of_bookmark(bookmark: &Bookmark, instance: Uuid, correlation_id: Option<&str>, shape: i32) -> Option<i64> {
    let hash = (shape & HASH != 0).then(|| bookmark.hash());
    let parts: [(i32, Option<&[u8]>); 8] = [
        (BOOKMARK, Some(bookmark.id.as_bytes())),
        (INSTANCE, Some(instance.as_bytes())),
        (EXECUTION, Some(bookmark.activity_instance_id.as_bytes())),
        (HASH, hash.as_ref().map(<[u8; 32]>::as_slice)),
        (NAME, Some(bookmark.name.as_bytes())),
        (CORRELATION, correlation_id.map(str::as_bytes)),
        (TYPE, Some(bookmark.activity_type.as_bytes())),
        (ACTIVITY, Some(bookmark.activity_id.as_bytes())),
    ];
    if shape & WITHOUT_CORRELATION != 0 && correlation_id.is_some() {
        return None;
    }
    let mut key = Fnv1a::new(shape);
    for (bit, bytes) in parts {
        if shape & bit != 0 {
            key = key.with(bytes?);
        }
    }
    Some(key.value())
}
