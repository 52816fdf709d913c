//! Plain text for programs that do not show HTML.

/// Elements whose content is not shown.
const HIDDEN: &[&str] = &["head", "script", "style", "title"];

/// Elements that begin a new line.
const BLOCKS: &[&str] = &[
    "address",
    "blockquote",
    "br",
    "div",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "section",
    "table",
    "tr",
    "ul",
];

const ENTITIES: &[(&str, &str)] =
    &[("nbsp", " "), ("lt", "<"), ("gt", ">"), ("quot", "\""), ("apos", "'"), ("euro", "€"), ("amp", "&")];

/// Bytes of the longest entity, such as `&#128512;`. Looking further would take quadratic time.
const LONGEST_ENTITY: usize = 9;

/// The text of a document, with a line for each block. Addresses of links follow their text.
pub fn of_html(html: &str) -> String {
    let mut lines = Lines::default();
    let mut link = None;
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        lines.push(&rest[..start]);
        rest = &rest[start..];
        let end = if rest.starts_with("<!--") { rest.find("-->").map(|at| at + 2) } else { rest.find('>') };
        let Some(end) = end else { break };
        let tag = rest[1..end].trim();
        rest = &rest[end + 1..];
        let (is_end, tag) = tag.strip_prefix('/').map_or((false, tag), |tag| (true, tag));
        let name = tag.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default().to_ascii_lowercase();
        if !is_end && HIDDEN.contains(&&*name) {
            rest = after_element(rest, &name);
        } else if name == "a" && is_end {
            lines.push_link(link.take());
        } else if name == "a" {
            link = href(tag).map(|address| Link { address, start: lines.line.len() });
        } else if BLOCKS.contains(&&*name) {
            lines.end_line();
        }
    }
    lines.push(rest);
    lines.finish()
}

/// What follows the end tag of an element, which may contain anything else.
fn after_element<'a>(inside: &'a str, name: &str) -> &'a str {
    let mut end_tags = inside.match_indices("</").map(|(at, _)| &inside[at + 2..]);
    let end = end_tags.find(|tag| tag.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)));
    end.and_then(|tag| tag.split_once('>')).map_or("", |(_, after)| after)
}

struct Link {
    address: String,
    /// Where its text begins in the line.
    start: usize,
}

/// Text in lines, in which white space is a blank.
#[derive(Default)]
struct Lines {
    done: String,
    line: String,
}

impl Lines {
    fn push(&mut self, raw: &str) {
        let raw = decode(raw);
        if raw.starts_with(char::is_whitespace) && !self.line.ends_with(' ') {
            self.line.push(' ');
        }
        let words: Vec<&str> = raw.split_whitespace().collect();
        self.line.push_str(&words.join(" "));
        if !words.is_empty() && raw.ends_with(char::is_whitespace) {
            self.line.push(' ');
        }
    }

    /// Adds the address of a link, unless its text is the address.
    fn push_link(&mut self, link: Option<Link>) {
        let Some(Link { address, start }) = link else { return };
        if !self.line.get(start..).unwrap_or(&self.line).contains(&address) {
            let text = self.line.trim_end().len();
            self.line.truncate(text);
            self.line.push_str(&format!(" <{address}>"));
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        if !line.trim().is_empty() {
            self.done.push_str(line.trim());
            self.done.push('\n');
        }
    }

    fn finish(mut self) -> String {
        self.end_line();
        self.done
    }
}

/// The address in the tag of a link.
fn href(tag: &str) -> Option<String> {
    let at = tag.to_ascii_lowercase().find("href=")?;
    let value = tag.get(at + "href=".len()..)?;
    let value = match value.chars().next()? {
        quote @ ('"' | '\'') => value[1..].split(quote).next()?,
        _ => value.split_whitespace().next()?,
    };
    let address = decode(value);
    (address.starts_with("http://") || address.starts_with("https://")).then_some(address)
}

fn decode(text: &str) -> String {
    let mut decoded = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        decoded.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.bytes().take(LONGEST_ENTITY).position(|byte| byte == b';');
        let entity = end.and_then(|end| Some((end, character(&rest[1..end])?)));
        let (length, character) = entity.map_or((1, "&".to_owned()), |(end, character)| (end + 1, character));
        decoded.push_str(&character);
        rest = &rest[length..];
    }
    decoded.push_str(rest);
    decoded
}

fn character(name: &str) -> Option<String> {
    let Some(number) = name.strip_prefix('#') else {
        return ENTITIES.iter().find(|(entity, _)| *entity == name).map(|(_, text)| (*text).to_owned());
    };
    let code = match number.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => number.parse().ok()?,
    };
    char::from_u32(code).map(String::from)
}

#[cfg(test)]
mod tests {
    use super::of_html;

    /// A megabyte took hours when each of these looked through all that follows it.
    #[test]
    fn the_time_is_linear() {
        for (repeated, text) in [("&", "&"), ("<style></style>", ""), ("<", ""), ("<!-", ""), ("<a href=x>", "")] {
            let html = repeated.repeat(1_000_000 / repeated.len());
            let shown = of_html(&html);
            assert!(text.is_empty() || shown.trim_end() == text.repeat(1_000_000), "{repeated}");
        }
        let links: String = (0..50_000).map(|number| format!("<a href=http://x.example/{number}>x</a>")).collect();
        assert_eq!(of_html(&links).matches(" <http://x.example/").count(), 50_000);
    }

    #[test]
    fn the_text_of_a_document() {
        for (html, text) in [
            ("", ""),
            ("plain", "plain\n"),
            ("<p>It is on its way.</p>", "It is on its way.\n"),
            ("<p>One</p><p>Two<br>Three</p>", "One\nTwo\nThree\n"),
            ("<p>A  <b>bold</b>\n word</p>", "A bold word\n"),
            ("<head><title>no</title></head><style>p { a < b }</style><p>yes</p>", "yes\n"),
            ("<script>if (a < b) { '</p>' }</script>yes", "yes\n"),
            ("<!-- a > b -->yes", "yes\n"),
            (
                "<a href=\"https://shop.example/?a=1&amp;b=2\">Your order</a>.",
                "Your order <https://shop.example/?a=1&b=2>.\n",
            ),
            ("<a href='javascript:alert(1)'>no address</a>", "no address\n"),
            ("<a href=https://shop.example>https://shop.example</a>", "https://shop.example\n"),
            ("5 &lt; 6 &amp;&amp; 7 &#8364; &#x20AC; &unknown; & more", "5 < 6 && 7 € € &unknown; & more\n"),
            ("<ul><li>a</li><li>b</li></ul>", "a\nb\n"),
            ("not closed <b", "not closed <b\n"),
            ("ÄÖ<p>ü&é;</p>", "ÄÖ\nü&é;\n"),
        ] {
            assert_eq!(of_html(html), text, "{html}");
        }
    }
}
