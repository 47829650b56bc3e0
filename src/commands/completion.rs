//! `completion`: the script with which a shell completes our command lines. The scripts ask the program itself.

use crate::exit::Exit;
use crate::ui::Ui;

/// Flags of `completion`.
#[derive(Clone, Debug, clap::Args)]
pub struct CompletionArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// The shells that have a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Shell {
    /// GNU Bash
    Bash,
    /// Z shell
    Zsh,
    /// Friendly interactive shell
    Fish,
}

/// Prints the script.
pub fn completion(args: &CompletionArgs, ui: &mut Ui) -> Exit {
    ui.document(match args.shell {
        Shell::Bash => include_str!("../../completions/kubectl-bpfman-config.bash"),
        Shell::Zsh => include_str!("../../completions/_kubectl-bpfman-config"),
        Shell::Fish => include_str!("../../completions/kubectl-bpfman-config.fish"),
    });
    Exit::Done
}
