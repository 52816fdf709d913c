//! File downloads, and zip archives of several files.

use std::collections::BTreeMap;
use std::io::{Cursor, Write as _};

use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::failure::Failure;

/// A response that a browser saves as a file.
pub fn attachment(name: &str, content_type: &'static str, content: Vec<u8>) -> Response {
    let headers =
        [(CONTENT_TYPE, content_type.to_owned()), (CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\""))];
    (headers, content).into_response()
}

/// A zip file in memory.
pub struct Archive {
    writer: ZipWriter<Cursor<Vec<u8>>>,
    /// How often each name was added.
    names: BTreeMap<String, u32>,
}

impl Archive {
    pub fn new() -> Self {
        Self { writer: ZipWriter::new(Cursor::default()), names: BTreeMap::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Adds a JSON file. A name that is already taken gets a number.
    pub fn add(&mut self, name: &str, content: &[u8]) -> Result<(), Failure> {
        let times = self.names.entry(name.to_owned()).or_default();
        *times += 1;
        let stem = name.strip_suffix(".json").unwrap_or(name);
        let name = if *times == 1 { name.to_owned() } else { format!("{stem}-{times}.json") };
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        self.writer.start_file(name, options).map_err(Failure::internal)?;
        self.writer.write_all(content).map_err(Failure::internal)
    }

    pub fn finish(self) -> Result<Vec<u8>, Failure> {
        Ok(self.writer.finish().map_err(Failure::internal)?.into_inner())
    }
}
