//! One run, opened: read whole from its files, shown in pieces that are never large, however large the files are.
//! Owns how a run becomes steps, parts, tables and pieces of text; which runs there are is known to the index.
//!
//! ```text
//! id → index → files → formats → Run ─┬─ view: first steps, answer, facts   (bounded)
//!                                     ├─ table: rows, order, CSV
//!                                     ├─ text: any part, piece by piece
//!                                     └─ find: where a text occurs
//! ```
mod body;
mod find;
mod part_id;
mod pieces;
mod table;
#[cfg(test)]
mod tests;
mod view;

pub(crate) use part_id::PartId;
