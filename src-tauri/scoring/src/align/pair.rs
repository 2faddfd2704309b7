//! **Pure.** Which step of one run belongs to which of another: the pairing, in order, that is
//! worth most. Bounded: what is too long to be weighed whole is cut where both did the same, and
//! what is still too long is weighed near the diagonal only.
use super::digest::{Digest, Role};
use super::form::hash_of;
use super::grid::{self, Area};
use super::kind;
use std::cell::RefCell;
use std::collections::HashMap;

/// So many pairs are weighed without a thought.
const SMALL: usize = 90_000;
/// And never more than about so many, in all.
pub(crate) const MOST: usize = 1_000_000;
/// Leftovers of more pairs than this are put together in one go.
const FEW: usize = 10_000;

/// What belongs together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Pairing {
    /// Steps that stand in one row, in order.
    pub(crate) pairs: Vec<(usize, usize)>,
    /// True when not everything could be weighed.
    pub(crate) coarse: bool,
}

/// Pairs the steps of two runs. The other way round it gives the same pairs the other way round.
pub(crate) fn pair(a: &[&Digest], b: &[&Digest]) -> Pairing {
    let order = |run: &[&Digest]| {
        hash_of(run.iter().map(|digest| (digest.whole(), digest.role)).collect::<Vec<_>>())
    };
    // What is worth the same must not depend on who comes first.
    if order(a) <= order(b) {
        return Pairer::new(a, b).pair();
    }
    let mut pairing = Pairer::new(b, a).pair();
    for (left, right) in &mut pairing.pairs {
        std::mem::swap(left, right);
    }
    pairing
}

struct Pairer<'d> {
    a: &'d [&'d Digest],
    b: &'d [&'d Digest],
    /// The call that a message on the way leads to.
    leads: [Vec<Option<usize>>; 2],
    /// How alike the call that was looked at last is to each of the others: the message before it
    /// asks again.
    asked: RefCell<(usize, Vec<Option<u32>>)>,
    pairs: Vec<(usize, usize)>,
    /// What is still to be weighed.
    open: Vec<Area>,
}

impl<'d> Pairer<'d> {
    fn new(a: &'d [&'d Digest], b: &'d [&'d Digest]) -> Self {
        let asked = RefCell::new((usize::MAX, Vec::new()));
        Self { a, b, leads: [leads(a), leads(b)], asked, pairs: Vec::new(), open: Vec::new() }
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

    /// Takes off what is equal at both ends, and cuts what is left where both did the same thing
    /// once.
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

    /// Calls that both made, each once, with the same result or else with any: the longest row of
    /// them that is in order for both.
    fn anchors(&self, area: &Area) -> Vec<(usize, usize)> {
        let anchors = self.once(area, Digest::whole);
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
        rising(&both)
    }

    /// Weighs what is open. True when some of it was too long to be weighed whole.
    fn weigh(&mut self) -> bool {
        let cells: usize = self.open.iter().map(Area::cells).sum();
        let mut coarse = false;
        for area in std::mem::take(&mut self.open) {
            // Each gets its share of what may be weighed; at least a line of it.
            let share =
                if cells <= MOST { usize::MAX } else { area.cells().saturating_mul(MOST) / cells };
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
            if one_tool && is_act(self.a[a]) { self.asked(a, b) } else { 0 }
        })
    }

    fn asked(&self, a: usize, b: usize) -> u32 {
        let mut known = self.asked.borrow_mut();
        if known.0 != a {
            *known = (a, vec![None; self.b.len()]);
        }
        *known.1[b].get_or_insert_with(|| kind::asked(self.a[a], self.b[b]))
    }

    /// What stands unpaired between two pairs is put side by side where it is of one kind: there
    /// the runs did different things.
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

/// Steps of one class may stand side by side, however different they are.
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

/// The longest part of pairs, sorted by the first, in which the second rises too.
fn rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length, the pair that ends the row of that length earliest; and for each pair the
    // one before it.
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

/// How two paired steps stand to each other, and whether the runs part there.
pub(crate) fn judge(a: &Digest, b: &Digest) -> (kind::Kind, bool) {
    let kind = kind::relate(a, b);
    (kind, kind::parts(kind, a, Some(b)))
}
