//! Authentication.

use crate::support::World;

const FROM_OUR_PAGE: (&str, &str) = ("Sec-Fetch-Site", "same-origin");
const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");

#[test]
fn a_role_logs_in_with_its_password_alone() {
    let world = World::new();
    let log_in = |form: &str| world.send("POST", "/login", &[FROM_OUR_PAGE, FORM], form);
    let right = log_in("role=ada&password=lovelace&next=/inbox");
    assert_eq!((right.status, right.headers["location"].to_str().unwrap()), (303, "/inbox"));
    let cookie = right.headers["set-cookie"].to_str().unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"), "{cookie}");

    let wrong = log_in("role=ada&password=wrong");
    assert_eq!(wrong.status, 401);
    // A role without LOGIN, one that the gateway may not act as, a superuser, none at all, and the gateway's own: all
    // get the same message.
    for form in [
        "role=clerks&password=x",
        "role=zoe&password=zebra",
        "role=max&password=planck",
        "role=nobody&password=x",
        "role=workflow_gateway&password=gateway",
    ] {
        let refused = log_in(form);
        assert_eq!((refused.status, &refused.text), (401, &wrong.text), "{form}");
    }
    // The server accepts this role without a password.
    let unasked = log_in("role=postgres&password=x");
    assert!(unasked.status == 401 && unasked.text.contains("pg_hba.conf"), "{unasked:?}");
    let cookie = cookie.split(';').next().unwrap();
    // Browsers ignore tabs and line ends.
    for next in [
        "//evil.example",
        "https://evil.example",
        "/\\evil.example",
        "/%09/evil.example",
        "/%0a/evil.example",
        "/%0d%0a/evil.example",
        "%09//evil.example",
        "/%00/evil.example",
        "/%20/evil.example",
        "/%c2%a0/evil.example",
    ] {
        let answer = log_in(&format!("role=ada&password=lovelace&next={next}"));
        assert_eq!(answer.headers["location"].to_str().unwrap(), "/", "{next}");
        let chosen = world.send(
            "POST",
            "/role",
            &[FROM_OUR_PAGE, FORM, ("Cookie", cookie)],
            &format!("role=clerks&next={next}"),
        );
        assert_eq!((chosen.status, chosen.headers["location"].to_str().unwrap()), (303, "/"), "{next}");
    }
}

#[test]
fn requests_of_other_sites_are_refused() {
    let world = World::new();
    let form = "role=ada&password=lovelace";
    for headers in [&[FORM][..], &[FORM, ("Sec-Fetch-Site", "cross-site")], &[FORM, ("Origin", "http://evil.example")]]
    {
        assert_eq!(world.send("POST", "/login", headers, form).status, 403, "{headers:?}");
    }
    assert_eq!(world.send("POST", "/login", &[FORM, ("Origin", &world.url)], form).status, 303);
    assert_eq!(world.send("GET", "/login", &[("Host", "evil.example")], "").status, 421);
}

#[test]
fn an_answer_needs_a_caller() {
    let world = World::new();
    assert_eq!(world.send("GET", "/elsa/api/features/installed", &[], "").errors(401), ["log in first"]);
    let unknown = world.send("GET", "/elsa/api/features/installed", &[("Authorization", "ApiKey x")], "");
    assert_eq!(unknown.errors(401), ["the API key is not known, or has expired"]);
}

#[test]
fn nobody_acts_as_the_gateway_itself() {
    let world = World::new();
    let key = format!("ApiKey {}", world.key("workflow_gateway"));
    let answer = world.send("GET", "/elsa/api/workflow-definitions", &[("Authorization", &key)], "");
    assert_eq!(answer.errors(401), ["log in first"]);
}

#[test]
fn a_key_ends_with_its_day_or_with_the_file() {
    let world = World::new();
    let file = world.folder().join("keys.toml");
    let key = format!("ApiKey {}", world.key("ada"));
    let status = || world.send("GET", "/elsa/api/features/installed", &[("Authorization", &key)], "").status;
    assert_eq!(status(), 200);
    let lasting = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{lasting}expires = \"2001-01-01T00:00:00Z\"\n")).unwrap();
    assert_eq!(status(), 401);
    std::fs::write(&file, format!("{lasting}expires = \"2999-01-01T00:00:00Z\" # later\n")).unwrap();
    assert_eq!(status(), 200);
    // An unreadable file ends no key; a removed key ends.
    std::fs::write(&file, "[key").unwrap();
    assert_eq!(status(), 200);
    world.forget_keys();
    assert_eq!(status(), 401);
}
