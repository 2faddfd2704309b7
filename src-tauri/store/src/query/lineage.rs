//! The forks of a run: what it was copied from, and what was copied from it.
use super::row::word;
use crate::index::{IndexError, Reader};
use rusqlite::{OptionalExtension as _, Row};
use std::collections::HashSet;
use touchstone_api::{LineageLink, LineageNode, RunLineage, RunRow};

/// Maximum number of runs that are followed from a run to the origin of all.
const MOST_ANCESTORS: usize = 100;

const NODE: &str = "SELECT key, path, forked_step, state, passed, score, forked_from FROM runs";

/// Returns the origin of a run, its forks, ordered by path, and the tree that it belongs to. At
/// most `most` forks and `most` runs of the tree are listed.
pub fn lineage(index: &Reader<'_>, row: &RunRow, most: usize) -> Result<RunLineage, IndexError> {
    const ORIGIN: &str = "SELECT key FROM runs WHERE path = ? AND member IS NULL";
    let origin = row.forked_from.as_ref().map(|path| {
        let id = index.prepare_cached(ORIGIN)?.query_row([path], |row| row.get(0)).optional()?;
        Ok::<_, IndexError>(LineageLink { id, path: path.clone(), step: row.forked_step })
    });
    let origin = origin.transpose()?;
    let mut forks = forks_of(index, &row.path)?;
    let fork_count = forks.len() as u64;
    let tree =
        if origin.is_some() || fork_count > 0 { tree(index, &row.path, most)? } else { Vec::new() };
    forks.truncate(most);
    let link = |node: LineageNode| LineageLink { id: node.id, path: node.path, step: node.step };
    Ok(RunLineage {
        origin,
        edited: None,
        forks: forks.into_iter().map(link).collect(),
        fork_count,
        tree,
    })
}

/// Returns the tree of forks that a run belongs to, depth first. Files may name each other as their
/// origin in a circle, so no run is visited twice.
fn tree(index: &Reader<'_>, path: &str, most: usize) -> Result<Vec<LineageNode>, IndexError> {
    let mut nodes = Vec::new();
    let mut seen = HashSet::new();
    let mut open = vec![root(index, path)?];
    while let Some(node) = open.pop() {
        if nodes.len() == most {
            break;
        }
        if !seen.insert(node.path.clone()) {
            continue;
        }
        let forks = forks_of(index, &node.path)?.into_iter();
        open.extend(forks.map(|fork| LineageNode { depth: node.depth + 1, ..fork }).rev());
        nodes.push(node);
    }
    Ok(nodes)
}

/// Returns the run that a run stems from, over all forks between them.
fn root(index: &Reader<'_>, path: &str) -> Result<LineageNode, IndexError> {
    let mut query = index.prepare_cached(&format!("{NODE} WHERE path = ? AND member IS NULL"))?;
    let mut seen = HashSet::from([path.to_owned()]);
    let mut path = path.to_owned();
    loop {
        let found =
            query.query_row([&path], |row| Ok((node(row)?, row.get::<_, Option<String>>(6)?)));
        let found = found.optional()?;
        let Some((found, from)) = found else { return Ok(gone(path)) };
        let follow = |from: &String| seen.len() < MOST_ANCESTORS && seen.insert(from.clone());
        match from.filter(follow) {
            Some(from) => path = from,
            None => return Ok(found),
        }
    }
}

/// Returns the forks of a run, ordered by path.
fn forks_of(index: &Reader<'_>, path: &str) -> Result<Vec<LineageNode>, IndexError> {
    let sql = format!("{NODE} WHERE forked_from = ? ORDER BY path");
    let mut query = index.prepare_cached(&sql)?;
    Ok(query.query_map([path], node)?.collect::<Result<_, _>>()?)
}

fn node(row: &Row<'_>) -> rusqlite::Result<LineageNode> {
    Ok(LineageNode {
        id: row.get(0)?,
        path: row.get(1)?,
        step: row.get(2)?,
        depth: 0,
        state: word(row, 3)?,
        passed: row.get(4)?,
        score: row.get(5)?,
    })
}

/// A run that forks name as their origin, and that is no longer there.
fn gone(path: String) -> LineageNode {
    LineageNode { id: None, path, step: None, depth: 0, state: None, passed: None, score: None }
}
