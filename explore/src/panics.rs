//! Panics of threads of an explored program: they become part of a failure, and are not printed.

use std::{
    cell::{Cell, RefCell},
    panic::{self, PanicHookInfo},
    sync::Once,
};

/// A panic: what it said, and where.
#[derive(Clone, Debug, Default)]
pub(crate) struct Message {
    pub(crate) text: String,
    pub(crate) place: Option<String>,
}

thread_local! {
    static LISTENING: Cell<bool> = const { Cell::new(false) };
    static LAST: RefCell<Option<Message>> = const { RefCell::new(None) };
}

/// As long as it is there, panics of this thread of the operating system are kept instead of printed.
pub(crate) struct Listening(());

pub(crate) fn listen() -> Listening {
    static HOOKED: Once = Once::new();
    HOOKED.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !LISTENING.try_with(Cell::get).unwrap_or_default() {
                return before(info);
            }
            let message = message(info);
            let _ =
                LAST.try_with(|last| last.try_borrow_mut().map(|mut last| *last = Some(message)));
        }));
    });
    LISTENING.set(true);
    Listening(())
}

impl Drop for Listening {
    fn drop(&mut self) {
        LISTENING.set(false);
    }
}

/// The last panic.
pub(crate) fn take() -> Message {
    LAST.with(RefCell::take).unwrap_or_default()
}

fn message(info: &PanicHookInfo<'_>) -> Message {
    let payload = info.payload();
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("something that is no text");
    Message {
        text: text.to_owned(),
        place: info.location().map(ToString::to_string),
    }
}
