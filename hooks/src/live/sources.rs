//! The names by which processes know each other's chains.
//!
//! A clock that leaves the process cannot use the numbers of chains, because every process has a chain 0. Instead, a chain of a
//! recording that belongs to a named process is named after the process and the first thread on the chain, as in `orders/main`, and
//! counts the events of that recording. A chain of another process gets a local chain here, which never ticks, but
//! which locks, threads and messages carry like any other.

use std::sync::Arc;

use portent_monitor_core::{ChainId, Clock};
use rustc_hash::FxHashMap;

use super::{chains, fork_aware::ForkAware};
use crate::context::{ContextError, MAX_PEERS};

pub(super) static SOURCES: ForkAware<Sources> = ForkAware::new();

#[derive(Default)]
pub(super) struct Sources {
    chains: FxHashMap<ChainId, Source>,
    by_name: FxHashMap<Arc<str>, ChainId>,
    peers: usize,
}

struct Source {
    name: Arc<str>,
    kind: Kind,
}

enum Kind {
    /// A chain of this process: how far it had been counted before its recording, and the greatest count that left the process.
    Own { base: u32, told: u32 },
    /// A chain of another process.
    Peer,
}

fn with<R>(f: impl FnOnce(&mut Sources) -> R) -> R {
    SOURCES.with(f)
}

/// Gives a chain of this process a name that no other chain has, which begins like this.
pub(super) fn name_own(chain: ChainId, base: u32, name: &str) -> Arc<str> {
    with(|sources| {
        let mut distinct: Arc<str> = name.into();
        let mut number = 1;
        while sources.by_name.contains_key(&distinct) {
            number += 1;
            distinct = format!("{name}~{number}").into();
        }
        sources.by_name.insert(Arc::clone(&distinct), chain);
        let source = Source {
            name: Arc::clone(&distinct),
            kind: Kind::Own { base, told: 0 },
        };
        sources.chains.insert(chain, source);
        distinct
    })
}

/// Other recordings may now use these chains of this process. Their names stay taken, because other processes may still refer to them.
pub(super) fn forget_own(chains: impl Iterator<Item = ChainId>) {
    with(|sources| {
        for chain in chains {
            sources.chains.remove(&chain);
        }
    });
}

/// What a chain is called everywhere, if it has such a name, and how far it had been counted before.
pub(super) fn named(chain: ChainId) -> Option<(Arc<str>, u32)> {
    with(|sources| {
        let Source { name, kind } = sources.chains.get(&chain)?;
        let base = match kind {
            Kind::Own { base, .. } => *base,
            Kind::Peer => 0,
        };
        Some((Arc::clone(name), base))
    })
}

/// The counts of a clock that others know the names of. They may come back from now on.
pub(super) fn tell(clock: &Clock) -> Vec<(Arc<str>, u32)> {
    with(|sources| {
        let mut counts = Vec::new();
        for (index, &count) in clock.counts().iter().enumerate() {
            let chain = ChainId::from_index(index).filter(|_| count > 0);
            let Some(source) = chain.and_then(|chain| sources.chains.get_mut(&chain)) else {
                continue;
            };
            let count = match &mut source.kind {
                Kind::Own { base, told } => {
                    let count = count.saturating_sub(*base);
                    *told = count.max(*told);
                    count
                }
                Kind::Peer => count,
            };
            if count > 0 {
                counts.push((Arc::clone(&source.name), count));
            }
        }
        counts
    })
}

/// The chains behind counts that arrived.
pub(super) fn hear(counts: &[(Arc<str>, u32)]) -> Result<Vec<(ChainId, u32)>, ContextError> {
    with(|sources| {
        let mut heard = Vec::new();
        for (name, count) in counts {
            let Some(&chain) = sources.by_name.get(name) else {
                heard.push((sources.add_peer(name)?, *count));
                continue;
            };
            let source = sources.chains.get(&chain);
            match source.filter(|source| source.name == *name) {
                // Nobody can know of what nobody was told: such a clock would wait for the future.
                Some(Source {
                    kind: Kind::Own { told, .. },
                    ..
                }) if count > told => {
                    return Err(ContextError::NotTold {
                        source_name: name.to_string(),
                        count: *count,
                        told: *told,
                    });
                }
                Some(Source {
                    kind: Kind::Own { base, .. },
                    ..
                }) => heard.push((chain, base + count)),
                Some(_) => heard.push((chain, *count)),
                // Of a recording that is over.
                None => {}
            }
        }
        Ok(heard)
    })
}

impl Sources {
    fn add_peer(&mut self, name: &Arc<str>) -> Result<ChainId, ContextError> {
        if self.peers >= MAX_PEERS {
            return Err(ContextError::TooManyPeers);
        }
        let chain = chains::of_peer().map_err(|_| ContextError::TooManyPeers)?;
        self.peers += 1;
        self.by_name.insert(Arc::clone(name), chain);
        let source = Source {
            name: Arc::clone(name),
            kind: Kind::Peer,
        };
        self.chains.insert(chain, source);
        Ok(chain)
    }
}
