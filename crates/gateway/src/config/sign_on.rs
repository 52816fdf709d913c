//! The options for people whom a proxy or an identity provider has authenticated.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use axum::http::{HeaderName, Uri};
use clap::Args;
use ipnet::IpNet;
use serde_json::{Map, Value};

/// The claim under which rules find the person that a proxy names, and the one for the person's groups.
pub const PROXY_PERSON: &str = "person";
pub const PROXY_GROUPS: &str = "groups";

/// The options of `wf serve` for the log-in of people.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Log-in of people by a proxy or an identity provider")]
pub struct SignOnOptions {
    /// Database role of the people who have a claim with this value, as groups=finance=clerks; * is any value. The
    /// first rule that matches counts. For a proxy the claims are person and groups
    #[arg(long, value_name = "CLAIM=VALUE=ROLE")]
    pub person_role: Vec<RoleRule>,

    /// Request header in which a proxy names the person who is logged in there
    #[arg(long, value_name = "NAME")]
    pub proxy_person_header: Option<HeaderName>,

    /// Request header in which the proxy lists the groups of the person
    #[arg(long, value_name = "NAME")]
    pub proxy_groups_header: Option<HeaderName>,

    /// Character that separates the groups in this header, by default a comma. The name of a group must not contain it
    #[arg(long, value_name = "CHARACTER", value_parser = separator)]
    pub proxy_groups_separator: Option<char>,

    /// Addresses or networks of the proxies that may send these headers, as 10.0.0.7 or 10.1.0.0/16
    #[arg(long, value_name = "NETWORK", value_delimiter = ',', value_parser = network)]
    pub proxy_address: Vec<IpNet>,

    /// Issuer of an OpenID provider at which people log in, as https://login.example.com/realms/acme
    #[arg(long, value_name = "URL")]
    pub oidc_issuer: Option<String>,

    /// Id under which the provider knows the gateway
    #[arg(long, value_name = "ID")]
    pub oidc_client_id: Option<String>,

    /// File with the secret of the gateway at the provider; without it the gateway is a public client
    #[arg(long, value_name = "FILE")]
    pub oidc_client_secret_file: Option<PathBuf>,

    /// Audience of access tokens (JWT) that programs send as bearer tokens; without it none is accepted
    #[arg(long, value_name = "AUDIENCE")]
    pub oidc_audience: Option<String>,

    /// Scopes to request besides openid
    #[arg(long, value_name = "SCOPE", value_delimiter = ',', default_value = "profile,email")]
    pub oidc_scopes: Vec<String>,

    /// Claim that names the person in the audit and in tasks. The provider must never give its value to another person
    #[arg(long, value_name = "CLAIM", default_value = "sub")]
    pub oidc_person_claim: String,

    /// Claim with the groups of the person
    #[arg(long, value_name = "CLAIM", default_value = "groups")]
    pub oidc_groups_claim: String,

    /// Certificates (PEM) of the authorities that the provider's certificate may have, instead of the system's
    #[arg(long, value_name = "FILE")]
    pub oidc_ca: Option<PathBuf>,
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
pub fn texts<'a>(claims: &'a Map<String, Value>, claim: &str) -> impl Iterator<Item = &'a str> {
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

fn separator(text: &str) -> Result<char, String> {
    let character = text.parse().ok().filter(|character: &char| character.is_ascii_punctuation() && *character != '"');
    character.ok_or_else(|| "write one punctuation character, such as , or | or ;".into())
}

impl SignOnOptions {
    /// The first rule that matches the claims of a person.
    pub fn rule(&self, claims: &Map<String, Value>) -> Option<&RoleRule> {
        self.person_role.iter().find(|rule| rule.matches(claims))
    }

    /// Whether the list still has a rule, as text, that gives a role at the identity provider.
    pub fn has_rule(&self, rule: &str, role: &str) -> bool {
        let is_same = |known: &RoleRule| known.role == role && known.to_string() == rule;
        self.oidc_issuer.is_some() && self.person_role.iter().any(is_same)
    }

    /// Whether anybody but the database says who people are.
    pub fn is_used(&self) -> bool {
        self.proxy_person_header.is_some() || self.oidc_issuer.is_some()
    }

    /// The headers in which a proxy says who the user is.
    pub fn proxy_headers(&self) -> impl Iterator<Item = &HeaderName> {
        self.proxy_person_header.iter().chain(&self.proxy_groups_header)
    }

    /// The character that separates the groups in the proxy's header.
    pub fn groups_separator(&self) -> char {
        self.proxy_groups_separator.unwrap_or(',')
    }

    /// Describes a combination of options that is contradictory or unsafe.
    pub fn problem(&self) -> Option<String> {
        let given = |is_given: bool, name: &'static str| is_given.then_some(name);
        let of_proxy = given(self.proxy_groups_header.is_some(), "--proxy-groups-header")
            .or(given(self.proxy_groups_separator.is_some(), "--proxy-groups-separator"))
            .or(given(!self.proxy_address.is_empty(), "--proxy-address"));
        let of_oidc = given(self.oidc_client_id.is_some(), "--oidc-client-id")
            .or(given(self.oidc_client_secret_file.is_some(), "--oidc-client-secret-file"))
            .or(given(self.oidc_audience.is_some(), "--oidc-audience"))
            .or(given(self.oidc_ca.is_some(), "--oidc-ca"));
        match (&self.proxy_person_header, of_proxy) {
            (None, Some(option)) => return Some(format!("{option} needs --proxy-person-header")),
            (Some(_), _) if self.proxy_address.is_empty() => {
                let problem =
                    "--proxy-person-header needs --proxy-address: from any other address the header is forged";
                return Some(problem.into());
            }
            (Some(_), _) if self.proxy_groups_separator.is_some() && self.proxy_groups_header.is_none() => {
                return Some("--proxy-groups-separator needs --proxy-groups-header".into());
            }
            (Some(_), _) if self.oidc_issuer.is_none() => {
                if let Some(problem) = self.person_role.iter().find_map(|rule| self.problem_of_proxy_rule(rule)) {
                    return Some(problem);
                }
            }
            _ => {}
        }
        match (&self.oidc_issuer, of_oidc) {
            (None, Some(option)) => return Some(format!("{option} needs --oidc-issuer")),
            (Some(issuer), _) => {
                if let Some(problem) = self.problem_of_oidc(issuer) {
                    return Some(problem);
                }
            }
            _ => {}
        }
        match self.is_used() == self.person_role.is_empty() {
            true if self.is_used() => Some("nobody could log in: name the roles of people with --person-role".into()),
            true => Some("--person-role needs --oidc-issuer or --proxy-person-header".into()),
            false => None,
        }
    }

