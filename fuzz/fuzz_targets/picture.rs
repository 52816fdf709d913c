//! Draws the picture of a definition.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use workflow_engine::definition::{ReadLimits, appearances};
use workflow_engine::picture::{Caption, Picture};
use workflow_fuzz::definitions::DEFINITIONS;
use workflow_fuzz::support::Library;
use workflow_fuzz::{json, program};

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    DEFINITIONS.mutate(data, size, max_size, seed)
});

fuzz_target!(|data: &[u8]| {
    let Some(document) = json::read(data) else { return };
    let Some(program) = program(&document, false) else { return };
    let looks = appearances(&document, &Library::default(), &ReadLimits::default(), &program);
    let caption = Caption { title: program.definition_id.clone(), subtitle: String::new() };
    let picture = Picture::new(&program, &looks, caption, None);
    assert!(!picture.mermaid().is_empty());
    let drawing = picture.drawing();
    assert!(drawing.width.is_finite() && drawing.height.is_finite());
    let svg = picture.svg();
    assert!(svg.starts_with("<svg") && !svg.contains("NaN") && !svg.contains("inf\""));
});
