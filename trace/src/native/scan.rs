//! The fast path for ordinary lines.
//!
//! Nearly every line of a trace is one object of names and numbers, at most with a list or an
//! object of such in it, and without escapes. Such a line is split here in one pass. At the first
//! unusual character, or an error, the whole line is left to `serde_json`: this code accepts only lines
//! that `serde_json` accepts, with the same parts, and produces no error messages.

use std::ops::Range;

/// A part of a text.
pub(super) type Span = Range<usize>;

/// A key of an object without its quotes, or a value as it is written.
#[derive(Clone, Default)]
pub(super) struct Part {
    pub(super) span: Span,
    /// A key, or the text in the quotes of a value, as [`packed`] represents it if it is [short](is_short).
    pub(super) word: u64,
}

/// A number that no short text packs into.
pub(super) const NO_WORD: u64 = u64::MAX;

/// Whether this is a packed text.
#[inline]
pub(super) fn is_short(word: u64) -> bool {
    // The eighth byte is free, and a text has no byte that is 0.
    word >> 56 == 0
}

/// A text of fewer than eight bytes as one number, so that a comparison is one instruction.
pub(super) const fn packed(text: &[u8]) -> Option<u64> {
    if text.len() >= 8 {
        return None;
    }
    let (mut word, mut i) = (0, 0);
    while i < text.len() {
        word |= (text[i] as u64) << (8 * i);
        i += 1;
    }
    Some(word)
}

/// Calls back with the keys and the values of a plain object in order. `None` if the text is not that plain;
/// some may have been passed by then.
#[inline(always)] // with a caller that puts things in their places it is one loop
pub(super) fn plain_object(text: &[u8], each: impl FnMut(Part, Part)) -> Option<()> {
    let wordless = |end| (NO_WORD, end);
    let flat = |text: &[u8], at| scalar(text, at).map(wordless);
    let value = |text: &[u8], at| match text.get(at)? {
        b'"' => first_word(text, at),
        b'{' => object(text, at, flat, |_, _| ()).map(wordless),
        b'[' => array(text, at, |_| ()).map(wordless),
        _ => flat(text, at),
    };
    let end = object(text, skip_blanks(text, 0), value, each)?;
    (skip_blanks(text, end) == text.len()).then_some(())
}

/// Calls back with the values of a plain array in order, as [`plain_object`] does.
pub(super) fn plain_array(text: &[u8], each: impl FnMut(Span)) -> Option<()> {
    (array(text, 0, each)? == text.len()).then_some(())
}

/// The end of the object that begins here, and whose values end where `value` says.
#[inline(always)]
fn object(
    bytes: &[u8],
    at: usize,
    value: impl Fn(&[u8], usize) -> Option<(u64, usize)>,
    mut each: impl FnMut(Part, Part),
) -> Option<usize> {
    if *bytes.get(at)? != b'{' {
        return None;
    }
    let mut at = skip_blanks(bytes, at + 1);
    if *bytes.get(at)? == b'}' {
        return Some(at + 1);
    }
    loop {
        let (word, key_end) = first_word(bytes, at)?;
        let span = at + 1..key_end - 1;
        let key = Part { span, word };
        at = skip_blanks(bytes, key_end);
        if *bytes.get(at)? != b':' {
            return None;
        }
        at = skip_blanks(bytes, at + 1);
        let (word, end) = value(bytes, at)?;
        let span = at..end;
        each(key, Part { span, word });
        at = skip_blanks(bytes, end);
        match *bytes.get(at)? {
            b',' => at = skip_blanks(bytes, at + 1),
            b'}' => return Some(at + 1),
            _ => return None,
        }
    }
}

/// The end of the flat list that begins here.
fn array(bytes: &[u8], at: usize, mut each: impl FnMut(Span)) -> Option<usize> {
    if *bytes.get(at)? != b'[' {
        return None;
    }
    let mut at = skip_blanks(bytes, at + 1);
    if *bytes.get(at)? == b']' {
        return Some(at + 1);
    }
    loop {
        let end = scalar(bytes, at)?;
        each(at..end);
        at = skip_blanks(bytes, end);
        match *bytes.get(at)? {
            b',' => at = skip_blanks(bytes, at + 1),
            b']' => return Some(at + 1),
            _ => return None,
        }
    }
}

