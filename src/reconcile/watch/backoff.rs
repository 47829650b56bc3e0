//! Growing pauses between attempts. Pure: the randomness comes in as a seed.

use std::time::Duration;

/// Counts failures and turns them into pauses: `first`, twice that, and so on up to a cap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backoff {
    failures: u32,
}

impl Backoff {
    /// Counts a failure and returns the pause that follows it.
    pub fn next(&mut self, first: Duration, cap: Duration, jitter: &mut Jitter) -> Duration {
        let pause = first.saturating_mul(1 << self.failures.min(16)).min(cap);
        self.failures = self.failures.saturating_add(1);
        jitter.spread(pause)
    }

    /// How many failures there were since the last success.
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// Starts over, after a success.
    pub fn reset(&mut self) {
        self.failures = 0;
    }
}

/// Spreads pauses, so that many clients do not return at the same moment.
#[derive(Clone, Debug)]
pub struct Jitter(u64);

impl Jitter {
    /// Two clients with different seeds spread differently.
    pub fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    /// Returns `pause`, up to a quarter shorter or longer.
    pub fn spread(&mut self, pause: Duration) -> Duration {
        // xorshift64: https://www.jstatsoft.org/article/view/v008i14
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let percent = u32::try_from(self.0 % 51).unwrap_or_default();
        pause.saturating_mul(75 + percent) / 100
    }
}
