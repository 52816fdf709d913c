//! The options for people whom a proxy has authenticated.

use std::fmt;
use std::str::FromStr;

use axum::http::HeaderName;
use clap::Args;
use ipnet::IpNet;
use serde_json::{Map, Value};

/// The claim under which rules find the person that a proxy names, and the one for the person's groups.
pub const PROXY_PERSON: &str = "person";
pub const PROXY_GROUPS: &str = "groups";

/// The options of `wf serve` for the log-in of people.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Log-in of people by a proxy")]
pub struct SignOnOptions {
    /// Database role of the people who have a claim with this value, as groups=finance=clerks; * is any value. The
    /// first rule that matches counts. The claims are person and groups
    #[arg(long, value_name = "CLAIM=VALUE=ROLE")]
    pub person_role: Vec<RoleRule>,

    /// Request header in which a proxy names the person who is logged in there
    #[arg(long, value_name = "NAME")]
    pub proxy_person_header: Option<HeaderName>,

    /// Request header in which the proxy lists the groups of the person, separated by commas
    #[arg(long, value_name = "NAME")]
    pub proxy_groups_header: Option<HeaderName>,

    /// Addresses or networks of the proxies that may send these headers, as 10.0.0.7 or 10.1.0.0/16
    #[arg(long, value_name = "NETWORK", value_delimiter = ',', value_parser = network)]
    pub proxy_address: Vec<IpNet>,
}

/// People who have a value in a claim act as a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleRule {
    claim: String,
    value: String,
    pub role: String,
}

/// A value of a rule that every value equals.
const ANY: &str = "*";

impl RoleRule {
    /// Whether the claim has the value, or is a list that contains it.
    pub fn matches(&self, claims: &Map<String, Value>) -> bool {
        texts(claims, &self.claim).any(|text| self.value == ANY || self.value == text)
    }
}

impl FromStr for RoleRule {
    type Err = String;

    /// Values may contain `=`, as distinguished names do.
    fn from_str(text: &str) -> Result<Self, String> {
        let (claim, rest) = text.split_once('=').unwrap_or_default();
        let (value, role) = rest.rsplit_once('=').unwrap_or_default();
        let [claim, value, role] = [claim, value, role].map(str::trim);
        if [claim, value, role].contains(&"") {
            return Err("write CLAIM=VALUE=ROLE, as groups=finance=clerks".into());
        }
        Ok(Self { claim: claim.into(), value: value.into(), role: role.into() })
    }
}

impl fmt::Display for RoleRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}={}", self.claim, self.value, self.role)
    }
}

/// The texts of a claim: a text, or the texts of a list. The name of a claim inside another one is a path with dots.
fn texts<'a>(claims: &'a Map<String, Value>, claim: &str) -> impl Iterator<Item = &'a str> {
    let nested = || {
        let (first, path) = claim.split_once('.')?;
        path.split('.').try_fold(claims.get(first)?, |value, name| value.get(name))
    };
    let value = claims.get(claim).or_else(nested);
    let list = value.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    value.and_then(Value::as_str).into_iter().chain(list.iter().filter_map(Value::as_str))
}

fn network(text: &str) -> Result<IpNet, String> {
    let address = || text.parse::<std::net::IpAddr>().map(IpNet::from);
    text.parse().or_else(|_| address()).map_err(|_| "write an address, or a network as 10.1.0.0/16".into())
}

impl SignOnOptions {
    /// The first rule that matches the claims of a person.
    pub fn rule(&self, claims: &Map<String, Value>) -> Option<&RoleRule> {
        self.person_role.iter().find(|rule| rule.matches(claims))
    }

    /// Whether anybody but the database says who people are.
    pub fn is_used(&self) -> bool {
        self.proxy_person_header.is_some()
    }

    /// The headers in which a proxy says who the user is.
    pub fn proxy_headers(&self) -> impl Iterator<Item = &HeaderName> {
        self.proxy_person_header.iter().chain(&self.proxy_groups_header)
    }

    /// Describes a combination of options that is contradictory or unsafe.
    pub fn problem(&self) -> Option<String> {
        let given = |is_given: bool, name: &'static str| is_given.then_some(name);
        let of_proxy = given(self.proxy_groups_header.is_some(), "--proxy-groups-header")
            .or(given(!self.proxy_address.is_empty(), "--proxy-address"));
        match (&self.proxy_person_header, of_proxy) {
            (None, Some(option)) => return Some(format!("{option} needs --proxy-person-header")),
            (Some(_), _) if self.proxy_address.is_empty() => {
                let problem =
                    "--proxy-person-header needs --proxy-address: from any other address the header is forged";
                return Some(problem.into());
            }
            _ => {}
        }
        match self.is_used() == self.person_role.is_empty() {
            true if self.is_used() => Some("nobody could log in: name the roles of people with --person-role".into()),
            true => Some("--person-role needs --proxy-person-header".into()),
            false => None,
        }
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

    fn options(arguments: &[&str]) -> SignOnOptions {
        Program::try_parse_from([&["wf"], arguments].concat()).unwrap_or_else(|error| panic!("{error}")).options
    }

    fn claims(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn the_first_rule_that_matches_counts() {
        let rules = [
            "--person-role=groups=CN=finance,OU=it=clerks",
            "--person-role=realm_access.roles=boss=heads",
            "--person-role=https://acme.example/dept=hr=personnel",
            "--person-role=sub=*=staff",
        ];
        let options = options(&rules);
        let role = |value: Value| options.rule(&claims(value)).map(|rule| rule.role.as_str());
        assert_eq!(role(json!({"sub": "1", "groups": ["x", "CN=finance,OU=it"]})), Some("clerks"));
        assert_eq!(role(json!({"sub": "1", "groups": "CN=finance,OU=it"})), Some("clerks"));
        assert_eq!(role(json!({"sub": "1", "realm_access": {"roles": ["boss"]}})), Some("heads"));
        assert_eq!(role(json!({"sub": "1", "https://acme.example/dept": "hr"})), Some("personnel"));
        // The name of a role in a claim is no role.
        assert_eq!(role(json!({"sub": "1", "groups": ["clerks"], "role": "clerks"})), Some("staff"));
        assert_eq!(role(json!({"groups": ["clerks"], "sub": 1})), None);
    }

    #[test]
    fn combinations_that_make_no_sense_are_refused() {
        const RULE: &str = "--person-role=person=*=a";
        const PROXY: [&str; 3] = ["--proxy-person-header=X-User", "--proxy-address=10.0.0.1,10.1.0.0/16", RULE];
        assert_eq!(options(&PROXY).problem(), None);
        assert_eq!(options(&[]).problem(), None);
        for (arguments, said) in [
            (&[RULE][..], "--person-role needs"),
            (&PROXY[..2], "nobody could log in"),
            (&[PROXY[0], RULE], "--proxy-address"),
            (&[PROXY[1]], "--proxy-address needs --proxy-person-header"),
            (&["--proxy-groups-header=X-Groups"], "--proxy-groups-header needs --proxy-person-header"),
        ] {
            let problem = options(arguments).problem().unwrap_or_default();
            assert!(problem.contains(said), "{arguments:?}: {problem}");
        }
        for wrong in ["--person-role=clerks", "--person-role=groups=clerks", "--proxy-address=10.0.0.0/33"] {
            assert!(Program::try_parse_from(["wf", wrong]).is_err(), "{wrong}");
        }
    }
}
