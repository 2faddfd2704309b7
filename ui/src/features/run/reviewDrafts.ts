import type { StepNote, Verdict } from "../../generated";

/** Typed review and the fingerprint of its answer; undefined before the first edit. */
interface ReviewDraft {
  verdict: Verdict | null;
  score: string;
  note: string;
  steps: readonly StepNote[];
  /** Changed labels; null for one that is taken away. */
  labels: Readonly<Record<string, string | null>>;
  of: string | null | undefined;
}

/**
 * Reviews that could not be saved when their run was left, by folder and run. Restored when the run
 * is opened again.
 */
export const reviewDrafts = new Map<string, ReviewDraft>();
