//! Measuring, cutting and escaping text.

use std::borrow::Cow;
use std::fmt::Write;

/// Widths of the printable ASCII characters in a sans-serif font, in thousandths of its size.
const WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, // space to /
    556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, // 0 to ?
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, // @ to O
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, // P to _
    333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, // ` to o
    556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584, // p to ~
];

/// How much wider another font may be than the measured one.
const ALLOWANCE: f64 = 1.1;

/// Maximum number of characters that are measured; the rest is not visible anyway.
const MAX_CHARS: usize = 400;

fn char_width(c: char) -> f64 {
    let known = u32::from(c).checked_sub(32).and_then(|index| WIDTHS.get(index as usize));
    match known {
        Some(width) => f64::from(*width) / 1000.0,
        // East Asian scripts, symbols and emoji take a square.
        None if u32::from(c) >= 0x1100 => 1.1,
        None if c.is_uppercase() => 0.8,
        None => 0.62,
    }
}

/// Estimated width of a text, too large rather than too small.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(char_width).sum::<f64>() * size * ALLOWANCE
}

/// The text cut to a width, with an ellipsis in place of the rest.
pub(super) fn fit(text: &str, size: f64, room: f64) -> Cow<'_, str> {
    if text.len() <= MAX_CHARS && width(text, size) <= room {
        return Cow::Borrowed(text);
    }
    let mut left = room / (size * ALLOWANCE) - 1.0;
    let mut end = 0;
    for (at, c) in text.char_indices().take(MAX_CHARS) {
        left -= char_width(c);
        if left < 0.0 {
            break;
        }
        end = at + c.len_utf8();
    }
    Cow::Owned(format!("{}…", text[..end].trim_end()))
}

/// A text in one line of at most `max` characters: a run of white space or invisible characters becomes one space.
pub(crate) fn one_line(text: &str, max: usize) -> String {
    let mut line = String::new();
    let (mut count, mut space) = (0, false);
    for c in text.chars() {
        if c.is_whitespace() || is_invisible(c) {
            space = !line.is_empty();
            continue;
        }
        if count >= max {
            line.push('…');
            return line;
        }
        if std::mem::take(&mut space) {
            line.push(' ');
        }
        line.push(c);
        count += 1;
    }
    line
}

/// Characters that XML forbids, that print nothing, or that change the direction of the text after them.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{feff}' | '\u{fff9}'..='\u{ffff}')
}

/// Escapes text for XML, in elements and in attributes.
pub(super) fn xml(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c if is_invisible(c) => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

/// Escapes text for a quoted label of Mermaid: a character that Mermaid may interpret is written as its number.
pub(super) fn mermaid(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in one_line(text, MAX_CHARS).chars() {
        let plain = !c.is_ascii() || c.is_ascii_alphanumeric() || " -_.,:/()?!+='".contains(c);
        if plain {
            safe.push(c);
        } else {
            // Writing to a string cannot fail.
            let _ = write!(safe, "#{};", u32::from(c));
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_cut_fits_and_says_so() {
        let long = "a very long title that nobody can read in a box";
        let cut = fit(long, 13.0, 120.0);
        assert!(cut.ends_with('…') && width(&cut, 13.0) <= 120.0, "{cut}");
        assert!(width(&cut, 13.0) > 90.0, "{cut}");
        assert_eq!(fit("short", 13.0, 120.0), "short");
        assert_eq!(fit("漢字漢字漢字", 10.0, 40.0), "漢字…");
        assert_eq!(fit("abc", 10.0, 0.0), "…");
    }

    #[test]
    fn nothing_of_a_text_is_markup() {
        assert_eq!(xml("<a b='\"'>&\u{0}\u{202e}"), "&lt;a b=&#39;&quot;&#39;&gt;&amp;  ");
        assert_eq!(mermaid("a\"]; click x\n%%{init}"), "a#34;#93;#59; click x #37;#37;#123;init#125;");
        assert_eq!(mermaid("größer <b>`#"), "größer #60;b#62;#96;#35;");
    }

    #[test]
    fn a_line_is_one_line() {
        assert_eq!(one_line("  a\n\t b\u{0}c ", 99), "a b c");
        assert_eq!(one_line("abcdef", 3), "abc…");
    }
}
