//! **Pure.** Files of human reviews, `.touchstone/reviews/<run>.yaml`: verdict, score, note, labels,
//! date, answer and author. The file holds the first review of a run; those of further people are in its
//! list `others`. People may also write these files by hand, so unknown keys are kept. Owns their
//! names and content.
use crate::timestamps;
use std::collections::BTreeMap;
use touchstone_model::error::{ReadError, ReadErrorKind, text_of};
use touchstone_model::json;
use touchstone_model::node::{Node, Shape};
use touchstone_model::value::Value;
use touchstone_model::yaml;
use touchstone_model::yaml::tree::Item;

/// Verdict of a reviewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Right.
    Right,
    /// Partly right.
    Partly,
    /// Wrong.
    Wrong,
}

impl Verdict {
    /// All verdicts, best first.
    pub const ALL: [Verdict; 3] = [Verdict::Right, Verdict::Partly, Verdict::Wrong];

    /// Returns the word used in files.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Right => "right",
            Verdict::Partly => "partly",
            Verdict::Wrong => "wrong",
        }
    }

    /// Parses the word used in files.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.word() == word)
    }
}

/// Note on a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepNote {
    /// Number of the step, from 1, as on the page.
    pub step: u32,
    /// Free text.
    pub note: String,
}

/// Review of a run by a person.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Review {
    /// Verdict.
    pub verdict: Option<Verdict>,
    /// Score from 0 to 1 that replaces the automatic score.
    pub score: Option<f64>,
    /// Free text; may be empty.
    pub note: String,
    /// Date and time, as written.
    pub at: Option<String>,
    /// Checksum of the reviewed answer. Without it the review applies to any answer.
    pub answer: Option<String>,
    /// Name of the reviewer, as written. Old files have none.
    pub author: Option<String>,
    /// Notes on steps, in the order of the file.
    pub steps: Vec<StepNote>,
    /// Values of labels, by name, as written.
    pub labels: BTreeMap<String, String>,
}

impl Review {
    /// Returns the date in milliseconds since 1970, if it can be parsed.
    pub fn at_ms(&self) -> Option<i64> {
        let seconds = timestamps::seconds(self.at.as_deref()?)?;
        #[expect(clippy::cast_possible_truncation, reason = "no date is that late")]
        Some((seconds * 1_000.0).round() as i64)
    }

    /// Returns true if there is no verdict, score, note or label.
    pub fn is_empty(&self) -> bool {
        self.verdict.is_none()
            && self.score.is_none()
            && self.note.trim().is_empty()
            && self.steps.is_empty()
            && self.labels.is_empty()
    }
}

/// Returns the file name for the review of a run, from the path of the run below the output
/// directory: the path itself, always with `.yaml`.
pub fn file_of(run: &str) -> String {
    if run.ends_with(END) { run.to_owned() } else { format!("{run}{END}") }
}

/// Extension of these files.
pub const END: &str = ".yaml";

/// A review together with all other keys of its map.
#[derive(Debug, Clone, PartialEq, Default)]
struct Entry {
    entries: Vec<(Value, Value)>,
    review: Review,
}

/// A review file: the reviews of a run by one or more people, with all other keys of the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReviewFile {
    /// The map of the file. Its key `others` is written from `others`.
    first: Entry,
    others: Vec<Entry>,
}

/// Key of the reviews by further people.
const OTHERS: &str = "others";

