//! The gateway's options, and when it does not start.

use crate::support::{PROGRAM, World, output};
use std::process::Command;

/// The message of a gateway that ends at once with exit code 1 or 2.
fn refusal(arguments: &[&str], environment: &[(&str, &str)]) -> String {
    let command = if arguments.first() == Some(&"key") { None } else { Some("serve") };
    let ended = output(Command::new(PROGRAM).args(command).args(arguments).envs(environment.iter().copied()));
    assert!(matches!(ended.status.code(), Some(1 | 2)), "{arguments:?}: {ended:?}");
    String::from_utf8(ended.stderr).unwrap()
}

#[test]
fn it_does_not_start_in_front_of_what_does_not_fit() {
    let world = World::new();
    let database = |rest: &str| format!("{} {rest}", world.server());
    let here = format!("dbname={}", world.database);
    let refused = |rest: &str| refusal(&["--listen", "127.0.0.1:0", "--database", &database(rest)], &[]);
    assert!(refused(&format!("{here} user=postgres")).contains("is or can become the superuser"));
    assert!(refused("dbname=postgres user=workflow_gateway password=gateway").contains("CREATE EXTENSION workflow"));
    // An extension of another version, according to the catalogue.
    world.sql("UPDATE pg_extension SET extversion = '0.1.7' WHERE extname = 'workflow'");
    assert!(
        refused(&format!("{here} user=workflow_gateway password=gateway")).contains("the database has workflow 0.1.7")
    );
    world.sql("UPDATE pg_extension SET extversion = default_version FROM pg_available_extensions a WHERE extname = 'workflow' AND a.name = extname");
    world.sql("GRANT CREATE ON SCHEMA public TO PUBLIC");
    let creators = refused(&format!("{here} user=workflow_gateway password=gateway"));
    assert!(creators.contains("PUBLIC may create functions in public"), "{creators}");
    world.sql("REVOKE CREATE ON SCHEMA public FROM PUBLIC; GRANT CREATE ON SCHEMA public TO zoe");
    assert!(world.another().into_log().contains("zoe may create functions in public"));
    let member = format!("CREATE ROLE {0} LOGIN NOINHERIT PASSWORD 'x'; GRANT max TO {0}", world.database);
    world.sql(&member);
    let said = refused(&format!("{here} user={} password=x", world.database));
    world.sql(&format!("DROP ROLE {}", world.database));
    assert!(said.contains("can become the superuser max"), "{said}");
}

#[test]
fn options_that_make_no_sense_are_named() {
    for (arguments, said) in [
        (&["--listen", "0.0.0.0:8080"][..], "without TLS"),
        (&["--listen", "x"], "--listen"),
        (&["--public-url", "ftp://x"], "--public-url"),
        (&["--public-url", "https://x/path"], "--public-url"),
        (&["--tls-key", "key.pem"], "--tls-certificate"),
        (&["--database", "host"], "--database makes no sense"),
        (&["--database", "host=a,b port=1,2,3"], "not as many addresses or ports as hosts"),
        (&["--database", "host=a,b hostaddr=127.0.0.1"], "not as many addresses or ports as hosts"),
        (&["--endpoints-listen", "127.0.0.1:0"], "--endpoints-role"),
        (
            &["--endpoints-listen", "0.0.0.0:8090", "--endpoints-role", "web"],
            "will not listen on 0.0.0.0:8090 without TLS",
        ),
        (&["--metrics-role", "watch"], "--metrics-role needs --metrics-listen"),
        (
            &["--metrics-listen", "0.0.0.0:9464", "--metrics-role", "watch"],
            "will not listen on 0.0.0.0:9464 without TLS",
        ),
        (
            &["--listen", "127.0.0.1:8181", "--metrics-listen", "127.0.0.1:8181", "--metrics-role", "watch"],
            "--metrics-listen 127.0.0.1:8181 must be an address of its own",
        ),
        (&["--traces-role", "watch"], "--traces-role needs --traces-endpoint"),
        (&["--traces-endpoint", "http://127.0.0.1:4318/v1/traces"], "--traces-endpoint needs --traces-role"),
        (&["--traces-endpoint", "127.0.0.1:4318", "--traces-role", "watch"], "must be an http:// or https:// URL"),
        (&["--endpoints-cors", "shop.example"], "--endpoints-cors shop.example is no origin"),
        (&["--cookie-keys", "/nowhere"], "cannot read /nowhere"),
        (&["--api-keys", "/nowhere"], "cannot read /nowhere"),
        (&["--session-hours", "0"], "--session-hours"),
        (&["--log", "workflow=loud"], "--log makes no sense"),
        (&["--config", "/nowhere"], "cannot read /nowhere"),
        (&["key", "add", "--role", "ada"], "--api-keys"),
    ] {
        let refused = refusal(arguments, &[]);
        assert!(refused.contains(said), "{arguments:?}: {refused}");
    }
}

/// The messages differ, so they show which value was used.
#[test]
fn the_command_line_wins_over_the_environment_and_that_over_the_file() {
    let file = std::env::temp_dir().join(format!("wf-{}.toml", uuid::Uuid::now_v7()));
    let path = file.to_str().unwrap().to_owned();
    let config = ["--config", path.as_str()];
    std::fs::write(&file, "[serve]\nlisten = \"0.0.0.0:1\"\nsession-hours = 3\n").unwrap();
    assert!(refusal(&config, &[]).contains("0.0.0.0:1 "));
    assert!(refusal(&config, &[("WF_SERVE_LISTEN", "0.0.0.0:2")]).contains("0.0.0.0:2 "));
    let arguments = [&config[..], &["--listen", "0.0.0.0:3"]].concat();
    assert!(refusal(&arguments, &[("WF_SERVE_LISTEN", "0.0.0.0:2")]).contains("0.0.0.0:3 "));
    for (text, said) in [
        ("listen = \"x\"", "there is no option listen"),
        ("[serve]\nlistn = \"x\"", "there is no option listn in [serve]"),
        ("[serve]\nlisten = {}", "listen must be"),
        ("listen", ".toml:1: key with no value"),
        ("[serve]\nsession-hours = 0", "0"),
    ] {
        std::fs::write(&file, text).unwrap();
        assert!(refusal(&config, &[]).contains(said), "{text}");
    }
    std::fs::remove_file(&file).unwrap();
}
