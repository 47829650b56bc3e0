//! The entries of a kubeconfig: clusters, users and contexts; what their fields hold, and what flags put in their place.
//!
//! Pure. The shape of every field is checked in our own words: a parser would quote the value, which may be a secret.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// An entry and the file that it stands in.
#[derive(Clone, Default)]
pub(super) struct Entry {
    /// `user "me" in kubeconfig /home/me/.kube/config`.
    pub(super) origin: String,
    /// Where relative paths begin.
    pub(super) folder: PathBuf,
    /// What it says; a field that is null is not there.
    pub(super) fields: Map<String, Value>,
    flags: Vec<&'static str>,
}

/// The three lists of entries: the list's key, an entry's key, and what its fields hold.
pub(super) struct List {
    pub(super) key: &'static str,
    pub(super) kind: &'static str,
    fields: &'static [(&'static str, Shape)],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Text,
    Flag,
    Texts,
    Mapping,
    Exec,
}

pub(super) const CLUSTERS: List = List {
    key: "clusters",
    kind: "cluster",
    fields: &[
        ("server", Shape::Text),
        ("tls-server-name", Shape::Text),
        ("insecure-skip-tls-verify", Shape::Flag),
        ("certificate-authority", Shape::Text),
        ("certificate-authority-data", Shape::Text),
        ("proxy-url", Shape::Text),
        ("disable-compression", Shape::Flag),
    ],
};

pub(super) const USERS: List = List {
    key: "users",
    kind: "user",
    fields: &[
        ("client-certificate", Shape::Text),
        ("client-certificate-data", Shape::Text),
        ("client-key", Shape::Text),
        ("client-key-data", Shape::Text),
        ("token", Shape::Text),
        ("tokenFile", Shape::Text),
        ("as", Shape::Text),
        ("as-uid", Shape::Text),
        ("as-groups", Shape::Texts),
        ("as-user-extra", Shape::Mapping),
        ("username", Shape::Text),
        ("password", Shape::Text),
        ("auth-provider", Shape::Mapping),
        ("exec", Shape::Exec),
    ],
};

pub(super) const CONTEXTS: List = List {
    key: "contexts",
    kind: "context",
    fields: &[("cluster", Shape::Text), ("user", Shape::Text), ("namespace", Shape::Text)],
};

const EXEC: &[(&str, Shape)] = &[
    ("command", Shape::Text),
    ("args", Shape::Texts),
    ("apiVersion", Shape::Text),
    ("installHint", Shape::Text),
    ("provideClusterInfo", Shape::Flag),
    ("interactiveMode", Shape::Text),
];

impl List {
    /// Demands that each entry has a name of its own and fields of the right shape.
    pub(super) fn check(&self, list: Option<&Value>) -> Result<(), String> {
        let entries = match list {
            None | Some(Value::Null) => return Ok(()),
            Some(list) => list.as_array().ok_or_else(|| format!("{} must be a list", self.key))?,
        };
        let mut names = Vec::new();
        for (position, entry) in entries.iter().enumerate() {
            let name = entry.get("name").and_then(Value::as_str);
            let name = name.ok_or_else(|| {
                format!(
                    "{}[{position}] needs a name, which is text (quoted, if it looks like a number or like yes and no)",
                    self.key
                )
            })?;
            if names.contains(&name) {
                return Err(format!("two {} have the name {name:?}", self.key));
            }
            names.push(name);
            let fields = entry.get(self.kind).unwrap_or(&Value::Null);
            check_fields(fields, self.fields).map_err(|what| format!("{} {name:?}: {what}", self.kind))?;
        }
        Ok(())
    }
}

fn check_fields(value: &Value, fields: &[(&str, Shape)]) -> Result<(), String> {
    let content = match value {
        Value::Null => return Ok(()),
        Value::Object(content) => content,
        _ => return Err("must be a mapping".to_owned()),
    };
    for (key, shape) in fields {
        let value = content.get(*key).unwrap_or(&Value::Null);
        let texts = |value: &Value| value.as_array().is_some_and(|items| items.iter().all(Value::is_string));
        let (fits, wanted) = match shape {
            Shape::Text => (value.is_string(), "text; quote what looks like a number, or like yes and no"),
            Shape::Flag => (value.is_boolean(), "true or false"),
            Shape::Texts => (texts(value), "a list of texts"),
            Shape::Mapping | Shape::Exec => (value.is_object(), "a mapping"),
        };
        if !value.is_null() && !fits {
            return Err(format!("{key} must be {wanted}"));
        }
        if *shape == Shape::Exec {
            check_fields(value, EXEC).map_err(|what| format!("{key}: {what}"))?;
        }
    }
    Ok(())
}

/// The name of an entry as it stands in the file.
pub(super) fn name_of(entry: &Value) -> Option<&str> {
    entry.get("name").and_then(Value::as_str)
}

impl Entry {
    /// The entry `name` of the file at `path`.
    pub(super) fn of_file(list: &List, name: &str, entry: &Value, path: &Path) -> Self {
        let mut fields = entry.get(list.kind).and_then(Value::as_object).cloned().unwrap_or_default();
        fields.retain(|_, value| !value.is_null());
        Self {
            origin: format!("{} {name:?} in kubeconfig {}", list.kind, path.display()),
            folder: path.parent().map(Path::to_owned).unwrap_or_default(),
            fields,
            flags: Vec::new(),
        }
    }

    /// An entry that stands in no file.
    pub(super) fn made(origin: &str, fields: &[(&str, &str)]) -> Self {
        let fields = fields.iter().map(|(key, value)| ((*key).to_owned(), (*value).into())).collect();
        Self { origin: origin.to_owned(), fields, ..Self::default() }
    }

    /// A field that is text and not empty.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        self.fields.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// A field that is true.
    pub(super) fn flag(&self, key: &str) -> bool {
        self.fields.get(key) == Some(&Value::Bool(true))
    }

    /// Sets a field to what the flag of the same name says.
    pub(super) fn set(&mut self, key: &'static str, value: Value) {
        self.fields.insert(key.to_owned(), value);
        self.flags.push(key);
    }

    /// Whether a flag has set this field.
    pub(super) fn is_flag(&self, key: &str) -> bool {
        self.flags.contains(&key)
    }

    /// `--client-key`, or the entry.
    pub(super) fn origin_of(&self, key: &str) -> String {
        if self.is_flag(key) { format!("--{key}") } else { self.origin.clone() }
    }

    /// A file that a field names, relative to where the field stands.
    pub(super) fn path(&self, key: &str) -> Option<PathBuf> {
        let path = self.text(key)?;
        Some(if self.is_flag(key) { path.into() } else { self.folder.join(path) })
    }
}
