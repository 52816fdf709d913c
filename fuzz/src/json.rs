//! Mutates JSON so that it stays JSON, with words that its reader knows: randomly changed bytes are refused at the
//! first bracket.

use serde_json::{Map, Value, json};
use workflow_engine::value::parse_json;

/// Reads an input. `None` if it is no JSON.
pub fn read(data: &[u8]) -> Option<Value> {
    parse_json(std::str::from_utf8(data).ok()?).ok()
}

/// Parts for mutated JSON.
pub struct Vocabulary {
    /// Names of members, and texts.
    pub words: Vec<String>,
    /// Whole values.
    pub values: Vec<Value>,
}

impl Vocabulary {
    /// Mutates the JSON in the first `size` bytes, and returns its new size. Input that is no JSON is changed as bytes,
    /// and sometimes JSON is, too.
    pub fn mutate(&self, data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
        let mut dice = Dice(u64::from(seed) | 1 << 32);
        let document = if dice.roll(8) == 0 { None } else { read(&data[..size]) };
        let changed = document.map(|document| self.changed(document, &mut dice).to_string());
        match changed {
            Some(text) if text.len() <= max_size && text.as_bytes() != &data[..size] => {
                data[..text.len()].copy_from_slice(text.as_bytes());
                text.len()
            }
            _ => libfuzzer_sys::fuzzer_mutate(data, size, max_size),
        }
    }

    fn changed(&self, mut document: Value, dice: &mut Dice) -> Value {
        for _ in 0..=dice.roll(3) {
            let places = places(&document);
            let other = document.pointer(dice.pick::<String>(&places)).cloned().unwrap_or_default();
            if let Some(value) = document.pointer_mut(dice.pick::<String>(&places)) {
                self.change(value, other, dice);
            }
        }
        document
    }

    fn change(&self, value: &mut Value, other: Value, dice: &mut Dice) {
        match (dice.roll(6), value) {
            (0 | 1, Value::Object(members)) => change_object(members, self.word(dice), self.part(other, dice), dice),
            (0 | 1, Value::Array(items)) => change_array(items, self.part(other, dice), dice),
            (0 | 1, Value::String(text)) => change_text(text, &self.word(dice), dice),
            (2, value) => *value = Value::from(vec![value.take(); 1 + dice.roll(2)]),
            (3, value) => *value = Value::Object(Map::from_iter([(self.word(dice), value.take())])),
            (_, value) => *value = self.part(other, dice),
        }
    }

    /// A part to insert: another part of the document, a value or word of the vocabulary, or a scalar.
    fn part(&self, other: Value, dice: &mut Dice) -> Value {
        match dice.roll(4) {
            0 => other,
            1 if !self.values.is_empty() => dice.pick(&self.values).clone(),
            2 => scalar(dice),
            _ => Value::from(self.word(dice)),
        }
    }

    fn word(&self, dice: &mut Dice) -> String {
        if dice.roll(16) == 0 { String::new() } else { dice.pick(&self.words).clone() }
    }
}

fn change_object(members: &mut Map<String, Value>, name: String, part: Value, dice: &mut Dice) {
    let known = members.keys().nth(dice.roll(members.len().max(1))).cloned();
    match (dice.roll(3), known) {
        (0, Some(known)) => {
            members.remove(&known);
        }
        (1, Some(known)) => {
            let value = members.remove(&known).unwrap_or_default();
            members.insert(name, value);
        }
        _ => {
            members.insert(name, part);
        }
    }
}

fn change_array(items: &mut Vec<Value>, part: Value, dice: &mut Dice) {
    let (at, other) = (dice.roll(items.len().max(1)), dice.roll(items.len().max(1)));
    match dice.roll(4) {
        0 if !items.is_empty() => {
            items.remove(at);
        }
        1 if !items.is_empty() => items.swap(at, other),
        2 if !items.is_empty() => items.insert(at, items[other].clone()),
        _ => items.insert(at, part),
    }
}

/// Scripts and templates are texts, so these are changed as bytes.
fn change_text(text: &mut String, word: &str, dice: &mut Dice) {
    if dice.roll(4) == 0 {
        text.push_str(word);
        return;
    }
    let size = text.len();
    let mut bytes = std::mem::take(text).into_bytes();
    bytes.resize(size + 64, 0);
    let size = libfuzzer_sys::fuzzer_mutate(&mut bytes, size, size + 64);
    *text = String::from_utf8_lossy(&bytes[..size]).into_owned();
}

fn scalar(dice: &mut Dice) -> Value {
    let numbers = ["0", "-1", "1.10", "9223372036854775807", "-9223372036854775808", "4294967295", "1e400", "1e-400"];
    match dice.roll(6) {
        0 => Value::Null,
        1 => json!(dice.roll(2) == 0),
        2 => json!([]),
        3 => json!({}),
        _ => read(dice.pick(&numbers).as_bytes()).unwrap_or_default(),
    }
}

/// Pointers to all values of a document.
fn places(document: &Value) -> Vec<String> {
    let mut places = Vec::new();
    let mut work = vec![(String::new(), document)];
    while let Some((pointer, value)) = work.pop() {
        match value {
            Value::Array(items) => {
                work.extend(items.iter().enumerate().map(|(at, item)| (format!("{pointer}/{at}"), item)))
            }
            Value::Object(members) => {
                let escaped = |name: &str| name.replace('~', "~0").replace('/', "~1");
                work.extend(members.iter().map(|(name, member)| (format!("{pointer}/{}", escaped(name)), member)));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        places.push(pointer);
    }
    places
}

/// Numbers derived from a seed, so that libFuzzer can repeat a run.
struct Dice(u64);

impl Dice {
    /// A number below `sides`.
    fn roll(&mut self, sides: usize) -> usize {
        // The generator `xorshift64`.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % sides
    }

    fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.roll(list.len())]
    }
}
