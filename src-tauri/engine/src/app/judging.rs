//! Judging runs by model: what there is to choose from, what it will take, and beginning it. What is owed is decided in
//! `judging::owed`; the asking is in `judgings`.
use super::judgings::Work;
use super::keys::no_model;
use super::{App, OpenFolder};
use crate::error::{AppError, Code};
use crate::judging::owed::{self, MOST_ROUNDS, Takes, Target, Wish};
use crate::results::judgements::{self, inputs_mark};
use crate::results::open::{self, Refused};
use crate::results::query::{misread, row_by_key, runs_that_pass};
use crate::rows::{
    JudgeChoice, JudgeOptions, JudgePlan, JudgeRequest, JudgeSkip, Judged, JudgedRound, Judging, RunRow, RunState,
    Trouble,
};
use crate::runs::launch::Teller;
use crate::runs::setup::Setup;
use crate::runs::spec::{Model, Price, Provider};
use rusqlite::OptionalExtension as _;
use std::collections::HashMap;
use std::sync::Arc;
use touchstone_formats::judgement::{Judgement, Sheet};
use touchstone_scoring::judges::sowr::{Side, most_frequent};
use touchstone_scoring::judges::{self, Rival, Rules, Status, Subject, mean_and_spread};

/// Runs that are judged at once at most.
const MOST_RUNS: usize = 20_000;
/// Runs that are not judged and are shown by name.
const SHOWN: usize = 50;

impl App {
    /// The judges and the models that there are. `may_run` is false for a front door that may only look.
    pub fn judge_options(&self, may_run: bool) -> Result<JudgeOptions, AppError> {
        let setup = self.setup()?;
        let judge = |judge: &judges::Judge| JudgeChoice {
            name: judge.name.to_owned(),
            what: judge.what.to_owned(),
            version: judge.version(),
            rounds: judge.rounds,
            pairs: judge.pairs,
        };
        let mut models: Vec<_> = setup.models.iter().filter(|_| may_run).map(|model| self.model(model)).collect();
        for (choice, model) in models.iter_mut().zip(&setup.models) {
            if let Some(message) = cannot_judge(model) {
                choice.why_not = Some(Trouble { message, fix: None });
            }
        }
        let why_not = (!may_run).then(|| Trouble {
            message: "This page may look, but not judge anything.".to_owned(),
            fix: Some("Serve it so that it may: touchstone serve --allow-run FOLDER".to_owned()),
        });
        Ok(JudgeOptions { judges: judges::all().iter().map(judge).collect(), models, why_not })
    }

    /// What a request comes to. Nothing is sent.
    pub fn plan_judging(&self, request: &JudgeRequest) -> Result<JudgePlan, AppError> {
        let open = self.opened()?;
        let (_, model, wish) = self.wish(request)?;
        let mut sum = Sum::default();
        for target in targets(&open, request)? {
            match look(&open, &wish, &target)? {
                Look::Skipped(why) => sum.skip(&target, why),
                Look::Complete { .. } => sum.complete += 1,
                Look::Owed { owed, subject } => {
                    let left = owed.judgement.wanted as usize - owed.judgement.rounds.len();
                    sum.add(owed::takes(wish.judge, &subject, wish.rules, left as u64));
                }
            }
        }
        Ok(sum.plan(model.price))
    }

    /// The path of the run that each run is compared with, by its id.
    pub fn compared_with(&self, request: &JudgeRequest) -> Result<HashMap<String, String>, AppError> {
        let (_, _, wish) = self.wish(request)?;
        Ok(wish.rivals.iter().map(|(id, other)| (id.clone(), other.path.clone())).collect())
    }

