//! Queries for lists of runs.
use super::RunActions;
use crate::error::{AppError, Code};
use crate::folder::named_paths;
use crate::{OpenFolder, paths};
use std::path::Path;
use touchstone_api::{
    Column, Facets, FilterError, Hit, ListPosition, ListRequest, ListView, OwnColumns, Phase,
    QueueOrder, QueueProgress, RunPage, RunsAround, Sort, Span,
};
use touchstone_formats::workspace::View;
use touchstone_store::filter::Filter;
use touchstone_store::index::{IndexError, Reader, is_damage};
use touchstone_store::live::IndexStatus;
use touchstone_store::query::{MAX_ROWS, OwnColumn};
use touchstone_store::roots::Root;
use touchstone_store::run_of_file;

/// Maximum number of columns of one's own in a request.
const MOST_COLUMNS: usize = 50;

impl RunActions<'_> {
    /// Fails for an invalid filter, with the reasons, each with the place that it is about. Labels of
    /// a folder are not known here; [`Self::check_filter_of_folder`] checks them, too.
    pub fn check_filter(filter: &str) -> Result<(), AppError> {
        refuse_misread(filter, &Filter::parse(filter).1)
    }

    /// Like [`Self::check_filter`], and fails for a label that the open folder does not have.
    pub fn check_filter_of_folder(self, filter: &str) -> Result<(), AppError> {
        let open = self.app.require_folder()?;
        refuse_misread(filter, &Filter::parse_with(filter, &open.labels()).1)
    }

    /// Returns true for a filter that names forks or superseded runs, so that it means them, too.
    pub fn names_superseded(filter: &str) -> bool {
        Filter::parse(filter).0.names_forks()
    }

    /// Returns the filter for the runs of a file, by its path below the output directory.
    pub fn filter_of_file(path: &str) -> String {
        named_paths::filter_of_file(path)
    }

    /// Returns a page of runs.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "requests come from outside and are given away"
    )]
    pub fn list_runs(self, request: ListRequest) -> Result<RunPage, AppError> {
        let open = self.app.require_folder()?;
        check_sort(&request.sort)?;
        let page = open.ask(|index| open.lists.list(index, &request));
        open.flow.live.stir();
        let mut page = page?;
        self.app.sensitive().mark_sensitive(&mut page.rows)?;
        Ok(page)
    }

    /// Returns a page of the runs that statistics count: forks and continued runs are omitted
    /// unless the filter names them.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "requests come from outside and are given away"
    )]
    pub fn list_counted(self, request: ListRequest) -> Result<RunPage, AppError> {
        let open = self.app.require_folder()?;
        check_sort(&request.sort)?;
        let mut page = open.ask(|index| open.lists.list_counted(index, &request))?;
        self.app.sensitive().mark_sensitive(&mut page.rows)?;
        Ok(page)
    }

    /// Returns the values of columns of one's own for runs, by their ids.
    pub fn own_columns(self, columns: &[String], runs: &[String]) -> Result<OwnColumns, AppError> {
        let columns: Vec<OwnColumn> =
            columns.iter().map(|column| own_column(column)).collect::<Result<_, _>>()?;
        let is_many = columns.len() > MOST_COLUMNS || runs.len() > MAX_ROWS as usize;
        if is_many {
            let message = "These are more columns or runs than can be shown at once.";
            return Err(AppError::new(Code::BadRequest, message)
                .hint("Ask for at most 50 columns of 500 runs."));
        }
        let open = self.app.require_folder()?;
        let care = self.app.sensitive().quote_care()?;
        let quotes = columns.iter().map(|column| care.quotes(column)).collect();
        let values = open.ask(|index| open.lists.own_values(index, &columns, runs))?;
        Ok(OwnColumns { quotes, values })
    }

    /// Returns the position of a run in a list.
    pub fn locate_run(self, filter: &str, sort: &Sort, id: &str) -> Result<ListPosition, AppError> {
        let open = self.app.require_folder()?;
        check_sort(sort)?;
        open.ask(|index| open.lists.locate(index, filter, sort, id))
    }

    /// Returns the runs of a list around one of them, so that a person can work through the list
    /// unchanged.
    pub fn runs_around(self, filter: &str, sort: &Sort, id: &str) -> Result<RunsAround, AppError> {
        let open = self.app.require_folder()?;
        check_sort(sort)?;
        open.ask(|index| open.lists.around(index, filter, sort, id))
    }

    /// Like [`Self::runs_around`], in the order of a review queue. Without an author the person is
    /// that of the settings.
    pub fn queue_around(
        self,
        (filter, sort): (&str, &Sort),
        order: QueueOrder,
        author: Option<&str>,
        id: &str,
    ) -> Result<RunsAround, AppError> {
        let open = self.app.require_folder()?;
        check_sort(sort)?;
        let author = self.app.settings().author_or(author)?;
        let order = (order, author.as_deref());
        open.ask(|index| open.lists.queue_around(index, (filter, sort), order, id))
    }

    /// Returns how many runs of a filter a person has reviewed. Without an author the person is
    /// that of the settings.
    pub fn queue_progress(
        self,
        filter: &str,
        author: Option<&str>,
    ) -> Result<QueueProgress, AppError> {
        let open = self.app.require_folder()?;
        let author = self.app.settings().author_or(author)?;
        open.ask(|index| open.lists.queue_progress(index, filter, author.as_deref()))
    }

    /// Returns the saved views of the workspace file, in its order. A file that cannot be read has
    /// none; its problem is listed with the others.
    pub fn views(self) -> Result<Vec<ListView>, AppError> {
        let open = self.app.require_folder()?;
        let workspace = paths::workspace(&open.flow.roots.folder).and_then(Result::ok);
        let view = |View { name, filter, sort, columns }| ListView { name, filter, sort, columns };
        Ok(workspace.unwrap_or_default().views.into_iter().map(view).collect())
    }

    /// Returns the view with this name. Fails if there is none.
    pub fn view(self, name: &str) -> Result<ListView, AppError> {
        let views = self.views()?;
        let names: Vec<&str> = views.iter().map(|view| view.name.as_str()).collect();
        let next = match names.as_slice() {
            [] => "Write one into touchstone.yaml: views: { NAME: { filter: … } }".to_owned(),
            names => format!("There are: {}.", names.join(", ")),
        };
        let unknown = || {
            AppError::new(Code::NotFound, format!("There is no view named `{name}`.")).hint(next)
        };
        views.iter().find(|view| view.name == name).cloned().ok_or_else(unknown)
    }

    /// Returns the filter fields and the values that occur.
    pub fn facets(self) -> Result<Facets, AppError> {
        let open = self.app.require_folder()?;
        open.ask(|index| open.lists.facets(index)).map(|facets| Facets::clone(&facets))
    }

    /// Returns the occurrences of a text, newest run first.
    pub fn search(self, text: &str, span: Span) -> Result<Vec<Hit>, AppError> {
        let open = self.app.require_folder()?;
        open.ask(|index| open.lists.search(index, text, span))
    }

    /// Returns the id of the run to which a file belongs, including runs of several files and runs
    /// in a file of many.
    pub fn run_with(self, file: &Path, member: Option<&str>) -> Result<String, AppError> {
        let open = self.app.require_folder()?;
        let found = open.flow.roots.locate(file).filter(|file| file.root == Root::Output);
        let outside = || {
            AppError::new(
                Code::BadRequest,
                format!("{} is not in the output directory.", file.display()),
            )
        };
        Ok(run_of_file(&found.ok_or_else(outside)?, member))
    }
}

