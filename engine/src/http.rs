//! HTTP without a socket: requests as the database is given them, and what they are answered with.
//!
//! Route templates, their matching and order, bodies, status names: pure functions on text and bytes. Knows
//! nothing of bursts and tables. What a client sent wrongly is a [`Response`] with its status, what the author of
//! a definition wrote wrongly is a [`Fault`](crate::Fault).

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

pub use endpoint::Endpoint;
pub use request::{Request, texts};
pub use response::Response;
pub(crate) use response::{check_headers, written};
pub(crate) use status::{check_status, status};
