//! The server's words: a refusal keeps all that the server said, and is called by a name only where that is certain.

use expect_test::expect;

use crate::controlplane::{Cluster, Platform};
use crate::program::{live, prepare, run, run_as};

const POLICY: &str =
    "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: NAME},
  spec: {failurePolicy: Fail, matchConstraints: {resourceRules: [{apiGroups: ['*'], apiVersions: ['*'],
    operations: [CREATE, UPDATE], resources: [RESOURCES]}]}, validations: [VALIDATION]}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: NAME},
  spec: {policyName: NAME, validationActions: [ACTION]}}
";

/// Creates an admission policy, and waits until it is in force: until an apply of `probe` says so.
pub(crate) fn policy(cluster: &Cluster, name: &str, resources: &str, action: &str, validation: &str) {
    let text = POLICY.replace("NAME", name).replace("RESOURCES", resources).replace("ACTION", action);
    cluster.apply(&text.replace("VALIDATION", validation));
}

/// A folder with one template of our own beside the built-in ones.
fn template(cluster: &Cluster, text: &str) -> String {
    let folder = cluster.kubeconfig().with_file_name("own");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("own.yaml"), text).unwrap();
    folder.display().to_string()
}

/// What these words say about the object of that template, as soon as it says `word`.
fn told(cluster: &Cluster, kubeconfig: &std::path::Path, words: &str, text: &str, word: &str) -> String {
    let folder = template(cluster, text);
    crate::program::until(word, || {
        let said = run_as(kubeconfig, &format!("{words} --templates {folder}"));
        let lines: Vec<&str> = said.lines().filter(|line| line.starts_with("2> ") && !line.contains("using")).collect();
        let said = lines.join("\n").replace(&folder, "OWN") + "\n";
        said.contains(word).then_some(said)
    })
}

fn configmap(data: &str) -> String {
    format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: own, namespace: ebpf}}, data: {data}}}\n")
}

