//! Random numbers that a seed determines, on every machine alike.

use crate::splitmix::SplitMix;

/// Draws for the schedules.
pub(super) struct Random(SplitMix);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(SplitMix::new(seed))
    }

    /// A number from `from` up to, but not including, `to`.
    pub(super) fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.0.next() % (to - from)
    }

    /// Whether a thing of that probability happens.
    pub(super) fn percent(&mut self, percent: u64) -> bool {
        self.between(0, 100) < percent
    }

    /// One of these.
    pub(super) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[usize::try_from(self.between(0, of.len() as u64)).unwrap()]
    }
}
