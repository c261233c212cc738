//! The bindings that have or will have steps: those of the events so far, and all their joins.
//!
//! After F. Chen and G. Roşu, *Parametric Trace Slicing and Monitoring* (2009). Offline all bindings
//! are known and only full ones matter. Online a new binding may agree with
//! earlier ones that are not full, and its run begins with their steps. As the kept bindings are
//! closed under joins, one of them contains all others that the new one contains:
//! it has exactly those steps. So a new run begins as a copy, and no steps are searched for. Bindings
//! that break an inequality are left out: every part of an allowed binding is allowed.

use indexmap::{IndexMap, map::Entry};
use rustc_hash::FxHashMap;

use super::spread::{Blocks, SpreadMap};
use crate::intake::binding::{Binding, Domain, Inequalities, TooMany, domain, restricted};

portent_monitor_core::ids! {
    /// A binding that is kept.
    pub(crate) struct JoinId(u32);
}

/// Bindings that are closed under joins.
#[derive(Clone, Debug)]
pub(crate) struct Joins {
    inequalities: Inequalities,
    all: Blocks<Binding>,
    ids: SpreadMap<Binding, JoinId>,
    /// The bindings that give values to the same parameters, grouped.
    groups: Vec<Group>,
}

/// The bindings that give values to certain parameters.
#[derive(Clone, Debug)]
struct Group {
    domain: Domain,
    members: Blocks<JoinId>,
    /// For some parts of the domain: the members by their values there. A part is indexed when it
    /// is first queried.
    by_part: FxHashMap<Domain, SpreadMap<Binding, Vec<JoinId>>>,
}

impl Joins {
    /// The empty binding of this many parameters.
    pub(crate) fn new(arity: usize, inequalities: Inequalities) -> Joins {
        let mut joins = Joins {
            inequalities,
            all: Blocks::default(),
            ids: SpreadMap::default(),
            groups: Vec::new(),
        };
        joins.insert(Binding::from_elem(None, arity));
        joins
    }

    /// The number of parameters.
    pub(crate) fn arity(&self) -> usize {
        self.all[0].len()
    }

    /// The empty binding.
    pub(crate) fn root(&self) -> JoinId {
        JoinId(0)
    }

    /// All of them.
    pub(crate) fn ids(&self) -> impl Iterator<Item = JoinId> + use<> {
        (0..self.all.len() as u32).map(JoinId)
    }

    pub(crate) fn get(&self, id: JoinId) -> &Binding {
        &self.all[id.index()]
    }

    /// Whether every parameter has a value: this is an instance of the property.
    pub(crate) fn is_full(&self, id: JoinId) -> bool {
        self.get(id).iter().all(Option::is_some)
    }

    /// Adds a binding and its joins with all others; returns for each new one, in the order of their
    /// ids, the binding whose run it copies. At most `limit` are kept besides the empty one.
    pub(crate) fn add(&mut self, binding: &Binding, limit: usize) -> Result<Vec<JoinId>, TooMany> {
        if self.ids.contains_key(binding) {
            return Ok(Vec::new());
        }
        let mut made: IndexMap<Binding, JoinId> = IndexMap::new();
        for group in &mut self.groups {
            // The bindings that agree with it on the parameters that both bind.
            for &id in group.with_values(&restricted(binding, &group.domain), &self.all) {
                let other = &self.all[id.index()];
                let join: Binding = binding.iter().zip(other).map(|(a, b)| a.or(*b)).collect();
                if self.ids.contains_key(&join) || !self.inequalities.allow(&join) {
                    continue;
                }
                match made.entry(join) {
                    // Of several with the same join, the largest contains the others.
                    Entry::Occupied(mut entry) => {
                        let size = |id: JoinId| self.all[id.index()].iter().flatten().count();
                        if size(id) > size(*entry.get()) {
                            entry.insert(id);
                        }
                    }
                    Entry::Vacant(entry) => {
                        entry.insert(id);
                    }
                }
                if self.all.len() - 1 + made.len() > limit {
                    return Err(TooMany);
                }
            }
        }
        let origins = made.values().copied().collect();
        for join in made.into_keys() {
            self.insert(join);
        }
        Ok(origins)
    }

