//! Pure. Compares answers and counts what happened in a run.
