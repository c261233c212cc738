//! A schedule as a short text that a person can paste.
//!
//! The text is `p1-`, the schedule in base64url, `-`, and six characters that depend on what happened, so that a replay can tell whether
//! the same did. A schedule is stored as how often in a row each thread went on, most often one byte for each such segment:
//!
//! | byte | |
//! |---|---|
//! | `ttt lllll`, t < 6 | thread t goes on l times; l = 0: a number follows |
//! | `110 lllll` | the same of the thread whose number follows |
//! | `111 vvvvv` | value v is picked; v = 31: a number follows |

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

use crate::{error::Error, random::mix};

/// What was chosen at one point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chosen {
    Thread(u32),
    Value(u32),
}

/// Marks entries of a schedule that are values.
const VALUE: u32 = 1 << 31;

impl Chosen {
    /// As an entry of a schedule.
    pub(crate) fn entry(self) -> u32 {
        match self {
            Chosen::Thread(thread) => thread,
            Chosen::Value(value) => value | VALUE,
        }
    }

    pub(crate) fn of(entry: u32) -> Chosen {
        if entry & VALUE == 0 {
            Chosen::Thread(entry)
        } else {
            Chosen::Value(entry & !VALUE)
        }
    }
}

/// What can be replayed: a schedule, and what happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) schedule: Vec<u32>,
    pub(crate) fingerprint: u64,
}

const VERSION: &str = "p1";
const OWN_THREAD: u8 = 6;
const PICKED: u8 = 7;
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

impl Token {
    pub(crate) fn write(&self) -> String {
        let mut bytes = Vec::new();
        let mut rest = self.schedule.as_slice();
        while let Some(&entry) = rest.first() {
            let thread = match Chosen::of(entry) {
                Chosen::Value(value) => {
                    put(&mut bytes, PICKED, value, 31);
                    rest = &rest[1..];
                    continue;
                }
                Chosen::Thread(thread) => thread,
            };
            let length = rest.iter().take_while(|other| **other == entry).count();
            rest = &rest[length..];
            let (high, own) = match u8::try_from(thread) {
                Ok(high @ 0..OWN_THREAD) => (high, None),
                _ => (OWN_THREAD, Some(thread)),
            };
            put_length(&mut bytes, high, length as u32);
            if let Some(thread) = own {
                number(&mut bytes, thread);
            }
        }
        let fingerprint = letters(self.fingerprint);
        format!("{VERSION}-{}-{fingerprint}", URL_SAFE_NO_PAD.encode(bytes))
    }

    pub(crate) fn read(text: &str) -> Result<Token, Error> {
        let wrong = |what| Error::Token {
            token: text.to_owned(),
            what,
        };
        let text = text.trim();
        let rest = text
            .strip_prefix(VERSION)
            .and_then(|rest| rest.strip_prefix('-'))
            .ok_or_else(|| wrong("it does not begin with `p1-`"))?;
        let at = rest
            .len()
            .checked_sub(7)
            .filter(|at| rest.is_char_boundary(*at));
        let (schedule, fingerprint) = at
            .map(|at| rest.split_at(at))
            .ok_or_else(|| wrong("it is too short"))?;
        let fingerprint = fingerprint
            .strip_prefix('-')
            .and_then(value)
            .ok_or_else(|| wrong("it does not end with `-` and six letters"))?;
        let bytes = URL_SAFE_NO_PAD
            .decode(schedule)
            .map_err(|_| wrong("what is in the middle is no base64url"))?;
        let schedule = entries(&bytes).ok_or_else(|| wrong("it breaks off"))?;
        Ok(Token {
            schedule,
            fingerprint,
        })
    }
}

/// The part of a fingerprint that is in a token.
pub(crate) fn shortened(fingerprint: u64) -> u64 {
    fingerprint & ((1 << 36) - 1)
}

/// One more thing that happened.
pub(crate) fn hashed(fingerprint: u64, text: &str) -> u64 {
    let start = mix(fingerprint ^ text.len() as u64);
    text.bytes()
        .fold(start, |hash, byte| mix(hash ^ u64::from(byte)))
}

fn letters(fingerprint: u64) -> String {
    let letter = |place: u32| LETTERS[(fingerprint >> (6 * place) & 63) as usize] as char;
    (0..6).map(letter).collect()
}

fn value(text: &str) -> Option<u64> {
    let mut value = 0;
    for (place, letter) in text.bytes().enumerate() {
        let at = LETTERS.iter().position(|other| *other == letter)?;
        value |= (at as u64) << (6 * place);
    }
    (text.len() == 6).then_some(value)
}

fn put(bytes: &mut Vec<u8>, high: u8, low: u32, escape: u8) {
    if low < u32::from(escape) {
        bytes.push(high << 5 | low as u8);
    } else {
        bytes.push(high << 5 | escape);
        number(bytes, low);
    }
}

fn put_length(bytes: &mut Vec<u8>, high: u8, length: u32) {
    if length < 32 {
        bytes.push(high << 5 | length as u8);
    } else {
        bytes.push(high << 5);
        number(bytes, length);
    }
}

/// Seven bits a byte, the lowest first.
fn number(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 128 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn entries(bytes: &[u8]) -> Option<Vec<u32>> {
    /// More than any run has.
    const MOST: usize = 1 << 20;
    let mut bytes = bytes.iter().copied();
    let mut schedule = Vec::new();
    while let Some(byte) = bytes.next() {
        let (high, low) = (byte >> 5, u32::from(byte & 31));
        if high == PICKED {
            let value = if low == 31 { take(&mut bytes)? } else { low };
            schedule.push(Chosen::Value(value).entry());
            continue;
        }
        let length = if low == 0 { take(&mut bytes)? } else { low };
        let thread = if high == OWN_THREAD {
            take(&mut bytes)?
        } else {
            u32::from(high)
        };
        if length as usize > MOST - schedule.len().min(MOST) {
            return None;
        }
        schedule.extend(std::iter::repeat_n(thread, length as usize));
    }
    Some(schedule)
}

fn take(bytes: &mut impl Iterator<Item = u8>) -> Option<u32> {
    let mut number = 0_u32;
    for place in 0..5 {
        let byte = bytes.next()?;
        number |= u32::from(byte & 127).checked_shl(7 * place)?;
        if byte & 128 == 0 {
            return (number < VALUE).then_some(number);
        }
    }
    None
}
