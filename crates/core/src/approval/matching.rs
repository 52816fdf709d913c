//! Which voters nobody is left for, where a person has one vote.

use std::collections::{BTreeMap, BTreeSet};

/// The positions of those for whom no person is left, if as many as possible get one of their own. `choices`: who could
/// vote, by position. Earlier positions come first.
pub fn unmatched<P: Ord + Copy>(choices: &[Vec<P>]) -> BTreeSet<usize> {
    let mut holders = BTreeMap::new();
    (0..choices.len()).filter(|at| !assign(*at, choices, &mut holders, &mut BTreeSet::new())).collect()
}

/// Gives a position a person. Another one that holds the person takes another, if it can.
fn assign<P: Ord + Copy>(
    at: usize,
    choices: &[Vec<P>],
    holders: &mut BTreeMap<P, usize>,
    tried: &mut BTreeSet<P>,
) -> bool {
    for person in &choices[at] {
        if !tried.insert(*person) {
            continue;
        }
        let is_free = match holders.get(person).copied() {
            Some(other) => assign(other, choices, holders, tried),
            None => true,
        };
        if is_free {
            holders.insert(*person, at);
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_possible_get_a_person() {
        let left = |choices: &[&str]| {
            let choices: Vec<Vec<char>> = choices.iter().map(|people| people.chars().collect()).collect();
            unmatched(&choices).into_iter().collect::<Vec<usize>>()
        };
        assert_eq!(left(&["ab", "a"]), [0; 0], "the first takes b");
        assert_eq!(left(&["a", "a"]), [1]);
        assert_eq!(left(&["", "a"]), [0]);
        assert_eq!(left(&["abc", "ab", "a"]), [0; 0]);
        assert_eq!(left(&["ab", "ab", "ab", "c"]), [2]);
        assert_eq!(left(&["ab", "bc", "c", "a", "c"]), [3, 4]);
    }
}
