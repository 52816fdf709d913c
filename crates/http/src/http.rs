//! HTTP without a socket: requests as callers pass them to the database, and the responses to them.
//!
//! Route templates, their matching and order, bodies, status names: pure functions on text and bytes, which know
//! nothing of bursts and tables. A mistake of the client becomes a [`Response`] with its status, a mistake of the
//! definition's author a [`Fault`](workflow_value::Fault).

pub mod choice;
mod constraint;
pub mod content;
pub mod endpoint;
mod multipart;
mod request;
mod response;
pub mod route;
mod status;
pub mod template;
mod texts;

pub use endpoint::Endpoint;
pub use request::Request;
pub use response::Response;
pub use response::{check_headers, written};
pub use status::{check_status, status};
pub use texts::texts;
