//! Random traces through every format and back; and random damage, which no reader may survive
//! badly.

use crate::common::{convert_to, data, read};
use portent_monitor_core::{
    Action, Causality, Delivery, Details, Event, Mark, Marker, Msg, Op, Spelling, Stamped, Symbols,
    Value,
};
use portent_testing::{Rng, admitted};
use portent_trace::{Compression, Format, Header, Options, TraceReader, TraceWriter};

const TEXTS: [&str; 8] = [
    "a",
    "x y",
    "\"quoted\"",
    "back\\slash",
    "é∀",
    "line\nbreak",
    "{\"t\": 1}",
    "\u{1}\u{7f}",
];

fn some_value(rng: &mut Rng) -> Value {
    match rng.below(4) {
        0 => Value::Bool(rng.below(2) == 0),
        1 => Value::Int(rng.any() as i64 >> rng.below(64)),
        2 => Value::Float((rng.any() as i64 as f64) / 1e5),
        _ => Value::from(TEXTS[rng.below(8)]),
    }
}

/// An event of the STD format only, or of any kind. Names are awkward where the format allows it.
fn some_event(rng: &mut Rng, s: &mut Symbols, std_only: bool) -> Event {
    let n = rng.below(4);
    let awkward = |prefix: &str, n: usize| {
        if std_only {
            format!("{prefix}{n}")
        } else {
            TEXTS[n].to_owned()
        }
    };
    let var = s.vars.intern(&awkward("V", n)).unwrap();
    let lock = s.locks.intern(&awkward("L", n)).unwrap();
    let child = s.threads.intern(&awkward("T", n)).unwrap();
    let thread = s.threads.intern(&awkward("T", rng.below(4))).unwrap();
    let name = s
        .names
        .intern(if std_only { "5" } else { TEXTS[n] })
        .unwrap();
    let delivery = rng.pick(&[Delivery::Unordered, Delivery::Fifo, Delivery::Bounded(3)]);
    let with = rng.one_in(2).then_some(lock);
    let op = match rng.below(if std_only { 9 } else { 22 }) {
        0 => Op::Read(var),
        1 => Op::Write(var, (!std_only).then(|| some_value(rng))),
        2 => Op::Lock(lock),
        3 => Op::Unlock(lock),
        4 => Op::Fork(child),
        5 => Op::Join(child),
        6 => Op::Marker(Marker::Begin, (n > 0).then_some(name)),
        7 => Op::Marker(Marker::End, (n > 0).then_some(name)),
        8 => Op::Request(lock),
        9 => Op::Update(var, Some(some_value(rng))),
        10 => Op::ReadLock(lock),
        11 => Op::ReadUnlock(lock),
        12 => {
            let chan = s.chans.intern(TEXTS[n]).unwrap();
            Op::Send(chan, Msg::Number(n as i64), delivery)
        }
        13 => {
            let chan = s.chans.intern(TEXTS[n]).unwrap();
            Op::Recv(chan, Msg::Number(n as i64), delivery)
        }
        14 => Op::Wait(s.conds.intern(TEXTS[n]).unwrap(), with),
        18 => Op::Waiting(s.conds.intern(TEXTS[n]).unwrap(), with),
        19 => Op::TryLock(lock),
        20 => Op::TryRecv(s.chans.intern(TEXTS[n]).unwrap()),
        15 => Op::Notify(s.conds.intern(TEXTS[n]).unwrap()),
        16 => Op::Barrier(s.barriers.intern(TEXTS[n]).unwrap(), rng.any()),
        _ => {
            let args: Vec<Value> = (0..rng.below(3)).map(|_| some_value(rng)).collect();
            let set = (0..rng.below(2)).map(|_| (var, some_value(rng)));
            Action::new(name).args(args).set(set).into()
        }
    };
    let mut event = Event::new(thread, op);
    let loc = rng.below(3);
    if std_only || loc == 0 {
        event.loc = Some(s.locs.intern(&loc.to_string()).unwrap());
    }
    if !std_only && rng.one_in(3) {
        event.mark = match event.op {
            Op::Read(_) | Op::Write(..) | Op::Update(..) => Some(Mark::Atomic),
            Op::Lock(_) | Op::ReadLock(_) => Some(Mark::Try),
            _ => None,
        };
    }
    if !std_only && rng.below(3) == 0 {
        event.time = Some(rng.any());
        event.details = Some(Box::new(Details::new(
            Some(TEXTS[n].into()),
            vec![("more é".into(), "[1, {\"a\": null}]".into())],
        )));
    }
    if !std_only && matches!(event.op, Op::Write(..) | Op::Event(_)) && rng.one_in(4) {
        let partner = s.threads.intern("partner").unwrap();
        let details = event.details.get_or_insert_default();
        details.partners.push(partner);
    }
    event
}

