//! Templates of one's own: what they may replace and add, and what is said about one that cannot be used.

use std::fs;

use bpfman_config::problem::Problem;
use bpfman_config::render::{Rendered, render};
use bpfman_config::templates::Templates;
use expect_test::expect;
use serde_json::json;

use crate::render::{BOTH, PLAIN, UID, fixture, lines, names, read};

/// Renders with the `files` laid over the built-in templates; messages name the folder `DIR`.
pub(crate) fn overlaid(files: &[(&str, &str)]) -> Result<Rendered, String> {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    let place = folder.path().display().to_string();
    let said = |problems: Vec<Problem>| lines(&problems).replace(&place, "DIR");
    let (templates, mut warnings) = Templates::with_overlay(folder.path()).map_err(said)?;
    let mut rendered = render(&read(&fixture()), UID, &templates, PLAIN, None).map_err(said)?;
    warnings.append(&mut rendered.warnings);
    for warning in &mut warnings {
        warning.file = warning.file.take().map(|file| file.replace(&place, "DIR"));
    }
    Ok(Rendered { warnings, ..rendered })
}

/// What is said about one template of one's own.
pub(crate) fn check(name: &str, text: &str) -> String {
    match overlaid(&[(name, text)]) {
        Ok(rendered) => format!("accepted\n{}", lines(&rendered.warnings)),
        Err(said) => said,
    }
}

#[test]
fn each_file_of_the_folder_is_built_in() {
    let mut files: Vec<String> =
        fs::read_dir("templates").unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    assert_eq!(Templates::builtin().iter().map(|template| template.file.clone()).collect::<Vec<_>>(), files);
}

