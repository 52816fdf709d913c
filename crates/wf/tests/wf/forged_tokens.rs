//! Tokens that an identity provider would never issue, from one that issues whatever a test wants.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rcgen::{KeyPair, PKCS_ED25519, PublicKeyData as _, SigningKey as _};
use serde_json::{Value, json};

use crate::support::{Answer, NEVER, PROGRAM, World, send, wait_until};

const LIST: &str = "/elsa/api/workflow-definitions";
const CLIENT: &str = "workflow";
const API: &str = "https://workflows.example/api";

/// A provider without people: the test decides which ID token a code is worth.
struct Forger {
    issuer: String,
    key: KeyPair,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    id_token: String,
    /// The public keys, as the provider publishes them.
    keys: Vec<Value>,
    /// How often the keys were read.
    reads: usize,
    /// How often a code was redeemed.
    redeemed: usize,
    /// Whether it closes connections instead of answering, or keeps them open.
    is_down: bool,
    is_silent: bool,
    /// How often it did so.
    unanswered: usize,
    /// The connections that it keeps open.
    open: Vec<TcpStream>,
}

impl Forger {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let key = KeyPair::generate_for(&PKCS_ED25519).unwrap();
        let state = Arc::new(Mutex::new(State { keys: vec![public(&key, "known")], ..State::default() }));
        let (at, shared) = (issuer.clone(), Arc::clone(&state));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that has gone away needs no answer.
                let _ = respond(stream, &at, &shared);
            }
        });
        Self { issuer, key, state }
    }

    fn world(&self) -> World {
        World::with(&self.options())
    }

    /// The options of a gateway that trusts it.
    fn options(&self) -> [&str; 9] {
        [
            "--behind-proxy",
            "--oidc-issuer",
            &self.issuer,
            "--oidc-client-id",
            CLIENT,
            "--oidc-audience",
            API,
            "--person-role",
            "groups=finance=clerks",
        ]
    }

    /// The claims of an ID token, or of an access token, that is accepted.
    fn claims(&self, audience: &str) -> Value {
        let now = chrono::Utc::now().timestamp();
        json!({ "iss": self.issuer, "aud": audience, "sub": "ada", "exp": now + 600, "iat": now, "groups": ["finance"] })
    }

    fn header(&self) -> Value {
        json!({ "alg": "EdDSA", "typ": "JWT", "kid": "known" })
    }

    fn signed(&self, header: &Value, claims: &Value) -> String {
        signed_by(&self.key, header, claims)
    }

    fn reads(&self) -> usize {
        self.state.lock().unwrap().reads
    }

    /// Fails if the gateway does not wait for the provider, which does not answer, any more: it does for ten seconds.
    fn assert_asked_still(&self, since: Instant) {
        wait_until("the provider is asked", || !self.state.lock().unwrap().open.is_empty());
        let open = std::mem::take(&mut self.state.lock().unwrap().open);
        open[0].set_nonblocking(true).unwrap();
        let waits = open[0].peek(&mut [0]).map_err(|error| error.kind());
        assert!(waits == Err(std::io::ErrorKind::WouldBlock) || since.elapsed().as_secs() >= 10, "{waits:?}");
    }
}

