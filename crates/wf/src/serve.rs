//! `wf serve`: the gateway.

use workflow_gateway::ServeOptions;

use crate::arguments::SharedArguments;
use crate::failure::Failure;

pub fn serve(options: ServeOptions, shared: &SharedArguments) -> Result<(), Failure> {
    shared.log.start()?;
    let database = shared.connection.client_of_gateway("wf serve")?;
    crate::run(async { Ok(workflow_gateway::serve(options, database).await?) })
}
