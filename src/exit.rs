//! The exit codes that a script can rely on, and which of several wins.
//!
//! Pure data; `main` is the only place that exits.

/// How a command ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exit {
    /// Done; for `diff`: no drift.
    #[default]
    Done,
    /// `diff` only: live state deviates.
    Drift,
    /// A flag or an argument is wrong.
    Usage,
    /// The Config or a template is wrong; nothing was sent.
    Input,
    /// The cluster refused at least one object; the others were done.
    Refused,
    /// No usable answer: unreachable, unauthenticated, timed out.
    NoAnswer,
    /// Stopped by SIGINT.
    Interrupted,
    /// Stopped by SIGTERM.
    Terminated,
}

impl Exit {
    /// The number that the shell sees.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Drift => 1,
            Self::Usage => 2,
            Self::Input => 3,
            Self::Refused => 4,
            Self::NoAnswer => 5,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }

    /// The worse of two ends: an unknown must never be read as drift, nor drift as in sync.
    #[must_use]
    pub fn worst(self, other: Self) -> Self {
        if other.code() > self.code() { other } else { self }
    }
}
