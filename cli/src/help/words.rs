//! Text as words, each with its style, so that lines can be broken between them.

use unicode_width::UnicodeWidthStr;

use portent_answer::Paint;

/// Code with blanks in it is one word up to this length.
const UNBROKEN: usize = 30;

/// The style of a piece of text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Strong,
    Code,
}

/// The text between two blanks.
#[derive(Clone, Default)]
pub(super) struct Word {
    pieces: Vec<(Style, String)>,
}

impl Word {
    pub(super) fn width(&self) -> usize {
        self.pieces.iter().map(|(_, text)| text.width()).sum()
    }

    pub(super) fn show(&self, paint: Paint) -> String {
        let show = |(style, text): &(Style, String)| match style {
            Style::Plain => text.clone(),
            Style::Strong => paint.bold(text),
            Style::Code => paint.cyan(text),
        };
        self.pieces.iter().map(show).collect()
    }

    fn push(&mut self, style: Style, c: char) {
        match self.pieces.last_mut() {
            Some((last, text)) if *last == style => text.push(c),
            _ => self.pieces.push((style, c.to_string())),
        }
    }

    /// Cuts off the part that exceeds a width.
    pub(super) fn split(&self, width: usize) -> (Word, Word) {
        let (mut first, mut rest) = (Word::default(), Word::default());
        for (style, text) in &self.pieces {
            for c in text.chars() {
                let fits = first.width() < width && rest.pieces.is_empty();
                let part = if fits { &mut first } else { &mut rest };
                part.push(*style, c);
            }
        }
        (first, rest)
    }
}

/// The words of a paragraph, a heading or a cell.
#[derive(Clone, Default)]
pub(super) struct Words {
    pub(super) all: Vec<Word>,
    /// Whether the last word may still grow.
    open: bool,
}

impl Words {
    pub(super) fn push(&mut self, style: Style, text: &str) {
        let unbroken = style == Style::Code && text.width() <= UNBROKEN;
        for c in text.chars() {
            if c.is_whitespace() && !unbroken {
                self.open = false;
                continue;
            }
            if !self.open {
                self.all.push(Word::default());
                self.open = true;
            }
            if let Some(word) = self.all.last_mut() {
                word.push(style, c);
            }
        }
    }

    /// Their width on one line.
    pub(super) fn width(&self) -> usize {
        let words: usize = self.all.iter().map(Word::width).sum();
        words + self.all.len().saturating_sub(1)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}
