//! Error messages of PostgreSQL about parameters. Nothing of PostgreSQL is here, so `crates/engine/tests/extension.rs` runs the
//! tests.

/// The number of the parameter that a message names (`$2`), in any `lc_messages`.
pub fn parameter(message: &str) -> Option<usize> {
    let digits: String = message.split_once('$')?.1.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|number| *number > 0)
}

#[cfg(test)]
mod tests {
    use super::parameter;

    #[test]
    fn a_message_names_a_parameter() {
        assert_eq!(parameter("inconsistent types deduced for parameter $12"), Some(12));
        assert_eq!(parameter("für Parameter $1 wurden Typen ermittelt"), Some(1));
        assert_eq!(parameter("costs 5 $"), None);
    }
}
