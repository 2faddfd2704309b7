//! **Pure.** Kinds of causes: the level above single causes, which shows what mostly goes wrong.
use super::clusters::{Cluster, ClusteredRun, Groups, Share};
use super::modes::Mode;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Kind of causes, in the order of causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The provider or the system failed, or took too long.
    ProviderErrors,
    /// A reply ended in the middle.
    CutOff,
    /// A limit of turns, time, cost or context stopped the run.
    Limits,
    /// A tool failed and never worked again.
    ToolErrors,
    /// One call again and again.
    RepeatedCalls,
    /// The model gave up, or asked instead of answering.
    GaveUp,
    /// A tool that the task needs was never called.
    MissingCalls,
    /// The answer has another form than the expected one.
    Form,
    /// Fields of the answer are wrong or missing.
    WrongValues,
    /// Rows of the answer are missing, not expected, or in another order.
    Rows,
    /// The answer is wrong, without a more precise finding.
    WrongAnswers,
    /// There is no answer, for no visible reason.
    NoAnswer,
}

impl Kind {
    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::ProviderErrors => "provider_errors",
            Kind::CutOff => "cut_off",
            Kind::Limits => "limits",
            Kind::ToolErrors => "tool_errors",
            Kind::RepeatedCalls => "repeated_calls",
            Kind::GaveUp => "gave_up",
            Kind::MissingCalls => "missing_calls",
            Kind::Form => "form",
            Kind::WrongValues => "wrong_values",
            Kind::Rows => "rows",
            Kind::WrongAnswers => "wrong_answers",
            Kind::NoAnswer => "no_answer",
        }
    }

    /// Returns the title.
    pub fn title(self) -> &'static str {
        match self {
            Kind::ProviderErrors => "Errors of the provider or system",
            Kind::CutOff => "Answers cut off",
            Kind::Limits => "Ran out of turns, time, budget or context",
            Kind::ToolErrors => "Errors of tools",
            Kind::RepeatedCalls => "The same call again and again",
            Kind::GaveUp => "Gave up, or asked instead of answering",
            Kind::MissingCalls => "A needed tool was never called",
            Kind::Form => "Answers in another form",
            Kind::WrongValues => "Wrong values",
            Kind::Rows => "Missing, unexpected or reordered rows",
            Kind::WrongAnswers => "Wrong answers without a closer finding",
            Kind::NoAnswer => "No answer",
        }
    }

    /// Returns true for errors of the provider or the system, which say nothing about an answer.
    pub fn is_error(self) -> bool {
        self == Kind::ProviderErrors
    }
}

impl Mode {
    /// Returns the kind of causes that the mode belongs to.
    pub fn kind(self) -> Kind {
        match self {
            Mode::SystemError | Mode::Timeout => Kind::ProviderErrors,
            Mode::CutOff => Kind::CutOff,
            Mode::LimitReached => Kind::Limits,
            Mode::ToolFailed => Kind::ToolErrors,
            Mode::RepeatedCall => Kind::RepeatedCalls,
            Mode::GaveUp | Mode::AskedBack => Kind::GaveUp,
            Mode::NeverCalled => Kind::MissingCalls,
            Mode::FormatBreak => Kind::Form,
            Mode::WrongField => Kind::WrongValues,
            Mode::MissingRows | Mode::ExtraRows | Mode::WrongOrder => Kind::Rows,
            Mode::WrongAnswer => Kind::WrongAnswers,
            Mode::NoAnswer => Kind::NoAnswer,
        }
    }
}

/// Runs that failed for causes of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct KindOfCauses {
    /// The kind.
    pub kind: Kind,
    /// Number of causes that are the main cause of a run.
    pub causes: u64,
    /// Number of runs whose main cause is of this kind.
    pub runs: u64,
    /// Number of runs in which causes of this kind occur only beside a main cause of another kind.
    pub also: u64,
    /// Share of each group, as of a cluster.
    pub shares: Vec<Share>,
}

/// Counts runs by the kind of their main cause, the most frequent kind first. Kinds that are
/// nowhere the main one come last.
pub fn kinds(runs: &[ClusteredRun<'_>], clusters: &[Cluster]) -> Vec<KindOfCauses> {
    let mut found: BTreeMap<Kind, Members> = BTreeMap::new();
    for cluster in clusters {
        let members = found.entry(cluster.cause.mode.kind()).or_default();
        members.causes += u64::from(!cluster.runs.is_empty());
        members.main.extend(&cluster.runs);
        members.also.extend(&cluster.also);
    }
    let groups = Groups::new(runs);
    let mut kinds: Vec<KindOfCauses> = found
        .into_iter()
        .map(|(kind, members)| {
            let main: Vec<usize> = members.main.iter().copied().collect();
            KindOfCauses {
                kind,
                causes: members.causes,
                runs: main.len() as u64,
                also: members.also.difference(&members.main).count() as u64,
                shares: groups.shares(runs, &main),
            }
        })
        .collect();
    kinds.sort_by_key(|it| (Reverse(it.runs), Reverse(it.also), it.kind));
    kinds
}

/// Runs with causes of a kind.
#[derive(Default)]
struct Members {
    causes: u64,
    main: BTreeSet<usize>,
    also: BTreeSet<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failures::clusters::clusters;
    use crate::failures::detect::Finding;
    use crate::failures::modes::Cause;

    fn finding(mode: Mode, subject: &str) -> Finding {
        Finding {
            cause: Cause::new(mode, subject, "has another value").into(),
            template: [].into(),
            step: None,
            quote: String::new(),
            times: 0,
        }
    }

    #[test]
    fn many_causes_of_one_kind_come_before_one_frequent_cause() {
        let rows = [finding(Mode::MissingRows, "")];
        let fields: Vec<[Finding; 2]> = ["a", "b", "c"]
            .map(|field| [finding(Mode::WrongField, field), finding(Mode::MissingRows, "")])
            .into();
        let task = |group, findings| ClusteredRun { group, task: "t", findings };
        let mut runs: Vec<ClusteredRun<'_>> = fields.iter().map(|it| task(0, &it[..])).collect();
        runs.extend([task(1, &rows[..]), task(1, &rows[..]), task(1, &[])]);
        let causes = clusters(&runs);
        assert_eq!(causes[0].cause.mode, Mode::MissingRows, "the most frequent single cause");
        let found = kinds(&runs, &causes);
        let told: Vec<(Kind, u64, u64, u64)> =
            found.iter().map(|it| (it.kind, it.causes, it.runs, it.also)).collect();
        assert_eq!(told, [(Kind::WrongValues, 3, 3, 0), (Kind::Rows, 1, 2, 3)]);
        let share = found[0].shares[0];
        assert_eq!((share.group, share.runs, share.all), (0, 3, 3));
        let interval = found[1].shares[0].interval.unwrap();
        assert!(interval.low < 2.0 / 3.0 && interval.high > 2.0 / 3.0, "{interval:?}");
        assert_eq!(found.iter().map(|it| it.runs).sum::<u64>(), 5, "each failed run is in one");
    }

    #[test]
    fn errors_of_the_provider_are_of_one_kind_and_of_no_other() {
        for mode in Mode::ALL {
            assert_eq!(mode.kind().is_error(), mode.is_error(), "{mode:?}");
        }
        let names: BTreeSet<&str> = Mode::ALL.iter().map(|mode| mode.kind().name()).collect();
        let titles: BTreeSet<&str> = Mode::ALL.iter().map(|mode| mode.kind().title()).collect();
        assert_eq!((names.len(), titles.len()), (12, 12));
    }
}
