//! The files of Elsa Studio, and the pages that contain it.

use std::fs;
use std::path::PathBuf;

use uuid::Uuid;

use crate::support::World;

/// A folder as created by `studio fetch`, with few files, and a secret next to it.
pub struct Folder {
    home: PathBuf,
}

impl Folder {
    pub fn new() -> Self {
        let home = std::env::temp_dir().join(format!("workflow-studio-{}", Uuid::now_v7()));
        for folder in ["studio/_framework", "studio/_content/Elsa"] {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        for (name, content) in [
            ("_framework/blazor.webassembly.js", "plain"),
            ("_framework/blazor.webassembly.js.br", "brotli"),
            ("_framework/Elsa.0123456789.wasm", "\0asm"),
            ("_framework/icudt.0123456789.dat", "dat"),
            ("_content/Elsa/shell.css", "css"),
            ("_content/Elsa/x.json", "{}"),
            ("Elsa.Studio.Host.CustomElements.styles.css", "css"),
            ("appsettings.json", "{\"a\": 1}"),
            ("package.json", "not served"),
            ("../secret", "secret"),
        ] {
            fs::write(home.join("studio").join(name), content).unwrap();
        }
        Self { home }
    }

    pub fn world(&self) -> World {
        World::with(&["--studio", self.home.join("studio").to_str().unwrap()])
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.home);
    }
}

#[test]
fn files_have_the_types_that_browsers_need() {
    let folder = Folder::new();
    let world = folder.world();
    for (path, kind, caching) in [
        ("/_framework/blazor.webassembly.js", "text/javascript", "no-cache"),
        ("/_framework/Elsa.0123456789.wasm", "application/wasm", "public, max-age=31536000, immutable"),
        ("/_framework/icudt.0123456789.dat", "application/octet-stream", "public, max-age=31536000, immutable"),
        ("/_content/Elsa/shell.css", "text/css", "no-cache"),
        ("/_content/Elsa/x.json", "application/json", "no-cache"),
        ("/Elsa.Studio.Host.CustomElements.styles.css", "text/css", "no-cache"),
        ("/appsettings.json", "application/json", "no-cache"),
    ] {
        let answer = world.send("GET", path, &[], "");
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.headers["content-type"].to_str().unwrap(), kind, "{path}");
        assert_eq!(answer.headers["cache-control"].to_str().unwrap(), caching, "{path}");
        assert_eq!(answer.headers["vary"].to_str().unwrap(), "accept-encoding", "{path}");
        let tag = answer.headers["etag"].to_str().unwrap();
        assert_eq!(world.send("GET", path, &[("If-None-Match", tag)], "").status, 304, "{path}");
    }
    let answer = world.send("GET", "/appsettings.Production.json", &[], "");
    assert_eq!((answer.status, answer.text.as_str()), (200, "{}"));
}

#[test]
fn a_browser_that_takes_brotli_gets_it() {
    let folder = Folder::new();
    let world = folder.world();
    let get =
        |accepted: &str| world.send("GET", "/_framework/blazor.webassembly.js", &[("Accept-Encoding", accepted)], "");
    let compressed = get("gzip, br");
    assert_eq!(compressed.text, "brotli");
    assert_eq!(compressed.headers["content-encoding"].to_str().unwrap(), "br");
    assert_eq!(compressed.headers["content-type"].to_str().unwrap(), "text/javascript");
    let plain = get("gzip");
    assert_eq!(plain.text, "plain");
    assert!(!plain.headers.contains_key("content-encoding"));
    assert_ne!(plain.headers["etag"], compressed.headers["etag"]);
}

#[test]
fn nothing_outside_the_folder_is_served() {
    let folder = Folder::new();
    let world = folder.world();
    for path in [
        "/_framework/../../secret",
        "/_framework/%2e%2e/%2e%2e/secret",
        "/_framework/..%2f..%2fsecret",
        "/_framework/..%5c..%5csecret",
        "/_framework//etc/passwd",
        "/_framework/%00",
        "/_framework/",
        "/_content/Elsa",
        "/_framework/missing.wasm",
        "/package.json",
    ] {
        let answer = world.send("GET", path, &[], "");
        assert!((400..500).contains(&answer.status), "{path}: {answer:?}");
        assert!(!answer.text.contains("secret") || answer.text.contains("there is no page"), "{path}: {answer:?}");
    }
}

const PAGES: [&str; 4] = [
    "/definitions",
    "/instances?statuses=Running",
    "/workflows/definitions/a%22b/edit",
    "/workflows/instances/01900000-0000-7000-8000-000000000001/view",
];

