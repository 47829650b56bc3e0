//! The choice of a cluster and of an identity, as far as it goes without a server: port 1 of loopback refuses everybody.
//!
//! The reports that these cases come from: kube-rs/kube#818, #623 and Ramilito/kubesess#66 (errors that name types, not files),
//! edrevo/suspicious-pods#6 and kubernetes/kubernetes#21062 (another cluster than the one that was named),
//! nklmilojevic/sofka#640 (base64 with line breaks).

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use expect_test::expect;
use tempfile::TempDir;

use crate::program::{PROGRAM, said};

/// A folder with kubeconfigs; messages show it as `DIR`.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Makes a script that can be run.
    pub(crate) fn script(&self, name: &str, text: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.write(name, &format!("#!/bin/sh\n{}\n", text.replace("DIR", &self.path("").to_string_lossy())));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// The program with this folder as HOME, run in another one; `list` is KUBECONFIG, whose files lie here.
    pub(crate) fn command(&self, list: &str, words: &str) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(words.split_whitespace().map(|word| word.replace("DIR", self.0.path().to_str().unwrap())));
        command.env_clear().env("HOME", self.0.path()).env("PATH", "/usr/bin:/bin").current_dir("/");
        if !list.is_empty() {
            command.env("KUBECONFIG", std::env::join_paths(list.split(':').map(|name| self.path(name))).unwrap());
        }
        command
    }

    pub(crate) fn run(&self, list: &str, words: &str) -> String {
        self.said(&mut self.command(list, words))
    }

    pub(crate) fn said(&self, command: &mut Command) -> String {
        said(command).replace(self.0.path().to_str().unwrap(), "DIR")
    }
}

/// A kubeconfig with one context, of a cluster and a user with these fields.
pub(crate) fn kubeconfig(cluster: &str, user: &str) -> String {
    format!(
        "clusters: [{{name: home, cluster: {{server: 'https://127.0.0.1:1', {cluster}}}}}]\n\
         users: [{{name: me, user: {{{user}}}}}]\n\
         contexts: [{{name: now, context: {{cluster: home, user: me}}}}]\n\
         current-context: now\n"
    )
}

/// Runs `diff` with each kubeconfig and gives all that was said.
pub(crate) fn told(cases: &[&str]) -> String {
    let folder = Folder::new();
    let said = cases.iter().map(|text| {
        folder.write("config", text);
        folder.run("config", "diff")
    });
    said.collect::<Vec<_>>().join("\n")
}

const LOST: &str = "
clusters: [{name: one, cluster: {server: 'https://127.0.0.1:1'}}]
users: [{name: me, user: {}}]
contexts:
- {name: no-cluster, context: {cluster: gone, user: me}}
- {name: no-user, context: {cluster: one, user: gone}}
- {name: none, context: {}}
- {name: empty}
current-context: gone
";

