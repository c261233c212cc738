//! The binary form of STD traces, as RAPID's loggers write it.
//!
//! All numbers are big-endian. A header of 18 bytes: threads (`i16`), locks (`i32`), variables
//! (`i32`), events (`i64`). Then 8 bytes an event, from the low end: 10 bits thread, 4 bits
//! operation, 34 bits operand, 15 bits location; the sign bit is 0. The operations are 0 `acq`,
//! 1 `rel`, 2 `r`, 3 `w`, 4 `fork`, 5 `join`, 6 `begin`, 7 `end`, and 8 `req` as Wasmgrind writes
//! it. There are no names: thread 3 is read as `T3`, variable 2 as `V2`, lock 1 as `L1`. A `begin` or
//! `end` with operand 0 marks a thread; many a file opens with the `begin` of every thread.
//!
//! The counts in the header are not relied on, except that the number of events must be there.

use std::{
    io::{self, Read, Write},
    num::NonZeroU64,
};

use portent_monitor_core::{
    Error as CoreError, Event, Id, Interner, LocId, LockId, Marker, NameId, Op, Symbols, ThreadId,
    VarId,
};
use rustc_hash::FxHashMap;

use crate::{
    decoder::{Decoded, Position},
    error::Fault,
};

const HEADER: usize = 18;
const THREAD: (u32, u32) = (0, 10);
const OPERATION: (u32, u32) = (10, 4);
const OPERAND: (u32, u32) = (14, 34);
const LOCATION: (u32, u32) = (48, 15);

fn field(record: u64, (shift, bits): (u32, u32)) -> u64 {
    record >> shift & ((1 << bits) - 1)
}

/// The ids of objects that have only numbers, so that a name is spelled once and not for each event.
struct NumberedNames<I> {
    prefix: &'static str,
    ids: FxHashMap<u64, I>,
}

impl<I: Id> NumberedNames<I> {
    fn new(prefix: &'static str) -> Self {
        NumberedNames {
            prefix,
            ids: FxHashMap::default(),
        }
    }

    fn id(&mut self, number: u64, names: &mut Interner<I>) -> Result<I, CoreError> {
        if let Some(id) = self.ids.get(&number) {
            return Ok(*id);
        }
        let id = names.intern(&format!("{}{number}", self.prefix))?;
        self.ids.insert(number, id);
        Ok(id)
    }
}

/// Reads the binary form.
pub(crate) struct RapidBinary<'r> {
    input: Box<dyn Read + Send + 'r>,
    /// Events still to come; `None` before the header is read.
    left: Option<u64>,
    /// Whether the end was checked.
    ended: bool,
    number: u64,
    threads: NumberedNames<ThreadId>,
    locks: NumberedNames<LockId>,
    vars: NumberedNames<VarId>,
    blocks: NumberedNames<NameId>,
    locations: NumberedNames<LocId>,
}

impl<'r> RapidBinary<'r> {
    pub(crate) fn new(input: Box<dyn Read + Send + 'r>) -> Self {
        RapidBinary {
            input: Box::new(io::BufReader::with_capacity(128 * 1024, input)),
            left: None,
            ended: false,
            number: 0,
            threads: NumberedNames::new("T"),
            locks: NumberedNames::new("L"),
            vars: NumberedNames::new("V"),
            blocks: NumberedNames::new(""),
            locations: NumberedNames::new(""),
        }
    }

    pub(crate) fn next(&mut self, symbols: &mut Symbols) -> Result<Option<Decoded>, Fault> {
        let left = match self.left {
            Some(left) => left,
            None => self.header()?,
        };
        if left == 0 {
            return self.end();
        }
        self.number += 1;
        self.left = Some(left - 1);
        let mut record = [0; 8];
        if let Err(error) = self.input.read_exact(&mut record) {
            self.left = Some(0);
            self.ended = true;
            if error.kind() != io::ErrorKind::UnexpectedEof {
                return Err(self.broken(error));
            }
            return Err(self.fault(&[], format!("expected {left} more records of 8 bytes")));
        }
        let mut event = self.event(u64::from_be_bytes(record), symbols)?;
        event.line = NonZeroU64::new(self.number);
        let op = Position {
            line: self.number,
            column: 1,
        };
        Ok(Some(Decoded {
            event,
            op,
            data: op,
        }))
    }

