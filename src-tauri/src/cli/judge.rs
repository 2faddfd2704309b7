//! `score --judge`: has a model judge runs on disk, a few at a time, and stores the verdicts beside
//! them. On Ctrl-C, requests in flight are completed; a second Ctrl-C aborts them. Existing
//! verdicts are not requested again.
use super::amounts::{between, dollars, pluralize};
use super::terminal::one_line;
use super::watch::{Interrupts, unbound};
use super::{CommandStatus, Outcome};
use clap::Args;
use serde_json::json;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::time::Duration;
use touchstone_api::{
    Column, JudgePasses, JudgePlan, JudgeRates, JudgeRequest, Judged, JudgingView, LaunchState,
    ListRequest, RunRow, Sort, Span, describe_excluded_forks,
};
use touchstone_app::App;
use touchstone_app::number_format::fixed;
use touchstone_app::sensitive::LEFT_OUT;

/// Interval at which signals and the progress are polled.
const GLANCE: Duration = Duration::from_millis(200);
/// Number of rows per request.
const PAGE: u32 = 500;

/// Arguments of `score` for judging by a model.
#[derive(Debug, Args)]
pub(super) struct ByModel {
    /// Judge the runs with a model: `sopr`, `fac`, `relevance`, …, or `sowr` with --reference
    #[arg(long, value_name = "NAME", conflicts_with_all = ["scorer", "fail_under"])]
    pub(super) judge: Option<String>,
    /// Model in touchstone.yaml that judges [default: from the suites]
    #[arg(long, value_name = "MODEL", requires = "judge")]
    judge_model: Option<String>,
    /// Judge each run this many times [default: from the suites]
    #[arg(long, value_name = "N", requires = "judge")]
    rounds: Option<u32>,
    /// Compare each run with the run of the same task, variation and repeat among these:
    /// `system:promptql model:o1`
    #[arg(
        long,
        value_name = "FILTER",
        requires = "judge",
        default_value = "",
        hide_default_value = true
    )]
    reference: String,
    /// Use the rules of the published scripts, including their bugs
    #[arg(long, requires = "judge")]
    official: bool,
    /// Judge runs again that already have a judgement
    #[arg(long, requires = "judge")]
    again: bool,
    /// Only show the plan and its estimated cost
    #[arg(long, requires = "judge")]
    plan: bool,
    /// Stop asking after this many dollars
    #[arg(long, value_name = "X", requires = "judge")]
    max_cost: Option<f64>,
}

pub(super) fn run(app: &App, judge: &str, asked: &ByModel, filter: &str, json: bool) -> Outcome {
    let mut request = JudgeRequest {
        judge: judge.to_owned(),
        model: asked.judge_model.clone().unwrap_or_default(),
        rounds: asked.rounds,
        official: asked.official,
        runs: Vec::new(),
        filter: filter.to_owned(),
        reference: asked.reference.clone(),
        again: asked.again,
        max_cost: asked.max_cost,
    };
    if asked.plan {
        return plan(&app.judging().plan_judging(&request)?, json);
    }
    let interrupts = Interrupts::listen()?;
    let id = app.judging().start_judging(&request)?.judging;
    let mut pressed = 0;
    while !app.judging().wait_judging(&id, GLANCE)? {
        let now = interrupts.count();
        if now > pressed {
            pressed = now;
            app.judging().stop_judging(&id, pressed > 1)?;
        }
        if io::stderr().is_terminal() {
            let JudgingView { total, done, calls, .. } = app.judging().view(&id)?;
            let _ = write!(io::stderr(), "\r{done} of {total} runs judged, {calls} replies");
        }
    }
    if io::stderr().is_terminal() {
        let _ = writeln!(io::stderr());
    }
    let view = app.judging().view(&id)?;
    request.model.clone_from(&view.model);
    verdicts(app, &request, json)?;
    let mut says: Box<dyn Write> =
        if json { Box::new(io::stderr()) } else { Box::new(io::stdout()) };
    for line in summary(&view) {
        writeln!(says, "{line}")?;
    }
    let well =
        view.state == LaunchState::Done && view.failed == 0 && view.unread == 0 && view.done > 0;
    Ok(if well { CommandStatus::Well } else { CommandStatus::WithFailures })
}

fn plan(plan: &JudgePlan, json: bool) -> Outcome {
    let mut out = io::stdout().lock();
    if json {
        serde_json::to_writer(&mut out, plan).map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(CommandStatus::Well);
    }
    let JudgePlan {
        model,
        rounds,
        runs,
        unasked,
        complete,
        skipped_total,
        calls_least,
        calls_most,
        ..
    } = plan;
    writeln!(out, "by {} in {rounds} {}", one_line(model), pluralize(u64::from(*rounds), "round"))?;
    writeln!(
        out,
        "{runs} {} to judge, {unasked} without an answer, {complete} already judged, {skipped_total} skipped",
        pluralize(*runs, "run")
    )?;
    let requests = between(&calls_least.to_string(), &calls_most.to_string());
    let tokens = between(&plan.tokens_least.to_string(), &plan.tokens_most.to_string());
    writeln!(out, "{requests} {}, about {tokens} tokens", pluralize(*calls_most, "request"))?;
    match (plan.cost_least, plan.cost_most) {
        (Some(least), Some(most)) => {
            writeln!(out, "about {}", between(&dollars(least), &dollars(most)))?;
        }
        _ => writeln!(out, "the cost is unknown: the model has no price")?,
    }
    plan.unbound.iter().try_for_each(|why| writeln!(out, "{}", one_line(why)))?;
    describe_excluded_forks(plan.forks_left_out)
        .iter()
        .try_for_each(|note| writeln!(out, "{}", one_line(note)))?;
    for skip in &plan.skipped {
        writeln!(out, "skipped  {}: {}", one_line(&skip.path), one_line(&skip.why))?;
    }
    Ok(CommandStatus::Well)
}

