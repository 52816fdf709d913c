//! The files of a crate form no rings: nothing that a file uses leads back to it.
//!
//! A file uses the file that defines an item, through whatever re-exports a path gets there. It may use those in its
//! own folder, which share what it declares; neither they nor what they use may lead back to it from outside of the
//! folder.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

mod sources;

/// The only ring, which counts as one file: a node of a program holds its activity, an activity gets its execution, and
/// an execution reads the program.
const INTERPRETER: [&str; 12] = [
    "activity",
    "execution",
    "execution/burst",
    "execution/callback",
    "execution/compensation",
    "execution/context",
    "execution/interruption",
    "execution/runner",
    "execution/undo",
    "execution/variables",
    "execution/visible_outputs",
    "program",
];

#[test]
fn engine() {
    assert_no_rings("engine/src", &INTERPRETER);
}

#[test]
fn extension() {
    assert_no_rings("src", &[]);
}

#[test]
fn gateway() {
    assert_no_rings("gateway/src", &[]);
}

/// A path, segment by segment.
type Path = Vec<String>;

/// The files that each file uses, and where it does.
type Arrows = BTreeMap<String, BTreeMap<String, String>>;

/// What a file names.
#[derive(Default)]
struct File {
    /// What its `use` statements import, each under the name that it has in the file.
    imports: Vec<(String, Path)>,
    /// The paths in the rest of its code.
    paths: Vec<Path>,
}

fn assert_no_rings(sources: &str, allowed: &[&str]) {
    let arrows = arrows(sources);
    let gone: Vec<_> = allowed.iter().filter(|file| ring(&format!("{file}.rs"), &arrows).is_none()).collect();
    assert!(gone.is_empty(), "no longer on the ring that is allowed: {gone:?}");
    let merged = |file: &String| if allowed.contains(&file.trim_end_matches(".rs")) { "" } else { file }.to_owned();
    let mut outside = Arrows::new();
    for (file, used) in &arrows {
        let others = used.iter().map(|(used, place)| (merged(used), place.clone()));
        outside.entry(merged(file)).or_default().extend(others.filter(|(used, _)| *used != merged(file)));
    }
    let shortest = outside.keys().filter_map(|file| ring(file, &outside)).min_by_key(Vec::len);
    assert!(shortest.is_none(), "a ring of files in {sources}:\n{}", shortest.unwrap_or_default().join("\n"));
}

/// The shortest way from a file back to it, as the places that lead from one file to the next.
fn ring<'a>(start: &'a str, arrows: &'a Arrows) -> Option<Vec<&'a str>> {
    let mut seen = BTreeSet::new();
    let mut ways = VecDeque::from([(start, Vec::new())]);
    while let Some((file, way)) = ways.pop_front() {
        for (next, place) in arrows.get(file).into_iter().flatten() {
            let longer = [&way[..], &[place.as_str()]].concat();
            if next == start {
                return Some(longer);
            }
            if seen.insert(next) {
                ways.push_back((next, longer));
            }
        }
    }
    None
}

/// The arrows between files, but for those from a file into its folder; and, by names without `.rs`, those between
/// files that are each taken together with their folders.
fn arrows(sources: &str) -> Arrows {
    // The root of the crate is above all files.
    let named = |file: String| if sources::is_root(&file) { String::new() } else { file };
    let files = sources::files(sources).into_iter().map(|(file, path)| (named(file), read(&sources::code(&path))));
    let files: BTreeMap<String, File> = files.collect();
    let mut arrows = Arrows::new();
    for (file, names) in files.iter().filter(|(file, _)| !file.is_empty()) {
        for path in names.imports.iter().map(|(_, path)| path).chain(&names.paths) {
            let Some(used) = definition(&files, file, path).filter(|used| used != file && !used.is_empty()) else {
                continue;
            };
            let place = format!("{file}.rs uses {} of {used}.rs", path.join("::"));
            let is_part = used.starts_with(&format!("{file}/"));
            let arrow = (!is_part).then(|| (format!("{file}.rs"), format!("{used}.rs")));
            for (user, used) in arrow.into_iter().chain(beside(file, &used).zip(beside(&used, file))) {
                arrows.entry(user).or_default().entry(used).or_insert(place.clone());
            }
        }
    }
    arrows
}

/// The outermost file that holds `file` but not `other`. `None`: `file` holds `other`, or is it.
fn beside(file: &str, other: &str) -> Option<String> {
    let same = file.split('/').zip(other.split('/')).take_while(|(a, b)| a == b);
    let (outer, inner) = file.split_at_checked(same.map(|(name, _)| name.len() + 1).sum())?;
    Some(format!("{outer}{}", inner.split('/').next()?))
}

/// The file that defines what a path in the file `at` means. `None`: it means a file as a whole, of which other paths
/// use something. What has no definition in the crate counts as the file's own.
fn definition(files: &BTreeMap<String, File>, at: &str, path: &[String]) -> Option<String> {
    let (head, rest) = path.split_first()?;
    let part = if at.is_empty() { head.clone() } else { format!("{at}/{head}") };
    match head.as_str() {
        "crate" => definition(files, "", rest),
        "self" => definition(files, at, rest),
        "super" => definition(files, at.rsplit_once('/').map_or("", |(outer, _)| outer), rest),
        _ if files.contains_key(&part) => definition(files, &part, rest),
        _ => match files[at].imports.iter().find(|(name, path)| name == head && path[0] != *head) {
            Some((_, path)) => definition(files, at, &[path, rest].concat()),
            None => Some(at.to_owned()),
        },
    }
}

fn read(code: &[String]) -> File {
    const VISIBILITY: [&str; 4] = ["", "pub ", "pub(crate) ", "pub(super) "];
    let mut file = File::default();
    let mut statement = String::new();
    for line in code.iter().map(|line| line.trim()) {
        match line.split_once("use ") {
            Some((before, tree)) if VISIBILITY.contains(&before) || before.starts_with("pub(in ") => statement += tree,
            _ if statement.is_empty() => file.paths.extend(paths(line)),
            _ => statement += line,
        }
        if line.ends_with(';') && !statement.is_empty() {
            import(&[], statement.trim_end_matches(';'), &mut file.imports);
            statement.clear();
        }
    }
    file
}

/// The paths in a line of code.
fn paths(line: &str) -> impl Iterator<Item = Path> {
    let words = line.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
    words.filter(|word| word.contains("::")).map(segments).filter(|path| !path.is_empty())
}

fn segments(path: &str) -> Path {
    path.split(':').map(str::trim).filter(|segment| !segment.is_empty()).map(str::to_owned).collect()
}

/// Adds what a `use` statement imports: `tree` is what stands after the outer segments.
fn import(outer: &[String], tree: &str, imports: &mut Vec<(String, Path)>) {
    let tree = tree.trim();
    if let Some((path, inner)) = tree.split_once('{') {
        let outer = [outer, &segments(path)].concat();
        let mut depth = 0;
        let parts = inner.strip_suffix('}').unwrap_or(inner).split(|c| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            c == ',' && depth == 0
        });
        parts.for_each(|part| import(&outer, part, imports));
    } else if !tree.is_empty() {
        let (path, alias) = tree.split_once(" as ").unwrap_or((tree, ""));
        let mut path = [outer, &segments(path)].concat();
        path.pop_if(|last| last == "self");
        let name = if alias.is_empty() { path.last().expect("a segment").clone() } else { alias.to_owned() };
        imports.push((name, path));
    }
}
