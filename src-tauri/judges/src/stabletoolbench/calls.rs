//! **Pure.** The API call score: the share of the gold APIs that were called. It compares sets,
//! therefore order and repeats do not matter.
use super::finish::is_finish;
use super::names::Offered;
use touchstone_formats::stabletoolbench::names::SEARCH;
use touchstone_model::run::ApiName;

/// Recorded in place of a function name that the model invented.
const MADE_UP: &str = "invalid_hallucination_function_name";

/// A recorded call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Called<'a> {
    /// A function, by any of its names.
    Name(&'a str),
    /// An API that was already resolved when the call was recorded.
    Pair(&'a ApiName),
}

/// Comparison of the called APIs with the gold APIs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ApiCalls {
    /// Number of distinct gold APIs.
    pub gold: usize,
    /// Gold APIs that were called.
    pub hits: Vec<ApiName>,
    /// Gold APIs that were not called.
    pub missing: Vec<ApiName>,
    /// Other APIs that were called.
    pub extra: Vec<ApiName>,
    /// Distinct names that match no API of the query, in order.
    pub unknown: Vec<String>,
    /// Gold APIs that may have been called: their name was called, but it resolves to an earlier
    /// API of the same name.
    pub perhaps: Vec<ApiName>,
    /// True when a called name stands for several APIs, some of them gold.
    pub ambiguous: bool,
}

impl ApiCalls {
    /// Counts calls. Ignores `Finish`, the function search, and the marker for invented names.
    pub fn count<'a>(offered: &Offered, calls: impl IntoIterator<Item = Called<'a>>) -> Self {
        let is_gold = |pair: &ApiName| offered.gold.contains(pair);
        let (mut called, mut others, mut counts): (Vec<ApiName>, Vec<ApiName>, Self) =
            Default::default();
        for call in calls {
            match call {
                Called::Name(name) if is_finish(name) || [MADE_UP, SEARCH, ""].contains(&name) => {}
                Called::Name(name) => match offered.find(name) {
                    Some(found) => {
                        counts.ambiguous |= !found.others.is_empty()
                            && (is_gold(found.first)
                                || found.others.iter().any(|pair| is_gold(pair)));
                        add(&mut called, found.first);
                        found.others.into_iter().for_each(|pair| add(&mut others, pair));
                    }
                    None if counts.unknown.iter().any(|known| known == name) => {}
                    None => counts.unknown.push(name.to_owned()),
                },
                Called::Pair(pair) => add(&mut called, pair),
            }
        }
        counts.gold = offered.gold.len();
        (counts.hits, counts.missing) =
            offered.gold.iter().cloned().partition(|gold| called.contains(gold));
        counts.perhaps =
            counts.missing.iter().filter(|gold| others.contains(gold)).cloned().collect();
        counts.extra = called.into_iter().filter(|pair| !is_gold(pair)).collect();
        counts
    }

    /// Returns the score from 0 to 1; `None` when there are no gold APIs.
    pub fn score(&self) -> Option<f64> {
        share(self.hits.len(), self.gold)
    }

    /// Returns the score if every API counted that a called name may stand for.
    pub fn at_most(&self) -> Option<f64> {
        share(self.hits.len() + self.perhaps.len(), self.gold)
    }

    /// Returns the number of called APIs, including unknown names.
    pub fn called(&self) -> usize {
        self.hits.len() + self.extra.len() + self.unknown.len()
    }
}

