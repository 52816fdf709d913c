//! `wf_http_request`: a request to the endpoint of a workflow.

use serde_json::{Map, Value, json};
use tokio_postgres::Row;

use crate::error::Error;
use crate::repeat::Repeat;
use crate::results::HttpResponse;
use crate::statement::sealed::Parts;
use crate::statement::{Call, Statement, only_row};

/// `wf_http_request`: starts or resumes the workflow whose endpoint has this path and method, and returns its response.
/// A request that no workflow serves gets a response, too, such as 404.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client) -> Result<(), workflow_client::Error> {
/// use workflow_client::HttpRequest;
///
/// let request = HttpRequest::new("POST", "/orders/7").header("Content-Type", "application/json");
/// let response = client.run(request.body(br#"{"total": 250}"#)).await?;
/// println!("{}: {}", response.status, String::from_utf8_lossy(&response.body));
/// # Ok(())
/// # }
/// ```
///
/// [`CallOnce::http`](crate::CallOnce::http) makes a request that takes effect once.
#[derive(Debug, Clone)]
#[must_use = "a call does nothing until it is run"]
pub struct HttpRequest {
    method: String,
    pub(super) path: String,
    headers: Map<String, Value>,
    query: Map<String, Value>,
    body: Option<Vec<u8>>,
}

impl HttpRequest {
    /// A request without headers and body. The path is that of the request line: percent-encoded, with or without a query.
    ///
    /// ```
    /// # use workflow_client::HttpRequest;
    /// let request = HttpRequest::new("GET", "/orders/7?verbose=true");
    /// ```
    pub fn new(method: impl Into<String>, path: impl Into<String>) -> Self {
        let (headers, query) = (Map::new(), Map::new());
        Self { method: method.into(), path: path.into(), headers, query, body: None }
    }

    /// Adds a header. A name that is given again has several values.
    ///
    /// ```
    /// # use workflow_client::HttpRequest;
    /// let request = HttpRequest::new("GET", "/orders/7").header("Accept", "text/html").header("Accept", "text/plain");
    /// ```
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        add(&mut self.headers, name.into(), value.into());
        self
    }

    /// Adds a decoded parameter of the query. A name that is given again has several values.
    ///
    /// ```
    /// # use workflow_client::HttpRequest;
    /// let request = HttpRequest::new("GET", "/orders").query("customer", "Ada & Ben");
    /// ```
    pub fn query(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        add(&mut self.query, name.into(), value.into());
        self
    }

    /// The bytes of the body.
    ///
    /// ```
    /// # use workflow_client::HttpRequest;
    /// let request = HttpRequest::new("POST", "/orders").body("total=250");
    /// ```
    pub fn body(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.body = Some(bytes.as_ref().to_vec());
        self
    }

    /// The request as the body of a `wf_call`, which takes the request's body as text.
    pub(super) fn message(&self) -> Result<Value, Error> {
        let mut message = json!({"method": self.method, "headers": self.headers, "query": self.query});
        if let Some(body) = &self.body {
            let text = str::from_utf8(body).map_err(|error| Error::Value(error.into()))?;
            message["body"] = text.into();
        }
        Ok(message)
    }
}

fn add(values: &mut Map<String, Value>, name: String, value: String) {
    match values.get_mut(&name) {
        Some(Value::Array(several)) => several.push(value.into()),
        Some(one) => *one = json!([one.take(), value]),
        None => drop(values.insert(name, value.into())),
    }
}

impl Parts for HttpRequest {
    fn statement(&self) -> Result<Statement, Error> {
        let sql = "SELECT status, headers, body FROM @wf.wf_http_request($1, $2, $3, $4, $5)";
        let statement = Statement::new(sql).bind(self.method.clone()).bind(self.path.clone());
        let statement = statement.bind(Value::Object(self.headers.clone())).bind(Value::Object(self.query.clone()));
        Ok(statement.bind(self.body.clone()))
    }

    fn repeat(&self) -> Repeat {
        Repeat::IfRolledBack
    }
}

impl Call for HttpRequest {
    type Output = HttpResponse;

    fn read(&self, rows: &[Row]) -> Result<HttpResponse, Error> {
        HttpResponse::read(only_row(rows)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_given_again_has_several_values() {
        let request = HttpRequest::new("GET", "/").query("a", "1").query("b", "2").query("a", "3").query("a", "4");
        assert_eq!(Value::Object(request.query), json!({"a": ["1", "3", "4"], "b": "2"}));
    }

    #[test]
    fn a_message_has_a_text_as_its_body() {
        let request = HttpRequest::new("POST", "/orders").body("total=250");
        let expected = json!({"method": "POST", "headers": {}, "query": {}, "body": "total=250"});
        assert_eq!(request.message().expect("a text"), expected);
        assert!(matches!(request.body([0xff]).message(), Err(Error::Value(_))));
    }
}
