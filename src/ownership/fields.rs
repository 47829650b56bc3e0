//! The set of fields that one manager owns, as the API server writes it: the `FieldsV1` of a `managedFields` entry.
//!
//! Takes the JSON value, gives a tree. The tree says without any schema which lists are keyed (`k:`), which are sets
//! (`v:`) and which values count as one (a leaf). Pure data.
//!
//! The format: <https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management>.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use thiserror::Error;

use super::place;
use crate::path::{FieldPath, Step};

/// The fields below one value that a manager owns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FieldSet {
    owned: bool,
    fields: BTreeMap<String, FieldSet>,
    items: Vec<(Step, FieldSet)>,
}

/// Why a value is not a field set.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Malformed {
    /// Neither an object nor, below the root, something that can hold fields.
    #[error("{0} is not an object")]
    NotAnObject(FieldPath),
    /// A member whose name is none of `f:`, `k:`, `v:`, `i:` and `.` with what belongs behind it.
    #[error("{at} has the unreadable member `{member}`")]
    Member {
        /// The value that has it.
        at: FieldPath,
        /// Its name as it was found.
        member: String,
    },
}

impl FieldSet {
    /// Reads the `fieldsV1` of an entry.
    pub fn parse(fields: &Value) -> Result<Self, Malformed> {
        parse_at(fields, &FieldPath::default())
    }

    /// Whether nothing below is known: a scalar, a value that counts as one, or an empty map.
    pub fn is_leaf(&self) -> bool {
        self.fields.is_empty() && self.items.is_empty()
    }

    /// The set of the field `name`.
    pub fn field(&self, name: &str) -> Option<&Self> {
        self.fields.get(name)
    }

    /// The fields that are known here, by name.
    pub fn fields(&self) -> &BTreeMap<String, Self> {
        &self.fields
    }

    /// The list items that are known here.
    pub fn items(&self) -> &[(Step, Self)] {
        &self.items
    }

    /// The step and the set of the list item `item`, which stands at `index`.
    pub fn item(&self, item: &Value, index: usize) -> Option<&(Step, Self)> {
        self.items.iter().find(|(step, _)| place::is_item(step, item, index))
    }

    /// The set behind `step`, written as the server writes it.
    pub fn step(&self, step: &Step) -> Option<&Self> {
        match step {
            Step::Field(name) => self.fields.get(name),
            _ => self.items.iter().find(|(known, _)| known == step).map(|(_, set)| set),
        }
    }

    /// The set at `path`, whose steps are written as the server writes them.
    pub fn at(&self, path: &FieldPath) -> Option<&Self> {
        path.0.iter().try_fold(self, |set, step| set.step(step))
    }

    /// The names of the key fields, if this is a keyed list.
    pub fn key_names(&self) -> Option<BTreeSet<&str>> {
        self.items.iter().find_map(|(step, _)| match step {
            Step::Keys(keys) => Some(keys.keys().map(String::as_str).collect()),
            _ => None,
        })
    }

    /// Whether this is a list that is a set.
    pub fn is_set(&self) -> bool {
        self.items.iter().any(|(step, _)| matches!(step, Step::Item(_)))
    }

    /// Whether anything in it is owned.
    pub fn owns_anything(&self) -> bool {
        self.owned || self.children().any(|(_, set)| set.owns_anything())
    }

    /// The paths that are owned, in order; the value before what is in it.
    pub fn paths(&self) -> Vec<FieldPath> {
        let mut paths = Vec::new();
        self.collect(&FieldPath::default(), &mut paths);
        paths
    }

    /// The steps that lead on from here, each with its set.
    pub fn children(&self) -> impl Iterator<Item = (Step, &Self)> {
        let fields = self.fields.iter().map(|(name, set)| (Step::Field(name.clone()), set));
        fields.chain(self.items.iter().map(|(step, set)| (step.clone(), set)))
    }

    fn collect(&self, at: &FieldPath, paths: &mut Vec<FieldPath>) {
        if self.owned {
            paths.push(at.clone());
        }
        for (step, set) in self.children() {
            set.collect(&at.join(step), paths);
        }
    }
}

fn parse_at(fields: &Value, at: &FieldPath) -> Result<FieldSet, Malformed> {
    let members = fields.as_object().ok_or_else(|| Malformed::NotAnObject(at.clone()))?;
    let mut set = FieldSet { owned: members.is_empty() && !at.0.is_empty(), ..FieldSet::default() };
    for (member, below) in members {
        if member == "." {
            set.owned = true;
            continue;
        }
        match parse_step(member) {
            Parsed::Step(Step::Field(name)) => {
                let below = parse_at(below, &at.field(&name))?;
                set.fields.insert(name, below);
            }
            Parsed::Step(step) => {
                let below = parse_at(below, &at.join(step.clone()))?;
                set.items.push((step, below));
            }
            Parsed::Unknown => {}
            Parsed::Unreadable => {
                return Err(Malformed::Member { at: at.clone(), member: member.clone() });
            }
        }
    }
    Ok(set)
}

enum Parsed {
    Step(Step),
    /// A kind of step that a later server may know; the format says to pass over it.
    Unknown,
    Unreadable,
}

fn parse_step(member: &str) -> Parsed {
    let Some((kind, rest)) = member.split_once(':') else { return Parsed::Unreadable };
    let step = match kind {
        "f" => Some(Step::Field(rest.to_owned())),
        "k" => serde_json::from_str(rest).ok().map(Step::Keys),
        "v" => serde_json::from_str(rest).ok().map(Step::Item),
        "i" => rest.parse().ok().map(Step::Index),
        _ => return Parsed::Unknown,
    };
    step.map_or(Parsed::Unreadable, Parsed::Step)
}