/// A definition of ada's whose id is not a simple word, and an instance of it.
const OBJECTS: &str = r#"
    SET ROLE ada;
    SELECT wf_define('{"id": "a\"b", "name": "A & B", "root": {"type": "WriteLine", "id": "w", "text": "x"}}');
    SELECT wf_run('a"b', instance_id => '01900000-0000-7000-8000-000000000001');"#;

#[test]
fn pages_have_the_element_and_a_policy() {
    let folder = Folder::new();
    let world = folder.world();
    let key = format!("ApiKey {}", world.key("ada"));
    world.sql(OBJECTS);
    let elements = [
        "<elsa-workflow-definition-list data-studio>",
        "<elsa-workflow-instance-list data-studio>",
        "<elsa-workflow-definition-editor definition-id=\"a&#34;b\" data-studio>",
        "<elsa-workflow-instance-viewer instance-id=\"01900000-0000-7000-8000-000000000001\" data-studio>",
    ];
    for (path, element) in PAGES.into_iter().zip(elements) {
        let page = world.send("GET", path, &[("Authorization", &key)], "");
        assert_eq!(page.status, 200, "{path}");
        assert!(page.text.contains(element), "{path}: {}", page.text);
        assert!(page.text.contains("<base href=\"/\">"), "{path}");
        let policy = page.headers["content-security-policy"].to_str().unwrap();
        let scripts = policy.split(';').find(|part| part.trim().starts_with("script-src")).unwrap();
        assert!(scripts.contains("'self' 'wasm-unsafe-eval'"), "{policy}");
        assert!(!scripts.contains("'unsafe-eval'") && !scripts.contains("'unsafe-inline'"), "{policy}");
        assert!(policy.contains("report-uri /csp-reports"), "{policy}");
    }
}

#[test]
fn without_a_session_the_way_is_the_log_in_and_back() {
    let world = World::new();
    for path in PAGES {
        let answer = world.send("GET", path, &[], "");
        assert_eq!(answer.status, 303, "{path}");
        let encoded = path.replace('%', "%25").replace('/', "%2F").replace('?', "%3F").replace('=', "%3D");
        assert_eq!(answer.headers["location"].to_str().unwrap(), format!("/login?next={encoded}"));
    }
}

#[test]
fn without_studio_pages_say_how_to_get_it_and_the_rest_works() {
    let world = World::with(&["--studio", "/nowhere/studio"]);
    world.sql(OBJECTS);
    let key = format!("ApiKey {}", world.key("ada"));
    for path in PAGES {
        let page = world.send("GET", path, &[("Authorization", &key)], "");
        assert_eq!(page.status, 503, "{path}");
        assert!(page.text.contains("wf studio fetch --studio /nowhere/studio"), "{}", page.text);
        let policy = page.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'self';") && !policy.contains("wasm"), "{policy}");
    }
    assert_eq!(world.send("GET", "/_framework/blazor.webassembly.js", &[], "").status, 404);
    world.client("ada").get("/workflow-definitions").ok();
}

#[test]
fn reports_of_browsers_are_bounded() {
    let world = World::new();
    let ours = ("Sec-Fetch-Site", "same-origin");
    let kind = ("Content-Type", "application/csp-report");
    let report = r#"{"csp-report": {"document-uri": "x", "blocked-uri": "inline"}}"#;
    let send = |headers: &[(&str, &str)], body: &str| world.send("POST", "/csp-reports", headers, body).status;
    assert_eq!(send(&[ours, kind], report), 204);
    assert_eq!(send(&[kind], report), 403);
    assert_eq!(send(&[("Sec-Fetch-Site", "cross-site"), kind], report), 403);
    assert_eq!(send(&[ours, ("Content-Type", "text/plain")], report), 415);
    assert_eq!(send(&[ours, kind], "no JSON"), 400);
    assert_eq!(send(&[ours, kind], &format!("{report}{}", " ".repeat(20_000))), 413);
    assert!((0..100).any(|_| send(&[ours, kind], report) == 429));
}

#[test]
fn what_is_not_there_or_of_others_has_no_page() {
    let folder = Folder::new();
    let world = folder.world();
    world.sql(OBJECTS);
    let key = format!("ApiKey {}", world.key("ben"));
    for path in [
        PAGES[2],
        PAGES[3],
        "/workflows/definitions/none/edit",
        "/workflows/instances/none/view",
        "/workflows/instances/01900000-0000-7000-8000-000000000002/view",
    ] {
        let page = world.send("GET", path, &[("Authorization", &key)], "");
        assert_eq!(page.status, 404, "{path}");
        assert!(page.text.contains("there is no "), "{path}: {}", page.text);
        assert!(page.headers.contains_key("content-security-policy"), "{path}");
    }
}