impl ReviewFile {
    /// Parses a file. Fails if it is empty, is not a map, or has an invalid value.
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        let text = text_of(bytes)?;
        if text.lines().all(|line| line.trim().is_empty() || line.trim().starts_with('#')) {
            return Err(
                ReadError::new(ReadErrorKind::Truncated, "The review is empty.").advise(EXAMPLE)
            );
        }
        let tree = yaml::parse(text)?;
        let root = tree.root();
        let reader = Reader { text };
        let first = reader.entry(root)?;
        let others = match root.get_non_null(OTHERS) {
            None => Vec::new(),
            Some(list) if list.shape() == Shape::List => {
                list.items().map(|item| reader.entry(item)).collect::<Result<_, _>>()?
            }
            Some(other) => {
                return Err(reader.bad(other, "`others` has to be a list of reviews", OTHERS_HINT));
            }
        };
        Ok(Self { first, others })
    }

    /// Returns all reviews with content, in the order of the file.
    pub fn reviews(&self) -> impl Iterator<Item = &Review> {
        let others = self.others.iter().map(|other| &other.review);
        std::iter::once(&self.first.review).chain(others).filter(|review| !review.is_empty())
    }

    /// Returns the review that a person may change: the one with this author. One without an author
    /// belongs only to those without a name. A file that says nothing has an empty review for
    /// anybody.
    pub fn by(&self, author: Option<&str>) -> Option<&Review> {
        let place = self.review_index(author)?;
        let entry = place.checked_sub(1).map_or(Some(&self.first), |at| self.others.get(at))?;
        Some(&entry.review).filter(|review| !review.is_empty() || self.others.is_empty())
    }

    /// Replaces the review that its author may change, or adds one. Unknown keys keep their values
    /// and positions, and the reviews of others stay as they are.
    pub fn set(&mut self, review: Review) {
        let place = self.review_index(review.author.as_deref()).unwrap_or_else(|| {
            self.others.push(Entry::default());
            self.others.len()
        });
        match place.checked_sub(1).and_then(|at| self.others.get_mut(at)) {
            Some(other) => other.set(review),
            None => self.first.set(review),
        }
    }

    /// Removes the review that a person may change. Returns false if nobody else has one.
    pub fn remove(&mut self, author: Option<&str>) -> bool {
        match self.review_index(author) {
            Some(0) => self.first.set(Review::default()),
            Some(place) => drop(self.others.remove(place - 1)),
            None => {}
        }
        self.reviews().next().is_some()
    }

    /// Returns true if a review has values of both labels.
    pub fn has_both_labels(&self, one: &str, other: &str) -> bool {
        self.reviews().any(|of| of.labels.contains_key(one) && of.labels.contains_key(other))
    }

    /// Gives the values of a label to one of another name, in all reviews. Returns false if no review
    /// has values of it.
    pub fn rename_label(&mut self, old: &str, new: &str) -> bool {
        let mut changed = false;
        for entry in std::iter::once(&mut self.first).chain(&mut self.others) {
            let Some(value) = entry.review.labels.remove(old) else { continue };
            entry.review.labels.insert(new.to_owned(), value);
            let labels = entry.entries.iter_mut().find(|(key, _)| key.text() == Some("labels"));
            if let Some((_, Value::Map(labels))) = labels {
                let name = labels.iter_mut().find(|(key, _)| key.text() == Some(old));
                if let Some((key, _)) = name {
                    *key = new.into();
                }
            }
            changed = true;
        }
        changed
    }

    /// Formats the file.
    pub fn write(&self) -> String {
        let mut first = self.first.clone();
        let others: Vec<Value> =
            self.others.iter().map(|other| Value::Map(other.entries.clone())).collect();
        first.put(OTHERS, (!others.is_empty()).then_some(Value::List(others)));
        yaml::write(&Value::Map(first.entries))
    }

    /// Index of the review of an author, counting the first one as 0. The first one is free for
    /// anybody while it says nothing.
    fn review_index(&self, author: Option<&str>) -> Option<usize> {
        let entries = || std::iter::once(&self.first).chain(&self.others);
        let is_own =
            |entry: &Entry| !entry.review.is_empty() && entry.review.author.as_deref() == author;
        entries().position(is_own).or_else(|| self.first.review.is_empty().then_some(0))
    }
}

