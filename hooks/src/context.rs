//! Causality that crosses processes: a vector clock in the headers of a message.

use std::{fmt::Write, sync::Arc};

/// What one thread knows at one moment, to be sent along with a message: whoever [receives](Self::receive) it comes after all that.
///
/// It goes into any map of strings: the headers of a request or of a response, the metadata of a call, the attributes of a message in a
/// queue. As with the propagators of OpenTelemetry, a closure says how such a map is written and read.
///
/// ```
/// use std::collections::HashMap;
///
/// use portent_hooks::Context;
///
/// // Who sends:
/// let mut headers = HashMap::new();
/// Context::current().inject(|key, value| {
///     headers.insert(key.to_owned(), value);
/// })?;
/// // Who receives, in another process:
/// Context::extract(|key| headers.get(key))?.receive()?;
/// # Ok::<(), portent_hooks::ContextError>(())
/// ```
///
/// **Take them from peers only that you trust**: clocks are believed, and one that counts events which never happened makes whoever checks
/// them wait. What does not have to be believed is looked at: the size, the spelling, and that this process has told of the events that
/// come back to it.
///
/// Events are told apart by the names of their processes: see `Builder::process` of a recording. A thread that takes part
/// in no such recording passes on what it has received. Without the feature `monitor` contexts are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// How many events of each source.
    counts: Vec<(Arc<str>, u32)>,
}

/// A header is at most this long; servers accept no more than that.
const MAX_BYTES: usize = 8 * 1024;
/// A name of a source, as it is spelled in a header.
const MAX_NAME: usize = 512;
/// So many sources of other processes can be known.
#[cfg(feature = "monitor")]
pub(crate) const MAX_PEERS: usize = 4096;

/// Why a context cannot be sent or received.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContextError {
    /// The header would be, or is, too long.
    #[error("a clock of {sources} sources takes {bytes} bytes, and a header may have {MAX_BYTES}")]
    TooLong {
        /// How many sources it counts the events of; 0 if it was not looked at.
        sources: usize,
        /// How long it is.
        bytes: usize,
    },
    /// It is not spelled as a clock.
    #[error("expected a list of `source=count`, not `{found}`")]
    Malformed {
        /// The part that is not.
        found: String,
    },
    /// It counts events of this process of which nobody was told.
    #[error(
        "the clock counts {count} events of `{source_name}`, which is of this process and has told of {told}"
    )]
    NotTold {
        /// Whose events.
        source_name: String,
        /// How many it counts.
        count: u32,
        /// How many this process has told of.
        told: u32,
    },
    /// There are too many threads in other processes.
    #[error("the clocks of other processes have too many sources")]
    TooManyPeers,
}

impl Context {
    /// The name of the header.
    pub const HEADER: &str = "portent-clock";

    /// What this thread knows now.
    pub fn current() -> Context {
        #[cfg(feature = "monitor")]
        let counts = crate::live::told();
        #[cfg(not(feature = "monitor"))]
        let counts = Vec::new();
        Context { counts }
    }

    /// Whether it counts nothing.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Writes it: `set` is given the name of the header and its value, unless there is nothing to be told.
    ///
    /// # Errors
    ///
    /// [`ContextError::TooLong`]: nothing was written, and who receives the message is not known to come after anything.
    ///
    /// ```
    /// use portent_hooks::Context;
    ///
    /// let context = Context::extract(|_| Some("billing/main=3,orders/w%201=12"))?;
    /// let mut metadata = Vec::new();
    /// context.inject(|key, value| metadata.push((key.to_owned(), value)))?;
    /// assert_eq!(metadata[0].1, "billing/main=3,orders/w%201=12");
    /// # Ok::<(), portent_hooks::ContextError>(())
    /// ```
    pub fn inject(&self, set: impl FnOnce(&str, String)) -> Result<(), ContextError> {
        if self.is_empty() {
            return Ok(());
        }
        let mut value = String::new();
        for (source, count) in &self.counts {
            if !value.is_empty() {
                value.push(',');
            }
            escape(source, &mut value);
            // Writing to a string does not fail.
            let _ = write!(value, "={count}");
        }
        if value.len() > MAX_BYTES {
            let (sources, bytes) = (self.counts.len(), value.len());
            return Err(ContextError::TooLong { sources, bytes });
        }
        set(Context::HEADER, value);
        Ok(())
    }

    /// Reads it: `get` is asked for the value of the header. A message without one counts nothing.
    ///
    /// # Errors
    ///
    /// [`ContextError::TooLong`], [`ContextError::Malformed`].
    ///
    /// ```
    /// use portent_hooks::{Context, ContextError};
    ///
    /// assert!(Context::extract(|_| None::<&str>)?.is_empty());
    /// let error = Context::extract(|_| Some("orders/main=3,orders/worker")).unwrap_err();
    /// assert_eq!(error.to_string(), "expected a list of `source=count`, not `orders/worker`");
    /// # Ok::<(), ContextError>(())
    /// ```
    pub fn extract<S: AsRef<str>>(
        get: impl FnOnce(&str) -> Option<S>,
    ) -> Result<Context, ContextError> {
        let Some(value) = get(Context::HEADER) else {
            return Ok(Context::default());
        };
        let value = value.as_ref();
        if value.len() > MAX_BYTES {
            let bytes = value.len();
            return Err(ContextError::TooLong { sources: 0, bytes });
        }
        let mut counts: Vec<(Arc<str>, u32)> = Vec::new();
        for part in value.split(',') {
            let malformed = || ContextError::Malformed {
                found: part.chars().take(80).collect(),
            };
            let (source, count) = part.trim().rsplit_once('=').ok_or_else(malformed)?;
            let is_number = count.bytes().all(|byte| byte.is_ascii_digit());
            let count = count.parse().ok().filter(|&count| is_number && count > 0);
            let source = unescape(source).ok_or_else(malformed)?;
            counts.push((source.into(), count.ok_or_else(malformed)?));
        }
        counts.sort();
        if counts.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            let found = value.chars().take(80).collect();
            return Err(ContextError::Malformed { found });
        }
        Ok(Context { counts })
    }

    /// This thread has received the message: what it does from now on comes after all that was known when the context was made.
    ///
    /// # Errors
    ///
    /// [`ContextError::NotTold`], [`ContextError::TooManyPeers`].
    pub fn receive(&self) -> Result<(), ContextError> {
        #[cfg(feature = "monitor")]
        if !self.is_empty() {
            crate::live::heard(&self.counts)?;
        }
        Ok(())
    }
}

/// Letters, digits and what names of threads usually have are themselves; headers take no more than ASCII.
fn escape(name: &str, into: &mut String) {
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"/._~:@#-".contains(&byte) {
            into.push(char::from(byte));
        } else {
            let _ = write!(into, "%{byte:02X}");
        }
    }
}

/// What was escaped; `None` if it cannot have been.
fn unescape(text: &str) -> Option<String> {
    if text.is_empty() || text.len() > MAX_NAME {
        return None;
    }
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                let digits = digits.map(|digit| char::from(digit).to_digit(16));
                u8::try_from(digits[0]? * 16 + digits[1]?).ok()?
            }
            b'=' | b' '..=b'"' | 0x7f.. | ..b' ' => return None,
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}
