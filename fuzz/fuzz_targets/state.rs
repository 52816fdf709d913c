//! Stored bytes: a readable state survives being written and read again, damaged bytes are refused, and reading stops
//! on request.
#![no_main]

use libfuzzer_sys::fuzz_target;
use workflow_engine::instance::codec::{decode_state, encode_state};
use workflow_engine::journal;
use workflow_engine::value::Bounds;

fuzz_target!(|data: &[u8]| {
    if let Ok(state) = decode_state(data) {
        assert_eq!(decode_state(&encode_state(&state)).as_ref(), Ok(&state));
    }
    if let Ok(events) = journal::decode(data) {
        assert_eq!(journal::decode(&journal::encode(&events)), Ok(events.clone()));
        assert_eq!(journal::encode(&events).len(), journal::Row::of(None, &events).size());
        Bounds { interrupted: || true, ..Bounds::default() }.apply();
        let stopped = journal::decode(data);
        Bounds::default().apply();
        assert!(events.is_empty() || stopped.is_err());
    }
});
