//! Checks of the oracles themselves: examples worked out by hand, the tableau against lassos, the automata against the
//! matcher. If one of these fails, no other test file here means anything.
//!
//! `PORTENT_CASES=n` makes each of the random checks here try `n` cases instead of its usual number.

mod oracle;

use oracle::backtrack::{EreOracle, Matcher};
use oracle::case::{Body, Case, Comparison, Kind, Letter, Prop, Variable};
use oracle::formula::{Binary, Ere, Formula, Unary};
use oracle::random::{self, Rng, Shape, Subject};
use oracle::refine::Moore;
use oracle::tableau::{Belief, Tableau};
use oracle::{Oracle, Truth, check, finite, lasso, table};

const SUBJECTS: [Subject; 4] = [
    Subject::Flags,
    Subject::Events,
    Subject::Comparisons,
    Subject::Mixed,
];
const SHAPES: [Shape; 3] = [Shape::Future, Shape::Past, Shape::Mixed];

fn p(i: usize) -> Formula {
    Formula::Prop(i)
}

fn un(op: Unary, a: Formula) -> Formula {
    Formula::unary(op, a)
}

fn bin(op: Binary, a: Formula, b: Formula) -> Formula {
    Formula::binary(op, a, b)
}

/// All words of letter indices up to a length.
fn words(letters: usize, longest: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..longest {
        let to = all.len();
        for w in from..to {
            for letter in 0..letters {
                let word = [&all[w][..], &[letter]].concat();
                all.push(word);
            }
        }
        from = to;
    }
    all
}

/// Words whose first letter may come first.
fn runs(letters: &[Letter], longest: usize) -> Vec<Vec<usize>> {
    let mut words = words(letters.len(), longest);
    words.retain(|word| word.first().is_none_or(|&l| letters[l].initial));
    words
}

fn after<O: Oracle>(oracle: &O, word: &[usize]) -> O::State {
    word.iter()
        .fold(oracle.start(), |state, &letter| oracle.step(&state, letter))
}

#[test]
fn finite_truth_of_hand_made_examples() {
    // p0 at positions 1 and 2, p1 at position 3
    let word = [0b00, 0b01, 0b01, 0b10];
    let at = |formula: &Formula| finite::positions(formula, &word);
    assert_eq!(at(&un(Unary::Next, p(0))), 0b0011);
    assert_eq!(at(&un(Unary::WeakNext, p(0))), 0b1011);
    assert_eq!(at(&un(Unary::Yesterday, p(0))), 0b1100);
    assert_eq!(at(&un(Unary::WeakYesterday, p(0))), 0b1101);
    assert_eq!(at(&un(Unary::Start, p(0))), 0b0010);
    assert_eq!(at(&un(Unary::End, p(0))), 0b1000);
    assert_eq!(at(&un(Unary::Start, un(Unary::Not, p(0)))), 0b1001);
    assert_eq!(at(&bin(Binary::Until, p(0), p(1))), 0b1110);
    assert_eq!(at(&bin(Binary::Interval, p(0), p(1))), 0b0110);
    assert_eq!(at(&bin(Binary::Since, un(Unary::Not, p(1)), p(0))), 0b0110);
    assert_eq!(
        at(&bin(Binary::WeakSince, un(Unary::Not, p(1)), p(0))),
        0b0111
    );
    assert_eq!(
        at(&bin(Binary::Trigger, p(0), un(Unary::Not, p(1)))),
        0b0111
    );
    // p1 T !p0: !p0 held at 0 and the trigger came too late
    assert_eq!(
        at(&bin(Binary::Trigger, p(1), un(Unary::Not, p(0)))),
        0b1001
    );
    assert_eq!(
        at(&bin(Binary::Release, p(1), un(Unary::Not, p(0)))),
        0b1000
    );
    assert_eq!(
        at(&bin(Binary::Release, p(0), un(Unary::Not, p(1)))),
        0b0111
    );
    assert_eq!(
        at(&bin(Binary::StrongRelease, p(0), un(Unary::Not, p(1)))),
        0b0111
    );
    assert_eq!(
        at(&bin(
            Binary::WeakUntil,
            un(Unary::Not, p(0)),
            Formula::Const(false)
        )),
        0b1000
    );
}

