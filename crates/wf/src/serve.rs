//! `wf serve`: the gateway.

use workflow_gateway::ServeOptions;

use crate::arguments::SharedArguments;

pub fn serve(options: ServeOptions, shared: &SharedArguments) -> Result<(), String> {
    shared.log.start()?;
    crate::run(workflow_gateway::serve(options, shared.connection.of_gateway()))
}