impl OpenFolder {
    /// Runs a query against the current index. If the query finds damage and waiting is allowed, it
    /// is repeated once the index has been rebuilt.
    pub(crate) fn ask<T>(
        &self,
        ask: impl Fn(&Reader<'_>) -> Result<T, IndexError>,
    ) -> Result<T, AppError> {
        self.lists.use_labels(self.labels());
        let (index, live) = (&self.flow.index, &self.flow.live);
        let once = || index.trust(index.reader().and_then(|reader| ask(&reader)));
        let before = live.now().renewals;
        match (once(), self.patience.get()) {
            (Err(error), Some(patience)) if is_damage(&error) => {
                let is_settled = |now: &IndexStatus| match now.phase {
                    Phase::Indexing { .. } => false,
                    // The rebuild failed.
                    Phase::Failed { .. } | Phase::Closed => true,
                    Phase::Ready => now.renewals > before,
                };
                if live.wait(is_settled, *patience) { Ok(once()?) } else { Err(error.into()) }
            }
            (answer, _) => Ok(answer?),
        }
    }
}

/// Fails with the reasons why a filter could not be parsed.
fn refuse_misread(filter: &str, misread: &[FilterError]) -> Result<(), AppError> {
    let lines: Vec<String> = misread
        .iter()
        .flat_map(|one| {
            let reason = format!("{}: {}", one.token, one.message);
            std::iter::once(reason).chain(marked(filter, &one.token))
        })
        .collect();
    if lines.is_empty() { Ok(()) } else { Err(AppError::new(Code::BadRequest, lines.join("\n"))) }
}

/// Returns a filter with a mark below a part of it. `None` when it is too long for a line, or the
/// part is all of it.
fn marked(filter: &str, part: &str) -> Option<String> {
    const LONGEST: usize = 160;
    let at = filter.find(part)?;
    let fits = filter.len() <= LONGEST && !filter.contains(char::is_control);
    (fits && part.trim() != filter.trim()).then(|| {
        let (before, width) = (filter[..at].chars().count(), part.chars().count());
        format!("  {filter}\n  {}{}", " ".repeat(before), "^".repeat(width))
    })
}

fn own_column(typed: &str) -> Result<OwnColumn, AppError> {
    OwnColumn::parse(typed).map_err(|message| AppError::new(Code::BadRequest, message))
}

/// Fails for an order by a column that does not exist.
fn check_sort(sort: &Sort) -> Result<(), AppError> {
    match &sort.column {
        Column::Own(name) => own_column(name.as_str()).map(drop),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_in_a_filter_is_marked_below_the_word() {
        let error = RunActions::check_filter("model:o1 call(sql){faild}").unwrap_err();
        assert_eq!(
            error.message,
            "faild: Unknown condition \"faild\". Did you mean failed?\n  model:o1 call(sql){faild}\n                     ^^^^^"
        );
        let error = RunActions::check_filter("modle:o1").unwrap_err();
        assert_eq!(error.message.lines().count(), 1);
    }
}
