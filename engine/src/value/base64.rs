//! Base64.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Writes bytes as Base64 with padding.
pub(crate) fn to_base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group =
            chunk.iter().enumerate().fold(0u32, |group, (at, byte)| group | (u32::from(*byte) << (16 - 8 * at)));
        for at in 0..4 {
            if at <= chunk.len() {
                let six = (group >> (18 - 6 * at)) & 63;
                text.push(char::from(ALPHABET[six as usize]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

/// Reads Base64; blanks are skipped, padding is optional, the URL alphabet is understood. `None` if it is none.
pub(crate) fn from_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut group, mut bits) = (0u32, 0u32);
    let text = text.trim_end().trim_end_matches('=');
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        group = (group << 6) | u32::from(six(byte)?);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from((group >> bits) & 0xff).ok()?);
            group &= (1 << bits) - 1;
        }
    }
    // A single character of a last group would carry less than a byte.
    if bits >= 6 { None } else { Some(bytes) }
}

fn six(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
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
        assert_eq!(from_base64("A"), None);
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
