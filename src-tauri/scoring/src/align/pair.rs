//! **Pure.** Pairs the steps of two runs, in order, for the greatest total worth. Bounded: an area
//! that is too large is cut at calls that both runs made, and a part that is still too large is
//! weighed only near the diagonal.
use super::digest::{Digest, Role};
use super::grid::{self, Area};
use super::kind;
use super::normal_form::hash_of;
use std::cell::RefCell;
use std::collections::HashMap;

/// Number of cells up to which an area is weighed without being cut.
pub(crate) const SMALL: usize = 90_000;
/// Approximate limit for the number of cells weighed in total for the main path of two runs.
pub(crate) const MOST: usize = 1_000_000;
/// Number of cells above which leftover steps are paired by position.
const FEW: usize = 10_000;

/// Paired steps of two runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Pairing {
    /// Step indexes that belong in one row, in order.
    pub(crate) pairs: Vec<(usize, usize)>,
    /// True if some area was too large to be weighed completely.
    pub(crate) coarse: bool,
}

/// Pairs the steps of two runs, weighing about `most` cells. Symmetric: swapped arguments give the
/// same pairs, swapped.
pub(crate) fn pair(a: &[&Digest], b: &[&Digest], most: usize) -> Pairing {
    let order = |run: &[&Digest]| {
        hash_of(run.iter().map(|digest| (digest.exact_hash(), digest.role)).collect::<Vec<_>>())
    };
    // Ties must not be resolved by the order of the arguments.
    if order(a) <= order(b) {
        return Pairer::new(a, b, most).pair();
    }
    let mut pairing = Pairer::new(b, a, most).pair();
    for (left, right) in &mut pairing.pairs {
        std::mem::swap(left, right);
    }
    pairing
}

struct Pairer<'d> {
    a: &'d [&'d Digest],
    b: &'d [&'d Digest],
    /// For each narration message, the call that it leads to, in each run.
    leads: [Vec<Option<usize>>; 2],
    /// Cached similarities of one call of `a` to all of `b`; the message before the call needs them
    /// again.
    asked: RefCell<(usize, Vec<Option<u32>>)>,
    pairs: Vec<(usize, usize)>,
    /// Areas still to be weighed.
    open: Vec<Area>,
    most: usize,
}

impl<'d> Pairer<'d> {
    fn new(a: &'d [&'d Digest], b: &'d [&'d Digest], most: usize) -> Self {
        let asked = RefCell::new((usize::MAX, Vec::new()));
        let leads = [leads(a), leads(b)];
        Self { a, b, leads, asked, pairs: Vec::new(), open: Vec::new(), most }
    }

    fn pair(mut self) -> Pairing {
        let prompt = |run: &[&Digest]| run.iter().position(|digest| digest.role == Role::Prompt);
        let all = Area { a: 0..self.a.len(), b: 0..self.b.len() };
        match (prompt(self.a), prompt(self.b)) {
            (Some(a), Some(b)) => {
                let [before, after] = all.cut(a, b);
                self.cut(before);
                self.pairs.push((a, b));
                self.cut(after);
            }
            _ => self.cut(all),
        }
        let coarse = self.weigh();
        self.pairs.sort_unstable();
        let leftovers = self.leftovers();
        self.pairs.extend(leftovers);
        self.pairs.sort_unstable();
        Pairing { pairs: self.pairs, coarse }
    }

    /// Pairs equal steps at both ends of an area, and cuts the remainder at calls that each run
    /// made exactly once.
    fn cut(&mut self, mut area: Area) {
        let mut todo = vec![];
        loop {
            let area_left = self.trim(area);
            if area_left.cells() <= SMALL {
                self.open.push(area_left);
            } else {
                let anchors = self.anchors(&area_left);
                if anchors.is_empty() {
                    self.open.push(area_left);
                } else {
                    let mut rest = area_left;
                    for (a, b) in anchors {
                        let [before, after] = rest.cut(a, b);
                        self.pairs.push((a, b));
                        todo.push(before);
                        rest = after;
                    }
                    todo.push(rest);
                }
            }
            match todo.pop() {
                Some(next) => area = next,
                None => return,
            }
        }
    }

    fn trim(&mut self, mut area: Area) -> Area {
        let equal = |a: usize, b: usize| self.a[a].equals(self.b[b]);
        while !area.is_empty() && equal(area.a.start, area.b.start) {
            self.pairs.push((area.a.start, area.b.start));
            area.a.start += 1;
            area.b.start += 1;
        }
        while !area.is_empty() && equal(area.a.end - 1, area.b.end - 1) {
            area.a.end -= 1;
            area.b.end -= 1;
            self.pairs.push((area.a.end, area.b.end));
        }
        area
    }

    /// Returns the calls that both runs made exactly once, with the same result or, if there are
    /// none, with any result: the longest sequence that is in order in both.
    fn anchors(&self, area: &Area) -> Vec<(usize, usize)> {
        let anchors = self.once(area, Digest::exact_hash);
        if anchors.is_empty() { self.once(area, |digest| digest.meant) } else { anchors }
    }

    fn once(&self, area: &Area, hash: impl Fn(&Digest) -> u64) -> Vec<(usize, usize)> {
        let acts = |run: &[&Digest], range: std::ops::Range<usize>| {
            let mut once: HashMap<u64, Option<usize>> = HashMap::new();
            for at in range.filter(|at| is_act(run[*at])) {
                once.entry(hash(run[at])).and_modify(|place| *place = None).or_insert(Some(at));
            }
            once
        };
        let (left, right) = (acts(self.a, area.a.clone()), acts(self.b, area.b.clone()));
        let both = left.iter().filter_map(|(hash, a)| Some(((*a)?, (*right.get(hash)?)?)));
        let mut both: Vec<(usize, usize)> = both.collect();
        both.sort_unstable();
        longest_increasing(&both)
    }

    /// Weighs the open areas. Returns true if some area was too large to be weighed completely.
    fn weigh(&mut self) -> bool {
        let cells: usize = self.open.iter().map(Area::cells).sum();
        let mut coarse = false;
        for area in std::mem::take(&mut self.open) {
            // Each area gets its share of the cell limit.
            let share = if cells <= self.most {
                usize::MAX
            } else {
                area.cells().saturating_mul(self.most) / cells
            };
            let worth = |a: usize, b: usize| self.worth(a, b);
            let (pairs, whole) = grid::best(&area, share, &worth);
            coarse |= !whole;
            self.pairs.extend(pairs);
        }
        coarse
    }

    fn worth(&self, a: usize, b: usize) -> u32 {
        kind::worth(self.a[a], self.b[b], || {
            let (a, b) = (self.leads[0][a].unwrap_or(a), self.leads[1][b].unwrap_or(b));
            let one_tool = self.a[a].role == self.b[b].role && self.a[a].name == self.b[b].name;
            if one_tool && is_act(self.a[a]) { self.cached_call_similarity(a, b) } else { 0 }
        })
    }

    fn cached_call_similarity(&self, a: usize, b: usize) -> u32 {
        let mut known = self.asked.borrow_mut();
        if known.0 != a {
            *known = (a, vec![None; self.b.len()]);
        }
        *known.1[b].get_or_insert_with(|| kind::call_similarity(self.a[a], self.b[b]))
    }

    /// Pairs steps of one class that are unpaired between two pairs: in this gap the runs did
    /// different things.
    fn leftovers(&self) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let mut from = (0, 0);
        for (a, b) in self.pairs.iter().copied().chain([(self.a.len(), self.b.len())]) {
            let area = Area { a: from.0..a, b: from.1..b };
            from = (a + 1, b + 1);
            if area.is_empty() {
                continue;
            }
            let same = |a: usize, b: usize| u32::from(class(self.a[a]) == class(self.b[b]));
            if area.cells() <= FEW {
                found.extend(grid::best(&area, usize::MAX, &same).0);
            } else {
                found.extend(area.a.zip(area.b).filter(|(a, b)| same(*a, *b) == 1));
            }
        }
        found
    }
}

