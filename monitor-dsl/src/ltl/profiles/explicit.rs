//! The graph of profiles, written down: where letters and profiles are few, this is many times faster
//! than fixpoints of diagrams.
//!
//! An edge leads from the profile of a word to that of the word without its first letter, or to the
//! end. A new obligation splits the vertex that an edge leads to, and its update says which half of
//! the other vertex the edge comes from; for a memory it is the other way round.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Profiles,
    updates::{Role, Updates},
};
use crate::{
    alphabet::Alphabet,
    diagram::{Diagram, Diagrams, View},
    scc,
};

/// Alphabets with more letters than this are not looked through.
const MAX_LETTERS: u64 = 1 << 12;
/// At most this many letters are distinguished.
const MAX_CLASSES: usize = 256;
/// This many edges are written down at most.
const MAX_EDGES: usize = 1 << 16;
/// A profile has a bit for each element.
const MAX_ELEMENTS: usize = u128::BITS as usize;

/// All profiles, if they can be written down.
pub(super) fn profiles(
    updates: &mut Updates,
    diagrams: &mut Diagrams,
    alphabet: &Alphabet,
    with_finite: bool,
) -> Option<Profiles> {
    let count = updates.elements.len();
    if alphabet.size() > MAX_LETTERS || count > MAX_ELEMENTS {
        return None;
    }
    let mut graph = ProfileGraph::new(letters(updates, alphabet)?, with_finite);
    for place in 0..count {
        graph.split(updates, place)?;
    }
    let infinite = graph.reaching().fair_cycle;
    let mut set = |wanted: &dyn Fn(usize) -> bool| {
        let vertices = (0..graph.vertices.len()).filter(|&vertex| wanted(vertex));
        let mut rows: Vec<u128> = vertices.map(|vertex| graph.vertices[vertex]).collect();
        rows.sort_unstable();
        diagrams.among_rows(alphabet.bound(), count, &rows)
    };
    Some(Profiles {
        all: set(&|_| true),
        infinite: set(&|vertex| infinite[vertex]),
    })
}

/// The cells of one letter of each class that the updates tell apart.
fn letters(updates: &Updates, alphabet: &Alphabet) -> Option<Vec<Vec<usize>>> {
    let mut classes = FxHashSet::default();
    let mut letters = Vec::new();
    for letter in alphabet.letters() {
        let places = alphabet.places().iter();
        let cells: Vec<usize> = places.map(|place| place.cell(letter)).collect();
        let sets = updates.letter_sets.iter();
        let class: Vec<bool> = sets
            .map(|&set| Decision::new(updates, set, &cells).holds(0, 0))
            .collect();
        if classes.insert(class) {
            letters.push(cells);
        }
        if letters.len() > MAX_CLASSES {
            return None;
        }
    }
    Some(letters)
}

/// What a diagram of the updates is for one letter: tests of elements alone. Every edge is asked, so the letter is read
/// once and not for each of them.
struct Decision {
    tests: Vec<ElementTest>,
    first: Outcome,
}

struct ElementTest {
    /// The bit of the element, if it is tested at the first position, or at the next.
    here: u128,
    there: u128,
    /// What follows if it is false, and if it is true.
    next: [Outcome; 2],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Known(bool),
    Test(u32),
}

impl Decision {
    fn new(updates: &Updates, diagram: Diagram, letter: &[usize]) -> Decision {
        let mut decision = Decision {
            tests: Vec::new(),
            first: Outcome::Known(false),
        };
        decision.first = decision.add(updates, diagram, letter, &mut FxHashMap::default());
        decision
    }

