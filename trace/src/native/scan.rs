//! The short way through a line that has nothing unusual in it.
//!
//! Nearly every line of a trace is one object of names and numbers: no escapes, nothing nested. Such
//! a line is cut here in one pass. At the first thing that is unusual, be it an error, the whole
//! line is left to `serde_json`: what is accepted here is what it accepts, with the same parts,
//! and all error messages are its business.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::fields::Entry;

/// Adds the entries of a plain object. `None` if the line is not that plain; some may have been
/// added then.
pub(super) fn plain_object<'a>(
    text: &'a str,
    entries: &mut SmallVec<[Entry<'a>; 8]>,
) -> Option<()> {
    let bytes = text.as_bytes();
    let mut at = skip_blanks(bytes, 0);
    if *bytes.get(at)? != b'{' {
        return None;
    }
    at = skip_blanks(bytes, at + 1);
    if bytes.get(at) == Some(&b'}') {
        return (skip_blanks(bytes, at + 1) == bytes.len()).then_some(());
    }
    loop {
        let key_end = plain_string(bytes, at)?;
        let key = &text[at + 1..key_end - 1];
        at = skip_blanks(bytes, key_end);
        if *bytes.get(at)? != b':' {
            return None;
        }
        at = skip_blanks(bytes, at + 1);
        let end = match *bytes.get(at)? {
            b'"' => plain_string(bytes, at)?,
            b'-' | b'0'..=b'9' => integer(bytes, at)?,
            b't' => literal(bytes, at, b"true")?,
            b'f' => literal(bytes, at, b"false")?,
            _ => return None,
        };
        entries.push((Cow::Borrowed(key), Some(&text[at..end])));
        at = skip_blanks(bytes, end);
        match *bytes.get(at)? {
            b',' => at = skip_blanks(bytes, at + 1),
            b'}' => return (skip_blanks(bytes, at + 1) == bytes.len()).then_some(()),
            _ => return None,
        }
    }
}

fn skip_blanks(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
        at += 1;
    }
    at
}

/// The end of a string without escapes that begins here.
fn plain_string(bytes: &[u8], at: usize) -> Option<usize> {
    if *bytes.get(at)? != b'"' {
        return None;
    }
    let length = bytes[at + 1..]
        .iter()
        .position(|&b| b == b'"' || b == b'\\' || b < 0x20)?;
    let end = at + 1 + length;
    (bytes[end] == b'"').then_some(end + 1)
}

/// The end of an integer that begins here; one with a fraction or an exponent is not plain.
fn integer(bytes: &[u8], at: usize) -> Option<usize> {
    let digits = at + usize::from(bytes[at] == b'-');
    let length = bytes[digits..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let end = digits + length;
    let leading_zero = length > 1 && bytes[digits] == b'0';
    let more = matches!(bytes.get(end), Some(b'.' | b'e' | b'E'));
    (length > 0 && !leading_zero && !more).then_some(end)
}

fn literal(bytes: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    bytes[at..].starts_with(word).then_some(at + word.len())
}

#[cfg(test)]
mod tests {
    use smallvec::SmallVec;

    use super::{super::fields::Fields, plain_object};

    #[test]
    fn what_is_accepted_is_what_serde_json_accepts() {
        let pieces = [
            "{",
            "}",
            "\"",
            "a",
            "\"t\"",
            ":",
            ",",
            " ",
            "0",
            "1",
            "-",
            "12",
            "true",
            "false",
            "t",
            "\\",
            "\u{1}",
            "é",
            "[",
            "]",
            ".",
            "e",
            "\"b\": 1",
            "\"c\":\"d\"",
            "null",
            "\t",
        ];
        let mut random = 1u64;
        let mut below = |n: usize| {
            random = random
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (random >> 33) as usize % n
        };
        let entries = [
            "\"b\": 1",
            "\"c\":\"d\"",
            "\"é\" : -0",
            "\"\":true",
            "\"f\":  false",
            "\"n\": 10",
        ];
        let mut plain = 0;
        for _ in 0..100_000 {
            let chosen: Vec<&str> = (0..below(4))
                .map(|_| entries[below(entries.len())])
                .collect();
            let mut text = format!("{{{}}}", chosen.join([",", " , "][below(2)]));
            // Half of the lines get something that belongs there or not.
            for _ in 0..below(4).saturating_sub(1) {
                let at = below(text.len() + 1);
                if text.is_char_boundary(at) {
                    text.insert_str(at, pieces[below(pieces.len())]);
                }
            }
            let mut found = SmallVec::new();
            if plain_object(&text, &mut found).is_none() {
                continue;
            }
            plain += 1;
            let expected: Vec<_> = Fields::parse_any(&text).unwrap_or_else(|_| panic!("{text}"));
            assert_eq!(found.as_slice(), expected, "{text}");
        }
        assert!(plain > 50_000, "{plain}");
    }
}
