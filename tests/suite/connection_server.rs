//! Who a real API server takes the program for: plugins, tokens, certificates, and which of them wins.
//!
//! The plugins are scripts that write down that they ran. See `connection` for the reports.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use expect_test::expect;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::connection::{Folder, kubeconfig};
use crate::controlplane::{Cluster, Platform};
use crate::drift::edit;
use crate::program::{Running, prepare, requests, run_as, until};

pub(crate) const PLUGIN: &str =
    "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: ./bin/plugin}";
const ACCOUNT: &str = "system:serviceaccount:default:";

/// A cluster with service accounts that may do everything.
fn with_accounts(names: &[&str]) -> Cluster {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    for name in names {
        cluster.kubectl_ok(&["create", "serviceaccount", name]);
    }
    let all = "--group=system:serviceaccounts";
    cluster.kubectl_ok(&["create", "clusterrolebinding", "accounts", "--clusterrole=cluster-admin", all]);
    let can = ["auth", "can-i", "*", "*", "--as=anybody", "--as-group=system:serviceaccounts"];
    until("the right in force", || cluster.kubectl(&can).status.success().then_some(()));
    cluster
}

fn token(cluster: &Cluster, account: &str) -> String {
    cluster.kubectl_ok(&["create", "token", account]).trim().to_owned()
}

/// Where the cluster is, as the fields of a kubeconfig, and as flags.
pub(crate) fn place(cluster: &Cluster) -> (Value, String) {
    let config: Value = serde_yaml::from_str(&fs::read_to_string(cluster.kubeconfig()).unwrap()).unwrap();
    let place = config["clusters"][0]["cluster"].clone();
    let flag = |key: &str| format!(" --{key}={}", place[key].as_str().unwrap());
    let flags = [flag("server"), flag("certificate-authority")].concat();
    (place, flags)
}

/// Writes `config`: this cluster, and a user with these fields.
pub(crate) fn write_config(cluster: &Cluster, folder: &Folder, user: &str) {
    let place = place(cluster).0.to_string();
    folder.write("config", &kubeconfig("", user).replace("{server: 'https://127.0.0.1:1', }", &place));
}

/// Who the API server took the program for since `mark`, each once in a row.
pub(crate) fn users(cluster: &Cluster, mark: usize) -> Vec<String> {
    let mut users: Vec<String> = requests(cluster, mark).into_iter().map(|request| request.user).collect();
    users.dedup();
    users
}

fn credential(status: &Value) -> String {
    json!({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}).to_string()
}

/// A plugin that gives the content of `now`, and puts `next` in its place.
pub(crate) fn plugin(folder: &Folder, now: &Value, next: &Value) {
    folder.write("now", &credential(now));
    folder.write("next", &credential(next));
    folder.script("bin/plugin", "echo run >>DIR/runs; cat DIR/now; cp DIR/next DIR/now");
}

pub(crate) fn runs(folder: &Folder) -> usize {
    fs::read_to_string(folder.path("runs")).unwrap_or_default().lines().count()
}

#[test]
fn a_plugin_runs_once_a_command_and_is_told_what_it_asks_for() {
    let (cluster, folder) = (with_accounts(&["one"]), Folder::new());
    let asks = "}, provideClusterInfo: true, args: ['a b', c], env: [{name: GREETING, value: hello}], installHint: ''}";
    write_config(&cluster, &folder, &PLUGIN.replace('}', asks).replacen("}, ", ", ", 1));
    let answer = credential(&json!({"token": token(&cluster, "one")}));
    folder.write("answer", &serde_yaml::to_string(&serde_json::from_str::<Value>(&answer).unwrap()).unwrap());
    let script = "echo run >>DIR/runs; echo \"$GREETING $1 $2\" >DIR/words; echo \"$KUBERNETES_EXEC_INFO\" >DIR/info; cat DIR/answer";
    folder.script("bin/plugin", script);
    let mark = cluster.requests().len();
    assert!(folder.run("config", "apply -q --server-side").ends_with("exit 0\n"));
    assert_eq!((users(&cluster, mark), runs(&folder)), (vec![format!("{ACCOUNT}one")], 1));
    assert_eq!(fs::read_to_string(folder.path("words")).unwrap(), "hello a b c\n");
    let info: Value = serde_json::from_str(&fs::read_to_string(folder.path("info")).unwrap()).unwrap();
    let place = place(&cluster).0;
    let authority = fs::read(place["certificate-authority"].as_str().unwrap()).unwrap();
    let authority = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, authority);
    let told = json!({"server": place["server"], "certificate-authority-data": authority});
    let spec = json!({"interactive": false, "cluster": told});
    assert_eq!(info, json!({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "spec": spec}));
}

