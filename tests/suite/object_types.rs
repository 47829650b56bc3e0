//! Rendered objects held against the Kubernetes types of their kinds: what is said of which field, all of it in one run.

use expect_test::expect;

use crate::overlay::{check, overlaid};

/// A `DaemonSet` with `pod` as its pod's fields, one a line.
fn daemonset(pod: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {{name: a, namespace: ebpf}}\nspec:\n  \
         selector: {{matchLabels: {{a: b}}}}\n  template:\n    metadata: {{labels: {{a: b}}}}\n    spec:\n{pod}"
    )
}

/// kubernetes#121575, structured-merge-diff#234: the last of two won, or the server refused the object as its own error.
#[test]
fn items_of_a_list_differ_in_its_key_fields() {
    let pod = "      containers:
      - name: x
        env: [{name: A, value: '1'}, {name: B}, {name: A, value: '2'}]
        ports: [{containerPort: 53, protocol: UDP}, {containerPort: 53}, {containerPort: 53, protocol: TCP}]
        volumeMounts: [{name: a, mountPath: /a}, {name: b, mountPath: /a}]
      - {name: x}
      volumes: [{name: a}, {name: a}]
";
    expect![[r#"
        DIR/extra.yaml:11:49: spec.template.spec.containers[name="x"].env[2] has the same name "A" as item [0]
        DIR/extra.yaml:12:74: spec.template.spec.containers[name="x"].ports[2] has the same containerPort 53 and protocol "TCP" as item [1]
        DIR/extra.yaml:13:50: spec.template.spec.containers[name="x"].volumeMounts[1] has the same mountPath "/a" as item [0]
        DIR/extra.yaml:14:9: spec.template.spec.containers[1] has the same name "x" as item [0]
        DIR/extra.yaml:15:28: spec.template.spec.volumes[1] has the same name "a" as item [0]
    "#]].assert_eq(&check("extra.yaml", &daemonset(pod)));
    let ports = "[{name: tcp, port: 53}, {name: udp, port: 53, protocol: UDP}, {name: again, port: 53, protocol: TCP}]";
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: ebpf}\nspec:\n  ports: ";
    expect![[r#"
        DIR/extra.yaml:5:72: spec.ports[2] has the same port 53 and protocol "TCP" as item [0]
    "#]]
    .assert_eq(&check("extra.yaml", &format!("{service}{ports}\n")));
}

/// qdrant/qdrant-helm#265, Glyndor/podup#983: 0644 became 644, or a string that the server refused.
#[test]
fn a_file_mode_is_read_as_kubectl_reads_it_or_refused() {
    let pod =
        |mode: &str| daemonset(&format!("      volumes:\n      - {{name: a, configMap: {{defaultMode: {mode}}}}}\n"));
    let mode = |text: &str| {
        let rendered = overlaid(&[("extra.yaml", &pod(text))]).expect("manifests");
        let extra = rendered.manifests.iter().find(|manifest| manifest.source.ends_with("extra.yaml")).expect("it");
        extra.object["spec"]["template"]["spec"]["volumes"][0]["configMap"]["defaultMode"].to_string()
    };
    assert_eq!(["0644", "0o644", "420", "0777"].map(mode), ["420", "420", "420", "511"]);
    expect![[r#"
        DIR/extra.yaml:10:31: spec.template.spec.volumes[name="a"].configMap.defaultMode is the string "0644", must be an integer; write 420 or 0o644
        DIR/extra.yaml:10:44: the number is too large for a 64-bit integer; quote it if it is text
    "#]].assert_eq(&[check("extra.yaml", &pod("\"0644\"")), check("extra.yaml", &pod("0888"))].concat());
    let items = "      volumes:\n      - {name: a, configMap: {items: [{key: a, path: b, mode: \"0400\"}]}}\n";
    expect![[r#"
            DIR/extra.yaml:10:57: spec.template.spec.volumes[name="a"].configMap.items[0].mode is the string "0400", must be an integer; write 256 or 0o400
        "#]].assert_eq(&check("extra.yaml", &daemonset(items)));
}

/// kubernetes#17165, werf#6032: a typo was dropped, or the server called it an error of its own.
#[test]
fn a_field_that_the_type_lacks_is_named_with_what_was_meant() {
    let pod = "      tolerationz: []
      containers:
      - name: x
        imagePullPolcy: Always
        lifecycle: {preStop: {exec: {comand: [a]}}}
        hostNetwork: true
      volumes: [{name: v, secret: {name: x}}, {name: w, persistentVolumeClaim: {name: x}}]
      schedulingGates: [{name: a}, {name: a}]
";
    expect![[r#"
            DIR/extra.yaml:9:7: spec.template.spec.tolerationz is an unknown field; did you mean tolerations?
            DIR/extra.yaml:12:9: spec.template.spec.containers[name="x"].imagePullPolcy is an unknown field; did you mean imagePullPolicy?
            DIR/extra.yaml:13:38: spec.template.spec.containers[name="x"].lifecycle.preStop.exec.comand is an unknown field; did you mean command?
            DIR/extra.yaml:14:9: spec.template.spec.containers[name="x"].hostNetwork is an unknown field; did you mean spec.template.spec.hostNetwork?
            DIR/extra.yaml:15:36: spec.template.spec.volumes[name="v"].secret.name is an unknown field; did you mean secretName?
            DIR/extra.yaml:15:81: spec.template.spec.volumes[name="w"].persistentVolumeClaim.name is an unknown field; did you mean claimName?
            DIR/extra.yaml:16:36: spec.template.spec.schedulingGates[1] has the same name "a" as item [0]
        "#]].assert_eq(&check("extra.yaml", &daemonset(pod)));
    let high = "    containers: []\n    spec: {nodeSelector: {}}\n";
    expect![[r#"
        DIR/extra.yaml:8:5: spec.template.containers is an unknown field; did you mean spec.template.spec.containers?
        DIR/extra.yaml:3:35: metadata.lables is an unknown field; did you mean labels?
    "#]]
    .assert_eq(
        &[
            check("extra.yaml", &daemonset("").replace("    spec:\n", high)),
            check("extra.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: b, lables: {}}\n"),
        ]
        .concat(),
    );
}

/// Arnavion/k8s-openapi#112, opensearch-k8s-operator#1391: a typed client dropped what it did not know, and added empty fields.
#[test]
fn a_field_newer_than_the_type_is_kept_with_a_warning() {
    expect![[r#"
            accepted
            DIR/extra.yaml:9:7: spec.template.spec.futureField is not a field of Kubernetes 1.37; it is sent unchanged
        "#]]
    .assert_eq(&check("extra.yaml", &daemonset("      futureField: {containers: 1}\n")));
    let rendered = overlaid(&[("extra.yaml", &daemonset("      futureField: 1\n      securityContext: {}\n"))]);
    let manifests = rendered.expect("manifests").manifests;
    let extra = manifests.iter().find(|manifest| manifest.id.name == "a").expect("it");
    expect![[r#"{"futureField":1,"securityContext":{}}"#]]
        .assert_eq(&extra.object["spec"]["template"]["spec"].to_string());
}

/// kubernetes#94275: a server that refused a bare `cpu: 1` named no field. Newer ones take it.
#[test]
fn a_value_of_another_type_is_named_with_how_to_write_it() {
    let pod = "      hostNetwork: 'true'
      hostname: 5
      terminationGracePeriodSeconds: '15'
      priority: 5000000000
      securityContext: []
      nodeSelector: {a: yes, b: ~}
      containers:
      - name: x
        args: [a, 1, ~]
        command: /bin/sh
        resources: {limits: {cpu: 1, memory: 1Gb}, requests: {cpu: 100m, memory: 1.5Gi, x: 1e3, z: -1}}
        livenessProbe: {httpGet: {port: 1.5}}
      - x
";
    expect![[r#"
            DIR/extra.yaml:9:7: spec.template.spec.hostNetwork is the string "true", must be true or false; write true
            DIR/extra.yaml:10:7: spec.template.spec.hostname is the number 5, must be a string: put quotes around it
            DIR/extra.yaml:11:7: spec.template.spec.terminationGracePeriodSeconds is the string "15", must be an integer; write 15
            DIR/extra.yaml:12:7: spec.template.spec.priority is the number 5000000000, must be an integer from -2147483648 to 2147483647
            DIR/extra.yaml:13:7: spec.template.spec.securityContext is a list, must be an object
            DIR/extra.yaml:14:22: spec.template.spec.nodeSelector.a is true, must be a string: put quotes around it
            DIR/extra.yaml:17:19: spec.template.spec.containers[name="x"].args[1] is the number 1, must be a string: put quotes around it
            DIR/extra.yaml:18:9: spec.template.spec.containers[name="x"].command is the string "/bin/sh", must be a list
            DIR/extra.yaml:19:38: spec.template.spec.containers[name="x"].resources.limits.memory is the string "1Gb", must be a quantity such as 100m, 2 or 512Mi
            DIR/extra.yaml:20:35: spec.template.spec.containers[name="x"].livenessProbe.httpGet.port is the number 1.5, must be an integer or a string
            DIR/extra.yaml:21:9: spec.template.spec.containers[1] is the string "x", must be an object
        "#]].assert_eq(&check("extra.yaml", &daemonset(pod)));
    let data = "data: {a: 1, b: [c]}\nbinaryData: {x: 'hello!', z: aGVsbG8=}\nimmutable: 'yes'\n";
    expect![[r#"
            DIR/extra.yaml:4:8: data.a is the number 1, must be a string: put quotes around it
            DIR/extra.yaml:4:14: data.b is a list, must be a string
            DIR/extra.yaml:5:14: binaryData.x is not valid base64
            DIR/extra.yaml:6:1: immutable is the string "yes", must be true or false
        "#]]
    .assert_eq(&check(
        "extra.yaml",
        &format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, namespace: b}}\n{data}"),
    ));
    let claim = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: b}\nspec: {ephemeralContainers: 1}\n";
    expect![[r#"
        DIR/extra.yaml:4:8: spec.ephemeralContainers is the number 1, must be a list
    "#]]
    .assert_eq(&check("extra.yaml", claim));
}

#[test]
fn what_is_wrong_with_a_secret_value_is_said_without_it() {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: b}\n";
    expect![[r#"
            DIR/extra.yaml:4:8: data.a must be a string: put quotes around it
            DIR/extra.yaml:4:17: data.b is not valid base64; plain text goes into stringData
            DIR/extra.yaml:5:1: stringData must be an object
        "#]]
    .assert_eq(&check("extra.yaml", &format!("{secret}data: {{a: 1234, b: hunter2}}\nstringData: hunter2\n")));
}

/// What kubectl and the server take: base64 of several lines, in whatever holds it.
#[test]
fn what_the_api_takes_is_taken() {
    let data = "  a: |\n    aGVs\n    bG8=\n  b: YR==\n";
    expect![[r#"
            accepted
        "#]]
    .assert_eq(&check(
        "extra.yaml",
        &format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, namespace: b}}\nbinaryData:\n{data}"),
    ));
    let service = "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1.}\n";
    expect![[r#"
        accepted
        accepted
    "#]]
    .assert_eq(
        &[
            check("extra.yaml", service),
            check("extra.yaml", "apiVersion: user.openshift.io/v1\nkind: User\nmetadata: {name: 'kube:admin'}\n"),
        ]
        .concat(),
    );
    let hook = "webhooks: [{name: a.b.c, clientConfig: {caBundle: \"LS0t\\nCg==\"}, sideEffects: None, admissionReviewVersions: [v1]}]";
    let webhook =
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: a}\n";
    expect![[r#"
            accepted
        "#]]
    .assert_eq(&check("extra.yaml", &format!("{webhook}{hook}\n")));
}

/// kubectl has no match for such a kind, the server only a page that is not found.
#[test]
fn a_kind_that_is_nearly_one_of_kubernetes_is_named() {
    let object = |version: &str, kind: &str| {
        format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{name: a, namespace: b, naemspace: b}}\n")
    };
    expect![[r#"
        DIR/extra.yaml:2:1: kind is "Daemonset", which is not a kind of apps/v1; did you mean DaemonSet (apps/v1)?
        DIR/extra.yaml:2:1: kind is "DaemonSet", which is not a kind of v1; did you mean DaemonSet (apps/v1)?
        accepted
        DIR/extra.yaml:1:1: apiVersion is apps/v2; in Kubernetes 1.37, DaemonSet is in apps/v1
        accepted
        DIR/extra.yaml:1:1: apiVersion is apps/v1, which has no kind "Novelty" in Kubernetes 1.37
        DIR/extra.yaml:2:1: kind is "Deployment", which is not a kind of app/v1; did you mean Deployment (apps/v1)?
        accepted
    "#]]
    .assert_eq(
        &[
            check("extra.yaml", &object("apps/v1", "Daemonset")),
            check("extra.yaml", &object("v1", "DaemonSet")),
            check("extra.yaml", &object("apps/v2", "DaemonSet")),
            check("extra.yaml", &object("apps/v1", "Novelty")),
            check("extra.yaml", &object("app/v1", "Deployment")),
            check("extra.yaml", &object("example.com/v1", "DaemonSet")),
        ]
        .concat(),
    );
    let lease = object("coordination.k8s.io/v1", "Lease") + "spec: {holderIdentitys: x}\n";
    expect![[r#"
            DIR/extra.yaml:3:35: metadata.naemspace is an unknown field; did you mean namespace?
            DIR/extra.yaml:4:8: spec.holderIdentitys is an unknown field; did you mean holderIdentity?
        "#]]
    .assert_eq(&check("extra.yaml", &lease));
}
