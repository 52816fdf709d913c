//! Chooses the routes of a request.

use super::request::Request;
use super::route::Route;
use crate::stimulus;
use serde_json::json;

/// The stored routes that answer a request.
#[derive(Debug, PartialEq, Eq)]
pub enum Choice {
    /// No route matches the path.
    NotFound,
    /// The path matches routes of other methods: these, in upper case.
    MethodNotAllowed(Vec<String>),
    /// Hashes of the matching routes, in groups of equal rank, the most specific group first.
    Routes(Vec<Vec<[u8; 32]>>),
}

/// Chooses among candidate routes from the index, some of which may not match.
pub fn choose(request: &Request, keys: &[String]) -> Choice {
    let mut routes: Vec<Route> = keys.iter().filter_map(|key| Route::read(key)).collect();
    routes.retain(|route| route.matches(&request.segments).is_some());
    routes.sort_by(Route::precedence);
    if routes.is_empty() {
        return Choice::NotFound;
    }
    let method = request.method.to_ascii_lowercase();
    let (meant, others): (Vec<Route>, Vec<Route>) = routes.into_iter().partition(|route| route.method() == method);
    if meant.is_empty() {
        let mut methods: Vec<String> = others.iter().map(|route| route.method().to_ascii_uppercase()).collect();
        methods.sort();
        methods.dedup();
        return Choice::MethodNotAllowed(methods);
    }
    let mut groups: Vec<(Route, Vec<[u8; 32]>)> = Vec::new();
    for route in meant {
        let hash = hash(&route);
        match groups.last_mut().filter(|(first, _)| first.precedence(&route).is_eq()) {
            // Routes whose paths differ only in letter case are the same endpoint.
            Some((_, hashes)) if hashes.contains(&hash) => {}
            Some((_, hashes)) => hashes.push(hash),
            None => groups.push((route, vec![hash])),
        }
    }
    Choice::Routes(groups.into_iter().map(|(_, hashes)| hashes).collect())
}

/// The hash of a route's stimulus, the same as in Elsa.
fn hash(route: &Route) -> [u8; 32] {
    let payload = json!({ "Path": route.path(), "Method": route.method() });
    stimulus::hash(stimulus::HTTP_ENDPOINT.name, Some(&payload), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(template: &str, method: &str) -> String {
        Route::new(template, method).expect(template).key()
    }

    fn chosen(method: &str, path: &str, keys: &[String]) -> Choice {
        choose(&Request::plain(method, path), keys)
    }

    fn of(template: &str, method: &str) -> [u8; 32] {
        hash(&Route::new(template, method).expect(template))
    }

    #[test]
    fn the_most_special_route_of_the_method_is_meant_first() {
        let keys =
            [key("orders/{id}", "get"), key("orders/new", "get"), key("{*all}", "get"), key("orders/new", "post")];
        assert_eq!(
            chosen("GET", "/Orders/New", &keys),
            Choice::Routes(vec![
                vec![of("orders/new", "get")],
                vec![of("orders/{id}", "get")],
                vec![of("{*all}", "get")]
            ])
        );
        assert_eq!(chosen("post", "/orders/new/", &keys), Choice::Routes(vec![vec![of("orders/new", "post")]]));
    }

    #[test]
    fn routes_of_equal_rank_stand_side_by_side_and_letters_do_not_count() {
        let keys = [key("a/{x}", "get"), key("a/{y}", "get"), key("A/{X}", "get")];
        let Choice::Routes(groups) = chosen("GET", "/a/1", &keys) else { panic!("routes") };
        assert_eq!(groups.len(), 1);
        assert_eq!(groups[0].len(), 2);
    }

    #[test]
    fn another_method_is_told_from_another_path() {
        let keys = [key("orders/{id}", "put"), key("orders/{id:int}", "delete"), key("x", "get")];
        assert_eq!(chosen("GET", "/orders/7", &keys), Choice::MethodNotAllowed(vec!["DELETE".into(), "PUT".into()]));
        assert_eq!(chosen("GET", "/orders", &keys), Choice::NotFound);
    }

    #[test]
    fn the_hash_is_elsas() {
        use sha2::{Digest, Sha256};
        let expected: [u8; 32] = Sha256::digest(br#"Elsa.HttpEndpoint|{"Path":"/orders/{id}","Method":"get"}"#).into();
        assert_eq!(of("Orders/{Id}/", "GET"), expected);
    }
}
