//! Reads of the views that a worker or an application needs. Each shows what the role may see.

use std::marker::PhantomData;

use chrono::{DateTime, Utc};
use serde_json::Value;
use tokio_postgres::Row;
use tokio_postgres::types::{Timestamp, ToSql, Type};
use uuid::Uuid;

use crate::error::Error;
use crate::repeat::Repeat;
use crate::statement::sealed::Parts;
use crate::statement::{Call, IntoParameter, Statement, column};

/// A view of schema `workflow`, as the type of its rows.
///
/// ```
/// use workflow_client::{List, OpenTask, View};
///
/// fn first_ten<V: View>() -> List<V> {
///     List::new().limit(10)
/// }
/// let call = first_ten::<OpenTask>();
/// ```
pub trait View: Sized + sealed::Sealed {
    #[doc(hidden)]
    const NAME: &'static str;
    #[doc(hidden)]
    const COLUMNS: &'static [&'static str];
    #[doc(hidden)]
    fn read(row: &Row) -> Result<Self, Error>;
}

mod sealed {
    /// The views are those of this crate: their names become a part of SQL.
    pub trait Sealed {}
}

/// Rows of a view, selected by equality. Use SQL of your own for other queries.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client) -> Result<(), workflow_client::Error> {
/// use workflow_client::{List, OpenTask};
///
/// let inbox = List::<OpenTask>::new().equal("name", "Approve leave").limit(50);
/// for task in client.run(inbox).await? {
///     println!("{} {:?}", task.task_id, task.assignee);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "a call does nothing until it is run"]
pub struct List<V> {
    filters: Vec<(&'static str, Filter)>,
    order: Option<(&'static str, bool)>,
    limit: Option<i64>,
    view: PhantomData<fn() -> V>,
}

/// A value that [`List::equal`] compares with a column.
///
/// ```
/// use workflow_client::Filter;
///
/// let by_name: Filter = "Approve leave".into();
/// let by_id: Filter = uuid::Uuid::nil().into();
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Filter {
    /// For columns of type text.
    Text(String),
    /// For ids.
    Id(Uuid),
    /// For columns of type integer.
    Number(i32),
}

impl From<&str> for Filter {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Filter {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Uuid> for Filter {
    fn from(id: Uuid) -> Self {
        Self::Id(id)
    }
}

impl From<i32> for Filter {
    fn from(number: i32) -> Self {
        Self::Number(number)
    }
}

impl IntoParameter for Filter {
    fn into_parameter(self) -> (Box<dyn ToSql + Sync + Send>, Type) {
        match self {
            Self::Text(text) => text.into_parameter(),
            Self::Id(id) => id.into_parameter(),
            Self::Number(number) => number.into_parameter(),
        }
    }
}

impl<V: View> Default for List<V> {
    fn default() -> Self {
        Self { filters: Vec::new(), order: None, limit: None, view: PhantomData }
    }
}

impl<V: View> List<V> {
    /// All rows that the role may see.
    ///
    /// ```
    /// # use workflow_client::{List, OpenIncident};
    /// let call = List::<OpenIncident>::new();
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Only rows whose column has this value.
    ///
    /// ```
    /// # use workflow_client::{Instance, List};
    /// let call = List::<Instance>::new().equal("correlation_id", "order-42").equal("sub_status", "Suspended");
    /// ```
    pub fn equal(mut self, column: &'static str, value: impl Into<Filter>) -> Self {
        self.filters.push((column, value.into()));
        self
    }

    /// In ascending order of a column, such as `created_at`.
    ///
    /// ```
    /// # use workflow_client::{Instance, List};
    /// let call = List::<Instance>::new().order_by("created_at");
    /// ```
    pub fn order_by(mut self, column: &'static str) -> Self {
        self.order = Some((column, false));
        self
    }

    /// In descending order of a column.
    ///
    /// ```
    /// # use workflow_client::{Instance, List};
    /// let call = List::<Instance>::new().order_by_descending("created_at").limit(1);
    /// ```
    pub fn order_by_descending(mut self, column: &'static str) -> Self {
        self.order = Some((column, true));
        self
    }

    /// At most so many rows.
    ///
    /// ```
    /// # use workflow_client::{List, OpenTask};
    /// let call = List::<OpenTask>::new().limit(50);
    /// ```
    pub fn limit(mut self, rows: i64) -> Self {
        self.limit = Some(rows);
        self
    }
}

impl<V: View> Parts for List<V> {
    fn statement(&self) -> Result<Statement, Error> {
        let checked = |name: &'static str| match V::COLUMNS.contains(&name) {
            true => Ok(name),
            false => Err(Error::Value(format!("workflow.{} has no column {name:?} that can be read", V::NAME).into())),
        };
        let mut sql = format!("SELECT {} FROM workflow.{}", V::COLUMNS.join(", "), V::NAME);
        for (number, (name, _)) in self.filters.iter().enumerate() {
            let word = if number == 0 { "WHERE" } else { "AND" };
            sql += &format!(" {word} {} OPERATOR(pg_catalog.=) ${}", checked(name)?, number + 1);
        }
        if let Some((name, is_descending)) = self.order {
            sql += &format!(" ORDER BY {}{}", checked(name)?, if is_descending { " DESC" } else { "" });
        }
        if let Some(limit) = self.limit {
            sql += &format!(" LIMIT {limit}");
        }
        Ok(self.filters.iter().fold(Statement::new(sql), |statement, (_, value)| statement.bind(value.clone())))
    }

    fn repeat(&self) -> Repeat {
        Repeat::Always
    }
}

impl<V: View> Call for List<V> {
    type Output = Vec<V>;

    fn read(&self, rows: &[Row]) -> Result<Vec<V>, Error> {
        rows.iter().map(V::read).collect()
    }
}

/// Defines the rows of a view: each field is the column of the same name.
macro_rules! view {
    ($(#[$about:meta])* $name:ident of $view:literal { $($(#[$column_about:meta])* $column:ident: $type:ty,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub struct $name {
            $($(#[$column_about])* pub $column: $type,)*
        }

        impl sealed::Sealed for $name {}

        impl View for $name {
            const NAME: &'static str = $view;
            const COLUMNS: &'static [&'static str] = &[$(stringify!($column)),*];

            fn read(row: &Row) -> Result<Self, Error> {
                Ok(Self { $($column: column(row, stringify!($column))?,)* })
            }
        }
    };
}

view! {
    /// `workflow.open_tasks`: a task that is not completed.
    ///
    /// ```no_run
    /// # async fn example(client: workflow_client::Client, instance: uuid::Uuid) -> Result<(), workflow_client::Error> {
    /// use workflow_client::{List, OpenTask};
    ///
    /// let tasks = client.run(List::<OpenTask>::new().equal("instance_id", instance)).await?;
    /// # Ok(())
    /// # }
    /// ```
    OpenTask of "open_tasks" {
        /// The id of the task.
        task_id: Uuid,
        /// The instance that waits for it.
        instance_id: Uuid,
        /// The definition of the instance.
        definition_id: String,
        /// The activity that opened it.
        activity_id: String,
        /// The name by which workers choose tasks.
        name: Option<String>,
        /// The input of the task.
        payload: Option<Value>,
        /// The correlation id of the instance.
        correlation_id: Option<String>,
        /// When it was opened.
        created_at: DateTime<Utc>,
        /// Tasks with a higher priority are claimed first.
        priority: i32,
        /// The number of attempts, including the present one.
        attempt: i32,
        /// The earliest time from which it can be claimed. `None`: now; infinity: the last attempt is running.
        available_at: Option<Timestamp<DateTime<Utc>>>,
        /// The end of the lease. If it is in the future, a worker holds the task.
        lease_until: Option<DateTime<Utc>>,
        /// The worker with the latest lease.
        worker: Option<String>,
        /// What a worker has recorded.
        progress: Option<Value>,
        /// The message of the last failure, if another attempt follows.
        last_error: Option<String>,
        /// Who should do it.
        assignee: Option<String>,
        /// Who may do it.
        candidates: Option<Vec<String>>,
        /// By when people should do it.
        deadline: Option<DateTime<Utc>>,
        /// The JSON Schema of a form.
        form: Option<Value>,
        /// The JSON Schema of the answer.
        result_schema: Option<Value>,
        /// Since when the instance is paused.
        paused_at: Option<DateTime<Utc>>,
        /// Whose workflow it is.
        definition_owner: Option<String>,
    }
}

view! {
    /// `workflow.instance_list`: an instance.
    ///
    /// ```no_run
    /// # async fn example(client: workflow_client::Client) -> Result<(), workflow_client::Error> {
    /// use workflow_client::{Instance, List};
    ///
    /// let order = List::<Instance>::new().equal("correlation_id", "order-42");
    /// for instance in client.run(order).await? {
    ///     println!("{} {}", instance.instance_id, instance.sub_status);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    Instance of "instance_list" {
        /// The id of the instance.
        instance_id: Uuid,
        /// Its definition.
        definition_id: String,
        /// The version that it runs.
        version: i32,
        /// Its name, for people.
        name: Option<String>,
        /// What it is about.
        correlation_id: Option<String>,
        /// `Running` or `Finished`.
        status: String,
        /// `Pending`, `Executing`, `Suspended`, `Finished`, `Faulted`, `Cancelled` or `Cancelling`.
        sub_status: String,
        /// Its inputs.
        input: Option<Value>,
        /// Its outputs so far.
        output: Option<Value>,
        /// Its variables.
        variables: Option<Value>,
        /// The role that owns it.
        owner: Option<String>,
        /// The instance that started it.
        parent_instance_id: Option<Uuid>,
        /// When it was started.
        created_at: DateTime<Utc>,
        /// When it last ran.
        updated_at: DateTime<Utc>,
        /// When it ended.
        finished_at: Option<DateTime<Utc>>,
        /// Since when it is paused.
        paused_at: Option<DateTime<Utc>>,
    }
}

view! {
    /// `workflow.waiting`: a bookmark at which an instance waits.
    ///
    /// ```no_run
    /// # async fn example(client: workflow_client::Client) -> Result<(), workflow_client::Error> {
    /// use workflow_client::{List, Resume, Waiting};
    ///
    /// let approvals = List::<Waiting>::new().equal("correlation_id", "request-1001").equal("activity", "ManagerApproval");
    /// for bookmark in client.run(approvals).await? {
    ///     client.run(Resume::new(bookmark.bookmark_id).input("approved")).await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    Waiting of "waiting" {
        /// The instance that waits.
        instance: Uuid,
        /// The activity at which it waits.
        activity: String,
        /// Since when.
        since: DateTime<Utc>,
        /// When it continues by itself.
        due: Option<DateTime<Utc>>,
        /// The id that [`Resume`](crate::Resume) takes.
        bookmark_id: Uuid,
        /// The correlation id of the instance.
        correlation_id: Option<String>,
        /// What it waits for, for people.
        waits_for: Option<String>,
        /// The definition of the instance.
        definition_id: String,
    }
}

view! {
    /// `workflow.open_incidents`: a fault that was not resolved.
    ///
    /// ```no_run
    /// # async fn example(client: workflow_client::Client) -> Result<(), workflow_client::Error> {
    /// use workflow_client::{List, OpenIncident, Retry};
    ///
    /// for incident in client.run(List::<OpenIncident>::new().equal("code", "bank_down")).await? {
    ///     client.run(Retry::new(incident.instance_id)).await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    OpenIncident of "open_incidents" {
        /// The id of the incident.
        incident_id: Uuid,
        /// The instance.
        instance_id: Uuid,
        /// The definition of the instance.
        definition_id: String,
        /// The activity that failed; `None` if the role may not read the instance.
        activity_id: Option<String>,
        /// The type of the activity.
        activity_type: Option<String>,
        /// When it failed.
        created_at: DateTime<Utc>,
        /// The SQLSTATE.
        sqlstate: Option<String>,
        /// The message, for people.
        message: Option<String>,
        /// DETAIL, for people.
        detail: Option<String>,
        /// HINT, for people.
        hint: Option<String>,
        /// The word by which policies and catches identify the fault.
        code: Option<String>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_binds_its_values_and_knows_its_columns() {
        let list = List::<Waiting>::new().equal("activity", "a'b").equal("instance", Uuid::nil()).limit(3);
        let statement = list.order_by_descending("since").statement().expect("a statement");
        let text = statement.text("public");
        assert!(text.ends_with(
            "FROM workflow.waiting WHERE activity OPERATOR(pg_catalog.=) $1 AND instance OPERATOR(pg_catalog.=) $2 \
             ORDER BY since DESC LIMIT 3"
        ));
        assert_eq!(statement.parameters().len(), 2);
    }

    #[test]
    fn an_unknown_column_is_an_error_and_no_sql() {
        let unknown = List::<OpenTask>::new().equal("1 = 1 OR name", "x").statement();
        assert!(matches!(unknown, Err(Error::Value(_))));
        assert!(List::<OpenTask>::new().order_by("name; DROP TABLE x").statement().is_err());
    }
}
