//! The identity provider at which people log in: is it there, does it know the gateway, and do the clocks agree.

use workflow_gateway::ServeOptions;

use super::Findings;

const SUBJECT: &str = "identity provider";
/// Tokens are valid for minutes; a clock that differs by more than this, in seconds, shortens that noticeably.
const MAX_SKEW: i64 = 30;

pub async fn examine(options: &ServeOptions, findings: &mut Findings) {
    let Some(issuer) = &options.sign_on.oidc_issuer else { return };
    let found = match workflow_gateway::examine_provider(options).await {
        Ok(found) => found,
        Err(problem) => {
            let message = format!("{issuer} cannot be used: {problem}");
            return findings.error(SUBJECT, message, "correct --oidc-issuer, --oidc-ca, or the network in between");
        }
    };
    findings.ok(SUBJECT, format!("{issuer} has its metadata and keys"));
    match found.log_in {
        Ok(()) => findings.ok(SUBJECT, format!("it accepts the client with the redirect URI {}", found.redirect_uri)),
        Err(problem) => findings.error(
            SUBJECT,
            format!("it does not let people log in: {problem}"),
            format!("register {} for --oidc-client-id at the provider", found.redirect_uri),
        ),
    }
    match found.clock.map(|ahead| ahead.num_seconds()) {
        Some(seconds) if seconds.abs() > MAX_SKEW => findings.error(
            SUBJECT,
            format!("the clock of this machine differs from that of the provider by {seconds} s"),
            "let both follow a time server (NTP): tokens are valid for some minutes only",
        ),
        Some(_) => findings.ok(SUBJECT, "its clock and that of this machine agree"),
        None => {}
    }
    if !found.has_log_out {
        findings.warning(
            SUBJECT,
            "it has no end_session_endpoint, so log-out ends the session of the gateway only",
            "on shared machines people must log out at the provider, too",
        );
    }
}
