//! Mermaid text.

use std::fmt::Write;

use super::model::{Item, Picture, Shape};
use super::text;

/// Writes a flowchart. Boxes that hold a flow become subgraphs.
pub(super) fn write(picture: &Picture) -> String {
    let mut text = String::from("flowchart TD\n");
    // The open frames, outermost first: the index of each and of its next item.
    let mut path = vec![(0, 0)];
    while let Some((frame, next)) = path.last_mut() {
        let Some(item) = picture.frames[*frame].items.get(*next) else {
            path.pop();
            if !path.is_empty() {
                indent(&mut text, path.len());
                text.push_str("end\n");
            }
            continue;
        };
        *next += 1;
        indent(&mut text, path.len());
        let box_ = &picture.items[*item];
        match box_.inner {
            Some(inner) => {
                let _ = writeln!(text, "subgraph n{item}[\"{}\"]", label(box_));
                path.push((inner, 0));
            }
            None => node(&mut text, *item, box_),
        }
    }
    for edge in &picture.edges {
        let _ = match edge.label.as_str() {
            "" => writeln!(text, "    n{} --> n{}", edge.source, edge.target),
            label => {
                writeln!(text, "    n{} -->|\"{}\"| n{}", edge.source, text::mermaid(&short(label)), edge.target)
            }
        };
    }
    text
}

fn indent(text: &mut String, depth: usize) {
    // More indentation makes deeper lines no easier to read.
    for _ in 0..depth.min(8) {
        text.push_str("    ");
    }
}

fn node(text: &mut String, ix: usize, item: &Item) {
    let label = label(item);
    let _ = match item.shape {
        Shape::Dot => writeln!(text, "n{ix}((\" \"))"),
        Shape::Bar => writeln!(text, "n{ix}[[\"Join\"]]"),
        Shape::Decision => writeln!(text, "n{ix}{{{{\"{label}\"}}}}"),
        Shape::Loop => writeln!(text, "n{ix}[/\"{label}\"/]"),
        Shape::State => writeln!(text, "n{ix}(\"{label}\")"),
        Shape::End => writeln!(text, "n{ix}([\"{label}\"])"),
        Shape::Fork => writeln!(text, "n{ix}[[\"{label}\"]]"),
        Shape::Activity | Shape::Frame if item.is_trigger => writeln!(text, "n{ix}([\"{label}\"])"),
        Shape::Activity | Shape::Frame => writeln!(text, "n{ix}[\"{label}\"]"),
    };
}

fn label(item: &Item) -> String {
    let mut label = String::new();
    if item.is_trigger {
        label.push_str("⚡ ");
    }
    label.push_str(&text::mermaid(&short(&item.title)));
    if !item.kind.is_empty() {
        let _ = write!(label, "<br/>{}", text::mermaid(&short(&item.kind)));
    }
    label
}

fn short(label: &str) -> String {
    text::one_line(label, 60)
}
