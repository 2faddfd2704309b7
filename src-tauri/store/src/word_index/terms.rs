//! **Pure.** Table of terms, each with a number in the order in which they came, and with the places
//! where it stands.
use super::Places;
use xxhash_rust::xxh3::xxh3_64;

/// Number of an empty slot.
const NONE: u32 = u32::MAX;

/// Terms by their bytes.
#[derive(Debug, Default)]
pub(super) struct Terms {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    /// Numbers of the entries by their hash; a power of two of them.
    slots: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    start: u32,
    hash: u32,
    slot: u32,
    len: u8,
    places: Places,
}

impl Terms {
    /// Adds places to a term, and returns its number.
    pub(super) fn add(&mut self, term: &[u8], places: Places) -> usize {
        if self.entries.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let hash = low(xxh3_64(term));
        let mut slot = hash as usize & (self.slots.len() - 1);
        loop {
            let number = self.slots[slot];
            if number == NONE {
                break;
            }
            let entry = &mut self.entries[number as usize];
            let start = entry.start as usize;
            if entry.hash == hash && self.bytes[start..start + usize::from(entry.len)] == *term {
                entry.places |= places;
                return number as usize;
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        let number = self.entries.len();
        self.slots[slot] = low(number as u64);
        let (start, slot) = (low(self.bytes.len() as u64), low(slot as u64));
        // Terms are short.
        let len = u8::try_from(term.len()).unwrap_or(u8::MAX);
        self.bytes.extend_from_slice(&term[..usize::from(len)]);
        self.entries.push(Entry { start, hash, slot, len, places });
        number
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(1 << 10);
        self.slots.clear();
        self.slots.resize(size, NONE);
        for (number, entry) in self.entries.iter_mut().enumerate() {
            let mut slot = entry.hash as usize & (size - 1);
            while self.slots[slot] != NONE {
                slot = (slot + 1) & (size - 1);
            }
            self.slots[slot] = low(number as u64);
            entry.slot = low(slot as u64);
        }
    }

    /// Empties the table, and keeps its memory.
    pub(super) fn clear(&mut self) {
        for entry in &self.entries {
            self.slots[entry.slot as usize] = NONE;
        }
        self.entries.clear();
        self.bytes.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns a term by its number.
    pub(super) fn term(&self, number: usize) -> &[u8] {
        let entry = &self.entries[number];
        let start = entry.start as usize;
        &self.bytes[start..start + usize::from(entry.len)]
    }

    /// Returns a term by its number, with its places.
    pub(super) fn get(&self, number: usize) -> (&[u8], Places) {
        (self.term(number), self.entries[number].places)
    }

    /// Iterates over the terms with their places.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], Places)> {
        (0..self.len()).map(|number| self.get(number))
    }
}

/// Returns the low half. Tables are far smaller than that.
fn low(number: u64) -> u32 {
    u32::try_from(number & u64::from(u32::MAX)).unwrap_or_default()
}
