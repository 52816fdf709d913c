//! OpenID Connect: log-in of people at an identity provider, and access tokens of programs.
//!
//! The crate `openidconnect` has the protocol: discovery, authorization code flow with PKCE, and the checks of an ID
//! token (signature, `alg`, `iss`, `aud`, `exp`, `nonce`). Here are the checks that it leaves to applications.

mod examination;
mod metadata;
mod transport;

use std::fmt;
use std::io;
use std::str::FromStr as _;
use std::sync::Arc;

use axum::http::StatusCode;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use openidconnect::core::{
    CoreAuthenticationFlow, CoreClient, CoreClientAuthMethod, CoreIdToken, CoreIdTokenVerifier,
    CoreJwsSigningAlgorithm as Algorithm, CoreTokenResponse,
};
use openidconnect::{
    AuthType, AuthorizationCode, ClaimsVerificationError, ClientId, ClientSecret, CsrfToken, EndSessionUrl,
    HttpRequest, IssuerUrl, JsonWebTokenType, LogoutRequest, Nonce, PkceCodeChallenge, PkceCodeVerifier,
    PostLogoutRedirectUrl, ProviderMetadataWithLogout, RedirectUrl, RequestTokenError, Scope,
    SignatureVerificationError, TokenResponse as _,
};
use serde_json::{Map, Value};

use super::people::Person;
use crate::config::{SignOnOptions, texts};
use crate::failure::Failure;
pub use examination::ProviderExamination;
use metadata::{Known, MetadataCache};
use transport::Transport;

/// The path to which the provider sends people back.
pub const CALLBACK: &str = "/login/oidc/callback";

/// Signatures that are accepted: none with a shared secret, and never `none`.
const ALGORITHMS: [Algorithm; 10] = [
    Algorithm::RsaSsaPkcs1V15Sha256,
    Algorithm::RsaSsaPkcs1V15Sha384,
    Algorithm::RsaSsaPkcs1V15Sha512,
    Algorithm::RsaSsaPssSha256,
    Algorithm::RsaSsaPssSha384,
    Algorithm::RsaSsaPssSha512,
    Algorithm::EcdsaP256Sha256,
    Algorithm::EcdsaP384Sha384,
    Algorithm::EcdsaP521Sha512,
    Algorithm::EdDsa,
];
/// Values of `typ` in the header of an access token: that of any token, and that of access tokens alone (RFC 9068).
const ACCESS_TOKEN_TYPES: [&str; 2] = ["jwt", "at+jwt"];
/// Claims of access tokens that ID tokens do not have: what the token permits, and who has requested it and how, by
/// Okta, Entra ID and Auth0. `azp` is not among them: tokens of both kinds have it.
const CLAIMS_OF_ACCESS_TOKENS: [&str; 6] = ["cid", "appid", "azpacr", "gty", "scope", "scp"];
/// Claims of ID tokens. Access tokens have one of them only if they also say what they are: those of Keycloak before
/// version 25 have a nonce.
const CLAIMS_OF_ID_TOKENS: [&str; 3] = ["nonce", "at_hash", "c_hash"];
/// The claim that binds an access token to a key (RFC 7800), which the sender of the token must prove to have, by DPoP
/// or by the certificate of the connection. A bearer token has no such claim.
const BINDING: &str = "cnf";
/// How far the clock of a client of the provider may be ahead, in seconds.
const MAX_SKEW: i64 = 60;

/// An identity provider.
pub struct Provider {
    issuer: IssuerUrl,
    client: ClientId,
    secret: Option<ClientSecret>,
    audience: Option<ClientId>,
    redirect: RedirectUrl,
    after_logout: PostLogoutRedirectUrl,
    scopes: Vec<Scope>,
    transport: Transport,
    metadata: Arc<MetadataCache>,
}

/// A log-in that has begun: what the browser keeps until it returns from the provider.
pub struct Begun {
    /// The address at the provider.
    pub url: String,
    pub state: String,
    pub nonce: String,
    pub verifier: String,
}

