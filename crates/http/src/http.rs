//! HTTP without sockets: requests as callers pass them to the database, and their responses.
//!
//! Route templates, their matching and precedence, bodies, status names: pure functions on text and bytes, independent
//! of bursts and tables. A client's mistake becomes a [`Response`] with its status, a mistake of the definition's
//! author a [`Fault`](workflow_value::Fault).

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
