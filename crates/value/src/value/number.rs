//! Exact decimal numbers: the text of a JSON number as sign, digits and a power of ten.
//!
//! The time is linear in the length of the text, whatever the exponent: `1e999999999` costs nothing.

use serde_json::Number;

/// The number `±digits × 10^exponent`, where `digits` is an integer without zeros at either end. Zero has no digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

/// Exponents are clamped to this, far beyond what `numeric` holds, so that sums of them cannot overflow.
const EXPONENT_LIMIT: i64 = 1 << 40;

impl Decimal {
    /// Reads the text of a decimal number: optional sign, digits, point, exponent. `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
            Some(at) => (&unsigned[..at], parse_exponent(&unsigned[at + 1..])?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits = String::with_capacity(mantissa.len());
        digits.push_str(whole);
        digits.push_str(fraction);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let exponent = exponent - i64::try_from(fraction.len()).unwrap_or(EXPONENT_LIMIT);
        Some(Self::normal(negative, &digits, exponent))
    }

    /// The exact value of a JSON number.
    pub fn of(number: &Number) -> Self {
        Self::parse(&number.to_string()).unwrap_or(Self { negative: false, digits: String::new(), exponent: 0 })
    }

    fn normal(negative: bool, digits: &str, exponent: i64) -> Self {
        let shifted = digits.trim_end_matches('0');
        let exponent = exponent + i64::try_from(digits.len() - shifted.len()).unwrap_or(EXPONENT_LIMIT);
        let digits = shifted.trim_start_matches('0');
        if digits.is_empty() {
            return Self { negative: false, digits: String::new(), exponent: 0 };
        }
        // Clamp the sum as well, so that the canonical text of a clamped number is read as the same number.
        Self { negative, digits: digits.to_owned(), exponent: exponent.clamp(-EXPONENT_LIMIT, EXPONENT_LIMIT) }
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// Whether it is a whole number, however it is written.
    pub fn is_integral(&self) -> bool {
        self.is_zero() || self.exponent >= 0
    }

    /// Its value as an integer, if it is one and fits.
    pub fn to_i64(&self) -> Option<i64> {
        if !self.is_integral() || self.exponent > 18 {
            return None;
        }
        if self.is_zero() {
            return Some(0);
        }
        let zeros = usize::try_from(self.exponent).ok()?;
        format!("{}{}{}", if self.negative { "-" } else { "" }, self.digits, "0".repeat(zeros)).parse().ok()
    }

    /// The nearest integer, halves to the even one, if it fits.
    pub fn round_to_i64(&self) -> Option<i64> {
        if self.is_integral() {
            return self.to_i64();
        }
        let fraction_length = usize::try_from(-self.exponent).ok()?;
        let Some(split) = self.digits.len().checked_sub(fraction_length) else {
            return Some(0);
        };
        let (whole, fraction) = self.digits.split_at(split);
        let whole: i64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        // Trailing zeros are gone, so "5" alone is exactly one half.
        let up = match fraction.as_bytes().first() {
            Some(b'5') if fraction.len() == 1 => whole % 2 == 1,
            Some(first) => *first >= b'5',
            None => false,
        };
        let magnitude = whole.checked_add(i64::from(up))?;
        Some(if self.negative { -magnitude } else { magnitude })
    }

    /// The one text that all spellings of this number share: plain digits where they are short, else with an exponent.
    pub fn canonical(&self) -> String {
        const PLAIN: i64 = 40;
        if self.is_zero() {
            return "0".to_owned();
        }
        let sign = if self.negative { "-" } else { "" };
        let length = i64::try_from(self.digits.len()).unwrap_or(EXPONENT_LIMIT);
        let point = length.saturating_add(self.exponent);
        if self.exponent >= 0 && point <= PLAIN {
            let zeros = usize::try_from(self.exponent).unwrap_or(0);
            return format!("{sign}{}{}", self.digits, "0".repeat(zeros));
        }
        if self.exponent < 0 && point > 0 && length <= PLAIN {
            let split = usize::try_from(point).unwrap_or(0);
            return format!("{sign}{}.{}", &self.digits[..split], &self.digits[split..]);
        }
        if self.exponent < 0 && point <= 0 && -self.exponent <= PLAIN {
            let zeros = usize::try_from(-point).unwrap_or(0);
            return format!("{sign}0.{}{}", "0".repeat(zeros), self.digits);
        }
        format!("{sign}{}e{}", self.digits, self.exponent)
    }
}

fn parse_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let magnitude = digits.parse::<i64>().unwrap_or(EXPONENT_LIMIT).min(EXPONENT_LIMIT);
    Some(if text.starts_with('-') { -magnitude } else { magnitude })
}