    /// After the events announced by the header there must be nothing more; otherwise the header
    /// is not valid.
    fn end(&mut self) -> Result<Option<Decoded>, Fault> {
        if std::mem::replace(&mut self.ended, true) {
            return Ok(None);
        }
        let mut more = [0; 8];
        let found = loop {
            match self.input.read(&mut more) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.broken(error)),
                Ok(found) => break found,
            }
        };
        match found {
            0 => Ok(None),
            found => {
                let problem = format!(
                    "expected the end of the file after the {} events that the header announces",
                    self.number
                );
                self.number += 1;
                Err(self.fault(&more[..found], problem))
            }
        }
    }

    fn fault(&self, bytes: &[u8], problem: String) -> Fault {
        let found = if bytes.is_empty() {
            "the end of the file".to_owned()
        } else {
            bytes.iter().map(|byte| format!("{byte:02x}")).collect()
        };
        Fault::Line {
            line: self.number,
            column: 1,
            found,
            problem,
        }
    }

    fn broken(&self, source: io::Error) -> Fault {
        Fault::Io {
            line: self.number,
            column: 1,
            source,
        }
    }

    fn header(&mut self) -> Result<u64, Fault> {
        let mut header = [0; HEADER];
        let mut filled = 0;
        while filled < HEADER {
            match self.input.read(&mut header[filled..]) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.broken(error)),
            }
        }
        self.left = Some(0);
        self.ended = filled < HEADER;
        let (_, events) = header.split_at(HEADER - 8);
        let events = events.try_into().map_or(-1, i64::from_be_bytes);
        match u64::try_from(events) {
            Ok(events) if filled == HEADER => {
                self.left = Some(events);
                Ok(events)
            }
            _ => Err(self.fault(
                &header[..filled],
                "expected the 18 bytes of a header: threads, locks, variables, events".to_owned(),
            )),
        }
    }

    fn event(&mut self, record: u64, symbols: &mut Symbols) -> Result<Event, Fault> {
        match self.build(record, symbols) {
            Ok(Some(event)) if record >> 63 == 0 => Ok(event),
            Ok(_) => Err(self.fault(
                &record.to_be_bytes(),
                "expected an operation from 0 to 8 and a sign bit that is 0".to_owned(),
            )),
            Err(error) => Err(self.fault(&record.to_be_bytes(), error.to_string())),
        }
    }

    fn build(&mut self, record: u64, symbols: &mut Symbols) -> Result<Option<Event>, CoreError> {
        let operand = field(record, OPERAND);
        let op = match field(record, OPERATION) {
            0 => Op::Lock(self.locks.id(operand, &mut symbols.locks)?),
            1 => Op::Unlock(self.locks.id(operand, &mut symbols.locks)?),
            2 => Op::Read(self.vars.id(operand, &mut symbols.vars)?),
            3 => Op::Write(self.vars.id(operand, &mut symbols.vars)?, None),
            4 => Op::Fork(self.threads.id(operand, &mut symbols.threads)?),
            5 => Op::Join(self.threads.id(operand, &mut symbols.threads)?),
            6 => Op::Marker(Marker::Begin, self.block(operand, symbols)?),
            7 => Op::Marker(Marker::End, self.block(operand, symbols)?),
            8 => Op::Request(self.locks.id(operand, &mut symbols.locks)?),
            _ => return Ok(None),
        };
        let thread = self
            .threads
            .id(field(record, THREAD), &mut symbols.threads)?;
        let mut event = Event::new(thread, op);
        event.loc = Some(
            self.locations
                .id(field(record, LOCATION), &mut symbols.locs)?,
        );
        Ok(Some(event))
    }

    fn block(&mut self, operand: u64, symbols: &mut Symbols) -> Result<Option<NameId>, CoreError> {
        match operand {
            0 => Ok(None),
            number => self.blocks.id(number, &mut symbols.names).map(Some),
        }
    }
}

/// Collects events for the binary form. The header counts them and the names decide the numbers,
/// so that nothing can be written before the end; an event takes 16 bytes until then.
#[derive(Default)]
pub(crate) struct BinaryWriter {
    records: Vec<Record>,
}

struct Record {
    thread: u32,
    operation: u8,
    /// The id of its object; a mark of a thread has no other object.
    operand: Option<u32>,
    location: Option<u32>,
}

impl BinaryWriter {
    /// Takes one event, or returns what the format has no code for.
    pub(crate) fn push(&mut self, event: &Event) -> Result<(), String> {
        let (operation, operand) = match &event.op {
            Op::Lock(lock) => (0, Some(lock.index())),
            Op::Unlock(lock) => (1, Some(lock.index())),
            Op::Read(var) => (2, Some(var.index())),
            Op::Write(var, _) => (3, Some(var.index())),
            Op::Fork(child) => (4, Some(child.index())),
            Op::Join(child) => (5, Some(child.index())),
            Op::Marker(Marker::Begin, name) => (6, name.map(NameId::index)),
            Op::Marker(Marker::End, name) => (7, name.map(NameId::index)),
            Op::Request(lock) => (8, Some(lock.index())),
            _ => return Err("it has only r, w, acq, rel, fork, join, begin, end, req".to_owned()),
        };
        // Ids have 32 bits, so the conversions keep all of them.
        self.records.push(Record {
            thread: event.thread.index() as u32,
            operation,
            operand: operand.map(|index| index as u32),
            location: event.loc.map(|loc| loc.index() as u32),
        });
        Ok(())
    }

