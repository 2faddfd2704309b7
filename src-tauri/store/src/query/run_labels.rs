//! Labels of certain runs, and the values of a label that are kept in reviews.
use super::labels::{all_names, sets};
use super::{IndexError, Lists, Reader, id_of};
use crate::reviews::{StoredReview, review_name};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_api::RunLabel;

impl Lists {
    /// Returns the labels of runs, by their ids. Runs without labels are left out.
    pub fn labels_of(
        &self,
        index: &Reader<'_>,
        keys: &[String],
    ) -> Result<BTreeMap<String, Vec<RunLabel>>, IndexError> {
        let labels = self.labels();
        if labels.rules().is_empty() {
            return Ok(BTreeMap::new());
        }
        let mut known = Vec::new();
        for key in keys {
            known.extend(id_of(index, key)?.map(|id| (id, key)));
        }
        let ids: Vec<i64> = known.iter().map(|(id, _)| *id).collect();
        let given = || self.people_labels(index);
        let sets = sets(index, &labels, all_names(&labels), (Some(&ids), &given))?;
        let of_runs = known.into_iter().map(|(id, key)| (key.clone(), sets.of_run(&labels, id)));
        Ok(of_runs.filter(|(_, of_run)| !of_run.is_empty()).collect())
    }

    /// Returns the number of reviews that give a label, also to earlier answers and to runs that are gone,
    /// and the values in them.
    pub fn label_values_kept(
        &self,
        index: &Reader<'_>,
        name: &str,
    ) -> Result<(u64, BTreeSet<String>), IndexError> {
        let mut query =
            index.prepare_cached("SELECT v.people, v.same FROM reviews v WHERE v.labeled")?;
        let mut rows = query.query([])?;
        let (mut reviews, mut values) = (0, BTreeSet::new());
        while let Some(row) = rows.next()? {
            let people: String = row.get(0)?;
            let same: Option<String> = row.get(1)?;
            let all = StoredReview::all(&people, same.as_deref().unwrap_or_default()).into_iter();
            let of_label = all.flat_map(|one| one.labels).filter(|(label, _)| label == name);
            let own: BTreeSet<String> = of_label.map(|(_, value)| value).collect();
            reviews += u64::from(!own.is_empty());
            values.extend(own);
        }
        Ok((reviews, values))
    }

    /// Returns the names that the review files have in which a label has a value, as
    /// [`touchstone_formats::review::file_of`] takes them: also of runs that are gone.
    pub fn reviews_with_label(
        &self,
        index: &Reader<'_>,
        name: &str,
    ) -> Result<Vec<String>, IndexError> {
        let mut query = index
            .prepare_cached("SELECT v.path, v.people, v.same FROM reviews v WHERE v.labeled")?;
        let mut rows = query.query([])?;
        let mut names = Vec::new();
        while let Some(row) = rows.next()? {
            let people: String = row.get(1)?;
            let same: Option<String> = row.get(2)?;
            let all = StoredReview::all(&people, same.as_deref().unwrap_or_default());
            if all.iter().any(|one| one.labels.iter().any(|(label, _)| label == name)) {
                let path: Vec<u8> = row.get(0)?;
                names.extend(review_name(&path));
            }
        }
        Ok(names)
    }
}
