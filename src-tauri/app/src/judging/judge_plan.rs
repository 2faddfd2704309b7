//! Plans and starts judging of runs by models. Missing judgements are determined in `judge_state`;
//! the requests are in `judge_jobs`.
use super::job::pending::{self, CallEstimate, JudgeSpec, Target};
use super::judge_jobs::Work;
use super::judge_state::{JudgeState, look};
use super::judged_runs::{rows, target};
use super::pairwise::find_opponents;
use super::suite_judges::{JudgeOptionsInSuite, agreed};
use super::{JudgingActions, suite_judges};
use crate::OpenFolder;
use crate::error::{AppError, Code};
use crate::jobs::spend_limit::{Budget, Prices};
use crate::settings::keys::no_model;
use std::collections::HashMap;
use std::sync::Arc;
use touchstone_api::{
    Blocker, Choice, JudgeChoice, JudgeGroup, JudgeOptions, JudgePlan, JudgeRequest, JudgeSkip,
    Judging, RunRow,
};
use touchstone_judges::{About, Group, JudgeRef, MOST_ROUNDS, Rules};
use touchstone_runner::launch::RunEventSender;
use touchstone_runner::setup::Setup;
use touchstone_runner::spec::{Model, Price, Provider};
use touchstone_store::filter::Filter;
use touchstone_store::judgements;
use touchstone_store::suites::Tasks;

/// Maximum number of skipped runs listed by name.
const SHOWN: usize = 50;