impl Entry {
    fn set(&mut self, review: Review) {
        let before = std::mem::replace(&mut self.review, review);
        let now = self.review.clone();
        if now.verdict != before.verdict {
            self.put("verdict", now.verdict.map(|verdict| verdict.word().into()));
        }
        // An unchanged score keeps its notation.
        if now.score != before.score {
            self.put("score", now.score.map(|score| Value::Number(format!("{score}"))));
        }
        if now.note != before.note {
            self.put(
                "note",
                Some(now.note.as_str()).filter(|note| !note.is_empty()).map(Value::from),
            );
        }
        if now.at != before.at {
            self.put("at", now.at.as_deref().map(Value::from));
        }
        if now.answer != before.answer {
            self.put("answer", now.answer.as_deref().map(Value::from));
        }
        if now.author != before.author {
            self.put("author", now.author.as_deref().map(Value::from));
        }
        if now.steps != before.steps {
            let steps: Vec<Value> = now.steps.iter().map(|step| self.step(step)).collect();
            self.put("steps", (!steps.is_empty()).then_some(Value::List(steps)));
        }
        if now.labels != before.labels {
            let labels = self.labels(&before.labels, &now.labels);
            self.put("labels", (!labels.is_empty()).then_some(Value::Map(labels)));
        }
    }

    /// Returns the entries of `labels` with other values. Those that stay keep their notation, and a
    /// text that is a number is written as one.
    fn labels(
        &self,
        before: &BTreeMap<String, String>,
        now: &BTreeMap<String, String>,
    ) -> Vec<(Value, Value)> {
        let known = self.entries.iter().find(|(key, _)| key.text() == Some("labels"));
        let mut entry = Entry {
            entries: match known {
                Some((_, Value::Map(entries))) => entries.clone(),
                _ => Vec::new(),
            },
            ..Entry::default()
        };
        for name in before.keys().filter(|name| !now.contains_key(*name)) {
            entry.put(name, None);
        }
        for (name, value) in now.iter().filter(|(name, value)| before.get(*name) != Some(value)) {
            let is_number = json::read(value).is_ok_and(|one| matches!(one, Value::Number(_)));
            let written =
                if is_number { Value::Number(value.clone()) } else { value.as_str().into() };
            entry.put(name, Some(written));
        }
        entry.entries
    }

    /// Returns the entry of a step with a note. Other keys of an entry for the same step are kept.
    fn step(&self, wanted: &StepNote) -> Value {
        let number = wanted.step.to_string();
        let is_same = |entry: &&Value| match entry.get("step") {
            Some(Value::Number(step)) => *step == number,
            _ => false,
        };
        let known = self.entries.iter().find(|(key, _)| key.text() == Some("steps"));
        let known = known.and_then(|(_, steps)| steps.items().iter().find(is_same));
        let mut entry = Entry {
            entries: match known {
                Some(Value::Map(entries)) => entries.clone(),
                _ => vec![("step".into(), Value::Number(number))],
            },
            ..Entry::default()
        };
        entry.put("note", Some(wanted.note.as_str().into()));
        Value::Map(entry.entries)
    }

    fn put(&mut self, key: &str, value: Option<Value>) {
        let place = self.entries.iter().position(|(known, _)| known.text() == Some(key));
        match (place, value) {
            (Some(at), Some(value)) => self.entries[at].1 = value,
            (None, Some(value)) => self.entries.push((key.into(), value)),
            (Some(at), None) => drop(self.entries.remove(at)),
            (None, None) => {}
        }
    }
}

/// Maximum number of labels in a review.
pub const MOST_LABELS: usize = 100;

/// Maximum number of steps with notes in a review.
pub const MOST_STEPS: usize = 500;

const EXAMPLE: &str =
    "Write `verdict: right`, `partly` or `wrong`, and if you like `score` from 0 to 1 and `note`.";

const OTHERS_HINT: &str = "Write `- author: NAME` and `  verdict: right` for each further person.";

struct Reader<'a> {
    text: &'a str,
}

