//! **Pure.** The files of one unit: mostly one, and few otherwise, so that a sorted list takes a tenth
//! of the memory of a map. A folder may have a million units that wait.
use super::roots::FileId;
use super::scan::Found;

/// Files of a unit in their order, each once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct UnitFiles(Box<[(FileId, Found)]>);

impl UnitFiles {
    pub(crate) fn get(&self, file: &FileId) -> Option<&Found> {
        let at = self.0.binary_search_by(|(known, _)| known.cmp(file)).ok()?;
        self.0.get(at).map(|(_, found)| found)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&FileId, &Found)> {
        self.0.iter().map(|(file, found)| (file, found))
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &FileId> {
        self.iter().map(|(file, _)| file)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &Found> {
        self.iter().map(|(_, found)| found)
    }

    /// Adds files. They take the place of those of the same name.
    pub(crate) fn merge(&mut self, newer: Self) {
        if self.is_empty() {
            *self = newer;
        } else {
            *self = std::mem::take(self).into_iter().chain(newer).collect();
        }
    }
}

impl FromIterator<(FileId, Found)> for UnitFiles {
    /// Of files of the same name, the last one counts.
    fn from_iter<I: IntoIterator<Item = (FileId, Found)>>(files: I) -> Self {
        let mut files: Vec<_> = files.into_iter().collect();
        files.reverse();
        files.sort_by(|one, other| one.0.cmp(&other.0));
        files.dedup_by(|later, kept| later.0 == kept.0);
        Self(files.into_boxed_slice())
    }
}

impl IntoIterator for UnitFiles {
    type Item = (FileId, Found);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_vec().into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open::Stamp;
    use crate::roots::Root;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn files(entries: &[(u8, u64)]) -> impl Iterator<Item = (FileId, Found)> {
        entries.iter().map(|(name, size)| {
            let stamp = Stamp { size: *size, ..Stamp::default() };
            (FileId::new(Root::Output, [*name]), Found { stamp, odd: None })
        })
    }

    proptest! {
        #[test]
        fn a_list_of_files_is_like_a_map_of_them(
            first in prop::collection::vec((0..6_u8, 0..9_u64), 0..6),
            second in prop::collection::vec((0..6_u8, 0..9_u64), 0..6),
        ) {
            let mut map: BTreeMap<FileId, Found> = files(&first).collect();
            let mut list: UnitFiles = files(&first).collect();
            map.extend(files(&second));
            list.merge(files(&second).collect());
            let names = (0..7).map(|name| FileId::new(Root::Output, [name]));
            for name in names {
                prop_assert_eq!(list.get(&name), map.get(&name));
            }
            prop_assert_eq!((list.len(), list.is_empty()), (map.len(), map.is_empty()));
            prop_assert_eq!(list.iter().collect::<Vec<_>>(), map.iter().collect::<Vec<_>>());
            prop_assert_eq!(list.into_iter().collect::<Vec<_>>(), map.into_iter().collect::<Vec<_>>());
        }
    }
}
