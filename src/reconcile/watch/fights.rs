//! Another manager that sets a field back each time we apply it: recognised after three rounds in a minute.
//!
//! Pure. A fight costs both sides, and here it restarts pods: the object is then left alone with growing pauses.

use std::collections::VecDeque;
use std::time::Duration;

use super::Time;
use crate::path::FieldPath;

/// So many applies of one field within a minute are enough.
pub const ROUNDS: usize = 3;
const WINDOW: Duration = Duration::from_secs(60);
const FIRST_PAUSE: Duration = Duration::from_secs(60);
const LONGEST_PAUSE: Duration = Duration::from_secs(15 * 60);
/// A field that was left in peace for so long is not fought over any more.
const FORGOTTEN: Duration = Duration::from_secs(30 * 60);

/// The applies of one object's fields, and whether they were in vain.
#[derive(Debug, Default)]
pub struct Fights {
    applies: VecDeque<(Time, FieldPath)>,
    fought: u32,
    until: Time,
}

impl Fights {
    /// The fields at `paths` were applied.
    pub fn applied(&mut self, paths: &[FieldPath], now: Time) {
        self.applies.extend(paths.iter().map(|path| (now, path.clone())));
    }

    /// Until when the object is left alone; none when it may be applied.
    pub fn paused_until(&self, now: Time) -> Option<Time> {
        (now < self.until).then_some(self.until)
    }

    /// Given the fields that deviate again: the one that is fought over, if an apply would be another round.
    ///
    /// From then on the object is left alone for a while, twice as long each time.
    pub fn begins<'a>(&mut self, paths: &'a [FieldPath], now: Time) -> Option<&'a FieldPath> {
        while self.applies.front().is_some_and(|(at, _)| *at + WINDOW <= now) {
            self.applies.pop_front();
        }
        if self.fought > 0 && now >= self.until + FORGOTTEN {
            self.fought = 0;
        }
        // After a fight the first round in vain is the next one.
        let rounds = if self.fought == 0 { ROUNDS } else { 1 };
        let count = |path: &FieldPath| self.applies.iter().filter(|(_, applied)| applied == path).count();
        let path = paths.iter().find(|path| count(path) >= rounds)?;
        self.until = now + FIRST_PAUSE.saturating_mul(1 << self.fought.min(8)).min(LONGEST_PAUSE);
        self.fought += 1;
        self.applies.clear();
        Some(path)
    }

    /// Something else is desired now: whoever set the old value back may agree with the new one.
    pub fn forget(&mut self) {
        *self = Self::default();
    }
}