    /// Begins what a request comes to.
    pub fn start_judging(&self, request: &JudgeRequest) -> Result<Judging, AppError> {
        let open = self.opened()?;
        let (mut setup, model, wish) = self.wish(request)?;
        setup.rules.max_cost = request.max_cost.or(setup.rules.max_cost);
        if setup.rules.max_cost.is_some_and(|most| !most.is_finite() || most < 0.0) {
            return Err(AppError::new(Code::BadRequest, "The budget has to be a number of dollars, 0 or more."));
        }
        if let Some(why) = model.key.as_deref().and_then(|key| self.no_key(key)) {
            return Err(AppError::new(Code::BadRequest, why));
        }
        let targets = targets(&open, request)?;
        if targets.is_empty() {
            return Err(AppError::new(Code::BadRequest, "There is no such run, so there is nothing to judge."));
        }
        let runtime = self.inner.launches.runtime()?;
        let (teller, events) = Teller::new();
        let (seats, max_cost) = (setup.rules.concurrency as usize, setup.rules.max_cost);
        let crew = Arc::new(runtime.block_on(self.crew(&open, setup, &[], teller)));
        let id = self.inner.launches.next_id();
        let poster = self.inner.bulletin.poster();
        let work = Arc::new(Work::new(
            id.clone(),
            (Arc::clone(&open), crew),
            (model, wish),
            (targets.len(), max_cost),
            poster,
        ));
        {
            let now = self.lock();
            if now.as_ref().is_none_or(|now| !Arc::ptr_eq(now, &open)) {
                return Err(AppError::new(Code::NoFolder, "Another folder was opened before the judging began."));
            }
            self.inner.judgings.add(Arc::clone(&work));
        }
        runtime.spawn(work.run(targets, seats, events));
        Ok(Judging { judging: id })
    }

    /// Whom a request means, with what requests are made with.
    fn wish(&self, request: &JudgeRequest) -> Result<(Setup, Model, Wish), AppError> {
        let setup = self.setup()?;
        let bad = |message: String| AppError::new(Code::BadRequest, message);
        // A slip would let all runs pass, and every one of them is paid for.
        if let Some(slip) = [&request.filter, &request.reference].into_iter().flat_map(|filter| misread(filter)).next()
        {
            return Err(bad(format!("`{}` in the filter is not understood. {}", slip.token, slip.message)));
        }
        let judge = judges::named(&request.judge).ok_or_else(|| {
            let names: Vec<&str> = judges::all().iter().map(|judge| judge.name).collect();
            bad(format!("There is no judge named `{}`.", request.judge))
                .hint(format!("There are: {}.", names.join(", ")))
        })?;
        let model = setup.model(&request.model).ok_or_else(|| no_model(&setup, &request.model))?.clone();
        if let Some(why) = cannot_judge(&model) {
            return Err(bad(why).hint("Choose a model that can be asked."));
        }
        let rounds = request.rounds.unwrap_or(judge.rounds);
        if !(1..=MOST_ROUNDS).contains(&rounds) {
            return Err(bad(format!("A run is judged in 1 to {MOST_ROUNDS} rounds, not {rounds}.")));
        }
        if request.official && !judge.official {
            let why =
                format!("`{}` has no official rules: it would say the same, and be paid for once more.", judge.name);
            return Err(bad(why).hint("Leave the official rules out."));
        }
        let rules = if request.official { Rules::Official } else { Rules::Ours };
        let rivals = Arc::new(rivals(judge, self.opened()?.as_ref(), request)?);
        let wish = Wish { judge, model: model.name.clone(), rules, rounds, again: request.again, rivals };
        Ok((setup, model, wish))
    }

    /// What judges said of a run, newest first, and a sentence when the file of it cannot be read.
    pub(super) fn judged(&self, id: &str) -> Result<(Vec<Judged>, Option<String>), AppError> {
        let open = self.opened()?;
        let Some(row) = open.ask(|index| row_by_key(index, id))? else { return Ok((Vec::new(), None)) };
        let sheet = match sheet(&open, &row.path) {
            Ok(Some(sheet)) => sheet,
            Ok(None) => return Ok((Vec::new(), None)),
            Err(why) => return Ok((Vec::new(), Some(format!("What judges said of this run cannot be read. {why}")))),
        };
        let own = open.reading.subject(&open.flow, id).map(|(_, subject)| subject).unwrap_or_default();
        let judged = |judgement: &Judgement| {
            let mut subject = own.clone();
            let id = judgement.against.as_deref().and_then(|path| id_at(&open, path));
            subject.rival = id.and_then(|id| rival(&open, &own, &id, None));
            shown(judgement, &subject)
        };
        Ok((sheet.judgements().iter().rev().map(judged).collect(), None))
    }
}

