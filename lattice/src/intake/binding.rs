//! Bindings of a property's parameters, and which of them are instances.
//!
//! As in JavaMOP with full bindings. An event gives values to some of the parameters. Bindings that
//! do not contradict each other can be joined; an instance is a join that gives every parameter a
//! value, and its run are the steps whose bindings are part of it. So for
//! `property p(u, f) { event login(u), open(u, f), close(f) }` the events `login(1)`, `open(1, a)`,
//! `close(a)`, `close(b)` make the instances (1, a), with the first three, and (1, b), with
//! `login(1)` and `close(b)`. A step that binds nothing is a step of every instance. A binding that
//! never becomes full is no instance.
//!
//! Values are compared by their [spelling](super::spelling).

use std::collections::BTreeSet;

use indexmap::IndexSet;
use portent_monitor_core::Value;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

use super::{
    refused::Refused,
    spelling::{SpellingId, Spellings},
    spread::{Blocks, SpreadMap},
};

/// A value of some parameter, or none.
type Slot = Option<SpellingId>;
/// One slot for each parameter.
pub(crate) type Binding = SmallVec<[Slot; 3]>;

portent_monitor_core::ids! {
    /// A distinct [`Binding`].
    #[derive(Default)]
    pub(crate) struct BindingId(u32);
}

/// Pairs of parameters that differ in every instance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inequalities(Vec<(usize, usize)>);

impl Inequalities {
    pub(crate) fn new(pairs: &[(usize, usize)]) -> Inequalities {
        Inequalities(pairs.to_vec())
    }

    /// Whether no two parameters that must differ have the same value. If not, every larger binding fails, too.
    pub(crate) fn allow(&self, binding: &Binding) -> bool {
        let mut pairs = self.0.iter();
        pairs.all(|&(one, other)| binding[one].is_none() || binding[one] != binding[other])
    }
}

/// Whether a binding gives its parameters the same values as a larger one.
pub(crate) fn is_part_of(part: &Binding, whole: &Binding) -> bool {
    let mut slots = part.iter().zip(whole);
    slots.all(|(part, whole)| part.is_none() || part == whole)
}

/// The instances of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Instances {
    pub(crate) all: Vec<Binding>,
    /// Whether the limit left room for all of them.
    pub(crate) is_complete: bool,
}

/// There are more than the limit allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooMany;

/// The bindings that the events of a run made.
#[derive(Clone, Debug)]
pub(crate) struct Bindings {
    arity: usize,
    inequalities: Inequalities,
    spellings: Spellings,
    all: Blocks<Binding>,
    ids: SpreadMap<Binding, BindingId>,
    /// The same for a single parameter, by its value: there may be very many, and they need no hashing.
    of_value: Blocks<Option<BindingId>>,
    /// The largest number of bindings, and those that were refused.
    limit: usize,
    refused: Refused,
    /// The number of spellings that belong to accepted bindings.
    spelled: usize,
}

impl Bindings {
    pub(crate) fn new(arity: usize, inequalities: Inequalities, limit: usize) -> Bindings {
        Bindings {
            arity,
            inequalities,
            spellings: Spellings::default(),
            all: Blocks::default(),
            ids: SpreadMap::default(),
            of_value: Blocks::default(),
            limit,
            refused: Refused::default(),
            spelled: 0,
        }
    }

    /// Whether there is room for a binding. If not, only the fact that it was refused is remembered.
    pub(super) fn admits(&mut self, binding: &Binding) -> bool {
        if self.all.len() < self.limit || self.find(binding).is_some() {
            return true;
        }
        self.refused.add(binding, &self.spellings);
        self.spellings.truncate(self.spelled);
        false
    }

    /// Roughly the number of bytes they take.
    pub(crate) fn bytes(&self) -> u64 {
        let binding = 2 * size_of::<Binding>() + 16;
        let spelling = 2 * size_of::<Value>() + 64;
        (self.all.len() * binding + self.spellings.len() * spelling) as u64
    }

    /// The largest number of bindings, if some were refused.
    pub(crate) fn refused_beyond(&self) -> Option<usize> {
        (!self.refused.is_empty()).then_some(self.limit)
    }

    /// The value of a parameter, as bindings have it.
    pub(super) fn spelling(&mut self, value: &Value) -> SpellingId {
        self.spellings.of(value)
    }

