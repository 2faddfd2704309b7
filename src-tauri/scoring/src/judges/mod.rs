//! **Pure.** LLM judges: what each is shown, what it is asked and how often, how its replies are
//! read, and what follows. Nothing is sent from here: a [`Sitting`] says what to ask next, is told
//! what came back, and ends with a ruling.
mod about;
mod composite;
mod evaluators;
mod fac;
mod own;
pub(crate) mod prompt;
pub(crate) mod reply;
mod rounds;
mod sopr;
pub mod sowr;
mod subject;
mod table;
mod turns;

pub use about::{About, Group, Scale};
pub use fac::official_score;
pub(crate) use own::KINDS;
pub use own::Seat;
pub use reply::Said;
pub use rounds::{Rates, mean_and_spread, solve_rate};
pub use sopr::Status;
pub use subject::{Finish, Rival, Subject};
pub use turns::Turns;

use crate::azure::Evaluator;
use prompt::Prompt;
use std::borrow::Cow;
use std::sync::LazyLock;

/// Whose rules decide what a judge is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Rules {
    /// Ours.
    #[default]
    Ours,
    /// Those of the published scripts, with their mistakes.
    Official,
}

impl Rules {
    /// As it is written in suites and files.
    pub fn word(self) -> &'static str {
        match self {
            Rules::Ours => "ours",
            Rules::Official => "official",
        }
    }

    /// The rules of a word.
    pub fn of(word: &str) -> Option<Self> {
        [Rules::Ours, Rules::Official].into_iter().find(|rules| rules.word() == word)
    }
}

/// A judge of single runs.
#[derive(Debug)]
pub struct Judge {
    /// As suites name it.
    pub name: Cow<'static, str>,
    /// What it judges, as a sentence.
    pub what: &'static str,
    /// Rounds when nobody says how many.
    pub rounds: u32,
    /// Questions of one round at most, asking again for what could not be read aside.
    pub questions: u32,
    /// It compares a run with another.
    pub pairs: bool,
    /// The rules of the published scripts decide something else than ours.
    pub official: bool,
    way: Way,
}

/// How a judge comes to its rulings.
#[derive(Debug)]
enum Way {
    /// Its replies are words of ours, and rules decide what follows from them.
    Words {
        prompt: LazyLock<Prompt>,
        /// What it may say.
        words: &'static [&'static str],
        decide: fn(&Subject, Rules, &[Said]) -> Step,
    },
    /// It is an evaluator of azure-ai-evaluation.
    Evaluator(LazyLock<Option<Box<Evaluator>>>),
    /// A suite made it up.
    Own(Box<Evaluator>),
}

/// What a judge comes to after what it heard so far.
enum Step {
    /// Asks the question of this section.
    Ask(&'static str),
    Rule(Ruling),
}

/// What a judge decides in one round.
#[derive(Debug, Clone, PartialEq)]
pub struct Ruling {
    /// In a word: `solved`, `4`, `low (2)`, `not found`.
    pub word: String,
    /// From 0 to 1.
    pub score: f64,
    /// Why, in the words of the judge; ours where no model was asked.
    pub reason: String,
}

/// The judges that there are.
pub fn all() -> &'static [Judge] {
    &table::JUDGES
}

/// The judge of that name.
pub fn named(name: &str) -> Option<&'static Judge> {
    all().iter().find(|judge| judge.name == name)
}

impl Judge {
    /// Version of its words and its rules.
    pub fn version(&self) -> u32 {
        match &self.way {
            Way::Words { prompt, .. } => prompt.version,
            Way::Evaluator(_) => evaluators::version(&self.name),
            Way::Own(evaluator) => evaluators::version(evaluator.takes.name),
        }
    }

    /// How many things it may say: the levels of its scale.
    pub fn levels(&self) -> usize {
        match (self.about().scale, &self.way) {
            (Scale::Stars, _) => 5,
            (Scale::Severity, _) => 8,
            (Scale::Words(_), Way::Words { words, .. }) => words.len(),
            (Scale::Words(_), Way::Evaluator(_) | Way::Own(_)) => 2,
        }
    }

