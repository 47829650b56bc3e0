//! Random numbers that are the same for the same seed on every machine.

use crate::splitmix::SplitMix;

/// Draws for the changes.
pub(super) struct Random(SplitMix);

impl Random {
    /// Starts the sequence that `seed` gives.
    pub(super) fn new(seed: u64) -> Self {
        Self(SplitMix::new(seed))
    }

    /// A number below `bound`.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.0.next() >> 33).unwrap() % bound
    }

    /// Whether something happens that does so `percent` times in a hundred.
    pub(super) fn happens(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of `choices`.
    pub(super) fn one_of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }
}
