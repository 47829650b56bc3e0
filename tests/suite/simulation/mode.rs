//! Which faults a schedule has, and how soon everything must be as desired after them.

use std::time::Duration;

/// Which faults a schedule has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mode {
    pub(super) network: bool,
    pub(super) everything: bool,
    pub(super) observe: bool,
    /// How long after the last fault everything must be as desired.
    pub(super) settles: Duration,
}

impl Mode {
    pub(super) fn restarts() -> Self {
        Self { network: false, everything: false, observe: false, settles: Duration::ZERO }
    }

    pub(super) fn network() -> Self {
        Self { network: true, ..Self::restarts() }
    }

    pub(super) fn anything() -> Self {
        // A lost event is found by the next resync, a refusal that is lifted in silence by the longest pause.
        Self { everything: true, settles: Duration::from_secs(110), ..Self::network() }
    }
}
