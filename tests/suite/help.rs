//! Help, manual pages and version, as a user of kubectl expects them.

use std::path::Path;

use bpfman_config::cli;
use expect_test::{expect, expect_file};

use crate::controlplane::{Cluster, Platform};
use crate::program::{command, said};

fn told(words: &str) -> String {
    format!("$ {words}\n{}", said(&mut command("/nowhere/config".as_ref(), words)))
}

/// A manual page a command; written anew by `UPDATE_EXPECT=1`.
#[test]
fn the_manual_pages_are_those_of_the_commands() {
    let root = cli::command().bin_name("kubectl-bpfman-config").name("kubectl-bpfman-config");
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("completions/man");
    let hidden = |command: &clap::Command| command.is_hide_set() || command.get_name() == "help";
    let mut commands = vec![root.clone()];
    commands.extend(root.get_subcommands().filter(|command| !hidden(command)).map(|command| {
        let name: &'static str = format!("kubectl-bpfman-config-{}", command.get_name()).leak();
        command.clone().name(name).bin_name(name.replacen("kubectl-bpfman-config-", "kubectl bpfman config ", 1))
    }));
    for command in commands {
        let name = command.get_name().to_owned();
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page).unwrap();
        expect_file![pages.join(format!("{name}.1"))].assert_eq(&String::from_utf8(page).unwrap());
    }
}

#[test]
fn the_short_help_of_a_command_fits_a_screen_and_the_long_one_has_examples() {
    let lines = |words: &str| told(words).lines().count();
    let commands = ["render", "diff", "apply", "watch", "rbac", "completion", "version"];
    let long: Vec<_> = commands.iter().filter(|name| lines(&format!("{name} -h")) > 40).collect();
    expect![[r#"["apply", "watch", "rbac"]"#]].assert_eq(&format!("{long:?}"));
    let without: Vec<_> =
        commands.iter().filter(|name| !told(&format!("{name} --help")).contains("Examples:\n")).collect();
    expect![[r#"["version"]"#]].assert_eq(&format!("{without:?}"));
}

#[test]
fn the_flags_that_all_commands_take_are_listed_once() {
    let options = told("options");
    assert!(options.contains("--kubeconfig <FILE>") && options.contains("--quiet"), "{options}");
    expect![[r#"
        $ diff -h
        Show where the cluster deviates, and who changed it

        Usage: kubectl bpfman config diff [OPTIONS]

        Options:
          -o, --output <FORMAT>        Output format [default: text] [possible values: text, paths, json,
                                       name, summary, markdown]
              --field-manager <NAME>   Name under which the fields would be owned; the Config's name unless
                                       given
              --exact[=<BOOL>]         Count fields that others set and the Config does not mention as drift
              --out <FILE>             Save the plan: apply --plan FILE applies just what was compared, if
                                       nothing has moved since
              --all-contexts[=<BOOL>]  For all contexts of the kubeconfig; --context may also be repeated,
                                       and have * and ? in it
          -h, --help                   Print help (see more with '--help')
          -V, --version                Print version

        Input:
          -f, --filename <FILE>             File that holds the Config, - for standard input; without it the
                                            cluster's own is read
              --name <NAME>                 Name of the Config, and the field manager's name [default:
                                            bpfman-config]
              --templates <DIR>             Directory of templates: a file there replaces the built-in one
                                            of the same name, others are added
              --platform <PLATFORM>         Platform to render for; auto asks the cluster whether it serves
                                            route.openshift.io [default: auto] [possible values: auto,
                                            kubernetes, openshift]
              --monitoring <WHEN>           Whether to render the monitoring objects; auto asks the cluster
                                            whether it serves monitoring.coreos.com [default: auto]
                                            [possible values: auto, on, off]
              --image-pull-policy <POLICY>  Pull policy of all containers, as a pod has it; without it the
                                            server decides [env: BPFMAN_IMAGE_PULL_POLICY=]
          -n, --namespace <NAMESPACE>       Namespace that the Config must name; a check, the Config decides
        exit 0
    "#]]
    .assert_eq(&told("diff -h"));
}

#[test]
fn the_version_names_this_program_and_the_server() {
    let cluster = Cluster::start(Platform::PLAIN);
    let of_server = said(&mut command(cluster.kubeconfig(), "version"));
    let (client, rest) = of_server.split_once('\n').unwrap();
    assert!(client.starts_with("Client: 0.") && rest.starts_with("Server: v1."), "{of_server}");
    let offline = told("version --client -o json");
    assert!(offline.contains("\"server\": null") && offline.ends_with("exit 0\n"), "{offline}");
    let unreachable = told("version -s https://127.0.0.1:1 --request-timeout 1s");
    assert!(
        unreachable.contains("the server's version is not known") && unreachable.ends_with("exit 0\n"),
        "{unreachable}"
    );
}