fn part(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

fn signed_by(key: &KeyPair, header: &Value, claims: &Value) -> String {
    let text = format!("{}.{}", part(header), part(claims));
    format!("{text}.{}", URL_SAFE_NO_PAD.encode(key.sign(text.as_bytes()).unwrap()))
}

fn public(key: &KeyPair, kid: &str) -> Value {
    let x = URL_SAFE_NO_PAD.encode(key.der_bytes());
    json!({ "kty": "OKP", "crv": "Ed25519", "use": "sig", "alg": "EdDSA", "kid": kid, "x": x })
}

fn with(value: &Value, name: &str, member: Value) -> Value {
    let mut value = value.clone();
    value[name] = member;
    value
}

fn without(value: &Value, name: &str) -> Value {
    let mut value = value.clone();
    value.as_object_mut().unwrap().remove(name);
    value
}

/// Answers one request and closes the connection.
fn respond(mut stream: TcpStream, issuer: &str, state: &Mutex<State>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut line, mut length) = (String::new(), 0);
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    while line.trim() != "" {
        line.clear();
        reader.read_line(&mut line)?;
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    reader.take(length).read_to_end(&mut Vec::new())?;
    let mut state = state.lock().unwrap();
    if state.is_down || state.is_silent {
        state.unanswered += 1;
        if state.is_silent {
            state.open.push(stream);
        }
        return Ok(());
    }
    let body = match path.as_str() {
        "/.well-known/openid-configuration" => json!({
            "issuer": issuer, "authorization_endpoint": format!("{issuer}/auth"), "token_endpoint": format!("{issuer}/token"),
            "jwks_uri": format!("{issuer}/keys"), "response_types_supported": ["code"], "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["EdDSA", "HS256", "none"],
        }),
        "/keys" => {
            state.reads += 1;
            json!({ "keys": state.keys })
        }
        _ => {
            state.redeemed += 1;
            json!({ "access_token": "opaque", "token_type": "Bearer", "expires_in": 600, "id_token": state.id_token })
        }
    };
    let body = body.to_string();
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n";
    write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len())
}

/// Another address each time: one address may log in twenty times a minute.
fn new_address() -> String {
    static ADDRESSES: AtomicU16 = AtomicU16::new(0);
    let number = ADDRESSES.fetch_add(1, Ordering::Relaxed);
    format!("10.0.{}.{}", number >> 8, number & 0xff)
}

/// Begins a log-in, and returns the cookie, the state, and the nonce.
fn begin(world: &World) -> (String, String, String) {
    let begun = world.send("GET", "/login/oidc", &[("X-Forwarded-For", &new_address())], "");
    let cookie = begun.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let url = begun.headers["location"].to_str().unwrap();
    let query = url.split_once('?').unwrap().1;
    let value =
        |name: &str| form_urlencoded::parse(query.as_bytes()).find(|pair| pair.0 == name).unwrap().1.into_owned();
    assert_eq!((value("code_challenge_method").as_str(), value("response_type").as_str()), ("S256", "code"));
    (cookie, value("state"), value("nonce"))
}

/// Comes back from the provider, whose code is worth this ID token.
fn come_back(forger: &Forger, world: &World, (cookie, state): (&str, &str), id_token: &str) -> Answer {
    forger.state.lock().unwrap().id_token = id_token.to_owned();
    come_back_from(&new_address(), world, (cookie, state))
}

fn come_back_from(address: &str, world: &World, (cookie, state): (&str, &str)) -> Answer {
    let path = format!("/login/oidc/callback?code=x&state={state}");
    world.send("GET", &path, &[("Cookie", cookie), ("X-Forwarded-For", address)], "")
}

/// Whether the answer removes the cookie of the log-in from the browser.
fn ends_log_in(answer: &Answer) -> bool {
    let mut set = answer.headers.get_all("set-cookie").iter().filter_map(|set| set.to_str().ok());
    set.any(|set| set.starts_with("workflow-login=") && set.contains("Max-Age=0"))
}

