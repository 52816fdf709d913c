//! Secrets: where they may be sent, and that they never come back, against a server that echoes.

use std::path::PathBuf;
use std::sync::Arc;

use data_encoding::BASE64;
use serde_json::{Value, json};
use workflow_services::http::HttpService;
use workflow_services::secrets::{Secrets, SecretsError};

use crate::support::*;

const TOKEN: &str = "s3cr3t/of-the+bank";

/// A file in the directory of this test binary, readable for its owner only.
fn file(name: &str, text: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;

    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    std::fs::write(&path, text).expect("a file");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("permissions");
    path
}

fn bank(port: u16) -> String {
    format!("[bank]\nvalue = \"Bearer {TOKEN}\"\nhosts = [\"http://127.0.0.1:{port}\"]\nowners = [\"shop\"]\n")
}

async fn service_with(name: &str, text: &str, port: u16) -> HttpService {
    let secrets = Secrets::load(Some(&file(name, text))).await.expect("secrets");
    let options = options(&format!("--allow-addresses 127.0.0.1:{port}"));
    HttpService::new(&options, secrets, Arc::new(Names::default())).expect("a service")
}

fn with_secret(url: String) -> Value {
    json!({"Url": url, "Authorization": {"secret": "bank"}, "RequestHeaders": {"X-Key": [{"secret": "bank"}, "plain"]}})
}

/// Sends back the authorization in many ways.
fn echo(request: &Received) -> Vec<Step> {
    let value = request.header("authorization").unwrap_or_default().to_owned();
    let token = value.trim_start_matches("Bearer ").to_owned();
    let plain = [("Content-Type", "text/plain")];
    match request.path.as_str() {
        "/json" => {
            respond(200, &[("Content-Type", "application/json")], json!({"a": [value], &*token: token}).to_string())
        }
        "/escaped" => {
            let escaped: String = token.chars().map(|letter| format!("\\u{:04x}", u32::from(letter))).collect();
            respond(200, &[("Content-Type", "application/json")], format!("{{\"a\": \"{escaped}\"}}"))
        }
        "/base64" => respond(200, &plain, BASE64.encode(format!("you sent {value}, thanks").as_bytes())),
        "/url" => respond(200, &plain, format!("?token={}", token.replace('/', "%2F").replace('+', "%2B"))),
        "/headers" => respond(200, &[("X-Echo", &value), ("X-Token", &format!("a={token}; b"))], ""),
        "/error" => respond(400, &plain, format!("the token {token} is wrong")),
        "/gzip" => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            std::io::Write::write_all(&mut encoder, token.as_bytes()).expect("gzip");
            respond(200, &[("Content-Encoding", "gzip")], encoder.finish().expect("gzip"))
        }
        "/status" => vec![Step::Send(format!("HTTP/1.1 200 OK\r\nX-Bad {value}\r\n\r\n").into_bytes())],
        // A chunk for each character, in a segment of its own.
        _ => {
            let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
            let chunks = token.chars().map(|letter| Step::Send(format!("1\r\n{letter}\r\n").into_bytes()));
            let end = Step::Send(b"0\r\n\r\n".to_vec());
            std::iter::once(Step::Send(head)).chain(chunks).chain([end]).collect()
        }
    }
}

#[tokio::test]
async fn secrets_do_not_come_back() {
    let server = Server::start(echo).await;
    let service = service_with("echo", &bank(server.port), server.port).await;
    for path in ["/json", "/escaped", "/base64", "/url", "/headers", "/error", "/gzip", "/pieces"] {
        for name in ["Elsa.SendHttpRequest", "Elsa.DownloadHttpFile"] {
            let answer = service.send(&named_task(name, with_secret(server.url(path)))).await.expect("an answer");
            let content = answer["content"].as_str().and_then(|content| BASE64.decode(content.as_bytes()).ok());
            let text = format!("{answer} {}", String::from_utf8_lossy(&content.unwrap_or_default()));
            // Only a reader of JSON finds what its escapes hide in a file.
            if (path, name) != ("/escaped", "Elsa.DownloadHttpFile") {
                assert!(text.contains("***bank***"), "{path} {name}: {text}");
            }
            for part in [TOKEN, "s3cr3t", "the+bank", "the%2Bbank", "c2VjcmV0", "czNjcjN0"] {
                assert!(!text.contains(part), "{path} {name}: {text}");
            }
        }
    }
    let sent = server.received();
    assert!(sent.iter().all(|request| request.header("authorization") == Some(&format!("Bearer {TOKEN}"))));
    assert_eq!(sent[0].header("x-key"), Some(&*format!("Bearer {TOKEN}")));
    let answer = service.send(&task(with_secret(server.url("/status")))).await.expect("an answer");
    assert!(!answer.to_string().contains("s3cr3t"), "{answer}");
}

