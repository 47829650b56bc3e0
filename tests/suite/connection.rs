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
        2> error: the current context does not exist
        2>   caused by: there is no context "gone" in kubeconfig DIR/config
        2> hint: there is: empty, no-cluster, no-user, none
        exit 2

        2> error: there is no context "nope" in kubeconfig DIR/config
        2> hint: there is: empty, no-cluster, no-user, none
        exit 2

        2> error: there is no cluster "nope" in kubeconfig DIR/config
        2> hint: there is: one
        exit 2

        2> error: there is no user "nope" in kubeconfig DIR/config
        2> hint: there is: me
        exit 2

        2> error: context "no-cluster" in kubeconfig DIR/config is not complete
        2>   caused by: there is no cluster "gone" in kubeconfig DIR/config
        2> hint: there is: one
        exit 2

        2> error: context "no-user" in kubeconfig DIR/config is not complete
        2>   caused by: there is no user "gone" in kubeconfig DIR/config
        2> hint: there is: me
        exit 2

        2> error: context "none" in kubeconfig DIR/config names no cluster
        2> hint: name one with --cluster
        exit 2

        2> error: context "empty" in kubeconfig DIR/config names no cluster
        2> hint: name one with --cluster
        exit 2

        2> error: cannot read kubeconfig nope: no such file or directory
        2> hint: without --kubeconfig the files of $KUBECONFIG are read, or ~/.kube/config
        exit 2

        2> error: KUBECONFIG names no file that exists: DIR/nope, DIR/neither
        2> hint: unset KUBECONFIG to use ~/.kube/config, or name a file with --kubeconfig
        exit 2

        2> error: there is no kubeconfig that could have the context "nope"
        2> hint: name the file with --kubeconfig or KUBECONFIG
        exit 2

        2> error: there is no kubeconfig that could have the user "nope"
        2> hint: name the file with --kubeconfig or KUBECONFIG
        exit 2

        2> error: there is no kubeconfig, and this is no pod of a cluster
        2> hint: name a file with --kubeconfig or KUBECONFIG, or a server with --server
        exit 2
    "#]]
    .assert_eq(&all.join("\n"));
}

