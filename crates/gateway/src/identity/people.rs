//! People whom a proxy or an identity provider has authenticated: their names, their groups, and the role of the list.

use axum::http::{HeaderMap, HeaderName, StatusCode};
use serde_json::{Map, Value, json};

use crate::caller::Caller;
use crate::config::{PROXY_GROUPS, PROXY_PERSON, RoleRule, SignOnOptions, texts};
use crate::failure::Failure;

/// Maximum length of a name in bytes: the database's limit for the name of an actor.
pub const MAX_NAME: usize = 200;
/// Maximum length of all groups of a person as JSON in bytes: a session cookie contains them, and browsers drop cookies
/// of more than 4,096 bytes.
const MAX_GROUPS: usize = 1500;

/// The claim that counts only with `email_verified`.
const EMAIL: &str = "email";

/// Whether the database accepts a name as an actor: `role:` is reserved for roles, `erased-` for pseudonyms.
pub fn is_actor(name: &str) -> bool {
    let is_reserved = ["role:", "erased-"].iter().any(|prefix| name.trim().starts_with(prefix));
    name.len() <= MAX_NAME && !is_reserved && !name.chars().any(char::is_control)
}

/// An authenticated person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// The name in the audit, and of tasks for this person.
    pub name: String,
    pub groups: Vec<String>,
    /// The first rule of the list that matches the person's claims.
    pub rule: RoleRule,
}

impl Person {
    /// The person with these claims.
    ///
    /// # Errors
    /// 403 if the claims name no person, or one without a role.
    pub fn of_claims(
        options: &SignOnOptions,
        claims: &Map<String, Value>,
        (person_claim, groups_claim): (&str, &str),
    ) -> Result<Self, Failure> {
        let forbidden = |message: String| Failure::new(StatusCode::FORBIDDEN, message);
        // People may choose an address that is not verified, also that of another person: no rule sees it.
        let mut claims = claims.clone();
        if claims.contains_key(EMAIL) && !is_verified(&claims) {
            claims.remove(EMAIL);
            if person_claim == EMAIL {
                return Err(forbidden("the identity provider has not verified the mail address".into()));
            }
        }
        let name = texts(&claims, person_claim).next().map(str::trim).unwrap_or_default();
        // A group is no person, even if a provider lets people choose such a name.
        if name.is_empty() || !is_actor(name) || name.starts_with("group:") {
            return Err(forbidden(format!("the claim {person_claim} names no person")));
        }
        let groups: Vec<String> = texts(&claims, groups_claim).map(str::to_owned).collect();
        if serde_json::to_string(&groups).map_err(Failure::internal)?.len() > MAX_GROUPS {
            return Err(forbidden(format!("the groups have more than {MAX_GROUPS} bytes as JSON")).hint(
                "The administrator of the identity provider sends only the groups that this application needs.",
            ));
        }
        let rule = options.rule(&claims).cloned().ok_or_else(|| {
            forbidden("nobody has given you a role here".into())
                .hint("The administrator of the gateway names the roles of people with --person-role.")
        })?;
        Ok(Self { name: name.to_owned(), groups, rule })
    }

    /// The person in the headers of a proxy, if there are any.
    ///
    /// # Errors
    /// 400 if the headers are from another address than that of the proxy, or can be read in two ways; 403 as
    /// [`Self::of_claims`].
    pub fn of_proxy(options: &SignOnOptions, headers: &HeaderMap, is_proxy: bool) -> Result<Option<Self>, Failure> {
        let Some(person_header) = &options.proxy_person_header else { return Ok(None) };
        if let Some(forged) = options.proxy_headers().find(|name| !is_proxy && headers.contains_key(*name)) {
            return Err(Failure::bad_request(format!("only the proxy may send the header {forged}")));
        }
        let groups = match &options.proxy_groups_header {
            Some(name) => groups(name, single(headers, name)?.unwrap_or_default(), options.groups_separator())?,
            None => Vec::new(),
        };
        let Some(name) = single(headers, person_header)?.filter(|name| !name.trim().is_empty()) else {
            return Ok(None);
        };
        let claims = json!({ PROXY_PERSON: name, PROXY_GROUPS: groups });
        let claims = claims.as_object().cloned().unwrap_or_default();
        Self::of_claims(options, &claims, (PROXY_PERSON, PROXY_GROUPS)).map(Some)
    }

    /// The caller of a request of this person.
    pub fn into_caller(self) -> Caller {
        Caller { groups: Some(self.groups), ..Caller::of_role(self.rule.role, self.name) }
    }
}

fn is_verified(claims: &Map<String, Value>) -> bool {
    let verified = claims.get("email_verified");
    verified.is_some_and(|verified| verified == &Value::Bool(true) || verified == "true")
}

/// The groups in the text of a header. Proxies join the names of the groups and escape nothing. So quotes are refused:
/// they would be part of a name, or enclose one that contains the separator.
fn groups<'a>(header: &HeaderName, text: &'a str, separator: char) -> Result<Vec<&'a str>, Failure> {
    if text.contains('"') {
        return Err(Failure::bad_request(format!("the header {header} contains quotes"))
            .hint(format!("It must consist of names separated by {separator:?}, which no name contains.")));
    }
    Ok(text.split(separator).map(str::trim).filter(|group| !group.is_empty()).collect())
}

/// The text of a header that may occur once: a client's own beside the proxy's would make it ambiguous.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, Failure> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => std::str::from_utf8(value.as_bytes())
            .map(Some)
            .map_err(|_| Failure::bad_request(format!("the header {name} is no text"))),
        _ => Err(Failure::bad_request(format!("the header {name} occurs twice"))),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        options: SignOnOptions,
    }

    /// The role of these claims, or the reason why there is none.
    fn role(person_claim: &str, claims: Value) -> Result<String, String> {
        let rules = ["wf", "--person-role=email=head@acme.example=heads", "--person-role=groups=finance=clerks"];
        let options = Program::parse_from(rules).options;
        let claims = claims.as_object().cloned().unwrap_or_default();
        let person = Person::of_claims(&options, &claims, (person_claim, "groups"));
        person.map(|person| person.rule.role).map_err(|failure| failure.message)
    }

    #[test]
    fn an_address_that_is_not_verified_gives_neither_a_name_nor_a_role() {
        let of = |claim, verified: Value| {
            let groups = json!(["finance"]);
            role(claim, json!({"sub": "1", "email": "head@acme.example", "email_verified": verified, "groups": groups}))
        };
        assert_eq!(of("sub", json!(true)).as_deref(), Ok("heads"));
        assert_eq!(of("email", json!("true")).as_deref(), Ok("heads"));
        for wrong in [json!(false), json!("false"), json!(1), Value::Null] {
            assert_eq!(of("sub", wrong.clone()).as_deref(), Ok("clerks"));
            assert!(of("email", wrong).unwrap_err().contains("has not verified"));
        }
    }

    #[test]
    fn names_that_stand_for_something_else_are_no_persons() {
        for wrong in [json!("group:board"), json!("role:heads"), json!("erased-1"), json!(" "), json!("a\nb"), json!(7)]
        {
            let refused = role("sub", json!({"sub": wrong, "groups": "finance"})).unwrap_err();
            assert_eq!(refused, "the claim sub names no person");
        }
    }

    #[test]
    fn groups_that_would_not_fit_into_a_cookie_are_refused() {
        let many = vec!["g"; 400];
        assert!(role("sub", json!({"sub": "1", "groups": many})).unwrap_err().contains("1500 bytes"));
    }
}
