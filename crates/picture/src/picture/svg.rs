//! SVG text: one self-contained document, on a background of its own.

use std::fmt::Write;

use super::layout::{Area, Drawing, HEADER, INSET, KIND, LABEL, TITLE, label_room};
use super::model::{Item, Picture, Shape};
use super::text;

mod marks;
mod style;

use style::{Style, style};

/// Space around everything.
const MARGIN: f64 = 28.0;
/// Font sizes of the caption.
const NAME: f64 = 17.0;
const SUBTITLE: f64 = 12.0;
/// Height of the caption, and of the legend.
const CAPTION: f64 = 56.0;
const LEGEND: f64 = 40.0;

const FONTS: &str =
    "-apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif";
const INK: &str = "#1d2733";
const GREY: &str = "#64707f";
const LINE: &str = "#8793a3";
const PALE: &str = "#d3d9e1";

/// Writes the document.
pub(super) fn write(picture: &Picture, drawing: &Drawing) -> String {
    let legend = marks::entries(picture);
    let subtitle = text::one_line(&picture.caption.subtitle, 200);
    let title = text::one_line(&picture.caption.title, 200);
    let wanted = text::width(&title, NAME).max(text::width(&subtitle, SUBTITLE)).min(520.0);
    let inner = drawing.width.max(wanted).max(marks::legend_width(&legend));
    let (width, top) = (inner + 2.0 * MARGIN, MARGIN + CAPTION);
    let foot = if legend.is_empty() { 0.0 } else { LEGEND };
    let height = top + drawing.height + foot + MARGIN;
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" role=\"img\" \
         font-family=\"{FONTS}\">\n<title>{}</title>\n<rect x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"12\" \
         fill=\"#ffffff\" stroke=\"#dde2e9\"/>",
        text::xml(&title),
        number(width - 1.0),
        number(height - 1.0),
        w = number(width),
        h = number(height),
    );
    let room = width - 2.0 * MARGIN;
    line(&mut svg, &title, Font { size: NAME, weight: 600, fill: INK }, (MARGIN, MARGIN + 15.0), Anchor::Start, room);
    line(
        &mut svg,
        &subtitle,
        Font { size: SUBTITLE, weight: 400, fill: GREY },
        (MARGIN, MARGIN + 35.0),
        Anchor::Start,
        room,
    );
    let _ = writeln!(svg, "<g transform=\"translate({} {})\">", number((width - drawing.width) / 2.0), number(top));
    content(&mut svg, picture, drawing);
    svg.push_str("</g>\n");
    marks::legend(&mut svg, &legend, MARGIN, height - MARGIN - 6.0);
    svg.push_str("</svg>\n");
    svg
}

/// Draws from the back to the front: frames, arrows, boxes, labels.
fn content(svg: &mut String, picture: &Picture, drawing: &Drawing) {
    let items = || picture.items.iter().zip(&drawing.boxes);
    for (item, area) in items().filter(|(item, _)| item.inner.is_some()) {
        frame(svg, item, *area);
    }
    for wanted in [Some(false), None, Some(true)] {
        for (edge, points) in picture.edges.iter().zip(&drawing.lines).filter(|(edge, _)| edge.taken == wanted) {
            arrow(svg, points, if edge.taken == Some(false) { PALE } else { LINE });
        }
    }
    for (item, area) in items().filter(|(item, _)| item.inner.is_none()) {
        body(svg, item, *area);
    }
    for (edge, area) in picture.edges.iter().zip(&drawing.labels) {
        if let Some(area) = area {
            label(svg, &edge.label, *area, if edge.taken == Some(false) { "#a3acb8" } else { "#45505e" });
        }
    }
}

fn frame(svg: &mut String, item: &Item, area: Area) {
    let style = style(item);
    open(svg, item);
    rect(svg, area, 12.0, &style);
    let title = Font { size: TITLE, weight: 600, fill: style.ink };
    let room = area.width - 2.0 * INSET;
    let (x, y) = (area.x + INSET, area.y + 22.0);
    line(svg, &item.title, title, (x, y), Anchor::Start, room);
    let left = room - text::width(&item.title, TITLE) - 8.0;
    if left > 40.0 && area.height > HEADER {
        let kind = Font { size: KIND, weight: 400, fill: style.soft };
        line(svg, &item.kind, kind, (x + room, y), Anchor::End, left);
    }
    marks::badges(svg, item, area);
    svg.push_str("</g>\n");
}

fn body(svg: &mut String, item: &Item, area: Area) {
    let style = style(item);
    open(svg, item);
    match item.shape {
        Shape::Dot => {
            let (x, y) = area.middle();
            let _ =
                write!(svg, "<circle cx=\"{}\" cy=\"{}\" r=\"7\" fill=\"{}\"/>", number(x), number(y), style.stroke);
        }
        Shape::Bar => rect(svg, area, 3.0, &Style { fill: style.stroke, ..style }),
        Shape::Decision => hexagon(svg, area, &style),
        Shape::End => rect(svg, area, area.height / 2.0, &style),
        Shape::State => rect(svg, area, 16.0, &style),
        Shape::Fork => {
            rect(svg, area, 6.0, &style);
            for x in [area.x + 5.0, area.right() - 5.0] {
                let (x, y, height) = (number(x), number(area.y), number(area.height));
                let _ = write!(svg, "<path d=\"M{x} {y}v{height}\" stroke=\"{}\" fill=\"none\"/>", style.stroke);
            }
        }
        Shape::Activity | Shape::Loop | Shape::Frame => rect(svg, area, 8.0, &style),
    }
    let (middle, y) = area.middle();
    let slant = if item.shape == Shape::Decision { 12.0 } else { 0.0 };
    let room = area.width - 2.0 * (INSET + slant) + 12.0;
    let title = Font { size: TITLE, weight: 600, fill: style.ink };
    let has_kind = !item.kind.is_empty();
    line(svg, &item.title, title, (middle, y + if has_kind { -3.0 } else { 4.5 }), Anchor::Middle, room);
    if has_kind {
        line(
            svg,
            &item.kind,
            Font { size: KIND, weight: 400, fill: style.soft },
            (middle, y + 14.0),
            Anchor::Middle,
            room,
        );
    }
    marks::badges(svg, item, area);
    svg.push_str("</g>\n");
}

