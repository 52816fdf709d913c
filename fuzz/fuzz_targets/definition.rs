//! Definitions as in `wf_define`: the export of an accepted document is the same program, and so is a program that is
//! numbered in another order and then gets the stored numbering.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use workflow_engine::definition::{export, identity, references, same_content};
use workflow_fuzz::definitions::DEFINITIONS;
use workflow_fuzz::support::{Library, described, numbered_otherwise};
use workflow_fuzz::{json, program};

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    DEFINITIONS.mutate(data, size, max_size, seed)
});

fuzz_target!(|data: &[u8]| {
    let Some(document) = json::read(data) else { return };
    let types = Library::default();
    let _ = identity(&document);
    references(&document, &types);
    assert!(same_content(&document, &document));
    // The reader refuses more in new definitions than in stored ones, so a refusal here does not end the run.
    let _ = program(&document, true);
    let Some(before) = program(&document, false) else { return };
    let other = numbered_otherwise(program(&document, false).expect("it was accepted before"));
    let numbered = other.numbered(&before.numbering()).expect("the same activities");
    assert_eq!(described(&before), described(&numbered));
    let exported = export(&document, &before.definition_id, 1, true, true, &types);
    let after = program(&exported, false).expect("an export is accepted");
    assert_eq!(described(&before), described(&after));
    let again = export(&exported, &before.definition_id, 2, false, true, &types);
    assert!(same_content(&exported, &again));
});
