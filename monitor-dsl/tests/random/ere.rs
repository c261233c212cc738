//! Thousands of random extended regular expressions: the monitor of the text against the backtracking matcher and the
//! explicit automata, and for expressions without intersection and complement against `regex-automata` too.
//!
//! `PORTENT_CASES=n` runs `n` expressions in each of the tests here instead of their usual number; the seeds stay the
//! same, so a larger number continues where the smaller one ended. A difference is shrunk before it is shown.

use crate::oracle::case::Body;
use crate::oracle::check::Effort;
use crate::oracle::formula::Ere;
use crate::oracle::many;
use crate::oracle::random::{self, Subject};
use crate::oracle::reading::Reading;
use portent_monitor_dsl::Verdict;
use portent_testing::Rng;
use regex_automata::dfa::{Automaton, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};

/// Compares expressions about one subject, a third of them without intersection and complement.
fn compare(seed: u64, subject: Subject, count: usize) {
    let effort = |i: usize| Effort {
        words: 1500,
        longest: 6,
        three: i.is_multiple_of(4),
    };
    many::compare_many(seed, many::cases(count), effort, |rng, i| {
        let size = rng.between(1, 14);
        random::ere_case(rng, subject, size, i % 3 != 0)
    });
}

#[test]
fn events() {
    compare(0x2000_0001, Subject::Events, 4000);
}

#[test]
fn boolean_variables() {
    compare(0x2000_0002, Subject::Flags, 2000);
}

#[test]
fn comparisons_with_constants() {
    compare(0x2000_0003, Subject::Comparisons, 2000);
}

#[test]
fn events_and_variables() {
    compare(0x2000_0004, Subject::Mixed, 2000);
}

#[test]
fn floating_point_numbers() {
    compare(0x2000_0006, Subject::Floats, 2000);
}

/// Expressions without intersection and complement are regular expressions for `regex-automata`, with one byte a letter.
#[test]
fn classical_expressions_against_regex_automata() {
    let subjects = [
        Subject::Events,
        Subject::Flags,
        Subject::Events,
        Subject::Mixed,
    ];
    let mut rng = Rng::new(0x2000_0005);
    for i in 0..many::cases(2000) {
        let size = rng.between(1, 12);
        let case = random::ere_case(&mut rng, subjects[i % 4], size, false);
        let (Body::Ere(ere) | Body::Never(ere)) = &case.body else {
            unreachable!("an ere case")
        };
        let reading = Reading::new(&case, Some(rng.any()));
        let letters: Vec<u32> = reading.letters.iter().map(|l| l.valuation).collect();
        let pattern = format!("(?:{})\\z", pattern(ere, &letters));
        let bytes = syntax::Config::new().unicode(false).utf8(false);
        let regex = dense::Builder::new()
            .syntax(bytes)
            .thompson(thompson::Config::new().utf8(false))
            .build(&pattern)
            .unwrap_or_else(|error| panic!("{pattern}: {error}"));
        let matches = |word: &[usize]| {
            let text: Vec<u8> = word.iter().map(|&letter| byte(letter)).collect();
            let input = Input::new(&text).anchored(Anchored::Yes);
            regex
                .try_search_fwd(&input)
                .expect("an anchored search")
                .is_some()
        };
        let longest = [7, 7, 7, 6, 5, 4, 4, 3][letters.len().min(7)];
        reading.each_word(longest, |word, verdict| {
            let right = match &case.body {
                Body::Never(_) => {
                    let hit = (0..=word.len()).any(|end| matches(&word[..end]));
                    (verdict == Verdict::Violated) == hit
                }
                _ => matches!(verdict, Verdict::Ok | Verdict::Satisfied) == matches(word),
            };
            let run = case.word_text(&reading.letters, word);
            assert!(
                right,
                "{}\n{pattern}\nafter {run}: {verdict:?}",
                case.text(None)
            );
        });
    }
}

/// The byte that stands for a letter.
fn byte(letter: usize) -> u8 {
    b'a' + u8::try_from(letter).expect("few letters")
}

/// The expression in the syntax of `regex`.
fn pattern(ere: &Ere, letters: &[u32]) -> String {
    match ere {
        Ere::Epsilon => "(?:)".to_owned(),
        Ere::Empty => NOTHING.to_owned(),
        Ere::Any | Ere::Event(_) | Ere::Step(_) => {
            let matching = (0..letters.len()).filter(|&l| ere.matches_letter(letters[l]));
            let class: String = matching.map(|l| char::from(byte(l))).collect();
            if class.is_empty() {
                NOTHING.to_owned()
            } else {
                format!("[{class}]")
            }
        }
        Ere::Repeat(a, least, None) => format!("(?:{}){{{least},}}", pattern(a, letters)),
        Ere::Repeat(a, least, Some(most)) => {
            format!("(?:{}){{{least},{most}}}", pattern(a, letters))
        }
        Ere::Concat(a, b) => format!("(?:{})(?:{})", pattern(a, letters), pattern(b, letters)),
        Ere::Union(a, b) => format!("(?:{}|{})", pattern(a, letters), pattern(b, letters)),
        Ere::Complement(_) | Ere::Intersect(..) => unreachable!("a classical expression"),
    }
}

/// A class without bytes.
const NOTHING: &str = r"[^\x00-\xff]";