/// The operators against their definitions by other operators, on all short words and on the empty run.
#[test]
fn finite_truth_obeys_the_definitions() {
    use Binary::*;
    use Unary::*;
    let not = |a: Formula| un(Not, a);
    let equal = [
        (
            bin(WeakSince, p(0), p(1)),
            bin(Or, bin(Since, p(0), p(1)), un(Historically, p(0))),
        ),
        (
            bin(Trigger, p(0), p(1)),
            not(bin(Since, not(p(0)), not(p(1)))),
        ),
        (un(Start, p(0)), bin(And, p(0), not(un(Yesterday, p(0))))),
        (un(End, p(0)), bin(And, not(p(0)), un(Yesterday, p(0)))),
        (
            bin(WeakUntil, p(0), p(1)),
            bin(Or, bin(Until, p(0), p(1)), un(Always, p(0))),
        ),
        (
            bin(Release, p(0), p(1)),
            not(bin(Until, not(p(0)), not(p(1)))),
        ),
        (
            bin(StrongRelease, p(0), p(1)),
            not(bin(WeakUntil, not(p(0)), not(p(1)))),
        ),
        (un(WeakNext, p(0)), not(un(Next, not(p(0))))),
        (un(WeakYesterday, p(0)), not(un(Yesterday, not(p(0))))),
        (un(Historically, p(0)), not(un(Once, not(p(0))))),
        (un(Always, p(0)), not(un(Eventually, not(p(0))))),
    ];
    for word in words(4, 5) {
        let word: Vec<u32> = word.iter().map(|&l| l as u32).collect();
        for (a, b) in &equal {
            assert_eq!(
                finite::holds(a, &word),
                finite::holds(b, &word),
                "{a:?} on {word:?}"
            );
            if !word.is_empty() {
                assert_eq!(
                    finite::positions(a, &word),
                    finite::positions(b, &word),
                    "{a:?} on {word:?}"
                );
            }
        }
        // [a, b) is its own recurrence.
        let interval = bin(Interval, p(0), p(1));
        let unfolded = bin(
            And,
            not(p(1)),
            bin(Or, p(0), un(Yesterday, bin(Interval, p(0), p(1)))),
        );
        assert_eq!(
            finite::holds(&interval, &word),
            finite::holds(&unfolded, &word)
        );
        if !word.is_empty() {
            assert_eq!(
                finite::positions(&interval, &word),
                finite::positions(&unfolded, &word)
            );
        }
    }
}

#[test]
fn letters_are_those_that_can_occur() {
    let body = |f: Formula| Body::Ltl(f);
    let both = bin(Binary::And, p(0), p(1));
    let valuations = |case: &Case| {
        case.letters()
            .iter()
            .map(|l| (l.valuation, l.initial))
            .collect::<Vec<_>>()
    };
    // events exclude each other, and none is possible; without variables every letter may come first
    let events = Case::of_events(&["a", "b"], body(both.clone()));
    assert_eq!(valuations(&events), [(0, true), (1, true), (2, true)]);
    assert_eq!(
        valuations(&Case::of_flags(&["a", "b"], body(both.clone()))).len(),
        4
    );
    // for expressions the letter without an event is no step
    let step = events.with_body(Body::Ere(Ere::Any));
    assert_eq!(valuations(&step), [(1, true), (2, true)]);
    // w > 30 implies w > 26
    let mut case = Case {
        variables: vec![Variable {
            name: "w".into(),
            kind: Kind::Int,
            initial: "20".into(),
        }],
        events: vec![],
        props: vec![
            Prop::Int(0, Comparison::Greater, 26),
            Prop::Int(0, Comparison::Greater, 30),
        ],
        aliases: vec![None, None],
        body: body(both.clone()),
    };
    assert_eq!(valuations(&case), [(0, true), (1, true), (3, true)]);
    // w > 2 and w < 3: no integer is between
    case.props = vec![
        Prop::Int(0, Comparison::Greater, 2),
        Prop::Int(0, Comparison::Less, 3),
    ];
    assert_eq!(valuations(&case), [(1, true), (2, true)]);
    // with a variable the first letter has no event
    case.events = vec!["e".into()];
    case.props[1] = Prop::Event(0);
    assert_eq!(
        valuations(&case),
        [(0, true), (1, true), (2, false), (3, false)]
    );
    assert_eq!(
        case.evaluate("w > 2", &case.letters()[1].steps[0]),
        Ok(true)
    );
    assert_eq!(
        case.evaluate("3 >= w", &case.letters()[1].steps[0]),
        Ok(true)
    );
}