/// Whether a JSON number is zero.
pub fn is_zero(number: &Number) -> bool {
    Decimal::of(number).is_zero()
}

/// Makes a JSON number of a decimal text, keeping its digits (`1.10` stays). `None` if it is no number.
pub fn from_text(text: &str) -> Option<Number> {
    let text = text.trim();
    if let Ok(number) = serde_json::from_str::<Number>(text) {
        return Some(number);
    }
    // JSON is stricter than this text may be: no plus sign, no leading zeros, digits on both sides of the point.
    Decimal::parse(text)?;
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = unsigned.find(['e', 'E']).map_or((unsigned, ""), |at| unsigned.split_at(at));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        digits => digits,
    };
    let point = if fraction.is_empty() { "" } else { "." };
    serde_json::from_str(&format!("{sign}{whole}{point}{fraction}{exponent}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> String {
        Decimal::parse(text).unwrap().canonical()
    }

    #[test]
    fn what_is_beyond_all_exponents_is_cut_to_a_number_with_one_canonical_text() {
        for text in ["567890e12345678345678", "0.5e-12345678345678", "10e1099511627776", "0.01e-1099511627776"] {
            let canonical = Decimal::parse(text).unwrap().canonical();
            assert_eq!(Decimal::parse(&canonical).unwrap().canonical(), canonical, "{text}");
        }
    }

    #[test]
    fn equal_numbers_have_one_text() {
        for (spellings, text) in [
            (vec!["1.1", "1.10", "11e-1", "0.011E+2", "+1.1"], "1.1"),
            (vec!["0", "-0", "0.000", "0e999999999999999999999"], "0"),
            (vec!["100", "1e2", "1.00E2"], "100"),
            (vec!["-0.05", "-5e-2"], "-0.05"),
            (vec!["1e400", "10e399"], "1e400"),
            (vec!["1e-400"], "1e-400"),
        ] {
            for spelling in spellings {
                assert_eq!(canonical(spelling), text, "{spelling}");
            }
        }
        assert_eq!(Decimal::parse("1.2.3"), None);
        assert_eq!(Decimal::parse("1e"), None);
        assert_eq!(Decimal::parse("-"), None);
        assert_eq!(Decimal::parse(""), None);
    }

    #[test]
    fn integers_are_exact_and_rounding_is_to_even() {
        let decimal = |text| Decimal::parse(text).unwrap();
        assert_eq!(decimal("9223372036854775807").to_i64(), Some(i64::MAX));
        assert_eq!(decimal("-9223372036854775808").to_i64(), Some(i64::MIN));
        assert_eq!(decimal("9223372036854775808").to_i64(), None);
        assert_eq!(decimal("1e18").to_i64(), Some(1_000_000_000_000_000_000));
        assert_eq!(decimal("1e400").to_i64(), None);
        for (text, rounded) in
            [("0.5", 0), ("1.5", 2), ("2.5", 2), ("2.51", 3), ("-1.5", -2), ("0.4", 0), ("0.05", 0), ("1e-400", 0)]
        {
            assert_eq!(decimal(text).round_to_i64(), Some(rounded), "{text}");
        }
    }

    #[test]
    fn digits_survive() {
        for (text, number) in
            [("1.10", "1.10"), (" +5 ", "5"), (".5", "0.5"), ("007", "7"), ("5.", "5"), ("-.5e3", "-0.5e+3")]
        {
            assert_eq!(from_text(text).map(|n| n.to_string()).as_deref(), Some(number), "{text}");
        }
        assert_eq!(from_text("NaN"), None);
        assert_eq!(from_text("1,5"), None);
    }
}
