//! Servers that misbehave, for the services under test. They run in the process of the test, on loopback.

#![allow(dead_code, reason = "each test program uses a part")]

pub mod http;
pub mod smtp;

/// The time after which a test stops waiting and fails. It is far longer than anything takes on a slow or busy machine.
pub const NEVER: std::time::Duration = std::time::Duration::from_secs(600);