impl JudgingActions<'_> {
    /// Returns the judges and models to choose from. `may_run` is false for a read-only front end.
    pub fn judge_options(self, may_run: bool) -> Result<JudgeOptions, AppError> {
        let setup = self.app.settings().setup_to_look()?;
        // There are suites only if a folder is open.
        let tasks =
            self.app.require_folder().map(|open| open.flow.shelf.tasks()).unwrap_or_default();
        let models = if may_run { self.judges_of(&setup) } else { Vec::new() };
        let why_not = (!may_run).then(|| Blocker {
            message: "This page is read-only and cannot judge runs.".to_owned(),
            fix: Some("To allow it, start: touchstone serve --allow-run FOLDER".to_owned()),
        });
        let group = |group: Group| JudgeGroup {
            name: group.name().to_owned(),
            what: group.what().to_owned(),
        };
        let mut judges: Vec<JudgeRef> = touchstone_judges::all()
            .iter()
            .map(JudgeRef::Known)
            .chain(suite_judges::all_own(&tasks))
            .collect();
        judges.sort_by_key(|judge| judge.about().group);
        let judges: Vec<JudgeChoice> = judges.iter().map(|judge| choice(judge, &tasks)).collect();
        let mut groups: Vec<JudgeGroup> = Group::ALL.map(group).into();
        groups.retain(|group| judges.iter().any(|judge| judge.group == group.name));
        Ok(JudgeOptions { groups, judges, models, why_not })
    }

    /// Returns the models, with a reason for those that cannot judge.
    pub(crate) fn judges_of(self, setup: &Setup) -> Vec<Choice> {
        let choice = |model: &Model| {
            let mut choice = self.app.launches().model(model);
            if let Some(message) = cannot_judge(model) {
                choice.why_not = Some(Blocker { message, fix: None });
            }
            choice
        };
        setup.models.iter().map(choice).collect()
    }

    /// Returns the plan of a request. Nothing is sent.
    pub fn plan_judging(self, request: &JudgeRequest) -> Result<JudgePlan, AppError> {
        let open = self.app.require_folder()?;
        let (setup, model, wish) = self.resolve_request(request)?;
        let unbound = Budget::resolve(request.max_cost, &setup.rules)?
            .ineffective_note(&Prices::for_models([&model]));
        let forks_left_out = if request.runs.is_empty() {
            open.ask(|index| open.lists.forks_left_out(index, &request.filter))?
        } else {
            0
        };
        let mut sum = PlanTotals::default();
        for target in targets(&open, request, &wish)? {
            match look(&open, &wish, &target)? {
                JudgeState::Skipped(why) => sum.skip(&target, why),
                JudgeState::Complete { .. } => sum.complete += 1,
                JudgeState::Owed { owed, subject } => {
                    let left = owed.judgement.wanted as usize - owed.judgement.rounds.len();
                    let judge = target.judge.as_ref().unwrap_or(&wish.judge);
                    sum.add(pending::estimate_rounds(judge, &subject, wish.rules, left as u64));
                }
            }
        }
        Ok(JudgePlan {
            model: wish.model,
            rounds: wish.rounds,
            unbound,
            forks_left_out,
            ..sum.plan(model.price)
        })
    }

    /// Returns the path of the run with which each run is compared, by run id.
    pub fn compared_with(
        self,
        request: &JudgeRequest,
    ) -> Result<HashMap<String, String>, AppError> {
        let (_, _, wish) = self.resolve_request(request)?;
        Ok(wish.rivals.iter().map(|(id, other)| (id.clone(), other.path.clone())).collect())
    }

    /// Starts the judging of a request.
    pub fn start_judging(self, request: &JudgeRequest) -> Result<Judging, AppError> {
        let open = self.app.require_folder()?;
        open.check_directories_exist()?;
        let (mut setup, model, wish) = self.resolve_request(request)?;
        let budget = Budget::resolve(request.max_cost, &setup.rules)?;
        budget.check(&Prices::for_models([&model]))?;
        setup.rules.max_cost = budget.most();
        if let Some(why) = model.key.as_deref().and_then(|key| self.app.settings().no_key(key)) {
            return Err(AppError::new(Code::BadRequest, why));
        }
        let targets = targets(&open, request, &wish)?;
        if targets.is_empty() {
            return Err(AppError::new(Code::BadRequest, "There is no such run to judge."));
        }
        let runtime = self.app.inner.launches.runtime()?;
        let (teller, events) = RunEventSender::new();
        let (seats, max_cost) = (setup.rules.concurrency as usize, setup.rules.max_cost);
        let crew = Arc::new(runtime.block_on(self.app.launches().launch_context(
            &open,
            setup,
            &[],
            teller,
        )));
        let id = self.app.inner.launches.next_id();
        let poster = self.app.inner.bulletin.sender();
        let work = Arc::new(Work::new(
            id.clone(),
            (Arc::clone(&open), crew),
            (model, wish),
            (targets.len(), max_cost),
            poster,
        ));
        {
            let now = self.app.lock();
            if now.as_ref().is_none_or(|now| !Arc::ptr_eq(now, &open)) {
                return Err(AppError::new(
                    Code::NoFolder,
                    "Another folder was opened before the judging began.",
                ));
            }
            self.app.inner.judgings.add(Arc::clone(&work));
        }
        runtime.spawn(work.run(targets, seats, events));
        Ok(Judging { judging: id })
    }

    /// Resolves the judge, model and options of a request, with the setup for its requests.
    fn resolve_request(
        self,
        request: &JudgeRequest,
    ) -> Result<(Setup, Model, JudgeSpec), AppError> {
        let setup = self.app.settings().setup()?;
        let bad = |message: String| AppError::new(Code::BadRequest, message);
        // A misread filter would match all runs, and each of them would be paid for.
        let labels = self.app.require_folder()?.labels();
        if let Some(slip) = [&request.filter, &request.reference]
            .into_iter()
            .flat_map(|filter| Filter::parse_with(filter, &labels).1)
            .next()
        {
            return Err(bad(format!(
                "`{}` in the filter is not understood. {}",
                slip.token, slip.message
            )));
        }
        let judge = self.judge_named(&request.judge)?;
        if request.official && !judge.official {
            let why = format!(
                "`{}` has no official rules; judging again would only cost money.",
                judge.name
            );
            return Err(bad(why).hint("Leave the official rules out."));
        }
        let rules = if request.official { Rules::Official } else { Rules::Ours };
        let suites = self.suite_options(request, &judge, rules)?;
        let name = if request.model.is_empty() {
            model_of(&suites, &judge)?
        } else {
            request.model.clone()
        };
        let model = setup.model(&name).ok_or_else(|| no_model(&setup, &name))?.clone();
        if let Some(why) = cannot_judge(&model) {
            return Err(bad(why).hint("Choose a model that can be asked."));
        }
        let rounds = request.rounds.map_or_else(|| rounds_of(&suites, &judge, &name), Ok)?;
        if !(1..=MOST_ROUNDS).contains(&rounds) {
            return Err(bad(format!(
                "A run is judged in 1 to {MOST_ROUNDS} rounds, not {rounds}."
            )));
        }
        let rivals =
            Arc::new(find_opponents(&judge, self.app.require_folder()?.as_ref(), request)?);
        let (name, model_mark) = (model.name.clone(), model.mark());
        let wish = JudgeSpec {
            judge,
            model: name,
            model_mark,
            rules,
            rounds,
            again: request.again,
            rivals,
        };
        Ok((setup, model, wish))
    }

    /// Returns the judge with this name: a built-in one, or one defined by the suites of the
    /// folder.
    fn judge_named(self, name: &str) -> Result<JudgeRef, AppError> {
        if let Some(known) = touchstone_judges::named(name) {
            return Ok(JudgeRef::Known(known));
        }
        let own = suite_judges::all_own(&self.app.require_folder()?.flow.shelf.tasks());
        own.iter().find(|judge| judge.name == name).cloned().ok_or_else(|| {
            let known = touchstone_judges::all().iter().map(|judge| &*judge.name);
            let names: Vec<&str> = known.chain(own.iter().map(|judge| &*judge.name)).collect();
            AppError::new(Code::BadRequest, format!("There is no judge named `{name}`."))
                .hint(format!("There are: {}.", names.join(", ")))
        })
    }

    /// Returns the distinct judge options in the suites of the runs; empty if the request sets both
    /// model and rounds.
    fn suite_options(
        self,
        request: &JudgeRequest,
        judge: &touchstone_judges::Judge,
        rules: Rules,
    ) -> Result<Vec<JudgeOptionsInSuite>, AppError> {
        if !request.model.is_empty() && request.rounds.is_some() {
            return Ok(Vec::new());
        }
        let open = self.app.require_folder()?;
        let tasks = open.flow.shelf.tasks();
        let mut all: Vec<JudgeOptionsInSuite> = Vec::new();
        for row in rows(&open, request)? {
            for says in
                suite_judges::options_for(suite_judges::scorers(&tasks, &row), &judge.name, rules)
            {
                if !all.contains(&says) {
                    all.push(says);
                }
            }
        }
        Ok(all)
    }
}

