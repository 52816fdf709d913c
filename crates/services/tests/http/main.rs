//! The service for HTTP against servers on loopback that answer, redirect, stall, echo, lie, or are not there.

mod addresses;
mod bodies;
mod hosts;
mod redirects;
mod requests;
mod secrets;
mod support;
mod tls;
