//! The language: its tags, blocks and filters.

use std::sync::OnceLock;

use liquid_core::Language;
use liquid_core::parser::ParseFilter;
use liquid_lib::stdlib;

use super::blocks::{AssignTag, Block, EchoTag};
use super::default_filter::Default;
use super::filters::{ArrayLimit, Bounded};
use super::{numbers, own_filters};

/// The largest array for a filter that compares every item with every other.
const QUADRATIC: ArrayLimit = ArrayLimit { items: 5_000, bytes: 1 << 20 };

/// The largest array for a filter that sorts.
const SORTING: ArrayLimit = ArrayLimit { items: 100_000, bytes: 8 << 20 };

/// The largest array for any other filter, whose memory the meter counts anyway.
const OTHER: ArrayLimit = ArrayLimit { items: 1_000_000, bytes: usize::MAX };

/// The tags and filters that templates can use, created once per process.
pub(super) fn language() -> &'static Language {
    static LANGUAGE: OnceLock<Language> = OnceLock::new();
    LANGUAGE.get_or_init(|| {
        let mut language = Language::empty();
        blocks(&mut language);
        filters(&mut language, texts().into_iter().chain(arrays()), OTHER);
        filters(&mut language, [stdlib::Uniq.into()], QUADRATIC);
        filters(&mut language, [stdlib::Sort.into(), stdlib::SortNatural.into()], SORTING);
        let own = own_filters::ALL.iter().chain(numbers::ALL);
        filters(&mut language, own.map(|own| own.clone().into()), OTHER);
        language
    })
}

/// Deliberately missing: `include` and `render` (there is nothing to include), `tablerow`, `ifchanged`, and `liquid`
/// and `{% # … %}`, which the crate's grammar cannot read.
fn blocks(language: &mut Language) {
    language.blocks.register("if".into(), stdlib::IfBlock.into());
    language.blocks.register("unless".into(), stdlib::UnlessBlock.into());
    language.blocks.register("case".into(), stdlib::CaseBlock.into());
    language.blocks.register("comment".into(), Block::Comment.into());
    language.blocks.register("raw".into(), stdlib::RawBlock.into());
    language.blocks.register("for".into(), Block::For.into());
    language.blocks.register("capture".into(), Block::Capture.into());
    language.tags.register("assign".into(), AssignTag.into());
    language.tags.register("echo".into(), EchoTag.into());
    language.tags.register("break".into(), stdlib::BreakTag.into());
    language.tags.register("continue".into(), stdlib::ContinueTag.into());
    language.tags.register("cycle".into(), stdlib::CycleTag.into());
    language.tags.register("increment".into(), stdlib::IncrementTag.into());
    language.tags.register("decrement".into(), stdlib::DecrementTag.into());
}

/// Registers filters with limits.
fn filters(language: &mut Language, filters: impl IntoIterator<Item = Box<dyn ParseFilter>>, limit: ArrayLimit) {
    for filter in filters {
        let name = filter.reflection().name().to_owned();
        language.filters.register(name, Bounded::new(filter, limit).into());
    }
}

fn texts() -> [Box<dyn ParseFilter>; 20] {
    [
        stdlib::Append.into(),
        stdlib::Capitalize.into(),
        Default.into(),
        stdlib::Downcase.into(),
        stdlib::Escape.into(),
        stdlib::EscapeOnce.into(),
        stdlib::Lstrip.into(),
        stdlib::NewlineToBr.into(),
        stdlib::Prepend.into(),
        stdlib::Remove.into(),
        stdlib::RemoveFirst.into(),
        stdlib::ReplaceFirst.into(),
        stdlib::Rstrip.into(),
        stdlib::Strip.into(),
        stdlib::StripHtml.into(),
        stdlib::StripNewlines.into(),
        stdlib::TruncateWords.into(),
        stdlib::Upcase.into(),
        stdlib::UrlDecode.into(),
        stdlib::UrlEncode.into(),
    ]
}

fn arrays() -> [Box<dyn ParseFilter>; 7] {
    [
        stdlib::Compact.into(),
        stdlib::Concat.into(),
        stdlib::First.into(),
        stdlib::Last.into(),
        stdlib::Map.into(),
        stdlib::Reverse.into(),
        stdlib::Where.into(),
    ]
}
