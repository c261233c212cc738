//! The short way through a line that has nothing unusual in it.
//!
//! Nearly every line of a trace is one object of names and numbers, at most with a list or an
//! object of such in it, and without escapes. Such a line is cut here in one pass. At the first
//! thing that is unusual, be it an error, the whole line is left to `serde_json`: what is accepted
//! here is what it accepts, with the same parts, and all error messages are its business.

use std::ops::Range;

/// A part of a text.
pub(super) type Span = Range<usize>;

/// Tells the keys and the values of a plain object in order, the keys without their quotes. `None`
/// if the text is not that plain; some may have been told then.
#[inline(always)] // with a caller that puts things in their places it is one loop
pub(super) fn plain_object(text: &[u8], each: impl FnMut(Span, Span)) -> Option<()> {
    let value = |text: &[u8], at| match text.get(at)? {
        b'{' => object(text, at, scalar, |_, _| ()),
        b'[' => array(text, at, |_| ()),
        _ => scalar(text, at),
    };
    let end = object(text, skip_blanks(text, 0), value, each)?;
    (skip_blanks(text, end) == text.len()).then_some(())
}

/// Tells the values of a plain array in order, as [`plain_object`] does.
pub(super) fn plain_array(text: &[u8], each: impl FnMut(Span)) -> Option<()> {
    (array(text, 0, each)? == text.len()).then_some(())
}

/// The end of the object that begins here, and whose values end where `value` says.
#[inline(always)]
fn object(
    bytes: &[u8],
    at: usize,
    value: impl Fn(&[u8], usize) -> Option<usize>,
    mut each: impl FnMut(Span, Span),
) -> Option<usize> {
    if *bytes.get(at)? != b'{' {
        return None;
    }
    let mut at = skip_blanks(bytes, at + 1);
    if *bytes.get(at)? == b'}' {
        return Some(at + 1);
    }
    loop {
        let key_end = plain_string(bytes, at)?;
        let key = at + 1..key_end - 1;
        at = skip_blanks(bytes, key_end);
        if *bytes.get(at)? != b':' {
            return None;
        }
        at = skip_blanks(bytes, at + 1);
        let end = value(bytes, at)?;
        each(key, at..end);
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

#[inline]
fn skip_blanks(bytes: &[u8], mut at: usize) -> usize {
    if bytes.get(at).is_some_and(|&byte| byte > b' ') {
        return at;
    }
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
        at += 1;
    }
    at
}

/// The end of a string without escapes that begins here.
#[inline]
fn plain_string(bytes: &[u8], at: usize) -> Option<usize> {
    if *bytes.get(at)? != b'"' {
        return None;
    }
    let mut end = at + 1;
    // Eight bytes at a time: names are short, and how long each is cannot be guessed by the
    // processor, which would pay for every wrong guess of a loop's end.
    while let Some(word) = bytes
        .get(end..end + 8)
        .and_then(|word| word.try_into().ok())
    {
        let special = special_bytes(u64::from_le_bytes(word));
        if special != 0 {
            end += special.trailing_zeros() as usize / 8;
            return (bytes[end] == b'"').then_some(end + 1);
        }
        end += 8;
    }
    while !matches!(*bytes.get(end)?, b'"' | b'\\' | 0..0x20) {
        end += 1;
    }
    (bytes[end] == b'"').then_some(end + 1)
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
    use super::{super::entries::by_serde, Span, plain_array, plain_object, plain_string};

    /// What may be put into a line where it belongs or not.
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
            // Half of the lines get something that belongs there or not.
            for _ in 0..below(4).saturating_sub(1) {
                let at = below(text.len() + 1);
                if text.is_char_boundary(at) {
                    text.insert_str(at, PIECES[below(PIECES.len())]);
                }
            }
            let mut found = Vec::new();
            let each = |key: Span, raw: Span| found.push((text[key].into(), &text[raw]));
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
