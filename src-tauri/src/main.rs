//! Picks the front door.
fn main() {}
