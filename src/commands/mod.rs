//! The commands: each resolves its input, runs the pipeline as far as it goes, and reports.

pub mod apply;
pub mod completion;
pub mod diff;
mod input;
pub mod render;
pub mod watch;

use crate::cli::{Cli, Command};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::Ui;

/// Runs the command that was typed.
pub async fn run(cli: Cli, ui: &mut Ui) -> Result<Exit, Failure> {
    let Cli { command, global, connection } = cli;
    match command {
        Command::Render(args) => render::render(&args, &global, &connection, ui).await,
        Command::Diff(args) => diff::diff(&args, &global, &connection, ui).await,
        Command::Apply(args) => apply::apply(&args, &global, &connection, ui).await,
        Command::Watch(args) => watch::watch(&args, &global, &connection, ui).await,
        Command::Completion(args) => Ok(completion::completion(&args, ui)),
    }
}
