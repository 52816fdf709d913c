//! Bundles from another node: a readable bundle survives being packed and read again, and so do its rows. The digest is
//! corrected, since no random input would have the right one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use workflow_engine::bundle::{Bundle, Table, seal};

fuzz_target!(|data: &[u8]| {
    let _ = Bundle::read(data);
    let Ok((bundle, _)) = Bundle::read(&seal(data)) else { return };
    assert_eq!(Bundle::read(&bundle.pack()).map(|(read, _)| read).as_ref(), Ok(&bundle));
    for table in &bundle.tables {
        let Ok(rows) = table.rows().collect::<Result<Vec<_>, _>>() else { continue };
        let mut again = Table::new(table.name.clone(), table.columns.clone());
        rows.iter().flatten().for_each(|cell| again.push(*cell));
        assert!(again.rows().eq(rows.into_iter().map(Ok)));
    }
});
