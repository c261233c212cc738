//! Whether what is left to be shown can be satisfied by an infinite continuation.
//!
//! A state of the tableau is a set of formulas that must hold from here on, with the values that
//! the past operators had one position earlier. Its successors are the cubes of the unfolded
//! conjunction, the letter abstracted away. Putting off an until is marked on the edge by a
//! *promise*; an infinite path is fair if no promise is on all of its edges from some point on, and
//! a state is live if a fair path starts there. Live states are remembered, so that all questions
//! about one formula together explore every tableau state once.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::{
    context::{Context, Role},
    kernel::{Formula, Shape, Strength},
    unfold::Position,
};
use crate::{
    diagram::{Diagram, Variable, View},
    machine::TooLarge,
    scc,
};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Node {
    /// What must hold from here on, sorted.
    obligations: Box<[Formula]>,
    /// The previous values of the past operators that matter to the obligations.
    past: u128,
}

struct Edge {
    target: u32,
    promises: SmallVec<[Variable; 4]>,
}

/// All tableau states met so far.
#[derive(Default)]
pub(super) struct Tableau {
    nodes: Vec<Node>,
    index: FxHashMap<Node, u32>,
    edges: Vec<Vec<Edge>>,
    targets: Vec<Vec<u32>>,
    /// Of the explored nodes: whether a fair path starts there.
    live: Vec<bool>,
    /// The values of formulas, for each combination of previous past values.
    unfolded: FxHashMap<(u128, Formula), Diagram>,
}

/// A way to satisfy a function of obligations and past values.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct Cube {
    obligations: Vec<Formula>,
    promises: SmallVec<[Variable; 4]>,
    past: u128,
}

impl Tableau {
    /// Whether some infinite word satisfies `left` (or its negation, unless `positive`), a function
    /// of obligations, when the past operators had the values `past`, likewise functions of them.
    pub(super) fn satisfiable(
        &mut self,
        context: &mut Context,
        left: Diagram,
        past: &[Diagram],
        positive: bool,
    ) -> Result<bool, TooLarge> {
        let mut function = context.merged(left, positive);
        for (operator, &value) in past.iter().enumerate() {
            let bit = context.variable(Role::Past(operator));
            let yes = context.merged(value, true);
            let no = context.merged(value, false);
            let consistent = context.diagrams.if_then_else(bit, yes, no);
            function = context.diagrams.and(function, consistent);
        }
        let first = self.nodes.len();
        let cubes = self.cubes(context, function)?;
        let starts: Vec<u32> = cubes.into_iter().map(|cube| self.node(&cube)).collect();
        self.explore(context, first)?;
        self.mark_live(first);
        Ok(starts.iter().any(|&start| self.live[start as usize]))
    }

    fn node(&mut self, cube: &Cube) -> u32 {
        let mut obligations = cube.obligations.clone();
        obligations.sort_unstable();
        obligations.dedup();
        let node = Node {
            obligations: obligations.into(),
            past: cube.past,
        };
        *self.index.entry(node.clone()).or_insert_with(|| {
            self.nodes.push(node);
            self.nodes.len() as u32 - 1
        })
    }

    fn explore(&mut self, context: &mut Context, first: usize) -> Result<(), TooLarge> {
        let mut next = first;
        while next < self.nodes.len() {
            let node = self.nodes[next].clone();
            let function = self.successors(context, &node);
            let cubes = self.cubes(context, function)?;
            let mut edges = Vec::with_capacity(cubes.len());
            for cube in cubes {
                let target = self.node(&cube);
                edges.push(Edge {
                    target,
                    promises: cube.promises,
                });
            }
            self.targets
                .push(edges.iter().map(|edge| edge.target).collect());
            self.edges.push(edges);
            next += 1;
        }
        Ok(())
    }

    /// What must hold of the next position, whatever the letter at this one.
    fn successors(&mut self, context: &mut Context, node: &Node) -> Diagram {
        let mut here = KnownPast {
            context,
            past: node.past,
            values: &mut self.unfolded,
        };
        let mut function = Diagram::TRUE;
        for &formula in &node.obligations {
            let value = here.value(formula);
            function = here.context.diagrams.and(function, value);
        }
        let Context { kernel, past, .. } = &here.context;
        let relevant = past.relevant_to(kernel, &node.obligations);
        for operator in (0..past.len()).filter(|operator| relevant & (1 << operator) != 0) {
            let Context {
                kernel,
                diagrams,
                past,
                ..
            } = &mut *here.context;
            let remembered = past.remembered(kernel, operator);
            let forgotten = kernel.not(diagrams, remembered);
            let (yes, no) = (here.value(remembered), here.value(forgotten));
            let bit = here.context.variable(Role::Past(operator));
            let consistent = here.context.diagrams.if_then_else(bit, yes, no);
            function = here.context.diagrams.and(function, consistent);
        }
        let bound = context.bound;
        context
            .diagrams
            .exists_before(function, bound, &mut FxHashMap::default())
    }

