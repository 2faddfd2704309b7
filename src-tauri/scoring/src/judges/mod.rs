//! **Pure.** LLM judges: what each is shown, what it is asked and how often, how its replies are read, and what follows. Nothing is
//! sent from here: a [`Sitting`] says what to ask next, is told what came back, and ends with a ruling.
mod about;
mod fac;
pub(crate) mod prompt;
pub(crate) mod reply;
mod rounds;
mod sopr;
pub mod sowr;
mod subject;

pub use about::{About, Group, Scale};
pub use fac::official_score;
pub use reply::Said;
pub use rounds::{Rates, mean_and_spread, solve_rate};
pub use sopr::{Status, official_finish};
pub use subject::{Finish, Rival, Subject};

use prompt::Prompt;
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
    pub name: &'static str,
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
    prompt: LazyLock<Prompt>,
    /// What it may say.
    words: &'static [&'static str],
    decide: fn(&Subject, Rules, &[Said]) -> Step,
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
    /// In a word: `solved`.
    pub word: String,
    /// From 0 to 1.
    pub score: f64,
    /// Why, in the words of the judge; ours where no model was asked.
    pub reason: String,
}

static JUDGES: [Judge; 3] = [
    Judge {
        name: "sopr",
        what: "Was the request solved? Solved is 1, unsure 0.5, unsolved 0 (solvable pass rate).",
        rounds: 3,
        questions: 2,
        pairs: false,
        official: true,
        prompt: LazyLock::new(|| Prompt::of(include_str!("../../judges/sopr.md"))),
        words: &sopr::WORDS,
        decide: sopr::decide,
    },
    Judge {
        name: "fac",
        what: "Does the final answer deal with every part of the request? 1 or 0 (final answer completeness).",
        rounds: 1,
        questions: 1,
        pairs: false,
        official: false,
        prompt: LazyLock::new(|| Prompt::of(include_str!("../../judges/fac.md"))),
        words: &fac::WORDS,
        decide: fac::decide,
    },
    Judge {
        name: "sowr",
        what: "Does it serve the person better than another run of the same task? Win is 1, tie 0.5, lose 0 (solvable win rate).",
        rounds: 3,
        questions: 1,
        pairs: true,
        official: true,
        prompt: LazyLock::new(|| Prompt::of(include_str!("../../judges/sowr.md"))),
        words: &sowr::WORDS,
        decide: sowr::decide,
    },
];

/// The judges that there are.
pub fn all() -> &'static [Judge] {
    &JUDGES
}

/// The judge of that name.
pub fn named(name: &str) -> Option<&'static Judge> {
    JUDGES.iter().find(|judge| judge.name == name)
}

impl Judge {
    /// Version of its words and its rules.
    pub fn version(&self) -> u32 {
        self.prompt.version
    }

    /// Whether the mean over rounds is good enough, unless a suite has a threshold of its own: on a scale of its own the usual one,
    /// else more for it than against.
    pub fn passes(&self, score: f64) -> bool {
        self.threshold().map_or(score > 0.5, |least| reaches(score, least))
    }
}

/// More rounds are a slip of the finger.
pub const MOST_ROUNDS: u32 = 20;

/// Whether a mean of rounds is a threshold or more: three times the same is the same, though sums are rounded.
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
}

impl<'a> Sitting<'a> {
    /// A round that begins.
    pub fn new(judge: &'a Judge, subject: &'a Subject, rules: Rules) -> Self {
        Self { judge, subject, rules, heard: Vec::new(), unread: Vec::new() }
    }

    /// What comes next.
    pub fn next(&self) -> Next {
        let section = match (self.judge.decide)(self.subject, self.rules, &self.heard) {
            Step::Rule(ruling) => return Next::Ruled(ruling),
            Step::Ask(section) => section,
        };
        let unread = match self.unread.as_slice() {
            [] => None,
            [reply] => Some((reply.clone(), reply::AGAIN)),
            _ => return Next::Unread,
        };
        let Subject { query, answer, process, rival, .. } = self.subject;
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
        let prompt = &self.judge.prompt;
        Next::Ask(Question {
            instructions: prompt.fill("instructions", &[]),
            text: prompt.fill(section, &copied),
            unread,
        })
    }

    /// Takes the reply to the question that came next.
    pub fn take(&mut self, reply: &str) {
        match reply::read(reply, self.judge.words) {
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
