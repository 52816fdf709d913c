//! An SQL statement that a page both runs and displays.

use tokio_postgres::Row;

use crate::caller::Caller;
use crate::database::{Database, IntoParameter as _};
use crate::failure::Failure;

/// SQL with text parameters `$1`, `$2` … and their values.
pub struct Statement {
    sql: &'static str,
    values: Vec<Option<String>>,
}

impl Statement {
    pub fn new(sql: &'static str, values: Vec<Option<String>>) -> Self {
        Self { sql, values }
    }

    /// Runs a statement that only reads.
    pub async fn read(&self, database: &Database, caller: &Caller) -> Result<Vec<Row>, Failure> {
        let parameters = self.values.iter().map(|value| value.clone().into_parameter()).collect();
        database.read(caller, self.sql, parameters).await
    }

    /// Runs a statement that writes.
    pub async fn run(self, database: &Database, caller: &Caller) -> Result<Vec<Row>, Failure> {
        let parameters = self.values.into_iter().map(|value| value.into_parameter()).collect();
        database.write(caller, self.sql, parameters).await
    }

    /// The statement for display: with literals in place of the parameters, and unqualified names of functions, types
    /// and operators.
    pub fn display(&self) -> String {
        let sql = plain_operators(self.sql).replace("@wf.", "").replace("pg_catalog.", "");
        let mut parts = sql.split('$');
        let mut shown = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let digits = part.len() - part.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let number: Option<usize> = part[..digits].parse().ok();
            let value = number.and_then(|number| self.values.get(number.wrapping_sub(1))).and_then(Option::as_deref);
            shown += &value.map_or_else(|| "NULL".to_owned(), literal);
            shown += &part[digits..];
        }
        shown + ";"
    }
}

/// Operators without their schema. `OPERATOR()` binds tighter than comparisons and looser than arithmetic, so
/// statements put parentheses around what would group differently without it.
fn plain_operators(sql: &str) -> String {
    let mut parts = sql.split("OPERATOR(pg_catalog.");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (operator, rest) = part.split_once(')').unwrap_or((part, ""));
        plain += operator;
        plain += rest;
    }
    plain
}

/// An SQL literal that is safe for either value of `standard_conforming_strings`.
fn literal(text: &str) -> String {
    let quoted = text.replace('\'', "''");
    if quoted.contains('\\') { format!(" E'{}'", quoted.replace('\\', "\\\\")) } else { format!("'{quoted}'") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn display(sql: &'static str, values: &[Option<&str>]) -> String {
        Statement::new(sql, values.iter().map(|value| value.map(str::to_owned)).collect()).display()
    }

    #[test]
    fn parameters_become_literals() {
        let sql = "SELECT @wf.wf_cancel($1::pg_catalog.uuid, $2, $12, $1)";
        assert_eq!(display(sql, &[Some("a"), None]), "SELECT wf_cancel('a'::uuid, NULL, NULL, 'a');");
        assert_eq!(display("f($1)", &[Some("it's $1 \\'; DROP")]), "f( E'it''s $1 \\\\''; DROP');");
        assert_eq!(display("SELECT 1", &[]), "SELECT 1;");
        let sql = "SELECT a OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.text[]) AND b OPERATOR(pg_catalog.<) c";
        assert_eq!(display(sql, &[Some("{x}")]), "SELECT a = ANY ('{x}'::text[]) AND b < c;");
    }
}
