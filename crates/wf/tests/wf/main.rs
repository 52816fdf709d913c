//! The program wf with a real database: the gateway from the client's point of view, commands for a terminal, and task workers for services.
//! `make test T=gateway` runs these.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod actors;
mod boundary;
mod catalogues;
mod cluster;
mod definitions;
mod definitions_execute;
mod definitions_lifecycle;
mod definitions_save;
mod editors;
mod elsa;
mod endpoints;
mod failover;
mod forged;
mod forged_tokens;
mod hostile;
mod hub;
mod identity;
mod instances;
mod instances_actions;
mod instances_journal;
mod kills;
mod memberships;
mod metrics;
mod pages_audit;
mod pages_console;
mod pages_inbox;
mod pages_instance;
mod pages_people;
mod passwords;
mod patience;
mod people;
mod routes;
mod routes_pages;
mod scopes;
mod secrets;
#[path = "../../../services/tests/servers/mod.rs"]
mod servers;
mod sessions;
mod sign_on;
mod starting;
mod stopping;
mod studio;
mod support;
mod terminal;
mod tls;
mod traces;
mod waiting;
