//! **Pure.** Identity of what the index keeps a row for.
use super::roots::FileId;
use xxhash_rust::xxh3::xxh3_64;

/// Identity of a row: a file, or the files of one run of a benchmark folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct UnitId {
    /// The file, or the common stem of a group.
    pub(crate) file: FileId,
    /// True for a group.
    pub(crate) group: bool,
}

impl UnitId {
    /// Public id. A group and a file of the same name have different ids.
    pub(crate) fn key(&self) -> String {
        format!("{:016x}", self.hash())
    }

    /// Public id of a run within a file of many. Paths cannot contain zero bytes, so the hashed
    /// texts are unique.
    pub(crate) fn key_of(&self, member: Option<&str>) -> String {
        let Some(member) = member else { return self.key() };
        let path = [&*self.file.path, b"\0\0", member.as_bytes()].concat();
        format!("{:016x}", xxh3_64(&path))
    }

    /// Display form: the path, with the key of the member.
    pub(crate) fn to_display(&self, member: Option<&str>) -> String {
        let path = self.file.to_display();
        member.map_or_else(|| path.clone(), |member| format!("{path}#{member}"))
    }

    /// Number that rows and files of the unit share.
    pub(crate) fn number(&self) -> i64 {
        self.hash().cast_signed()
    }

    fn hash(&self) -> u64 {
        let end: &[u8] = if self.group { b"\0" } else { b"" };
        xxh3_64(&[&*self.file.path, end].concat())
    }
}
