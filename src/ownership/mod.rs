//! Who owns which field of a live object, read from its `metadata.managedFields`.
//!
//! Takes objects as JSON values, gives owners, readable paths and our own field set. No network, no schema: the field
//! sets of the managers say which lists are keyed, which are sets, and which values count as one.

mod cause;
mod fields;
mod managers;
mod place;

pub use cause::{claimant, resolve};
pub use fields::{FieldSet, Malformed};
pub use managers::{Entry, Managers, Operation, Owner, Unreadable};
pub use place::{has_all_keys, is_item, remove, same, value_at, value_at_mut};
