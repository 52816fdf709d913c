//! `SendEmail` in front of a mail server on loopback.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod servers;

use std::io::Write as _;
use std::time::Duration;

use clap::Parser;
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use uuid::Uuid;
use workflow_services::mail::{File, Load, LoadError, MailOptions, Mailer};
use workflow_services::task::{Failure, ServiceTask};

use servers::NEVER;
use servers::smtp::{Demands, SmtpServer, certificate};

#[derive(Parser)]
struct Options {
    #[command(flatten)]
    mail: MailOptions,
}

fn options(arguments: &[&str]) -> MailOptions {
    let all = ["test", "--smtp-from", "Shop <shop@example.com>"].iter().chain(arguments);
    Options::try_parse_from(all).unwrap_or_else(|error| panic!("{error}")).mail
}

/// A mailer for a server that demands nothing.
fn mailer(server: &SmtpServer, arguments: &[&str]) -> Mailer {
    let port = server.address.port().to_string();
    let fixed = ["--smtp-host", "localhost", "--smtp-port", &port, "--smtp-tls", "none"];
    let all: Vec<&str> = fixed.into_iter().chain(arguments.iter().copied()).collect();
    Mailer::new(&options(&all)).unwrap().unwrap()
}

fn task(inputs: Value) -> ServiceTask {
    let Value::Object(inputs) = inputs else { panic!("no object: {inputs}") };
    ServiceTask {
        task_id: Uuid::now_v7(),
        instance_id: Uuid::now_v7(),
        name: "Elsa.SendEmail".into(),
        owner: "app".into(),
        attempt: 1,
        max_attempts: None,
        traceparent: None,
        inputs,
        deadline: Instant::now() + NEVER,
    }
}

/// A web with these files.
struct Web(Map<String, Value>);

impl Load for Web {
    async fn load(&self, url: &str, limit: usize) -> Result<File, LoadError> {
        let Some(text) = self.0.get(url).and_then(Value::as_str) else {
            return Err(LoadError::Failed(format!("{url}: the service answered with status 503")));
        };
        if text == "denied" {
            return Err(LoadError::Refused(Failure::last("address_denied", "the address is not allowed")));
        }
        assert!(text.len() <= limit, "the limit of the message reaches the loader");
        let name = url.rsplit('/').next().unwrap().to_owned();
        Ok(File { name, content_type: Some("text/csv".into()), content: text.into() })
    }
}

async fn send(mailer: &Mailer, inputs: Value) -> Result<Value, Failure> {
    mailer.send(&task(inputs), &Web(Map::new())).await
}

#[tokio::test]
async fn a_message_arrives_with_all_its_parts() {
    let server = SmtpServer::start(Demands::default()).await;
    let mailer = mailer(&server, &[]);
    let task = task(json!({
        "To": ["Ada Lovelace <ada@example.com>", "ben@example.com"], "Cc": "cid@example.com, dan@example.com",
        "Bcc": ["eve@example.com"], "Subject": "Prices in €", "Body": "<p>See <b>here</b>.</p>\n.\n",
        "Attachments": [
            {"fileName": "a.csv", "contentType": "text/csv", "content": "YTtiCg=="},
            {"FileName": "b.bin", "Content": "AP8="}, "AQID", "https://shop.example/list.csv", null],
    }));
    let web = Web(Map::from_iter([("https://shop.example/list.csv".to_owned(), json!("c;d\n"))]));
    assert_eq!(mailer.send(&task, &web).await, Ok(Value::Null));
    let received = server.received();
    let [message] = &received[..] else { panic!("{received:?}") };
    assert_eq!(message.from, "shop@example.com");
    let recipients = ["ada", "ben", "cid", "dan", "eve"].map(|name| format!("{name}@example.com"));
    assert_eq!(message.to, recipients);
    let header = |name| message.header(name).unwrap_or_default();
    assert_eq!(header("From"), "Shop <shop@example.com>");
    assert_eq!(header("To"), "\"Ada Lovelace\" <ada@example.com>, ben@example.com");
    assert_eq!(header("Cc"), "cid@example.com, dan@example.com");
    assert_eq!(message.header("Bcc"), None);
    assert_eq!(header("Message-ID"), format!("<{}@example.com>", task.task_id));
    assert!(header("Subject").starts_with("Prices in =?utf-8?b?"), "{}", message.text);
    for part in [
        "multipart/mixed",
        "multipart/alternative",
        "Content-Type: text/plain; charset=utf-8",
        "\nSee here.\n",
        "Content-Type: text/html; charset=utf-8",
        // A line with a dot alone does not end the message.
        "<p>See <b>here</b>.</p>\n.\n",
        "Content-Disposition: attachment; filename=\"a.csv\"\nContent-Type: text/csv\nContent-Transfer-Encoding: base64\n\nYTtiCg==\n",
        "filename=\"b.bin\"\nContent-Type: application/octet-stream\nContent-Transfer-Encoding: base64\n\nAP8=\n",
        "filename=\"attachment-3\"\nContent-Type: application/octet-stream\nContent-Transfer-Encoding: base64\n\nAQID\n",
        "filename=\"list.csv\"\nContent-Type: text/csv\nContent-Transfer-Encoding: base64\n\nYztkCg==\n",
    ] {
        assert!(message.text.contains(part), "no {part:?} in {}", message.text);
    }
}