#[test]
fn verdicts_of_hand_made_examples() {
    let verdicts = |case: &Case, word: &[usize]| {
        let Body::Ltl(formula) = &case.body else {
            panic!()
        };
        let letters = case.letters();
        let tableau = Tableau::new(formula, &letters);
        let state = after(&tableau, word);
        assert_eq!(
            tableau.verdict(&state),
            tableau.verdict_of_word(&state, word)
        );
        tableau.verdict(&state)
    };
    // always !error over one event: letter 0 is "no event", letter 1 is the event
    let error = Case::of_events(
        &["error"],
        Body::Ltl(un(Unary::Always, un(Unary::Not, p(0)))),
    );
    assert_eq!(verdicts(&error, &[]), Truth::Ok);
    assert_eq!(verdicts(&error, &[0, 0]), Truth::Ok);
    assert_eq!(verdicts(&error, &[0, 1]), Truth::Violated);
    // two events cannot hold at once: violated before anything happens
    let both = Case::of_events(
        &["a", "b"],
        Body::Ltl(un(Unary::Eventually, bin(Binary::And, p(0), p(1)))),
    );
    assert_eq!(verdicts(&both, &[]), Truth::Violated);
    // G F p: open for ever
    let often = Case::of_flags(
        &["p"],
        Body::Ltl(un(Unary::Always, un(Unary::Eventually, p(0)))),
    );
    assert_eq!(verdicts(&often, &[]), Truth::Ok);
    assert_eq!(verdicts(&often, &[1, 0]), Truth::Pending);
    assert_eq!(verdicts(&often, &[0, 1]), Truth::Ok);
    // X p, N p: only the end of the run tells them apart
    let next = Case::of_flags(&["p"], Body::Ltl(un(Unary::Next, p(0))));
    let weak = Case::of_flags(&["p"], Body::Ltl(un(Unary::WeakNext, p(0))));
    for (word, strong, weakly) in [
        (&[][..], Truth::Pending, Truth::Ok),
        (&[0], Truth::Pending, Truth::Ok),
        (&[0, 1], Truth::Satisfied, Truth::Satisfied),
        (&[0, 0], Truth::Violated, Truth::Violated),
    ] {
        assert_eq!(
            (verdicts(&next, word), verdicts(&weak, word)),
            (strong, weakly)
        );
    }
    // Y p is false at the first position, so it is violated before anything; Z p is satisfied
    assert_eq!(
        verdicts(&next.with_body(Body::Ltl(un(Unary::Yesterday, p(0)))), &[]),
        Truth::Violated
    );
    assert_eq!(
        verdicts(
            &next.with_body(Body::Ltl(un(Unary::WeakYesterday, p(0)))),
            &[]
        ),
        Truth::Satisfied
    );
    // F p & G !p is refuted by emptiness, not by looking at one step
    let never = bin(
        Binary::And,
        un(Unary::Eventually, p(0)),
        un(Unary::Always, un(Unary::Not, p(0))),
    );
    assert_eq!(
        verdicts(&next.with_body(Body::Ltl(never)), &[]),
        Truth::Violated
    );
}

