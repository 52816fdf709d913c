//! `wf work`: the task worker for activities that reach outside the database.

use workflow_services::WorkOptions;

use crate::arguments::SharedArguments;
use crate::failure::Failure;

pub fn work(options: WorkOptions, shared: &SharedArguments) -> Result<(), Failure> {
    shared.log.start()?;
    let database = shared.connection.client("wf work")?;
    crate::run(async { Ok(workflow_services::work(options, database).await?) })
}
