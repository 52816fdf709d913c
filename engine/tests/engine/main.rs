//! The engine from outside: definitions run in a world in memory.

#[path = "../support/mod.rs"]
mod support;

mod children;
mod composite;
mod control;
mod custom;
mod data;
mod faults;
mod flowchart;
mod scheduled_command;
mod scripts;
mod time;
mod waiting;