/// Everything that the tableau claims about futures, against lassos: its own witnesses must be ones, and a lasso that
/// exists must have been foreseen. What it says about the end of a run, against the definitions.
#[test]
fn tableau_agrees_with_lassos_and_definitions() {
    let mut rng = Rng::new(0x1a55_0000);
    for i in 0..check::cases(4000) {
        let (subject, shape) = (SUBJECTS[i % 4], SHAPES[i / 4 % 3]);
        let size = rng.between(1, 8);
        let case = random::ltl_case(&mut rng, subject, shape, size);
        let Body::Ltl(formula) = &case.body else {
            panic!()
        };
        let letters = case.letters();
        let tableau = Tableau::new(formula, &letters);
        let values = |word: &[usize]| {
            word.iter()
                .map(|&l| letters[l].valuation)
                .collect::<Vec<u32>>()
        };
        let text = case.text(None);
        for word in runs(&letters, if letters.len() > 4 { 1 } else { 2 }) {
            let belief = after(&tableau, &word);
            assert_eq!(
                tableau.verdict(&belief),
                tableau.verdict_of_word(&belief, &word),
                "the end of {word:?} in {text}"
            );
            let (can_hold, can_fail) = tableau.futures(&belief);
            for (value, can) in [(true, can_hold), (false, can_fail)] {
                let witness = tableau.witness(&belief, value);
                assert_eq!(can, witness.is_some(), "{text}");
                let Some((prefix, cycle)) = witness else {
                    continue;
                };
                let run = [&word[..], &prefix].concat();
                assert!(
                    letters[*run.first().unwrap_or(&cycle[0])].initial,
                    "{text}: {run:?} {cycle:?}"
                );
                let holds = lasso::holds(formula, &values(&run), &values(&cycle));
                assert_eq!(holds, value, "{text}: {run:?} then {cycle:?} for ever");
            }
        }
        // Every lasso, seen from each of its beginnings, is a future that the tableau must allow.
        let stems = runs(&letters, if letters.len() > 4 { 2 } else { 3 });
        for stem in stems.iter().filter(|stem| !stem.is_empty()) {
            for split in 0..stem.len() {
                let (prefix, cycle) = stem.split_at(split);
                let holds = lasso::holds(formula, &values(prefix), &values(cycle));
                let mut belief = Belief::NoLetterYet;
                for letter in prefix.iter().chain(cycle).chain(cycle).chain(cycle) {
                    let (can_hold, can_fail) = tableau.futures(&belief);
                    assert!(
                        if holds { can_hold } else { can_fail },
                        "{text}: {prefix:?} {cycle:?}"
                    );
                    belief = tableau.step(&belief, *letter);
                }
            }
        }
    }
}

/// The lasso evaluation itself, against finite truth on a long unrolling: past formulas do not see where the word ends.
#[test]
fn lassos_agree_with_finite_words_on_the_past() {
    let mut rng = Rng::new(7);
    for _ in 0..check::cases(2000) {
        let size = rng.between(1, 9);
        let past = random::formula(&mut rng, size, Shape::Past, 2);
        let prefix: Vec<u32> = (0..rng.below(3)).map(|_| rng.below(4) as u32).collect();
        let cycle: Vec<u32> = (0..rng.between(1, 3))
            .map(|_| rng.below(4) as u32)
            .collect();
        let mut word = prefix.clone();
        while word.len() + cycle.len() <= 32 {
            word.extend(&cycle);
        }
        let positions = finite::positions(&past, &word);
        for i in 0..word.len() {
            let at_i = (0..i).fold(past.clone(), |f, _| un(Unary::Next, f));
            assert_eq!(
                lasso::holds(&at_i, &prefix, &cycle),
                positions >> i & 1 == 1,
                "{past:?} at {i}"
            );
        }
    }
}

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
    for i in 0..check::cases(4000) {
        let size = rng.between(1, 9);
        let case = random::ere_case(&mut rng, SUBJECTS[i % 4], size, true);
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
        too_large * 200 <= check::cases(4000),
        "{too_large} expressions were too large"
    );
}

