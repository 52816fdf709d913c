//! Passwords with each authentication method of a server: a password counts if the server asked for SCRAM and accepted
//! the answer.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::cluster::Cluster;
use crate::support::{Answer, NEVER, PROGRAM, World, output, send, wait_until};

/// The lines of `pg_hba.conf` for the roles. A server that requests a password in clear text must not get it.
const HBA: &str = "
    local all trusted          trust
    local all peer_refused     peer
    local all peer_admitted    peer map=anybody
    local all md5_secret       md5
    local all scram_by_md5     md5
    local all clear            password
    local all by_ldap          ldap ldapserver=127.0.0.1 ldapport=1 ldapprefix=cn=
    local all rejected         reject
    local all all              scram-sha-256";

const PREPARED: &str = "
    SET password_encryption = 'md5';
    CREATE ROLE md5_secret LOGIN PASSWORD 'pw';
    CREATE ROLE md5_by_scram LOGIN PASSWORD 'pw';
    SET password_encryption = 'scram-sha-256';
    CREATE ROLE trusted LOGIN PASSWORD 'pw';
    CREATE ROLE peer_refused LOGIN PASSWORD 'pw';
    CREATE ROLE peer_admitted LOGIN PASSWORD 'pw';
    CREATE ROLE scram_by_md5 LOGIN PASSWORD 'pw';
    CREATE ROLE clear LOGIN PASSWORD 'pw';
    CREATE ROLE by_ldap LOGIN;
    CREATE ROLE rejected LOGIN PASSWORD 'pw';
    CREATE ROLE expired LOGIN PASSWORD 'pw' VALID UNTIL '2001-01-01';
    CREATE ROLE not_yet LOGIN PASSWORD 'pw' VALID UNTIL 'infinity';
    CREATE ROLE no_login NOLOGIN PASSWORD 'pw';
    CREATE ROLE no_password LOGIN;
    CREATE ROLE no_connect LOGIN PASSWORD 'pw';
    CREATE ROLE superuser SUPERUSER LOGIN PASSWORD 'pw';
    CREATE ROLE stranger LOGIN PASSWORD 'pw';
    CREATE ROLE no_room LOGIN PASSWORD 'pw' CONNECTION LIMIT 0;
    GRANT trusted, peer_refused, peer_admitted, md5_secret, md5_by_scram, scram_by_md5, clear, by_ldap, rejected, expired, not_yet,
        no_login, no_password, no_connect, no_room TO workflow_gateway;";

const FORM: &[(&str, &str)] =
    &[("Sec-Fetch-Site", "same-origin"), ("Content-Type", "application/x-www-form-urlencoded")];

/// The minimum duration of a log-in.
const LEAST_TIME: Duration = Duration::from_millis(400);

fn log_in(url: &str, role: &str, password: &str) -> Answer {
    let form = form_urlencoded::Serializer::new(String::new())
        .append_pair("role", role)
        .append_pair("password", password)
        .finish();
    let begun = Instant::now();
    let answer = send("POST", &format!("{url}/login"), FORM, &form);
    assert!(begun.elapsed() >= LEAST_TIME, "{role}: its time tells why");
    answer
}

#[test]
fn a_password_counts_where_the_server_asked_for_scram() {
    let cluster = Cluster::new(HBA, &[]);
    cluster.write("data/pg_ident.conf", "anybody /^.*$ peer_admitted\n");
    cluster.sql("SELECT pg_reload_conf()");
    cluster.wait_until("SELECT count(*) = 1 FROM pg_ident_file_mappings WHERE error IS NULL");
    cluster.sql(PREPARED);
    let world = World::on(&cluster.address(), &[]);
    world.sql(&format!(
        "REVOKE CONNECT ON DATABASE {0} FROM PUBLIC; \
         GRANT CONNECT ON DATABASE {0} TO workflow_gateway, not_yet, scram_by_md5, expired, no_login, no_room, md5_secret, md5_by_scram",
        world.database
    ));
    for role in ["not_yet", "scram_by_md5"] {
        assert_eq!(log_in(&world.url, role, "pw").status, 303, "{role}");
    }
    let wrong = log_in(&world.url, "not_yet", "wrong");
    assert!(wrong.status == 401 && !wrong.text.contains("pg_hba.conf"), "{wrong:?}");
    let nul = ("a\0b", "pw");
    let (long, longer) = ("x".repeat(64), "x".repeat(60_000));
    for (role, password) in [
        ("scram_by_md5", "wrong"),
        ("md5_by_scram", "pw"),
        ("expired", "pw"),
        ("no_login", "pw"),
        ("no_password", ""),
        ("no_connect", "pw"),
        ("superuser", "pw"),
        ("stranger", "pw"),
        ("nobody", "pw"),
        ("not_yet", "p\0w"),
        ("", "pw"),
        nul,
        (&long, "pw"),
        (&longer, "pw"),
    ] {
        let refused = log_in(&world.url, role, password);
        assert_eq!((refused.status, &refused.text), (401, &wrong.text), "{role}");
    }
    // Each address has twenty log-ins, and another gateway counts separately.
    let url = &world.another().url;
    for role in ["trusted", "peer_refused", "peer_admitted", "md5_secret", "clear", "by_ldap", "rejected"] {
        let refused = log_in(url, role, "pw");
        let says_why =
            refused.text.contains("does not ask for a password of SCRAM") && refused.text.contains("pg_hba.conf");
        assert!(refused.status == 401 && says_why, "{role}: {refused:?}");
        assert!(!refused.headers.contains_key("set-cookie"), "{role}: {refused:?}");
    }
    // A full server says nothing about a password.
    assert_eq!(log_in(url, "no_room", "pw").status, 503);
    assert_eq!(log_in(url, "no_room", "wrong").text, wrong.text);
    promoted_to_superuser(&cluster, &world);
}

