//! What comes from another node: a bundle that can be read survives being packed and read again, and so do its rows.
//! The digest is made right, since no random input would meet it.
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
