//! Which item of a live list answers to which item of a desired one.
//!
//! Keyed lists are aligned by their keys, sets by value, all others by their longest common sequence. Takes the field
//! sets that know the list, gives pairs of positions. Pure functions.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use serde_json::Value;
use similar::{Algorithm, capture_diff_slices};

use super::empties::Empties;
use crate::ownership::FieldSet;
use crate::path::Step;

/// The most distinct items of two lists that are compared with each other; later ones must be equal to the letter.
const MOST_DISTINCT_ITEMS: usize = 500;

/// An item that stands in one list or in both.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pair {
    /// The step that leads to it.
    pub(super) step: Step,
    /// Its place in the live list.
    pub(super) live: Option<usize>,
    /// Its place in the desired list.
    pub(super) desired: Option<usize>,
}

/// The keys of the API's keyed lists, for a list of which no manager owns anything
/// (<https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy>).
const KEYS: [&[&str]; 6] =
    [&["uid"], &["containerPort", "protocol"], &["port", "protocol"], &["mountPath"], &["devicePath"], &["name"]];

/// The one key that the API fills in.
const PROTOCOL: &str = "protocol";

/// The step that leads to an item of such a list, if it looks like one.
pub(super) fn guessed_step(item: &Value) -> Option<Step> {
    let is_given = |name: &&str| item.get(*name).is_some() || *name == PROTOCOL;
    let names = KEYS.iter().find(|names| names.iter().all(is_given))?;
    let step = keys_of(item, &names.iter().copied().collect())?;
    let Step::Keys(mut keys) = step else { return None };
    if names.contains(&PROTOCOL) {
        keys.entry(PROTOCOL.to_owned()).or_insert_with(|| Value::from("TCP"));
    }
    Some(Step::Keys(keys))
}

/// Aligns two lists; none when only the whole lists can be told apart, as when shared items stand in another order.
pub(super) fn align(sets: &[&FieldSet], live: &[Value], desired: &[Value], empties: Empties) -> Option<Vec<Pair>> {
    if let Some(names) = sets.iter().find_map(|set| set.key_names())
        && let Some(pairs) = by_keys(live, desired, |item| keys_of(item, &names))
    {
        return in_order(&pairs).then_some(pairs);
    }
    if sets.is_empty()
        && let Some(pairs) = by_keys(live, desired, guessed_step)
    {
        return in_order(&pairs).then_some(pairs);
    }
    if sets.iter().any(|set| set.is_set()) {
        let steps = |list: &[Value]| unique(list.iter().map(|item| Some(Step::Item(item.clone()))));
        if let (Some(live), Some(desired)) = (steps(live), steps(desired)) {
            return Some(by_step(&live, &desired));
        }
    }
    Some(by_sequence(live, desired, empties))
}

/// The step that leads to an item by its keys of these names, if it has any.
pub(super) fn keys_of(item: &Value, names: &BTreeSet<&str>) -> Option<Step> {
    let fields = item.as_object()?;
    let keys: BTreeMap<String, Value> =
        names.iter().filter_map(|name| Some(((*name).to_owned(), fields.get(*name)?.clone()))).collect();
    (!keys.is_empty()).then_some(Step::Keys(keys))
}

/// The steps, if each item has one and no two are equal.
fn unique(steps: impl Iterator<Item = Option<Step>>) -> Option<Vec<Step>> {
    let steps: Vec<Step> = steps.collect::<Option<_>>()?;
    let distinct: HashSet<&Step> = steps.iter().collect();
    (distinct.len() == steps.len()).then_some(steps)
}

/// Aligns two lists by the keys of their items, if each item has some and those of `desired` are distinct. In a live list others can have made
/// two items of one key: the one that is as desired is kept, else the first.
fn by_keys(live: &[Value], desired: &[Value], keys: impl Fn(&Value) -> Option<Step>) -> Option<Vec<Pair>> {
    let steps = |list: &[Value]| list.iter().map(&keys).collect::<Option<Vec<Step>>>();
    let live_steps = steps(live)?;
    let desired_steps = unique(steps(desired)?.into_iter().map(Some))?;
    let as_desired: HashMap<&Step, &Value> = desired_steps.iter().zip(desired).collect();
    let mut kept: HashMap<&Step, usize> = HashMap::new();
    for (index, (step, item)) in live_steps.iter().zip(live).enumerate().rev() {
        if as_desired.get(step) == Some(&item)
            || kept.get(step).and_then(|at| live.get(*at)) != as_desired.get(step).copied()
        {
            kept.insert(step, index);
        }
    }
    let mut pairs = by_step(&live_steps, &desired_steps);
    for pair in &mut pairs {
        pair.desired = pair.desired.filter(|_| pair.live.is_none_or(|index| kept.get(&pair.step) == Some(&index)));
    }
    Some(pairs)
}

fn by_step(live: &[Step], desired: &[Step]) -> Vec<Pair> {
    let positions = |steps: &[Step]| -> HashMap<Step, usize> {
        steps.iter().enumerate().map(|(index, step)| (step.clone(), index)).collect()
    };
    let (live_positions, desired_positions) = (positions(live), positions(desired));
    let kept = live.iter().enumerate().map(|(index, step)| Pair {
        step: step.clone(),
        live: Some(index),
        desired: desired_positions.get(step).copied(),
    });
    let added = desired
        .iter()
        .enumerate()
        .filter(|(_, step)| !live_positions.contains_key(step))
        .map(|(index, step)| Pair { step: step.clone(), live: None, desired: Some(index) });
    kept.chain(added).collect()
}

fn in_order(pairs: &[Pair]) -> bool {
    let shared: Vec<usize> = pairs.iter().filter(|pair| pair.live.is_some()).filter_map(|pair| pair.desired).collect();
    shared.is_sorted()
}

fn by_sequence(live: &[Value], desired: &[Value], empties: Empties) -> Vec<Pair> {
    // `similar` compares by equality; items that count as alike get the same number.
    let mut distinct: Vec<&Value> = Vec::new();
    let mut numbers = HashMap::new();
    let mut number = |item| {
        *numbers.entry(Value::to_string(item)).or_insert_with(|| {
            distinct.iter().take(MOST_DISTINCT_ITEMS).position(|known| empties.alike(known, item)).unwrap_or_else(
                || {
                    distinct.push(item);
                    distinct.len() - 1
                },
            )
        })
    };
    let old: Vec<usize> = live.iter().map(&mut number).collect();
    let new: Vec<usize> = desired.iter().map(&mut number).collect();
    let mut pairs = Vec::new();
    for operation in capture_diff_slices(Algorithm::Myers, &old, &new) {
        add_pairs(operation.old_range(), operation.new_range(), &mut pairs);
    }
    pairs
}

/// As many items on both sides are the same items, changed or not; else some went and others came.
fn add_pairs(live: Range<usize>, desired: Range<usize>, pairs: &mut Vec<Pair>) {
    if live.len() == desired.len() {
        let both = live.zip(desired);
        pairs.extend(both.map(|(left, right)| Pair {
            step: Step::Index(left),
            live: Some(left),
            desired: Some(right),
        }));
        return;
    }
    pairs.extend(live.map(|left| Pair { step: Step::Index(left), live: Some(left), desired: None }));
    pairs.extend(desired.map(|right| Pair { step: Step::Index(right), live: None, desired: Some(right) }));
}
