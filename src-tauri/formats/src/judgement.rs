//! **Pure.** Files of judge results, `.touchstone/judgements/<run>.yaml`: each judgement with its
//! rounds, reasons and raw replies. They cost money, so nothing in these files is ever dropped,
//! including unknown keys.
use touchstone_model::error::{ReadError, ReadErrorKind, text_of};
use touchstone_model::value::Value;
use touchstone_model::yaml;

/// Result of one round of a judge.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Round {
    /// Verdict; `None` if the reply could not be parsed.
    pub verdict: Option<String>,
    /// Score from 0 to 1.
    pub score: Option<f64>,
    /// Reason of the verdict.
    pub reason: String,
    /// Raw replies in order; empty if no model was called.
    pub replies: Vec<String>,
    /// Id of the model that replied, as reported by the provider.
    pub model_id: Option<String>,
    /// Input and output tokens; `None` if unknown.
    pub tokens: Option<u64>,
    /// Cost in dollars; `None` if unknown.
    pub cost: Option<f64>,
    /// Date and time, as written.
    pub at: Option<String>,
    /// Order in which two answers were shown, if it was random.
    pub order: Option<String>,
    /// Duration in seconds; `None` if not recorded, or if the replies existed already.
    pub seconds: Option<f64>,
}

/// Result of one judge with one model on a run, for the inputs at that time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Judgement {
    /// Name of the judge.
    pub judge: String,
    /// Version of the judge's prompt.
    pub version: u32,
    /// Model, by its name in the workspace.
    pub model: String,
    /// Checksum of the model's configuration at that time: it changes with address, id and
    /// sampling. `None` in files that do not record it.
    pub model_mark: Option<String>,
    /// Name of the rules that were applied.
    pub rules: String,
    /// Checksum of the inputs shown to the judge.
    pub inputs: String,
    /// Path of the run that it was compared with.
    pub against: Option<String>,
    /// Number of rounds requested.
    pub wanted: u32,
    /// Rounds that were completed.
    pub rounds: Vec<Round>,
}

/// Extension of these files.
pub const END: &str = ".yaml";

/// Returns the file name for the judgements of a run, from the path of the run below the output
/// directory: the whole path and `.yaml`, so that no two runs share a file. The part after `#`,
/// which is the member of a file with many runs, does not create folders.
pub fn file_of(run: &str) -> String {
    match run.split_once('#') {
        Some((file, member)) => {
            format!("{file}#{}{END}", member.replace('%', "%25").replace('/', "%2F"))
        }
        None => format!("{run}{END}"),
    }
}

/// Returns the path of the run that a file of judgements belongs to.
pub fn run_of(file: &str) -> Option<String> {
    let run = file.strip_suffix(END)?;
    Some(match run.split_once('#') {
        Some((file, member)) => {
            format!("{file}#{}", member.replace("%2F", "/").replace("%25", "%"))
        }
        None => run.to_owned(),
    })
}

/// A file of judgements.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JudgementFile {
    entries: Vec<(Value, Value)>,
    judgements: Vec<Judgement>,
}

const KEY: &str = "judgements";

impl JudgementFile {
    /// Parses a file. Fails if it has no list `judgements`, or if a judgement lacks a required key.
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        let bad = |message: &str| ReadError::new(ReadErrorKind::BadValue, message);
        let Value::Map(entries) = yaml::read(text_of(bytes)?)? else {
            return Err(bad("A file of judgements has to be a map with the key `judgements`."));
        };
        let list = entries.iter().find(|(key, _)| key.text() == Some(KEY)).map(|(_, value)| value);
        let Some(Value::List(list)) = list else {
            return Err(bad("`judgements` has to be a list."));
        };
        let judgements = list.iter().map(judgement).collect::<Option<Vec<_>>>();
        let judgements = judgements
            .ok_or_else(|| bad("A judgement lacks `judge`, `model`, `inputs` or `rounds`."))?;
        Ok(Self { entries, judgements })
    }

    /// Returns the judgements, oldest first.
    pub fn judgements(&self) -> &[Judgement] {
        &self.judgements
    }

    /// Replaces the judgement at an index, or appends it. Unknown keys of the old one are kept.
    pub fn put(&mut self, at: usize, judgement: Judgement) {
        let at = at.min(self.judgements.len());
        let known = self.entries.iter().position(|(key, _)| key.text() == Some(KEY));
        let place = known.unwrap_or_else(|| {
            self.entries.push((KEY.into(), Value::List(Vec::new())));
            self.entries.len() - 1
        });
        let Value::List(list) = &mut self.entries[place].1 else { return };
        let mut written = written(&judgement);
        if at < list.len() {
            let known = |key: &Value| written.iter().any(|(name, _)| name == key);
            let unknown: Vec<_> =
                list[at].entries().iter().filter(|(key, _)| !known(key)).cloned().collect();
            written.extend(unknown);
            list[at] = Value::Map(written);
            self.judgements[at] = judgement;
        } else {
            list.push(Value::Map(written));
            self.judgements.push(judgement);
        }
    }

    /// Formats the file.
    pub fn write(&self) -> String {
        yaml::write(&Value::Map(self.entries.clone()))
    }
}

