//! Random numbers that a seed determines, on every machine alike.

/// A generator: splitmix64, <https://prng.di.unimi.it/splitmix64.c>.
pub(crate) struct SplitMix(u64);

impl SplitMix {
    /// Starts the sequence that `seed` gives.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number of the sequence.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
