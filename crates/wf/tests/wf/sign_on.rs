//! Log-in of people at an identity provider (oidc-provider, from npm), and access tokens of programs.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::support::{Answer, World, free_port, output, send, wait_until};

const LIST: &str = "/elsa/api/workflow-definitions";
const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");
const OURS: (&str, &str) = ("Sec-Fetch-Site", "same-origin");
/// The audience of access tokens for the gateway.
const API: &str = "https://workflows.example/api";

/// The provider, with its own process.
struct Provider {
    process: Child,
    issuer: String,
}

impl Provider {
    fn start() -> Self {
        let folder = std::env::var("WORKFLOW_TEST_PROVIDER").expect("scripts/lib/setup --provider has installed it");
        let modules = std::path::Path::new(&folder).join("node_modules");
        let mut names = std::fs::read_dir(&modules).expect("its modules").flatten().map(|entry| entry.path());
        let is_node = |path: &std::path::PathBuf| path.to_string_lossy().contains("/node-linux-");
        let node = names.find(is_node).expect("its Node.js").join("bin/node");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/wf/provider/main.mjs");
        let mut process = Command::new(node)
            .args([script, &folder])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the provider starts");
        let mut lines = BufReader::new(process.stdout.take().expect("its output")).lines().map_while(Result::ok);
        let issuer = lines.find(|line| line.starts_with("http")).expect("its address");
        std::thread::spawn(move || lines.for_each(drop));
        Self { process, issuer }
    }

    fn control(&self, what: &str) {
        assert_eq!(send("GET", &format!("{}/control?{what}", self.issuer), &[], "").status, 200);
    }

    /// The options of a gateway that trusts it.
    fn options<'a>(&'a self, secret: &'a str) -> Vec<&'a str> {
        let rules = ["--person-role", "groups=finance=clerks"];
        let client = ["--oidc-client-id", "workflow", "--oidc-client-secret-file", secret, "--oidc-audience", API];
        [&["--oidc-issuer", &self.issuer][..], &client, &rules].concat()
    }

    /// The tokens for a form of the token endpoint.
    fn tokens(&self, client: &str, secret: &str, form: &str) -> Value {
        let basic = format!("Basic {}", STANDARD.encode(format!("{client}:{}", secret.replace(' ', "%20"))));
        let headers = [("Authorization", basic.as_str()), FORM];
        send("POST", &format!("{}/token", self.issuer), &headers, form).ok()
    }

    /// An access token of the program `robot`.
    fn robot(&self) -> String {
        let token = self.tokens("robot", "a secret of the robot", "grant_type=client_credentials");
        token["access_token"].as_str().expect("a token").to_owned()
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A gateway that trusts the provider, and is registered there.
struct Site {
    provider: Provider,
    world: World,
}

impl Site {
    fn new() -> Self {
        Self::with(&[])
    }

    fn with(more: &[&str]) -> Self {
        let provider = Provider::start();
        let secret = std::env::temp_dir().join(format!("workflow-secret-{}", uuid::Uuid::now_v7()));
        std::fs::write(&secret, "a secret of the gateway\n").unwrap();
        let world = World::with(&[&provider.options(secret.to_str().unwrap()), more].concat());
        std::fs::remove_file(secret).unwrap();
        provider.control(&format!("gateway={}", world.url));
        Self { provider, world }
    }

    fn browser(&self) -> Browser<'_> {
        Browser::new(&self.provider, &self.world.url)
    }

    /// A browser in which this person has logged in.
    fn logged_in(&self, person: &str) -> Browser<'_> {
        let mut browser = self.browser();
        let answer = browser.log_in(person, "/inbox");
        assert_eq!((answer.status, location(&answer)), (303, "/inbox"), "{answer:?}");
        browser
    }
}

/// A browser with the cookies of each origin.
#[derive(Clone)]
struct Browser<'a> {
    provider: &'a Provider,
    gateway: String,
    cookies: BTreeMap<String, BTreeMap<String, String>>,
}

impl<'a> Browser<'a> {
    fn new(provider: &'a Provider, gateway: &str) -> Self {
        Self { provider, gateway: gateway.to_owned(), cookies: BTreeMap::new() }
    }

