//! **Pure.** Results that the authors of `StableToolBench` published, to stand beside one's own.
//! They are facts; what is recomputed from them is told apart.
use crate::stats::float;
use std::sync::LazyLock;

/// The test sets, with how many queries each has, in the order that everything is shown in.
pub const SETS: [(&str, u64); 6] = [
    ("G1_instruction", 163),
    ("G1_category", 153),
    ("G1_tool", 158),
    ("G2_instruction", 106),
    ("G2_category", 124),
    ("G3_instruction", 61),
];

/// One system in one published table.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// The file it stands in.
    pub file: &'static str,
    /// Its line there.
    pub line: u32,
    /// Whether it is shown there.
    pub standing: Standing,
    /// The heading it stands under.
    pub section: &'static str,
    /// What was measured.
    pub metric: Metric,
    /// Who judged; none when the file does not say.
    pub judge: Option<&'static str>,
    /// The system that it is compared with, for win rates.
    pub against: Option<&'static str>,
    /// The system.
    pub system: &'static str,
    /// In percent, in the order of [`SETS`].
    pub sets: [Figure; 6],
    /// The average as it was printed.
    pub average: Figure,
}

/// Whether a row is shown where it was published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It is.
    Current,
    /// It stands in a comment: an older judge.
    Hidden,
    /// It is in a file of earlier results.
    Legacy,
}

/// What was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// The share of queries that were solved.
    Sopr,
    /// The share of queries where the answer was better than another system's.
    Sowr,
    /// Final answers that are complete, as a fine-tuned judge says.
    Fac,
}

/// A figure as it was printed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    /// In percent.
    pub value: f64,
    /// Standard deviation over rounds.
    pub deviation: Option<f64>,
    /// It was printed in bold.
    pub bold: bool,
}

impl Metric {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Sopr, Self::Sowr, Self::Fac];

    /// As everybody writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sopr => "SoPR",
            Self::Sowr => "SoWR",
            Self::Fac => "FAC",
        }
    }
}

impl Published {
    /// The plain mean of the six sets.
    pub fn mean(&self) -> f64 {
        self.sets.iter().map(|figure| figure.value).sum::<f64>() / 6.0
    }

    /// The mean where each query counts the same.
    pub fn weighted(&self) -> f64 {
        let queries: u64 = SETS.iter().map(|(_, queries)| queries).sum();
        let sums =
            self.sets.iter().zip(SETS).map(|(figure, (_, queries))| figure.value * float(queries));
        sums.sum::<f64>() / float(queries)
    }

    /// Whether the average that was printed is the plain mean, as far as its one decimal tells.
    pub fn average_is_mean(&self) -> bool {
        (self.mean() - self.average.value).abs() < 0.05 + 1e-9
    }
}

/// All rows, in the order they were published in.
pub fn published() -> &'static [Published] {
    static ROWS: LazyLock<Vec<Published>> =
        LazyLock::new(|| read(include_str!("../../data/stabletoolbench-published.txt")));
    &ROWS
}

fn read(text: &'static str) -> Vec<Published> {
    let mut rows = Vec::new();
    let mut head = None;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        match line.strip_prefix("@ ") {
            Some(words) => head = Head::read(words),
            None => rows.extend(head.as_ref().and_then(|head| head.row(line))),
        }
    }
    rows
}

/// What rows have in common.
struct Head {
    file: &'static str,
    standing: Standing,
    section: &'static str,
    metric: Metric,
    judge: Option<&'static str>,
    against: Option<&'static str>,
}

impl Head {
    fn read(words: &'static str) -> Option<Self> {
        let mut words = words.split(" | ").map(str::trim);
        let mut next = || words.next();
        let file = next()?;
        let standing = match next()? {
            "current" => Standing::Current,
            "hidden" => Standing::Hidden,
            _ => Standing::Legacy,
        };
        let section = next()?;
        let metric = next()?;
        let metric = Metric::ALL.into_iter().find(|known| known.name() == metric)?;
        let said = |word: &'static str| Some(word).filter(|word| *word != "-");
        Some(Self { file, standing, section, metric, judge: said(next()?), against: said(next()?) })
    }

    fn row(&self, line: &'static str) -> Option<Published> {
        let mut words = line.split('\t');
        let number = words.next()?.parse().ok()?;
        let mut figure = || Figure::read(words.next()?);
        let sets = [figure()?, figure()?, figure()?, figure()?, figure()?, figure()?];
        let average = figure()?;
        Some(Published {
            file: self.file,
            line: number,
            standing: self.standing,
            section: self.section,
            metric: self.metric,
            judge: self.judge,
            against: self.against,
            system: words.next()?,
            sets,
            average,
        })
    }
}

impl Figure {
    fn read(word: &str) -> Option<Self> {
        let bold = word.ends_with('*');
        let word = word.trim_end_matches('*');
        let (value, deviation) = match word.split_once('±') {
            Some((value, deviation)) => (value, Some(deviation.parse().ok()?)),
            None => (word, None),
        };
        Some(Self { value: value.parse().ok()?, deviation, bold })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read_and_its_average_told_apart_from_its_mean() {
        let rows = published();
        let count = |of: &dyn Fn(&Published) -> bool| rows.iter().filter(|row| of(row)).count();
        let standing = |standing| count(&|row| row.standing == standing);
        assert_eq!(
            (standing(Standing::Current), standing(Standing::Hidden), standing(Standing::Legacy)),
            (31, 10, 19)
        );
        assert_eq!(Metric::ALL.map(|metric| count(&|row| row.metric == metric)), [36, 18, 6]);
        let mini = rows.iter().find(|row| row.system == "GPT 4o mini CoT").unwrap();
        let written =
            [mini.average.value, mini.mean(), mini.weighted()].map(|value| format!("{value:.2}"));
        assert_eq!(written, ["25.90", "27.42", "28.69"]);
        assert!(!mini.average_is_mean());
        assert_eq!(count(&Published::average_is_mean), 52);
        assert!(rows.iter().all(|row| (row.metric == Metric::Sowr) == row.against.is_some()));
    }
}
