//! The spelling of an event in one line of text: `T1|w(x)|a.rs:10`.
//!
//! It is the STD format of the RAPID tools if that format has a word for the operation, and in
//! its style otherwise. Properties may match on it, and messages show it to users.

use std::fmt;

use crate::{Event, Marker, Msg, Op, Symbols};

/// Displays an event as a line of the STD format.
///
/// ```
/// use portent_monitor_core::{Event, Op, Spelling, Symbols};
///
/// let mut symbols = Symbols::default();
/// let (t, x) = (symbols.threads.intern("T1")?, symbols.vars.intern("x")?);
/// let mut event = Event::new(t, Op::Write(x, None));
/// assert_eq!(Spelling::new(&event, &symbols).to_string(), "T1|w(x)");
/// event.loc = Some(symbols.locs.intern("a.rs:10")?);
/// assert_eq!(Spelling::new(&event, &symbols).to_string(), "T1|w(x)|a.rs:10");
/// # Ok::<(), portent_monitor_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Spelling<'a> {
    event: &'a Event,
    symbols: &'a Symbols,
}

impl<'a> Spelling<'a> {
    /// The spelling of `event`, whose names are in `symbols`.
    pub fn new(event: &'a Event, symbols: &'a Symbols) -> Self {
        Spelling { event, symbols }
    }
}

impl fmt::Display for Spelling<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = self.symbols;
        f.write_str(s.threads.name(self.event.thread))?;
        for partner in self.event.partners() {
            write!(f, ",{}", s.threads.name(*partner))?;
        }
        f.write_str("|")?;
        match &self.event.op {
            Op::Read(v) => write!(f, "r({})", s.vars.name(*v))?,
            Op::Write(v, _) => write!(f, "w({})", s.vars.name(*v))?,
            Op::Update(v, _) => write!(f, "u({})", s.vars.name(*v))?,
            Op::Lock(l) => write!(f, "acq({})", s.locks.name(*l))?,
            Op::Unlock(l) => write!(f, "rel({})", s.locks.name(*l))?,
            Op::Request(l) => write!(f, "req({})", s.locks.name(*l))?,
            Op::ReadLock(l) => write!(f, "racq({})", s.locks.name(*l))?,
            Op::ReadUnlock(l) => write!(f, "rrel({})", s.locks.name(*l))?,
            Op::Fork(t) => write!(f, "fork({})", s.threads.name(*t))?,
            Op::Join(t) => write!(f, "join({})", s.threads.name(*t))?,
            Op::TryLock(l) => write!(f, "tryacq({})", s.locks.name(*l))?,
            Op::Send(c, m, _) => write!(f, "send({},{})", s.chans.name(*c), MsgName(*m, s))?,
            Op::Recv(c, m, _) => write!(f, "recv({},{})", s.chans.name(*c), MsgName(*m, s))?,
            Op::TryRecv(c) => write!(f, "tryrecv({})", s.chans.name(*c))?,
            Op::Waiting(c, None) => write!(f, "waiting({})", s.conds.name(*c))?,
            Op::Wait(c, None) => write!(f, "wait({})", s.conds.name(*c))?,
            Op::Waiting(c, Some(l)) => {
                write!(f, "waiting({},{})", s.conds.name(*c), s.locks.name(*l))?;
            }
            Op::Wait(c, Some(l)) => {
                write!(f, "wait({},{})", s.conds.name(*c), s.locks.name(*l))?;
            }
            Op::Notify(c) => write!(f, "notify({})", s.conds.name(*c))?,
            Op::Barrier(b, round) => write!(f, "barrier({},{round})", s.barriers.name(*b))?,
            Op::Marker(marker, name) => {
                let name = name.map_or("", |name| s.names.name(name));
                write!(f, "{}({name})", marker.word())?;
            }
            Op::Event(_) | Op::Stamped(_) => self.action(f)?,
        }
        match self.event.loc {
            Some(loc) => write!(f, "|{}", s.locs.name(loc)),
            None => Ok(()),
        }
    }
}

impl Spelling<'_> {
    fn action(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(action) = self.event.action() else {
            return Ok(());
        };
        if let (None, Op::Stamped(stamped)) = (action.name, &self.event.op) {
            let components = stamped.clock.iter();
            let name = |t| self.symbols.threads.name(t);
            let clock: Vec<_> = components
                .map(|&(t, n)| format!("{}:{n}", name(t)))
                .collect();
            return write!(f, "vc({})", clock.join(","));
        }
        f.write_str(action.name.map_or("", |name| self.symbols.names.name(name)))?;
        f.write_str("(")?;
        for (i, arg) in action.args.iter().enumerate() {
            write!(f, "{}{arg}", if i > 0 { "," } else { "" })?;
        }
        f.write_str(")")
    }
}

impl Marker {
    /// The word of the STD format.
    pub fn word(self) -> &'static str {
        match self {
            Marker::Begin => "begin",
            Marker::End => "end",
        }
    }
}

struct MsgName<'a>(Msg, &'a Symbols);

impl fmt::Display for MsgName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Msg::Number(n) => n.fmt(f),
            Msg::Name(name) => f.write_str(self.1.names.name(name)),
        }
    }
}