/// Describes a judge for the page, with the options in the suites of the folder.
fn choice(judge: &touchstone_judges::Judge, tasks: &Tasks) -> JudgeChoice {
    let About { group, scale, needs } = judge.about();
    let suites = suite_judges::distinct_options(tasks, &judge.name);
    let own = |score: f64| scale.value_of(score).unwrap_or(score);
    JudgeChoice {
        name: judge.name.to_string(),
        what: judge.what.to_owned(),
        version: judge.version(),
        rounds: judge.rounds,
        pairs: judge.pairs,
        official: judge.official,
        group: group.name().to_owned(),
        safety: group == Group::Safety,
        scale: scale.words().to_owned(),
        needs: needs.to_owned(),
        threshold: judge.threshold().map(|least| scale.format_threshold(own(least))),
        suite_model: agreed(suites.iter().map(|says| says.model.clone())).ok().flatten(),
        suite_rounds: agreed(suites.iter().map(|says| says.rounds)).ok().flatten(),
        suite_threshold: agreed(suites.iter().map(|says| says.least))
            .ok()
            .flatten()
            .map(|least| scale.format_threshold(own(least))),
    }
}

/// Returns the model that the suites name. Fails if they name none or differ.
fn model_of(
    suites: &[JudgeOptionsInSuite],
    judge: &touchstone_judges::Judge,
) -> Result<String, AppError> {
    let bad = |message: String| {
        Err(AppError::new(Code::BadRequest, message).hint("Choose the model that judges."))
    };
    match agreed(suites.iter().map(|says| says.model.clone())) {
        Ok(Some(model)) => Ok(model),
        Ok(None) => {
            bad(format!("No suite of these runs names a model for `judge:{}`.", judge.name))
        }
        Err(models) => bad(format!(
            "The suites of these runs name different models for `judge:{}`: {}.",
            judge.name,
            models.join(", ")
        )),
    }
}

