//! Colours: by the shape of a box in a definition, by its standing in a run.

use super::super::Standing;
use super::super::model::{Item, Shape};

/// The paint of a box.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Colour of the inside.
    pub fill: &'static str,
    /// Colour of the border.
    pub stroke: &'static str,
    /// Width of the border, in pixels.
    pub width: f64,
    /// Whether the border is dashed.
    pub dashed: bool,
    /// Colour of the title.
    pub ink: &'static str,
    /// Colour of the line under the title.
    pub soft: &'static str,
}

const PLAIN: Style =
    Style { fill: "#f7f9fc", stroke: "#bcc6d2", width: 1.2, dashed: false, ink: "#1d2733", soft: "#64707f" };

impl Style {
    const fn painted(fill: &'static str, stroke: &'static str) -> Self {
        Self { fill, stroke, ..PLAIN }
    }

    /// As attributes of an element.
    pub fn attributes(&self) -> String {
        let dashes = if self.dashed { " stroke-dasharray=\"5 4\"" } else { "" };
        format!(" fill=\"{}\" stroke=\"{}\" stroke-width=\"{}\"{dashes}", self.fill, self.stroke, self.width)
    }
}

/// The paint of a box: by its standing in a run, by its shape in a definition.
pub fn style(item: &Item) -> Style {
    let style = match item.standing {
        Some(standing) => of_standing(standing),
        None => of_shape(item),
    };
    match item.shape {
        Shape::Frame if item.inner.is_some() => Style { fill: "#ffffff", width: 1.2, ..style },
        Shape::Bar if item.standing == Some(Standing::Unreached) => Style::painted("#d3d9e1", "#d3d9e1"),
        Shape::Bar | Shape::Dot => Style::painted("#5a6675", "#5a6675"),
        Shape::Activity | Shape::Decision | Shape::Loop | Shape::State | Shape::End | Shape::Fork | Shape::Frame => {
            style
        }
    }
}

fn of_shape(item: &Item) -> Style {
    match item.shape {
        _ if item.is_trigger => Style::painted("#effaf3", "#79b894"),
        Shape::Decision => Style::painted("#eff4fe", "#94acdd"),
        Shape::Loop => Style::painted("#f5f1fc", "#b3a0d8"),
        Shape::State => Style::painted("#eef7f8", "#8bb5bb"),
        Shape::End => Style::painted("#f1f3f6", "#8e99a8"),
        Shape::Fork => Style::painted("#f7f9fc", "#93a0b0"),
        Shape::Activity | Shape::Bar | Shape::Dot | Shape::Frame => PLAIN,
    }
}

/// The style of a standing.
pub fn of_standing(standing: Standing) -> Style {
    match standing {
        Standing::Ran(_) => Style::painted("#eef9f2", "#4fa577"),
        Standing::Compensable => Style::painted("#f4f0fb", "#8a74bd"),
        Standing::Compensated => Style { dashed: true, ..Style::painted("#f8f6fb", "#a394c4") },
        Standing::Open => Style::painted("#f1f5fe", "#7c9be0"),
        Standing::Waits => Style { width: 2.0, ..Style::painted("#fff8e5", "#cc8f1e") },
        Standing::Paused => Style { width: 2.0, dashed: true, ..Style::painted("#eef1f6", "#4b5b73") },
        Standing::Faulted => Style { width: 2.0, ..Style::painted("#fdeeec", "#c9433a") },
        Standing::Cancelled => {
            Style { dashed: true, ink: "#64707f", soft: "#8792a0", ..Style::painted("#f6f7f9", "#8e99a8") }
        }
        Standing::Unreached => Style { ink: "#9aa5b1", soft: "#b4bcc7", ..Style::painted("#ffffff", "#dbe0e7") },
    }
}
