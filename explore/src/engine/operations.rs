//! Turns requests of the hooks into operations: their objects are numbered within the run, and the dependence of their kinds is known.

use portent_hooks::control::{Class, Object, Release, Step};

use super::{INDEX_BITS, Seen, State, Tries};
use crate::{
    object::Body,
    operation::{Kind, ObjectIndex, Op},
    run::NONE,
};

impl State {
    /// The number of an object, which it gets when it is first met.
    #[inline]
    pub(super) fn object(&mut self, object: Object<'_>) -> ObjectIndex {
        let tag = object.tag();
        if tag >> INDEX_BITS == self.number {
            return tag as u32 & ((1 << INDEX_BITS) - 1);
        }
        self.meet(object, tag)
    }

    fn meet(&mut self, object: Object<'_>, tag: u64) -> ObjectIndex {
        let index = self.objects.len() as u32;
        self.run.is_late |= self.had_choice;
        self.survivors += u32::from(tag != 0);
        assert!(index < 1 << INDEX_BITS, "a run has too many objects");
        object.set_tag(self.number << INDEX_BITS | u64::from(index));
        self.used.meet(object);
        let given = object.given();
        let relevance = self.relevance.as_mut();
        let variable = relevance.and_then(|relevance| relevance.variable(given));
        let seen = |body| Seen {
            kind: object.kind(),
            made: object.made(),
            given,
            thread: None,
            body,
            variable,
        };
        self.add_object(seen(Body::new(object)));
        if object.class() == Class::Plain {
            self.run.is_plain(index);
        }
        if Body::has_sides(object) {
            self.add_object(seen(Body::Side));
        }
        index
    }

    pub(crate) fn add_object(&mut self, seen: Seen) -> ObjectIndex {
        let index = self.objects.len() as u32;
        self.objects.push(seen);
        self.run.add_object();
        index
    }

    pub(super) fn operation(&mut self, step: Step, object: Object<'_>) -> Op {
        let index = self.object(object);
        let kind = match step {
            Step::Read => Kind::Read,
            Step::Write => Kind::Write,
            Step::Update => Kind::Update,
            Step::Lock => Kind::Lock,
            Step::TryLock | Step::TryReadLock => {
                self.need(Tries {
                    locks: true,
                    ..self.tries
                });
                match step {
                    Step::TryLock => Kind::TryLock,
                    _ => Kind::TryReadLock,
                }
            }
            Step::ReadLock => {
                let op = self.share(self.current, index);
                if op.second != NONE {
                    self.need(Tries {
                        requests: true,
                        ..self.tries
                    });
                }
                return op;
            }
            Step::Downgrade => Kind::Downgrade,
            Step::NotifyOne => Kind::NotifyOne,
            Step::NotifyAll => Kind::NotifyAll,
            Step::Send if !self.has_receiver(index) => Kind::FailedSend,
            Step::Send => Kind::Send,
            Step::TrySend => {
                self.need(Tries {
                    channels: true,
                    ..self.tries
                });
                return self.try_send(index);
            }
            Step::Receive => {
                let me = self.current;
                self.threads[me].timed = false;
                return Op::new(Kind::Receive, index + 1);
            }
            Step::TryReceive { timed } => {
                self.need(Tries {
                    channels: true,
                    ..self.tries
                });
                let me = self.current;
                self.threads[me].timed = timed;
                if timed && !self.is_free(me) {
                    return Op::new(Kind::Receive, index + 1);
                }
                return self.try_receive(index);
            }
            Step::CloseReceiver => Kind::CloseReceiver,
            Step::Arrive(threads) => {
                let me = self.current;
                self.threads[me].companions = threads;
                Kind::Arrive
            }
            Step::Call => return self.call(index),
            Step::Done => return Op::new(Kind::Done, index + 1),
            Step::IsDone => return Op::new(Kind::Read, index + 1),
            Step::AwaitDone => Kind::FindDone,
            _ => unreachable!("this step is not known"),
        };
        Op::new(kind, index)
    }

    /// The search begins anew if this was not known.
    fn need(&mut self, tries: Tries) {
        if tries != self.tries {
            self.restart = Some(tries);
        }
    }

    /// A thread gives something back. Where that is an event, it is still to be announced.
    pub(super) fn give_back(
        &mut self,
        thread: usize,
        release: Release,
        object: ObjectIndex,
    ) -> Option<Op> {
        match release {
            Release::Unlock | Release::ReadUnlock if !self.tries.locks => {
                self.unlock(thread, object, release);
                None
            }
            Release::Unlock => Some(Op::new(Kind::Unlock, object)),
            Release::ReadUnlock => Some(Op::new(Kind::ReadUnlock, object)),
            Release::Sender if self.tries.channels => Some(Op::new(Kind::CloseSender, object + 1)),
            Release::Sender => {
                self.close_sender(thread, object);
                None
            }
            Release::Senders => {
                self.closed(object);
                None
            }
            Release::Call => {
                self.left_once(thread, object);
                None
            }
            _ => unreachable!("this is not known to be given back"),
        }
    }
}