    /// The same for a value given as text, together with the text as a value.
    pub(super) fn spelling_of_text(&mut self, text: &str) -> (SpellingId, Value) {
        self.spellings.of_text(text)
    }

    /// The first value with this spelling.
    pub(crate) fn value(&self, id: SpellingId) -> &Value {
        self.spellings.value(id)
    }

    /// Whether a binding may be part of an instance.
    pub(super) fn allows(&self, binding: &Binding) -> bool {
        self.inequalities.allow(binding)
    }

    /// The id of a binding, which is stored if it is new.
    pub(super) fn intern(&mut self, binding: &Binding) -> BindingId {
        self.spelled = self.spellings.len();
        if let Some(id) = self.find(binding) {
            return id;
        }
        let id = BindingId(self.all.len() as u32);
        self.all.push(binding.clone());
        match binding.as_slice() {
            [Some(value)] => {
                self.of_value.extend_to(value.index() + 1, || None);
                self.of_value[value.index()] = Some(id);
            }
            _ => _ = self.ids.insert(binding.clone(), id),
        }
        id
    }

    fn find(&self, binding: &Binding) -> Option<BindingId> {
        match binding.as_slice() {
            [Some(value)] => *self.of_value.get(value.index())?,
            _ => self.ids.get(binding).copied(),
        }
    }

    /// Forgets the run.
    pub(super) fn clear(&mut self) {
        self.spellings.clear();
        self.all.clear();
        self.ids.clear();
        self.of_value.clear();
        self.refused = Refused::default();
        self.spelled = 0;
    }

    pub(crate) fn get(&self, id: BindingId) -> &Binding {
        &self.all[id.index()]
    }

    /// The values of a full binding, in the order of the parameters.
    pub(crate) fn values(&self, binding: &Binding) -> Vec<Value> {
        let values = binding
            .iter()
            .flatten()
            .map(|&id| self.spellings.value(id).clone());
        values.collect()
    }

    /// The number of distinct bindings; their ids are below this.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// The sets of parameters that some event binds.
    pub(crate) fn domains(&self) -> BTreeSet<Domain> {
        self.all.iter().map(domain).collect()
    }

    /// The binding made of the slots of `binding` in `domain`, if events made it.
    pub(crate) fn restricted(&self, binding: &Binding, domain: &[bool]) -> Option<BindingId> {
        self.find(&restricted(binding, domain))
    }

    /// All instances, or as many as the limit allows. A property without parameters always has one.
    pub(crate) fn instances(&self, limit: usize) -> Instances {
        let mut by_domain: FxHashMap<Domain, Vec<&Binding>> = FxHashMap::default();
        for binding in self.all.iter() {
            by_domain.entry(domain(binding)).or_default().push(binding);
        }
        let mut covers = Vec::new();
        let domains: Vec<&Domain> = by_domain.keys().collect();
        find_covers(
            &domains,
            &vec![false; self.arity],
            &mut Vec::new(),
            &mut covers,
        );
        let mut found: IndexSet<Binding, FxBuildHasher> = IndexSet::default();
        let mut is_complete = true;
        for cover in covers {
            let mut joined = vec![Binding::from_elem(None, self.arity)];
            for domain in cover {
                is_complete &= self.join(&mut joined, &by_domain[domain], limit);
            }
            found.extend(joined);
        }
        // A binding that lacks some of its steps must not be judged by the others.
        found.retain(|instance| !self.refused.may_be_part_of(instance, &self.spellings));
        is_complete &= found.len() <= limit;
        found.truncate(limit);
        let mut all: Vec<Binding> = found.into_iter().collect();
        all.sort_unstable();
        Instances { all, is_complete }
    }

    /// Joins bindings with compatible ones, where that is allowed, and returns whether the limit left room for all. All of
    /// `left` bind the same parameters, and so do all of `right`.
    fn join(&self, left: &mut Vec<Binding>, right: &[&Binding], limit: usize) -> bool {
        let (Some(first), Some(second)) = (left.first(), right.first()) else {
            left.clear();
            return true;
        };
        let shared: Vec<usize> = (0..first.len())
            .filter(|&place| first[place].is_some() && second[place].is_some())
            .collect();
        let key = |binding: &Binding| -> Binding { shared.iter().map(|&i| binding[i]).collect() };
        let mut index: FxHashMap<Binding, Vec<&Binding>> = FxHashMap::default();
        for &binding in right {
            index.entry(key(binding)).or_default().push(binding);
        }
        let pairs = left.iter().flat_map(|one| {
            let others = index.get(&key(one)).into_iter().flatten();
            others.map(move |other| one.iter().zip(*other).map(|(a, b)| a.or(*b)).collect())
        });
        let allowed = pairs.filter(|both| self.allows(both));
        let mut joined: Vec<Binding> = allowed.take(limit.saturating_add(1)).collect();
        let is_complete = joined.len() <= limit;
        joined.truncate(limit);
        *left = joined;
        is_complete
    }
}