impl Provider {
    /// The provider of the options, if there is one. Does not connect to it.
    pub fn new(options: &SignOnOptions, origin: &str) -> Result<Option<Self>, String> {
        let (Some(issuer), Some(client)) = (&options.oidc_issuer, &options.oidc_client_id) else { return Ok(None) };
        let no_url = |error: &dyn fmt::Display| format!("--oidc-issuer is no URL: {error}");
        let secret = match &options.oidc_client_secret_file {
            Some(path) => {
                let text = std::fs::read_to_string(path);
                let text = text.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
                Some(ClientSecret::new(text.trim().to_owned()))
            }
            None => None,
        };
        let issuer = IssuerUrl::new(issuer.clone()).map_err(|error| no_url(&error))?;
        let transport = Transport::new(options.oidc_ca.as_deref())?;
        Ok(Some(Self {
            metadata: MetadataCache::new(issuer.clone(), transport.clone()),
            issuer,
            client: ClientId::new(client.clone()),
            secret,
            audience: options.oidc_audience.clone().map(ClientId::new),
            redirect: RedirectUrl::new(format!("{origin}{CALLBACK}")).map_err(|error| no_url(&error))?,
            after_logout: PostLogoutRedirectUrl::new(format!("{origin}/login")).map_err(|error| no_url(&error))?,
            scopes: options.oidc_scopes.iter().cloned().map(Scope::new).collect(),
            transport,
        }))
    }

    /// Whether programs may send access tokens.
    pub fn has_audience(&self) -> bool {
        self.audience.is_some()
    }

    /// Begins a log-in.
    pub async fn begin(&self) -> Result<Begun, Failure> {
        let known = self.metadata.get().await?;
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let client = CoreClient::from_provider_metadata(known.metadata.clone(), self.client.clone(), None)
            .set_redirect_uri(self.redirect.clone());
        let flow = CoreAuthenticationFlow::AuthorizationCode;
        let request = client.authorize_url(flow, CsrfToken::new_random, Nonce::new_random);
        let (url, state, nonce) = request.add_scopes(self.scopes.clone()).set_pkce_challenge(challenge).url();
        Ok(Begun {
            url: url.to_string(),
            state: state.secret().clone(),
            nonce: nonce.secret().clone(),
            verifier: verifier.secret().clone(),
        })
    }

    /// Completes a log-in with the code that the browser has brought back.
    ///
    /// # Errors
    /// With a time after which to retry only if the code has not been sent to the provider: it counts once.
    pub async fn finish(
        &self,
        options: &SignOnOptions,
        code: String,
        nonce: String,
        verifier: String,
    ) -> Result<Person, Failure> {
        let response = self.redeem(code, verifier).await?;
        self.person_of_response(options, &response, nonce).await.map_err(Failure::without_retry)
    }

    /// Sends the code to the provider. Fails as [`Self::finish`].
    async fn redeem(&self, code: String, verifier: String) -> Result<CoreTokenResponse, Failure> {
        let known = self.metadata.get().await?;
        let client =
            CoreClient::from_provider_metadata(known.metadata.clone(), self.client.clone(), self.secret.clone())
                .set_redirect_uri(self.redirect.clone())
                .set_auth_type(auth_type(&known.metadata));
        let request = client.exchange_code(AuthorizationCode::new(code)).map_err(Failure::internal)?;
        let request = request.set_pkce_verifier(PkceCodeVerifier::new(verifier));
        let response = request.request_async(&|request: HttpRequest| self.transport.clone().send(request)).await;
        response.map_err(|error| {
            tracing::info!(cause = whole(&error), "the identity provider does not redeem a code");
            match error {
                RequestTokenError::Request(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                    Failure::unavailable("too many log-ins at once")
                }
                RequestTokenError::Request(_) => unreachable_provider().without_retry(),
                _ => Failure::new(StatusCode::UNAUTHORIZED, "the identity provider does not confirm the log-in"),
            }
        })
    }

    /// The person in the ID token of the provider's response.
    async fn person_of_response(
        &self,
        options: &SignOnOptions,
        response: &CoreTokenResponse,
        nonce: String,
    ) -> Result<Person, Failure> {
        let token = response.id_token().ok_or_else(|| refused("there is no ID token"))?;
        let nonce = Nonce::new(nonce);
        let claims = self.verified(token, |token, known| {
            let verifier = self.verifier(&self.client, known);
            token.claims(&verifier, &nonce).map(drop)
        });
        let claims = claims.await?;
        let is_of_another = texts(&claims, "azp").any(|party| party != self.client.as_str());
        if is_of_another {
            return Err(refused("its azp is another client"));
        }
        self.person(options, &claims)
    }

