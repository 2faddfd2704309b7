//! Searches the runs that the full-text index holds: it decides most needles itself, and for the
//! others it says which texts are read.
use super::names::Named;
use super::{Texts, read_for};
use crate::index::{IndexError, Reader};
use crate::run_set::RunSet;
use crate::word_index::lookup::WordIndex;
use crate::word_index::plan::{Plan, Term};
use crate::word_index::{ANYWHERE, Places};

/// Number of runs that are not narrowed further.
const FEW: usize = 100;

/// Returns those of the given runs that contain all wanted and no unwanted texts.
pub(super) fn containing(
    index: &Reader<'_>,
    texts: &Texts,
    among: &RunSet,
    named: &Named,
) -> Result<RunSet, IndexError> {
    let words = WordIndex::open(index)?;
    let mut left = among.clone();
    // Needles that are read for, and their numbers among all.
    let (mut unsure, mut numbers) = (Texts::default(), Vec::new());
    let mut doubtful = RunSet::default();
    for (number, needle) in texts.needles() {
        let is_wanted = number < texts.wanted.len();
        let (runs, is_sure) = match Plan::for_needle(needle) {
            Plan::Exactly(term) => (Some(words.runs_with(&term, ANYWHERE)?), true),
            Plan::AmongThose(terms) => {
                (with_all(&words, terms.iter().map(|term| (ANYWHERE, term)))?, false)
            }
        };
        let mut runs = runs.unwrap_or_else(|| among.clone());
        runs.extend(named.iter().filter(|(_, bits)| *bits >> number & 1 != 0).map(|(run, _)| *run));
        match (is_wanted, is_sure) {
            (true, _) => left = left.and(&runs),
            (false, true) => left = left.without(&runs),
            (false, false) => doubtful.extend(runs.iter()),
        }
        if !is_sure {
            let kind = if is_wanted { &mut unsure.wanted } else { &mut unsure.unwanted };
            kind.push(needle.clone());
            numbers.push(number);
        }
    }
    if unsure.is_empty() {
        return Ok(left);
    }
    // Runs that hold no unwanted text in any case are not read, unless for another needle.
    let sure = if unsure.wanted.is_empty() { left.without(&doubtful) } else { RunSet::default() };
    let bits = |all: u128| {
        let bit = |(at, number): (usize, &usize)| (all >> number & 1) << at;
        numbers.iter().enumerate().map(bit).fold(0, |bits, bit| bits | bit)
    };
    let named = named.iter().map(|(run, all)| (*run, bits(*all))).collect();
    let mut found = read_for(index, &unsure, &left.without(&sure), &named)?;
    found.extend(sure.iter());
    Ok(found)
}

/// Returns runs that hold terms, each in these places: all that hold all of them, and if they are
/// few, maybe others. `None` without terms.
pub(super) fn with_all<'t>(
    words: &WordIndex<'_>,
    terms: impl Iterator<Item = (Places, &'t Term)>,
) -> Result<Option<RunSet>, IndexError> {
    let mut all: Option<RunSet> = None;
    for (places, term) in terms {
        let runs = words.runs_with(term, places)?;
        let left = match all {
            None => runs,
            Some(all) => all.and(&runs),
        };
        let are_few = left.len() <= FEW;
        all = Some(left);
        if are_few {
            break;
        }
    }
    Ok(all)
}