    /// Whether the mean over rounds is good enough, unless a suite has a threshold of its own: on a
    /// scale of its own the usual one, else more for it than against.
    pub fn passes(&self, score: f64) -> bool {
        self.threshold().map_or(score > 0.5, |least| reaches(score, least))
    }

    /// Why there is nothing to judge in a run, as a sentence; none when there is. It is no verdict,
    /// neither for nor against the run.
    pub fn lacks(&self, subject: &Subject, rules: Rules) -> Option<String> {
        match self.evaluator() {
            Some(evaluator) => evaluators::lacks(self, evaluator, subject, rules),
            None => unasked(subject),
        }
    }

    /// Its questions after the first show everything that was done; those of others show what the
    /// first does.
    pub fn looks_further(&self) -> bool {
        matches!(self.way, Way::Words { .. })
    }

    /// Questions of one round at least: what follows from replies may make others needless.
    pub fn least_questions(&self) -> u32 {
        if self.looks_further() { 1 } else { self.questions }
    }

    /// Everything that a verdict depends on besides the words of the judge, as one text: runs with
    /// the same one are the same to it.
    pub fn canon(&self, subject: &Subject, rules: Rules) -> String {
        self.evaluator().map_or_else(
            || subject.canon() + &sopr::canon(subject, rules),
            |evaluator| evaluators::canon(evaluator, subject, rules),
        )
    }

    /// The evaluator that it is; none for judges by words of ours.
    fn evaluator(&self) -> Option<&Evaluator> {
        match &self.way {
            Way::Words { .. } => None,
            Way::Evaluator(evaluator) => evaluator.as_deref(),
            Way::Own(evaluator) => Some(evaluator),
        }
    }
}

/// Why a judge of how something was dealt with has nothing to judge when nobody knows what was
/// asked for.
fn unasked(subject: &Subject) -> Option<String> {
    let why = || "Neither the run nor its suite says what was asked for.".to_owned();
    subject.query.trim().is_empty().then(why)
}

/// More rounds are a slip of the finger.
pub const MOST_ROUNDS: u32 = 20;

/// Whether a mean of rounds is a threshold or more: three times the same is the same, though sums
/// are rounded.
pub fn reaches(mean: f64, threshold: f64) -> bool {
    mean + 1e-9 >= threshold
}

/// A question to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Instructions.
    pub instructions: String,
    /// What is asked.
    pub text: String,
    /// A reply to it that could not be read, and what is said then.
    pub unread: Option<(String, &'static str)>,
    /// The model is asked as one that reasons, whatever its own settings say.
    pub reasoning: bool,
}

/// What comes next in a round.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// A model has to be asked.
    Ask(Question),
    /// The judge decided.
    Ruled(Ruling),
    /// Its reply could not be read, and neither could the second.
    Unread,
}

/// One round of a judge over one run.
#[derive(Debug, Clone)]
pub struct Sitting<'a> {
    judge: &'a Judge,
    subject: &'a Subject,
    rules: Rules,
    heard: Vec<Said>,
    unread: Vec<String>,
    /// All replies to an evaluator, which reads them itself.
    replies: Vec<String>,
}

impl<'a> Sitting<'a> {
    /// A round that begins.
    pub fn new(judge: &'a Judge, subject: &'a Subject, rules: Rules) -> Self {
        Self { judge, subject, rules, heard: Vec::new(), unread: Vec::new(), replies: Vec::new() }
    }

    /// What comes next.
    pub fn next(&self) -> Next {
        let Way::Words { prompt, decide, .. } = &self.judge.way else {
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

    /// Takes the reply to the question that came next.
    pub fn take(&mut self, reply: &str) {
        let Way::Words { words, .. } = &self.judge.way else {
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
