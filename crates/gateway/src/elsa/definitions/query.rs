//! Query strings of Elsa's clients, and the version selection in them.

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;

use crate::failure::Failure;

/// The parameters of a query string. Names are case-insensitive.
pub struct Parameters(Vec<(String, String)>);

impl<S: Sync> FromRequestParts<S> for Parameters {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let pairs = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri);
        let wrong = |error| Failure::bad_request(format!("the query string makes no sense: {error}"));
        pairs.map(|Query(pairs)| Self(pairs)).map_err(wrong)
    }
}

impl Parameters {
    /// The first non-empty value of a name.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.texts(name).next()
    }

    /// All non-empty values of a name.
    pub fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        let named = self.0.iter().filter(move |(known, _)| known.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// A non-negative number.
    pub fn number(&self, name: &str) -> Result<Option<i64>, Failure> {
        let Some(text) = self.text(name) else { return Ok(None) };
        match text.parse() {
            Ok(number) if number >= 0 => Ok(Some(number)),
            _ => Err(Failure::bad_request(format!("{name} must be a number that is not negative, not {text:?}"))),
        }
    }

    /// `True` or `False`, in any letter case.
    pub fn boolean(&self, name: &str) -> Result<Option<bool>, Failure> {
        match self.text(name).map(str::to_ascii_lowercase).as_deref() {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(other) => Err(Failure::bad_request(format!("{name} must be True or False, not {other:?}"))),
        }
    }

    /// The versions selected by `versionOptions`.
    pub fn versions(&self) -> Result<Option<Versions>, Failure> {
        self.text("versionOptions").map(Versions::read).transpose()
    }
}

/// A selection of versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Versions {
    Any,
    Latest,
    Published,
    LatestOrPublished,
    LatestAndPublished,
    Draft,
    Number(i32),
}

impl Versions {
    /// Parses Elsa's keyword, or a version number.
    pub fn read(text: &str) -> Result<Self, Failure> {
        let known = [
            ("AllVersions", Self::Any),
            ("Latest", Self::Latest),
            ("Published", Self::Published),
            ("LatestOrPublished", Self::LatestOrPublished),
            ("LatestAndPublished", Self::LatestAndPublished),
            ("Draft", Self::Draft),
        ];
        if let Some((_, versions)) = known.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)) {
            return Ok(*versions);
        }
        text.parse().map(Self::Number).map_err(|_| {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            Failure::bad_request(format!("unrecognized versionOptions {text:?}"))
                .hint(format!("It is a number, or one of {}.", names.join(", ")))
        })
    }

    /// The keyword that [`crate::matches_versions`] expects.
    pub fn name(self) -> &'static str {
        match self {
            Self::Any => "Any",
            Self::Latest => "Latest",
            Self::Published => "Published",
            Self::LatestOrPublished => "LatestOrPublished",
            Self::LatestAndPublished => "LatestAndPublished",
            Self::Draft => "Draft",
            Self::Number(_) => "Number",
        }
    }

    /// The version number, if one is selected.
    pub fn number(self) -> Option<i32> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }
}

/// An SQL condition: whether a version `d` is selected. The parameters are keyword and number.
#[macro_export]
macro_rules! matches_versions {
    ($name:literal, $number:literal) => {
        concat!(
            "CASE WHEN ",
            $name,
            " OPERATOR(pg_catalog.=) 'Any' THEN true WHEN ",
            $name,
            " OPERATOR(pg_catalog.=) 'Latest' THEN d.is_latest WHEN ",
            $name,
            " OPERATOR(pg_catalog.=) 'Published' THEN d.is_published WHEN ",
            $name,
            " OPERATOR(pg_catalog.=) 'LatestOrPublished' THEN d.is_latest OR d.is_published WHEN ",
            $name,
            " OPERATOR(pg_catalog.=) 'LatestAndPublished' THEN d.is_latest AND d.is_published WHEN ",
            $name,
            " OPERATOR(pg_catalog.=) 'Draft' THEN NOT d.is_published ELSE d.version OPERATOR(pg_catalog.=) ",
            $number,
            " END"
        )
    };
}

/// An SQL expression: whether the request's role has the rights of a definition's owner.
#[macro_export]
macro_rules! is_mine {
    ($owner:literal) => {
        concat!(
            "(",
            $owner,
            " OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT r.rolname::pg_catalog.text FROM pg_catalog.pg_roles r \
             WHERE pg_catalog.pg_has_role(r.oid, 'USAGE'))))"
        )
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(pairs: &[(&str, &str)]) -> Parameters {
        Parameters(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn names_have_any_letter_case_and_lists_are_repeated() {
        let given = parameters(&[("Ids", "a"), ("ids", "b"), ("IDS", ""), ("page", "2"), ("issystem", "FALSE")]);
        assert_eq!(given.texts("Ids").collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(given.number("Page").unwrap(), Some(2));
        assert_eq!(given.boolean("IsSystem").unwrap(), Some(false));
        assert_eq!(given.text("SearchTerm"), None);
        for text in ["-1", "x", "1e3", "99999999999999999999"] {
            assert!(parameters(&[("Page", text)]).number("Page").is_err(), "{text}");
        }
        assert!(parameters(&[("IsSystem", "1")]).boolean("IsSystem").is_err());
    }

    #[test]
    fn versions_are_names_or_a_number() {
        assert_eq!(Versions::read("latestorpublished").unwrap(), Versions::LatestOrPublished);
        assert_eq!(Versions::read("12").unwrap(), Versions::Number(12));
        assert!(Versions::read("Newest").is_err());
        assert_eq!(parameters(&[("versionOptions", "")]).versions().unwrap(), None);
    }
}
