//! Names as people write them: letter case, and suggestions for misspelt names.

/// Words longer than this are not compared.
const MAX_WORD: usize = 40;

/// The known name that a misspelt word most likely means.
pub fn nearest<'k>(word: &str, names: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    if word.len() > MAX_WORD {
        return None;
    }
    let word = word.to_lowercase();
    // In a word of two letters a distance of 1 would be half of it.
    let allowed = match word.chars().count() {
        0..=2 => return None,
        3..=4 => 1,
        _ => 2,
    };
    names
        .filter(|name| name.len().abs_diff(word.len()) <= allowed)
        .map(|name| (strsim::osa_distance(&word, &name.to_lowercase()), name))
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, name)| name)
}

/// Whether a key is this name, in camelCase or in PascalCase.
pub fn spelled_as(key: &str, name: &str) -> bool {
    let (key, name) = (key.as_bytes(), name.as_bytes());
    key.len() == name.len() && key.get(1..) == name.get(1..) && key.eq_ignore_ascii_case(name)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn suggests_only_what_is_near() {
        let names = ["eventName", "text", "condition"];
        assert_eq!(nearest("EventNmae", names.into_iter()), Some("eventName"));
        assert_eq!(nearest("txt", names.into_iter()), Some("text"));
        assert_eq!(nearest("assignee", names.into_iter()), None);
        assert_eq!(nearest("", names.into_iter()), None);
    }
}
