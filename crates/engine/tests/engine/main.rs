//! The engine from outside: definitions run in an in-memory world.

#[path = "../support/mod.rs"]
mod support;

mod alterations;
mod approve;
mod background;
mod children;
mod compensation;
mod composite;
mod continuation;
mod control;
mod custom;
mod data;
mod faults;
mod faults_taken;
mod flowchart;
mod http;
mod inputs;
mod migration;
mod notices;
mod outputs;
mod outside;
mod parallel_for_each;
mod resilience;
mod retries;
mod run_times;
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
