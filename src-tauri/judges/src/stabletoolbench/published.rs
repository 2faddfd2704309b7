//! **Pure.** Results published by the authors of `StableToolBench`, for comparison. Published
//! figures are kept unchanged and apart from figures recomputed from them.
use std::sync::LazyLock;
use touchstone_metrics::stats::float;

/// Test sets with their number of queries, in display order.
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
    /// Source file.
    pub file: &'static str,
    /// Line in the source file.
    pub line: u32,
    /// Visibility in the source file.
    pub standing: Visibility,
    /// Heading of the table.
    pub section: &'static str,
    /// Metric.
    pub metric: Metric,
    /// Judge model; `None` when the file does not name it.
    pub judge: Option<&'static str>,
    /// System that it is compared with, for win rates.
    pub against: Option<&'static str>,
    /// Name of the system.
    pub system: &'static str,
    /// Figures in percent, in the order of [`SETS`].
    pub sets: [Figure; 6],
    /// Average as printed.
    pub average: Figure,
}

/// Visibility of a row in its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// Displayed.
    Current,
    /// Commented out: results of an older judge.
    Hidden,
    /// In a file of earlier results.
    Legacy,
}

/// Published metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Share of solved queries.
    Sopr,
    /// Share of queries whose answer was better than another system's.
    Sowr,
    /// Share of complete final answers, according to a fine-tuned judge.
    Fac,
}

/// A figure as printed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    /// Value in percent.
    pub value: f64,
    /// Standard deviation over rounds.
    pub deviation: Option<f64>,
    /// True when it was printed in bold.
    pub bold: bool,
}

impl Metric {
    /// All metrics.
    pub const ALL: [Self; 3] = [Self::Sopr, Self::Sowr, Self::Fac];

    /// Returns the usual abbreviation.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sopr => "SoPR",
            Self::Sowr => "SoWR",
            Self::Fac => "FAC",
        }
    }
}

impl Published {
    /// Returns the unweighted mean of the six sets.
    pub fn mean(&self) -> f64 {
        self.sets.iter().map(|figure| figure.value).sum::<f64>() / 6.0
    }

    /// Returns the mean weighted by the number of queries.
    pub fn weighted(&self) -> f64 {
        let queries: u64 = SETS.iter().map(|(_, queries)| queries).sum();
        let sums =
            self.sets.iter().zip(SETS).map(|(figure, (_, queries))| figure.value * float(queries));
        sums.sum::<f64>() / float(queries)
    }

    /// Returns whether the printed average equals the unweighted mean, within the precision of one
    /// decimal.
    pub fn average_is_mean(&self) -> bool {
        (self.mean() - self.average.value).abs() < 0.05 + 1e-9
    }
}

/// Returns all rows in the order of publication.
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

/// Fields that consecutive rows share.
struct Head {
    file: &'static str,
    standing: Visibility,
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
            "current" => Visibility::Current,
            "hidden" => Visibility::Hidden,
            _ => Visibility::Legacy,
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
            (
                standing(Visibility::Current),
                standing(Visibility::Hidden),
                standing(Visibility::Legacy)
            ),
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