fn some_trace(seed: u64, std_only: bool) -> (Vec<Event>, Symbols) {
    let mut rng = Rng::new(seed);
    let mut symbols = Symbols::default();
    let draws = rng.below(40);
    let events = admitted(draws, &mut symbols, |symbols| {
        some_event(&mut rng, symbols, std_only)
    });
    (events, symbols)
}

fn write(events: &[Event], symbols: &Symbols, format: Format) -> Vec<u8> {
    let mut writer = TraceWriter::new("out", Vec::new(), format, Compression::None).unwrap();
    writer.header(&Header::default()).unwrap();
    for event in events {
        writer.event(event, symbols).unwrap();
    }
    writer.finish(symbols).unwrap()
}

/// Everything of an event but its ids and its line.
fn shown(events: &[Event], symbols: &Symbols) -> Vec<String> {
    events
        .iter()
        .map(|e| {
            let writes: Vec<_> = e.writes().map(|(v, x)| (symbols.vars.name(v), x)).collect();
            format!(
                "{} {writes:?} {:?} {:?} {:?} {:?} {:?}",
                Spelling::new(e, symbols),
                e.time,
                e.mark,
                delivery(&e.op),
                e.text(),
                e.details.as_ref().map(|details| &details.extra),
            )
        })
        .collect()
}

fn delivery(op: &Op) -> Option<Delivery> {
    match op {
        Op::Send(.., delivery) | Op::Recv(.., delivery) => Some(*delivery),
        _ => None,
    }
}

#[test]
fn native() {
    for seed in 0..2_000 {
        let (events, symbols) = some_trace(seed, false);
        let text = write(&events, &symbols, Format::Native);
        let (again, names) = read(&text, &Options::default()).unwrap();
        assert_eq!(
            shown(&again, &names),
            shown(&events, &symbols),
            "seed {seed}"
        );
        assert_eq!(write(&again, &names, Format::Native), text, "seed {seed}");
    }
}

#[test]
fn std_binary_native_std() {
    let options = Options::default();
    for seed in 0..2_000 {
        let (events, symbols) = some_trace(seed, true);
        let text = write(&events, &symbols, Format::Std);
        let mut trace = text.clone();
        for format in [Format::RapidBinary, Format::Native, Format::Std] {
            // A trace without events shows nothing to recognise it by.
            if trace.is_empty() {
                break;
            }
            let packed =
                [Compression::None, Compression::Zstd, Compression::Gzip][seed as usize % 3];
            trace = convert_to(&trace, &options, format, packed).unwrap();
        }
        if !trace.is_empty() {
            trace = convert_to(&trace, &options, Format::Std, Compression::None).unwrap();
        }
        assert_eq!(
            String::from_utf8(trace),
            String::from_utf8(text),
            "seed {seed}"
        );
    }
}