#[test]
fn a_policy_that_speaks_of_immutable_fields_is_a_policy_with_its_text() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    let validation = "{expression: '!has(object.data.bad)', message: 'data.bad: field is immutable'}";
    policy(&cluster, "no-data", "configmaps", "Deny", validation);
    let said = told(&cluster, cluster.kubeconfig(), "apply --dry-run=server", &configmap("{bad: x}"), "no-data");
    expect![[r#"
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> error: cannot apply configmap/own in ebpf: configmaps "own" is forbidden: ValidatingAdmissionPolicy 'no-data' with binding 'no-data' denied request: data.bad: field is immutable
        2> 3 created, 1 configured, 1 failed (server dry run)
    "#]].assert_eq(&said);
}

#[test]
fn a_warning_that_is_not_ascii_is_printed() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    let validation = "{expression: 'false', message: 'Größe – „7 %“'}";
    policy(&cluster, "no-data", "configmaps", "Warn", validation);
    let said = told(&cluster, cluster.kubeconfig(), "apply --dry-run=server", &configmap("{a: x}"), "own: Validation");
    expect![[r#"
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> warning: configmap/bpfman-config: Validation failed for ValidatingAdmissionPolicy 'no-data' with binding 'no-data': Größe – „7 %“
        2> warning: configmap/own: Validation failed for ValidatingAdmissionPolicy 'no-data' with binding 'no-data': Größe – „7 %“
        2> 4 created, 1 configured (server dry run)
    "#]].assert_eq(&said);
}

/// Waits until the quota is known to the API server and refuses a `ConfigMap` with this text; a dry run passes it by.
fn in_force(cluster: &Cluster, text: &str) {
    let mut number = 0;
    crate::program::until(text, || {
        number += 1;
        let output = cluster.kubectl(&["create", "-n", "ebpf", "configmap", &format!("{number}-{}", text.len())]);
        String::from_utf8_lossy(&output.stderr).contains(text).then_some(())
    });
}

#[test]
fn a_quota_is_not_a_missing_permission() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    let quota = "{apiVersion: v1, kind: ResourceQuota, metadata: {name: few, namespace: ebpf}, spec: {hard: {count/configmaps: '1'}}}";
    cluster.apply(quota);
    let status = r#"{"status":{"hard":{"count/configmaps":"1"},"used":{"count/configmaps":"1"}}}"#;
    let few = ["patch", "-n", "ebpf", "resourcequota/few", "--subresource=status", "--type=merge", "-p", status];
    cluster.kubectl_ok(&few);
    in_force(&cluster, "exceeded");
    let said = told(&cluster, cluster.kubeconfig(), "apply", &configmap("{a: x}"), "exceeded");
    expect![[r#"
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> error: cannot apply configmap/bpfman-config in ebpf: configmaps "bpfman-config" is forbidden: exceeded quota: few, requested: count/configmaps=1, used: count/configmaps=1, limited: count/configmaps=1
        2> hint: raise the quota, or delete objects that it counts: kubectl get resourcequota -A
        2> error: cannot apply configmap/own in ebpf: configmaps "own" is forbidden: exceeded quota: few, requested: count/configmaps=1, used: count/configmaps=1, limited: count/configmaps=1
        2> 1 created, 1 configured, 1 skipped, 2 failed
    "#]].assert_eq(&said);
}

#[test]
fn what_else_is_invalid_is_told_beside_an_immutable_field() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    let own = "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: own, namespace: ebpf}, spec: {selector: {matchLabels: {a: A}},
      template: {metadata: {labels: {a: A}}, spec: {restartPolicy: Always, containers: [{name: c, image: i}]}}}}\n";
    cluster.apply(own);
    let changed = own.replace("a: A", "b: B").replace("Always", "Never").replace("{name: c", "{name: C");
    let said = told(&cluster, cluster.kubeconfig(), "apply", &changed, "immutable");
    expect![[r#"
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> error: cannot apply daemonset.apps/own in ebpf: field spec.selector is immutable; the object must be recreated; also invalid: spec.template.spec.containers[1].name: Invalid value: "C": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?'); spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"
        2> warning: daemonset.apps/own: spec.template.spec.containers[name="c"] was added by kubectl (Apply) since TIME; not removed
        2> hint: apply --recreate deletes and creates it again; the pods of a DaemonSet stop meanwhile
        2> 3 created, 1 configured, 1 failed
    "#]].assert_eq(&said);
}

#[test]
fn a_role_that_does_not_exist_or_holds_too_much_is_told_as_such() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    run(&cluster, "apply -q");
    let everything = "{apiGroups: ['*'], resources: ['*'], verbs: [get, patch, create]}";
    let narrow = cluster.user("narrow", &format!("[{everything}]"));
    let binding = "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: own},
      roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: gone}}\n";
    let role = "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: own},
      rules: [{apiGroups: [''], resources: [pods], verbs: [delete]}]}\n";
    let said = [binding, role].map(|text| told(&cluster, &narrow, "apply", text, "own"));
    expect![[r#"
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> error: cannot apply clusterrolebinding.rbac.authorization.k8s.io/own: clusterrolebindings.rbac.authorization.k8s.io "gone" not found
        2> hint: create the object that it refers to first
        2> 4 unchanged, 1 failed

        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> error: cannot apply clusterrole.rbac.authorization.k8s.io/own: clusterroles.rbac.authorization.k8s.io "own" is forbidden: user "narrow" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held: {APIGroups:[""], Resources:["pods"], Verbs:["delete"]}
        2> hint: only who has these permissions can grant them; use another identity: --user, --context, --as
        2> 4 unchanged, 1 failed
    "#]].assert_eq(&said.join("\n"));
}

#[test]
fn the_values_of_a_secret_are_masked_in_what_the_server_repeats() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    let message = "'no: ' + object.data.a + ' ' + object.data.b";
    let validation = format!("{{expression: 'false', messageExpression: \"{message}\"}}");
    policy(&cluster, "no-secret", "secrets", "Deny", &validation);
    let secret = "{apiVersion: v1, kind: Secret, metadata: {name: own, namespace: ebpf}, stringData: {a: 'hush \"7\"', b: xyz}}\n";
    let said = told(&cluster, cluster.kubeconfig(), "apply --dry-run=server", secret, "no-secret");
    assert!(!said.contains("hush") && !said.contains("aHVza"), "{said}");
    expect![[r#"
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> error: cannot apply secret/own in ebpf: secrets "own" is forbidden: ValidatingAdmissionPolicy 'no-secret' with binding 'no-secret' denied request: no: *** ***
        2> 3 created, 1 configured, 1 failed (server dry run)
    "#]].assert_eq(&said);
}

/// The server reads the body of an apply as YAML.
#[test]
fn control_characters_reach_the_server_as_they_are() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    let folder = template(
        &cluster,
        &configmap(r#"{nel: "a\u0085b", other: "\u007f\u0080\u009b\u009f\u00a0\ufffe\uffff", "end": "\u0085"}"#),
    );
    let words = [format!("apply -q --templates {folder}"), format!("diff -q --templates {folder}")];
    assert!(words.map(|words| run(&cluster, &words)).iter().all(|said| said.ends_with("exit 0\n")));
    let data = &live(&cluster, &["configmap/own"])[0]["data"];
    assert_eq!(
        *data,
        serde_json::json!({"nel": "a\u{85}b", "other": "\u{7f}\u{80}\u{9b}\u{9f}\u{a0}\u{fffe}\u{ffff}", "end": "\u{85}"})
    );
}