#[test]
fn a_plugin_may_give_a_certificate() {
    let (cluster, folder) = (Cluster::start(Platform::PLAIN), Folder::new());
    prepare(&cluster);
    write_config(&cluster, &folder, PLUGIN);
    let file = |ending| fs::read_to_string(cluster.kubeconfig().with_extension(ending)).unwrap();
    let status = json!({"clientCertificateData": file("crt"), "clientKeyData": file("key")});
    plugin(&folder, &status, &json!({}));
    let mark = cluster.requests().len();
    assert!(folder.run("config", "apply -q").ends_with("exit 0\n"));
    assert_eq!((users(&cluster, mark), runs(&folder)), (vec!["admin".to_owned()], 1));
}

#[test]
fn a_typed_token_wins_over_plugin_file_and_password() {
    let (cluster, folder) = (with_accounts(&["one", "two"]), Folder::new());
    let (typed, other) = (token(&cluster, "one"), token(&cluster, "two"));
    plugin(&folder, &json!({"token": other}), &json!({"token": other}));
    folder.write("tokens/two", &format!("{other}\n"));
    let mut seen = Vec::new();
    for user in [PLUGIN, "tokenFile: tokens/two", "username: me, password: secret", "token: x, tokenFile: tokens/two"] {
        write_config(&cluster, &folder, user);
        for words in [format!("diff --token={typed}"), "diff".to_owned()] {
            let mark = cluster.requests().len();
            let said = folder.run("config", &words);
            let users = users(&cluster, mark).join(", ");
            seen.push(format!("{users}: {}, plugin runs: {}", said.lines().last().unwrap(), runs(&folder)));
        }
    }
    let mark = cluster.requests().len();
    folder.run("", &format!("diff --token={typed}{}", place(&cluster).1));
    seen.push(users(&cluster, mark).join(", "));
    expect![[r#"
        system:serviceaccount:default:one: exit 1, plugin runs: 0
        system:serviceaccount:default:two: exit 1, plugin runs: 1
        system:serviceaccount:default:one: exit 1, plugin runs: 1
        system:serviceaccount:default:two: exit 1, plugin runs: 1
        system:serviceaccount:default:one: exit 1, plugin runs: 1
        system:anonymous: exit 4, plugin runs: 1
        system:serviceaccount:default:one: exit 1, plugin runs: 1
        system:serviceaccount:default:two: exit 1, plugin runs: 1
        system:serviceaccount:default:one"#]]
    .assert_eq(&seen.join("\n"));
}

/// A token that ends is replaced in time, one that is refused at once.
#[test]
fn watch_gets_a_new_token_when_the_old_one_ends_or_is_refused() {
    let (cluster, folder) = (with_accounts(&["one", "two", "three"]), Folder::new());
    write_config(&cluster, &folder, PLUGIN);
    let tokens = ["one", "two", "three"].map(|account| token(&cluster, account));
    let ends = Timestamp::now() + SignedDuration::from_secs(15);
    plugin(
        &folder,
        &json!({"token": tokens[0], "expirationTimestamp": ends.to_string()}),
        &json!({"token": tokens[1]}),
    );
    let mark = cluster.requests().len();
    let watch = Running::of(folder.command("config", "watch"));
    watch.says("in sync", 1);
    let is_near = || Timestamp::now() > ends - SignedDuration::from_secs(10);
    until("the end of the token", || is_near().then_some(()));
    edit(&cluster, "configmap/bpfman-config", r#"{"data":{"bpfman.log.level":"trace"}}"#);
    watch.says("in sync", 2);
    assert_eq!(
        (users(&cluster, mark), runs(&folder)),
        (["one", "two"].map(|name| format!("{ACCOUNT}{name}")).into(), 2)
    );
    folder.write("now", &credential(&json!({"token": tokens[2]})));
    cluster.kubectl_ok(&["delete", "serviceaccount", "two"]);
    let refused = format!("diff --token={}{}", tokens[1], place(&cluster).1);
    until("the API server knows the account no more", || folder.run("", &refused).ends_with("exit 5\n").then_some(()));
    edit(&cluster, "configmap/bpfman-config", r#"{"data":{"bpfman.log.level":"trace"}}"#);
    watch.says("in sync", 3);
    assert_eq!((users(&cluster, mark).pop(), runs(&folder)), (Some(format!("{ACCOUNT}three")), 3));
}

/// A watch that breaks off says why in the same words as a request.
#[test]
fn watch_tells_why_it_has_lost_the_server() {
    let mut cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    let watch = Running::start(&cluster, "watch -q");
    let before = watch.says("in sync", 1).len();
    cluster.pause();
    let said = watch.says("refused", 1);
    let reasons = said[before..].lines().filter_map(|line| line.split("SERVER: ").nth(1));
    let reasons: BTreeSet<_> = reasons.map(|reason| reason.trim_end_matches("; trying again")).collect();
    // Whether the end of a stream is an error depends on the moment.
    let known = ["the server closed the connection", "connection refused"].into();
    assert!(reasons.is_subset(&known), "{reasons:?}");
}

/// Only the proxy knows the name, which is of no use without it.
#[test]
fn who_is_not_known_hears_so_and_when_the_certificate_expired() {
    let cluster = Cluster::start(Platform::PLAIN);
    let (place, folder) = (place(&cluster).1, Folder::new());
    // 2019 to 2020, and from 2090 to 2099.
    let expired = cluster.user_valid("late", None, (1_546_300_800, 1_580_601_600));
    let early = cluster.user_valid("early", None, (3_786_912_000, 4_070_908_800));
    let said = [
        run_as(&expired, "diff"),
        run_as(&early, "diff"),
        folder.run("", &format!("diff {place}")),
        folder.run("", &format!("diff {place} --token=hush")),
        run_as(cluster.kubeconfig(), "diff --as=somebody --as-group=some"),
        mixed(&cluster, Path::new("late")),
    ];
    expect![[r#"
        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: unauthorized at SERVER: the client certificate is valid from TIME to TIME, and the time of this machine is TIME
        2> hint: log in again, or use another identity: --user, --context, --token
        exit 5

        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: unauthorized at SERVER: the client certificate is valid from TIME to TIME, and the time of this machine is TIME
        2> hint: log in again, or use another identity: --user, --context, --token
        exit 5

        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: forbidden: User "system:anonymous" cannot get resource "configs" in API group "bpfman.io" at the cluster scope
        2> hint: request the permission, or use another identity: --user, --context, --as
        exit 4

        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: unauthorized at SERVER: Unauthorized
        2> hint: log in again, or use another identity: --user, --context, --token
        exit 5

        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: forbidden: User "somebody" cannot get resource "configs" in API group "bpfman.io" at the cluster scope
        2> hint: request the permission, or use another identity: --user, --context, --as
        exit 4

        2> error: the client certificate and the client key do not match
        2> hint: check --client-certificate and --client-key, or the user in the kubeconfig
        exit 2
    "#]].assert_eq(&said.join("\n"));
}

/// The certificate of one user with the key of another.
fn mixed(cluster: &Cluster, other: &Path) -> String {
    let key = cluster.kubeconfig().with_file_name(other).with_extension("key");
    run_as(cluster.kubeconfig(), &format!("diff --client-key={}", key.display()))
}
