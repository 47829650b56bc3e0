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
fn policy(cluster: &Cluster, name: &str, resources: &str, action: &str, validation: &str) {
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

/// What `apply` says about the object of that template, as soon as it says `word`.
fn told(cluster: &Cluster, kubeconfig: &std::path::Path, text: &str, word: &str) -> String {
    let folder = template(cluster, text);
    crate::program::until(word, || {
        let said = run_as(kubeconfig, &format!("apply --dry-run=server --templates {folder}"));
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
    let validation = "{expression: '!has(object.data.no)', message: 'data.no: field is immutable'}";
    policy(&cluster, "no-data", "configmaps", "Deny", validation);
    let said = told(&cluster, cluster.kubeconfig(), &configmap("{no: x}"), "no-data");
    expect![[r#""#]].assert_eq(&said);
}

#[test]
fn a_warning_that_is_not_ascii_is_printed() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    let validation = "{expression: 'false', message: 'Größe – „7 %“'}";
    policy(&cluster, "no-data", "configmaps", "Warn", validation);
    let said = told(&cluster, cluster.kubeconfig(), &configmap("{a: x}"), "own: Validation");
    expect![[r#""#]].assert_eq(&said);
}

#[test]
fn a_quota_is_not_a_missing_permission() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    let quota = "{apiVersion: v1, kind: ResourceQuota, metadata: {name: few, namespace: ebpf}, spec: {hard: {count/configmaps: '1'}}}";
    cluster.apply(quota);
    let unknown = told(&cluster, cluster.kubeconfig(), &configmap("{a: x}"), "quota");
    let status = r#"{"status":{"hard":{"count/configmaps":"1"},"used":{"count/configmaps":"1"}}}"#;
    let few = ["patch", "-n", "ebpf", "resourcequota/few", "--subresource=status", "--type=merge", "-p", status];
    cluster.kubectl_ok(&few);
    let exceeded = told(&cluster, cluster.kubeconfig(), &configmap("{a: x}"), "exceeded");
    expect![[r#""#]].assert_eq(&[unknown, exceeded].join("\n"));
}

#[test]
fn what_else_is_invalid_is_told_beside_an_immutable_field() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    let own = "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: own, namespace: ebpf}, spec: {selector: {matchLabels: {a: A}},
      template: {metadata: {labels: {a: A}}, spec: {restartPolicy: Always, containers: [{name: c, image: i}]}}}}\n";
    cluster.apply(own);
    let changed = own.replace("a: A", "b: B").replace("Always", "Never").replace("{name: c", "{name: C");
    let said = told(&cluster, cluster.kubeconfig(), &changed, "immutable");
    expect![[r#""#]].assert_eq(&said);
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
    let said = [binding, role].map(|text| told(&cluster, &narrow, text, "own"));
    expect![[r#""#]].assert_eq(&said.join("\n"));
}

#[test]
fn the_values_of_a_secret_are_masked_in_what_the_server_repeats() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    let message = "'no: ' + object.data.a + ' ' + string(base64.decode(object.data.a)) + ' ' + object.data.b";
    let validation = format!("{{expression: 'false', messageExpression: \"{message}\"}}");
    policy(&cluster, "no-secret", "secrets", "Deny", &validation);
    let secret = "{apiVersion: v1, kind: Secret, metadata: {name: own, namespace: ebpf}, stringData: {a: 'hush \"7\"', b: on}}\n";
    let said = told(&cluster, cluster.kubeconfig(), secret, "no-secret");
    assert!(!said.contains("hush") && !said.contains("aHVza"), "{said}");
    expect![[r#""#]].assert_eq(&said);
}

/// The server reads the body of an apply as YAML.
#[test]
fn control_characters_reach_the_server_as_they_are() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    let folder = template(
        &cluster,
        &configmap(r#"{nel: "a\u0085b", other: "\u007f\u0080\u009b\u009f\u00a0", "end": "\u0085"}"#),
    );
    let words = [format!("apply -q --templates {folder}"), format!("diff -q --templates {folder}")];
    assert!(words.map(|words| run(&cluster, &words)).iter().all(|said| said.ends_with("exit 0\n")));
    let data = &live(&cluster, &["configmap/own"])[0]["data"];
    assert_eq!(
        *data,
        serde_json::json!({"nel": "a\u{85}b", "other": "\u{7f}\u{80}\u{9b}\u{9f}\u{a0}", "end": "\u{85}"})
    );
}
