//! Lists as CSV files (RFC 4180), for spreadsheets.

use axum::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use chrono::{DateTime, SecondsFormat, Utc};

/// Maximum number of rows in a file. A statement reads one row more, so that the file can say that there are more.
pub const MOST: usize = 10_000;

/// What the last line of a file says if there are more rows.
const MORE: &str = "Only the first 10,000 rows are in this file.";

/// A file that a browser saves under a name: a line with the names of the columns, and a line for each row.
pub fn response(name: &str, header: &[&str], mut rows: impl Iterator<Item = Vec<String>>) -> Response {
    let mut text = String::new();
    push_line(&mut text, header.iter().copied());
    for row in rows.by_ref().take(MOST) {
        push_line(&mut text, row.iter().map(String::as_str));
    }
    if rows.next().is_some() {
        push_line(&mut text, std::iter::once(MORE));
    }
    let headers = [
        (CONTENT_TYPE, "text/csv; charset=utf-8; header=present".to_owned()),
        (CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
        (CACHE_CONTROL, "no-store".to_owned()),
    ];
    (headers, text).into_response()
}

/// An instant as a cell; empty for none.
pub fn instant(at: Option<DateTime<Utc>>) -> String {
    at.map_or_else(String::new, |at| at.to_rfc3339_opts(SecondsFormat::AutoSi, true))
}

fn push_line<'a>(text: &mut String, cells: impl Iterator<Item = &'a str>) {
    for (number, cell) in cells.enumerate() {
        if number > 0 {
            text.push(',');
        }
        text.push_str(&escaped(cell));
    }
    text.push_str("\r\n");
}

/// A cell. A spreadsheet would run a cell that begins like a formula, unless an apostrophe makes it text. Some read
/// full-width signs as well, and some split lines at semicolons or tabs.
fn escaped(cell: &str) -> String {
    let is_formula = cell.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠', '\t', '\r', '\n']);
    let cell = if is_formula { format!("'{cell}") } else { cell.to_owned() };
    if cell.contains(['"', ',', ';', '\t', '\r', '\n']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_text() {
        for (cell, expected) in [
            ("", ""),
            ("a b", "a b"),
            ("a,b", "\"a,b\""),
            ("a;b", "\"a;b\""),
            ("a \"b\"\r\nc", "\"a \"\"b\"\"\r\nc\""),
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@A1", "'@A1"),
            ("\t=1", "\"'\t=1\""),
            ("\r=1", "\"'\r=1\""),
            ("\n=1", "\"'\n=1\""),
            ("＝1", "'＝1"),
            ("=HYPERLINK(\"x\",\"y\")", "\"'=HYPERLINK(\"\"x\"\",\"\"y\"\")\""),
            ("a=1", "a=1"),
        ] {
            assert_eq!(escaped(cell), expected);
        }
    }

    async fn body(rows: usize) -> String {
        let rows = (0..rows).map(|number| vec![number.to_string(), "a,b".to_owned()]);
        let response = response("list.csv", &["number", "text"], rows);
        assert_eq!(response.headers()[CONTENT_DISPOSITION], "attachment; filename=\"list.csv\"");
        let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    #[tokio::test]
    async fn a_file_is_bounded_and_says_so() {
        assert_eq!(body(2).await, "number,text\r\n0,\"a,b\"\r\n1,\"a,b\"\r\n");
        let full = body(MOST).await;
        assert!(full.lines().count() == MOST + 1 && !full.contains("Only"));
        let longer = body(MOST + 1).await;
        assert_eq!(longer.lines().count(), MOST + 2);
        assert!(longer.ends_with("9999,\"a,b\"\r\n\"Only the first 10,000 rows are in this file.\"\r\n"));
    }
}
