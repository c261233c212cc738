//! Words broken into lines.

use terminal_size::{Width, terminal_size};

use super::words::{Word, Words};
use portent_answer::Paint;

/// The width of a text if the terminal's is unknown.
const USUAL: usize = 100;
/// Longer lines are hard to read, and shorter ones leave no room for tables.
const WIDEST: usize = 120;
const NARROWEST: usize = 40;

/// The width for texts on standard output.
pub(super) fn width() -> usize {
    let terminal = terminal_size().map(|(Width(columns), _)| usize::from(columns));
    terminal.unwrap_or(USUAL).clamp(NARROWEST, WIDEST)
}

/// A printed line, and its width without colours.
pub(super) struct PrintedLine {
    pub(super) shown: String,
    pub(super) width: usize,
}

/// The lines of a text; none is wider, though a word may have to be broken.
pub(super) fn wrap(words: &Words, width: usize, paint: Paint) -> Vec<PrintedLine> {
    let mut lines: Vec<PrintedLine> = Vec::new();
    let mut add = |word: &Word| {
        let (shown, wide) = (word.show(paint), word.width());
        match lines.last_mut() {
            Some(line) if line.width + 1 + wide <= width => {
                line.shown.push(' ');
                line.shown += &shown;
                line.width += 1 + wide;
            }
            _ => lines.push(PrintedLine { shown, width: wide }),
        }
    };
    for word in &words.all {
        let mut rest = word.clone();
        while rest.width() > width {
            let (first, more) = rest.split(width);
            add(&first);
            rest = more;
        }
        add(&rest);
    }
    lines
}
