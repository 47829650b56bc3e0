//! What comes in from files and what the server makes of it: texts to the byte, limits, exported objects, typos, owners.

use expect_test::expect;
use serde_json::{Value, json};

use crate::controlplane::{Cluster, Platform};
use crate::program::{command, config, live, prepare, requests, run, said, until};
use crate::render::fixture;

/// A cluster with all that the Config becomes.
fn applied(platform: Platform) -> Cluster {
    let cluster = Cluster::start(platform);
    prepare(&cluster);
    assert!(run(&cluster, "apply").ends_with("exit 0\n"));
    cluster
}

/// Writes `text` beside the kubeconfig, which exists while the cluster does; gives its path.
fn file(cluster: &Cluster, name: &str, text: &str) -> String {
    let path = cluster.kubeconfig().with_file_name(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(&path, text).expect("a file");
    path.display().to_string()
}

/// The Config with another `configuration`, written as YAML that holds `written`.
fn with_configuration(written: &str) -> String {
    let mut config = fixture();
    config["metadata"] = json!({"name": "bpfman-config"});
    config["spec"].as_object_mut().expect("fields").remove("configuration");
    let spec = config["spec"].take();
    config.as_object_mut().expect("fields").remove("spec");
    let spec: String =
        spec.as_object().expect("fields").iter().map(|(name, value)| format!("  {name}: {value}\n")).collect();
    format!(
        "apiVersion: bpfman.io/v1alpha1\nkind: Config\nmetadata: {{name: bpfman-config}}\nspec:\n{spec}  configuration: {written}\n"
    )
}

/// kubernetes#36222, #75446, #120918, kustomize#3830: a blank at the end of a line, or another way to write the same text, changed it.
#[test]
fn the_configuration_reaches_the_server_to_the_byte() {
    let cluster = Cluster::start(Platform::PLAIN);
    cluster.kubectl_ok(&["create", "namespace", "ebpf"]);
    for (written, text) in [
        ("|\n    [database] \n    \tmax_retries = 1\n", "[database] \n\tmax_retries = 1\n"),
        ("|-\n    [database]\n    max_retries = 1\n", "[database]\nmax_retries = 1"),
        ("|+\n    [database]\n\n", "[database]\n\n\n"),
        ("|2+\n\n        # first\n      [signing]\n", "\n    # first\n  [signing]\n\n"),
        (r#""[signing]\r\n# \u202e\t\n""#, "[signing]\r\n# \u{202e}\t\n"),
    ] {
        let file = file(&cluster, "config.yaml", &with_configuration(written));
        assert!(run(&cluster, &format!("apply -f {file}")).ends_with("exit 0\n"));
        let objects = live(&cluster, &["configmap/bpfman-config", "daemonset/bpfman-daemon"]);
        let annotations = &objects[1]["spec"]["template"]["metadata"]["annotations"];
        assert_eq!([&objects[0]["data"]["bpfman.toml"], &annotations["bpfman.io.bpfman.toml"]], [text, text]);
        assert_eq!(said(&mut command(cluster.kubeconfig(), "diff -q")), "exit 0\n");
    }
}

/// grafana-dashboards#3, devtron#3689, flux2#1301: the `ConfigMap` took the text, the pods' annotation did not.
#[test]
fn a_configuration_at_the_limit_is_applied_and_one_above_it_sends_nothing() {
    let cluster = Cluster::start(Platform::PLAIN);
    cluster.kubectl_ok(&["create", "namespace", "ebpf"]);
    let with = |size: usize| {
        let mut config = fixture();
        config["metadata"] = json!({"name": "bpfman-config"});
        config["spec"]["configuration"] = json!(format!("#{}", "x".repeat(size - 1)));
        file(&cluster, "config.json", &config.to_string())
    };
    let mark = cluster.requests().len();
    let refused = ["apply", "diff"]
        .map(|word| run(&cluster, &format!("{word} -q --platform kubernetes --monitoring off -f {}", with(262_050))));
    assert_eq!(requests(&cluster, mark), []);
    expect![[r#"
        2> error: built-in daemonset-daemon.yaml:24:7: spec.template.metadata.annotations has 262145 bytes, at most 262144 are allowed; the largest is bpfman.io.bpfman.toml with 262071 bytes
        exit 3
        2> error: built-in daemonset-daemon.yaml:24:7: spec.template.metadata.annotations has 262145 bytes, at most 262144 are allowed; the largest is bpfman.io.bpfman.toml with 262071 bytes
        exit 3
    "#]].assert_eq(&refused.concat());
    expect![[r#"
        config.bpfman.io/bpfman-config created
        namespace/ebpf configured
        csidriver.storage.k8s.io/csi.bpfman.io created
        configmap/bpfman-config created
        daemonset.apps/bpfman-daemon created
        exit 0
    "#]]
    .assert_eq(&run(&cluster, &format!("apply -q -f {}", with(262_049))));
}

/// kubernetes#81453, intellij-kubernetes#755, openshift/origin#19905: what was exported could not be sent again.
#[test]
fn an_exported_object_is_a_template_and_an_exported_config_a_config() {
    let cluster = applied(Platform::MONITORING);
    let export = |words: &[&str]| {
        cluster.kubectl_ok(&[&["get", "-n", "ebpf", "-o", "yaml", "--show-managed-fields"], words].concat())
    };
    file(&cluster, "own/daemonset-daemon.yaml", &export(&["daemonset/bpfman-daemon"]));
    // Of several names, kubectl makes a List, be it of one object.
    file(
        &cluster,
        "own/service-agent-metrics.yaml",
        &export(&["services", "--field-selector=metadata.name=bpfman-agent-metrics-service"]),
    );
    let own = file(&cluster, "own/csidriver.yaml", &export(&["csidriver/csi.bpfman.io"]));
    let own = own.trim_end_matches("/csidriver.yaml");
    let config = file(&cluster, "exported.yaml", &export(&["configs.bpfman.io/bpfman-config"]));
    let told =
        run(&cluster, &format!("diff -f {config} --templates {own}")).replace(own, "OWN").replace(&config, "FILE");
    expect![[r#"
        2> warning: FILE:1:1: these fields are managed by the cluster and are not applied: metadata.creationTimestamp, metadata.generation, metadata.managedFields, metadata.resourceVersion, metadata.uid
        2> warning: OWN/csidriver.yaml:1:1: these fields are managed by the cluster and are not applied: metadata.creationTimestamp, metadata.managedFields, metadata.ownerReferences, metadata.resourceVersion, metadata.uid
        2> warning: OWN/daemonset-daemon.yaml: does not use spec.agent.healthProbePort, spec.agent.image, spec.agent.logLevel, spec.configuration, spec.daemon.csiRegistrarImage, spec.daemon.image, spec.daemon.logLevel, spec.namespace: these settings have no effect on daemonset.apps/bpfman-daemon
        2> warning: OWN/daemonset-daemon.yaml:1:1: these fields are managed by the cluster and are not applied: status, metadata.creationTimestamp, metadata.generation, metadata.managedFields, metadata.ownerReferences, metadata.resourceVersion, metadata.uid, metadata.annotations["deprecated.daemonset.template.generation"]
        2> warning: OWN/service-agent-metrics.yaml: does not use spec.namespace: these settings have no effect on service/bpfman-agent-metrics-service
        2> warning: OWN/service-agent-metrics.yaml:3:3: these fields are managed by the cluster and are not applied: status, metadata.creationTimestamp, metadata.managedFields, metadata.ownerReferences, metadata.resourceVersion, metadata.uid
        2> 10 objects: 0 to change; hidden: 3 fields of server bookkeeping
        exit 0
    "#]]
    .assert_eq(&told);
    let rendered = |words: &str| said(&mut command(cluster.kubeconfig(), words));
    assert_eq!(rendered(&format!("render -q --monitoring on -f {config}")), rendered("render -q"));
}

/// podman-desktop#7594: "managedFields must be nil", and the finalizers of others became ours.
#[test]
fn an_exported_config_is_applied_without_its_server_owned_fields() {
    let cluster = applied(Platform::PLAIN);
    let config = "configs.bpfman.io/bpfman-config";
    let last_applied = "kubectl.kubernetes.io/last-applied-configuration";
    let metadata = json!({"metadata": {"finalizers": ["example.com/theirs"], "annotations": {last_applied: "{}"}}});
    cluster.kubectl_ok(&["patch", config, "--type=merge", "-p", &metadata.to_string()]);
    let exported = cluster.kubectl_ok(&["get", config, "-o", "yaml", "--show-managed-fields"]);
    let path = file(&cluster, "exported.yaml", &exported.replace("debug", "trace"));
    cluster.kubectl_ok(&["annotate", config, "changed=since"]);
    let mut told = run(&cluster, &format!("diff -q -o name -f {path}"))
        + &run(&cluster, &format!("apply --force-conflicts -f {path}"));
    let live = &live(&cluster, &[config])[0];
    told = told.replace(&path, "FILE")
        + &json!([live["spec"]["agent"]["logLevel"], live["metadata"]["finalizers"]]).to_string();
    let entries = live["metadata"]["managedFields"].as_array().unwrap();
    let ours = entries.iter().find(|entry| entry["manager"] == "bpfman-config").unwrap();
    assert!(ours.to_string().contains("logLevel") && !ours.to_string().contains("finalizers"), "{ours}");
    expect![[r#"
        config.bpfman.io/bpfman-config
        configmap/bpfman-config
        daemonset.apps/bpfman-daemon
        2> warning: FILE:1:1: these fields are managed by the cluster and are not applied: metadata.creationTimestamp, metadata.finalizers, metadata.generation, metadata.managedFields, metadata.resourceVersion, metadata.uid, metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]
        exit 1
        config.bpfman.io/bpfman-config configured
        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config configured
        daemonset.apps/bpfman-daemon configured
        2> warning: FILE:1:1: these fields are managed by the cluster and are not applied: metadata.creationTimestamp, metadata.finalizers, metadata.generation, metadata.managedFields, metadata.resourceVersion, metadata.uid, metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]
        2> using context "controlplane", server SERVER
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> warning: config.bpfman.io/bpfman-config: took over spec.agent.logLevel from kubectl (Apply) since TIME, it was "debug", is "trace"
        2> 3 configured, 2 unchanged
        exit 0
        ["trace",["example.com/theirs"]]"#]].assert_eq(&told);
}

/// The server fills in what is not there before anybody reads it; a file is read as it is.
#[test]
fn a_config_means_the_same_in_a_file_and_on_the_server() {
    let cluster = Cluster::start(Platform::PLAIN);
    let mut least = json!({"apiVersion": "bpfman.io/v1alpha1", "kind": "Config", "metadata": {"name": "bpfman-config"},
        "spec": {"namespace": "ebpf", "agent": {"image": "a"}, "daemon": {"image": "b"}, "configuration": "# none\n"}});
    cluster.apply(&least.to_string());
    least["metadata"]["uid"] = live(&cluster, &["configs.bpfman.io/bpfman-config"])[0]["metadata"]["uid"].clone();
    let path = file(&cluster, "least.json", &least.to_string());
    let rendered = |words: &str| said(&mut command(cluster.kubeconfig(), words));
    let of_file = rendered(&format!("render -q -f {path}"));
    assert!(of_file.contains("--health-probe-bind-address=:8175"));
    assert_eq!(of_file, rendered("render -q"));
}

/// kubernetes#122480, #139253: the server calls a field that it does not know an error of its own, and it was tried again and again.
#[test]
fn a_field_that_only_the_server_can_judge_is_refused_once() {
    let cluster = applied(Platform::MONITORING);
    let template = |name: &str, from: &str, to: &str| {
        let text = std::fs::read_to_string(format!("{}/templates/{name}", env!("CARGO_MANIFEST_DIR"))).expect("it");
        assert!(text.contains(from));
        file(&cluster, &format!("own/{name}"), &text.replacen(from, to, 1))
    };
    template("servicemonitor-agent.yaml", "spec:", "spec:\n  endpointz: []");
    let own = template("daemonset-daemon.yaml", "      hostNetwork:", "      futureField: 1\n      hostNetwork:");
    let own = own.trim_end_matches("/daemonset-daemon.yaml");
    let mark = cluster.requests().len();
    let told = run(&cluster, &format!("apply --templates {own}")).replace(own, "OWN");
    expect![[r#"
        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config unchanged
        service/bpfman-agent-metrics-service unchanged
        service/bpfman-controller-manager-metrics-service unchanged
        servicemonitor.monitoring.coreos.com/bpfman-agent-metrics-monitor failed
        servicemonitor.monitoring.coreos.com/bpfman-controller-manager-metrics-monitor unchanged
        daemonset.apps/bpfman-daemon failed
        daemonset.apps/bpfman-metrics-proxy unchanged
        2> using context "controlplane", server SERVER
        2> warning: OWN/daemonset-daemon.yaml:31:7: spec.template.spec.futureField is not a field of Kubernetes 1.37; it is sent unchanged
        2> error: cannot apply servicemonitor.monitoring.coreos.com/bpfman-agent-metrics-monitor in ebpf: failed to create typed patch object (ebpf/bpfman-agent-metrics-monitor; monitoring.coreos.com/v1, Kind=ServiceMonitor): .spec.endpointz: field not declared in schema
        2>   it comes from OWN/servicemonitor-agent.yaml
        2> error: cannot apply daemonset.apps/bpfman-daemon in ebpf: failed to create typed patch object (ebpf/bpfman-daemon; apps/v1, Kind=DaemonSet): .spec.template.spec.futureField: field not declared in schema
        2>   it comes from OWN/daemonset-daemon.yaml
        2> 7 unchanged, 2 failed
        exit 4
    "#]].assert_eq(&told);
    let patches = requests(&cluster, mark).into_iter().filter(|request| request.verb == "patch");
    expect![[r#"
        500 /apis/monitoring.coreos.com/v1/namespaces/ebpf/servicemonitors/bpfman-agent-metrics-monitor?&fieldManager=bpfman-config&fieldValidation=Strict
        500 /apis/apps/v1/namespaces/ebpf/daemonsets/bpfman-daemon?&fieldManager=bpfman-config&fieldValidation=Strict
    "#]].assert_eq(&patches.map(|request| format!("{} {}\n", request.code, request.uri)).collect::<String>());
}

/// The path of such an object is one that the server does not have, which says nothing about the kind.
#[test]
fn an_object_without_the_namespace_that_its_kind_needs_is_told_so() {
    let cluster = applied(Platform::PLAIN);
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let definition = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "examples.example.com"}, "spec": {"group": "example.com", "scope": "Namespaced",
        "names": {"kind": "Example", "plural": "examples"},
        "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]}});
    cluster.apply(&definition.to_string());
    cluster.kubectl_ok(&["wait", "--for=condition=Established", "crd/examples.example.com"]);
    let own = file(&cluster, "own/a.yaml", "apiVersion: example.com/v1\nkind: Example\nmetadata: {name: a}\n");
    let own = own.trim_end_matches("/a.yaml");
    let told = ["diff -q -o name", "apply -q"].map(|words| run(&cluster, &format!("{words} --templates {own}")));
    expect![[r#"
        example.example.com/a
        2> error: cannot compare example.example.com/a: metadata.namespace is missing: the kind is namespaced
        exit 4
        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config unchanged
        example.example.com/a failed
        daemonset.apps/bpfman-daemon unchanged
        2> error: cannot apply example.example.com/a: metadata.namespace is missing: the kind is namespaced
        2>   it comes from OWN/a.yaml
        exit 4
    "#]]
    .assert_eq(&told.concat().replace(own, "OWN"));
}

/// structured-merge-diff#234: servers take a live object in which an item stands twice.
#[test]
fn a_live_list_with_an_item_twice_is_compared_and_left_alone() {
    let cluster = applied(Platform::PLAIN);
    let mut daemonset: Value = live(&cluster, &["daemonset/bpfman-daemon"]).remove(0);
    let env = &mut daemonset["spec"]["template"]["spec"]["containers"][0]["env"];
    env.as_array_mut()
        .expect("a list")
        .extend([json!({"name": "DEBUG", "value": "1"}), json!({"name": "DEBUG", "value": "2"})]);
    daemonset["metadata"].as_object_mut().expect("fields").remove("managedFields");
    let path = file(&cluster, "live.json", &daemonset.to_string());
    cluster.kubectl_ok(&["replace", "-f", &path, "--field-manager=kubectl-edit"]);
    let mut config: Value = serde_json::from_str(&config()).expect("JSON");
    config["spec"]["daemon"]["image"] = json!("registry.example/daemon:v3");
    cluster.apply(&config.to_string());
    let told = [run(&cluster, "diff -q -o paths"), run(&cluster, "apply --force-conflicts"), run(&cluster, "diff")];
    expect![[r#"
        daemonset.apps/bpfman-daemon in ebpf spec.template.spec.containers[name="bpfman"].image: "registry.example/daemon:v2" -> "registry.example/daemon:v3"  # bpfman-config (Apply) since TIME
        daemonset.apps/bpfman-daemon in ebpf spec.template.spec.containers[name="bpfman"].env[name="DEBUG"]: {"name":"DEBUG","value":"1"}; foreign  # kubectl-edit (Update) since TIME
        2> warning: daemonset.apps/bpfman-daemon: spec.template.spec.containers[0].env[3]: hides previous definition of "DEBUG", which may be dropped when using apply
        exit 1

        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config unchanged
        daemonset.apps/bpfman-daemon configured
        2> using context "controlplane", server SERVER
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> warning: daemonset.apps/bpfman-daemon: spec.template.spec.containers[0].env[3]: hides previous definition of "DEBUG", which may be dropped when using apply
        2> 1 configured, 3 unchanged
        exit 0

        daemonset.apps/bpfman-daemon in ebpf: in sync; 1 field set by others
        foreign: spec.template.spec.containers[name="bpfman"].env[name="DEBUG"]: {"name":"DEBUG","value":"1"}  # kubectl-edit (Update) since TIME
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> 4 objects: 0 to change; 1 field set by others (--exact counts them)
        exit 0
    "#]].assert_eq(&told.join("\n"));
}

/// kubernetes#54940, #65200, bpfman-operator#461: an owner of another scope, and children stayed for ever or went at once.
#[test]
fn the_config_owns_its_objects_and_they_go_with_it() {
    let mut cluster = applied(Platform::ALL);
    cluster.start_nodes(1);
    let names = String::from_utf8(command(cluster.kubeconfig(), "render -q -o name").output().expect("it").stdout);
    let names: Vec<String> = names.expect("text").lines().skip(1).map(str::to_owned).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let uid = &live(&cluster, &["configs.bpfman.io/bpfman-config"])[0]["metadata"]["uid"];
    let owner = json!([{"apiVersion": "bpfman.io/v1alpha1", "kind": "Config", "name": "bpfman-config", "uid": uid,
        "controller": true, "blockOwnerDeletion": true}]);
    let objects = live(&cluster, &names);
    assert_eq!(
        objects.iter().map(|object| &object["metadata"]["ownerReferences"]).collect::<Vec<_>>(),
        vec![&owner; 14]
    );
    cluster.kubectl_ok(&["delete", "configs.bpfman.io/bpfman-config"]);
    until("the end of all", || {
        let left = cluster.kubectl(&[&["get", "-n", "ebpf", "-o", "name", "--ignore-not-found"], &names[..]].concat());
        left.stdout.is_empty().then_some(())
    });
}
