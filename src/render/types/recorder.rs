//! Records what the validation of an object found, each with its path. Pure.

use std::cell::RefCell;

use super::FieldMessages;
use crate::path::{FieldPath, Step};

/// What was found in one object.
#[derive(Default)]
pub(super) struct Recorded {
    pub(super) problems: FieldMessages,
    /// What some servers accept although the type does not.
    pub(super) warnings: FieldMessages,
    /// Fields that are not in the type of their object.
    pub(super) unknown: Vec<FieldPath>,
    /// The objects of known types.
    pub(super) objects: Vec<TypedObject>,
}

/// An object of a known type.
pub(super) struct TypedObject {
    pub(super) path: FieldPath,
    /// The fields of the type.
    pub(super) fields: &'static [&'static str],
    /// The fields that are set.
    pub(super) present: Vec<String>,
}

impl TypedObject {
    /// Whether the type has the field and it is not set.
    pub(super) fn lacks(&self, name: &str) -> bool {
        self.fields.contains(&name) && !self.present.iter().any(|present| present == name)
    }
}

/// The current path in an object, and what was found so far.
#[derive(Default)]
pub(super) struct Recorder {
    steps: RefCell<Vec<Step>>,
    recorded: RefCell<Recorded>,
}

impl Recorder {
    /// Records a problem at the current path.
    pub(super) fn problem(&self, message: String) {
        self.problem_at(&[], message);
    }

    /// Records a warning at the current path.
    pub(super) fn warning(&self, message: String) {
        let path = self.path();
        self.recorded.borrow_mut().warnings.push((path, message));
    }

    /// Records a value that the type rejected, if nothing else explains why.
    pub(super) fn failure(&self) {
        if self.recorded.borrow().problems.is_empty() {
            self.problem("is not a valid value".to_owned());
        }
    }

    /// Records a problem below the current path.
    pub(super) fn problem_at(&self, below: &[Step], message: String) {
        let mut path = self.path();
        path.0.extend(below.iter().cloned());
        self.recorded.borrow_mut().problems.push((path, message));
    }

    /// Records an object whose type has these fields.
    pub(super) fn object(&self, fields: &'static [&'static str], present: Vec<String>) {
        let path = self.path();
        self.recorded.borrow_mut().objects.push(TypedObject { path, fields, present });
    }

    /// Records a field that is not in the type.
    pub(super) fn unknown_field(&self, name: &str) {
        let path = self.path().field(name);
        self.recorded.borrow_mut().unknown.push(path);
    }

    /// Returns what was found.
    pub(super) fn finish(self) -> Recorded {
        self.recorded.into_inner()
    }

    fn path(&self) -> FieldPath {
        FieldPath(self.steps.borrow().clone())
    }

    /// Goes down one step.
    pub(super) fn enter(&self, step: Step) {
        self.steps.borrow_mut().push(step);
    }

    /// Goes up one step.
    pub(super) fn leave(&self) {
        self.steps.borrow_mut().pop();
    }
}
