//! Positions in the Studio for activities that have none: otherwise a definition made by SQL would be drawn on one
//! point.
//!
//! Elsa's form is read as the Studio reads it: whatever has activities and connections is a flowchart. Existing
//! positions are kept, and new ones are below them.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::layout;

/// The space for an activity: its box in the Studio, and the names of its ports beside it.
const ROOM: (f64, f64) = (250.0, 100.0);
/// Space between existing and new positions.
const BELOW: f64 = 50.0;

/// Members of an activity that contain no activities, whatever a user's value in them looks like.
const CLOSED: [&str; 3] = ["expression", "metadata", "customProperties"];

/// Gives every activity of a flowchart a position, in layers from left to right, unless it has one.
pub fn arrange(document: &mut Value) {
    let mut work: Vec<&mut Value> = document.get_mut("root").into_iter().collect();
    while let Some(value) = work.pop() {
        match value {
            Value::Object(members) => {
                flowchart(members);
                let open = members.iter_mut().filter(|(name, _)| !CLOSED.contains(&name.as_str()));
                work.extend(open.map(|(_, value)| value));
            }
            Value::Array(items) => work.extend(items),
            _ => {}
        }
    }
}

fn flowchart(members: &mut Map<String, Value>) {
    let arrows = match members.get("connections") {
        Some(Value::Array(connections)) => connections.iter().filter_map(ends).collect::<Vec<_>>(),
        _ => return,
    };
    let start = members.get("start").and_then(Value::as_str).map(str::to_owned);
    let Some(Value::Array(activities)) = members.get_mut("activities") else { return };
    let mut missing: Vec<&mut Map<String, Value>> = Vec::new();
    let (mut left, mut bottom) = (f64::MAX, f64::MIN);
    for activity in activities {
        let Value::Object(activity) = activity else { continue };
        match position(activity) {
            Some((x, y)) => (left, bottom) = (left.min(x), bottom.max(y + ROOM.1)),
            None => missing.push(activity),
        }
    }
    let (left, top) = if left == f64::MAX { (0.0, 0.0) } else { (left, bottom + BELOW) };
    let ids: HashMap<&str, usize> =
        missing.iter().enumerate().filter_map(|(ix, activity)| Some((activity.get("id")?.as_str()?, ix))).collect();
    let arrows = arrows.iter().filter_map(|(source, target)| Some((*ids.get(&**source)?, *ids.get(&**target)?)));
    let corners = layout::sideways(ROOM, missing.len(), arrows.collect(), start.and_then(|id| ids.get(&*id).copied()));
    for (activity, (x, y)) in missing.into_iter().zip(corners) {
        set_position(activity, (x + left).round(), (y + top).round());
    }
}

/// The activities that a connection joins.
fn ends(connection: &Value) -> Option<(String, String)> {
    let end = |name: &str| Some(connection.get(name)?.get("activity")?.as_str()?.to_owned());
    Some((end("source")?, end("target")?))
}

/// The position of an activity. One that cannot be read counts as a position somewhere.
fn position(activity: &Map<String, Value>) -> Option<(f64, f64)> {
    let position = activity.get("metadata")?.get("designer")?.get("position").filter(|given| !given.is_null())?;
    let number = |name: &str| position.get(name).and_then(Value::as_f64).filter(|at| at.abs() < f64::from(i32::MAX));
    Some((number("x").unwrap_or_default(), number("y").unwrap_or_default()))
}

