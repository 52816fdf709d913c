//! Definitions in files, as JSON or YAML, with the positions of their parts for messages.

use std::path::Path;

use serde_json::Value;

mod json;
mod yaml;

/// A place in a file: line and column, both from 1, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

impl Position {
    pub const START: Self = Self { line: 1, column: 1 };
}

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Json,
    Yaml,
}

impl Format {
    /// The format of a file, by the ending of its name; otherwise by its first character, because a definition is an
    /// object.
    pub fn of(path: &Path, text: &str) -> Self {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("json") => Self::Json,
            Some("yaml" | "yml") => Self::Yaml,
            _ if text.trim_start().starts_with('{') => Self::Json,
            _ => Self::Yaml,
        }
    }
}

/// Why a file cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub struct SyntaxError {
    pub at: Position,
    pub message: String,
}

/// A document of a file.
#[derive(Debug)]
pub struct Document {
    pub value: Value,
    places: Places,
}

#[derive(Debug)]
enum Places {
    /// Places are looked for in the text, because few are wanted.
    Json(String),
    Yaml(yaml::Place),
}

impl Document {
    /// Reads all documents of a text; JSON has one.
    pub fn read_all(text: &str, format: Format) -> Result<Vec<Self>, SyntaxError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match format {
            Format::Json => {
                let value = json::read(text)?;
                Ok(vec![Self { value, places: Places::Json(text.to_owned()) }])
            }
            Format::Yaml => {
                let documents = yaml::read(text)?.into_iter();
                Ok(documents.map(|(value, place)| Self { value, places: Places::Yaml(place) }).collect())
            }
        }
    }

    /// The position of the part to which a JSON pointer leads: that of its key, if it has one. If the part is missing,
    /// the innermost part around it that exists.
    pub fn position(&self, pointer: &str) -> Position {
        let steps = pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~"));
        match &self.places {
            Places::Json(text) => json::position(text, steps),
            Places::Yaml(place) => place.position(steps),
        }
    }
}

#[cfg(test)]
mod tests;
