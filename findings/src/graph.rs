//! Strongly connected components and short cycles.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

const UNSEEN: u32 = u32::MAX;

/// The number of the component of each node. Tarjan's algorithm, without recursion.
pub(crate) fn components<'g>(nodes: usize, next: impl Fn(usize) -> &'g [usize]) -> Vec<u32> {
    let mut order = vec![UNSEEN; nodes];
    let mut low = vec![0; nodes];
    let mut component = vec![UNSEEN; nodes];
    let (mut count, mut found) = (0, 0);
    let mut open: Vec<usize> = Vec::new();
    let mut path: Vec<(usize, usize)> = Vec::new();
    for root in 0..nodes {
        if order[root] != UNSEEN {
            continue;
        }
        path.push((root, 0));
        while let Some((node, index)) = path.pop() {
            if index == 0 {
                order[node] = count;
                low[node] = count;
                count += 1;
                open.push(node);
            }
            match next(node).get(index) {
                Some(&to) => {
                    path.push((node, index + 1));
                    if order[to] == UNSEEN {
                        path.push((to, 0));
                    } else if component[to] == UNSEEN {
                        low[node] = low[node].min(order[to]);
                    }
                }
                None => {
                    if low[node] == order[node] {
                        while let Some(member) = open.pop() {
                            component[member] = found;
                            if member == node {
                                break;
                            }
                        }
                        found += 1;
                    }
                    if let Some(&(parent, _)) = path.last() {
                        low[parent] = low[parent].min(low[node]);
                    }
                }
            }
        }
    }
    component
}

/// A shortest cycle through a node, as the nodes after it up to itself, within those that are `allowed`.
pub(crate) fn shortest_cycle<'g>(
    node: usize,
    next: impl Fn(usize) -> &'g [usize],
    allowed: impl Fn(usize) -> bool,
) -> Option<Vec<usize>> {
    let mut from: FxHashMap<usize, usize> = FxHashMap::default();
    let mut queue = VecDeque::from([node]);
    while let Some(at) = queue.pop_front() {
        for &to in next(at) {
            if to == node {
                let mut cycle = vec![node];
                let mut back = at;
                while back != node {
                    cycle.push(back);
                    back = from[&back];
                }
                cycle.reverse();
                return Some(cycle);
            }
            if allowed(to) && !from.contains_key(&to) {
                from.insert(to, at);
                queue.push_back(to);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use portent_testing::Rng;

    #[test]
    fn nodes_are_in_one_component_iff_each_reaches_the_other() {
        for seed in 0..500 {
            let mut rng = Rng::new(seed);
            let nodes = rng.between(1, 8);
            let mut next = vec![Vec::new(); nodes];
            for _ in 0..rng.below(14) {
                next[rng.below(nodes)].push(rng.below(nodes));
            }
            let mut reaches = vec![vec![false; nodes]; nodes];
            for (node, row) in reaches.iter_mut().enumerate() {
                row[node] = true;
            }
            for _ in 0..nodes {
                for from in 0..nodes {
                    for &to in &next[from] {
                        let farther = reaches[to].clone();
                        let known = reaches[from].iter_mut().zip(farther);
                        known.for_each(|(known, new)| *known |= new);
                    }
                }
            }
            let components = components(nodes, |node| &next[node]);
            for one in 0..nodes {
                for other in 0..nodes {
                    let together = reaches[one][other] && reaches[other][one];
                    assert_eq!(
                        components[one] == components[other],
                        together,
                        "seed {seed}"
                    );
                }
                let cycle = shortest_cycle(one, |node| &next[node], |_| true);
                let returns = next[one].iter().any(|&to| reaches[to][one]);
                assert_eq!(cycle.is_some(), returns, "seed {seed}");
            }
        }
    }
}