/// Sets the position, unless a value that must be an object is none.
fn set_position(activity: &mut Map<String, Value>, x: f64, y: f64) {
    let mut object = activity;
    for name in ["metadata", "designer"] {
        let inner = object.entry(name).or_insert(Value::Null);
        if inner.is_null() {
            *inner = json!({});
        }
        let Value::Object(inner) = inner else { return };
        object = inner;
    }
    // Whole numbers, which JSON writes without a point.
    object.insert("position".into(), json!({"x": x as i64, "y": y as i64}));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions_in(document: &Value) -> Vec<Option<(f64, f64)>> {
        let mut document = document.clone();
        arrange(&mut document);
        let activities = document["root"]["activities"].as_array().unwrap();
        activities.iter().map(|activity| position(activity.as_object().unwrap())).collect()
    }

    fn flow(activities: &[Value], connections: &[(&str, &str)]) -> Value {
        let end = |id: &str| json!({"activity": id, "port": "Done"});
        let connections: Vec<Value> =
            connections.iter().map(|(source, target)| json!({"source": end(source), "target": end(target)})).collect();
        json!({"root": {"type": "Elsa.Flowchart", "id": "f", "activities": activities, "connections": connections}})
    }

    fn assert_apart(positions: &[Option<(f64, f64)>]) {
        let positions: Vec<(f64, f64)> = positions.iter().map(|position| position.unwrap()).collect();
        for (ix, a) in positions.iter().enumerate() {
            for b in &positions[ix + 1..] {
                assert!((a.0 - b.0).abs() >= ROOM.0 || (a.1 - b.1).abs() >= ROOM.1, "{a:?} is on {b:?}");
            }
        }
    }

    #[test]
    fn a_flow_goes_from_left_to_right_by_its_longest_path() {
        let ids = ["d", "a", "b", "c"].map(|id| json!({"id": id, "type": "Elsa.WriteLine"}));
        let positions = positions_in(&flow(&ids, &[("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")]));
        assert_apart(&positions);
        let x = |ix: usize| positions[ix].unwrap().0;
        assert!(x(1) < x(2) && x(2) < x(3) && x(3) < x(0), "{positions:?}");
        assert_eq!(positions, positions_in(&flow(&ids, &[("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")])));
    }

    #[test]
    fn a_cycle_and_a_start_in_it() {
        let ids = ["a", "b", "c"].map(|id| json!({"id": id}));
        let mut document = flow(&ids, &[("a", "b"), ("b", "c"), ("c", "a"), ("c", "c"), ("c", "nobody")]);
        document["root"]["start"] = json!("b");
        let positions = positions_in(&document);
        assert_apart(&positions);
        let x = |ix: usize| positions[ix].unwrap().0;
        assert!(x(1) < x(2) && x(2) < x(0), "{positions:?}");
    }

    #[test]
    fn what_has_a_position_keeps_it_and_the_others_stand_below() {
        let at = |id: &str, position: Value| json!({"id": id, "metadata": {"designer": {"position": position, "size": {"width": 7}}, "note": 1}});
        let given = [
            at("a", json!({"x": -40.5, "y": 300})),
            json!({"id": "b"}),
            at("c", Value::Null),
            at("d", json!({"x": 500, "y": 1000})),
        ];
        let document = flow(&given, &[("a", "b"), ("b", "c")]);
        let positions = positions_in(&document);
        assert_apart(&positions);
        assert_eq!((positions[0], positions[3]), (Some((-40.5, 300.0)), Some((500.0, 1000.0))));
        assert!(
            positions[1].unwrap().1 > 1000.0 + ROOM.1 && positions[2].unwrap().1 > 1000.0 + ROOM.1,
            "{positions:?}"
        );
        let mut arranged = document;
        arrange(&mut arranged);
        assert_eq!(arranged["root"]["activities"][2]["metadata"]["note"], 1);
        assert_eq!(arranged["root"]["activities"][2]["metadata"]["designer"]["size"], json!({"width": 7}));
        let again = arranged.clone();
        arrange(&mut arranged);
        assert_eq!(arranged, again);
    }

    #[test]
    fn flowcharts_inside_others_are_arranged_and_nothing_else_is_touched() {
        let inner = json!({"id": "i", "type": "Elsa.If", "then": flow(&[json!({"id": "x"}), json!({"id": "y"})], &[("x", "y")])["root"]});
        let mut document = flow(&[inner], &[]);
        arrange(&mut document);
        assert!(document.pointer("/root/activities/0/then/activities/1/metadata/designer/position/x").is_some());
        let value = json!({"activities": [{"id": "a"}], "connections": []});
        for untouched in [
            json!({"root": {"type": "Elsa.RunTask", "payload": {"expression": {"type": "Object", "value": value.clone()}},
                "metadata": value.clone(), "customProperties": {"retry": value.clone()}}, "variables": [{"value": value}]}),
            json!({"root": {"type": "Elsa.Sequence", "activities": [{"id": "a"}]}}),
            json!({"root": {"activities": {"a": 1}, "connections": []}}),
            json!({"root": {"activities": [1, {"id": "a", "metadata": 7}, {"id": "b", "metadata": {"designer": []}}], "connections": [7]}}),
            json!([]),
        ] {
            let mut after = untouched.clone();
            arrange(&mut after);
            assert_eq!(after, untouched);
        }
    }

    #[test]
    fn many_activities_take_no_time() {
        let ids: Vec<String> = (0..5_000).map(|ix| format!("a{ix}")).collect();
        let activities: Vec<Value> = ids.iter().map(|id| json!({"id": id})).collect();
        let connections: Vec<(&str, &str)> = ids.windows(2).map(|pair| (&*pair[0], &*pair[1])).collect();
        let positions = positions_in(&flow(&activities, &connections));
        let columns: std::collections::BTreeSet<i64> =
            positions.iter().map(|position| position.unwrap().0 as i64).collect();
        assert_eq!(columns.len(), 5_000);
    }
}