/// The end of a string without escapes, a number, or a truth value.
#[inline]
fn scalar(bytes: &[u8], at: usize) -> Option<usize> {
    match *bytes.get(at)? {
        b'"' => plain_string(bytes, at),
        b'-' | b'0'..=b'9' => number(bytes, at),
        b't' => literal(bytes, at, b"true"),
        b'f' => literal(bytes, at, b"false"),
        _ => None,
    }
}

/// The first non-blank place from here on; there is rarely more than one blank.
#[inline(always)]
fn skip_blanks(bytes: &[u8], at: usize) -> usize {
    let is_dark = |at: usize| bytes.get(at).is_some_and(|&byte| byte > b' ');
    if is_dark(at) {
        at
    } else if bytes.get(at) == Some(&b' ') && is_dark(at + 1) {
        at + 1
    } else {
        skip_many_blanks(bytes, at)
    }
}

#[cold]
fn skip_many_blanks(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
        at += 1;
    }
    at
}

/// The end of a string without escapes that begins here.
#[inline(always)]
fn plain_string(bytes: &[u8], at: usize) -> Option<usize> {
    first_word(bytes, at).map(|(_, end)| end)
}

/// A string without escapes that begins here: its first eight bytes, those behind its end as 0, and
/// its end.
#[inline(always)]
fn first_word(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    if *bytes.get(at)? != b'"' {
        return None;
    }
    // Eight bytes at a time: names are short, and their lengths are unpredictable for the
    // processor, which would pay for every misprediction at a loop's end.
    let start = at + 1;
    let word = eight(bytes, start)?;
    let special = special_bytes(word);
    if special == 0 {
        return Some((word, end_of_long(bytes, start + 8)?));
    }
    let length = special.trailing_zeros() / 8;
    let before = word & !(u64::MAX << (8 * length));
    let end = start + length as usize;
    (bytes.get(end) == Some(&b'"')).then_some((before, end + 1))
}

/// The end of a string without escapes whose rest begins here.
fn end_of_long(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let special = special_bytes(eight(bytes, at)?);
        if special != 0 {
            at += special.trailing_zeros() as usize / 8;
            return (bytes.get(at) == Some(&b'"')).then_some(at + 1);
        }
        at += 8;
    }
}

/// The eight bytes from here on; those behind the end are 0, which cannot stand in a string.
#[inline(always)]
fn eight(bytes: &[u8], at: usize) -> Option<u64> {
    if let Some(word) = bytes.get(at..at + 8) {
        return word.try_into().ok().map(u64::from_le_bytes);
    }
    let rest = bytes.get(at..)?;
    match bytes.last_chunk() {
        Some(last) => {
            // Fewer than eight are left. A shift by all bits would be undefined.
            let beyond = 8 * (8 - rest.len() as u32);
            Some(u64::from_le_bytes(*last).checked_shr(beyond).unwrap_or(0))
        }
        None => packed(rest),
    }
}

/// Marks the bytes that cannot stand in a string as they are: the lowest bit that is set belongs to
/// the first of them. (A mark above it may be wrong, because the subtractions borrow.)
#[inline]
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let is_zero = |bytes: u64| bytes.wrapping_sub(ONES) & !bytes;
    let quotes = is_zero(word ^ (ONES * b'"' as u64));
    let escapes = is_zero(word ^ (ONES * b'\\' as u64));
    let controls = word.wrapping_sub(ONES * 0x20) & !word;
    (quotes | escapes | controls) & HIGH
}

/// The end of a number that begins here.
#[inline]
fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let start = at + usize::from(bytes[at] == b'-');
    let mut end = digits(bytes, start)?;
    if end - start > 1 && bytes[start] == b'0' {
        return None;
    }
    if bytes.get(end) == Some(&b'.') {
        end = digits(bytes, end + 1)?;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        end = digits(bytes, end + 1 + sign)?;
    }
    Some(end)
}

/// The end of the digits that begin here, at least one.
#[inline]
fn digits(bytes: &[u8], start: usize) -> Option<usize> {
    let mut end = start;
    while bytes.get(end).is_some_and(u8::is_ascii_digit) {
        end += 1;
    }
    (end > start).then_some(end)
}

