//! The layout of the Studio: boxes keep their positions in the Studio, and this module finds the routes of the arrows.

use super::Area;
use super::graph::{Arrow, ArrowRoute, FrameLayout, Graph};
use super::route::simplified;

/// Minimum space between two boxes. With less, the frame is laid out in layers.
const APART: f64 = 6.0;
/// Space between a route and the boxes that it goes around.
const AROUND: f64 = 22.0;
/// Maximum number of boxes. A frame with more is laid out in layers.
const MAX_BOXES: usize = 2_000;
/// Maximum number of tests, per frame, whether a route runs through a box. Beyond it an arrow takes the best route so
/// far, or its first.
const MAX_CHECKS: usize = 2_000_000;

/// Factors by which the layout may be stretched so that boxes get the space that their texts need.
const STRETCHES: [f64; 12] = [1.0, 1.07, 1.14, 1.21, 1.28, 1.35, 1.45, 1.55, 1.7, 1.9, 2.2, 2.6];
/// Wanted space beside and under a box, and beside a label.
const ROOMY: (f64, f64) = (32.0, 14.0);
const BESIDE_LABEL: f64 = 16.0;
/// Boxes whose middles differ by less than this are aligned.
const IN_LINE: f64 = 15.0;

/// Keeps the positions of the Studio; `None` if boxes would overlap.
pub fn layout(graph: &Graph) -> Option<FrameLayout> {
    if graph.sizes.len() > MAX_BOXES {
        return None;
    }
    let boxes = boxes(graph)?;
    let mut checks = MAX_CHECKS;
    let routes: Vec<Vec<(f64, f64)>> = graph.arrows.iter().map(|arrow| route(arrow, &boxes, &mut checks)).collect();
    let mut taken = boxes.clone();
    let mut labels = Vec::with_capacity(routes.len());
    for (ix, arrow) in graph.arrows.iter().enumerate() {
        let label = arrow.label.map(|size| label(size, ix, &routes, &taken, &mut checks));
        taken.extend(label);
        labels.push(label);
    }
    let routes = routes.into_iter().zip(labels).map(|(points, label)| ArrowRoute { points, label }).collect();
    Some(moved_home(boxes, routes))
}

/// Boxes as large as their texts require, around the middles of the Studio's boxes, stretched apart if needed.
fn boxes(graph: &Graph) -> Option<Vec<Area>> {
    let mut middles = Vec::with_capacity(graph.sizes.len());
    for (given, size) in graph.given.iter().zip(&graph.sizes) {
        middles.push(given.map(|given| {
            let (width, height) = given.size.unwrap_or(*size);
            (given.corner.0 + width / 2.0, given.corner.1 + height / 2.0)
        }));
    }
    line_up(&mut middles, |middle| &mut middle.0);
    line_up(&mut middles, |middle| &mut middle.1);
    let stretched = |across: f64, down: f64| {
        let area = |(ix, size): (usize, &(f64, f64))| {
            let (x, y) = middles[ix]?;
            Some(Area::new(x * across - size.0 / 2.0, y * down - size.1 / 2.0, size.0, size.1))
        };
        let boxes: Vec<Option<Area>> = graph.sizes.iter().enumerate().map(area).collect();
        boxes.iter().enumerate().map(|(ix, area)| area.or_else(|| beside(graph, &boxes, ix))).collect()
    };
    let pairs = STRETCHES.into_iter().flat_map(|across| [(across, 1.0), (across, 1.3)]);
    let all: Vec<Vec<Area>> = pairs.filter_map(|(across, down)| stretched(across, down)).collect();
    let labels = graph.arrows.iter().filter_map(|arrow| arrow.label);
    let across = labels.map(|label| label.0 + BESIDE_LABEL).fold(ROOMY.0, f64::max);
    let is_well = |boxes: &Vec<Area>, space| {
        let own = boxes.iter().zip(&graph.given).filter(|(_, given)| given.is_some());
        !overlapping(own.map(|(area, _)| *area), space) && !overlapping(boxes.iter().copied(), (APART, APART))
    };
    let spaces = [(across, ROOMY.1), ROOMY, (APART, APART)];
    let found = spaces.into_iter().find_map(|space| all.iter().position(|boxes| is_well(boxes, space)))?;
    all.into_iter().nth(found)
}

