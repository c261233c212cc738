//! Numbers of runs, of fixed size where that is known to suffice.
//!
//! Counting mostly adds numbers and moves them around. With arbitrary precision each number is an allocation; stored in the
//! node itself, it costs a few instructions. The weak point is a long run: all numbers are as wide as the last, though most are
//! much smaller.

use num_bigint::BigUint;

use crate::order::Poset;

/// A number of runs.
pub(crate) trait Number: Clone + Send + Sync {
    fn one() -> Self;
    fn add(&mut self, other: &Self);
    fn into_big(self) -> BigUint;

    /// The bytes that it points to, in addition to its own size.
    fn heap_bytes(&self) -> usize {
        0
    }
}

impl Number for u128 {
    fn one() -> u128 {
        1
    }

    #[inline]
    fn add(&mut self, other: &u128) {
        *self += other;
    }

    fn into_big(self) -> BigUint {
        BigUint::from(self)
    }
}

/// A number of `N` words, the lowest first.
#[derive(Clone, Debug)]
pub(crate) struct Words<const N: usize>([u64; N]);

impl<const N: usize> Number for Words<N> {
    fn one() -> Words<N> {
        let mut words = [0; N];
        words[0] = 1;
        Words(words)
    }

    #[inline]
    fn add(&mut self, other: &Words<N>) {
        let mut carry = false;
        for (word, more) in self.0.iter_mut().zip(other.0) {
            let (sum, first) = word.overflowing_add(more);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            *word = sum;
            carry = first || second;
        }
        assert!(
            !carry,
            "there are more runs than chains of these lengths have"
        );
    }

    fn into_big(self) -> BigUint {
        let halves = self
            .0
            .iter()
            .flat_map(|word| [*word as u32, (word >> 32) as u32]);
        BigUint::new(halves.collect())
    }
}

impl Number for BigUint {
    fn one() -> BigUint {
        BigUint::from(1u32)
    }

    fn add(&mut self, other: &BigUint) {
        *self += other;
    }

    fn into_big(self) -> BigUint {
        self
    }

    fn heap_bytes(&self) -> usize {
        self.bits().div_ceil(8) as usize
    }
}

/// This many bits suffice for the number of runs: if nothing ordered events of different chains,
/// it would be the multinomial coefficient of the chains' lengths.
pub(super) fn bits(poset: &Poset) -> u64 {
    let factorial = |n: usize| (2..=n).map(|factor| (factor as f64).log2()).sum::<f64>();
    let chains = poset
        .chains()
        .map(|chain| factorial(poset.chain(chain).len()));
    let most = factorial(poset.len()) - chains.sum::<f64>();
    // 2ⁿ has n + 1 bits. Logarithms are rounded: 2³² of them, each off by 2⁻⁵², are off by less
    // than a bit on the whole, and the sums of this many terms by less than a 2⁻²⁰th of what they are.
    (most + most / 1024.0 + 3.0).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chains(lengths: &[u32]) -> Poset {
        let mut poset = Poset::new(lengths.len());
        for (chain, &length) in poset.chains().zip(lengths) {
            for number in 1..=length {
                let mut clock = vec![0; lengths.len()];
                clock[chain.index()] = number;
                poset.push(chain, &clock);
            }
        }
        poset
    }

    #[test]
    fn the_bound_is_not_exceeded_and_close() {
        for lengths in [
            &[][..],
            &[7],
            &[1, 1],
            &[2, 3, 4],
            &[40, 40, 40, 40],
            &[500, 1],
        ] {
            let mut runs = BigUint::one();
            let mut total = 0u32;
            for &length in lengths {
                for number in 1..=length {
                    total += 1;
                    runs = runs * total / number;
                }
            }
            let bound = bits(&chains(lengths));
            assert!(
                runs.bits() <= bound,
                "{lengths:?}: {} > {bound}",
                runs.bits()
            );
            assert!(
                bound <= runs.bits() + runs.bits() / 100 + 6,
                "{lengths:?}: {bound}"
            );
        }
    }

    #[test]
    fn words_add_as_big_numbers_do() {
        let mut rng = portent_testing::Rng::new(1);
        let (mut words, mut big) = (Words::<4>::one(), BigUint::one());
        let (mut more, mut more_big) = (words.clone(), big.clone());
        for _ in 0..250 {
            match rng.below(2) {
                0 => {
                    words.add(&more);
                    big += &more_big;
                }
                _ => {
                    more.add(&words.clone());
                    more_big += &big;
                }
            }
            assert_eq!(
                (words.clone().into_big(), more.clone().into_big()),
                (big.clone(), more_big.clone())
            );
        }
        assert!(big.bits().max(more_big.bits()) > 128);
    }
}