#[test]
fn shuffled_logs_are_sorted_by_their_clocks() {
    for seed in 0..1_000 {
        let mut rng = Rng::new(seed);
        let mut symbols = Symbols::default();
        let hosts = ["a", "b", "c"].map(|host| symbols.threads.intern(host).unwrap());
        let mut clocks = [[0u32; 3]; 3];
        let mut records = Vec::new();
        for i in 0..1 + rng.below(30) {
            let me = rng.below(3);
            let theirs = clocks[rng.below(3)];
            clocks[me]
                .iter_mut()
                .zip(theirs)
                .for_each(|(m, t)| *m = (*m).max(t));
            clocks[me][me] += 1;
            let clock = (0..3).map(|c| (hosts[c], clocks[me][c])).collect();
            let action = Action::default();
            let mut event = Event::new(hosts[me], Stamped::new(action, clock));
            let text = Some(i.to_string().into());
            event.details = Some(Box::new(Details::new(text, Vec::new())));
            records.push(event);
        }
        let mut texts: Vec<String> = records.iter().map(|e| e.text().unwrap().into()).collect();
        for i in (1..records.len()).rev() {
            records.swap(i, rng.below(i + 1));
        }
        let log = write(&records, &symbols, Format::ShiViz);
        // The reader's discipline would refuse any order that the clocks do not allow.
        let (events, _) = read(&log, &Options::default()).unwrap();
        let mut read_texts: Vec<String> = events.iter().map(|e| e.text().unwrap().into()).collect();
        texts.sort();
        read_texts.sort();
        assert_eq!(read_texts, texts, "seed {seed}");
    }
}

#[test]
fn damage_is_reported_and_never_a_panic() {
    let samples = [
        "every-operation.jsonl",
        "own-clocks.jsonl",
        "dialects.std",
        "two-hosts.clock-first.log",
        "two-hosts.text-first.log",
        "expression-inside.log",
        "joint.poet.json",
    ];
    let mut rng = Rng::new(1);
    let mut refused = 0;
    for round in 0..6_000 {
        let mut bytes = data(samples[round % samples.len()]);
        if round % 5 == 0 {
            let (events, symbols) = some_trace(round as u64, true);
            bytes = write(&events, &symbols, Format::RapidBinary);
        }
        for _ in 0..1 + rng.below(4) {
            let at = rng.below(bytes.len());
            match rng.below(4) {
                0 => bytes[at] = rng.any() as u8,
                1 => bytes.truncate(at + 1),
                2 => bytes.insert(at, b"{}[]\"|()\\\n,:0"[rng.below(13)]),
                _ => {
                    bytes.remove(at);
                }
            }
            if bytes.is_empty() {
                bytes.push(b'{');
            }
        }
        refused += usize::from(read(&bytes, &Options::default()).is_err());
        // A lenient reader comes to an end.
        let options = Options::default().lenient(true);
        if let Ok(mut reader) = TraceReader::new("trace", &bytes[..], &options) {
            let mut symbols = Symbols::default();
            while let Ok(Some(_)) = reader.next_event(&mut symbols) {}
        }
    }
    assert!(refused > 1_000, "{refused}");
}

#[test]
fn computed_clocks_tell_the_order_of_the_operations() {
    for seed in 0..500 {
        let (mut events, symbols) = some_trace(seed, true);
        // What is written may be read in another order that the clocks allow; a mark tells which.
        for (i, event) in events.iter_mut().enumerate() {
            event.details = Some(Box::new(Details::new(
                Some(i.to_string().into()),
                Vec::new(),
            )));
        }
        let log = write(&events, &symbols, Format::ShiViz);
        let (logged, _) = read(&log, &Options::default().format(Format::ShiViz)).unwrap();
        assert_eq!(logged.len(), events.len(), "seed {seed}");
        let stamps = |events: &[Event]| -> Vec<_> {
            let mut causality = Causality::default();
            let step = |event| causality.step(event, true).unwrap().unwrap();
            events.iter().map(step).collect()
        };
        let (before, after) = (stamps(&events), stamps(&logged));
        let mark = |event: &Event| event.text().unwrap().parse::<usize>().unwrap();
        for (a, first) in logged.iter().zip(&after) {
            for (b, second) in logged.iter().zip(&after) {
                assert_eq!(
                    first.precedes(second),
                    before[mark(a)].precedes(&before[mark(b)]),
                    "seed {seed}, events {} and {}",
                    mark(a),
                    mark(b)
                );
            }
        }
    }
}
