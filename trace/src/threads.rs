//! The thread of the previous line: usually that of the next one too.

use portent_monitor_core::{Error, Symbols, ThreadId};

/// Caches one thread, whose name need not be looked up again.
#[derive(Default)]
pub(crate) struct LastThread {
    name: Vec<u8>,
    id: Option<ThreadId>,
}

impl LastThread {
    #[inline]
    pub(crate) fn intern(&mut self, name: &[u8], symbols: &mut Symbols) -> Result<ThreadId, Error> {
        match self.id {
            Some(id) if self.name == name => Ok(id),
            _ => {
                let id = symbols.threads.intern_bytes(name)?;
                self.name.clear();
                self.name.extend_from_slice(name);
                self.id = Some(id);
                Ok(id)
            }
        }
    }
}
