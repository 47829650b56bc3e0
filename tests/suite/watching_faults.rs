//! What goes wrong on a real cluster while `watch` runs, and how it ends whatever ends it.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use expect_test::expect;

use crate::connection::Folder;
use crate::controlplane::{Cluster, Platform, lines};
use crate::drift::edit;
use crate::program::{Running, command, config, prepare, until, writes};
use crate::server_words::policy;

const DAEMON: &str = "daemonset/bpfman-daemon";

fn finalizers(cluster: &Cluster) -> String {
    cluster.kubectl_ok(&["get", "configs.bpfman.io/bpfman-config", "-o", "jsonpath={.metadata.finalizers}"])
}

fn watched(platform: Platform, words: &str) -> (Cluster, Running) {
    let cluster = Cluster::start(platform);
    prepare(&cluster);
    let watch = Running::start(&cluster, words);
    watch.says("in sync", 1);
    (cluster, watch)
}

/// telepresenceio/telepresence#234: a closed terminal leaves the finalizer, and the Config cannot be deleted any more.
#[test]
fn every_end_removes_the_finalizer() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    for (signal, code) in [("HUP", 129), ("QUIT", 131), ("TERM", 143), ("INT", 130)] {
        let mut watch = Running::start(&cluster, "watch");
        watch.says("in sync", 1);
        assert_eq!(finalizers(&cluster), r#"["bpfman.io/config-finalizer"]"#);
        assert_eq!(watch.end(signal), Some(code), "{signal}");
        assert_eq!(finalizers(&cluster), "", "{signal}");
    }
}

/// A stopped pager: the pipe is full, and a write to it never ends.
#[test]
fn a_reader_that_does_not_read_does_not_keep_it_from_ending() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    let (_reader, writer) = std::io::pipe().unwrap();
    fill(&writer);
    let mut watch = command(cluster.kubeconfig(), "watch -q").stdout(writer).stderr(Stdio::null()).spawn().unwrap();
    until("the finalizer", || (!finalizers(&cluster).is_empty()).then_some(()));
    until("the objects", || cluster.kubectl(&["get", "-n", "ebpf", DAEMON]).status.success().then_some(()));
    let begun = Instant::now();
    assert!(Command::new("kill").arg(watch.id().to_string()).status().unwrap().success());
    let ended = until("its end", || watch.try_wait().unwrap());
    assert_eq!((ended.code(), begun.elapsed() < Duration::from_secs(6)), (Some(143), true));
    assert_eq!(finalizers(&cluster), "");
}

/// Fills a pipe to the last byte, by a writer that then waits for ever.
fn fill(pipe: &std::io::PipeWriter) {
    let mut copy = pipe.try_clone().unwrap();
    let (sender, written) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        while copy.write(&[b'\n'; 4096]).is_ok() {
            let _ = sender.send(());
        }
    });
    while written.recv_timeout(Duration::from_millis(300)).is_ok() {}
}

#[test]
fn what_a_killed_run_left_is_removed_by_the_next() {
    let (cluster, watch) = watched(Platform::PLAIN, "watch");
    drop(watch); // by SIGKILL
    assert_eq!(finalizers(&cluster), r#"["bpfman.io/config-finalizer"]"#);
    let mut watch = Running::start(&cluster, "watch");
    watch.says("the finalizer of an earlier run", 1);
    watch.says("in sync", 1);
    assert_eq!(watch.end("INT"), Some(130));
    assert_eq!(finalizers(&cluster), "");
}

#[test]
fn a_reader_that_goes_ends_it_though_nothing_is_to_be_said() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    let (reader, writer) = std::io::pipe().unwrap();
    let mut watch = command(cluster.kubeconfig(), "watch -q").stdout(writer).spawn().unwrap();
    until("the objects", || cluster.kubectl(&["get", "-n", "ebpf", DAEMON]).status.success().then_some(()));
    drop(reader);
    assert_eq!(until("its end", || watch.try_wait().unwrap()).code(), Some(0));
    assert_eq!(finalizers(&cluster), "");
}

