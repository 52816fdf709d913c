//! Appearance of a definition: members that the Studio stores for display and a burst never reads.

use serde_json::{Map, Value};

use super::json::{member, text};
use super::outline::Outline;
use super::problem::Problems;
use super::{ActivityTypes, ReadLimits};
use workflow_core::program::Program;

/// Maximum distance of a position from the origin, and the range of a box's sides.
const MAX_POSITION: f64 = 100_000.0;
const SIZES: std::ops::RangeInclusive<f64> = 24.0..=2_000.0;

/// The display settings of an activity in the Studio; a missing one is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Appearance {
    /// The displayed name.
    pub title: Option<String>,
    /// Text about it, which a tooltip shows.
    pub description: Option<String>,
    /// Position of its upper left corner in the Studio.
    pub position: Option<(f64, f64)>,
    /// Width and height in the Studio.
    pub size: Option<(f64, f64)>,
}

/// Appearance of a program's nodes, from the document that it was compiled from. Nodes of inlined workflows have none.
///
/// Invalid members count as missing, because only a diagram depends on them.
pub fn appearances(
    document: &Value,
    types: &dyn ActivityTypes,
    limits: &ReadLimits,
    program: &Program,
) -> Vec<Appearance> {
    let mut looks = vec![Appearance::default(); program.nodes.len()];
    let Value::Object(members) = document else {
        return looks;
    };
    let outline = Outline::read(members, types, limits, true, &mut Problems::default());
    let keys = outline.activities.iter().map(|raw| (raw.parent.map(|parent| parent as u32), raw.id.as_str()));
    for (raw, node) in outline.activities.iter().zip(program.find_each(keys)) {
        if let (Some(members), Some(node)) = (raw.members(), node) {
            looks[node.0 as usize] = appearance(members);
        }
    }
    looks
}

fn appearance(members: &Map<String, Value>) -> Appearance {
    let metadata = object(members, "metadata");
    let designer = metadata.and_then(|metadata| object(metadata, "designer"));
    let pair = |name, a, b| {
        let pair = designer.and_then(|designer| object(designer, name))?;
        Some((number(pair, a)?, number(pair, b)?))
    };
    let words = |names: &[&str]| {
        let objects = [metadata, Some(members)];
        let found = objects.iter().flatten().flat_map(|object| names.iter().filter_map(|name| text(object, name)));
        found.map(str::trim).find(|text| !text.is_empty()).map(str::to_owned)
    };
    Appearance {
        title: words(&["displayText", "displayName", "title"]),
        description: words(&["description"]),
        position: pair("position", "x", "y").filter(|(x, y)| x.abs() <= MAX_POSITION && y.abs() <= MAX_POSITION),
        size: pair("size", "width", "height").filter(|(width, height)| SIZES.contains(width) && SIZES.contains(height)),
    }
}

fn object<'d>(members: &'d Map<String, Value>, name: &str) -> Option<&'d Map<String, Value>> {
    member(members, name)?.as_object()
}

fn number(members: &Map<String, Value>, name: &str) -> Option<f64> {
    member(members, name)?.as_f64()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::compile;

    #[test]
    fn titles_and_positions_are_found_and_nonsense_is_not_there() {
        let document = json!({"root": {"type": "Flowchart", "activities": [
            {"type": "WriteLine", "text": "a", "displayName": "Say it",
             "metadata": {"designer": {"position": {"x": -4.5, "y": 7}, "size": {"width": 100, "height": 50}}}},
            {"type": "WriteLine", "text": "b", "metadata": {"displayText": "First", "description": "why",
             "designer": {"position": {"x": 1e300, "y": 7}, "size": {"width": 0, "height": 50}}}},
            {"type": "WriteLine", "text": "c", "metadata": "none"}]}});
        let limits = ReadLimits::default();
        let line = |text: &str| json!({"type": "WriteLine", "text": text});
        let plain = json!({"definitionId": "p", "root": {"type": "Flowchart", "activities": [line("a"), line("b"), line("c")]}});
        let program = compile(&plain, &(), &limits, false).unwrap();
        let found = appearances(&document, &(), &limits, &program);
        assert_eq!(found.len(), 4);
        assert_eq!(found[1].title.as_deref(), Some("Say it"));
        assert_eq!((found[1].position, found[1].size), (Some((-4.5, 7.0)), Some((100.0, 50.0))));
        assert_eq!((found[2].title.as_deref(), found[2].description.as_deref()), (Some("First"), Some("why")));
        assert_eq!((found[2].position, found[2].size), (None, None));
        assert_eq!(found[3], Appearance::default());
        assert!(appearances(&json!([]), &(), &limits, &program).iter().all(|look| *look == Appearance::default()));
    }
}