#[test]
fn an_id_token_counts_only_if_everything_in_it_is_right() {
    let forger = Forger::start();
    let world = forger.world();
    let log_in = |token: &dyn Fn(&Value) -> String| {
        let (cookie, state, nonce) = begin(&world);
        let token = token(&with(&forger.claims(CLIENT), "nonce", json!(nonce)));
        come_back(&forger, &world, (&cookie, &state), &token)
    };
    let header = forger.header();
    // security.md#people-whom-the-gateway-logs-in: every other token is refused
    let accepted = log_in(&|claims| forger.signed(&header, claims));
    assert_eq!(accepted.status, 303, "{accepted:?}");
    assert_eq!(log_in(&|claims| forger.signed(&header, &with(claims, "aud", json!([CLIENT])))).status, 303);
    assert_eq!(log_in(&|claims| forger.signed(&header, &with(claims, "azp", json!(CLIENT)))).status, 303);

    let now = chrono::Utc::now().timestamp();
    let changes: [(&str, Value); 11] = [
        ("iss", json!("https://evil.example")),
        ("iss", json!(format!("{}/", forger.issuer))),
        ("aud", json!("another client")),
        ("aud", json!([])),
        ("aud", json!([CLIENT, "another client"])),
        ("azp", json!("another client")),
        ("exp", json!(now - 1)),
        ("exp", json!(0)),
        ("exp", json!("never")),
        ("nonce", json!("of another session")),
        ("nonce", json!("")),
    ];
    let mut refused: Vec<(String, Answer)> = Vec::new();
    for (name, value) in changes {
        let answer = log_in(&|claims| forger.signed(&header, &with(claims, name, value.clone())));
        refused.push((format!("{name}: {value}"), answer));
    }
    for name in ["iss", "aud", "exp", "iat", "sub", "nonce"] {
        refused.push((format!("no {name}"), log_in(&|claims| forger.signed(&header, &without(claims, name)))));
    }
    let other = KeyPair::generate_for(&PKCS_ED25519).unwrap();
    refused.push(("signed by another key".into(), log_in(&|claims| signed_by(&other, &header, claims))));
    let foreign = with(&header, "kid", json!("foreign"));
    refused.push(("a foreign kid".into(), log_in(&|claims| signed_by(&other, &foreign, claims))));
    let own = with(&with(&header, "kid", json!("own")), "jwk", public(&other, "own"));
    refused.push(("its own key".into(), log_in(&|claims| signed_by(&other, &own, claims))));
    for algorithm in ["none", "None", "NONE", "HS256", "RS256", "ES256"] {
        let header = with(&header, "alg", json!(algorithm));
        refused.push((algorithm.into(), log_in(&|claims| forger.signed(&header, claims))));
        let unsigned = log_in(&|claims| format!("{}.{}.", part(&header), part(claims)));
        refused.push((format!("{algorithm}, unsigned"), unsigned));
    }
    // The claims of another person under a signature of the provider.
    let of_eve = log_in(&|claims| {
        let right = forger.signed(&header, claims);
        let signature = right.rsplit('.').next().unwrap();
        format!("{}.{}.{signature}", part(&header), part(&with(claims, "sub", json!("eve"))))
    });
    refused.push(("another user's".into(), of_eve));
    refused.push(("no token".into(), log_in(&|_| "x".into())));
    for (what, answer) in refused {
        assert_eq!(answer.status, 401, "{what}: {answer:?}");
        // The reason is in the log only, and there is no session. What is no ID token at all does not get that far.
        let said = ["the token is not valid, or has expired", "the identity provider does not confirm the log-in"];
        assert!(said.iter().any(|said| answer.text.contains(said)), "{what}: {answer:?}");
        assert!(
            !answer.headers.get_all("set-cookie").iter().any(|set| set.as_bytes().starts_with(b"workflow=")),
            "{what}"
        );
    }
}

#[test]
fn an_id_token_is_of_one_session_and_is_not_replayed() {
    let forger = Forger::start();
    let world = forger.world();
    let header = forger.header();
    let (cookie, state, nonce) = begin(&world);
    let token = forger.signed(&header, &with(&forger.claims(CLIENT), "nonce", json!(nonce)));
    assert_eq!(come_back(&forger, &world, (&cookie, &state), &token).status, 303);
    // In another session the same token has the wrong nonce; with the state of another session nothing is asked at all.
    let (other, of_other, _) = begin(&world);
    assert_eq!(come_back(&forger, &world, (&other, &of_other), &token).status, 401);
    let swapped = come_back(&forger, &world, (&other, &state), &token);
    assert!(swapped.status == 401 && swapped.text.contains("not begun here"), "{swapped:?}");
    let without = come_back(&forger, &world, ("x=y", &state), &token);
    assert!(without.status == 401 && without.text.contains("not begun here"), "{without:?}");
    assert_eq!(come_back(&forger, &world, ("x=y", ""), &token).status, 401);
    // Neither is the cookie of a log-in a session, nor the other way round.
    let as_session = format!("workflow={}", cookie.split_once('=').unwrap().1);
    assert_eq!(world.send("GET", LIST, &[("Cookie", &as_session)], "").status, 401);
}