/// Why a model cannot judge; none when it can, as far as is known without its key.
fn cannot_judge(model: &Model) -> Option<String> {
    let replays = model.provider == Provider::Replay;
    replays.then(|| format!("`{}` replays recordings of runs, so it cannot judge.", model.name))
}

/// The id of the run of that path; ids of runs of files of many, and of runs of many files, do not follow from their paths.
fn id_at(open: &OpenFolder, path: &str) -> Option<String> {
    let select = |sql: &rusqlite::Connection| {
        let mut select = sql.prepare_cached("SELECT key FROM runs WHERE path = ?")?;
        Ok(select.query_row([path], |row| row.get(0)).optional()?)
    };
    open.ask(|index| select(index)).ok().flatten()
}

/// The runs that a request means.
fn targets(open: &OpenFolder, request: &JudgeRequest) -> Result<Vec<Target>, AppError> {
    Ok(rows(open, request)?.into_iter().map(target).collect())
}

fn target(row: RunRow) -> Target {
    Target { id: row.id, path: row.path, state: row.state }
}

fn rows(open: &OpenFolder, request: &JudgeRequest) -> Result<Vec<RunRow>, AppError> {
    let rows = if request.runs.is_empty() {
        passing(open, &request.filter)?
    } else {
        let rows = request.runs.iter().map(|id| open.ask(|index| row_by_key(index, id)));
        rows.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect()
    };
    if rows.len() > MOST_RUNS {
        let message = format!("{} runs are more than are judged at once.", rows.len());
        return Err(AppError::new(Code::BadRequest, message).hint(format!("Filter them down to {MOST_RUNS}.")));
    }
    Ok(rows.into_iter().filter(|row| row.state != RunState::Other).collect())
}

