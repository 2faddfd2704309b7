//! **Pure.** Redacts the texts of a report that come from transcripts, their files and their folders.
//! A title that the user wrote for the report stays.
use super::page::{Page, RunLine, Trend};
use touchstone_formats::redact::{DocumentRedactor, Redactions};

/// Formats of sessions of coding agents, which are redacted unless it is asked otherwise: they hold
/// what was on the screen of a person.
const SESSIONS: [&str; 3] = ["claude_code", "codex", "gemini_cli"];

impl Page {
    /// Redacts what looks like a key, an e-mail address or a home folder, and the names of users
    /// that are found in them; `folder` is the path of the folder. Returns the numbers of places;
    /// those of a run that did not pass and is listed with all runs count once.
    pub(crate) fn redact(&mut self, folder: &str) -> Redactions {
        let mut redactor = DocumentRedactor::default();
        let has_own_title = self.head.title != self.head.folder;
        redactor.without_counting(|redactor| self.head.folder = own_name(redactor, folder));
        redactor.document(self, redact_page);
        if !has_own_title {
            self.head.title.clone_from(&self.head.folder);
        }
        redactor.counts()
    }
}

fn redact_page(redactor: &mut DocumentRedactor, page: &mut Page) {
    redactor.without_counting(|redactor| redactor.text(&mut page.head.folder));
    let mut redact = |text: &mut String| redactor.text(text);
    // A filter names files, whose paths may be those of home folders.
    redact(&mut page.head.filter);
    page.headline.iter_mut().for_each(&mut redact);
    for group in &mut page.groups {
        redact(&mut group.name);
        let names = group.system.iter_mut().chain(&mut group.model);
        names.chain(&mut group.why).for_each(&mut redact);
    }
    for pair in &mut page.pairs {
        let names = [&mut pair.name, &mut pair.baseline, &mut pair.outcome].into_iter();
        let sentences = pair.sentences.iter_mut().chain(&mut pair.more);
        names.chain(sentences).chain(&mut pair.unpaired).for_each(&mut redact);
    }
    for task in &mut page.tasks {
        redact(&mut task.task);
        task.variation.iter_mut().for_each(&mut redact);
    }
    for table in page.queries.iter_mut().chain(&mut page.scan) {
        let cells = table.rows.iter_mut().flatten();
        table.head.iter_mut().chain(cells).for_each(&mut redact);
    }
    if let Some(trend) = &mut page.trend {
        redact_trend(&mut redact, trend);
    }
    for sum in &mut page.labels {
        let names = [&mut sum.label, &mut sum.group].into_iter();
        names.chain(&mut sum.value).for_each(&mut redact);
    }
    for line in page.causes.iter_mut().flat_map(|causes| &mut causes.lines) {
        let texts = [&mut line.title, &mut line.quote].into_iter();
        texts.chain(&mut line.example).for_each(&mut redact);
    }
    for sum in &mut page.stored {
        redact(&mut sum.evaluator);
        redact(&mut sum.group);
    }
    for flaky in &mut page.flaky {
        redact(&mut flaky.group);
        redact(&mut flaky.task);
        flaky.variation.iter_mut().for_each(&mut redact);
    }
    page.notes.iter_mut().for_each(&mut redact);
    page.runs.iter_mut().for_each(|line| redact_line(redactor, line));
    let mut failed = |redactor: &mut DocumentRedactor| {
        page.failed.iter_mut().for_each(|line| redact_line(redactor, line));
    };
    // Where all runs are listed, the failed ones are among them.
    if page.runs.is_empty() { failed(redactor) } else { redactor.without_counting(failed) }
}

fn redact_trend(redact: &mut impl FnMut(&mut String), trend: &mut Trend) {
    for set in &mut trend.trends.sets {
        [&mut set.name, &mut set.filter].into_iter().for_each(&mut *redact);
    }
    for group in &mut trend.trends.groups {
        [&mut group.name, &mut group.filter].into_iter().for_each(&mut *redact);
        let changes = group
            .points
            .iter_mut()
            .flat_map(|point| point.change.iter_mut().chain(&mut point.change_point));
        for change in changes.chain(&mut group.overall) {
            let tasks = change.failed.iter_mut().chain(&mut change.fixed).chain(&mut change.flaky);
            tasks.for_each(&mut *redact);
        }
    }
    if let Some(plot) = &mut trend.plot {
        plot.x_ticks.iter_mut().for_each(|tick| redact(&mut tick.label));
        plot.lines.iter_mut().for_each(|line| redact(&mut line.label));
    }
}

/// Returns true if the row belongs to a session of a coding agent.
pub(crate) fn is_session(format: Option<&str>) -> bool {
    format.is_some_and(|format| SESSIONS.contains(&format))
}

/// Returns the name of the folder with this path, redacted. That a name is the one of a user shows
/// only in the whole path.
pub(crate) fn folder_name(path: &str) -> String {
    own_name(&mut DocumentRedactor::default(), path)
}

fn own_name(redactor: &mut DocumentRedactor, path: &str) -> String {
    // A slash tells where a name with spaces ends.
    let mut path = format!("{}/", path.trim_end_matches('/'));
    redactor.text(&mut path);
    let path = path.trim_end_matches('/');
    let name = path.rsplit('/').next().filter(|name| !name.is_empty());
    name.map_or_else(|| "/".to_owned(), str::to_owned)
}

fn redact_line(redactor: &mut DocumentRedactor, line: &mut RunLine) {
    redactor.text(&mut line.path);
    let names = [&mut line.task, &mut line.variation, &mut line.system, &mut line.model];
    let texts = [&mut line.reason, &mut line.review_note, &mut line.forked_from];
    for text in names.into_iter().chain(texts).flatten() {
        redactor.text(text);
    }
    for label in &mut line.labels {
        redactor.text(&mut label.name);
        label.value.iter_mut().for_each(|value| redactor.text(value));
    }
    for stored in &mut line.stored {
        redactor.text(&mut stored.evaluator);
        for text in [&mut stored.word, &mut stored.reason].into_iter().flatten() {
            redactor.text(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_home_folder_is_that_of_its_user() {
        for (path, name) in [
            ("/home/jane", "[redacted]"),
            ("/home/jane/plans", "plans"),
            ("/work/jane@mail.example.org", "[redacted]"),
            ("/", "/"),
        ] {
            assert_eq!(folder_name(path), name, "{path}");
        }
    }
}
