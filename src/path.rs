//! The path of a value in an object: `spec.template.spec.containers[name="bpfman"].image`.
//!
//! Pure data. The steps correspond to those of `managedFields`.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// A field of an object, a key of a map.
    Field(String),
    /// An item of an atomic list, or of a list whose keys are not known.
    Index(usize),
    /// An item of a keyed list: its key fields and their values.
    Keys(BTreeMap<String, Value>),
    /// An item of a set.
    Item(Value),
}

/// The path from an object to one of its values; empty for the object itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FieldPath(pub Vec<Step>);

impl FieldPath {
    /// This path with another step.
    #[must_use]
    pub fn join(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }

    /// This path with another field.
    #[must_use]
    pub fn field(&self, name: &str) -> Self {
        self.join(Step::Field(name.to_owned()))
    }

    /// Whether `other` is this path or below it.
    pub fn contains(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }
}

impl fmt::Display for FieldPath {
    /// Writes dots between plain names, brackets around other steps; `(root)` for the empty path.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("(root)");
        }
        for (position, step) in self.0.iter().enumerate() {
            match step {
                Step::Field(name) if is_plain(name) => {
                    let dot = if position == 0 { "" } else { "." };
                    write!(f, "{dot}{name}")?;
                }
                Step::Field(name) => write!(f, "[{}]", Value::from(name.as_str()))?,
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Keys(keys) => {
                    let pairs: Vec<String> = keys.iter().map(|(key, value)| format!("{key}={value}")).collect();
                    write!(f, "[{}]", pairs.join(","))?;
                }
                Step::Item(value) => write!(f, "[={value}]")?,
            }
        }
        Ok(())
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}
