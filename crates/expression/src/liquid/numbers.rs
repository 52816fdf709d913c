//! The filters of numbers.
//!
//! Whole numbers of 64 bits are computed exactly, everything else as doubles. The crate's own filters overflow silently
//! at 64 bits, and turn a double that is too large into the nearest integer.

use liquid_core::error::{Error, Result};
use liquid_core::model::{Value, ValueCow, ValueView};

use super::filters::Own;
use super::meter::Meter;

/// Every filter of this file, with its number of arguments.
pub(super) static ALL: &[Own] = &[
    Own { name: "abs", min: 0, max: 0, compute: abs },
    Own { name: "at_least", min: 1, max: 1, compute: at_least },
    Own { name: "at_most", min: 1, max: 1, compute: at_most },
    Own { name: "ceil", min: 0, max: 0, compute: ceil },
    Own { name: "divided_by", min: 1, max: 1, compute: divided_by },
    Own { name: "floor", min: 0, max: 0, compute: floor },
    Own { name: "minus", min: 1, max: 1, compute: minus },
    Own { name: "modulo", min: 1, max: 1, compute: modulo },
    Own { name: "plus", min: 1, max: 1, compute: plus },
    Own { name: "round", min: 0, max: 1, compute: round },
    Own { name: "sum", min: 0, max: 1, compute: sum },
    Own { name: "times", min: 1, max: 1, compute: times },
];

#[derive(Clone, Copy)]
enum Number {
    Whole(i64),
    Double(f64),
}

use Number::{Double, Whole};

impl Number {
    #[allow(clippy::cast_precision_loss)]
    fn double(self) -> f64 {
        match self {
            Whole(whole) => whole as f64,
            Double(double) => double,
        }
    }

    fn value(self) -> Result<Value> {
        match self {
            Whole(whole) => Ok(Value::scalar(whole)),
            Double(double) if double.is_finite() => Ok(Value::scalar(double)),
            Double(_) => Err(Error::with_msg("the number is out of range")),
        }
    }
}

fn number(value: &dyn ValueView) -> Option<Number> {
    let scalar = value.as_scalar()?;
    scalar.to_integer().map(Whole).or_else(|| scalar.to_float().map(Double))
}

fn input_number(input: &dyn ValueView) -> Result<Number> {
    number(input).ok_or_else(|| Error::with_msg("Invalid input").context("cause", "Number expected"))
}

fn invalid_argument(cause: &'static str) -> Error {
    Error::with_msg("Invalid argument").context("argument", "operand").context("cause", cause)
}

