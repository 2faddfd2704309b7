//! **Pure.** Describes runs that a launch omits.
use std::collections::BTreeMap;

/// Maximum number of reasons listed individually.
const REASONS: usize = 5;

/// Returns one sentence per reason, and a summary of the reasons beyond [`REASONS`].
pub(super) fn left_out(refused: &[(String, String)]) -> Vec<String> {
    let mut whys: BTreeMap<&str, (&str, usize)> = BTreeMap::new();
    for (path, why) in refused {
        whys.entry(why).or_insert((path, 0)).1 += 1;
    }
    let (told, rest): (Vec<_>, Vec<_>) =
        whys.into_iter().enumerate().partition(|(at, _)| *at < REASONS);
    let mut notes: Vec<String> = told
        .into_iter()
        .map(|(_, (why, (path, count)))| match count {
            1 => format!("{path} is left out. {why}"),
            _ => format!("{count} runs are left out, including {path}. {why}"),
        })
        .collect();
    let more: usize = rest.iter().map(|(_, (_, (_, count)))| count).sum();
    if more > 0 {
        let what =
            if more == 1 { "1 more run is".to_owned() } else { format!("{more} more runs are") };
        notes.push(format!(
            "{what} left out for other reasons. The plan of a new launch lists them."
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_are_left_out_are_told_by_reason_and_many_reasons_as_a_number() {
        let refused = |whys: &[&str]| -> Vec<(String, String)> {
            whys.iter()
                .enumerate()
                .map(|(at, why)| (format!("{at}.yaml"), (*why).to_owned()))
                .collect()
        };
        assert_eq!(
            left_out(&refused(&["A.", "B.", "A."])),
            ["2 runs are left out, including 0.yaml. A.", "1.yaml is left out. B."]
        );
        let many = left_out(&refused(&["A.", "B.", "C.", "D.", "E.", "F.", "G.", "G."]));
        let last =
            "3 more runs are left out for other reasons. The plan of a new launch lists them.";
        assert_eq!((many.len(), many[5].as_str()), (6, last));
    }
}
