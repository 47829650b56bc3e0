//! Credential plugins that fail, each in its own way: what is said of it, and that nothing of what they print is.

use std::process::Command;

use expect_test::expect;

use crate::connection::{Folder, kubeconfig, told};
use crate::program::PROGRAM;

const PLUGIN: &str =
    "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: IfAvailable, command: ./plugin}";

/// What a plugin prints on standard output is secret: `hush` is in none of it.
#[test]
fn a_plugin_that_gives_nothing_says_why_and_nothing_else() {
    let folder = Folder::new();
    folder.write("config", &kubeconfig("", PLUGIN));
    let answer = |fields: &str| {
        format!("echo '{{apiVersion: client.authentication.k8s.io/v1, kind: ExecCredential, {fields}}}'")
    };
    let scripts = [
        "echo hush; echo 'please log in' >&2; exit 7".to_owned(),
        "kill -9 $$".to_owned(),
        "echo hush".to_owned(),
        "echo '{kind: Secret, hush: hush}'".to_owned(),
        answer("hush: hush").replace("/v1", "/v1beta1"),
        answer("spec: {hush: hush}"),
        answer("status: {expirationTimestamp: '2030-01-01T00:00:00Z'}"),
        answer("status: {clientCertificateData: hush}"),
        answer("status: {token: hush, expirationTimestamp: hush}"),
        answer(r#"status: {token: "hu\\nsh"}"#),
        answer(r"status: {clientCertificateData: hush, clientKeyData: hush}"),
    ];
    let said = scripts.map(|script| {
        folder.script("plugin", &script);
        folder.run("config", "diff")
    });
    assert!(!said.concat().contains("hush"));
    expect![[r#"
        2> please log in
        2> error: credential plugin "./plugin" of user "me" in kubeconfig DIR/config failed: exit code 7
        2> hint: see its output above; log in again, or use other credentials: --user, --token
        exit 5

        2> error: credential plugin "./plugin" of user "me" in kubeconfig DIR/config failed: terminated by a signal
        2> hint: see its output above; log in again, or use other credentials: --user, --token
        exit 5

        2> error: credential plugin "./plugin" of user "me" in kubeconfig DIR/config did not print an ExecCredential
        2> hint: try another version of the plugin, or use other credentials: --user, --token
        exit 5

        2> error: credential plugin "./plugin" of user "me" in kubeconfig DIR/config did not print an ExecCredential
        2> hint: try another version of the plugin, or use other credentials: --user, --token
        exit 5

        2> error: credential plugin "./plugin" of user "me" in kubeconfig DIR/config printed apiVersion "client.authentication.k8s.io/v1beta1", but the kubeconfig requires "client.authentication.k8s.io/v1"
        2> hint: try another version of the plugin, or use other credentials: --user, --token
        exit 5

        2> error: credential plugin "./plugin" of user "me" in kubeconfig DIR/config printed an ExecCredential without status
        2> hint: try another version of the plugin, or use other credentials: --user, --token
        exit 5

        2> error: credential plugin "./plugin" of user "me" in kubeconfig DIR/config returned neither a token nor a client certificate
        2> hint: try another version of the plugin, or use other credentials: --user, --token
        exit 5

        2> error: credential plugin "./plugin" of user "me" in kubeconfig DIR/config returned a client certificate without a key, or a key without a certificate
        2> hint: try another version of the plugin, or use other credentials: --user, --token
        exit 5

        2> error: credential plugin "./plugin" of user "me" in kubeconfig DIR/config returned an expirationTimestamp that is not valid
        2> hint: try another version of the plugin, or use other credentials: --user, --token
        exit 5

        2> error: credential plugin "./plugin" of user "me" in kubeconfig DIR/config returned a token with characters that are not allowed in an HTTP header
        2> hint: try another version of the plugin, or use other credentials: --user, --token
        exit 5

        2> error: credential plugin "./plugin" of user "me" in kubeconfig DIR/config returned a client certificate or key that is not valid PEM
        2> hint: try another version of the plugin, or use other credentials: --user, --token
        exit 5
    "#]].assert_eq(&said.join("\n"));
}

#[test]
fn a_plugin_that_cannot_be_run_says_why() {
    let cases = [
        PLUGIN.to_owned(),
        PLUGIN.replace("./plugin}", "'no-such-plugin', installHint: \"get it with:\\n  brew install it\\n\"}"),
        PLUGIN.replace("./plugin", "config"),
        PLUGIN.replace("./plugin", "./config"),
        PLUGIN.replace("IfAvailable", "Always"),
        PLUGIN.replace("IfAvailable", "Sometimes"),
        PLUGIN.replace("interactiveMode: IfAvailable,", ""),
        PLUGIN.replace("/v1,", "/v1alpha1,"),
        PLUGIN.replace("command: ./plugin", ""),
        PLUGIN.replace("./plugin", "./plugin, env: [{value: x}]"),
        PLUGIN.replace("./plugin}", "./plugin}, auth-provider: {name: oidc}"),
    ];
    let mut all = told(&cases.each_ref().map(|user| kubeconfig("", user)).each_ref().map(String::as_str));
    let folder = Folder::new();
    folder.write("config", &kubeconfig("", &PLUGIN.replace("IfAvailable", "Always")));
    let piped = format!("printf %s '{}' | '{PROGRAM}' diff -f -", crate::program::config());
    let mut command = Command::new("sh");
    command.args(["-c", &piped]).env_clear().env("KUBECONFIG", folder.path("config"));
    all = [all, folder.said(&mut command)].join("\n");
    expect![[r#"
        2> error: credential plugin "./plugin" of user "me" in kubeconfig DIR/config is not installed
        2> hint: install it, or add its directory to PATH
        exit 2

        2> error: credential plugin "no-such-plugin" of user "me" in kubeconfig DIR/config is not installed
        2> hint: get it with:
        2>     brew install it
        exit 2

        2> error: credential plugin "config" of user "me" in kubeconfig DIR/config is not installed
        2> hint: install it, or add its directory to PATH
        exit 2

        2> error: credential plugin "./config" of user "me" in kubeconfig DIR/config cannot be started: permission denied
        2> hint: make it executable (chmod +x), and built for this machine
        exit 2

        2> error: credential plugin "./plugin" of user "me" in kubeconfig DIR/config needs to read from standard input (interactiveMode Always), but that is not a terminal
        2> hint: run this in a terminal, and read the Config from a file
        exit 2

        2> error: credential plugin of user "me" in kubeconfig DIR/config: interactiveMode must be Never, IfAvailable or Always
        2> hint: correct users[].user.exec in the kubeconfig
        exit 2

        2> error: credential plugin of user "me" in kubeconfig DIR/config: interactiveMode must be Never, IfAvailable or Always
        2> hint: correct users[].user.exec in the kubeconfig
        exit 2

        2> error: credential plugin of user "me" in kubeconfig DIR/config: apiVersion must be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1, is "client.authentication.k8s.io/v1alpha1"
        2> hint: correct users[].user.exec in the kubeconfig
        exit 2

        2> error: credential plugin of user "me" in kubeconfig DIR/config: command is missing
        2> hint: correct users[].user.exec in the kubeconfig
        exit 2

        2> error: credential plugin of user "me" in kubeconfig DIR/config: env must be a list of names and values
        2> hint: correct users[].user.exec in the kubeconfig
        exit 2

        2> error: user "me" in kubeconfig DIR/config has both an auth-provider and a credential plugin (exec)
        2> hint: remove one of them from the kubeconfig
        exit 2

        2> error: credential plugin "./plugin" of user "me" in kubeconfig DIR/config needs to read from standard input (interactiveMode Always), but that is where the Config is read from
        2> hint: run this in a terminal, and read the Config from a file
        exit 2
    "#]].assert_eq(&all);
}

/// Whether the process whose id stands in a file has ended; one that nobody has waited for yet has.
fn has_ended(folder: &Folder, name: &str) -> bool {
    let id = std::fs::read_to_string(folder.path(name)).unwrap();
    match std::fs::read_to_string(format!("/proc/{}/stat", id.trim())) {
        Ok(stat) => stat.rsplit_once(')').is_some_and(|(_, state)| state.trim_start().starts_with(['Z', 'X'])),
        Err(_) => true,
    }
}

#[test]
fn a_plugin_that_hangs_is_ended_with_its_children_at_the_request_timeout() {
    let folder = Folder::new();
    folder.write("config", &kubeconfig("", PLUGIN));
    let scripts = ["sleep 1000", "trap '' TERM INT HUP; sleep 1000 & echo $! >DIR/child; wait; sleep 1000"];
    let ends_alone = "sleep 1000 & echo $! >DIR/child; echo $$ >DIR/plugin; exit 0";
    let said =
        scripts.map(|script| format!("echo $$ >DIR/plugin; {script}")).into_iter().chain([ends_alone.to_owned()]);
    let said = said.map(|script| {
        folder.script("plugin", &script);
        let said = folder.run("config", "diff --request-timeout=1s");
        crate::program::until("the end of the plugin", || has_ended(&folder, "plugin").then_some(()));
        said
    });
    let said: Vec<_> = said.collect();
    crate::program::until("the end of its child", || has_ended(&folder, "child").then_some(()));
    expect![[r#"
        2> error: credential plugin "./plugin" of user "me" in kubeconfig DIR/config did not finish in 1 s
        2> hint: allow more time with --request-timeout, or run the plugin to see what it waits for
        exit 5

        2> error: credential plugin "./plugin" of user "me" in kubeconfig DIR/config did not finish in 1 s
        2> hint: allow more time with --request-timeout, or run the plugin to see what it waits for
        exit 5

        2> error: credential plugin "./plugin" of user "me" in kubeconfig DIR/config did not finish in 1 s
        2> hint: allow more time with --request-timeout, or run the plugin to see what it waits for
        exit 5
    "#]]
    .assert_eq(&said.join("\n"));
}

/// RFC 3339, with an offset or a fraction; the last is what others write for "never".
#[test]
fn a_plugin_may_give_any_time_at_which_its_token_ends() {
    let folder = Folder::new();
    folder.write("config", &kubeconfig("", PLUGIN));
    for time in ["2090-01-01T00:00:00+02:00", "2090-01-01T00:00:00.5Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"]
    {
        let status = format!("{{token: abc, expirationTimestamp: '{time}'}}");
        let credential = "apiVersion: client.authentication.k8s.io/v1, kind: ExecCredential";
        folder.script("plugin", &format!("echo \"{{{credential}, status: {status}}}\""));
        let said = folder.run("config", "diff");
        assert!(said.contains("connection refused"), "{time}: {said}");
    }
}

#[test]
fn what_needs_no_cluster_starts_no_plugin() {
    let folder = Folder::new();
    folder.write("config", &kubeconfig("", PLUGIN));
    folder.script("plugin", "touch DIR/was-run");
    folder.write("bpfman.json", &crate::program::config());
    assert!(folder.run("config", "render -q -o name -f DIR/bpfman.json").ends_with("exit 0\n"));
    // Nor does a plain address, which gets no credentials.
    let said = folder.run("config", "diff --server=http://127.0.0.1:1");
    assert!(said.contains("connection refused"), "{said}");
    assert!(!folder.path("was-run").exists());
}