    /// The paths of `function` to true. Obligations and promises occur only positively in it, so
    /// that a path's negative tests of them can be dropped. A past value that a path does not test
    /// may be either.
    fn cubes(&self, context: &mut Context, function: Diagram) -> Result<Vec<Cube>, TooLarge> {
        let mut cubes = FxHashSet::default();
        let mut stack = vec![(function, Cube::default(), 0u128)];
        while let Some((diagram, cube, tested)) = stack.pop() {
            context.diagrams.spend(1 + cube.obligations.len());
            if context.diagrams.exhausted() {
                return Err(TooLarge::Work);
            }
            let variable = match context.diagrams.view(diagram) {
                View::Leaf(0) => continue,
                View::Leaf(_) => {
                    let relevant = context.past.relevant_to(&context.kernel, &cube.obligations);
                    let free = relevant & !tested;
                    if free == 0 {
                        cubes.insert(Cube {
                            past: cube.past & relevant,
                            ..cube
                        });
                    } else {
                        let bit = 1 << free.trailing_zeros();
                        let with = Cube {
                            past: cube.past | bit,
                            ..cube.clone()
                        };
                        stack.push((diagram, with, tested | bit));
                        stack.push((diagram, cube, tested | bit));
                    }
                    continue;
                }
                View::Test(variable) => variable,
            };
            let (low, high) = (
                context.diagrams.branch(diagram, variable, 0),
                context.diagrams.branch(diagram, variable, 1),
            );
            let (mut with, mut tested) = (cube.clone(), tested);
            match context.obligations.role(variable) {
                Role::Obligation(_, formula) => with.obligations.push(formula),
                Role::Promise(_) => with.promises.push(variable),
                Role::Past(operator) => {
                    with.past |= 1 << operator;
                    tested |= 1 << operator;
                }
            }
            stack.push((high, with, tested));
            stack.push((low, cube, tested));
        }
        let mut cubes: Vec<Cube> = cubes.into_iter().collect();
        cubes.sort_unstable_by(|a, b| {
            (&a.obligations, a.past, &a.promises).cmp(&(&b.obligations, b.past, &b.promises))
        });
        Ok(cubes)
    }

    fn mark_live(&mut self, first: usize) {
        let count = self.nodes.len() - first;
        let inner: Vec<Vec<u32>> = self.targets[first..]
            .iter()
            .map(|targets| {
                let new = targets.iter().filter(|&&target| target as usize >= first);
                new.map(|&target| target - first as u32).collect()
            })
            .collect();
        let components = scc::components(count, |vertex| &inner[vertex]);
        self.live.resize(self.nodes.len(), false);
        for members in components.members() {
            let component = components.of[members[0] as usize];
            let inside = |target: u32| {
                target as usize >= first && components.of[target as usize - first] == component
            };
            let edges = || {
                members
                    .iter()
                    .flat_map(|&member| &self.edges[first + member as usize])
            };
            let escapes =
                edges().any(|edge| !inside(edge.target) && self.live[edge.target as usize]);
            let mut always_promised: Option<SmallVec<[Variable; 4]>> = None;
            for edge in edges().filter(|edge| inside(edge.target)) {
                match &mut always_promised {
                    None => always_promised = Some(edge.promises.clone()),
                    Some(common) => common.retain(|promise| edge.promises.contains(promise)),
                }
            }
            let fair = always_promised.is_some_and(|common| common.is_empty());
            for &member in &members {
                self.live[first + member as usize] = escapes || fair;
            }
        }
    }
}

/// A position before which the past operators had known values.
struct KnownPast<'t, 'a> {
    context: &'t mut Context<'a>,
    past: u128,
    values: &'t mut FxHashMap<(u128, Formula), Diagram>,
}

impl<'a> Position<'a> for KnownPast<'_, 'a> {
    fn context(&mut self) -> &mut Context<'a> {
        self.context
    }

    fn known(&self, formula: Formula) -> Option<Diagram> {
        self.values.get(&(self.past, formula)).copied()
    }

    fn remember(&mut self, formula: Formula, value: Diagram) {
        self.values.insert((self.past, formula), value);
    }

    fn previous(&mut self, operator: Formula) -> Diagram {
        let Context {
            kernel,
            diagrams,
            past,
            ..
        } = &mut *self.context;
        past.previous(kernel, diagrams, self.past, operator)
    }

    fn next(&mut self, _: Strength, formula: Formula) -> Diagram {
        self.context.must_hold_next(formula)
    }

    fn put_off(&mut self, until: Formula) -> Diagram {
        let promise = self.context.variable(Role::Promise(until));
        let again = self.context.must_hold_next(until);
        self.context.diagrams.and(promise, again)
    }
}

impl Context<'_> {
    /// The obligation that `formula` holds at the next position, of which there always is one.
    fn must_hold_next(&mut self, formula: Formula) -> Diagram {
        match self.kernel.shape(formula) {
            Shape::State(set) if set.is_constant() => *set,
            _ => self.next(Strength::Strong, formula),
        }
    }

    /// A function of strong and weak obligations, or its negation, as a monotone function of
    /// obligations on infinite words, where strong and weak are the same and not having to show a
    /// formula is having to show its negation.
    fn merged(&mut self, function: Diagram, positive: bool) -> Diagram {
        let function = if positive {
            function
        } else {
            self.diagrams.not(function)
        };
        self.merge(function, positive, &mut FxHashMap::default())
    }

    fn merge(
        &mut self,
        function: Diagram,
        positive: bool,
        memo: &mut FxHashMap<Diagram, Diagram>,
    ) -> Diagram {
        let View::Test(variable) = self.diagrams.view(function) else {
            return function;
        };
        if let Some(&known) = memo.get(&function) {
            return known;
        }
        let Role::Obligation(_, formula) = self.obligations.role(variable) else {
            unreachable!("states are functions of obligations");
        };
        let (low, high) = (
            self.diagrams.branch(function, variable, 0),
            self.diagrams.branch(function, variable, 1),
        );
        let low = self.merge(low, positive, memo);
        let high = self.merge(high, positive, memo);
        // The function grows with its obligations, its negation with theirs negated.
        let (condition, with, without) = if positive {
            (self.must_hold_next(formula), high, low)
        } else {
            let negation = self.kernel.not(&mut self.diagrams, formula);
            (self.must_hold_next(negation), low, high)
        };
        let with = self.diagrams.and(condition, with);
        let result = self.diagrams.or(with, without);
        memo.insert(function, result);
        result
    }
}