fn passing(open: &OpenFolder, filter: &str) -> Result<Vec<RunRow>, AppError> {
    open.ask(|index| {
        let mut select = index.prepare_cached("SELECT key FROM runs WHERE id = ?")?;
        let ids = runs_that_pass(index, filter)?;
        let keys = ids.iter().map(|id| Ok(select.query_row([id], |row| row.get::<_, String>(0))?));
        let rows = keys.map(|key: Result<_, crate::results::index::IndexError>| row_by_key(index, &key?));
        Ok(rows.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    })
}

/// Task, variation and repeat of a run.
type Place = (String, Option<u32>, Option<String>, u32);

/// What each run is compared with: the run of the same task, variation and repeat among those that pass the filter.
fn rivals(
    judge: &judges::Judge,
    open: &OpenFolder,
    request: &JudgeRequest,
) -> Result<HashMap<String, Target>, AppError> {
    let bad = |message: String, hint: &str| Err(AppError::new(Code::BadRequest, message).hint(hint));
    match (judge.pairs, request.reference.trim().is_empty()) {
        (false, true) => return Ok(HashMap::new()),
        (false, false) => {
            return bad(
                format!("`{}` judges single runs and compares them with nothing.", judge.name),
                "Leave the reference out.",
            );
        }
        (true, true) => {
            let hint = "Say which runs to compare with, as a filter such as `system:promptql model:o1`.";
            return bad(format!("`{}` compares runs with others.", judge.name), hint);
        }
        (true, false) => {}
    }
    let place = |row: &RunRow| -> Option<Place> {
        Some((row.task.clone()?, row.variation, row.variation_name.clone(), row.repeat))
    };
    let mut reference: HashMap<Place, Vec<RunRow>> = HashMap::new();
    for row in passing(open, &request.reference)? {
        if let Some(place) = place(&row) {
            reference.entry(place).or_default().push(row);
        }
    }
    let mut rivals = HashMap::new();
    for row in rows(open, request)? {
        let there = place(&row).and_then(|place| reference.get(&place));
        // A run is not compared with itself.
        let mut others: Vec<&RunRow> = there.into_iter().flatten().filter(|other| other.id != row.id).collect();
        others.sort_by(|a, b| a.path.cmp(&b.path));
        match others.as_slice() {
            [] => {}
            [other] => drop(rivals.insert(row.id, target((*other).clone()))),
            [first, second, ..] => {
                let message = format!("{} could be compared with {} and with {}.", row.path, first.path, second.path);
                return bad(message, "Narrow the reference down to one run of each task, variation and repeat.");
            }
        }
    }
    Ok(rivals)
}

/// What a run is compared with, and what is known of both by the rules of `wish`; nothing when it cannot be read.
fn rival(open: &OpenFolder, own: &Subject, id: &str, wish: Option<(&Wish, &Target)>) -> Option<Box<Rival>> {
    let (row, other) = open.reading.subject(&open.flow, id).ok()?;
    let known = |path: &str, subject: &Subject| wish.map_or(Side::Unknown, |(wish, _)| side(open, path, subject, wish));
    let side = known(&row.path, &other);
    let own = wish.map_or(Side::Unknown, |(_, target)| known(&target.path, own));
    Some(Box::new(Rival { answer: other.answer, process: other.process, side, own, seed: 0 }))
}

/// What `sopr` said of a run in most rounds, as long as it holds.
fn side(open: &OpenFolder, path: &str, subject: &Subject, wish: &Wish) -> Side {
    let Some(judge) = judges::named("sopr") else { return Side::Unknown };
    let inputs = inputs_mark(judge, wish.rules, subject);
    let sheet = sheet(open, path).ok().flatten().unwrap_or_default();
    let said = sheet.judgements().iter().rfind(|said| {
        (said.judge == judge.name && said.inputs == inputs && said.rules == wish.rules.word())
            && judge.version() == said.version
    });
    let rounds =
        said.map(|said| said.rounds.iter().filter_map(|round| Status::of(round.verdict.as_deref()?)).collect());
    most_frequent(&rounds.unwrap_or_else(Vec::new)).map_or(Side::Unknown, Side::Judged)
}

/// What is owed of a run.
pub(super) enum Look {
    Skipped(String),
    Complete { inputs: String, subject: Box<Subject> },
    Owed { owed: Box<owed::Owed>, subject: Box<Subject> },
}

/// Looks at a run and at what was said of it.
pub(super) fn look(open: &OpenFolder, wish: &Wish, target: &Target) -> Result<Look, AppError> {
    let sheet = match sheet(open, &target.path) {
        Ok(sheet) => sheet.unwrap_or_default(),
        Err(why) => return Ok(Look::Skipped(format!("What was said of it before cannot be read. {why}"))),
    };
    look_with(open, wish, target, &sheet)
}

/// The same with a file of judgements that is at hand.
pub(super) fn look_with(open: &OpenFolder, wish: &Wish, target: &Target, sheet: &Sheet) -> Result<Look, AppError> {
    let why = match target.state {
        RunState::Answered | RunState::NoAnswer => None,
        RunState::Error => Some("The run ended in a system error, which says nothing about the answer."),
        RunState::Waiting | RunState::Writing => Some("The run has not ended."),
        RunState::Damaged | RunState::Other => Some("Its file cannot be read."),
    };
    let skipped = |why: &str| Ok(Look::Skipped(why.to_owned()));
    if let Some(why) = why {
        return skipped(why);
    }
    let (_, mut subject) = open.reading.subject(&open.flow, &target.id)?;
    let against = wish.rivals.get(&target.id);
    if wish.judge.pairs {
        subject.rival = match against {
            None => return skipped("There is no run of the reference with the same task, variation and repeat."),
            Some(other) if !matches!(other.state, RunState::Answered | RunState::NoAnswer) => {
                return skipped("The run that it would be compared with has not ended well.");
            }
            Some(other) => rival(open, &subject, &other.id, Some((wish, target))),
        };
        if subject.rival.is_none() {
            return skipped("The run that it would be compared with cannot be read.");
        }
    }
    if subject.query.trim().is_empty() {
        return skipped("Neither the run nor its suite says what was asked for.");
    }
    if let Some(why) = wish.judge.lacks(&subject, wish.rules) {
        return skipped(&why);
    }
    let inputs = inputs_mark(wish.judge, wish.rules, &subject);
    Ok(match owed::owed(sheet, wish, &inputs, against.map(|other| other.path.as_str())) {
        None => Look::Complete { inputs, subject: Box::new(subject) },
        Some(owed) => Look::Owed { owed: Box::new(owed), subject: Box::new(subject) },
    })
}

/// The file of judgements of a run, by its path; why it cannot be read, as sentences.
fn sheet(open: &OpenFolder, path: &str) -> Result<Option<Sheet>, String> {
    let file = judgements::file_of_path(path);
    let shown = open.flow.roots.shown(&file);
    match open::read(&open.flow.roots, &file, judgements::MOST) {
        Ok((bytes, _)) => judgements::read(&bytes)
            .map(Some)
            .map_err(|error| format!("{shown}: {} Mend the file, or move it away.", error.message)),
        Err(Refused::Gone) => Ok(None),
        Err(why) => Err(format!("{shown}: {why}.")),
    }
}

fn shown(judgement: &Judgement, subject: &Subject) -> Judged {
    let scores: Vec<f64> = judgement.rounds.iter().filter_map(|round| round.score).collect();
    let mean = mean_and_spread(&scores);
    let judge = judges::named(&judgement.judge);
    let rules = Rules::of(&judgement.rules).unwrap_or_default();
    let stale = match judge {
        Some(judge) => {
            let now = inputs_mark(judge, rules, subject);
            judgements::stale(judge, judgement.version, &judgement.inputs, &now)
        }
        None => Some("There is no such judge any more.".to_owned()),
    };
    let round = |round: &touchstone_formats::judgement::Round| JudgedRound {
        verdict: round.verdict.clone(),
        score: round.score,
        reason: round.reason.clone(),
        replies: round.replies.clone(),
        model_id: round.model_id.clone(),
        at: round.at.clone(),
        order: round.order.clone(),
    };
    Judged {
        judge: judgement.judge.clone(),
        version: judgement.version,
        model: judgement.model.clone(),
        official: rules == Rules::Official,
        against: judgement.against.clone(),
        stale,
        wanted: judgement.wanted,
        score: mean.map(|(mean, _)| mean),
        spread: mean.map(|(_, spread)| spread),
        passed: judge.zip(mean).map(|(judge, (mean, _))| judge.passes(mean)),
        rounds: judgement.rounds.iter().map(round).collect(),
    }
}

/// What a request comes to, as it is added up.
#[derive(Default)]
struct Sum {
    runs: u64,
    unasked: u64,
    complete: u64,
    skipped: Vec<JudgeSkip>,
    skipped_total: u64,
    takes: Takes,
}

impl Sum {
    fn skip(&mut self, target: &Target, why: String) {
        self.skipped_total += 1;
        if self.skipped.len() < SHOWN {
            self.skipped.push(JudgeSkip { run: target.id.clone(), path: target.path.clone(), why });
        }
    }

    fn add(&mut self, takes: Takes) {
        let plus = |a: (u64, u64), b: (u64, u64)| (a.0 + b.0, a.1 + b.1);
        self.unasked += u64::from(takes == Takes::default());
        self.runs += u64::from(takes != Takes::default());
        let Takes { calls, sent, received } = takes;
        self.takes = Takes {
            calls: plus(self.takes.calls, calls),
            sent: plus(self.takes.sent, sent),
            received: plus(self.takes.received, received),
        };
    }

    fn plan(self, price: Option<Price>) -> JudgePlan {
        let Takes { calls, sent, received } = self.takes;
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let cost = |sent: u64, received: u64| {
            price.map(|price| (sent as f64 * price.input + received as f64 * price.output) / 1e6)
        };
        JudgePlan {
            runs: self.runs,
            unasked: self.unasked,
            complete: self.complete,
            skipped: self.skipped,
            skipped_total: self.skipped_total,
            calls_least: calls.0,
            calls_most: calls.1,
            tokens_least: sent.0 + received.0,
            tokens_most: sent.1 + received.1,
            cost_least: cost(sent.0, received.0),
            cost_most: cost(sent.1, received.1),
        }
    }
}