#[tokio::test]
async fn a_secret_is_for_its_hosts_and_owners() {
    let server = Server::start(echo).await;
    let other = Server::start(echo).await;
    let text = bank(server.port)
        + "[tls]\nvalue = \"0123456789\"\nhosts = [\"127.0.0.1\"]\nowners = [\"shop\"]\n"
        + &format!(
            "[foreign]\nvalue = \"0123456789\"\nhosts = [\"http://127.0.0.1:{}\"]\nowners = [\"other\"]\n",
            server.port
        );
    let service = service_with("owners", &text, server.port).await;
    let denied = [
        ("bank", other.url("/")),
        ("bank", format!("http://localhost:{}/", server.port)),
        ("bank", format!("https://127.0.0.1:{}/", server.port)),
        ("tls", server.url("/")),
        ("foreign", server.url("/")),
        ("unknown", server.url("/")),
        ("", server.url("/")),
    ];
    for (name, url) in denied {
        let inputs = json!({"Url": url, "Authorization": {"secret": name}});
        assert_eq!(code(service.send(&task(inputs)).await), "secret_denied", "{name} {url}");
    }
    let mut foreign = task(with_secret(server.url("/json")));
    foreign.owner = "other".into();
    assert_eq!(code(service.send(&foreign).await), "secret_denied");
    assert_eq!((server.connections(), other.connections()), (0, 0));
    // Whatever the host's spelling.
    let url = format!("http://2130706433:{}/json", server.port);
    assert_eq!(service.send(&task(with_secret(url))).await.expect("an answer")["statusCode"], 200);
}

#[tokio::test]
async fn a_secret_does_not_follow_redirects() {
    let server = Server::start(|request| match request.path.as_str() {
        "/same" => respond(307, &[("Location", "/end")], ""),
        "/leak" => {
            let token = request.header("authorization").unwrap_or_default().replace("Bearer ", "").replace('/', "%2F");
            respond(302, &[("Location", &format!("/end?token={}", token.replace('+', "%2B")))], "")
        }
        _ => respond(200, &[], ""),
    })
    .await;
    let service = service_with("redirects", &bank(server.port), server.port).await;
    service.send(&task(with_secret(server.url("/same")))).await.expect("an answer");
    let second = &server.received()[1];
    assert_eq!((&*second.path, second.header("authorization"), second.header("x-key")), ("/end", None, None));
    let failure = service.send(&task(with_secret(server.url("/leak")))).await.expect_err("a leak");
    assert_eq!(failure.code, "secret_denied");
    assert!(!failure.message.contains("s3cr3t"), "{failure:?}");
    assert_eq!(server.received().len(), 3);
}

#[tokio::test]
async fn values_come_from_the_environment_files_and_commands() {
    let value = file("value", "from-a-file\n");
    let text = format!(
        "[a]\nenvironment = \"CARGO_PKG_NAME\"\nhosts = [\"a.example\"]\nowners = [\"shop\"]\n\
         [b]\nfile = {:?}\nprefix = \"Bearer \"\nhosts = [\"a.example:8443\"]\nowners = [\"shop\"]\n\
         [c]\ncommand = [\"echo\", \"from-a-command\"]\nhosts = [\"A.example\"]\nowners = [\"shop\", \"app\"]\n",
        value.display().to_string()
    );
    let secrets = Secrets::load(Some(&file("sources", &text))).await.expect("secrets");
    let redactor = secrets.redactor("shop");
    for (shown, name) in [(env!("CARGO_PKG_NAME"), "a"), ("from-a-file", "b"), ("from-a-command", "c")] {
        assert_eq!(redactor.text(shown.into()), format!("***{name}***"));
    }
    assert_eq!(secrets.redactor("nobody").text("from-a-command".into()), "from-a-command");
}

#[tokio::test]
async fn values_are_read_again() {
    let path = file("again", &bank(1));
    let secrets = Secrets::load(Some(&path)).await.expect("secrets");
    std::fs::write(&path, bank(1).replace(TOKEN, "another-token")).expect("a file");
    secrets.reload().await.expect("secrets");
    let redactor = secrets.redactor("shop");
    // A service may still send back the former one.
    for token in [TOKEN, "another-token"] {
        assert_eq!(redactor.text(token.into()), "***bank***");
    }
    std::fs::write(&path, "nonsense").expect("a file");
    secrets.reload().await.expect_err("no TOML");
    assert_eq!(secrets.redactor("shop").text("another-token".into()), "***bank***");
}

