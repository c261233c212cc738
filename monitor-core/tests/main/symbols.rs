//! Names that go from one table to another, and ids that a table never gave.

use std::collections::BTreeSet;

use portent_monitor_core::{
    Action, BarrierId, ChanId, CondId, Delivery, Details, Error, Event, Id, Interner, LocId,
    LockId, Marker, Msg, NameId, Op, Operation, Stamped, SymbolKind, Symbols, ThreadId, Value,
    VarId,
};
use portent_testing::Rng;

/// Ids are below this.
const IDS: usize = 4;

fn id<I: Id>(rng: &mut Rng) -> I {
    I::from_index(rng.below(IDS)).expect("small")
}

fn maybe<I: Id>(rng: &mut Rng) -> Option<I> {
    rng.one_in(2).then(|| id(rng))
}

fn action(rng: &mut Rng) -> Action {
    let mut action = maybe(rng).map_or_else(Action::default, Action::new);
    for _ in 0..rng.below(3) {
        action.set.push((id(rng), Value::from(1)));
    }
    action
}

/// An operation of each kind, `None` being an event that brings its clock, about whatever it may be about.
fn op(operation: Option<Operation>, rng: &mut Rng) -> Op {
    let Some(operation) = operation else {
        let clock = (0..rng.below(3)).map(|_| (id(rng), 1)).collect();
        return Stamped::new(action(rng), clock).into();
    };
    let message = |rng: &mut Rng| maybe(rng).map_or(Msg::Number(99), Msg::Name);
    match operation {
        Operation::Read => Op::Read(id(rng)),
        Operation::Write => Op::Write(id(rng), Some(Value::from(99))),
        Operation::Update => Op::Update(id(rng), None),
        Operation::Lock => Op::Lock(id(rng)),
        Operation::Unlock => Op::Unlock(id(rng)),
        Operation::ReadLock => Op::ReadLock(id(rng)),
        Operation::ReadUnlock => Op::ReadUnlock(id(rng)),
        Operation::Request => Op::Request(id(rng)),
        Operation::TryLock => Op::TryLock(id(rng)),
        Operation::Fork => Op::Fork(id(rng)),
        Operation::Join => Op::Join(id(rng)),
        Operation::Send => Op::Send(id(rng), message(rng), Delivery::Fifo),
        Operation::Recv => Op::Recv(id(rng), message(rng), Delivery::Bounded(99)),
        Operation::TryRecv => Op::TryRecv(id(rng)),
        Operation::Waiting => Op::Waiting(id(rng), maybe(rng)),
        Operation::Wait => Op::Wait(id(rng), maybe(rng)),
        Operation::Notify => Op::Notify(id(rng)),
        Operation::Barrier => Op::Barrier(id(rng), 99),
        Operation::Begin => Op::Marker(Marker::Begin, maybe(rng)),
        Operation::End => Op::Marker(Marker::End, maybe(rng)),
        Operation::Event => action(rng).into(),
        other => panic!("no example of {other}"),
    }
}

fn fill<I: Id>(names: &mut Interner<I>, count: usize) -> usize {
    for number in 0..count {
        names.intern(&number.to_string()).expect("few");
    }
    count
}

/// What is spelled in the debug output of an event, `LockId(3)`, is compared with how many names there are. That knows nothing of what an
/// operation has.
fn unknown(event: &Event, counts: &[(&str, SymbolKind, usize)]) -> BTreeSet<String> {
    let shown = format!("{event:?}");
    let mut kinds = BTreeSet::new();
    for &(id, kind, count) in counts {
        for (at, _) in shown.match_indices(&format!("{id}(")) {
            let number = &shown[at + id.len() + 1..];
            let number = number.split(')').next().expect("closed");
            if number.parse::<usize>().expect("a number") >= count {
                kinds.insert(kind.to_string());
            }
        }
    }
    kinds
}

