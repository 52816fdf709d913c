//! The files of Elsa Studio, and the pages that it stands in.

use std::fs;
use std::path::PathBuf;

use uuid::Uuid;

use crate::support::World;

/// A folder as `studio fetch` leaves one, with little in it, and a secret beside it.
struct Folder {
    home: PathBuf,
}

impl Folder {
    fn new() -> Self {
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

    fn world(&self) -> World {
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