    /// The kinds of names in the events taken so far that do not survive a round trip.
    pub(crate) fn renumbered(&self, symbols: &Symbols) -> Vec<&'static str> {
        let uses = |operations: &[u8]| {
            let mut records = self.records.iter();
            records.any(|record| record.operand.is_some() && operations.contains(&record.operation))
        };
        let located = self.records.iter().any(|record| record.location.is_some());
        let kinds = [
            (
                "threads",
                own_numbers(&symbols.threads, "T", THREAD.1).is_none(),
            ),
            (
                "locks",
                uses(&[0, 1, 8]) && own_numbers(&symbols.locks, "L", OPERAND.1).is_none(),
            ),
            (
                "variables",
                uses(&[2, 3]) && own_numbers(&symbols.vars, "V", OPERAND.1).is_none(),
            ),
            (
                "blocks",
                uses(&[6, 7]) && own_blocks(&symbols.names).is_none(),
            ),
            (
                "locations",
                located && own_numbers(&symbols.locs, "", LOCATION.1).is_none(),
            ),
        ];
        let lost = kinds.into_iter().filter(|(_, lost)| *lost);
        lost.map(|(kind, _)| kind).collect()
    }

    /// Writes everything, or returns what does not fit.
    pub(crate) fn finish(
        &self,
        out: &mut impl Write,
        symbols: &Symbols,
    ) -> io::Result<Result<(), String>> {
        let threads = numbers(&symbols.threads, "T", THREAD.1);
        let locks = numbers(&symbols.locks, "L", OPERAND.1);
        let vars = numbers(&symbols.vars, "V", OPERAND.1);
        let blocks = own_blocks(&symbols.names)
            .unwrap_or_else(|| (1..=symbols.names.len() as u64).collect());
        let locations = numbers(&symbols.locs, "", LOCATION.1);
        out.write_all(
            &i16::try_from(threads.len())
                .unwrap_or(i16::MAX)
                .to_be_bytes(),
        )?;
        out.write_all(&i32::try_from(locks.len()).unwrap_or(i32::MAX).to_be_bytes())?;
        out.write_all(&i32::try_from(vars.len()).unwrap_or(i32::MAX).to_be_bytes())?;
        out.write_all(&(self.records.len() as i64).to_be_bytes())?;
        for record in &self.records {
            let thread = threads[record.thread as usize];
            let location = record.location.map_or(0, |loc| locations[loc as usize]);
            if thread >> THREAD.1 != 0 {
                let problem = "it numbers at most 1024 threads";
                return Ok(Err(problem.to_owned()));
            }
            if location >> LOCATION.1 != 0 {
                let problem = "it numbers at most 32768 locations";
                return Ok(Err(problem.to_owned()));
            }
            let operands = match record.operation {
                0 | 1 | 8 => &locks,
                2 | 3 => &vars,
                4 | 5 => &threads,
                _ => &blocks,
            };
            let word = thread << THREAD.0
                | u64::from(record.operation) << OPERATION.0
                | record.operand.map_or(0, |id| operands[id as usize]) << OPERAND.0
                | location << LOCATION.0;
            out.write_all(&word.to_be_bytes())?;
        }
        Ok(Ok(()))
    }
}

/// A number for each name: the one that it ends in if all names are the prefix and a number that
/// fits, so that such traces survive a round trip; otherwise in order of appearance.
fn numbers<I: Id>(names: &Interner<I>, prefix: &str, bits: u32) -> Vec<u64> {
    let own = own_numbers(names, prefix, bits);
    own.unwrap_or_else(|| (0..names.len() as u64).collect())
}

/// The numbers that blocks are named by, if all are; 0 is not one.
fn own_blocks(names: &Interner<NameId>) -> Option<Vec<u64>> {
    own_numbers(names, "", OPERAND.1).filter(|numbers| !numbers.contains(&0))
}

/// The numbers that the names end in, if all have one.
fn own_numbers<I: Id>(names: &Interner<I>, prefix: &str, bits: u32) -> Option<Vec<u64>> {
    names
        .iter()
        .map(|name| {
            let digits = name.strip_prefix(prefix)?;
            let number: u64 = digits.parse().ok()?;
            (number >> bits == 0 && number.to_string() == digits).then_some(number)
        })
        .collect()
}