    fn add(
        &mut self,
        updates: &Updates,
        mut diagram: Diagram,
        letter: &[usize],
        added: &mut FxHashMap<Diagram, Outcome>,
    ) -> Outcome {
        let bit = |element: usize| 1 << (updates.elements.len() - 1 - element);
        let (variable, here, there) = loop {
            let variable = match updates.store.view(diagram) {
                View::Leaf(result) => return Outcome::Known(result == 1),
                View::Test(variable) => variable,
            };
            match updates.roles[variable.0 as usize] {
                Role::Letter(place) => {
                    diagram = updates.store.branch(diagram, variable, letter[place]);
                }
                Role::Event(cell) => {
                    let is_event = usize::from(letter[0] == cell);
                    diagram = updates.store.branch(diagram, variable, is_event);
                }
                Role::Here(element) => break (variable, bit(element), 0),
                Role::There(element) => break (variable, 0, bit(element)),
            }
        };
        if let Some(&known) = added.get(&diagram) {
            return known;
        }
        let mut follow = |cell| {
            let branch = updates.store.branch(diagram, variable, cell);
            self.add(updates, branch, letter, added)
        };
        let next = [follow(0), follow(1)];
        let outcome = if next[0] == next[1] {
            next[0]
        } else {
            self.tests.push(ElementTest { here, there, next });
            Outcome::Test(self.tests.len() as u32 - 1)
        };
        added.insert(diagram, outcome);
        outcome
    }

    /// Its value for the profiles at the position of the letter and at the next.
    fn holds(&self, here: u128, there: u128) -> bool {
        let mut outcome = self.first;
        loop {
            match outcome {
                Outcome::Known(value) => return value,
                Outcome::Test(test) => {
                    let test = &self.tests[test as usize];
                    let is_true = here & test.here | there & test.there != 0;
                    outcome = test.next[usize::from(is_true)];
                }
            }
        }
    }
}

/// What is known of an element, for one letter.
struct LetterUpdate {
    value: Decision,
    last: Decision,
    fulfilled: Option<Decision>,
}

impl LetterUpdate {
    fn new(updates: &Updates, place: usize, letter: &[usize]) -> LetterUpdate {
        let update = &updates.elements[place];
        let decide = |diagram| Decision::new(updates, diagram, letter);
        LetterUpdate {
            value: decide(update.value),
            last: decide(update.last),
            fulfilled: update.until.map(|until| decide(until.fulfilled)),
        }
    }
}

#[derive(Clone, Copy)]
struct ProfileEdge {
    from: u32,
    /// `END` if no position follows.
    to: u32,
    letter: u16,
    /// The untils that hold at `from` and are not fulfilled there.
    put_off: u128,
}

const END: u32 = u32::MAX;

struct ProfileGraph {
    letters: Vec<Vec<usize>>,
    /// Profiles: the first element stands highest.
    vertices: Vec<u128>,
    edges: Vec<ProfileEdge>,
}

/// One of the two vertices that a vertex is split into.
fn half(vertex: u32, second: bool) -> u32 {
    match vertex {
        END => END,
        vertex => 2 * vertex + u32::from(second),
    }
}

/// What can be reached from each vertex.
struct Reaching {
    /// The end of a word, or a fair cycle.
    anything: Vec<bool>,
    fair_cycle: Vec<bool>,
}

impl ProfileGraph {
    /// The graph for no elements: one vertex.
    fn new(letters: Vec<Vec<usize>>, with_finite: bool) -> ProfileGraph {
        let edge = |letter: usize, to: u32| ProfileEdge {
            from: 0,
            to,
            letter: letter as u16,
            put_off: 0,
        };
        let again = (0..letters.len()).map(|letter| edge(letter, 0));
        let end = (0..letters.len()).map(|letter| edge(letter, END));
        ProfileGraph {
            edges: if with_finite {
                again.chain(end).collect()
            } else {
                again.collect()
            },
            vertices: vec![0],
            letters,
        }
    }

