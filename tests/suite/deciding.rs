//! What `apply` does only when a flag asks for just that: single conflicts, other owners, recreation, a saved plan, a second look.

use expect_test::expect;
use serde_json::Value;

use crate::controlplane::{Cluster, Platform};
use crate::program::{command, live, prepare, run, said};

fn applied() -> Cluster {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    assert!(run(&cluster, "apply").ends_with("exit 0\n"));
    cluster
}

fn told(cluster: &Cluster, words: &str) -> String {
    let said = said(&mut command(cluster.kubeconfig(), words));
    let is_news =
        |line: &&str| !line.contains(" using context") && !line.contains("monitoring.coreos.com is not served");
    let lines: String = said.lines().filter(is_news).map(|line| format!("{line}\n")).collect();
    format!("$ {words}\n{lines}")
}

const MAP: &str = "configmap/bpfman-config";

fn patch(cluster: &Cluster, object: &str, manager: &str, patch: &str) {
    let manager = format!("--field-manager={manager}");
    cluster.kubectl_ok(&["patch", "-n", "ebpf", object, "--type=merge", &manager, "-p", patch]);
}

#[test]
fn single_conflicts_are_taken_and_yielded_by_path_and_by_manager() {
    let cluster = applied();
    patch(&cluster, MAP, "one", r#"{"data":{"bpfman.log.level":"theirs"}}"#);
    patch(&cluster, MAP, "two", r#"{"data":{"bpfman.agent.log.level":"others"}}"#);
    let text = [
        "apply -q --take one",
        r#"apply -q --take one --yield data["bpfman.agent.log.level"] --dry-run=server"#,
        "apply -q --take one --yield data[bpfman.agent.log.level] --diff",
        "apply -q --yield two",
        "diff -q -o paths",
        "apply -q --take .data",
        "diff -q",
    ]
    .map(|words| told(&cluster, words))
    .concat();
    expect![[r#"
        $ apply -q --take one
        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config failed
        daemonset.apps/bpfman-daemon skipped (needs configmap/bpfman-config)
        2> error: cannot apply configmap/bpfman-config in ebpf: conflict: 2 fields are owned by another field manager with another value
        2>   data["bpfman.agent.log.level"] is owned by two (Update) since TIME: live "others", desired "debug"
        2>   data["bpfman.log.level"] is owned by one (Update) since TIME: live "theirs", desired "bpfman=info"
        exit 4
        $ apply -q --take one --yield data["bpfman.agent.log.level"] --dry-run=server
        namespace/ebpf unchanged (server dry run)
        csidriver.storage.k8s.io/csi.bpfman.io unchanged (server dry run)
        configmap/bpfman-config configured (server dry run)
        daemonset.apps/bpfman-daemon unchanged (server dry run)
        2> warning: configmap/bpfman-config: took over data["bpfman.log.level"] from one (Update) since TIME, it was "theirs", is "bpfman=info"
        2> warning: configmap/bpfman-config: left data["bpfman.agent.log.level"] to two (Update) since TIME, it is "others", desired is "debug"
        exit 0
        $ apply -q --take one --yield data[bpfman.agent.log.level] --diff
        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config configured
        @@ data["bpfman.log.level"] @@
         apiVersion: v1
         data:
           bpfman.agent.log.level: others
        -  bpfman.log.level: theirs  # one (Update) since TIME
        +  bpfman.log.level: bpfman=info
           bpfman.toml: |
             [database]
             max_retries = 35
        daemonset.apps/bpfman-daemon unchanged
        2> warning: configmap/bpfman-config: took over data["bpfman.log.level"] from one (Update) since TIME, it was "theirs", is "bpfman=info"
        2> warning: configmap/bpfman-config: left data["bpfman.agent.log.level"] to two (Update) since TIME, it is "others", desired is "debug"
        exit 0
        $ apply -q --yield two
        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config unchanged
        daemonset.apps/bpfman-daemon unchanged
        2> warning: configmap/bpfman-config: left data["bpfman.agent.log.level"] to two (Update) since TIME, it is "others", desired is "debug"
        exit 0
        $ diff -q -o paths
        configmap/bpfman-config in ebpf data["bpfman.agent.log.level"]: "others" -> "debug"  # two (Update) since TIME
        exit 1
        $ apply -q --take .data
        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config configured
        daemonset.apps/bpfman-daemon unchanged
        2> warning: configmap/bpfman-config: took over data["bpfman.agent.log.level"] from two (Update) since TIME, it was "others", is "debug"
        exit 0
        $ diff -q
        exit 0
    "#]].assert_eq(&text);
}

/// What another manager applied and we do not desire goes once its fields are ours.
#[test]
fn the_fields_of_another_manager_become_ours_and_what_is_not_desired_goes() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    let rendered = command(cluster.kubeconfig(), "render -q").output().unwrap().stdout;
    cluster.apply_by("old", std::str::from_utf8(&rendered).unwrap());
    patch(
        &cluster,
        "daemonset/bpfman-daemon",
        "old",
        r#"{"spec":{"template":{"spec":{"nodeSelector":{"disk":"ssd"}}}}}"#,
    );
    let text = [
        "apply --migrate-from old --dry-run=server",
        "apply --migrate-from old",
        "apply --migrate-from old",
        "diff -o summary",
    ]
    .map(|words| told(&cluster, words))
    .concat();
    let managers = live(&cluster, &["daemonset/bpfman-daemon"]);
    let managers = managers[0]["metadata"]["managedFields"].as_array().unwrap().iter();
    let managers: Vec<&str> = managers.map(|entry| entry["manager"].as_str().unwrap()).collect();
    expect![[r#"
        $ apply --migrate-from old --dry-run=server
        namespace/ebpf configured (server dry run)
        csidriver.storage.k8s.io/csi.bpfman.io configured (server dry run)
        configmap/bpfman-config configured (server dry run)
        daemonset.apps/bpfman-daemon configured (server dry run)
        2> warning: namespace/ebpf: 3 fields of old (Apply) since TIME are owned by us now
        2> warning: csidriver.storage.k8s.io/csi.bpfman.io: 8 fields of old (Apply) since TIME are owned by us now
        2> warning: configmap/bpfman-config: 4 fields of old (Apply) since TIME are owned by us now
        2> warning: daemonset.apps/bpfman-daemon: 219 fields of old (Apply) since TIME are owned by us now
        2> warning: daemonset.apps/bpfman-daemon: 1 field of old (Update) since TIME are owned by us now; not desired and removed: spec.template.spec.nodeSelector
        2> 4 configured (server dry run)
        exit 0
        $ apply --migrate-from old
        namespace/ebpf configured
        csidriver.storage.k8s.io/csi.bpfman.io configured
        configmap/bpfman-config configured
        daemonset.apps/bpfman-daemon configured
        2> warning: namespace/ebpf: 3 fields of old (Apply) since TIME are owned by us now
        2> warning: csidriver.storage.k8s.io/csi.bpfman.io: 8 fields of old (Apply) since TIME are owned by us now
        2> warning: configmap/bpfman-config: 4 fields of old (Apply) since TIME are owned by us now
        2> warning: daemonset.apps/bpfman-daemon: 219 fields of old (Apply) since TIME are owned by us now
        2> warning: daemonset.apps/bpfman-daemon: 1 field of old (Update) since TIME are owned by us now; not desired and removed: spec.template.spec.nodeSelector
        2> 4 configured
        exit 0
        $ apply --migrate-from old
        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config unchanged
        daemonset.apps/bpfman-daemon unchanged
        2> 4 unchanged
        exit 0
        $ diff -o summary
        namespace/ebpf: in sync
        csidriver.storage.k8s.io/csi.bpfman.io: in sync
        configmap/bpfman-config in ebpf: in sync
        daemonset.apps/bpfman-daemon in ebpf: in sync
        2> 4 objects: 0 to change
        exit 0
        ["bpfman-config"]
    "#]].assert_eq(&format!("{text}{managers:?}\n"));
}

#[test]
fn what_cannot_be_changed_is_recreated_on_request() {
    let cluster = applied();
    cluster.kubectl_ok(&[
        "patch",
        "-n",
        "ebpf",
        MAP,
        "--type=merge",
        "-p",
        r#"{"immutable":true,"data":{"bpfman.log.level":"old"}}"#,
    ]);
    let uid = || live(&cluster, &[MAP])[0]["metadata"]["uid"].clone();
    let before = uid();
    let text = ["apply", "apply --recreate --dry-run=server"].map(|words| told(&cluster, words)).concat();
    assert_eq!(uid(), before);
    let text = text + &["apply --recreate", "apply --recreate -o name"].map(|words| told(&cluster, words)).concat();
    assert_ne!(uid(), before);
    expect![[r#"
        $ apply
        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config failed
        daemonset.apps/bpfman-daemon skipped (needs configmap/bpfman-config)
        2> error: cannot apply configmap/bpfman-config in ebpf: field data is immutable; the object must be recreated
        2> hint: apply --recreate deletes and creates it again; the pods of a DaemonSet stop meanwhile
        2> 2 unchanged, 1 skipped, 1 failed
        exit 4
        $ apply --recreate --dry-run=server
        namespace/ebpf unchanged (server dry run)
        csidriver.storage.k8s.io/csi.bpfman.io unchanged (server dry run)
        configmap/bpfman-config recreated (server dry run)
        daemonset.apps/bpfman-daemon unchanged (server dry run)
        2> 1 recreated, 3 unchanged (server dry run)
        exit 0
        $ apply --recreate
        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config recreated
        daemonset.apps/bpfman-daemon unchanged
        2> warning: deleting and creating configmap/bpfman-config in ebpf, since data cannot be changed; fields that others set are lost
        2> 1 recreated, 3 unchanged
        exit 0
        $ apply --recreate -o name
        namespace/ebpf
        csidriver.storage.k8s.io/csi.bpfman.io
        configmap/bpfman-config
        daemonset.apps/bpfman-daemon
        2> 4 unchanged
        exit 0
    "#]].assert_eq(&text);
}

#[test]
fn a_saved_plan_is_applied_only_where_nothing_has_moved() {
    let cluster = applied();
    let file = cluster.kubeconfig().with_file_name("plan");
    let words = |words: &str| {
        told(&cluster, &words.replace("PLAN", &file.display().to_string())).replace(&file.display().to_string(), "PLAN")
    };
    patch(&cluster, MAP, "one", r#"{"data":{"bpfman.log.level":"theirs"}}"#);
    let mut text = words("diff -q -o name --out PLAN");
    patch(&cluster, "daemonset/bpfman-daemon", "two", r#"{"metadata":{"labels":{"a":"b"}}}"#);
    cluster.kubectl_ok(&["delete", "csidriver/csi.bpfman.io"]);
    text += &words("apply --plan PLAN --force-conflicts");
    text += &words("diff -q -o name --out PLAN");
    text += &words("apply --plan PLAN --exact");
    text += &words("apply --plan PLAN --platform openshift");
    text += &words("apply --plan PLAN --force-conflicts");
    text += &words("apply --plan PLAN --force-conflicts");
    expect![[r#"
        $ diff -q -o name --out PLAN
        configmap/bpfman-config
        exit 1
        $ apply --plan PLAN --force-conflicts
        2> error: csidriver.storage.k8s.io/csi.bpfman.io was deleted since
        2> error: daemonset.apps/bpfman-daemon in ebpf was changed since
        2> hint: nothing was applied; make a new plan with diff --out
        exit 4
        $ diff -q -o name --out PLAN
        csidriver.storage.k8s.io/csi.bpfman.io
        configmap/bpfman-config
        exit 1
        $ apply --plan PLAN --exact
        2> error: the plan is for exact false, and this is true
        2> hint: nothing was applied; make a new plan with diff --out
        exit 4
        $ apply --plan PLAN --platform openshift
        2> error: namespace/ebpf is desired otherwise than planned: the Config or a template has changed
        2> error: clusterrole.rbac.authorization.k8s.io/bpfman-user is not in the plan
        2> error: clusterrolebinding.rbac.authorization.k8s.io/bpfman-privileged-scc is not in the plan
        2> error: securitycontextconstraints.security.openshift.io/bpfman-restricted is not in the plan
        2> hint: nothing was applied; make a new plan with diff --out
        exit 4
        $ apply --plan PLAN --force-conflicts
        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io created
        configmap/bpfman-config configured
        daemonset.apps/bpfman-daemon unchanged
        2> warning: configmap/bpfman-config: took over data["bpfman.log.level"] from one (Update) since TIME, it was "theirs", is "bpfman=info"
        2> 1 created, 1 configured, 2 unchanged
        exit 0
        $ apply --plan PLAN --force-conflicts
        2> error: csidriver.storage.k8s.io/csi.bpfman.io was created since
        2> error: configmap/bpfman-config in ebpf was changed since
        2> hint: nothing was applied; make a new plan with diff --out
        exit 4
    "#]].assert_eq(&text);
    let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&file).unwrap());
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_second_look_finds_what_was_changed_back_and_by_whom() {
    let cluster = applied();
    let text = std::thread::scope(|scope| {
        let apply = scope.spawn(|| told(&cluster, "apply --settle 4s"));
        std::thread::sleep(std::time::Duration::from_secs(2));
        patch(&cluster, MAP, "other", r#"{"data":{"bpfman.log.level":"theirs","bpfman.agent.log.level":null}}"#);
        apply.join().unwrap()
    });
    expect![[r#"
        $ apply --settle 4s
        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config unchanged
        daemonset.apps/bpfman-daemon unchanged
        2> error: configmap/bpfman-config in ebpf: data["bpfman.agent.log.level"] was set to "debug", and is (none) now, by other (Update) since TIME
        2> error: configmap/bpfman-config in ebpf: data["bpfman.log.level"] was set to "bpfman=info", and is "theirs" now, by other (Update) since TIME
        2> 4 unchanged
        exit 4
    "#]].assert_eq(&text);
}

#[test]
fn what_became_of_each_object_is_told_in_json_and_yaml() {
    let cluster = applied();
    patch(&cluster, MAP, "before-first-apply", r#"{"data":{"bpfman.log.level":"theirs"}}"#);
    let hint = "2> hint: before-first-apply stands for whoever";
    assert!(told(&cluster, "diff").contains(hint) && told(&cluster, "apply").contains(hint));
    let json = command(cluster.kubeconfig(), "apply -q -o json").output().unwrap().stdout;
    let json: Value = serde_json::from_slice(&json).unwrap();
    let actions: Vec<&str> =
        json["items"].as_array().unwrap().iter().map(|item| item["action"].as_str().unwrap()).collect();
    let failed = crate::program::normal(&format!("{:#}", json["items"][2]));
    let text = format!("{actions:?} {} {}\n{failed}\n", json["summary"], json["exitCode"]);
    let yaml = told(&cluster, "apply -q -o yaml --force-conflicts");
    assert_eq!(yaml.matches("\nkind: ").count(), 4, "{yaml}");
    assert!(yaml.contains("resourceVersion"), "{yaml}");
    expect![[r#"
        ["unchanged", "unchanged", "failed", "skipped"] {"applied":0,"configured":0,"created":0,"failed":1,"pruned":0,"recreated":0,"skipped":1,"unchanged":2} 4
        {
          "action": "failed",
          "altered": [],
          "blockers": [],
          "changed": false,
          "changes": [],
          "conflicts": [
            {
              "desired": "bpfman=info",
              "live": "theirs",
              "owners": [
                {
                  "manager": "before-first-apply",
                  "operation": "Update",
                  "subresource": null,
                  "time": "TIME"
                }
              ],
              "path": "data[\"bpfman.log.level\"]"
            }
          ],
          "errors": [
            {
              "message": "conflict: 1 field is owned by another field manager with another value"
            }
          ],
          "foreign": [],
          "migrated": [],
          "object": {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": "bpfman-config",
            "namespace": "ebpf"
          },
          "reason": null,
          "released": [],
          "warnings": [],
          "yielded": []
        }
    "#]].assert_eq(&text);
}

#[test]
fn another_program_shows_the_differences_without_the_values_of_secrets() {
    let cluster = applied();
    patch(&cluster, MAP, "one", r#"{"data":{"bpfman.log.level":"theirs"}}"#);
    let shown = |program: &str| {
        let mut command = command(cluster.kubeconfig(), "diff");
        let said = said(command.env("KUBECTL_EXTERNAL_DIFF", program).env("PATH", "/usr/bin:/bin"));
        let is_header = |line: &&str| line.starts_with("--- ") || line.starts_with("+++ ") || line.starts_with("diff ");
        let lines = said.lines().filter(|line| !is_header(line) && !line.contains("/tmp/"));
        format!("$ {program}\n{}\n", lines.collect::<Vec<_>>().join("\n"))
    };
    let text = ["diff -r -U 1", "sh -c 'ls \"$0\" \"$1\" | grep -v /'", "/nowhere/difft", "sh -c 'exit 3'", "'"]
        .map(shown)
        .concat();
    expect![[r#"
        $ diff -r -U 1
        @@ -3,3 +3,3 @@
           bpfman.agent.log.level: debug
        -  bpfman.log.level: theirs
        +  bpfman.log.level: bpfman=info
           bpfman.toml: |
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> hint: take the fields over with apply --force-conflicts, or single ones with --take PATH|MANAGER; leave them with --yield PATH|MANAGER
        2> 4 objects: 1 to change; hidden: 1 field of server bookkeeping
        exit 1
        $ sh -c 'ls "$0" "$1" | grep -v /'
        v1.ConfigMap.ebpf.bpfman-config

        v1.ConfigMap.ebpf.bpfman-config
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> hint: take the fields over with apply --force-conflicts, or single ones with --take PATH|MANAGER; leave them with --yield PATH|MANAGER
        2> 4 objects: 1 to change; hidden: 1 field of server bookkeeping
        exit 1
        $ /nowhere/difft
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> hint: take the fields over with apply --force-conflicts, or single ones with --take PATH|MANAGER; leave them with --yield PATH|MANAGER
        2> 4 objects: 1 to change; hidden: 1 field of server bookkeeping
        2> error: cannot run /nowhere/difft, which KUBECTL_EXTERNAL_DIFF names
        2>   caused by: No such file or directory (os error 2)
        2> hint: correct KUBECTL_EXTERNAL_DIFF, or unset it
        exit 5
        $ sh -c 'exit 3'
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> hint: take the fields over with apply --force-conflicts, or single ones with --take PATH|MANAGER; leave them with --yield PATH|MANAGER
        2> 4 objects: 1 to change; hidden: 1 field of server bookkeeping
        2> error: sh failed (exit status: 3)
        2> hint: correct KUBECTL_EXTERNAL_DIFF, or unset it
        exit 5
        $ '
        2> error: KUBECTL_EXTERNAL_DIFF is not a command line: '
        2> hint: quote it as for a shell, for example: diff -u --color=always
        exit 2
    "#]].assert_eq(&text);
}

/// kubernetes/kubernetes#121404: a policy that changes what is sent is told once, by path, and nothing is sent again and again.
#[test]
fn what_the_server_stores_otherwise_than_it_was_sent_is_told() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    cluster.apply(
        "
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: level}
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]}
  mutations:
    - patchType: JSONPatch
      jsonPatch: {expression: '[JSONPatch{op: \"replace\", path: \"/data/bpfman.log.level\", value: \"error\"}]'}
  matchConditions: [{name: ours, expression: \"has(object.data) && 'bpfman.log.level' in object.data\"}]
---
{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicyBinding, metadata: {name: level}, spec: {policyName: level}}
",
    );
    let probe = [
        "create",
        "configmap",
        "-n",
        "ebpf",
        "probe",
        "--from-literal=bpfman.log.level=x",
        "--dry-run=server",
        "-o",
        "yaml",
    ];
    crate::program::until("the policy in force", || cluster.kubectl_ok(&probe).contains("error").then_some(()));
    let text = ["apply", "apply", "diff"].map(|words| told(&cluster, words)).concat();
    expect![[r#"
        $ apply
        namespace/ebpf configured
        csidriver.storage.k8s.io/csi.bpfman.io created
        configmap/bpfman-config created
        daemonset.apps/bpfman-daemon created
        2> warning: configmap/bpfman-config: the server stores "error" instead of "bpfman=info" at data["bpfman.log.level"]: an admission webhook or policy changes it
        2> 3 created, 1 configured
        exit 0
        $ apply
        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config unchanged
        daemonset.apps/bpfman-daemon unchanged
        2> warning: configmap/bpfman-config: the server stores "error" instead of "bpfman=info" at data["bpfman.log.level"]: an admission webhook or policy changes it
        2> 4 unchanged
        exit 0
        $ diff
        2> 4 objects: 0 to change
        exit 0
    "#]].assert_eq(&text);
}
