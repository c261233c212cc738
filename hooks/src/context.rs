//! Causality that crosses processes: a vector clock in the headers of a message.

use std::{fmt::Write, sync::Arc};

/// What one thread knows at one moment, sent along with a message: whoever [receives](Self::receive) it comes after all of that.
///
/// It fits into any map of strings: the headers of a request or response, the metadata of a call, the attributes of a queued
/// message. As with the propagators of OpenTelemetry, a closure writes to the map or reads from it.
///
/// ```
/// use std::collections::HashMap;
///
/// use portent_hooks::Context;
///
/// // The sender:
/// let mut headers = HashMap::new();
/// Context::current().inject(|key, value| {
///     headers.insert(key.to_owned(), value);
/// })?;
/// // The receiver, in another process:
/// Context::extract(|key| headers.get(key))?.receive()?;
/// # Ok::<(), portent_hooks::ContextError>(())
/// ```
///
/// **Accept contexts only from peers that you trust.** Clocks cannot be verified, and one that counts events which never happened makes the
/// checker wait for them. What can be verified is: the size, the syntax, and that events of this process were really sent out before
/// they come back.
///
/// Events are distinguished by the names of their processes: see `Builder::process` of a recording. A thread that does not take part
/// in such a recording passes on what it has received. Without the feature `monitor` contexts are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// The number of events of each source.
    counts: Vec<(Arc<str>, u32)>,
}

/// The maximal length of a header; servers accept no more than that.
const MAX_BYTES: usize = 8 * 1024;
/// A name of a source, as it is spelled in a header.
const MAX_NAME: usize = 512;
/// The maximal number of sources of other processes.
#[cfg(feature = "monitor")]
pub(crate) const MAX_PEERS: usize = 4096;

/// Why a context cannot be sent or received.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContextError {
    /// The header is, or would be, too long.
    #[error("a clock of {sources} sources takes {bytes} bytes, and a header may have {MAX_BYTES}")]
    TooLong {
        /// The number of sources whose events it counts; 0 if it was not parsed.
        sources: usize,
        /// Its length.
        bytes: usize,
    },
    /// The header is not a clock.
    #[error("expected a list of `source=count`, not `{found}`")]
    Malformed {
        /// The part that could not be parsed.
        found: String,
    },
    /// It counts events of this process that were never sent to anyone.
    #[error(
        "the clock counts {count} events of `{source_name}`, which is of this process and has told of {told}"
    )]
    NotTold {
        /// Whose events.
        source_name: String,
        /// The number of events that it counts.
        count: u32,
        /// The number of events that this process has sent out.
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

    /// Whether it counts no events.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Writes the context: calls `set` with the name and the value of the header, unless the context is empty.
    ///
    /// # Errors
    ///
    /// [`ContextError::TooLong`]: nothing was written, so the order that this message creates will be missing.
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

    /// Reads a context: calls `get` for the value of the header. A message without the header gives an empty context.
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

    /// Notes that this thread has received the message: what it does from now on comes after everything that the sender knew when it made the context.
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

/// Escapes a name, since headers are limited to ASCII. Letters, digits and what thread names usually contain stay as they are.
fn escape(name: &str, into: &mut String) {
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"/._~:@#-".contains(&byte) {
            into.push(char::from(byte));
        } else {
            let _ = write!(into, "%{byte:02X}");
        }
    }
}

/// Undoes [`escape`]; `None` if the text cannot come from it.
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
