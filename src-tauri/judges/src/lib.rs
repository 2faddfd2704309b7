//! **Pure.** LLM judges, the evaluators of azure-ai-evaluation, and the measures of
//! `StableToolBench`: what judges are shown, their questions, the parsing of their replies, and the
//! resulting verdicts. Nothing is sent from here: a [`JudgeRound`] returns the next question, takes
//! the reply, and ends with a ruling.
mod about;
pub mod azure;
mod composite;
mod evaluators;
mod fac;
mod prompt;
mod question;
mod reply;
mod rounds;
mod shortening;
mod sopr;
pub mod sowr;
pub mod stabletoolbench;
mod subject;
mod suite_judges;
mod table;
mod turns;

pub use about::{About, Group, Scale};
pub use fac::official_score;
pub use question::Question;
pub use reply::JudgeReply;
pub use rounds::{Rates, mean_and_spread, solve_rate};
pub use sopr::Status;
pub use subject::{Finish, Rival, Subject};
pub use suite_judges::{JudgeRef, KINDS};
pub use turns::Turns;

use crate::azure::Evaluator;
use prompt::Prompt;
use std::borrow::Cow;
use std::sync::LazyLock;

/// Rules by which a judge decides what to ask about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Rules {
    /// Touchstone's rules.
    #[default]
    Ours,
    /// Rules of the published scripts, including their bugs.
    Official,
}

impl Rules {
    /// Returns the word for the rules in suites and files.
    pub fn word(self) -> &'static str {
        match self {
            Rules::Ours => "ours",
            Rules::Official => "official",
        }
    }

    /// Returns the rules for a word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Rules::Ours, Rules::Official].into_iter().find(|rules| rules.word() == word)
    }
}

/// A judge of single runs.
#[derive(Debug)]
pub struct Judge {
    /// Name in suites.
    pub name: Cow<'static, str>,
    /// One-sentence description.
    pub what: &'static str,
    /// Default number of rounds.
    pub rounds: u32,
    /// Maximum number of questions per round, not counting retries after unreadable replies.
    pub questions: u32,
    /// True when the judge compares a run with another run.
    pub pairs: bool,
    /// True when the official rules differ from Touchstone's.
    pub official: bool,
    way: Strategy,
}

/// Strategy by which a judge reaches its rulings.
#[derive(Debug)]
enum Strategy {
    /// The model replies with one of these words, and rules decide what follows.
    Words {
        prompt: LazyLock<Prompt>,
        /// Allowed words.
        words: &'static [&'static str],
        decide: fn(&Subject, Rules, &[JudgeReply]) -> Step,
    },
    /// An evaluator of azure-ai-evaluation.
    Evaluator(LazyLock<Option<Box<Evaluator>>>),
    /// A judge defined by a suite.
    Own(Box<Evaluator>),
}

/// Decision of a judge after the replies so far.
enum Step {
    /// Asks the question in this section of the prompt.
    Ask(&'static str),
    Rule(Ruling),
}

/// Decision of a judge in one round.
#[derive(Debug, Clone, PartialEq)]
pub struct Ruling {
    /// Verdict: `solved`, `4`, `low (2)`, `not found`.
    pub word: String,
    /// Score from 0 to 1.
    pub score: f64,
    /// Reason given by the judge, or Touchstone's own when no model was asked.
    pub reason: String,
}

/// Returns the built-in judges.
pub fn all() -> &'static [Judge] {
    &table::JUDGES
}

/// Returns the built-in judge of that name.
pub fn named(name: &str) -> Option<&'static Judge> {
    all().iter().find(|judge| judge.name == name)
}

impl Judge {
    /// Returns the description of the judge.
    pub fn about(&self) -> About {
        if let Strategy::Own(evaluator) = &self.way {
            return suite_judges::about(evaluator);
        }
        About::for_judge(&self.name).unwrap_or(About {
            group: Group::Quality,
            scale: Scale::Words("words"),
            needs: "",
        })
    }

    /// Returns the score, from 0 to 1, from which a run passes; `None` when a score above one half
    /// passes.
    pub fn threshold(&self) -> Option<f64> {
        if let Strategy::Own(evaluator) = &self.way {
            return suite_judges::threshold(evaluator);
        }
        let scale = self.about().scale;
        scale.to_score(scale.default_threshold()?)
    }

    /// Returns the version of the prompts and rules.
    pub fn version(&self) -> u32 {
        match &self.way {
            Strategy::Words { prompt, .. } => prompt.version,
            Strategy::Evaluator(_) => evaluators::version(&self.name),
            Strategy::Own(evaluator) => evaluators::version(evaluator.takes.name),
        }
    }

    /// Returns the number of possible verdicts: the levels of the scale.
    pub fn levels(&self) -> usize {
        match (self.about().scale, &self.way) {
            (Scale::Stars, _) => 5,
            (Scale::Severity, _) => 8,
            (Scale::Words(_), Strategy::Words { words, .. }) => words.len(),
            (Scale::Words(_), Strategy::Evaluator(_) | Strategy::Own(_)) => 2,
        }
    }

