//! Lists of runs, for whoever asks.
use super::{App, OpenFolder};
use crate::error::{AppError, Code};
use crate::results::filter::Filter;
use crate::results::index::{IndexError, Reader};
use crate::rows::{Facets, Hit, ListRequest, Place, RunPage, RunsAround, Sort, Span};

impl App {
    /// Refuses an invalid filter, with a line for each reason.
    pub fn understood(filter: &str) -> Result<(), AppError> {
        let (_, misread) = Filter::parse(filter);
        let lines: Vec<String> = misread.iter().map(|one| format!("{}: {}", one.token, one.message)).collect();
        if lines.is_empty() { Ok(()) } else { Err(AppError::new(Code::BadRequest, lines.join("\n"))) }
    }

    /// A page of runs.
    #[expect(clippy::needless_pass_by_value, reason = "requests come from outside and are given away")]
    pub fn list_runs(&self, request: ListRequest) -> Result<RunPage, AppError> {
        let open = self.opened()?;
        self.heed_models(&open);
        let page = open.ask(|index| open.lists.list(index, &request));
        open.flow.live.stir();
        page
    }

    /// A page of the runs that statistics count: forks and continued runs are left out unless the filter names them.
    #[expect(clippy::needless_pass_by_value, reason = "requests come from outside and are given away")]
    pub fn list_counted(&self, request: ListRequest) -> Result<RunPage, AppError> {
        let open = self.opened()?;
        open.ask(|index| open.lists.list_counted(index, &request))
    }

    /// Where a run stands in a list.
    pub fn locate_run(&self, filter: &str, sort: Sort, id: &str) -> Result<Place, AppError> {
        let open = self.opened()?;
        open.ask(|index| open.lists.locate(index, filter, sort, id))
    }

    /// The runs of a list around one of them, so that a person can work through the list as it was.
    pub fn runs_around(&self, filter: &str, sort: Sort, id: &str) -> Result<RunsAround, AppError> {
        let open = self.opened()?;
        open.ask(|index| open.lists.around(index, filter, sort, id))
    }

    /// What can be asked of runs, and which values occur.
    pub fn facets(&self) -> Result<Facets, AppError> {
        let open = self.opened()?;
        open.ask(|index| open.lists.facets(index)).map(|facets| Facets::clone(&facets))
    }

    /// Where a text is found, newest run first.
    pub fn search(&self, text: &str, span: Span) -> Result<Vec<Hit>, AppError> {
        let open = self.opened()?;
        open.ask(|index| open.lists.search(index, text, span))
    }
}

impl OpenFolder {
    /// Asks the index as it is now.
    pub(crate) fn ask<T>(&self, ask: impl FnOnce(&Reader<'_>) -> Result<T, IndexError>) -> Result<T, AppError> {
        let index = &self.flow.index;
        Ok(index.trust(index.reader().and_then(|reader| ask(&reader)))?)
    }
}
