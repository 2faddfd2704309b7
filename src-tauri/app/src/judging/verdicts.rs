//! Converts the judgements of a run for display: in words, on the scale of the judge, with the pass
//! threshold.
use super::judged_runs::read_judgements;
use super::pairwise::{id_at, load_opponent};
use super::{JudgingActions, suite_judges};
use crate::error::AppError;
use crate::settings::workspace_settings::marks;
use touchstone_api::{Judged, JudgedRound, RunScore, ScoreStanding};
use touchstone_formats::judgement::{Judgement, Round};
use touchstone_judges::{Judge, Rules, Scale, Subject, mean_and_spread, meets_threshold};
use touchstone_scoring::scorers::Scorer;
use touchstone_store::judgements::{self, Marks, inputs_mark, other_model};
use touchstone_store::query::row_by_key;

impl JudgingActions<'_> {
    /// Returns the judgements of a run, newest first, and a message if their file cannot be read.
    pub fn judged(self, id: &str) -> Result<(Vec<Judged>, Option<String>), AppError> {
        self.judged_by(id, &self.model_marks())
    }

    /// Returns the current configuration marks of the models.
    pub(crate) fn model_marks(self) -> Marks {
        self.app.settings().setup_to_look().map(|setup| marks(&setup)).unwrap_or_default()
    }

    /// Like [`Self::judged`], with the configuration marks of the models given.
    pub(crate) fn judged_by(
        self,
        id: &str,
        marks: &Marks,
    ) -> Result<(Vec<Judged>, Option<String>), AppError> {
        let open = self.app.require_folder()?;
        let Some(row) = open.ask(|index| row_by_key(index, id))? else {
            return Ok((Vec::new(), None));
        };
        let sheet = match read_judgements(&open, &row.path) {
            Ok(Some(sheet)) => sheet,
            Ok(None) => return Ok((Vec::new(), None)),
            Err(why) => {
                return Ok((
                    Vec::new(),
                    Some(format!("The judgements of this run cannot be read. {why}")),
                ));
            }
        };
        let tasks = open.flow.shelf.tasks();
        let scorers = suite_judges::scorers(&tasks, &row);
        let own =
            open.reading.subject(&open.flow, id).map(|(_, subject)| subject).unwrap_or_default();
        let judged = |judgement: &Judgement| {
            let mut subject = own.clone();
            let id = judgement.against.as_deref().and_then(|path| id_at(&open, path));
            subject.rival = id.and_then(|id| load_opponent(&open, &own, &id, None));
            describe_judgement(judgement, &subject, scorers, marks)
        };
        Ok((sheet.judgements().iter().rev().map(judged).collect(), None))
    }

    /// Sets the reason of scores that wait for a judge which cannot judge this run, because the run
    /// lacks required data: the score would wait forever.
    pub(crate) fn explain_unjudgeable(
        self,
        id: &str,
        scores: &mut [RunScore],
    ) -> Result<(), AppError> {
        let waits = |score: &&mut RunScore| {
            score.standing == ScoreStanding::Waiting && score.scorer.starts_with("judge:")
        };
        let mut waiting = scores.iter_mut().filter(waits).peekable();
        if waiting.peek().is_none() {
            return Ok(());
        }
        let open = self.app.require_folder()?;
        let Ok((row, subject)) = open.reading.subject(&open.flow, id) else { return Ok(()) };
        let tasks = open.flow.shelf.tasks();
        let known = suite_judges::scorers(&tasks, &row);
        for score in waiting {
            let of_it =
                known.iter().find(|scorer| scorer.name() == score.scorer).and_then(Scorer::judge);
            if let Some(why) =
                of_it.and_then(|(judge, _, rules)| judge.missing_requirement(&subject, rules))
            {
                score.reason = format!("It cannot be judged. {why}");
            }
        }
        Ok(())
    }
}

fn describe_judgement(
    judgement: &Judgement,
    subject: &Subject,
    scorers: &[Scorer],
    marks: &Marks,
) -> Judged {
    let given: Vec<f64> = judgement.rounds.iter().filter_map(|round| round.score).collect();
    let mean = mean_and_spread(&given);
    let seat = judgements::seat(&judgement.judge, scorers);
    let judge = seat.as_deref();
    let rules = Rules::from_word(&judgement.rules).unwrap_or_default();
    let outdated = match judge {
        Some(judge) => {
            let now = inputs_mark(judge, rules, subject);
            let stale = judgements::stale(judge, judgement.version, &judgement.inputs, &now);
            stale.or_else(|| other_model(&judgement.model, judgement.model_mark.as_deref(), marks))
        }
        None => Some("This judge no longer exists.".to_owned()),
    };
    let scale = judge.map_or(Scale::Words(""), |judge| judge.about().scale);
    let by = Rules::from_word(&judgement.rules);
    let least =
        by.and_then(|by| judgements::least(scorers, (&judgement.judge, by, &judgement.model)));
    let from = least.or_else(|| judge?.threshold());
    let passes = |judge: &Judge, mean| {
        least.map_or_else(|| judge.passes(mean), |least| meets_threshold(mean, least))
    };
    let told = |score: f64| scale.value_of(score).map(|own| scale.format_value(own));
    Judged {
        judge: judgement.judge.clone(),
        version: judgement.version,
        model: judgement.model.clone(),
        official: rules == Rules::Official,
        against: judgement.against.clone(),
        stale: outdated,
        wanted: judgement.wanted,
        score: mean.map(|(mean, _)| mean),
        spread: mean.map(|(_, spread)| spread),
        told: mean.and_then(|(mean, _)| told(mean)),
        own_spread: mean
            .zip(scale.ends())
            .map(|((_, spread), (worst, best))| spread * (best - worst).abs()),
        threshold: from.map(|least| scale.format_threshold(scale.value_of(least).unwrap_or(least))),
        least: from,
        of_suite: least.is_some(),
        passed: judge.zip(mean).map(|(judge, (mean, _))| passes(judge, mean)),
        rounds: judgement.rounds.iter().map(|one| round(one, scale)).collect(),
    }
}

fn round(round: &Round, scale: Scale) -> JudgedRound {
    JudgedRound {
        verdict: round.verdict.clone(),
        told: scale.format_verdict(round.verdict.as_deref(), round.score),
        score: round.score,
        reason: round.reason.clone(),
        replies: round.replies.clone(),
        model_id: round.model_id.clone(),
        at: round.at.clone(),
        order: round.order.clone(),
    }
}
