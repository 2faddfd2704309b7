import type { Verdict } from "../../generated/Verdict";

/** What a person typed, and the mark of the answer that it is said of; undefined when nothing was said yet. */
interface ReviewDraft {
  verdict: Verdict | null;
  score: string;
  note: string;
  of: string | null | undefined;
}

/** What could not be kept when its run was left, by folder and run. It is there again when that is opened again. */
export const reviewDrafts = new Map<string, ReviewDraft>();