#[tokio::test]
async fn inputs_that_are_no_message_are_refused() {
    let server = SmtpServer::start(Demands::default()).await;
    let mailer = mailer(&server, &[]);
    for (inputs, reason) in [
        (json!({}), "no recipient"),
        (json!({"To": ["", null]}), "no recipient"),
        (json!({"To": ["ada"]}), "To has an address that is not valid: \"ada\""),
        (json!({"To": [7]}), "To has an address that is not text"),
        (json!({"To": ["ada@example.com\r\nBcc: eve@example.com"]}), "control character"),
        (json!({"To": ["ada@example.com"], "Cc": "x\ny@example.com"}), "an address in Cc has a line break"),
        (json!({"To": ["ada@example.com"], "From": "shop@example.com\nX: y"}), "an address in From has a line break"),
        (json!({"To": ["ada@example.com"], "Subject": "Hi\r\nBcc: eve@example.com"}), "the subject has a line break"),
        (json!({"To": ["ada@example.com"], "Subject": ["Hi"]}), "Subject is not text"),
        (json!({"To": ["ada@example.com"], "Body": {"a": 1}}), "Body is not text"),
        (json!({"To": ["ada@example.com"], "Attachments": ["/etc/passwd"]}), "files of the worker are never read"),
        (
            json!({"To": ["ada@example.com"], "Attachments": ["file:///etc/passwd"]}),
            "files of the worker are never read",
        ),
        (json!({"To": ["ada@example.com"], "Attachments": [7]}), "attachment 1 is neither an object nor text"),
        (json!({"To": ["ada@example.com"], "Attachments": {"content": "%"}}), "attachment 1 is not valid"),
        (
            json!({"To": ["ada@example.com"], "Attachments": {"content": "AQID", "fileName": "a\r\nX: y"}}),
            "the name of an attachment has a line break",
        ),
        (
            json!({"To": ["ada@example.com"], "Attachments": {"content": "AQID", "contentType": "text/csv\r\nX: y"}}),
            "type that is not valid",
        ),
    ] {
        let failure = send(&mailer, inputs.clone()).await.expect_err("it is no message");
        assert_eq!(failure, Failure::last("invalid_message", failure.message.clone()), "{inputs}");
        assert!(failure.message.contains(reason), "{inputs}: {failure:?}");
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_message_needs_a_sender() {
    let server = SmtpServer::start(Demands::default()).await;
    let mut options = options(&["--smtp-host", "127.0.0.1", "--smtp-tls", "none"]);
    options.smtp_port = Some(server.address.port());
    options.smtp_from = None;
    let mailer = Mailer::new(&options).unwrap().unwrap();
    let failure = send(&mailer, json!({"To": "ada@example.com"})).await.expect_err("it has no sender");
    assert!(failure.message.contains("no sender"), "{failure:?}");
    assert_eq!(send(&mailer, json!({"To": "ada@example.com", "From": "ben@example.com"})).await, Ok(Value::Null));
    assert_eq!(server.received()[0].from, "ben@example.com");
}

#[tokio::test]
async fn what_the_mail_server_refuses_for_good_is_not_tried_again() {
    let server = SmtpServer::start(Demands::default()).await;
    let mailer = mailer(&server, &[]);
    for (to, error, reason) in [
        ("gone@example.com", "refused", "there is no such mailbox"),
        ("full@example.com", "send", "the mailbox is full"),
        ("lost@example.com", "send", ""),
    ] {
        let answer = send(&mailer, json!({"To": ["ada@example.com", to]})).await.unwrap();
        assert_eq!(answer["error"], error, "{answer}");
        assert!(answer["message"].as_str().unwrap().contains(reason), "{answer}");
    }
    // A refused recipient refuses the message: nobody gets it twice in a later attempt.
    assert!(server.received().iter().all(|message| message.to.contains(&"lost@example.com".to_owned())));
}

#[tokio::test]
async fn a_message_whose_answer_was_lost_is_sent_again_with_its_id() {
    let server = SmtpServer::start(Demands::default()).await;
    let mailer = mailer(&server, &[]);
    let task = task(json!({"To": "lost@example.com"}));
    let web = Web(Map::new());
    assert_eq!(mailer.send(&task, &web).await.unwrap()["error"], "send");
    assert_eq!(mailer.send(&task, &web).await, Ok(Value::Null));
    let ids: Vec<_> = server.received().iter().map(|message| message.header("Message-ID")).collect();
    assert_eq!(ids, [Some(format!("<{}@example.com>", task.task_id)), ids[0].clone()]);
}

/// Its reply arrives after the worker has given up, and must not be taken for that to the next message.
#[tokio::test]
async fn a_late_reply_is_not_that_of_the_next_message() {
    let server = SmtpServer::start(Demands::default()).await;
    let mailer = mailer(&server, &[]);
    let mut slow = task(json!({"To": "slow@example.com"}));
    slow.deadline = Instant::now() + Duration::from_millis(500);
    assert_eq!(mailer.send(&slow, &Web(Map::new())).await.unwrap()["error"], "send");
    server.release();
    for _ in 0..3 {
        let answer = send(&mailer, json!({"To": "virus@example.com"})).await.unwrap();
        assert_eq!(answer["error"], "refused", "{answer}");
        assert_eq!(send(&mailer, json!({"To": "ada@example.com"})).await, Ok(Value::Null));
    }
}

#[tokio::test]
async fn a_mail_server_that_is_silent_or_away_is_tried_again() {
    let server = SmtpServer::start(Demands::default()).await;
    let silent = mailer(&server, &[]);
    let mut task = task(json!({"To": "silent@example.com"}));
    task.deadline = Instant::now() + Duration::from_millis(200);
    let answer = silent.send(&task, &Web(Map::new())).await.unwrap();
    assert_eq!(answer["error"], "send");
    assert!(answer["message"].as_str().unwrap().contains("in time"), "{answer}");
    let closed = options(&["--smtp-host", "127.0.0.1", "--smtp-port", "1", "--smtp-tls", "none"]);
    let away = Mailer::new(&closed).unwrap().unwrap();
    assert_eq!(send(&away, json!({"To": "ada@example.com"})).await.unwrap()["error"], "send");
}

#[tokio::test]
async fn attachments_and_messages_are_bounded() {
    let server = SmtpServer::start(Demands::default()).await;
    let mailer = mailer(&server, &["--smtp-max-size", "1"]);
    let web = Web(Map::from_iter([
        ("http://shop.example/small".to_owned(), json!("x".repeat(400_000))),
        ("http://shop.example/denied".to_owned(), json!("denied")),
    ]));
    let with = |attachments: Value| task(json!({"To": "ada@example.com", "Attachments": attachments}));
    assert_eq!(mailer.send(&with(json!("http://shop.example/small")), &web).await, Ok(Value::Null));
    // The second file fits alone, but not encoded and beside the first.
    let two = mailer.send(&with(json!(["http://shop.example/small", "http://shop.example/small"])), &web).await;
    assert_eq!(two, Err(Failure::last("too_large", "the message has more than 1 MB")));
    let body = json!({"To": "ada@example.com", "Body": "x".repeat(1_000_001)});
    assert_eq!(send(&mailer, body).await.expect_err("it is too large").code, "too_large");
    let denied = mailer.send(&with(json!("http://shop.example/denied")), &web).await;
    assert_eq!(denied.expect_err("it is denied").code, "address_denied");
    let missing = mailer.send(&with(json!("http://shop.example/missing")), &web).await.unwrap();
    assert_eq!(missing["error"], "send");
    assert!(missing["message"].as_str().unwrap().contains("status 503"), "{missing}");
    assert_eq!(server.received().len(), 1);
}

/// A file that is removed at the end of the test.
struct TextFile(std::path::PathBuf);

impl TextFile {
    fn new(text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("mail-{}", Uuid::now_v7()));
        std::fs::File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for TextFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[tokio::test]
async fn connections_are_encrypted_and_the_server_is_checked() {
    let (tls, authority) = certificate();
    let authority = TextFile::new(&authority);
    let with_starttls = SmtpServer::start(Demands { starttls: Some(tls.clone()), ..Demands::default() }).await;
    let with_tls = SmtpServer::start(Demands { tls: Some(tls), ..Demands::default() }).await;
    let without = SmtpServer::start(Demands::default()).await;
    for (server, mode, has_authority, error) in [
        (&with_starttls, "starttls", true, None),
        (&with_tls, "tls", true, None),
        (&with_starttls, "starttls", false, Some("certificate")),
        (&with_tls, "tls", false, Some("certificate")),
        (&without, "starttls", true, Some("STARTTLS is not supported")),
    ] {
        let port = server.address.port().to_string();
        let mut arguments = vec!["--smtp-host", "localhost", "--smtp-port", &port, "--smtp-tls", mode];
        if has_authority {
            arguments.extend(["--smtp-ca-file", authority.path()]);
        }
        let mailer = Mailer::new(&options(&arguments)).unwrap().unwrap();
        let answer = send(&mailer, json!({"To": "ada@example.com"})).await.unwrap();
        match error {
            None => assert_eq!(answer, Value::Null, "{mode}"),
            Some(reason) => assert!(answer["message"].as_str().unwrap().contains(reason), "{mode}: {answer}"),
        }
    }
    assert_eq!((with_starttls.received().len(), with_tls.received().len(), without.received().len()), (1, 1, 0));
    assert!(with_starttls.received()[0].is_encrypted);
}

#[tokio::test]
async fn the_worker_logs_in_with_the_password_of_its_file() {
    // "\0ada\0lovelace"
    let credentials = Some("AGFkYQBsb3ZlbGFjZQ==".to_owned());
    let server = SmtpServer::start(Demands { credentials, ..Demands::default() }).await;
    let (right, wrong) = (TextFile::new("lovelace\n"), TextFile::new("secret\n"));
    let with = |file: &TextFile| mailer(&server, &["--smtp-user", "ada", "--smtp-password-file", file.path()]);
    assert_eq!(send(&with(&right), json!({"To": "ada@example.com"})).await, Ok(Value::Null));
    // The messages are not to blame: they are sent when the password is right again.
    let answer = send(&with(&wrong), json!({"To": "ada@example.com"})).await.unwrap();
    assert_eq!(answer["error"], "send");
    assert!(!answer.to_string().contains("secret"), "{answer}");
    assert_eq!(send(&mailer(&server, &[]), json!({"To": "ada@example.com"})).await.unwrap()["error"], "send");
}

#[tokio::test]
async fn messages_share_connections() {
    let server = SmtpServer::start(Demands::default()).await;
    let mailer = mailer(&server, &["--smtp-connections", "3"]);
    let sent = (0..30).map(|_| send(&mailer, json!({"To": "ada@example.com"})));
    for answer in futures_util::future::join_all(sent).await {
        assert_eq!(answer, Ok(Value::Null));
    }
    assert_eq!(server.received().len(), 30);
    assert_eq!(server.connections(), 3);
}

#[tokio::test]
async fn options_that_cannot_be_right_are_refused() {
    let error = |arguments: &[&str]| Mailer::new(&options(arguments)).expect_err("it is refused");
    let plain = error(&["--smtp-host", "mail.example.com", "--smtp-tls", "none"]);
    assert!(plain.contains("mail.example.com unencrypted") && plain.contains("--smtp-insecure"), "{plain}");
    Mailer::new(&options(&["--smtp-host", "mail.example.com", "--smtp-tls", "none", "--smtp-insecure"])).unwrap();
    let missing = error(&[
        "--smtp-host",
        "localhost",
        "--smtp-tls",
        "none",
        "--smtp-user",
        "ada",
        "--smtp-password-file",
        "/nowhere",
    ]);
    assert!(missing.contains("cannot read /nowhere"), "{missing}");
    let no_pem = TextFile::new("no certificate");
    let no_pem = error(&["--smtp-host", "localhost", "--smtp-ca-file", no_pem.path()]);
    assert!(no_pem.contains("--smtp-ca-file"), "{no_pem}");
    assert!(Mailer::new(&options(&[])).unwrap().is_none());
    let no_password = error(&["--smtp-host", "localhost", "--smtp-tls", "none", "--smtp-user", "ada"]);
    assert_eq!(no_password, "--smtp-user needs --smtp-password-file");
    let no_user = error(&["--smtp-host", "localhost", "--smtp-tls", "none", "--smtp-password-file", "/nowhere"]);
    assert_eq!(no_user, "--smtp-password-file needs --smtp-user");
    assert!(Options::try_parse_from(["test", "--smtp-from", "nobody"]).is_err());
}