/// A page of another site cannot use up the log-ins of the people who have the same address as its reader.
#[test]
fn a_log_in_begins_only_with_a_page() {
    let forger = Forger::start();
    let world = forger.world();
    let begin = |mode: &str, destination: &str| {
        let said = [("Sec-Fetch-Mode", mode), ("Sec-Fetch-Dest", destination), ("X-Forwarded-For", "192.0.2.1")];
        world.send("GET", "/login/oidc", &said, "")
    };
    for (mode, destination) in [("no-cors", "image"), ("cors", "empty"), ("navigate", "iframe")] {
        for _ in 0..20 {
            let refused = begin(mode, destination);
            assert!(refused.status == 403 && refused.text.contains("begins with a page"), "{refused:?}");
            assert!(!refused.headers.contains_key("set-cookie"), "{refused:?}");
        }
    }
    assert_eq!(begin("navigate", "document").status, 303);
}

/// A browser that comes back again and again does not let the gateway ask the provider as often.
#[test]
fn log_ins_that_come_back_are_bounded() {
    let forger = Forger::start();
    let world = forger.world();
    let (cookie, state, _) = begin(&world);
    let begun = Instant::now();
    let mut admitted = 0;
    let refused = loop {
        let answer = come_back_from("192.0.2.1", &world, (&cookie, &state));
        if answer.status != 401 {
            break answer;
        }
        admitted += 1;
        assert!(begun.elapsed() < NEVER, "{admitted} were let in");
    };
    // One more every three seconds.
    let most = 21 + begun.elapsed().as_secs() / 3;
    assert!((20..=most).contains(&admitted), "{admitted} of {most}");
    assert!(refused.status == 429 && refused.text.contains("too many log-ins"), "{refused:?}");
    assert!(refused.headers.contains_key("retry-after"), "{refused:?}");
    // The code has not been used, so the browser can come back with it later.
    assert!(!ends_log_in(&refused), "{refused:?}");
    assert_eq!(u64::try_from(forger.state.lock().unwrap().redeemed).unwrap(), admitted);
    // Another address has its own log-ins. What would not get as far as the provider counts for nobody.
    let unconfirmed = come_back_from("192.0.2.2", &world, (&cookie, &state));
    assert!(unconfirmed.status == 401 && ends_log_in(&unconfirmed), "{unconfirmed:?}");
    for _ in 0..30 {
        assert_eq!(come_back_from("192.0.2.3", &world, (&cookie, "other")).status, 401);
    }
}

/// Nobody knows whether a provider that has not answered has used the code.
#[test]
fn a_log_in_is_over_when_its_code_has_been_sent() {
    let forger = Forger::start();
    let world = forger.world();
    let (cookie, state, _) = begin(&world);
    forger.state.lock().unwrap().is_down = true;
    let failed = come_back(&forger, &world, (&cookie, &state), "");
    assert!(failed.status == 503 && failed.text.contains("the identity provider cannot be reached"), "{failed:?}");
    assert!(ends_log_in(&failed) && !failed.headers.contains_key("retry-after"), "{failed:?}");
}

