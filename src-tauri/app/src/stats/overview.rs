//! Queries for the overview.
use super::StatsActions;
use super::choice::choice;
use super::leaderboard::{self, Entry};
use super::plots::{self, Drawn, Measure};
use crate::error::AppError;
use touchstone_api::{Leaderboard, LeaderboardRequest, LeaderboardRow, Overview, OverviewRequest};
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
    let entries: Vec<Entry<'_>> = leaders.all.iter().map(entry).collect();
    let rows = leaderboard::rows(&entries, front, leaders.best);
    let summaries: Vec<&Summary> = entries.iter().map(|entry| entry.summary).collect();
    let fronts = [FrontBy::Cost, FrontBy::Seconds]
        .map(|by| Front::by(&summaries, by).map(|front| front.on).unwrap_or_default());
    let is_on = |front: &Vec<Option<bool>>, at: usize| front.get(at) == Some(&Some(true));
    let placed = |(at, row)| (row, fronts.each_ref().map(|front| is_on(front, at)));
    let mut placed: Vec<(LeaderboardRow, [bool; 2])> =
        rows.into_iter().enumerate().map(placed).collect();
    let mean = |row: &LeaderboardRow| row.score.map_or(-1.0, |score| score.value);
    placed
        .sort_by(|(a, _), (b, _)| a.group.cmp(&b.group).then_with(|| mean(b).total_cmp(&mean(a))));
    let plot = |measure: Measure| {
        let drawn = placed.iter().map(|(row, [by_cost, by_time])| {
            let on_front = if measure == Measure::Cost { by_cost } else { by_time };
            Drawn::of_row(row, measure, *on_front)
        });
        plots::scatter(&drawn.collect::<Vec<_>>(), measure)
    };
    let (cost_plot, time_plot) = (plot(Measure::Cost), plot(Measure::Seconds));
    let rows: Vec<LeaderboardRow> = placed.into_iter().map(|(row, _)| row).collect();
    Leaderboard {
        generation: 0,
        left_out: u32::try_from(leaders.left_out).unwrap_or(u32::MAX),
        front_by: front.map(leaderboard::measure),
        front_rows: front.map(leaderboard::front_rows),
        cost_plot,
        time_plot,
        choice: choice(&rows),
        not_drawn: leaderboard::not_drawn(&rows),
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
