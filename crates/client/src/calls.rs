//! The functions of the extension as calls, grouped as in `docs/functions.md`.
//!
//! | after a lost COMMIT | calls |
//! | --- | --- |
//! | the client repeats the call, and gets the answer that was lost | [`Start`], [`Run`], [`CallOnce`], [`ExtendTask`], [`CompleteTask`] with a token, [`FailTask`], [`CompleteTasks`], and everything that only reads |
//! | [`Error::OutcomeUnknown`](crate::Error::OutcomeUnknown) | the others |
//!
//! The second time, [`FailTask`] and [`CompleteTasks`] cannot always tell whether the first attempt took effect or another
//! worker had taken the task. Then they end with [`Error::OutcomeUnknown`](crate::Error::OutcomeUnknown), or with the
//! outcome `Refused`.
//!
//! ```no_run
//! # async fn example(client: workflow_client::Client) -> Result<(), workflow_client::Error> {
//! use serde_json::json;
//! use workflow_client::{CallOnce, Start};
//!
//! let instance = client.run(Start::new("order").correlation_id("order-42")).await?;
//! let payment = json!({"amount": 250});
//! client.run(CallOnce::event("order-42", "bank-901", "OrderPaid", &payment)).await?;
//! # Ok(())
//! # }
//! ```

mod answers;
mod definitions;
mod http;
mod instances;
mod once;
mod stimuli;
mod tasks;

pub use answers::{CompleteTask, CompleteTasks, FailTask};
pub use definitions::{Define, Publish, Retract, Validate};
pub use http::HttpRequest;
pub use instances::{Cancel, Explain, Pause, Resume, Retry, Run, Start, Unpause};
pub use once::CallOnce;
pub use stimuli::{EnqueueBookmark, PublishEvent, SendStimulus};
pub(crate) use tasks::ExtendTasks;
pub use tasks::{AssignTask, ClaimTask, ClaimTasks, ExtendTask, LimitTasks, ReleaseTask, UnassignTask};

/// What a fault of the workflow does to a call that causes it.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client) -> Result<(), workflow_client::Error> {
/// use workflow_client::{OnFault, Start};
///
/// // Fails with the error of the activity, and leaves no instance.
/// client.run(Start::new("order").on_fault(OnFault::Raise)).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFault {
    /// The fault becomes an incident of the instance, and the call succeeds.
    Store,
    /// The call fails with the original error, and its effects are rolled back.
    Raise,
}

impl OnFault {
    fn text(fault: Option<Self>) -> Option<String> {
        fault.map(|fault| match fault {
            Self::Store => "store".to_owned(),
            Self::Raise => "raise".to_owned(),
        })
    }
}