fn open(svg: &mut String, item: &Item) {
    let mut tooltip = item.tooltip.clone();
    if let Some(standing) = item.standing {
        let _ = write!(tooltip, " – {}", marks::standing_text(standing));
    }
    if !item.remarks.is_empty() {
        let _ = write!(tooltip, ": {}", item.remarks);
    }
    let _ = write!(svg, "<g><title>{}</title>", text::xml(&tooltip));
}

fn rect(svg: &mut String, area: Area, radius: f64, style: &Style) {
    let _ = write!(
        svg,
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"{}/>",
        number(area.x),
        number(area.y),
        number(area.width),
        number(area.height),
        number(radius.min(area.height / 2.0)),
        style.attributes()
    );
}

fn hexagon(svg: &mut String, area: Area, style: &Style) {
    let (slant, half) = (14.0, area.height / 2.0);
    let _ = write!(
        svg,
        "<path d=\"M{} {}h{}l{slant} {half}l-{slant} {half}h-{}l-{slant} -{half}z\" stroke-linejoin=\"round\"{}/>",
        number(area.x + slant),
        number(area.y),
        number(area.width - 2.0 * slant),
        number(area.width - 2.0 * slant),
        style.attributes(),
        half = number(half),
    );
}

fn label(svg: &mut String, label: &str, area: Area, fill: &'static str) {
    let (x, y) = area.middle();
    let _ = write!(
        svg,
        "<g><title>{}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"4\" fill=\"#ffffff\"/>",
        text::xml(&text::one_line(label, 400)),
        number(area.x),
        number(area.y),
        number(area.width),
        number(area.height)
    );
    line(svg, label, Font { size: LABEL, weight: 400, fill }, (x, y + 4.0), Anchor::Middle, label_room());
    svg.push_str("</g>\n");
}

/// A line with round corners and a head.
fn arrow(svg: &mut String, points: &[(f64, f64)], stroke: &str) {
    let [.., before, tip] = points else { return };
    let (dx, dy) = ((tip.0 - before.0), (tip.1 - before.1));
    let length = dx.hypot(dy).max(0.01);
    let (ux, uy) = (dx / length, dy / length);
    let end = (tip.0 - ux * 6.0, tip.1 - uy * 6.0);
    let mut path = format!("M{} {}", number(points[0].0), number(points[0].1));
    for corner in points.windows(3) {
        let (a, b, c) = (corner[0], corner[1], corner[2]);
        let reach = |from: (f64, f64), to: (f64, f64)| (from.0 - to.0).abs() + (from.1 - to.1).abs();
        let radius = 8f64.min(reach(a, b) / 2.0).min(reach(b, c) / 2.0);
        let toward = |to: (f64, f64)| {
            let length = reach(b, to).max(0.01);
            (b.0 + (to.0 - b.0) / length * radius, b.1 + (to.1 - b.1) / length * radius)
        };
        let (enter, leave) = (toward(a), toward(c));
        let numbers = [enter.0, enter.1, b.0, b.1, leave.0, leave.1].map(number);
        let [x1, y1, x2, y2, x3, y3] = numbers;
        let _ = write!(path, "L{x1} {y1}Q{x2} {y2} {x3} {y3}");
    }
    let _ = write!(path, "L{} {}", number(end.0), number(end.1));
    let wing = |side: f64| (tip.0 - ux * 8.0 - uy * 4.2 * side, tip.1 - uy * 8.0 + ux * 4.2 * side);
    let (left, right) = (wing(1.0), wing(-1.0));
    let _ = writeln!(
        svg,
        "<path d=\"{path}\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"1.5\"/><path d=\"M{} {}L{} {}L{} {}z\" fill=\"{stroke}\"/>",
        number(tip.0),
        number(tip.1),
        number(left.0),
        number(left.1),
        number(right.0),
        number(right.1)
    );
}

#[derive(Clone, Copy)]
enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Clone, Copy)]
struct Font {
    size: f64,
    weight: u32,
    fill: &'static str,
}

/// A line of text, cut to its room.
fn line(svg: &mut String, words: &str, font: Font, at: (f64, f64), anchor: Anchor, room: f64) {
    if words.is_empty() {
        return;
    }
    let anchor = match anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" font-size=\"{}\" font-weight=\"{}\" fill=\"{}\"{anchor}>{}</text>",
        number(at.0),
        number(at.1),
        number(font.size),
        font.weight,
        font.fill,
        text::xml(&text::fit(words, font.size, room))
    );
}

/// A number as short as it can be.
fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}
