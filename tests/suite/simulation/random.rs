//! Random numbers that a seed determines, on every machine alike.

/// A generator (splitmix64, <https://prng.di.unimi.it/splitmix64.c>).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from `from` up to, but not including, `to`.
    pub(super) fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.next() % (to - from)
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
