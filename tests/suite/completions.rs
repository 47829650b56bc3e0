//! What may stand at the end of a command line, asked as kubectl, bash, zsh and fish ask.

use std::path::Path;
use std::process::Command;

use expect_test::expect;

use crate::controlplane::{self, Cluster, Platform};
use crate::program::{PROGRAM, command, prepare, said};

const COMPLETIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/completions");

/// A kubeconfig of which nobody answers.
const KUBECONFIG: &str = "
apiVersion: v1
kind: Config
clusters: [{name: lab, cluster: {server: 'https://127.0.0.1:1'}}]
contexts: [{name: 'arn:aws:eks:one', context: {cluster: lab, user: me}}, {name: 'arn:aws:eks:two', context: {cluster: lab, user: me}}]
current-context: arn:aws:eks:one
users: [{name: me, user: {token: secret}}]
";

fn kubeconfig() -> tempfile::TempPath {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    std::io::Write::write_all(&mut file, KUBECONFIG.as_bytes()).expect("a write");
    file.into_temp_path()
}

fn candidates(kubeconfig: &Path, words: &[&str]) -> String {
    said(command(kubeconfig, "__complete").args(words))
}

#[test]
fn commands_flags_values_and_names_are_completed() {
    let file = kubeconfig();
    let lines: [&[&str]; 12] = [
        &["d"],
        &["diff", "--ou"],
        &["diff", "-o", ""],
        &["diff", "--output=p"],
        &["apply", "--dry-run="],
        &["--context", ""],
        &["apply", "--context=arn:aws:eks:t"],
        &["diff", "--user", ""],
        &["watch", "--until", "in"],
        &["render", "-f", ""],
        &["render", "--templates", ""],
        &["diff", "--no-such", "--exa"],
    ];
    let found: Vec<String> =
        lines.iter().map(|words| format!("{}\n{}", words.join(" "), candidates(&file, words))).collect();
    expect![[r#"
        d
        diff	Show where the cluster deviates, and who changed it
        :4
        exit 0
        diff --ou
        --out	Save the plan: apply --plan FILE applies just what was compared, if nothing has moved since
        --output	Output format
        :4
        exit 0
        diff -o 
        text	A unified diff an object, with the owner of each live value
        paths	One line a field: path, live and desired value, owner
        json	One JSON document
        name	The names of the objects that differ
        summary	One line an object
        markdown	A comment for a pull request
        :4
        exit 0
        diff --output=p
        --output=paths	One line a field: path, live and desired value, owner
        :4
        exit 0
        apply --dry-run=
        --dry-run=none
        --dry-run=client
        --dry-run=server
        :4
        exit 0
        --context 
        arn:aws:eks:one
        arn:aws:eks:two
        :4
        exit 0
        apply --context=arn:aws:eks:t
        --context=arn:aws:eks:two
        :4
        exit 0
        diff --user 
        me
        :4
        exit 0
        watch --until in
        in-sync	Every object is as desired
        :4
        exit 0
        render -f 
        :0
        exit 0
        render --templates 
        :16
        exit 0
        diff --no-such --exa
        --exact	Count fields that others set and the Config does not mention as drift
        :4
        exit 0
    "#]]
    .assert_eq(&found.concat());
}

/// krew installs the program under one of its two names only.
#[test]
fn the_helpers_find_the_program_under_either_name() {
    let (file, folder) = (kubeconfig(), tempfile::tempdir().expect("a folder"));
    for name in ["kubectl-bpfman-config", "kubectl-bpfman_config"] {
        let link = folder.path().join(name);
        std::os::unix::fs::symlink(PROGRAM, &link).expect("a link");
        for helper in ["kubectl_complete-bpfman-config", "kubectl_complete-bpfman_config"] {
            let mut helper = Command::new(format!("{COMPLETIONS}/{helper}"));
            helper
                .env_clear()
                .env("KUBECONFIG", &*file)
                .env("PATH", format!("{}:/usr/bin:/bin", folder.path().display()));
            assert_eq!(said(helper.args(["diff", "--exa"])), candidates(&file, &["diff", "--exa"]), "{name}");
        }
        std::fs::remove_file(link).expect("a link");
    }
}

/// The server of `-s` is asked, not the kubeconfig's; what is no flag any more is not completed as one.
#[test]
fn short_flags_and_the_end_of_flags_count() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    let nowhere = kubeconfig();
    let here: [&[&str]; 2] = [&["diff", "--name", ""], &["diff", "-s", "https://127.0.0.1:1", "--name", ""]];
    let found = here.map(|words| {
        (0..50).map(|_| candidates(cluster.kubeconfig(), words)).any(|told| told.contains("bpfman-config"))
    });
    assert_eq!(found, [true, false]);
    let lines: [&[&str]; 4] = [&["diff", "-oj"], &["diff", "--", "-"], &["hel"], &[]];
    expect![[r#"
        -ojson	One JSON document
        :4
        exit 0
        :4
        exit 0
        help	Print help of a command
        :4
        exit 0
        render	Print the objects that the Config becomes
        diff	Show where the cluster deviates, and who changed it
        apply	Bring the cluster to the desired state, by server-side apply
        watch	Keep the cluster in the desired state, until stopped
        rbac	Print the roles with which diff, apply or watch works
        completion	Print the completion script of a shell
        version	Print the version of this program, and of the server
        options	Print the flags that all commands take
        help	Print help of a command
        :4
        exit 0
    "#]]
    .assert_eq(&lines.map(|words| candidates(&nowhere, words)).concat());
}

/// Bash splits `--output=json` and the names of contexts into several words.
#[test]
fn bash_completes_flags_values_and_names_with_colons() {
    let file = kubeconfig();
    let script = r#"
        source "$SCRIPT"
        try() {
            COMP_WORDS=("$PROGRAM" "$@"); COMP_CWORD=$#; COMPREPLY=()
            _kubectl_bpfman_config
            echo "$*: ${COMPREPLY[*]}"
        }
        try dif
        try diff --exa
        try diff -o js
        try diff --output = p
        try --context arn : aws : eks : t
        try completion ""
    "#;
    expect![[r#"
        dif: diff
        diff --exa: --exact
        diff -o js: json
        diff --output = p: paths
        --context arn : aws : eks : t: two
        completion : bash zsh fish
        exit 0
    "#]]
    .assert_eq(&run_shell("bash", &["-c"], script, "kubectl-bpfman-config.bash", &file));
}

#[test]
fn fish_completes_with_descriptions() {
    let file = kubeconfig();
    let script = r#"
        set -x PATH (dirname $PROGRAM) $PATH
        source $SCRIPT
        for line in "dif" "diff --exa" "diff -o js" "diff --output=p" "--context arn:aws:eks:t"
            complete -C "kubectl-bpfman-config $line"
        end
    "#;
    expect![[r#"
        diff	Show where the cluster deviates, and who changed it
        --exact	Count fields that others set and the Config does not mention as drift
        json	One JSON document
        --output=paths	One line a field: path, live and desired value, owner
        arn:aws:eks:two
        exit 0
    "#]]
    .assert_eq(&run_shell("fish", &["--no-config", "-c"], script, "kubectl-bpfman-config.fish", &file));
}

/// The functions of zsh's completion system stand in for it: they print what they are given.
#[test]
fn zsh_completes_with_descriptions_and_files() {
    let file = kubeconfig();
    let script = r#"
        compdef() { :; }
        compset() { :; }
        _files() { print -r -- "files $*"; }
        _describe() { print -rl -- "${(@P)3}"; }
        source $SCRIPT
        try() {
            words=($PROGRAM "$@"); CURRENT=$#words; PREFIX=$words[-1]
            _kubectl_bpfman_config
        }
        try dif
        try diff --exa
        try diff --output=p
        try --context arn:aws:eks:t
        try render --templates ''
    "#;
    expect![[r#"
        diff:Show where the cluster deviates, and who changed it
        --exact:Count fields that others set and the Config does not mention as drift
        --output=paths:One line a field: path, live and desired value, owner
        arn\:aws\:eks\:two
        files -/
        exit 0
    "#]]
    .assert_eq(&run_shell("zsh", &["-f", "-c"], script, "_kubectl-bpfman-config", &file));
}

/// What the script prints in the shell; `.ci/run` installs the shells.
fn run_shell(shell: &str, flags: &[&str], script: &str, file: &str, kubeconfig: &Path) -> String {
    let mut command = Command::new(shell);
    command.args(flags).arg(script).env("PROGRAM", PROGRAM).env("KUBECONFIG", kubeconfig);
    command.env("SCRIPT", format!("{COMPLETIONS}/{file}"));
    said(&mut command)
}

#[test]
fn kubectl_completes_it_with_names_of_the_cluster() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    let folder = Path::new(PROGRAM).parent().expect("a folder");
    let ask = |line: &str| {
        let mut kubectl = Command::new(controlplane::kubectl().expect("kubectl"));
        kubectl.args(["__complete", "bpfman", "config"]).args(line.split(' '));
        kubectl.env_clear().env("KUBECONFIG", cluster.kubeconfig());
        kubectl.env("PATH", format!("{}:{COMPLETIONS}:/usr/bin:/bin", folder.display()));
        String::from_utf8(kubectl.output().expect("kubectl").stdout).expect("UTF-8")
    };
    // A cluster that is slow to answer is not waited for; on a busy machine the next answer comes in time.
    let found = ["diff --exa", "diff --namespace eb", "apply --name "]
        .map(|line| (0..50).map(|_| ask(line)).find(|answer| answer.lines().count() > 1).expect("an answer"));
    expect![[r#"
        --exact	Count fields that others set and the Config does not mention as drift
        :4
        ebpf
        :4
        bpfman-config
        :4
    "#]]
    .assert_eq(&found.concat());
}
