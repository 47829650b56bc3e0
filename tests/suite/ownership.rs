//! Who owns which field, read from `managedFields`.

use bpfman_config::ownership::{FieldSet, Managers, claimant, resolve, value_at};
use bpfman_config::path::{FieldPath, Step};
use expect_test::expect;
use serde_json::{Value, json};

use crate::fixtures::fixture;

/// Field names and list positions, as `a/0/b`; a `/` in a name is written `~1`.
fn path(text: &str) -> FieldPath {
    let step = |step: &str| step.parse().map_or_else(|_| Step::Field(step.replace("~1", "/")), Step::Index);
    FieldPath(text.split('/').map(step).collect())
}

fn owners(object: &Value, at: &FieldPath) -> String {
    let owners = Managers::of(object).owners(object, at);
    let told = owners.iter().map(|owner| {
        let subresource = owner.subresource.as_ref().map(|name| format!("/{name}")).unwrap_or_default();
        format!("{} ({}{subresource})", owner.manager, owner.operation)
    });
    told.collect::<Vec<_>>().join(", ")
}

#[test]
fn each_value_has_a_readable_path_and_its_owners() {
    let live = fixture("edited").live;
    let managers = Managers::of(&live);
    let told: Vec<String> = [
        "metadata/labels/a.b~1c",
        "metadata/ownerReferences/0/name",
        "spec/template/metadata/annotations/probe.toml",
        "spec/template/metadata/annotations/kubectl.kubernetes.io~1restartedAt",
        "spec/template/spec/containers/0/image",
        "spec/template/spec/containers/0/args/1",
        "spec/template/spec/containers/0/env/0/value",
        "spec/template/spec/containers/0/env/1",
        "spec/template/spec/containers/0/ports/0/containerPort",
        "spec/template/spec/containers/0/imagePullPolicy",
        "spec/template/spec/tolerations/1/key",
        "spec/template/spec/volumes/0/emptyDir",
    ]
    .iter()
    .map(|text| format!("{}: {}\n", managers.named(&live, &path(text)), owners(&live, &path(text))))
    .collect();
    expect![[r#"
        metadata.labels["a.b/c"]: kubectl-label (Update)
        metadata.ownerReferences[uid="0d3d6c26-7c7e-4f5c-9b5e-1d2f9a3c4b5d"].name: bpfman-config (Apply), node-tuner (Apply)
        spec.template.metadata.annotations["probe.toml"]: bpfman-config (Apply), node-tuner (Apply)
        spec.template.metadata.annotations["kubectl.kubernetes.io/restartedAt"]: kubectl-rollout (Update)
        spec.template.spec.containers[name="main"].image: kubectl-set (Update), node-tuner (Apply)
        spec.template.spec.containers[name="main"].args[1]: bpfman-config (Apply), node-tuner (Apply)
        spec.template.spec.containers[name="main"].env[name="DEBUG"].value: kubectl-edit (Update)
        spec.template.spec.containers[name="main"].env[name="LEVEL"]: bpfman-config (Apply), node-tuner (Apply)
        spec.template.spec.containers[name="main"].ports[containerPort=8443,protocol="TCP"].containerPort: bpfman-config (Apply), node-tuner (Apply)
        spec.template.spec.containers[name="main"].imagePullPolicy: 
        spec.template.spec.tolerations[1].key: node-tuner (Apply)
        spec.template.spec.volumes[name="sock"].emptyDir: bpfman-config (Apply), node-tuner (Apply)
    "#]]
    .assert_eq(&told.concat());
}

#[test]
fn a_change_through_a_subresource_is_told() {
    let live = fixture("scaled").live;
    assert_eq!(owners(&live, &path("spec/replicas")), "kubectl (Update/scale)");
}

#[test]
fn an_empty_map_does_not_own_what_others_put_into_it() {
    let entry = |manager: &str, fields: Value| json!({"manager": manager, "operation": "Apply", "fieldsV1": fields});
    let object = |others: Value| {
        json!({
            "metadata": {"managedFields": [entry("a", json!({"f:spec": {"f:context": {}}})), entry("b", others)]},
            "spec": {"context": {"group": 7}},
        })
    };
    let granular = object(json!({"f:spec": {"f:context": {"f:group": {}}}}));
    let atomic = object(json!({"f:spec": {"f:context": {}}}));
    assert_eq!(owners(&granular, &path("spec/context/group")), "b (Apply)");
    assert_eq!(owners(&atomic, &path("spec/context/group")), "a (Apply), b (Apply)");
}

#[test]
fn the_field_of_a_conflict_leads_to_its_value() {
    let object = json!({
        "data": {"bpfman.toml": 1, "bpfman": {"toml": 2}},
        "metadata": {"labels": {"app.kubernetes.io/name": 3}, "finalizers": ["a.b/c", "x]y"]},
        "spec": {
            "containers": [{"name": "a\"]b", "image": 4}, {"name": "bpfman", "image": 5}],
            "ports": [{"port": 53, "protocol": "UDP", "name": 6}, {"port": 53, "name": 7}],
            "args": ["p", "q"],
        },
    });
    let told: Vec<String> = [
        ".data.bpfman.toml",
        ".metadata.labels.app.kubernetes.io/name",
        r#".metadata.finalizers[="x]y"]"#,
        r#".spec.containers[name="bpfman"].image"#,
        r#".spec.containers[name="a\"]b"].image"#,
        r#".spec.ports[port=53,protocol="UDP"].name"#,
        r#".spec.ports[port=53,protocol="TCP"].name"#,
        ".spec.args[1]",
        ".spec.args[2]",
        ".spec.containers[name=",
        ".data.bpfman.tom",
        "spec",
    ]
    .iter()
    .map(|field| {
        let found = resolve(field, &object);
        let value = found.as_ref().and_then(|path| value_at(&object, path));
        format!("{field} -> {} {}\n", found.as_ref().map_or_else(|| "-".into(), ToString::to_string), json!(value))
    })
    .collect();
    expect![[r#"
        .data.bpfman.toml -> data["bpfman.toml"] 1
        .metadata.labels.app.kubernetes.io/name -> metadata.labels["app.kubernetes.io/name"] 3
        .metadata.finalizers[="x]y"] -> metadata.finalizers[="x]y"] "x]y"
        .spec.containers[name="bpfman"].image -> spec.containers[name="bpfman"].image 5
        .spec.containers[name="a\"]b"].image -> spec.containers[name="a\"]b"].image 4
        .spec.ports[port=53,protocol="UDP"].name -> spec.ports[port=53,protocol="UDP"].name 6
        .spec.ports[port=53,protocol="TCP"].name -> spec.ports[port=53,protocol="TCP"].name 7
        .spec.args[1] -> spec.args[1] "q"
        .spec.args[2] -> - null
        .spec.containers[name= -> - null
        .data.bpfman.tom -> - null
        spec -> - null
    "#]]
    .assert_eq(&told.concat());
}

#[test]
fn the_message_of_a_conflict_names_a_manager() {
    let told = |message: &str| {
        claimant(message).map(|owner| {
            let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".into());
            format!("{} {} {} {}", owner.manager, owner.operation, or_none(owner.subresource), or_none(owner.time))
        })
    };
    let expected = [
        (r#"conflict with "other""#, Some("other Apply - -")),
        (r#"conflict with "a \"b\"" using v1"#, Some(r#"a "b" Update - -"#)),
        (r#"conflict with "kubectl" with subresource "scale" using apps/v1"#, Some("kubectl Update scale -")),
        (
            r#"conflict with "kubectl-edit" using apps/v1 at 2026-11-30T04:53:55Z"#,
            Some("kubectl-edit Update - 2026-11-30T04:53:55Z"),
        ),
        ("conflict with nobody", None),
        ("field is immutable", None),
    ];
    for (message, owner) in expected {
        assert_eq!(told(message).as_deref(), owner, "{message}");
    }
}

#[test]
fn malformed_entries_are_told_and_the_others_still_count() {
    let entry = |manager: &str, fields: Value| json!({"manager": manager, "operation": "Apply", "fieldsV1": fields});
    let object = json!({"data": {"a": "x"}, "metadata": {"managedFields": [
        entry("fine", json!({"f:data": {"f:a": {}}, "z:later": {}})),
        entry("list", json!({"f:data": []})),
        entry("key", json!({"f:data": {"k:{": {}}})),
        entry("index", json!({"i:-1": {}})),
        entry("text", json!("f:data")),
        entry("colon", json!({"data": {}})),
        {}, null, 7,
    ]}});
    let managers = Managers::of(&object);
    let told: Vec<String> = managers.unreadable.iter().map(|entry| format!("{entry}\n")).collect();
    expect![[r#"
        managedFields entry of "list": data is not an object
        managedFields entry of "key": data has the unreadable member `k:{`
        managedFields entry of "index": (root) has the unreadable member `i:-1`
        managedFields entry of "text": (root) is not an object
        managedFields entry of "colon": (root) has the unreadable member `data`
    "#]]
    .assert_eq(&told.concat());
    assert_eq!(owners(&object, &path("data/a")), "fine (Apply)");
    assert_eq!(Managers::of(&json!({"metadata": {"managedFields": {}}})), Managers::default());
}

#[test]
fn a_field_set_lists_what_is_owned() {
    let set =
        FieldSet::parse(&json!({"f:m": {".": {}, "f:x": {}}, "f:s": {"v:\"a\"": {}}, "f:l": {"i:0": {"f:y": {}}}}));
    let paths: Vec<String> = set.unwrap().paths().iter().map(ToString::to_string).collect();
    assert_eq!(paths, ["l[0].y", "m", "m.x", r#"s[="a"]"#]);
}
