//! Forgets what every cut contains.
//!
//! A search that runs for days must not keep the whole run. If the first events of the observed run are in every cut of a
//! level, they are in every cut of all later levels, and are never needed again. Without them the search is that of a shorter
//! run, whose cuts count the remaining events.

use super::{levels::Levels, path::Configuration, sets::StateList, sweep::Sweep};
use crate::order::Poset;

impl<N: Clone + Send + Sync> Levels<N> {
    /// The cuts in order, as counts of `width` chains.
    fn cuts(&self, width: usize) -> Vec<Vec<u32>> {
        let mut cuts = Vec::with_capacity(self.len());
        self.each(|_, cut| {
            let mut cut = cut();
            cut.resize(width, 0);
            cuts.push(cut);
        });
        cuts
    }

    /// Wide keys may become narrow again.
    fn forget(&mut self, prefix: &[u32]) {
        if let Levels::Narrow(frontier) = self {
            frontier.layout.forget(prefix);
            return;
        }
        let mut cuts = self.cuts(prefix.len());
        cuts.iter_mut().for_each(|cut| without(cut, prefix));
        let nodes = self.nodes().to_vec();
        *self = Levels::of(&cuts, nodes, &vec![u32::MAX; prefix.len()]);
    }
}

fn without(cut: &mut [u32], prefix: &[u32]) {
    for (count, forgotten) in cut.iter_mut().zip(prefix) {
        *count -= forgotten;
    }
}

impl<S: Clone + Ord + Send + Sync> Sweep<S, StateList<S>> {
    /// The number of first events of the observed run that are in every cut of this level.
    pub(crate) fn settled(&self, poset: &Poset) -> usize {
        let missing = poset.chains().filter_map(|chain| {
            let least = self.levels.least(chain)?;
            poset.chain(chain).get(least as usize)
        });
        missing.min().map_or(poset.len(), |event| event.index())
    }

    /// Continues without the first events of the observed run, which are in every cut; `prefix` counts them.
    pub(crate) fn forget(&mut self, prefix: &[u32]) {
        self.observed.resize(prefix.len(), 0);
        without(&mut self.observed, prefix);
        self.level -= prefix.iter().map(|&n| n as usize).sum::<usize>();
        self.levels.forget(prefix);
    }

    /// The states at the cuts of this level, for renaming.
    pub(crate) fn states_mut(&mut self) -> impl Iterator<Item = &mut S> + '_ {
        self.levels.nodes_mut().iter_mut().flatten()
    }

    /// Sorts the states again after renaming.
    pub(crate) fn sort_states(&mut self) {
        for node in self.levels.nodes_mut() {
            node.sort_unstable();
        }
    }

    /// The cuts of this level with each of their states, in order.
    pub(crate) fn spots(&self, width: usize) -> Vec<Configuration<S>> {
        let cuts = self.levels.cuts(width);
        let nodes = cuts.into_iter().zip(self.levels.nodes());
        nodes
            .flat_map(|(cut, states)| {
                let spot = move |state: &S| Configuration {
                    cut: cut.clone(),
                    state: state.clone(),
                };
                states.iter().map(spot)
            })
            .collect()
    }
}
