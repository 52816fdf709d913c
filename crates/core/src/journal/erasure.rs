//! Removes the name of a person from stored rows.

use serde_json::Value;

use super::{Row, decode, decode_act};
use workflow_value::fault::Error;
use workflow_value::value::Json;

/// Replaces an actor by a pseudonym in a stored row: in its act, and in the data of its events wherever a text equals
/// this name. `None` if the row does not contain the name.
///
/// # Errors
/// [`Error::CorruptState`] if the format is unknown or the bytes are damaged.
pub fn replace_actor(bytes: &[u8], actor: &str, pseudonym: &str) -> Result<Option<Vec<u8>>, Error> {
    let (mut act, mut events) = (decode_act(bytes)?, decode(bytes)?);
    let mut has_changed = false;
    if let Some(name) = act.as_mut().and_then(|act| act.by.actor.as_mut()).filter(|name| *name == actor) {
        pseudonym.clone_into(name);
        has_changed = true;
    }
    for Json(data) in events.iter_mut().filter_map(|event| event.data.as_mut()) {
        has_changed |= replace_texts(data, actor, pseudonym);
    }
    if !has_changed {
        return Ok(None);
    }
    let row = Row::of(act.as_ref(), &events);
    Ok(Some(row.encode(row.size())))
}

/// Replaces each text that equals `from`, at any depth. Returns whether there was one.
fn replace_texts(value: &mut Value, from: &str, to: &str) -> bool {
    let (mut open, mut has_changed) = (vec![value], false);
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) if text == from => {
                to.clone_into(text);
                has_changed = true;
            }
            Value::Array(items) => open.extend(items),
            Value::Object(members) => open.extend(members.values_mut()),
            _ => {}
        }
    }
    has_changed
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::journal::{Act, ActKind, Event, EventKind, Identity, encode};

    #[test]
    fn an_actor_leaves_the_act_and_the_data() {
        let by = |actor: &str| Identity { role: 7, login: Some(8), actor: Some(actor.to_owned()) };
        let data = |name: &str| json!({"to": name, "list": [{"by": name}, "ada@example.com.au"], "n": 1.10});
        let event = |name: &str| Event::of_workflow(EventKind::Assigned, Some(data(name)));
        let act = |name: &str| Act { at: Some(5), ..Act::new(ActKind::Assign, by(name)) };
        let stored = Row::of(Some(&act("ada@example.com")), &[event("ada@example.com")]).encode(0);
        let replaced = replace_actor(&stored, "ada@example.com", "erased-1").unwrap().unwrap();
        assert_eq!(decode_act(&replaced).unwrap(), Some(act("erased-1")));
        assert_eq!(decode(&replaced).unwrap(), [event("erased-1")]);
        assert_eq!(replace_actor(&replaced, "ada@example.com", "erased-1").unwrap(), None);
    }

    #[test]
    fn rows_without_an_act_and_damaged_rows() {
        let event = Event::of_workflow(EventKind::Line, Some(json!("bob")));
        let replaced = replace_actor(&encode(&[event]), "bob", "x").unwrap().unwrap();
        assert_eq!(decode(&replaced).unwrap()[0].data, Some(Json(json!("x"))));
        assert!(matches!(replace_actor(&[9], "bob", "x"), Err(Error::CorruptState(_))));
    }
}
