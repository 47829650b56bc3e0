//! The committed completion scripts are what the program prints today.

use bpfman_config::cli;
use bpfman_config::commands::completion::{Script, script};
use expect_test::expect_file;

#[test]
fn the_committed_scripts_are_up_to_date() {
    expect_file!["../../completions/kubectl-bpfman-config.bash"].assert_eq(&script(Script::Bash, cli::command()));
    expect_file!["../../completions/_kubectl-bpfman-config"].assert_eq(&script(Script::Zsh, cli::command()));
    expect_file!["../../completions/kubectl-bpfman-config.fish"].assert_eq(&script(Script::Fish, cli::command()));
}