#[tokio::test]
async fn a_command_that_fails_does_not_hold_up_the_other_secrets() {
    let rest = "hosts = [\"a.example\"]\nowners = [\"shop\"]\n";
    let with =
        |command: &str, value: &str| format!("[a]\ncommand = [{command}]\n{rest}[b]\nvalue = \"{value}\"\n{rest}");
    let failing = r#""sh", "-c", "echo is sealed >&2; exit 2""#;
    let path = file("failing", &with(failing, "value-one"));
    let error = Secrets::load(Some(&path)).await.expect_err("a failing command");
    assert!(
        matches!(&error, SecretsError::Unavailable(problem) if problem.ends_with("exit status: 2: is sealed")),
        "{error}"
    );
    std::fs::write(&path, with(r#""echo", "value-two""#, "value-one")).expect("a file");
    let secrets = Secrets::load(Some(&path)).await.expect("secrets");
    std::fs::write(&path, with(failing, "value-three")).expect("a file");
    secrets.reload().await.expect_err("a failing command");
    let redactor = secrets.redactor("shop");
    assert_eq!(redactor.text("value-two".into()), "***a***");
    assert_eq!(redactor.text("value-three".into()), "***b***");
}

#[tokio::test]
async fn a_file_of_secrets_is_checked() {
    let rest = "hosts = [\"a.example\"]\nowners = [\"shop\"]\n";
    let cases = [
        ("value = ", "not valid TOML"),
        ("[a]\nvalue = \"hidden-value\"\nvalue = \"hidden-value\"\n", "not valid TOML"),
        (&*format!("[a]\n{rest}"), "one of value, environment, file and command"),
        (&format!("[a]\nvalue = \"hidden-value\"\nenvironment = \"X\"\n{rest}"), "one of value"),
        (&format!("[a]\nvalue = \"hidden-value\"\nhost = \"x\"\n{rest}"), "unknown field `host`"),
        ("[a]\nvalue = \"hidden-value\"\nhosts = [\"a.example\"]\n", "missing field `owners`"),
        ("a = \"Bearer hidden-value\"\n", "secret a: it is no table"),
        ("[a]\nvalue = [\"hidden-value\"]\n", "has the wrong type"),
        ("[a]\nvalue = \"hidden-value\"\nhosts = []\nowners = [\"shop\"]\n", "it needs hosts and owners"),
        ("[a]\nvalue = \"hidden-value\"\nhosts = [\"http://a.example\"]\nowners = [\"shop\"]\n", "without TLS"),
        ("[a]\nvalue = \"hidden-value\"\nhosts = [\"https://a.example/path\"]\nowners = [\"shop\"]\n", "is no host"),
        ("[a]\nvalue = \"hidden-value\"\nhosts = [\"ftp://a.example\"]\nowners = [\"shop\"]\n", "is no host"),
        (&format!("[a]\nvalue = \"short\"\n{rest}"), "shorter than 8"),
        (&format!("[a]\nvalue = \"Bearer short\"\n{rest}"), "shorter than 8"),
        (&format!("[a]\nvalue = \"hidden\\nvalue\"\n{rest}"), "control characters"),
        (&format!("[a]\nenvironment = \"NO_SUCH_VARIABLE\"\n{rest}"), "NO_SUCH_VARIABLE is not set"),
        (&format!("[a]\nfile = \"/no/such/file\"\n{rest}"), "cannot read /no/such/file"),
        (&format!("[a]\ncommand = [\"false\"]\n{rest}"), "false failed"),
        (&format!("[a]\ncommand = [\"/no/such/program\"]\n{rest}"), "cannot run /no/such/program"),
        (&format!("[a]\ncommand = []\n{rest}"), "the command is empty"),
    ];
    for (text, expected) in cases {
        let error = Secrets::load(Some(&file("invalid", text))).await.expect_err(text);
        let error = error.to_string();
        assert!(error.contains(expected) && !error.contains("hidden"), "{text}: {error}");
    }
    let readable = file("readable", &bank(1));
    std::fs::set_permissions(&readable, std::os::unix::fs::PermissionsExt::from_mode(0o644)).expect("permissions");
    let error = Secrets::load(Some(&readable)).await.expect_err("readable");
    assert!(error.to_string().contains("every user can read it"), "{error}");
    let writable =
        file("writable", "[a]\ncommand = [\"echo\", \"a-long-value\"]\nhosts = [\"a.example\"]\nowners = [\"shop\"]\n");
    std::fs::set_permissions(&writable, std::os::unix::fs::PermissionsExt::from_mode(0o646)).expect("permissions");
    let error = Secrets::load(Some(&writable)).await.expect_err("writable");
    assert!(error.to_string().contains("every user can change it"), "{error}");
    Secrets::load(Some(std::path::Path::new("/no/such/file"))).await.expect_err("no file");
}
