//! Cron expressions: the times at which an expression fires increase, in every zone, from every instant.
//!
//! An input is an expression, a zone and an instant, one to a line; the defaults are UTC and a fixed instant.
#![no_main]

use libfuzzer_sys::fuzz_target;
use workflow_engine::calendar::Cron;
use workflow_fuzz::time::{instant, zone};

fuzz_target!(|text: &str| {
    let mut lines = text.split('\n');
    let expression = lines.next().unwrap_or_default();
    let cron = match Cron::parse(expression) {
        Ok(cron) => cron,
        Err(error) => {
            assert_eq!(error.fault(expression).sqlstate, "22023");
            return;
        }
    };
    let zone = zone(lines.next().unwrap_or_default());
    let mut last = instant(lines.next().unwrap_or_default());
    for _ in 0..20 {
        let Some(next) = cron.next_after(last, zone.as_ref()) else { return };
        assert!(next > last && !cron.is_never());
        last = next;
    }
});
