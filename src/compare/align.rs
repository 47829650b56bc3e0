//! Which item of a live list answers to which item of a wanted one.
//!
//! Keyed lists are aligned by their keys, sets by value, all others by their longest common sequence. Takes the field
//! sets that know the list, gives pairs of positions. Pure functions.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::empties::Empties;
use crate::ownership::FieldSet;
use crate::path::Step;

/// The most pairs of items that are compared to align two lists; longer ones count as one value.
const MOST_PAIRS: usize = 250_000;

/// An item that stands in one list or in both.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pair {
    /// The step that leads to it.
    pub(super) step: Step,
    /// Its place in the live list.
    pub(super) live: Option<usize>,
    /// Its place in the wanted list.
    pub(super) wanted: Option<usize>,
}

/// Aligns two lists; none when only the whole lists can be told apart, as when shared items stand in another order.
pub(super) fn align(sets: &[&FieldSet], live: &[Value], wanted: &[Value], empties: Empties) -> Option<Vec<Pair>> {
    if let Some(names) = sets.iter().find_map(|set| set.key_names()) {
        let steps = |list: &[Value]| unique(list.iter().map(|item| keys_of(item, &names)));
        if let (Some(live), Some(wanted)) = (steps(live), steps(wanted)) {
            let pairs = by_step(&live, &wanted);
            return in_order(&pairs).then_some(pairs);
        }
    }
    if sets.iter().any(|set| set.is_set()) {
        let steps = |list: &[Value]| unique(list.iter().map(|item| Some(Step::Item(item.clone()))));
        if let (Some(live), Some(wanted)) = (steps(live), steps(wanted)) {
            return Some(by_step(&live, &wanted));
        }
    }
    by_sequence(live, wanted, empties)
}

fn keys_of(item: &Value, names: &BTreeSet<&str>) -> Option<Step> {
    let fields = item.as_object()?;
    let keys: BTreeMap<String, Value> =
        names.iter().filter_map(|name| Some(((*name).to_owned(), fields.get(*name)?.clone()))).collect();
    (!keys.is_empty()).then_some(Step::Keys(keys))
}

/// The steps, if each item has one and no two are equal.
fn unique(steps: impl Iterator<Item = Option<Step>>) -> Option<Vec<Step>> {
    let steps: Vec<Step> = steps.collect::<Option<_>>()?;
    let texts: BTreeSet<String> = steps.iter().map(|step| format!("{step:?}")).collect();
    (texts.len() == steps.len()).then_some(steps)
}

fn by_step(live: &[Step], wanted: &[Step]) -> Vec<Pair> {
    let place = |steps: &[Step], step: &Step| steps.iter().position(|known| known == step);
    let kept = live.iter().enumerate().map(|(index, step)| Pair {
        step: step.clone(),
        live: Some(index),
        wanted: place(wanted, step),
    });
    let added = wanted.iter().enumerate().filter(|(_, step)| place(live, step).is_none()).map(|(index, step)| Pair {
        step: step.clone(),
        live: None,
        wanted: Some(index),
    });
    kept.chain(added).collect()
}

fn in_order(pairs: &[Pair]) -> bool {
    let shared: Vec<usize> = pairs.iter().filter(|pair| pair.live.is_some()).filter_map(|pair| pair.wanted).collect();
    shared.is_sorted()
}

fn by_sequence(live: &[Value], wanted: &[Value], empties: Empties) -> Option<Vec<Pair>> {
    let alike = |(live, wanted): &(&Value, &Value)| empties.alike(live, wanted);
    let head = live.iter().zip(wanted).take_while(alike).count();
    let (live_rest, wanted_rest) = (live.get(head..)?, wanted.get(head..)?);
    let tail = live_rest.iter().rev().zip(wanted_rest.iter().rev()).take_while(alike).count();
    let live_middle = live_rest.get(..live_rest.len() - tail)?;
    let wanted_middle = wanted_rest.get(..wanted_rest.len() - tail)?;
    if live_middle.len().saturating_mul(wanted_middle.len()) > MOST_PAIRS {
        return None;
    }
    let mut shared: Vec<(usize, usize)> = (0..head).map(|index| (index, index)).collect();
    let middle = longest_common(live_middle, wanted_middle, empties);
    shared.extend(middle.into_iter().map(|(left, right)| (head + left, head + right)));
    shared.extend((0..tail).map(|back| (live.len() - tail + back, wanted.len() - tail + back)));
    shared.push((live.len(), wanted.len()));
    let mut pairs = Vec::new();
    let mut from = (0, 0);
    for (left, right) in shared {
        gap(from.0..left, from.1..right, &mut pairs);
        if left < live.len() {
            pairs.push(Pair { step: Step::Index(left), live: Some(left), wanted: Some(right) });
        }
        from = (left + 1, right + 1);
    }
    Some(pairs)
}

/// What stands between two shared items: as many items on both sides are the same items changed, else some went and
/// others came.
fn gap(live: std::ops::Range<usize>, wanted: std::ops::Range<usize>, pairs: &mut Vec<Pair>) {
    if live.len() == wanted.len() {
        let both = live.zip(wanted);
        pairs.extend(both.map(|(left, right)| Pair { step: Step::Index(left), live: Some(left), wanted: Some(right) }));
        return;
    }
    pairs.extend(live.map(|left| Pair { step: Step::Index(left), live: Some(left), wanted: None }));
    pairs.extend(wanted.map(|right| Pair { step: Step::Index(right), live: None, wanted: Some(right) }));
}

/// The places of the longest common sequence.
fn longest_common(live: &[Value], wanted: &[Value], empties: Empties) -> Vec<(usize, usize)> {
    let width = wanted.len() + 1;
    // `lengths[left * width + right]`: the length of the longest common sequence of what follows the two places.
    let mut lengths = vec![0_usize; (live.len() + 1) * width];
    let at = |lengths: &[usize], left: usize, right: usize| lengths.get(left * width + right).copied().unwrap_or(0);
    for (left, live) in live.iter().enumerate().rev() {
        for (right, wanted) in wanted.iter().enumerate().rev() {
            let longest = if empties.alike(live, wanted) {
                at(&lengths, left + 1, right + 1) + 1
            } else {
                at(&lengths, left + 1, right).max(at(&lengths, left, right + 1))
            };
            if let Some(length) = lengths.get_mut(left * width + right) {
                *length = longest;
            }
        }
    }
    let mut shared = Vec::new();
    let (mut left, mut right) = (0, 0);
    while let (Some(one), Some(other)) = (live.get(left), wanted.get(right)) {
        if empties.alike(one, other) {
            shared.push((left, right));
            (left, right) = (left + 1, right + 1);
        } else if at(&lengths, left + 1, right) >= at(&lengths, left, right + 1) {
            left += 1;
        } else {
            right += 1;
        }
    }
    shared
}
