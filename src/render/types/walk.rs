//! Where a walk through an object stands, and what it has seen so far. Pure.

use std::cell::RefCell;

use super::Found;
use crate::path::{FieldPath, Step};

/// What a walk through one object has seen.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) problems: Found,
    /// What the server may take although the type does not.
    pub(super) doubts: Found,
    /// Fields that their object does not have.
    pub(super) unknown: Vec<FieldPath>,
    /// The objects that have a type.
    pub(super) objects: Vec<Object>,
}

/// An object that has a type.
pub(super) struct Object {
    pub(super) path: FieldPath,
    /// The fields that it may have.
    pub(super) fields: &'static [&'static str],
    /// The fields that it has.
    pub(super) present: Vec<String>,
}

impl Object {
    /// Whether a field could be put here.
    pub(super) fn lacks(&self, name: &str) -> bool {
        self.fields.contains(&name) && !self.present.iter().any(|present| present == name)
    }
}

/// A walk through one object.
#[derive(Default)]
pub(super) struct Walk {
    steps: RefCell<Vec<Step>>,
    seen: RefCell<Seen>,
}

impl Walk {
    /// Notes a mistake at the place where the walk stands.
    pub(super) fn problem(&self, message: String) {
        self.problem_at(&[], message);
    }

    /// Notes what may be none.
    pub(super) fn doubt(&self, message: String) {
        let path = self.path();
        self.seen.borrow_mut().doubts.push((path, message));
    }

    /// Notes where a value was that the type could not bear, the innermost one.
    pub(super) fn note_failure(&self) {
        if self.seen.borrow().problems.is_empty() {
            self.problem("is not what belongs here".to_owned());
        }
    }

    /// Notes a mistake below the place where the walk stands.
    pub(super) fn problem_at(&self, below: &[Step], message: String) {
        let mut path = self.path();
        path.0.extend(below.iter().cloned());
        self.seen.borrow_mut().problems.push((path, message));
    }

    /// Notes that an object of a type with these fields stands here.
    pub(super) fn note_object(&self, fields: &'static [&'static str], present: Vec<String>) {
        let path = self.path();
        self.seen.borrow_mut().objects.push(Object { path, fields, present });
    }

    /// Notes a field that the object here does not have.
    pub(super) fn note_unknown(&self, name: &str) {
        let path = self.path().field(name);
        self.seen.borrow_mut().unknown.push(path);
    }

    /// Ends the walk.
    pub(super) fn finish(self) -> Seen {
        self.seen.into_inner()
    }

    fn path(&self) -> FieldPath {
        FieldPath(self.steps.borrow().clone())
    }

    /// Steps down.
    pub(super) fn enter(&self, step: Step) {
        self.steps.borrow_mut().push(step);
    }

    /// Steps up again.
    pub(super) fn leave(&self) {
        self.steps.borrow_mut().pop();
    }
}