/// wildfly/wildfly-operator#62: a kind that the cluster lacks must not end the watch.
#[test]
fn kinds_that_come_and_go_take_their_objects_with_them() {
    let (cluster, mut watch) = watched(Platform::PLAIN, "watch");
    let crd = Cluster::monitoring_crd();
    let crd = crd.to_str().unwrap();
    let begun = Instant::now();
    cluster.kubectl_ok(&["create", "-f", crd]);
    watch.says("in sync: 9 objects", 1);
    assert!(begun.elapsed() < Duration::from_secs(12), "{:?}", begun.elapsed());
    cluster.kubectl_ok(&["delete", "-f", crd, "--wait=false"]);
    watch.says("in sync: 4 objects", 2);
    assert_eq!(watch.end("INT"), Some(130));
    let said = watch.said();
    assert_eq!(said.matches("is no longer desired; it is left as it is").count(), 5, "{said}");
    assert_eq!(said.matches("the monitoring objects are left out").count(), 2, "{said}");
}

#[test]
fn a_namespace_that_comes_back_is_used_at_once() {
    let cluster = Cluster::start(Platform::PLAIN);
    cluster.apply(&config());
    let mut watch = Running::start(&cluster, "watch");
    watch.says("skipped", 2);
    std::thread::sleep(Duration::from_secs(8)); // the pauses have grown
    let begun = Instant::now();
    cluster.kubectl_ok(&["create", "namespace", "ebpf"]);
    watch.says("in sync", 1);
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert_eq!(watch.end("INT"), Some(130));
}

#[test]
fn a_kind_that_is_not_served_is_unknown_and_the_rest_is_kept() {
    let folder = Folder::new();
    folder.write("rule.yaml", "apiVersion: example.org/v1\nkind: Widget\nmetadata:\n  name: w\nspec: {}\n");
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    let words = format!("watch --templates {}", folder.path("").display());
    let mut watch = Running::start(&cluster, &words);
    watch.says("daemonset.apps/bpfman-daemon in ebpf: created", 1);
    watch.says("widget.example.org/w: cannot be watched: the server has no resource Widget (example.org/v1)", 1);
    cluster.kubectl_ok(&["delete", "-n", "ebpf", DAEMON]);
    watch.says("daemonset.apps/bpfman-daemon in ebpf: created", 2);
    assert!(!watch.said().contains("in sync"));
    assert_eq!(watch.end("INT"), Some(130));
    assert_eq!(finalizers(&cluster), "");
}