fn operands(input: &dyn ValueView, arguments: &[ValueCow<'_>]) -> Result<(Number, Number)> {
    let operand = arguments.first().and_then(|operand| number(operand.as_view()));
    Ok((input_number(input)?, operand.ok_or_else(|| invalid_argument("Number expected"))?))
}

/// Computes with whole numbers if both are whole and the result fits, otherwise with doubles.
fn compute(
    (left, right): (Number, Number),
    whole: fn(i64, i64) -> Option<i64>,
    double: fn(f64, f64) -> f64,
) -> Result<Value> {
    let exact = match (left, right) {
        (Whole(left), Whole(right)) => whole(left, right),
        _ => None,
    };
    exact.map_or_else(|| Double(double(left.double(), right.double())), Whole).value()
}

fn plus(input: &dyn ValueView, arguments: &[ValueCow<'_>], _: &Meter) -> Result<Value> {
    compute(operands(input, arguments)?, i64::checked_add, |left, right| left + right)
}

fn minus(input: &dyn ValueView, arguments: &[ValueCow<'_>], _: &Meter) -> Result<Value> {
    compute(operands(input, arguments)?, i64::checked_sub, |left, right| left - right)
}

fn times(input: &dyn ValueView, arguments: &[ValueCow<'_>], _: &Meter) -> Result<Value> {
    compute(operands(input, arguments)?, i64::checked_mul, |left, right| left * right)
}

fn at_least(input: &dyn ValueView, arguments: &[ValueCow<'_>], _: &Meter) -> Result<Value> {
    compute(operands(input, arguments)?, |left, right| Some(left.max(right)), f64::max)
}

fn at_most(input: &dyn ValueView, arguments: &[ValueCow<'_>], _: &Meter) -> Result<Value> {
    compute(operands(input, arguments)?, |left, right| Some(left.min(right)), f64::min)
}

fn divided_by(input: &dyn ValueView, arguments: &[ValueCow<'_>], _: &Meter) -> Result<Value> {
    compute(divisible(operands(input, arguments)?)?, i64::checked_div, |left, right| left / right)
}

fn modulo(input: &dyn ValueView, arguments: &[ValueCow<'_>], _: &Meter) -> Result<Value> {
    let operands = divisible(operands(input, arguments)?)?;
    compute(operands, |left, right| Some(left.wrapping_rem(right)), |left, right| left % right)
}

fn divisible(operands: (Number, Number)) -> Result<(Number, Number)> {
    match operands.1 {
        Whole(0) => Err(invalid_argument("Can't divide by zero")),
        Double(0.0) => Err(invalid_argument("Can't divide by zero")),
        _ => Ok(operands),
    }
}

fn abs(input: &dyn ValueView, _: &[ValueCow<'_>], _: &Meter) -> Result<Value> {
    let number = input_number(input)?;
    let exact = match number {
        Whole(whole) => whole.checked_abs(),
        Double(_) => None,
    };
    exact.map_or_else(|| Double(number.double().abs()), Whole).value()
}

fn ceil(input: &dyn ValueView, _: &[ValueCow<'_>], _: &Meter) -> Result<Value> {
    rounded(input_number(input)?, f64::ceil).value()
}

fn floor(input: &dyn ValueView, _: &[ValueCow<'_>], _: &Meter) -> Result<Value> {
    rounded(input_number(input)?, f64::floor).value()
}

fn round(input: &dyn ValueView, arguments: &[ValueCow<'_>], _: &Meter) -> Result<Value> {
    let places = match arguments.first().map(|places| number(places.as_view())) {
        None => 0,
        Some(Some(Whole(places))) => places,
        Some(_) => return Err(invalid_argument("Whole number expected")),
    };
    let number = input_number(input)?;
    let (Double(double), Ok(places @ 1..)) = (number, i32::try_from(places.min(400))) else {
        return rounded(number, f64::round).value();
    };
    let factor = 10_f64.powi(places);
    let scaled = double * factor;
    // A double that large has no decimals to round.
    Double(if scaled.is_finite() { scaled.round() / factor } else { double }).value()
}

/// The whole number computed by `direction`. One that does not fit into 64 bits stays a double.
fn rounded(number: Number, direction: fn(f64) -> f64) -> Number {
    /// 2 to the power of 63.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    match number {
        Whole(whole) => Whole(whole),
        Double(double) => match direction(double) {
            #[allow(clippy::cast_possible_truncation)]
            fits if (-LIMIT..LIMIT).contains(&fits) => Whole(fits as i64),
            large => Double(large),
        },
    }
}

/// The sum of the items, or of this member of each. Missing values count as 0.
fn sum(input: &dyn ValueView, arguments: &[ValueCow<'_>], _: &Meter) -> Result<Value> {
    let items = input.as_array().ok_or_else(|| Error::with_msg("filter \"sum\" needs an array"))?;
    let member = arguments.first().map(|member| member.as_view().to_kstr().into_owned());
    let mut total = Value::scalar(0_i64);
    for item in items.values() {
        let addend = match &member {
            None => Some(item),
            Some(member) => item.as_object().and_then(|object| object.get(member.as_str())),
        };
        if let Some(addend) = addend.filter(|addend| !addend.is_nil()) {
            let operands = (input_number(total.as_view())?, input_number(addend)?);
            total = compute(operands, i64::checked_add, |left, right| left + right)?;
        }
    }
    Ok(total)
}