/// Aligns middles that are nearly aligned.
fn line_up(middles: &mut [Option<(f64, f64)>], part: impl Fn(&mut (f64, f64)) -> &mut f64) {
    let mut sorted: Vec<&mut f64> = middles.iter_mut().flatten().map(part).collect();
    sorted.sort_by(|a, b| a.total_cmp(b));
    let mut first = f64::MIN;
    for value in sorted {
        if *value - first < IN_LINE {
            *value = first;
        } else {
            first = *value;
        }
    }
}

/// The position of a box that has none in the Studio: left of the box that it leads to.
fn beside(graph: &Graph, boxes: &[Option<Area>], ix: usize) -> Option<Area> {
    let next = boxes[graph.arrows.iter().find(|arrow| arrow.source == ix)?.target]?;
    let size = graph.sizes[ix];
    Some(Area::new(next.x - size.0 - 34.0, next.middle().1 - size.1 / 2.0, size.0, size.1))
}

fn overlapping(boxes: impl Iterator<Item = Area>, (across, down): (f64, f64)) -> bool {
    let wide =
        |area: Area| Area::new(area.x - across / 2.0, area.y - down / 2.0, area.width + across, area.height + down);
    let mut sorted: Vec<Area> = boxes.map(wide).collect();
    sorted.sort_by(|a, b| a.x.total_cmp(&b.x));
    sorted.iter().enumerate().any(|(at, area)| {
        let near = sorted[at + 1..].iter().take_while(|other| other.x < area.right());
        near.into_iter().any(|other| area.overlaps(*other))
    })
}

/// The best route: the one through the fewest boxes, then with the fewest corners, then the shortest.
fn route(arrow: &Arrow, boxes: &[Area], checks: &mut usize) -> Vec<(f64, f64)> {
    let (source, target) = (boxes[arrow.source], boxes[arrow.target]);
    let cost = |points: &Vec<(f64, f64)>, checks: &mut usize| {
        let mut hits = 0;
        for (ix, area) in boxes.iter().enumerate() {
            // A route may touch its own boxes only with its ends.
            let parts = points
                .windows(2)
                .enumerate()
                .filter(|(at, _)| !(ix == arrow.source && *at == 0 || ix == arrow.target && *at + 2 == points.len()));
            let room = if ix == arrow.source || ix == arrow.target { -1.0 } else { 5.0 };
            hits += parts.filter(|(_, part)| segment(part).overlaps(area.grown(room))).count();
        }
        *checks = checks.saturating_sub(boxes.len());
        let length: f64 =
            points.windows(2).map(|part| (part[0].0 - part[1].0).abs() + (part[0].1 - part[1].1).abs()).sum();
        hits as f64 * 2_000.0 + points.len() as f64 * 45.0 + length
    };
    let mut best: Option<(f64, Vec<(f64, f64)>)> = None;
    for points in candidates(source, target) {
        let points = simplified(points);
        if *checks == 0 {
            return best.map_or(points, |(_, points)| points);
        }
        let cost = cost(&points, checks);
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, points));
        }
    }
    best.map(|(_, points)| points).unwrap_or_default()
}

fn segment(part: &[(f64, f64)]) -> Area {
    let (a, b) = (part[0], part[1]);
    Area::new(a.0.min(b.0) - 0.5, a.1.min(b.1) - 0.5, (a.0 - b.0).abs() + 1.0, (a.1 - b.1).abs() + 1.0)
}