fn judgement(value: &Value) -> Option<Judgement> {
    let word = |key: &str| value.get(key).and_then(word);
    let rounds: Vec<Round> = value.get("rounds")?.items().iter().map(round).collect();
    Some(Judgement {
        judge: word("judge")?,
        version: word("version").and_then(|text| text.parse().ok()).unwrap_or(0),
        model: word("model")?,
        model_mark: word("model_mark"),
        rules: word("rules").unwrap_or_default(),
        inputs: word("inputs")?,
        against: word("against"),
        wanted: word("wanted")
            .and_then(|text| text.parse().ok())
            .unwrap_or_else(|| u32::try_from(rounds.len()).unwrap_or(0)),
        rounds,
    })
}

fn round(value: &Value) -> Round {
    let word = |key: &str| value.get(key).and_then(word);
    let number = |key: &str| {
        word(key).and_then(|text| text.parse::<f64>().ok()).filter(|number| number.is_finite())
    };
    Round {
        verdict: word("verdict"),
        score: number("score").filter(|score| (0.0..=1.0).contains(score)),
        reason: word("reason").unwrap_or_default(),
        replies: value
            .get("replies")
            .map(|list| list.items().iter().filter_map(self::word).collect())
            .unwrap_or_default(),
        model_id: word("model_id"),
        tokens: word("tokens").and_then(|text| text.parse().ok()),
        cost: number("cost"),
        at: word("at"),
        order: word("order"),
        seconds: number("seconds").filter(|seconds| *seconds >= 0.0),
    }
}

fn word(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) | Value::Number(text) => Some(text.clone()),
        _ => None,
    }
}

fn written(judgement: &Judgement) -> Vec<(Value, Value)> {
    let Judgement { judge, version, model, model_mark, rules, inputs, against, wanted, rounds } =
        judgement;
    let mut entries: Vec<(Value, Value)> = vec![
        ("judge".into(), judge.as_str().into()),
        ("version".into(), Value::Number(version.to_string())),
        ("model".into(), model.as_str().into()),
        ("rules".into(), rules.as_str().into()),
        ("inputs".into(), inputs.as_str().into()),
        ("wanted".into(), Value::Number(wanted.to_string())),
        ("rounds".into(), Value::List(rounds.iter().map(written_round).collect())),
    ];
    if let Some(against) = against {
        entries.insert(5, ("against".into(), against.as_str().into()));
    }
    if let Some(mark) = model_mark {
        entries.insert(3, ("model_mark".into(), mark.as_str().into()));
    }
    entries
}