    fn send(&mut self, method: &str, url: &str, body: &str) -> Answer {
        let origin = url.splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
        let cookies = self.cookies.entry(origin).or_default();
        let sent: Vec<String> = cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let answer = send(method, url, &[("Cookie", &sent.join("; ")), OURS, FORM], body);
        for set in answer.headers.get_all("set-cookie") {
            let (name, rest) = set.to_str().unwrap().split_once('=').unwrap();
            let (value, attributes) = rest.split_once(';').unwrap_or((rest, ""));
            if value.is_empty() || attributes.contains("Max-Age=0") {
                cookies.remove(name);
            } else {
                cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        answer
    }

    fn get(&mut self, path: &str) -> Answer {
        let url = format!("{}{path}", self.gateway);
        self.send("GET", &url, "")
    }

    fn cookie(&self, name: &str) -> Option<&String> {
        self.cookies.get(&self.gateway)?.get(name)
    }

    /// Begins a log-in, and returns the address at which the provider sends the browser back.
    fn come_back(&mut self, person: &str, next: &str) -> String {
        self.provider.control(&format!("person={person}"));
        let url = location(&self.get(&format!("/login/oidc?next={next}"))).to_owned();
        self.follow(url)
    }

    /// Follows redirects of the provider until the one to the gateway, and returns its address.
    fn follow(&mut self, mut url: String) -> String {
        while !url.starts_with(&self.gateway) {
            let to = location(&self.send("GET", &url, "")).to_owned();
            url = if to.starts_with('/') { format!("{}{to}", self.provider.issuer) } else { to };
        }
        url
    }

    fn log_in(&mut self, person: &str, next: &str) -> Answer {
        let url = self.come_back(person, next);
        self.send("GET", &url, "")
    }
}

fn location(answer: &Answer) -> &str {
    assert!((300..400).contains(&answer.status), "{answer:?}");
    answer.headers["location"].to_str().unwrap()
}

#[test]
fn people_log_in_are_on_record_and_log_out() {
    let site = Site::new();
    let world = &site.world;
    world.sql(
        r#"SET ROLE ada;
        SELECT wf_define('{"definitionId": "ask", "root": {"id": "ask", "type": "RunTask", "taskName": "Approve", "candidates": ["group:board"]}}');
        SELECT wf_grant('ask', 'clerks', '{read,resume}');
        SELECT wf_start('ask')"#,
    );
    assert!(site.browser().get("/login").text.contains("href=\"/login/oidc?next=%2F\""));
    let mut ada = site.logged_in("ada");
    let inbox = ada.get("/inbox");
    assert!(inbox.status == 200 && inbox.text.contains("ada"), "{inbox:?}");
    // The role is that of the list, and the answer is the person's.
    let task = world.value("SELECT task_id::text FROM workflow.open_tasks").unwrap();
    let complete = format!("{}/inbox/{task}", world.url);
    let form = "do=complete&as=json&result=1";
    assert_eq!(site.logged_in("ben").send("POST", &complete, form).status, 403, "ben is not of the board");
    assert_eq!(ada.send("POST", &complete, form).status, 303);
    let answer = "SELECT concat_ws(' / ', role, actor) FROM workflow.answers";
    assert_eq!(world.value(answer).as_deref(), Some("clerks / ada"));

    let out = ada.send("POST", &format!("{}/logout", world.url), "");
    assert!(ada.cookie("workflow").is_none() && out.status == 200, "{out:?}");
    let refresh = out.headers["refresh"].to_str().unwrap();
    let end = refresh.strip_prefix("0; url=").unwrap();
    assert!(end.starts_with(&format!("{}/session/end?", site.provider.issuer)), "{end}");
    let back: String = form_urlencoded::byte_serialize(format!("{}/login", world.url).as_bytes()).collect();
    assert!(end.contains("client_id=workflow") && end.contains(&back), "{end}");
    assert_eq!(ada.send("GET", end, "").status, 200);
    assert_eq!(ada.get(LIST).status, 401);
}

#[test]
fn whoever_has_no_role_in_the_list_does_not_get_in() {
    let site = Site::new();
    let mut eve = site.browser();
    let refused = eve.log_in("eve", "/inbox");
    assert!(refused.status == 403 && refused.text.contains("nobody has given you a role here"), "{refused:?}");
    assert!(eve.cookie("workflow").is_none());
}

/// Fixation: the session is a new one, and a log-in is completed only where it was begun, and once.
#[test]
fn a_log_in_belongs_to_one_browser() {
    let site = Site::new();
    // The cookie of another person's session, which an attacker has put into the browser.
    let planted = site.logged_in("ben").cookie("workflow").unwrap().clone();
    let mut ada = site.browser();
    ada.cookies.entry(site.world.url.clone()).or_default().insert("workflow".into(), planted.clone());
    let before = ada.clone();
    let url = ada.come_back("ada", "/inbox");
    let began = ada.clone();
    assert_eq!(ada.send("GET", &url, "").status, 303);
    assert_ne!(ada.cookie("workflow"), Some(&planted));
    assert!(ada.cookie("workflow-login").is_none());
    assert!(ada.get("/inbox").text.contains("ada"));

    // Again: in the same browser, and with a copy of its cookies, for the provider has redeemed the code.
    for mut again in [ada.clone(), began] {
        assert_eq!(again.send("GET", &url, "").status, 401);
    }
    // The address of another one's log-in: in a browser without one, and in one with its own.
    let of_ben = site.browser().come_back("ben", "/inbox");
    let (mut without, mut own) = (before, site.browser());
    own.come_back("ada", "/inbox");
    for browser in [&mut without, &mut own] {
        let refused = browser.send("GET", &of_ben, "");
        assert!(refused.status == 401 && refused.text.contains("not begun here"), "{refused:?}");
    }
    // After a refusal a log-in must begin again.
    assert!(own.cookie("workflow-login").is_none());
    // An answer of another provider, and a refusal.
    for (replaced, by) in [("&iss=", "&iss=https%3A%2F%2Fevil.example&was="), ("code=", "error=access_denied&was=")] {
        let mut browser = site.browser();
        let url = browser.come_back("ada", "/inbox").replace(replaced, by);
        assert_eq!(browser.send("GET", &url, "").status, 401, "{url}");
    }
    // After the log-in, the browser stays here.
    for next in ["//evil.example", "https://evil.example", "/%5Cevil.example"] {
        assert_eq!(location(&site.browser().log_in("ada", next)), "/", "{next}");
    }
}

#[test]
fn programs_send_access_tokens_for_the_gateway() {
    let site = Site::new();
    let list = |token: &str| site.world.send("GET", LIST, &[("Authorization", &format!("Bearer {token}"))], "");
    let token = site.provider.robot();
    assert_eq!(list(&token).status, 200);
    // A request with a token cannot be forged by other sites.
    let headers = [("Authorization", format!("Bearer {token}"))];
    let headers = [(headers[0].0, headers[0].1.as_str()), ("Content-Type", "application/json")];
    let send = |path: &str, body: Value| site.world.send("POST", &format!("{LIST}{path}"), &headers, &body.to_string());
    let root = json!({ "type": "RunTask", "id": "ask", "taskName": "Approve" });
    let saved = send("", json!({ "model": { "definitionId": "x", "root": root }, "publish": true }));
    assert_eq!(saved.status, 200, "{saved:?}");
    assert_eq!(send("/x/execute", json!({ "versionOptions": "Published" })).status, 200);
    let start = "SELECT concat_ws(' / ', role, login, actor) FROM workflow.audit WHERE kind = 'start'";
    assert_eq!(site.world.value(start).as_deref(), Some("clerks / workflow_people / robot"));

    // An ID token is none: the same provider has issued it, to the gateway as a client.
    let challenge = "code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256";
    let callback: String =
        form_urlencoded::byte_serialize(format!("{}/login/oidc/callback", site.world.url).as_bytes()).collect();
    let mut browser = site.browser();
    site.provider.control("person=ada");
    let query =
        format!("client_id=workflow&response_type=code&scope=openid&state=x&redirect_uri={callback}&{challenge}");
    let url = browser.follow(format!("{}/auth?{query}", site.provider.issuer));
    let code = url.split("code=").nth(1).unwrap().split('&').next().unwrap();
    let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    let form = format!("grant_type=authorization_code&code={code}&redirect_uri={callback}&code_verifier={verifier}");
    let tokens = site.provider.tokens("workflow", "a secret of the gateway", &form);
    let id_token = tokens["id_token"].as_str().unwrap();
    assert_eq!(list(id_token).errors(401), ["the token is not valid, or has expired"]);
    // Neither is a token that is not for the gateway, and is no JWT.
    assert_eq!(list(tokens["access_token"].as_str().unwrap()).status, 401);

    // The provider has other keys: tokens of the new ones are accepted as soon as these are read, at once unless the
    // provider is slow, and those of the old ones no longer.
    site.provider.control("rotate");
    let new = site.provider.robot();
    wait_until("the new keys are known", || list(&new).status == 200);
    assert_eq!(list(&token).status, 401);
    assert_eq!(site.logged_in("ada").get(LIST).status, 200);
}

/// A session has the role of a rule. It ends when the list no longer has the rule, and when another provider or another
/// claim says who people are.
#[test]
fn a_session_ends_with_the_rule_and_the_provider_that_gave_the_role() {
    let provider = Provider::start();
    let world = World::new();
    let secret = world.folder().join("secret");
    std::fs::write(&secret, "a secret of the gateway").unwrap();
    let keys = world.folder().join("cookie-keys");
    let line = Command::new(crate::support::PROGRAM).arg("cookie-key").output().unwrap();
    std::fs::write(&keys, line.stdout).unwrap();
    let with = |issuer: &str, more: &[&str]| {
        let client = ["--oidc-issuer", issuer, "--oidc-client-id", "workflow"];
        let files = ["--oidc-client-secret-file", secret.to_str().unwrap(), "--cookie-keys", keys.to_str().unwrap()];
        world.another_with(&[&client[..], &files, more].concat())
    };
    let with_rules = |rules: &[&str]| {
        let rules: Vec<&str> = rules.iter().flat_map(|rule| ["--person-role", rule]).collect();
        with(&provider.issuer, &rules)
    };
    let first = with_rules(&["groups=finance=clerks"]);
    provider.control(&format!("gateway={}", first.url));
    let mut browser = Browser::new(&provider, &first.url);
    assert_eq!(browser.log_in("ada", "/inbox").status, 303);
    let cookie = format!("workflow={}", browser.cookie("workflow").unwrap());
    let status = |url: &str| send("GET", &format!("{url}{LIST}"), &[("Cookie", &cookie)], "").status;
    assert_eq!(status(&first.url), 200);
    assert_eq!(status(&with_rules(&["groups=board=ben", "groups=finance=clerks"]).url), 200);
    assert_eq!(status(&with_rules(&["groups=finance=ben"]).url), 401);
    assert_eq!(status(&with_rules(&["groups=board=clerks"]).url), 401);
    let rule = ["--person-role", "groups=finance=clerks"];
    assert_eq!(status(&with("http://localhost:1", &rule).url), 401);
    let by_email = [&rule[..], &["--oidc-person-claim", "email"]].concat();
    assert_eq!(status(&with(&provider.issuer, &by_email).url), 401);
}

/// `wf doctor serve` sees the provider as a log-in does.
#[test]
fn the_doctor_examines_the_provider() {
    let site = Site::new();
    let examine = |public_url: &str, issuer: &str| {
        let database =
            format!("{} dbname={} user=workflow_people password=gateway", site.world.server(), site.world.database);
        let ended = output(Command::new(crate::support::PROGRAM).args([
            "doctor",
            "--quick",
            "--database",
            &database,
            "serve",
            "--public-url",
            public_url,
            "--oidc-issuer",
            issuer,
            "--oidc-client-id",
            "workflow",
            "--person-role",
            "groups=finance=clerks",
        ]));
        String::from_utf8(ended.stdout).unwrap()
    };
    let said = examine(&site.world.url, &site.provider.issuer);
    for part in
        ["has its metadata", "it accepts the client with the redirect URI", "clock and that of this machine agree"]
    {
        assert!(said.contains(part) && !said.contains("ERROR    identity"), "{part} in {said}");
    }
    let said = examine("http://127.0.0.1:2", &site.provider.issuer);
    let advice = "register http://127.0.0.1:2/login/oidc/callback for --oidc-client-id";
    assert!(said.contains("does not let people log in") && said.contains(advice), "{said}");
    let said = examine(&site.world.url, &format!("http://127.0.0.1:{}", free_port()));
    assert!(said.contains("ERROR    identity provider") && said.contains("cannot be used"), "{said}");
}
