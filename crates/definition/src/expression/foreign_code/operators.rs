//! The operators of both languages that behave like those of JavaScript.

use super::{Operator, Term};
use workflow_core::activity::ForeignLanguage;

/// The operators of one level of precedence, lowest first.
pub(super) type PrecedenceLevel = &'static [(&'static str, Operator)];

/// The comparisons of both languages; `is` compares with null.
const COMPARISONS: PrecedenceLevel = &[
    ("==", Operator::Equal),
    ("!=", Operator::Unequal),
    ("is not ", Operator::Unequal),
    ("is ", Operator::Equal),
    ("<=", Operator::Compare("<=")),
    (">=", Operator::Compare(">=")),
    ("<", Operator::Compare("<")),
    (">", Operator::Compare(">")),
];

const CSHARP: [PrecedenceLevel; 4] =
    [&[("??", Operator::Or("??"))], &[("||", Operator::Or("||"))], &[("&&", Operator::And)], COMPARISONS];

const PYTHON: [PrecedenceLevel; 4] = [&[], &[("or ", Operator::Or("||"))], &[("and ", Operator::And)], COMPARISONS];

/// The translated operators of a language.
pub(super) fn levels(language: ForeignLanguage) -> [PrecedenceLevel; 4] {
    match language {
        ForeignLanguage::CSharp => CSHARP,
        ForeignLanguage::Python => PYTHON,
    }
}

/// Whether an operator behaves as in Python, where an empty list is false, and lists are equal by their items.
pub(super) fn same_in_python(operator: Operator, left: &Term, right: &Term) -> bool {
    let plain = |term: &Term| matches!(term, Term::Literal(value) if !value.is_boolean());
    match operator {
        Operator::Or(_) | Operator::And => is_truth(left) && is_truth(right),
        Operator::Equal | Operator::Unequal => plain(left) || plain(right),
        Operator::Compare(_) => true,
    }
}

/// Whether a term is always a boolean.
pub(super) fn is_truth(term: &Term) -> bool {
    match term {
        Term::Literal(value) => value.is_boolean(),
        Term::Not(_) | Term::Call(..) => true,
        Term::Binary(operator, ..) => *operator != Operator::Or("??"),
        _ => false,
    }
}