fn written_round(round: &Round) -> Value {
    let Round { verdict, score, reason, replies, model_id, tokens, cost, at, order, seconds } =
        round;
    let text = |text: &Option<String>| text.as_deref().map_or(Value::Null, Value::from);
    let number = |number: Option<String>| number.map_or(Value::Null, Value::Number);
    let mut entries = vec![
        ("verdict".into(), text(verdict)),
        ("score".into(), number(score.map(|score| score.to_string()))),
        ("reason".into(), reason.as_str().into()),
    ];
    let further = [
        ("model_id", text(model_id)),
        ("tokens", number(tokens.map(|tokens| tokens.to_string()))),
        ("cost", number(cost.map(|cost| cost.to_string()))),
        ("at", text(at)),
        ("order", text(order)),
        (
            "seconds",
            number(
                seconds
                    .map(|seconds| (1e3 * seconds).round() / 1e3)
                    .map(|seconds| seconds.to_string()),
            ),
        ),
    ];
    entries.extend(
        further
            .into_iter()
            .filter(|(_, value)| *value != Value::Null)
            .map(|(key, value)| (key.into(), value)),
    );
    if !replies.is_empty() {
        entries.push((
            "replies".into(),
            Value::List(replies.iter().map(|reply| reply.as_str().into()).collect()),
        ));
    }
    Value::Map(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn example() -> Judgement {
        let round = Round {
            verdict: Some("solved".to_owned()),
            score: Some(1.0),
            reason: "All there.".to_owned(),
            replies: vec!["{\"verdict\": \"solved\"}\nsystem: no".to_owned()],
            model_id: Some("m-1".to_owned()),
            tokens: Some(12),
            cost: Some(0.25),
            at: Some("2025-02-21T00:12:07.000Z".to_owned()),
            order: None,
            seconds: Some(2.5),
        };
        let unread = Round {
            reason: "The reply could not be read.".to_owned(),
            replies: vec!["hm".to_owned()],
            ..Round::default()
        };
        Judgement {
            judge: "sopr".to_owned(),
            version: 1,
            model: "m".to_owned(),
            model_mark: Some("0b".to_owned()),
            rules: "ours".to_owned(),
            inputs: "00000000000000000000000000000012".to_owned(),
            against: None,
            wanted: 3,
            rounds: vec![round, unread],
        }
    }

    const WRITTEN: &str = "judgements:
  - judge: sopr
    version: 1
    model: m
    model_mark: '0b'
    rules: ours
    inputs: '00000000000000000000000000000012'
    wanted: 3
    rounds:
      - verdict: solved
        score: 1
        reason: All there.
        model_id: m-1
        tokens: 12
        cost: 0.25
        at: '2025-02-21T00:12:07.000Z'
        seconds: 2.5
        replies:
          - |-
            {\"verdict\": \"solved\"}
            system: no
      - verdict: null
        score: null
        reason: The reply could not be read.
        replies:
          - hm
";

    #[test]
    fn judgements_are_written_so_that_people_can_read_them() {
        let mut sheet = JudgementFile::default();
        sheet.put(0, example());
        assert_eq!(sheet.write(), WRITTEN);
        assert_eq!(JudgementFile::read(sheet.write().as_bytes()).unwrap(), sheet);
    }

    #[test]
    fn unknown_keys_stay_and_only_the_matching_judgement_changes() {
        let mut sheet = JudgementFile::read(
            b"by: me\njudgements:\n  - judge: a\n    model: m\
            \n    inputs: x\n    rounds: []\n    tag: 1.10\n  - judge: b\n    model: m\
            \n    inputs: x\n    rounds: [{ verdict: odd, extra: 1 }]\n",
        )
        .unwrap();
        let mut first = sheet.judgements()[0].clone();
        first.rounds.push(Round { verdict: Some("solved".to_owned()), ..Round::default() });
        sheet.put(0, first);
        sheet.put(99, example());
        let text = sheet.write();
        assert!(
            text.starts_with("by: me\n") && text.contains("tag: 1.10") && text.contains("extra: 1"),
            "{text}"
        );
        assert_eq!(JudgementFile::read(text.as_bytes()).unwrap().judgements().len(), 3);
    }

    #[test]
    fn files_that_are_not_judgements_are_refused() {
        for text in ["", "[]", "judgements: 1", "judgements: [{ judge: a }]", "a: [", "a: 1"] {
            assert!(JudgementFile::read(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn no_two_runs_share_a_file_and_the_file_tells_the_run() {
        let runs = [
            "a/b.yaml",
            "a/b",
            "a/b.json",
            "a/b.json#588",
            "a/b.json#5/8",
            "a/b.json#5%2F8",
            "a/b.json#../x",
            "x_run_1",
        ];
        let mut files: Vec<String> = runs.iter().map(|run| file_of(run)).collect();
        for (run, file) in runs.iter().zip(&files) {
            assert_eq!(run_of(file).as_deref(), Some(*run));
            assert!(!file.contains("/../"), "{file}");
        }
        files.sort();
        files.dedup();
        assert_eq!(files.len(), runs.len());
    }

    proptest! {
        #[test]
        fn any_judgement_reads_back(reason in "[^\\x00]{0,40}", reply in "[^\\x00]{0,60}", verdict in prop::option::of("[a-z]{1,8}")) {
            let mut judgement = example();
            judgement.against = judgement.rounds[0].verdict.clone();
            judgement.rounds[0] = Round { reason, replies: vec![reply], verdict, ..judgement.rounds[0].clone() };
            let mut sheet = JudgementFile::default();
            sheet.put(0, judgement.clone());
            let read = JudgementFile::read(sheet.write().as_bytes()).unwrap();
            prop_assert_eq!(&read.judgements()[0], &judgement);
        }

        #[test]
        fn nothing_that_is_read_stops_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = JudgementFile::read(&bytes);
        }
    }
}