    /// Returns whether a mean over rounds passes, unless a suite sets its own threshold: at the
    /// default threshold of the scale, or else above one half.
    pub fn passes(&self, score: f64) -> bool {
        self.threshold().map_or(score > 0.5, |least| meets_threshold(score, least))
    }

    /// Returns the reason, a sentence, why there is nothing to judge in a run; `None` when there
    /// is. It does not count as a verdict for or against the run.
    pub fn missing_requirement(&self, subject: &Subject, rules: Rules) -> Option<String> {
        match self.evaluator() {
            Some(evaluator) => evaluators::missing_requirement(self, evaluator, subject, rules),
            None => missing_request(subject),
        }
    }

    /// Returns whether later questions show the whole process. Otherwise they show the same as the
    /// first.
    pub fn shows_process(&self) -> bool {
        matches!(self.way, Strategy::Words { .. })
    }

    /// Returns the minimum number of questions per round; replies can make further questions
    /// unnecessary.
    pub fn least_questions(&self) -> u32 {
        if self.shows_process() { 1 } else { self.questions }
    }

    /// Returns a text of everything that a verdict depends on besides the prompt. Runs with equal
    /// texts are equal for the judge.
    pub fn canon(&self, subject: &Subject, rules: Rules) -> String {
        self.evaluator().map_or_else(
            || subject.canon() + &sopr::canon(subject, rules),
            |evaluator| evaluators::canon(evaluator, subject, rules),
        )
    }

    /// Returns the evaluator behind the judge; `None` for judges by words.
    fn evaluator(&self) -> Option<&Evaluator> {
        match &self.way {
            Strategy::Words { .. } => None,
            Strategy::Evaluator(evaluator) => evaluator.as_deref(),
            Strategy::Own(evaluator) => Some(evaluator),
        }
    }
}

/// Returns the reason why there is nothing to judge when the request is unknown.
fn missing_request(subject: &Subject) -> Option<String> {
    let why = || "The run and its suite do not record the request.".to_owned();
    subject.query.trim().is_empty().then(why)
}

/// Maximum number of rounds. More are assumed to be a typing error.
pub const MOST_ROUNDS: u32 = 20;

/// Returns whether a mean of rounds reaches a threshold, tolerating the rounding of sums.
pub fn meets_threshold(mean: f64, threshold: f64) -> bool {
    mean + 1e-9 >= threshold
}

/// Next step of a round.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Ask a model.
    Ask(Question),
    /// The judge has decided.
    Ruled(Ruling),
    /// Neither the reply nor the retry could be parsed.
    Unread,
}

/// One round of a judge on one run.
#[derive(Debug, Clone)]
pub struct JudgeRound<'a> {
    judge: &'a Judge,
    subject: &'a Subject,
    rules: Rules,
    heard: Vec<JudgeReply>,
    unread: Vec<String>,
    /// All replies to an evaluator, which parses them itself.
    replies: Vec<String>,
}

impl<'a> JudgeRound<'a> {
    /// Creates a round without replies.
    pub fn new(judge: &'a Judge, subject: &'a Subject, rules: Rules) -> Self {
        Self { judge, subject, rules, heard: Vec::new(), unread: Vec::new(), replies: Vec::new() }
    }

    /// Returns the next step.
    pub fn next(&self) -> Next {
        let Strategy::Words { prompt, decide, .. } = &self.judge.way else {
            let next = |evaluator| {
                evaluators::next(self.judge, evaluator, (self.subject, self.rules), &self.replies)
            };
            return self.judge.evaluator().map_or(Next::Unread, next);
        };
        let section = match decide(self.subject, self.rules, &self.heard) {
            Step::Rule(ruling) => return Next::Ruled(ruling),
            Step::Ask(section) => section,
        };
        let unread = match self.unread.as_slice() {
            [] => None,
            [reply] => Some((reply.clone(), reply::AGAIN)),
            _ => return Next::Unread,
        };
        let Subject { query, answer, process, rival, .. } = self.subject;
        let answer = sopr::shown_answer(self.subject, self.rules).unwrap_or_else(|| answer.clone());
        let own = (answer.as_str(), process.join("\n"));
        let other = rival.as_ref().map(|rival| (rival.answer.as_str(), rival.process.join("\n")));
        let first = rival.as_ref().is_some_and(|rival| sowr::reference_first(rival.seed));
        let (shown, further) = match other {
            Some(other) if first => (other, own),
            Some(other) => (own, other),
            None => (own, ("", String::new())),
        };
        let copied = [
            ("query", query.as_str()),
            ("answer", shown.0),
            ("process", &shown.1),
            ("other_answer", further.0),
            ("other_process", &further.1),
        ];
        Next::Ask(Question {
            instructions: prompt.fill("instructions", &[]),
            text: prompt.fill(section, &copied),
            unread,
            reasoning: false,
        })
    }

    /// Adds the reply to the question that [`Self::next`] returned.
    pub fn take(&mut self, reply: &str) {
        let Strategy::Words { words, .. } = &self.judge.way else {
            return self.replies.push(reply.to_owned());
        };
        match reply::read(reply, words) {
            Some(said) => {
                self.heard.push(said);
                self.unread.clear();
            }
            None => self.unread.push(reply.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests;
