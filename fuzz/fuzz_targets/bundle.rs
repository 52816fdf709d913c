//! What comes from another node: a bundle that can be read survives being packed and read again, and arrays of ids being taken
//! apart and put together. The digest is made right, since no random input would meet it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use workflow_engine::bundle::{Bundle, array, elements, seal};

fuzz_target!(|data: &[u8]| {
    let _ = Bundle::read(data);
    let Ok((bundle, _)) = Bundle::read(&seal(data)) else { return };
    assert_eq!(Bundle::read(&bundle.pack()).map(|(read, _)| read).as_ref(), Ok(&bundle));
    for (_, values) in bundle.tables.iter().flat_map(|table| &table.columns) {
        if let Ok(found) = elements(values) {
            assert_eq!(elements(&array(found.iter().copied())), Ok(found));
        }
    }
});
