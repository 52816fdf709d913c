//! Names in any letter case, as Elsa's templates find members.

/// Whether two names differ in letter case at most.
pub(super) fn same(one: &str, two: &str) -> bool {
    one.len() == two.len() && one.eq_ignore_ascii_case(two) || one.to_lowercase() == two.to_lowercase()
}