/// openshift/cluster-version-operator#725.
#[test]
fn a_fight_is_reported_and_left() {
    let (cluster, mut watch) = watched(Platform::PLAIN, "watch");
    let mark = cluster.requests().len();
    let begun = Instant::now();
    while !watch.said().contains("it is left alone for") && begun.elapsed() < Duration::from_secs(30) {
        edit(&cluster, "configmap/bpfman-config", r#"{"data":{"bpfman.log.level":"theirs"}}"#);
        std::thread::sleep(Duration::from_millis(200));
    }
    // The others are still kept.
    edit(&cluster, "csidriver/csi.bpfman.io", r#"{"spec":{"requiresRepublish":true}}"#);
    watch.says("csidriver.storage.k8s.io/csi.bpfman.io: configured", 1);
    let patches = lines(&writes(&cluster, mark)).matches("configmaps").count();
    assert_eq!((patches, watch.end("INT")), (3, Some(130)));
    let said = watch.said();
    let fight = said.lines().find(|line| line.contains("left alone")).unwrap_or_default();
    expect![[r#"TIME configmap/bpfman-config in ebpf: data["bpfman.log.level"] was set to "bpfman=info" 3 times and set back to "theirs" by kubectl-edit (Update) since TIME within a minute; it is left alone for 60 s"#]].assert_eq(fight);
}

/// It was 3.9 million lines in 8 s: kubernetes/kubernetes#30629.
#[test]
fn a_refused_object_is_told_once_and_sleeps_also_while_the_config_is_being_deleted() {
    let (cluster, mut watch) = watched(Platform::PLAIN, "watch");
    let expression = r#"{expression: "!has(object.data) || object.data['bpfman.log.level'] != 'bpfman=info'", message: 'not this level'}"#;
    policy(&cluster, "no-level", "configmaps", "Deny", expression);
    let probe = ["create", "configmap", "probe", "--from-literal=bpfman.log.level=bpfman=info", "--dry-run=server"];
    until("the policy in force", || (!cluster.kubectl(&probe).status.success()).then_some(()));
    edit(&cluster, "configmap/bpfman-config", r#"{"data":{"bpfman.log.level":"trace"}}"#);
    watch.says("not this level", 1);
    let patch = r#"{"metadata":{"finalizers":["bpfman.io/config-finalizer","example.org/other"]}}"#;
    cluster.kubectl_ok(&["patch", "configs.bpfman.io/bpfman-config", "--type=merge", "-p", patch]);
    cluster.kubectl_ok(&["delete", "configs.bpfman.io/bpfman-config", "--wait=false"]);
    watch.says("removed the finalizer", 1);
    let (lines, mark) = (watch.said().lines().count(), cluster.requests().len());
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!((watch.said().lines().count(), writes(&cluster, mark).len()), (lines, 0), "{}", watch.said());
    assert_eq!(watch.end("INT"), Some(130));
}

#[test]
fn templates_that_change_are_rendered_again_and_a_broken_one_keeps_the_last() {
    let folder = Folder::new();
    let template = |value: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: extra\n  namespace: {{{{ namespace }}}}\ndata:\n  key: {value}\n"
        )
    };
    folder.write("extra.yaml", &template("one"));
    folder.write("second.yaml", &template("three").replace("extra", "second"));
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    let mut watch = Running::start(&cluster, &format!("watch --templates {}", folder.path("").display()));
    watch.says("in sync: 6 objects", 1);
    folder.write("extra.yaml", &template("two"));
    watch.says("in sync: 6 objects", 2);
    let before = watch.said().len();
    folder.write("extra.yaml", "kind: [\n");
    watch.says("a template is invalid", 1);
    cluster.kubectl_ok(&["delete", "-n", "ebpf", "configmap/extra"]);
    watch.says("configmap/extra in ebpf: created", 2);
    std::fs::remove_file(folder.path("extra.yaml")).unwrap();
    watch.says("in sync: 5 objects", 1);
    assert_eq!(watch.end("INT"), Some(130));
    let said = watch.said()[before..].replace(&folder.path("").display().to_string(), "DIR/");
    // The two streams have no common order.
    let (errors, events): (Vec<&str>, Vec<&str>) = said.lines().partition(|line| line.starts_with("2> "));
    expect![[r#"
        TIME a template is invalid; keeping the last valid configuration
        TIME configmap/extra in ebpf: does not exist
        TIME configmap/extra in ebpf: created
        TIME read config.bpfman.io/bpfman-config, for namespace ebpf
        TIME rendered 5 objects
        TIME configmap/extra in ebpf: is no longer desired; it is left as it is
        TIME in sync: 5 objects
        TIME removed the finalizer from the Config
        2> error: DIR/extra.yaml:1:7: unclosed bracket '['
        2>   1 | kind: [
        2>     |       ^
    "#]]
    .assert_eq(&format!("{}\n{}\n", events.join("\n"), errors.join("\n")));
}

#[test]
fn an_invalid_config_at_the_start_is_waited_for() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    let namespace = |name: &str| format!(r#"{{"spec":{{"namespace":"{name}"}}}}"#);
    let set = |name: &str| {
        cluster.kubectl_ok(&["patch", "configs.bpfman.io/bpfman-config", "--type=merge", "-p", &namespace(name)]);
    };
    set("Not_A_Label");
    let mut watch = Running::start(&cluster, "watch");
    watch.says("waiting for it to be corrected", 1);
    set("ebpf");
    watch.says("in sync", 1);
    assert_eq!(watch.end("INT"), Some(130));
}

#[test]
fn two_of_us_are_quiet() {
    let (cluster, mut first) = watched(Platform::PLAIN, "watch");
    let mut second = Running::start(&cluster, "watch");
    second.says("in sync", 1);
    let mark = cluster.requests().len();
    edit(&cluster, "configmap/bpfman-config", r#"{"data":{"bpfman.log.level":"trace"}}"#);
    first.says("in sync", 2);
    second.says("in sync", 2);
    std::thread::sleep(Duration::from_secs(2));
    let patches = writes(&cluster, mark).len();
    assert!(patches <= 2, "{}", lines(&writes(&cluster, mark)));
    assert_eq!(first.end("INT"), Some(130));
    until("the finalizer again", || (!finalizers(&cluster).is_empty()).then_some(()));
    assert_eq!(second.end("INT"), Some(130));
    assert_eq!(finalizers(&cluster), "");
}