/// Returns the number of rounds in the suites for this model; the default of the judge if they set
/// none. Fails if they differ.
fn rounds_of(
    suites: &[JudgeOptionsInSuite],
    judge: &touchstone_judges::Judge,
    model: &str,
) -> Result<u32, AppError> {
    let of_it =
        suites.iter().filter(|says| says.model.as_deref().is_none_or(|named| named == model));
    agreed(of_it.map(|says| says.rounds)).map(|rounds| rounds.unwrap_or(judge.rounds)).map_err(
        |different| {
            let different: Vec<String> = different.iter().map(u32::to_string).collect();
            let message = format!(
                "The suites of these runs set different rounds for `judge:{}`: {}.",
                judge.name,
                different.join(" and ")
            );
            AppError::new(Code::BadRequest, message).hint("Choose the number of rounds.")
        },
    )
}

/// Returns the reason why a model cannot judge, as far as that is known without its key.
pub(crate) fn cannot_judge(model: &Model) -> Option<String> {
    let replays = model.provider == Provider::Replay;
    replays.then(|| format!("`{}` replays recordings of runs, so it cannot judge.", model.name))
}

/// Returns the runs of a request, each with its pass threshold for this model, and with the judge
/// of its suite if the judge is defined by suites.
fn targets(
    open: &OpenFolder,
    request: &JudgeRequest,
    wish: &JudgeSpec,
) -> Result<Vec<Target>, AppError> {
    let tasks = open.flow.shelf.tasks();
    let of = |row: RunRow| {
        let scorers = suite_judges::scorers(&tasks, &row);
        let judge = judgements::suite_judge(&request.judge, scorers);
        let least = judgements::least(scorers, (&request.judge, wish.rules, &wish.model));
        Target { judge, ..target(row, least) }
    };
    Ok(rows(open, request)?.into_iter().map(of).collect())
}

/// Accumulates the plan of a request.
#[derive(Default)]
struct PlanTotals {
    runs: u64,
    unasked: u64,
    complete: u64,
    skipped: Vec<JudgeSkip>,
    skipped_total: u64,
    takes: CallEstimate,
}

impl PlanTotals {
    fn skip(&mut self, target: &Target, why: String) {
        self.skipped_total += 1;
        if self.skipped.len() < SHOWN {
            self.skipped.push(JudgeSkip { run: target.id.clone(), path: target.path.clone(), why });
        }
    }

    fn add(&mut self, takes: CallEstimate) {
        self.unasked += u64::from(takes == CallEstimate::default());
        self.runs += u64::from(takes != CallEstimate::default());
        self.takes = self.takes.and(takes);
    }

    fn plan(self, price: Option<Price>) -> JudgePlan {
        let CallEstimate { calls, sent, received } = self.takes;
        let cost = price.map(|price| self.takes.cost(price.input, price.output));
        JudgePlan {
            model: String::new(),
            rounds: 0,
            runs: self.runs,
            unasked: self.unasked,
            complete: self.complete,
            skipped: self.skipped,
            skipped_total: self.skipped_total,
            forks_left_out: 0,
            calls_least: calls.0,
            calls_most: calls.1,
            tokens_least: sent.0 + received.0,
            tokens_most: sent.1 + received.1,
            cost_least: cost.map(|(least, _)| least),
            cost_most: cost.map(|(_, most)| most),
            unbound: None,
        }
    }
}
