//! What is shown of a sensitive run where its texts are left out: what it did and how it ended, but
//! nothing that was said.
use super::quote_care::QuoteCare;
use super::scan_care::{LEFT_OUT, leave_out_quote};
use touchstone_api::{Body, Clip, Comparison, Judged, Language, Part, RunView, StepKind, TaskUser};

impl QuoteCare {
    /// Replaces the texts of a sensitive run. Returns true if it is one.
    pub fn leave_out_view(&self, view: &mut RunView) -> bool {
        if view.row.sensitive != Some(true) {
            return false;
        }
        self.leave_out_row(&mut view.row);
        view.row.snippet = None;
        view.notes.clear();
        for step in &mut view.steps {
            // A tool has a name; the title of anything else is a text.
            step.title = step.title.take().filter(|_| step.kind == StepKind::ToolCall);
            step.parts.iter_mut().for_each(leave_out_part);
        }
        for group in &mut view.groups {
            group.prompt.iter_mut().for_each(leave_out_quote);
        }
        let answer = view.answer.iter_mut().map(|answer| &mut answer.part);
        answer.chain(view.facts.iter_mut().map(|fact| &mut fact.part)).for_each(leave_out_part);
        if let Some(task) = &mut view.task {
            let parts = task.prompt.iter_mut().chain(&mut task.expected);
            let parameters = task.parameters.iter_mut().map(|fact| &mut fact.part);
            parts.chain(parameters).for_each(leave_out_part);
            task.user.iter_mut().for_each(leave_out_user);
        }
        true
    }

    /// Replaces the texts of a comparison with a sensitive run. Returns the number of these runs.
    pub fn leave_out_comparison(&self, comparison: &mut Comparison) -> u64 {
        let is = |row: &touchstone_api::RunRow| row.sensitive == Some(true);
        let sensitive = comparison.runs.iter().filter(|run| is(&run.row)).count() as u64;
        if sensitive == 0 {
            return 0;
        }
        for run in &mut comparison.runs {
            self.leave_out_row(&mut run.row);
            run.answer_summary.iter_mut().for_each(leave_out_quote);
        }
        for row in &mut comparison.rows {
            leave_out_quote(&mut row.title);
        }
        let said = comparison.stored.iter_mut().flat_map(|line| line.said.iter_mut().flatten());
        said.filter_map(|one| one.reason.as_mut()).for_each(leave_out_quote);
        sensitive
    }
}

/// Removes what judges said in words of a sensitive run; their numbers stay.
pub fn leave_out_judged(judged: &mut [Judged]) {
    for one in judged {
        one.rounds.clear();
        one.wanted = 0;
    }
}

fn leave_out_part(part: &mut Part) {
    let text = LEFT_OUT.to_owned();
    part.body = Body::Text { language: Language::Plain, text, whole: true };
}

fn leave_out_user(user: &mut TaskUser) {
    let all = [&mut user.persona, &mut user.knows, &mut user.satisfied_when];
    for clip in all.into_iter().flatten().chain([&mut user.goal]) {
        *clip = Clip { text: LEFT_OUT.to_owned(), cut: false };
    }
}
