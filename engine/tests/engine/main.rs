//! The engine from outside: definitions run in a world in memory.

#[path = "../support/mod.rs"]
mod support;

mod background;
mod children;
mod composite;
mod control;
mod custom;
mod data;
mod faults;
mod faults_taken;
mod flowchart;
mod http;
mod inputs;
mod parallel_for_each;
mod retries;
mod scheduled_command;
mod scripts;
mod seeing;
mod state_machine;
mod tasks;
mod time;
mod timeouts;
mod tokens;
mod tries;
mod waiting;
