//! **Pure.** Redacts the texts of a report that come from transcripts and their files, and its
//! filter, which may name files. The title stays, which the user wrote.
use super::page::{Page, RunLine};
use touchstone_formats::redact::{Redactions, redact_text};

impl Page {
    /// Redacts what looks like a key, an e-mail address or a home folder. Returns the numbers of
    /// places; those of a run that did not pass and is listed with all runs count once.
    pub(crate) fn redact(&mut self) -> Redactions {
        let mut counts = Redactions::default();
        let mut redact = |text: &mut String| redact_text(text, &mut counts);
        redact(&mut self.head.folder);
        redact(&mut self.head.filter);
        for group in &mut self.groups {
            redact(&mut group.name);
            group.system.iter_mut().chain(&mut group.model).for_each(&mut redact);
        }
        for pair in &mut self.pairs {
            let names = [&mut pair.name, &mut pair.baseline, &mut pair.outcome].into_iter();
            let sentences = pair.sentences.iter_mut().chain(&mut pair.more);
            names.chain(sentences).chain(&mut pair.unpaired).for_each(&mut redact);
        }
        for task in &mut self.tasks {
            redact(&mut task.task);
            task.variation.iter_mut().for_each(&mut redact);
        }
        for table in &mut self.queries {
            let cells = table.rows.iter_mut().flatten();
            table.head.iter_mut().chain(cells).for_each(&mut redact);
        }
        for sum in &mut self.stored {
            redact(&mut sum.evaluator);
            redact(&mut sum.group);
        }
        for flaky in &mut self.flaky {
            redact(&mut flaky.group);
            redact(&mut flaky.task);
            flaky.variation.iter_mut().for_each(&mut redact);
        }
        self.notes.iter_mut().for_each(&mut redact);
        // Where all runs are listed, the failed ones are among them.
        let mut again = Redactions::default();
        let is_listed = !self.runs.is_empty();
        self.runs.iter_mut().for_each(|line| redact_line(line, &mut counts));
        let failed = if is_listed { &mut again } else { &mut counts };
        self.failed.iter_mut().for_each(|line| redact_line(line, failed));
        counts
    }
}

fn redact_line(line: &mut RunLine, counts: &mut Redactions) {
    redact_text(&mut line.path, counts);
    let names = [&mut line.task, &mut line.variation, &mut line.system, &mut line.model];
    let texts = [&mut line.reason, &mut line.review_note, &mut line.forked_from];
    for text in names.into_iter().chain(texts).flatten() {
        redact_text(text, counts);
    }
    for stored in &mut line.stored {
        redact_text(&mut stored.evaluator, counts);
        for text in [&mut stored.word, &mut stored.reason].into_iter().flatten() {
            redact_text(text, counts);
        }
    }
}
