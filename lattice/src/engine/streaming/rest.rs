//! A dormant search: its whole state as lists of counts, [packed](crate::order::Packed) into one block of memory.
//!
//! If there are very many searches, each has few nodes and few events, and is dormant until its next event. It is then unpacked into the
//! memory of an active one, exactly as before except for derived lists, so that dormancy never changes what is found.

use portent_monitor_core::ChainId;

use super::{
    Omissions, Stage, Streaming,
    history::{EventPosition, Unsettled, stride},
    nodes::{Node, NodeId, Nodes, Role},
    story::{By, Stories, StoryId, Turn},
};
use crate::order::{Packing, Unpacking};

/// Stands for a missing id.
const NONE: u32 = u32::MAX;

fn halves(number: u64) -> [u32; 2] {
    [(number >> 32) as u32, number as u32]
}

fn whole(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

impl Streaming {
    pub(crate) fn pack(&self, packing: &mut Packing) {
        let ([a, b], [c, d]) = (halves(self.made), halves(self.omissions.late));
        let [e, f] = halves(self.omissions.nodes);
        let Streaming {
            events,
            tidied,
            due,
            compared,
            ..
        } = *self;
        packing.put_numbers([a, b, c, d, e, f, events, tidied, due, compared]);
        packing.put_slice(&self.floor);
        let stages = self.observed.stages().iter();
        packing.put_all(stages.map(|&(stage, story)| [stage.0, story.0]));
        self.history.pack(packing);
        self.nodes.pack(packing);
        self.stories.pack(packing);
    }

    /// Restores a packed search, reusing its own memory.
    pub(crate) fn unpack(&mut self, unpacking: &mut Unpacking<'_>) {
        if let &[a, b, c, d, e, f, events, tidied, due, compared] = unpacking.next() {
            self.made = whole(a, b);
            self.omissions = Omissions {
                late: whole(c, d),
                nodes: whole(e, f),
            };
            (self.events, self.tidied, self.due, self.compared) = (events, tidied, due, compared);
        }
        unpacking.next_into(&mut self.floor);
        let stages = unpacking.next().chunks_exact(2);
        let stages = stages.map(|pair| (Stage(pair[0]), StoryId(pair[1])));
        self.observed.put_stages(stages);
        self.history.unpack(unpacking);
        self.nodes.unpack(unpacking);
        self.stories.unpack(unpacking);
    }
}

impl Unsettled {
    fn pack(&self, packing: &mut Packing) {
        packing.put_slice(&self.last_clocks);
        packing.put(self.lines.iter().map(|line| line.gone));
        for line in &self.lines {
            packing.put_slice(&line.records);
        }
    }

    fn unpack(&mut self, unpacking: &mut Unpacking<'_>) {
        unpacking.next_into(&mut self.last_clocks);
        let gone = unpacking.next();
        let width = gone.len();
        self.lines.resize_with(width, Default::default);
        self.len = 0;
        for (line, &gone) in self.lines.iter_mut().zip(gone) {
            unpacking.next_into(&mut line.records);
            line.gone = gone;
            line.len = (line.records.len() / stride(width)) as u32;
            line.find_places(width);
            self.len += line.len as usize;
        }
    }
}

impl Nodes {
    fn pack(&self, packing: &mut Packing) {
        debug_assert!(self.dropped.is_empty(), "only between two events");
        let counts = [
            self.width,
            self.searched,
            self.spread,
            self.stages,
            self.open.len(),
        ];
        packing.put_numbers(counts.map(|count| count as u32));
        // Released nodes need no slot; the others are renumbered.
        let mut names = packing.take_memory();
        let mut there = 0;
        for node in &self.all {
            names.push(there);
            there += u32::from(node.role != Role::Gone);
        }
        let there = there as usize;
        let name = |id: NodeId| names[id.index()];
        packing.put_each(
            there,
            self.ids().map(|id| words_of_node(self.get(id), name)),
        );
        packing.put_count((there * 3 * self.width) as u32);
        for id in self.ids() {
            let bounds = &self.bounds[id.index() * 3 * self.width..][..3 * self.width];
            packing.put_rest(bounds);
        }
        for open in &self.open {
            let open = open.iter().filter(|&&id| self.get(id).role != Role::Gone);
            packing.put_some(open.map(|&id| name(id)));
        }
        packing.give_memory(names);
    }

    fn unpack(&mut self, unpacking: &mut Unpacking<'_>) {
        if let &[width, searched, spread, stages, open] = unpacking.next() {
            (self.width, self.searched) = (width as usize, searched as usize);
            (self.spread, self.stages) = (spread as usize, stages as usize);
            self.open.resize_with(open as usize, Default::default);
        }
        self.all.clear();
        let nodes = unpacking.next().chunks_exact(NODE);
        self.all.extend(nodes.map(node_of_words));
        unpacking.next_into(&mut self.bounds);
        self.free.clear();
        self.dropped.clear();
        for open in &mut self.open {
            open.clear();
            open.extend(unpacking.next().iter().map(|&id| NodeId(id)));
        }
        self.list_by_stage();
    }
}

/// The number of words of a node.
const NODE: usize = 8;

fn words_of_node(node: &Node, name: impl Fn(NodeId) -> u32) -> [u32; NODE] {
    let role = match node.role {
        Role::Searched => 0,
        Role::Followed => 1,
        Role::Gone => 2,
    };
    [
        node.stage.0,
        role << 1 | u32::from(node.expanded),
        node.by.map_or(NONE, |by| by.chain.index() as u32),
        node.by.map_or(0, |by| by.place),
        node.parent.map_or(NONE, name),
        node.children,
        node.story.0,
        node.born,
    ]
}

fn node_of_words(words: &[u32]) -> Node {
    let chain = (words[2] != NONE).then(|| ChainId::from(words[2]));
    Node {
        stage: Stage(words[0]),
        role: match words[1] >> 1 {
            0 => Role::Searched,
            1 => Role::Followed,
            _ => Role::Gone,
        },
        expanded: words[1] & 1 == 1,
        by: chain.map(|chain| EventPosition {
            chain,
            place: words[3],
        }),
        parent: (words[4] != NONE).then_some(NodeId(words[4])),
        children: words[5],
        story: StoryId(words[6]),
        born: words[7],
    }
}

impl Stories {
    fn pack(&self, packing: &mut Packing) {
        packing.put_all(self.turns.iter().map(|turn| {
            let (kind, number) = match turn.by {
                By::Origin(origin) => (0, origin),
                By::Event(number) => (1, number),
            };
            let before = turn.before.map_or(NONE, |before| before.0);
            [turn.to.0 << 1 | kind, number, before]
        }));
    }

    fn unpack(&mut self, unpacking: &mut Unpacking<'_>) {
        self.turns.clear();
        let turns = unpacking.next().chunks_exact(3);
        self.turns.extend(turns.map(|words| Turn {
            by: match words[0] & 1 {
                0 => By::Origin(words[1]),
                _ => By::Event(words[1]),
            },
            to: Stage(words[0] >> 1),
            before: (words[2] != NONE).then_some(StoryId(words[2])),
        }));
    }
}
