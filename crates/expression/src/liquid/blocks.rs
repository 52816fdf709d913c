//! `for`, `capture`, `assign` and `echo`, metered: the crate's own versions build whole ranges and texts without a
//! check. And `comment`: the crate's own ignores that a block inside does not end, and panics when it reads on.

use std::io::Write;

use liquid_core::error::Result;
use liquid_core::model::{KString, Object, Value, ValueView};
use liquid_core::parser::{BlockElement, FilterChain, TryMatchToken};
use liquid_core::runtime::{Interrupt, InterruptRegister};
use liquid_core::{
    BlockReflection, Error, Expression, Language, ParseBlock, ParseTag, Renderable, Runtime, TagBlock, TagReflection,
    TagTokenIter, Template,
};

use super::meter::{MeteredOutput, meter};
use super::runtime::LoopFrame;

/// The blocks of this engine.
#[derive(Clone, Copy, Debug)]
pub(super) enum Block {
    /// `{% for item in items limit:n offset:n reversed %} … {% else %} … {% endfor %}`.
    For,
    /// `{% capture name %} … {% endcapture %}`.
    Capture,
    /// `{% comment %} … {% endcomment %}`.
    Comment,
}

impl BlockReflection for Block {
    fn start_tag(&self) -> &str {
        match self {
            Self::For => "for",
            Self::Capture => "capture",
            Self::Comment => "comment",
        }
    }
    fn end_tag(&self) -> &str {
        match self {
            Self::For => "endfor",
            Self::Capture => "endcapture",
            Self::Comment => "endcomment",
        }
    }
    fn description(&self) -> &str {
        ""
    }
}

impl ParseBlock for Block {
    fn parse(
        &self,
        arguments: TagTokenIter<'_>,
        block: TagBlock<'_, '_>,
        language: &Language,
    ) -> Result<Box<dyn Renderable>> {
        match self {
            Self::For => ForBlock::parse(arguments, block, language),
            Self::Capture => Capture::parse(arguments, block, language),
            Self::Comment => comment(arguments, block, language),
        }
    }

    fn reflection(&self) -> &dyn BlockReflection {
        self
    }
}

/// Reads a comment. Of what is inside, only `raw` and other comments can hide its end.
fn comment(
    mut arguments: TagTokenIter<'_>,
    mut block: TagBlock<'_, '_>,
    language: &Language,
) -> Result<Box<dyn Renderable>> {
    arguments.expect_nothing()?;
    while let Some(element) = block.next()? {
        match element {
            BlockElement::Tag(tag) if matches!(tag.name(), "raw" | "comment") => {
                tag.parse(&mut block, language)?;
            }
            _ => {}
        }
    }
    Ok(Box::new(Template::new(Vec::new())))
}

/// The value after `limit:` or `offset:`.
fn number(arguments: &mut TagTokenIter<'_>) -> Result<Expression> {
    arguments.expect_next("\":\" expected.")?.expect_str(":").into_result_custom_msg("\":\" expected.")?;
    arguments.expect_next("Value expected.")?.expect_value().into_result()
}

#[derive(Debug)]
enum Source {
    Value(Expression),
    Range(Expression, Expression),
}

#[derive(Debug)]
struct ForBlock {
    name: KString,
    source: Source,
    limit: Option<Expression>,
    offset: Option<Expression>,
    reversed: bool,
    body: Template,
    otherwise: Option<Template>,
}

impl ForBlock {
    fn parse(
        mut arguments: TagTokenIter<'_>,
        mut block: TagBlock<'_, '_>,
        language: &Language,
    ) -> Result<Box<dyn Renderable>> {
        let name = arguments.expect_next("Identifier expected.")?.expect_identifier().into_result()?;
        arguments.expect_next("\"in\" expected.")?.expect_str("in").into_result_custom_msg("\"in\" expected.")?;
        let token = arguments.expect_next("Array or range expected.")?;
        let source = match token.expect_value() {
            TryMatchToken::Matches(value) => Source::Value(value),
            TryMatchToken::Fails(token) => {
                let (first, last) = token.expect_range().into_result()?;
                Source::Range(first, last)
            }
        };
        let mut each = ForBlock { name: KString::from_ref(name), source, ..ForBlock::empty() };
        while let Some(token) = arguments.next() {
            match token.as_str() {
                "limit" => each.limit = Some(number(&mut arguments)?),
                "offset" => each.offset = Some(number(&mut arguments)?),
                "reversed" => each.reversed = true,
                _ => return Err(token.raise_custom_error("\"limit\", \"offset\" or \"reversed\" expected.")),
            }
        }
        let mut body = Vec::new();
        while let Some(element) = block.next()? {
            match element {
                BlockElement::Tag(tag) if tag.name() == "else" => {
                    each.otherwise = Some(Template::new(block.parse_all(language)?));
                    break;
                }
                BlockElement::Tag(tag) => body.push(tag.parse(&mut block, language)?),
                element => body.push(element.parse(&mut block, language)?),
            }
        }
        each.body = Template::new(body);
        Ok(Box::new(each))
    }