/// Candidate routes. The Studio's usual one (out at the right, in at the left) comes first.
fn candidates(source: Area, target: Area) -> Vec<Vec<(f64, f64)>> {
    let ((sx, sy), (tx, ty)) = (source.middle(), target.middle());
    let mut routes = Vec::new();
    if target.x >= source.right() + APART {
        for share in [0.5, 0.25, 0.75] {
            let x = source.right() + (target.x - source.right()) * share;
            routes.push(vec![(source.right(), sy), (x, sy), (x, ty), (target.x, ty)]);
        }
    }
    for (out, into, free) in [
        (source.bottom(), target.y, target.y >= source.bottom() + AROUND),
        (source.y, target.bottom(), source.y >= target.bottom() + AROUND),
    ] {
        if free {
            for share in [0.5, 0.25, 0.75] {
                let y = out + (into - out) * share;
                routes.push(vec![(sx, out), (sx, y), (tx, y), (tx, into)]);
            }
        }
    }
    let edge = |area: Area, down: bool| if down { area.bottom() } else { area.y };
    if tx > source.right() + AROUND && (ty - sy).abs() > target.height / 2.0 + AROUND {
        routes.push(vec![(source.right(), sy), (tx, sy), (tx, edge(target, ty < sy))]);
    }
    if target.x > sx + AROUND && (ty - sy).abs() > source.height / 2.0 + AROUND {
        routes.push(vec![(sx, edge(source, ty > sy)), (sx, ty), (target.x, ty)]);
    }
    for away in [AROUND, 2.0 * AROUND, 4.0 * AROUND, 8.0 * AROUND] {
        let (above, below) = (source.y.min(target.y) - away, source.bottom().max(target.bottom()) + away);
        let (left, right) = (source.x.min(target.x) - away, source.right().max(target.right()) + away);
        if source == target {
            routes.push(vec![(source.right(), sy), (right, sy), (right, below), (tx, below), (tx, target.bottom())]);
            continue;
        }
        routes.push(vec![(sx, source.y), (sx, above), (tx, above), (tx, target.y)]);
        routes.push(vec![(sx, source.bottom()), (sx, below), (tx, below), (tx, target.bottom())]);
        routes.push(vec![(source.right(), sy), (right, sy), (right, ty), (target.right(), ty)]);
        routes.push(vec![(source.x, sy), (left, sy), (left, ty), (target.x, ty)]);
    }
    routes
}

/// Places a label on a part of its route that no other route shares, where nothing else is.
fn label(size: (f64, f64), ix: usize, routes: &[Vec<(f64, f64)>], taken: &[Area], checks: &mut usize) -> Area {
    let at = |part: &[(f64, f64)], share: f64| {
        let (a, b) = (part[0], part[1]);
        let (x, y) = (a.0 + (b.0 - a.0) * share, a.1 + (b.1 - a.1) * share);
        Area::new(x - size.0 / 2.0, y - size.1 / 2.0, size.0, size.1)
    };
    let mut first = None;
    for share in [0.5, 0.35, 0.65, 0.2, 0.8] {
        for part in routes[ix].windows(2) {
            let area = at(part, share);
            first = first.or(Some(area));
            *checks = checks.saturating_sub(taken.len() + routes.len());
            let is_free = !taken.iter().any(|other| area.grown(2.0).overlaps(*other))
                && !routes.iter().enumerate().any(|(other, route)| {
                    other != ix && route.windows(2).any(|part| segment(part).overlaps(area.grown(-2.0)))
                });
            if *checks == 0 || is_free {
                return area;
            }
        }
    }
    first.unwrap_or_default()
}

/// Moves the layout so that it begins at the origin.
fn moved_home(boxes: Vec<Area>, mut routes: Vec<ArrowRoute>) -> FrameLayout {
    let points = routes.iter().flat_map(|route| &route.points).map(|(x, y)| Area::new(*x, *y, 0.0, 0.0));
    let all = boxes.iter().copied().chain(points).chain(routes.iter().filter_map(|route| route.label));
    let (mut left, mut top, mut right, mut bottom) = (f64::MAX, f64::MAX, f64::MIN, f64::MIN);
    for area in all {
        (left, top) = (left.min(area.x), top.min(area.y));
        (right, bottom) = (right.max(area.right()), bottom.max(area.bottom()));
    }
    for route in &mut routes {
        route.label = route.label.map(|label| label.moved(-left, -top));
        for point in &mut route.points {
            *point = (point.0 - left, point.1 - top);
        }
    }
    let corners = boxes.iter().map(|area| (area.x - left, area.y - top)).collect();
    FrameLayout { width: right - left, height: bottom - top, corners, routes }
}
