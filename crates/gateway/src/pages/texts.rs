//! The texts of the pages for people, in one file per language.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A language of the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    English,
    German,
}

/// The texts of a language by key: `section.name` in its file.
type Texts = BTreeMap<String, String>;

static ENGLISH: LazyLock<Texts> = LazyLock::new(|| read(include_str!("../../texts/en.toml")));
static GERMAN: LazyLock<Texts> = LazyLock::new(|| read(include_str!("../../texts/de.toml")));

fn read(file: &str) -> Texts {
    let sections: BTreeMap<String, Texts> = toml::from_str(file).expect("a test reads both files");
    let flat = |(section, texts): (String, Texts)| {
        texts.into_iter().map(move |(name, text)| (format!("{section}.{name}"), text))
    };
    sections.into_iter().flat_map(flat).collect()
}

impl Language {
    pub const ALL: [Self; 2] = [Self::English, Self::German];

    /// The code in HTML, cookies and `Accept-Language`.
    pub fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
        }
    }

    /// The language's name in itself.
    pub fn name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::German => "Deutsch",
        }
    }

    pub fn of_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.code() == code)
    }

    /// The preferred one of our languages in the value of `Accept-Language`.
    pub fn accepted(header: &str) -> Option<Self> {
        let mut best: Option<(f32, Self)> = None;
        for entry in header.split(',') {
            let mut parts = entry.split(';').map(str::trim);
            let code = parts.next().unwrap_or_default().split('-').next().unwrap_or_default().to_ascii_lowercase();
            let weight = parts.find_map(|part| part.strip_prefix("q=")?.parse().ok()).unwrap_or(1.0_f32);
            if let Some(language) = Self::of_code(&code).filter(|_| weight > 0.0)
                && best.is_none_or(|(known, _)| weight > known)
            {
                best = Some((weight, language));
            }
        }
        best.map(|(_, language)| language)
    }

    /// The text of a key. A test compares the keys in use with the files.
    pub fn text(self, key: &str) -> &'static str {
        let texts: &'static Texts = match self {
            Self::English => &ENGLISH,
            Self::German => &GERMAN,
        };
        texts.get(key).map_or("?", String::as_str)
    }

    /// The text of a key with values in place of `{0}`, `{1}` …
    pub fn filled(self, key: &str, values: &[&str]) -> String {
        let mut filled = String::new();
        let mut rest = self.text(key);
        while let Some(at) = rest.find('{') {
            filled += &rest[..at];
            let number = rest[at + 1..].split('}').next().unwrap_or_default();
            filled += number.parse().ok().and_then(|number: usize| values.get(number)).unwrap_or(&"");
            rest = &rest[(at + number.len() + 2).min(rest.len())..];
        }
        filled + rest
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Templates and sources of the pages.
    fn sources(folder: &Path, found: &mut String) {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                sources(&entry, found);
            } else if !entry.ends_with("texts.rs") {
                found.push_str(&fs::read_to_string(entry).unwrap());
            }
        }
    }

    #[test]
    fn languages_have_the_same_keys_and_each_is_used() {
        let keys: BTreeSet<&String> = ENGLISH.keys().collect();
        assert_eq!(keys, GERMAN.keys().collect(), "the files differ");
        let mut source = String::new();
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        sources(&root.join("src/pages"), &mut source);
        sources(&root.join("templates"), &mut source);
        let unused: Vec<_> = keys.iter().filter(|key| !source.contains(&format!("\"{key}\""))).collect();
        assert!(unused.is_empty(), "no page uses {unused:?}");
        let sections: BTreeSet<&str> = keys.iter().filter_map(|key| key.split('.').next()).collect();
        let named = source.split('"').filter(|text| {
            let is_word = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
            // Templates have such names as well.
            text.split_once('.')
                .is_some_and(|(section, name)| sections.contains(section) && name != "html" && is_word(name))
        });
        let unknown: BTreeSet<&str> = named.filter(|text| !ENGLISH.contains_key(*text)).collect();
        assert!(unknown.is_empty(), "no file has {unknown:?}");
    }

    #[test]
    fn languages_have_the_same_places_for_values() {
        let places = |text: &str| text.split('{').skip(1).map(|rest| rest[..1].to_owned()).collect::<BTreeSet<_>>();
        for (key, text) in ENGLISH.iter() {
            assert_eq!(places(text), places(&GERMAN[key]), "{key}");
        }
    }

    #[test]
    fn the_preferred_language_is_chosen() {
        assert_eq!(Language::accepted("de-AT,de;q=0.9,en;q=0.8"), Some(Language::German));
        assert_eq!(Language::accepted("fr, en;q=0.3, de;q=0.2"), Some(Language::English));
        assert_eq!(Language::accepted("de;q=0, *"), None);
        assert_eq!(Language::accepted(""), None);
    }

    #[test]
    fn values_are_filled_in() {
        assert_eq!(Language::English.filled("time.in", &["2 h"]), "in 2 h");
        assert_eq!(Language::German.filled("time.ago", &["{0}"]), "vor {0}");
    }
}
