//! A Markdown document as text for a terminal: as much of Markdown as the documents use.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use std::mem;

use super::{
    TOPICS,
    lines::wrap,
    table,
    words::{Style, Words},
};
use portent_answer::Paint;

/// The indentation of code.
const CODE: &str = "    ";

/// Lays out a document.
pub(super) fn render(document: &str, width: usize, paint: Paint) -> String {
    let mut page = TerminalLayout {
        width,
        paint,
        text: String::new(),
        words: Words::default(),
        strong: 0,
        link: None,
        in_picture: false,
        lists: 0,
        bullet: false,
        rows: Vec::new(),
        code: None,
    };
    for event in Parser::new_ext(document, Options::ENABLE_TABLES) {
        page.take(event);
    }
    page.text
}

/// The output so far, and the current state of reading.
struct TerminalLayout {
    width: usize,
    paint: Paint,
    text: String,
    /// The words of the paragraph, heading or cell.
    words: Words,
    /// The number of surrounding highlighting styles.
    strong: usize,
    /// The target of the surrounding link.
    link: Option<String>,
    in_picture: bool,
    /// The number of surrounding lists.
    lists: usize,
    /// An item has begun and has no text yet.
    bullet: bool,
    /// The rows of the table.
    rows: Vec<Vec<Words>>,
    /// The language and the text of the code.
    code: Option<(String, String)>,
}

impl TerminalLayout {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some((_, code)) => code.push_str(&text),
                None => self.push(None, &text),
            },
            Event::Code(text) if self.paint.on => self.push(Some(Style::Code), &text),
            Event::Code(text) => self.push(Some(Style::Code), &format!("`{text}`")),
            Event::SoftBreak | Event::HardBreak => self.push(None, " "),
            _ => {}
        }
    }

    fn push(&mut self, style: Option<Style>, text: &str) {
        let surrounding = match self.strong {
            0 => Style::Plain,
            _ => Style::Strong,
        };
        if !self.in_picture {
            self.words.push(style.unwrap_or(surrounding), text);
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { .. } | Tag::Strong | Tag::Emphasis => self.strong += 1,
            Tag::Link { dest_url, .. } => self.link = Some(dest_url.into_string()),
            Tag::Image { .. } => self.in_picture = true,
            Tag::List(_) => {
                self.gap();
                self.lists += 1;
            }
            Tag::Item => self.bullet = true,
            Tag::TableHead => {
                self.strong += 1;
                self.rows.push(Vec::new());
            }
            Tag::TableRow => self.rows.push(Vec::new()),
            Tag::CodeBlock(kind) => {
                let language = match kind {
                    CodeBlockKind::Fenced(language) => language.into_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((language, String::new()));
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Strong | TagEnd::Emphasis | TagEnd::TableHead => self.strong -= 1,
            TagEnd::Heading(level) => {
                self.strong -= 1;
                self.heading(level);
            }
            TagEnd::Paragraph => {
                if self.lists == 0 {
                    self.gap();
                }
                self.paragraph();
            }
            TagEnd::Item => self.paragraph(),
            TagEnd::List(_) => self.lists -= 1,
            TagEnd::Link => {
                let target = self.link.take();
                if let Some(place) = target.and_then(|target| place(&target)) {
                    self.words.push(Style::Plain, &format!(" ({place})"));
                }
            }
            TagEnd::Image => self.in_picture = false,
            TagEnd::TableCell => {
                let cell = mem::take(&mut self.words);
                self.rows.last_mut().expect("a cell is in a row").push(cell);
            }
            TagEnd::Table => {
                self.gap();
                let rows = mem::take(&mut self.rows);
                self.text += &table::render(&rows, self.width, self.paint);
            }
            TagEnd::CodeBlock => self.code(),
            _ => {}
        }
    }

    /// An empty line, unless the page begins here.
    fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    fn heading(&mut self, level: HeadingLevel) {
        self.gap();
        let words = mem::take(&mut self.words);
        let mut widest = 0;
        for line in wrap(&words, self.width, self.paint) {
            self.text += &line.shown;
            self.text.push('\n');
            widest = widest.max(line.width);
        }
        let rule = match level {
            HeadingLevel::H1 => "═",
            HeadingLevel::H2 => "─",
            _ => return,
        };
        self.text += &self.paint.dim(&rule.repeat(widest));
        self.text.push('\n');
    }

    /// What was read so far, with a bullet if it begins an item.
    fn paragraph(&mut self) {
        let words = mem::take(&mut self.words);
        let indent = "  ".repeat(self.lists);
        for line in wrap(&words, self.width - indent.len(), self.paint) {
            if mem::take(&mut self.bullet) {
                self.text += &indent[2..];
                self.text += "- ";
            } else {
                self.text += &indent;
            }
            self.text += &line.shown;
            self.text.push('\n');
        }
    }

    /// Code is printed unchanged, however wide.
    fn code(&mut self) {
        let Some((language, code)) = self.code.take() else {
            return;
        };
        self.gap();
        for line in code.lines() {
            let is_command = language == "console" && line.starts_with("$ ");
            let shown = if is_command {
                self.paint.bold(line)
            } else {
                line.to_owned()
            };
            self.text += format!("{CODE}{shown}").trim_end();
            self.text.push('\n');
        }
    }
}

/// Where a link leads, if that is not on the same page: another topic, or an address.
fn place(target: &str) -> Option<String> {
    let (file, _) = target.split_once('#').unwrap_or((target, ""));
    let name = file.strip_suffix(".md");
    match TOPICS.iter().find(|(topic, _)| Some(*topic) == name) {
        Some((topic, _)) => Some(format!("portent help {topic}")),
        None => target.contains("://").then(|| target.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::*;

    const PLAIN: Paint = Paint { on: false };

    #[test]
    fn every_kind_of_block() {
        let document = "\
# One

Some *words* with `code`, a [link](traces.md#x), [another](https://a.example/) and [here](#one).
![A picture](a.png)

## Two

- an item
  over two lines
- **another** item

| name | what it says |
|---|---|
| `a \\| b` | a text that is too long for a column, so that it is broken |
| c | |

```console
$ portent demo
  as printed
```
";
        let expected = "\
One
═══

Some words with `code`, a link (portent
help traces), another
(https://a.example/) and here.

Two
───

- an item over two lines
- another item

name     what it says
───────  ───────────────────────────────
`a | b`  a text that is too long for a
         column, so that it is broken
c

    $ portent demo
      as printed
";
        assert_eq!(render(document, 40, PLAIN), expected);
    }

    #[test]
    fn colours_stand_for_marks() {
        let coloured = render("**a** `b c`", 40, Paint { on: true });
        assert_eq!(coloured, "\u{1b}[1ma\u{1b}[0m \u{1b}[36mb c\u{1b}[0m\n");
    }

    #[test]
    fn lines_fit_at_every_width() {
        for (topic, document) in TOPICS {
            for width in [40, 60, 80, 120] {
                let text = render(document, width, PLAIN);
                for line in text.lines().filter(|line| !line.starts_with(CODE)) {
                    assert!(line.width() <= width, "{topic}, {width}: {line}");
                }
            }
        }
    }
}
