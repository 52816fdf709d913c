//! Badges at the corners of boxes, and the legend that explains them. Symbols are drawn, as a font may lack them.

use std::fmt::Write;

use super::super::layout::Area;
use super::super::model::{Item, Picture, Shape};
use super::super::{Standing, text};
use super::style::of_standing;
use super::{Anchor, Font, GREY, line, number};

/// Space between two entries of the legend.
const APART: f64 = 22.0;

/// The text for a standing in the tooltip of a box.
pub fn standing_text(standing: Standing) -> String {
    match standing {
        Standing::Unreached => "not reached".into(),
        Standing::Open => "begun, something inside is open".into(),
        Standing::Ran(1) => "ran".into(),
        Standing::Ran(count) => format!("ran {count} times"),
        Standing::Compensable => "ran, and can be compensated".into(),
        Standing::Compensated => "ran, and was compensated".into(),
        Standing::Waits => "waits".into(),
        Standing::Paused => "waits, paused".into(),
        Standing::Faulted => "faulted".into(),
        Standing::Cancelled => "cancelled".into(),
    }
}

/// The entries of the legend: the standings that occur, each once.
pub fn entries(picture: &Picture) -> Vec<(Standing, &'static str)> {
    let all = [
        (Standing::Ran(1), "ran (× times)"),
        (Standing::Compensable, "can be compensated"),
        (Standing::Compensated, "compensated"),
        (Standing::Open, "open"),
        (Standing::Waits, "waits"),
        (Standing::Paused, "paused"),
        (Standing::Faulted, "faulted"),
        (Standing::Cancelled, "cancelled"),
        (Standing::Unreached, "not reached"),
    ];
    let kind = |standing: Standing| std::mem::discriminant(&standing);
    let occurs =
        |wanted| picture.items.iter().filter_map(|item| item.standing).any(|standing| kind(standing) == kind(wanted));
    all.into_iter().filter(|(standing, _)| occurs(*standing)).collect()
}

fn entry_width(name: &str) -> f64 {
    24.0 + text::width(name, 11.0) + APART
}

/// Width of the legend.
pub fn legend_width(entries: &[(Standing, &'static str)]) -> f64 {
    entries.iter().map(|(_, name)| entry_width(name)).sum()
}

/// Writes the legend.
pub fn legend(svg: &mut String, entries: &[(Standing, &'static str)], mut x: f64, y: f64) {
    for (standing, name) in entries {
        if *standing == Standing::Unreached {
            let style = of_standing(*standing).attributes();
            let _ = write!(
                svg,
                "<rect x=\"{}\" y=\"{}\" width=\"18\" height=\"14\" rx=\"4\"{style}/>",
                number(x),
                number(y - 7.0)
            );
        } else {
            disc(svg, (x + 9.0, y), of_standing(*standing).stroke);
            icon(svg, *standing, (x + 9.0, y));
        }
        line(svg, name, Font { size: 11.0, weight: 400, fill: GREY }, (x + 24.0, y + 4.0), Anchor::Start, 200.0);
        x += entry_width(name);
    }
}

/// Marks a box: a trigger at its upper left corner, a loop at the lower left one, its standing at the upper right
/// one.
pub fn badges(svg: &mut String, item: &Item, area: Area) {
    if item.is_trigger {
        let at = (area.x + 4.0, area.y + 2.0);
        disc(svg, at, "#2f8f5b");
        stroke(svg, at, "M0.8 -5L-3 0.8H0.2L-0.8 5L3 -0.8H-0.2z", "fill=\"#ffffff\"");
    }
    if item.shape == Shape::Loop {
        let at = (area.x + 4.0, area.bottom() - 2.0);
        disc(svg, at, item.standing.map_or("#8a74bd", |standing| of_standing(standing).stroke));
        let paint =
            "fill=\"none\" stroke=\"#ffffff\" stroke-width=\"1.5\" stroke-linecap=\"round\" stroke-linejoin=\"round\"";
        stroke(svg, at, "M3.5 -2.6A4.4 4.4 0 1 0 4.4 0.6M3.9 -5.4L3.9 -2.3L0.8 -2.3", paint);
    }
    let Some(standing) = item.standing.filter(|standing| *standing != Standing::Unreached) else { return };
    // The shape of a decision has no corner there.
    let inside = if item.shape == Shape::Decision { 13.0 } else { 4.0 };
    let (x, y) = (area.right() - inside, area.y + 2.0);
    let colour = of_standing(standing).stroke;
    match standing {
        Standing::Ran(count) if count > 1 => {
            let count = if count > 99_999 { "×99999+".to_owned() } else { format!("×{count}") };
            let width = text::width(&count, 10.0) + 26.0;
            let left = x + 9.0 - width;
            let _ = write!(
                svg,
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"18\" rx=\"9\" fill=\"{colour}\" stroke=\"#ffffff\" stroke-width=\"1.5\"/>",
                number(left),
                number(y - 9.0),
                number(width)
            );
            icon(svg, standing, (left + 10.0, y));
            let font = Font { size: 10.0, weight: 600, fill: "#ffffff" };
            line(svg, &count, font, (left + 18.0, y + 3.5), Anchor::Start, width);
        }
        standing => {
            disc(svg, (x, y), colour);
            icon(svg, standing, (x, y));
        }
    }
}

fn disc(svg: &mut String, (x, y): (f64, f64), fill: &str) {
    let (x, y) = (number(x), number(y));
    let _ =
        write!(svg, "<circle cx=\"{x}\" cy=\"{y}\" r=\"9\" fill=\"{fill}\" stroke=\"#ffffff\" stroke-width=\"1.5\"/>");
}

/// The shape inside a badge, which shows the standing without colour.
fn icon(svg: &mut String, standing: Standing, at: (f64, f64)) {
    const LINES: &str =
        "fill=\"none\" stroke=\"#ffffff\" stroke-width=\"1.9\" stroke-linecap=\"round\" stroke-linejoin=\"round\"";
    let path = match standing {
        Standing::Ran(_) => "M-3.6 0.2L-1.1 2.7L3.6 -2.6",
        Standing::Compensable | Standing::Compensated => {
            "M-1.2 -4L-4 -1.4L-1.2 1.2M-4 -1.4H1.2A2.4 2.4 0 0 1 1.2 3.4H-1.6"
        }
        Standing::Waits => "M-1.9 -3V3M1.9 -3V3",
        Standing::Paused => "M-2.6 -2.6H2.6V2.6H-2.6z",
        Standing::Faulted => "M-2.8 -2.8L2.8 2.8M2.8 -2.8L-2.8 2.8",
        Standing::Cancelled => "M-3.2 0H3.2",
        Standing::Open => "M-3.4 0h0M0 0h0M3.4 0h0",
        Standing::Unreached => return,
    };
    stroke(svg, at, path, LINES);
}

fn stroke(svg: &mut String, (x, y): (f64, f64), path: &str, paint: &str) {
    let _ = write!(svg, "<path transform=\"translate({} {})\" d=\"{path}\" {paint}/>", number(x), number(y));
}
