//! The list of instances: the newest 10,000 that a filter selects, as `workflow.instance_page` orders and counts them.

use axum::extract::State;
use serde_json::{Map, Value, json};

use super::{sub_status, summary};
use crate::caller::Caller;
use crate::failure::Failure;
use crate::gateway::App;
use crate::json::{Body, JsonText};
use crate::parameters;
use crate::routing::Routes;

/// Default page size, and the largest.
const LARGEST: i32 = 1000;
/// A sub-status that exists only in Elsa; no instance has it.
const UNUSED_SUB_STATUS: &str = "Interrupted";

/// The filters that a client may use, by Elsa's names.
const CONDITIONS: [&str; 12] = [
    "searchTerm",
    "name",
    "definitionId",
    "definitionIds",
    "correlationId",
    "version",
    "hasIncidents",
    "isSystem",
    "status",
    "statuses",
    "subStatus",
    "subStatuses",
];

pub fn routes() -> Routes {
    Routes::new().post("/workflow-instances", list)
}

async fn list(State(app): State<App>, caller: Caller, Body(request): Body<Value>) -> Result<JsonText, Failure> {
    let request = ListRequest::read(request)?;
    if request.matches_nothing {
        return Ok(JsonText(json!({"items": [], "totalCount": 0}).to_string()));
    }
    let values = parameters![
        Value::Object(request.filter).to_string(),
        request.order,
        request.is_descending,
        request.page,
        request.size
    ];
    let found = app.database.read_json(&caller, PAGE, values).await?;
    found.map(JsonText).ok_or_else(|| Failure::internal("a page without a row"))
}

/// A page of the instances that match a filter, in an order.
#[derive(Debug, PartialEq)]
struct ListRequest {
    filter: Map<String, Value>,
    /// The filter matches only the sub-status that no instance has.
    matches_nothing: bool,
    order: String,
    is_descending: bool,
    page: i32,
    size: i32,
}

impl ListRequest {
    /// Parses the body of Elsa's clients, which send null, an empty text or an empty list for filters that the user
    /// left open.
    fn read(body: Value) -> Result<Self, Failure> {
        let members = match body {
            Value::Object(members) => members,
            Value::Null => Map::new(),
            _ => return Err(Failure::bad_request("the body must be an object")),
        };
        let given = |name: &str| {
            let found = members.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value).filter(|value| !is_blank(value))
        };
        let mut filter = conditions(given);
        let matches_nothing =
            ["subStatus", "subStatuses"].iter().any(|name| remove_unused_sub_status(&mut filter, name));
        if let Some(times) = given("timestampFilters") {
            filter.insert("timestampFilters".into(), times.clone());
        }
        let order = given("orderBy").map(|order| text("orderBy", order)).transpose()?;
        let is_descending = match given("orderDirection").map(|order| text("orderDirection", order)).transpose()? {
            None => order.is_none(),
            Some(way) if way.eq_ignore_ascii_case("Descending") => true,
            Some(way) if way.eq_ignore_ascii_case("Ascending") => false,
            Some(way) => {
                return Err(Failure::bad_request(format!("orderDirection must be Ascending or Descending, not {way}")));
            }
        };
        let page = given("page").map_or(Ok(0), |page| number("page", page, 0, i32::MAX))?;
        let size = given("pageSize").map_or(Ok(LARGEST), |size| number("pageSize", size, 1, LARGEST))?;
        let order = order.unwrap_or("Created").to_owned();
        Ok(Self { filter, matches_nothing, order, is_descending, page, size })
    }
}

fn conditions<'a>(given: impl Fn(&str) -> Option<&'a Value>) -> Map<String, Value> {
    CONDITIONS.iter().filter_map(|name| Some(((*name).to_owned(), given(name)?.clone()))).collect()
}

pub fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        _ => false,
    }
}

/// Removes the sub-status that no instance has from a condition. Returns whether the condition contained nothing else.
fn remove_unused_sub_status(filter: &mut Map<String, Value>, name: &str) -> bool {
    match filter.get_mut(name) {
        Some(Value::Array(list)) => {
            list.retain(|one| one != UNUSED_SUB_STATUS);
            list.is_empty()
        }
        Some(one) => one == UNUSED_SUB_STATUS,
        None => false,
    }
}

fn text<'a>(name: &str, value: &'a Value) -> Result<&'a str, Failure> {
    value.as_str().ok_or_else(|| Failure::bad_request(format!("{name} must be a text")))
}

fn number(name: &str, value: &Value, least: i32, most: i32) -> Result<i32, Failure> {
    let number =
        value.as_i64().and_then(|number| i32::try_from(number).ok()).filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| Failure::bad_request(format!("{name} must be a number from {least} to {most}, not {value}")))
}

/// Past the last page there is no row that contains the total.
const PAGE: &str = concat!(
    "SELECT pg_catalog.jsonb_build_object('totalCount', COALESCE(pg_catalog.max(i.total_count), \
         (SELECT c.total_count FROM workflow.instance_count($1::pg_catalog.jsonb) c)), \
         'items', COALESCE(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(",
    summary!(),
    ") ORDER BY i.ordinality), '[]'))::pg_catalog.text \
     FROM workflow.instance_page($1::pg_catalog.jsonb, order_by => $2, descending => $3, page => $4, page_size => $5) \
         WITH ORDINALITY AS i"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_user_left_open_is_no_condition() {
        let sent = json!({"page": 2, "pageSize": 10, "searchTerm": "", "definitionIds": [], "version": null,
            "hasIncidents": false, "subStatuses": ["Faulted", "Interrupted"], "orderBy": "Name", "tenantId": "x"});
        let read = ListRequest::read(sent).unwrap();
        assert_eq!(Value::Object(read.filter), json!({"hasIncidents": false, "subStatuses": ["Faulted"]}));
        assert_eq!((read.page, read.size, read.order.as_str(), read.is_descending), (2, 10, "Name", false));
        assert!(!read.matches_nothing);
        assert!(ListRequest::read(json!({"SubStatus": "Interrupted"})).unwrap().matches_nothing);
        let empty = ListRequest::read(Value::Null).unwrap();
        assert_eq!((empty.filter.len(), empty.order.as_str(), empty.is_descending), (0, "Created", true));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for wrong in [
            json!([]),
            json!({"page": -1}),
            json!({"pageSize": 0}),
            json!({"pageSize": 1e9}),
            json!({"page": "1"}),
            json!({"orderDirection": "Sideways"}),
            json!({"orderBy": 3}),
        ] {
            assert!(ListRequest::read(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
