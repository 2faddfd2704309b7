//! **Pure.** Checks map keys while a [`Tree`] is built: finds duplicate keys and applies the `<<`
//! merge keys of YAML 1.1.
use std::collections::{HashMap, HashSet};

use super::tree::{Form, Raw, Tree};
use crate::scalar::Scalar;

/// Returns the nodes of two equal keys of a map. The map must be the last node that is still open.
pub(crate) fn duplicate(tree: &Tree<'_>, map: usize) -> Option<(usize, usize)> {
    let mut seen: HashMap<Scalar<'_>, usize> = HashMap::new();
    for (key, _) in pairs(tree, map) {
        // Keys that are lists or maps are too rare to be compared here; code that displays them
        // compares their texts.
        let Some(scalar) = tree.scalar(key) else { continue };
        if is_merge(tree, key) {
            continue;
        }
        if let Some(first) = seen.insert(scalar, key) {
            return Some((first, key));
        }
    }
    None
}

/// Replaces the `<<` entries of a map by the entries they refer to. The map's own entries win.
pub(crate) fn merge(tree: &mut Tree<'_>, map: usize) {
    let found: Vec<(usize, usize)> = pairs(tree, map).collect();
    if !found.iter().any(|(key, _)| is_merge(tree, *key)) {
        return;
    }
    let (merges, mut own): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|(key, _)| is_merge(tree, *key));
    let mut known: HashSet<Option<Scalar<'_>>> =
        own.iter().map(|(key, _)| tree.scalar(*key)).collect();
    for source in merges.into_iter().flat_map(|(_, value)| sources(tree, value)) {
        own.extend(pairs(tree, source).filter(|(key, _)| known.insert(tree.scalar(*key))));
    }
    drop(known);
    rebuild(tree, map, &own);
}

/// Returns the depth of a subtree; 0 for a scalar.
pub(crate) fn depth(nodes: &[Raw<'_>]) -> usize {
    let base = nodes.first().map_or(0, |raw| raw.end as usize - nodes.len());
    let mut open: Vec<usize> = Vec::new();
    let mut deepest = 0;
    for (at, raw) in nodes.iter().enumerate() {
        while open.last().is_some_and(|end| *end <= at + base) {
            open.pop();
        }
        if matches!(raw.form, Form::List | Form::Map) {
            open.push(raw.end as usize);
            deepest = deepest.max(open.len());
        }
    }
    deepest
}

/// Returns the keys and values of a map as node indexes.
fn pairs<'t>(tree: &'t Tree<'_>, map: usize) -> impl Iterator<Item = (usize, usize)> + 't {
    let end = match tree.nodes.get(map) {
        Some(raw) if raw.form == Form::Map && raw.end == 0 => tree.nodes.len(),
        Some(raw) if raw.form == Form::Map => raw.end as usize,
        _ => 0,
    };
    let mut next = map + 1;
    std::iter::from_fn(move || {
        let key = (next < end).then_some(next)?;
        let value = tree.nodes.get(key)?.end as usize;
        next = tree.nodes.get(value)?.end as usize;
        Some((key, value))
    })
}

/// Returns true for an unquoted `<<` whose value is a map or a list of maps.
fn is_merge(tree: &Tree<'_>, key: usize) -> bool {
    let Some(raw) = tree.nodes.get(key) else { return false };
    raw.form == Form::Plain && tree.text(raw) == "<<" && !sources(tree, raw.end as usize).is_empty()
}

fn sources(tree: &Tree<'_>, value: usize) -> Vec<usize> {
    let Some(raw) = tree.nodes.get(value) else { return Vec::new() };
    let is_map = |at: &usize| tree.nodes.get(*at).is_some_and(|raw| raw.form == Form::Map);
    match raw.form {
        Form::Map => vec![value],
        Form::List => {
            let mut next = value + 1;
            let items = std::iter::from_fn(|| {
                let item = (next < raw.end as usize).then_some(next)?;
                next = tree.nodes.get(item)?.end as usize;
                Some(item)
            });
            let items: Vec<usize> = items.collect();
            if items.iter().all(is_map) { items } else { Vec::new() }
        }
        _ => Vec::new(),
    }
}

/// Replaces the entries of a map; the new ones may come from anywhere in the tree.
fn rebuild(tree: &mut Tree<'_>, map: usize, entries: &[(usize, usize)]) {
    let mut nodes = Vec::new();
    let mut spans = Vec::new();
    for at in entries.iter().flat_map(|(key, value)| [*key, *value]) {
        let base = map + 1 + nodes.len();
        let end = tree.nodes.get(at).map_or(at, |raw| raw.end as usize);
        for raw in &tree.nodes[at..end] {
            nodes.push(Raw { end: crate::error::count(raw.end as usize - at + base), ..*raw });
        }
        spans.extend_from_slice(&tree.spans[at..end]);
    }
    tree.nodes.truncate(map + 1);
    tree.spans.truncate(map + 1);
    tree.nodes.append(&mut nodes);
    tree.spans.append(&mut spans);
}