#[test]
fn an_access_token_counts_only_if_everything_in_it_is_right() {
    let forger = Forger::start();
    let world = forger.world();
    let list = |token: &str| world.send("GET", LIST, &[("Authorization", &format!("Bearer {token}"))], "");
    let (header, claims) = (with(&forger.header(), "typ", json!("at+jwt")), forger.claims(API));
    assert_eq!(list(&forger.signed(&header, &claims)).status, 200);
    // Without the type in the header, a claim must say that it is one.
    let untyped = |claims: &Value| list(&forger.signed(&forger.header(), claims));
    let with_id = with(&claims, "jti", json!("1"));
    for (name, value) in [
        ("client_id", json!("robot")),
        ("scope", json!("read")),
        ("gty", json!("client-credentials")),
        ("typ", json!("Bearer")),
    ] {
        assert_eq!(untyped(&with(&with_id, name, value)).status, 200, "{name}");
    }
    // As of Keycloak before version 25.
    assert_eq!(untyped(&with(&with(&claims, "typ", json!("Bearer")), "nonce", json!("x"))).status, 200);
    let several = with(&claims, "aud", json!(["account", API]));
    assert_eq!(list(&forger.signed(&header, &several)).status, 200);

    let now = chrono::Utc::now().timestamp();
    for (name, value) in [
        ("iss", json!("https://evil.example")),
        ("aud", json!("https://another.example/api")),
        ("aud", json!(CLIENT)),
        ("aud", json!([])),
        ("exp", json!(now - 1)),
        ("nbf", json!(now + 3600)),
        // Tokens that count only with a proof of the sender: by DPoP, and by a certificate.
        ("cnf", json!({ "jkt": "x" })),
        ("cnf", json!({ "x5t#S256": "x" })),
        // ID tokens, whatever their audience is.
        ("typ", json!("ID")),
        ("token_use", json!("id")),
    ] {
        let refused = list(&forger.signed(&header, &with(&claims, name, value.clone())));
        assert_eq!(refused.errors(401), ["the token is not valid, or has expired"], "{name}: {value}");
    }
    for name in ["nonce", "at_hash", "c_hash"] {
        let refused = untyped(&with(&with(&claims, "scope", json!("openid")), name, json!("x")));
        assert_eq!(refused.errors(401), ["the token is not valid, or has expired"], "{name}");
    }
    // One that the provider has issued to a client whose id is the audience, without a nonce.
    let of_client = with(&with(&claims, "client_id", json!(API)), "auth_time", json!(now));
    for claims in [&claims, &of_client, &with(&of_client, "jti", json!("1"))] {
        for (name, value) in [("auth_time", json!(now)), ("azp", json!(API)), ("azp", json!("another client"))] {
            let refused = untyped(&with(claims, name, value.clone()));
            assert_eq!(refused.errors(401), ["the token is not valid, or has expired"], "{name}: {value}");
        }
    }
    assert_eq!(list(&forger.signed(&without(&forger.header(), "typ"), &claims)).status, 401);
    for kind in ["JOSE+JSON", "logout+jwt", "secevent+jwt", "dpop+jwt"] {
        assert_eq!(list(&forger.signed(&with(&header, "typ", json!(kind)), &claims)).status, 401, "{kind}");
    }
    for name in ["iss", "aud", "exp", "sub"] {
        assert_eq!(list(&forger.signed(&header, &without(&claims, name))).status, 401, "{name}");
    }
    for algorithm in ["none", "HS256", "RS256"] {
        let header = with(&header, "alg", json!(algorithm));
        assert_eq!(list(&forger.signed(&header, &claims)).status, 401, "{algorithm}");
        assert_eq!(list(&format!("{}.{}.", part(&header), part(&claims))).status, 401, "{algorithm}");
    }
    // Without a role, the token is right and the program is not.
    assert_eq!(list(&forger.signed(&header, &with(&claims, "groups", json!(["clerks"])))).status, 403);
    // What is no token is an unknown key; a right token is none for another scheme.
    assert_eq!(list("x").errors(401), ["the API key is not known, or has expired"]);
    let as_key = format!("ApiKey {}", forger.signed(&header, &claims));
    assert_eq!(world.send("GET", LIST, &[("Authorization", &as_key)], "").status, 401);
    let log = world.into_log();
    assert!(!log.contains(&part(&claims)), "{log}");
}

/// A provider of which nothing is known and that cannot be reached is asked every five seconds.
#[test]
fn a_provider_that_has_failed_is_not_asked_at_once_again() {
    let forger = Forger::start();
    let world = forger.world();
    forger.state.lock().unwrap().is_down = true;
    let token = forger.signed(&with(&forger.header(), "typ", json!("at+jwt")), &forger.claims(API));
    let bearer = format!("Bearer {token}");
    let begun = Instant::now();
    for _ in 0..10 {
        let refused = world.send("GET", LIST, &[("Authorization", &bearer)], "");
        assert_eq!(refused.errors(503), ["the identity provider cannot be reached"]);
        let log_in = world.send("GET", "/login/oidc", &[("X-Forwarded-For", &new_address())], "");
        let wait: u64 = log_in.headers["retry-after"].to_str().unwrap().parse().unwrap();
        assert!(log_in.status == 503 && (1..=5).contains(&wait), "{log_in:?}");
    }
    let most = 1 + usize::try_from(begun.elapsed().as_secs() / 5).unwrap();
    let asked = forger.state.lock().unwrap().unanswered;
    assert!((1..=most).contains(&asked), "{asked} of {most}");
}

