//! Asks the index for what an overview is made of, and remembers what it came to.
use super::{Filter, IndexError, Lists, Reader};
use crate::results::overview::Matrix;
use crate::results::suites::Tasks;
use crate::rows::{Overview, OverviewRequest};
use std::sync::Arc;

impl Lists {
    /// A part of the matrix of the runs that pass a filter.
    pub fn overview(
        &self,
        index: &Reader<'_>,
        suites: &Arc<Tasks>,
        request: &OverviewRequest,
    ) -> Result<Overview, IndexError> {
        let (filter, misread) = Filter::parse(&request.filter);
        let key = (filter.to_string(), request.scorer.clone());
        let known = self.remembered(index, |known| known.matrices.get(&key)).filter(|known| known.is_of(suites));
        let matrix = if let Some(known) = known {
            known
        } else {
            let (runs, _) = self.scored(index, &request.filter, request.scorer.as_deref())?;
            let matrix = Matrix::of(&runs, suites, &filter, scorers(index)?);
            self.keep(index, matrix, |known, matrix| known.matrices.put(key, matrix))
        };
        Ok(matrix.page(request, index.generation(), misread))
    }
}

/// Scorers that occur.
fn scorers(index: &Reader<'_>) -> Result<Vec<String>, IndexError> {
    let mut query = index.prepare_cached("SELECT DISTINCT scorer FROM scores ORDER BY scorer")?;
    let scorers = query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(scorers)
}
