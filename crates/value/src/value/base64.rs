//! Base64 as .NET and browsers write it.

use std::sync::LazyLock;

use data_encoding::{BASE64, Encoding};

/// Blanks are skipped, padding is optional, and both alphabets are understood.
static LENIENT: LazyLock<Encoding> = LazyLock::new(|| {
    let mut specification = BASE64.specification();
    specification.padding = None;
    specification.check_trailing_bits = false;
    specification.ignore.push_str(" \t\n\r\u{c}");
    specification.translate.from.push_str("-_");
    specification.translate.to.push_str("+/");
    specification.encoding().expect("a specification that the tests use")
});

/// Writes bytes as Base64 with padding.
pub fn to_base64(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

/// Reads Base64. `None` for any other text.
pub fn from_base64(text: &str) -> Option<Vec<u8>> {
    LENIENT.decode(text.trim_end().trim_end_matches('=').as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_texts() {
        for (plain, encoded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(to_base64(plain.as_bytes()), encoded);
            assert_eq!(from_base64(encoded).as_deref(), Some(plain.as_bytes()));
        }
        for lenient in ["Zm9v YmFy\n", "Zm9v\tYmFy==", "\u{c}Zm9vYmFy\r\n "] {
            assert_eq!(from_base64(lenient).as_deref(), Some(&b"foobar"[..]), "{lenient:?}");
        }
        assert_eq!(from_base64("_-8"), from_base64("/+8="));
        assert_eq!(from_base64("Zh").as_deref(), Some(&b"f"[..]));
        assert_eq!(from_base64("A"), None);
        assert_eq!(from_base64("Zg==Zg=="), None);
        assert_eq!(from_base64("Zg!="), None);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(bytes: Vec<u8>, text: String) {
            prop_assert_eq!(from_base64(&to_base64(&bytes)), Some(bytes));
            let _ = from_base64(&text);
        }
    }
}