    /// Why a rule matches nobody whom a proxy names.
    fn problem_of_proxy_rule(&self, rule: &RoleRule) -> Option<String> {
        let separator = self.groups_separator();
        let why = match rule.claim.as_str() {
            PROXY_PERSON => return None,
            PROXY_GROUPS if self.proxy_groups_header.is_none() => "there is no --proxy-groups-header".to_owned(),
            PROXY_GROUPS if rule.value.contains(separator) && rule.value != ANY => {
                format!("{separator:?} separates the groups in the header; see --proxy-groups-separator")
            }
            PROXY_GROUPS if rule.value.contains('"') => "a header with quotes is refused".to_owned(),
            PROXY_GROUPS => return None,
            _ => "the claims of a proxy are person and groups".to_owned(),
        };
        Some(format!("--person-role {rule} would match nobody: {why}"))
    }

    fn problem_of_oidc(&self, issuer: &str) -> Option<String> {
        let url: Option<Uri> = issuer.parse().ok();
        let host = url.as_ref().and_then(Uri::host).unwrap_or_default();
        let is_local = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
        match url.as_ref().and_then(Uri::scheme_str) {
            Some("https") => {}
            Some("http") if is_local => {}
            _ => return Some("--oidc-issuer must be an https:// URL: tokens would be readable on the way".into()),
        }
        if self.oidc_client_id.is_none() {
            return Some("--oidc-issuer needs --oidc-client-id".into());
        }
        if self.oidc_audience.is_some() && self.oidc_audience == self.oidc_client_id {
            let problem = "--oidc-audience must differ from --oidc-client-id: it tells access tokens from ID tokens";
            return Some(problem.into());
        }
        None
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
        const OIDC: &[&str] = &["--oidc-issuer=https://login.example", "--oidc-client-id=wf", "--person-role=sub=*=a"];
        const PROXY: &[&str] = &["--proxy-person-header=X-User", "--proxy-address=10.0.0.1"];
        const DN: &str = "--person-role=groups=CN=it,OU=acme=a";
        assert_eq!(options(OIDC).problem(), None);
        let of_groups = [PROXY, &["--proxy-groups-header=X-Groups", "--proxy-groups-separator=|", DN]].concat();
        assert_eq!(options(&of_groups).problem(), None);
        // An identity provider can have claims and groups that a header cannot contain.
        assert_eq!(options(&[PROXY, OIDC, &[DN, "--person-role=groups=a\"b=a"]].concat()).problem(), None);
        assert_eq!(options(&[]).problem(), None);
        for (arguments, said) in [
            (&["--person-role=sub=*=a"][..], "--person-role needs"),
            (&OIDC[..2], "nobody could log in"),
            (&[OIDC[0], OIDC[2]], "--oidc-client-id"),
            (&[OIDC[1]], "--oidc-client-id needs --oidc-issuer"),
            (&["--oidc-issuer=http://login.example", OIDC[1], OIDC[2]], "https://"),
            (&[OIDC[0], OIDC[1], OIDC[2], "--oidc-audience=wf"], "must differ"),
            (&["--proxy-person-header=X-User", OIDC[2]], "--proxy-address"),
            (&["--proxy-address=10.0.0.1"], "--proxy-address needs --proxy-person-header"),
            (&["--proxy-groups-separator=|"], "--proxy-groups-separator needs --proxy-person-header"),
            (&[PROXY, &["--proxy-groups-separator=|", "--person-role=person=*=a"]].concat(), "--proxy-groups-header"),
            (&[PROXY, &["--person-role=groups=finance=a"]].concat(), "there is no --proxy-groups-header"),
            (&[PROXY, &["--proxy-groups-header=X-Groups", DN]].concat(), "',' separates the groups"),
            (
                &[PROXY, &["--proxy-groups-header=X-Groups", "--person-role=groups=a\"b=a"]].concat(),
                "a header with quotes is refused",
            ),
            (&[PROXY, &["--person-role=email=*=a"]].concat(), "the claims of a proxy are person and groups"),
        ] {
            let problem = options(arguments).problem().unwrap_or_default();
            assert!(problem.contains(said), "{arguments:?}: {problem}");
        }
        let separators = ["", "::", "x", " ", "\""].map(|text| format!("--proxy-groups-separator={text}"));
        let values = ["--person-role=clerks", "--person-role=groups=clerks", "--proxy-address=10.0.0.0/33"];
        for wrong in values.into_iter().chain(separators.iter().map(String::as_str)) {
            assert!(Program::try_parse_from(["wf", wrong]).is_err(), "{wrong}");
        }
    }
}