    fn empty() -> Self {
        Self {
            name: KString::default(),
            source: Source::Value(Expression::Literal(Value::Nil)),
            limit: None,
            offset: None,
            reversed: false,
            body: Template::new(Vec::new()),
            otherwise: None,
        }
    }

    /// The part of `size` items that `offset` and `limit` select: the first item and the number of items.
    fn part(&self, size: i64, runtime: &dyn Runtime) -> Result<(i64, i64)> {
        let offset = self.offset.as_ref().map_or(Ok(0), |offset| integer(offset, runtime))?.clamp(0, size);
        let limit = self.limit.as_ref().map_or(Ok(size), |limit| integer(limit, runtime))?.max(0);
        Ok((offset, limit.min(size - offset)))
    }

    fn turns<'i>(
        &self,
        writer: &mut dyn Write,
        runtime: &dyn Runtime,
        count: i64,
        item: &dyn Fn(i64) -> LoopItem<'i>,
    ) -> Result<()> {
        let meter = meter(runtime)?;
        for turn in 0..count {
            meter.step(0)?;
            let at = if self.reversed { count - 1 - turn } else { turn };
            let item = item(at);
            let forloop = forloop(turn, count);
            let frame = LoopFrame { parent: runtime, name: &self.name, item: item.view(), forloop: &forloop };
            self.body.render_to(writer, &frame)?;
            let interrupt = runtime.registers().get_mut::<InterruptRegister>().reset();
            if matches!(interrupt, Some(Interrupt::Break)) {
                break;
            }
        }
        Ok(())
    }

    fn nothing(&self, writer: &mut dyn Write, runtime: &dyn Runtime) -> Result<()> {
        self.otherwise.as_ref().map_or(Ok(()), |otherwise| otherwise.render_to(writer, runtime))
    }
}

/// An item of a loop.
enum LoopItem<'a> {
    Borrowed(&'a dyn ValueView),
    Owned(Value),
}

impl LoopItem<'_> {
    fn view(&self) -> &dyn ValueView {
        match self {
            LoopItem::Borrowed(view) => *view,
            LoopItem::Owned(value) => value.as_view(),
        }
    }
}

fn forloop(turn: i64, count: i64) -> Value {
    let mut object = Object::new();
    for (name, value) in [
        ("index", turn + 1),
        ("index0", turn),
        ("rindex", count - turn),
        ("rindex0", count - turn - 1),
        ("length", count),
    ] {
        object.insert(name.into(), Value::scalar(value));
    }
    object.insert("first".into(), Value::scalar(turn == 0));
    object.insert("last".into(), Value::scalar(turn == count - 1));
    Value::Object(object)
}

fn integer(expression: &Expression, runtime: &dyn Runtime) -> Result<i64> {
    let value = expression.evaluate(runtime)?;
    let number = value.as_scalar().and_then(|scalar| scalar.to_integer());
    number.ok_or_else(|| Error::with_msg("a whole number is expected in \"for\""))
}

