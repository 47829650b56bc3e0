//! The exit codes, and which of several takes precedence.
//!
//! Pure data; `main` is the only place that exits.

/// How a command exits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exit {
    /// Done; for `diff`: no drift.
    #[default]
    Done,
    /// `diff` only: drift was found.
    Drift,
    /// A flag or an argument is wrong.
    Usage,
    /// The Config or a template is invalid; nothing was sent.
    Input,
    /// The cluster rejected at least one object; the others were processed.
    Refused,
    /// No usable answer: unreachable, unauthenticated, timed out.
    NoAnswer,
    /// Stopped by SIGHUP: the terminal was closed.
    HungUp,
    /// Stopped by SIGQUIT.
    Quit,
    /// Stopped by SIGINT.
    Interrupted,
    /// Stopped by SIGTERM.
    Terminated,
}

impl Exit {
    /// The exit code of the process.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Drift => 1,
            Self::Usage => 2,
            Self::Input => 3,
            Self::Refused => 4,
            Self::NoAnswer => 5,
            Self::HungUp => 129,
            Self::Interrupted => 130,
            Self::Quit => 131,
            Self::Terminated => 143,
        }
    }

    /// The one that takes precedence: an unknown state is not drift, and drift is not in sync.
    #[must_use]
    pub fn worst(self, other: Self) -> Self {
        if other.code() > self.code() { other } else { self }
    }
}