    /// The person, or the program, in an access token.
    pub async fn bearer(&self, options: &SignOnOptions, token: &str) -> Result<Person, Failure> {
        let audience = self.audience.as_ref().ok_or_else(|| refused("no audience is configured"))?;
        let parsed = CoreIdToken::from_str(token).map_err(|error| refused(&error.to_string()))?;
        let types = ACCESS_TOKEN_TYPES.map(|kind| JsonWebTokenType::new(kind.to_owned()).normalize());
        let types: Vec<_> = types.into_iter().flatten().collect();
        let claims = self.verified(&parsed, |token, known| {
            let verifier = self.verifier(audience, known).set_allowed_jose_types(types.clone());
            // Access tokens are often for several audiences, and the nonce of some is that of another client's log-in.
            let verifier = verifier.set_other_audience_verifier_fn(|_| true);
            token.claims(&verifier, |_: Option<&Nonce>| Ok(())).map(drop)
        });
        let claims = claims.await?;
        if !is_access_token(token, &claims) {
            return Err(refused("it is no access token, or does not say that it is one"));
        }
        if claims.contains_key(BINDING) {
            return Err(refused("it is bound to a key of its sender, which is not checked here"));
        }
        let begins = claims.get("nbf").and_then(Value::as_i64);
        if begins.is_some_and(|begins| begins > chrono::Utc::now().timestamp() + MAX_SKEW) {
            return Err(refused("it is not valid yet"));
        }
        self.person(options, &claims)
    }

    /// Whether a token says that it is an access token for the gateway. It need not be valid.
    pub fn is_audience_of(&self, token: &str) -> bool {
        let is_ours = |audience: &ClientId| {
            payload(token).is_some_and(|claims| texts(&claims, "aud").any(|one| one == audience.as_str()))
        };
        self.audience.as_ref().is_some_and(is_ours)
    }

    /// The address at the provider that ends the session there, if the provider has one and it is found out in time.
    pub async fn log_out(&self) -> Option<String> {
        let known = self.metadata.get_in_time().await?;
        let end: EndSessionUrl = known.metadata.additional_metadata().end_session_endpoint.clone()?;
        let request = LogoutRequest::from(end).set_client_id(self.client.clone());
        Some(request.set_post_logout_redirect_uri(self.after_logout.clone()).http_get_url().to_string())
    }

    fn person(&self, options: &SignOnOptions, claims: &Map<String, Value>) -> Result<Person, Failure> {
        Person::of_claims(options, claims, (&options.oidc_person_claim, &options.oidc_groups_claim))
    }

    fn verifier(&self, audience: &ClientId, known: &Known) -> CoreIdTokenVerifier<'static> {
        let keys = known.metadata.jwks().clone();
        CoreIdTokenVerifier::new_public_client(audience.clone(), self.issuer.clone(), keys).set_allowed_algs(ALGORITHMS)
    }

    /// The claims of a token that passes the check. If its key is unknown, the keys are read again once.
    async fn verified(
        &self,
        token: &CoreIdToken,
        check: impl Fn(&CoreIdToken, &Known) -> Result<(), ClaimsVerificationError>,
    ) -> Result<Map<String, Value>, Failure> {
        use ClaimsVerificationError::SignatureVerification;
        let known = self.metadata.get().await?;
        let mut checked = check(token, &known);
        if let Err(SignatureVerification(SignatureVerificationError::NoMatchingKey)) = checked
            && let Some(newer) = self.metadata.refreshed(&known).await
        {
            checked = check(token, &newer);
        }
        checked.map_err(|error| refused(&whole(&error)))?;
        payload(&token.to_string()).ok_or_else(|| refused("its claims are no JSON object"))
    }
}

/// How the gateway authenticates itself at the provider: as the specification says, unless only the other way is known.
fn auth_type(metadata: &ProviderMetadataWithLogout) -> AuthType {
    let methods = metadata.token_endpoint_auth_methods_supported();
    let is_known = |method| methods.is_some_and(|methods| methods.contains(&method));
    match is_known(CoreClientAuthMethod::ClientSecretPost) && !is_known(CoreClientAuthMethod::ClientSecretBasic) {
        true => AuthType::RequestBody,
        false => AuthType::BasicAuth,
    }
}

/// The failure of a request for which the provider would have to answer.
fn unreachable_provider() -> Failure {
    Failure::unavailable("the identity provider cannot be reached")
}

/// The failure of a request with a token that is not accepted. The client learns no reason.
fn refused(reason: &str) -> Failure {
    tracing::info!(reason, "refused a token");
    Failure::new(StatusCode::UNAUTHORIZED, "the token is not valid, or has expired")
}

