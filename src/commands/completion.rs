//! `completion`: the script that a shell reads to complete our flags.

use clap::Command;
use clap_complete::{Shell, generate};

use crate::exit::Exit;
use crate::ui::Ui;

/// The program that the scripts complete.
const PROGRAM: &str = "kubectl-bpfman-config";

/// Flags of `completion`.
#[derive(Clone, Debug, clap::Args)]
pub struct CompletionArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: Script,
}

/// The shells we have scripts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Script {
    /// GNU Bash.
    Bash,
    /// Z shell.
    Zsh,
    /// Friendly interactive shell.
    Fish,
}

/// Prints the script for `command`, the whole command line.
pub fn completion(args: &CompletionArgs, command: Command, ui: &mut Ui) -> Exit {
    ui.document(&script(args.shell, command));
    Exit::Done
}

/// The completion script of a shell.
pub fn script(shell: Script, mut command: Command) -> String {
    let shell = match shell {
        Script::Bash => Shell::Bash,
        Script::Zsh => Shell::Zsh,
        Script::Fish => Shell::Fish,
    };
    let mut text = Vec::new();
    generate(shell, &mut command, PROGRAM, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}