#[test]
fn a_kubeconfig_that_is_empty_or_broken_says_so() {
    let mut all = told(&[
        "",
        "# nothing\n",
        "current-context: ''\n",
        "hello",
        "clusters: [",
        "{kind: Pod, apiVersion: v1}",
        "clusters: 5",
        "clusters: [{cluster: {}}]",
        "users: [{name: me, user: hello}]",
        "users: [{name: me, user: {token: 12345}}]",
        "users: [{name: me}, {name: me}]",
        "users: [{name: me, user: {exec: {args: x}}}]",
        "clusters: [{name: home, cluster: {insecure-skip-tls-verify: 'yes'}}]",
        "\u{0}",
    ]);
    let folder = Folder::new();
    folder.write("file", "");
    fs::write(folder.path("half"), [0xff, 0xfe, 0x00]).unwrap();
    for list in [".", "file/below", "half"] {
        all = [all, folder.run(list, "diff")].join("\n");
    }
    expect![[r#"
        2> error: kubeconfig DIR/config is empty: it has no context, no cluster and no user
        2> hint: name another file with --kubeconfig or KUBECONFIG, or a server with --server
        exit 2

        2> error: kubeconfig DIR/config is empty: it has no context, no cluster and no user
        2> hint: name another file with --kubeconfig or KUBECONFIG, or a server with --server
        exit 2

        2> error: kubeconfig DIR/config is empty: it has no context, no cluster and no user
        2> hint: name another file with --kubeconfig or KUBECONFIG, or a server with --server
        exit 2

        2> error: cannot read kubeconfig DIR/config: line 1, column 1: a document must be a mapping (key: value), this is text
        2> hint: repair the file, or name another with --kubeconfig
        exit 2

        2> error: cannot read kubeconfig DIR/config: line 1, column 11: unclosed bracket '['
        2> hint: repair the file, or name another with --kubeconfig
        exit 2

        2> error: cannot read kubeconfig DIR/config: it is of kind "Pod" and version "v1", not a Config of version v1
        2> hint: repair the file, or name another with --kubeconfig
        exit 2

        2> error: cannot read kubeconfig DIR/config: clusters must be a list
        2> hint: repair the file, or name another with --kubeconfig
        exit 2

        2> error: cannot read kubeconfig DIR/config: clusters[0] needs a name, which is text (quoted, if it looks like a number or like yes and no)
        2> hint: repair the file, or name another with --kubeconfig
        exit 2

        2> error: cannot read kubeconfig DIR/config: user "me": must be a mapping
        2> hint: repair the file, or name another with --kubeconfig
        exit 2

        2> error: cannot read kubeconfig DIR/config: user "me": token must be text; quote what looks like a number, or like yes and no
        2> hint: repair the file, or name another with --kubeconfig
        exit 2

        2> error: cannot read kubeconfig DIR/config: two users have the name "me"
        2> hint: repair the file, or name another with --kubeconfig
        exit 2

        2> error: cannot read kubeconfig DIR/config: user "me": exec: args must be a list of texts
        2> hint: repair the file, or name another with --kubeconfig
        exit 2

        2> error: cannot read kubeconfig DIR/config: cluster "home": insecure-skip-tls-verify must be true or false
        2> hint: repair the file, or name another with --kubeconfig
        exit 2

        2> error: cannot read kubeconfig DIR/config: line 1, column 1: control character U+0000 is not allowed in YAML; write it as an escape in double quotes
        2> hint: repair the file, or name another with --kubeconfig
        exit 2

        2> error: cannot read kubeconfig DIR/.: is a directory
        2> hint: repair the file, or name another with --kubeconfig
        exit 2

        2> error: cannot read kubeconfig DIR/file/below: not a directory
        2> hint: repair the file, or name another with --kubeconfig
        exit 2

        2> error: cannot read kubeconfig DIR/half: line 1, column 1: the text is UTF-16 (little endian); save it as UTF-8
        2> hint: repair the file, or name another with --kubeconfig
        exit 2
    "#]].assert_eq(&all);
}

/// What is chosen shows in the address; the files name each other's entries.
#[test]
fn a_list_of_kubeconfigs_is_read_as_one() {
    let folder = Folder::new();
    let cluster =
        |name: &str, path: &str| format!("{{name: {name}, cluster: {{server: 'https://127.0.0.1:1/{path}'}}}}");
    folder.write(
        "a",
        &format!("clusters: [{}]\nusers: [{{name: me, user: {{}}}}]\ncurrent-context: ''", cluster("x", "a")),
    );
    folder.write("b", &format!(
        "clusters: [{}, {}]\ncontexts: [{{name: now, context: {{cluster: x}}}}, {{name: other, context: {{cluster: z, user: me}}}}]\n\
         current-context: now", cluster("x", "b"), cluster("z", "b")));
    folder.write(
        "sub/c",
        "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1', certificate-authority: ca.crt}}]",
    );
    let utf16: Vec<u8> =
        fs::read_to_string(folder.path("b")).unwrap().encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(folder.path("utf16"), [&[0xff, 0xfe], &utf16[..]].concat()).unwrap();
    let said = [
        ("a:missing:b", ""),
        ("b:a", ""),
        ("a:b", "--context=other"),
        ("a:b:sub/c", "--cluster=c"),
        ("utf16", ""),
        ("a:b", "--server=127.0.0.1:1/typed"),
        ("a", "--server=127.0.0.1:1/typed"),
        ("", "--server=127.0.0.1:1/typed"),
        ("missing:b", "--context= --cluster= --user= --server= --token= --kubeconfig="),
    ]
    .map(|(list, words)| folder.run(list, &format!("diff {words}")));
    let servers = said
        .iter()
        .map(|text| text.lines().find(|line| line.contains("reach") || line.contains("read the")).unwrap_or(text));
    expect![[r#"
        2>   caused by: cannot reach SERVER/a: connection refused
        2>   caused by: cannot reach SERVER/b: connection refused
        2>   caused by: cannot reach SERVER/b: connection refused
        2> error: cannot read the certificate authority DIR/sub/ca.crt (cluster "c" in kubeconfig DIR/sub/c): no such file or directory
        2>   caused by: cannot reach SERVER/b: connection refused
        2>   caused by: cannot reach SERVER/typed: connection refused
        2>   caused by: cannot reach SERVER/typed: connection refused
        2>   caused by: cannot reach SERVER/typed: connection refused
        2>   caused by: cannot reach SERVER/b: connection refused"#]]
    .assert_eq(&servers.collect::<Vec<_>>().join("\n"));
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
        2> error: cannot read the certificate authority DIR/sub/ca.crt (cluster "home" in kubeconfig DIR/config): no such file or directory
        2> hint: name another with --certificate-authority
        exit 2

        2> error: the certificate authority in certificate-authority-data of cluster "home" in kubeconfig DIR/config is not base64
        2> hint: write it again, or name a file: certificate-authority in the kubeconfig, or --certificate-authority
        exit 2

        2> error: there is no certificate that can be read in the certificate authority in certificate-authority-data of cluster "home" in kubeconfig DIR/config
        2> hint: it must be text that has a part between -----BEGIN …----- and -----END …-----
        exit 2

        2> error: cannot read the client certificate DIR/me.crt (user "me" in kubeconfig DIR/config): no such file or directory
        2> hint: name another with --client-certificate
        exit 2

        2> error: the client certificate DIR/config (user "me" in kubeconfig DIR/config) has no client key to it
        2> hint: name one with --client-key
        exit 2

        2> error: the client key in client-key-data of user "me" in kubeconfig DIR/config has no client certificate to it
        2> hint: name one with --client-certificate
        exit 2

        2> error: there is no private key in the client key DIR/config (user "me" in kubeconfig DIR/config)
        2> hint: it must be text that has a part between -----BEGIN …----- and -----END …-----
        exit 2

        2> error: the client key in client-key-data of user "me" in kubeconfig DIR/config is encrypted
        2> hint: decrypt it: openssl pkey -in FILE -out FILE
        exit 2

        2> error: cannot read the token DIR/me.token (user "me" in kubeconfig DIR/config): no such file or directory
        2> hint: write the file, or give a token with --token
        exit 2

        2> error: the token of user "me" in kubeconfig DIR/config has characters that cannot be sent
        2> hint: a token is one line without blanks
        exit 2

        2> error: user "me" in kubeconfig DIR/config has a token as well as a user name and a password
        2> hint: remove one of them
        exit 2

        2> error: user "me" in kubeconfig DIR/config has an auth-provider "gcp", which is not supported
        2> hint: use a credential plugin instead (exec)
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
        2> error: --server has an address that is none: "SERVER"
        2> hint: it must be https://host:port, or http://host:port
        exit 2

        2> error: --tls-server-name has a name that is none: "no_name!"
        2> hint: it must be a DNS name or an address
        exit 2

        2> error: whom to act as (--as and the like) has characters that cannot be sent
        2> hint: names are one line of text
        exit 2

        2> error: --as-group needs a user to impersonate
        2> hint: name one with --as
        exit 2

        2> error: --as-uid needs a user to impersonate
        2> hint: name one with --as
        exit 2

        2> error: --as-user-extra needs a user to impersonate
        2> hint: name one with --as
        exit 2

        2> error: as-groups of user "me" in kubeconfig DIR/as needs a user to impersonate
        2> hint: name one with --as
        exit 2

        2> error: invalid value 'a' for '--as-user-extra <KEY=VALUE>': expected KEY=VALUE
        2> 
        2> For more information, try '--help'.
        exit 2

        2> error: --insecure-skip-tls-verify and --certificate-authority exclude each other
        2> hint: leave --insecure-skip-tls-verify out: the authority is what the certificate is checked against
        exit 2

        2> error: cluster "home" in kubeconfig DIR/both has both insecure-skip-tls-verify and a certificate authority
        2> hint: remove insecure-skip-tls-verify: the authority is what the certificate is checked against
        exit 2

        2> error: the client certificate DIR/ca.crt (--client-certificate) has no client key to it
        2> hint: name one with --client-key
        exit 2

        2> error: cannot read the client key nope (--client-key): no such file or directory
        2> hint: name another with --client-key
        exit 2

        2> error: --server has an address that is none: "ftp://x"
        2> hint: it must be https://host:port, or http://host:port
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
