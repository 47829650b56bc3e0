//! An error on its way to a person: what failed and why, the exit code, and what to do next.
//!
//! Commands return it; `report::failure` prints it once.

use crate::exit::Exit;

/// The end of a command that could not go on.
#[derive(Debug)]
pub struct Failure {
    /// How the process ends.
    pub exit: Exit,
    /// What failed: one error, or all that is wrong with the input; each with its causes, outermost first.
    pub errors: Vec<anyhow::Error>,
    /// The next steps: a command or a flag that helps.
    pub hints: Vec<String>,
}

impl Failure {
    /// A failure that ends the process with `exit`.
    pub fn new(exit: Exit, error: impl Into<anyhow::Error>) -> Self {
        Self { exit, errors: vec![error.into()], hints: Vec::new() }
    }

    /// Wrong flags or arguments.
    pub fn usage(message: impl std::fmt::Display) -> Self {
        Self::new(Exit::Usage, anyhow::anyhow!("{message}"))
    }

    /// Wrong input: every problem of it.
    pub fn input<E: std::error::Error + Send + Sync + 'static>(problems: Vec<E>) -> Self {
        Self { exit: Exit::Input, errors: problems.into_iter().map(anyhow::Error::new).collect(), hints: Vec::new() }
    }

    /// Says what was being done when this failed.
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