    fn insert(&mut self, binding: Binding) {
        let id = JoinId(self.all.len() as u32);
        let domain = domain(&binding);
        let place = self.groups.iter().position(|group| group.domain == domain);
        let place = place.unwrap_or_else(|| {
            self.groups.push(Group {
                domain,
                members: Blocks::default(),
                by_part: FxHashMap::default(),
            });
            self.groups.len() - 1
        });
        let group = &mut self.groups[place];
        group.members.push(id);
        for (part, members) in &mut group.by_part {
            let key = restricted(&binding, part);
            members.get_or_default(key).push(id);
        }
        self.ids.insert(binding.clone(), id);
        self.all.push(binding);
    }

    /// The bindings that contain this one: a step with this binding is a step of each.
    pub(crate) fn containing(&mut self, binding: &Binding) -> impl Iterator<Item = JoinId> {
        let groups = self.groups.iter_mut();
        groups
            .filter(|group| restricted(binding, &group.domain) == *binding)
            .flat_map(|group| group.with_values(binding, &self.all).iter().copied())
    }
}

impl Group {
    /// The members that have these values.
    fn with_values(&mut self, values: &Binding, all: &Blocks<Binding>) -> &[JoinId] {
        let part = domain(values);
        let members = self.members.iter();
        let by_values = self.by_part.entry(part).or_insert_with_key(|part| {
            let mut by_values: SpreadMap<Binding, Vec<JoinId>> = SpreadMap::default();
            for &id in members {
                let key = restricted(&all[id.index()], part);
                by_values.get_or_default(key).push(id);
            }
            by_values
        });
        by_values.get(values).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intake::spelling::SpellingId;

    fn binding(slots: &[i32]) -> Binding {
        let slots = slots.iter();
        slots
            .map(|&slot| u32::try_from(slot).ok().map(SpellingId::new))
            .collect()
    }

    /// The bindings kept after adding these, each with the one whose run it copied.
    fn kept(arity: usize, seen: &[&[i32]]) -> Vec<(Binding, Binding)> {
        let mut joins = Joins::new(arity, Inequalities::default());
        let mut kept = Vec::new();
        for slots in seen {
            let before = joins.ids().count();
            let origins = joins.add(&binding(slots), 100).expect("few");
            assert_eq!(joins.ids().count(), before + origins.len());
            for (id, origin) in joins.ids().skip(before).zip(origins) {
                kept.push((joins.get(id).clone(), joins.get(origin).clone()));
            }
        }
        kept
    }

    #[test]
    fn a_binding_begins_as_the_largest_that_it_contains() {
        let seen: &[&[i32]] = &[&[1, -1], &[-1, 7], &[1, 8], &[1, -1]];
        let expected = [
            ([1, -1], [-1, -1]),
            ([-1, 7], [-1, -1]),
            ([1, 7], [1, -1]),
            ([1, 8], [1, -1]),
        ];
        let expected = expected.map(|(join, origin)| (binding(&join), binding(&origin)));
        assert_eq!(kept(2, seen), expected);
    }

    #[test]
    fn steps_go_to_all_that_contain_their_binding() {
        let mut joins = Joins::new(2, Inequalities::default());
        for slots in [[1, -1], [-1, 7], [2, 7]] {
            joins.add(&binding(&slots), 100).expect("few");
        }
        let mut containing = |slots: [i32; 2]| -> Vec<Binding> {
            let ids: Vec<JoinId> = joins.containing(&binding(&slots)).collect();
            ids.into_iter().map(|id| joins.get(id).clone()).collect()
        };
        assert_eq!(containing([-1, -1]).len(), 5);
        assert_eq!(
            containing([-1, 7]),
            [[-1, 7], [1, 7], [2, 7]].map(|b| binding(&b))
        );
        assert_eq!(containing([2, 7]), [binding(&[2, 7])]);
    }

    #[test]
    fn a_limit_is_met_and_not_exceeded() {
        for (limit, fits) in [(3, true), (2, false)] {
            let mut joins = Joins::new(2, Inequalities::default());
            joins.add(&binding(&[1, -1]), limit).expect("one");
            assert_eq!(joins.add(&binding(&[-1, 7]), limit).is_ok(), fits);
        }
    }
}
