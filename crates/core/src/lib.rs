//! Programs, and the bursts that run them.
//!
//! A [`Program`] is a compiled definition, an [`Instance`] the durable state of one run. A **burst**
//! ([`execution`]) takes both and one reason to run (start, resume, retry, cancel), and processes the activity queue
//! until every branch waits or ends. It leaves the changed instance and a [`Delta`]: the bookmarks, tasks, incidents and
//! journal events to store. [`activities`] has one file for each activity type, [`journal`] the events and their packed
//! form, [`migration`] the move of an instance to another version.
//!
//! The crate reads no definitions: callers pass programs. It uses no database, no clock and no random numbers. Its only
//! interface to the outside is the trait [`Host`].
//!
//! # Examples
//!
//! The documentation of [`Host`] has the smallest host, and runs a workflow. A state can be stored as bytes, which
//! later versions can read:
//!
//! ```
//! use serde_json::{Map, json};
//! use workflow_engine::definition::{ReadLimits, compile};
//! use workflow_engine::instance::codec::{decode_state, encode_state};
//! use workflow_engine::Instance;
//!
//! let leave = json!({"definitionId": "leave", "root": {"type": "RunTask", "taskName": "approve"}});
//! let program = compile(&leave, &(), &ReadLimits::default(), false).expect("acceptable");
//! let instance = Instance::new(uuid::Uuid::nil(), &program, 1, None, None, Map::new()).expect("no input is needed");
//! let stored = encode_state(&instance.state);
//! assert_eq!(decode_state(&stored).expect("a state"), instance.state);
//! ```
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod activities;
pub mod activity;
pub mod alteration;
pub mod approval;
pub mod bookmark;
pub mod bundle;
pub mod child;
pub mod execution;
pub mod host;
pub mod instance;
pub mod journal;
pub mod migration;
mod node_ix;
pub mod notification;
pub mod program;
pub mod resilience;
pub mod retry;
pub mod trigger;

pub use bookmark::Bookmark;
pub use execution::{Delta, Limits};
pub use host::Host;
pub use instance::Instance;
pub use node_ix::NodeIx;
pub use program::Program;
