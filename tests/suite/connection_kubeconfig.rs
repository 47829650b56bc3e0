//! Kubeconfig files: what is wrong with one, and how several are read as one.

use std::fs;

use expect_test::expect;

use crate::connection::{Folder, kubeconfig, told};

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
        2> error: kubeconfig DIR/config is empty: it has no contexts, clusters or users
        2> hint: choose another file with --kubeconfig or KUBECONFIG, or a server with --server
        exit 2

        2> error: kubeconfig DIR/config is empty: it has no contexts, clusters or users
        2> hint: choose another file with --kubeconfig or KUBECONFIG, or a server with --server
        exit 2

        2> error: kubeconfig DIR/config is empty: it has no contexts, clusters or users
        2> hint: choose another file with --kubeconfig or KUBECONFIG, or a server with --server
        exit 2

        2> error: cannot read kubeconfig DIR/config: line 1, column 1: a document must be a mapping (key: value), this is text
        2> hint: repair the file, or choose another with --kubeconfig
        exit 2

        2> error: cannot read kubeconfig DIR/config: line 1, column 11: unclosed bracket '['
        2> hint: repair the file, or choose another with --kubeconfig
        exit 2

        2> error: cannot read kubeconfig DIR/config: kind "Pod" of apiVersion "v1" is not supported, it must be kind Config of apiVersion v1
        2> hint: repair the file, or choose another with --kubeconfig
        exit 2

        2> error: cannot read kubeconfig DIR/config: clusters must be a list
        2> hint: repair the file, or choose another with --kubeconfig
        exit 2

        2> error: cannot read kubeconfig DIR/config: clusters[0].name is missing
        2> hint: repair the file, or choose another with --kubeconfig
        exit 2

        2> error: cannot read kubeconfig DIR/config: users[0].user must be a mapping
        2> hint: repair the file, or choose another with --kubeconfig
        exit 2

        2> error: cannot read kubeconfig DIR/config: users[0].user.token must be a string; quote what looks like a number or a boolean
        2> hint: repair the file, or choose another with --kubeconfig
        exit 2

        2> error: cannot read kubeconfig DIR/config: duplicate name "me" in users
        2> hint: repair the file, or choose another with --kubeconfig
        exit 2

        2> error: cannot read kubeconfig DIR/config: users[0].user.exec.args must be a list
        2> hint: repair the file, or choose another with --kubeconfig
        exit 2

        2> error: cannot read kubeconfig DIR/config: clusters[0].cluster.insecure-skip-tls-verify must be true or false
        2> hint: repair the file, or choose another with --kubeconfig
        exit 2

        2> error: cannot read kubeconfig DIR/config: line 1, column 1: control character U+0000 is not allowed in YAML; write it as an escape in double quotes
        2> hint: repair the file, or choose another with --kubeconfig
        exit 2

        2> error: cannot read kubeconfig DIR/.: is a directory
        2> hint: repair the file, or choose another with --kubeconfig
        exit 2

        2> error: cannot read kubeconfig DIR/file/below: not a directory
        2> hint: repair the file, or choose another with --kubeconfig
        exit 2

        2> error: cannot read kubeconfig DIR/half: line 1, column 1: the text is UTF-16 (little endian); save it as UTF-8
        2> hint: repair the file, or choose another with --kubeconfig
        exit 2
    "#]].assert_eq(&all);
}

/// serde quotes the value before it says what it expected; only what it expected is told.
#[test]
fn a_value_of_the_wrong_type_is_told_by_its_field_and_never_quoted() {
    let user = |fields: &str| format!("users: [{{name: me, user: {{{fields}}}}}]");
    let cases = [
        user("token: [hush]"),
        user("token: {a: hush, expected: hush}"),
        user("exec: 'hush, expected hush'"),
        user("exec: {env: [hush]}"),
        user("exec: {env: [{name: X, value: 314159}]}"),
        user("exec: {provideClusterInfo: 'hush, expected a string'}"),
        user("auth-provider: {name: oidc, config: {client-secret: 314159}}"),
        user("as-user-extra: {key: hush}"),
        user("as-groups: hush"),
        user("client-key-data: 314159"),
        "users: hush".to_owned(),
        "users: [hush]".to_owned(),
        "current-context: 314159".to_owned(),
        "contexts: [{name: now, context: {user: 314159}}]".to_owned(),
        "clusters: [{name: home, cluster: {extensions: [{name: 314159}]}}]".to_owned(),
    ];
    let said = told(&cases.each_ref().map(String::as_str));
    assert!(!said.contains("hush") && !said.contains("314159"), "{said}");
    let errors: Vec<_> = said.lines().filter_map(|line| line.strip_prefix("2> error: ")).collect();
    expect![[r#"
        users[0].user.token must be a string; quote what looks like a number or a boolean
        users[0].user.token must be a string; quote what looks like a number or a boolean
        users[0].user.exec must be a mapping
        users[0].user.exec.env[0] must be a mapping
        users[0].user.exec.env[0].value must be a string; quote what looks like a number or a boolean
        users[0].user.exec.provideClusterInfo must be true or false
        users[0].user.auth-provider.config.client-secret must be a string; quote what looks like a number or a boolean
        users[0].user.as-user-extra.key must be a list
        users[0].user.as-groups must be a list
        users[0].user.client-key-data must be a string; quote what looks like a number or a boolean
        users must be a list
        users[0] must be a mapping
        current-context must be a string; quote what looks like a number or a boolean
        contexts[0].context.user must be a string; quote what looks like a number or a boolean
        clusters[0].cluster.extensions[0].name must be a string; quote what looks like a number or a boolean"#]]
    .assert_eq(&errors.join("\n").replace("cannot read kubeconfig DIR/config: ", ""));
}

/// What kubectl writes, or takes, and kube's own types do not.
#[test]
fn what_kubectl_takes_in_a_kubeconfig_is_taken() {
    let exec = "{apiVersion: x, command: x, interactiveMode: Sometimes, provideClusterInfo: null, env: null}";
    let unused = format!("extensions: [{{name: x}}], exec: {exec}");
    let text = kubeconfig("", "token: '', exec: null")
        .replace("users: [", &format!("users: [{{name: x, user: {{{unused}}}}}, "));
    let others = "preferences: {}\nkind: ''\ncontexts: [{name: x, context: {}}, {name: other}, ";
    let said = told(&[&text.replace("contexts: [", others)]);
    assert!(said.contains("connection refused"), "{said}");
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
        2> error: cannot read certificate authority DIR/sub/ca.crt (cluster "c" in kubeconfig DIR/sub/c): no such file or directory
        2> hint: choose another file with --certificate-authority
        exit 2

        2>   caused by: cannot reach SERVER/b: connection refused
        2>   caused by: cannot reach SERVER/typed: connection refused
        2>   caused by: cannot reach SERVER/typed: connection refused
        2>   caused by: cannot reach SERVER/typed: connection refused
        2>   caused by: cannot reach SERVER/b: connection refused"#]]
    .assert_eq(&servers.collect::<Vec<_>>().join("\n"));
}