/// Whether a token is an access token and cannot be an ID token. The provider issues ID tokens for its clients, so one
/// of them has the right audience if that is also the id of a client.
fn is_access_token(token: &str, claims: &Map<String, Value>) -> bool {
    // The claims in which Keycloak and Cognito say what a token is for.
    let is_for = |claim: &str, purpose: &str| texts(claims, claim).any(|used| used.eq_ignore_ascii_case(purpose));
    if is_for("typ", "ID") || is_for("token_use", "id") {
        return false;
    }
    let header = part(token, 0).unwrap_or_default();
    let is_typed = texts(&header, "typ")
        .filter_map(|kind| JsonWebTokenType::new(kind.to_owned()).normalize().ok())
        .any(|kind| kind.as_str() == "application/at+jwt");
    if is_typed || is_for("typ", "Bearer") || is_for("token_use", "access") {
        return true;
    }
    let has = |name: &str| claims.contains_key(name);
    // RFC 9068 requires both in access tokens. The ID tokens of some providers name their client as well, but have no
    // id of their own, and say when the person has logged in.
    let is_of_client = has("client_id") && has("jti") && !has("auth_time");
    (is_of_client || CLAIMS_OF_ACCESS_TOKENS.into_iter().any(has)) && !CLAIMS_OF_ID_TOKENS.into_iter().any(has)
}

/// All claims of a token, whose signature is not looked at here.
fn payload(token: &str) -> Option<Map<String, Value>> {
    part(token, 1)
}

/// A part of a token that is a JSON object.
fn part(token: &str, number: usize) -> Option<Map<String, Value>> {
    let part = token.split('.').nth(number)?;
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).ok()?).ok()
}

/// An error with its chain of sources.
fn whole(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", whole(source)),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use serde_json::json;

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        options: SignOnOptions,
    }

    #[test]
    fn a_token_that_may_be_an_id_token_is_no_access_token() {
        let is_one = |header: Value, claims: Value| {
            let token = [&header, &claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string())).join(".");
            is_access_token(&token, claims.as_object().unwrap())
        };
        let (plain, typed) = (json!({"typ": "JWT"}), json!({"typ": "at+jwt"}));
        for header in [typed.clone(), json!({"typ": "AT+JWT"}), json!({"typ": "application/at+jwt"})] {
            assert!(is_one(header.clone(), json!({"sub": "1"})), "{header}");
        }
        // As Keycloak, Okta, Entra ID, Auth0 and others issue them, without the type of RFC 9068.
        for claims in [
            json!({"typ": "Bearer", "azp": "robot"}),
            json!({"typ": "Bearer", "azp": "robot", "nonce": "1", "auth_time": 1}),
            json!({"cid": "robot", "scp": ["read"]}),
            json!({"azp": "robot", "azpacr": "1"}),
            json!({"appid": "robot"}),
            json!({"azp": "robot", "scope": "read"}),
            json!({"azp": "robot", "gty": "client-credentials"}),
            json!({"client_id": "robot", "jti": "1"}),
            json!({"token_use": "access"}),
        ] {
            assert!(is_one(plain.clone(), claims.clone()) && is_one(json!({}), claims.clone()), "{claims}");
        }
        for claims in [
            json!({"sub": "1", "jti": "1"}),
            json!({"azp": "robot", "auth_time": 1, "sid": "1"}),
            json!({"client_id": "robot", "azp": "robot", "auth_time": 1}),
            json!({"client_id": "robot", "jti": "1", "auth_time": 1}),
            json!({"client_id": "robot", "azp": "robot"}),
            json!({"client_id": "robot", "jti": "1", "at_hash": "1"}),
            json!({"scope": "openid", "nonce": "1"}),
            json!({"scp": ["x"], "c_hash": "1"}),
        ] {
            assert!(!is_one(plain.clone(), claims.clone()) && !is_one(json!({}), claims.clone()), "{claims}");
        }
        for claims in [json!({"typ": "ID", "scope": "openid"}), json!({"token_use": "id", "client_id": "robot"})] {
            assert!(!is_one(plain.clone(), claims.clone()) && !is_one(typed.clone(), claims.clone()), "{claims}");
        }
    }

    #[test]
    fn a_token_for_the_gateway_is_told_by_its_audience() {
        let arguments =
            ["wf", "--oidc-issuer=https://login.example", "--oidc-client-id=wf", "--oidc-audience=https://wf.example"];
        let options = Program::parse_from(arguments).options;
        let provider = Provider::new(&options, "https://wf.example").unwrap().unwrap();
        let token = |audience: Value| format!("e30.{}.x", URL_SAFE_NO_PAD.encode(json!({"aud": audience}).to_string()));
        assert!(provider.is_audience_of(&token(json!("https://wf.example"))));
        assert!(provider.is_audience_of(&token(json!(["account", "https://wf.example"]))));
        for other in [token(json!("account")), token(json!(7)), "other".to_owned(), "a.b.c".to_owned()] {
            assert!(!provider.is_audience_of(&other), "{other}");
        }
    }
}
