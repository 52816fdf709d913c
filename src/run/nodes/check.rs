//! What `wf_check` reports about the routing guard: keys of other nodes.

use std::collections::BTreeMap;

use super::{PAGE, each_page, of_node};
use crate::pg::{PgError, process};
use crate::store::nodes::{moving, route};

/// Time in microseconds that may be spent on keys for which the guard waits, all together.
const LONGEST_WAIT: i64 = 1_000_000;

const INSTANCES: &str = "instances of a key that belongs to another node";
const ROWS: &str = "rows of a key that belongs to another node";
const FAILS: &str = "the function in workflow.route_check fails";
const WAITS: &str = "the function in workflow.route_check waits, and was called for no further keys";

/// Keys with rows here that belong to another node, each as a problem and its detail. A guard that fails, or that waits
/// for too many keys, is reported, and ends the search.
///
/// # Errors
/// Those that end a session or a statement, such as a cancel request, and a lack of resources.
pub fn misplaced() -> Result<Vec<(String, String)>, PgError> {
    let (mut found, mut waited) = (Vec::new(), 0);
    if !route::is_on() {
        return Ok(found);
    }
    each_page(PAGE, String::new(), |page| {
        let (mut elsewhere, mut end) = (Vec::new(), None);
        for key in page.into_iter().filter(|key| !key.is_empty() || is_used(key)) {
            let begun = process::now();
            match route::is_elsewhere(&key) {
                Ok(Some(true)) => elsewhere.push(key),
                Ok(Some(false)) => {}
                Ok(None) => {
                    waited += process::now() - begun;
                    end = (waited >= LONGEST_WAIT).then_some((WAITS, key));
                }
                Err(error) if ["57014", "53100", "53200"].contains(&error.sqlstate.as_str()) => return Err(error),
                Err(error) => end = Some((FAILS, format!("{key}: {}", error.message))),
            }
            if end.is_some() {
                break;
            }
        }
        let mut instances = BTreeMap::<String, u64>::new();
        for instance in moving::with_keys(&elsewhere, &of_node()) {
            *instances.entry(instance.key).or_default() += 1;
        }
        let others = moving::with_rows(&elsewhere).into_iter().filter(|key| !instances.contains_key(key));
        found.extend(others.map(|key| (ROWS.to_owned(), key)));
        found.extend(instances.iter().map(|(key, count)| (INSTANCES.to_owned(), format!("{key}: {count}"))));
        let continues = end.is_none();
        found.extend(end.map(|(problem, detail)| (problem.to_owned(), detail)));
        Ok(continues)
    })?;
    Ok(found)
}

/// Whether anything here has a key. The first page has the empty key in any case.
fn is_used(key: &str) -> bool {
    let key = [key.to_owned()];
    !moving::with_keys(&key, &of_node()).is_empty() || !moving::with_rows(&key).is_empty()
}
