//! What the README shows is what the program prints on a real API server, and no flag is missing from it.

use std::process::Command;

use bpfman_config::cli;
use bpfman_config::report::log::KINDS;
use expect_test::expect;

use crate::controlplane::{Cluster, Platform};
use crate::program::{PROGRAM, Running, normal, run};

const README: &str = include_str!("../../README.md");
const CONFIG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/demo/config.yaml");

#[test]
fn the_example_shows_what_the_program_prints() {
    let cluster = Cluster::start(Platform::PLAIN);
    run(&cluster, &format!("apply -f {CONFIG} --create-namespace"));
    let (_, block) = README.split_once("```console\n").expect("the example");
    let (example, _) = block.split_once("```").expect("its end");
    let commands = example.lines().filter_map(|line| line.strip_prefix("$ "));
    let shown: String = commands.map(|command| format!("$ {command}\n{}", answer(&cluster, command))).collect();
    assert_eq!(normal(&shown), normal(example));
}

/// The wrong Config that the README shows what is said of.
const WRONG: &str = "apiVersion: bpfman.io/v1alpha1
kind: Config
metadata:
  name: bpfman-config
spec:
  namespase: bpfman
  agent:
    image: quay.io/bpfman/bpfman-agent:v0.6.0
    healthProbePort: 70000
  daemon:
    image: quay.io/bpfman/bpfman:v0.6.0
  configuration: |
    [database
";

#[test]
fn the_example_of_a_wrong_config_shows_what_the_program_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let said = |words: &str, config: &str| {
        std::fs::write(folder.path().join("config.yaml"), config).expect("a file");
        let mut command = Command::new(PROGRAM);
        let output = command.args(words.split(' ')).env_clear().current_dir(folder.path()).output().expect("it");
        [output.stdout, output.stderr].map(|stream| String::from_utf8(stream).expect("text"))
    };
    let [_, errors] = said("render -f config.yaml -o name", WRONG);
    assert!(
        README.contains(&format!("$ kubectl bpfman config render -f config.yaml -o name\n{errors}```")),
        "{errors}"
    );
    let right = WRONG.replace("namespase", "namespace").replace("[database", "[database]");
    let [json, _] = said("render -f config.yaml -o json", &right);
    assert!(README.contains(&json), "{json}");
}

#[test]
fn each_flag_of_each_command_is_named() {
    let command = cli::command();
    let flags =
        command.get_subcommands().chain([&command]).flat_map(|one| one.get_arguments().filter_map(clap::Arg::get_long));
    let missing: Vec<_> = flags.filter(|flag| !README.contains(&format!("--{flag}"))).collect();
    expect!["[]"].assert_eq(&format!("{missing:?}"));
}

#[test]
fn each_event_of_watch_is_explained() {
    let rows: String = KINDS.iter().map(|(kind, when)| format!("| `{kind}` | {when} |\n")).collect();
    assert!(README.contains(&rows), "{rows}");
}

/// The standard output of a command that the README shows; of one that goes on, up to the end of its first pass.
fn answer(cluster: &Cluster, command: &str) -> String {
    let said = match command.strip_prefix("kubectl ").expect("kubectl").strip_prefix("bpfman config ") {
        Some("watch") => Running::start(cluster, "watch").says("in sync", 1),
        Some(words) => run(cluster, words),
        None => cluster.kubectl_ok(&command.split(' ').skip(1).collect::<Vec<_>>()),
    };
    let output = said.lines().filter(|line| !line.starts_with("2> ") && !line.starts_with("exit "));
    output.map(|line| format!("{line}\n")).collect()
}
