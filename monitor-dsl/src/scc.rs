//! Strongly connected components (Tarjan), without recursion: machines have thousands of states.

/// The component of every vertex of the graph `0..vertices`. Components are numbered so that every
/// edge leads to a component with the same or a smaller number.
pub(crate) fn components<'a>(
    vertices: usize,
    successors: impl Fn(usize) -> &'a [u32],
) -> Components {
    const NEW: u32 = u32::MAX;
    let mut index = vec![NEW; vertices];
    let mut low = vec![0u32; vertices];
    let mut of = vec![NEW; vertices];
    let mut count = 0u32;
    let mut next = 0u32;
    let mut path: Vec<usize> = Vec::new();
    let mut calls: Vec<(usize, usize)> = Vec::new();
    for root in 0..vertices {
        if index[root] != NEW {
            continue;
        }
        calls.push((root, 0));
        while let Some(&mut (vertex, ref mut edge)) = calls.last_mut() {
            if *edge == 0 {
                index[vertex] = next;
                low[vertex] = next;
                next += 1;
                path.push(vertex);
            }
            if let Some(&target) = successors(vertex).get(*edge) {
                *edge += 1;
                let target = target as usize;
                if index[target] == NEW {
                    calls.push((target, 0));
                } else if of[target] == NEW {
                    low[vertex] = low[vertex].min(index[target]);
                }
                continue;
            }
            calls.pop();
            if let Some(&(parent, _)) = calls.last() {
                low[parent] = low[parent].min(low[vertex]);
            }
            if low[vertex] == index[vertex] {
                while let Some(member) = path.pop() {
                    of[member] = count;
                    if member == vertex {
                        break;
                    }
                }
                count += 1;
            }
        }
    }
    Components {
        of,
        count: count as usize,
    }
}

/// The result of [`components`].
pub(crate) struct Components {
    /// The component of each vertex.
    pub(crate) of: Vec<u32>,
    pub(crate) count: usize,
}

impl Components {
    /// The vertices of every component, successors' components first.
    pub(crate) fn members(&self) -> Vec<Vec<u32>> {
        let mut members = vec![Vec::new(); self.count];
        for (vertex, &component) in self.of.iter().enumerate() {
            members[component as usize].push(vertex as u32);
        }
        members
    }
}