fn literal(bytes: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    bytes[at..].starts_with(word).then_some(at + word.len())
}

#[cfg(test)]
mod tests {
    use super::{
        super::entries::by_serde, Part, is_short, packed, plain_array, plain_object, plain_string,
    };

    /// Text that may be inserted into a line, whether it is valid there or not.
    const PIECES: [&str; 28] = [
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
        "E+",
        "\"b\": 1",
        "\"c\":\"d\"",
        "null",
        "\t",
        "{}",
    ];
    const ENTRIES: [&str; 9] = [
        "\"b\": 1",
        "\"c\":\"d\"",
        "\"é\" : -0",
        "\"\":true",
        "\"f\":  false",
        "\"n\": 10.5e-3",
        "\"l\": [1, \"é\" ,true]",
        "\"o\": { \"p\": 1, \"q\":\"\"}",
        "\"m\": []",
    ];

    #[test]
    fn what_is_accepted_is_what_serde_json_accepts() {
        let mut random = 1u64;
        let mut below = |n: usize| {
            random = random
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (random >> 33) as usize % n
        };
        let mut plain = 0;
        for _ in 0..100_000 {
            let chosen: Vec<&str> = (0..below(4)).map(|_| ENTRIES[below(9)]).collect();
            let mut text = format!("{{{}}}", chosen.join([",", " , "][below(2)]));
            // Half of the lines get an insertion that may or may not be valid there.
            for _ in 0..below(4).saturating_sub(1) {
                let at = below(text.len() + 1);
                if text.is_char_boundary(at) {
                    text.insert_str(at, PIECES[below(PIECES.len())]);
                }
            }
            let mut found = Vec::new();
            let each = |key: Part, raw: Part| {
                let (key_text, raw_text) = (&text[key.span], &text[raw.span]);
                let short = |word| Some(word).filter(|word| is_short(*word));
                assert_eq!(short(key.word), packed(key_text.as_bytes()));
                let quoted = raw_text.strip_prefix('"');
                let quoted = quoted.and_then(|rest| rest.strip_suffix('"'));
                let expected = quoted.and_then(|quoted| packed(quoted.as_bytes()));
                assert_eq!(short(raw.word), expected);
                found.push((key_text.into(), raw_text));
            };
            if plain_object(text.as_bytes(), each).is_none() {
                continue;
            }
            plain += 1;
            let expected = by_serde(&text).unwrap_or_else(|_| panic!("{text}"));
            assert_eq!(found, expected, "{text}");
        }
        assert!(plain > 50_000, "{plain}");
    }

    #[test]
    fn the_first_special_byte_of_a_string() {
        // Every byte at every place, among others that are special further on or not at all.
        for byte in 0..=255u8 {
            for at in 0..20 {
                let mut text =
                    [0xc3, b'a', 0x7f, b'!', b'#', 0x20, b']', b'[', 0x80, 0xff].repeat(3);
                text[at] = byte;
                text[at + 1..].fill(0x1f);
                let quoted = [&b"\""[..], &text].concat();
                let expected = (byte == b'"').then_some(at + 2);
                assert_eq!(plain_string(&quoted, 0), expected, "{byte} at {at}");
                // The same at the end of the line.
                let line = &quoted[..at + 2];
                assert_eq!(plain_string(line, 0), expected, "{byte} at {at}");
                assert_eq!(plain_string(&line[..at + 1], 0), None);
            }
        }
    }

    #[test]
    fn lists() {
        for (text, expected) in [
            ("[]", Some(vec![])),
            (
                "[1, -2.5e3,\"a\" , true ]",
                Some(vec!["1", "-2.5e3", "\"a\"", "true"]),
            ),
            ("[1", None),
            ("[1,]", None),
            ("[[1]]", None),
            ("[1] ", None),
            ("[01]", None),
            ("[1.]", None),
            ("[1e]", None),
        ] {
            let mut found = Vec::new();
            let accepted =
                plain_array(text.as_bytes(), |raw| found.push(&text[raw])).map(|()| found);
            assert_eq!(accepted, expected, "{text}");
        }
    }
}
