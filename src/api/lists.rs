//! `workflow.instance_page` and `workflow.instance_count`.

use workflow_engine::alteration::InstanceFilter;

use crate::error;
use crate::pg::symbols::sql_functions;
use crate::pg::{Call, PgError, Returned};
use crate::run::history::lists::{Order, WINDOW, Window};
use crate::store::repair::selection::listed::Shown;
use crate::store::rights::owners;

sql_functions! {
    wf_instance_page(filter: Jsonb, order_by: Text, descending: Boolean, page: Integer, page_size: Integer) => page;
    wf_instance_count(filter: Jsonb) => count;
}

/// Instances on one page, at most.
const LARGEST: u16 = 1000;

fn page(call: &Call) -> Result<Returned, PgError> {
    let filter = filter(call)?;
    let order = order(&call.required::<String>("order_by")?)?;
    let descending: bool = call.required("descending")?;
    let (page, size) = page_and_size(call)?;
    // The oldest instances of all are wanted in one order only; in the others the list is of the newest.
    let window = Window::of(&filter, order, descending || order != Order::Created);
    let (count, is_exact) = (window.count(), window.is_whole);
    let row = |shown: Shown| {
        let mut row = columns(shown);
        row.extend([Returned::Integer(i32::try_from(count).unwrap_or(i32::MAX)), Returned::Boolean(is_exact)]);
        row
    };
    Ok(Returned::Rows(window.page(order, descending, page, size).into_iter().map(row).collect()))
}

fn count(call: &Call) -> Result<Returned, PgError> {
    let window = Window::of(&filter(call)?, Order::Created, true);
    let count = i32::try_from(window.count()).unwrap_or(i32::MAX);
    Ok(Returned::Row(vec![Returned::Integer(count), Returned::Boolean(window.is_whole)]))
}

fn filter(call: &Call) -> Result<InstanceFilter, PgError> {
    InstanceFilter::of_list(&call.required("filter")?).map_err(|fault| error::fault(&fault))
}

fn order(name: &str) -> Result<Order, PgError> {
    let known = Order::NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    known.map(|(_, order)| *order).ok_or_else(|| {
        PgError::new("22023", format!("unknown order \"{name}\""))
            .hint("Known are Created, LastExecuted, Finished and Name.")
    })
}

/// The number of the page and its size.
fn page_and_size(call: &Call) -> Result<(usize, usize), PgError> {
    let (page, size): (i32, usize) = (call.required("page")?, call.required_count("page_size", LARGEST)?);
    let number = usize::try_from(page)
        .map_err(|_| PgError::new("22023", format!("argument \"page\" must not be negative: {page}")))?;
    if number.saturating_mul(size) >= WINDOW {
        return Err(PgError::new("22023", format!("page {page} lies behind the first {WINDOW} instances"))
            .hint("Narrow the filter, or turn the order around."));
    }
    Ok((number, size))
}

fn columns(shown: Shown) -> Vec<Returned> {
    vec![
        Returned::Uuid(shown.id),
        Returned::Text(shown.definition),
        Returned::Integer(shown.number),
        Returned::Uuid(shown.version),
        Returned::of(shown.name, Returned::Text),
        Returned::of(shown.correlation, Returned::Text),
        Returned::Text(shown.status),
        Returned::Text(shown.sub_status),
        Returned::Integer(shown.incidents),
        Returned::Text(owners::by_id(shown.owner).title()),
        Returned::of(shown.parent, Returned::Uuid),
        Returned::Timestamptz(shown.created),
        Returned::Timestamptz(shown.updated),
        Returned::of(shown.finished, Returned::Timestamptz),
        Returned::of(shown.paused, Returned::Timestamptz),
    ]
}
