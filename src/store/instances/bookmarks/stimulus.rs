//! The columns of a bookmark row for the stimulus that matches it.

use std::borrow::Cow;

use serde_json::{Value, json};
use uuid::Uuid;
use workflow_engine::bookmark::Bookmark;
use workflow_engine::stimulus;

use super::BookmarkKind;

/// The member of a task's payload that holds the name of the task.
const TASK_NAME: &str = "TaskName";

/// First eight bytes of a hash: the index key.
pub fn hash_key(hash: &[u8; 32]) -> i64 {
    let mut key = [0; 8];
    key.copy_from_slice(&hash[..8]);
    i64::from_be_bytes(key)
}

/// Converts a stored hash. A hash of a wrong length becomes zeros, which match nothing.
pub fn hash_of(bytes: &[u8]) -> [u8; 32] {
    bytes.try_into().unwrap_or([0; 32])
}

/// Whether it is the bookmark of an open task.
pub fn is_task(bookmark: &Bookmark) -> bool {
    BookmarkKind::of(bookmark) == BookmarkKind::Task
}

/// The name of the task, for the bookmark of an open task.
pub fn task_name(bookmark: &Bookmark) -> Option<&str> {
    bookmark.payload.as_ref().filter(|_| is_task(bookmark))?[TASK_NAME].as_str()
}

/// Returns the hash and the payload to store for a bookmark. For a task both would repeat the bookmark's id, so it is
/// stored without a hash, and only the task's name is stored as the payload. A bookmark that no stimulus matches needs
/// no hash either.
pub(super) fn stored_stimulus(bookmark: &Bookmark) -> (Option<[u8; 32]>, Option<Cow<'_, Value>>) {
    let kind = BookmarkKind::of(bookmark);
    match bookmark.payload.as_ref() {
        Some(payload) if kind.is_task() => (None, Some(Cow::Owned(json!({ TASK_NAME: payload[TASK_NAME] })))),
        payload if !kind.meets_stimuli() => (None, payload.map(Cow::Borrowed)),
        payload => (Some(bookmark.hash()), payload.map(Cow::Borrowed)),
    }
}

/// Returns the hash and the payload of a stored bookmark, computing the payload of a task. Its hash is left to
/// `Bookmark::hash`.
pub fn read_stimulus(
    kind: BookmarkKind,
    id: Uuid,
    hash: Option<Vec<u8>>,
    payload: Option<Value>,
) -> (Option<[u8; 32]>, Option<Value>) {
    match hash {
        Some(hash) => (Some(hash_of(&hash)), payload),
        None if !kind.meets_stimuli() => (Some(hash_of(&[])), payload),
        None => {
            let name = payload.as_ref().and_then(|payload| payload[TASK_NAME].as_str());
            (None, Some(stimulus::task_payload(id, name.unwrap_or_default())))
        }
    }
}
