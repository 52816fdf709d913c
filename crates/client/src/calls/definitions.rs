//! Calls for definitions: define, publish, validate.

use serde::Serialize;
use tokio_postgres::Row;

use crate::error::Error;
use crate::repeat::Repeat;
use crate::results::{DefinedVersion, Problem};
use crate::statement::sealed::Parts;
use crate::statement::{Call, Json, Statement, column, only_row, only_value};

/// `wf_define`: stores a definition and publishes it. If the content is that of the latest version, nothing changes, so a
/// deployment may define all its files each time.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client) -> Result<(), workflow_client::Error> {
/// use serde_json::json;
/// use workflow_client::Define;
///
/// let document = json!({"definitionId": "greet", "root": [{"type": "WriteLine", "text": "hello"}]});
/// let defined = client.run(Define::new(document)).await?;
/// println!("{} is at version {}", defined.definition_id, defined.version);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "a call does nothing until it is run"]
pub struct Define {
    definition: Json,
    publish: bool,
    allow_unknown: bool,
}

impl Define {
    /// Defines and publishes a document.
    ///
    /// ```
    /// # use workflow_client::Define;
    /// # use serde_json::json;
    /// let call = Define::new(json!({"definitionId": "greet", "root": []}));
    /// ```
    pub fn new(definition: impl Serialize) -> Self {
        Self { definition: Json::of(definition), publish: true, allow_unknown: false }
    }

    /// Stores the version without publishing it.
    ///
    /// ```
    /// # use workflow_client::Define;
    /// # use serde_json::json;
    /// let call = Define::new(json!({"definitionId": "greet", "root": []})).without_publishing();
    /// ```
    pub fn without_publishing(mut self) -> Self {
        self.publish = false;
        self
    }

    /// Accepts unknown types of activities. An instance that reaches one faults.
    ///
    /// ```
    /// # use workflow_client::Define;
    /// # use serde_json::json;
    /// let call = Define::new(json!({"definitionId": "greet", "root": []})).allow_unknown();
    /// ```
    pub fn allow_unknown(mut self) -> Self {
        self.allow_unknown = true;
        self
    }
}

impl Parts for Define {
    fn statement(&self) -> Result<Statement, Error> {
        let statement = Statement::new("SELECT definition_id, version FROM @wf.wf_define($1, $2, $3)");
        Ok(statement.bind_json(&self.definition)?.bind(self.publish).bind(self.allow_unknown))
    }

    fn repeat(&self) -> Repeat {
        Repeat::IfRolledBack
    }
}

impl Call for Define {
    type Output = DefinedVersion;

    fn read(&self, rows: &[Row]) -> Result<DefinedVersion, Error> {
        let row = only_row(rows)?;
        Ok(DefinedVersion { definition_id: column(row, "definition_id")?, version: column(row, "version")? })
    }
}

/// `wf_publish`: publishes a version in place of the published one, and returns its number.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client) -> Result<(), workflow_client::Error> {
/// let version = client.run(workflow_client::Publish::new("greet").version(2)).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "a call does nothing until it is run"]
pub struct Publish {
    definition_id: String,
    version: Option<i32>,
}

impl Publish {
    /// Publishes the latest version.
    ///
    /// ```
    /// # use workflow_client::Publish;
    /// let call = Publish::new("greet");
    /// ```
    pub fn new(definition_id: impl Into<String>) -> Self {
        Self { definition_id: definition_id.into(), version: None }
    }

    /// Publishes this version.
    ///
    /// ```
    /// # use workflow_client::Publish;
    /// let call = Publish::new("greet").version(2);
    /// ```
    pub fn version(mut self, version: i32) -> Self {
        self.version = Some(version);
        self
    }
}

impl Parts for Publish {
    fn statement(&self) -> Result<Statement, Error> {
        Ok(Statement::new("SELECT @wf.wf_publish($1, $2)").bind(self.definition_id.clone()).bind(self.version))
    }

    fn repeat(&self) -> Repeat {
        Repeat::IfRolledBack
    }
}

impl Call for Publish {
    type Output = i32;

    fn read(&self, rows: &[Row]) -> Result<i32, Error> {
        only_value(rows)
    }
}

/// `wf_retract`: unpublishes a definition. Running instances continue. Returns whether a version was published.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client) -> Result<(), workflow_client::Error> {
/// client.run(workflow_client::Retract::new("greet")).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "a call does nothing until it is run"]
pub struct Retract(String);

impl Retract {
    /// Unpublishes this definition.
    ///
    /// ```
    /// # use workflow_client::Retract;
    /// let call = Retract::new("greet");
    /// ```
    pub fn new(definition_id: impl Into<String>) -> Self {
        Self(definition_id.into())
    }
}

impl Parts for Retract {
    fn statement(&self) -> Result<Statement, Error> {
        Ok(Statement::new("SELECT @wf.wf_retract($1)").bind(self.0.clone()))
    }

    fn repeat(&self) -> Repeat {
        Repeat::IfRolledBack
    }
}

impl Call for Retract {
    type Output = bool;

    fn read(&self, rows: &[Row]) -> Result<bool, Error> {
        only_value(rows)
    }
}

/// `wf_validate`: lists the problems of a document, and stores nothing.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client, document: serde_json::Value) -> Result<(), workflow_client::Error> {
/// for problem in client.run(workflow_client::Validate::new(document).with_warnings()).await? {
///     eprintln!("{}: {}", problem.path, problem.message);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "a call does nothing until it is run"]
pub struct Validate {
    definition: Json,
    severity: &'static str,
}

impl Validate {
    /// Lists errors.
    ///
    /// ```
    /// # use workflow_client::Validate;
    /// # use serde_json::json;
    /// let call = Validate::new(json!({"definitionId": "greet", "root": []}));
    /// ```
    pub fn new(definition: impl Serialize) -> Self {
        Self { definition: Json::of(definition), severity: "error" }
    }

    /// Lists warnings as well.
    ///
    /// ```
    /// # use workflow_client::Validate;
    /// # use serde_json::json;
    /// let call = Validate::new(json!({"definitionId": "greet", "root": []})).with_warnings();
    /// ```
    pub fn with_warnings(mut self) -> Self {
        self.severity = "warning";
        self
    }
}

impl Parts for Validate {
    fn statement(&self) -> Result<Statement, Error> {
        let statement = Statement::new("SELECT path, severity, message FROM @wf.wf_validate($1, $2)");
        Ok(statement.bind_json(&self.definition)?.bind(self.severity.to_owned()))
    }

    fn repeat(&self) -> Repeat {
        Repeat::Always
    }
}

impl Call for Validate {
    type Output = Vec<Problem>;

    fn read(&self, rows: &[Row]) -> Result<Vec<Problem>, Error> {
        let read = |row| {
            Ok(Problem {
                path: column(row, "path")?,
                severity: column(row, "severity")?,
                message: column(row, "message")?,
            })
        };
        rows.iter().map(read).collect()
    }
}
