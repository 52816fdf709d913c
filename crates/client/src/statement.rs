//! Statements with bound values, and what a call is: a statement, the reading of its rows, and when it may be repeated.
//!
//! Statements are never prepared by name, so that they work behind a pooler, and cost one round trip.

use std::borrow::Cow;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use tokio_postgres::types::{FromSql, ToSql, Type};
use tokio_postgres::{GenericClient, Row};
use uuid::Uuid;

use crate::error::Error;
use crate::repeat::Repeat;

/// A call of a function of the extension, or a read of one of its views.
///
/// A call is a value. [`Client::run`](crate::Client::run) runs it in a transaction of its own,
/// [`Transaction::run`](crate::Transaction::run) together with the application's own statements.
/// Programs use the calls of this crate, and do not implement this trait.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client) -> Result<(), workflow_client::Error> {
/// use workflow_client::{Call, Error, Start, Transaction};
///
/// /// Runs a call after a row of the application was written.
/// async fn with_a_row<C: Call>(tx: &Transaction, call: C) -> Result<C::Output, Error> {
///     tx.execute("INSERT INTO orders VALUES ($1)", &[&"order-42"]).await?;
///     tx.run(call).await
/// }
/// let instance = client.transaction(async |tx| with_a_row(&tx, Start::new("order")).await).await?;
/// # Ok(())
/// # }
/// ```
pub trait Call: sealed::Parts {
    /// What the call returns.
    type Output;

    #[doc(hidden)]
    fn read(&self, rows: &[Row]) -> Result<Self::Output, Error>;
}

pub(crate) mod sealed {
    use super::{Error, Repeat, Statement};

    /// What the client has to know of a call.
    pub trait Parts {
        fn statement(&self) -> Result<Statement, Error>;

        fn repeat(&self) -> Repeat;

        /// Whether an error of a repeated call does not show if the first attempt, whose outcome is unknown, was committed.
        fn is_ambiguous_after_lost_commit(&self, _error: &Error) -> bool {
            false
        }
    }
}

/// The text of a statement with its values. In the text, `@wf` stands for the schema of the extension's functions.
pub struct Statement {
    sql: Cow<'static, str>,
    values: Vec<(Box<dyn ToSql + Sync + Send>, Type)>,
}

impl Statement {
    pub fn new(sql: impl Into<Cow<'static, str>>) -> Self {
        Self { sql: sql.into(), values: Vec::new() }
    }

    /// Binds the next parameter.
    pub fn bind(mut self, value: impl IntoParameter) -> Self {
        self.values.push(value.into_parameter());
        self
    }

    /// Binds JSON.
    pub fn bind_json(self, value: &Json) -> Result<Self, Error> {
        Ok(self.bind(value.get()?))
    }

    pub fn text(&self, schema: &str) -> String {
        self.sql.replace("@wf", schema)
    }

    pub fn parameters(&self) -> Vec<(&(dyn ToSql + Sync), Type)> {
        self.values.iter().map(|(value, kind)| (&**value as &(dyn ToSql + Sync), kind.clone())).collect()
    }
}

/// A Rust value with the type under which it is sent: PostgreSQL chooses a function by the types of its arguments.
pub trait IntoParameter {
    fn into_parameter(self) -> (Box<dyn ToSql + Sync + Send>, Type);
}

macro_rules! parameters_of {
    ($($rust:ty => $sql:ident),* $(,)?) => {$(
        impl IntoParameter for $rust {
            fn into_parameter(self) -> (Box<dyn ToSql + Sync + Send>, Type) {
                (Box::new(self), Type::$sql)
            }
        }
        impl IntoParameter for Option<$rust> {
            fn into_parameter(self) -> (Box<dyn ToSql + Sync + Send>, Type) {
                (Box::new(self), Type::$sql)
            }
        }
    )*};
}

parameters_of! {
    String => TEXT, bool => BOOL, i32 => INT4, i64 => INT8, Uuid => UUID, Value => JSONB, Vec<u8> => BYTEA,
    Vec<String> => TEXT_ARRAY, Vec<Uuid> => UUID_ARRAY, Vec<Option<Value>> => JSONB_ARRAY,
}