impl Reader<'_> {
    fn entry(&self, root: Item<'_>) -> Result<Entry, ReadError> {
        if root.shape() != Shape::Map {
            return Err(self.bad(root, "A review has to be a map of keys", EXAMPLE));
        }
        let review = Review {
            verdict: root.get_non_null("verdict").map(|at| self.verdict(at)).transpose()?,
            score: root.get_non_null("score").map(|at| self.score(at)).transpose()?,
            note: self.word(root, "note")?.unwrap_or_default(),
            at: self.word(root, "at")?,
            answer: self.word(root, "answer")?,
            author: self.word(root, "author")?,
            steps: self.steps(root)?,
            labels: self.labels(root)?,
        };
        let entries =
            root.entries().map(|(key, value)| (key.to_value(), value.to_value())).collect();
        Ok(Entry { entries, review })
    }

    fn steps(&self, root: Item<'_>) -> Result<Vec<StepNote>, ReadError> {
        const HINT: &str = "Write `- step: 12` and `  note: …` for each step.";
        let Some(list) = root.get_non_null("steps") else { return Ok(Vec::new()) };
        if list.shape() != Shape::List {
            return Err(self.bad(list, "`steps` has to be a list of notes on steps", HINT));
        }
        let note = |item: Item<'_>| {
            let number = item.get_non_null("step").and_then(Node::word);
            let step = number.and_then(|word| word.parse().ok()).filter(|step| *step > 0);
            let step =
                step.ok_or_else(|| self.bad(item, "A note needs the number of a step", HINT));
            Ok(StepNote { step: step?, note: self.word(item, "note")?.unwrap_or_default() })
        };
        let mut notes: Vec<StepNote> = Vec::new();
        for item in list.items() {
            let next = note(item)?;
            match notes.iter_mut().find(|known| known.step == next.step) {
                Some(known) if known.note.is_empty() => known.note = next.note,
                Some(known) if !next.note.is_empty() => {
                    known.note.push('\n');
                    known.note.push_str(&next.note);
                }
                Some(_) => {}
                None => notes.push(next),
            }
            if notes.len() > MOST_STEPS {
                return Err(self.bad(list, "More than 500 steps have notes", "Remove some."));
            }
        }
        Ok(notes)
    }

    fn labels(&self, root: Item<'_>) -> Result<BTreeMap<String, String>, ReadError> {
        const HINT: &str = "Write each on a line of its own: `  severity: high`.";
        let Some(map) = root.get_non_null("labels") else { return Ok(BTreeMap::new()) };
        if map.shape() != Shape::Map {
            return Err(self.bad(map, "`labels` has to be a map of names to values", HINT));
        }
        let mut labels = BTreeMap::new();
        for (key, value) in map.entries() {
            let name = key.word().filter(|name| !name.is_empty());
            let (Some(name), Some(value)) = (name, value.word()) else {
                return Err(self.bad(
                    value,
                    "The value of a label has to be a text or number",
                    HINT,
                ));
            };
            labels.insert(name.to_owned(), value.to_owned());
        }
        if labels.len() > MOST_LABELS {
            return Err(self.bad(map, "More than 100 labels have values", "Remove some."));
        }
        Ok(labels)
    }

    fn verdict(&self, at: Item<'_>) -> Result<Verdict, ReadError> {
        let word = at.word().unwrap_or_default();
        let unknown = || self.bad(at, "This is not a verdict", "Write right, partly or wrong.");
        Verdict::from_word(&word.trim().to_lowercase()).ok_or_else(unknown)
    }

    fn score(&self, at: Item<'_>) -> Result<f64, ReadError> {
        let score = at.number().filter(|score| (0.0..=1.0).contains(score));
        score.ok_or_else(|| self.bad(at, "This is not a score", "Write a number from 0 to 1."))
    }

    fn word(&self, root: Item<'_>, key: &str) -> Result<Option<String>, ReadError> {
        let Some(at) = root.get_non_null(key) else { return Ok(None) };
        let word = at.word().map(|word| Some(word.to_owned()));
        word.ok_or_else(|| {
            self.bad(
                at,
                &format!("`{key}` has to be a text"),
                "Write it on one line, or after `|`.",
            )
        })
    }

    fn bad(&self, at: Item<'_>, message: &str, advice: &str) -> ReadError {
        let offset = at.span().map_or(0, |(from, _)| from);
        ReadError::at_offset(ReadErrorKind::BadValue, self.text, offset, format!("{message}."))
            .advise(advice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse_review(text: &str) -> ReviewFile {
        ReviewFile::read(text.as_bytes()).unwrap()
    }

    fn first(file: &ReviewFile) -> &Review {
        &file.first.review
    }

    fn refused(text: &str) -> (Option<u32>, String, Option<String>) {
        let error = ReviewFile::read(text.as_bytes()).unwrap_err();
        (error.line, error.message, error.advice)
    }

    #[test]
    fn a_review_is_written_as_people_would_write_it() {
        let mut new = ReviewFile::default();
        new.set(Review {
            verdict: Some(Verdict::Partly),
            score: Some(0.5),
            note: "Two rows are swapped.\nThe rest is fine.".to_owned(),
            at: Some("2025-02-21T00:12:07.000Z".to_owned()),
            answer: Some("00000000000000000000000000000012".to_owned()),
            author: Some("Zoë".to_owned()),
            steps: Vec::new(),
            labels: BTreeMap::new(),
        });
        let text = new.write();
        assert_eq!(
            text,
            "verdict: partly\nscore: 0.5\nnote: |-\n  Two rows are swapped.\n  The rest is fine.\n\
             at: '2025-02-21T00:12:07.000Z'\nanswer: '00000000000000000000000000000012'\n\
             author: Zoë\n"
        );
        assert_eq!(parse_review(&text), new);
        assert_eq!(first(&new).at_ms(), Some(1_740_096_727_000));
    }

    #[test]
    fn what_people_leave_out_or_write_otherwise_is_read() {
        let review = first(&parse_review("note: 12\nverdict: Right\nscore:\n")).clone();
        assert_eq!(
            (review.verdict, review.score, review.note.as_str()),
            (Some(Verdict::Right), None, "12")
        );
        assert_eq!((review.at_ms(), review.answer), (None, None));
        assert_eq!(first(&parse_review("score: 1\n")).score, Some(1.0));
        assert!(first(&parse_review("{}\n")).is_empty());
        assert!(first(&parse_review("note: '  '\nby: me\n")).is_empty());
        assert_eq!(first(&parse_review("at: soon\n")).at_ms(), None);
    }

    #[test]
    fn keys_we_do_not_know_stay_where_they_are_and_numbers_keep_their_text() {
        let mut old =
            parse_review("by: Zoë\nscore: 0.50\nverdict: wrong\ntags: [a, 1.10]\nnote: x\n");
        let now =
            Review { verdict: Some(Verdict::Right), note: String::new(), ..first(&old).clone() };
        old.set(now);
        assert_eq!(old.write(), "by: Zoë\nscore: 0.50\nverdict: right\ntags:\n  - a\n  - 1.10\n");
        old.set(Review::default());
        assert_eq!(old.write(), "by: Zoë\ntags:\n  - a\n  - 1.10\n");
    }

    fn says(author: &str, verdict: Verdict) -> Review {
        Review {
            verdict: Some(verdict),
            author: Some(author.to_owned()).filter(|author| !author.is_empty()),
            ..Review::default()
        }
    }

    #[test]
    fn reviews_of_several_people_live_in_one_file_and_each_changes_only_their_own() {
        let mut file = parse_review("verdict: wrong\nauthor: Ann\ntags: [a]\n");
        file.set(says("Zoë", Verdict::Right));
        assert_eq!(
            file.write(),
            "verdict: wrong\nauthor: Ann\ntags:\n  - a\nothers:\n  - verdict: right\n    author: Zoë\n"
        );
        assert_eq!(parse_review(&file.write()).write(), file.write());
        let verdicts = |file: &ReviewFile| {
            file.reviews().map(|review| (review.author.clone(), review.verdict)).collect::<Vec<_>>()
        };
        file.set(says("Zoë", Verdict::Partly));
        file.set(says("Ann", Verdict::Right));
        assert_eq!(
            verdicts(&file),
            [
                (Some("Ann".to_owned()), Some(Verdict::Right)),
                (Some("Zoë".to_owned()), Some(Verdict::Partly))
            ]
        );
        assert_eq!(file.by(Some("Zoë")).unwrap().verdict, Some(Verdict::Partly));
        assert_eq!((file.by(Some("Bo")), file.by(None)), (None, None));
        // What is left keeps its place, and the first place is free again.
        assert!(file.remove(Some("Ann")));
        assert_eq!(file.write(), "tags:\n  - a\nothers:\n  - verdict: partly\n    author: Zoë\n");
        file.set(says("Bo", Verdict::Wrong));
        assert!(
            file.write().starts_with("tags:\n  - a\nverdict: wrong\nauthor: Bo\nothers:\n"),
            "{}",
            file.write()
        );
        assert!(file.remove(Some("Zoë")) && !file.remove(Some("Bo")));
    }

    #[test]
    fn notes_on_steps_are_kept_with_their_other_keys() {
        let mut file = parse_review(
            "verdict: wrong\nsteps:\n  - { step: 3, note: here, tag: a }\n  - step: 12\n    note: and here\n",
        );
        let mut now = first(&file).clone();
        let numbers: Vec<u32> = now.steps.iter().map(|one| one.step).collect();
        assert_eq!(numbers, [3, 12]);
        now.steps[0].note = "there".to_owned();
        now.steps[1] = StepNote { step: 20, note: "new".to_owned() };
        file.set(now);
        assert_eq!(
            file.write(),
            "verdict: wrong\nsteps:\n  - step: 3\n    note: there\n    tag: a\n  - step: 20\n    note: new\n"
        );
        assert!(
            !parse_review("steps: [{ step: 1, note: a }]\n").reviews().next().unwrap().is_empty()
        );
        for text in
            ["steps: 3\n", "steps: [3]\n", "steps: [{ note: a }]\n", "steps: [{ step: 0 }]\n"]
        {
            assert_eq!(refused(text).0, Some(1), "{text}");
        }
        file.set(Review { verdict: Some(Verdict::Wrong), ..Review::default() });
        assert_eq!(file.write(), "verdict: wrong\n");
    }

    #[test]
    fn a_label_gets_another_name_in_all_reviews_and_values_keep_their_notation() {
        let mut file = parse_review(
            "labels:\n  points: 1.50\n  severity: high\nby: me\nothers:\n- author: Bo\n  labels:\n    points: 2\n",
        );
        assert!(file.rename_label("points", "marks"));
        assert_eq!(
            file.write(),
            "labels:\n  marks: 1.50\n  severity: high\nby: me\nothers:\n  - author: Bo\n    labels:\n      marks: 2\n"
        );
        assert!(file.reviews().all(|one| one.labels.contains_key("marks")));
        assert!(!file.rename_label("points", "marks"));
    }

    #[test]
    fn labels_are_a_map_and_those_that_stay_keep_their_notation() {
        let mut file = parse_review("labels:\n  severity: high\n  points: 1.50\nby: me\n");
        let labels = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let now = first(&file).clone();
        assert_eq!(now.labels, labels(&[("severity", "high"), ("points", "1.50")]));
        assert!(!now.is_empty());
        let wanted = labels(&[("severity", "low"), ("points", "1.50"), ("nr", "2"), ("t", "yes")]);
        file.set(Review { labels: wanted.clone(), ..now });
        let text = file.write();
        assert_eq!(text, "labels:\n  severity: low\n  points: 1.50\n  nr: 2\n  t: 'yes'\nby: me\n");
        assert_eq!(first(&parse_review(&text)).labels, wanted);
        file.set(Review::default());
        assert_eq!(file.write(), "by: me\n");
        for (text, line) in [("labels: [a]\n", 1), ("a: 1\nlabels:\n  b: [c]\n", 3)] {
            assert_eq!(refused(text).0, Some(line), "{text}");
        }
    }

    #[test]
    fn several_notes_on_one_step_are_one() {
        let text = "steps:\n  - { step: 3, note: a }\n  - { step: 1, note: x }\n  - { step: 3, note: b }\n";
        let mut file = parse_review(text);
        let note = |step, note: &str| StepNote { step, note: note.to_owned() };
        assert_eq!(first(&file).steps, [note(3, "a\nb"), note(1, "x")]);
        let now = Review { steps: vec![note(3, "a, b")], ..first(&file).clone() };
        file.set(now);
        assert_eq!(file.write(), "steps:\n  - step: 3\n    note: a, b\n");
        let many: Vec<String> =
            (1..=501).map(|step| format!("  - {{ step: {step}, note: a }}\n")).collect();
        assert_eq!(
            refused(&format!("steps:\n{}", many.concat())).1,
            "More than 500 steps have notes."
        );
    }

    #[test]
    fn a_review_without_an_author_is_never_signed_or_changed_by_somebody_with_a_name() {
        let unsigned = "verdict: wrong\nby: me\n";
        let mut file = parse_review(unsigned);
        assert_eq!(file.by(Some("Ann")), None);
        file.set(says("Ann", Verdict::Right));
        let both = format!("{unsigned}others:\n  - verdict: right\n    author: Ann\n");
        assert_eq!(file.write(), both);
        assert_eq!(file.by(Some("Ann")).unwrap().verdict, Some(Verdict::Right));
        assert!(file.remove(Some("Ann")) && file.remove(Some("Bo")));
        assert_eq!(file.write(), unsigned);
        file.set(says("", Verdict::Partly));
        assert_eq!(file.reviews().count(), 1);
        assert_eq!(file.by(None).unwrap().verdict, Some(Verdict::Partly));
        for (text, wanted) in [
            ("verdict: right\nothers: yes\n", "`others` has to be a list of reviews."),
            ("others:\n  - right\n", "A review has to be a map of keys."),
            ("others:\n  - verdict: good\n", "This is not a verdict."),
        ] {
            assert_eq!(refused(text).1, wanted, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_line_and_advice() {
        let (line, message, advice) = refused("note: x\nverdict: good\n");
        assert_eq!((line, message.as_str()), (Some(2), "This is not a verdict."));
        assert_eq!(advice.as_deref(), Some("Write right, partly or wrong."));
        for (text, wanted) in [
            ("score: 2\n", 1),
            ("a: 1\nscore: high\n", 2),
            ("score: .nan\n", 1),
            ("verdict: [right]\n", 1),
        ] {
            assert_eq!(refused(text).0, Some(wanted), "{text}");
        }
        assert_eq!(refused("note: { a: 1 }\n").1, "`note` has to be a text.");
        assert_eq!(refused("verdict: right\nverdict: wrong\n").0, Some(2));
        for text in ["", " \n", "# nothing\n"] {
            assert_eq!(refused(text).1, "The review is empty.", "{text:?}");
        }
        assert_eq!(refused("just words\n").1, "A review has to be a map of keys.");
        assert!(ReviewFile::read(b"note: \xff").is_err());
    }

    #[test]
    fn the_file_of_a_run_has_its_path_and_always_the_same_end() {
        assert_eq!(
            file_of("a/b/t-promptql-o1-variation0-run2.yaml"),
            "a/b/t-promptql-o1-variation0-run2.yaml"
        );
        assert_eq!(
            file_of("o1/promptql/oracle/last 20_run_1"),
            "o1/promptql/oracle/last 20_run_1.yaml"
        );
        assert_eq!(file_of("x.yml"), "x.yml.yaml");
    }

    fn review() -> impl Strategy<Value = Review> {
        let score = prop::option::of((0..=1_000u32).prop_map(|part| f64::from(part) / 1_000.0));
        let verdict = prop::option::of(prop::sample::select(Verdict::ALL.to_vec()));
        (
            verdict,
            score,
            "[^\\x00]{0,40}",
            prop::option::of("[ -~]{1,12}"),
            prop::option::of("[0-9a-f]{32}"),
        )
            .prop_map(|(verdict, score, note, at, answer)| Review {
                verdict,
                score,
                note,
                at,
                answer,
                author: None,
                steps: Vec::new(),
                labels: BTreeMap::new(),
            })
    }

    proptest! {
        #[test]
        fn whatever_is_written_is_read_back(one in review(), two in review()) {
            let mut sheet = ReviewFile::default();
            for review in [one, two] {
                sheet.set(review.clone());
                if sheet.first.entries.is_empty() { continue }
                let read = ReviewFile::read(sheet.write().as_bytes()).unwrap();
                prop_assert_eq!(first(&read), &review);
                prop_assert_eq!(read.write(), sheet.write());
            }
        }

        #[test]
        fn nothing_that_is_read_stops_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = ReviewFile::read(&bytes);
        }
    }
}
