//! **Pure.** Orders of all runs, or of some. Runs without a value come last in both directions, and
//! ties are in the order of paths and ids in both directions, as in `query::order`.
use super::group::{Int, ROWS, Real, Text};
use super::{Changed, Columns, small};
use crate::run_set::RunSet;
use touchstone_api::{Column, Sort};

/// What runs are ordered by.
enum By {
    Path,
    /// With the place of each code in the order of the texts.
    Text(Text, Vec<u32>),
    Int(Int),
    Real(Real),
}

/// Stands behind all values.
const NONE: u64 = u64::MAX;

impl Columns {
    fn by(&self, column: &Column) -> By {
        let text = |of: Text| By::Text(of, self.names[of as usize].ranks());
        match column {
            // Columns of one's own are ordered elsewhere.
            Column::Path | Column::Own(_) => By::Path,
            Column::Task => text(Text::Task),
            Column::System => text(Text::System),
            Column::Model => text(Text::Model),
            Column::Variation => By::Int(Int::Variation),
            Column::Repeat => By::Int(Int::Repeat),
            Column::State => By::Int(Int::StateOrder),
            Column::Turns => By::Int(Int::Turns),
            Column::ToolCalls => By::Int(Int::ToolCalls),
            Column::Tokens => By::Int(Int::Tokens),
            Column::Cost => By::Real(Real::Cost),
            Column::Seconds => By::Real(Real::Seconds),
            Column::Size => By::Int(Int::Size),
            Column::Modified => By::Int(Int::ModifiedMs),
            Column::Score => By::Real(Real::Score),
            Column::Stored => By::Real(Real::StoredShare),
        }
    }

    /// Returns a number that is smaller the earlier a run comes.
    fn rank(&self, id: u32, by: &By, descending: bool) -> u64 {
        let Some(group) = self.groups.get(id as usize / ROWS) else { return NONE };
        let at = id as usize % ROWS;
        let rank = match by {
            By::Path => Some(0),
            By::Text(of, ranks) => {
                let code = group.texts(*of).get(at).and_then(|code| usize::try_from(code).ok());
                // The smallest and the largest number stand for both ends below.
                code.and_then(|code| ranks.get(code)).map(|rank| u64::from(*rank) + 1)
            }
            By::Int(of) => group.ints(*of).get(at).map(|one| one.cast_unsigned() ^ (1 << 63)),
            By::Real(of) => group.reals(*of).get(at).map(rank_of_real),
        };
        match rank {
            None => NONE,
            Some(rank) if descending => (!rank).min(NONE - 1),
            Some(rank) => rank.min(NONE - 1),
        }
    }

    /// Returns all runs in an order.
    pub(super) fn order(&self, sort: &Sort) -> Vec<u32> {
        if sort.column == Column::Path {
            let ids = self.by_path.iter().copied();
            return if sort.descending { ids.rev().collect() } else { ids.collect() };
        }
        let by = self.by(&sort.column);
        let rank = |id: &u32| (self.rank(*id, &by, sort.descending), *id);
        let mut ranked: Vec<(u64, u32)> = self.by_path.iter().map(rank).collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        ranked.into_iter().map(|(_, id)| id).collect()
    }

    /// Returns some runs in an order.
    pub(super) fn sorted(&self, sort: &Sort, some: &RunSet) -> Vec<u32> {
        let by = self.by(&sort.column);
        let is_backward = sort.descending && sort.column == Column::Path;
        let rank = |id: u32| (self.rank(id, &by, sort.descending), self.sort_key(id));
        let mut ranked: Vec<(u64, (&str, u32))> = some.iter().filter_map(small).map(rank).collect();
        ranked.sort_unstable();
        if is_backward {
            ranked.reverse();
        }
        ranked.into_iter().map(|(_, (_, id))| id).collect()
    }

    /// Returns an order of earlier columns, with the runs that changed since in their present places.
    pub(super) fn reordered(&self, old: &[u32], sort: &Sort, changed: &Changed) -> Vec<u32> {
        let mut moved = RunSet::default();
        let mut some = RunSet::default();
        for id in changed {
            moved.insert(i64::from(*id));
            if self.has(*id) {
                some.insert(i64::from(*id));
            }
        }
        let added = self.sorted(sort, &some);
        let by = self.by(&sort.column);
        let is_backward = sort.descending && sort.column == Column::Path;
        let key = |id: u32| (self.rank(id, &by, sort.descending), self.sort_key(id));
        merge(old, &moved, &added, |one, other| (key(one) < key(other)) != is_backward)
    }
}

/// Returns a number that compares as a fraction does. Both zeros are equal.
fn rank_of_real(real: f64) -> u64 {
    let bits = (real + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | (1 << 63) }
}

/// Takes some runs out of an order and puts others in, which are ordered.
pub(super) fn merge<T: Copy + Into<i64>>(
    order: &[T],
    gone: &RunSet,
    added: &[T],
    is_before: impl Fn(T, T) -> bool,
) -> Vec<T> {
    let mut rest: Vec<T> = Vec::with_capacity(order.len() + added.len());
    rest.extend(order.iter().filter(|id| !gone.contains((**id).into())));
    if added.is_empty() {
        return rest;
    }
    let mut all = Vec::with_capacity(rest.len() + added.len());
    let mut from = 0;
    for id in added {
        let to = from + rest[from..].partition_point(|other| is_before(*other, *id));
        all.extend_from_slice(&rest[from..to]);
        all.push(*id);
        from = to;
    }
    all.extend_from_slice(&rest[from..]);
    all
}
