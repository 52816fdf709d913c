//! The login role of the starter of an instance, in the metadata of the bookmark at which it waits to begin.

use serde_json::Value;
use workflow_engine::bookmark::Bookmark;

const LOGIN: &str = "loginOfStart";

/// Metadata with this login role, by its id in `workflow.owners`.
pub fn with_login(mut metadata: Value, login: Option<u32>) -> Value {
    if let Some(login) = login {
        metadata[LOGIN] = login.into();
    }
    metadata
}

/// The login role that the metadata of a bookmark has.
pub fn login_of(bookmark: &Bookmark) -> Option<u32> {
    login_in(bookmark.metadata.as_ref()?)
}

/// The login role in metadata.
pub fn login_in(metadata: &Value) -> Option<u32> {
    metadata.get(LOGIN)?.as_u64()?.try_into().ok()
}