    /// Takes one more element into account.
    fn split(&mut self, updates: &mut Updates, place: usize) -> Option<()> {
        let bit = 1 << (updates.elements.len() - 1 - place);
        let is_memory = updates.elements[place].is_memory;
        let letters = self.letters.iter();
        let letters: Vec<LetterUpdate> = letters
            .map(|letter| LetterUpdate::new(updates, place, letter))
            .collect();
        let mut edges = Vec::with_capacity(2 * self.edges.len());
        for edge in &self.edges {
            let letter = &letters[usize::from(edge.letter)];
            let from = self.vertices[edge.from as usize];
            let is_last = edge.to == END;
            let to = if is_last {
                0
            } else {
                self.vertices[edge.to as usize]
            };
            let update = if is_last { &letter.last } else { &letter.value };
            // An edge to the end has one continuation for each half that it comes from.
            for given in [false, true] {
                let chosen = if given { bit } else { 0 };
                let (from_half, to_half) = if is_memory {
                    (given, update.holds(from | chosen, to))
                } else {
                    (update.holds(from, to | chosen), given)
                };
                if is_last && given && !is_memory {
                    continue;
                }
                let there = if to_half && !is_last { to | bit } else { to };
                let is_put_off = from_half && { letter.fulfilled.iter() }
                    .any(|fulfilled| !fulfilled.holds(from | bit, there));
                edges.push(ProfileEdge {
                    from: half(edge.from, from_half),
                    to: half(edge.to, to_half),
                    letter: edge.letter,
                    put_off: edge.put_off | if is_put_off { bit } else { 0 },
                });
            }
        }
        updates.store.spend(edges.len());
        if edges.len() > MAX_EDGES || updates.store.exhausted() {
            return None;
        }
        self.edges = edges;
        let halves = |&vertex: &u128| [vertex, vertex | bit];
        self.vertices = self.vertices.iter().flat_map(halves).collect();
        self.prune();
        Some(())
    }

    /// Removes the vertices that no word has.
    fn prune(&mut self) {
        let keep = self.reaching().anything;
        let mut kept = 0;
        let number: Vec<u32> = keep
            .iter()
            .map(|&keep| {
                kept += u32::from(keep);
                if keep { kept - 1 } else { END }
            })
            .collect();
        let mut index = 0;
        self.vertices.retain(|_| {
            index += 1;
            keep[index - 1]
        });
        self.edges.retain_mut(|edge| {
            let stays = keep[edge.from as usize] && (edge.to == END || keep[edge.to as usize]);
            if stays {
                edge.from = number[edge.from as usize];
                if edge.to != END {
                    edge.to = number[edge.to as usize];
                }
            }
            stays
        });
    }

    fn reaching(&self) -> Reaching {
        let targets = Targets::new(self);
        let components = scc::components(self.vertices.len(), |vertex| targets.of(vertex));
        // Of the edges inside a component, the untils that all of them put off.
        let mut always_put_off: Vec<Option<u128>> = vec![None; components.count];
        let mut ends = vec![false; components.count];
        for edge in &self.edges {
            let from = components.of[edge.from as usize] as usize;
            if edge.to == END {
                ends[from] = true;
            } else if components.of[edge.to as usize] as usize == from {
                *always_put_off[from].get_or_insert(u128::MAX) &= edge.put_off;
            }
        }
        let mut fair: Vec<bool> = always_put_off.iter().map(|&all| all == Some(0)).collect();
        for (component, members) in components.members().iter().enumerate() {
            // Components that edges lead to come first.
            for &target in members
                .iter()
                .flat_map(|&vertex| targets.of(vertex as usize))
            {
                let to = components.of[target as usize] as usize;
                fair[component] |= fair[to];
                ends[component] |= ends[to];
            }
        }
        let of_vertex = |vertex: &u32| *vertex as usize;
        Reaching {
            anything: components
                .of
                .iter()
                .map(of_vertex)
                .map(|of| fair[of] || ends[of])
                .collect(),
            fair_cycle: components
                .of
                .iter()
                .map(of_vertex)
                .map(|of| fair[of])
                .collect(),
        }
    }
}

/// Where the edges of a graph lead, by the vertex that they come from.
struct Targets {
    first: Vec<u32>,
    targets: Vec<u32>,
}

impl Targets {
    fn new(graph: &ProfileGraph) -> Targets {
        let inner = || graph.edges.iter().filter(|edge| edge.to != END);
        let mut first = vec![0; graph.vertices.len() + 1];
        for edge in inner() {
            first[edge.from as usize + 1] += 1;
        }
        for vertex in 0..graph.vertices.len() {
            first[vertex + 1] += first[vertex];
        }
        let mut next = first.clone();
        let mut targets = vec![0; first[graph.vertices.len()] as usize];
        for edge in inner() {
            let place = &mut next[edge.from as usize];
            targets[*place as usize] = edge.to;
            *place += 1;
        }
        Targets { first, targets }
    }

    fn of(&self, vertex: usize) -> &[u32] {
        &self.targets[self.first[vertex] as usize..self.first[vertex + 1] as usize]
    }
}