fn is_act(digest: &Digest) -> bool {
    matches!(digest.role, Role::Call | Role::Program)
}

/// Returns the class of a step. Steps of one class may share a row, however different they are.
fn class(digest: &Digest) -> Role {
    if is_act(digest) { Role::Call } else { digest.role }
}

fn leads(run: &[&Digest]) -> Vec<Option<usize>> {
    let mut next = None;
    let mut leads = vec![None; run.len()];
    for (at, digest) in run.iter().enumerate().rev() {
        leads[at] = next.filter(|_| digest.role == Role::Narration);
        match digest.role {
            Role::Call | Role::Program => next = Some(at),
            Role::Prompt | Role::Person => next = None,
            _ => {}
        }
    }
    leads
}

/// Returns the longest subsequence of pairs (sorted by the first index) in which the second index
/// increases.
fn longest_increasing(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length, the pair with the smallest end that ends a sequence of that length; and for
    // each pair its predecessor.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < pair.1);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() { ends.push(at) } else { ends[length] = at }
    }
    let mut row = Vec::with_capacity(ends.len());
    let mut at = ends.last().copied();
    while let Some(here) = at {
        row.push(pairs[here]);
        at = before[here];
    }
    row.reverse();
    row
}

/// Returns the relation of two paired steps, and whether the runs diverge there.
pub(crate) fn judge(a: &Digest, b: &Digest) -> (kind::Kind, bool) {
    let kind = kind::relate(a, b);
    (kind, kind::diverges(kind, a, Some(b)))
}

/// Returns true if two steps in one row are the same step, so that the runs are together again after
/// any detour. A call that failed where the other worked is not the same, and neither are two
/// conclusions with different answers, whatever their messages say.
pub(crate) fn agree(a: &Digest, b: &Digest) -> bool {
    let other_answer = a.answer.is_some() && b.answer.is_some() && a.answer != b.answer;
    acts(a) && acts(b) && a.failed == b.failed && !other_answer && !judge(a, b).1
}

/// Returns true for a step that decides something: a call, a conclusion, an error; not for
/// instructions, messages of people and remarks between calls.
pub(crate) fn acts(digest: &Digest) -> bool {
    !matches!(
        digest.role,
        Role::System
            | Role::Prompt
            | Role::Person
            | Role::Narration
            | Role::Unknown
            | Role::Abandoned
    )
}
