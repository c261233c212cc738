//! Whether the stamps that events carry can follow each other.
//!
//! The clocks of stamped events define their order, so little can be wrong with it: an event may come too late. Its
//! number must be greater than all numbers on its chain so far, and greater than any clock's count of that chain so far.

use portent_monitor_core::ChainId;

use crate::error::Error;

/// For each chain, the number of known events: that of the last one that was given, or that a
/// clock has counted.
#[derive(Clone, Debug, Default)]
pub(super) struct Stamps {
    known: Vec<u32>,
}

impl Stamps {
    /// Accepts the next stamp, or returns what it contradicts. A refused stamp changes nothing.
    pub(super) fn admit(&mut self, chain: ChainId, clock: &[u32]) -> Result<(), Error> {
        let number = clock.get(chain.index()).copied().unwrap_or(0);
        let known = self.known.get(chain.index()).copied().unwrap_or(0);
        if number <= known {
            return Err(Error::LateStamp { number, known });
        }
        if clock.len() > self.known.len() {
            self.known.resize(clock.len(), 0);
        }
        for (known, &count) in self.known.iter_mut().zip(clock) {
            *known = count.max(*known);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_comes_before_what_counts_it() {
        let [one, other] = [0, 1].map(|index| ChainId::from_index(index).expect("small"));
        let mut stamps = Stamps::default();
        let late = |number, known| Err(Error::LateStamp { number, known });
        assert_eq!(stamps.admit(one, &[1]), Ok(()));
        assert_eq!(stamps.admit(one, &[1]), late(1, 1), "the same again");
        // Three events of the first chain were counted, but only one was given.
        assert_eq!(stamps.admit(other, &[3, 1]), Ok(()));
        assert_eq!(stamps.admit(one, &[3]), late(3, 3));
        assert_eq!(stamps.admit(one, &[4]), Ok(()));
        assert_eq!(
            stamps.admit(other, &[4]),
            late(0, 1),
            "does not count itself"
        );
        assert_eq!(stamps.admit(other, &[4, 9]), Ok(()));
    }
}
