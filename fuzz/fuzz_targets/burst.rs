//! Runs a definition: starts it, resumes it wherever it waits, retries it, cancels it. `World` checks its invariants
//! after each burst.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use serde_json::json;
use workflow_engine::instance::SubStatus;
use workflow_engine::trigger;
use workflow_fuzz::definitions::DEFINITIONS;
use workflow_fuzz::support::{FakeHost, World};
use workflow_fuzz::{json, limits, program, world};

/// Resumes of one instance.
const MAX_RESUMES: usize = 12;

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    DEFINITIONS.mutate(data, size, max_size, seed)
});

fuzz_target!(|data: &[u8]| {
    let Some(document) = json::read(data) else { return };
    let Some(compiled) = program(&document, false) else { return };
    let _ = trigger::index(&compiled, &mut FakeHost::default(), &limits());
    let Some(mut here) = world(compiled) else { return };
    if run(&mut here).is_none() {
        // The result of a burst with too many steps is not kept: a new instance is cancelled instead of it.
        here = program(&document, false).and_then(world).expect("it was compiled before");
    }
    if here.status() != SubStatus::Finished {
        here.host = FakeHost::default();
        here.cancel();
    }
});

fn run(world: &mut World) -> Option<()> {
    world.try_start(None, None).ok()?;
    for round in 0..MAX_RESUMES {
        if world.bookmarks.is_empty() {
            break;
        }
        let input = json!({ "Text": "x", "Number": round });
        world.try_resume(round % world.bookmarks.len(), (round % 3 > 0).then_some(&input)).ok()?;
    }
    if world.status() == SubStatus::Faulted { world.retry(None).ok() } else { Some(()) }
}
