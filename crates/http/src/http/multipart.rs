//! `multipart/form-data` (RFC 7578), for a body that is completely in memory.

use memchr::memmem;

/// Maximum number of parts, more than any real form has.
const MAX_PARTS: usize = 1_000;

/// Longest boundary (RFC 2046).
const MAX_BOUNDARY: usize = 70;

/// One part of a form: a field, or a file.
#[derive(Debug, PartialEq)]
pub(super) struct FormPart<'a> {
    /// Name of the field.
    pub(super) name: String,
    /// Name of the file, if the part is one.
    pub(super) file_name: Option<String>,
    /// Content type of the file, text by default.
    pub(super) content_type: String,
    /// The content between the head of the part and the next boundary.
    pub(super) bytes: &'a [u8],
}

/// Reads the parts of a body. `None`: the body is not multipart with this boundary.
pub(super) fn read<'a>(body: &'a [u8], boundary: &str) -> Option<Vec<FormPart<'a>>> {
    if boundary.len() > MAX_BOUNDARY {
        return None;
    }
    let first = format!("--{boundary}");
    let between = format!("\r\n--{boundary}");
    let mut rest = match body.strip_prefix(first.as_bytes()) {
        Some(rest) => rest,
        // The standard requires that the text before the first boundary is ignored.
        None => after(body, between.as_bytes())?.1,
    };
    let finder = memmem::Finder::new(between.as_bytes());
    let mut parts = Vec::new();
    while !rest.starts_with(b"--") {
        // Blanks may follow a boundary on its line.
        let line_end = memmem::find(rest, b"\r\n")?;
        if parts.len() == MAX_PARTS || rest[..line_end].iter().any(|byte| !matches!(byte, b' ' | b'\t')) {
            return None;
        }
        let part = &rest[line_end..];
        let end = finder.find(part)?;
        parts.push(read_part(part.get(2..end)?)?);
        rest = &part[end + between.len()..];
    }
    Some(parts)
}

fn after<'a>(text: &'a [u8], wanted: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = memmem::find(text, wanted)?;
    Some((&text[..at], &text[at + wanted.len()..]))
}

fn read_part(part: &[u8]) -> Option<FormPart<'_>> {
    let (head, bytes) = match part.strip_prefix(b"\r\n") {
        Some(bytes) => (&part[..0], bytes),
        None => after(part, b"\r\n\r\n")?,
    };
    let head = std::str::from_utf8(head).ok()?;
    let header = |name: &str| {
        let mut lines = head.split("\r\n").filter_map(|line| line.split_once(':'));
        lines.find(|(known, _)| known.trim().eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    };
    let disposition = parameters(header("Content-Disposition")?);
    let parameter = |name: &str| {
        let found = disposition.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.clone())
    };
    Some(FormPart {
        name: parameter("name")?,
        file_name: parameter("filename"),
        content_type: header("Content-Type").unwrap_or("text/plain").to_owned(),
        bytes,
    })
}

/// The parameters that follow a value: `; name=value; name="quoted value"`.
pub(super) fn parameters(header: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = header.split_once(';').map_or("", |(_, rest)| rest);
    while let Some((name, more)) = rest.split_once('=') {
        let name = name.trim_matches([';', ' ', '\t']).to_owned();
        let (value, left) = match more.strip_prefix('"') {
            Some(quoted) => unquoted(quoted),
            None => {
                let (value, left) = more.split_once(';').unwrap_or((more, ""));
                (value.trim().to_owned(), left)
            }
        };
        found.push((name, value));
        rest = left;
    }
    found
}

/// The text up to the closing quote, and what follows. Browsers write a quote inside as `%22`, others as `\"`; a
/// backslash before anything else is part of a file's name.
fn unquoted(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (value.replace("%22", "\""), &text[at + 1..]),
            '\\' if characters.peek().is_some_and(|(_, next)| *next == '"') => {
                characters.next();
                value.push('"');
            }
            other => value.push(other),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parameters_may_be_quoted() {
        let expected = [("name", "a;b"), ("filename", "c:\\d \"e\".txt"), ("x", "y")];
        let found = parameters("form-data; name=\"a;b\"; filename=\"c:\\d \\\"e\\\".txt\" ; x=y");
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn what_stands_around_the_parts_is_ignored() {
        let body = b"preamble\r\n--b \r\ncontent-disposition:form-data;name=a\r\n\r\n1\r\n--b--epilogue";
        let parts = read(body, "b").expect("parts");
        assert_eq!(parts.len(), 1);
        assert_eq!((parts[0].name.as_str(), parts[0].bytes), ("a", b"1".as_slice()));
    }

    #[test]
    fn what_is_cut_off_is_refused() {
        for body in
            ["--b", "--b\r\n", "--b\r\n\r\n1\r\n--b--", "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n1"]
        {
            assert_eq!(read(body.as_bytes(), "b"), None, "{body}");
        }
    }

    proptest! {
        #[test]
        fn fields_come_back(fields in prop::collection::vec(("[a-z]{1,5}", prop::collection::vec(any::<u8>(), 0..20)), 0..5)) {
            let boundary = "-------a0b1c2d3e4f5";
            let mut body = Vec::new();
            for (name, bytes) in &fields {
                body.extend(format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n").bytes());
                body.extend(bytes);
                body.extend(b"\r\n");
            }
            body.extend(format!("--{boundary}--\r\n").bytes());
            let parts = read(&body, boundary).expect("parts");
            let found: Vec<_> = parts.into_iter().map(|part| (part.name, part.bytes.to_vec())).collect();
            prop_assert_eq!(found, fields);
        }

        #[test]
        fn no_body_panics(body in "(--b|\r\n|--|:|;|\"|name=|[a-z]|\\\\){0,40}") {
            let _ = read(body.as_bytes(), "b");
            let _ = parameters(&body);
        }
    }
}
