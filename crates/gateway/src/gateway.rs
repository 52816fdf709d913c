//! State shared by all requests.

use std::sync::Arc;

use tokio::sync::{Semaphore, watch};
use workflow_client::ConnectOptions;

use crate::config::ServeOptions;
use crate::database::Database;
use crate::identity::cookies::Cookies;
use crate::identity::keys::ApiKeys;
use crate::identity::logins::Logins;
use crate::identity::oidc::Provider;
use crate::identity::sessions::Sessions;
use crate::memory::Memory;
use crate::rates::Rates;
use crate::samples::Samples;
use crate::traffic::Traffic;
use crate::waiting::Waiting;

/// Memory for unauthenticated requests in kilobytes, in total and per address.
const MEMORY_OF_STRANGERS: usize = 4 * 1024;
const MEMORY_OF_ADDRESS: usize = 512;

/// Maximum number of open WebSockets.
pub const MAX_SOCKETS: u32 = 2048;

pub type App = Arc<Gateway>;

pub struct Gateway {
    pub options: ServeOptions,
    pub database: Database,
    pub cookies: Cookies,
    pub keys: ApiKeys,
    pub logins: Logins,
    pub sessions: Sessions,
    /// The identity provider at which people log in.
    pub provider: Option<Provider>,
    /// Memory held by authenticated requests.
    pub memory: Memory,
    /// Memory held by unauthenticated requests. It is separate, so that they cannot exhaust that of authenticated
    /// users.
    pub memory_of_strangers: Memory,
    /// Memory held by requests to endpoints of workflows.
    pub memory_of_endpoints: Memory,
    /// Requests to endpoints that wait for a response.
    pub waiting: Arc<Waiting>,
    /// How often clients may call endpoints.
    pub endpoint_rates: Rates,
    /// WebSockets that may still be opened. The listener does not count them.
    pub sockets: Arc<Semaphore>,
    /// What has been answered.
    pub traffic: Arc<Traffic>,
    /// Numbers of the database in the last hour.
    pub samples: Samples,
    /// Becomes true when the process is asked to stop.
    pub stopping: watch::Sender<bool>,
}

impl Gateway {
    /// Reads the files that the options name. Does not connect to the database.
    pub fn new(options: ServeOptions, database: &ConnectOptions) -> Result<App, String> {
        let cookies = Cookies::new(options.cookie_keys.as_deref(), options.is_secure(), options.session_hours)?;
        Ok(Arc::new(Self {
            database: Database::new(&options, database)?,
            cookies,
            keys: ApiKeys::new(options.api_keys.as_deref())?,
            logins: Logins::new(),
            sessions: Sessions::new(),
            provider: Provider::new(&options.sign_on, &options.origin())?,
            memory: Memory::new(usize::from(options.max_memory) * 1024, usize::from(options.max_memory) * 512),
            memory_of_strangers: Memory::new(MEMORY_OF_STRANGERS, MEMORY_OF_ADDRESS),
            memory_of_endpoints: Memory::new(
                usize::from(options.max_memory) * 1024,
                usize::from(options.max_memory) * 256,
            ),
            waiting: Waiting::new(),
            endpoint_rates: Rates::new(options.endpoints.endpoints_rate),
            sockets: Arc::new(Semaphore::new(MAX_SOCKETS as usize)),
            traffic: Arc::default(),
            samples: Samples::default(),
            stopping: watch::Sender::new(false),
            options,
        }))
    }

    pub fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }
}
