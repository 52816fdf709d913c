//! The console: pages for those on duty, who find what is stuck, late or failing, and mend it. In English only.
//!
//! Each page reads views that show a role its part, and each action is one transaction for one object.

mod audit;
mod charts;
mod dead_letters;
mod overview;
pub mod progress;
mod schedules;
mod search;
mod workers;

use crate::routing::Routes;

pub fn routes() -> Routes {
    let lists = dead_letters::routes().merge(schedules::routes()).merge(search::routes()).merge(workers::routes());
    overview::routes().merge(lists).merge(audit::routes())
}

/// The first page of the console.
pub const OVERVIEW: &str = "/overview";

/// The tabs: path and text.
pub const TABS: [(&str, &str); 7] = [
    (OVERVIEW, "Overview"),
    (search::PATH, "Search"),
    ("/incidents", "Incidents"),
    ("/dead-letters", "Dead letters"),
    ("/schedules", "Schedules"),
    ("/workers", "Workers"),
    ("/audit", "Audit"),
];

/// An address with a query string of the pairs that have a value.
pub fn address(path: &str, pairs: &[(&str, &str)]) -> String {
    let pairs = pairs.iter().filter(|(_, value)| !value.is_empty());
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

/// A number of things with commas between groups of three digits. What was not counted to its end has a plus.
pub fn counted(number: f64, is_capped: bool) -> String {
    // A sum of nothing is -0.0, which a format would show with its sign.
    let digits = (number.round() as u64).to_string();
    let mut text = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if is_capped { text + "+" } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_what_has_a_value() {
        assert_eq!(address("/incidents", &[("cause", ""), ("page", "")]), "/incidents");
        assert_eq!(address("/incidents", &[("cause", "a&b"), ("page", "2")]), "/incidents?cause=a%26b&page=2");
    }

    #[test]
    fn numbers_are_grouped() {
        let counted = |number| counted(number, false);
        assert_eq!([0.0, 7.4, 999.0, 1000.0, 1_234_567.0].map(counted), ["0", "7", "999", "1,000", "1,234,567"]);
        assert_eq!(super::counted(10_000.0, true), "10,000+");
        assert_eq!([-0.0, -1.0, f64::NAN].map(counted), ["0", "0", "0"]);
    }
}
