//! What a misspelt name was probably meant to be.

/// Words longer than this are not compared.
const MAX_WORD: usize = 40;

/// The name that a word was probably meant to be.
pub(crate) fn nearest<'k>(word: &str, names: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    if word.len() > MAX_WORD {
        return None;
    }
    let word = word.to_lowercase();
    // Of two letters, half would have to change.
    let allowed = match word.chars().count() {
        0..=2 => return None,
        3..=4 => 1,
        _ => 2,
    };
    names
        .filter(|name| name.len().abs_diff(word.len()) <= allowed)
        .map(|name| (distance(&word, &name.to_lowercase()), name))
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, name)| name)
}

/// Number of letters to change, add, drop or swap with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, right) in b.iter().enumerate() {
            let replaced = last[j] + usize::from(left != right);
            let mut best = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *left == b[j - 1] && a[i - 1] == *right {
                best = best.min(before_last[j - 1] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn counts_slips() {
        assert_eq!(distance("text", "text"), 0);
        assert_eq!(distance("txet", "text"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "ab"), 2);
    }

    #[test]
    fn suggests_only_what_is_near() {
        let names = ["eventName", "text", "condition"];
        assert_eq!(nearest("EventNmae", names.into_iter()), Some("eventName"));
        assert_eq!(nearest("txt", names.into_iter()), Some("text"));
        assert_eq!(nearest("assignee", names.into_iter()), None);
        assert_eq!(nearest("", names.into_iter()), None);
    }
}
