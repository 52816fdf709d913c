//! `wf serve`: the gateway.

use workflow_gateway::ServeOptions;

use crate::arguments::SharedArguments;
use crate::failure::Failure;

pub fn serve(options: ServeOptions, shared: &SharedArguments) -> Result<(), Failure> {
    shared.log.start()?;
    crate::run(async { Ok(workflow_gateway::serve(options, shared.connection.of_gateway()).await?) })
}
