//! Decides which prefix to examine next: one of those with the fewest relevant events.

/// Nodes waiting to be examined, those with the fewest relevant events first.
#[derive(Default)]
pub(in crate::engine) struct PrefixLevels {
    waiting: Vec<Vec<u32>>,
    lowest: usize,
    len: usize,
}

impl PrefixLevels {
    pub(in crate::engine) fn len(&self) -> usize {
        self.len
    }

    pub(in crate::engine) fn push(&mut self, level: u32, node: u32) {
        let level = level as usize;
        if self.waiting.len() <= level {
            self.waiting.resize(level + 1, Vec::new());
        }
        self.waiting[level].push(node);
        self.lowest = self.lowest.min(level);
        self.len += 1;
    }

    pub(in crate::engine) fn pop(&mut self) -> Option<u32> {
        self.pop_below(u32::MAX)
    }

    /// The next node, if it has fewer relevant events than that.
    pub(in crate::engine) fn pop_below(&mut self, level: u32) -> Option<u32> {
        while self.lowest < self.waiting.len().min(level as usize) {
            if let Some(node) = self.waiting[self.lowest].pop() {
                self.len -= 1;
                return Some(node);
            }
            self.lowest += 1;
        }
        None
    }

    /// Whether no waiting node has fewer relevant events.
    pub(in crate::engine) fn is_past(&self, level: u32) -> bool {
        let below = self.waiting.iter().take(level as usize);
        below.into_iter().all(Vec::is_empty)
    }
}