/// A user who becomes a superuser in the meantime cannot make requests in his session.
fn promoted_to_superuser(cluster: &Cluster, world: &World) {
    let answer = log_in(&world.url, "scram_by_md5", "pw");
    let cookie = answer.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let page = || world.send("GET", "/inbox", &[("Cookie", &cookie)], "");
    world.sql("SELECT wf_grant_usage('scram_by_md5')");
    assert_eq!(page().status, 200);
    cluster.sql("ALTER ROLE scram_by_md5 SUPERUSER");
    let refused = page();
    assert!(refused.status == 303 && refused.headers["location"] == "/login", "{refused:?}");
    // The gateway serves no request on new connections.
    let database = format!("{} dbname={} user=workflow_gateway password=gateway", cluster.address(), world.database);
    let ended = output(Command::new(PROGRAM).args(["serve", "--listen", "127.0.0.1:0", "--database", &database]));
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(said.contains("can become the superuser scram_by_md5"), "{said}");
}

#[test]
fn log_ins_are_bounded() {
    let world = World::new();
    let begun = Instant::now();
    let key = format!("key={}", world.key("ada"));
    let mut admitted = 0;
    let refused = loop {
        let answer = world.send("POST", "/login", FORM, &key);
        if answer.status != 303 {
            break answer;
        }
        admitted += 1;
        assert!(begun.elapsed() < NEVER, "{admitted} were let in");
    };
    // One more every three seconds.
    let most = 21 + begun.elapsed().as_secs() / 3;
    assert!((20..=most).contains(&admitted), "{admitted} of {most}");
    assert!(refused.status == 429 && refused.text.contains("too many log-ins"), "{refused:?}");
    assert!(!refused.headers.contains_key("set-cookie"), "{refused:?}");
    let wait: u64 = refused.headers["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=3).contains(&wait), "{wait}");
    // The right password is not tried either; sessions and keys still work.
    let passwords = world.send("POST", "/login", FORM, "role=ada&password=lovelace");
    assert!(passwords.status == 429 || begun.elapsed() > Duration::from_secs(3), "{passwords:?}");
    assert_eq!(world.client("ada").get("/features/installed").status, 200);
    wait_until("one more is let in", || world.send("POST", "/login", FORM, &key).status == 303);
}

#[test]
fn behind_a_proxy_each_client_has_its_log_ins() {
    let world = World::with(&["--behind-proxy"]);
    let log_in = |url: &str, from: &str| {
        send("POST", &format!("{url}/login"), &[FORM, &[("X-Forwarded-For", from)]].concat(), "key=unknown").status
    };
    let mut begun = Instant::now();
    wait_until("too many have come", || {
        begun = Instant::now();
        log_in(&world.url, "198.51.100.1") == 429
    });
    assert_eq!(log_in(&world.url, "198.51.100.2"), 401);
    assert_eq!(log_in(&world.url, "198.51.100.1, 2001:db8::1"), 401);
    for with_port in ["198.51.100.1:4711", "198.51.100.4, 198.51.100.1:4712"] {
        let mut admitted = 0;
        while log_in(&world.url, with_port) != 429 {
            admitted += 1;
            // One more every three seconds.
            assert!(admitted <= 1 + begun.elapsed().as_secs() / 3, "{with_port} has log-ins of its own");
        }
    }
    assert_eq!(log_in(&world.url, "[2001:db8:1::1]:4711"), 401);
    wait_until("too many have come", || log_in(&world.url, "198.51.100.3, 198.51.100.1") == 429);
    // Without the option the header is ignored.
    let other = world.another();
    let begun = Instant::now();
    for number in 0.. {
        if log_in(&other.url, &format!("198.51.100.{}", number % 200)) == 429 {
            break;
        }
        assert!(number < 21 + begun.elapsed().as_secs() / 3, "what a client says of itself counts");
    }
}
