//! Where a value stands inside an object: `spec.template.spec.containers[name="bpfman"].image`.
//!
//! Pure data. The steps are those of the API server's own field sets; the text is what people read in a diff.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

/// One step down from an object, a list or a set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// The field of an object, the key of a map.
    Field(String),
    /// The item of a list that the API treats as one value, or whose keys are not known.
    Index(usize),
    /// The item of a keyed list: its key fields and their values.
    Keys(BTreeMap<String, Value>),
    /// The item of a list that is a set.
    Item(Value),
}

/// The steps from an object's root to one of its values; empty for the object itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FieldPath(pub Vec<Step>);

impl FieldPath {
    /// This path and one step more.
    #[must_use]
    pub fn join(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }

    /// This path and one field more.
    #[must_use]
    pub fn field(&self, name: &str) -> Self {
        self.join(Step::Field(name.to_owned()))
    }

    /// Whether `self` is `other` or stands above it.
    pub fn contains(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }
}

impl fmt::Display for FieldPath {
    /// Writes dots between plain names, brackets around all else; `(root)` for the empty path.
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
