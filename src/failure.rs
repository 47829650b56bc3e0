//! The error of a command: what failed and why, the exit code, and the next steps.
//!
//! Commands return it; `report::failure` prints it once.

use crate::exit::Exit;

/// The error of a command.
#[derive(Debug)]
pub struct Failure {
    /// How the process exits.
    pub exit: Exit,
    /// One error, or all problems of the input; each with its causes, outermost first.
    pub errors: Vec<anyhow::Error>,
    /// The next steps: a command or a flag that helps.
    pub hints: Vec<String>,
}

impl Failure {
    /// A failure with which the process exits as `exit`.
    pub fn new(exit: Exit, error: impl Into<anyhow::Error>) -> Self {
        Self { exit, errors: vec![error.into()], hints: Vec::new() }
    }

    /// Invalid flags or arguments.
    pub fn usage(message: impl std::fmt::Display) -> Self {
        Self::new(Exit::Usage, anyhow::anyhow!("{message}"))
    }

    /// Invalid input: all of its problems.
    pub fn input<E: std::error::Error + Send + Sync + 'static>(problems: Vec<E>) -> Self {
        Self { exit: Exit::Input, errors: problems.into_iter().map(anyhow::Error::new).collect(), hints: Vec::new() }
    }

    /// Adds what was being done.
    #[must_use]
    pub fn context(mut self, what: impl std::fmt::Display + Send + Sync + 'static) -> Self {
        let what = what.to_string();
        self.errors = self.errors.into_iter().map(|error| error.context(what.clone())).collect();
        self
    }

    /// Adds a next step.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}