impl Renderable for ForBlock {
    fn render_to(&self, writer: &mut dyn Write, runtime: &dyn Runtime) -> Result<()> {
        let value = match &self.source {
            Source::Range(first, last) => {
                let (first, last) = (integer(first, runtime)?, integer(last, runtime)?);
                let size = last.saturating_sub(first).saturating_add(1).max(0);
                let (offset, count) = self.part(size, runtime)?;
                return match count {
                    0 => self.nothing(writer, runtime),
                    _ => self.turns(writer, runtime, count, &|at| {
                        LoopItem::Owned(Value::scalar(first.saturating_add(offset).saturating_add(at)))
                    }),
                };
            }
            Source::Value(expression) => expression.evaluate(runtime)?,
        };
        let items: Vec<LoopItem<'_>> = match (value.as_array(), value.as_object()) {
            (Some(items), _) => items.values().map(LoopItem::Borrowed).collect(),
            (None, Some(members)) => members.iter().map(|(key, value)| pair(key.as_str(), value)).collect(),
            (None, None) => Vec::new(),
        };
        let (offset, count) = self.part(i64::try_from(items.len()).unwrap_or(i64::MAX), runtime)?;
        if count == 0 {
            return self.nothing(writer, runtime);
        }
        self.turns(writer, runtime, count, &|at| {
            let item = usize::try_from(offset + at).ok().and_then(|at| items.get(at));
            item.map_or(LoopItem::Owned(Value::Nil), |item| LoopItem::Borrowed(item.view()))
        })
    }
}

/// A member of an object is a pair: `item[0]` is its name, `item[1]` its value.
fn pair(key: &str, value: &dyn ValueView) -> LoopItem<'static> {
    LoopItem::Owned(Value::Array(vec![Value::scalar(key.to_owned()), value.to_value()]))
}

#[derive(Debug)]
struct Capture {
    name: KString,
    body: Template,
}

impl Capture {
    fn parse(
        mut arguments: TagTokenIter<'_>,
        mut block: TagBlock<'_, '_>,
        language: &Language,
    ) -> Result<Box<dyn Renderable>> {
        let name = arguments.expect_next("Identifier expected.")?.expect_identifier().into_result()?;
        let name = KString::from_ref(name);
        arguments.expect_nothing()?;
        Ok(Box::new(Capture { name, body: Template::new(block.parse_all(language)?) }))
    }
}

impl Renderable for Capture {
    fn render_to(&self, _: &mut dyn Write, runtime: &dyn Runtime) -> Result<()> {
        let mut output = MeteredOutput::new(meter(runtime)?);
        self.body.render_to(&mut output, runtime)?;
        let text = String::from_utf8(output.into_bytes()).unwrap_or_default();
        runtime.set_global(self.name.clone(), Value::scalar(text));
        Ok(())
    }
}

/// `{% assign name = value | filter %}`.
#[derive(Clone, Copy, Debug)]
pub(super) struct AssignTag;

impl TagReflection for AssignTag {
    fn tag(&self) -> &'static str {
        "assign"
    }
    fn description(&self) -> &'static str {
        ""
    }
}

impl ParseTag for AssignTag {
    fn parse(&self, mut arguments: TagTokenIter<'_>, language: &Language) -> Result<Box<dyn Renderable>> {
        let name = arguments.expect_next("Identifier expected.")?.expect_identifier().into_result()?;
        let name = KString::from_ref(name);
        arguments.expect_next("\"=\" expected.")?.expect_str("=").into_result_custom_msg("\"=\" expected.")?;
        let value = arguments.expect_next("Value expected.")?.expect_filter_chain(language).into_result()?;
        arguments.expect_nothing()?;
        Ok(Box::new(Assign { name, value }))
    }

    fn reflection(&self) -> &dyn TagReflection {
        self
    }
}

/// `{% echo value | filter %}`, which is `{{ value | filter }}`.
#[derive(Clone, Copy, Debug)]
pub(super) struct EchoTag;

impl TagReflection for EchoTag {
    fn tag(&self) -> &'static str {
        "echo"
    }
    fn description(&self) -> &'static str {
        ""
    }
}

impl ParseTag for EchoTag {
    fn parse(&self, mut arguments: TagTokenIter<'_>, language: &Language) -> Result<Box<dyn Renderable>> {
        let value = arguments.expect_next("Value expected.")?.expect_filter_chain(language).into_result()?;
        arguments.expect_nothing()?;
        Ok(Box::new(value))
    }

    fn reflection(&self) -> &dyn TagReflection {
        self
    }
}

#[derive(Debug)]
struct Assign {
    name: KString,
    value: FilterChain,
}

impl Renderable for Assign {
    fn render_to(&self, _: &mut dyn Write, runtime: &dyn Runtime) -> Result<()> {
        let value = self.value.evaluate(runtime)?;
        let meter = meter(runtime)?;
        meter.charge_value(value.as_view())?;
        runtime.set_global(self.name.clone(), value.into_owned());
        Ok(())
    }
}