/// Writes the verdict on each run, sorted by path.
fn verdicts(app: &App, request: &JudgeRequest, json: bool) -> Outcome {
    let mut out = BufWriter::new(io::stdout().lock());
    let sort = Sort { column: Column::Path, descending: false };
    // A verdict given against another reference run does not belong to this pair.
    let rivals = app.judging().compared_with(request)?;
    let mut offset = 0;
    loop {
        let list = ListRequest {
            filter: request.filter.clone(),
            sort: sort.clone(),
            span: Span { offset, limit: PAGE },
        };
        let rows = app.runs().list_counted(list)?.rows;
        if rows.is_empty() {
            break;
        }
        offset += PAGE;
        for row in rows {
            let of_it = |judged: &&Judged| {
                (judged.judge == request.judge && judged.model == request.model)
                    && (judged.official == request.official && judged.stale.is_none())
                    && judged.against.as_ref() == rivals.get(&row.id)
            };
            // Newest first. An unreadable verdict does not replace an older one that is still
            // valid.
            let all = app.scoring().run_scores(&row.id)?.judged;
            let mut of_it = all.iter().filter(of_it).peekable();
            let newest = of_it.peek().copied();
            if let Some(judged) = of_it.find(|judged| judged.score.is_some()).or(newest) {
                verdict(&mut out, &row, judged, json)?;
            }
        }
    }
    out.flush()?;
    Ok(CommandStatus::Well)
}

fn verdict(out: &mut impl Write, row: &RunRow, judged: &Judged, json: bool) -> io::Result<()> {
    let reason = judged.rounds.last().map(|round| round.reason.as_str()).unwrap_or_default();
    // Reasons quote what was said; `show --include-sensitive` prints them.
    let is_quote = row.sensitive == Some(true) && !reason.is_empty();
    let reason = if is_quote { LEFT_OUT } else { reason };
    if json {
        let line = json!({
            "path": row.path,
            "scorer": format!("judge:{}", judged.judge),
            "score": judged.score,
            "passed": judged.passed,
            "reason": reason,
            "detail": {
                "model": judged.model, "version": judged.version, "official": judged.official,
                "spread": judged.spread, "told": judged.told, "threshold": judged.threshold, "rounds": judged.rounds,
            },
        });
        return writeln!(out, "{line}");
    }
    let score = judged.told.clone().or_else(|| judged.score.map(|score| fixed(score, 3)));
    let score = score.unwrap_or_else(|| "  –  ".to_owned());
    let words: Vec<&str> = judged.rounds.iter().map(|round| round.told.as_str()).collect();
    // One round in the words of its scale says all.
    let words = if words == [score.as_str()] { String::new() } else { words.join(", ") + "  " };
    writeln!(out, "{score}  {words}{}  ({})", one_line(&row.path), one_line(reason))
}

/// Formats the mean on the judge's own scale, and the number of passing runs.
fn format_judge_rates(judge: &str, rates: &JudgeRates) -> Option<String> {
    let between = |interval: Option<(f64, f64)>, places: usize, times: f64| {
        let shown =
            |(low, high)| format!(" [{:.places$} to {:.places$}]", times * low, times * high);
        interval.map(shown).unwrap_or_default()
    };
    let own =
        rates.own.as_ref().map(|own| format!("mean {}{}", own.told, between(own.interval, 1, 1.0)));
    let passed = rates.passed.filter(|passed| passed.runs > 0).map(
        |JudgePasses { passed, runs, interval }| {
            let between = between(interval, 0, 100.0).replace(']', " %]");
            format!("{passed} of {runs} runs pass{between}")
        },
    );
    let parts: Vec<String> = own.into_iter().chain(passed).collect();
    (!parts.is_empty()).then(|| format!("{judge}: {}", parts.join("; ")))
}

fn summary(view: &JudgingView) -> Vec<String> {
    let JudgingView { judge, total, done, failed, skipped, unread, calls, tokens, cost, .. } = view;
    let mut lines = vec![format!(
        "{done} of {total} runs judged, {failed} failed, {skipped} skipped, {unread} with replies that could not be read"
    )];
    if let Some(rates) = &view.rates {
        if let Some(pairs) = &rates.pairs {
            let percent = |share: f64| format!("{} %", fixed(100.0 * share, 1));
            let (win, lose, tie) = (percent(pairs.win), percent(pairs.lose), percent(pairs.tie));
            lines.push(format!("{judge}: {win} won, {lose} lost, {tie} tied"));
        }
        lines.extend(format_judge_rates(judge, rates));
        let answered = rates.runs - rates.without_answer;
        let of_answered = rates
            .mean_of_answered
            .map(|mean| format!("; {} of the {answered} with an answer", fixed(mean, 3)));
        let (mean, spread, runs) = (rates.mean, rates.spread, rates.runs);
        lines.push(format!(
            "{judge}: mean {} ± {} of {runs} runs{}",
            fixed(mean, 3),
            fixed(spread, 3),
            of_answered.unwrap_or_default()
        ));
    }
    if *done == 0 && *total > 0 {
        lines.push("No run was judged.".to_owned());
    }
    let more = if view.unpriced { " plus unknown costs" } else { "" };
    lines.push(format!("{calls} replies bought, {tokens} tokens, ${}{more}", fixed(*cost, 4)));
    lines.extend(view.max_cost.filter(|_| view.unpriced).map(unbound));
    for trouble in &view.troubles {
        lines.push(format!("{}: {}", one_line(&trouble.path), one_line(&trouble.why)));
    }
    lines.extend(view.why.as_deref().map(|why| one_line(why).into_owned()));
    lines
}