/// Text, which the statement casts: the driver has no type for intervals.
impl IntoParameter for Option<Duration> {
    fn into_parameter(self) -> (Box<dyn ToSql + Sync + Send>, Type) {
        self.map(|time| format!("{} microseconds", time.as_micros())).into_parameter()
    }
}

impl IntoParameter for Duration {
    fn into_parameter(self) -> (Box<dyn ToSql + Sync + Send>, Type) {
        Some(self).into_parameter()
    }
}

/// JSON that was made of a value when the call was built. The call fails with its error, if there was one, so that calls
/// are built without `?`.
#[derive(Debug, Clone, PartialEq)]
pub struct Json(Result<Option<Value>, String>);

impl Json {
    /// SQL NULL.
    pub fn null() -> Self {
        Self(Ok(None))
    }

    pub fn empty_object() -> Self {
        Self(Ok(Some(Value::Object(serde_json::Map::new()))))
    }

    pub fn of(value: impl Serialize) -> Self {
        Self(serde_json::to_value(value).map(Some).map_err(|error| error.to_string()))
    }

    /// SQL NULL if there is no value.
    pub fn optional(value: Option<Value>) -> Self {
        Self(Ok(value))
    }

    pub fn of_result(value: Result<Value, Error>) -> Self {
        Self(value.map(Some).map_err(|error| error.to_string()))
    }

    /// The value, if there is one and it is JSON.
    pub fn value(&self) -> Option<&Value> {
        self.0.as_ref().ok()?.as_ref()
    }

    pub fn get(&self) -> Result<Option<Value>, Error> {
        self.0.clone().map_err(|error| Error::Value(error.into()))
    }
}

/// Runs a call on a connection, in whatever transaction that has.
pub(crate) async fn run_in<C: Call>(
    connection: &impl GenericClient,
    schema: &str,
    call: &C,
) -> Result<C::Output, Error> {
    let statement = call.statement()?;
    let rows = connection.query_typed(&statement.text(schema), &statement.parameters()).await?;
    call.read(&rows)
}

/// A value of a column, by the column's name.
pub(crate) fn column<'a, T: FromSql<'a>>(row: &'a Row, name: &str) -> Result<T, Error> {
    row.try_get(name).map_err(|error| Error::Value(error.into()))
}

/// The single row of a result.
pub(crate) fn only_row(rows: &[Row]) -> Result<&Row, Error> {
    match rows {
        [row] => Ok(row),
        _ => Err(Error::Value(format!("the call returned {} rows instead of one", rows.len()).into())),
    }
}

/// The single column of the single row.
pub(crate) fn only_value<'a, T: FromSql<'a>>(rows: &'a [Row]) -> Result<T, Error> {
    only_row(rows)?.try_get(0).map_err(|error| Error::Value(error.into()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A value that JSON does not have: keys of objects are texts.
    fn not_json() -> Vec<std::collections::BTreeMap<Vec<u8>, u8>> {
        vec![[(vec![1], 2)].into()]
    }

    #[test]
    fn the_schema_is_put_into_the_text_and_values_stay_apart() {
        let statement = Statement::new("SELECT @wf.wf_start($1)").bind("@wf'; DROP".to_owned());
        assert_eq!(statement.text("\"my schema\""), "SELECT \"my schema\".wf_start($1)");
        assert_eq!(statement.parameters()[0].1, Type::TEXT);
    }

    #[test]
    fn intervals_are_exact_to_the_microsecond() {
        let (value, kind) = Duration::from_micros(90_000_001).into_parameter();
        assert_eq!(kind, Type::TEXT);
        assert!(format!("{value:?}").contains("90000001 microseconds"), "{value:?}");
    }

    #[test]
    fn a_value_that_is_no_json_fails_when_the_call_is_made() {
        assert_eq!(Json::of(json!({"a": 1})).get().expect("JSON"), Some(json!({"a": 1})));
        assert_eq!(Json::of(()).get().expect("JSON"), Some(Value::Null), "JSON's null is not SQL's NULL");
        assert_eq!(Json::null().get().expect("no JSON"), None);
        assert!(matches!(Json::of(not_json()).get(), Err(Error::Value(_))));
    }
}
