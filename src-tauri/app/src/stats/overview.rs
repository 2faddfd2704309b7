//! Queries for the overview.
use super::StatsActions;
use super::leaderboard::{self, Entry};
use super::plots::{self, Drawn, Measure};
use crate::error::AppError;
use touchstone_api::{Leaderboard, LeaderboardRequest, Overview, OverviewRequest};
use touchstone_scoring::aggregate::{Front, FrontBy, Summary};
use touchstone_store::overview::Leaders;

impl StatsActions<'_> {
    /// Returns a part of the matrix of tasks against systems and models.
    pub fn overview(self, request: &OverviewRequest) -> Result<Overview, AppError> {
        let open = self.app.require_folder()?;
        let suites = open.flow.shelf.tasks();
        let overview = open.ask(|index| open.lists.overview(index, &suites, request));
        open.flow.live.stir();
        overview
    }

    /// Returns the systems with their models beside each other. Uses the matrix of the overview
    /// with the same filter, if it was made already.
    pub fn leaderboard(self, request: &LeaderboardRequest) -> Result<Leaderboard, AppError> {
        let open = self.app.require_folder()?;
        let suites = open.flow.shelf.tasks();
        let asked = (request.filter.as_str(), request.scorer.as_deref());
        let ((leaders, misread), generation) =
            open.ask(|index| Ok((open.lists.leaders(index, &suites, asked)?, index.generation())))?;
        open.flow.live.stir();
        Ok(Leaderboard { generation, misread, ..compute(&leaders) })
    }
}

fn compute(leaders: &Leaders) -> Leaderboard {
    let front = leaders.front.as_ref();
    let entry = |(at, leader): (usize, _)| (at, entry(leader));
    let mut entries: Vec<(usize, Entry<'_>)> = leaders.all.iter().enumerate().map(entry).collect();
    let mean = |entry: &Entry<'_>| entry.summary.cell.score.map_or(-1.0, |score| score.value);
    entries.sort_by(|(_, one), (_, other)| mean(other).total_cmp(&mean(one)));
    let (order, entries): (Vec<usize>, Vec<Entry<'_>>) = entries.into_iter().unzip();
    let on = |front: &Front| {
        order.iter().map(|at| front.on.get(*at).copied().flatten()).collect::<Vec<_>>()
    };
    let sorted = front.map(|front| Front { on: on(front), ..front.clone() });
    let best = leaders.best.and_then(|best| order.iter().position(|at| *at == best));
    let rows = leaderboard::rows(&entries, sorted.as_ref(), best);
    let summaries: Vec<&Summary> = entries.iter().map(|entry| entry.summary).collect();
    let plot = |measure| {
        let by = if measure == Measure::Cost { FrontBy::Cost } else { FrontBy::Seconds };
        let on = Front::by(&summaries, by).map(|front| front.on).unwrap_or_default();
        let is_on = |at: usize| on.get(at).copied().flatten() == Some(true);
        let drawn = rows.iter().enumerate();
        let drawn: Vec<Drawn<'_>> =
            drawn.map(|(at, row)| Drawn::of_row(row, measure, is_on(at))).collect();
        plots::scatter(&drawn, measure)
    };
    Leaderboard {
        generation: 0,
        left_out: u32::try_from(leaders.left_out).unwrap_or(u32::MAX),
        front_by: front.map(leaderboard::measure),
        front_rows: front.map(leaderboard::front_rows),
        cost_plot: plot(Measure::Cost),
        time_plot: plot(Measure::Seconds),
        rows,
        misread: Vec::new(),
    }
}

fn entry(leader: &touchstone_store::overview::Leader) -> Entry<'_> {
    Entry {
        system: leader.system.as_deref(),
        model: leader.model.as_deref(),
        filter: &leader.filter,
        summary: &leader.summary,
        standing: leader.standing.as_ref(),
    }
}
