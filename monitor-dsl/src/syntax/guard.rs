//! Refuses texts that no parser should be given: not UTF-8, too long, nested too deep.
//!
//! The grammar is recursive only in brackets, so that a look at the brackets is enough to know
//! that it cannot overflow the stack.

use std::sync::Arc;

use super::scan::CodeCharacters;
use crate::{
    diagnostic::{Diagnostic, Source},
    error::Error,
    syntax::Span,
};

/// The longest text, in bytes.
const MAX_LENGTH: usize = 1 << 20;
/// The deepest nesting of brackets.
const MAX_BRACKETS: usize = 200;

/// The text, if it can be given to the parser.
pub(crate) fn decode(file: Option<&str>, bytes: &[u8]) -> Result<Arc<Source>, Error> {
    let file = file.map(str::to_owned);
    if bytes.len() > MAX_LENGTH {
        let message = format!(
            "the text of a property has at most {MAX_LENGTH} bytes; this one has {}",
            bytes.len()
        );
        let start = String::from_utf8_lossy(&bytes[..40]).into_owned();
        let span = Span {
            start: 0,
            end: start.len(),
        };
        let text = start.into();
        let source = Arc::new(Source { file, text });
        return Err(Error::limit(Diagnostic::error(
            &source,
            span,
            message,
            "begins here",
        )));
    }
    // Some editors put a mark there, which is not part of the text.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(error) => {
            let valid = error.valid_up_to();
            let text = String::from_utf8_lossy(bytes).into();
            let span = Span {
                start: valid,
                end: valid + char::REPLACEMENT_CHARACTER.len_utf8(),
            };
            let message = format!("the text is not UTF-8: byte 0x{:02x}", bytes[valid]);
            let source = Arc::new(Source { file, text });
            let label = "not a character";
            return Err(Error::syntax(Diagnostic::error(
                &source, span, message, label,
            )));
        }
    };
    let source = Arc::new(Source { file, text });
    check_brackets(&source)?;
    Ok(source)
}

fn check_brackets(source: &Arc<Source>) -> Result<(), Error> {
    let mut depth = 0usize;
    for (index, character) in CodeCharacters::of(&source.text) {
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_BRACKETS {
            let span = Span {
                start: index,
                end: index + 1,
            };
            let message = format!("brackets nest more than {MAX_BRACKETS} deep");
            let diagnostic = Diagnostic::error(source, span, message, "one too many");
            return Err(Error::limit(diagnostic));
        }
    }
    Ok(())
}
