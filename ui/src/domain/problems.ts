// Pure. Problems of a folder that need attention, told apart from files that are no runs.
import type { Counts } from "../generated";

/** Number of suites, transcripts and reviews that cannot be read or have a warning. */
export const needAttention = (counts: Counts): number =>
  counts.suite_problems + counts.damaged + counts.damaged_reviews;