#[test]
fn an_id_is_unknown_if_no_name_has_it_whatever_the_operation() {
    let mut rng = Rng::new(20);
    let mut operations: Vec<Option<Operation>> = vec![None];
    operations.extend(Operation::ALL.iter().copied().map(Some));
    for &operation in &operations {
        let (mut found, mut fine) = (BTreeSet::new(), 0);
        for _ in 0..2_000 {
            let mut symbols = Symbols::default();
            let mut most = |kind| match kind {
                // Seldom, or nothing else is ever looked at.
                SymbolKind::Thread | SymbolKind::Location if !rng.one_in(3) => IDS,
                _ => rng.below(IDS + 1),
            };
            let s = &mut symbols;
            use SymbolKind::{Barrier, Channel, Condition, Location, Lock, Name, Thread, Variable};
            let counts = [
                ("ThreadId", Thread, fill(&mut s.threads, most(Thread))),
                ("VarId", Variable, fill(&mut s.vars, most(Variable))),
                ("LockId", Lock, fill(&mut s.locks, most(Lock))),
                ("ChanId", Channel, fill(&mut s.chans, most(Channel))),
                ("CondId", Condition, fill(&mut s.conds, most(Condition))),
                ("BarrierId", Barrier, fill(&mut s.barriers, most(Barrier))),
                ("NameId", Name, fill(&mut s.names, most(Name))),
                ("LocId", Location, fill(&mut s.locs, most(Location))),
            ];
            let mut event = Event::new(id(&mut rng), op(operation, &mut rng));
            assert_eq!(event.op.operation(), operation);
            event.loc = maybe(&mut rng);
            if rng.one_in(2) {
                let mut details = Details::default();
                details.partners = (0..rng.below(3)).map(|_| id(&mut rng)).collect();
                event.details = Some(Box::new(details));
            }
            let expected = unknown(&event, &counts);
            match symbols.find_unknown(&event) {
                None => {
                    assert!(expected.is_empty(), "{event:?}: {expected:?}");
                    fine += 1;
                }
                Some(kind) => {
                    let kind = kind.to_string();
                    assert!(expected.contains(&kind), "{event:?}: {kind}");
                    found.insert(kind);
                }
            }
        }
        // Both were met, and more than the thread and the place that every event may have, unless it is about a thread.
        let is_of_threads = matches!(operation, Some(Operation::Fork | Operation::Join));
        assert!(fine > 100, "{operation:?}: {fine}");
        assert!(found.len() > 2 || is_of_threads, "{operation:?}: {found:?}");
    }
}

fn names<I: Id>(names: &Interner<I>) -> Vec<String> {
    names.iter().map(str::to_owned).collect()
}

fn all(symbols: &Symbols) -> [Vec<String>; 8] {
    [
        names::<ThreadId>(&symbols.threads),
        names::<VarId>(&symbols.vars),
        names::<LockId>(&symbols.locks),
        names::<ChanId>(&symbols.chans),
        names::<CondId>(&symbols.conds),
        names::<BarrierId>(&symbols.barriers),
        names::<NameId>(&symbols.names),
        names::<LocId>(&symbols.locs),
    ]
}

/// A name for something, of a kind that is drawn.
fn grow(symbols: &mut Symbols, rng: &mut Rng) {
    let name = format!("n{}", rng.below(40));
    match rng.below(8) {
        0 => symbols.threads.intern(&name).map(drop),
        1 => symbols.vars.intern(&name).map(drop),
        2 => symbols.locks.intern(&name).map(drop),
        3 => symbols.chans.intern(&name).map(drop),
        4 => symbols.conds.intern(&name).map(drop),
        5 => symbols.barriers.intern(&name).map(drop),
        6 => symbols.names.intern(&name).map(drop),
        _ => symbols.locs.intern(&name).map(drop),
    }
    .expect("few");
}

#[test]
fn who_catches_up_has_the_same_names() {
    let mut rng = Rng::new(21);
    for _ in 0..200 {
        let (mut leader, mut follower) = (Symbols::default(), Symbols::default());
        for _ in 0..rng.below(100) {
            grow(&mut leader, &mut rng);
            if rng.one_in(4) {
                follower.catch_up(&leader).expect("only follows");
                assert_eq!(all(&follower), all(&leader));
                let bytes = follower.bytes();
                follower.catch_up(&leader).expect("only follows");
                assert_eq!(follower.bytes(), bytes);
            }
        }
    }
}

#[test]
fn who_has_other_names_does_not_catch_up() {
    let locks = |names: &[&str]| {
        let mut symbols = Symbols::default();
        for name in names {
            symbols.locks.intern(name).expect("few");
        }
        symbols
    };
    let kind = SymbolKind::Lock;
    for (own, others) in [
        // More; another last one; one that comes again with another number.
        (&["a", "b"][..], &["a"][..]),
        (&["a", "b"], &["a", "c", "d"]),
        (&["x", "b"], &["a", "b", "x"]),
    ] {
        let caught_up = locks(own).catch_up(&locks(others));
        assert_eq!(
            caught_up,
            Err(Error::OtherNames { kind }),
            "{own:?} {others:?}"
        );
    }
    assert_eq!(
        Error::OtherNames { kind }.to_string(),
        "a lock has another number in these symbols than in those that they are to catch up with; let symbols that catch up \
         get their names from nowhere else"
    );
}