#[test]
fn what_is_named_and_missing_is_an_error_with_the_names_that_exist() {
    let folder = Folder::new();
    folder.write("config", LOST);
    folder.write("empty", "{}");
    let mut all: Vec<String> = [
        "",
        "--context=nope",
        "--context=none --cluster=nope",
        "--context=none --cluster=one --user=nope",
        "--context=no-cluster",
        "--context=no-user",
        "--context=none",
        "--context=empty",
        "--kubeconfig=nope",
    ]
    .map(|words| folder.run("config", &format!("diff {words}")))
    .into();
    // Whoever runs in a pod and names another cluster does not mean the pod's.
    for (list, words) in [("nope:neither", "diff"), ("", "diff --context=nope"), ("", "diff --user=nope"), ("", "diff")]
    {
        let mut command = folder.command(list, words);
        let pod = !(list.is_empty() && words == "diff");
        command.envs(
            pod.then_some([("KUBERNETES_SERVICE_HOST", "127.0.0.1"), ("KUBERNETES_SERVICE_PORT", "1")])
                .into_iter()
                .flatten(),
        );
        all.push(folder.said(&mut command));
    }
    expect![[r#"
        2> error: current context "gone" does not exist in kubeconfig DIR/config
        2> hint: available contexts: empty, no-cluster, no-user, none
        exit 2

        2> error: context "nope" does not exist in kubeconfig DIR/config
        2> hint: available contexts: empty, no-cluster, no-user, none
        exit 2

        2> error: cluster "nope" does not exist in kubeconfig DIR/config
        2> hint: available clusters: one
        exit 2

        2> error: user "nope" does not exist in kubeconfig DIR/config
        2> hint: available users: me
        exit 2

        2> error: context "no-cluster" in kubeconfig DIR/config is incomplete
        2>   caused by: cluster "gone" does not exist in kubeconfig DIR/config
        2> hint: available clusters: one
        exit 2

        2> error: context "no-user" in kubeconfig DIR/config is incomplete
        2>   caused by: user "gone" does not exist in kubeconfig DIR/config
        2> hint: available users: me
        exit 2

        2> error: context "none" in kubeconfig DIR/config has no cluster
        2> hint: choose one with --cluster
        exit 2

        2> error: context "empty" in kubeconfig DIR/config has no cluster
        2> hint: choose one with --cluster
        exit 2

        2> error: cannot read kubeconfig nope: no such file or directory
        2> hint: without --kubeconfig, $KUBECONFIG or ~/.kube/config is used
        exit 2

        2> error: none of the files in KUBECONFIG exists: DIR/nope, DIR/neither
        2> hint: unset KUBECONFIG to use ~/.kube/config, or choose a file with --kubeconfig
        exit 2

        2> error: context "nope" does not exist: no kubeconfig found
        2> hint: choose a file with --kubeconfig or KUBECONFIG
        exit 2

        2> error: user "nope" does not exist: no kubeconfig found
        2> hint: choose a file with --kubeconfig or KUBECONFIG
        exit 2

        2> error: no kubeconfig found, and not running in a pod
        2> hint: choose a file with --kubeconfig or KUBECONFIG, or a server with --server
        exit 2
    "#]]
    .assert_eq(&all.join("\n"));
}

#[test]
fn certificates_and_tokens_that_cannot_be_used_are_named_with_their_place() {
    let wrapped =
        BASE64_STANDARD.encode("no PEM at all").chars().map(|letter| format!("{letter}\\n")).collect::<String>();
    let data = |text: &str| BASE64_STANDARD.encode(text);
    let certificate = data("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    let encrypted = data("-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n");
    let cases = [
        kubeconfig("certificate-authority: sub/ca.crt", ""),
        kubeconfig("certificate-authority-data: '%%%'", ""),
        kubeconfig(&format!("certificate-authority-data: \"{wrapped}\""), ""),
        kubeconfig("", "client-certificate: me.crt, client-key: me.key"),
        kubeconfig("", "client-certificate: config"),
        kubeconfig("", "client-key-data: AAAA"),
        kubeconfig("", &format!("client-certificate-data: {certificate}, client-key: config")),
        kubeconfig("", &format!("client-certificate-data: {certificate}, client-key-data: {encrypted}")),
        kubeconfig("", "tokenFile: me.token"),
        kubeconfig("", "token: \"a\\nb\""),
        kubeconfig("", "token: abc, username: me, password: secret"),
        kubeconfig("", "auth-provider: {name: gcp}"),
        kubeconfig("proxy-url: 'ftp://me:secret@proxy'", ""),
    ];
    expect![[r#"
        2> error: cannot read certificate authority DIR/sub/ca.crt (cluster "home" in kubeconfig DIR/config): no such file or directory
        2> hint: choose another file with --certificate-authority
        exit 2

        2> error: certificate authority in certificate-authority-data of cluster "home" in kubeconfig DIR/config is not valid base64
        2> hint: encode it again (base64 -w0), or name a file: certificate-authority, --certificate-authority
        exit 2

        2> error: certificate authority in certificate-authority-data of cluster "home" in kubeconfig DIR/config does not contain a valid certificate
        2> hint: a PEM file has a part between -----BEGIN …----- and -----END …-----
        exit 2

        2> error: cannot read client certificate DIR/me.crt (user "me" in kubeconfig DIR/config): no such file or directory
        2> hint: choose another file with --client-certificate
        exit 2

        2> error: client certificate DIR/config (user "me" in kubeconfig DIR/config) is set without a client key
        2> hint: add --client-key FILE
        exit 2

        2> error: client key in client-key-data of user "me" in kubeconfig DIR/config is set without a client certificate
        2> hint: add --client-certificate FILE
        exit 2

        2> error: client key DIR/config (user "me" in kubeconfig DIR/config) does not contain a private key
        2> hint: a PEM file has a part between -----BEGIN …----- and -----END …-----
        exit 2

        2> error: client key in client-key-data of user "me" in kubeconfig DIR/config is encrypted
        2> hint: decrypt it: openssl pkey -in FILE -out FILE
        exit 2

        2> error: cannot read token file DIR/me.token (user "me" in kubeconfig DIR/config): no such file or directory
        2> hint: write the file, or use --token
        exit 2

        2> error: token of user "me" in kubeconfig DIR/config has characters that are not allowed in an HTTP header
        2> hint: a token is one line without blanks
        exit 2

        2> error: user "me" in kubeconfig DIR/config has both a token and a user name and password
        2> hint: remove one of them from the kubeconfig
        exit 2

        2> error: user "me" in kubeconfig DIR/config has auth-provider "gcp", which is not supported
        2> hint: use a credential plugin (exec) instead
        exit 2

        2> error: proxy-url of cluster "home" in kubeconfig DIR/config is not a valid proxy URL
        2> hint: use http://host:port, https://host:port or socks5://host:port
        exit 2
    "#]].assert_eq(&told(&cases.each_ref().map(String::as_str)));
}

#[test]
fn flags_that_need_or_exclude_each_other_say_so() {
    let folder = Folder::new();
    folder.write("config", &kubeconfig("", "token: abc"));
    folder.write("as", &kubeconfig("", "as-groups: [admins]"));
    folder.write("insecure", &kubeconfig("insecure-skip-tls-verify: true", "as: somebody"));
    let ca = rcgen::generate_simple_self_signed(vec!["home".to_owned()]).unwrap().cert.pem();
    folder.write("ca.crt", &ca);
    folder.write("both", &kubeconfig("insecure-skip-tls-verify: true, certificate-authority: ca.crt", ""));
    let said = [
        ("config", "--server=https://127.0.0.1:99999"),
        ("config", "--tls-server-name=no_name!"),
        ("config", "--as=\u{7}"),
        ("config", "--as-group=g"),
        ("config", "--as-uid=7"),
        ("config", "--as-user-extra=a=b"),
        ("as", ""),
        ("config", "--as-user-extra=a"),
        ("config", "--insecure-skip-tls-verify --certificate-authority=DIR/ca.crt"),
        ("both", ""),
        ("config", "--client-certificate=DIR/ca.crt"),
        ("config", "--client-key=nope"),
        ("config", "--server=ftp://x"),
        // These are no errors, but for the port that refuses.
        ("insecure", "--certificate-authority=DIR/ca.crt --as-group=g"),
        ("as", "--as=me"),
    ]
    .map(|(list, words)| folder.run(list, &format!("diff {words}")));
    expect![[r#"
        2> error: server is not a valid URL: "SERVER"
        2> hint: use --server https://host:port, or http://host:port
        exit 2

        2> error: tls-server-name is not a valid host name: "no_name!"
        2> hint: use a DNS name or an IP address: --tls-server-name
        exit 2

        2> error: a user, group, UID or extra attribute to impersonate has characters that are not allowed in an HTTP header
        2> hint: check --as, --as-group, --as-uid and --as-user-extra
        exit 2

        2> error: as-groups needs a user to impersonate
        2> hint: add --as USER
        exit 2

        2> error: as-uid needs a user to impersonate
        2> hint: add --as USER
        exit 2

        2> error: as-user-extra needs a user to impersonate
        2> hint: add --as USER
        exit 2

        2> error: as-groups of user "me" in kubeconfig DIR/as needs a user to impersonate
        2> hint: add --as USER
        exit 2

        2> error: invalid value 'a' for '--as-user-extra <KEY=VALUE>': expected KEY=VALUE
        2> 
        2> For more information, try '--help'.
        exit 2

        2> error: insecure-skip-tls-verify and certificate-authority must not both be set
        2> hint: leave insecure-skip-tls-verify out: the server's certificate is verified against the authority
        exit 2

        2> error: insecure-skip-tls-verify and certificate-authority must not both be set in cluster "home" in kubeconfig DIR/both
        2> hint: leave insecure-skip-tls-verify out: the server's certificate is verified against the authority
        exit 2

        2> error: client certificate DIR/ca.crt is set without a client key
        2> hint: add --client-key FILE
        exit 2

        2> error: cannot read client key nope: no such file or directory
        2> hint: choose another file with --client-key
        exit 2

        2> error: server is not a valid URL: "ftp://x"
        2> hint: use --server https://host:port, or http://host:port
        exit 2

        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: cannot reach SERVER: connection refused
        2> hint: check that the API server is running, and the address: --server, kubectl config view --minify
        exit 5

        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: cannot reach SERVER: connection refused
        2> hint: check that the API server is running, and the address: --server, kubectl config view --minify
        exit 5
    "#]]
    .assert_eq(&said.join("\n"));
}
