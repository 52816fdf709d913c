//! Defines a workflow, starts it, resumes it at its bookmark, and prints what it wrote.
//!
//! `cargo run -p workflow-engine --example hello`

use std::error::Error;

use serde_json::{Map, json};
use uuid::Uuid;
use workflow_engine::Instance;
use workflow_engine::bookmark::Resumed;
use workflow_engine::definition::{ReadLimits, compile};
use workflow_engine::execution::{Limits, resume, start};

#[path = "../tests/support/alone.rs"]
mod alone;
use alone::Alone;

fn main() -> Result<(), Box<dyn Error>> {
    let definition = json!({
        "definitionId": "hello",
        "variables": { "Name": null },
        "root": [
            { "type": "WriteLine", "text": "Who is there?" },
            { "type": "Event", "eventName": "Knock", "result": { "var": "Name" } },
            { "type": "WriteLine", "text": { "js": "`Hello ${getName()}!`" } },
        ],
    });
    let program =
        compile(&definition, &(), &ReadLimits::default(), false).map_err(|problems| format!("{problems:?}"))?;
    let (limits, mut host) = (Limits::default(), Alone::default());

    // The first burst ends where the workflow waits. Its delta contains what a host has to store.
    let mut instance = Instance::new(Uuid::nil(), &program, 1, None, None, Map::new())?;
    let mut delta = start(&program, &mut instance, None, None, &mut host, &limits)?;
    let bookmark = delta.created.pop().ok_or("it waits for an event")?;
    println!("{:?} at {} ({})", instance.sub_status, bookmark.activity_id, bookmark.name);

    // The second burst starts there, with the input of the resume.
    resume(&program, &mut instance, &Resumed::from(bookmark), Some(&json!("Ada")), &mut host, &limits)?;
    println!("{:?}", instance.sub_status);
    host.lines.iter().for_each(|line| println!("> {line}"));
    Ok(())
}