/// What "violated" and "satisfied" say of an expression, against the continuations up to some length.
#[test]
fn final_verdicts_of_expressions_are_final() {
    let mut rng = Rng::new(0xf1a1);
    for i in 0..check::cases(1500) {
        let size = rng.between(1, 7);
        let case = random::ere_case(&mut rng, SUBJECTS[i % 4], size, true);
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

#[test]
fn refinement_finds_what_can_be_merged() {
    // 0 -a-> 1 -a-> 2 -a-> 2, with equal outputs in 1 and 2
    let machine = |outputs: [u8; 3]| {
        Moore::explore(
            0_usize,
            &[true],
            10,
            |&s, _| (s + 1).min(2),
            |&s| outputs[s],
        )
        .unwrap()
    };
    assert_eq!(machine([0, 1, 1]).minimal_states(), 2);
    assert_eq!(machine([0, 1, 1]).equivalent_pair(), Some((1, 2)));
    assert_eq!(machine([0, 0, 1]).minimal_states(), 3);
    assert_eq!(machine([0, 0, 1]).equivalent_pair(), None);
    // letter 1 cannot come first: the start agrees with state 1 on letter 0, so the two can be one
    let partial = |first_output: u8| {
        let step = |&s: &usize, letter: usize| if s == 0 || letter == 0 { 1 } else { 2 };
        Moore::explore(0_usize, &[true, false], 10, step, move |&s| {
            [first_output, 0, 1][s]
        })
        .unwrap()
    };
    assert_eq!(partial(0).minimal_states(), 2);
    assert_eq!(partial(0).equivalent_pair(), Some((0, 1)));
    assert_eq!(partial(2).minimal_states(), 3);
    assert_eq!(partial(2).equivalent_pair(), None);
}

/// The published sizes, from the oracle's own machines: the tables and the oracle were made independently.
#[test]
fn tableau_gives_the_published_sizes() {
    for row in table::rows() {
        let formula = row.formula();
        let names = row.names();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let body = Body::Ltl(formula.clone());
        for (case, sizes) in [
            (Case::of_flags(&names, body.clone()), row.flags),
            (Case::of_events(&names, body), row.events),
        ] {
            let letters = case.letters();
            if sizes == [None, None] {
                continue;
            }
            let tableau = Tableau::new(&formula, &letters);
            let four =
                Moore::of_oracle(&tableau, &letters, 5000, |truth| truth).expect("few states");
            let three = Moore::of_oracle(&tableau, &letters, 5000, |truth| {
                truth.is_final().then_some(truth)
            })
            .expect("few states");
            if let Some(size) = sizes[0] {
                assert_eq!(
                    three.minimal_states(),
                    size,
                    "{}: 3 verdicts, {}",
                    row.place,
                    case.text(None)
                );
            }
            if let Some(size) = sizes[1] {
                assert_eq!(
                    four.minimal_states(),
                    size,
                    "{}: 4 verdicts, {}",
                    row.place,
                    case.text(None)
                );
            }
            let occurs = |truth: Truth| four.outputs().contains(&truth);
            let mut verdicts = String::new();
            if occurs(Truth::Ok) || occurs(Truth::Pending) {
                verdicts.push('?');
            }
            if occurs(Truth::Violated) {
                verdicts.push('F');
            }
            if occurs(Truth::Satisfied) {
                verdicts.push('T');
            }
            assert_eq!(verdicts, row.verdicts, "{}: {}", row.place, case.text(None));
            assert_eq!(verdicts != "?", row.monitorable, "{}", row.place);
        }
    }
}
