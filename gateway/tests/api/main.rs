//! The gateway as a client sees it, in front of a real database. `make test T=gateway` runs these.

mod catalogues;
mod hostile;
mod identity;
mod support;