/// The parameters that have values.
pub(crate) type Domain = SmallVec<[bool; 8]>;

/// The parameters that a binding gives values to.
pub(crate) fn domain(binding: &Binding) -> Domain {
    binding.iter().map(Option::is_some).collect()
}

/// The slots of a binding within a domain.
pub(crate) fn restricted(binding: &Binding, domain: &[bool]) -> Binding {
    let slots = binding.iter().zip(domain);
    slots
        .map(|(slot, &within)| slot.filter(|_| within))
        .collect()
}

/// The choices of domains that cover all parameters, each domain adding the first one that is
/// missing: every cover that has no superfluous member is among them.
fn find_covers<'d>(
    domains: &[&'d Domain],
    covered: &[bool],
    chosen: &mut Vec<&'d Domain>,
    covers: &mut Vec<Vec<&'d Domain>>,
) {
    let Some(missing) = covered.iter().position(|covered| !covered) else {
        covers.push(chosen.clone());
        return;
    };
    for domain in domains.iter().filter(|domain| domain[missing]) {
        let both: Domain = covered.iter().zip(*domain).map(|(a, b)| *a || *b).collect();
        chosen.push(domain);
        find_covers(domains, &both, chosen, covers);
        chosen.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bind(bindings: &mut Bindings, values: &[Option<i64>]) {
        let slot = |value: &Option<i64>| Some(bindings.spelling(&Value::Int((*value)?)));
        let binding: Binding = values.iter().map(slot).collect();
        bindings.intern(&binding);
    }

    fn all(arity: usize, seen: &[&[Option<i64>]]) -> Vec<Vec<Value>> {
        let mut bindings = Bindings::new(arity, Inequalities::default(), usize::MAX);
        for values in seen {
            bind(&mut bindings, values);
        }
        let instances = bindings.instances(100);
        assert!(instances.is_complete);
        instances.all.iter().map(|b| bindings.values(b)).collect()
    }

    #[test]
    fn joins_are_of_compatible_bindings_and_full() {
        let ints = |values: &[[i64; 2]]| -> Vec<Vec<Value>> {
            values.iter().map(|v| v.map(Value::Int).to_vec()).collect()
        };
        let seen: &[&[Option<i64>]] = &[
            &[Some(1), None],
            &[Some(1), Some(7)],
            &[None, Some(7)],
            &[None, Some(8)],
            &[Some(2), Some(9)],
        ];
        assert_eq!(all(2, seen), ints(&[[1, 7], [1, 8], [2, 9]]));
        assert_eq!(all(2, &[&[Some(1), None]]), ints(&[]));
        assert_eq!(all(0, &[]), vec![Vec::<Value>::new()]);
    }

    #[test]
    fn what_must_differ_differs() {
        let mut bindings = Bindings::new(2, Inequalities::new(&[(0, 1)]), usize::MAX);
        for n in 0..20 {
            bind(&mut bindings, &[Some(n), None]);
            bind(&mut bindings, &[None, Some(n)]);
        }
        for (limit, is_complete) in [(380, true), (379, false)] {
            let instances = bindings.instances(limit);
            assert_eq!(
                (instances.all.len(), instances.is_complete),
                (limit, is_complete)
            );
        }
    }

    #[test]
    fn of_more_than_the_limit_the_first_are_there() {
        let mut bindings = Bindings::new(2, Inequalities::default(), usize::MAX);
        for n in 0..20 {
            bind(&mut bindings, &[Some(n), None]);
            bind(&mut bindings, &[None, Some(n)]);
        }
        let all = bindings.instances(400);
        assert_eq!((all.all.len(), all.is_complete), (400, true));
        let some = bindings.instances(399);
        assert_eq!((some.all.len(), some.is_complete), (399, false));
        assert!(some.all.iter().all(|binding| all.all.contains(binding)));
    }
}
