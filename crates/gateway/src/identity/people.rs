//! People whom a proxy has authenticated: their names, their groups, and the role of the list.

use axum::http::{HeaderMap, HeaderName, StatusCode};
use serde_json::json;

use crate::caller::Caller;
use crate::config::{PROXY_GROUPS, PROXY_PERSON, SignOnOptions};
use crate::failure::Failure;

/// Maximum length of a name in bytes: the database's limit for the name of an actor.
pub const MAX_NAME: usize = 200;
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
    /// The role of the first rule of the list that matches.
    pub role: String,
}

impl Person {
    /// The person with a name and groups.
    ///
    /// # Errors
    /// 403 if it is no name of a person, or no rule gives a role.
    fn new(options: &SignOnOptions, name: &str, groups: &[&str]) -> Result<Self, Failure> {
        let forbidden = |message: &str| Failure::new(StatusCode::FORBIDDEN, message);
        let name = name.trim();
        // A group is no person, even if people can choose such a name.
        if !is_actor(name) || name.starts_with("group:") {
            return Err(forbidden("the proxy names no person"));
        }
        let claims = json!({ PROXY_PERSON: name, PROXY_GROUPS: groups });
        let rule = claims.as_object().and_then(|claims| options.rule(claims)).ok_or_else(|| {
            forbidden("nobody has given you a role here")
                .hint("The administrator of the gateway names the roles of people with --person-role.")
        })?;
        let groups = groups.iter().map(|group| (*group).to_owned()).collect();
        Ok(Self { name: name.to_owned(), groups, role: rule.role.clone() })
    }

    /// The person in the headers of a proxy, if there are any.
    ///
    /// # Errors
    /// 400 if the headers are from anybody but the proxy, or occur twice; 403 as [`Self::new`].
    pub fn of_proxy(options: &SignOnOptions, headers: &HeaderMap, is_proxy: bool) -> Result<Option<Self>, Failure> {
        let Some(person_header) = &options.proxy_person_header else { return Ok(None) };
        if let Some(forged) = options.proxy_headers().find(|name| !is_proxy && headers.contains_key(*name)) {
            return Err(Failure::bad_request(format!("only the proxy may send the header {forged}")));
        }
        let groups = match &options.proxy_groups_header {
            Some(name) => single(headers, name)?.unwrap_or_default(),
            None => "",
        };
        let Some(name) = single(headers, person_header)?.filter(|name| !name.trim().is_empty()) else {
            return Ok(None);
        };
        let groups: Vec<&str> = groups.split(',').map(str::trim).filter(|group| !group.is_empty()).collect();
        Self::new(options, name, &groups).map(Some)
    }

    /// The caller of a request of this person.
    pub fn into_caller(self) -> Caller {
        Caller { groups: Some(self.groups), ..Caller::of_role(self.role, self.name) }
    }
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
