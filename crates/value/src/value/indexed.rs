//! Texts of users that are parts of index entries. An entry must fit into a third of a page, about 2,700 bytes.

use crate::fault::{Fault, shorten};

/// Maximum length of a correlation id, a name or an id in an index, in bytes. Two of them fit into one entry.
pub const MAX_INDEXED: usize = 1_000;

/// Maximum length of an activity type, in bytes. An index entry contains the type, the name and the activity id of a
/// bookmark.
pub const MAX_TYPE: usize = 500;

/// Refuses a text that is longer than `most` bytes (54000).
///
/// # Errors
/// The fault, with the start of the text.
pub fn check_indexed(what: &str, text: &str, most: usize) -> Result<(), Fault> {
    if text.len() <= most {
        return Ok(());
    }
    Err(Fault::new("54000", format!("{what} is longer than {most} bytes")).detail(format!(
        "It begins with \"{}\" and has {} bytes.",
        shorten(text, 60),
        text.len()
    )))
}
