//! Stored verdicts of evaluators on a row of an evaluation and, if the evaluation was made by this
//! program, the replies of the models from the file beside it. Of that file only the lines of the
//! requested row are kept in memory; replies whose content hash differs are left out.
use super::pieces::short;
use super::run_cache::OpenedRun;
use std::io::{BufRead, BufReader, Read};
use touchstone_api::{StoredRound, StoredVerdict};
use touchstone_formats::collection::EvaluatorReplies;
use touchstone_formats::replies_path::replies;
use touchstone_model::run::Verdict;
use touchstone_model::value::Value;
use touchstone_store::folder_index::FolderIndex;
use touchstone_store::imported_verdicts::result;
use touchstone_store::layouts::MemberPosition;
use touchstone_store::open::{self, Refused};
use touchstone_store::roots::{FileId, Root};

/// Maximum bytes read of a file of replies.
const MOST: u64 = 1 << 30;
/// Maximum bytes of a line; the program does not write longer ones.
const LONGEST_LINE: u64 = 8 << 20;
/// Maximum bytes of replies shown for one run.
const MOST_SHOWN: usize = 2 << 20;
/// Maximum number of evaluators shown.
const MOST_EVALUATORS: usize = 500;
/// Maximum bytes shown of a reason; the full text is among the facts.
const LONGEST_REASON: usize = 16 << 10;

/// Returns the verdicts of a run, and a message if the replies cannot be read.
pub(super) fn stored_verdicts(
    flow: &FolderIndex,
    opened: &OpenedRun,
) -> (Vec<StoredVerdict>, Option<String>) {
    let mut all: Vec<StoredVerdict> =
        opened.run.verdicts.iter().take(MOST_EVALUATORS).map(to_stored_verdict).collect();
    if opened.run.row == Value::Null {
        return (all, None);
    }
    let ([file], Some(spot)) = (opened.files.as_slice(), opened.spot) else { return (all, None) };
    let Some(file) = beside(file) else { return (all, None) };
    match read_replies(flow, &file, spot) {
        Ok(heard) => {
            for one in heard {
                add_replies(&mut all, one);
            }
            (all, None)
        }
        Err(Refused::Gone) => (all, None),
        Err(why) => {
            (all, Some(format!("Raw replies to the evaluators of this row cannot be read: {why}.")))
        }
    }
}

/// Adds the replies of a round to the verdict of its evaluator. An evaluator without a result on
/// any row may be missing from the results file although its calls were paid for; it is added.
fn add_replies(all: &mut Vec<StoredVerdict>, heard: EvaluatorReplies) {
    let known = all.iter().position(|verdict| verdict.evaluator == heard.evaluator);
    let at = known.unwrap_or(all.len());
    if known.is_none() && all.len() < MOST_EVALUATORS {
        let (evaluator, reason) = (heard.evaluator, heard.error.clone());
        all.push(to_stored_verdict(&Verdict {
            evaluator,
            reason,
            is_silent: true,
            ..Verdict::default()
        }));
    }
    if let Some(verdict) = all.get_mut(at) {
        let round = u32::try_from(heard.round).unwrap_or(u32::MAX);
        verdict.rounds.push(StoredRound { round, replies: heard.replies, error: heard.error });
    }
}

fn to_stored_verdict(verdict: &Verdict) -> StoredVerdict {
    let result = result(verdict);
    let Verdict { evaluator, score, word, passed, threshold, reason, is_silent } = verdict.clone();
    let [score, word, threshold, reason] =
        [score, word, threshold, reason].map(|text| text.map(|text| short(&text, LONGEST_REASON)));
    StoredVerdict {
        evaluator,
        score,
        word,
        passed,
        threshold,
        reason,
        silent: is_silent,
        result,
        rounds: Vec::new(),
    }
}

/// Returns the file of replies that belongs to a file of results; `None` if its name is not UTF-8,
/// because the program does not write such a file.
fn beside(file: &FileId) -> Option<FileId> {
    Some(FileId::new(Root::Output, replies(std::str::from_utf8(&file.path).ok()?)))
}

fn read_replies(
    flow: &FolderIndex,
    file: &FileId,
    spot: MemberPosition,
) -> Result<Vec<EvaluatorReplies>, Refused> {
    let (opened, _) = open::open(&flow.roots, file)?;
    lines(BufReader::with_capacity(1 << 16, opened.take(MOST)), spot).map_err(Refused::Io)
}

/// Reads the lines of a row. They are contiguous, and the file is in row order.
fn lines(mut from: impl BufRead, spot: MemberPosition) -> std::io::Result<Vec<EvaluatorReplies>> {
    let (mut found, mut room, mut line) = (Vec::new(), MOST_SHOWN, Vec::new());
    loop {
        line.clear();
        if from.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(found);
        }
        match EvaluatorReplies::row_of(&line) {
            Some(row) if row == spot.at + 1 => {}
            Some(row) if row > spot.at + 1 => return Ok(found),
            _ => continue,
        }
        if let Some(heard) =
            EvaluatorReplies::read(&line).filter(|heard| heard.of == Some(spot.content))
        {
            room = match room.checked_sub(line.len()) {
                Some(room) => room,
                None => return Ok(found),
            };
            found.push(heard);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test_reply(row: usize, of: u64, evaluator: &str) -> EvaluatorReplies {
        let evaluator = evaluator.to_owned();
        EvaluatorReplies {
            row,
            of: Some(of),
            evaluator,
            round: 1,
            replies: vec!["So it is.".to_owned()],
            error: None,
        }
    }

    fn found(text: &str, at: usize, content: u64) -> Vec<String> {
        let found = lines(text.as_bytes(), MemberPosition { at, content }).unwrap();
        found.into_iter().map(|heard| heard.evaluator).collect()
    }

    #[test]
    fn replies_are_those_of_the_row_with_its_number_and_its_words() {
        let text: String = [
            test_reply(1, 7, "a"),
            test_reply(2, 8, "b"),
            test_reply(2, 8, "c"),
            test_reply(3, 7, "d"),
        ]
        .iter()
        .map(EvaluatorReplies::line)
        .collect();
        assert_eq!(found(&text, 1, 8), ["b", "c"]);
        assert_eq!(found(&text, 0, 7), ["a"]);
        assert!(found(&text, 1, 7).is_empty() && found(&text, 3, 7).is_empty());
        assert_eq!(found(&format!("odd\n\n{text}"), 2, 7), ["d"]);
    }

    #[test]
    fn stored_results_of_one_row_are_shown_up_to_a_limit() {
        let long =
            EvaluatorReplies { replies: vec!["x".repeat(MOST_SHOWN / 2)], ..test_reply(1, 7, "a") };
        let text: String = std::iter::repeat_n(long.line(), 3).collect();
        assert_eq!(found(&text, 0, 7).len(), 1);
    }
}