fn add(pairs: &mut Vec<ApiName>, pair: &ApiName) {
    if !pairs.contains(pair) {
        pairs.push(pair.clone());
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Returns the score of the original program. It splits a name at the first `_` into tool and API,
/// which is wrong for function names and for tools with `_` in their name. Without gold APIs the
/// score is 0.
pub fn literal<'a>(offered: &Offered, names: impl IntoIterator<Item = &'a str>) -> f64 {
    let mut called: Vec<ApiName> = Vec::new();
    for (tool, api) in
        names.into_iter().filter(|name| *name != "Finish").filter_map(|name| name.split_once('_'))
    {
        add(&mut called, &ApiName { tool: tool.to_owned(), api: api.to_owned() });
    }
    let right = offered.gold.iter().filter(|gold| called.contains(gold)).count();
    share(right, offered.gold.len()).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use touchstone_formats::stabletoolbench::{Api, Query};

    fn offered() -> Offered {
        let long = "Over And Over The Same Long Words In Every Name Of This Tool";
        let pairs = [
            ("Sky", "Stars"),
            ("Sky", "Moons"),
            (long, "Today Sure"),
            (long, "Tomorrow Sure"),
            ("a_b", "c"),
        ];
        let apis = pairs
            .map(|(tool, name)| Api { tool: tool.into(), name: name.into(), ..Api::default() })
            .to_vec();
        let gold = vec![apis[0].pair(), apis[2].pair(), apis[3].pair(), apis[4].pair()];
        Offered::from_query(&Query { apis, gold, ..Query::default() })
    }

    fn named<'a>(names: &[&'a str]) -> Vec<Called<'a>> {
        names.iter().map(|name| Called::Name(name)).collect()
    }

    #[test]
    fn hits_missing_extra_and_unknown_are_told_apart() {
        let calls = named(&[
            "stars_for_sky",
            "moons_for_sky",
            "stars_for_sky",
            "weather",
            "Finish",
            SEARCH,
            MADE_UP,
        ]);
        let counts = ApiCalls::count(&offered(), calls);
        let apis =
            |pairs: &[ApiName]| pairs.iter().map(|pair| pair.api.clone()).collect::<Vec<_>>();
        assert_eq!(apis(&counts.hits), ["Stars"]);
        assert_eq!(apis(&counts.missing), ["Today Sure", "Tomorrow Sure", "c"]);
        assert_eq!(apis(&counts.extra), ["Moons"]);
        assert_eq!((counts.unknown.as_slice(), counts.called()), (&["weather".to_owned()][..], 3));
        assert_eq!(
            (counts.score(), counts.at_most(), counts.ambiguous),
            (Some(0.25), Some(0.25), false)
        );
    }

    #[test]
    fn a_name_of_two_gold_apis_counts_for_the_first_and_says_so() {
        let offered = offered();
        let name = touchstone_formats::stabletoolbench::names::function_name(
            &offered.apis[3].tool,
            "Tomorrow Sure",
        );
        let counts = ApiCalls::count(&offered, named(&[&name, &name]));
        assert_eq!(
            (counts.score(), counts.at_most(), counts.ambiguous),
            (Some(0.25), Some(0.5), true)
        );
        let exact = ApiCalls::count(&offered, [Called::Pair(&offered.apis[3])]);
        assert_eq!((exact.hits.len(), exact.ambiguous), (1, false));
    }

    #[test]
    fn without_gold_there_is_no_score() {
        assert_eq!(ApiCalls::count(&Offered::default(), named(&["a"])).score(), None);
    }

    #[test]
    fn the_original_cuts_names_at_their_first_stroke() {
        let offered = offered();
        for (names, score) in [
            (&["Sky_Stars", "Finish"][..], 0.25),
            (&["stars_for_sky"], 0.0),
            (&["a_b_c"], 0.0),
            (&["Sky"], 0.0),
            (&[], 0.0),
        ] {
            assert_eq!(
                literal(&offered, names.iter().copied()).to_bits(),
                f64::to_bits(score),
                "{names:?}"
            );
        }
        assert_eq!(literal(&Offered::default(), ["a_b"]).to_bits(), 0.0_f64.to_bits());
    }

    proptest! {
        #[test]
        fn the_score_lies_between_0_and_1_grows_with_calls_and_knows_no_order(picks in prop::collection::vec(0..7usize, 0..12), more in 0..7usize) {
            let offered = offered();
            let all = ["stars_for_sky", "Sky_Moons", "Sky Stars", "a_b_c", "c_for_a_b", "nothing", "Finish"];
            let of = |picks: &[usize]| ApiCalls::count(&offered, picks.iter().map(|at| Called::Name(all[*at])));
            let (counts, mut turned) = (of(&picks), picks.clone());
            turned.reverse();
            let score = counts.score().unwrap();
            prop_assert!((0.0..=1.0).contains(&score) && score <= counts.at_most().unwrap());
            prop_assert_eq!(of(&turned).score(), counts.score());
            turned.push(more);
            prop_assert!(of(&turned).score() >= counts.score());
            prop_assert_eq!(counts.hits.len() + counts.missing.len(), counts.gold);
        }
    }
}
