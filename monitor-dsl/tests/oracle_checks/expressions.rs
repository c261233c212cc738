//! Regular expressions: the matcher by hand, the automata against the matcher, verdicts against continuations.

use portent_testing::Rng;

use super::SUBJECTS;
use super::words::{after, runs, words};
use crate::oracle::backtrack::Matcher;
use crate::oracle::case::Body;
use crate::oracle::ere::EreOracle;
use crate::oracle::formula::Ere;
use crate::oracle::random;
use crate::oracle::{Oracle, Truth, many};

#[test]
fn matcher_on_hand_made_examples() {
    let (a, b) = (|| Ere::Event(0), || Ere::Event(1));
    let star = |e: Ere| Ere::repeat(e, 0, None);
    let word = |text: &str| text.bytes().map(|c| 1 << (c - b'a')).collect::<Vec<u32>>();
    let matches = |e: &Ere, text: &str| Matcher::new(&word(text)).matches(e);
    let ab_star = star(Ere::concat(a(), b()));
    assert!(matches(&ab_star, "") && matches(&ab_star, "abab") && !matches(&ab_star, "aba"));
    let not = Ere::complement(ab_star.clone());
    assert!(!matches(&not, "") && !matches(&not, "abab") && matches(&not, "aba"));
    let twice = Ere::repeat(Ere::union(a(), Ere::Epsilon), 2, Some(3));
    assert!(matches(&twice, "") && matches(&twice, "aaa") && !matches(&twice, "aaaa"));
    let both = Ere::intersect(star(a()), Ere::repeat(Ere::Any, 2, None));
    assert!(matches(&both, "aa") && !matches(&both, "a") && !matches(&both, "ab"));
    // complement is relative to the piece: ~(a) b matches b, aab, bb, but not ab
    let tail = Ere::concat(Ere::complement(a()), b());
    assert!(
        matches(&tail, "b")
            && matches(&tail, "aab")
            && matches(&tail, "bb")
            && !matches(&tail, "ab")
    );
    assert!(
        Matcher::new(&word("ab")).matches_prefix(&a())
            && !Matcher::new(&word("ba")).matches_prefix(&a())
    );
}

#[test]
fn automata_agree_with_the_matcher() {
    let mut rng = Rng::new(0xe5e);
    let mut too_large = 0;
    for i in 0..many::cases(4000) {
        let size = rng.between(1, 9);
        let case = random::ere_case(&mut rng, SUBJECTS[i % SUBJECTS.len()], size, true);
        let letters = case.letters();
        let Some(oracle) = EreOracle::new(&case.body, &letters) else {
            too_large += 1;
            continue;
        };
        let longest = [8, 8, 6, 5, 4, 3, 3][letters.len().min(6)];
        for word in words(letters.len(), longest) {
            assert!(
                oracle.agrees_with_itself(&word),
                "{} on {word:?}",
                case.text(None)
            );
            if word.first().is_none_or(|&l| letters[l].initial) {
                let place = after(&oracle, &word);
                assert_eq!(
                    oracle.verdict(&place),
                    oracle.verdict_of_word(&place, &word)
                );
            }
        }
    }
    assert!(
        too_large * 200 <= many::cases(4000),
        "{too_large} expressions were too large"
    );
}

/// What "violated" and "satisfied" say of an expression, against the continuations up to some length.
#[test]
fn final_verdicts_of_expressions_are_final() {
    let mut rng = Rng::new(0xf1a1);
    for i in 0..many::cases(1500) {
        let size = rng.between(1, 7);
        let case = random::ere_case(&mut rng, SUBJECTS[i % SUBJECTS.len()], size, true);
        let letters = case.letters();
        if letters.len() > 4 {
            continue;
        }
        let Some(oracle) = EreOracle::new(&case.body, &letters) else {
            continue;
        };
        let (ere, never) = match &case.body {
            Body::Ere(ere) => (ere, false),
            Body::Never(ere) => (ere, true),
            Body::Ltl(_) => panic!(),
        };
        let all = runs(&letters, if letters.len() > 2 { 4 } else { 6 });
        let values = |word: &[usize]| {
            word.iter()
                .map(|&l| letters[l].valuation)
                .collect::<Vec<u32>>()
        };
        let members: Vec<bool> = all
            .iter()
            .map(|word| Matcher::new(&values(word)).matches(ere))
            .collect();
        for word in all.iter().filter(|word| word.len() <= 2) {
            let verdict = oracle.verdict(&after(&oracle, word));
            let hit = (0..=word.len()).any(|n| Matcher::new(&values(&word[..n])).matches(ere));
            let continuations = || {
                all.iter()
                    .zip(&members)
                    .filter(|(other, _)| other.starts_with(word))
            };
            let text = case.text(None);
            if never {
                assert_eq!(verdict == Truth::Violated, hit, "{text} {word:?}");
                assert!(
                    verdict != Truth::Satisfied || continuations().all(|(_, m)| !m),
                    "{text} {word:?}"
                );
                assert!(verdict != Truth::Pending);
            } else {
                assert!(
                    verdict != Truth::Violated || continuations().all(|(_, m)| !m),
                    "{text} {word:?}"
                );
                assert!(
                    verdict != Truth::Satisfied || continuations().all(|(_, m)| *m),
                    "{text} {word:?}"
                );
            }
        }
    }
}