/// A field newer than all types that we know stays, and none is added (opensearch-k8s-operator#1391).
#[test]
fn a_template_replaces_the_one_of_the_same_name_and_others_are_added() {
    let files = [
        (
            "csidriver.yaml",
            "apiVersion: storage.k8s.io/v1\nkind: CSIDriver\nmetadata:\n  name: own\nspec: {futureField: 1}\n",
        ),
        ("extra.yml", "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: extra, namespace: {{ namespace }}}\n"),
        (
            "other.yaml",
            "# when: openshift\napiVersion: v1\nkind: Secret\nmetadata: {name: other, namespace: {{ namespace }}}\n",
        ),
        ("README.md", "not a template"),
    ];
    let rendered = overlaid(&files).expect("manifests");
    expect![[r#"
        namespace/ebpf
        serviceaccount/extra
        csidriver.storage.k8s.io/own
        configmap/bpfman-config
        daemonset.apps/bpfman-daemon"#]]
    .assert_eq(&names(&rendered).join("\n"));
    expect![[r#"{"apiVersion":"storage.k8s.io/v1","kind":"CSIDriver","metadata":{"name":"own","ownerReferences":[{"apiVersion":"bpfman.io/v1alpha1","blockOwnerDeletion":true,"controller":true,"kind":"Config","name":"bpfman-config","uid":"0dd5c0de-1111-4222-8333-444455556666"}]},"spec":{"futureField":1}}"#]].assert_eq(&rendered.manifests[2].object.to_string());
    expect![[r#"
        DIR/README.md: is ignored: not a *.yaml or *.yml file
        DIR/csidriver.yaml: defines csidriver.storage.k8s.io/own; the built-in template defines csidriver.storage.k8s.io/csi.bpfman.io
        DIR/csidriver.yaml:5:8: spec.futureField is not a field of Kubernetes 1.37; it is sent unchanged
    "#]]
    .assert_eq(&lines(&rendered.warnings));
}

#[test]
fn a_folder_without_templates_is_an_error() {
    let missing = Templates::with_overlay("does/not/exist".as_ref()).unwrap_err();
    expect![[r#"
        does/not/exist: cannot be read: No such file or directory (os error 2)
    "#]]
    .assert_eq(&lines(&missing));
    expect![[r#"
        DIR: contains no *.yaml or *.yml files
    "#]]
    .assert_eq(&overlaid(&[("a.json", "{}")]).unwrap_err());
}

/// kube-rs/kube#2026: a manifest became no object at all, and the command reported success.
#[test]
fn a_template_gives_exactly_one_object_of_the_expected_kind() {
    expect![[r#"
        DIR/csidriver.yaml: expected 1 CSIDriver, found 0
        DIR/csidriver.yaml: expected 1 CSIDriver, found 0
        DIR/csidriver.yaml: expected 1 CSIDriver, found 1 (Secret)
        DIR/extra.yaml: expected 1 object, found 2 (A, B)
        DIR/extra.yaml: expected 1 object, found 2 (A, B)
        DIR/extra.yaml:1:1: a document must be a mapping (key: value), this is a list
        DIR/extra.yaml:1:1: metadata.name is missing or not a string
        DIR/extra.yaml:1:7: unclosed bracket '['
    "#]]
    .assert_eq(
        &[
            check("csidriver.yaml", ""),
            check("csidriver.yaml", "# when: true\n# only a comment\n"),
            check("csidriver.yaml", "apiVersion: v1\nkind: Secret\n"),
            check("extra.yaml", "kind: A\n---\nkind: B\n"),
            check("extra.yaml", "apiVersion: v1\nkind: List\nitems: [{kind: A}, {kind: B}]\n"),
            check("extra.yaml", "- a\n"),
            check("extra.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {}\n"),
            check("extra.yaml", "kind: [a\n"),
        ]
        .concat(),
    );
}

#[test]
fn what_the_template_language_refuses_is_named_with_its_line() {
    expect![[r##"
        DIR/extra.yaml:3: agent.imgae is not defined; did you mean agent.image?
        DIR/extra.yaml:4: nothing is not defined; available: agent.healthProbePort, agent.image, agent.logLevel, agent, configuration, daemon.csiRegistrarImage, daemon.image, daemon.logLevel, daemon, imagePullPolicy, monitoring, name, namespace, openshift
        DIR/extra.yaml:2: the condition "openshfit": openshfit is not defined; did you mean openshift?
        DIR/extra.yaml:1: the condition "openshift and": syntax error: unexpected end of input, expected expression
        DIR/extra.yaml:3: only one "# when:" is allowed, and only above the object; combine conditions with "and" or "or"
        DIR/extra.yaml:2: only one "# when:" is allowed, and only above the object; combine conditions with "and" or "or"
        DIR/extra.yaml:2:19: syntax error: unexpected end of input, expected end of block
        DIR/extra.yaml:1:10: invalid operation: cannot write a map into a manifest
        DIR/extra.yaml:6: {{ namespace }} is a string, must be the whole value, without quotes; concatenate with ~, for example {{ "text" ~ namespace }}
    "##]].assert_eq(
        &[
            check("extra.yaml", "kind: A\nmetadata:\n  name: {{ agent.imgae }}\n  x: {{ nothing }}\n"),
            check("extra.yaml", "# x\n# when: openshfit\nkind: A\n"),
            check("extra.yaml", "# when: openshift and\nkind: A\n"),
            check("extra.yaml", "# when: openshift\n#\n# when: monitoring\nkind: A\n"),
            check("extra.yaml", "kind: A\n# when: monitoring\n"),
            check("extra.yaml", "kind: A\n{% if openshift %}\nname: b\n"),
            check("extra.yaml", "kind: {{ agent }}\n"),
            check("extra.yaml", "{% if openshift %}\na: 1\n{% endif %}\nkind: A\n\nname: \"x{{ namespace }}\"\n"),
        ]
        .concat(),
    );
}

#[test]
fn a_string_is_a_whole_value() {
    let text = "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: {{ namespace }}} # {{ name }}\n";
    expect![[r#"
        accepted
        DIR/extra.yaml:4: port is not a field of Kubernetes 1.37; it is sent unchanged
        DIR/extra.yaml:4: {{ name }} is a string, must be the whole value, without quotes; concatenate with ~, for example {{ "text" ~ name }}
        DIR/extra.yaml:5: {{ name }} is a string, must be the whole value, without quotes; concatenate with ~, for example {{ "text" ~ name }}
        DIR/extra.yaml:4: {{ name }} is a string, must be the whole value, without quotes; concatenate with ~, for example {{ "text" ~ name }}
        DIR/extra.yaml:5: {{ name }} is a string, must be the whole value, without quotes; concatenate with ~, for example {{ "text" ~ name }}
    "#]].assert_eq(
        &[
            check("extra.yaml", &format!("{text}port: :{{{{ agent.healthProbePort }}}}\n# was {{{{ name }}}}\n")),
            check("extra.yaml", &format!("{text}image: registry/{{{{ name }}}}\nx: [a-{{{{ name }}}}, b]\n")),
            check("extra.yaml", &format!("{text}a: '{{{{ name }}}}'\nb: {{{{ name }}}}:{{{{ name }}}}\n")),
        ]
        .concat(),
    );
}

/// The line is that of the template, though the lines above it are not all rendered.
#[test]
fn a_duplicate_key_is_named_with_both_lines() {
    let text = "kind: A\n{% if openshift %}\na: 1\nb: 1\n{% endif %}\nc: 1\nd: 1\nc: 2\n";
    expect![[r#"
        DIR/extra.yaml:8:1: duplicate key "c" (first on line 6)
    "#]]
    .assert_eq(&check("extra.yaml", text));
}

#[test]
fn an_object_has_a_namespace_if_its_kind_has() {
    expect![[r#"
            DIR/extra.yaml:3:11: metadata.namespace is missing: a Secret is namespaced
        "#]]
    .assert_eq(&check("extra.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n"));
    let driver = "apiVersion: storage.k8s.io/v1\nkind: CSIDriver\nmetadata: {name: a, namespace: ebpf}\n";
    expect![[r#"
        DIR/extra.yaml:3:21: metadata.namespace must not be set: a CSIDriver is cluster-scoped
        accepted
    "#]]
    .assert_eq(
        &[
            check("extra.yaml", driver),
            check("extra.yaml", "apiVersion: example.com/v1\nkind: Secret\nmetadata: {name: a}\n"),
        ]
        .concat(),
    );
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_read_is_an_error_and_a_folder_a_warning() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("a.yaml")).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.path().join("b.yaml")).unwrap();
    fs::write(folder.path().join("c.yaml"), b"a: \xff").unwrap();
    fs::write(folder.path().join("d.yaml"), vec![b'#'; (3 << 20) + 1]).unwrap();
    let said = lines(&Templates::with_overlay(folder.path()).unwrap_err());
    expect![[r#"
        DIR/b.yaml: cannot be read: No such file or directory (os error 2)
        DIR/c.yaml: cannot be read: byte 4 is not UTF-8
        DIR/d.yaml: cannot be read: larger than 3 MiB
    "#]]
    .assert_eq(&said.replace(&folder.path().display().to_string(), "DIR"));
}

#[test]
fn two_templates_for_one_object_are_an_error() {
    let text = "apiVersion: storage.k8s.io/v1beta1\nkind: CSIDriver\nmetadata: {name: csi.bpfman.io}\n";
    expect![[r#"
            DIR/second.yaml:1:1: csidriver.storage.k8s.io/csi.bpfman.io is already defined by built-in csidriver.yaml
        "#]]
    .assert_eq(&check("second.yaml", text));
}

#[test]
fn what_only_the_server_writes_is_left_out_with_a_warning() {
    let clean = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\n  namespace: ebpf\n";
    let exported = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n  metadata:\n    name: a\n    \
        namespace: ebpf\n    uid: x\n    resourceVersion: '5'\n    managedFields: []\n    finalizers: [a/b]\n    \
        ownerReferences: []\n    annotations: {kubectl.kubernetes.io/last-applied-configuration: x}\n  status: {}\n";
    expect![[r#"
            accepted
            DIR/secret.yaml:4:3: these fields are managed by the cluster and are not applied: status, metadata.finalizers, metadata.managedFields, metadata.ownerReferences, metadata.resourceVersion, metadata.uid, metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]
        "#]].assert_eq(&check("secret.yaml", exported));
    let objects =
        |text| overlaid(&[("secret.yaml", text)]).unwrap().manifests.into_iter().map(|manifest| manifest.object);
    assert_eq!(objects(exported).collect::<Vec<_>>(), objects(clean).collect::<Vec<_>>());
}

/// An empty list of rules would wipe what the aggregation controller wrote, again and again.
#[test]
fn the_rules_of_an_aggregated_role_are_left_to_the_cluster() {
    let text = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: 'a:b'}\n\
        aggregationRule: {clusterRoleSelectors: []}\nrules: []\n";
    expect![[r#"
            accepted
            DIR/role.yaml:5:1: rules is ignored: the control plane fills it in from aggregationRule
        "#]]
    .assert_eq(&check("role.yaml", text));
}

#[test]
fn what_the_api_would_refuse_is_refused() {
    let daemonset = "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: a/b, namespace: B, generateName: a-}\nspec:\n  \
        selector:\n    matchLabels: {name: a, tier: b}\n    matchExpressions: [{key: x, operator: Exists}, {key: name, \
        operator: In, values: [a]}, {key: name, operator: NotIn, values: [a]}]\n  template: {metadata: {labels: {name: b}}}\n";
    expect![[r#"
            DIR/extra.yaml:3:12: metadata.name is "a/b", must consist of lowercase letters, digits, '-' and '.', and begin and end with a letter or digit
            DIR/extra.yaml:3:23: metadata.namespace is "B", must consist of lowercase letters, digits and '-', and begin and end with a letter or digit
            DIR/extra.yaml:3:37: metadata.generateName must not be set in a template
            DIR/extra.yaml:6:19: spec.selector.matchLabels.name is "a", but the pod template has "b": the selector must match its labels
            DIR/extra.yaml:6:28: spec.selector.matchLabels.tier is "b", but the pod template has no such label: the selector must match its labels
            DIR/extra.yaml:7:24: spec.selector.matchExpressions[0] is {"key":"x","operator":"Exists"}, but the pod template has no such label: the selector must match its labels
            DIR/extra.yaml:7:52: spec.selector.matchExpressions[1] is {"key":"name","operator":"In","values":["a"]}, but the pod template has "b": the selector must match its labels
        "#]].assert_eq(&check("extra.yaml", daemonset));
    let role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: 'a:b%', namespace: ebpf}\n";
    expect![[r#"
            DIR/extra.yaml:3:12: metadata.name is "a:b%", must not be empty, '.' or '..', and not contain '/', '?', '#' or '%'
        "#]].assert_eq(&check("extra.yaml", role));
    let big = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "ebpf"},
        "data": {"a": "x".repeat(1 << 20), "b": "y"}});
    expect![[r#"
        DIR/extra.yaml:1:20: data has 1048577 bytes, at most 1048576 are allowed; the largest is a with 1048576 bytes
    "#]]
    .assert_eq(&check("extra.yaml", &big.to_string()));
}

#[test]
fn templates_that_are_not_wanted_are_known() {
    let rendered = render(&read(&fixture()), UID, &Templates::builtin(), PLAIN, None).expect("manifests");
    let shown = rendered.excluded.iter().map(|left| format!("{} when {}\n", left.id.as_ref().unwrap(), left.when));
    expect![[r#"
        clusterrole.rbac.authorization.k8s.io/bpfman-user when openshift
        clusterrolebinding.rbac.authorization.k8s.io/bpfman-privileged-scc when openshift
        clusterrolebinding.rbac.authorization.k8s.io/bpfman-prometheus-metrics-reader when openshift and monitoring
        daemonset.apps/bpfman-metrics-proxy when monitoring
        role.rbac.authorization.k8s.io/bpfman-prometheus-k8s when openshift and monitoring
        rolebinding.rbac.authorization.k8s.io/bpfman-prometheus-k8s when openshift and monitoring
        securitycontextconstraints.security.openshift.io/bpfman-restricted when openshift
        service/bpfman-agent-metrics-service when monitoring
        service/bpfman-controller-manager-metrics-service when monitoring
        servicemonitor.monitoring.coreos.com/bpfman-agent-metrics-monitor when monitoring
        servicemonitor.monitoring.coreos.com/bpfman-controller-manager-metrics-monitor when monitoring
    "#]]
    .assert_eq(&shown.collect::<String>());
    assert_eq!(render(&read(&fixture()), UID, &Templates::builtin(), BOTH, None).expect("manifests").excluded, vec![]);
}

/// A loop that ends in hours, and text that fills the memory.
#[test]
fn a_template_that_costs_too_much_is_refused_at_once() {
    let nothing = "{% for i in range(90000) %}{% for j in range(90000) %}{% endfor %}{% endfor %}";
    expect![[r#"
        DIR/own.yaml:1:40: exceeds the limit of evaluation steps or output size
        DIR/own.yaml:1:7: exceeds the limit of evaluation steps or output size
    "#]]
    .assert_eq(&[check("own.yaml", nothing), check("own.yaml", "a: {{ \"x\" * 99999999 }}")].concat());
    let names: String = (0..60_000).map(|number| format!("a{number}: {{{{ b{number} }}}}\n")).collect();
    assert_eq!(overlaid(&[("own.yaml", &names)]).unwrap_err().lines().count(), 21);
}

/// The operator's own `daemonset.yaml`, say, in which everything is fixed.
#[test]
fn a_template_that_ignores_what_the_built_in_one_takes_from_the_config_is_warned_of() {
    let pods = "spec:\n  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n";
    let fixed =
        format!("apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {{name: daemon, namespace: kube-system}}\n{pods}");
    expect![[r#"
            accepted
            DIR/daemonset-daemon.yaml: defines daemonset.apps/daemon in kube-system; the built-in template defines daemonset.apps/bpfman-daemon in ebpf
            DIR/daemonset-daemon.yaml: does not use spec.agent.healthProbePort, spec.agent.image, spec.agent.logLevel, spec.configuration, spec.daemon.csiRegistrarImage, spec.daemon.image, spec.daemon.logLevel, spec.namespace: these settings have no effect on daemonset.apps/daemon
        "#]].assert_eq(&check("daemonset-daemon.yaml", &fixed));
    let kept = "{% if openshift %}# {{ daemon.csiRegistrarImage }}{% endif %}\napiVersion: apps/v1\nkind: DaemonSet\n\
        metadata: {name: bpfman-daemon, namespace: {{ namespace }}}\n";
    let containers = "    spec: {containers: [{name: a, image: {{ (agent | items)[1][1] }}}, {name: b, image: {{ daemon.image }}}]}\n";
    expect![[r#"
        accepted
        DIR/daemonset-daemon.yaml: does not use spec.configuration, spec.daemon.logLevel: these settings have no effect on daemonset.apps/bpfman-daemon
        accepted
        accepted
    "#]].assert_eq(
        &[
            check("daemonset-daemon.yaml", &[kept, pods, containers].concat()),
            check("daemonset-own.yaml", &fixed),
            check("csidriver.yaml", include_str!("../../templates/csidriver.yaml")),
        ]
        .concat(),
    );
}
