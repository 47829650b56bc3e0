//! The custom resource definition of the Config, as a table. Pure data.

/// A field that an object may have.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) required: bool,
    pub(super) shape: Shape,
}

/// What a field may hold.
pub(super) enum Shape {
    /// Anything: bookkeeping that we do not read.
    Any,
    Text,
    /// A string that is not empty.
    Filled,
    /// What a container's image may be: no blanks around it.
    Image,
    FilledImage,
    Port,
    Flag,
    /// Names of one's own, each with a string.
    Texts,
    Object(&'static [Field]),
    /// Objects that differ in their key fields.
    List(&'static [Field], &'static [&'static str]),
}

const fn required(name: &'static str, shape: Shape) -> Field {
    Field { name, required: true, shape }
}

const fn optional(name: &'static str, shape: Shape) -> Field {
    Field { name, required: false, shape }
}

pub(super) const ROOT: &[Field] = &[
    required("apiVersion", Shape::Text),
    required("kind", Shape::Text),
    required("metadata", Shape::Object(METADATA)),
    required("spec", Shape::Object(SPEC)),
    optional("status", Shape::Any),
];

pub(super) const METADATA: &[Field] = &[
    required("name", Shape::Filled),
    optional("annotations", Shape::Texts),
    optional("creationTimestamp", Shape::Any),
    optional("deletionGracePeriodSeconds", Shape::Any),
    optional("deletionTimestamp", Shape::Text),
    optional("finalizers", Shape::Any),
    optional("generateName", Shape::Any),
    optional("generation", Shape::Any),
    optional("labels", Shape::Texts),
    optional("managedFields", Shape::Any),
    optional("namespace", Shape::Text),
    optional("ownerReferences", Shape::Any),
    optional("resourceVersion", Shape::Any),
    optional("selfLink", Shape::Any),
    optional("uid", Shape::Text),
];

pub(super) const SPEC: &[Field] = &[
    required("agent", Shape::Object(AGENT)),
    required("configuration", Shape::Filled),
    required("daemon", Shape::Object(DAEMON)),
    required("namespace", Shape::Filled),
    optional("overrides", Shape::List(OVERRIDE, &["kind", "apiVersion", "namespace", "name"])),
];

const AGENT: &[Field] = &[
    required("image", Shape::FilledImage),
    optional("healthProbePort", Shape::Port),
    optional("logLevel", Shape::Text),
];

const DAEMON: &[Field] = &[
    required("image", Shape::FilledImage),
    optional("csiRegistrarImage", Shape::Image),
    optional("logLevel", Shape::Text),
];

const OVERRIDE: &[Field] = &[
    required("apiVersion", Shape::Text),
    required("kind", Shape::Text),
    required("name", Shape::Text),
    required("namespace", Shape::Text),
    required("unmanaged", Shape::Flag),
];
