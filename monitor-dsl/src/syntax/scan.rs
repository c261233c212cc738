//! What stands outside of quoted texts and comments, read as the grammar reads it.
//!
//! Both the guard before parsing and the messages after it look at brackets; they must agree with the
//! grammar on what a comment is, or a bracket hidden from them could still make the parser recurse.

/// The characters outside of texts and comments, with their places.
pub(super) struct CodeCharacters<'a> {
    text: &'a str,
    index: usize,
    /// The quote of a text that is not closed on its line.
    pub(super) unclosed: Option<usize>,
}

impl<'a> CodeCharacters<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        CodeCharacters {
            text,
            index: 0,
            unclosed: None,
        }
    }

    /// The length of the text in quotes at the start of `rest`, which begins with a quote.
    fn quoted(&mut self, rest: &str) -> usize {
        let mut characters = rest.char_indices().skip(1);
        while let Some((index, character)) = characters.next() {
            match character {
                '"' => return index + 1,
                '\n' => {
                    self.unclosed.get_or_insert(self.index);
                    return index;
                }
                '\\' => drop(characters.next()),
                _ => {}
            }
        }
        self.unclosed.get_or_insert(self.index);
        rest.len()
    }
}

impl Iterator for CodeCharacters<'_> {
    type Item = (usize, char);

    fn next(&mut self) -> Option<(usize, char)> {
        loop {
            let rest = &self.text[self.index..];
            let character = rest.chars().next()?;
            if character == '"' {
                self.index += self.quoted(rest);
            } else if rest.starts_with("//") {
                self.index += rest.find('\n').unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                self.index += comment.find("*/").map_or(rest.len(), |end| end + 4);
            } else {
                let index = self.index;
                self.index += character.len_utf8();
                return Some((index, character));
            }
        }
    }
}
