//! What `wf doctor serve` learns from the provider.

use axum::http::header::{DATE, LOCATION};
use axum::http::{HeaderMap, Request};
use chrono::{DateTime, TimeDelta, Utc};
use openidconnect::HttpResponse;

use super::metadata::Known;
use super::{Provider, whole};

/// The set-up of an identity provider, as far as requests show it.
pub struct ProviderExamination {
    /// The address that has to be registered at the provider.
    pub redirect_uri: String,
    /// How far the clock of this machine is ahead of the provider's, if the provider says its time.
    pub clock: Option<TimeDelta>,
    /// Whether the provider accepts the client and the redirect URI, or what it responds instead.
    pub log_in: Result<(), String>,
    /// Whether log-out ends the session at the provider, too.
    pub has_log_out: bool,
}

impl Provider {
    /// Reads the metadata and begins a log-in, as a browser does.
    ///
    /// # Errors
    /// Why the metadata cannot be read.
    pub async fn examine(&self) -> Result<ProviderExamination, String> {
        let address = format!("{}/.well-known/openid-configuration", self.issuer.trim_end_matches('/'));
        let clock = self.get(&address).await.ok().and_then(|response| ahead(response.headers()));
        let Known { metadata, .. } = &*self.metadata.discover().await.map_err(|error| whole(&error))?;
        Ok(ProviderExamination {
            redirect_uri: self.redirect.to_string(),
            clock,
            log_in: self.try_log_in().await,
            has_log_out: metadata.additional_metadata().end_session_endpoint.is_some(),
        })
    }

    async fn try_log_in(&self) -> Result<(), String> {
        let begun = self.begin().await.map_err(|failure| failure.message)?;
        let response = self.get(&begun.url).await.map_err(|error| error.to_string())?;
        let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let is_sent_back = location.starts_with(self.redirect.as_str()) && location.contains("error=");
        match response.status() {
            status if status.is_client_error() || status.is_server_error() => Err(format!("it responds with {status}")),
            _ if is_sent_back => Err("it sends people back with an error".into()),
            _ => Ok(()),
        }
    }

    async fn get(&self, url: &str) -> std::io::Result<HttpResponse> {
        let request = Request::get(url).body(Vec::new()).map_err(std::io::Error::other)?;
        self.transport.clone().send(request).await
    }
}

fn ahead(headers: &HeaderMap) -> Option<TimeDelta> {
    let date = DateTime::parse_from_rfc2822(headers.get(DATE)?.to_str().ok()?).ok()?;
    Some(Utc::now() - date.to_utc())
}
