//! What the extension stores of a burst, decided without a database. So far: the kinds of bookmarks.
#![deny(unsafe_code)]
#![warn(missing_docs)]

mod bookmark_kind;

pub use bookmark_kind::BookmarkKind;
