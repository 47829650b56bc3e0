//! The custom resource definition of the Config, as a table. Pure data.

/// A field that an object may have.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) required: bool,
    pub(super) value_type: Type,
}

/// The type of a field.
pub(super) enum Type {
    /// Any value: server-owned fields that are not validated.
    Any,
    String,
    NonEmptyString,
    /// A string without whitespace around it.
    Image,
    NonEmptyImage,
    Port,
    Boolean,
    /// A map of strings, such as labels.
    StringMap,
    Object(&'static [Field]),
    /// A list of objects with different values of these keys.
    List(&'static [Field], &'static [&'static str]),
}

const fn required(name: &'static str, value_type: Type) -> Field {
    Field { name, required: true, value_type }
}

const fn optional(name: &'static str, value_type: Type) -> Field {
    Field { name, required: false, value_type }
}

pub(super) const ROOT: &[Field] = &[
    required("apiVersion", Type::String),
    required("kind", Type::String),
    required("metadata", Type::Object(METADATA)),
    required("spec", Type::Object(SPEC)),
    optional("status", Type::Any),
];

pub(super) const METADATA: &[Field] = &[
    required("name", Type::NonEmptyString),
    optional("annotations", Type::StringMap),
    optional("creationTimestamp", Type::Any),
    optional("deletionGracePeriodSeconds", Type::Any),
    optional("deletionTimestamp", Type::String),
    optional("finalizers", Type::Any),
    optional("generateName", Type::Any),
    optional("generation", Type::Any),
    optional("labels", Type::StringMap),
    optional("managedFields", Type::Any),
    optional("namespace", Type::String),
    optional("ownerReferences", Type::Any),
    optional("resourceVersion", Type::Any),
    optional("selfLink", Type::Any),
    optional("uid", Type::String),
];

pub(super) const SPEC: &[Field] = &[
    required("agent", Type::Object(AGENT)),
    required("configuration", Type::NonEmptyString),
    required("daemon", Type::Object(DAEMON)),
    required("namespace", Type::NonEmptyString),
    optional("overrides", Type::List(OVERRIDE, &["kind", "apiVersion", "namespace", "name"])),
];

const AGENT: &[Field] = &[
    required("image", Type::NonEmptyImage),
    optional("healthProbePort", Type::Port),
    optional("logLevel", Type::String),
];

const DAEMON: &[Field] = &[
    required("image", Type::NonEmptyImage),
    optional("csiRegistrarImage", Type::Image),
    optional("logLevel", Type::String),
];

const OVERRIDE: &[Field] = &[
    required("apiVersion", Type::String),
    required("kind", Type::String),
    required("name", Type::String),
    required("namespace", Type::String),
    required("unmanaged", Type::Boolean),
];