/// A gateway that has started again knows nothing of the provider, and people can log out nevertheless.
#[test]
fn a_log_out_does_not_wait_for_a_provider_that_does_not_answer() {
    let forger = Forger::start();
    let keys = std::env::temp_dir().join(format!("workflow-cookie-keys-{}", uuid::Uuid::now_v7()));
    let line = std::process::Command::new(PROGRAM).arg("cookie-key").output().unwrap();
    std::fs::write(&keys, line.stdout).unwrap();
    let options = [&forger.options()[..], &["--cookie-keys", keys.to_str().unwrap()]].concat();
    let world = World::with(&options);
    let (cookie, state, nonce) = begin(&world);
    let token = forger.signed(&forger.header(), &with(&forger.claims(CLIENT), "nonce", json!(nonce)));
    let logged_in = come_back(&forger, &world, (&cookie, &state), &token);
    let mut set = logged_in.headers.get_all("set-cookie").iter().map(|set| set.to_str().unwrap());
    let session = set.find(|set| set.starts_with("workflow=")).unwrap().split(';').next().unwrap();

    let again = world.another_with(&options);
    std::fs::remove_file(keys).unwrap();
    forger.state.lock().unwrap().is_silent = true;
    let headers = [("Cookie", session), ("Sec-Fetch-Site", "same-origin")];
    let begun = Instant::now();
    let out = send("POST", &format!("{}/logout", again.url), &headers, "");
    assert_eq!((out.status, out.headers["location"].to_str().unwrap()), (303, "/login"), "{out:?}");
    assert!(out.headers["set-cookie"].to_str().unwrap().contains("Max-Age=0"), "{out:?}");
    forger.assert_asked_still(begun);
}

/// Keys that the provider has had before count without it, and nobody waits for others that it might have by now.
#[test]
fn a_token_with_an_unknown_key_does_not_wait_for_a_provider_that_does_not_answer() {
    let forger = Forger::start();
    let world = forger.world();
    let list = |token: &str| world.send("GET", LIST, &[("Authorization", &format!("Bearer {token}"))], "").status;
    let (header, claims) = (forger.header(), with(&forger.claims(API), "scope", json!("read")));
    assert_eq!(list(&forger.signed(&header, &claims)), 200);
    forger.state.lock().unwrap().is_silent = true;
    let begun = Instant::now();
    assert_eq!(list(&forger.signed(&with(&header, "kid", json!("new")), &claims)), 401);
    forger.assert_asked_still(begun);
    assert_eq!(list(&forger.signed(&header, &claims)), 200);
}

/// A token with an unknown key causes the keys to be read again, but not as often as anybody wants.
#[test]
fn unknown_keys_are_looked_up_once_and_then_seldom() {
    let forger = Forger::start();
    let world = forger.world();
    let list = |token: &str| world.send("GET", LIST, &[("Authorization", &format!("Bearer {token}"))], "").status;
    let (header, claims) = (forger.header(), with(&forger.claims(API), "scope", json!("read")));
    assert_eq!((list(&forger.signed(&header, &claims)), forger.reads()), (200, 1));

    // Rotation: a new key beside the old one is found at once, or as soon as it has been read, and by one look.
    let new = KeyPair::generate_for(&PKCS_ED25519).unwrap();
    forger.state.lock().unwrap().keys.push(public(&new, "new"));
    let of_new = signed_by(&new, &with(&header, "kid", json!("new")), &claims);
    wait_until("the new key is known", || list(&of_new) == 200);
    assert_eq!((list(&forger.signed(&header, &claims)), list(&of_new), forger.reads()), (200, 200, 2));

    // Foreign keys: the provider is asked three times, and then every ten seconds.
    let begun = Instant::now();
    for number in 0..40 {
        let header = with(&header, "kid", json!(format!("foreign {number}")));
        assert_eq!(list(&signed_by(&new, &header, &claims)), 401);
    }
    let allowed = 2 + 3 + usize::try_from(begun.elapsed().as_secs() / 10).unwrap();
    assert!((3..=allowed).contains(&forger.reads()), "{} of {allowed}", forger.reads());
    // A wrong signature by a known key is no reason to look.
    let before = forger.reads();
    assert_eq!((list(&signed_by(&new, &header, &claims)), forger.reads()), (401, before));
}
