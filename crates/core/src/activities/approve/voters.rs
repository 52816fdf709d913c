//! The voters of an `Approve`: its inputs `by` and `escalateTo`.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::activity::Excluded;
use crate::execution::{Execution, ForPeople};
use workflow_value::fault::{Fault, shorten};
use workflow_value::value::{copy_or_null, parse_json, to_text};

/// Maximum number of voters.
const MAX_VOTERS: usize = 100;

/// The member of an entry that stands for a vote of each member of a role, or of each name in a list.
const EACH: &str = "each";

/// The prefix of the name of a group that only the application knows.
const GROUP: &str = "group:";

/// An entry of the input.
#[derive(Debug, PartialEq)]
enum Entry {
    /// One vote of a person, or of anyone who is a member of the role or group when answering.
    One(String),
    /// A vote of each member of this role.
    EachMember(String),
    /// A vote of each of these.
    EachOf(Vec<String>),
}

/// The names of all who have a vote. Members of roles are those of this moment, without the excluded ones.
///
/// # Errors
/// 22023 if the value is no list of voters, or has none or too many; 42704 for a role that does not exist.
pub(super) fn read(
    cx: &mut Execution<'_>,
    value: &Value,
    what: &str,
    excluded: &[Excluded],
) -> Result<Vec<String>, Fault> {
    let entries = entries(value, what)?;
    // A member who has a vote under his own name, or as a member of another role, gets no second one.
    let mut seen: BTreeSet<String> = named(&entries).map(str::to_owned).collect();
    let mut names = Vec::new();
    for entry in entries {
        match entry {
            Entry::One(name) => names.push(name),
            Entry::EachOf(list) => names.extend(list),
            Entry::EachMember(role) => {
                let members = cx.members(&role, excluded)?;
                if members.is_empty() {
                    let message = format!("role \"{role}\" has no members who could vote");
                    return Err(Fault::new("22023", message)
                        .detail("A member must be able to log in, inherit the role, and not be in \"not\"."));
                }
                let members = members.into_iter().map(|member| format!("{}{member}", ForPeople::ROLE));
                names.extend(members.filter(|member| seen.insert(member.clone())));
            }
        }
    }
    if names.is_empty() {
        return Err(Fault::new("22023", format!("\"{what}\" must name at least one voter")));
    }
    if names.len() > MAX_VOTERS {
        let message = format!("\"{what}\" has at most {MAX_VOTERS} voters, not {}", names.len());
        return Err(Fault::new("22023", message));
    }
    for role in names.iter().filter_map(|name| name.strip_prefix(ForPeople::ROLE)) {
        cx.check_role(role)?;
    }
    Ok(names)
}

/// Checks a constant when the definition is stored.
pub(super) fn check(value: &Value, what: &str) -> Result<(), Fault> {
    match entries(value, what)?.as_slice() {
        [] => Err(Fault::new("22023", format!("\"{what}\" must name at least one voter"))),
        _ => Ok(()),
    }
}

/// The names that the list has itself.
fn named(entries: &[Entry]) -> impl Iterator<Item = &str> {
    entries.iter().flat_map(|entry| {
        match entry {
            Entry::One(name) => std::slice::from_ref(name),
            Entry::EachOf(list) => list,
            Entry::EachMember(_) => &[],
        }
        .iter()
        .map(String::as_str)
    })
}

/// Reads the entries, and refuses a person who stands twice among them. Groups may have several votes.
fn entries(value: &Value, what: &str) -> Result<Vec<Entry>, Fault> {
    let entries = read_list(value, what)?;
    let mut seen = BTreeSet::new();
    let is_group = |name: &str| name.starts_with(ForPeople::ROLE) || name.starts_with(GROUP);
    if let Some(name) = named(&entries).find(|name| !is_group(name) && !seen.insert(*name)) {
        return Err(Fault::new("22023", format!("\"{what}\" names \"{name}\" twice"))
            .detail("A person has one vote in an approval.")
            .hint("For several votes of one group, name it as role:<name> or group:<name>."));
    }
    Ok(entries)
}

/// Reads a list of entries, or a single one. Designers write JSON as text.
fn read_list(value: &Value, what: &str) -> Result<Vec<Entry>, Fault> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::String(text) if text.trim_start().starts_with(['[', '{']) => match parse_json(text) {
            Ok(parsed @ (Value::Array(_) | Value::Object(_))) => read_list(&parsed, what),
            _ => Err(Fault::new("22023", format!("\"{what}\" is no valid JSON"))),
        },
        Value::Array(list) => list.iter().map(|entry| self::entry(entry, what)).collect(),
        single => Ok(vec![entry(single, what)?]),
    }
}

fn entry(value: &Value, what: &str) -> Result<Entry, Fault> {
    match value {
        Value::String(text) => ForPeople::entry(text, "voter").map(Entry::One),
        Value::Object(members) => each(members).unwrap_or_else(|| Err(unknown(value, what))),
        _ => Err(unknown(value, what)),
    }
}

fn each(members: &Map<String, Value>) -> Option<Result<Entry, Fault>> {
    match members.get(EACH).filter(|_| members.len() == 1)? {
        Value::String(text) => {
            let role = text.trim().strip_prefix(ForPeople::ROLE).filter(|role| !role.is_empty())?;
            Some(Ok(Entry::EachMember(role.to_owned())))
        }
        Value::Array(list) => {
            let names = list.iter().map(|name| ForPeople::entry(&to_text(name), "voter"));
            Some(names.collect::<Result<_, _>>().map(Entry::EachOf))
        }
        _ => None,
    }
}

fn unknown(value: &Value, what: &str) -> Fault {
    let text = shorten(&to_text(&copy_or_null(value)), 60);
    Fault::new("22023", format!("an entry of \"{what}\" must be a name or {{\"each\": \"role:<name>\"}}, not {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn entries_are_names_and_roles_whose_members_vote() {
        let read = |value: Value| entries(&value, "by");
        let one = |name: &str| Entry::One(name.to_owned());
        assert_eq!(read(json!("role:clerks")), Ok(vec![one("role:clerks")]));
        assert_eq!(read(json!([" ada ", "group:board"])), Ok(vec![one("ada"), one("group:board")]));
        assert_eq!(read(json!({"each": "role:board"})), Ok(vec![Entry::EachMember("board".to_owned())]));
        let list = vec![Entry::EachOf(vec!["ada".to_owned(), "ben".to_owned()]), one("cy")];
        assert_eq!(read(json!([{"each": ["ada", "ben"]}, "cy"])), Ok(list));
        // As a designer writes it.
        assert_eq!(read(json!("[{\"each\": \"role:board\"}]")), Ok(vec![Entry::EachMember("board".to_owned())]));
        let groups = json!(["group:board", "group:board", "role:clerks", {"each": ["role:clerks"]}]);
        assert_eq!(read(groups).map(|read| read.len()), Ok(4));
        for twice in [json!(["ada", "ada "]), json!({"each": ["ada", "ada"]}), json!(["ada", {"each": ["ada"]}])] {
            assert_eq!(read(twice.clone()).expect_err("refused").message, "\"by\" names \"ada\" twice", "{twice}");
        }
        for wrong in
            [json!([1]), json!([{"each": "ada"}]), json!([{"each": "role:b", "x": 1}]), json!("[1"), json!([""])]
        {
            assert_eq!(read(wrong.clone()).expect_err("refused").sqlstate, "22023", "{wrong}");
        }
        assert!(check(&json!([]), "by").is_err());
    }
}
