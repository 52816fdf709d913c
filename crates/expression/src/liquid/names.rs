//! Comparison of names without letter case, as Elsa's templates find members.

/// Whether two names are equal except for letter case.
pub(super) fn same(one: &str, two: &str) -> bool {
    one.len() == two.len() && one.eq_ignore_ascii_case(two) || one.to_lowercase() == two.to_lowercase()
}
